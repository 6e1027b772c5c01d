// SPDX-License-Identifier: MIT
/*
 * Validation of program images: header, tensor records, interface, commands.
 *
 * All functions work on the device's own copy of the image. The checks are in the order of
 * the hardware specification, because the first fault is reported.
 */
#include <math.h>

#include "loader.h"
#include "program_image.h"
#include "tensor_shape.h"
#include "ops/extension.h"

static int header_fault(struct verdict *v, unsigned int reason)
{
	return verdict_set(v, NNPU_STATUS_PROGRAM_HEADER, reason, 0, NNPU_OPERAND_NONE);
}

static int tensor_fault(struct verdict *v, uint32_t index, unsigned int reason)
{
	return verdict_set(v, NNPU_STATUS_PROGRAM_TENSOR, reason, index, NNPU_OPERAND_NONE);
}

static int command_fault(struct verdict *v, uint32_t index, unsigned int reason,
			 unsigned int operand)
{
	return verdict_set(v, NNPU_STATUS_PROGRAM_COMMAND, reason, index, operand);
}

/* -1 with the verdict when the load is to end. */
static int paced(struct op_pace *pace, size_t units, struct verdict *v)
{
	return op_pace(pace, units) ? verdict_status(v, NNPU_STATUS_ABORTED) : 0;
}

/* Header. */

struct region {
	uint64_t start;
	uint64_t bytes;
};

static int check_regions(const struct nnpu_program_header *h, struct verdict *v)
{
	const struct region regions[] = {
		{ le32toh(h->tensors_off),
		  (uint64_t)le32toh(h->num_tensors) * le16toh(h->tensor_stride) },
		{ le32toh(h->commands_off),
		  (uint64_t)le32toh(h->num_commands) * le16toh(h->command_stride) },
		{ le32toh(h->indexes_off), (uint64_t)le32toh(h->num_indexes) * sizeof(__le32) },
		{ le32toh(h->data_off), le32toh(h->data_size) },
		{ le32toh(h->hints_off), le32toh(h->hints_size) },
		{ le32toh(h->native_off), le32toh(h->native_size) },
		{ le32toh(h->seal_off), h->seal_off ? sizeof(struct nnpu_seal) : 0 },
	};
	const unsigned int n = sizeof(regions) / sizeof(regions[0]);
	uint32_t size = le32toh(h->size);
	unsigned int i, j;

	for (i = 0; i < n; i++)
		if (regions[i].start & 7)
			return header_fault(v, NNPU_REASON_ALIGNMENT);
	for (i = 0; i < n; i++)
		if (regions[i].bytes && regions[i].start < le16toh(h->header_size))
			return header_fault(v, NNPU_REASON_RANGE);
	for (i = 0; i < n; i++)
		if (regions[i].start + regions[i].bytes > size)
			return header_fault(v, NNPU_REASON_SIZE);
	for (i = 0; i < n; i++)
		for (j = 0; j < i; j++)
			if (regions[i].bytes && regions[j].bytes &&
			    regions[i].start < regions[j].start + regions[j].bytes &&
			    regions[j].start < regions[i].start + regions[i].bytes)
				return header_fault(v, NNPU_REASON_RANGE);
	return 0;
}

/* Of a record or a header: larger than the reader's by what is zero. */
static bool stride_ok(uint32_t stride, size_t known)
{
	return stride >= known && !(stride & 7);
}

/* What to count for a record of which the reader knows so much. */
static size_t record_units(uint32_t stride, size_t known)
{
	return 64 + (stride - known) / 4;
}

static bool surplus_zero(const uint8_t *record, uint32_t stride, size_t known)
{
	return is_zero(record + known, stride - known);
}

