// SPDX-License-Identifier: MIT
/*
 * Resilient devices.
 */
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/diag.h"
#include "base/status.h"
#include "resilient/resilient_private.h"

struct nnhal_resilient_device *resilient_device_ref(struct nnhal_resilient_device *device)
{
	atomic_fetch_add_explicit(&device->refs, 1, memory_order_relaxed);
	return device;
}

void nnhal_resilient_device_unref(struct nnhal_resilient_device *device)
{
	if (!device || atomic_fetch_sub_explicit(&device->refs, 1, memory_order_acq_rel) != 1)
		return;
	nnhal_device_unref(device->current);
	resilient_lock_destroy(device, &device->lock);
	resilient_lock_destroy(device, &device->buffers_lock);
	fork_guard_fini(&device->guard);
	free(device);
}

bool resilient_is_usable(const struct nnhal_resilient_device *device, struct nnhal_diag *diag)
{
	if (resilient_is_own(device))
		return true;
	diag_set(diag, "the device was opened by the parent of this process");
	return false;
}

void resilient_lock(const struct nnhal_resilient_device *device, pthread_mutex_t *lock)
{
	if (resilient_is_own(device))
		pthread_mutex_lock(lock);
}

void resilient_unlock(const struct nnhal_resilient_device *device, pthread_mutex_t *lock)
{
	if (resilient_is_own(device))
		pthread_mutex_unlock(lock);
}

void resilient_lock_destroy(const struct nnhal_resilient_device *device, pthread_mutex_t *lock)
{
	if (resilient_is_own(device))
		pthread_mutex_destroy(lock);
}

void resilient_release(const struct resilient_old *old)
{
	nnhal_burst_unref(old->burst);
	nnhal_buffer_unref(old->buffer);
	nnhal_prepared_model_unref(old->model);
	nnhal_device_unref(old->device);
}

bool resilient_is_lost(struct nnhal_device *device, enum nnhal_status status)
{
	return status == NNHAL_STATUS_DEAD_OBJECT ||
	       (status == NNHAL_STATUS_DEVICE_UNAVAILABLE &&
		nnhal_device_get_status(device) == NNHAL_DEVICE_OFFLINE);
}

/* What a device answers to queries. */
struct identity {
	const char *version;
	enum nnhal_device_type type;
	struct nnhal_capabilities capabilities;
	const struct nnhal_extension *extensions;
	uint32_t num_extensions;
};

static enum nnhal_status ask(struct nnhal_device *device, struct identity *id)
{
	enum nnhal_status status;

	memset(id, 0, sizeof(*id));
	id->capabilities.size = sizeof(id->capabilities);
	status = nnhal_device_get_version_string(device, &id->version);
	if (!status)
		status = nnhal_device_get_type(device, &id->type);
	if (!status)
		status = nnhal_device_get_capabilities(device, &id->capabilities);
	if (!status)
		status = nnhal_device_get_supported_extensions(device, &id->extensions,
							       &id->num_extensions);
	return status;
}

static bool same_extension(const struct nnhal_extension *a, const struct nnhal_extension *b)
{
	uint32_t i;

	if (strcmp(a->name, b->name) || a->num_operand_types != b->num_operand_types)
		return false;
	for (i = 0; i < a->num_operand_types; i++)
		if (a->operand_types[i].type != b->operand_types[i].type ||
		    a->operand_types[i].is_tensor != b->operand_types[i].is_tensor ||
		    a->operand_types[i].byte_size != b->operand_types[i].byte_size)
			return false;
	return true;
}

/* NULL, or the word for what differs. */
static const char *difference(struct nnhal_device *a, struct nnhal_device *b)
{
	struct identity x, y;
	uint32_t i;

	if (strcmp(nnhal_device_name(a), nnhal_device_name(b)))
		return "name";
	if (ask(a, &x) || ask(b, &y) || strcmp(x.version, y.version))
		return "version";
	if (x.type != y.type)
		return "type";
	if (memcmp(&x.capabilities, &y.capabilities, sizeof(x.capabilities)))
		return "capabilities";
	if (x.num_extensions != y.num_extensions)
		return "extensions";
	for (i = 0; i < x.num_extensions; i++)
		if (!same_extension(&x.extensions[i], &y.extensions[i]))
			return "extensions";
	return NULL;
}

