// SPDX-License-Identifier: MIT
/*
 * Loading a program: from an image to tensors with constants in device memory and
 * commands that their operations have accepted.
 */
#include <stdlib.h>

#include "nnpu_internal.h"

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
	free(p->blocks);
	free(p->roles);
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
	if (image_count(l->image, &l->header, &p->num_operands, &p->num_blocks, l->v))
		return -1;
	if (charge(l, p->num_tensors * (uint64_t)(sizeof(struct tensor) + 13) +
			   p->num_cmds * (uint64_t)(sizeof(struct program_cmd) + 8) +
			   p->num_blocks * (uint64_t)sizeof(struct program_block) +
			   p->num_operands * (uint64_t)sizeof(uint32_t)))
		return -1;
	p->tensors = zalloc(p->num_tensors, sizeof(*p->tensors));
	p->cmds = zalloc(p->num_cmds, sizeof(*p->cmds));
	p->blocks = zalloc(p->num_blocks, sizeof(*p->blocks));
	p->roles = zalloc(p->num_tensors, sizeof(*p->roles));
	p->operands = zalloc(p->num_operands, sizeof(*p->operands));
	p->inputs = zalloc(p->num_inputs, sizeof(*p->inputs));
	p->outputs = zalloc(p->num_outputs, sizeof(*p->outputs));
	p->last_use = zalloc(p->num_tensors, sizeof(*p->last_use));
	p->offsets = zalloc((size_t)p->num_tensors + p->num_cmds, sizeof(*p->offsets));
	l->descs = zalloc(p->num_tensors, sizeof(*l->descs));
	l->owner = zalloc(p->num_tensors, sizeof(*l->owner));
	if (!p->tensors || !p->cmds || !p->blocks || !p->roles || !p->operands || !p->inputs ||
	    !p->outputs || !p->last_use || !p->offsets || !l->descs || !l->owner)
		return verdict_status(l->v, NNPU_STATUS_NO_MEMORY);
	control_find_blocks(l);
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
			bytes += tensor_round_up(t->bytes);
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
		data += tensor_round_up(t->bytes);
		if (load_constant(l, i))
			return -1;
	}
	return 0;
}

/* Commands. */

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
	return 0;
}

/* What the operation needs for itself, which may depend on what is prepared. */
static int scratch_command(struct loader *l, struct program_cmd *cmd, const struct op_call *call)
{
	if (cmd->infer)
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
	if (!l->request->check && prepare_command(l, cmd, &call, index))
		return -1;
	return scratch_command(l, cmd, &call);
}

static int load_command(struct loader *l, uint32_t index, uint32_t *position)
{
	struct program *p = l->p;
	struct program_cmd *cmd = &p->cmds[index];
	struct nnpu_command c;
	uint32_t i, count;

	if (image_parse_command(l->image, &l->header, index, p, l->block, l->owner, &c, l->v))
		return -1;
	cmd->opcode = le32toh(c.opcode);
	cmd->desc = op_find(cmd->opcode);
	for (i = 0; i < 2; i++)
		cmd->target[i] = program_find_block(p, le32toh(c.target[i]));
	cmd->num_inputs = le16toh(c.num_inputs);
	cmd->num_outputs = le16toh(c.num_outputs);
	cmd->operands = *position;
	count = (uint32_t)cmd->num_inputs + cmd->num_outputs;
	if (!exec_grow((void **)&l->operands, &l->max_operands, count, sizeof(*l->operands)) ||
	    !exec_grow((void **)&l->saved, &l->max_saved, cmd->num_outputs, sizeof(*l->saved)))
		return verdict_status(l->v, NNPU_STATUS_NO_MEMORY);
	for (i = 0; i < count; i++) {
		uint32_t t = image_get_index(l->image, &l->header,
					     le32toh(c.operands_first) + i);

		p->operands[*position + i] = t;
		l->operands[i] = &p->tensors[t];
		if (p->last_use[t] < index)
			p->last_use[t] = index;
	}
	*position += count;
	if (cmd->opcode >= NNPU_CMD_BRANCH && cmd->opcode <= NNPU_CMD_BLOCK)
		return control_load(l, index);
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

/* When only checking, what @ret is about is a report; else the first fault is the end. */
static int judged(struct loader *l, uint32_t index, int ret, struct verdict *first)
{
	if (!l->request->check)
		return ret;
	report(l, index, first);
	return 0;
}

/* The block at hand ends before command @end: a fault is one of its BLOCK command. */
static int end_block(struct loader *l, uint32_t end, struct verdict *first)
{
	if (!control_end_block(l, end))
		return 0;
	return judged(l, l->p->blocks[l->block].header, -1, first);
}

/* Known shapes of what leaves a block agree with those of what takes it. */
static int recheck_controls(struct loader *l, struct verdict *first)
{
	const struct program *p = l->p;
	uint32_t i;

	for (i = 0; p->num_blocks > 1 && i < p->num_cmds; i++) {
		if (!cmd_is_control(&p->cmds[i]) ||
		    (l->request->check && l->request->reports[i].status))
			continue;
		if (control_recheck(l, i) && judged(l, i, -1, first))
			return -1;
	}
	return 0;
}

static int load_commands(struct loader *l)
{
	struct verdict first = VERDICT_SUCCESS;
	struct program *p = l->p;
	uint32_t i, position = 0;

	for (i = 0; i < p->num_cmds; i++) {
		if (l->block + 1 < p->num_blocks && p->blocks[l->block + 1].header == i) {
			if (end_block(l, i, &first))
				return -1;
			l->block++;
		}
		if (judged(l, i, load_command(l, i, &position), &first))
			return -1;
		if (atomic_load_explicit(&l->dev->stop, memory_order_relaxed))
			return verdict_status(l->v, NNPU_STATUS_ABORTED);
	}
	if (end_block(l, p->num_cmds, &first) || recheck_controls(l, &first))
		return -1;
	for (i = 0; !first.status && i < p->num_outputs; i++)
		if (!l->owner[p->outputs[i]])
			verdict_set(&first, NNPU_STATUS_PROGRAM_TENSOR, NNPU_REASON_NOT_WRITTEN,
				    p->outputs[i], NNPU_OPERAND_NONE);
	*l->v = first;
	return first.status ? -1 : 0;
}

/* Are all shapes known, and so the arena? */
static bool is_fixed(struct program *p)
{
	bool fixed = true;
	uint32_t i;

	for (i = 0; i < p->num_inputs; i++)
		fixed &= p->tensors[p->inputs[i]].shape_known;
	for (i = 0; fixed && i < p->num_cmds; i++) {
		struct program_cmd *cmd = &p->cmds[i];

		fixed = cmd_is_control(cmd) ? control_is_fixed(p, cmd, &cmd->scratch) :
					      !cmd->infer;
	}
	return fixed;
}

static int plan(struct loader *l)
{
	struct program *p = l->p;
	uint32_t i;

	for (i = 0; i < p->num_outputs; i++)
		p->last_use[p->outputs[i]] = p->num_cmds;
	p->fixed = is_fixed(p);
	if (!p->fixed)
		return 0;
	/* If it is larger than the device a job of this program could never run. */
	if (plan_program(p) || p->arena_size > l->dev->props.memory_size)
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
	return request->check ? 0 : plan(l);
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
	free(l.owner);
	free(l.operands);
	free(l.saved);
	if (ret || request->check) {
		program_put(p);
		return NULL;
	}
	return p;
}
