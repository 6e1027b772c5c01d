// SPDX-License-Identifier: MIT
/*
 * Where two faults meet, the device reports the one that its specification checks first: all
 * pairs of the rules of a program's header, tensors, constants, commands and control flow, and of a
 * job's arguments. (emu_command_order_test.c: of entries.)
 */
#include "fault_pairs.h"

#define CTX	1u
#define PROGRAM	7u
#define N	4u

static struct rig rig;
static struct job_rig j;
static struct image im;

/* Tensors: 0, 1 inputs, 2 output, 3 scalar, 4 temporary, 5 constant. 4 = 0 + 1; 2 = 4 + 5. */
static void build(void)
{
	const float values[N] = { 1, 2, 3, 4 };

	image_init(&im);
	image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, N, -1);
	image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, N, -1);
	image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, N, -1);
	image_scalar(&im, 0);
	image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_TEMPORARY, N, -1);
	image_const(&im, NNPU_TYPE_TENSOR_FLOAT32, N, values, sizeof(values));
	image_command(&im, NNPU_OP_ADD, 3, 1, 0u, 1u, 3u, 4u);
	image_command(&im, NNPU_OP_ADD, 3, 1, 4u, 5u, 3u, 2u);
	image_finish(&im);
}

/* The image is refused for the fault @f, with @error. */
static bool refused_for(const struct fault *f, uint32_t error)
{
	struct nnpu_cqe cqe;
	int got = rig_load(&rig, CTX, 1, im.bytes, im.size, &cqe);

	if (!got)
		rig_unload(&rig, CTX, 1);
	image_free(&im);
	return fault_is(f, got, &cqe, error);
}

static uint8_t *the_header(void)
{
	return im.bytes;
}

static uint8_t *the_tensor(void)
{
	return (uint8_t *)image_desc(&im, 1);
}

static uint8_t *the_command(void)
{
	return (uint8_t *)image_cmd(&im, 1);
}

#define HEADER(field, value, reason)	\
	FAULT(nnpu_program_header, field, value, PROGRAM_HEADER, reason)
#define TENSOR(field, value, reason)	\
	FAULT(nnpu_tensor_desc, field, value, PROGRAM_TENSOR, reason)
#define COMMAND(field, value, reason)	\
	FAULT(nnpu_command, field, value, PROGRAM_COMMAND, reason)

static const struct fault header_faults[] = {
	HEADER(magic, 0, MAGIC),
	HEADER(version, 0xffff, VERSION),
	HEADER(header_size, 72, SIZE),
	HEADER(tensor_stride, 88, SIZE),
	HEADER(command_stride, 36, SIZE),
	HEADER(size, 64, SIZE),
	HEADER(flags, 0x80000000, FLAGS),
	HEADER(reserved, 1, RESERVED),
	HEADER(native_size, 8, RESERVED),
	HEADER(tensors_off, 65, ALIGNMENT),
	HEADER(commands_off, 32, RANGE),
	HEADER(num_indexes, 0x40000001, SIZE),
};

static const struct fault region_faults[] = {
	HEADER(data_off, 96, RANGE),	/* overlaps the tensors */
	HEADER(num_outputs, 0, SIZE),
	HEADER(inputs_first, 0xffffffff, RANGE),
	FAULT(nnpu_program_header, native_isa, 1, PROGRAM_UNSUPPORTED, ISA),
};

static const struct fault tensor_faults[] = {
	TENSOR(type, 15, TYPE),
	TENSOR(kind, 6, LIFETIME),
	TENSOR(flags, 2, FLAGS),
	TENSOR(slot, 1, RESERVED),
	TENSOR(encoding, 1, RESERVED),
	TENSOR(rank, 9, RANK),
	TENSOR(dims[7], 1, DIMENSION),
	TENSOR(dims[0], (256u << 20) / 4 + 1, OVERFLOW),
	TENSOR(scale, 0x3f800000, SCALE),
	TENSOR(zero_point, 1, ZERO_POINT),
	TENSOR(channel_dim, 1, CHANNEL_QUANT),
	TENSOR(params_len, 8, PARAMS),
};

static const struct fault command_faults[] = {
	COMMAND(flags, 1, FLAGS),
	COMMAND(reserved, 1, RESERVED),
	COMMAND(opcode, 102, OPERATION),
	COMMAND(operands_first, 0xffffffff, SIZE),
};

