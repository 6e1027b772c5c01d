// SPDX-License-Identifier: MIT
/*
 * Loading a program: turns an image into tensors, with constants in device memory, and
 * commands, which their operations have checked and prepared.
 */
#include <string.h>

#include "device_memory.h"
#include "device_state.h"
#include "engine.h"
#include "loader.h"
#include "memory_accounting.h"
#include "memory_plan.h"
#include "program_image.h"
#include "slots.h"
#include "tensor_shape.h"
#include "ops/extension.h"

/* Bytes that are copied between two looks at load_pace(). */
#define COPY_PIECE	(256u << 10)

int load_copy(struct loader *l, void *to, const void *from, size_t bytes)
{
	size_t at, n;

	for (at = 0; at < bytes; at += n) {
		n = bytes - at < COPY_PIECE ? bytes - at : COPY_PIECE;
		memmove((char *)to + at, (const char *)from + at, n);
		if (load_pace(l, n / 4 + 1))
			return -1;
	}
	return 0;
}

/* Constants. */

/* They are charged already: their piece takes what that was for. */
static int load_scales(struct loader *l, uint64_t total)
{
	const uint8_t *data = l->image + le32toh(l->header.data_off);
	struct program *p = l->p;
	float *scales;
	uint32_t i, num_scales;

	if (!total)
		return 0;
	load_uncharge(l, total * sizeof(*scales));
	scales = load_take(l, total * sizeof(*scales));
	if (!scales)
		return -1;
	for (i = 0; i < p->num_tensors; i++) {
		struct tensor *t = &p->tensors[i];
		struct nnpu_tensor_desc d;

		if (load_pace(l, 4))
			return -1;
		num_scales = tensor_num_scales(t);
		if (!num_scales)
			continue;
		image_get_tensor(l->image, &l->header, i, &d);
		if (load_copy(l, scales, data + le32toh(d.channel_scales_off),
			      num_scales * sizeof(*scales)))
			return -1;
		t->channel_scales = scales;
		scales += num_scales;
	}
	return 0;
}

/* Load parameters of operand types of extensions: @bytes in all, each rounded up. */
static int load_params(struct loader *l, uint64_t bytes)
{
	const uint8_t *data = l->image + le32toh(l->header.data_off);
	struct program *p = l->p;
	uint8_t *params;
	uint32_t i;

	if (!bytes)
		return 0;
	params = load_take(l, bytes);
	if (!params)
		return -1;
	for (i = 0; i < p->num_tensors; i++) {
		struct nnpu_tensor_desc d;
		uint32_t len;

		image_get_tensor(l->image, &l->header, i, &d);
		len = le32toh(d.params_len);
		if (load_pace(l, len + 4))
			return -1;
		if (!len)
			continue;
		memcpy(params, data + le32toh(d.params_off), len);
		p->tensors[i].params = params;
		params += program_params_size(len);
	}
	return 0;
}

/* Bytes of a constant from @at on, wherever they are. */
static int read_constant(struct loader *l, uint32_t index, const struct nnpu_tensor_desc *d,
			 uint64_t at, uint64_t bytes)
{
	struct tensor *t = &l->p->tensors[index];
	uint64_t from = le64toh(d->data_off) + at;
	uint8_t *to = (uint8_t *)t->data + at;
	unsigned int status;

	if (t->kind == NNPU_TENSOR_INLINE)
		return load_copy(l, to, l->image + le32toh(l->header.data_off) + from, bytes);
	status = slot_access(l->request->ctx, l->request->slots, le32toh(d->slot), from, to, bytes,
			     DMA_READ, l->pace.progress);
	/* Small accesses leave the slots held. */
	slots_release(l->request->slots);
	return status ? verdict_access(l->v, status, index) : 0;
}

static int seal_fault(struct loader *l)
{
	return verdict_set(l->v, NNPU_STATUS_PROGRAM_HEADER, NNPU_REASON_SEAL, 0,
			   NNPU_OPERAND_NONE);
}

