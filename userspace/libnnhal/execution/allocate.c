// SPDX-License-Identifier: MIT
/*
 * allocate: roles become a buffer.
 *
 * All roles and the description are combined: what they say must agree, and what one of them
 * leaves open another one may say.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/status.h"
#include "buffer/buffer_private.h"
#include "device/device_private.h"
#include "execution/prepared_model_private.h"
#include "execution/validate_request.h"

/* What is known after some of the roles. */
struct allocation {
	struct nnhal_device *device;
	struct nnhal_prepared_model *const *models;
	uint32_t num_models;
	struct role *roles;
	uint32_t num_roles;
	const struct arg_kind *kind;	/* of the first role */
	uint32_t element_size;
	bool is_scalar;
	uint32_t rank;			/* 0: not known */
	uint32_t *dims;			/* room for max_rank */
	uint32_t max_rank;
	struct nnhal_diag *diag;
};

/* A role being checked. */
struct checked_role {
	const char *what;		/* "input role" or "output role" */
	uint32_t number;
	bool is_output;
};

#define FAIL(a, r, fmt, ...) \
	(diag_set((a)->diag, "%s %u: " fmt, (r)->what, (r)->number, ##__VA_ARGS__), \
	 NNHAL_STATUS_INVALID_ARGUMENT)

static bool same_extra(const struct nnhal_extra_params *a, const struct nnhal_extra_params *b)
{
	uint32_t i;

	if (a->kind != b->kind)
		return false;
	if (a->kind == NNHAL_EXTRA_PARAMS_EXTENSION)
		return a->extension_size == b->extension_size &&
		       (!a->extension_size ||
			!memcmp(a->extension, b->extension, a->extension_size));
	if (a->kind != NNHAL_EXTRA_PARAMS_CHANNEL_QUANT)
		return true;
	if (a->channel_quant.channel_dim != b->channel_quant.channel_dim ||
	    a->channel_quant.num_scales != b->channel_quant.num_scales)
		return false;
	for (i = 0; i < a->channel_quant.num_scales; i++)
		if (a->channel_quant.scales[i] != b->channel_quant.scales[i])
			return false;
	return true;
}

static enum nnhal_status check_kind(const struct allocation *a, const struct checked_role *r,
				    const struct arg_kind *kind)
{
	if (kind->type != a->kind->type)
		return FAIL(a, r, "operand type %u, but that of the first role is %u", kind->type,
			    a->kind->type);
	if (kind->scale != a->kind->scale)
		return FAIL(a, r, "scale %g, but that of the first role is %g",
			    (double)kind->scale, (double)a->kind->scale);
	if (kind->zero_point != a->kind->zero_point)
		return FAIL(a, r, "zeroPoint %d, but that of the first role is %d",
			    kind->zero_point, a->kind->zero_point);
	if (!same_extra(&kind->extra, &a->kind->extra))
		return FAIL(a, r, "extraParams are not those of the first role");
	return NNHAL_STATUS_NONE;
}

/* Add what somebody says of the dimensions. 0; -EINVAL: it contradicts the others; -ENOMEM. */
static int combine(struct allocation *a, const uint32_t *dims, uint32_t rank)
{
	uint32_t *room;

	if (rank > a->max_rank) {
		room = realloc(a->dims, rank * sizeof(*room));
		if (!room)
			return -ENOMEM;
		a->dims = room;
		a->max_rank = rank;
	}
	if (!nnhal_combine_dimensions(a->dims, a->rank, dims, rank, a->dims, &a->rank))
		return -EINVAL;
	return 0;
}

static enum nnhal_status add_role(struct allocation *a, const struct checked_role *r,
				  const struct nnhal_buffer_role *from)
{
	const struct nnhal_prepared_model *model;
	const struct request_rules *rules;
	const struct arg_info *info;
	const struct arg_kind *kind;
	enum nnhal_status status;
	struct role role;
	uint32_t count;
	int err;

	if (from->model_index >= a->num_models)
		return FAIL(a, r, "modelIndex %u, but there are %u models", from->model_index,
			    a->num_models);
	model = a->models[from->model_index];
	rules = &model->rules;
	count = r->is_output ? rules->num_outputs : rules->num_inputs;
	if (from->io_index >= count)
		return FAIL(a, r, "ioIndex %u, but the model has %u", from->io_index, count);
	/* A NaN is not above 0. */
	if (!(from->frequency > 0.0f) || from->frequency > 1.0f)
		return FAIL(a, r, "frequency %g, expected above 0 and at most 1",
			    (double)from->frequency);
	role = (struct role){ rules->model, from->io_index, r->is_output };
	if (roles_have(a->roles, a->num_roles, &role))
		return FAIL(a, r, "occurs twice");
	kind = &rules->kinds[(r->is_output ? rules->num_inputs : 0) + from->io_index];
	info = r->is_output ? &rules->outputs[from->io_index] : &rules->inputs[from->io_index];
	if (!a->num_roles) {
		a->kind = kind;
		a->element_size = info->element_size;
		a->is_scalar = info->rank_known && !info->rank;
	}
	status = check_kind(a, r, kind);
	if (status)
		return status;
	err = combine(a, info->dims, info->rank);
	if (err == -ENOMEM) {
		diag_set(a->diag, "%s %u: no memory for its dimensions", r->what, r->number);
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	if (err)
		return FAIL(a, r, "dimensions contradict those of others or the description");
	a->roles[a->num_roles++] = role;
	return NNHAL_STATUS_NONE;
}

static enum nnhal_status add_roles(struct allocation *a, bool is_output,
				   const struct nnhal_buffer_role *roles, uint32_t count)
{
	struct checked_role r = {
		.what = is_output ? "output role" : "input role", .is_output = is_output,
	};
	struct nnhal_buffer_role role;
	enum nnhal_status status = NNHAL_STATUS_NONE;

	for (; r.number < count && !status; r.number++) {
		role = roles[r.number];
		status = add_role(a, &r, &role);
	}
	return status;
}

static enum nnhal_status check_models(const struct allocation *a)
{
	uint32_t i;

	for (i = 0; i < a->num_models; i++) {
		if (!a->models[i]) {
			diag_set(a->diag, "model %u: NULL pointer", i);
			return NNHAL_STATUS_INVALID_ARGUMENT;
		}
		if (device_root(a->models[i]->device) != a->device) {
			diag_set(a->diag, "model %u was prepared by another device", i);
			return NNHAL_STATUS_INVALID_ARGUMENT;
		}
	}
	return NNHAL_STATUS_NONE;
}

/* The roles are good. Can the device have such a buffer? */
static enum nnhal_status layout_init(struct buffer_layout *layout, const struct allocation *a)
{
	uint32_t d, size;

	memset(layout, 0, sizeof(*layout));
	layout->element_size = a->element_size;
	layout->is_scalar = a->is_scalar;
	if (!a->device->transport->limits.can_copy) {
		diag_set(a->diag, "the device has no copies");
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	if (!a->element_size) {
		diag_set(a->diag, "the size of operand type %u is not known", a->kind->type);
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	if (a->rank > NNHAL_MAX_RANK) {
		diag_set(a->diag, "rank %u, the device supports at most %u", a->rank,
			 NNHAL_MAX_RANK);
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	layout->shape.rank = a->rank;
	layout->is_fixed = a->is_scalar || a->rank;
	for (d = 0; d < a->rank; d++) {
		layout->shape.dims[d] = a->dims[d];
		if (!a->dims[d])
			layout->is_fixed = false;
	}
	if (layout->is_fixed && !layout_size(layout, &layout->shape, &size)) {
		diag_set(a->diag, "size takes more than 32 bits");
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	return NNHAL_STATUS_NONE;
}

static enum nnhal_status create(struct allocation *a, struct nnhal_buffer **buffer)
{
	struct buffer_layout layout;
	enum nnhal_status status = layout_init(&layout, a);
	int err;

	if (status)
		return status;
	err = buffer_create(a->device, &layout, a->roles, a->num_roles, buffer);
	a->roles = NULL;
	if (!err)
		return NNHAL_STATUS_NONE;
	diag_set(a->diag, "memory of a buffer: %s", errno_text(-err));
	status = device_status_from_error(a->device, err);
	/* The HAL has no status for a shortage here. */
	return status == NNHAL_STATUS_DEVICE_UNAVAILABLE || status == NNHAL_STATUS_DEAD_OBJECT
	       ? status : NNHAL_STATUS_GENERAL_FAILURE;
}

/* Everything is there; check it and make the buffer. */
static enum nnhal_status allocate(struct allocation *a, const struct nnhal_buffer_desc *desc,
				  const struct nnhal_buffer_role *input_roles,
				  uint32_t num_input_roles,
				  const struct nnhal_buffer_role *output_roles,
				  uint32_t num_output_roles, struct nnhal_buffer **buffer)
{
	enum nnhal_status status = check_models(a);

	/* Nothing is known before, so there is nothing to contradict. */
	if (!status && combine(a, desc->dimensions, desc->num_dimensions)) {
		diag_set(a->diag, "no memory for %u dimensions", desc->num_dimensions);
		status = NNHAL_STATUS_GENERAL_FAILURE;
	}
	if (!status)
		status = add_roles(a, false, input_roles, num_input_roles);
	if (!status)
		status = add_roles(a, true, output_roles, num_output_roles);
	if (!status && a->is_scalar && a->rank) {
		diag_set(a->diag, "%u dimensions for a scalar", a->rank);
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	}
	return status ? status : create(a, buffer);
}

static bool read_desc(struct nnhal_buffer_desc *to, const struct nnhal_buffer_desc *from,
		      struct nnhal_diag *diag)
{
	static const struct nnhal_buffer_desc defaults;

	if (!options_read(to, from, &defaults, dimensions)) {
		diag_set(diag, "description of a buffer of another version");
		return false;
	}
	if (to->num_dimensions && !to->dimensions) {
		diag_set(diag, "NULL pointer for %u dimensions", to->num_dimensions);
		return false;
	}
	return true;
}

enum nnhal_status nnhal_device_allocate(struct nnhal_device *device,
					const struct nnhal_buffer_desc *desc,
					struct nnhal_prepared_model *const *models,
					uint32_t num_models,
					const struct nnhal_buffer_role *input_roles,
					uint32_t num_input_roles,
					const struct nnhal_buffer_role *output_roles,
					uint32_t num_output_roles, struct nnhal_buffer **buffer,
					uint32_t *token, struct nnhal_diag *diag)
{
	struct allocation a = {
		.device = device, .models = models, .num_models = num_models, .diag = diag,
	};
	uint64_t num_roles = (uint64_t)num_input_roles + num_output_roles;
	struct nnhal_buffer_desc read;
	enum nnhal_status status;

	diag_clear(diag);
	if (buffer)
		*buffer = NULL;
	if (token)
		*token = 0;
	if (!device || !desc || !buffer || !token || (num_models && !models) ||
	    (num_input_roles && !input_roles) || (num_output_roles && !output_roles)) {
		diag_set(diag, "NULL pointer for device, description, models, roles or result");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!read_desc(&read, desc, diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (!num_models || !num_roles) {
		diag_set(diag, "%u models and %llu roles, expected at least one of each",
			 num_models, (unsigned long long)num_roles);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!device_is_usable(device, diag))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	if (num_roles > UINT32_MAX || !(a.roles = calloc(num_roles, sizeof(*a.roles)))) {
		diag_set(diag, "no memory for roles");
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	status = allocate(&a, &read, input_roles, num_input_roles, output_roles,
			  num_output_roles, buffer);
	free(a.roles);
	free(a.dims);
	/* Not the token: who reads the log need not be who may use it. */
	VLOG(&device->log, NNHAL_LOG_MEMORY, "allocate: buffer for %llu roles: %s",
	     (unsigned long long)num_roles, nnhal_status_name((int)status));
	if (!status)
		*token = (*buffer)->entry.token;
	return status;
}
