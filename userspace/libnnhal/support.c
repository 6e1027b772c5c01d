// SPDX-License-Identifier: MIT
/*
 * Which operations of a model the device supports, and why not the others.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lower.h"

static void set_unsupported(struct nnhal_ext_operation_support *s, uint32_t operand,
			    const char *reason)
{
	s->supported = false;
	s->operand = operand;
	snprintf(s->reason, sizeof(s->reason), "%s", reason);
}

static void set_from_report(struct nnhal_ext_operation_support *s,
			    const struct nnpu_command_report *report)
{
	uint16_t status = le16toh(report->status);
	uint16_t reason = le16toh(report->reason);
	uint16_t operand = le16toh(report->operand);

	if (status == NNPU_STATUS_SUCCESS) {
		s->supported = true;
		s->operand = NNHAL_EXT_OPERAND_NONE;
		s->reason[0] = '\0';
		return;
	}
	set_unsupported(s, operand == NNPU_OPERAND_NONE ? NNHAL_EXT_OPERAND_NONE : operand, "");
	if (reason == NNPU_REASON_NONE)
		snprintf(s->reason, sizeof(s->reason), "%s", device_status_text(status));
	else
		snprintf(s->reason, sizeof(s->reason), "%s: %s", device_status_text(status),
			 device_reason_text(reason));
}

/* This method knows no shortage and no deadline. */
static enum nnhal_status query_status(enum nnhal_status status)
{
	return nnhal_status_for_version(status, NNHAL_HAL_1_0);
}

/* Is this about the model, as opposed to the memory of its constants? */
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
	/* Anything else the driver finds wrong with the call is not the caller's doing. */
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
	uint32_t i;
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
	for (i = 0; support && i < image->num_commands; i++)
		set_from_report(&support[image->operation_of_command[i]], &reports[i]);
	free(reports);
	return NNHAL_STATUS_NONE;
}

enum nnhal_status check_operations(struct nnhal_device *device, const struct nnhal_model *model,
				   struct nnhal_ext_operation_support *support,
				   struct nnhal_diag *diag)
{
	enum nnhal_status status;
	struct image image;
	uint32_t i;

	status = lower_model(model, &device->transport->limits, true, &image, diag);
	if (status)
		return status;
	for (i = 0; support && i < image.num_operations; i++)
		if (image.skips[i].reason)
			set_unsupported(&support[i], image.skips[i].operand,
					image.skips[i].reason);
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

enum nnhal_status
nnhal_ext_get_operation_support(struct nnhal_device *device, const struct nnhal_model *model,
				struct nnhal_ext_operation_support *support,
				uint32_t num_support, struct nnhal_diag *diag)
{
	enum nnhal_status status;
	struct model_copy copy;
	uint32_t i;

	diag_clear(diag);
	if (!device || !model || (num_support && !support)) {
		diag_set(diag, "NULL pointer for device, model or result");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	status = model_copy_init(&copy, model, diag);
	if (!status) {
		status = get_support(device, &copy.model, support, num_support, diag);
		model_copy_fini(&copy);
	} else {
		status = query_status(status);
	}
	if (status)
		for (i = 0; i < num_support; i++)
			set_unsupported(&support[i], NNHAL_EXT_OPERAND_NONE,
					"the model as a whole was refused");
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
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	status = nnhal_ext_get_operation_support(device, model, support, num_supported, diag);
	for (i = 0; i < num_supported; i++)
		supported[i] = support[i].supported;
	free(support);
	return status;
}
