// SPDX-License-Identifier: MIT
/*
 * What the library keeps of a prepared model, as bytes: a head, a record for each command, a
 * record for each argument, and behind these the dimensions, scales and parameters of one argument
 * after the other. Caches are for one build of the library on one machine: the numbers are those
 * of the machine.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "execution/cached_rules.h"

struct head {
	uint32_t num_operations;
	uint32_t num_commands;
	uint32_t num_inputs;
	uint32_t num_outputs;
	uint32_t has_loops;
};

struct argument {
	uint32_t element_size;
	uint32_t rank;
	uint32_t rank_known;
	uint32_t type;
	float scale;
	int32_t zero_point;
	uint32_t extra_kind;
	uint32_t channel_dim;
	uint32_t num_scales;
	uint32_t num_bytes;		/* of parameters of an extension's type */
};

/* Writes, or only counts if there is no memory. */
struct writer {
	uint8_t *to;
	uint64_t size;
};

static void put(struct writer *w, const void *from, uint64_t bytes)
{
	if (w->to && bytes)
		memcpy(w->to + w->size, from, bytes);
	w->size += bytes;
}

static struct argument describe(const struct arg_info *info, const struct arg_kind *kind)
{
	const struct nnhal_extra_params *extra = &kind->extra;
	struct argument a = {
		.element_size = info->element_size, .rank = info->rank,
		.rank_known = info->rank_known, .type = kind->type, .scale = kind->scale,
		.zero_point = kind->zero_point, .extra_kind = (uint32_t)extra->kind,
	};

	if (extra->kind == NNHAL_EXTRA_PARAMS_CHANNEL_QUANT) {
		a.channel_dim = extra->channel_quant.channel_dim;
		a.num_scales = extra->channel_quant.num_scales;
	} else if (extra->kind == NNHAL_EXTRA_PARAMS_EXTENSION) {
		a.num_bytes = (uint32_t)extra->extension_size;
	}
	return a;
}

static void pack(const struct nnhal_prepared_model *model, struct writer *w)
{
	const struct request_rules *r = &model->rules;
	struct head head = {
		.num_operations = model->num_operations, .num_commands = model->num_commands,
		.num_inputs = r->num_inputs, .num_outputs = r->num_outputs, .has_loops = model->has_loops,
	};
	uint64_t n = (uint64_t)r->num_inputs + r->num_outputs, i;
	struct argument a;

	put(w, &head, sizeof(head));
	put(w, model->command_origins, model->num_commands * sizeof(*model->command_origins));
	for (i = 0; i < n; i++) {
		a = describe(&r->inputs[i], &r->kinds[i]);
		put(w, &a, sizeof(a));
	}
	for (i = 0; i < n; i++) {
		a = describe(&r->inputs[i], &r->kinds[i]);
		put(w, r->inputs[i].dims, a.rank * sizeof(uint32_t));
		put(w, r->kinds[i].extra.channel_quant.scales, a.num_scales * sizeof(float));
		put(w, r->kinds[i].extra.extension, a.num_bytes);
		/* The next one begins at a multiple of 4. */
		put(w, "\0\0\0", -(uint64_t)a.num_bytes & 3);
	}
}

uint8_t *cached_rules_pack(const struct nnhal_prepared_model *model, uint64_t *size)
{
	struct writer w = { NULL, 0 };

	pack(model, &w);
	w.to = malloc(w.size);
	*size = w.size;
	w.size = 0;
	if (w.to)
		pack(model, &w);
	return w.to;
}

/* Reads no more than there is. */
struct reader {
	const uint8_t *from;
	uint64_t left;
};

/* The next bytes, or NULL. */
static const uint8_t *next(struct reader *r, uint64_t bytes)
{
	const uint8_t *p = r->from;

	if (bytes > r->left)
		return NULL;
	r->from += bytes;
	r->left -= bytes;
	return p;
}

/* The bytes of an argument behind the records. */
static uint64_t tail_size(const struct argument *a)
{
	return (uint64_t)a->rank * sizeof(uint32_t) + (uint64_t)a->num_scales * sizeof(float) +
	       round_up_u64(a->num_bytes, 4);
}

static bool argument_ok(const struct argument *a)
{
	return a->rank_known <= 1 && a->extra_kind <= NNHAL_EXTRA_PARAMS_EXTENSION &&
	       (!a->num_scales || a->extra_kind == NNHAL_EXTRA_PARAMS_CHANNEL_QUANT) &&
	       (!a->num_bytes || a->extra_kind == NNHAL_EXTRA_PARAMS_EXTENSION);
}

