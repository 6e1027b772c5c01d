// SPDX-License-Identifier: MIT
/*
 * Running a program whose shapes are not all known at load time.
 *
 * The commands of a block go in batches: infer shapes as far as the values at hand
 * allow, lay out what this batch writes, execute it, go on. One batch is enough unless
 * a shape depends on a computed value. A control command whose outputs have unknown
 * shapes ends a batch and runs by itself.
 *
 * Memory comes in pieces of the arena, which are taken and given back like a stack as
 * blocks begin and end. What leaves a block goes where its struct home says: the memory
 * of the output it stands for if that has a shape, else a piece of its own.
 */
#include <stdlib.h>

#include "device_state.h"
#include "engine.h"
#include "tensor_shape.h"

/* Number of the program's output that is tensor @t. */
static unsigned int output_number(const struct program *p, uint32_t t)
{
	unsigned int i;

	for (i = 0; i < p->num_outputs; i++)
		if (p->outputs[i] == t)
			break;
	return i;
}

static int shape_mismatch(struct exec_run *run, uint32_t index, unsigned int operand,
			  const struct tensor *t)
{
	const struct program *p = run->program;

	if (t->kind != NNPU_TENSOR_OUTPUT)
		return exec_op_failed(run, index, NNPU_REASON_SHAPE_MISMATCH, operand);
	return verdict_set(run->verdict, NNPU_STATUS_ARG_SHAPE, NNPU_REASON_SHAPE_MISMATCH,
			   p->num_inputs + output_number(p, (uint32_t)(t - p->tensors)),
			   NNPU_OPERAND_NONE);
}

/* Output @operand of a command against what the program says about it. */
static int check_declared(struct exec_run *run, uint32_t index, unsigned int operand,
			  const struct tensor *actual)
{
	const struct program *p = run->program;
	const struct tensor *declared;

	declared = &p->tensors[p->operands[p->cmds[index].operands + operand]];
	if (shapes_compatible(declared, actual))
		return 0;
	return shape_mismatch(run, index, operand, declared);
}

static void set_shape(struct tensor *t, const struct tensor *from)
{
	t->rank = from->rank;
	t->rank_known = from->rank_known;
	memcpy(t->dims, from->dims, sizeof(t->dims));
	t->shape_known = from->shape_known;
	t->bytes = from->bytes;
}

static const uint32_t *operand_list(const struct exec_run *run, uint32_t index)
{
	return run->program->operands + run->program->cmds[index].operands;
}

static bool outputs_known(const struct exec_run *run, uint32_t index)
{
	const struct program_cmd *cmd = &run->program->cmds[index];
	const uint32_t *out = operand_list(run, index) + cmd->num_inputs;
	unsigned int i;

	for (i = 0; i < cmd->num_outputs; i++)
		if (!run->program->tensors[out[i]].shape_known)
			return false;
	return true;
}

/* Batches. */

/* Infer from command @from on; *@end is the first that needs a value not there yet. */
static int infer_batch(struct exec_run *run, const struct program_block *b, uint32_t from,
		       uint32_t *end)
{
	struct exec_state *x = &run->engine->exec;
	const struct program *p = run->program;
	struct op_error error;
	struct op_call call;
	unsigned int o;
	uint32_t i;
	int ret;

	for (i = from; i < b->end; i++) {
		if (cmd_is_control(&p->cmds[i])) {
			if (!outputs_known(run, i))
				break;
			continue;
		}
		if (!p->cmds[i].infer && !run->omitted)
			continue;
		exec_make_call(run, i, &call, &error);
		if (!exec_room(x, (void **)&x->saved, &x->max_saved, call.num_outputs,
			       sizeof(*x->saved)))
			return exec_no_memory(run);
		x->work.inferences++;
		ret = shapes_infer(&call, x->saved, run->engine->dev->props.max_operand_size);
		if (ret < 0)
			return exec_op_failed(run, i, error.reason, error.operand);
		if (ret)
			break;
		for (o = 0; o < call.num_outputs; o++)
			if (check_declared(run, i, call.num_inputs + o, call.out[o]))
				return -1;
	}
	*end = i;
	return 0;
}