/* Hints fill their region. The device model knows none and ignores them all. */
static bool hints_ok(const uint8_t *data, const struct nnpu_program_header *h)
{
	uint32_t left = le32toh(h->hints_size);
	const uint8_t *p = data + le32toh(h->hints_off);

	if (left > NNPU_PROGRAM_MAX_HINTS)
		return false;
	while (left) {
		struct nnpu_hint hint;
		uint32_t size;

		if (left < sizeof(hint))
			return false;
		memcpy(&hint, p, sizeof(hint));
		size = le32toh(hint.size);
		if (size < sizeof(hint) || size & 7 || size > left || hint.reserved)
			return false;
		p += size;
		left -= size;
	}
	return true;
}

/* A seal of a kind that the device knows, or none. */
static int parse_seal(const uint8_t *data, const struct nnpu_program_header *h, struct verdict *v)
{
	struct nnpu_seal seal;

	if (!h->seal_off)
		return 0;
	memcpy(&seal, data + le32toh(h->seal_off), sizeof(seal));
	if (seal.reserved)
		return header_fault(v, NNPU_REASON_RESERVED);
	if (le32toh(seal.kind) != NNPU_SEAL_POLY1305)
		return verdict_set(v, NNPU_STATUS_PROGRAM_UNSUPPORTED, NNPU_REASON_SEAL, 0,
				   NNPU_OPERAND_NONE);
	return 0;
}

int image_parse_header(const uint8_t *data, uint64_t size, unsigned int max_args,
		       struct nnpu_program_header *h, struct verdict *v)
{
	uint32_t num_args;

	if (size < sizeof(*h) || size > NNPU_PROGRAM_MAX_SIZE)
		return header_fault(v, NNPU_REASON_SIZE);
	memcpy(h, data, sizeof(*h));
	if (le32toh(h->magic) != NNPU_PROGRAM_MAGIC)
		return header_fault(v, NNPU_REASON_MAGIC);
	if (le16toh(h->version) < PROGRAM_MIN || le16toh(h->version) > PROGRAM_MAX)
		return header_fault(v, NNPU_REASON_VERSION);
	if (!stride_ok(le16toh(h->header_size), sizeof(*h)) || le16toh(h->header_size) > size ||
	    !stride_ok(le16toh(h->tensor_stride), sizeof(struct nnpu_tensor_desc)) ||
	    !stride_ok(le16toh(h->command_stride), sizeof(struct nnpu_command)) ||
	    le32toh(h->size) != size || size & 7)
		return header_fault(v, NNPU_REASON_SIZE);
	if (le32toh(h->flags) & ~NNPU_PROGRAM_RELAXED)
		return header_fault(v, NNPU_REASON_FLAGS);
	if (h->reserved || (!h->native_isa && (h->native_off || h->native_size)) ||
	    !surplus_zero(data, le16toh(h->header_size), sizeof(*h)))
		return header_fault(v, NNPU_REASON_RESERVED);
	if (check_regions(h, v))
		return -1;
	if (!h->num_commands || !h->num_outputs)
		return header_fault(v, NNPU_REASON_SIZE);
	num_args = (uint32_t)le16toh(h->num_inputs) + le16toh(h->num_outputs);
	if (num_args > max_args)
		return header_fault(v, NNPU_REASON_SIZE);
	if ((uint64_t)le32toh(h->inputs_first) + le16toh(h->num_inputs) >
		    le32toh(h->num_indexes) ||
	    (uint64_t)le32toh(h->outputs_first) + le16toh(h->num_outputs) >
		    le32toh(h->num_indexes))
		return header_fault(v, NNPU_REASON_RANGE);
	if (!hints_ok(data, h))
		return header_fault(v, NNPU_REASON_SIZE);
	/* The model runs no native code. */
	if (h->native_isa)
		return verdict_set(v, NNPU_STATUS_PROGRAM_UNSUPPORTED, NNPU_REASON_ISA, 0,
				   NNPU_OPERAND_NONE);
	return parse_seal(data, h, v);
}

/* Tensors. */

