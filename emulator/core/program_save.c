// SPDX-License-Identifier: MIT
/*
 * Saving a program: an image of it, from what the device keeps.
 *
 * The image has the shapes that loading found, and all constants inline. Weights that were
 * brought into another form keep it (NNPU_ENCODING_NATIVE), so that loading need not do it
 * again. LOAD_PROGRAM takes the image for what it is, an image from anybody: it validates all of
 * it. Only the values of weights are taken as they are, and any values do.
 */
#include <string.h>

#include "device_memory.h"
#include "device_state.h"
#include "engine.h"
#include "loader.h"
#include "program_load.h"
#include "program_save.h"
#include "ops/extension.h"
#include "ops/pace.h"

/* Bytes of a transfer between two points. */
#define PIECE	(256u << 10)
/* Where data begins in its region. */
#define ALIGN	16u

#define NO_COMMAND	UINT32_MAX

struct saver {
	struct save_request *request;
	const struct program *p;
	struct op_pace pace;
	/* The image without the values of constants. */
	uint8_t *image;
	uint64_t head;			/* its bytes */
	uint64_t num_indexes;
	uint64_t tensors_off, commands_off, indexes_off, data_off;
	uint64_t size;			/* of the whole image */
	uint32_t *holders;		/* by tensor: the command that has its values, or NO_COMMAND */
	unsigned int status;
};

static uint64_t round_up(uint64_t n)
{
	return region_round_up(n, ALIGN);
}

static int fail(struct saver *s, unsigned int status)
{
	s->status = status;
	return -1;
}

static int paced(struct saver *s, size_t units)
{
	return op_pace(&s->pace, units) ? fail(s, NNPU_STATUS_ABORTED) : 0;
}

static uint32_t params_size(const struct tensor *t)
{
	const struct extension_type *type = extension_find_type(t->type);

	return type ? type->params_size : 0;
}

/* Is the constant saved in the form of the device? */
static bool is_native(const struct saver *s, uint32_t index)
{
	const struct tensor *t = &s->p->tensors[index];
	uint32_t holder = s->holders[index];

	if (t->form == FORM_NATIVE)
		return true;
	/* An image has no small ones: they lie one behind the other, without room for panels. */
	return constant_is_single(t) && holder != NO_COMMAND && s->p->cmds[holder].desc->native_weights;
}

static uint64_t saved_bytes(const struct saver *s, uint32_t index)
{
	const struct tensor *t = &s->p->tensors[index];

	if (!tensor_is_const(t))
		return 0;
	return is_native(s, index) ? op_native_size(t) : t->bytes;
}

/*
 * Which command has the values of a constant that the device keeps nowhere else? One that gives
 * them back as they were is good for all that use the constant.
 */
static int find_holders(struct saver *s)
{
	const struct program *p = s->p;
	uint32_t i, k;

	for (i = 0; i < p->num_tensors; i++) {
		s->holders[i] = NO_COMMAND;
		if (paced(s, 4))
			return -1;
	}
	for (i = 0; i < p->num_cmds; i++) {
		const struct program_cmd *cmd = &p->cmds[i];

		if (paced(s, 16))
			return -1;
		if (!cmd->desc || !cmd->prepared ||
		    !(cmd->desc->native_weights || cmd->desc->unprepare))
			continue;
		for (k = 1; k < cmd->num_inputs && k < 3; k++) {
			uint32_t index = p->operands[cmd->operands + k];
			const struct tensor *t = &p->tensors[index];

			if (!tensor_is_const(t) || !t->bytes ||
			    (t->data && t->form != FORM_CONVERTED))
				continue;
			if (s->holders[index] == NO_COMMAND || !cmd->desc->native_weights)
				s->holders[index] = i;
		}
	}
	return 0;
}

/* Where everything is. */
static int plan_image(struct saver *s)
{
	const struct program *p = s->p;
	uint64_t data = 0;
	uint32_t i;

	s->num_indexes = (uint64_t)p->num_operands + p->num_inputs + p->num_outputs;
	s->tensors_off = sizeof(struct nnpu_program_header);
	s->commands_off = s->tensors_off +
			  (uint64_t)p->num_tensors * sizeof(struct nnpu_tensor_desc);
	s->indexes_off = s->commands_off + (uint64_t)p->num_cmds * sizeof(struct nnpu_command);
	s->data_off = round_up(s->indexes_off + s->num_indexes * sizeof(__le32));
	for (i = 0; i < p->num_tensors; i++) {
		const struct tensor *t = &p->tensors[i];

		data += round_up(tensor_num_scales(t) * sizeof(float)) +
			round_up(params_size(t));
		if (paced(s, 8))
			return -1;
	}
	s->head = s->data_off + data;
	for (i = 0; i < p->num_tensors; i++) {
		data += round_up(saved_bytes(s, i));
		if (paced(s, 16))
			return -1;
	}
	s->size = s->data_off + data;
	/* Offsets in an image have 32 bits. */
	return s->size > UINT32_MAX ? fail(s, NNPU_STATUS_NO_RESOURCES) : 0;
}

