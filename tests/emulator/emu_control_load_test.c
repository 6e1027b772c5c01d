// SPDX-License-Identifier: MIT
/* Control flow in program images: every rule is broken once and must be named. */
#include <endian.h>
#include <stddef.h>
#include <string.h>

#include "expect_load.h"
#include "rig.h"
#include "tap.h"

#define CTX	1u
#define F32	NNPU_TYPE_TENSOR_FLOAT32
#define BOOL8	NNPU_TYPE_TENSOR_BOOL8

static struct rig rig;
static struct image im;

/* Tensors and commands of build(). */
enum {
	COND, X, Y, OUT, LOOP_OUT, ACT, ONE,
	THEN_A, THEN_B, THEN_OUT, ELSE_A, ELSE_B, ELSE_OUT,
	TEST_A, TEST_B, TEST_OUT, BODY_A, BODY_B, BODY_OUT, SPARE, SPARE_BOOL,
};

enum { BRANCH, LOOP, THEN, THEN_ADD, ELSE, ELSE_SUB, TEST, TEST_LESS, BODY, BODY_ADD };

/* Position in the index pool of the operands of each command. */
static uint32_t at(uint32_t cmd)
{
	return le32toh(im.commands[cmd].operands_first);
}

/* OUT = COND ? X + Y : X - Y; while (a < Y) a = a + 1; of four elements or, the loop, one. */
static void build(void)
{
	const float one = 1;
	uint32_t i;

	image_init(&im);
	image_tensor(&im, BOOL8, NNPU_TENSOR_INPUT, 1, -1);
	for (i = X; i <= Y; i++)
		image_tensor(&im, F32, NNPU_TENSOR_INPUT, 1, -1);
	for (i = OUT; i <= LOOP_OUT; i++)
		image_tensor(&im, F32, NNPU_TENSOR_OUTPUT, 1, -1);
	image_scalar(&im, 0);
	image_const(&im, F32, 1, &one, sizeof(one));
	for (i = THEN_A; i <= SPARE_BOOL; i++)
		image_tensor(&im, i == TEST_OUT || i == SPARE_BOOL ? BOOL8 : F32,
			     NNPU_TENSOR_TEMPORARY, 1, -1);
	image_command(&im, NNPU_CMD_BRANCH, 3, 1, COND, X, Y, OUT);
	image_targets(&im, THEN, ELSE);
	image_command(&im, NNPU_CMD_LOOP, 2, 1, X, Y, LOOP_OUT);
	image_targets(&im, TEST, BODY);
	image_command(&im, NNPU_CMD_BLOCK, 2, 1, THEN_A, THEN_B, THEN_OUT);
	image_command(&im, NNPU_OP_ADD, 3, 1, THEN_A, THEN_B, ACT, THEN_OUT);
	image_command(&im, NNPU_CMD_BLOCK, 2, 1, ELSE_A, ELSE_B, ELSE_OUT);
	image_command(&im, NNPU_OP_SUB, 3, 1, ELSE_A, ELSE_B, ACT, ELSE_OUT);
	image_command(&im, NNPU_CMD_BLOCK, 2, 1, TEST_A, TEST_B, TEST_OUT);
	image_command(&im, NNPU_OP_LESS, 2, 1, TEST_A, TEST_B, TEST_OUT);
	image_command(&im, NNPU_CMD_BLOCK, 2, 1, BODY_A, BODY_B, BODY_OUT);
	image_command(&im, NNPU_OP_ADD, 3, 1, BODY_A, ONE, ACT, BODY_OUT);
	image_finish(&im);
}

static void refused(const char *what, unsigned int reason, uint32_t cmd, unsigned int operand)
{
	expect_load(&rig, CTX, &im, what, NNPU_STATUS_PROGRAM_COMMAND, reason, cmd, operand);
}

/* Operand @n of a command is another tensor. */
static void operand(const char *what, uint32_t cmd, uint32_t n, uint32_t tensor,
		    unsigned int reason, uint32_t fault, unsigned int number)
{
	build();
	*image_index(&im, at(cmd) + n) = htole32(tensor);
	refused(what, reason, fault, number);
}

static void target(const char *what, uint32_t cmd, unsigned int n, uint32_t value,
		   unsigned int reason, uint32_t fault)
{
	build();
	image_cmd(&im, cmd)->target[n] = htole32(value);
	refused(what, reason, fault, NNPU_OPERAND_NONE);
}

