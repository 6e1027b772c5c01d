// SPDX-License-Identifier: MIT
/*
 * The assembler: HAL model to program image.
 *
 * Operands become tensor records and operations become commands, one to one and
 * in the same order. Small CONSTANT_COPY values travel inside the image, large
 * ones in a staging buffer that is bound to a slot while the program loads;
 * CONSTANT_REFERENCE values are read by the device from the pool itself. Nothing
 * of the graph is computed here.
 *
 * The work is done in three steps: what can be expressed (skips), which operands
 * are needed and where their constants go (plan), and writing the records (emit).
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "lower.h"

/* CONSTANT_COPY values up to this many bytes go into the image. */
#define INLINE_MAX		4096
/* Alignment of constants in the image and in the staging buffer. */
#define DATA_ALIGN		64
#define NO_INDEX		UINT32_MAX

/* Where the constant of an operand goes. */
struct place {
	uint64_t offset;		/* in the inline data or the staging buffer */
	uint64_t scales;		/* in the inline data */
	uint32_t tensor;		/* NO_INDEX: operand is not needed */
	uint8_t kind;			/* NNPU_TENSOR_* */
	bool staged;
	bool unreadable;
};

struct lowering {
	const struct nnhal_model *model;
	const struct nnhal_subgraph *sg;
	const struct transport_limits *limits;
	struct image *image;
	struct nnhal_diag *diag;
	struct place *places;		/* one per operand */
	bool check;
	/* Commands and what the image's header says. */
	uint32_t num_inputs;
	uint32_t num_outputs;
	uint64_t num_indexes;
	uint64_t data_size;
	uint32_t forced_output;		/* operand, or NO_INDEX */
};

static bool is_reference(const struct nnhal_operand *op)
{
	return op->lifetime == NNHAL_LIFETIME_CONSTANT_REFERENCE;
}

static bool is_constant(const struct nnhal_operand *op)
{
	return op->lifetime == NNHAL_LIFETIME_CONSTANT_COPY || is_reference(op);
}

static const struct nnhal_memory *pool_of(const struct lowering *l,
					  const struct nnhal_operand *op)
{
	return l->model->pools[op->location.pool_index];
}

/* Why an operand cannot be a tensor record; NULL if it can. */
static const char *operand_obstacle(const struct lowering *l, uint32_t index)
{
	const struct nnhal_operand *op = &l->sg->operands[index];

	if (op->type == NNHAL_OPERAND_SUBGRAPH)
		return "subgraphs are not supported by this device";
	if (op->type >= NNPU_NUM_TYPES)
		return "operand types of extensions are not supported by this device";
	if (op->num_dimensions > NNPU_MAX_RANK)
		return "rank is above what the device supports";
	if (l->places[index].unreadable)
		return "memory of the constant cannot be read";
	return NULL;
}

static struct image_skip operation_obstacle(const struct lowering *l,
					    const struct nnhal_operation *o)
{
	const char *reason;
	uint32_t k;

	if (o->type == NNHAL_OPERATION_IF || o->type == NNHAL_OPERATION_WHILE)
		return (struct image_skip){ "control flow is not supported by this device",
					    UINT32_MAX };
	if (o->type >= NNPU_NUM_OPERATIONS)
		return (struct image_skip){ "operations of extensions are not supported by this device",
					    UINT32_MAX };
	if (o->num_inputs > UINT16_MAX || o->num_outputs > UINT16_MAX)
		return (struct image_skip){ "too many operands", UINT32_MAX };
	for (k = 0; k < o->num_inputs; k++) {
		reason = operand_obstacle(l, o->inputs[k]);
		if (reason)
			return (struct image_skip){ reason, k };
	}
	for (k = 0; k < o->num_outputs; k++) {
		reason = operand_obstacle(l, o->outputs[k]);
		if (reason)
			return (struct image_skip){ reason, o->num_inputs + k };
	}
	return (struct image_skip){ NULL, UINT32_MAX };
}

