// SPDX-License-Identifier: MIT
/*
 * Loading a program: from an image to tensors with constants in device memory,
 * commands that their operations have accepted, and a plan of the arena.
 */
#include <stdlib.h>

#include "nnpu_internal.h"

/* Work in progress on one program. */
struct loader {
	struct load_request *request;
	struct nnpu_device *dev;
	const uint8_t *image;
	struct nnpu_program_header header;
	struct program *p;
	struct nnpu_tensor_desc *descs;
	uint8_t *written;		/* by tensor */
	struct tensor **operands;	/* of the command at hand */
	uint32_t max_operands;
	struct tensor *saved;		/* its outputs as the records have them */
	uint32_t max_saved;
	struct verdict *v;
};

static uint64_t round_up(uint64_t value)
{
	return (value + TENSOR_ALIGN - 1) & ~(uint64_t)(TENSOR_ALIGN - 1);
}

void program_free(struct program *p)
{
	uint32_t i;

	for (i = 0; p->cmds && i < p->num_cmds; i++)
		if (p->cmds[i].prepared && p->cmds[i].desc->free_prepared)
			p->cmds[i].desc->free_prepared(p->cmds[i].prepared);
	dev_mem_release(p->ctx->dev, p->ctx, p->memory);
	free(p->constants);
	free(p->channel_scales);
	free(p->tensors);
	free(p->cmds);
	free(p->operands);
	free(p->inputs);
	free(p->outputs);
	free(p->last_use);
	free(p->offsets);
	free(p);
}

void program_put(struct program *p)
{
	struct nnpu_device *dev = p->ctx->dev;
	bool last;

	pthread_mutex_lock(&dev->lock);
	last = !--p->refs;
	pthread_mutex_unlock(&dev->lock);
	if (last)
		program_free(p);
}

/* Charge the program with @bytes more. */
static int charge(struct loader *l, uint64_t bytes)
{
	if (!dev_mem_reserve(l->dev, l->request->ctx, bytes))
		return verdict_status(l->v, NNPU_STATUS_NO_MEMORY);
	l->p->memory += bytes;
	return 0;
}

static void *zalloc(size_t count, size_t size)
{
	return calloc(count ? count : 1, size);
}

static int alloc_tables(struct loader *l)
{
	struct program *p = l->p;

	p->num_tensors = le32toh(l->header.num_tensors);
	p->num_cmds = le32toh(l->header.num_commands);
	p->num_inputs = le16toh(l->header.num_inputs);
	p->num_outputs = le16toh(l->header.num_outputs);
	p->relaxed = le32toh(l->header.flags) & NNPU_PROGRAM_RELAXED;
	if (image_count_operands(l->image, &l->header, &p->num_operands, l->v))
		return -1;
	if (charge(l, p->num_tensors * (uint64_t)(sizeof(struct tensor) + 12) +
			   p->num_cmds * (uint64_t)(sizeof(struct program_cmd) + 8) +
			   p->num_operands * (uint64_t)sizeof(uint32_t)))
		return -1;
	p->tensors = zalloc(p->num_tensors, sizeof(*p->tensors));
	p->cmds = zalloc(p->num_cmds, sizeof(*p->cmds));
	p->operands = zalloc(p->num_operands, sizeof(*p->operands));
	p->inputs = zalloc(p->num_inputs, sizeof(*p->inputs));
	p->outputs = zalloc(p->num_outputs, sizeof(*p->outputs));
	p->last_use = zalloc(p->num_tensors, sizeof(*p->last_use));
	p->offsets = zalloc((size_t)p->num_tensors + p->num_cmds, sizeof(*p->offsets));
	l->descs = zalloc(p->num_tensors, sizeof(*l->descs));
	l->written = zalloc(p->num_tensors, 1);
	if (!p->tensors || !p->cmds || !p->operands || !p->inputs || !p->outputs ||
	    !p->last_use || !p->offsets || !l->descs || !l->written)
		return verdict_status(l->v, NNPU_STATUS_NO_MEMORY);
	return 0;
}

/* Constants. */