static void test_targets(void)
{
	const unsigned int reason = NNPU_REASON_TARGET;

	build();
	expect_load(&rig, CTX, &im, "a branch and a loop", 0, 0, 0, NNPU_OPERAND_NONE);
	target("target that is no BLOCK", BRANCH, 0, THEN_ADD, reason, BRANCH);
	target("target is the command itself", LOOP, 1, LOOP, reason, LOOP);
	target("target before the command", LOOP, 0, BRANCH, reason, LOOP);
	target("target beyond the stream", LOOP, 0, BODY_ADD + 1, reason, LOOP);
	target("target far beyond the stream", BRANCH, 1, 0xffffffff, reason, BRANCH);
	target("no target", BRANCH, 1, 0, reason, BRANCH);
	target("block that nothing enters", BRANCH, 1, THEN, reason, ELSE);
	target("target of an operation", THEN_ADD, 0, ELSE, NNPU_REASON_RESERVED, THEN_ADD);
	target("target of BLOCK", THEN, 1, ELSE, NNPU_REASON_RESERVED, THEN);

	/* A block that would enter itself: the target is not behind the command. */
	build();
	image_cmd(&im, THEN_ADD)->opcode = htole32(NNPU_CMD_BRANCH);
	image_cmd(&im, THEN_ADD)->target[0] = htole32(THEN);
	image_cmd(&im, THEN_ADD)->target[1] = htole32(ELSE);
	refused("block that enters itself", reason, THEN_ADD, NNPU_OPERAND_NONE);
	build();
	image_cmd(&im, BRANCH)->opcode = htole32(NNPU_CMD_BLOCK);
	image_cmd(&im, BRANCH)->target[0] = 0;
	image_cmd(&im, BRANCH)->target[1] = 0;
	refused("stream that begins with a block", NNPU_REASON_NOT_WRITABLE, BRANCH, 0);
}

static void test_counts(void)
{
	const unsigned int reason = NNPU_REASON_OPERAND_COUNT;

	build();
	image_cmd(&im, BRANCH)->num_inputs = htole16(2);
	*image_index(&im, at(BRANCH) + 2) = htole32(OUT);
	refused("branch with an input too few", reason, BRANCH, NNPU_OPERAND_NONE);
	build();
	image_cmd(&im, BRANCH)->num_inputs = 0;
	*image_index(&im, at(BRANCH)) = htole32(OUT);
	refused("branch without condition", reason, BRANCH, NNPU_OPERAND_NONE);
	build();
	image_cmd(&im, BRANCH)->num_inputs = htole16(2);
	image_cmd(&im, BRANCH)->num_outputs = htole16(2);
	*image_index(&im, at(BRANCH) + 2) = htole32(SPARE);
	refused("branch with an output too many", reason, BRANCH, NNPU_OPERAND_NONE);
	build();
	image_cmd(&im, LOOP)->num_inputs = htole16(1);
	*image_index(&im, at(LOOP) + 1) = htole32(LOOP_OUT);
	refused("loop with an input too few", reason, LOOP, NNPU_OPERAND_NONE);
	build();
	image_cmd(&im, TEST)->num_inputs = htole16(1);
	image_cmd(&im, TEST)->num_outputs = htole16(2);
	refused("condition with two outputs", reason, LOOP, NNPU_OPERAND_NONE);
	build();
	image_cmd(&im, BODY)->num_inputs = htole16(1);
	image_cmd(&im, BODY)->num_outputs = htole16(2);
	refused("body with an input too few", reason, LOOP, NNPU_OPERAND_NONE);
	build();
	image_cmd(&im, BODY)->num_outputs = 0;
	refused("block without outputs", reason, LOOP, NNPU_OPERAND_NONE);
	build();
	image_cmd(&im, THEN)->operands_first = htole32(0xfffffff0);
	refused("operands of BLOCK outside of the pool", NNPU_REASON_SIZE, THEN, NNPU_OPERAND_NONE);
	operand("operand of BLOCK out of range", THEN, 1, 1000, NNPU_REASON_RANGE, THEN, 1);
}

/* A field of a tensor that passes between blocks. */
static void tensor(const char *what, uint32_t index, unsigned int offset, unsigned int bytes,
		   uint32_t value, unsigned int reason, uint32_t fault, unsigned int number)
{
	uint32_t le = htole32(value);

	build();
	memcpy((uint8_t *)image_desc(&im, index) + offset, &le, bytes);
	refused(what, reason, fault, number);
}

