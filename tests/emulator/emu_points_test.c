// SPDX-License-Identifier: MIT
/*
 * Points between operations: while an image is checked, and while a job finds shapes, places
 * tensors and transfers arguments, at the largest numbers that the device takes. Points are
 * counted, so no result depends on time: the more work there is, the more of them there have to be.
 */
#include "large_image.h"
#include "tap.h"

/* Most bytes of a record, operands of a command. */
#define WIDEST		65528u
#define MOST		65535u

/* The device reads an image in so many bytes between points. */
#define IMAGE_PIECE	(256u << 10)

static struct rig rig;

static uint32_t points(unsigned int qid)
{
	return rig_read(&rig, NNPU_QREG_BASE + qid * NNPU_QREG_STRIDE + NNPU_QREG_PROGRESS);
}

/* Points of the load, without those of the transfer of the image. UINT32_MAX: it failed. */
static uint32_t load_points(struct large_image *im)
{
	uint32_t before = points(0);
	struct nnpu_cqe cqe;
	int status = large_image_load(im, &rig, 1, 1, &cqe);

	if (status) {
		tap_note("status 0x%x reason %u error %u", (unsigned int)status,
			 le16toh(cqe.reason), le32toh(cqe.error));
		return UINT32_MAX;
	}
	return points(0) - before - (uint32_t)(im->size / IMAGE_PIECE);
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
	uint32_t n;

	make_chain(&tensors);
	n = load_points(&tensors);
	ok(n != UINT32_MAX && n >= 40, "1000 tensors of 64 KiB are checked: %u points", n);
	rig_unload(&rig, 1, 1);
	large_image_free(&tensors, &rig);
	make_chain(&commands);
	n = load_points(&commands);
	ok(n != UINT32_MAX && n >= 40, "1000 commands of 64 KiB are checked: %u points", n);
	rig_unload(&rig, 1, 1);
	large_image_free(&commands, &rig);
}

int main(void)
{
	struct nnpu_slot_entry *slots;

	rig_open(&rig, NULL);
	slots = rig_alloc(&rig, 16 * sizeof(*slots));
	if (!rig_enable(&rig) || rig_create_ctx(&rig, 1, slots, 16)) {
		printf("Bail out! the device does not start\n");
		return 1;
	}
	test_records();
	rig_close(&rig);
	return tap_done();
}
