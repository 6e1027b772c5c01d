// SPDX-License-Identifier: MIT
/*
 * Loading control flow: finds the blocks of a program, and checks that the operands of BRANCH
 * and LOOP fit the operands of the blocks they enter.
 *
 * A target lies behind the command that names it. So a block cannot enter itself, and all
 * commands that enter a block have been loaded before the block begins.
 */
#include "device_state.h"
#include "loader.h"
#include "program_image.h"
#include "tensor_shape.h"
#include "ops/extension.h"

/* Scales that are compared between two looks at op_pace(). */
#define COMPARE_PIECE	(1u << 16)

/* The operands of a block, from its BLOCK command in the image. */
struct block_operands {
	struct nnpu_command command;
	uint32_t number;
	uint32_t num_inputs;
	uint32_t num_outputs;
	bool ok;			/* false: BLOCK itself will be refused */
};

static int fault(struct loader *l, uint32_t index, unsigned int reason, unsigned int operand)
{
	return verdict_set(l->v, NNPU_STATUS_PROGRAM_COMMAND, reason, index, operand);
}

int control_find_blocks(struct loader *l)
{
	struct program *p = l->p;
	uint32_t i, n = 0;

	for (i = 0; i < p->num_cmds; i++) {
		struct nnpu_command c;

		if (load_pace(l, 8))
			return -1;
		image_get_command(l->image, &l->header, i, &c);
		if (le32toh(c.opcode) != NNPU_CMD_BLOCK)
			continue;
		p->blocks[n++].end = i;
		p->blocks[n].header = i;
		p->blocks[n].first = i + 1;
	}
	p->blocks[n].end = p->num_cmds;
	return 0;
}

static void get_signature(const struct loader *l, uint32_t block, struct block_operands *s)
{
	struct nnpu_command *c = &s->command;

	image_get_command(l->image, &l->header, l->p->blocks[block].header, c);
	s->number = block;
	s->num_inputs = le16toh(c->num_inputs);
	s->num_outputs = le16toh(c->num_outputs);
	s->ok = (uint64_t)le32toh(c->operands_first) + s->num_inputs + s->num_outputs <=
		le32toh(l->header.num_indexes);
}

/* Operand @i of a block, or NULL if there is no such tensor. */
static const struct tensor *block_operand(const struct loader *l, const struct block_operands *s,
					  uint32_t i)
{
	uint32_t t = image_get_index(l->image, &l->header, le32toh(s->command.operands_first) + i);

	return t < l->p->num_tensors ? &l->p->tensors[t] : NULL;
}

static const struct tensor *block_input(const struct loader *l, const struct block_operands *s,
					uint32_t i)
{
	return block_operand(l, s, i);
}

static const struct tensor *block_output(const struct loader *l, const struct block_operands *s,
					 uint32_t i)
{
	return block_operand(l, s, s->num_inputs + i);
}

/* Both are of one type. */
static bool same_channels(struct loader *l, const struct tensor *a, const struct tensor *b)
{
	uint32_t i, n, count = tensor_num_scales(a);

	if (a->channel_dim != b->channel_dim || count != tensor_num_scales(b))
		return false;
	for (i = 0; i < count; i += n) {
		n = count - i;
		n = n < COMPARE_PIECE ? n : COMPARE_PIECE;
		if (memcmp(a->channel_scales + i, b->channel_scales + i,
			   n * sizeof(*a->channel_scales)))
			return false;
		/* When the load is to end, it does not matter what the answer is. */
		if (op_pace(&l->pace, n))
			break;
	}
	return true;
}

/* Both are of one type. */
static bool same_quant(struct loader *l, const struct tensor *a, const struct tensor *b)
{
	const struct extension_type *t = extension_find_type(a->type);

	if (t && t->params_size)
		return !memcmp(a->params, b->params, t->params_size);
	if (tensor_is_per_channel(a))
		return same_channels(l, a, b);
	return a->scale == b->scale && a->zero_point == b->zero_point;
}

/* Can a value pass between these tensors? NULL: there is none, refused elsewhere. */
static int check_pair(struct loader *l, uint32_t index, unsigned int operand,
		      const struct tensor *a, const struct tensor *b)
{
	if (!a || !b)
		return 0;
	if (a->type != b->type)
		return fault(l, index, NNPU_REASON_TYPE, operand);
	if (a->rank_known && b->rank_known && a->rank != b->rank)
		return fault(l, index, NNPU_REASON_RANK, operand);
	if (!shapes_compatible(a, b))
		return fault(l, index, NNPU_REASON_SHAPE_MISMATCH, operand);
	if (load_pace(l, 32))
		return -1;
	if (!same_quant(l, a, b))
		return fault(l, index, NNPU_REASON_QUANT_MISMATCH, operand);
	return 0;
}