/* Header before tensors, tensors in turn, tensors before the interface, that before commands. */
static void test_stages(void)
{
	build();
	fault_inject((uint8_t *)image_cmd(&im, 0), &command_faults[0]);
	fault_inject(the_tensor(), &tensor_faults[0]);
	fault_inject(the_header(), &header_faults[5]);
	ok(refused_for(&header_faults[5], 0), "the header before a tensor and a command");
	build();
	fault_inject((uint8_t *)image_cmd(&im, 0), &command_faults[0]);
	fault_inject(the_tensor(), &tensor_faults[11]);
	ok(refused_for(&tensor_faults[11], 1), "a tensor before a command");
	build();
	fault_inject((uint8_t *)image_desc(&im, 0), &tensor_faults[11]);
	fault_inject(the_tensor(), &tensor_faults[0]);
	ok(refused_for(&tensor_faults[11], 0), "the last rule for tensor 0 before the first for tensor 1");
	build();
	fault_inject((uint8_t *)image_cmd(&im, 0), &command_faults[3]);
	fault_inject(the_command(), &command_faults[0]);
	ok(refused_for(&command_faults[3], 0), "a later rule for command 0 before the first for command 1");
	build();
	*image_index(&im, le32toh(image_header(&im)->inputs_first)) = htole32(1000);
	fault_inject((uint8_t *)image_cmd(&im, 0), &command_faults[0]);
	ok(refused_for(&(struct fault){ .status = NNPU_STATUS_PROGRAM_TENSOR,
					.reason = NNPU_REASON_RANGE,
					.operand = NNPU_OPERAND_NONE }, 1000),
	   "the list of inputs before a command");
}

/* Constants. */

static const struct fault constant_faults[] = {
	TENSOR(type, 15, TYPE),
	TENSOR(kind, 6, LIFETIME),
	TENSOR(flags, 2, FLAGS),
	TENSOR(slot, 1, RESERVED),
	TENSOR(rank, 9, RANK),
	TENSOR(dims[7], 1, DIMENSION),
	TENSOR(dims[0], 0, DIMENSION),
	TENSOR(dims[0], (256u << 20) / 4 + 1, OVERFLOW),
	TENSOR(scale, 0x3f800000, SCALE),
	TENSOR(zero_point, 1, ZERO_POINT),
	TENSOR(channel_dim, 1, CHANNEL_QUANT),
	TENSOR(params_len, 8, PARAMS),
	TENSOR(encoding, NNPU_ENCODING_COMPRESSED, ENCODING),
	TENSOR(encoding, 0xffff, ENCODING),
	TENSOR(data_off, 1ull << 40, RANGE),
	TENSOR(data_len, 15, DATA_LENGTH),
};

/* With one scale for each of its channels. */
static const struct fault channel_faults[] = {
	TENSOR(rank, 9, RANK),
	TENSOR(scale, 0x3f800000, SCALE),
	TENSOR(zero_point, 1, ZERO_POINT),
	TENSOR(channel_dim, 1, CHANNEL_QUANT),
	TENSOR(num_channel_scales, 3, CHANNEL_QUANT),
	TENSOR(channel_scales_off, 2, CHANNEL_QUANT),
	TENSOR(channel_scales_off, 1u << 30, CHANNEL_QUANT),
	TENSOR(params_len, 8, PARAMS),
	TENSOR(encoding, NNPU_ENCODING_4BIT, ENCODING),
	TENSOR(data_off, 1ull << 40, RANGE),
	TENSOR(data_len, 5, DATA_LENGTH),
};

#define WRITE_ONLY	3u

static const struct fault slot_faults[] = {
	TENSOR(rank, 9, RANK),
	TENSOR(encoding, NNPU_ENCODING_4BIT, ENCODING),
	TENSOR(data_len, 15, DATA_LENGTH),
	FAULT(nnpu_tensor_desc, slot, 999, INVALID_SLOT, NONE),
	FAULT(nnpu_tensor_desc, data_off, 1ull << 40, SLOT_BOUNDS, NONE),
	FAULT(nnpu_tensor_desc, slot, WRITE_ONLY, SLOT_RIGHTS, NONE),
};

