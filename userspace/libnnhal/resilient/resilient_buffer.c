// SPDX-License-Identifier: MIT
/*
 * Resilient buffers. A buffer's token for requests is that of its first memory. A request that names
 * it gets the token of the moment before it goes to the device.
 */
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "resilient/resilient_private.h"

struct nnhal_resilient_buffer {
	atomic_uint refs;
	struct nnhal_resilient_device *device;
	uint32_t token;
	/* How it was made. */
	uint32_t num_dimensions;
	uint32_t *dimensions;
	struct nnhal_resilient_model **models;
	uint32_t num_models;
	struct nnhal_buffer_role *roles;	/* inputs, then outputs */
	uint32_t num_input_roles;
	uint32_t num_output_roles;
	pthread_mutex_t lock;
	struct nnhal_buffer *current;
	struct nnhal_device *current_device;
	uint32_t current_token;
	struct nnhal_resilient_buffer *next;	/* of the device's, under its buffers_lock */
};

/*
 * With buffers_lock nobody finds a buffer without references. In a child of fork() nobody looks for one,
 * and the list may lead to buffers that the child has released.
 */
void nnhal_resilient_buffer_unref(struct nnhal_resilient_buffer *buffer)
{
	struct nnhal_resilient_device *device;
	struct nnhal_resilient_buffer **link;
	uint32_t i;
	bool last;

	if (!buffer)
		return;
	device = buffer->device;
	resilient_lock(device, &device->buffers_lock);
	last = atomic_fetch_sub_explicit(&buffer->refs, 1, memory_order_acq_rel) == 1;
	for (link = &device->buffers; last && resilient_is_own(device) && *link;
	     link = &(*link)->next)
		if (*link == buffer) {
			*link = buffer->next;
			break;
		}
	resilient_unlock(device, &device->buffers_lock);
	if (!last)
		return;
	nnhal_buffer_unref(buffer->current);
	nnhal_device_unref(buffer->current_device);
	for (i = 0; i < buffer->num_models; i++)
		nnhal_resilient_model_unref(buffer->models[i]);
	free(buffer->models);
	free(buffer->roles);
	free(buffer->dimensions);
	resilient_lock_destroy(device, &buffer->lock);
	free(buffer);
	nnhal_resilient_device_unref(device);
}

/* On @device, of which it takes a reference. With the lock, or before others know the buffer. */
static enum nnhal_status allocate_on(struct nnhal_resilient_buffer *b, struct nnhal_device *device,
				     struct resilient_old *old, struct nnhal_diag *diag)
{
	struct nnhal_buffer_desc desc = NNHAL_BUFFER_DESC_INIT;
	struct nnhal_prepared_model **models;
	struct nnhal_buffer *fresh = NULL;
	enum nnhal_status status = NNHAL_STATUS_NONE;
	struct nnhal_device *where;
	uint32_t i, token = 0, count;