/* The head of the image. */

static void write_header(struct saver *s)
{
	const struct program *p = s->p;
	struct nnpu_program_header h = {
		.magic = htole32(NNPU_PROGRAM_MAGIC),
		.version = htole16(NNPU_PROGRAM_VERSION),
		.header_size = htole16(sizeof(h)),
		.size = htole32((uint32_t)s->size),
		.flags = htole32(p->relaxed ? NNPU_PROGRAM_RELAXED : 0),
		.tensors_off = htole32((uint32_t)s->tensors_off),
		.num_tensors = htole32(p->num_tensors),
		.commands_off = htole32((uint32_t)s->commands_off),
		.num_commands = htole32(p->num_cmds),
		.indexes_off = htole32((uint32_t)s->indexes_off),
		.num_indexes = htole32((uint32_t)s->num_indexes),
		.data_off = htole32((uint32_t)s->data_off),
		.data_size = htole32((uint32_t)(s->size - s->data_off)),
		.inputs_first = htole32(p->num_operands),
		.outputs_first = htole32(p->num_operands + p->num_inputs),
		.num_inputs = htole16(p->num_inputs),
		.num_outputs = htole16(p->num_outputs),
		.tensor_stride = htole16(sizeof(struct nnpu_tensor_desc)),
		.command_stride = htole16(sizeof(struct nnpu_command)),
	};

	memcpy(s->image, &h, sizeof(h));
}

/* @extra, @data: where its scales or parameters and its values go in the data region. */
static void write_tensor(struct saver *s, uint32_t index, uint64_t *extra, uint64_t *data)
{
	const struct tensor *t = &s->p->tensors[index];
	size_t scales = tensor_num_scales(t) * sizeof(float), params = params_size(t);
	struct nnpu_tensor_desc d = {
		.type = htole16((uint16_t)t->type),
		.kind = t->kind,
		.rank = t->rank,
	};
	uint32_t bits, i;

	if (tensor_is_const(t)) {
		d.kind = NNPU_TENSOR_INLINE;
		d.data_off = htole64(*data);
		d.data_len = htole64(saved_bytes(s, index));
		d.encoding = htole16(is_native(s, index) ? NNPU_ENCODING_NATIVE :
							   NNPU_ENCODING_PACKED);
		*data += round_up(saved_bytes(s, index));
	}
	if (!t->rank_known)
		d.flags = htole32(NNPU_TENSOR_UNKNOWN_RANK);
	if (!scales && !params) {
		memcpy(&bits, &t->scale, sizeof(bits));
		d.scale = htole32(bits);
		d.zero_point = htole32((uint32_t)t->zero_point);
	}
	for (i = 0; i < t->rank; i++)
		d.dims[i] = htole32(t->dims[i]);
	if (scales) {
		d.channel_dim = htole32(t->channel_dim);
		d.num_channel_scales = htole32(tensor_num_scales(t));
		d.channel_scales_off = htole32((uint32_t)*extra);
		memcpy(s->image + s->data_off + *extra, t->channel_scales, scales);
		*extra += round_up(scales);
	}
	if (params) {
		d.params_off = htole32((uint32_t)*extra);
		d.params_len = htole32((uint32_t)params);
		memcpy(s->image + s->data_off + *extra, t->params, params);
		*extra += round_up(params);
	}
	memcpy(s->image + s->tensors_off + (uint64_t)index * sizeof(d), &d, sizeof(d));
}

static void write_command(struct saver *s, uint32_t index)
{
	const struct program_cmd *cmd = &s->p->cmds[index];
	struct nnpu_command c = {
		.opcode = htole32(cmd->opcode),
		.num_inputs = htole16(cmd->num_inputs),
		.num_outputs = htole16(cmd->num_outputs),
		.operands_first = htole32(cmd->operands),
	};
	unsigned int i;

	for (i = 0; cmd_is_control(cmd) && i < 2; i++)
		c.target[i] = htole32(s->p->blocks[cmd->target[i]].header);
	memcpy(s->image + s->commands_off + (uint64_t)index * sizeof(c), &c, sizeof(c));
}

static int write_indexes(struct saver *s, uint64_t *at, const uint32_t *indexes, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		__le32 index = htole32(indexes[i]);

		memcpy(s->image + *at, &index, sizeof(index));
		*at += sizeof(index);
		if (paced(s, 4))
			return -1;
	}
	return 0;
}