static void build_channels(void)
{
	const uint8_t bytes[N] = { 1, 2, 3, 4 };
	const float scales[N] = { 1, 1, 1, 1 };
	struct nnpu_tensor_desc *d;
	uint32_t at;

	build();
	image_free(&im);
	im.num_indexes = 8;
	at = image_const(&im, NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL, N, bytes, sizeof(bytes));
	im.tensors[at].num_channel_scales = htole32(N);
	/* They are data like that of a constant that nobody reads. */
	d = &im.tensors[image_const(&im, NNPU_TYPE_TENSOR_FLOAT32, N, scales, sizeof(scales))];
	im.tensors[at].channel_scales_off = htole32((uint32_t)le64toh(d->data_off));
	image_finish(&im);
}

static void build_slot(void)
{
	struct nnpu_tensor_desc *d;

	build();
	d = image_desc(&im, 5);
	d->kind = NNPU_TENSOR_SLOT;
	d->slot = htole32(1);
	d->data_off = 0;
}

static uint8_t *the_constant(void)
{
	return (uint8_t *)image_desc(&im, 5);
}

static uint8_t *the_channels(void)
{
	return (uint8_t *)image_desc(&im, 6);
}

static bool loads(void (*build)(void))
{
	struct nnpu_cqe cqe;
	bool good;

	build();
	good = !rig_load(&rig, CTX, 1, im.bytes, im.size, &cqe) && !rig_unload(&rig, CTX, 1);
	image_free(&im);
	return good;
}

static void test_constants(void)
{
	const struct fault *slot = &slot_faults[3];

	rig_slot(&j.slots[WRITE_ONLY], j.operands, j.operands_size,
		 NNPU_SLOT_VALID | NNPU_SLOT_WRITE);
	ok(loads(build) && loads(build_channels) && loads(build_slot), "programs without a fault");
	fault_pairs(&(struct place){ "constant", build, the_constant, refused_for, 5 },
		    constant_faults, FAULT_COUNT(constant_faults));
	fault_pairs(&(struct place){ "channels", build_channels, the_channels, refused_for, 6 },
		    channel_faults, FAULT_COUNT(channel_faults));
	fault_pairs(&(struct place){ "constant in a slot", build_slot, the_constant, refused_for, 5 },
		    slot_faults, FAULT_COUNT(slot_faults));
	build_slot();
	fault_inject(the_constant(), slot);
	*image_index(&im, le32toh(image_header(&im)->inputs_first)) = htole32(1000);
	ok(refused_for(&(struct fault){ .status = NNPU_STATUS_PROGRAM_TENSOR,
					.reason = NNPU_REASON_RANGE,
					.operand = NNPU_OPERAND_NONE }, 1000),
	   "the interface before what needs an access");
	build_slot();
	fault_inject(the_constant(), slot);
	fault_inject((uint8_t *)image_cmd(&im, 0), &command_faults[0]);
	ok(refused_for(slot, 5), "that before a command");
}

/*
 * Control flow: y = a < b ? a + b : a * b - b.
 *
 *   0 LESS a b -> c      1 BRANCH c a b -> y
 *   2 BLOCK t0 t1 -> t2  3 ADD t0 t1 act -> t2
 *   4 BLOCK t3 t4 -> t6  5 MUL t3 t4 act -> t5  6 SUB t5 t4 act -> t6
 */
enum {
	A, B, Y, ACT, C, T0, T1, T2, T3, T4, T5, T6,
	UNWRITTEN, INT, INT_TEMP, THREE, THREE_TEMP, FLAGS2, OMITTED,
};

/* The tensors that make faults: of no use, of another type, of another shape, omitted. */
static void add_wrong_tensors(void)
{
	const float three[3] = { 1, 2, 3 };
	const int32_t number = 1;
	const uint8_t flags[2] = { 1, 1 };

	image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_TEMPORARY, 1, -1);
	image_const(&im, NNPU_TYPE_TENSOR_INT32, 1, &number, sizeof(number));
	image_tensor(&im, NNPU_TYPE_TENSOR_INT32, NNPU_TENSOR_TEMPORARY, 1, -1);
	image_const(&im, NNPU_TYPE_TENSOR_FLOAT32, 3, three, sizeof(three));
	image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_TEMPORARY, 3, -1);
	image_const(&im, NNPU_TYPE_TENSOR_BOOL8, 2, flags, sizeof(flags));
	image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_NO_VALUE, 1, -1);
}

