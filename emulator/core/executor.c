// SPDX-License-Identifier: MIT
/*
 * The executor: runs the commands of a program on an engine.
 *
 * There are two kinds of runs. If all shapes were known at load time, the run is planned:
 * the arena is laid out already, and nothing is inferred or allocated. Otherwise the run
 * is dynamic: dynamic_shapes.c finds shapes and memory batch by batch. Blocks, branches
 * and loops run in the same way in both. A dynamic run differs in this:
 *
 *   - run_block() asks for batches;
 *   - a block forgets the shapes of its last run when it is entered, and pass_input()
 *     passes the shape of a value too;
 *   - an output of a block gets a home for the time when its shape is known
 *     (set_output_home(), loop_home()), where a planned run puts it into its place;
 *   - an output of a branch or loop whose shape was unknown gets shape and memory when
 *     the branch or loop ends.
 */
#include "device_state.h"
#include "dynamic_shapes.h"
#include "executor.h"
#include "job_profile.h"

/* Bytes of a copy between two looks at exec_pace(). */
#define COPY_PIECE	(256u << 10)

/* What to count for an operand of a branch or loop. */
#define PASS_UNITS	32

int exec_ended(struct exec_run *run)
{
	return verdict_status(run->verdict, job_end_status(&run->engine->progress));
}

int exec_no_memory(struct exec_run *run)
{
	return job_is_to_end(&run->engine->progress) ? exec_ended(run) :
	       verdict_status(run->verdict, NNPU_STATUS_NO_MEMORY);
}

/* Copy piece by piece. */
static int copy(struct exec_run *run, void *to, const void *from, uint64_t bytes)
{
	uint64_t at, n;

	for (at = 0; at < bytes; at += n) {
		n = bytes - at < COPY_PIECE ? bytes - at : COPY_PIECE;
		memcpy((char *)to + at, (const char *)from + at, n);
		if (exec_pace(run, n / 4 + 1))
			return -1;
	}
	return 0;
}

int exec_op_failed(struct exec_run *run, uint32_t index, unsigned int reason,
		   unsigned int operand)
{
	return verdict_set(run->verdict, NNPU_STATUS_OP_FAILED, reason, index, operand);
}

/* Binding. */

int exec_bind(struct exec_run *run)
{
	struct exec_state *x = &run->engine->exec;
	const struct program *p = run->program;
	uint32_t i;

	x->bound = 0;
	if (!exec_room(run->engine, (void **)&x->bind, &x->max_bind, bind_words(p),
		       sizeof(*x->bind)))
		return exec_no_memory(run);
	x->tensors = (struct tensor *)x->bind;
	x->operands = (struct tensor **)(x->tensors + p->num_places);
	x->scratch = (void **)(x->operands + p->num_operands);
	for (i = 0; i < p->num_cmds; i++) {
		x->scratch[i] = NULL;
		if (exec_pace(run, 4))
			return -1;
	}
	for (i = 0; i < p->num_tensors; i++) {
		if (p->tensors[i].place != PLACE_NONE)
			x->tensors[p->tensors[i].place] = p->tensors[i];
		if (exec_pace(run, 32))
			return -1;
	}
	for (i = 0; i < p->num_operands; i++) {
		x->operands[i] = exec_tensor(run, p->operands[i]);
		if (exec_pace(run, 4))
			return -1;
	}
	return 0;
}

/* Inputs. */

static unsigned int read_input(struct exec_run *run, unsigned int i, struct tensor *t)
{
	if (run->fail_dma)
		return NNPU_STATUS_DMA_ERROR;
	return slot_access(run->ctx, &run->engine->slots, le32toh(run->args[i].slot),
			   le64toh(run->args[i].offset), t->data, t->bytes, DMA_READ,
			   &run->engine->progress);
}

bool exec_many_args(struct nnpu_engine *e, unsigned int i)
{
	if (i % ARGS_PER_POINT != ARGS_PER_POINT - 1)
		return false;
	slots_release(&e->slots);
	return op_progress(&e->progress);
}

