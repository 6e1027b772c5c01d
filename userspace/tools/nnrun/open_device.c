// SPDX-License-Identifier: MIT
/*
 * Finding and opening devices, and saying what to do when there is none.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "open_device.h"

#define MAX_DEVICES	64

int fail_status(struct error *err, const char *what, enum nnhal_status status,
		const struct nnhal_diag *diag)
{
	if (diag && diag->message[0])
		return fail(err, "%s: %s (%s)", what, diag->message, nnhal_status_name(status));
	return fail(err, "%s: %s", what, nnhal_status_name(status));
}

int fail_model(struct error *err, const char *what, enum nnhal_status status,
	       const struct nntflite_model *model, const struct nnhal_diag *diag)
{
	struct nntflite_diag place;

	if (!diag->message[0] || nntflite_model_explain(model, diag, &place))
		return fail_status(err, what, status, diag);
	return fail(err, "%s: %s (%s)", what, place.message, nnhal_status_name(status));
}

static const char *advice_for(enum nnhal_status status, const char *spec)
{
	/* The advice below is for hardware devices. */
	if (spec && strncmp(spec, "sim", 3) == 0)
		return NULL;
	switch (status) {
	case NNHAL_STATUS_NO_DRIVER:
		return "The kernel module nnpu is not loaded. Load it with 'modprobe nnpu' or "
		       "'insmod nnpu.ko', or run without a device with '--device sim'.";
	case NNHAL_STATUS_NO_DEVICE:
		return "The kernel module is loaded, but there is no such device. Compare "
		       "'nnrun --list-devices' and 'dmesg | grep nnpu', or run without a device "
		       "with '--device sim'.";
	case NNHAL_STATUS_NO_PERMISSION:
		return "The device is there, but you may not open it. Become a member of the "
		       "group that owns the device node (usually 'render'), or ask the "
		       "administrator.";
	case NNHAL_STATUS_DEAD_OBJECT:
		return "The device was reset while the model was loaded. Run the command again.";
	case NNHAL_STATUS_DEVICE_UNAVAILABLE:
		return "The device was removed or is out of order; see 'dmesg | grep nnpu'.";
	default:
		return NULL;
	}
}

/* The name of the device that has this node. */
static enum nnhal_status node_spec(const char *path, char *spec, struct nnhal_diag *diag)
{
	struct nnhal_device_info infos[MAX_DEVICES] = { NNHAL_DEVICE_INFO_INIT };
	enum nnhal_status status;
	struct stat node, other;
	uint32_t i, count = 0;

	if (stat(path, &node)) {
		snprintf(diag->message, sizeof(diag->message), "%s", strerror(errno));
		return NNHAL_STATUS_NO_DEVICE;
	}
	status = nnhal_enumerate_devices(infos, MAX_DEVICES, &count, diag);
	for (i = 0; i < count && i < MAX_DEVICES; i++) {
		if (stat(infos[i].path, &other) || !S_ISCHR(other.st_mode) ||
		    other.st_rdev != node.st_rdev || !S_ISCHR(node.st_mode))
			continue;
		memcpy(spec, infos[i].spec, sizeof(infos[i].spec));
		return NNHAL_STATUS_NONE;
	}
	if (status != NNHAL_STATUS_NONE)
		return status;
	snprintf(diag->message, sizeof(diag->message), "it is not the node of an NNPU device");
	return NNHAL_STATUS_NO_DEVICE;
}

struct nnhal_device *open_device(const char *spec, struct error *err, const char **advice)
{
	struct nnhal_diag diag = { "" };
	struct nnhal_device *device = NULL;
	enum nnhal_status status;
	char what[96], of_node[sizeof(((struct nnhal_device_info *)0)->spec)];

	*advice = NULL;
	status = spec && spec[0] == '/' ? node_spec(spec, of_node, &diag) : NNHAL_STATUS_NONE;
	if (status == NNHAL_STATUS_NONE)
		status = nnhal_device_open(spec && spec[0] == '/' ? of_node : spec, &device, &diag);
	if (status == NNHAL_STATUS_NONE)
		return device;
	*advice = advice_for(status, spec);
	snprintf(what, sizeof(what), "cannot open device '%s'", spec ? spec : "drm");
	fail_status(err, what, status, &diag);
	return NULL;
}

int list_devices(FILE *stream, struct error *err, const char **advice)
{
	struct nnhal_device_info infos[MAX_DEVICES] = { NNHAL_DEVICE_INFO_INIT };
	struct nnhal_diag diag = { "" };
	enum nnhal_status status;
	uint32_t count = 0;
	uint32_t i;

	*advice = NULL;
	status = nnhal_enumerate_devices(infos, MAX_DEVICES, &count, &diag);
	if (status == NNHAL_STATUS_INVALID_ARGUMENT)
		return fail_status(err, "cannot list the devices", status, &diag);
	if (count > MAX_DEVICES)
		count = MAX_DEVICES;
	fprintf(stream, "%-10s %-20s %-24s %s\n", "DEVICE", "NAME", "NODE", "STATE");
	for (i = 0; i < count; i++) {
		fprintf(stream, "%-10s %-20s %-24s %s\n", infos[i].spec, infos[i].name,
			infos[i].path[0] ? infos[i].path : "-",
			infos[i].status == NNHAL_STATUS_NONE ? "ready" :
			nnhal_status_name(infos[i].status));
	}
	/* Without hardware the list has the other devices, and the reason is printed. */
	if (status != NNHAL_STATUS_NONE)
		*advice = advice_for(status, NULL);
	return count ? 0 : fail_status(err, "no device", status, &diag);
}