static void build_branch(void)
{
	unsigned int i;

	image_init(&im);
	image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 1, -1);
	image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 1, -1);
	image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 1, -1);
	image_scalar(&im, 0);
	image_tensor(&im, NNPU_TYPE_TENSOR_BOOL8, NNPU_TENSOR_TEMPORARY, 1, -1);
	for (i = T0; i <= T6; i++)
		image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_TEMPORARY, 1, -1);
	add_wrong_tensors();
	image_command(&im, NNPU_OP_LESS, 2, 1, A, B, C);
	image_command(&im, NNPU_CMD_BRANCH, 3, 1, C, A, B, Y);
	image_targets(&im, 2, 4);
	image_command(&im, NNPU_CMD_BLOCK, 2, 1, T0, T1, T2);
	image_command(&im, NNPU_OP_ADD, 3, 1, T0, T1, ACT, T2);
	image_command(&im, NNPU_CMD_BLOCK, 2, 1, T3, T4, T6);
	image_command(&im, NNPU_OP_MUL, 3, 1, T3, T4, ACT, T5);
	image_command(&im, NNPU_OP_SUB, 3, 1, T5, T4, ACT, T6);
	image_finish(&im);
}

static uint8_t *the_commands(void)
{
	return (uint8_t *)image_cmd(&im, 0);
}

