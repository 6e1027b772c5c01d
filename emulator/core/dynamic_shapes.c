// SPDX-License-Identifier: MIT
/*
 * Finding shapes while a program runs, and memory for the tensors that got one.
 *
 * The commands of a block run in batches: infer shapes as far as the values at hand
 * allow, plan memory for what these commands write, execute them, go on. One batch is
 * enough unless a shape depends on a computed value. A control command whose outputs have
 * unknown shapes is a batch by itself, without a plan.
 *
 * A batch goes where tensors of earlier batches of the block were, and takes a chunk of the arena for
 * the rest. An output of a block goes where its struct home
 * says: into the memory of the tensor it stands for, if the shape of that is known, else
 * into a chunk of its own.
 */
#include <stdlib.h>

#include "device_state.h"
#include "dynamic_shapes.h"
#include "tensor_shape.h"
#include "ops/pace.h"

/* A batch is placed beside so many tensors of earlier ones: what that takes is little then. */
#define PLACED_MAX	256u

/* Shapes. */

/* Number of the program's output that is tensor @t. */
static unsigned int output_number(const struct program *p, uint32_t t)
{
	unsigned int i;

	for (i = 0; i < p->num_outputs; i++)
		if (p->outputs[i] == t)
			break;
	return i;
}

/* Output @operand of a command against what the program declares. */
static int check_declared(struct exec_run *run, uint32_t index, unsigned int operand,
			  const struct tensor *actual)
{
	const struct program *p = run->program;
	uint32_t t = exec_operand_list(run, index)[operand];

	if (shapes_compatible(&p->tensors[t], actual))
		return 0;
	if (p->tensors[t].kind != NNPU_TENSOR_OUTPUT)
		return exec_op_failed(run, index, NNPU_REASON_SHAPE_MISMATCH, operand);
	return verdict_set(run->verdict, NNPU_STATUS_ARG_SHAPE, NNPU_REASON_SHAPE_MISMATCH,
			   p->num_inputs + output_number(p, t), NNPU_OPERAND_NONE);
}

static void set_shape(struct tensor *t, const struct tensor *from)
{
	t->rank = from->rank;
	t->rank_known = from->rank_known;
	memcpy(t->dims, from->dims, sizeof(t->dims));
	t->shape_known = from->shape_known;
	t->bytes = from->bytes;
}

bool dynamic_outputs_known(const struct exec_run *run, uint32_t index)
{
	const struct program_cmd *cmd = &run->program->cmds[index];
	const uint32_t *out = exec_operand_list(run, index) + cmd->num_inputs;
	unsigned int i;

	for (i = 0; i < cmd->num_outputs; i++)
		if (!run->program->tensors[out[i]].shape_known)
			return false;
	return true;
}

/* Batches. */

/* What to count for a look at the operands of a command. */
static size_t call_units(const struct exec_run *run, uint32_t index)
{
	const struct program_cmd *cmd = &run->program->cmds[index];

	return 32 + 8 * ((size_t)cmd->num_inputs + cmd->num_outputs);
}

/* Infer from command @from on; *@end is the first that needs a value not there yet. */
static int infer_batch(struct exec_run *run, uint32_t number, uint32_t from, uint32_t *end)
{
	struct exec_state *x = &run->engine->exec;
	const struct program *p = run->program;
	struct op_error error;
	struct op_call call;
	unsigned int o;
	uint32_t i;
	int ret;

	for (i = from; i < p->blocks[number].end; i++) {
		if (cmd_is_control(&p->cmds[i])) {
			if (!dynamic_outputs_known(run, i))
				break;
			if (exec_pace(run, call_units(run, i)))
				return -1;
			continue;
		}
		if (exec_pace(run, !p->cmds[i].infer && !run->omitted ? 4 : call_units(run, i)))
			return -1;
		if (!p->cmds[i].infer && !run->omitted)
			continue;
		exec_make_call(run, i, &call, &error);
		if (!exec_charged_room(run->engine, run->ctx, &x->tables.saved,
				       (void **)&x->saved, &x->max_saved, call.num_outputs,
				       sizeof(*x->saved)))
			return exec_no_memory(run);
		x->work.inferences++;
		ret = shapes_infer(&call, x->saved, run->engine->dev->props.max_operand_size,
				   &run->pace);
		/* An abort in it leaves no shape to go on with. */
		if (job_is_to_end(&run->engine->progress))
			return exec_ended(run);
		if (ret == OP_NO_MEMORY)
			return exec_no_memory(run);
		if (ret < 0)
			return exec_op_failed(run, i, error.reason, error.operand);
		if (ret)
			break;
		for (o = 0; o < call.num_outputs; o++)
			if (exec_pace(run, 16) ||
			    check_declared(run, i, call.num_inputs + o, call.out[o]))
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
				.tensor = p->num_tensors + i, .first = i - from,
				.last = i - from, .size = bytes,
			};
		if (exec_pace(run, call_units(run, i)))
			return -1;
	}
	return 0;
}