/*
 * In pieces: the caches still have a piece when it is added to the tag. The tag is that of the copy,
 * because the memory of a slot may change.
 */
static int load_constant(struct loader *l, uint32_t index)
{
	const struct tensor *t = &l->p->tensors[index];
	uint64_t bytes = constant_bytes(t), at = 0, n;
	struct nnpu_tensor_desc d;

	image_get_tensor(l->image, &l->header, index, &d);
	do {
		n = bytes - at < COPY_PIECE ? bytes - at : COPY_PIECE;
		if (constant_is_single(t))
			mem_touch((uint8_t *)t->data + at, n);
		if (read_constant(l, index, &d, at, n))
			return -1;
		if (l->seal.sealer) {
			if (!seal_add(&l->seal, (const uint8_t *)t->data + at, n))
				return seal_fault(l);
			if (load_pace(l, n / 8 + 1))
				return -1;
		}
		at += n;
	} while (at < bytes);
	return 0;
}

static int load_constants(struct loader *l)
{
	struct program *p = l->p;
	uint64_t single = 0, shared = 0;
	uint8_t *data;
	uint32_t i;

	for (i = 0; i < p->num_tensors; i++) {
		const struct tensor *t = &p->tensors[i];

		if (load_pace(l, 8))
			return -1;
		if (!tensor_is_const(t))
			continue;
		if (constant_is_single(t))
			single += constant_size(t);
		else
			shared = constant_begin(t, shared) + t->bytes;
	}
	if (load_charge(l, single))
		return -1;
	/* Until it is known which of them the program keeps: keep_constants(). */
	data = shared ? load_take_constants(l, shared) : NULL;
	if (shared && !data)
		return -1;
	for (i = 0; i < p->num_tensors; i++) {
		struct tensor *t = &p->tensors[i];

		if (load_pace(l, 32))
			return -1;
		if (!tensor_is_const(t))
			continue;
		if (constant_is_single(t)) {
			t->data = mem_alloc(l->dev, constant_room(t));
			if (!t->data)
				return verdict_status(l->v, NNPU_STATUS_NO_MEMORY);
		} else {
			t->data = constant_at(t, &data);
		}
		if (load_constant(l, i))
			return -1;
	}
	return 0;
}

static int load_sealed(struct loader *l)
{
	struct nnpu_seal seal;

	if (!l->header.seal_off)
		return load_constants(l);
	memcpy(&seal, l->image + le32toh(l->header.seal_off), sizeof(seal));
	if (!seal_begin(&l->dev->sealer, &l->seal, seal.key))
		return verdict_status(l->v, NNPU_STATUS_NO_MEMORY);
	if (load_constants(l))
		return -1;
	return seal_matches(&l->seal, seal.tag) ? 0 : seal_fault(l);
}

static int load_tensors(struct loader *l)
{
	struct program *p = l->p;
	uint64_t scales = 0, params = 0;
	uint32_t i;

	for (i = 0; i < p->num_tensors; i++) {
		struct tensor *t = &p->tensors[i];
		struct nnpu_tensor_desc d;

		/* Records may share scales: charge them before there are too many to check. */
		if (image_parse_tensor(l->image, &l->header, i, &l->dev->props, t, &d,
				       &l->pace, l->v) ||
		    (tensor_num_scales(t) &&
		     load_charge(l, tensor_num_scales(t) * sizeof(*t->channel_scales))))
			return -1;
		t->place = tensor_is_const(t) || t->kind == NNPU_TENSOR_NO_VALUE ? PLACE_NONE :
										   p->num_places++;
		scales += tensor_num_scales(t);
		params += program_params_size(le32toh(d.params_len));
	}
	if (image_parse_interface(l->image, &l->header, p, l->seen, &l->pace, l->v) ||
	    load_alloc_places(l) || load_scales(l, scales) || load_params(l, params))
		return -1;
	return load_sealed(l);
}

