// SPDX-License-Identifier: MIT
/*
 * Preparing the commands of a program that is being loaded, after all of them have been checked:
 * operations convert constants, and which memory constants and weights need is known then.
 */
#include "device_state.h"
#include "loader.h"

/* How often each tensor is an operand. */
static int count_uses(struct loader *l, uint32_t *uses)
{
	const struct program *p = l->p;
	uint32_t i;

	for (i = 0; i < p->num_operands; i++) {
		uses[p->operands[i]]++;
		if (load_pace(l, 4))
			return -1;
	}
	return 0;
}

/*
 * Drop one use of a constant. Free the constant after the last one; a small one if its values can
 * be had back, for an image has no small constants in the form of the device.
 */
static void drop_use(struct loader *l, uint32_t index, uint32_t *uses, bool undone)
{
	struct tensor *t = &l->p->tensors[index];

	if (--uses[index])
		return;
	if (constant_is_single(t))
		load_drop_constant(l, t);
	else if (undone)
		t->data = NULL;
}

static bool is_kept_small(const struct tensor *t)
{
	return tensor_is_const(t) && !constant_is_single(t) && t->data;
}

/* What is left of pages of the program. */
struct rest {
	uint8_t *at;
	uint8_t *end;
};

/*
 * Small constants come together at *@at, which moves on behind them, but for those that @rest has room
 * for; it may be NULL.
 */
static int move_constants(struct loader *l, uint8_t **at, struct rest *rest)
{
	struct program *p = l->p;
	uint32_t i;

	for (i = 0; i < p->num_tensors; i++) {
		struct tensor *t = &p->tensors[i];
		uint8_t *to;

		if (load_pace(l, 32))
			return -1;
		if (!is_kept_small(t))
			continue;
		if (rest && constant_begin(t, (uintptr_t)rest->at) + t->bytes <= (uintptr_t)rest->end)
			to = constant_at(t, &rest->at);
		else
			to = constant_at(t, at);
		if (to != t->data && load_copy(l, to, t->data, t->bytes))
			return -1;
		t->data = to;
	}
	return 0;
}

/* What has no room in pages with what commands keep moves together where it is. */
static int gather_constants(struct loader *l)
{
	uint8_t *end = l->constants;
	struct rest rest;
	size_t bytes;

	rest.at = region_take_rest(&l->p->region, &bytes);
	if (rest.at)
		rest.end = rest.at + bytes;
	if (move_constants(l, &end, rest.at ? &rest : NULL))
		return -1;
	load_keep_constants(l, (size_t)(end - l->constants));
	return 0;
}

/*
 * Small constants that commands still need: copied if pages with what commands keep have room for all of
 * them. Those in memory of the load are copied, too, if a part of that memory would cost as much as all
 * of it.
 */
static int keep_constants(struct loader *l)
{
	struct program *p = l->p;
	uint8_t *data = NULL;
	uint64_t bytes = 0;
	uint32_t i;

	for (i = 0; i < p->num_tensors; i++) {
		const struct tensor *t = &p->tensors[i];

		if (is_kept_small(t))
			bytes = constant_begin(t, bytes) + t->bytes;
		if (load_pace(l, 4))
			return -1;
	}
	if (bytes)
		data = region_take(&p->region, bytes, REGION_ALIGN);
	if (!data && (bytes || l->constants_behind) && load_may_keep_constants(l, bytes))
		return gather_constants(l);
	if (!data && l->constants_behind)
		return 0;
	if (bytes && !data)
		data = load_take(l, bytes);
	if (bytes && (!data || move_constants(l, &data, NULL)))
		return -1;
	if (l->constants_behind)
		load_keep_constants(l, 0);
	return 0;
}

/* Are the weights of a command written by one command, and read by this one alone? */
static bool owns_weights(const struct loader *l, const struct program_cmd *cmd,
			 const uint32_t *uses)
{
	const struct program *p = l->p;
	uint32_t t;

	if (!cmd->desc->native_weights || cmd->num_inputs < 2)
		return false;
	t = p->operands[cmd->operands + 1];
	/* What is an input of the program or of a block is others' as well; see prepare_command(). */
	return p->tensors[t].kind == NNPU_TENSOR_TEMPORARY && p->tensors[t].role == ROLE_NONE &&
	       uses[t] == 2;
}

