// SPDX-License-Identifier: MIT
/*
 * Points between operations: while an image is checked, and while a job finds shapes, places
 * tensors and transfers arguments, at the largest numbers that the device takes.
 */
#include "large_image.h"
#include "pace_watch.h"
#include "tap.h"
#include "ops/pace.h"

/* Most bytes of a record, operands of a command. */
#define WIDEST		65528u
#define MOST		65535u

/* Longest time without a point; the specification allows 10 ms. */
#define MAX_GAP_NS	(SLOWER * 4000000ull)
/* A load that frees very many tables comes close to that at its end. */
#define MAX_FREE_NS	(SLOWER * 10000000ull)

static struct rig rig;

/* LOAD_PROGRAM takes so many ms, and so many more for each MiB of the image and of constants. */
static uint32_t load_ms[3];

static void read_hints(void)
{
	struct nnpu_identify *id = rig_alloc(&rig, sizeof(*id));
	struct nnpu_sqe_identify c = { .opcode = NNPU_ADMIN_IDENTIFY, .addr = rig_addr(id) };

	rig_admin(&rig, &c, NULL);
	load_ms[0] = le32toh(id->load_ms);
	load_ms[1] = le32toh(id->load_image_ms);
	load_ms[2] = le32toh(id->load_const_ms);
}

/* What is tried again when it took too long. -1: it failed. */
typedef int (*try_fn)(void *arg);

static struct pace expect_pace(try_fn try, void *arg, uint64_t max_ns, const char *what)
{
	unsigned int tries = 0;
	struct pace pace;
	int ret;

	do {
		pace_watch_begin();
		ret = try(arg);
		pace = pace_watch_end();
	} while (!ret && pace.gap_ns > max_ns && ++tries < PACE_TRIES);
	ok(!ret && pace.gap_ns <= max_ns, "%s: %u points, %.2f ms without one", what,
	   pace.points, (double)pace.gap_ns / 1e6);
	return pace;
}

static int load(void *arg)
{
	struct large_image *im = arg;
	struct nnpu_cqe cqe;
	int status;

	rig_unload(&rig, 1, 1);
	status = large_image_load(im, &rig, 1, 1, &cqe);
	if (status)
		tap_note("load: status 0x%x reason %u error %u", (unsigned int)status,
			 le16toh(cqe.reason), le32toh(cqe.error));
	return status ? -1 : 0;
}

static void watch_loader(void)
{
	struct image im;

	image_add(&im, 4);
	pace_watch_next();
	rig_load(&rig, 1, 2, im.bytes, im.size, NULL);
	rig_unload(&rig, 1, 2);
	image_free(&im);
}

/*
 * Load the image, or find out how that goes. IDENTIFY has to say how long that takes. @constants: their
 * bytes, and those of scales.
 */
static void expect_load_pace(struct large_image *im, uint64_t constants, uint64_t max_ns,
			     const char *what)
{
	uint64_t ms = load_ms[0] + (uint64_t)(((double)load_ms[1] * (double)im->size +
					       (double)load_ms[2] * (double)constants) / (1 << 20));
	struct pace pace;

	watch_loader();
	pace = expect_pace(load, im, max_ns, what);
	ok(pace.busy_ns <= SLOWER * ms * 1000000, "%.0f ms of processor time, at most %llu by IDENTIFY",
	   (double)pace.busy_ns / 1e6, (unsigned long long)ms);
	large_image_free(im, &rig);
}

/* ABS of ABS ... of the input. @commands below @tensors. */
static void make_chain(struct large_image *im)
{
	uint32_t i;

	im->indexes = 2 * im->commands;
	im->inputs = 1;
	im->outputs = 1;
	large_image_init(im, &rig);
	for (i = 0; i < im->tensors; i++)
		large_tensor(im, i, NNPU_TYPE_TENSOR_FLOAT32,
			     i == 0 ? NNPU_TENSOR_INPUT :
			     i == im->commands ? NNPU_TENSOR_OUTPUT :
			     i < im->commands ? NNPU_TENSOR_TEMPORARY : NNPU_TENSOR_NO_VALUE, 1);
	for (i = 0; i < im->commands; i++) {
		large_operand(im, i);
		large_operand(im, i + 1);
		large_command(im, NNPU_OP_ABS, 1, 1);
	}
	large_input(im, 0, 0);
	large_output(im, 0, im->commands);
}