static uint8_t *take_chunk(struct exec_run *run, uint32_t index, uint64_t size)
{
	return exec_chunk(run->engine, run->ctx, index, size, run->program->fixed);
}

/* Memory for output @operand of command @index, whose shape is known now. */
static int place_at_home(struct exec_run *run, uint32_t index, unsigned int operand,
			 const struct home *home)
{
	uint32_t t = exec_operand_list(run, index)[operand];
	struct tensor *tensor = exec_tensor(run, t);

	if (home->data && !shapes_compatible(home->outer, tensor))
		return exec_op_failed(run, index, NNPU_REASON_SHAPE_MISMATCH, operand);
	tensor->data = home->data ? home->data : take_chunk(run, home->chunk, tensor->bytes);
	return tensor->data ? 0 : exec_no_memory(run);
}

static int by_offset(const void *a, const void *b)
{
	const struct plan_item *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/*
 * What a batch from command @from on has to be placed beside: the tensors of earlier batches that are
 * still needed, and the end of each chunk, where nothing may lie across. *@base is behind all of them.
 * Returns how many there are. If they are too many, their chunks are not used again.
 */
static uint32_t fixed_items(struct exec_run *run, struct dynamic_block *d, uint32_t from,
			    uint64_t *base)
{
	struct plan_item *items = run->items;
	uint32_t i, n = d->first_placed, count;
	unsigned int k;

	for (i = d->first_placed; i < run->num_placed && !op_pace(&run->pace, 8); i++) {
		struct plan_item *placed = &run->placed[i];
		uint32_t last = *program_last_use(run->program, placed->tensor);

		if (last < from)
			continue;
		placed->last = last - from;
		run->placed[n++] = *placed;
	}
	run->num_placed = n;
	count = n - d->first_placed;
	*base = 0;
	if (count > PLACED_MAX) {
		run->num_placed = d->first_placed;
		d->num_chunks = 0;
		return 0;
	}
	for (i = 0; i < count && !op_pace(&run->pace, 8); i++)
		items[i] = run->placed[d->first_placed + i];
	for (k = 0; k < d->num_chunks; k++) {
		items[count++] = (struct plan_item) {
			.offset = d->chunks[k].end, .size = TENSOR_ALIGN, .last = UINT32_MAX,
		};
		*base = d->chunks[k].end + TENSOR_ALIGN;
	}
	qsort(items, count, sizeof(*items), by_offset);
	return count;
}

/* The chunk for what is placed from @base to @end. False: there is no memory. */
static bool batch_chunk(struct exec_run *run, struct dynamic_block *d, uint64_t base, uint64_t end,
			struct batch_chunk *chunk)
{
	*chunk = (struct batch_chunk) { .start = base, .end = end };
	if (end == base && d->num_chunks)
		return true;
	chunk->base = take_chunk(run, run->next_chunk++, end - base);
	if (!chunk->base)
		return false;
	if (d->num_chunks < sizeof(d->chunks) / sizeof(d->chunks[0]))
		d->chunks[d->num_chunks++] = *chunk;
	return true;
}

/* The bytes at a place of the plan; @last is the newest chunk. */
static uint8_t *batch_bytes(const struct dynamic_block *d, const struct batch_chunk *last,
			    uint64_t offset)
{
	const struct batch_chunk *c = last;
	unsigned int k;

	if (offset < last->start || !last->base)
		for (k = 0; k < d->num_chunks && offset >= d->chunks[k].start; k++)
			c = &d->chunks[k];
	return c->base + (offset - c->start);
}

/* Tensors of a batch that later ones read are to be placed beside. */
static void keep_place(struct exec_run *run, const struct dynamic_block *d,
		       const struct batch_chunk *last, const struct plan_item *item, uint32_t end)
{
	const struct batch_chunk *known = d->num_chunks ? &d->chunks[d->num_chunks - 1] : NULL;

	if (*program_last_use(run->program, item->tensor) < end)
		return;
	/* A chunk that is not among those that are used again. */
	if (last->base && item->offset >= last->start && (!known || known->base != last->base))
		return;
	run->placed[run->num_placed] = *item;
	run->placed[run->num_placed++].first = 0;
}

/* Memory for the inputs (@first) and what the commands [from, end) write. */
static int place_batch(struct exec_run *run, struct dynamic_block *d, uint32_t from, uint32_t end,
		       bool first)
{
	struct exec_state *x = &run->engine->exec;
	const struct program *p = run->program;
	struct batch_chunk chunk;
	uint64_t base, total;
	uint32_t fixed = fixed_items(run, d, from, &base), i, n = 0;
	struct plan_item *items = run->items + fixed;

	for (i = 0; first && i < p->num_inputs; i++)
		items[n++] = (struct plan_item) { .tensor = p->inputs[i] };
	for (i = from; i < end; i++) {
		unsigned int o, num_inputs = p->cmds[i].num_inputs;
		const uint32_t *out = exec_operand_list(run, i) + num_inputs;

		for (o = 0; o < p->cmds[i].num_outputs; o++) {
			if (p->tensors[out[o]].role != ROLE_BLOCK_OUTPUT)
				items[n++] = (struct plan_item) {
					.tensor = out[o], .first = i - from,
				};
			else if (place_at_home(run, i, num_inputs + o, &x->homes[out[o]]))
				return -1;
			if (exec_pace(run, 16))
				return -1;
		}
		if (exec_pace(run, 4))
			return -1;
	}
	for (i = 0; i < n; i++) {
		uint32_t last = *program_last_use(p, items[i].tensor);

		/* What a later batch reads stays. */
		items[i].last = (last < end ? last : end) - from;
		items[i].size = tensor_room(p, items[i].tensor, exec_tensor(run, items[i].tensor));
		if (exec_pace(run, 8))
			return -1;
	}
	if (plan_scratch(run, from, end, items, &n))
		return -1;
	total = plan_place_beside(run->items, fixed, fixed + n, base, &run->pace);
	if (run->pace.ended)
		return exec_ended(run);
	if (!batch_chunk(run, d, base, total, &chunk))
		return exec_no_memory(run);
	for (i = 0; i < n; i++) {
		uint8_t *at = batch_bytes(d, &chunk, items[i].offset);

		if (items[i].tensor >= p->num_tensors) {
			x->scratch[items[i].tensor - p->num_tensors] = at;
		} else if (exec_tensor(run, items[i].tensor)->kind != NNPU_TENSOR_NO_VALUE) {
			exec_tensor(run, items[i].tensor)->data = at;
			keep_place(run, d, &chunk, &items[i], end);
		}
		if (exec_pace(run, 16))
			return -1;
	}
	return 0;
}

int dynamic_batch(struct exec_run *run, struct dynamic_block *d, uint32_t from, uint32_t *end)
{
	/* The first batch of the main part reads the inputs, even if it has no commands. */
	bool first = !run->inputs_read;

	if (infer_batch(run, d->number, from, end))
		return -1;
	if (*end == from && !first) {
		if (!cmd_is_control(&run->program->cmds[from]))
			return exec_op_failed(run, from, NNPU_REASON_UNKNOWN_SHAPE,
					      NNPU_OPERAND_NONE);
		*end = from + 1;
		return 0;
	}
	if (place_batch(run, d, from, *end, first))
		return -1;
	return first ? exec_read_inputs(run) : 0;
}

/* Control flow. */

int dynamic_reset_block(struct exec_run *run, uint32_t number)
{
	const struct program *p = run->program;
	const struct program_block *b = &p->blocks[number];
	uint32_t i, o;

	for (i = b->first; i < b->end; i++) {
		const uint32_t *out = exec_operand_list(run, i) + p->cmds[i].num_inputs;

		for (o = 0; o < p->cmds[i].num_outputs; o++) {
			*exec_tensor(run, out[o]) = p->tensors[out[o]];
			if (exec_pace(run, 32))
				return -1;
		}
		if (exec_pace(run, 4))
			return -1;
	}
	return 0;
}

int dynamic_pass_shape(struct exec_run *run, uint32_t index, unsigned int operand,
		       uint32_t inner, const struct tensor *value)
{
	if (!shapes_compatible(&run->program->tensors[inner], value))
		return exec_op_failed(run, index, NNPU_REASON_SHAPE_MISMATCH, operand);
	set_shape(exec_tensor(run, inner), value);
	return 0;
}

struct home dynamic_output_home(const struct exec_run *run, uint32_t index,
				unsigned int operand, uint32_t chunk)
{
	uint32_t t = exec_operand_list(run, index)[operand];

	if (run->program->tensors[t].role == ROLE_BLOCK_OUTPUT)
		return run->engine->exec.homes[t];
	return (struct home) { .chunk = chunk };
}

int dynamic_set_output(struct exec_run *run, uint32_t index, unsigned int operand,
		       const struct tensor *value)
{
	uint32_t t = exec_operand_list(run, index)[operand];
	struct tensor *out = exec_tensor(run, t);

	if (check_declared(run, index, operand, value))
		return -1;
	set_shape(out, value);
	out->data = value->data;
	return 0;
}

int dynamic_place_output(struct exec_run *run, uint32_t index, unsigned int operand,
			 const struct tensor *value, const struct home *home)
{
	uint32_t t = exec_operand_list(run, index)[operand];

	if (check_declared(run, index, operand, value))
		return -1;
	if (!home)
		return 0;
	set_shape(exec_tensor(run, t), value);
	return place_at_home(run, index, operand, home);
}

/* The run. */

static void set_input_shape(const struct nnpu_arg *arg, struct tensor *t)
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

static int set_inputs(struct exec_run *run)
{
	const struct program *p = run->program;
	unsigned int i;

	for (i = 0; i < p->num_inputs; i++) {
		struct tensor *t = exec_tensor(run, p->inputs[i]);

		if (exec_pace(run, 32))
			return -1;
		if (le16toh(run->args[i].flags) & NNPU_ARG_NO_VALUE) {
			t->kind = NNPU_TENSOR_NO_VALUE;
			t->bytes = 0;
			run->omitted = true;
			continue;
		}
		set_input_shape(&run->args[i], t);
		/* Its size was checked with the argument. */
		tensor_settle(t, run->engine->dev->props.max_operand_size);
	}
	return 0;
}

/* Check the commands again that read an operand which this job omits. */
static int check_omitted(struct exec_run *run)
{
	const struct program *p = run->program;
	uint32_t i, j;

	for (i = 0; i < p->num_cmds; i++) {
		struct op_error error;
		struct op_call call;

		if (exec_pace(run, call_units(run, i)))
			return -1;
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

/* Tensors that are placed, at most. */
static size_t max_placed(const struct program *p)
{
	return p->num_inputs + (size_t)p->num_operands;
}

/* Room to plan one batch, beside those before it, and for what is placed. */
static size_t items_bytes(const struct program *p)
{
	const size_t ends = sizeof(((struct dynamic_block *)0)->chunks) / sizeof(struct batch_chunk);

	return (2 * max_placed(p) + p->num_cmds + ends + 1) * sizeof(struct plan_item);
}

int dynamic_begin(struct exec_run *run)
{
	struct exec_state *x = &run->engine->exec;
	const struct program *p = run->program;

	/* To find shapes may take long. */
	slots_release(&run->engine->slots);
	if (exec_bind(run))
		return -1;
	if (p->num_blocks > 1 && !exec_room(run->engine, (void **)&x->homes, &x->max_homes,
					    p->num_tensors, sizeof(*x->homes)))
		return exec_no_memory(run);
	run->shapes_valid = true;
	if (set_inputs(run) || (run->omitted && check_omitted(run)))
		return -1;
	x->work.allocations++;
	run->items = op_take(&run->engine->progress, items_bytes(p), NULL);
	if (!run->items)
		return exec_no_memory(run);
	run->placed = run->items + max_placed(p) + p->num_cmds +
		      sizeof(((struct dynamic_block *)0)->chunks) / sizeof(struct batch_chunk) + 1;
	return 0;
}

void dynamic_end(struct exec_run *run)
{
	op_give(&run->engine->progress, run->items, items_bytes(run->program));
	run->items = NULL;
}