/* tensor_settle() for a tensor from the image, where a dimension of 0 is not known. */
static bool settle_unknown(struct tensor *t, uint64_t max_bytes)
{
	struct tensor known = *t;
	bool complete = t->rank_known;
	unsigned int i;

	for (i = 0; i < t->rank; i++) {
		if (t->dims[i])
			continue;
		known.dims[i] = 1;
		complete = false;
	}
	if (!tensor_settle(&known, max_bytes))
		return false;
	t->shape_known = complete;
	t->bytes = complete ? known.bytes : 0;
	return true;
}

static unsigned int check_scale(uint32_t type, float scale)
{
	bool ok;

	switch (type) {
	case NNPU_TYPE_TENSOR_INT32:
		ok = isfinite(scale) && scale >= 0;
		break;
	case NNPU_TYPE_TENSOR_QUANT8_ASYMM:
	case NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED:
	case NNPU_TYPE_TENSOR_QUANT8_SYMM:
	case NNPU_TYPE_TENSOR_QUANT16_ASYMM:
	case NNPU_TYPE_TENSOR_QUANT16_SYMM:
		ok = isfinite(scale) && scale > 0;
		break;
	default:
		ok = scale == 0;
		break;
	}
	return ok ? NNPU_REASON_NONE : NNPU_REASON_SCALE;
}

static unsigned int check_zero_point(uint32_t type, int32_t zero_point)
{
	int32_t min = 0, max = 0;

	if (type == NNPU_TYPE_TENSOR_QUANT8_ASYMM) {
		max = 255;
	} else if (type == NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED) {
		min = -128;
		max = 127;
	} else if (type == NNPU_TYPE_TENSOR_QUANT16_ASYMM) {
		max = 65535;
	}
	if (zero_point < min || zero_point > max)
		return NNPU_REASON_ZERO_POINT;
	return NNPU_REASON_NONE;
}

/* Are the fields zero that this kind of tensor does not use? */
static bool unused_fields_zero(const struct nnpu_tensor_desc *d, unsigned int kind)
{
	if (d->reserved0 || d->reserved)
		return false;
	if (d->encoding && !kind_is_const(kind))
		return false;
	if (kind != NNPU_TENSOR_SLOT && d->slot)
		return false;
	return kind_is_const(kind) || (!d->data_off && !d->data_len);
}

static unsigned int check_rank(const struct nnpu_tensor_desc *d, uint32_t type,
			       unsigned int kind)
{
	bool unknown = le32toh(d->flags) & NNPU_TENSOR_UNKNOWN_RANK;
	bool ok;

	if (type_is_scalar(type))
		ok = !d->rank && !unknown;
	else if (unknown)
		ok = !d->rank && !kind_is_const(kind);
	else
		ok = d->rank && d->rank <= NNPU_MAX_RANK;
	return ok ? NNPU_REASON_NONE : NNPU_REASON_RANK;
}

static unsigned int check_dims(const struct nnpu_tensor_desc *d, unsigned int kind)
{
	unsigned int i;

	for (i = d->rank; i < NNPU_MAX_RANK; i++)
		if (d->dims[i])
			return NNPU_REASON_DIMENSION;
	for (i = 0; i < d->rank; i++)
		if (!d->dims[i] && kind_is_const(kind))
			return NNPU_REASON_DIMENSION;
	return NNPU_REASON_NONE;
}

/* Scale and zero point; the tensor has them if its type has. */
static unsigned int take_quant(const struct nnpu_tensor_desc *d, struct tensor *t)
{
	uint32_t scale_bits = le32toh(d->scale);
	int32_t zero_point = (int32_t)le32toh(d->zero_point);
	unsigned int reason;
	float scale;

	memcpy(&scale, &scale_bits, sizeof(scale));
	reason = check_scale(t->type, scale);
	if (!reason)
		reason = check_zero_point(t->type, zero_point);
	/* In others there may be a pointer in their place: NULL until it is known. */
	if (reason || scale == 0)
		return reason;
	t->scale = scale;
	t->zero_point = zero_point;
	return NNPU_REASON_NONE;
}

