// SPDX-License-Identifier: MIT
/*
 * What the executor provides for operations: scratch memory, several outputs, shapes that
 * depend on values, omitted arguments, scalars as outputs.
 */
#include <endian.h>
#include <string.h>

#include "rig.h"
#include "tap.h"

static struct rig rig;
static struct job_rig j;

static bool load(uint32_t program, struct image *im)
{
	struct nnpu_cqe cqe;
	int status;

	image_finish(im);
	status = rig_load(&rig, 1, program, im->bytes, im->size, &cqe);
	image_free(im);
	return ok(status == 0, "program %u loads (status 0x%x reason %u operand %u)", program,
		  (unsigned int)status, le16toh(cqe.reason), le16toh(cqe.operand));
}

static void shape(struct nnpu_arg *a, unsigned int rank, const uint32_t *dims)
{
	a->flags |= htole16(NNPU_ARG_SHAPE);
	a->rank = (uint8_t)rank;
	for (unsigned int i = 0; i < rank; i++)
		a->dims[i] = htole32(dims[i]);
}

/* An argument of @bytes at @offset of the operands; @data may be NULL. */
static void place(struct nnpu_arg *a, uint64_t offset, uint64_t bytes, const void *data)
{
	job_arg(a, 1, offset, bytes);
	if (data)
		memcpy(j.operands + offset, data, bytes);
}

static bool dims_are(unsigned int n, unsigned int rank, uint32_t d0, uint32_t d1)
{
	const struct nnpu_arg *a = job_result_arg(&j, n);

	return a->rank == rank && (rank < 1 || le32toh(a->dims[0]) == d0) &&
	       (rank < 2 || le32toh(a->dims[1]) == d1);
}

/*
 * Half precision, a heap of positions and two outputs: TOPK_V2 after ADD, twice, so that
 * scratch of one command must not hurt what another left.
 */
static void load_topk(uint32_t program, int rows)
{
	static const uint16_t one = 0x3c00;
	uint32_t in, term, act, sum, k, values, positions;
	struct image im;

	image_init(&im);
	in = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT16, NNPU_TENSOR_INPUT, rows, 4, -1);
	term = image_const(&im, NNPU_TYPE_TENSOR_FLOAT16, 1, &one, sizeof(one));
	act = image_scalar(&im, 0);
	sum = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT16, NNPU_TENSOR_TEMPORARY, rows, 4, -1);
	image_command(&im, NNPU_OP_ADD, 3, 1, in, term, act, sum);
	k = image_scalar(&im, 2);
	values = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT16, NNPU_TENSOR_OUTPUT, rows, 2, -1);
	positions = image_tensor(&im, NNPU_TYPE_TENSOR_INT32, NNPU_TENSOR_OUTPUT, rows, 2, -1);
	image_command(&im, NNPU_OP_TOPK_V2, 2, 2, sum, k, values, positions);
	load(program, &im);
}

static void run_topk(uint32_t program, const char *what)
{
	static const uint16_t in[8] = { 0x3c00, 0x4200, 0x4000, 0, 0, 0x4400, 0x4400, 0x3c00 };
	static const uint16_t values[4] = { 0x4400, 0x4200, 0x4500, 0x4500 };
	static const int32_t positions[4] = { 1, 2, 1, 2 };
	struct nnpu_arg *a = job_args(&j, 1, 2);

	place(&a[0], 0, 16, in);
	shape(&a[0], 2, (uint32_t[]){ 2, 4 });
	place(&a[1], 64, 8, NULL);
	place(&a[2], 128, 16, NULL);
	ok(job_execute(&j, program, NULL) == 0 && dims_are(1, 2, 2, 2) && dims_are(2, 2, 2, 2) &&
	   !memcmp(j.operands + 64, values, 8) && !memcmp(j.operands + 128, positions, 16),
	   "%s", what);
}

static void test_scratch(void)
{
	load_topk(1, 2);
	load_topk(2, 0);
	for (int i = 0; i < 2; i++) {
		run_topk(1, "scratch memory of a program with static shapes");
		run_topk(2, "scratch memory of a program with dynamic shapes");
	}
}