int exec_read_inputs(struct exec_run *run)
{
	const struct program *p = run->program;
	unsigned int status, i;

	for (i = 0; i < p->num_inputs; i++) {
		struct tensor *t = exec_tensor(run, p->inputs[i]);

		if (t->kind == NNPU_TENSOR_NO_VALUE)
			continue;
		status = read_input(run, i, t);
		if (status)
			return verdict_access(run->verdict, status, i);
		if (exec_many_args(run->engine, i))
			return exec_ended(run);
	}
	run->inputs_read = true;
	/* From here on it may take long. */
	slots_release(&run->engine->slots);
	return 0;
}

/* Operations. */

/* What is the same for all calls of a run. Field by field, here and below: to clear all takes longer. */
static void begin_calls(struct exec_run *run, struct op_call *call, struct op_error *error)
{
	call->relaxed = run->program->relaxed;
	call->loading = false;
	call->released = 0;
	call->progress = &run->engine->progress;
	call->team = run->engine->dev->helpers ? &run->engine->team.base : NULL;
	call->error = error;
}

static inline void set_call(const struct exec_run *run, uint32_t index, struct op_call *call)
{
	const struct program_cmd *cmd = &run->program->cmds[index];
	const struct exec_state *x = &run->engine->exec;
	struct tensor **operands = x->operands + cmd->operands;

	*call->error = (struct op_error) { .operand = NNPU_OPERAND_NONE };
	call->desc = cmd->desc;
	call->num_inputs = cmd->num_inputs;
	call->num_outputs = cmd->num_outputs;
	call->in = operands;
	call->out = operands + cmd->num_inputs;
	call->widened = cmd->widened;
	/* Also if this job omits an operand: see op.h. */
	call->prepared = cmd->prepared;
	call->own = cmd->owns_weights ? 1u << 1 : 0;
	program_set_coded(run->program, cmd, call);
	call->scratch = x->scratch[index];
}

void exec_make_call(struct exec_run *run, uint32_t index, struct op_call *call,
		    struct op_error *error)
{
	begin_calls(run, call, error);
	set_call(run, index, call);
}

static int run_operation(struct exec_run *run, uint32_t index)
{
	struct op_call *call = &run->call;
	int ret;

	if (run->program->cmds[index].left_out)
		return 0;
	set_call(run, index, call);
	ret = op_execute(call);
	/* An operation may have left its last step half-done and not know. */
	if (ret == OP_ABORTED || (!ret && job_is_to_end(&run->engine->progress)))
		return exec_ended(run);
	return ret ? exec_op_failed(run, index, run->error.reason, run->error.operand) : 0;
}

/* Blocks. */

static int run_command(struct exec_run *run, uint32_t index);

static int run_block(struct exec_run *run, uint32_t number)
{
	const struct program_block *b = &run->program->blocks[number];
	uint32_t chunk = run->next_chunk, i = b->first, end = b->end;
	struct dynamic_block d;

	dynamic_enter(run, &d, number);
	while (i < b->end) {
		if (run->dynamic && dynamic_batch(run, &d, i, &end))
			return -1;
		for (; i < end; i++)
			if (run_command(run, i))
				return -1;
	}
	/* Chunks of the arena are taken and given back like a stack. */
	run->next_chunk = chunk;
	dynamic_leave(run, &d);
	return 0;
}

/* Tensor index of input @i of a block. */
static uint32_t block_input(const struct exec_run *run, uint32_t number, unsigned int i)
{
	return exec_operand_list(run, run->program->blocks[number].header)[i];
}

/* Tensor index of output @i of a block. */
static uint32_t block_output(const struct exec_run *run, uint32_t number, unsigned int i)
{
	uint32_t header = run->program->blocks[number].header;

	return exec_operand_list(run, header)[run->program->cmds[header].num_inputs + i];
}

/* Input @i of a block is @value, which is operand @operand of command @index. */
static int pass_input(struct exec_run *run, uint32_t index, unsigned int operand,
		      uint32_t number, unsigned int i, const struct tensor *value)
{
	uint32_t inner = block_input(run, number, i);

	if (run->dynamic && dynamic_pass_shape(run, index, operand, inner, value))
		return -1;
	exec_tensor(run, inner)->data = value->data;
	return 0;
}

/* Say where output @i of a block goes. */
static void set_output_home(struct exec_run *run, uint32_t number, unsigned int i,
			    struct home home)
{
	uint32_t t = block_output(run, number, i);

