// SPDX-License-Identifier: MIT
/*
 * Memory of programs whose shapes depend on computed values: a batch of commands goes where tensors of
 * earlier batches were, but not over those that are still needed.
 */
#include <endian.h>
#include <string.h>

#include "core/device_memory.h"
#include "rig.h"
#include "tap.h"

#define F32	NNPU_TYPE_TENSOR_FLOAT32
#define I32	NNPU_TYPE_TENSOR_INT32

/* Elements of each tensor, and its pages. */
#define COUNT	2048u
#define PAGES	(COUNT * sizeof(float) / NNPU_PAGE_SIZE)

static struct rig rig;
static struct job_rig j;
static struct image im;

/*
 * Stages that double @at. The shape that each begins with is computed by the stage before, so each is
 * a batch. At the end the tensor that the first one began with is added.
 */
static void build(unsigned int stages)
{
	const int32_t zero = 0;
	uint32_t at, shape, act, none, kept, sum;

	image_init(&im);
	at = image_tensor(&im, F32, NNPU_TENSOR_INPUT, (int)COUNT, -1);
	shape = image_tensor(&im, I32, NNPU_TENSOR_INPUT, 1, -1);
	act = image_scalar(&im, 0);
	none = image_const(&im, I32, 1, &zero, sizeof(zero));
	kept = image_tensor(&im, F32, NNPU_TENSOR_TEMPORARY, (int)COUNT, -1);
	image_command(&im, NNPU_OP_ADD, 3, 1, at, at, act, kept);
	at = kept;
	for (unsigned int i = 0; i < stages; i++) {
		uint32_t computed = image_tensor(&im, I32, NNPU_TENSOR_TEMPORARY, 1, -1);
		uint32_t shaped = image_tensor(&im, F32, NNPU_TENSOR_TEMPORARY, 0, -1);

		image_command(&im, NNPU_OP_ADD, 3, 1, shape, none, act, computed);
		image_command(&im, NNPU_OP_RESHAPE, 2, 1, at, computed, shaped);
		sum = image_tensor(&im, F32, NNPU_TENSOR_TEMPORARY, 0, -1);
		image_command(&im, NNPU_OP_ADD, 3, 1, shaped, shaped, act, sum);
		at = sum;
		shape = computed;
	}
	sum = image_tensor(&im, F32, NNPU_TENSOR_OUTPUT, (int)COUNT, -1);
	image_command(&im, NNPU_OP_ADD, 3, 1, at, kept, act, sum);
	image_finish(&im);
}

/* The values of a run. */
static bool run(unsigned int stages)
{
	float *in = (float *)j.operands, *out = (float *)(j.operands + 2 * 8192);
	struct nnpu_arg *a = job_args(&j, 2, 1);
	const int32_t shape = COUNT;
	bool good;

	for (unsigned int i = 0; i < COUNT; i++)
		in[i] = (float)i;
	memcpy(j.operands + 8192, &shape, sizeof(shape));
	job_arg(&a[0], 1, 0, COUNT * sizeof(float));
	job_arg(&a[1], 1, 8192, sizeof(shape));
	job_arg(&a[2], 1, 2 * 8192, COUNT * sizeof(float));
	good = job_execute(&j, 1, NULL) == 0;
	for (unsigned int i = 0; i < COUNT; i++)
		good &= out[i] == (float)i * 2 + (float)i * 2 * (float)(1u << stages);
	return good;
}

/* Pages that @stages take beside the program. */
static uint64_t measure(unsigned int stages)
{
	uint64_t program;

	rig_open(&rig, NULL);
	rig_enable(&rig);
	job_rig_init(&j, &rig, 1, 1);
	build(stages);
	ok(!rig_load(&rig, 1, 1, im.bytes, im.size, NULL), "a program of %u batches", stages + 1);
	program = rig_read64(&rig, NNPU_REG_MEM_USED_LO);
	ok(run(stages) && run(stages), "its values are right");
	program = rig_read64(&rig, NNPU_REG_MEM_USED_LO) - program;
	image_free(&im);
	rig_close(&rig);
	return program / NNPU_PAGE_SIZE;
}

int main(void)
{
	uint64_t few = measure(3), many = measure(12);

	/* Tables have more tensors, and a few tensors are between two that are needed. */
	ok(many <= few + 6 * PAGES, "%llu pages for 4 batches, %llu for 13",
	   (unsigned long long)few, (unsigned long long)many);
	return tap_done();
}