static unsigned int check_channel_quant(const struct nnpu_tensor_desc *d, uint32_t type,
					const uint8_t *data, uint32_t data_size,
					struct op_pace *pace)
{
	uint32_t dim = le32toh(d->channel_dim), count = le32toh(d->num_channel_scales);
	uint32_t offset = le32toh(d->channel_scales_off), i;

	if (type != NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL)
		return dim || count || offset ? NNPU_REASON_CHANNEL_QUANT : NNPU_REASON_NONE;
	if (dim >= d->rank || !count || count != le32toh(d->dims[dim]) || offset & 3 ||
	    offset + (uint64_t)count * sizeof(float) > data_size)
		return NNPU_REASON_CHANNEL_QUANT;
	/* What op_pace_row() leaves uncounted: small tables may be many. */
	if (op_pace(pace, 2 * (count % OP_PACE_RUN)))
		return NNPU_REASON_NONE;
	for (i = 0; i < count; i++) {
		float scale;

		memcpy(&scale, data + offset + i * sizeof(scale), sizeof(scale));
		if (!isfinite(scale) || scale <= 0)
			return NNPU_REASON_CHANNEL_QUANT;
		if (op_pace_row(pace, i, 2))
			break;
	}
	return NNPU_REASON_NONE;
}

/* Check the parameters of an operand type of an extension. @data: the inline data. */
static unsigned int check_params(const struct nnpu_tensor_desc *d, uint32_t type,
				 const uint8_t *data, uint32_t data_size)
{
	const struct extension_type *t = extension_find_type(type);
	uint32_t offset = le32toh(d->params_off), len = le32toh(d->params_len);

	if (len != (t ? t->params_size : 0) || (!len && offset) || offset > data_size ||
	    len > data_size - offset)
		return NNPU_REASON_PARAMS;
	return !len || t->params_ok(data + offset) ? NNPU_REASON_NONE : NNPU_REASON_PARAMS;
}

static unsigned int check_data(const struct nnpu_tensor_desc *d, struct tensor *t,
			       uint32_t data_size)
{
	uint64_t offset = le64toh(d->data_off), len = le64toh(d->data_len);
	uint32_t encoding = le16toh(d->encoding);

	if (!kind_is_const(t->kind))
		return NNPU_REASON_NONE;
	if (encoding != NNPU_ENCODING_PACKED && encoding != NNPU_ENCODING_NATIVE)
		return NNPU_REASON_ENCODING;
	t->form = encoding == NNPU_ENCODING_NATIVE ? FORM_NATIVE : FORM_PLAIN;
	if (t->form != FORM_PLAIN &&
	    (!constant_is_single(t) || !op_native_size(t)))
		return NNPU_REASON_ENCODING;
	if (t->kind == NNPU_TENSOR_INLINE && (offset > data_size || len > data_size - offset))
		return NNPU_REASON_RANGE;
	return len == constant_bytes(t) ? NNPU_REASON_NONE : NNPU_REASON_DATA_LENGTH;
}

static const uint8_t *tensor_record(const uint8_t *image, const struct nnpu_program_header *h,
				    uint32_t index)
{
	return image + le32toh(h->tensors_off) + (size_t)index * le16toh(h->tensor_stride);
}

void image_get_tensor(const uint8_t *image, const struct nnpu_program_header *h, uint32_t index,
		      struct nnpu_tensor_desc *d)
{
	memcpy(d, tensor_record(image, h, index), sizeof(*d));
}