/* Offsets from command 0: fields of @command, and operand number @n of a program with @of commands. */
#define FIELD(command, field, value, status, reason, operand) \
	{ #command ": " #field " = " #value, \
	  command * sizeof(struct nnpu_command) + offsetof(struct nnpu_command, field), \
	  sizeof(((struct nnpu_command *)0)->field), value, \
	  NNPU_STATUS_##status, NNPU_REASON_##reason, operand }
#define INDEX(of, n, value, reason, operand) \
	{ "index " #n " = " #value, (of) * sizeof(struct nnpu_command) + (n) * 4, 4, value, \
	  NNPU_STATUS_PROGRAM_COMMAND, NNPU_REASON_##reason, operand }
#define ANY	NNPU_OPERAND_NONE

/* Of BRANCH: C, A, B, Y are indexes 3 to 6; T0, T1, T2 7 to 9; T3, T4, T6 14 to 16. */
static const struct fault branch_faults[] = {
	FIELD(1, flags, 1, PROGRAM_COMMAND, FLAGS, ANY),
	FIELD(1, reserved, 1, PROGRAM_COMMAND, RESERVED, ANY),
	FIELD(1, operands_first, 1000, PROGRAM_COMMAND, SIZE, ANY),
	FIELD(1, target[0], 1, PROGRAM_COMMAND, TARGET, ANY),
	FIELD(1, target[1], 5, PROGRAM_COMMAND, TARGET, ANY),
	INDEX(7, 3, 1000, RANGE, 0),
	INDEX(7, 6, 1000, RANGE, 3),
	INDEX(7, 3, UNWRITTEN, NOT_WRITTEN, 0),
	INDEX(7, 3, T0, NOT_WRITTEN, 0),
	INDEX(7, 5, UNWRITTEN, NOT_WRITTEN, 2),
	INDEX(7, 6, A, NOT_WRITABLE, 3),
	INDEX(7, 6, C, WRITTEN_TWICE, 3),
	INDEX(7, 4, OMITTED, OMITTED, 1),
	INDEX(7, 5, OMITTED, OMITTED, 2),
	FIELD(2, num_inputs, 1, PROGRAM_COMMAND, OPERAND_COUNT, ANY),
	FIELD(4, num_inputs, 1, PROGRAM_COMMAND, OPERAND_COUNT, ANY),
	INDEX(7, 3, INT, TYPE, 0),
	INDEX(7, 3, FLAGS2, DIMENSION, 0),
	INDEX(7, 4, INT, TYPE, 1),
	INDEX(7, 7, THREE_TEMP, SHAPE_MISMATCH, 1),
	INDEX(7, 8, INT_TEMP, TYPE, 2),
	INDEX(7, 5, THREE, SHAPE_MISMATCH, 2),
	INDEX(7, 9, INT_TEMP, TYPE, 3),
	INDEX(7, 14, THREE_TEMP, SHAPE_MISMATCH, 1),
	INDEX(7, 15, INT_TEMP, TYPE, 2),
	INDEX(7, 16, THREE_TEMP, SHAPE_MISMATCH, 3),
};

/* Of the second BLOCK. */
static const struct fault block_faults[] = {
	FIELD(4, flags, 1, PROGRAM_COMMAND, FLAGS, ANY),
	FIELD(4, target[0], 6, PROGRAM_COMMAND, RESERVED, ANY),
	FIELD(4, operands_first, 1000, PROGRAM_COMMAND, SIZE, ANY),
	INDEX(7, 14, 1000, RANGE, 0),
	INDEX(7, 16, 1000, RANGE, 2),
	INDEX(7, 14, A, NOT_WRITABLE, 0),
	INDEX(7, 14, T0, WRITTEN_TWICE, 0),
	INDEX(7, 15, A, NOT_WRITABLE, 1),
	INDEX(7, 15, T1, WRITTEN_TWICE, 1),
	INDEX(7, 16, Y, NOT_WRITABLE, 2),
	FIELD(1, target[1], 2, PROGRAM_COMMAND, TARGET, ANY),
	INDEX(7, 16, UNWRITTEN, NOT_WRITTEN, 2),
};

/* Of SUB in that block: T5, T4, ACT, T6 are indexes 21 to 24. */
static const struct fault operand_faults[] = {
	FIELD(6, flags, 1, PROGRAM_COMMAND, FLAGS, ANY),
	FIELD(6, reserved, 1, PROGRAM_COMMAND, RESERVED, ANY),
	FIELD(6, target[0], 2, PROGRAM_COMMAND, RESERVED, ANY),
	FIELD(6, opcode, NNPU_NUM_OPERATIONS, PROGRAM_COMMAND, OPERATION, ANY),
	FIELD(6, operands_first, 1000, PROGRAM_COMMAND, SIZE, ANY),
	FIELD(6, num_outputs, 0, PROGRAM_COMMAND, SIZE, ANY),
	INDEX(7, 21, 1000, RANGE, 0),
	INDEX(7, 22, 1000, RANGE, 1),
	INDEX(7, 24, 1000, RANGE, 3),
	INDEX(7, 21, UNWRITTEN, NOT_WRITTEN, 0),
	INDEX(7, 21, A, BLOCK, 0),
	INDEX(7, 22, UNWRITTEN, NOT_WRITTEN, 1),
	INDEX(7, 22, T0, BLOCK, 1),
	INDEX(7, 24, A, NOT_WRITABLE, 3),
	INDEX(7, 24, T5, WRITTEN_TWICE, 3),
	FIELD(6, opcode, NNPU_CMD_EXTENSION + 0x7000, PROGRAM_UNSUPPORTED, OPERATION, ANY),
	FIELD(6, opcode, NNPU_OP_FLOOR, PROGRAM_COMMAND, OPERAND_COUNT, ANY),
	INDEX(7, 22, INT, TYPE, 1),
	INDEX(7, 21, THREE, SHAPE_MISMATCH, 3),
};

/*
 * while (v < limit) v = v + one:
 *
 *   0 LOOP v -> y  1 BLOCK p -> q  2 LESS p limit -> q  3 BLOCK r -> s  4 ADD r one act -> s
 */
enum { L_V, L_LIMIT, L_Y, L_ACT, L_P, L_Q, L_R, L_S };

static void build_loop(void)
{
	unsigned int i;

	image_init(&im);
	image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 1, -1);
	image_const(&im, NNPU_TYPE_TENSOR_FLOAT32, 1, &(float){ 3 }, sizeof(float));
	image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 1, -1);
	image_scalar(&im, 0);
	for (i = L_P; i < UNWRITTEN; i++)
		image_tensor(&im, i == L_Q ? NNPU_TYPE_TENSOR_BOOL8 : NNPU_TYPE_TENSOR_FLOAT32,
			     NNPU_TENSOR_TEMPORARY, 1, -1);
	add_wrong_tensors();
	image_command(&im, NNPU_CMD_LOOP, 1, 1, L_V, L_Y);
	image_targets(&im, 1, 3);
	image_command(&im, NNPU_CMD_BLOCK, 1, 1, L_P, L_Q);
	image_command(&im, NNPU_OP_LESS, 2, 1, L_P, L_LIMIT, L_Q);
	image_command(&im, NNPU_CMD_BLOCK, 1, 1, L_R, L_S);
	image_command(&im, NNPU_OP_ADD, 3, 1, L_R, L_LIMIT, L_ACT, L_S);
	image_finish(&im);
}

