// SPDX-License-Identifier: MIT
/*
 * Constant weights. A program takes memory for its constants once, packed for a kernel or not.
 * A constant that several commands read keeps its value.
 */
#include <endian.h>
#include <string.h>

#include "rig.h"
#include "tap.h"
#include "ops/extension.h"

#define UNITS	24
#define SIZE	320

static struct rig rig;
static struct job_rig j;
static float weights[UNITS * SIZE];

/* load() makes a matrix of it. */
static uint32_t matrix(struct image *im)
{
	return image_const(im, NNPU_TYPE_TENSOR_FLOAT32, UNITS, weights, sizeof(weights));
}

static void product(struct image *im, uint32_t in, uint32_t w)
{
	static const float bias[UNITS];
	uint32_t b = image_const(im, NNPU_TYPE_TENSOR_FLOAT32, UNITS, bias, sizeof(bias));
	uint32_t act = image_scalar(im, 0);
	uint32_t out = image_tensor(im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 1, UNITS, -1);

	image_command(im, NNPU_OP_FULLY_CONNECTED, 4, 1, in, w, b, act, out);
}

/* Bytes that the program with weights @w takes, 0 if it does not load. */
static uint64_t load(uint32_t program, struct image *im, uint32_t w)
{
	struct nnpu_tensor_desc *d;
	struct nnpu_cqe cqe;
	int status;

	image_finish(im);
	d = image_desc(im, w);
	d->rank = 2;
	d->dims[1] = htole32(SIZE);
	status = rig_load(&rig, 1, program, im->bytes, im->size, &cqe);
	image_free(im);
	return status ? 0 : le64toh(cqe.result);
}

/* Run a program of one input; are its outputs all the product? */
static bool products_are_right(uint32_t program, unsigned int outputs)
{
	struct nnpu_arg *a = job_args(&j, 1, outputs);
	float in[SIZE], expected[UNITS];
	bool good = true;

	for (unsigned int i = 0; i < SIZE; i++)
		in[i] = (float)i - 10;
	for (unsigned int u = 0; u < UNITS; u++) {
		expected[u] = 0;
		for (unsigned int i = 0; i < SIZE; i++)
			expected[u] += in[i] * weights[u * SIZE + i];
	}
	job_arg(&a[0], 1, 0, sizeof(in));
	memcpy(j.operands, in, sizeof(in));
	for (unsigned int i = 0; i < outputs; i++)
		job_arg(&a[1 + i], 1, 256 * (i + 1), sizeof(expected));
	if (job_execute(&j, program, NULL))
		return false;
	for (unsigned int i = 0; i < outputs; i++)
		good &= !memcmp(j.operands + 256 * (i + 1), expected, sizeof(expected));
	return good;
}

static void test_single(void)
{
	uint64_t bytes, used, peak;
	struct image im;
	uint32_t in, w;

	image_init(&im);
	in = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 1, SIZE, -1);
	w = matrix(&im);
	product(&im, in, w);
	bytes = load(1, &im, w);
	used = rig_read64(&rig, NNPU_REG_MEM_USED_LO);
	/* There are tables and the rest of pages, too. */
	ok(bytes >= sizeof(weights) && bytes < 2 * sizeof(weights) && used == bytes,
	   "weights are in memory once (%llu bytes, weights %zu)", (unsigned long long)bytes,
	   sizeof(weights));
	/* The load is charged for its copy of the image, tables and some rows of the weights. */
	peak = rig_read64(&rig, NNPU_REG_MEM_PEAK_LO);
	ok(peak < bytes + im.size + sizeof(weights), "and never were there twice (%llu more)",
	   (unsigned long long)(peak - bytes - im.size));
	ok(products_are_right(1, 1), "product with weights of one command");
	ok(products_are_right(1, 1), "again");
}