/* Scratch memory of the commands [from, end), whose shapes are all known. */
static int plan_scratch(struct exec_run *run, uint32_t from, uint32_t end,
			struct plan_item *items, uint32_t *count)
{
	const struct program *p = run->program;
	struct op_error error;
	struct op_call call;
	uint64_t bytes;
	uint32_t i;

	for (i = from; i < end; i++) {
		if (cmd_is_control(&p->cmds[i]))
			continue;
		exec_make_call(run, i, &call, &error);
		bytes = op_scratch(&call);
		if (bytes > run->engine->dev->props.memory_size)
			return exec_no_memory(run);
		if (bytes)
			items[(*count)++] = (struct plan_item) {
				.tensor = p->num_tensors + i, .first = i, .last = i,
				.size = bytes,
			};
	}
	return 0;
}

/* An output of the block is written where its home is. */
static int place_at_home(struct exec_run *run, uint32_t index, unsigned int operand)
{
	uint32_t t = operand_list(run, index)[operand];
	struct tensor *tensor = &run->engine->exec.tensors[t];
	const struct home *home = &run->engine->exec.homes[t];

	if (!home->data) {
		tensor->data = exec_arena(run, home->chunk, tensor->bytes);
		return tensor->data ? 0 : exec_no_memory(run);
	}
	if (!shapes_compatible(home->outer, tensor))
		return exec_op_failed(run, index, NNPU_REASON_SHAPE_MISMATCH, operand);
	tensor->data = home->data;
	return 0;
}

/* Memory for the inputs (@first) and what the commands [from, end) write. */
static int place_batch(struct exec_run *run, uint32_t from, uint32_t end, bool first)
{
	struct tensor *tensors = run->engine->exec.tensors;
	struct plan_item *items = run->items;
	const struct program *p = run->program;
	uint32_t i, n = 0;
	uint8_t *base;

	for (i = 0; first && i < p->num_inputs; i++)
		items[n++] = (struct plan_item) { .tensor = p->inputs[i], .first = from };
	for (i = from; i < end; i++) {
		const struct program_cmd *cmd = &p->cmds[i];
		const uint32_t *out = operand_list(run, i) + cmd->num_inputs;
		unsigned int o;

		for (o = 0; o < cmd->num_outputs; o++) {
			if (p->roles[out[o]] != ROLE_BLOCK_OUTPUT)
				items[n++] = (struct plan_item) { .tensor = out[o], .first = i };
			else if (place_at_home(run, i, cmd->num_inputs + o))
				return -1;
		}
	}
	for (i = 0; i < n; i++) {
		uint32_t last = p->last_use[items[i].tensor];

		/* Read by a later batch: stays. */
		items[i].last = last < end ? last : end;
		items[i].size = tensors[items[i].tensor].bytes;
	}
	if (plan_scratch(run, from, end, items, &n))
		return -1;
	base = exec_arena(run, run->next_chunk++, plan_place(items, n));
	if (!base)
		return exec_no_memory(run);
	for (i = 0; i < n; i++)
		if (items[i].tensor >= p->num_tensors)
			run->engine->exec.scratch[items[i].tensor - p->num_tensors] =
				base + items[i].offset;
		else if (tensors[items[i].tensor].kind != NNPU_TENSOR_NO_VALUE)
			tensors[items[i].tensor].data = base + items[i].offset;
	return 0;
}

