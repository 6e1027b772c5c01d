// SPDX-License-Identifier: MIT
/* Program images: every rule is broken once and must be named by the refusal. */
#include <endian.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "expect_load.h"
#include "rig.h"
#include "tap.h"

#define CTX	1u

static struct rig rig;
static struct image im;

/*
 * Tensors: 0, 1 inputs [4], 2 output [4], 3 scalar 0, 4 temporary [4], 5 constant [4],
 * 6 quantized input [8], 7 quantized temporary (unused), 8 omitted (unused).
 * Commands: 4 = 0 + 1; 2 = 4 + 5.
 */
static void build(void)
{
	const float values[4] = { 1, 2, 3, 4 };

	image_init(&im);
	image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 4, -1);
	image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 4, -1);
	image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 4, -1);
	image_scalar(&im, 0);
	image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_TEMPORARY, 4, -1);
	image_const(&im, NNPU_TYPE_TENSOR_FLOAT32, 4, values, sizeof(values));
	image_quant(&im, NNPU_TYPE_TENSOR_QUANT8_ASYMM, NNPU_TENSOR_INPUT, 0.5f, 128, 8);
	image_quant(&im, NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED, NNPU_TENSOR_TEMPORARY, 0.5f, -1, 8);
	image_omitted(&im, NNPU_TYPE_TENSOR_INT32);
	im.tensors[8].rank = 1;
	im.tensors[8].dims[0] = htole32(3);
	image_command(&im, NNPU_OP_ADD, 3, 1, 0u, 1u, 3u, 4u);
	image_command(&im, NNPU_OP_ADD, 3, 1, 4u, 5u, 3u, 2u);
	image_finish(&im);
}

static void header(const char *what, unsigned int offset, unsigned int bytes, uint64_t value,
		   unsigned int reason)
{
	uint64_t le = htole64(value);

	build();
	memcpy(im.bytes + offset, &le, bytes);
	expect_load(&rig, CTX, &im, what, NNPU_STATUS_PROGRAM_HEADER, reason, 0, NNPU_OPERAND_NONE);
}