/* Two products with the same weights, and the weights themselves. */
static void test_shared(void)
{
	uint32_t in, w, act, out, ones;
	const float one = 1;
	struct nnpu_arg *a;
	struct image im;

	image_init(&im);
	in = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 1, SIZE, -1);
	w = matrix(&im);
	product(&im, in, w);
	product(&im, in, w);
	ok(load(2, &im, w) > 0, "weights of two commands");
	ok(products_are_right(2, 2), "both products");

	image_init(&im);
	in = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 1, SIZE, -1);
	w = matrix(&im);
	product(&im, in, w);
	ones = image_const(&im, NNPU_TYPE_TENSOR_FLOAT32, 1, &one, sizeof(one));
	act = image_scalar(&im, 0);
	out = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, UNITS, SIZE, -1);
	image_command(&im, NNPU_OP_MUL, 3, 1, w, ones, act, out);
	ok(load(3, &im, w) > 0, "weights that are an operand elsewhere");
	a = job_args(&j, 1, 2);
	job_arg(&a[0], 1, 0, SIZE * sizeof(float));
	job_arg(&a[1], 1, 256, UNITS * sizeof(float));
	job_arg(&a[2], 1, 512, sizeof(weights));
	ok(job_execute(&j, 3, NULL) == 0 && !memcmp(j.operands + 512, weights, sizeof(weights)),
	   "are as they were");
}

/* FULLY_CONNECTED of org.nnpu.tflite, whose bias may be omitted. */
#define TFLITE_FULLY_CONNECTED	EXTENSION_CODE(tflite_extension_index, 9)

/* Products with the same weights, and a bias that the job gives or omits. */
static bool load_optional(uint32_t program, unsigned int products)
{
	static const uint8_t no;
	uint32_t in, w, bias, act, type, keep;
	struct image im;
	struct nnpu_tensor_desc *d;
	struct nnpu_cqe cqe;
	int status;

	image_init(&im);
	in = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 1, SIZE, -1);
	bias = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, UNITS, -1);
	w = matrix(&im);
	act = image_scalar(&im, 0);
	type = image_scalar(&im, 0);
	keep = image_const(&im, NNPU_TYPE_BOOL, 1, &no, sizeof(no));
	for (unsigned int i = 0; i < products; i++)
		image_command(&im, TFLITE_FULLY_CONNECTED, 8, 1, in, w, bias, act, act, keep, keep,
			      type, image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT,
						 1, UNITS, -1));
	image_finish(&im);
	d = image_desc(&im, keep);
	d->rank = 0;
	d->dims[0] = 0;
	d = image_desc(&im, w);
	d->rank = 2;
	d->dims[1] = htole32(SIZE);
	status = rig_load(&rig, 1, program, im.bytes, im.size, &cqe);
	image_free(&im);
	return status == 0;
}

/* Are the products right, with a bias of zeros and without one? */
static bool optional_is_right(uint32_t program, unsigned int products, bool omitted)
{
	struct nnpu_arg *a = job_args(&j, 2, products);
	float in[SIZE], expected[UNITS] = { 0 };
	bool good = true;

	for (unsigned int i = 0; i < SIZE; i++)
		in[i] = (float)i - 10;
	for (unsigned int u = 0; u < UNITS; u++) {
		for (unsigned int i = 0; i < SIZE; i++)
			expected[u] += in[i] * weights[u * SIZE + i];
	}
	memcpy(j.operands, in, sizeof(in));
	memset(j.operands + 2048, 0, sizeof(expected));
	job_arg(&a[0], 1, 0, sizeof(in));
	job_arg(&a[1], 1, 2048, sizeof(expected));
	if (omitted)
		a[1] = (struct nnpu_arg){ .flags = htole16(NNPU_ARG_NO_VALUE) };
	for (unsigned int i = 0; i < products; i++)
		job_arg(&a[2 + i], 1, 2560 + 256 * i, sizeof(expected));
	if (job_execute(&j, program, NULL))
		return false;
	for (unsigned int i = 0; i < products; i++)
		good &= !memcmp(j.operands + 2560 + 256 * i, expected, sizeof(expected));
	return good;
}

/* The weights are packed, in their place or another one, before a job omits the bias. */
static void test_omitted_bias(void)
{
	for (unsigned int products = 1; products <= 2; products++) {
		uint32_t program = 3 + products;

		ok(load_optional(program, products), "products with a bias of the job: %u", products);
		ok(optional_is_right(program, products, false), "with the bias");
		ok(optional_is_right(program, products, true), "without it");
		ok(optional_is_right(program, products, false), "with it again");
	}
}

int main(void)
{
	for (unsigned int i = 0; i < UNITS * SIZE; i++)
		weights[i] = (float)(i * 7 % 31) - 15;
	rig_open(&rig, NULL);
	rig_enable(&rig);
	ok(job_rig_init(&j, &rig, 1, 1), "context and queue");
	test_single();
	test_shared();
	test_omitted_bias();
	rig_close(&rig);
	return tap_done();
}