	models = calloc(b->num_models, sizeof(struct nnhal_prepared_model *));
	if (!models) {
		diag_set(diag, "no memory for a buffer");
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	desc.num_dimensions = b->num_dimensions;
	desc.dimensions = b->dimensions;
	for (count = 0; count < b->num_models && !status; count++) {
		models[count] = resilient_model_get_on(b->models[count], &where);
		/* A model that is still elsewhere: that device is the one that failed. */
		if (where != device) {
			status = resilient_model_recover(b->models[count], where);
			nnhal_prepared_model_unref(models[count]);
			models[count] = nnhal_resilient_model_get(b->models[count]);
		}
		nnhal_device_unref(where);
	}
	if (!status)
		status = nnhal_device_allocate(device, &desc, models, b->num_models, b->roles,
					       b->num_input_roles, b->roles + b->num_input_roles,
					       b->num_output_roles, &fresh, &token, diag);
	for (i = 0; i < count; i++)
		nnhal_prepared_model_unref(models[i]);
	free(models);
	if (!status && (!fresh || !token)) {
		diag_set(diag, "allocated, but there is no buffer or token");
		nnhal_buffer_unref(fresh);
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	if (status)
		return status;
	old->buffer = b->current;
	old->device = b->current_device;
	b->current = fresh;
	b->current_token = token;
	b->current_device = nnhal_device_ref(device);
	return NNHAL_STATUS_NONE;
}

/* False: no memory; nnhal_resilient_buffer_unref() releases what there is. */
static bool copy_description(struct nnhal_resilient_buffer *b, const struct nnhal_buffer_desc *desc,
			     struct nnhal_resilient_model *const *models, uint32_t num_models,
			     const struct nnhal_buffer_role *input_roles,
			     const struct nnhal_buffer_role *output_roles)
{
	uint32_t i;

	b->dimensions = calloc((size_t)desc->num_dimensions + 1, sizeof(*b->dimensions));
	b->models = calloc((size_t)num_models + 1, sizeof(struct nnhal_resilient_model *));
	b->roles = calloc((size_t)b->num_input_roles + b->num_output_roles + 1, sizeof(*b->roles));
	if (!b->dimensions || !b->models || !b->roles)
		return false;
	b->num_dimensions = desc->num_dimensions;
	if (b->num_dimensions)
		memcpy(b->dimensions, desc->dimensions, b->num_dimensions * sizeof(uint32_t));
	if (b->num_input_roles)
		memcpy(b->roles, input_roles, b->num_input_roles * sizeof(*b->roles));
	if (b->num_output_roles)
		memcpy(b->roles + b->num_input_roles, output_roles,
		       b->num_output_roles * sizeof(*b->roles));
	for (i = 0; i < num_models; i++)
		b->models[i] = resilient_model_ref(models[i]);
	b->num_models = num_models;
	return true;
}

/* Make it again, if @failing is still its device. */
static enum nnhal_status recover(struct nnhal_resilient_buffer *b,
				 const struct nnhal_device *failing, struct nnhal_diag *diag)
{
	enum nnhal_status status = NNHAL_STATUS_NONE;
	struct resilient_old old = { .buffer = NULL };
	struct nnhal_device *next;

	pthread_mutex_lock(&b->lock);
	if (b->current_device == failing) {
		status = nnhal_resilient_device_recover(b->device, failing, &next, diag);
		if (!status) {
			status = allocate_on(b, next, &old, diag);
			nnhal_device_unref(next);
		}
	}
	pthread_mutex_unlock(&b->lock);
	resilient_release(&old);
	return status;
}

enum nnhal_status
nnhal_resilient_device_allocate(struct nnhal_resilient_device *device,
				const struct nnhal_buffer_desc *desc,
				struct nnhal_resilient_model *const *models, uint32_t num_models,
				const struct nnhal_buffer_role *input_roles,
				uint32_t num_input_roles,
				const struct nnhal_buffer_role *output_roles,
				uint32_t num_output_roles,
				struct nnhal_resilient_buffer **buffer, uint32_t *token,
				struct nnhal_diag *diag)
{
	static const struct nnhal_buffer_desc defaults = NNHAL_BUFFER_DESC_INIT;
	struct resilient_old none = { .buffer = NULL };
	struct nnhal_resilient_buffer *b;
	struct nnhal_device *current, *next;
	struct nnhal_buffer_desc read;
	enum nnhal_status status;
	uint32_t i;

	diag_clear(diag);
	if (buffer)
		*buffer = NULL;
	if (token)
		*token = 0;
	if (!device || !desc || !buffer || !token || !num_models || !models ||
	    (num_input_roles && !input_roles) || (num_output_roles && !output_roles)) {
		diag_set(diag, "NULL pointer for device, description, models, roles or result");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!options_read(&read, desc, &defaults, dimensions)) {
		diag_set(diag, "description of a buffer of another version");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (read.num_dimensions && !read.dimensions) {
		diag_set(diag, "NULL pointer for %u dimensions", read.num_dimensions);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!resilient_is_usable(device, diag))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	for (i = 0; i < num_models; i++)
		if (!models[i] || models[i]->device != device) {
			diag_set(diag, "model %u is not of this device", i);
			return NNHAL_STATUS_INVALID_ARGUMENT;
		}
	b = calloc(1, sizeof(*b));
	if (!b) {
		diag_set(diag, "no memory for a buffer");
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	atomic_init(&b->refs, 1);
	b->device = resilient_device_ref(device);
	b->num_input_roles = num_input_roles;
	b->num_output_roles = num_output_roles;
	pthread_mutex_init(&b->lock, NULL);
	if (!copy_description(b, &read, models, num_models, input_roles, output_roles)) {
		diag_set(diag, "no memory for a buffer");
		nnhal_resilient_buffer_unref(b);
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	current = nnhal_resilient_device_get(device);
	status = allocate_on(b, current, &none, diag);
	if (resilient_is_lost(current, status) &&
	    !nnhal_resilient_device_recover(device, current, &next, NULL)) {
		diag_clear(diag);
		status = allocate_on(b, next, &none, diag);
		nnhal_device_unref(next);
	}
	nnhal_device_unref(current);
	if (status) {
		nnhal_resilient_buffer_unref(b);
		return status;
	}
	b->token = b->current_token;
	pthread_mutex_lock(&device->buffers_lock);
	b->next = device->buffers;
	device->buffers = b;
	pthread_mutex_unlock(&device->buffers_lock);
	*buffer = b;
	*token = b->token;
	return NNHAL_STATUS_NONE;
}

static struct nnhal_resilient_buffer *find_buffer(struct nnhal_resilient_device *device,
						  uint32_t token)
{
	struct nnhal_resilient_buffer *b;

	pthread_mutex_lock(&device->buffers_lock);
	for (b = device->buffers; b && b->token != token; b = b->next)
		;
	if (b)
		atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
	pthread_mutex_unlock(&device->buffers_lock);
	return b;
}

/* The token of the moment on @device. */
static enum nnhal_status token_on(struct nnhal_resilient_buffer *b, struct nnhal_device *device,
				  uint32_t *token)
{
	enum nnhal_status status = NNHAL_STATUS_NONE;
	struct resilient_old old = { .buffer = NULL };

	pthread_mutex_lock(&b->lock);
	if (b->current_device != device)
		status = allocate_on(b, device, &old, NULL);
	if (!status)
		*token = b->current_token;
	pthread_mutex_unlock(&b->lock);
	resilient_release(&old);
	return status;
}

enum nnhal_status resilient_translate(struct nnhal_resilient_device *resilient,
				      struct nnhal_device *device,
				      const struct nnhal_request *request,
				      struct nnhal_request *translated,
				      struct nnhal_request_pool **pools)
{
	enum nnhal_status status = NNHAL_STATUS_NONE;
	struct nnhal_resilient_buffer *b;
	uint32_t i;

	*translated = *request;
	/* A layout that is not known: the call says so, and follows no pointer either. */
	if (!translated->pools || (translated->hal_version & NNHAL_LAYOUT_MASK))
		return NNHAL_STATUS_NONE;
	for (i = 0; i < translated->num_pools && !translated->pools[i].token; i++)
		;
	if (i == translated->num_pools)
		return NNHAL_STATUS_NONE;
	*pools = calloc(translated->num_pools, sizeof(**pools));
	if (!*pools)
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	memcpy(*pools, translated->pools, translated->num_pools * sizeof(**pools));
	translated->pools = *pools;
	for (i = 0; i < translated->num_pools && !status; i++) {
		b = (*pools)[i].token ? find_buffer(resilient, (*pools)[i].token) : NULL;
		if (!b)
			continue;
		status = token_on(b, device, &(*pools)[i].token);
		nnhal_resilient_buffer_unref(b);
	}
	return status;
}

/* The buffer of the moment and its device, both with a reference. */
static struct nnhal_buffer *get_on(struct nnhal_resilient_buffer *b, struct nnhal_device **device)
{
	struct nnhal_buffer *current;

	pthread_mutex_lock(&b->lock);
	current = nnhal_buffer_ref(b->current);
	*device = nnhal_device_ref(b->current_device);
	pthread_mutex_unlock(&b->lock);
	return current;
}

/* One of the two copies, and after a loss once more. */
static enum nnhal_status copy(struct nnhal_resilient_buffer *b, bool from,
			      struct nnhal_memory *memory, const uint32_t *dimensions,
			      uint32_t num_dimensions, struct nnhal_diag *diag)
{
	struct nnhal_buffer *current;
	struct nnhal_device *device;
	enum nnhal_status status;
	unsigned int attempt;
	bool again = true;

	diag_clear(diag);
	if (!b) {
		diag_set(diag, "no buffer");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!resilient_is_usable(b->device, diag))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	for (attempt = 0; again; attempt++) {
		current = get_on(b, &device);
		status = from ? nnhal_buffer_copy_from(current, memory, dimensions, num_dimensions,
						       diag)
			      : nnhal_buffer_copy_to(current, memory, diag);
		again = !attempt && resilient_is_lost(device, status) && !recover(b, device, NULL);
		nnhal_buffer_unref(current);
		nnhal_device_unref(device);
	}
	return status;
}

enum nnhal_status nnhal_resilient_buffer_copy_to(struct nnhal_resilient_buffer *buffer,
						 struct nnhal_memory *memory,
						 struct nnhal_diag *diag)
{
	return copy(buffer, false, memory, NULL, 0, diag);
}

enum nnhal_status nnhal_resilient_buffer_copy_from(struct nnhal_resilient_buffer *buffer,
						   struct nnhal_memory *memory,
						   const uint32_t *dimensions,
						   uint32_t num_dimensions,
						   struct nnhal_diag *diag)
{
	return copy(buffer, true, memory, dimensions, num_dimensions, diag);
}