static int load_scales(struct loader *l, uint64_t num_scales)
{
	const uint8_t *data = l->image + le32toh(l->header.data_off);
	struct program *p = l->p;
	float *scales;
	uint32_t i;

	if (charge(l, num_scales * sizeof(*scales)))
		return -1;
	scales = zalloc(num_scales, sizeof(*scales));
	if (!scales)
		return verdict_status(l->v, NNPU_STATUS_NO_MEMORY);
	p->channel_scales = scales;
	for (i = 0; i < p->num_tensors; i++) {
		struct tensor *t = &p->tensors[i];

		if (!t->num_channel_scales)
			continue;
		memcpy(scales, data + le32toh(l->descs[i].channel_scales_off),
		       t->num_channel_scales * sizeof(*scales));
		t->channel_scales = scales;
		scales += t->num_channel_scales;
	}
	return 0;
}

static int load_constant(struct loader *l, uint32_t index)
{
	const struct nnpu_tensor_desc *d = &l->descs[index];
	struct tensor *t = &l->p->tensors[index];
	unsigned int status;

	if (t->kind == NNPU_TENSOR_INLINE) {
		memcpy(t->data, l->image + le32toh(l->header.data_off) + le64toh(d->data_off),
		       t->bytes);
		return 0;
	}
	status = slot_access(l->request->ctx, le32toh(d->slot), le64toh(d->data_off), t->data,
			     t->bytes, DMA_READ, NULL);
	if (status)
		return verdict_set(l->v, status, NNPU_REASON_NONE, index, NNPU_OPERAND_NONE);
	return 0;
}

static int load_tensors(struct loader *l)
{
	struct program *p = l->p;
	uint64_t bytes = 0, scales = 0;
	uint8_t *data;
	uint32_t i;

	for (i = 0; i < p->num_tensors; i++) {
		struct tensor *t = &p->tensors[i];

		if (image_parse_tensor(l->image, &l->header, i, l->dev->props.max_operand_size, t,
				       &l->descs[i], l->v))
			return -1;
		if (tensor_is_const(t))
			bytes += round_up(t->bytes);
		scales += t->num_channel_scales;
	}
	if (image_parse_interface(l->image, &l->header, p, l->v) || load_scales(l, scales) ||
	    charge(l, bytes))
		return -1;
	data = aligned_alloc(TENSOR_ALIGN, bytes ? bytes : TENSOR_ALIGN);
	if (!data)
		return verdict_status(l->v, NNPU_STATUS_NO_MEMORY);
	p->constants = data;
	for (i = 0; i < p->num_tensors; i++) {
		struct tensor *t = &p->tensors[i];

		if (!tensor_is_const(t))
			continue;
		t->data = data;
		data += round_up(t->bytes);
		if (load_constant(l, i))
			return -1;
	}
	return 0;
}

/* Commands. */

static uint32_t operand_index(const struct loader *l, const struct nnpu_command *c, uint32_t i)
{
	__le32 index;

	memcpy(&index, l->image + le32toh(l->header.indexes_off) +
		       ((size_t)le32toh(c->operands_first) + i) * sizeof(index), sizeof(index));
	return le32toh(index);
}

/* The verdict on a command that its operation has refused. */
static int op_refused(struct loader *l, uint32_t index, const struct op_error *error)
{
	unsigned int status = NNPU_STATUS_PROGRAM_COMMAND;

	if (error->reason == NNPU_REASON_UNSUPPORTED_VARIANT)
		status = NNPU_STATUS_PROGRAM_UNSUPPORTED;
	return verdict_set(l->v, status, error->reason, index, error->operand);
}

/*
 * Shapes of the outputs, if they follow from what is known at load time. They must
 * agree with the tensor records.
 */
static int infer_command(struct loader *l, uint32_t index, struct program_cmd *cmd,
			 const struct op_call *call)
{
	unsigned int i;
	int ret;

	cmd->infer = true;
	for (i = 0; i < call->num_inputs; i++)
		if (call->in[i]->kind != NNPU_TENSOR_NO_VALUE && !call->in[i]->shape_known)
			return 0;
	ret = shapes_infer(call, l->saved, l->dev->props.max_operand_size);
	if (!ret)
		ret = shapes_agree(call, l->saved);
	if (ret)
		for (i = 0; i < call->num_outputs; i++)
			*call->out[i] = l->saved[i];
	if (ret < 0)
		return op_refused(l, index, call->error);
	/* 1: a value is needed that only the job has. */
	cmd->infer = ret;
	if (ret)
		return 0;
	cmd->scratch = op_scratch(call);
	if (cmd->scratch > l->dev->props.memory_size)
		return verdict_status(l->v, NNPU_STATUS_NO_MEMORY);
	return 0;
}