/* "SOFTMAX", or of the extension "SOFTMAX (tflite)". */
static const char *type_text(const struct nntflite_model *model, uint32_t operation, char *text,
			     size_t size)
{
	uint32_t type = nntflite_model_get_hal(model)->main.operations[operation].type;
	const char *name = type >> 16 ? nntflite_operator_name((int32_t)(type & 0xffff)) : NULL;

	if (name)
		snprintf(text, size, "%s (tflite)", name);
	else
		snprintf(text, size, "%s", nnhal_operation_type_name(type));
	return text;
}

/* Where an operation comes from: "operator 3 (CONV_2D)". */
static const char *origin_text(const struct nntflite_model *model, uint32_t operation,
			       char *text, size_t size)
{
	struct nntflite_origin origin;

	if (nntflite_model_origin(model, operation, &origin) || origin.op == NNTFLITE_NONE)
		snprintf(text, size, "-");
	else
		snprintf(text, size, "%" PRIu32 " %s", origin.op, origin.name);
	return text;
}

static struct nnhal_ext_operation_support *
get_support(struct nnhal_device *device, const struct nntflite_model *model, struct error *err)
{
	uint32_t count = nntflite_model_get_hal(model)->main.num_operations;
	struct nnhal_ext_operation_support *support = calloc(count, sizeof(*support));
	struct nnhal_diag diag = { "" };
	enum nnhal_status status;

	if (!support) {
		fail(err, "out of memory");
		return NULL;
	}
	if (count)
		support->size = sizeof(*support);
	status = nnhal_ext_get_operation_support(device, nntflite_model_get_hal(model), support, count,
						 &diag);
	if (status == NNHAL_STATUS_NONE)
		return support;
	fail_model(err, "the device cannot judge the model", status, model, &diag);
	free(support);
	return NULL;
}

int print_support(FILE *stream, struct nnhal_device *device, const struct nntflite_model *model,
		  bool *all, struct error *err)
{
	struct nnhal_ext_operation_support *support = get_support(device, model, err);
	uint32_t taken = 0;
	uint32_t i;

	if (!support)
		return -1;
	fprintf(stream, "%5s %-22s %-28s %s\n", "", "HAL operation", "from operator",
		"supported");
	for (i = 0; i < nntflite_model_get_hal(model)->main.num_operations; i++) {
		char origin[96], type[96];

		taken += support[i].supported;
		fprintf(stream, "%5" PRIu32 " %-22s %-28s %s%s\n", i,
			type_text(model, i, type, sizeof(type)),
			origin_text(model, i, origin, sizeof(origin)),
			support[i].supported ? "yes" : "no: ", support[i].reason);
	}
	fprintf(stream, "%" PRIu32 " of %" PRIu32 " operations are supported\n", taken,
		nntflite_model_get_hal(model)->main.num_operations);
	*all = taken == nntflite_model_get_hal(model)->main.num_operations;
	free(support);
	return 0;
}

/* Name the first operation the device does not take, if that is the reason. */
static bool fail_unsupported(struct nnhal_device *device, const struct nntflite_model *model,
			     struct error *err)
{
	struct error ignored = { "", 0 };
	struct nnhal_ext_operation_support *support = get_support(device, model, &ignored);
	bool found = false;
	uint32_t i;

	for (i = 0; support && i < nntflite_model_get_hal(model)->main.num_operations && !found; i++) {
		char origin[96], type[96];

		if (support[i].supported)
			continue;
		found = true;
		fail(err, "the device does not support operation %" PRIu32 " %s (operator %s): %s",
		     i, type_text(model, i, type, sizeof(type)),
		     origin_text(model, i, origin, sizeof(origin)), support[i].reason);
	}
	free(support);
	return found;
}

struct nnhal_prepared_model *prepare_model(struct nnhal_device *device,
					   const struct nntflite_model *model,
					   struct error *err)
{
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	struct nnhal_prepared_model *prepared = NULL;
	struct nnhal_diag diag = { "" };
	enum nnhal_status status;

	options.preference = NNHAL_PREFER_SUSTAINED_SPEED;
	options.diag = &diag;
	status = nnhal_device_prepare_model_sync(device, nntflite_model_get_hal(model), &options,
						 &prepared);
	if (status == NNHAL_STATUS_NONE)
		return prepared;
	if (status != NNHAL_STATUS_INVALID_ARGUMENT ||
	    !fail_unsupported(device, model, err))
		fail_model(err, "cannot prepare the model", status, model, &diag);
	return NULL;
}
