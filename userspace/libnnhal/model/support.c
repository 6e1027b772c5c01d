// SPDX-License-Identifier: MIT
/*
 * Which operations of a model the device supports, and reasons for the others.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/probes.h"
#include "base/status.h"
#include "device/device_private.h"
#include "device/extensions.h"
#include "model/explain.h"
#include "model/lower.h"
#include "model/model_copy.h"
#include "model/model_image.h"
#include "model/program.h"
#include "model/support.h"
#include "model/validate.h"
#include "transport/transport.h"

static void set_unsupported(struct nnhal_ext_operation_support *s, uint32_t operand,
			    const char *reason)
{
	s->supported = false;
	s->operand = operand;
	snprintf(s->reason, sizeof(s->reason), "%s", reason);
}

/* Result of an operation of the main subgraph from the report of @command. */
static void set_from_report(struct nnhal_ext_operation_support *s,
			    const struct nnhal_model *model, const struct image *image,
			    const struct nnpu_command_report *reports, uint32_t command)
{
	const struct command_origin *origin = &image->command_origins[command];
	uint16_t status = le16toh(reports[command].status);
	uint16_t reason = le16toh(reports[command].reason);
	uint16_t operand = le16toh(reports[command].operand);
	char text[96] = "", why[160] = "";
	int used;

	if (status == NNPU_STATUS_SUCCESS) {
		s->supported = true;
		s->operand = NNHAL_EXT_OPERAND_NONE;
		s->reason[0] = '\0';
		return;
	}
	set_unsupported(s, NNHAL_EXT_OPERAND_NONE, "");
	if (origin->subgraph != MAIN_SUBGRAPH)
		command_text(model, origin, NNPU_OPERAND_NONE, text, sizeof(text));
	else if (operand != NNPU_OPERAND_NONE)
		s->operand = operand_of_operation(&model->main.operations[origin->operation],
						  operand);
	if (reason && origin->subgraph == MAIN_SUBGRAPH)
		explain_reason(&model->main, &model->main.operations[origin->operation], operand, reason,
			    why, sizeof(why));
	else if (reason)
		snprintf(why, sizeof(why), "%s", device_reason_text(reason));
	/* A refusal is no news here; another status says more. */
	if (!reason || status != NNPU_STATUS_PROGRAM_COMMAND)
		used = snprintf(s->reason, sizeof(s->reason), "%s%s%s%s", text, text[0] ? ": " : "",
				device_status_text(status), reason ? ": " : "");
	else
		used = snprintf(s->reason, sizeof(s->reason), "%s%s", text, text[0] ? ": " : "");
	/* What does not fit is cut off. */
	if (used >= 0 && (size_t)used < sizeof(s->reason))
		snprintf(s->reason + used, sizeof(s->reason) - (size_t)used, "%.*s",
			 (int)(sizeof(s->reason) - (size_t)used - 1), why);
}

/*
 * Results of the operations of the main subgraph. IF and WHILE get that of the first
 * unsupported command that they reach. Blocks come after the commands that enter them, so a
 * pass backwards knows each block before it is needed.
 */
static bool set_from_reports(struct nnhal_ext_operation_support *support,
			     const struct nnhal_model *model, const struct image *image,
			     const struct nnpu_command_report *reports)
{
	const struct nnpu_command *commands = image_commands(image);
	uint32_t *faults = calloc(image->num_commands, sizeof(*faults));
	/* First unsupported command of the current block; at BLOCK commands, of each block.
	 * Number + 1, 0: none.
	 */
	uint32_t c, k, fault, in_block = 0;

	if (!faults)
		return false;
	for (c = image->num_commands; c--;) {
		const struct command_origin *origin = &image->command_origins[c];
		bool control = le32toh(commands[c].opcode) == NNPU_CMD_BRANCH ||
			       le32toh(commands[c].opcode) == NNPU_CMD_LOOP;

		fault = reports[c].status ? c + 1 : 0;
		for (k = 0; control && !fault && k < 2; k++)
			fault = faults[le32toh(commands[c].target[k])];
		if (fault)
			in_block = fault;
		if (origin->subgraph == MAIN_SUBGRAPH) {
			set_from_report(result_entry(support, origin->operation), model, image,
					reports, fault ? fault - 1 : c);
		} else if (origin->inner == UINT32_MAX) {
			faults[c] = in_block;
			in_block = 0;
		}
	}
	free(faults);
	return true;
}

/* Result of an operation that could not become a command. */
static void set_from_skip(struct nnhal_ext_operation_support *s, const struct nnhal_model *model,
			  const struct image_skip *skip)
{
	struct command_origin origin = { .subgraph = skip->subgraph, .inner = skip->operation };
	char text[96];

	if (skip->subgraph == MAIN_SUBGRAPH) {
		set_unsupported(s, skip->operand, skip->reason);
		return;
	}
	command_text(model, &origin, NNPU_OPERAND_NONE, text, sizeof(text));
	set_unsupported(s, NNHAL_EXT_OPERAND_NONE, "");
	snprintf(s->reason, sizeof(s->reason), "%s: %s", text, skip->reason);
}

/* getSupportedOperations has no statuses for shortage and deadlines. */
static enum nnhal_status query_status(enum nnhal_status status)
{
	return nnhal_status_for_version(status, NNHAL_HAL_1_0);
}