static int run_batches(struct exec_run *run, uint32_t number)
{
	const struct program_block *b = &run->program->blocks[number];
	/* Of the main part the inputs have to be read yet. */
	bool first = !number;
	uint32_t pos = b->first, end = pos;

	while (pos < b->end) {
		if (infer_batch(run, b, pos, &end))
			return -1;
		if (end == pos && !first && !cmd_is_control(&run->program->cmds[pos]))
			return exec_op_failed(run, pos, NNPU_REASON_UNKNOWN_SHAPE,
					      NNPU_OPERAND_NONE);
		if ((first || end > pos) && place_batch(run, pos, end, first))
			return -1;
		if (first && exec_read_inputs(run))
			return -1;
		first = false;
		for (; pos < end; pos++)
			if (exec_command(run, pos))
				return -1;
		if (pos < b->end && cmd_is_control(&run->program->cmds[pos]) &&
		    exec_command(run, pos++))
			return -1;
	}
	return 0;
}

static int run_block(struct exec_run *run, uint32_t number)
{
	uint32_t chunk = run->next_chunk;

	if (run_batches(run, number))
		return -1;
	run->next_chunk = chunk;
	return 0;
}

/* Control flow. */

/* The tensors of a block are as the program has them. */
static void reset_block(struct exec_run *run, uint32_t number)
{
	const struct program *p = run->program;
	const struct program_block *b = &p->blocks[number];
	struct tensor *tensors = run->engine->exec.tensors;
	uint32_t i, o;

	for (i = b->first; i < b->end; i++) {
		const uint32_t *out = operand_list(run, i) + p->cmds[i].num_inputs;

		for (o = 0; o < p->cmds[i].num_outputs; o++)
			tensors[out[o]] = p->tensors[out[o]];
	}
}

/* Input @i of a block is @value, operand @operand of command @index. */
static int pass_input(struct exec_run *run, uint32_t index, unsigned int operand,
		      uint32_t number, unsigned int i, const struct tensor *value)
{
	const struct program *p = run->program;
	uint32_t t = operand_list(run, p->blocks[number].header)[i];
	struct tensor *inner = &run->engine->exec.tensors[t];

	if (!shapes_compatible(&p->tensors[t], value))
		return exec_op_failed(run, index, NNPU_REASON_SHAPE_MISMATCH, operand);
	set_shape(inner, value);
	inner->data = value->data;
	return 0;
}

static struct home *home_of_output(struct exec_run *run, uint32_t number, unsigned int i)
{
	uint32_t header = run->program->blocks[number].header;

	return &run->engine->exec.homes[operand_list(run, header)
					[run->program->cmds[header].num_inputs + i]];
}

static const struct tensor *block_output(struct exec_run *run, uint32_t number, unsigned int i)
{
	uint32_t header = run->program->blocks[number].header;

	return run->engine->exec.operands[run->program->cmds[header].operands +
					  run->program->cmds[header].num_inputs + i];
}

/* Where output @operand of a control command goes whose shape is not known. */
static struct home output_home(struct exec_run *run, uint32_t index, unsigned int operand)
{
	uint32_t t = operand_list(run, index)[operand];

	if (run->program->roles[t] == ROLE_BLOCK_OUTPUT)
		return run->engine->exec.homes[t];
	/* Stays until the block at hand ends. */
	return (struct home) { .chunk = run->next_chunk++ };
}

static bool is_condition(const struct tensor *t)
{
	return t->rank == 1 && t->dims[0] == 1;
}

static int run_branch(struct exec_run *run, uint32_t index)
{
	const struct program_cmd *cmd = &run->program->cmds[index];
	struct tensor **in = run->engine->exec.operands + cmd->operands;
	struct tensor **out = in + cmd->num_inputs;
	bool known = outputs_known(run, index);
	unsigned int i;
	uint32_t number;

	if (!is_condition(in[0]))
		return exec_op_failed(run, index, NNPU_REASON_DIMENSION, 0);
	number = cmd->target[*(const uint8_t *)in[0]->data ? 0 : 1];
	reset_block(run, number);
	for (i = 1; i < cmd->num_inputs; i++)
		if (pass_input(run, index, i, number, i - 1, in[i]))
			return -1;
	for (i = 0; i < cmd->num_outputs; i++)
		*home_of_output(run, number, i) = known ?
			(struct home) { .outer = out[i], .data = out[i]->data } :
			output_home(run, index, cmd->num_inputs + i);
	if (run_block(run, number))
		return -1;
	for (i = 0; !known && i < cmd->num_outputs; i++) {
		const struct tensor *result = block_output(run, number, i);

		if (check_declared(run, index, cmd->num_inputs + i, result))
			return -1;
		set_shape(out[i], result);
		out[i]->data = result->data;
	}
	return 0;
}

