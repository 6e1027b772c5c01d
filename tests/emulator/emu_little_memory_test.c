// SPDX-License-Identifier: MIT
/*
 * What small programs take beside constants and activations: tables of their jobs take no memory of the
 * device and have no copy of constants, and a load gives back what it has read before it needs more. Small
 * constants share pages with tables and with what commands keep, and are converted in place.
 */
#include <endian.h>
#include <string.h>

#include "core/device_memory.h"
#include "rig.h"
#include "tap.h"

#define F32	NNPU_TYPE_TENSOR_FLOAT32

/* Constants of a larger program: many, and each shares pages with others. */
#define MANY		50u
#define ELEMENTS	128u

/*
 * Small layers, and the rows and columns of a matrix, which has no page of its own. With so many the last page of the
 * program is nearly full: commands of 16 bytes more take another one.
 */
#define LAYERS		13u
#define UNITS		24u

/* Depthwise convolutions of 3 by 3 taps, one behind the other. */
#define CONVOLUTIONS	64u
#define CHANNELS	64u
#define TAPS		9u
#define PIXELS		16u

static struct rig rig;
static struct job_rig j;
static struct image im;

/* x + 0 + 1 + 2 ..., of @n elements and with @count constants. */
static void build(unsigned int count, unsigned int n)
{
	static float values[ELEMENTS];
	uint32_t at, act;

	image_init(&im);
	at = image_tensor(&im, F32, NNPU_TENSOR_INPUT, (int)n, -1);
	act = image_scalar(&im, 0);
	for (unsigned int i = 0; i < count; i++) {
		unsigned int kind = i + 1 < count ? NNPU_TENSOR_TEMPORARY : NNPU_TENSOR_OUTPUT;
		uint32_t c, sum;

		for (unsigned int k = 0; k < n; k++)
			values[k] = (float)i;
		c = image_const(&im, F32, n, values, n * sizeof(float));
		sum = image_tensor(&im, F32, kind, (int)n, -1);
		image_command(&im, NNPU_OP_ADD, 3, 1, at, c, act, sum);
		at = sum;
	}
	image_finish(&im);
}

/* x times a matrix with ones on the diagonal, plus 0, times it again, plus 1, ... */
static void build_layers(void)
{
	static float matrix[UNITS * UNITS], values[UNITS];
	uint32_t at, act, w, b;

	image_init(&im);
	at = image_tensor(&im, F32, NNPU_TENSOR_INPUT, 1, UNITS, -1);
	act = image_scalar(&im, 0);
	for (unsigned int i = 0; i < UNITS; i++)
		matrix[i * UNITS + i] = 1;
	for (unsigned int i = 0; i < LAYERS; i++) {
		unsigned int kind = i + 1 < LAYERS ? NNPU_TENSOR_TEMPORARY : NNPU_TENSOR_OUTPUT;
		uint32_t out;

		for (unsigned int k = 0; k < UNITS; k++)
			values[k] = (float)i;
		w = image_const(&im, F32, UNITS, matrix, sizeof(matrix));
		im.tensors[w].rank = 2;
		im.tensors[w].dims[1] = htole32(UNITS);
		b = image_const(&im, F32, UNITS, values, sizeof(values));
		out = image_tensor(&im, F32, kind, 1, UNITS, -1);
		image_command(&im, NNPU_OP_FULLY_CONNECTED, 4, 1, at, w, b, act, out);
		at = out;
	}
	image_finish(&im);
}

static void set_quant(uint32_t tensor, float scale, int32_t zero_point)
{
	memcpy(&im.tensors[tensor].scale, &scale, sizeof(scale));
	im.tensors[tensor].zero_point = htole32((uint32_t)zero_point);
}

/* Each convolution has a bias of its own, or all have the same one; they are equal. */
static void build_convolutions(bool own)
{
	static int8_t weights[TAPS * CHANNELS];
	static int32_t values[CHANNELS];
	uint32_t at, w, b = 0, one, act;

	image_init(&im);
	at = image_tensor(&im, NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED, NNPU_TENSOR_INPUT, 1, 4, 4,
			  (int)CHANNELS, -1);
	one = image_scalar(&im, 1);
	act = image_scalar(&im, 0);
	for (unsigned int i = 0; i < CHANNELS; i++)
		values[i] = (int32_t)(i * 7);
	for (unsigned int i = 0; i < TAPS * CHANNELS; i++)
		weights[i] = (int8_t)(i * 5 % 31 - 15);
	w = image_const(&im, NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED, TAPS * CHANNELS, weights,
			sizeof(weights));
	im.tensors[w].rank = 4;
	im.tensors[w].dims[0] = htole32(1);
	im.tensors[w].dims[1] = im.tensors[w].dims[2] = htole32(3);
	im.tensors[w].dims[3] = htole32(CHANNELS);
	set_quant(w, 0.02f, 0);
	for (unsigned int i = 0; i < CONVOLUTIONS; i++) {
		unsigned int kind = i + 1 < CONVOLUTIONS ? NNPU_TENSOR_TEMPORARY : NNPU_TENSOR_OUTPUT;
		uint32_t out = image_tensor(&im, NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED, kind, 1, 4, 4,
					    (int)CHANNELS, -1);

		if (own || !i)
			b = image_const(&im, NNPU_TYPE_TENSOR_INT32, CHANNELS, values, sizeof(values));
		set_quant(at, 0.5f, 3);
		set_quant(b, 0.01f, 0);
		set_quant(out, 0.5f, 3);
		image_command(&im, NNPU_OP_DEPTHWISE_CONV_2D, 8, 1, at, w, b, one, one, one, one,
			      act, out);
		at = out;
	}
	image_finish(&im);
}