#define TENSOR(what, index, field, value, reason, fault, number) \
	tensor(what, index, offsetof(struct nnpu_tensor_desc, field), \
	       sizeof(((struct nnpu_tensor_desc *)0)->field), value, NNPU_REASON_##reason, \
	       fault, number)

static void test_kinds(void)
{
	const uint32_t none = NNPU_OPERAND_NONE;
	float scale = 0.5f;

	TENSOR("condition of another type", COND, type, F32, TYPE, BRANCH, 0);
	TENSOR("condition with two elements", COND, dims[0], 2, DIMENSION, BRANCH, 0);
	TENSOR("input of a block of another type", ELSE_B, type, NNPU_TYPE_TENSOR_INT32, TYPE,
	       BRANCH, 2);
	TENSOR("input of a block of another shape", THEN_A, dims[0], 4, SHAPE_MISMATCH, BRANCH, 1);
	TENSOR("output of a block of another type", ELSE_OUT, type, NNPU_TYPE_TENSOR_FLOAT16, TYPE,
	       BRANCH, 3);
	TENSOR("output of a block of another shape", THEN_OUT, dims[0], 4, SHAPE_MISMATCH, BRANCH,
	       3);
	TENSOR("condition of a loop of another type", TEST_OUT, type, F32, TYPE, LOOP, none);
	TENSOR("condition of a loop with two elements", TEST_OUT, dims[0], 2, DIMENSION, LOOP,
	       none);
	TENSOR("input of the condition", TEST_B, dims[0], 4, SHAPE_MISMATCH, LOOP, 1);
	TENSOR("input of the body", BODY_B, type, NNPU_TYPE_TENSOR_INT32, TYPE, LOOP, 1);
	TENSOR("output of the body", BODY_OUT, dims[0], 4, SHAPE_MISMATCH, LOOP, 0);
	TENSOR("output of the loop", LOOP_OUT, dims[0], 4, SHAPE_MISMATCH, LOOP, 2);

	build();
	image_desc(&im, COND)->rank = 2;
	image_desc(&im, COND)->dims[1] = htole32(1);
	refused("condition of rank 2", NNPU_REASON_RANK, BRANCH, 0);
	build();
	image_desc(&im, THEN_A)->rank = 2;
	image_desc(&im, THEN_A)->dims[1] = htole32(1);
	refused("input of another rank", NNPU_REASON_RANK, BRANCH, 1);
	build();
	image_desc(&im, X)->type = htole16(NNPU_TYPE_TENSOR_INT32);
	image_desc(&im, THEN_A)->type = htole16(NNPU_TYPE_TENSOR_INT32);
	image_desc(&im, ELSE_A)->type = htole16(NNPU_TYPE_TENSOR_INT32);
	memcpy(&image_desc(&im, ELSE_A)->scale, &scale, sizeof(scale));
	refused("input of another scale", NNPU_REASON_QUANT_MISMATCH, BRANCH, 1);
	build();
	image_desc(&im, ACT)->kind = NNPU_TENSOR_NO_VALUE;
	image_desc(&im, ACT)->data_len = 0;
	image_desc(&im, ACT)->data_off = 0;
	*image_index(&im, at(BRANCH) + 1) = htole32(ACT);
	refused("omitted input", NNPU_REASON_OMITTED, BRANCH, 1);
}

/* A tensor with a scale for its only channel, which is @scale at @offset of the data. */
static void set_channels(uint32_t index, uint32_t offset, float scale)
{
	struct nnpu_tensor_desc *d = image_desc(&im, index);

	d->type = htole16(NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL);
	d->num_channel_scales = htole32(1);
	d->channel_scales_off = htole32(offset);
	memcpy(im.bytes + le32toh(image_header(&im)->data_off) + offset, &scale, sizeof(scale));
}

static void test_channels(void)
{
	uint32_t room;

	for (unsigned int other = 0; other < 2; other++) {
		build();
		/* Behind the scalar, and where the constant is, which begins at a word. */
		room = (uint32_t)le64toh(image_desc(&im, ACT)->data_off) + 4;
		set_channels(X, room, 0.25f);
		set_channels(THEN_A, room, 0.25f);
		set_channels(ELSE_A, room + 4, other ? 0.5f : 0.25f);
		if (other)
			refused("input of other scales", NNPU_REASON_QUANT_MISMATCH, BRANCH, 1);
		else
			refused("the same scales twice, and a loop with none", NNPU_REASON_TYPE, LOOP, 0);
	}
}