/* A condition is a TENSOR_BOOL8 of shape [1], as far as its shape is known. */
static int check_condition(struct loader *l, uint32_t index, unsigned int operand,
			   const struct tensor *t)
{
	if (!t)
		return 0;
	if (t->type != NNPU_TYPE_TENSOR_BOOL8)
		return fault(l, index, NNPU_REASON_TYPE, operand);
	if (t->rank_known && t->rank != 1)
		return fault(l, index, NNPU_REASON_RANK, operand);
	if (t->rank_known && t->dims[0] != 1 && (t->dims[0] || t->shape_known))
		return fault(l, index, NNPU_REASON_DIMENSION, operand);
	return 0;
}

/* The output is one of @a and @b: it gets the dimensions in which they agree. */
static void merge_output(const struct loader *l, struct tensor *out, const struct tensor *a,
			 const struct tensor *b)
{
	uint64_t max_bytes = l->dev->props.max_operand_size;
	struct tensor merged = *out;
	bool known = true;
	unsigned int i;

	if (out->shape_known || !a || !b || !a->rank_known || !b->rank_known ||
	    a->rank != b->rank)
		return;
	merged.rank = a->rank;
	merged.rank_known = true;
	for (i = 0; i < a->rank; i++) {
		if (!merged.dims[i] && a->dims[i] == b->dims[i])
			merged.dims[i] = a->dims[i];
		known &= merged.dims[i] != 0;
	}
	if (!known || !tensor_settle(&merged, max_bytes))
		return;
	*out = merged;
}

static int check_branch(struct loader *l, uint32_t index)
{
	struct program_cmd *cmd = &l->p->cmds[index];
	struct tensor **out = l->operands + cmd->num_inputs;
	struct block_operands s[2];
	uint32_t i, k;

	if (!cmd->num_inputs)
		return fault(l, index, NNPU_REASON_OPERAND_COUNT, NNPU_OPERAND_NONE);
	for (k = 0; k < 2; k++) {
		get_signature(l, cmd->target[k], &s[k]);
		if (s[k].num_inputs != cmd->num_inputs - 1u ||
		    s[k].num_outputs != cmd->num_outputs)
			return fault(l, index, NNPU_REASON_OPERAND_COUNT, NNPU_OPERAND_NONE);
	}
	if (check_condition(l, index, 0, l->operands[0]))
		return -1;
	if (!s[0].ok || !s[1].ok)
		return 0;
	for (k = 0; k < 2; k++) {
		for (i = 1; i < cmd->num_inputs; i++)
			if (check_pair(l, index, i, l->operands[i], block_input(l, &s[k], i - 1)))
				return -1;
		for (i = 0; i < cmd->num_outputs; i++)
			if (check_pair(l, index, cmd->num_inputs + i, out[i],
				       block_output(l, &s[k], i)))
				return -1;
	}
	for (i = 0; i < cmd->num_outputs; i++)
		merge_output(l, out[i], block_output(l, &s[0], i), block_output(l, &s[1], i));
	return 0;
}

static int check_loop(struct loader *l, uint32_t index)
{
	struct program_cmd *cmd = &l->p->cmds[index];
	struct tensor **out = l->operands + cmd->num_inputs;
	struct block_operands condition, body;
	uint32_t i, n = cmd->num_inputs;

	get_signature(l, cmd->target[0], &condition);
	get_signature(l, cmd->target[1], &body);
	if (condition.num_inputs != n || condition.num_outputs != 1 || body.num_inputs != n ||
	    body.num_outputs > n || cmd->num_outputs > body.num_outputs)
		return fault(l, index, NNPU_REASON_OPERAND_COUNT, NNPU_OPERAND_NONE);
	if (condition.ok &&
	    check_condition(l, index, NNPU_OPERAND_NONE, block_output(l, &condition, 0)))
		return -1;
	if (!condition.ok || !body.ok)
		return 0;
	for (i = 0; i < n; i++)
		if (check_pair(l, index, i, l->operands[i], block_input(l, &condition, i)) ||
		    check_pair(l, index, i, l->operands[i], block_input(l, &body, i)))
			return -1;
	for (i = 0; i < body.num_outputs; i++)
		if (check_pair(l, index, i, block_input(l, &body, i), block_output(l, &body, i)))
			return -1;
	for (i = 0; i < cmd->num_outputs; i++) {
		if (check_pair(l, index, n + i, out[i], block_output(l, &body, i)))
			return -1;
		/* If the condition is false at once, the output is the operand of the loop. */
		merge_output(l, out[i], l->operands[i], block_output(l, &body, i));
	}
	return 0;
}