/* Commands. */

struct op_call load_make_call(const struct loader *l, const struct program_cmd *cmd,
			      struct op_error *error)
{
	*error = (struct op_error){ .reason = NNPU_REASON_NONE, .operand = NNPU_OPERAND_NONE };
	return (struct op_call){
		.desc = cmd->desc,
		.num_inputs = cmd->num_inputs,
		.num_outputs = cmd->num_outputs,
		.in = l->operands,
		.out = l->operands + cmd->num_inputs,
		.relaxed = l->p->relaxed,
		.loading = true,
		.progress = l->pace.progress,
		.error = error,
	};
}

int load_op_refused(struct loader *l, uint32_t index, const struct op_error *error)
{
	unsigned int status = NNPU_STATUS_PROGRAM_COMMAND;

	if (error->reason == NNPU_REASON_UNSUPPORTED_VARIANT)
		status = NNPU_STATUS_PROGRAM_UNSUPPORTED;
	return verdict_set(l->v, status, error->reason, index, error->operand);
}

/*
 * Infer the shapes of the outputs if all input shapes are known. They must agree with the
 * tensor records.
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
	ret = shapes_infer(call, l->saved, l->dev->props.max_operand_size, &l->pace);
	if (load_pace(l, call->num_outputs * 16))
		return -1;
	for (i = 0; !ret && i < call->num_outputs; i++)
		if (!shapes_compatible(&l->saved[i], call->out[i]))
			ret = op_fail(call, NNPU_REASON_SHAPE_MISMATCH, call->num_inputs + i);
	if (ret)
		for (i = 0; i < call->num_outputs; i++)
			*call->out[i] = l->saved[i];
	if (ret < 0)
		return load_op_refused(l, index, call->error);
	/* 1: it needs a value that only the job has. */
	cmd->infer = ret;
	return 0;
}

/* Nobody else understands the form in which the device keeps weights. */
static int check_native(struct loader *l, uint32_t index, const struct op_call *call)
{
	unsigned int i;

	for (i = 0; i < call->num_inputs; i++) {
		if (call->in[i]->form == FORM_NATIVE && !op_takes_native(call, i))
			return verdict_set(l->v, NNPU_STATUS_PROGRAM_COMMAND,
					   NNPU_REASON_ENCODING, index, i);
		if (load_pace(l, 4))
			return -1;
	}
	return 0;
}

static int judge_command(struct loader *l, uint32_t index, struct program_cmd *cmd)
{
	struct op_error error;
	struct op_call call = load_make_call(l, cmd, &error);

	if (check_native(l, index, &call))
		return -1;
	if (!cmd->desc)
		return verdict_set(l->v, NNPU_STATUS_PROGRAM_UNSUPPORTED, NNPU_REASON_OPERATION,
				   index, NNPU_OPERAND_NONE);
	if (op_check(cmd->opcode, &call))
		return load_op_refused(l, index, &error);
	return infer_command(l, index, cmd, &call);
}

/* The operation of a command; NULL: the device does not have it. */
static const struct op_desc *find_operation(const struct nnpu_device_props *props, uint32_t opcode)
{
	if (opcode < 128 && props->refused[opcode / 64] >> opcode % 64 & 1)
		return NULL;
	return extension_offers(opcode, props->examples) ? op_find(opcode) : NULL;
}