/* What stands in the way of the model as a whole. */
static const char *model_obstacle(const struct lowering *l)
{
	const char *reason;
	uint32_t i;

	if (l->sg->num_inputs > UINT16_MAX || l->sg->num_outputs > UINT16_MAX ||
	    l->sg->num_inputs + l->sg->num_outputs > l->limits->max_args)
		return "model has more inputs and outputs than the device supports";
	for (i = 0; i < l->sg->num_inputs; i++) {
		reason = operand_obstacle(l, l->sg->input_indexes[i]);
		if (reason)
			return reason;
	}
	for (i = 0; i < l->sg->num_outputs; i++) {
		reason = operand_obstacle(l, l->sg->output_indexes[i]);
		if (reason)
			return reason;
	}
	return NULL;
}

/* Reserve room for the constants that are not bound in place. */
static void place_constants(struct lowering *l)
{
	uint32_t i;

	for (i = 0; i < l->sg->num_operands; i++) {
		const struct nnhal_operand *op = &l->sg->operands[i];
		struct place *p = &l->places[i];

		if (op->extra_params.kind == NNHAL_EXTRA_PARAMS_CHANNEL_QUANT) {
			p->scales = l->data_size;
			l->data_size += round_up_u64((uint64_t)op->extra_params.channel_quant.num_scales *
						     sizeof(float), DATA_ALIGN);
		}
		if (!is_constant(op) || (is_reference(op) && pool_of(l, op)->direct))
			continue;
		p->staged = is_reference(op) || op->location.length > INLINE_MAX;
		if (p->staged) {
			p->offset = l->image->staging_size;
			l->image->staging_size += round_up_u64(op->location.length, DATA_ALIGN);
		} else {
			p->offset = l->data_size;
			l->data_size += round_up_u64(op->location.length, DATA_ALIGN);
		}
	}
}

/* Fill the staging buffer while the caller's memory is still there. */
static enum nnhal_status stage_constants(struct lowering *l)
{
	struct image *image = l->image;
	uint32_t i;
	int err;

	place_constants(l);
	if (!image->staging_size)
		return NNHAL_STATUS_NONE;
	image->staging = malloc(image->staging_size);
	if (!image->staging) {
		diag_set(l->diag, "no memory for %llu bytes of constants",
			 (unsigned long long)image->staging_size);
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	for (i = 0; i < l->sg->num_operands; i++) {
		const struct nnhal_operand *op = &l->sg->operands[i];
		struct place *p = &l->places[i];
		uint8_t *to = image->staging + p->offset;

		if (!p->staged || !op->location.length)
			continue;
		if (!is_reference(op)) {
			memcpy(to, (const uint8_t *)l->model->operand_values +
			       op->location.offset, op->location.length);
			continue;
		}
		err = memory_read(pool_of(l, op), op->location.offset, to, op->location.length);
		if (err && !l->check) {
			diag_set(l->diag, "operand %u: pool %u cannot be read: %s", i,
				 op->location.pool_index, errno_text(-err));
			return NNHAL_STATUS_GENERAL_FAILURE;
		}
		p->unreadable = err;
	}
	return NNHAL_STATUS_NONE;
}

/* Decide which operations become commands. */
static enum nnhal_status find_skips(struct lowering *l)
{
	const char *reason = model_obstacle(l);
	struct image *image = l->image;
	uint32_t i;

