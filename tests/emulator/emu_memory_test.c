// SPDX-License-Identifier: MIT
/*
 * Work memory of operations and of loads is charged before it is allocated: to the device and to
 * the limit of the context.
 */
#include <endian.h>
#include <string.h>

#include "core/device_memory.h"
#include "sample_images.h"
#include "tap.h"

/* Boxes: their shape inference needs 8 bytes for each of 2 classes. */
#define BOXES		65536u
#define WORK		(BOXES * 2 * 8ull)
#define SIZE		(BOXES * 44ull + 4096)
#define MEMORY		(32ull << 20)

enum { CTX = 1, TIGHT = 2 };

static struct rig rig;
static struct nnpu_slot_entry *slots;
static uint8_t *block, *boxes;

/* BOX_WITH_NMS_LIMIT of inputs: only the job knows how many boxes are left. */
static void image_nms(struct image *im)
{
	uint32_t in[9], out[4];

	image_init(im);
	in[0] = image_tensor(im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, (int)BOXES, 2, -1);
	in[1] = image_tensor(im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, (int)BOXES, 8, -1);
	in[2] = image_tensor(im, NNPU_TYPE_TENSOR_INT32, NNPU_TENSOR_INPUT, (int)BOXES, -1);
	in[3] = image_scalar_f32(im, 0.5f);
	in[4] = image_scalar(im, -1);
	in[5] = image_scalar(im, 0);
	in[6] = image_scalar_f32(im, 0.5f);
	in[7] = image_scalar_f32(im, 0.5f);
	in[8] = image_scalar_f32(im, 0.5f);
	out[0] = image_tensor(im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 0, -1);
	out[1] = image_tensor(im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 0, 4, -1);
	out[2] = image_tensor(im, NNPU_TYPE_TENSOR_INT32, NNPU_TENSOR_OUTPUT, 0, -1);
	out[3] = image_tensor(im, NNPU_TYPE_TENSOR_INT32, NNPU_TENSOR_OUTPUT, 0, -1);
	image_command(im, NNPU_OP_BOX_WITH_NMS_LIMIT, 9, 4, in[0], in[1], in[2], in[3], in[4],
		      in[5], in[6], in[7], in[8], out[0], out[1], out[2], out[3]);
	image_finish(im);
}

static int create(uint32_t ctx, uint64_t limit)
{
	struct nnpu_sqe_create_ctx c = {
		.opcode = NNPU_ADMIN_CREATE_CTX, .ctx = htole32(ctx),
		.slot_table = rig_addr(slots), .num_slots = htole32(16),
		.mem_limit = htole64(limit),
	};

	return rig_admin(&rig, &c, NULL);
}

/* Run the program in context @ctx; the status. */
static int run(uint32_t ctx)
{
	static const uint64_t sizes[] = { BOXES * 8, BOXES * 32, BOXES * 4, 4, 16, 4, 4 };
	struct job_rig j = {
		.rig = &rig, .ctx = ctx, .slots = slots, .block = block, .operands = boxes,
		.q = &rig.queues[1],
	};
	struct nnpu_arg *args = job_args(&j, 3, 4);
	uint64_t at = 0;
	unsigned int i;

	for (i = 0; i < 7; i++) {
		job_arg(&args[i], 1, at, sizes[i]);
		at += sizes[i];
	}
	return job_execute(&j, 1, NULL);
}

/* Page tables that the device keeps are charged until INVALIDATE_SLOTS. */
static void test_page_tables(void)
{
	const uint32_t rw = NNPU_SLOT_VALID | NNPU_SLOT_READ | NNPU_SLOT_WRITE;
	const uint64_t nodes = (SIZE - 1) / (2 << 20) + 1;
	uint64_t with, without;

	rig_table(&rig, boxes, SIZE, 2, &slots[1].mem);
	rig_invalidate(&rig, CTX, 1, 1);
	ok(!run(CTX), "job with page tables");
	with = rig_read64(&rig, NNPU_REG_MEM_USED_LO);
	rig_invalidate(&rig, CTX, 1, 1);
	without = rig_read64(&rig, NNPU_REG_MEM_USED_LO);
	/* Nodes of 4 KiB for 2 MiB each, and their index. */
	ok(with - without == nodes * 4096 + mem_size(nodes * 8),
	   "page tables: %llu bytes", (unsigned long long)(with - without));
	rig_slot(&slots[1], boxes, SIZE, rw);
	rig_invalidate(&rig, CTX, 1, 1);
}