static int write_head(struct saver *s)
{
	uint64_t extra = 0, data = s->head - s->data_off, at = s->indexes_off, n;
	const struct program *p = s->p;
	uint32_t i;

	for (at = 0; at < s->head; at += n) {
		n = s->head - at < PIECE ? s->head - at : PIECE;
		memset(s->image + at, 0, n);
		if (paced(s, n / 4 + 1))
			return -1;
	}
	write_header(s);
	for (i = 0; i < p->num_tensors; i++) {
		write_tensor(s, i, &extra, &data);
		if (paced(s, 64 + tensor_num_scales(&p->tensors[i])))
			return -1;
	}
	for (i = 0; i < p->num_cmds; i++) {
		write_command(s, i);
		if (paced(s, 16))
			return -1;
	}
	at = s->indexes_off;
	return write_indexes(s, &at, p->operands, p->num_operands) ||
	       write_indexes(s, &at, p->inputs, p->num_inputs) ||
	       write_indexes(s, &at, p->outputs, p->num_outputs) ? -1 : 0;
}

/* The memory of the caller. */

static int write_out(struct saver *s, uint64_t offset, const void *from, uint64_t bytes)
{
	struct save_request *request = s->request;
	unsigned int status;
	uint64_t at, n;

	for (at = 0; at < bytes; at += n) {
		n = bytes - at < PIECE ? bytes - at : PIECE;
		if (op_progress(request->progress))
			return fail(s, NNPU_STATUS_ABORTED);
		status = mem_map_access(request->ctx->dev, &request->map, offset + at,
					(uint8_t *)from + at, n, DMA_WRITE, NULL);
		if (status)
			return fail(s, status);
	}
	return 0;
}

/* The values of a constant that a command has converted. */
static int write_converted(struct saver *s, uint32_t index, uint64_t offset)
{
	const struct program *p = s->p;
	const struct tensor *t = &p->tensors[index];
	const struct program_cmd *cmd = &p->cmds[s->holders[index]];
	const uint32_t *operands = p->operands + cmd->operands;
	struct tensor *in[3];
	struct op_call call = {
		.desc = cmd->desc, .num_inputs = 3, .in = in, .prepared = cmd->prepared,
		.progress = s->request->progress,
	};
	uint8_t *values;
	unsigned int i;
	int ret;

	for (i = 0; i < 3; i++)
		in[i] = &p->tensors[operands[i]];
	values = op_take(s->request->progress, t->bytes, NULL);
	if (!values)
		return fail(s, job_is_to_end(s->request->progress) ? NNPU_STATUS_ABORTED :
								     NNPU_STATUS_NO_MEMORY);
	cmd->desc->unprepare(&s->pace, &call, operands[1] == index ? 1 : 2, values);
	ret = s->pace.ended ? fail(s, NNPU_STATUS_ABORTED) :
	      write_out(s, offset, values, t->bytes);
	op_give(s->request->progress, values, t->bytes);
	return ret;
}

static int write_constants(struct saver *s)
{
	static const uint8_t zeros[ALIGN];
	uint64_t at = s->head, bytes;
	uint32_t i, holder;
	int ret;

	for (i = 0; i < s->p->num_tensors; i++) {
		const struct tensor *t = &s->p->tensors[i];

		bytes = saved_bytes(s, i);
		if (paced(s, 16))
			return -1;
		if (!bytes)
			continue;
		holder = s->holders[i];
		if (holder == NO_COMMAND)
			ret = write_out(s, at, t->data, bytes);
		else if (is_native(s, i))
			ret = write_out(s, at, op_native_weights(s->p->cmds[holder].prepared),
					bytes);
		else
			ret = write_converted(s, i, at);
		if (ret || write_out(s, at + bytes, zeros, round_up(bytes) - bytes))
			return -1;
		at += round_up(bytes);
	}
	return 0;
}

static int save_image(struct saver *s)
{
	int ret;

	s->image = op_take(s->request->progress, s->head, NULL);
	if (!s->image)
		return fail(s, job_is_to_end(s->request->progress) ? NNPU_STATUS_ABORTED :
								     NNPU_STATUS_NO_MEMORY);
	ret = write_head(s);
	if (!ret)
		ret = write_out(s, 0, s->image, s->head);
	op_give(s->request->progress, s->image, s->head);
	return ret ? ret : write_constants(s);
}

unsigned int program_save(struct save_request *request, uint64_t *size)
{
	const struct program *p = request->program;
	struct saver s = {
		.request = request, .p = p, .pace = { .progress = request->progress },
	};
	size_t holders = (size_t)p->num_tensors * sizeof(*s.holders);

	s.holders = op_take(request->progress, holders, NULL);
	if (!s.holders)
		return job_is_to_end(request->progress) ? NNPU_STATUS_ABORTED :
							  NNPU_STATUS_NO_MEMORY;
	if (!find_holders(&s) && !plan_image(&s) && request->map.size >= s.size)
		save_image(&s);
	op_give(request->progress, s.holders, holders);
	if (!s.status)
		*size = s.size;
	return s.status;
}