static enum nnhal_status connect_device(const struct nnhal_resilient_device *r,
					struct nnhal_device **device, struct nnhal_diag *diag)
{
	enum nnhal_status status;

	*device = NULL;
	status = r->factory ? r->factory(r->context, device, diag)
			    : nnhal_device_open(r->name, device, diag);
	if (!status && !*device) {
		diag_set(diag, "\"%s\": connected, but there is no device", r->name);
		status = NNHAL_STATUS_GENERAL_FAILURE;
	}
	return status;
}

enum nnhal_status nnhal_resilient_device_create(const char *name, nnhal_device_factory factory,
						void *context,
						struct nnhal_resilient_device **device,
						struct nnhal_diag *diag)
{
	struct nnhal_resilient_device *r;
	enum nnhal_status status;
	struct identity id;
	int err;

	diag_clear(diag);
	if (device)
		*device = NULL;
	if (!device || !name || !*name || strlen(name) >= NNHAL_NAME_SIZE) {
		diag_set(diag, "no name, a name that is too long, or NULL pointer for the result");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	r = calloc(1, sizeof(*r));
	if (!r) {
		diag_set(diag, "no memory for a device");
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	err = fork_guard_init(&r->guard);
	if (err) {
		free(r);
		diag_set(diag, "a page for a device: %s", errno_text(-err));
		return status_from_errno(-err);
	}
	atomic_init(&r->refs, 1);
	r->factory = factory;
	r->context = context;
	memcpy(r->name, name, strlen(name));
	pthread_mutex_init(&r->lock, NULL);
	pthread_mutex_init(&r->buffers_lock, NULL);
	status = connect_device(r, &r->current, diag);
	if (!status)
		status = ask(r->current, &id);
	if (!status && nnhal_device_get_status(r->current) == NNHAL_DEVICE_OFFLINE) {
		diag_set(diag, "\"%s\" is lost", name);
		status = NNHAL_STATUS_DEAD_OBJECT;
	}
	if (status) {
		nnhal_resilient_device_unref(r);
		return status;
	}
	*device = r;
	return NNHAL_STATUS_NONE;
}

struct nnhal_device *nnhal_resilient_device_get(struct nnhal_resilient_device *device)
{
	struct nnhal_device *current;

	resilient_lock(device, &device->lock);
	current = nnhal_device_ref(device->current);
	resilient_unlock(device, &device->lock);
	return current;
}

/* With the lock. */
static enum nnhal_status reconnect(struct nnhal_resilient_device *r, struct resilient_old *old,
				   struct nnhal_diag *diag)
{
	struct nnhal_device *fresh;
	enum nnhal_status status;
	const char *what;

	if (r->is_invalid) {
		diag_set(diag, "\"%s\": another device came back", r->name);
		return NNHAL_STATUS_DEAD_OBJECT;
	}
	status = connect_device(r, &fresh, diag);
	if (status)
		return status;
	what = difference(r->current, fresh);
	if (what) {
		diag_set(diag, "\"%s\": another device came back: its %s differs", r->name, what);
		r->is_invalid = true;
		nnhal_device_unref(fresh);
		return NNHAL_STATUS_DEAD_OBJECT;
	}
	old->device = r->current;
	r->current = fresh;
	return NNHAL_STATUS_NONE;
}

enum nnhal_status nnhal_resilient_device_recover(struct nnhal_resilient_device *device,
						 const struct nnhal_device *failing,
						 struct nnhal_device **current,
						 struct nnhal_diag *diag)
{
	enum nnhal_status status = NNHAL_STATUS_NONE;
	struct resilient_old old = { .device = NULL };

	diag_clear(diag);
	if (current)
		*current = NULL;
	if (!device || !failing || !current) {
		diag_set(diag, "NULL pointer for device or result");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!resilient_is_usable(device, diag))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	pthread_mutex_lock(&device->lock);
	if (device->current == failing)
		status = reconnect(device, &old, diag);
	if (!status)
		*current = nnhal_device_ref(device->current);
	pthread_mutex_unlock(&device->lock);
	resilient_release(&old);
	return status;
}