/* What a record has beyond what the device knows takes time, too. */
static void test_records(void)
{
	struct large_image tensors = { .tensors = 1000, .tensor_stride = WIDEST, .commands = 1 };
	struct large_image commands = { .tensors = 1001, .commands = 1000, .command_stride = WIDEST };

	make_chain(&tensors);
	expect_load_pace(&tensors, 0, MAX_GAP_NS, "1000 tensors of 64 KiB");
	make_chain(&commands);
	expect_load_pace(&commands, 0, MAX_GAP_NS, "1000 commands of 64 KiB");
}

/* Many tensors with the same table of scales: the device has a copy for each. */
static void test_scales(uint32_t scales, uint32_t tensors)
{
	struct large_image im = {
		.tensors = tensors, .commands = 1, .indexes = 2, .data_size = scales * 4,
		.inputs = 1, .outputs = 1,
	};
	char what[64];
	uint32_t i;

	large_image_init(&im, &rig);
	for (i = 0; i < scales; i++)
		memcpy(im.bytes + le32toh(large_header(&im)->data_off) + i * 4,
		       (float[]){ 1.0f }, 4);
	for (i = 0; i < tensors; i++) {
		struct nnpu_tensor_desc *d =
			large_tensor(&im, i, NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL,
				     NNPU_TENSOR_NO_VALUE, scales);

		d->num_channel_scales = htole32(scales);
	}
	large_tensor(&im, 0, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 1);
	large_tensor(&im, 1, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 1);
	large_operand(&im, 0);
	large_operand(&im, 1);
	large_command(&im, NNPU_OP_ABS, 1, 1);
	large_input(&im, 0, 0);
	large_output(&im, 0, 1);
	snprintf(what, sizeof(what), "%u tables of %u scales", tensors - 2, scales);
	expect_load_pace(&im, (tensors - 2) * scales * 4ull, MAX_FREE_NS, what);
}

/* Jobs of context 1 in kernel queue QID. Slots: 0 argument block, 1 operands. */

#define QID		1u
#define BLOCK_BYTES	(256u << 10)
#define OPERAND_BYTES	(16u << 20)

static struct nnpu_slot_entry *slots;
static uint8_t *block, *operands;

static bool start_jobs(void)
{
	const uint32_t rw = NNPU_SLOT_VALID | NNPU_SLOT_READ | NNPU_SLOT_WRITE;

	slots = rig_alloc(&rig, 16 * sizeof(*slots));
	block = rig_alloc(&rig, BLOCK_BYTES);
	operands = rig_alloc(&rig, OPERAND_BYTES);
	rig_slot(&slots[0], block, BLOCK_BYTES, rw);
	rig_slot(&slots[1], operands, OPERAND_BYTES, rw);
	return !rig_create_ctx(&rig, 1, slots, 16) &&
	       !rig_create_queue(&rig, QID, 0, NNPU_QUEUE_KERNEL, 16);
}

static struct nnpu_arg *arguments(uint16_t inputs, uint16_t outputs)
{
	struct nnpu_args_header *h = (struct nnpu_args_header *)block;

	memset(block, 0, 64 * (1u + inputs + outputs));
	h->num_inputs = htole16(inputs);
	h->num_outputs = htole16(outputs);
	return (struct nnpu_arg *)(h + 1);
}

static int execute(void *arg)
{
	const struct nnpu_args_header *h = (const struct nnpu_args_header *)block;
	struct nnpu_sqe_execute sqe = {
		.opcode = NNPU_IO_EXECUTE, .ctx = htole32(1), .program = htole32(1),
		.args_len = htole32(64 * (1u + le16toh(h->num_inputs) + le16toh(h->num_outputs))),
		.result_slot = htole32(NNPU_SLOT_NONE),
	};
	struct nnpu_cqe cqe;
	int status = rig_run(&rig, &rig.queues[QID], &sqe, &cqe);

	(void)arg;
	if (status)
		tap_note("job: status 0x%x reason %u error %u", (unsigned int)status,
			 le16toh(cqe.reason), le32toh(cqe.error));
	return status ? -1 : 0;
}