	if (run->dynamic)
		run->engine->exec.homes[t] = home;
	else
		exec_tensor(run, t)->data = home.data;
}

/* A condition of a branch or loop: one element, once its shape is known. */
static int check_condition(struct exec_run *run, uint32_t index, unsigned int operand,
			   const struct tensor *t)
{
	if (t->rank == 1 && t->dims[0] == 1)
		return 0;
	return exec_op_failed(run, index, NNPU_REASON_DIMENSION, operand);
}

static bool is_true(const struct tensor *condition)
{
	return *(const uint8_t *)condition->data != 0;
}

/* Branches. */

static int run_branch(struct exec_run *run, uint32_t index)
{
	const struct program_cmd *cmd = &run->program->cmds[index];
	struct tensor **in = run->engine->exec.operands + cmd->operands;
	struct tensor **out = in + cmd->num_inputs;
	bool known = !run->dynamic || dynamic_outputs_known(run, index);
	uint32_t number;
	unsigned int i;

	if (check_condition(run, index, 0, in[0]))
		return -1;
	number = cmd->target[is_true(in[0]) ? 0 : 1];
	if (run->dynamic && dynamic_reset_block(run, number))
		return -1;
	for (i = 1; i < cmd->num_inputs; i++)
		if (exec_pace(run, PASS_UNITS) || pass_input(run, index, i, number, i - 1, in[i]))
			return -1;
	for (i = 0; i < cmd->num_outputs; i++) {
		set_output_home(run, number, i, known ?
				(struct home) { .outer = out[i], .data = out[i]->data } :
				dynamic_output_home(run, index, cmd->num_inputs + i,
						    run->next_chunk + i));
		if (exec_pace(run, PASS_UNITS))
			return -1;
	}
	/* Their chunks stay in use until the block with the branch ends. */
	if (!known)
		run->next_chunk += cmd->num_outputs;
	if (run_block(run, number))
		return -1;
	for (i = 0; !known && i < cmd->num_outputs; i++)
		if (exec_pace(run, PASS_UNITS) ||
		    dynamic_set_output(run, index, cmd->num_inputs + i,
				       exec_tensor(run, block_output(run, number, i))))
			return -1;
	return 0;
}

/* Loops. */

/* A loop that runs. */
struct loop {
	uint32_t index;
	const struct program_cmd *cmd;
	struct tensor **in;		/* of the command: inputs, then outputs */
	unsigned int num_carried;
	uint32_t values;		/* first one in exec.values */
	uint32_t chunks;		/* dynamic: first chunk for condition and values */
	uint64_t rounds;		/* of the body, done */
};

/* What input @i of the next block is. */
static const struct tensor *loop_value(const struct exec_run *run, const struct loop *l,
				       unsigned int i)
{
	if (!l->rounds || i >= l->num_carried)
		return l->in[i];
	return &run->engine->exec.values[l->values + i];
}

static int loop_enter(struct exec_run *run, const struct loop *l, uint32_t number)
{
	unsigned int i;

	if (run->dynamic && dynamic_reset_block(run, number))
		return -1;
	for (i = 0; i < l->cmd->num_inputs; i++)
		if (exec_pace(run, PASS_UNITS) ||
		    pass_input(run, l->index, i, number, i, loop_value(run, l, i)))
			return -1;
	return 0;
}

static int run_condition(struct exec_run *run, const struct loop *l, bool *go_on)
{
	uint32_t number = l->cmd->target[0];
	const struct tensor *t = exec_tensor(run, block_output(run, number, 0));
	struct home home = { .chunk = l->chunks };

	if (!run->dynamic)
		home.data = run->engine->exec.scratch[l->index];
	if (loop_enter(run, l, number))
		return -1;
	set_output_home(run, number, 0, home);
	if (run_block(run, number) || check_condition(run, l->index, NNPU_OPERAND_NONE, t))
		return -1;
	*go_on = is_true(t);
	return 0;
}

/*
 * Where the body writes value @i. Each value has two places, used in turn: two chunks
 * (dynamic), or the loop's output and a part of its scratch memory (planned), or two
 * parts of that if the loop has no such output. @*offset goes through the scratch memory.
 */