static uint64_t used(void)
{
	return rig_read64(&rig, NNPU_REG_MEM_USED_LO);
}

static void begin(unsigned int count, unsigned int n)
{
	rig_open(&rig, NULL);
	rig_enable(&rig);
	job_rig_init(&j, &rig, 1, 1);
	build(count, n);
}

static bool run(uint32_t program, unsigned int count, unsigned int n)
{
	struct nnpu_arg *a = job_args(&j, 1, 1);
	const float x = 2, y = x + (float)(count * (count - 1) / 2);
	bool good;

	for (unsigned int i = 0; i < n; i++)
		memcpy(j.operands + i * sizeof(x), &x, sizeof(x));
	job_arg(&a[0], 1, 0, n * sizeof(x));
	job_arg(&a[1], 1, 4096, n * sizeof(x));
	good = job_execute(&j, program, NULL) == 0;
	for (unsigned int i = 0; i < n; i++)
		good &= !memcmp(j.operands + 4096 + i * sizeof(y), &y, sizeof(y));
	return good;
}

/* The arena has a page. The worker has one of its own for all tables of the job. */
static void test_job(void)
{
	uint64_t program;

	begin(20, 1);
	ok(!rig_load(&rig, 1, 1, im.bytes, im.size, NULL), "a program with 21 constants");
	program = used();
	ok(run(1, 20, 1) && run(1, 20, 1), "it runs");
	ok(used() - program == NNPU_PAGE_SIZE, "a small job has one page: %llu bytes",
	   (unsigned long long)(used() - program));
	image_free(&im);
	/* A table that gets too large for the page leaves it. */
	build(MANY, 1);
	ok(!rig_load(&rig, 1, 2, im.bytes, im.size, NULL), "a program with more of them");
	ok(run(2, MANY, 1) && run(1, 20, 1), "it runs, and the first one again");
	image_free(&im);
	rig_close(&rig);
}

/*
 * What a program keeps beside its constants. A record has 64 bytes, a command 48, an operand 4; a tensor of a job
 * 12 more, a command 8.
 */
static uint64_t records_of(uint64_t tensors, uint64_t commands, uint64_t operands)
{
	return tensors * 64 + commands * 48 + operands * 4 + (commands + 1) * 12 + commands * 8 + 256;
}

/*
 * Beside the program, the image is there when the constants are read, or nothing as large: no copy of
 * its records.
 */
static void test_load(void)
{
	const uint64_t bytes = MANY * ELEMENTS * sizeof(float) + records_of(2 * MANY + 2, MANY, 4 * MANY);
	uint64_t peak, program, most;

	begin(MANY, ELEMENTS);
	ok(!rig_load(&rig, 1, 1, im.bytes, im.size, NULL), "a program with many small constants");
	peak = rig_read64(&rig, NNPU_REG_MEM_PEAK_LO);
	program = used();
	most = mem_size(im.size) + 2 * NNPU_PAGE_SIZE;
	ok(peak - program <= most, "its load has %llu bytes more than the program, at most %llu",
	   (unsigned long long)(peak - program), (unsigned long long)most);
	ok(MEM_WATCHED || program <= mem_size(bytes), "the program has %llu bytes, at most %llu",
	   (unsigned long long)program, (unsigned long long)mem_size(bytes));
	ok(run(1, MANY, ELEMENTS), "it runs");
	image_free(&im);
	rig_close(&rig);
}

/*
 * What is packed has gone from the pages behind the tables, and what is left of constants is together.
 * The rest of a page is not used: those of what commands keep have constants, too.
 */