static int load_command(struct loader *l, uint32_t index, uint32_t *position)
{
	struct program *p = l->p;
	struct program_cmd *cmd = &p->cmds[index];
	struct nnpu_command c;
	uint32_t i, count;

	if (image_parse_command(l->image, &l->header, index, p, l->block, l->owner, &c, &l->pace,
				l->v))
		return -1;
	cmd->opcode = le32toh(c.opcode);
	cmd->desc = find_operation(&l->dev->props, cmd->opcode);
	for (i = 0; i < 2; i++)
		cmd->target[i] = program_find_block(p, le32toh(c.target[i]));
	cmd->num_inputs = le16toh(c.num_inputs);
	cmd->num_outputs = le16toh(c.num_outputs);
	cmd->operands = *position;
	count = (uint32_t)cmd->num_inputs + cmd->num_outputs;
	if (load_room(l, LOAD_PREPARE, (void **)&l->operands, &l->max_operands, count,
		      sizeof(*l->operands)) ||
	    load_room(l, LOAD_PREPARE, (void **)&l->saved, &l->max_saved, cmd->num_outputs,
		      sizeof(*l->saved)))
		return -1;
	for (i = 0; i < count; i++) {
		uint32_t t = image_get_index(l->image, &l->header,
					     le32toh(c.operands_first) + i);

		p->operands[*position + i] = t;
		l->operands[i] = &p->tensors[t];
		if (p->tensors[t].place != PLACE_NONE && *program_last_use(p, t) < index)
			*program_last_use(p, t) = index;
		if (load_pace(l, 16))
			return -1;
	}
	if (load_pace(l, 64 + count * 16))
		return -1;
	*position += count;
	if (cmd->opcode >= NNPU_CMD_BRANCH && cmd->opcode <= NNPU_CMD_BLOCK) {
		struct op_error error;
		struct op_call call = load_make_call(l, cmd, &error);

		return check_native(l, index, &call) ? -1 : control_load(l, index);
	}
	return judge_command(l, index, cmd);
}

/* LOAD_CHECK: store the verdict in the report and go on. */
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

/*
 * LOAD_CHECK turns a fault (@ret) into a report. Otherwise the first fault ends loading. What
 * the device lacks, and an abort, are no faults of a command.
 */
static int judged(struct loader *l, uint32_t index, int ret, struct verdict *first)
{
	if (!l->request->check || l->pace.ended || load_cut_short(l->v))
		return ret;
	report(l, index, first);
	return 0;
}

/* The current block ends before command @end. A fault belongs to its BLOCK command. */
static int end_block(struct loader *l, uint32_t end, struct verdict *first)
{
	if (!control_end_block(l, end))
		return 0;
	return judged(l, l->p->blocks[l->block].header, -1, first);
}