static struct home loop_home(const struct exec_run *run, const struct loop *l, unsigned int i,
			     uint64_t *offset)
{
	const struct exec_state *x = &run->engine->exec;
	bool odd = l->rounds & 1, is_output = i < l->cmd->num_outputs;
	uint8_t *scratch;
	uint64_t size;

	if (run->dynamic)
		return (struct home) { .chunk = l->chunks + 1 + 2 * i + odd };
	scratch = (uint8_t *)x->scratch[l->index] + *offset;
	size = tensor_round_up(l->in[i]->bytes);
	*offset += is_output ? size : 2 * size;
	if (odd)
		return (struct home) { .data = scratch };
	return (struct home) {
		.data = is_output ? l->in[l->cmd->num_inputs + i]->data : scratch + size,
	};
}

static int run_body(struct exec_run *run, const struct loop *l)
{
	uint32_t number = l->cmd->target[1];
	struct exec_state *x = &run->engine->exec;
	/* The condition comes first in the scratch memory. */
	uint64_t offset = TENSOR_ALIGN;
	unsigned int i;

	if (loop_enter(run, l, number))
		return -1;
	for (i = 0; i < l->num_carried; i++) {
		set_output_home(run, number, i, loop_home(run, l, i, &offset));
		if (exec_pace(run, PASS_UNITS))
			return -1;
	}
	if (run_block(run, number))
		return -1;
	for (i = 0; i < l->num_carried; i++) {
		x->values[l->values + i] = *exec_tensor(run, block_output(run, number, i));
		if (exec_pace(run, PASS_UNITS))
			return -1;
	}
	return 0;
}

static int check_timeout(struct exec_run *run, uint32_t index)
{
	if (job_clock(run->engine) < run->loop_end_ns)
		return 0;
	return verdict_set(run->verdict, NNPU_STATUS_LOOP_TIMEOUT, NNPU_REASON_NONE, index,
			   NNPU_OPERAND_NONE);
}

static int loop_rounds(struct exec_run *run, struct loop *l)
{
	bool go_on;

	for (;; l->rounds++) {
		if (run_condition(run, l, &go_on))
			return -1;
		if (!go_on)
			return 0;
		if (check_timeout(run, l->index) || run_body(run, l))
			return -1;
	}
}

/* Output @i of the loop is the value it ended with. @home: of one without memory yet. */
static int loop_output(struct exec_run *run, const struct loop *l, unsigned int i,
		       const struct home *home)
{
	const struct tensor *value = loop_value(run, l, i);
	struct tensor *out = l->in[l->cmd->num_inputs + i];
	struct exec_state *x = &run->engine->exec;

	if (run->dynamic &&
	    dynamic_place_output(run, l->index, l->cmd->num_inputs + i, value, home))
		return -1;
	if (out->bytes && out->data != value->data) {
		x->work.copies++;
		return copy(run, out->data, value->data, out->bytes);
	}
	return 0;
}

static int run_loop(struct exec_run *run, uint32_t index)
{
	const struct program *p = run->program;
	const struct program_cmd *cmd = &p->cmds[index];
	bool known = !run->dynamic || dynamic_outputs_known(run, index);
	bool outermost = !run->loop_end_ns;
	struct exec_state *x = &run->engine->exec;
	uint32_t outputs = run->next_chunk;
	struct loop l = {
		.index = index,
		.cmd = cmd,
		.in = x->operands + cmd->operands,
		.num_carried = p->cmds[p->blocks[cmd->target[1]].header].num_outputs,
		.values = run->num_values,
		.chunks = outputs + (known ? 0 : cmd->num_outputs),
	};
	unsigned int i;

	run->num_values += l.num_carried;
	if (!exec_charged_room(run->engine, run->ctx, &x->tables.values, (void **)&x->values,
			       &x->max_values, run->num_values, sizeof(*x->values)))
		return exec_no_memory(run);
	run->next_chunk = l.chunks + 1 + 2 * l.num_carried;
	if (outermost)
		run->loop_end_ns = job_clock(run->engine) +
				   run->loop_timeout_ns;
	if (loop_rounds(run, &l))
		return -1;
	for (i = 0; i < cmd->num_outputs; i++) {
		struct home home = known ? (struct home) { 0 } :
			dynamic_output_home(run, index, cmd->num_inputs + i, outputs + i);

		if (exec_pace(run, PASS_UNITS) || loop_output(run, &l, i, known ? NULL : &home))
			return -1;
	}
	/* Outputs with a chunk of their own keep it until the block with the loop ends. */
	run->next_chunk = l.chunks;
	run->num_values = l.values;
	if (outermost)
		run->loop_end_ns = 0;
	return 0;
}