/* What the work of jobs took from a group comes back. */
static void test_group(const struct image *im)
{
	struct nnpu_sqe_create_ctx c = {
		.opcode = NNPU_ADMIN_CREATE_CTX, .ctx = htole32(TIGHT),
		.slot_table = rig_addr(slots), .num_slots = htole32(16), .group = htole32(7),
	};
	unsigned int i;

	ok(!rig_admin(&rig, &c, NULL) && !rig_load(&rig, TIGHT, 1, im->bytes, im->size, NULL),
	   "a context of a group");
	for (i = 0; i < 2 * MEMORY / WORK; i++)
		if (run(TIGHT))
			break;
	ok(i == 2 * MEMORY / WORK, "jobs of the group: %u", i);
	rig_destroy_ctx(&rig, TIGHT);
}

int main(void)
{
	const uint32_t rw = NNPU_SLOT_VALID | NNPU_SLOT_READ | NNPU_SLOT_WRITE;
	struct nnpu_inproc_config config;
	uint64_t peak, program;
	struct nnpu_cqe cqe;
	struct image im;

	rig_config(&config);
	config.props.memory_size = MEMORY;
	config.props.max_operand_size = MEMORY / 4;
	rig_open(&rig, &config);
	rig_enable(&rig);
	slots = rig_alloc(&rig, 16 * sizeof(*slots));
	block = rig_alloc(&rig, 16384);
	boxes = rig_alloc(&rig, SIZE);
	rig_slot(&slots[0], block, 16384, rw);
	rig_slot(&slots[1], boxes, SIZE, rw);
	rig_create_queue(&rig, 1, 0, NNPU_QUEUE_KERNEL, 16);
	image_nms(&im);
	create(CTX, 0);
	ok(!rig_load(&rig, CTX, 1, im.bytes, im.size, &cqe), "program");
	program = le64toh(cqe.result);
	ok(rig_read64(&rig, NNPU_REG_MEM_PEAK_LO) >= program + im.size,
	   "the copy of the image was charged");
	ok(!run(CTX), "job");
	/* Inputs, work of finding the shapes, the same again as scratch memory. */
	peak = rig_read64(&rig, NNPU_REG_MEM_PEAK_LO);
	ok(peak >= program + BOXES * 44ull + WORK, "peak: %llu", (unsigned long long)peak);

	/* Enough for the program and its inputs, not for the work. */
	create(TIGHT, program + im.size + BOXES * 44ull + WORK / 2);
	ok(!rig_load(&rig, TIGHT, 1, im.bytes, im.size, NULL), "program in a tight context");
	ok(run(TIGHT) == NNPU_STATUS_NO_MEMORY, "its job: NO_MEMORY");
	rig_destroy_ctx(&rig, TIGHT);
	create(TIGHT, program + im.size + BOXES * 44ull + 3 * WORK);
	ok(!rig_load(&rig, TIGHT, 1, im.bytes, im.size, NULL) && !run(TIGHT), "with more: it runs");
	rig_destroy_ctx(&rig, TIGHT);
	create(TIGHT, program + im.size / 2);
	ok(rig_load(&rig, TIGHT, 1, im.bytes, im.size, NULL) == NNPU_STATUS_NO_MEMORY,
	   "a limit without room for the image: NO_MEMORY");
	rig_destroy_ctx(&rig, TIGHT);
	test_group(&im);
	test_page_tables();
	rig_destroy_ctx(&rig, CTX);
	ok(rig_read64(&rig, NNPU_REG_MEM_USED_LO) == 0, "nothing is left");
	image_free(&im);
	rig_close(&rig);
	return tap_done();
}
