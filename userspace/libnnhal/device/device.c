// SPDX-License-Identifier: MIT
/*
 * Devices: enumeration, opening, queries.
 */
#include <endian.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/build_id.h"
#include "base/diag.h"
#include "base/probes.h"
#include "base/status.h"
#include "device/async.h"
#include "device/device_private.h"
#include "device/extensions.h"
#include "device/workers.h"
#include "memory/arena.h"
#include "memory/binding.h"
#include "transport/drm_scan.h"
#include "transport/transport.h"

/* At most so many hardware devices are enumerated. */
#define MAX_NODES	64

static void add_info(struct nnhal_device_info *infos, uint32_t max, uint32_t *count,
		     const struct nnhal_device_info *info)
{
	if (*count < max)
		result_give(result_entry(infos, *count), infos->size, info, sizeof(*info));
	(*count)++;
}

enum nnhal_status nnhal_enumerate_devices(struct nnhal_device_info *infos, uint32_t max,
					  uint32_t *count, struct nnhal_diag *diag)
{
	struct drm_node nodes[MAX_NODES];
	struct nnhal_device_info info;
	int n, i;

	diag_clear(diag);
	if (!count || (max && !infos)) {
		diag_set(diag, "NULL pointer for the result");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (max && !result_size_is_valid(infos, SIZE_UP_TO(struct nnhal_device_info, reserved))) {
		diag_set(diag, "size of %zu, expected %zu", infos->size, sizeof(*infos));
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	*count = 0;
	n = drm_scan("", nodes, MAX_NODES);
	for (i = 0; i < n; i++) {
		memset(&info, 0, sizeof(info));
		snprintf(info.name, sizeof(info.name), "nnpu-drm%d", i);
		snprintf(info.spec, sizeof(info.spec), "drm:%d", i);
		/* Nothing that follows the text: it is nobody's. */
		memccpy(info.path, nodes[i].path, '\0', sizeof(info.path));
		info.status = nodes[i].accessible ? NNHAL_STATUS_NONE
						  : NNHAL_STATUS_NO_PERMISSION;
		add_info(infos, max, count, &info);
	}
	if (transport_sim_available()) {
		memset(&info, 0, sizeof(info));
		memcpy(info.name, "nnpu-sim", sizeof("nnpu-sim"));
		memcpy(info.spec, "sim", sizeof("sim"));
		add_info(infos, max, count, &info);
	}
	return n > 0 ? NNHAL_STATUS_NONE : drm_absence("", n, diag);
}

/* "drm" or "drm:3": the number of the device. False: another spec. */
static bool parse_drm(const char *spec, unsigned int *index)
{
	unsigned long n;
	char *end;

	*index = 0;
	if (!strcmp(spec, "drm"))
		return true;
	if (strncmp(spec, "drm:", 4) || spec[4] < '0' || spec[4] > '9')
		return false;
	errno = 0;
	n = strtoul(spec + 4, &end, 10);
	if (errno || *end || n >= MAX_NODES)
		return false;
	*index = (unsigned int)n;
	return true;
}

static enum nnhal_status open_transport(const char *spec, struct transport **t,
					struct nnhal_diag *diag)
{
	unsigned int index;

	if (!spec)
		spec = "drm";
	if (parse_drm(spec, &index))
		return transport_drm_open("", index, t, diag);
	if (!strcmp(spec, "sim"))
		return transport_sim_open("", t, diag);
	if (!strncmp(spec, "sim:", 4))
		return transport_sim_open(spec + 4, t, diag);
	diag_set(diag, "device \"%.40s\": expected drm, drm:N, sim or sim:OPTIONS", spec);
	return NNHAL_STATUS_INVALID_ARGUMENT;
}

static float float_of(__le32 bits)
{
	uint32_t value = le32toh(bits);
	float f;

	memcpy(&f, &value, sizeof(f));
	return f;
}

/* Figures of the device; an unusable figure becomes 1, which is that of the CPU. */
static struct nnhal_performance_info performance_of(const struct nnpu_performance *p)
{
	struct nnhal_performance_info info = { float_of(p->exec_time), float_of(p->power) };

	if (!isfinite(info.exec_time) || info.exec_time <= 0.0f)
		info.exec_time = 1.0f;
	if (!isfinite(info.power_usage) || info.power_usage <= 0.0f)
		info.power_usage = 1.0f;
	return info;
}

static void read_capabilities(struct nnhal_capabilities *caps, const struct nnpu_identify *id)
{
	uint32_t n = le32toh(id->num_performance);
	uint32_t i, type, count = 0;

	caps->relaxed_float32_to_float16_scalar =
		performance_of(&id->relaxed[NNPU_PERF_RELAXED_SCALAR]);
	caps->relaxed_float32_to_float16_tensor =
		performance_of(&id->relaxed[NNPU_PERF_RELAXED_TENSOR]);
	caps->if_performance = performance_of(&id->relaxed[NNPU_PERF_IF]);
	caps->while_performance = performance_of(&id->relaxed[NNPU_PERF_WHILE]);
	for (i = 0; i < n && i < ARRAY_SIZE(id->performance); i++) {
		type = le32toh(id->performance[i].type);
		/* Strictly ascending: drop entries that are out of order. */
		if (type >= NNHAL_OPERAND_SUBGRAPH ||
		    (count && type <= caps->operand_performance[count - 1].type))
			continue;
		caps->operand_performance[count].type = type;
		caps->operand_performance[count].info = performance_of(&id->performance[i]);
		count++;
	}
	caps->num_operand_performance = count;
}

/* An unknown type counts as accelerator, since this driver drives only those. */
static enum nnhal_device_type read_type(const struct nnpu_identify *id)
{
	uint32_t type = le32toh(id->device_type);

	if (type >= NNHAL_DEVICE_TYPE_OTHER && type <= NNHAL_DEVICE_TYPE_ACCELERATOR)
		return (enum nnhal_device_type)type;
	return NNHAL_DEVICE_TYPE_ACCELERATOR;
}

bool device_is_usable(const struct nnhal_device *device, struct nnhal_diag *diag)
{
	if (device_is_own(device))
		return true;
	diag_set(diag, "the device was opened by the parent of this process");
	return false;
}

static void device_free_copy(struct nnhal_device *device)
{
	workers_free_copy(device->workers);
	async_free_copy(device->async);
	own_queues_free_copy(&device->own_queues);
	arena_free_copy(&device->arena);
	bind_table_close(device->table);
	extensions_fini(&device->extensions);
	token_table_free_copy(&device->tokens);
	device->transport->ops->close_copy(device->transport);
	nnhal_device_unref(device->root);
	free(device);
}

static void device_destroy(struct nnhal_device *device)
{
	TRACE_BEGIN(TRACE_CLOSE, device);
	VLOG(&device->log, NNHAL_LOG_MANAGER, "%s: close", device->name);
	if (device->workers)
		workers_destroy(device->workers);
	if (device->async)
		async_destroy(device->async);
	own_queues_fini(&device->own_queues);
	arena_fini(&device->arena);
	if (device->table)
		bind_table_close(device->table);
	extensions_fini(&device->extensions);
	device->transport->ops->close(device->transport);
	nnhal_device_unref(device->root);
	pthread_mutex_destroy(&device->sibling_lock);
	crypto_close(&device->crypto);
	pthread_mutex_destroy(&device->watch_lock);
	token_table_fini(&device->tokens);
	TRACE_END(TRACE_CLOSE, device, 0);
	free(device);
}

static enum nnhal_status read_extensions(struct nnhal_device *device, struct nnhal_diag *diag)
{
	struct nnpu_extension *extensions;
	uint32_t count;
	int err = device->transport->ops->read_extensions(device->transport, &extensions, &count);

	/* It takes ownership, also of an incomplete array. */
	if (!extensions_init(&device->extensions, extensions, count))
		err = -ENOMEM;
	if (!err)
		return NNHAL_STATUS_NONE;
	diag_set(diag, "asking for the device's extensions: %s", errno_text(-err));
	return status_from_errno(-err);
}

/* A device on a transport, which it owns also after an error. */
static enum nnhal_status device_create(struct transport *t, struct nnhal_device **device,
				       struct nnhal_diag *diag)
{
	struct nnhal_device *d = calloc(1, sizeof(*d));
	char build[BUILD_ID_TEXT];
	uint8_t id[BUILD_ID_MAX];
	enum nnhal_status status;

	if (!d) {
		diag_set(diag, "no memory for a device");
		t->ops->close(t);
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	atomic_init(&d->refs, 1);
	d->transport = t;
	pthread_mutex_init(&d->sibling_lock, NULL);
	pthread_mutex_init(&d->watch_lock, NULL);
	token_table_init(&d->tokens);
	atomic_init(&d->num_models, 0);
	d->table = bind_table_create(t);
	arena_init(&d->arena, d->table);
	own_queues_init(&d->own_queues, t);
	d->async = async_create(t);
	d->workers = workers_create();
	if (!d->table || !d->async || !d->workers) {
		diag_set(diag, "no memory for a device");
		device_destroy(d);
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	if (!transport_takes_programs(&t->identify)) {
		diag_set(diag, "the device takes programs of versions %u to %u, not %u",
			 le16toh(t->identify.program_min), le16toh(t->identify.program_max),
			 NNPU_PROGRAM_VERSION);
		status = NNHAL_STATUS_GENERAL_FAILURE;
	} else {
		status = read_extensions(d, diag);
	}
	if (status) {
		device_destroy(d);
		return status;
	}
	memcpy(d->name, t->name, sizeof(d->name));
	read_capabilities(&d->capabilities, &t->identify);
	d->type = read_type(&t->identify);
	build_id_text(id, build_id_own(id), build);
	snprintf(d->version, sizeof(d->version), "libnnhal %s%s, %s, firmware %.64s",
		 nnhal_version_string(), build, t->driver, t->identify.firmware);
	*device = d;
	return NNHAL_STATUS_NONE;
}

struct nnhal_device *device_next_sibling(struct nnhal_device *device)
{
	struct nnhal_device *root = device->root ? device->root : device, *next;

	pthread_mutex_lock(&root->sibling_lock);
	next = device->root ? device->next_sibling : device->siblings;
	/* Those in the list have references. */
	if (next)
		nnhal_device_ref(next);
	pthread_mutex_unlock(&root->sibling_lock);
	return next;
}

struct nnhal_device *device_open_sibling(struct nnhal_device *root)
{
	struct transport *t = root->transport->ops->open_another(root->transport);
	struct nnhal_device *sibling;

	if (!t || device_create(t, &sibling, NULL))
		return NULL;
	sibling->root = nnhal_device_ref(root);
	sibling->log = root->log;
	VLOG(&root->log, NNHAL_LOG_MANAGER, "%s: another context for more models", root->name);
	return sibling;
}

void device_add_sibling(struct nnhal_device *sibling)
{
	struct nnhal_device *root = sibling->root;

	pthread_mutex_lock(&root->sibling_lock);
	sibling->next_sibling = root->siblings;
	root->siblings = sibling;
	pthread_mutex_unlock(&root->sibling_lock);
}

static bool drop_reference(struct nnhal_device *device)
{
	return atomic_fetch_sub_explicit(&device->refs, 1, memory_order_acq_rel) == 1;
}

/* Under the lock: nobody finds a sibling without references. True: it was the last one. */
static bool drop_sibling(struct nnhal_device *sibling)
{
	struct nnhal_device *root = sibling->root, **link;
	bool last;

	pthread_mutex_lock(&root->sibling_lock);
	last = drop_reference(sibling);
	for (link = &root->siblings; last && *link; link = &(*link)->next_sibling)
		if (*link == sibling) {
			*link = sibling->next_sibling;
			break;
		}
	pthread_mutex_unlock(&root->sibling_lock);
	return last;
}

/* Text for messages: NULL is the first hardware device. */
static const char *spec_text(const char *spec)
{
	return spec ? spec : "drm";
}

enum nnhal_status nnhal_device_open_with(const char *spec,
					 const struct nnhal_open_options *options,
					 struct nnhal_device **device, struct nnhal_diag *diag)
{
	static const struct nnhal_open_options defaults = NNHAL_OPEN_OPTIONS_INIT;
	struct nnhal_diag why = { "" };
	struct nnhal_open_options o;
	enum nnhal_status status;
	struct transport *t;
	struct vlog log;

	diag_clear(diag);
	if (!device) {
		diag_set(diag, "NULL pointer for the result");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	*device = NULL;
	if (!options_read(&o, options, &defaults, reserved) || o.reserved ||
	    (o.log_tags & ~NNHAL_LOG_ALL)) {
		diag_set(diag, "options: unknown size, fields or tags of the log");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	vlog_init(&log, o.log_tags, o.log, o.log_context);
	TRACE_BEGIN(TRACE_OPEN, spec);
	status = open_transport(spec, &t, &why);
	if (!status)
		status = device_create(t, device, &why);
	TRACE_END(TRACE_OPEN, spec, status);
	if (status) {
		VLOG(&log, NNHAL_LOG_MANAGER, "open \"%.40s\": %s: %s", spec_text(spec),
		     nnhal_status_name((int)status), why.message);
		diag_set(diag, "%s", why.message);
		return status;
	}
	(*device)->log = log;
	VLOG(&log, NNHAL_LOG_MANAGER, "open \"%.40s\": %s, %s", spec_text(spec), (*device)->name,
	     (*device)->version);
	return NNHAL_STATUS_NONE;
}

enum nnhal_status nnhal_device_open(const char *spec, struct nnhal_device **device,
				    struct nnhal_diag *diag)
{
	return nnhal_device_open_with(spec, NULL, device, diag);
}

struct nnhal_device *nnhal_device_ref(struct nnhal_device *device)
{
	atomic_fetch_add_explicit(&device->refs, 1, memory_order_relaxed);
	return device;
}

void nnhal_device_unref(struct nnhal_device *device)
{
	if (!device)
		return;
	/* In a child of fork() nobody uses the list, and its lock may be taken for ever. */
	if (!device_is_own(device)) {
		if (drop_reference(device))
			device_free_copy(device);
	} else if (device->root ? drop_sibling(device) : drop_reference(device)) {
		device_destroy(device);
	}
}

const char *nnhal_device_name(const struct nnhal_device *device)
{
	return device ? device->name : NULL;
}

enum nnhal_status nnhal_device_get_capabilities(struct nnhal_device *device,
						struct nnhal_capabilities *capabilities)
{
	if (!device || !capabilities ||
	    !result_size_is_valid(capabilities, SIZE_UP_TO(struct nnhal_capabilities, reserved)))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	result_give(capabilities, capabilities->size, &device->capabilities,
		    sizeof(device->capabilities));
	return NNHAL_STATUS_NONE;
}

enum nnhal_status nnhal_device_get_capabilities_1_1(struct nnhal_device *device,
						    struct nnhal_capabilities_1_1 *capabilities)
{
	const struct nnhal_capabilities *caps;
	struct nnhal_capabilities_1_1 old;

	if (!device || !capabilities ||
	    !result_size_is_valid(capabilities,
				  SIZE_UP_TO(struct nnhal_capabilities_1_1,
					     relaxed_float32_to_float16_performance)))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	caps = &device->capabilities;
	old.float32_performance =
		nnhal_operand_performance_lookup(caps, NNHAL_OPERAND_TENSOR_FLOAT32);
	old.quantized8_performance =
		nnhal_operand_performance_lookup(caps, NNHAL_OPERAND_TENSOR_QUANT8_ASYMM);
	old.relaxed_float32_to_float16_performance = caps->relaxed_float32_to_float16_tensor;
	result_give(capabilities, capabilities->size, &old, sizeof(old));
	return NNHAL_STATUS_NONE;
}

enum nnhal_status nnhal_device_get_version_string(struct nnhal_device *device,
						  const char **version)
{
	if (!device || !version)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	*version = device->version;
	return NNHAL_STATUS_NONE;
}

enum nnhal_status nnhal_device_get_type(struct nnhal_device *device,
					enum nnhal_device_type *type)
{
	if (!device || !type)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	*type = device->type;
	return NNHAL_STATUS_NONE;
}

enum nnhal_status
nnhal_device_get_supported_extensions(struct nnhal_device *device,
				      const struct nnhal_extension **extensions, uint32_t *count)
{
	if (!device || !extensions || !count)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	*extensions = device->extensions.list;
	*count = device->extensions.count;
	return NNHAL_STATUS_NONE;
}

const struct crypto *device_crypto(struct nnhal_device *device)
{
	struct nnhal_device *root = device_root(device);
	bool loaded;

	if (!root->transport->limits.can_save)
		return NULL;
	pthread_mutex_lock(&root->sibling_lock);
	loaded = root->crypto.library || crypto_open(&root->crypto);
	pthread_mutex_unlock(&root->sibling_lock);
	return loaded ? &root->crypto : NULL;
}

enum nnhal_status
nnhal_device_get_number_of_cache_files_needed(struct nnhal_device *device,
					      uint32_t *num_model_cache,
					      uint32_t *num_data_cache)
{
	bool supported;

	if (!device || !num_model_cache || !num_data_cache)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	supported = device_is_own(device) && device_crypto(device);
	*num_model_cache = supported ? 1 : 0;
	*num_data_cache = supported ? 1 : 0;
	return NNHAL_STATUS_NONE;
}

enum nnhal_device_status nnhal_device_get_status(struct nnhal_device *device)
{
	if (!device)
		return NNHAL_DEVICE_UNKNOWN;
	if (!device_is_own(device))
		return NNHAL_DEVICE_OFFLINE;
	switch (device->transport->ops->health(device->transport)) {
	case 0:
		return NNHAL_DEVICE_AVAILABLE;
	case -ENODEV:
	case -ESTALE:
		return NNHAL_DEVICE_OFFLINE;
	default:
		return NNHAL_DEVICE_UNKNOWN;
	}
}

enum nnhal_status device_status_from_error(struct nnhal_device *device, int error)
{
	/* ENODEV can mean a lost device or a lost context. */
	if (error == -ENODEV && device->transport->ops->health(device->transport) == -ESTALE)
		error = -ESTALE;
	if (error == -ENODEV || error == -ESTALE) {
		TRACE_DEVICE_LOST(device, error);
		device_tell_watches(device);
		VLOG(&device->log, NNHAL_LOG_DRIVER, "%s: %s", device->name,
		     error == -ESTALE ? "the context was lost in a reset" : "the device is gone");
	}
	return status_from_errno(-error);
}