int image_parse_tensor(const uint8_t *image, const struct nnpu_program_header *h,
		       uint32_t index, const struct nnpu_device_props *props,
		       struct tensor *t, struct nnpu_tensor_desc *d, struct op_pace *pace,
		       struct verdict *v)
{
	const uint8_t *data = image + le32toh(h->data_off);
	const uint8_t *record = tensor_record(image, h, index);
	uint32_t data_size = le32toh(h->data_size);
	unsigned int reason, i;
	uint32_t type;

	memcpy(d, record, sizeof(*d));
	type = le16toh(d->type);
	if (!type_size(type) || !extension_offers(type, props->examples))
		return tensor_fault(v, index, NNPU_REASON_TYPE);
	if (d->kind > NNPU_TENSOR_NO_VALUE)
		return tensor_fault(v, index, NNPU_REASON_LIFETIME);
	if (le32toh(d->flags) & ~NNPU_TENSOR_UNKNOWN_RANK)
		return tensor_fault(v, index, NNPU_REASON_FLAGS);
	if (!unused_fields_zero(d, d->kind) ||
	    !surplus_zero(record, le16toh(h->tensor_stride), sizeof(*d)))
		return tensor_fault(v, index, NNPU_REASON_RESERVED);
	reason = check_rank(d, type, d->kind);
	if (!reason)
		reason = check_dims(d, d->kind);
	if (reason)
		return tensor_fault(v, index, reason);

	*t = (struct tensor) {
		.type = type,
		.kind = d->kind,
		.rank = d->rank,
		.rank_known = !(le32toh(d->flags) & NNPU_TENSOR_UNKNOWN_RANK),
		/* It is below the rank if there is one: check_channel_quant(). */
		.channel_dim = (uint8_t)le32toh(d->channel_dim),
	};
	for (i = 0; i < d->rank; i++)
		t->dims[i] = le32toh(d->dims[i]);
	if (!settle_unknown(t, props->max_operand_size))
		return tensor_fault(v, index, NNPU_REASON_OVERFLOW);
	reason = take_quant(d, t);
	if (!reason)
		reason = check_channel_quant(d, type, data, data_size, pace);
	if (!reason)
		reason = check_params(d, type, data, data_size);
	if (!reason)
		reason = check_data(d, t, data_size);
	return reason ? tensor_fault(v, index, reason) :
	       paced(pace, record_units(le16toh(h->tensor_stride), sizeof(*d)), v);
}

/* Interface. */

uint32_t image_get_index(const uint8_t *image, const struct nnpu_program_header *h,
			 uint32_t position)
{
	__le32 index;

	memcpy(&index, image + le32toh(h->indexes_off) + (size_t)position * sizeof(index),
	       sizeof(index));
	return le32toh(index);
}

static int parse_list(const uint8_t *image, const struct nnpu_program_header *h, uint32_t first,
		      uint32_t count, unsigned int kind, const struct program *p, uint8_t *seen,
		      uint32_t *list, struct op_pace *pace, struct verdict *v)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		uint32_t t = image_get_index(image, h, first + i);

		if (t >= p->num_tensors)
			return tensor_fault(v, t, NNPU_REASON_RANGE);
		if (p->tensors[t].kind != kind || seen[t])
			return tensor_fault(v, t, NNPU_REASON_LIFETIME);
		seen[t] = 1;
		list[i] = t;
		if (paced(pace, 8, v))
			return -1;
	}
	return 0;
}

int image_parse_interface(const uint8_t *image, const struct nnpu_program_header *h,
			  struct program *p, uint8_t *seen, struct op_pace *pace,
			  struct verdict *v)
{
	uint32_t i;
	int ret;

	ret = parse_list(image, h, le32toh(h->inputs_first), p->num_inputs, NNPU_TENSOR_INPUT, p,
			 seen, p->inputs, pace, v);
	if (!ret)
		ret = parse_list(image, h, le32toh(h->outputs_first), p->num_outputs,
				 NNPU_TENSOR_OUTPUT, p, seen, p->outputs, pace, v);
	for (i = 0; !ret && i < p->num_tensors; i++) {
		ret = paced(pace, 8, v);
		if (!ret && (p->tensors[i].kind == NNPU_TENSOR_INPUT ||
			     p->tensors[i].kind == NNPU_TENSOR_OUTPUT) && !seen[i])
			ret = tensor_fault(v, i, NNPU_REASON_LIFETIME);
	}
	return ret;
}