static void test_ownership(void)
{
	const unsigned int block = NNPU_REASON_BLOCK;

	operand("block reads an input of the program", THEN_ADD, 0, X, block, THEN_ADD, 0);
	operand("block reads a tensor of another", ELSE_SUB, 1, THEN_A, block, ELSE_SUB, 1);
	operand("block reads what is written behind it", THEN_ADD, 1, ELSE_A,
		NNPU_REASON_NOT_WRITTEN, THEN_ADD, 1);
	operand("block writes an output of the program", THEN_ADD, 3, OUT,
		NNPU_REASON_WRITTEN_TWICE, THEN_ADD, 3);
	operand("block writes a tensor of another", ELSE_SUB, 3, THEN_OUT,
		NNPU_REASON_WRITTEN_TWICE, ELSE_SUB, 3);
	operand("output of a block is not written", THEN_ADD, 3, SPARE, NNPU_REASON_NOT_WRITTEN,
		THEN, 2);
	operand("output of the last block is not written", BODY_ADD, 3, SPARE,
		NNPU_REASON_NOT_WRITTEN, BODY, 2);
	operand("input of BLOCK is a constant", BODY, 1, ONE, NNPU_REASON_NOT_WRITABLE, BODY, 1);
	operand("input of BLOCK is an input", THEN, 1, Y, NNPU_REASON_NOT_WRITABLE, THEN, 1);
	operand("output of BLOCK is an output", THEN, 2, OUT, NNPU_REASON_NOT_WRITABLE, THEN, 2);
	operand("input of two blocks", ELSE, 0, THEN_A, NNPU_REASON_WRITTEN_TWICE, ELSE, 0);
	operand("input listed twice", THEN, 1, THEN_A, NNPU_REASON_WRITTEN_TWICE, THEN, 1);
	operand("output of two blocks", ELSE, 2, THEN_OUT, NNPU_REASON_WRITTEN_TWICE, ELSE, 2);
	operand("output that is an input", THEN, 2, THEN_A, NNPU_REASON_WRITTEN_TWICE, THEN, 2);
	operand("input of a block is written in it", THEN_ADD, 3, THEN_B,
		NNPU_REASON_WRITTEN_TWICE, THEN_ADD, 3);

	build();
	image_desc(&im, OUT)->kind = NNPU_TENSOR_TEMPORARY;
	image_header(&im)->num_outputs = htole16(1);
	*image_index(&im, le32toh(image_header(&im)->outputs_first)) = htole32(LOOP_OUT);
	*image_index(&im, at(LOOP) + 2) = htole32(SPARE);
	*image_index(&im, at(THEN_ADD) + 3) = htole32(LOOP_OUT);
	refused("output of the program written in a block", NNPU_REASON_BLOCK, THEN_ADD, 3);
}

/* Shapes that are found only in the blocks. */
static void test_late(void)
{
	build();
	image_desc(&im, THEN_OUT)->dims[0] = 0;
	image_desc(&im, THEN_A)->dims[0] = 0;
	expect_load(&rig, CTX, &im, "shape found while it runs", 0, 0, 0, NNPU_OPERAND_NONE);
	build();
	image_desc(&im, THEN_OUT)->dims[0] = 0;
	image_desc(&im, ONE)->dims[0] = htole32(1);
	expect_load(&rig, CTX, &im, "shape found while loading", 0, 0, 0, NNPU_OPERAND_NONE);

	image_init(&im);
	image_tensor(&im, BOOL8, NNPU_TENSOR_INPUT, 1, -1);
	image_tensor(&im, F32, NNPU_TENSOR_INPUT, 4, -1);
	image_tensor(&im, F32, NNPU_TENSOR_OUTPUT, 2, -1);
	image_scalar(&im, 0);
	image_tensor(&im, F32, NNPU_TENSOR_TEMPORARY, 4, -1);
	image_tensor(&im, F32, NNPU_TENSOR_TEMPORARY, 0, -1);
	image_command(&im, NNPU_CMD_BRANCH, 2, 1, 0u, 1u, 2u);
	image_targets(&im, 1, 1);
	image_command(&im, NNPU_CMD_BLOCK, 1, 1, 4u, 5u);
	image_command(&im, NNPU_OP_ADD, 3, 1, 4u, 4u, 3u, 5u);
	image_finish(&im);
	refused("shape found in a block does not fit", NNPU_REASON_SHAPE_MISMATCH, 0, 2);
}