#define HEADER(field, value, reason) \
	header("header " #field " = " #value, offsetof(struct nnpu_program_header, field), \
	       sizeof(((struct nnpu_program_header *)0)->field), value, NNPU_REASON_##reason)

static void test_header(void)
{
	HEADER(magic, 0, MAGIC);
	HEADER(version, NNPU_PROGRAM_VERSION + 1, VERSION);
	HEADER(header_size, 72, SIZE);
	HEADER(size, 64, SIZE);
	HEADER(size, 0xffffffff, SIZE);
	HEADER(flags, 2, FLAGS);
	HEADER(reserved, 1, RESERVED);
	HEADER(tensors_off, 65, ALIGNMENT);
	HEADER(commands_off, 4, ALIGNMENT);
	HEADER(indexes_off, 0x10001, ALIGNMENT);
	HEADER(data_off, 66, ALIGNMENT);
	HEADER(tensors_off, 0, RANGE);
	HEADER(commands_off, 32, RANGE);
	HEADER(tensors_off, 0xfffffff8, SIZE);
	HEADER(num_tensors, 0xffffffff, SIZE);
	HEADER(num_commands, 0x10000000, SIZE);
	HEADER(num_indexes, 0x40000001, SIZE);
	HEADER(data_size, 0xffffffff, SIZE);
	HEADER(commands_off, 64, RANGE);
	HEADER(data_off, 64, RANGE);
	HEADER(num_commands, 0, SIZE);
	HEADER(num_outputs, 0, SIZE);
	HEADER(num_inputs, 4096, SIZE);
	HEADER(inputs_first, 10, RANGE);
	HEADER(inputs_first, 0xffffffff, RANGE);
	HEADER(outputs_first, 12, RANGE);

	build();
	image_header(&im)->num_tensors = htole32(0xffffffff);
	image_header(&im)->commands_off = htole32(32);
	expect_load(&rig, CTX, &im, "one region too large, a later one in the header",
		    NNPU_STATUS_PROGRAM_HEADER, NNPU_REASON_RANGE, 0, NNPU_OPERAND_NONE);
	image_free(&im);

	build();
	image_header(&im)->size = htole32(im.size - 4);
	im.size -= 4;
	expect_load(&rig, CTX, &im, "size not a multiple of 8", NNPU_STATUS_PROGRAM_HEADER,
		    NNPU_REASON_SIZE, 0, NNPU_OPERAND_NONE);
}

static void tensor(const char *what, uint32_t index, unsigned int offset, unsigned int bytes,
		   uint64_t value, unsigned int reason)
{
	uint64_t le = htole64(value);

	build();
	memcpy((uint8_t *)image_desc(&im, index) + offset, &le, bytes);
	expect_load(&rig, CTX, &im, what, NNPU_STATUS_PROGRAM_TENSOR, reason, index,
		    NNPU_OPERAND_NONE);
}

#define TENSOR(index, field, value, reason) \
	tensor("tensor " #index " " #field " = " #value, index, \
	       offsetof(struct nnpu_tensor_desc, field), \
	       sizeof(((struct nnpu_tensor_desc *)0)->field), value, NNPU_REASON_##reason)

static uint32_t bits(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof(u));
	return u;
}

static void test_tensors(void)
{
	TENSOR(0, type, 15, TYPE);
	TENSOR(0, type, 16, TYPE);
	TENSOR(0, type, 0xffff, TYPE);
	TENSOR(0, kind, 6, LIFETIME);
	TENSOR(0, flags, 2, FLAGS);
	TENSOR(0, reserved, 1, RESERVED);
	TENSOR(0, params_off, 8, PARAMS);
	TENSOR(0, params_len, 8, PARAMS);
	TENSOR(0, slot, 1, RESERVED);
	TENSOR(0, data_off, 8, RESERVED);
	TENSOR(0, data_len, 16, RESERVED);
	TENSOR(5, slot, 1, RESERVED);
	TENSOR(0, rank, 0, RANK);
	TENSOR(0, rank, 9, RANK);
	TENSOR(0, rank, 255, RANK);
	TENSOR(3, rank, 1, RANK);
	TENSOR(3, flags, 1, RANK);
	TENSOR(0, flags, 1, RANK);
	TENSOR(0, dims[1], 1, DIMENSION);
	TENSOR(0, dims[7], 1, DIMENSION);
	TENSOR(5, dims[0], 0, DIMENSION);
	TENSOR(0, dims[0], (256u << 20) / 4 + 1, OVERFLOW);
	TENSOR(0, dims[0], 0xffffffff, OVERFLOW);
	TENSOR(0, scale, bits(1), SCALE);
	TENSOR(3, scale, bits(1), SCALE);
	TENSOR(6, scale, bits(0), SCALE);
	TENSOR(6, scale, bits(-1), SCALE);
	TENSOR(6, scale, bits(NAN), SCALE);
	TENSOR(6, scale, bits(INFINITY), SCALE);
	TENSOR(8, scale, bits(-1), SCALE);
	TENSOR(0, zero_point, 1, ZERO_POINT);
	TENSOR(6, zero_point, (uint32_t)-1, ZERO_POINT);
	TENSOR(6, zero_point, 256, ZERO_POINT);
	TENSOR(7, zero_point, (uint32_t)-129, ZERO_POINT);
	TENSOR(7, zero_point, 128, ZERO_POINT);
	TENSOR(8, zero_point, 1, ZERO_POINT);
	TENSOR(0, channel_dim, 1, CHANNEL_QUANT);
	TENSOR(0, num_channel_scales, 1, CHANNEL_QUANT);
	TENSOR(0, channel_scales_off, 4, CHANNEL_QUANT);
	TENSOR(5, data_off, 0xfffffffffffffff8, RANGE);
	TENSOR(5, data_off, 16, RANGE);
	TENSOR(5, data_len, 12, DATA_LENGTH);
	TENSOR(5, dims[0], 5, DATA_LENGTH);
	TENSOR(3, data_len, 3, DATA_LENGTH);

	build();
	image_desc(&im, 0)->rank = 8;
	for (unsigned int i = 0; i < 8; i++)
		image_desc(&im, 0)->dims[i] = htole32(256);
	expect_load(&rig, CTX, &im, "2^64 elements", NNPU_STATUS_PROGRAM_TENSOR,
		    NNPU_REASON_OVERFLOW, 0, NNPU_OPERAND_NONE);
}

/* A per-channel filter as tensor 9 with two good scales at 32 of the inline data. */
static struct nnpu_tensor_desc *build_channel(void)
{
	const float scales[2] = { 0.5f, 0.25f };
	const uint8_t filter[4] = { 1, 2, 3, 4 };
	struct nnpu_tensor_desc *d;
	uint32_t off;

	build();
	image_free(&im);
	im.num_indexes -= im.num_inputs + im.num_outputs;
	off = (im.data_size + 7) & ~7u;
	memcpy(im.data + off, scales, sizeof(scales));
	im.data_size = off + sizeof(scales);
	image_const(&im, NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL, 2, filter, sizeof(filter));
	image_finish(&im);
	d = image_desc(&im, 9);
	d->rank = 2;
	d->dims[0] = htole32(2);
	d->dims[1] = htole32(2);
	d->num_channel_scales = htole32(2);
	d->channel_scales_off = htole32(off);
	return d;
}

static void channel(const char *what)
{
	expect_load(&rig, CTX, &im, what, NNPU_STATUS_PROGRAM_TENSOR, NNPU_REASON_CHANNEL_QUANT, 9,
		    NNPU_OPERAND_NONE);
}

static void test_channel_quant(void)
{
	struct nnpu_tensor_desc *d;
	float bad = -1;

	build_channel();
	expect_load(&rig, CTX, &im, "good per-channel constant", 0, 0, 0, NNPU_OPERAND_NONE);
	d = build_channel();
	d->channel_dim = htole32(2);
	channel("channel_dim above the rank");
	d = build_channel();
	d->num_channel_scales = htole32(1);
	channel("one scale missing");
	d = build_channel();
	d->num_channel_scales = 0;
	channel("no scales");
	d = build_channel();
	d->channel_scales_off = htole32(0xfffffffc);
	channel("scales outside the data");
	d = build_channel();
	d->channel_scales_off = htole32(34);
	channel("scales misaligned");
	d = build_channel();
	memcpy(im.bytes + le32toh(image_header(&im)->data_off) + le32toh(d->channel_scales_off),
	       &bad, 4);
	channel("negative scale");
}

static void test_interface(void)
{
	const uint32_t inputs = 8, outputs = 11;
	const unsigned int status = NNPU_STATUS_PROGRAM_TENSOR;

	build();
	*image_index(&im, inputs) = htole32(9);
	expect_load(&rig, CTX, &im, "input index out of range", status, NNPU_REASON_RANGE, 9,
		    NNPU_OPERAND_NONE);
	build();
	*image_index(&im, inputs + 1) = 0;
	expect_load(&rig, CTX, &im, "input listed twice", status, NNPU_REASON_LIFETIME, 0,
		    NNPU_OPERAND_NONE);
	build();
	*image_index(&im, inputs) = htole32(4);
	expect_load(&rig, CTX, &im, "temporary listed as input", status, NNPU_REASON_LIFETIME, 4,
		    NNPU_OPERAND_NONE);
	build();
	*image_index(&im, outputs) = htole32(0);
	expect_load(&rig, CTX, &im, "input listed as output", status, NNPU_REASON_LIFETIME, 0,
		    NNPU_OPERAND_NONE);
	build();
	image_desc(&im, 7)->kind = NNPU_TENSOR_INPUT;
	expect_load(&rig, CTX, &im, "input not listed", status, NNPU_REASON_LIFETIME, 7,
		    NNPU_OPERAND_NONE);
	build();
	image_desc(&im, 4)->kind = NNPU_TENSOR_OUTPUT;
	expect_load(&rig, CTX, &im, "output not listed", status, NNPU_REASON_LIFETIME, 4,
		    NNPU_OPERAND_NONE);
	build();
	*image_index(&im, 7) = htole32(7);
	image_desc(&im, 7)->type = htole16(NNPU_TYPE_TENSOR_FLOAT32);
	image_desc(&im, 7)->scale = 0;
	image_desc(&im, 7)->zero_point = 0;
	image_desc(&im, 7)->dims[0] = htole32(4);
	expect_load(&rig, CTX, &im, "output never written", status, NNPU_REASON_NOT_WRITTEN, 2,
		    NNPU_OPERAND_NONE);
}

static void command(const char *what, unsigned int offset, unsigned int bytes, uint32_t value,
		    unsigned int reason, unsigned int operand)
{
	uint32_t le = htole32(value);

	build();
	memcpy((uint8_t *)image_cmd(&im, 1) + offset, &le, bytes);
	expect_load(&rig, CTX, &im, what, NNPU_STATUS_PROGRAM_COMMAND, reason, 1, operand);
}

#define COMMAND(field, value, reason) \
	command("command " #field " = " #value, offsetof(struct nnpu_command, field), \
		sizeof(((struct nnpu_command *)0)->field) > 4 ? 4 : \
		sizeof(((struct nnpu_command *)0)->field), value, NNPU_REASON_##reason, \
		NNPU_OPERAND_NONE)

static void operand(const char *what, uint32_t position, uint32_t tensor, unsigned int reason,
		    uint32_t cmd, unsigned int number)
{
	build();
	*image_index(&im, position) = htole32(tensor);
	expect_load(&rig, CTX, &im, what, NNPU_STATUS_PROGRAM_COMMAND, reason, cmd, number);
}

static void test_commands(void)
{
	COMMAND(flags, 1, FLAGS);
	COMMAND(target[0], 1, RESERVED);
	COMMAND(target[1], 1, RESERVED);
	COMMAND(reserved, 1, RESERVED);
	COMMAND(opcode, NNPU_OP_IF, OPERATION);
	COMMAND(opcode, NNPU_OP_WHILE, OPERATION);
	COMMAND(opcode, 102, OPERATION);
	COMMAND(opcode, NNPU_CMD_BLOCK + 1, OPERATION);
	COMMAND(opcode, NNPU_CMD_EXTENSION - 1, OPERATION);
	COMMAND(num_outputs, 0, SIZE);
	COMMAND(operands_first, 0xffffffff, SIZE);
	COMMAND(num_inputs, 0xffff, SIZE);
	operand("input index out of range", 4, 9, NNPU_REASON_RANGE, 1, 0);
	operand("output index out of range", 7, 0xffffffff, NNPU_REASON_RANGE, 1, 3);
	operand("reads what is written later", 0, 2, NNPU_REASON_NOT_WRITTEN, 0, 0);
	operand("reads what it writes", 4, 2, NNPU_REASON_NOT_WRITTEN, 1, 0);
	operand("reads what is never written", 5, 7, NNPU_REASON_NOT_WRITTEN, 1, 1);
	operand("writes an input", 7, 0, NNPU_REASON_NOT_WRITABLE, 1, 3);
	operand("writes a constant", 7, 5, NNPU_REASON_NOT_WRITABLE, 1, 3);
	operand("writes an omitted operand", 7, 8, NNPU_REASON_NOT_WRITABLE, 1, 3);
	operand("writes a second time", 7, 4, NNPU_REASON_WRITTEN_TWICE, 1, 3);

	build();
	image_cmd(&im, 1)->num_inputs = htole16(2);
	image_cmd(&im, 1)->operands_first = htole32(5);
	*image_index(&im, 5) = htole32(4);
	expect_load(&rig, CTX, &im, "too few operands", NNPU_STATUS_PROGRAM_COMMAND,
		    NNPU_REASON_OPERAND_COUNT, 1, NNPU_OPERAND_NONE);
	build();
	*image_index(&im, 5) = htole32(6);
	expect_load(&rig, CTX, &im, "operand of another type", NNPU_STATUS_PROGRAM_COMMAND,
		    NNPU_REASON_TYPE, 1, 1);
	build();
	image_desc(&im, 2)->dims[0] = htole32(5);
	expect_load(&rig, CTX, &im, "output shape that does not follow",
		    NNPU_STATUS_PROGRAM_COMMAND, NNPU_REASON_SHAPE_MISMATCH, 1, 3);
	build();
	image_cmd(&im, 1)->opcode = htole32(NNPU_CMD_EXTENSION + 0xff00);
	expect_load(&rig, CTX, &im, "extension", NNPU_STATUS_PROGRAM_UNSUPPORTED,
		    NNPU_REASON_OPERATION, 1, NNPU_OPERAND_NONE);
}

/* Commands that share one piece of the index pool must not cost without limit. */
static void test_many_operands(void)
{
	enum { INPUTS = 60000, COMMANDS = 100 };
	uint32_t i, off = sizeof(struct nnpu_program_header) + sizeof(struct nnpu_tensor_desc);
	uint8_t *image = rig_alloc(&rig, 1u << 20);
	struct nnpu_program_header *h = (struct nnpu_program_header *)image;
	struct nnpu_tensor_desc *t = (struct nnpu_tensor_desc *)(h + 1);
	struct nnpu_command *c = (struct nnpu_command *)(image + off);
	struct nnpu_cqe cqe;
	int status;

	*t = (struct nnpu_tensor_desc) {
		.type = htole16(NNPU_TYPE_TENSOR_FLOAT32), .kind = NNPU_TENSOR_OUTPUT, .rank = 1,
		.dims = { htole32(1) },
	};
	for (i = 0; i < COMMANDS; i++)
		c[i] = (struct nnpu_command) {
			.opcode = htole32(NNPU_OP_CONCATENATION),
			.num_inputs = htole16(INPUTS),
			.num_outputs = htole16(1),
		};
	off += COMMANDS * sizeof(*c);
	*h = (struct nnpu_program_header) {
		.magic = htole32(NNPU_PROGRAM_MAGIC),
		.version = htole16(NNPU_PROGRAM_VERSION),
		.header_size = htole16(sizeof(*h)),
		.tensor_stride = htole16(sizeof(*t)),
		.command_stride = htole16(sizeof(*c)),
		.tensors_off = htole32(sizeof(*h)),
		.num_tensors = htole32(1),
		.commands_off = htole32(sizeof(*h) + sizeof(*t)),
		.num_commands = htole32(COMMANDS),
		.indexes_off = htole32(off),
		.num_indexes = htole32(INPUTS + 8),
		.data_off = htole32(sizeof(*h)),
		.num_outputs = htole16(1),
	};
	off += (INPUTS + 8) * 4;
	h->size = htole32(off);
	status = rig_load(&rig, CTX, 1, image, off, &cqe);
	ok(status == NNPU_STATUS_PROGRAM_COMMAND && le16toh(cqe.reason) == NNPU_REASON_SIZE,
	   "6 million operands in a quarter of a megabyte are refused");
}

static void test_check(void)
{
	struct nnpu_command_report reports[2];
	struct nnpu_cqe cqe;

	build();
	ok(rig_check(&rig, CTX, im.bytes, im.size, 2, reports, &cqe) == 0 && !reports[0].status &&
	   !reports[1].status && le16toh(reports[1].operand) == NNPU_OPERAND_NONE,
	   "LOAD_CHECK: both commands good");
	ok(rig_read(&rig, NNPU_REG_PROGRAMS) == 0 && rig_read64(&rig, NNPU_REG_MEM_USED_LO) == 0,
	   "nothing is kept");
	ok(rig_check(&rig, CTX, im.bytes, im.size, 1, reports, &cqe) == NNPU_STATUS_INVALID_FIELD &&
	   reports[0].status == 0xffff, "wrong number of reports");
	image_cmd(&im, 0)->opcode = htole32(NNPU_CMD_EXTENSION + 0xff00);
	ok(rig_check(&rig, CTX, im.bytes, im.size, 2, reports, &cqe) == 0 &&
	   le16toh(reports[0].status) == NNPU_STATUS_PROGRAM_UNSUPPORTED && !reports[1].status,
	   "an unsupported command is no error");
	*image_index(&im, 5) = htole32(6);
	ok(rig_check(&rig, CTX, im.bytes, im.size, 2, reports, &cqe) == NNPU_STATUS_PROGRAM_COMMAND &&
	   le32toh(cqe.error) == 1 && le16toh(cqe.reason) == NNPU_REASON_TYPE &&
	   le16toh(reports[0].status) == NNPU_STATUS_PROGRAM_UNSUPPORTED &&
	   le16toh(reports[1].status) == NNPU_STATUS_PROGRAM_COMMAND &&
	   le16toh(reports[1].operand) == 1, "a malformed one is, and all are reported");
	image_desc(&im, 0)->rank = 0;
	ok(rig_check(&rig, CTX, im.bytes, im.size, 2, reports, &cqe) == NNPU_STATUS_PROGRAM_TENSOR &&
	   reports[0].status == 0xffff, "a malformed tensor: no report is written");
	image_free(&im);

	/* Shapes that only a job has. */
	image_add(&im, 0);
	ok(rig_check(&rig, CTX, im.bytes, im.size, 1, reports, &cqe) == 0 && !reports[0].status,
	   "unknown dimensions are no error");
	image_free(&im);
}

/* That the device lacks memory is no fault of a command. */
static void test_check_memory(void)
{
	struct nnpu_sqe_create_ctx c = {
		.opcode = NNPU_ADMIN_CREATE_CTX, .ctx = htole32(CTX + 1),
		.slot_table = rig_addr(rig_alloc(&rig, 4096)), .num_slots = htole32(16),
	};
	unsigned int bad = 0, refused = 0, limit = 0;
	struct nnpu_command_report reports[2];
	int status;

	build();
	do {
		limit += 32;
		c.mem_limit = htole64(limit);
		bad += rig_admin(&rig, &c, NULL) != 0;
		status = rig_check(&rig, CTX + 1, im.bytes, im.size, 2, reports, NULL);
		rig_destroy_ctx(&rig, CTX + 1);
		refused += status == NNPU_STATUS_NO_MEMORY;
		bad += status == NNPU_STATUS_NO_MEMORY &&
		       (reports[0].status != 0xffff || reports[1].status != 0xffff);
	} while (status == NNPU_STATUS_NO_MEMORY && limit < 65536);
	ok(!status && refused && !bad && !reports[0].status && !reports[1].status,
	   "LOAD_CHECK with too little memory: NO_MEMORY and no report, up to %u bytes", limit);
	image_free(&im);
}

static void test_slot_constant(struct nnpu_slot_entry *slots)
{
	float *data = rig_alloc(&rig, 4096);
	struct nnpu_tensor_desc *d;

	rig_slot(&slots[0], data, 32, NNPU_SLOT_VALID | NNPU_SLOT_READ);
	rig_slot(&slots[1], data, 32, NNPU_SLOT_VALID | NNPU_SLOT_WRITE);
	build();
	d = image_desc(&im, 5);
	d->kind = NNPU_TENSOR_SLOT;
	d->data_off = htole64(16);
	expect_load(&rig, CTX, &im, "constant in a slot", 0, 0, 0, NNPU_OPERAND_NONE);
	build();
	d = image_desc(&im, 5);
	d->kind = NNPU_TENSOR_SLOT;
	d->data_off = htole64(20);
	expect_load(&rig, CTX, &im, "beyond the slot", NNPU_STATUS_SLOT_BOUNDS, 0, 5,
		    NNPU_OPERAND_NONE);
	build();
	d = image_desc(&im, 5);
	d->kind = NNPU_TENSOR_SLOT;
	d->data_off = 0;
	d->slot = htole32(1);
	expect_load(&rig, CTX, &im, "slot that cannot be read", NNPU_STATUS_SLOT_RIGHTS, 0, 5,
		    NNPU_OPERAND_NONE);
	build();
	d = image_desc(&im, 5);
	d->kind = NNPU_TENSOR_SLOT;
	d->data_off = 0;
	d->slot = htole32(7);
	expect_load(&rig, CTX, &im, "absent slot", NNPU_STATUS_INVALID_SLOT, 0, 5,
		    NNPU_OPERAND_NONE);
}

int main(void)
{
	struct nnpu_slot_entry *slots;

	rig_open(&rig, NULL);
	rig_enable(&rig);
	slots = rig_alloc(&rig, 4096);
	rig_create_ctx(&rig, CTX, slots, 16);
	build();
	expect_load(&rig, CTX, &im, "a good program", 0, 0, 0, NNPU_OPERAND_NONE);
	test_header();
	test_tensors();
	test_channel_quant();
	test_interface();
	test_commands();
	test_many_operands();
	test_check();
	test_check_memory();
	test_slot_constant(slots);
	ok(rig_read64(&rig, NNPU_REG_MEM_USED_LO) == 0, "no device memory was lost");
	rig_close(&rig);
	return tap_done();
}