static int prepare_command(struct loader *l, struct program_cmd *cmd, struct op_call *call,
			   uint32_t index)
{
	size_t bytes = 0;

	if (!cmd->desc->prepare)
		return 0;
	if (cmd->desc->prepare(call, &bytes)) {
		if (call->error->reason == NNPU_REASON_NONE)
			return verdict_status(l->v, NNPU_STATUS_NO_MEMORY);
		return op_refused(l, index, call->error);
	}
	cmd->prepared = call->prepared;
	if (cmd->prepared && charge(l, bytes)) {
		/* Not charged, so program_free() must not find it. */
		cmd->desc->free_prepared(cmd->prepared);
		cmd->prepared = NULL;
		return -1;
	}
	return 0;
}

static int judge_command(struct loader *l, uint32_t index, struct program_cmd *cmd)
{
	struct op_error error = { .reason = NNPU_REASON_NONE, .operand = NNPU_OPERAND_NONE };
	struct op_call call = {
		.desc = cmd->desc,
		.num_inputs = cmd->num_inputs,
		.num_outputs = cmd->num_outputs,
		.in = l->operands,
		.out = l->operands + cmd->num_inputs,
		.relaxed = l->p->relaxed,
		.error = &error,
	};

	if (!cmd->desc)
		return verdict_set(l->v, NNPU_STATUS_PROGRAM_UNSUPPORTED, NNPU_REASON_OPERATION,
				   index, NNPU_OPERAND_NONE);
	if (!op_counts_ok(cmd->desc, cmd->num_inputs, cmd->num_outputs))
		return verdict_set(l->v, NNPU_STATUS_PROGRAM_COMMAND, NNPU_REASON_OPERAND_COUNT,
				   index, NNPU_OPERAND_NONE);
	if (cmd->desc->check(&call))
		return op_refused(l, index, &error);
	if (infer_command(l, index, cmd, &call))
		return -1;
	return l->request->check ? 0 : prepare_command(l, cmd, &call, index);
}

static int load_command(struct loader *l, uint32_t index, uint32_t *position)
{
	struct program *p = l->p;
	struct program_cmd *cmd = &p->cmds[index];
	struct nnpu_command c;
	uint32_t i, count;

	if (image_parse_command(l->image, &l->header, index, p, l->written, &c, l->v))
		return -1;
	cmd->opcode = le32toh(c.opcode);
	cmd->desc = op_find(cmd->opcode);
	cmd->num_inputs = le16toh(c.num_inputs);
	cmd->num_outputs = le16toh(c.num_outputs);
	cmd->operands = *position;
	count = (uint32_t)cmd->num_inputs + cmd->num_outputs;
	if (!exec_grow((void **)&l->operands, &l->max_operands, count, sizeof(*l->operands)) ||
	    !exec_grow((void **)&l->saved, &l->max_saved, cmd->num_outputs, sizeof(*l->saved)))
		return verdict_status(l->v, NNPU_STATUS_NO_MEMORY);
	for (i = 0; i < count; i++) {
		uint32_t t = operand_index(l, &c, i);

		p->operands[*position + i] = t;
		l->operands[i] = &p->tensors[t];
		if (p->last_use[t] < index)
			p->last_use[t] = index;
	}
	*position += count;
	return judge_command(l, index, cmd);
}

/* When only checking: note the verdict, go on. */
static void report(struct loader *l, uint32_t index, struct verdict *first)
{
	struct nnpu_command_report *r = &l->request->reports[index];

	r->status = htole16(l->v->status);
	r->reason = htole16(l->v->reason);
	r->operand = htole16(l->v->operand);
	if (l->v->status && l->v->status != NNPU_STATUS_PROGRAM_UNSUPPORTED && !first->status)
		*first = *l->v;
	*l->v = VERDICT_SUCCESS;
}