/* Commands. */

static bool opcode_known(uint32_t opcode)
{
	if (opcode < NNPU_NUM_OPERATIONS)
		return opcode != NNPU_OP_IF && opcode != NNPU_OP_WHILE;
	return (opcode >= NNPU_CMD_BRANCH && opcode <= NNPU_CMD_BLOCK) ||
	       opcode >= NNPU_CMD_EXTENSION;
}

static const uint8_t *command_record(const uint8_t *image, const struct nnpu_program_header *h,
				     uint32_t index)
{
	return image + le32toh(h->commands_off) + (size_t)index * le16toh(h->command_stride);
}

void image_get_command(const uint8_t *image, const struct nnpu_program_header *h,
		       uint32_t index, struct nnpu_command *c)
{
	memcpy(c, command_record(image, h, index), sizeof(*c));
}

uint32_t program_find_block(const struct program *p, uint32_t header)
{
	uint32_t low = 1, high = p->num_blocks;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (p->blocks[middle].header == header)
			return middle;
		if (p->blocks[middle].header < header)
			low = middle + 1;
		else
			high = middle;
	}
	return 0;
}

static bool targets_ok(const struct program *p, uint32_t index, const struct nnpu_command *c)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		if (le32toh(c->target[i]) <= index ||
		    !program_find_block(p, le32toh(c->target[i])))
			return false;
	return true;
}

/* The reason why a command of @block cannot read tensor @t, or NONE. */
static unsigned int check_read(const struct program *p, uint32_t t, uint32_t block,
			       const uint32_t *owner)
{
	switch (p->tensors[t].kind) {
	case NNPU_TENSOR_INPUT:
		return block ? NNPU_REASON_BLOCK : NNPU_REASON_NONE;
	case NNPU_TENSOR_TEMPORARY:
	case NNPU_TENSOR_OUTPUT:
		if (!owner[t])
			return NNPU_REASON_NOT_WRITTEN;
		return owner[t] == block + 1 ? NNPU_REASON_NONE : NNPU_REASON_BLOCK;
	default:
		return NNPU_REASON_NONE;
	}
}

static unsigned int check_write(const struct program *p, uint32_t t, uint32_t block,
				const uint32_t *owner)
{
	unsigned int kind = p->tensors[t].kind;

	if (kind != NNPU_TENSOR_TEMPORARY && kind != NNPU_TENSOR_OUTPUT)
		return NNPU_REASON_NOT_WRITABLE;
	if (owner[t])
		return NNPU_REASON_WRITTEN_TWICE;
	return kind == NNPU_TENSOR_OUTPUT && block ? NNPU_REASON_BLOCK : NNPU_REASON_NONE;
}

/* An operand of BLOCK: BLOCK writes its inputs, later commands write its outputs. */
static unsigned int check_block(struct program *p, uint32_t t, uint32_t block, bool input,
				uint32_t *owner)
{
	if (p->tensors[t].kind != NNPU_TENSOR_TEMPORARY)
		return NNPU_REASON_NOT_WRITABLE;
	if (owner[t] || p->tensors[t].role != ROLE_NONE)
		return NNPU_REASON_WRITTEN_TWICE;
	p->tensors[t].role = input ? ROLE_BLOCK_INPUT : ROLE_BLOCK_OUTPUT;
	if (input)
		owner[t] = block + 1;
	return NNPU_REASON_NONE;
}