/* Did the device refuse the model, not the memory of its constants? */
static bool is_verdict(uint32_t device_status)
{
	return device_status == NNPU_STATUS_PROGRAM_HEADER ||
	       device_status == NNPU_STATUS_PROGRAM_TENSOR ||
	       device_status == NNPU_STATUS_PROGRAM_COMMAND;
}

enum nnhal_status load_status(struct nnhal_device *device, int error,
			      const struct transport_load *result)
{
	if (error == -EOPNOTSUPP || is_verdict(result->status))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	/* Any other EINVAL is not about an argument of the caller. */
	if (error == -EINVAL)
		return NNHAL_STATUS_GENERAL_FAILURE;
	return device_status_from_error(device, error);
}

static enum nnhal_status check_image(struct nnhal_device *device,
				     const struct nnhal_model *model, struct image *image,
				     struct nnhal_ext_operation_support *support,
				     struct nnhal_diag *diag)
{
	struct nnpu_command_report *reports;
	struct nnhal_diag detail = { "" };
	struct transport_load result;
	bool judged;
	int err;

	reports = calloc(image->num_commands, sizeof(*reports));
	if (!reports)
		return NNHAL_STATUS_GENERAL_FAILURE;
	err = image_load(device, image, reports, &result, &detail);
	if (err) {
		if (result.status)
			image_explain(model, image, &result, diag);
		else
			diag_set(diag, "%s", detail.message);
		free(reports);
		return load_status(device, err, &result);
	}
	judged = !support || set_from_reports(support, model, image, reports);
	free(reports);
	return judged ? NNHAL_STATUS_NONE : NNHAL_STATUS_GENERAL_FAILURE;
}

enum nnhal_status check_operations(struct nnhal_device *device, const struct nnhal_model *model,
				   struct nnhal_ext_operation_support *support,
				   struct nnhal_diag *diag)
{
	enum nnhal_status status;
	struct image image;
	uint32_t i;

	status = lower_model(model, &device->transport->limits, &device->extensions, true,
			     &image, diag);
	if (status)
		return status;
	for (i = 0; support && i < image.num_operations; i++)
		if (image.skips[i].reason)
			set_from_skip(result_entry(support, i), model, &image.skips[i]);
	if (image.num_commands)
		status = check_image(device, model, &image, support, diag);
	image_fini(&image);
	return status;
}

static enum nnhal_status get_support(struct nnhal_device *device,
				     const struct nnhal_model *model,
				     struct nnhal_ext_operation_support *support,
				     uint32_t num_support, struct nnhal_diag *diag)
{
	enum nnhal_status status = validate_model(model, diag);

	if (status)
		return query_status(status);
	if (num_support != model->main.num_operations) {
		diag_set(diag, "room for %u operations, but the model has %u", num_support,
			 model->main.num_operations);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	return query_status(check_operations(device, model, support, diag));
}

static void refuse_all(struct nnhal_ext_operation_support *support, uint32_t num_support)
{
	uint32_t i;

	for (i = 0; i < num_support; i++) {
		set_unsupported(result_entry(support, i), NNHAL_EXT_OPERAND_NONE,
				"the model as a whole was refused");
		result_clear_surplus(result_entry(support, i), support->size, sizeof(*support));
	}
}

enum nnhal_status
nnhal_ext_get_operation_support(struct nnhal_device *device, const struct nnhal_model *model,
				struct nnhal_ext_operation_support *support,
				uint32_t num_support, struct nnhal_diag *diag)
{
	enum nnhal_status status;
	struct model_copy copy;

	diag_clear(diag);
	if (num_support && support &&
	    !result_size_is_valid(support,
				  SIZE_UP_TO(struct nnhal_ext_operation_support, reason))) {
		diag_set(diag, "size of %zu, expected %zu", support->size, sizeof(*support));
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!device || !model || (num_support && !support)) {
		diag_set(diag, "NULL pointer for device, model or result");
		refuse_all(support, support ? num_support : 0);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	/* The surplus of each entry, whatever comes. */
	refuse_all(support, num_support);
	status = device_is_usable(device, diag) ? model_copy_init(&copy, model, diag)
						: NNHAL_STATUS_DEVICE_UNAVAILABLE;
	if (!status) {
		status = get_support(device, &copy.model, support, num_support, diag);
		model_copy_fini(&copy);
	} else {
		status = query_status(status);
	}
	if (status)
		refuse_all(support, num_support);
	return status;
}

enum nnhal_status nnhal_device_get_supported_operations(struct nnhal_device *device,
							const struct nnhal_model *model,
							bool *supported,
							uint32_t num_supported,
							struct nnhal_diag *diag)
{
	struct nnhal_ext_operation_support *support;
	enum nnhal_status status;
	uint32_t i;

	diag_clear(diag);
	if (num_supported && !supported) {
		diag_set(diag, "NULL pointer for the result");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	support = calloc((size_t)num_supported + 1, sizeof(*support));
	if (!support) {
		diag_set(diag, "no memory for %u verdicts", num_supported);
		memset(supported, 0, num_supported * sizeof(*supported));
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	support->size = sizeof(*support);
	TRACE_BEGIN(TRACE_SUPPORT, device);
	status = nnhal_ext_get_operation_support(device, model, support, num_supported, diag);
	for (i = 0; i < num_supported; i++)
		supported[i] = support[i].supported;
	TRACE_END(TRACE_SUPPORT, device, status);
	if (device)
		VLOG(&device->log, NNHAL_LOG_COMPILATION, "getSupportedOperations: %u operations: %s",
		     num_supported, nnhal_status_name((int)status));
	free(support);
	return status;
}