static int load_commands(struct loader *l)
{
	struct verdict first = VERDICT_SUCCESS;
	struct program *p = l->p;
	uint32_t i, position = 0;

	for (i = 0; i < p->num_cmds; i++) {
		int ret = load_command(l, i, &position);

		if (l->request->check)
			report(l, i, &first);
		else if (ret)
			return -1;
		if (atomic_load_explicit(&l->dev->stop, memory_order_relaxed))
			return verdict_status(l->v, NNPU_STATUS_ABORTED);
	}
	for (i = 0; !first.status && i < p->num_outputs; i++)
		if (!l->written[p->outputs[i]])
			verdict_set(&first, NNPU_STATUS_PROGRAM_TENSOR, NNPU_REASON_NOT_WRITTEN,
				    p->outputs[i], NNPU_OPERAND_NONE);
	*l->v = first;
	return first.status ? -1 : 0;
}

/* The arena of a program whose shapes are all known. */
static int plan_program(struct loader *l)
{
	struct program *p = l->p;
	struct plan_item *items;
	uint32_t i, n = 0, tensors, count = p->num_inputs;

	for (i = 0; i < p->num_outputs; i++)
		p->last_use[p->outputs[i]] = p->num_cmds;
	p->fixed = true;
	for (i = 0; i < p->num_inputs; i++)
		p->fixed &= p->tensors[p->inputs[i]].shape_known;
	for (i = 0; i < p->num_cmds; i++) {
		p->fixed &= !p->cmds[i].infer;
		count += p->cmds[i].num_outputs + 1u;
	}
	if (!p->fixed)
		return 0;
	items = zalloc(count, sizeof(*items));
	if (!items)
		return verdict_status(l->v, NNPU_STATUS_NO_MEMORY);
	for (i = 0; i < p->num_inputs; i++)
		items[n++] = (struct plan_item) { .tensor = p->inputs[i] };
	for (i = 0; i < p->num_cmds; i++) {
		const uint32_t *out = p->operands + p->cmds[i].operands + p->cmds[i].num_inputs;
		unsigned int o;

		for (o = 0; o < p->cmds[i].num_outputs; o++)
			items[n++] = (struct plan_item) { .tensor = out[o], .first = i };
	}
	tensors = n;
	for (i = 0; i < p->num_cmds; i++)
		if (p->cmds[i].scratch)
			items[n++] = (struct plan_item) {
				.tensor = p->num_tensors + i, .first = i, .last = i,
				.size = p->cmds[i].scratch,
			};
	for (i = 0; i < tensors; i++) {
		items[i].last = p->last_use[items[i].tensor];
		items[i].size = p->tensors[items[i].tensor].bytes;
	}
	p->arena_size = plan_place(items, n);
	for (i = 0; i < n; i++)
		p->offsets[items[i].tensor] = items[i].offset;
	free(items);
	/* A job of this program could never run. */
	if (p->arena_size > l->dev->props.memory_size)
		return verdict_status(l->v, NNPU_STATUS_NO_MEMORY);
	return 0;
}

static int load(struct loader *l)
{
	struct load_request *request = l->request;

	if (image_parse_header(request->image, request->size, l->dev->props.max_args, &l->header,
			       l->v))
		return -1;
	if (request->check && request->num_reports != le32toh(l->header.num_commands))
		return verdict_status(l->v, NNPU_STATUS_INVALID_FIELD);
	if (alloc_tables(l) || load_tensors(l))
		return -1;
	if (request->check) {
		request->reports = zalloc(request->num_reports, sizeof(*request->reports));
		if (!request->reports)
			return verdict_status(l->v, NNPU_STATUS_NO_MEMORY);
	}
	if (load_commands(l))
		return -1;
	return request->check ? 0 : plan_program(l);
}

struct program *program_load(struct load_request *request, struct verdict *v)
{
	struct nnpu_device *dev = request->ctx->dev;
	struct loader l = { .request = request, .dev = dev, .image = request->image, .v = v };
	struct program *p = calloc(1, sizeof(*p));
	int ret;

	if (!p) {
		verdict_status(v, NNPU_STATUS_NO_MEMORY);
		return NULL;
	}
	p->refs = 1;
	p->ctx = request->ctx;
	pthread_mutex_lock(&dev->lock);
	p->serial = dev->next_serial++;
	pthread_mutex_unlock(&dev->lock);
	l.p = p;
	ret = load(&l);
	free(l.descs);
	free(l.written);
	free(l.operands);
	free(l.saved);
	if (ret || request->check) {
		program_put(p);
		return NULL;
	}
	return p;
}