/* Commands. */

static int run_control(struct exec_run *run, uint32_t index)
{
	return run->program->cmds[index].opcode == NNPU_CMD_BRANCH ? run_branch(run, index) :
								      run_loop(run, index);
}

static int run_command(struct exec_run *run, uint32_t index)
{
	bool control = cmd_is_control(&run->program->cmds[index]);
	uint64_t start = 0;

	if (op_progress(&run->engine->progress))
		return exec_ended(run);
	if (run->max_profile) {
		start = job_clock(run->engine);
		if (control)
			exec_profile_begin(run, index, start);
	}
	if (control ? run_control(run, index) : run_operation(run, index))
		return -1;
	if (run->max_profile)
		exec_profile_end(run, index, start);
	return 0;
}

/* The program. */

/* The tables of the engine for a planned program; they stay if they are for it already. */
static int bind_planned(struct exec_run *run, uint8_t *base)
{
	struct exec_state *x = &run->engine->exec;
	const struct program *p = run->program;
	uint32_t i;

	if (x->bound == p->serial && x->bound_base == base)
		return 0;
	slots_release(&run->engine->slots);
	if (exec_bind(run))
		return -1;
	for (i = 0; i < p->num_tensors; i++) {
		uint32_t place = p->tensors[i].place;

		if (place != PLACE_NONE)
			x->tensors[place].data = base + p->offsets[place];
		if (exec_pace(run, 4))
			return -1;
	}
	for (i = 0; i < p->num_cmds; i++) {
		if (p->cmds[i].scratch)
			x->scratch[i] = base + p->offsets[p->num_places + i];
		if (exec_pace(run, 4))
			return -1;
	}
	x->bound = p->serial;
	x->bound_base = base;
	return 0;
}

static int run_planned(struct exec_run *run)
{
	uint8_t *base = exec_chunk(run->engine, run->ctx, 0, run->program->arena_size, true);

	if (!base)
		return exec_no_memory(run);
	if (bind_planned(run, base))
		return -1;
	run->shapes_valid = true;
	return exec_read_inputs(run) || run_block(run, 0) ? -1 : 0;
}

static int run_dynamic(struct exec_run *run)
{
	int ret = dynamic_begin(run);

	if (!ret)
		ret = run_block(run, 0);
	dynamic_end(run);
	return ret;
}

/* Charge for the tables that this run needs, whether or not the engine has them already. */
static bool charge_tables(struct exec_run *run)
{
	const struct program *p = run->program;
	struct exec_state *x = &run->engine->exec;
	uint32_t records = run->max_profile < p->num_cmds ? run->max_profile : p->num_cmds;
	uint64_t bytes = (uint64_t)p->num_places * sizeof(*x->tensors) +
			 (uint64_t)p->num_operands * sizeof(*x->operands) +
			 (uint64_t)p->num_cmds * sizeof(*x->scratch);

	if (run->dynamic && p->num_blocks > 1)
		bytes += (uint64_t)p->num_tensors * sizeof(*x->homes);
	if (records) {
		bytes += (uint64_t)records * sizeof(*x->profile);
		if (p->num_blocks > 1)
			bytes += (uint64_t)p->num_cmds * sizeof(*x->profile_of);
	}
	if (!exec_charge(run->engine, run->ctx, &x->tables.program, bytes))
		return false;
	x->tables.runs = p;
	x->tables.dynamic = run->dynamic;
	x->tables.records = records;
	return true;
}

int exec_program(struct exec_run *run)
{
	const struct program *p = run->program;
	uint32_t i;

	run->dynamic = !p->fixed;
	for (i = 0; i < p->num_inputs; i++)
		if (le16toh(run->args[i].flags) & NNPU_ARG_NO_VALUE)
			run->dynamic = true;
	if (!charge_tables(run))
		return exec_no_memory(run);
	if (exec_profile_init(run))
		return -1;
	begin_calls(run, &run->call, &run->error);
	return run->dynamic ? run_dynamic(run) : run_planned(run);
}