/* Load the image and run the job with the arguments. The first job takes memory, the second has it. */
/* Returns the number of points of the job. */
static unsigned int expect_job_pace(struct large_image *im, const char *what)
{
	char text[80];

	snprintf(text, sizeof(text), "load of %s", what);
	expect_load_pace(im, 0, MAX_FREE_NS, text);
	pace_watch_next();
	if (execute(NULL)) {
		ok(false, "%s", what);
		return 0;
	}
	return expect_pace(execute, NULL, MAX_GAP_NS, what).points;
}

/* @count commands SPLIT of tensor @in into MOST tensors, the first of which is @out. */
static void add_splits(struct large_image *im, uint32_t count, uint32_t in, uint32_t axis,
		       uint32_t parts, uint32_t out)
{
	uint32_t i, k;

	for (i = 0; i < count; i++) {
		large_operand(im, in);
		large_operand(im, axis);
		large_operand(im, parts);
		for (k = 0; k < MOST; k++)
			large_operand(im, out++);
		large_command(im, NNPU_OP_SPLIT, 3, MOST);
	}
}

/* The input has MOST elements, which the program does not say. */
static void unknown_input(void)
{
	struct nnpu_arg *args = arguments(1, 1);

	job_arg(&args[0], 1, 0, MOST * 4);
	args[0].flags = htole16(NNPU_ARG_SHAPE);
	args[0].rank = 1;
	args[0].dims[0] = htole32(MOST);
	job_arg(&args[1], 1, MOST * 8, MOST * 4);
}

/* Commands with very many outputs, of shapes that are found while the job runs. */
static void test_outputs(void)
{
	enum { IN, AXIS, PARTS, OUT, SPLITS = 9 };
	struct large_image im = {
		.tensors = OUT + SPLITS * MOST, .commands = SPLITS,
		.indexes = SPLITS * (3 + MOST), .data_size = 16, .inputs = 1, .outputs = 1,
	};
	uint32_t i;

	large_image_init(&im, &rig);
	large_tensor(&im, IN, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 0);
	large_scalar(&im, AXIS, 0);
	large_scalar(&im, PARTS, MOST);
	for (i = OUT; i < im.tensors; i++)
		large_tensor(&im, i, NNPU_TYPE_TENSOR_FLOAT32,
			     i == OUT ? NNPU_TENSOR_OUTPUT : NNPU_TENSOR_TEMPORARY, 0);
	add_splits(&im, SPLITS, IN, AXIS, PARTS, OUT);
	large_input(&im, 0, IN);
	large_output(&im, 0, OUT);
	unknown_input();
	expect_job_pace(&im, "9 commands with 65535 outputs");
}

/* The same in a block that a branch enters. */
static void test_block(void)
{
	enum { IN, AXIS, PARTS, OUT, CONDITION, IN_A, IN_B, OUT_B, OUT_A, SPLITS = 9 };
	struct large_image im = {
		.tensors = OUT_A + SPLITS * MOST, .commands = SPLITS + 4,
		.indexes = SPLITS * (3 + MOST) + 9, .data_size = 32, .inputs = 1, .outputs = 1,
	};
	struct nnpu_tensor_desc *d;
	struct nnpu_command *c;
	uint32_t i;

	large_image_init(&im, &rig);
	large_tensor(&im, IN, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 0);
	large_scalar(&im, AXIS, 0);
	large_scalar(&im, PARTS, MOST);
	large_tensor(&im, OUT, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 0);
	large_scalar(&im, CONDITION, 1);
	d = large_tensor(&im, CONDITION, NNPU_TYPE_TENSOR_BOOL8, NNPU_TENSOR_INLINE, 1);
	d->data_off = htole64(16);
	d->data_len = htole64(1);
	for (i = IN_A; i < im.tensors; i++)
		large_tensor(&im, i, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_TEMPORARY, 0);
	large_operand(&im, CONDITION);
	large_operand(&im, IN);
	large_operand(&im, OUT);
	c = large_command(&im, NNPU_CMD_BRANCH, 2, 1);
	c->target[0] = htole32(1);
	c->target[1] = htole32(2 + SPLITS);
	large_operand(&im, IN_A);
	large_operand(&im, OUT_A);
	large_command(&im, NNPU_CMD_BLOCK, 1, 1);
	add_splits(&im, SPLITS, IN_A, AXIS, PARTS, OUT_A);
	large_operand(&im, IN_B);
	large_operand(&im, OUT_B);
	large_command(&im, NNPU_CMD_BLOCK, 1, 1);
	large_operand(&im, IN_B);
	large_operand(&im, OUT_B);
	large_command(&im, NNPU_OP_ABS, 1, 1);
	large_input(&im, 0, IN);
	large_output(&im, 0, OUT);
	unknown_input();
	expect_job_pace(&im, "the same in a block");
}