/* V, Y are indexes 0 and 1; P, Q 2 and 3; R, S 7 and 8. */
static const struct fault loop_faults[] = {
	FIELD(0, flags, 1, PROGRAM_COMMAND, FLAGS, ANY),
	FIELD(0, target[1], 4, PROGRAM_COMMAND, TARGET, ANY),
	INDEX(5, 0, 1000, RANGE, 0),
	INDEX(5, 0, UNWRITTEN, NOT_WRITTEN, 0),
	INDEX(5, 1, L_V, NOT_WRITABLE, 1),
	INDEX(5, 0, OMITTED, OMITTED, 0),
	FIELD(1, num_outputs, 2, PROGRAM_COMMAND, OPERAND_COUNT, ANY),
	FIELD(3, num_inputs, 2, PROGRAM_COMMAND, OPERAND_COUNT, ANY),
	INDEX(5, 3, INT_TEMP, TYPE, ANY),
	INDEX(5, 0, INT, TYPE, 0),
	INDEX(5, 2, THREE_TEMP, SHAPE_MISMATCH, 0),
	INDEX(5, 7, INT_TEMP, TYPE, 0),
	INDEX(5, 8, THREE_TEMP, SHAPE_MISMATCH, 0),
	INDEX(5, 1, INT_TEMP, TYPE, 1),
};

static void test_flow(void)
{
	ok(loads(build_branch) && loads(build_loop), "branch and loop without a fault");
	fault_pairs(&(struct place){ "operands", build_branch, the_commands, refused_for, 6 },
		    operand_faults, FAULT_COUNT(operand_faults));
	fault_pairs(&(struct place){ "BRANCH", build_branch, the_commands, refused_for, 1 },
		    branch_faults, FAULT_COUNT(branch_faults));
	fault_pairs(&(struct place){ "BLOCK", build_branch, the_commands, refused_for, 4 },
		    block_faults, FAULT_COUNT(block_faults));
	fault_pairs(&(struct place){ "LOOP", build_loop, the_commands, refused_for, 0 },
		    loop_faults, FAULT_COUNT(loop_faults));
}

#define ARG(field, value, status, reason)	FAULT(nnpu_arg, field, value, status, reason)

/* Of a record with shape, for an input of N elements. */
static const struct fault arg_faults[] = {
	ARG(flags, 0x8002, INVALID_FIELD, FLAGS),
	ARG(pad, 1, INVALID_FIELD, RESERVED),
	ARG(rank, 2, ARG_SHAPE, RANK),
	ARG(dims[0], 5, ARG_SHAPE, DIMENSION),
	ARG(length, 15, ARG_SIZE, DATA_LENGTH),
	ARG(slot, 999, INVALID_SLOT, NONE),
	ARG(offset, 1ull << 40, SLOT_BOUNDS, NONE),
	ARG(slot, WRITE_ONLY, SLOT_RIGHTS, NONE),
};

#define ARGS(field, value, status, reason)	FAULT(nnpu_args_header, field, value, status, reason)

static const struct fault args_faults[] = {
	ARGS(flags, 1, INVALID_FIELD, FLAGS),
	ARGS(reserved[0], 1, INVALID_FIELD, RESERVED),
	ARGS(loop_timeout_ns, UINT64_MAX, INVALID_FIELD, VALUE),
	ARGS(num_inputs, 3, ARG_COUNT, NONE),
};

static struct nnpu_arg *record(unsigned int n)
{
	return (struct nnpu_arg *)(j.block + sizeof(struct nnpu_args_header)) + n;
}

static void arguments(void)
{
	unsigned int n;

	job_add_args(&j, N);
	for (n = 0; n < 2; n++) {
		record(n)->flags = htole16(NNPU_ARG_SHAPE);
		record(n)->rank = 1;
		record(n)->dims[0] = htole32(N);
	}
}