	if (reason && !l->check) {
		diag_set(l->diag, "%s", reason);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	for (i = 0; i < l->sg->num_operations; i++) {
		image->skips[i] = reason ? (struct image_skip){ reason, UINT32_MAX }
					 : operation_obstacle(l, &l->sg->operations[i]);
		if (!image->skips[i].reason) {
			image->operation_of_command[image->num_commands++] = i;
		} else if (!l->check) {
			diag_set(l->diag, "operation %u (%s): %s", i,
				 nnhal_operation_type_name(l->sg->operations[i].type),
				 image->skips[i].reason);
			return NNHAL_STATUS_INVALID_ARGUMENT;
		}
	}
	return NNHAL_STATUS_NONE;
}

static void need_operand(struct lowering *l, uint32_t index, uint8_t kind)
{
	struct place *p = &l->places[index];

	if (p->tensor != NO_INDEX)
		return;
	p->tensor = l->image->num_tensors;
	p->kind = kind;
	l->image->operand_of_tensor[l->image->num_tensors++] = index;
}

static uint8_t kind_of(const struct lowering *l, uint32_t index)
{
	const struct nnhal_operand *op = &l->sg->operands[index];

	switch (op->lifetime) {
	case NNHAL_LIFETIME_CONSTANT_COPY:
		return l->places[index].staged ? NNPU_TENSOR_SLOT : NNPU_TENSOR_INLINE;
	case NNHAL_LIFETIME_CONSTANT_REFERENCE:
		return NNPU_TENSOR_SLOT;
	default:
		/* The numbers of the other lifetimes are those of the tensor kinds. */
		return (uint8_t)op->lifetime;
	}
}

/*
 * Number the tensors: inputs, then what the commands read and write in order. What
 * is read or an output but written by no command was written by a skipped operation;
 * that becomes an input of the checked program.
 */
static void plan_tensors(struct lowering *l)
{
	struct image *image = l->image;
	uint32_t c, i, k;

	for (i = 0; i < l->sg->num_inputs; i++)
		need_operand(l, l->sg->input_indexes[i], NNPU_TENSOR_INPUT);
	l->num_inputs = l->sg->num_inputs;
	l->num_indexes = l->sg->num_inputs;
	for (c = 0; c < image->num_commands; c++) {
		const struct nnhal_operation *o =
			&l->sg->operations[image->operation_of_command[c]];

		l->num_indexes += o->num_inputs + (uint64_t)o->num_outputs;
		for (k = 0; k < o->num_inputs; k++) {
			uint32_t index = o->inputs[k];
			uint8_t kind = kind_of(l, index);

			if (l->places[index].tensor != NO_INDEX)
				continue;
			if (kind == NNPU_TENSOR_TEMPORARY || kind == NNPU_TENSOR_OUTPUT) {
				kind = NNPU_TENSOR_INPUT;
				l->num_inputs++;
				l->num_indexes++;
			}
			need_operand(l, index, kind);
		}
		for (k = 0; k < o->num_outputs; k++)
			need_operand(l, o->outputs[k], kind_of(l, o->outputs[k]));
	}
	for (i = 0; i < l->sg->num_outputs; i++)
		if (l->places[l->sg->output_indexes[i]].kind == NNPU_TENSOR_OUTPUT &&
		    l->places[l->sg->output_indexes[i]].tensor != NO_INDEX)
			l->num_outputs++;
	if (!l->num_outputs) {
		const struct nnhal_operation *o =
			&l->sg->operations[image->operation_of_command[image->num_commands - 1]];

		if (o->num_outputs) {
			l->forced_output = o->outputs[0];
			l->places[l->forced_output].kind = NNPU_TENSOR_OUTPUT;
			l->num_outputs = 1;
		}
	}
	l->num_indexes += l->num_outputs;
}

static uint32_t float_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static void emit_tensor(struct lowering *l, uint32_t index, struct nnpu_tensor_desc *t,
			uint8_t *data)
{
	const struct nnhal_operand *op = &l->sg->operands[index];
	const struct nnhal_channel_quant *cq = &op->extra_params.channel_quant;
	const struct place *p = &l->places[index];
	uint32_t d, s, bits;

	t->type = htole16((uint16_t)op->type);
	t->kind = p->kind;
	t->rank = (uint8_t)op->num_dimensions;
	if (!op->num_dimensions && !nnhal_operand_type_is_scalar(op->type))
		t->flags = htole32(NNPU_TENSOR_UNKNOWN_RANK);
	t->scale = htole32(float_bits(op->scale));
	t->zero_point = htole32((uint32_t)op->zero_point);
	for (d = 0; d < op->num_dimensions; d++)
		t->dims[d] = htole32(op->dimensions[d]);
	if (op->extra_params.kind == NNHAL_EXTRA_PARAMS_CHANNEL_QUANT) {
		t->channel_dim = htole32(cq->channel_dim);
		t->num_channel_scales = htole32(cq->num_scales);
		t->channel_scales_off = htole32((uint32_t)p->scales);
		for (s = 0; s < cq->num_scales; s++) {
			bits = htole32(float_bits(cq->scales[s]));
			memcpy(data + p->scales + s * sizeof(bits), &bits, sizeof(bits));
		}
	}
	if (!is_constant(op))
		return;
	t->data_len = htole64(op->location.length);
	if (p->kind == NNPU_TENSOR_INLINE) {
		t->data_off = htole64(p->offset);
		if (op->location.length)
			memcpy(data + p->offset, (const uint8_t *)l->model->operand_values +
			       op->location.offset, op->location.length);
	} else if (p->staged) {
		t->data_off = htole64(p->offset);
	} else {
		t->data_off = htole64(op->location.offset);
		l->image->refs[l->image->num_refs++] = (struct image_ref){
			.tensor = p->tensor, .pool = op->location.pool_index,
		};
	}
}

static void emit_indexes(struct lowering *l, struct nnpu_command *commands, __le32 *indexes,
			 struct nnpu_program_header *header)
{
	struct image *image = l->image;
	uint32_t c, i, k, n = 0;