/* Check control commands again, since all shapes that loading finds are known now. */
static int recheck_controls(struct loader *l, struct verdict *first)
{
	const struct program *p = l->p;
	uint32_t i;

	for (i = 0; p->num_blocks > 1 && i < p->num_cmds; i++) {
		if (load_pace(l, 4))
			return -1;
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

/* Are all shapes known, so that the arena can be planned? */
static bool is_fixed(struct loader *l)
{
	struct program *p = l->p;
	bool fixed = true;
	uint32_t i;

	for (i = 0; i < p->num_inputs; i++)
		fixed &= p->tensors[p->inputs[i]].shape_known;
	for (i = 0; fixed && i < p->num_cmds; i++) {
		struct program_cmd *cmd = &p->cmds[i];

		fixed = cmd_is_control(cmd) ? control_is_fixed(l, cmd, &cmd->scratch) :
					      !cmd->infer;
		if (load_pace(l, 4))
			break;
	}
	return fixed;
}

static int plan(struct loader *l)
{
	struct program *p = l->p;
	uint32_t i;

	for (i = 0; i < p->num_outputs; i++)
		*program_last_use(p, p->outputs[i]) = p->num_cmds;
	/* If the arena is larger than device memory, no job of this program could run. */
	if (p->fixed && (plan_program(p, &l->pace) || p->arena_size > l->dev->props.memory_size))
		return load_no_memory(l);
	return l->pace.ended ? verdict_status(l->v, NNPU_STATUS_ABORTED) : 0;
}

/* What programs refer to, and how many blocks there are; the tables for it. */
static int alloc_tables(struct loader *l)
{
	struct program *p = l->p;

	p->num_tensors = le32toh(l->header.num_tensors);
	p->num_cmds = le32toh(l->header.num_commands);
	p->num_inputs = le16toh(l->header.num_inputs);
	p->num_outputs = le16toh(l->header.num_outputs);
	p->relaxed = le32toh(l->header.flags) & NNPU_PROGRAM_RELAXED;
	if (image_count(l->image, &l->header, l->dev->props.max_operands, &p->num_operands,
			&p->num_blocks, &l->pace, l->v) ||
	    load_alloc_tables(l))
		return -1;
	return control_find_blocks(l);
}

/* Cleared piece by piece. */
static int alloc_reports(struct loader *l)
{
	struct load_request *request = l->request;
	uint64_t bytes = request->reports_size, at, n;
	uint8_t *reports = op_take(request->progress, bytes, NULL);

	if (!reports)
		return load_no_memory(l);
	for (at = 0; at < bytes; at += n) {
		n = bytes - at < COPY_PIECE ? bytes - at : COPY_PIECE;
		memset(reports + at, 0, n);
		if (load_pace(l, n / 4 + 1)) {
			op_give(request->progress, reports, bytes);
			return -1;
		}
	}
	request->reports = (struct nnpu_command_report *)reports;
	return 0;
}

/* The image has been read: neither it nor what was to check it is needed any more. */
static void end_reading(struct loader *l)
{
	load_free_work(l, LOAD_READ);
	l->image = NULL;
}

static int load(struct loader *l)
{
	struct load_request *request = l->request;

	if (image_parse_header(request->image, request->size, l->dev->props.max_args, &l->header,
			       l->v))
		return -1;
	/* The last rule of the header: without a library there is no kind that the device takes. */
	if (l->header.seal_off && !sealer_works(&l->dev->sealer))
		return verdict_set(l->v, NNPU_STATUS_PROGRAM_UNSUPPORTED, NNPU_REASON_SEAL, 0,
				   NNPU_OPERAND_NONE);
	if (request->check && request->reports_size != le32toh(l->header.num_commands) *
						       (uint64_t)sizeof(*request->reports))
		return verdict_status(l->v, NNPU_STATUS_INVALID_FIELD);
	if (alloc_tables(l) || load_tensors(l) || (request->check && alloc_reports(l)) ||
	    load_commands(l))
		return -1;
	if (request->check)
		return 0;
	end_reading(l);
	l->p->fixed = is_fixed(l);
	if (load_prepare(l))
		return -1;
	/* The plan takes memory itself. */
	load_free_work(l, LOAD_PREPARE);
	load_free_work(l, LOAD_CONSTANTS);
	if (plan(l))
		return -1;
	/* An operation that has seen the abort leaves its prepared object half done. */
	return job_is_to_end(l->pace.progress) ? verdict_status(l->v, NNPU_STATUS_ABORTED) : 0;
}

struct program *program_load(struct load_request *request, struct verdict *v)
{
	struct nnpu_device *dev = request->ctx->dev;
	struct loader l = {
		.request = request, .dev = dev, .image = request->image, .v = v,
		.pace = { .progress = request->progress },
		.work[LOAD_READ] = request->read,
	};
	struct program *p = load_alloc_program(&l);
	int ret;

	request->read = (struct load_work) { 0 };
	if (!p) {
		end_reading(&l);
		return NULL;
	}
	/* Operations prepare their objects in it. */
	if (request->progress)
		request->progress->kept = p;
	ret = load(&l);
	seal_end(&l.seal);
	if (request->progress)
		request->progress->kept = NULL;
	end_reading(&l);
	load_free_work(&l, LOAD_PREPARE);
	load_free_work(&l, LOAD_CONSTANTS);
	if (!ret && !request->check)
		return p;
	pthread_mutex_lock(&dev->lock);
	program_put(p);
	pthread_mutex_unlock(&dev->lock);
	return NULL;
}