static int check_control(struct loader *l, uint32_t index)
{
	struct program_cmd *cmd = &l->p->cmds[index];
	uint32_t i;

	for (i = 0; i < cmd->num_inputs; i++)
		if (l->operands[i]->kind == NNPU_TENSOR_NO_VALUE)
			return fault(l, index, NNPU_REASON_OMITTED, i);
	return cmd->opcode == NNPU_CMD_BRANCH ? check_branch(l, index) : check_loop(l, index);
}

/* Note that the current block enters @target. */
static void enter_from(struct loader *l, uint32_t target)
{
	struct program_block *b = &l->p->blocks[target];
	uint32_t depth = l->p->blocks[l->block].depth + 1;

	b->named = true;
	if (b->depth < depth)
		b->depth = depth;
}

static int begin_block(struct loader *l, uint32_t index)
{
	if (!l->p->blocks[l->block].named)
		return fault(l, index, NNPU_REASON_TARGET, NNPU_OPERAND_NONE);
	return 0;
}

int control_load(struct loader *l, uint32_t index)
{
	struct program *p = l->p;
	struct program_cmd *cmd = &p->cmds[index];
	uint32_t i;

	if (cmd->opcode == NNPU_CMD_BLOCK)
		return begin_block(l, index);
	for (i = 0; i < 2; i++)
		enter_from(l, cmd->target[i]);
	cmd->infer = true;
	if (check_control(l, index))
		return -1;
	cmd->infer = false;
	for (i = 0; i < cmd->num_outputs; i++)
		cmd->infer |= !l->operands[cmd->num_inputs + i]->shape_known;
	if (p->blocks[l->block].depth < MAX_DEPTH)
		return 0;
	return verdict_set(l->v, NNPU_STATUS_PROGRAM_UNSUPPORTED, NNPU_REASON_DEPTH, index,
			   NNPU_OPERAND_NONE);
}

int control_end_block(struct loader *l, uint32_t end)
{
	struct program *p = l->p;
	const struct program_cmd *cmd = &p->cmds[p->blocks[l->block].header];
	const uint32_t *out = p->operands + cmd->operands + cmd->num_inputs;
	uint32_t i;

	if (!l->block)
		return 0;
	for (i = 0; i < cmd->num_outputs; i++) {
		if (l->owner[out[i]] != l->block + 1)
			return fault(l, p->blocks[l->block].header, NNPU_REASON_NOT_WRITTEN,
				     cmd->num_inputs + i);
		*program_last_use(p, out[i]) = end;
	}
	return 0;
}

int control_recheck(struct loader *l, uint32_t index)
{
	const struct program_cmd *cmd = &l->p->cmds[index];
	uint32_t i, count = (uint32_t)cmd->num_inputs + cmd->num_outputs;

	for (i = 0; i < count; i++)
		l->operands[i] = &l->p->tensors[l->p->operands[cmd->operands + i]];
	return check_control(l, index);
}

static const uint32_t *block_operands(const struct program *p, uint32_t block,
				      const struct program_cmd **header)
{
	*header = &p->cmds[p->blocks[block].header];
	return p->operands + (*header)->operands;
}

bool control_is_fixed(struct loader *l, const struct program_cmd *cmd, uint64_t *scratch)
{
	const struct program *p = l->p;
	const struct program_cmd *header;
	const uint32_t *list;
	uint32_t i, k;

	*scratch = 0;
	if (cmd->infer)
		return false;
	for (k = 0; k < 2; k++) {
		list = block_operands(p, cmd->target[k], &header);
		for (i = 0; i < (uint32_t)header->num_inputs + header->num_outputs; i++)
			if (!p->tensors[list[i]].shape_known || op_pace(&l->pace, 4))
				return false;
	}
	if (cmd->opcode == NNPU_CMD_BRANCH)
		return true;
	/*
	 * @header and @list are those of the body here. The scratch memory has a place for
	 * the condition. For each value that the body carries it has one place beside the
	 * loop's output, or two if the loop has no such output.
	 */
	*scratch = TENSOR_ALIGN;
	for (i = 0; i < header->num_outputs && !op_pace(&l->pace, 4); i++)
		*scratch += tensor_round_up(p->tensors[list[i]].bytes) *
			    (i < cmd->num_outputs ? 1 : 2);
	return true;
}