	header->inputs_first = htole32(n);
	for (i = 0; i < image->num_tensors; i++)
		if (l->places[image->operand_of_tensor[i]].kind == NNPU_TENSOR_INPUT)
			indexes[n++] = htole32(i);
	header->outputs_first = htole32(n);
	for (i = 0; i < l->sg->num_outputs; i++) {
		const struct place *p = &l->places[l->sg->output_indexes[i]];

		if (p->tensor != NO_INDEX && p->kind == NNPU_TENSOR_OUTPUT)
			indexes[n++] = htole32(p->tensor);
	}
	if (l->forced_output != NO_INDEX)
		indexes[n++] = htole32(l->places[l->forced_output].tensor);
	for (c = 0; c < image->num_commands; c++) {
		const struct nnhal_operation *o =
			&l->sg->operations[image->operation_of_command[c]];

		commands[c].opcode = htole32(o->type);
		commands[c].num_inputs = htole16((uint16_t)o->num_inputs);
		commands[c].num_outputs = htole16((uint16_t)o->num_outputs);
		commands[c].operands_first = htole32(n);
		for (k = 0; k < o->num_inputs; k++)
			indexes[n++] = htole32(l->places[o->inputs[k]].tensor);
		for (k = 0; k < o->num_outputs; k++)
			indexes[n++] = htole32(l->places[o->outputs[k]].tensor);
	}
}

static enum nnhal_status emit_image(struct lowering *l)
{
	struct image *image = l->image;
	struct nnpu_program_header *header;
	uint64_t tensors_off = sizeof(*header);
	uint64_t commands_off = tensors_off +
				(uint64_t)image->num_tensors * sizeof(struct nnpu_tensor_desc);
	uint64_t indexes_off = commands_off +
			       (uint64_t)image->num_commands * sizeof(struct nnpu_command);
	uint64_t data_off = round_up_u64(indexes_off + l->num_indexes * sizeof(__le32),
					 DATA_ALIGN);
	uint64_t size = data_off + l->data_size;
	uint32_t i;