/* A loop that runs. */
struct loop {
	uint32_t index;
	const struct program_cmd *cmd;
	struct tensor **in;
	/* Values that are carried; before the first time around they are inputs. */
	struct tensor *values;
	unsigned int num_carried;
	uint32_t places;		/* two pieces of the arena for each */
	uint64_t rounds;
};

static const struct tensor *loop_value(const struct loop *l, unsigned int i)
{
	return l->rounds && i < l->num_carried ? &l->values[i] : l->in[i];
}

static int loop_enter(struct exec_run *run, const struct loop *l, uint32_t number)
{
	unsigned int i;

	reset_block(run, number);
	for (i = 0; i < l->cmd->num_inputs; i++)
		if (pass_input(run, l->index, i, number, i, loop_value(l, i)))
			return -1;
	return 0;
}

static int loop_rounds(struct exec_run *run, struct loop *l)
{
	uint32_t condition = l->cmd->target[0], body = l->cmd->target[1];
	unsigned int i;

	for (;; l->rounds++) {
		if (loop_enter(run, l, condition))
			return -1;
		*home_of_output(run, condition, 0) = (struct home) {
			.chunk = l->places + 2 * l->num_carried,
		};
		if (run_block(run, condition))
			return -1;
		if (!is_condition(block_output(run, condition, 0)))
			return exec_op_failed(run, l->index, NNPU_REASON_DIMENSION,
					      NNPU_OPERAND_NONE);
		if (!*(const uint8_t *)block_output(run, condition, 0)->data)
			return 0;
		if (exec_loop_check(run, l->index) || loop_enter(run, l, body))
			return -1;
		for (i = 0; i < l->num_carried; i++)
			*home_of_output(run, body, i) = (struct home) {
				.chunk = l->places + 2 * i + (l->rounds & 1),
			};
		if (run_block(run, body))
			return -1;
		for (i = 0; i < l->num_carried; i++)
			l->values[i] = *block_output(run, body, i);
	}
}

/* Output @i of the loop is the value it ended with. */
static int loop_output(struct exec_run *run, const struct loop *l, unsigned int i,
		       const struct home *home)
{
	const struct tensor *value = loop_value(l, i);
	unsigned int operand = l->cmd->num_inputs + i;
	struct tensor *out = l->in[operand];

	if (check_declared(run, l->index, operand, value))
		return -1;
	if (home) {
		set_shape(out, value);
		if (home->data && !shapes_compatible(home->outer, value))
			return exec_op_failed(run, l->index, NNPU_REASON_SHAPE_MISMATCH, operand);
		out->data = home->data ? home->data : exec_arena(run, home->chunk, value->bytes);
		if (!out->data)
			return exec_no_memory(run);
	}
	if (value->bytes)
		exec_copy(&run->engine->exec, out, value->data);
	return 0;
}

static int loop_run(struct exec_run *run, struct loop *l, struct home *homes)
{
	bool known = outputs_known(run, l->index);
	bool outermost = exec_loop_begin(run);
	unsigned int i;

	for (i = 0; !known && i < l->cmd->num_outputs; i++)
		homes[i] = output_home(run, l->index, l->cmd->num_inputs + i);
	l->places = run->next_chunk;
	run->next_chunk += 2 * l->num_carried + 1;
	if (loop_rounds(run, l))
		return -1;
	for (i = 0; i < l->cmd->num_outputs; i++)
		if (loop_output(run, l, i, known ? NULL : &homes[i]))
			return -1;
	run->next_chunk = l->places;
	if (outermost)
		run->loop_end_ns = 0;
	return 0;
}