static void test_released(void)
{
	const uint64_t weights = LAYERS * UNITS * (UNITS + 1) * sizeof(float);
	const uint64_t records = records_of(3 * LAYERS + 2, LAYERS, 5 * LAYERS);
	const float x = 2, y = x + (float)(LAYERS * (LAYERS - 1) / 2);
	uint64_t program, most = mem_size(weights + records);
	struct nnpu_arg *a;
	bool good;

	rig_open(&rig, NULL);
	rig_enable(&rig);
	job_rig_init(&j, &rig, 1, 1);
	build_layers();
	ok(!rig_load(&rig, 1, 1, im.bytes, im.size, NULL), "a program with small matrices");
	program = used();
	ok(MEM_WATCHED || program <= most, "it has %llu bytes, at most %llu",
	   (unsigned long long)program, (unsigned long long)most);
	a = job_args(&j, 1, 1);
	for (unsigned int i = 0; i < UNITS; i++)
		memcpy(j.operands + i * sizeof(x), &x, sizeof(x));
	job_arg(&a[0], 1, 0, UNITS * sizeof(x));
	job_arg(&a[1], 1, 4096, UNITS * sizeof(x));
	good = job_execute(&j, 1, NULL) == 0;
	for (unsigned int i = 0; i < UNITS; i++)
		good &= !memcmp(j.operands + 4096 + i * sizeof(y), &y, sizeof(y));
	ok(good, "it runs");
	rig_unload(&rig, 1, 1);
	image_free(&im);
	rig_close(&rig);
}

/* Load it and run it. Returns what the program has. */
static uint64_t convolve(bool own, int8_t *out)
{
	uint64_t before = used(), program;
	struct nnpu_arg *a;

	build_convolutions(own);
	ok(!rig_load(&rig, 1, 1, im.bytes, im.size, NULL), "convolutions with %s",
	   own ? "a bias each" : "one bias");
	program = used() - before;
	a = job_args(&j, 1, 1);
	for (unsigned int i = 0; i < PIXELS * CHANNELS; i++)
		j.operands[i] = (uint8_t)(i * 11);
	job_arg(&a[0], 1, 0, PIXELS * CHANNELS);
	job_arg(&a[1], 1, 4096, PIXELS * CHANNELS);
	ok(!job_execute(&j, 1, NULL), "they run");
	memcpy(out, j.operands + 4096, PIXELS * CHANNELS);
	rig_unload(&rig, 1, 1);
	image_free(&im);
	return program;
}

/* What goes to a bias of one command is added there; else each command keeps a sum of its own. */
static void test_converted(void)
{
	int8_t own[PIXELS * CHANNELS], shared[PIXELS * CHANNELS];
	uint64_t with, without;

	rig_open(&rig, NULL);
	rig_enable(&rig);
	job_rig_init(&j, &rig, 1, 1);
	without = convolve(false, shared);
	with = convolve(true, own);
	/* A record for each, and not its values again. */
	ok(MEM_WATCHED || with <= without + CONVOLUTIONS * 96 + NNPU_PAGE_SIZE,
	   "a bias is kept once: %llu bytes, with the same one %llu", (unsigned long long)with,
	   (unsigned long long)without);
	ok(!memcmp(own, shared, sizeof(own)), "results are the same");
	rig_close(&rig);
}

/*
 * A bias of one number for a filter of many channels. Shapes are compared when that of the input is known:
 * meanwhile nothing may be written behind the bias, which ASan sees.
 */
static void test_short_bias(void)
{
	enum { MANY_CHANNELS = 4096 };
	static int8_t weights[MANY_CHANNELS];
	uint32_t at, w, b, one, act, out;
	int32_t v = 0;

	memset(weights, 7, sizeof(weights));
	rig_open(&rig, NULL);
	rig_enable(&rig);
	job_rig_init(&j, &rig, 1, 1);
	image_init(&im);
	at = image_tensor(&im, NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED, NNPU_TENSOR_INPUT, 1, 4, 4,
			  MANY_CHANNELS, -1);
	im.tensors[at].dims[0] = 0;
	one = image_scalar(&im, 1);
	act = image_scalar(&im, 0);
	w = image_const(&im, NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED, sizeof(weights), weights,
			sizeof(weights));
	im.tensors[w].rank = 4;
	im.tensors[w].dims[0] = im.tensors[w].dims[1] = im.tensors[w].dims[2] = htole32(1);
	im.tensors[w].dims[3] = htole32(MANY_CHANNELS);
	b = image_const(&im, NNPU_TYPE_TENSOR_INT32, 1, &v, sizeof(v));
	out = image_tensor(&im, NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED, NNPU_TENSOR_OUTPUT, 1, 4, 4,
			   MANY_CHANNELS, -1);
	im.tensors[out].dims[0] = 0;
	set_quant(w, 0.02f, 0);
	set_quant(at, 0.5f, 3);
	set_quant(b, 0.01f, 0);
	set_quant(out, 0.5f, 3);
	image_command(&im, NNPU_OP_DEPTHWISE_CONV_2D, 8, 1, at, w, b, one, one, one, one, act, out);
	image_finish(&im);
	ok(!rig_load(&rig, 1, 1, im.bytes, im.size, NULL),
	   "a bias shorter than its filter waits for the shape of the input");
	image_free(&im);
	rig_close(&rig);
}

int main(void)
{
	test_job();
	test_load();
	test_released();
	test_converted();
	test_short_bias();
	return tap_done();
}