/* @tail: the copy of the bytes of this argument. */
static void set_argument(struct arg_info *info, struct arg_kind *kind, const struct argument *a,
			 const uint8_t *tail)
{
	*info = (struct arg_info){
		.element_size = a->element_size, .rank = a->rank, .rank_known = a->rank_known,
		.dims = (const uint32_t *)tail,
	};
	*kind = (struct arg_kind){
		.type = a->type, .scale = a->scale, .zero_point = a->zero_point,
		.extra.kind = a->extra_kind,
	};
	tail += a->rank * sizeof(uint32_t);
	if (a->extra_kind == NNHAL_EXTRA_PARAMS_CHANNEL_QUANT) {
		kind->extra.channel_quant.channel_dim = a->channel_dim;
		kind->extra.channel_quant.num_scales = a->num_scales;
		kind->extra.channel_quant.scales = (const float *)tail;
	} else if (a->extra_kind == NNHAL_EXTRA_PARAMS_EXTENSION) {
		kind->extra.extension = tail;
		kind->extra.extension_size = a->num_bytes;
	}
}

/* Constants of a cache are in no file of the caller: there are no regions to keep clear of. */
static enum nnhal_status unpack_arguments(struct nnhal_prepared_model *model, struct reader *r,
					  const struct head *head)
{
	uint64_t n = (uint64_t)head->num_inputs + head->num_outputs, i;
	const uint8_t *records = next(r, n * sizeof(struct argument));
	struct arg_info *infos;
	struct arg_kind *kinds;
	struct argument a;
	uint8_t *tail;

	if (!records)
		return NNHAL_STATUS_GENERAL_FAILURE;
	model->block = malloc(n * (sizeof(*infos) + sizeof(*kinds)) + r->left + 1);
	if (!model->block)
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	infos = model->block;
	kinds = (struct arg_kind *)(infos + n);
	tail = (uint8_t *)(kinds + n);
	memcpy(tail, r->from, r->left);
	for (i = 0; i < n; i++) {
		memcpy(&a, records + i * sizeof(a), sizeof(a));
		if (!argument_ok(&a) || !next(r, tail_size(&a)))
			return NNHAL_STATUS_GENERAL_FAILURE;
		set_argument(&infos[i], &kinds[i], &a, tail);
		tail += tail_size(&a);
	}
	/* No more than what the padding of the file may be. */
	if (r->left >= 8)
		return NNHAL_STATUS_GENERAL_FAILURE;
	model->rules.inputs = infos;
	model->rules.outputs = infos + head->num_inputs;
	model->rules.kinds = kinds;
	model->rules.num_inputs = head->num_inputs;
	model->rules.num_outputs = head->num_outputs;
	model->rules.allow_unspecified_output = true;
	return NNHAL_STATUS_NONE;
}

static bool origins_ok(const struct command_origin *origins, const struct head *head)
{
	uint32_t i;

	for (i = 0; i < head->num_commands; i++)
		if (origins[i].operation >= head->num_operations)
			return false;
	return true;
}

enum nnhal_status cached_rules_unpack(struct nnhal_prepared_model *model, const uint8_t *bytes,
				      uint64_t size, uint32_t num_commands, uint32_t num_inputs,
				      uint32_t num_outputs)
{
	struct reader r = { bytes, size };
	const uint8_t *p = next(&r, sizeof(struct head));
	struct head head;

	if (!p)
		return NNHAL_STATUS_GENERAL_FAILURE;
	memcpy(&head, p, sizeof(head));
	p = next(&r, head.num_commands * (uint64_t)sizeof(*model->command_origins));
	if (!p || head.num_commands != num_commands || head.num_inputs != num_inputs ||
	    head.num_outputs != num_outputs ||
	    !origins_ok((const struct command_origin *)p, &head))
		return NNHAL_STATUS_GENERAL_FAILURE;
	model->command_origins = malloc(num_commands * sizeof(*model->command_origins) + 1);
	if (!model->command_origins)
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	memcpy(model->command_origins, p, num_commands * sizeof(*model->command_origins));
	model->num_commands = num_commands;
	model->num_operations = head.num_operations;
	model->has_loops = head.has_loops;
	return unpack_arguments(model, &r, &head);
}