static int run_loop(struct exec_run *run, uint32_t index)
{
	const struct program *p = run->program;
	const struct program_cmd *cmd = &p->cmds[index];
	struct loop l = {
		.index = index, .cmd = cmd,
		.in = run->engine->exec.operands + cmd->operands,
		.num_carried = p->cmds[p->blocks[cmd->target[1]].header].num_outputs,
	};
	struct home *homes = calloc(cmd->num_outputs, sizeof(*homes));
	int ret;

	l.values = calloc(l.num_carried, sizeof(*l.values));
	run->engine->exec.work.allocations += 2;
	ret = homes && l.values ? loop_run(run, &l, homes) : exec_no_memory(run);
	free(l.values);
	free(homes);
	return ret;
}

int batch_control(struct exec_run *run, uint32_t index)
{
	return run->program->cmds[index].opcode == NNPU_CMD_BRANCH ? run_branch(run, index) :
								      run_loop(run, index);
}

/* The program. */

static void input_shape(const struct nnpu_arg *arg, struct tensor *t)
{
	unsigned int i;

	if (!(le16toh(arg->flags) & NNPU_ARG_SHAPE))
		return;
	t->rank = arg->rank;
	t->rank_known = true;
	for (i = 0; i < arg->rank; i++)
		if (arg->dims[i])
			t->dims[i] = le32toh(arg->dims[i]);
}

/* Commands whose operands this job omits look at them again. */
static int check_omitted(struct exec_run *run)
{
	const struct program *p = run->program;
	uint32_t i, j;

	for (i = 0; i < p->num_cmds; i++) {
		struct op_error error;
		struct op_call call;

		exec_make_call(run, i, &call, &error);
		for (j = 0; j < call.num_inputs; j++)
			if (call.in[j]->kind == NNPU_TENSOR_NO_VALUE)
				break;
		if (j == call.num_inputs)
			continue;
		if (!call.desc)
			return exec_op_failed(run, i, NNPU_REASON_OMITTED, j);
		if (op_check(p->cmds[i].opcode, &call))
			return exec_op_failed(run, i, error.reason, error.operand);
	}
	return 0;
}

static void set_inputs(struct exec_run *run)
{
	const struct program *p = run->program;
	unsigned int i;

	for (i = 0; i < p->num_inputs; i++) {
		struct tensor *t = &run->engine->exec.tensors[p->inputs[i]];

		if (le16toh(run->args[i].flags) & NNPU_ARG_NO_VALUE) {
			t->kind = NNPU_TENSOR_NO_VALUE;
			t->bytes = 0;
			run->omitted = true;
			continue;
		}
		input_shape(&run->args[i], t);
		/* Its size was checked with the argument. */
		tensor_settle(t, run->engine->dev->props.max_operand_size);
	}
}

int batch_run(struct exec_run *run)
{
	struct exec_state *x = &run->engine->exec;
	const struct program *p = run->program;
	int ret;

	/* To find shapes may take long. */
	slots_release(&run->engine->slots);
	if (exec_bind(run))
		return -1;
	if (p->num_blocks > 1 && !exec_room(x, (void **)&x->homes, &x->max_homes, p->num_tensors,
					    sizeof(*x->homes)))
		return exec_no_memory(run);
	run->shapes_valid = true;
	run->batches = true;
	set_inputs(run);
	if (run->omitted && check_omitted(run))
		return -1;
	x->work.allocations++;
	run->items = malloc((p->num_inputs + (size_t)p->num_operands + p->num_cmds + 1) *
			    sizeof(*run->items));
	if (!run->items)
		return exec_no_memory(run);
	ret = run_block(run, 0);
	free(run->items);
	return ret;
}