/* A job that omits an input looks at the operands of all commands. */
static void test_omitted(void)
{
	enum { IN, OMITTED, AXIS, OUT, COMMANDS = 60 };
	struct large_image im = {
		.tensors = OUT + COMMANDS, .commands = COMMANDS,
		.indexes = COMMANDS * (MOST + 1), .data_size = 8, .inputs = 2, .outputs = 1,
	};
	struct nnpu_arg *args;
	uint32_t i, k;

	large_image_init(&im, &rig);
	large_tensor(&im, IN, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 1);
	large_tensor(&im, OMITTED, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 1);
	large_scalar(&im, AXIS, 0);
	for (i = 0; i < COMMANDS; i++) {
		large_tensor(&im, OUT + i, NNPU_TYPE_TENSOR_FLOAT32,
			     i ? NNPU_TENSOR_TEMPORARY : NNPU_TENSOR_OUTPUT, 0);
		for (k = 0; k < MOST - 1; k++)
			large_operand(&im, IN);
		large_operand(&im, AXIS);
		large_operand(&im, OUT + i);
		large_command(&im, NNPU_OP_CONCATENATION, MOST, 1);
	}
	large_input(&im, 0, IN);
	large_input(&im, 1, OMITTED);
	large_output(&im, 0, OUT);
	args = arguments(2, 1);
	job_arg(&args[0], 1, 0, 4);
	args[1].flags = htole16(NNPU_ARG_NO_VALUE);
	job_arg(&args[2], 1, 4096, MOST * 4);
	expect_job_pace(&im, "60 commands with 65535 inputs, beside one that is omitted");
}

/* Arguments so small that none has a point itself. */
static void test_arguments(void)
{
	enum { IN, ARGS = 2000, SIZE = 1024, OUT = IN + ARGS };
	struct large_image im = {
		.tensors = OUT + ARGS, .commands = ARGS, .indexes = 2 * ARGS,
		.inputs = ARGS, .outputs = ARGS,
	};
	struct nnpu_arg *args = arguments(ARGS, ARGS);
	unsigned int points;
	uint32_t i;

	large_image_init(&im, &rig);
	for (i = 0; i < ARGS; i++) {
		large_tensor(&im, IN + i, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, SIZE);
		large_tensor(&im, OUT + i, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, SIZE);
		large_input(&im, i, IN + i);
		large_output(&im, i, OUT + i);
		large_operand(&im, IN + i);
		large_operand(&im, OUT + i);
		large_command(&im, NNPU_OP_ABS, 1, 1);
		job_arg(&args[i], 1, 0, SIZE * 4);
		job_arg(&args[ARGS + i], 1, SIZE * 4 * (1 + i), SIZE * 4);
	}
	points = expect_job_pace(&im, "2 x 2000 arguments of 4 KiB");
	ok(points >= ARGS + 2 * (ARGS / 64), "points of their commands, and two for each 64 arguments");
}

int main(void)
{
	rig_open(&rig, NULL);
	if (!rig_enable(&rig) || !start_jobs()) {
		printf("Bail out! the device does not start\n");
		return 1;
	}
	read_hints();
	test_records();
	/* Sanitizers look at all of an allocation at once. */
	test_scales(1 << 17, SLOWER > 1 ? 100 : 1900);
	/* The last run of scales of each table is the longest that is not a whole run. */
	test_scales(OP_PACE_RUN - 1, SLOWER > 1 ? 1000 : 4098);
	test_outputs();
	test_block();
	test_omitted();
	test_arguments();
	rig_close(&rig);
	return tap_done();
}