static int check_operands(const uint8_t *image, const struct nnpu_program_header *h,
			  uint32_t index, struct program *p, uint32_t block,
			  uint32_t *owner, const struct nnpu_command *c, struct op_pace *pace,
			  struct verdict *v)
{
	bool is_block = le32toh(c->opcode) == NNPU_CMD_BLOCK;
	uint32_t num_inputs = le16toh(c->num_inputs);
	uint32_t total = num_inputs + le16toh(c->num_outputs);
	uint32_t first = le32toh(c->operands_first), i;
	unsigned int reason;

	for (i = 0; i < total; i++) {
		if (image_get_index(image, h, first + i) >= p->num_tensors)
			return command_fault(v, index, NNPU_REASON_RANGE, i);
		if (paced(pace, 4, v))
			return -1;
	}
	for (i = 0; i < total; i++) {
		uint32_t t = image_get_index(image, h, first + i);
		bool input = i < num_inputs;

		if (is_block)
			reason = check_block(p, t, block, input, owner);
		else if (input)
			reason = check_read(p, t, block, owner);
		else
			reason = check_write(p, t, block, owner);
		if (reason)
			return command_fault(v, index, reason, i);
		if (!is_block && !input)
			owner[t] = block + 1;
		if (paced(pace, 16, v))
			return -1;
	}
	return 0;
}

static uint64_t image_command_operands(const struct nnpu_command *c)
{
	return (uint64_t)le16toh(c->num_inputs) + le16toh(c->num_outputs);
}

int image_count(const uint8_t *image, const struct nnpu_program_header *h, uint32_t max_operands,
		uint32_t *operands, uint32_t *blocks, struct op_pace *pace, struct verdict *v)
{
	uint32_t i, num = le32toh(h->num_commands);
	uint64_t total = 0;

	*blocks = 1;
	for (i = 0; i < num; i++) {
		struct nnpu_command c;

		image_get_command(image, h, i, &c);
		total += image_command_operands(&c);
		if (total > max_operands)
			return command_fault(v, i, NNPU_REASON_SIZE, NNPU_OPERAND_NONE);
		*blocks += le32toh(c.opcode) == NNPU_CMD_BLOCK;
		if (paced(pace, 8, v))
			return -1;
	}
	*operands = (uint32_t)total;
	return 0;
}

int image_parse_command(const uint8_t *image, const struct nnpu_program_header *h,
			uint32_t index, struct program *p, uint32_t block, uint32_t *owner,
			struct nnpu_command *c, struct op_pace *pace, struct verdict *v)
{
	uint32_t opcode;
	uint64_t total;

	if (paced(pace, record_units(le16toh(h->command_stride), sizeof(*c)), v))
		return -1;
	image_get_command(image, h, index, c);
	opcode = le32toh(c->opcode);
	if (c->flags)
		return command_fault(v, index, NNPU_REASON_FLAGS, NNPU_OPERAND_NONE);
	if (c->reserved || (opcode != NNPU_CMD_BRANCH && opcode != NNPU_CMD_LOOP &&
			    !is_zero(c->target, sizeof(c->target))) ||
	    !surplus_zero(command_record(image, h, index), le16toh(h->command_stride), sizeof(*c)))
		return command_fault(v, index, NNPU_REASON_RESERVED, NNPU_OPERAND_NONE);
	if (!opcode_known(opcode))
		return command_fault(v, index, NNPU_REASON_OPERATION, NNPU_OPERAND_NONE);
	total = image_command_operands(c);
	if (!c->num_outputs || le32toh(c->operands_first) + total > le32toh(h->num_indexes))
		return command_fault(v, index, NNPU_REASON_SIZE, NNPU_OPERAND_NONE);
	if ((opcode == NNPU_CMD_BRANCH || opcode == NNPU_CMD_LOOP) && !targets_ok(p, index, c))
		return command_fault(v, index, NNPU_REASON_TARGET, NNPU_OPERAND_NONE);
	return check_operands(image, h, index, p, block, owner, c, pace, v);
}