/* A chain of @depth blocks inside of each other, both ways of each branch the same. */
static void build_chain(uint32_t depth)
{
	uint32_t in, out, cond, x, i;

	image_init(&im);
	cond = image_tensor(&im, BOOL8, NNPU_TENSOR_INPUT, 1, -1);
	x = image_tensor(&im, F32, NNPU_TENSOR_INPUT, 4, -1);
	out = image_tensor(&im, F32, NNPU_TENSOR_OUTPUT, 4, -1);
	for (i = 0; i < depth; i++) {
		image_command(&im, NNPU_CMD_BRANCH, 3, 1, cond, cond, x, out);
		image_targets(&im, 2 * i + 1, 2 * i + 1);
		cond = image_tensor(&im, BOOL8, NNPU_TENSOR_TEMPORARY, 1, -1);
		x = image_tensor(&im, F32, NNPU_TENSOR_TEMPORARY, 4, -1);
		out = image_tensor(&im, F32, NNPU_TENSOR_TEMPORARY, 4, -1);
		image_command(&im, NNPU_CMD_BLOCK, 2, 1, cond, x, out);
	}
	in = x;
	image_command(&im, NNPU_OP_ABS, 1, 1, in, out);
	image_finish(&im);
}

static void test_depth(void)
{
	build_chain(32);
	expect_load(&rig, CTX, &im, "32 blocks inside of each other", 0, 0, 0, NNPU_OPERAND_NONE);
	build_chain(33);
	expect_load(&rig, CTX, &im, "33 blocks inside of each other",
		    NNPU_STATUS_PROGRAM_UNSUPPORTED, NNPU_REASON_DEPTH, 64, NNPU_OPERAND_NONE);
}

static void test_check(void)
{
	struct nnpu_command_report reports[10];
	struct nnpu_cqe cqe;
	uint32_t i, good = 0;

	build();
	ok(rig_check(&rig, CTX, im.bytes, im.size, 10, reports, &cqe) == 0, "LOAD_CHECK");
	for (i = 0; i < 10; i++)
		good += !reports[i].status;
	ok(good == 10, "every command is good, BLOCK included");
	image_cmd(&im, ELSE_SUB)->opcode = htole32(NNPU_CMD_EXTENSION + 0xff00);
	ok(rig_check(&rig, CTX, im.bytes, im.size, 10, reports, &cqe) == 0 &&
	   le16toh(reports[ELSE_SUB].status) == NNPU_STATUS_PROGRAM_UNSUPPORTED &&
	   !reports[BRANCH].status, "an unsupported command in a block is one of its own");
	*image_index(&im, at(BODY_ADD) + 3) = htole32(SPARE);
	ok(rig_check(&rig, CTX, im.bytes, im.size, 10, reports, &cqe) ==
	   NNPU_STATUS_PROGRAM_COMMAND && le32toh(cqe.error) == BODY &&
	   le16toh(reports[BODY].reason) == NNPU_REASON_NOT_WRITTEN &&
	   le16toh(reports[BODY].operand) == 2 && !reports[BODY_ADD].status,
	   "an output that is not written is a fault of BLOCK");
	*image_index(&im, at(THEN) + 2) = htole32(1000);
	ok(rig_check(&rig, CTX, im.bytes, im.size, 10, reports, &cqe) ==
	   NNPU_STATUS_PROGRAM_COMMAND && le32toh(cqe.error) == THEN &&
	   le16toh(reports[THEN].reason) == NNPU_REASON_RANGE && !reports[BRANCH].status,
	   "a malformed BLOCK is not one of the branch");
	image_free(&im);
}

static void test_identify(void)
{
	struct nnpu_identify *id = rig_alloc(&rig, 4096);
	struct nnpu_sqe_identify sqe = {
		.opcode = NNPU_ADMIN_IDENTIFY, .addr = htole64(rig_addr(id)),
	};

	ok(rig_admin(&rig, &sqe, NULL) == 0 && le32toh(id->max_depth) == 32 &&
	   (le64toh(id->features) & NNPU_FEATURE_CONTROL_FLOW) &&
	   (le32toh(id->operations[3]) & 3) == 3, "IDENTIFY: feature, depth, IF and WHILE");
}

int main(void)
{
	rig_open(&rig, NULL);
	rig_enable(&rig);
	rig_create_ctx(&rig, CTX, rig_alloc(&rig, 4096), 16);
	test_identify();
	test_targets();
	test_counts();
	test_kinds();
	test_channels();
	test_ownership();
	test_late();
	test_depth();
	test_check();
	ok(rig_read64(&rig, NNPU_REG_MEM_USED_LO) == 0, "no device memory was lost");
	rig_close(&rig);
	return tap_done();
}