static bool job_refused_for(const struct fault *f, uint32_t error)
{
	struct nnpu_cqe cqe;
	int got = job_execute(&j, PROGRAM, &cqe);

	return fault_is(f, got, &cqe, error);
}

static uint8_t *the_args(void)
{
	return j.block;
}

static uint8_t *the_arg(void)
{
	return (uint8_t *)record(1);
}

static void test_jobs(void)
{
	struct nnpu_cqe cqe;

	image_add(&im, N);
	if (!ok(rig_load(&rig, CTX, PROGRAM, im.bytes, im.size, &cqe) == 0, "a program"))
		return;
	image_free(&im);
	arguments();
	ok(job_execute(&j, PROGRAM, &cqe) == 0, "it runs without a fault");
	fault_pairs(&(struct place){ "arguments", arguments, the_args, job_refused_for, 0 },
		   args_faults, FAULT_COUNT(args_faults));
	fault_pairs(&(struct place){ "record", arguments, the_arg, job_refused_for, 1 },
		   arg_faults, FAULT_COUNT(arg_faults));
	arguments();
	fault_inject(j.block, &args_faults[3]);
	fault_inject((uint8_t *)record(0), &arg_faults[0]);
	ok(job_refused_for(&args_faults[3], 0), "the header before a record");
	arguments();
	fault_inject((uint8_t *)record(0), &arg_faults[5]);
	fault_inject((uint8_t *)record(1), &arg_faults[0]);
	ok(job_refused_for(&arg_faults[5], 0), "the last rule for record 0 before the first for record 1");
}

static void copy_arguments(void)
{
	job_args(&j, 1, 1);
	job_arg(record(0), 1, 0, 100);
	job_arg(record(1), 1, 4096, 100);
}

static bool copy_refused_for(const struct fault *f, uint32_t error)
{
	struct nnpu_sqe_execute sqe;
	struct nnpu_cqe cqe;
	int got;

	job_sqe(&j, 0, &sqe);
	sqe.opcode = NNPU_IO_COPY;
	got = rig_run(&rig, j.q, &sqe, &cqe);
	return fault_is(f, got, &cqe, error);
}

/* Of the output of a copy. */
static const struct fault copy_faults[] = {
	ARG(flags, NNPU_ARG_SHAPE, INVALID_FIELD, FLAGS),
	ARG(pad, 1, INVALID_FIELD, RESERVED),
	ARG(length, 99, ARG_SIZE, DATA_LENGTH),
	ARG(slot, 999, INVALID_SLOT, NONE),
};

static const struct fault copy_args_faults[] = {
	ARGS(flags, 1, INVALID_FIELD, FLAGS),
	ARGS(loop_timeout_ns, 1, INVALID_FIELD, RESERVED),
	ARGS(num_inputs, 2, ARG_COUNT, NONE),
};

static void test_copies(void)
{
	fault_pairs(&(struct place){ "copy", copy_arguments, the_args, copy_refused_for, 0 },
		   copy_args_faults, FAULT_COUNT(copy_args_faults));
	fault_pairs(&(struct place){ "record of a copy", copy_arguments, the_arg, copy_refused_for, 1 },
		   copy_faults, FAULT_COUNT(copy_faults));
}

int main(void)
{
	rig_open(&rig, NULL);
	if (!rig_enable(&rig) || !job_rig_init(&j, &rig, CTX, 1)) {
		ok(false, "the device comes up");
		return tap_done();
	}
	fault_pairs(&(struct place){ "header", build, the_header, refused_for, 0 },
		   header_faults, FAULT_COUNT(header_faults));
	fault_pairs(&(struct place){ "regions", build, the_header, refused_for, 0 },
		   region_faults, FAULT_COUNT(region_faults));
	fault_pairs(&(struct place){ "tensor", build, the_tensor, refused_for, 1 },
		   tensor_faults, FAULT_COUNT(tensor_faults));
	fault_pairs(&(struct place){ "command", build, the_command, refused_for, 1 },
		   command_faults, FAULT_COUNT(command_faults));
	test_stages();
	test_constants();
	test_flow();
	test_jobs();
	test_copies();
	rig_close(&rig);
	return tap_done();
}