	if (size > l->limits->max_program_size || l->num_inputs > UINT16_MAX) {
		diag_set(l->diag, "program of %llu bytes, the device takes at most %u",
			 (unsigned long long)size, l->limits->max_program_size);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	image->data = calloc(1, size);
	image->refs = calloc((size_t)image->num_tensors + 1, sizeof(*image->refs));
	if (!image->data || !image->refs) {
		diag_set(l->diag, "no memory for a program of %llu bytes",
			 (unsigned long long)size);
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	image->size = (uint32_t)size;
	header = (struct nnpu_program_header *)image->data;
	header->magic = htole32(NNPU_PROGRAM_MAGIC);
	header->version = htole16(NNPU_PROGRAM_VERSION);
	header->header_size = htole16(sizeof(*header));
	header->size = htole32((uint32_t)size);
	if (l->model->relax_computation_float32_to_float16)
		header->flags = htole32(NNPU_PROGRAM_RELAXED);
	header->tensors_off = htole32((uint32_t)tensors_off);
	header->num_tensors = htole32(image->num_tensors);
	header->commands_off = htole32((uint32_t)commands_off);
	header->num_commands = htole32(image->num_commands);
	header->indexes_off = htole32((uint32_t)indexes_off);
	header->num_indexes = htole32((uint32_t)l->num_indexes);
	header->data_off = htole32((uint32_t)data_off);
	header->data_size = htole32((uint32_t)l->data_size);
	header->num_inputs = htole16((uint16_t)l->num_inputs);
	header->num_outputs = htole16((uint16_t)l->num_outputs);
	for (i = 0; i < image->num_tensors; i++)
		emit_tensor(l, image->operand_of_tensor[i], &image_tensors(image)[i],
			    image->data + data_off);
	emit_indexes(l, (struct nnpu_command *)(image->data + commands_off),
		     (__le32 *)(image->data + indexes_off), header);
	return NNHAL_STATUS_NONE;
}

static enum nnhal_status take_pools(struct lowering *l)
{
	struct image *image = l->image;
	uint32_t i;

	image->pools = calloc((size_t)l->model->num_pools + 1, sizeof(*image->pools));
	if (!image->pools)
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	for (i = 0; i < l->model->num_pools; i++)
		image->pools[i] = nnhal_memory_ref(l->model->pools[i]);
	image->num_pools = l->model->num_pools;
	return NNHAL_STATUS_NONE;
}

static enum nnhal_status lower(struct lowering *l)
{
	struct image *image = l->image;
	enum nnhal_status status;
	uint32_t i;

	l->places = calloc(l->sg->num_operands, sizeof(*l->places));
	image->operand_of_tensor = calloc(l->sg->num_operands, sizeof(uint32_t));
	image->operation_of_command = calloc(l->sg->num_operations, sizeof(uint32_t));
	image->skips = calloc(l->sg->num_operations, sizeof(*image->skips));
	image->num_operations = l->sg->num_operations;
	if (!l->places || !image->operand_of_tensor || !image->operation_of_command ||
	    !image->skips || take_pools(l)) {
		diag_set(l->diag, "no memory to translate the model");
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	for (i = 0; i < l->sg->num_operands; i++)
		l->places[i].tensor = NO_INDEX;
	status = stage_constants(l);
	if (!status)
		status = find_skips(l);
	if (status || !image->num_commands)
		return status;
	plan_tensors(l);
	status = emit_image(l);
	if (status == NNHAL_STATUS_INVALID_ARGUMENT && l->check) {
		/* Valid, but too large for the device: nothing of it is supported. */
		for (i = 0; i < l->sg->num_operations; i++)
			image->skips[i] = (struct image_skip){
				"model is too large for the device", UINT32_MAX };
		image->num_commands = 0;
		diag_clear(l->diag);
		return NNHAL_STATUS_NONE;
	}
	return status;
}

enum nnhal_status lower_model(const struct nnhal_model *model,
			      const struct transport_limits *limits, bool check,
			      struct image *image, struct nnhal_diag *diag)
{
	struct lowering l = {
		.model = model, .sg = &model->main, .limits = limits, .check = check,
		.image = image, .diag = diag, .forced_output = NO_INDEX,
	};
	enum nnhal_status status;

	memset(image, 0, sizeof(*image));
	status = lower(&l);
	free(l.places);
	if (status)
		image_fini(image);
	return status;
}

void image_fini(struct image *image)
{
	uint32_t i;

	for (i = 0; i < image->num_pools; i++)
		nnhal_memory_unref(image->pools[i]);
	free(image->pools);
	free(image->refs);
	free(image->staging);
	free(image->skips);
	free(image->operation_of_command);
	free(image->operand_of_tensor);
	free(image->data);
	memset(image, 0, sizeof(*image));
}