/* The number of boxes is known only after they have been looked at. */
static void test_counted(void)
{
	static const float scores[6] = { 0, 0.5f, 0, 0.9f, 0, 0.8f };
	static const float boxes[24] = {
		0, 0, 0, 0, 0, 0, 10, 10, 0, 0, 0, 0, 0, 0, 10, 11, 0, 0, 0, 0, 50, 0, 60, 10,
	};
	static const float half = 0.5f, best[2] = { 0.9f, 0.8f };
	uint32_t in[9], out[4];
	struct nnpu_arg *a;
	struct image im;
	int32_t bits;

	image_init(&im);
	in[0] = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 3, 2, -1);
	in[1] = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 3, 8, -1);
	in[2] = image_const(&im, NNPU_TYPE_TENSOR_INT32, 3, (int32_t[]){ 0, 0, 0 }, 12);
	memcpy(&bits, &half, sizeof(bits));
	for (unsigned int i = 3; i < 9; i++) {
		in[i] = image_scalar(&im, i == 4 ? -1 : i == 5 ? 0 : bits);
		if (i != 4 && i != 5)
			im.tensors[in[i]].type = htole16(NNPU_TYPE_FLOAT32);
	}
	out[0] = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 0, -1);
	out[1] = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 0, 4, -1);
	out[2] = image_tensor(&im, NNPU_TYPE_TENSOR_INT32, NNPU_TENSOR_OUTPUT, 0, -1);
	out[3] = image_tensor(&im, NNPU_TYPE_TENSOR_INT32, NNPU_TENSOR_OUTPUT, 0, -1);
	image_command(&im, NNPU_OP_BOX_WITH_NMS_LIMIT, 9, 4, in[0], in[1], in[2], in[3], in[4],
		      in[5], in[6], in[7], in[8], out[0], out[1], out[2], out[3]);
	load(3, &im);

	/* The lower scores are below the threshold; one of the others overlaps nothing. */
	a = job_args(&j, 2, 4);
	place(&a[0], 0, sizeof(scores), scores);
	place(&a[1], 64, sizeof(boxes), boxes);
	for (unsigned int i = 0; i < 4; i++)
		place(&a[2 + i], 256 + 64 * i, i == 1 ? 64 : 16, NULL);
	ok(job_execute(&j, 3, NULL) == 0 && dims_are(2, 1, 2, 0) && dims_are(3, 2, 2, 4) &&
	   !memcmp(j.operands + 256, best, sizeof(best)), "as many boxes as there are");
	a = job_args(&j, 2, 4);
	place(&a[0], 0, sizeof(scores), scores);
	place(&a[1], 64, sizeof(boxes), boxes);
	for (unsigned int i = 0; i < 4; i++)
		place(&a[2 + i], 256 + 64 * i, i == 1 ? 16 : 4, NULL);
	ok(job_execute(&j, 3, NULL) == NNPU_STATUS_OUTPUT_INSUFFICIENT && dims_are(2, 1, 2, 0),
	   "too little room for them");
}

/* A scalar as an output, and an argument that is omitted. */
static void test_others(void)
{
	static const float in[2] = { 1, 2 }, filters[4] = { 1, 0, 0, 1 }, time[4] = { 0, 1, 0, 1 };
	static const float state[4], bias = 0.5f, with = 3.5f, without = 3;
	uint32_t t[9];
	struct nnpu_arg *a;
	struct image im;

	image_init(&im);
	t[0] = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 0, 0, 3, -1);
	t[1] = image_tensor(&im, NNPU_TYPE_INT32, NNPU_TENSOR_OUTPUT, -1);
	image_command(&im, NNPU_OP_RANK, 1, 1, t[0], t[1]);
	load(4, &im);
	a = job_args(&j, 1, 1);
	place(&a[0], 0, 24, NULL);
	shape(&a[0], 3, (uint32_t[]){ 1, 2, 3 });
	place(&a[1], 64, 4, NULL);
	ok(job_execute(&j, 4, NULL) == 0 && *(int32_t *)(j.operands + 64) == 3 &&
	   dims_are(1, 0, 0, 0), "a scalar as an output");

	image_init(&im);
	t[0] = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 1, 2, -1);
	t[1] = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 2, 2, -1);
	t[2] = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 2, 2, -1);
	t[3] = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 1, -1);
	t[4] = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 1, 4, -1);
	t[5] = image_scalar(&im, 2);
	t[6] = image_scalar(&im, 0);
	t[7] = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 1, 4, -1);
	t[8] = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 1, 1, -1);
	image_command(&im, NNPU_OP_SVDF, 7, 2, t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7],
		      t[8]);
	load(5, &im);
	for (int omit = 0; omit < 2; omit++) {
		a = job_args(&j, 5, 2);
		place(&a[0], 0, sizeof(in), in);
		place(&a[1], 64, sizeof(filters), filters);
		place(&a[2], 128, sizeof(time), time);
		if (omit)
			a[3].flags = htole16(NNPU_ARG_NO_VALUE);
		else
			place(&a[3], 192, sizeof(bias), &bias);
		place(&a[4], 256, sizeof(state), state);
		place(&a[5], 320, 16, NULL);
		place(&a[6], 384, 4, NULL);
		ok(job_execute(&j, 5, NULL) == 0 &&
		   !memcmp(j.operands + 384, omit ? &without : &with, 4),
		   omit ? "an argument that is omitted" : "an argument that could be omitted");
	}
}

int main(void)
{
	rig_open(&rig, NULL);
	rig_enable(&rig);
	ok(job_rig_init(&j, &rig, 1, 1), "context and queue");
	test_scratch();
	test_counted();
	test_others();
	rig_close(&rig);
	return tap_done();
}