/* May a command that reads the output decode the input, a constant, by itself? */
static void find_decoder(struct loader *l, uint32_t index)
{
	const struct program_cmd *cmd = &l->p->cmds[index];
	uint32_t out = l->p->operands[cmd->operands + cmd->num_inputs];
	const struct tensor *t = &l->p->tensors[out], *from = l->operands[0];

	if (cmd->desc->decode && !cmd->infer && tensor_is_const(from) && from->shape_known &&
	    t->type == NNPU_TYPE_TENSOR_FLOAT32 && t->shape_known)
		l->decoders[out] = index + 1;
}

/*
 * Weights that are computed from a constant, for command @index alone. They have no place: the command
 * decodes the constant, which is smaller, while it packs them.
 */
static void decode_weights(struct loader *l, uint32_t index)
{
	struct program *p = l->p;
	struct program_cmd *cmd = &p->cmds[index];
	uint32_t t = p->operands[cmd->operands + 1];

	cmd->decoder = l->decoders[t];
	p->cmds[cmd->decoder - 1].left_out = true;
	p->tensors[t].role = ROLE_CODED;
}

/*
 * May the command convert input @i, which nobody else needs, in place? Small constants move when all
 * commands are prepared: they are none for what is packed, which stays where it is.
 */
static bool may_convert(const struct program_cmd *cmd, uint32_t i, const struct tensor *t)
{
	if (cmd->desc->native_weights && i == 1)
		return constant_is_single(t);
	return tensor_is_const(t);
}

static int prepare_command(struct loader *l, uint32_t index, uint32_t *uses)
{
	struct program_cmd *cmd = &l->p->cmds[index];
	const uint32_t *operands = l->p->operands + cmd->operands;
	struct op_error error;
	struct op_call call = load_make_call(l, cmd, &error);
	size_t bytes = 0;
	uint32_t i;

	/* Control commands have no operation. What they write may be in the place of another tensor. */
	if (!cmd->desc) {
		for (i = 0; i < cmd->num_outputs && !load_pace(l, 4); i++)
			uses[operands[cmd->num_inputs + i]]++;
		return l->pace.ended ? -1 : 0;
	}
	for (i = 0; i < (uint32_t)cmd->num_inputs + cmd->num_outputs; i++) {
		l->operands[i] = &l->p->tensors[operands[i]];
		if (i < cmd->num_inputs && i < 64 && uses[operands[i]] == 1 &&
		    may_convert(cmd, i, l->operands[i]))
			call.own |= 1ull << i;
	}
	if (cmd->desc->prepare && cmd->desc->prepare(&call, &bytes)) {
		if (error.reason == NNPU_REASON_NONE)
			return load_no_memory(l);
		return load_op_refused(l, index, &error);
	}
	cmd->prepared = call.prepared;
	cmd->prepared_pages = (uint32_t)(bytes >> NNPU_PAGE_SHIFT);
	/* It is charged already. */
	l->p->memory += bytes;
	for (i = 0; i < cmd->num_inputs && i < 64; i++)
		if (call.released >> i & 1)
			drop_use(l, operands[i], uses, cmd->desc->unprepare);
	find_decoder(l, index);
	if (owns_weights(l, cmd, uses)) {
		if (l->decoders[operands[1]] && op_decodes_weights(&call)) {
			decode_weights(l, index);
		} else {
			cmd->owns_weights = true;
			l->p->tensors[operands[1]].role = ROLE_WEIGHTS;
		}
	}
	cmd->widened = op_wants_widening(&call);
	if (cmd->infer)
		return 0;
	/* How much scratch memory it needs may depend on the prepared object, and on this. */
	call.own = cmd->owns_weights ? 1u << 1 : 0;
	call.widened = cmd->widened;
	program_set_coded(l->p, cmd, &call);
	cmd->scratch = op_scratch(&call);
	if (cmd->scratch > l->dev->props.memory_size)
		return verdict_status(l->v, NNPU_STATUS_NO_MEMORY);
	return 0;
}

static int prepare_commands(struct loader *l)
{
	uint32_t *uses = l->uses;
	int ret = count_uses(l, uses);
	uint32_t i;

	for (i = 0; !ret && i < l->p->num_cmds; i++) {
		/* It has counted its work from zero. */
		bool prepared = l->p->cmds[i].desc && l->p->cmds[i].desc->prepare;

		ret = prepare_command(l, i, uses);
		/* What was prepared may be incomplete when the load is to end. */
		if (!ret)
			ret = load_pace(l, prepared ? OP_PACE_UNITS : 128);
	}
	return ret;
}

int load_prepare(struct loader *l)
{
	int ret;

	load_begin_prepare(l);
	ret = prepare_commands(l) || keep_constants(l) ? -1 : 0;
	load_end_prepare(l);
	return ret;
}
