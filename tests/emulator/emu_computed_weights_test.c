// SPDX-License-Identifier: MIT
/*
 * Weights that a job computes. They are packed where they are, with room for it, if only one
 * command reads them. Others keep their values.
 */
#include <endian.h>
#include <string.h>

#include "rig.h"
#include "float16.h"
#include "tap.h"

#define F32	NNPU_TYPE_TENSOR_FLOAT32
#define F16	NNPU_TYPE_TENSOR_FLOAT16
#define BOOL8	NNPU_TYPE_TENSOR_BOOL8

/*
 * Panels have eight rows: the last one is padded. With that the weights are larger than a chunk that
 * the device takes for them alone.
 */
#define UNITS	31
#define SIZE	1050
#define BYTES	(UNITS * SIZE * sizeof(float))

/* Of the operands: inputs x, weights and a condition, then outputs. */
#define AT_X		0u
#define AT_WEIGHTS	8192u
#define AT_CONDITION	(192u << 10)
#define AT_OUTPUT(i)	((1u + (i)) * (256u << 10))

static struct rig rig;
static struct job_rig j;
static struct image im;
static unsigned int type;		/* of all operands */
static bool unknown;			/* dimensions, when the program is loaded */
static bool has_source = true;		/* an input as large as the weights */
static float x[SIZE], weights[UNITS * SIZE], expected[UNITS];
static uint32_t act, in, source;

static uint32_t matrix(unsigned int kind)
{
	return image_tensor(&im, type, kind, unknown ? 0 : UNITS, unknown ? 0 : SIZE, -1);
}

static uint32_t constant(uint32_t n)
{
	static const float zeros[UNITS];

	return image_const(&im, type, n, zeros, n * (type == F16 ? 2 : 4));
}

static void product(uint32_t w)
{
	uint32_t b = constant(UNITS);
	uint32_t out = image_tensor(&im, type, NNPU_TENSOR_OUTPUT, 1, UNITS, -1);

	image_command(&im, NNPU_OP_FULLY_CONNECTED, 4, 1, in, w, b, act, out);
}

static void begin(void)
{
	image_init(&im);
	in = image_tensor(&im, type, NNPU_TENSOR_INPUT, unknown ? 0 : 1, unknown ? 0 : SIZE, -1);
	if (has_source)
		source = matrix(NNPU_TENSOR_INPUT);
	act = image_scalar(&im, 0);
}

/* The source plus zero, as a tensor of this kind. */
static uint32_t computed(unsigned int kind)
{
	uint32_t w = matrix(kind);

	image_command(&im, NNPU_OP_ADD, 3, 1, source, constant(1), act, w);
	return w;
}

static void load(const char *what)
{
	struct nnpu_cqe cqe;
	int status;

	image_finish(&im);
	status = rig_load(&rig, 1, 1, im.bytes, im.size, &cqe);
	ok(status == 0, "%s loads (status 0x%x reason %u operand %u)", what, (unsigned int)status,
	   le16toh(cqe.reason), le16toh(cqe.operand));
	image_free(&im);
}

/* Small whole numbers, which all types have. */
static size_t store(uint64_t at, const float *values, uint32_t n)
{
	uint16_t *half = (uint16_t *)(j.operands + at);

	if (type == F32) {
		memcpy(j.operands + at, values, n * sizeof(*values));
		return n * sizeof(*values);
	}
	for (uint32_t i = 0; i < n; i++)
		half[i] = float_to_half(values[i]);
	return n * sizeof(*half);
}

static bool holds(uint64_t at, const float *values, uint32_t n)
{
	static uint8_t found[BYTES];
	size_t bytes = n * (type == F32 ? sizeof(float) : sizeof(uint16_t));

	memcpy(found, j.operands + at, bytes);
	store(at, values, n);
	return !memcmp(found, j.operands + at, bytes);
}

static void shape(struct nnpu_arg *a, uint32_t rows, uint32_t cols)
{
	a->flags |= htole16(NNPU_ARG_SHAPE);
	a->rank = 2;
	a->dims[0] = htole32(rows);
	a->dims[1] = htole32(cols);
}

/* Run the program; @products outputs come first, then @matrices that are as the weights. */
static void run(const char *what, unsigned int conditions, unsigned int products,
		unsigned int matrices)
{
	const size_t size = type == F32 ? sizeof(float) : sizeof(uint16_t);
	unsigned int inputs = 1 + has_source + conditions;
	struct nnpu_arg *a = job_args(&j, inputs, products + matrices), *out = a + inputs;
	bool good;

	job_arg(&a[0], 1, AT_X, store(AT_X, x, SIZE));
	shape(&a[0], 1, SIZE);
	if (has_source) {
		job_arg(&a[1], 1, AT_WEIGHTS, store(AT_WEIGHTS, weights, UNITS * SIZE));
		shape(&a[1], UNITS, SIZE);
	}
	if (conditions)
		job_arg(&a[2], 1, AT_CONDITION, 1);
	for (unsigned int i = 0; i < products + matrices; i++)
		job_arg(&out[i], 1, AT_OUTPUT(i), i < products ? UNITS * size : UNITS * SIZE * size);
	good = job_execute(&j, 1, NULL) == 0;
	for (unsigned int i = 0; i < products; i++)
		good &= holds(AT_OUTPUT(i), expected, UNITS);
	for (unsigned int i = products; i < products + matrices; i++)
		good &= holds(AT_OUTPUT(i), weights, UNITS * SIZE);
	ok(good, "%s: %u products, %u matrices%s%s", what, products, matrices,
	   unknown ? ", no dimensions" : "", type == F16 ? ", float16" : "");
}

/* Device memory at most, with the program and its jobs. */
static uint64_t peak_of(void (*build)(void), const char *what, unsigned int products,
			unsigned int matrices)
{
	uint64_t peak;

	rig_open(&rig, NULL);
	rig_enable(&rig);
	job_rig_init(&j, &rig, 1, 1);
	begin();
	build();
	load(what);
	run(what, 0, products, matrices);
	/* What a job has changed is not seen by the next one. */
	run(what, 0, products, matrices);
	peak = rig_read64(&rig, NNPU_REG_MEM_PEAK_LO);
	rig_close(&rig);
	return peak;
}

static void build_one(void)
{
	product(computed(NNPU_TENSOR_TEMPORARY));
}

static void build_twice(void)
{
	uint32_t w = computed(NNPU_TENSOR_TEMPORARY);

	product(w);
	product(w);
}

static void build_output(void)
{
	uint32_t b = constant(UNITS), w;
	uint32_t out = image_tensor(&im, type, NNPU_TENSOR_OUTPUT, 1, UNITS, -1);

	w = computed(NNPU_TENSOR_OUTPUT);
	image_command(&im, NNPU_OP_FULLY_CONNECTED, 4, 1, in, w, b, act, out);
}

/* The input itself, and what is computed from it afterwards. */
static void build_input(void)
{
	product(source);
	computed(NNPU_TENSOR_OUTPUT);
}

static void test_kinds(void)
{
	peak_of(build_one, "weights of one command", 1, 0);
	peak_of(build_twice, "weights of two commands", 2, 0);
	peak_of(build_output, "weights that are an output", 1, 1);
	peak_of(build_input, "weights that are an input", 1, 1);
}

/* Weights from what is much smaller: in each row the input x. */
static void build_small(unsigned int products)
{
	uint32_t w = matrix(NNPU_TENSOR_TEMPORARY), column = constant(UNITS);

	im.tensors[column].rank = 2;
	im.tensors[column].dims[0] = htole32(UNITS);
	im.tensors[column].dims[1] = htole32(1);
	image_command(&im, NNPU_OP_ADD, 3, 1, in, column, act, w);
	while (products--)
		product(w);
}

static void build_small_one(void)
{
	build_small(1);
}

static void build_small_two(void)
{
	build_small(2);
}

static void test_memory(void)
{
	float other[UNITS], square = 0;
	uint64_t one, two;

	for (unsigned int i = 0; i < SIZE; i++)
		square += x[i] * x[i];
	memcpy(other, expected, sizeof(other));
	for (unsigned int u = 0; u < UNITS; u++)
		expected[u] = square;
	has_source = false;
	one = peak_of(build_small_one, "weights from a small input, for one command", 1, 0);
	two = peak_of(build_small_two, "weights from a small input, for two commands", 2, 0);
	has_source = true;
	memcpy(expected, other, sizeof(other));
	ok(one + BYTES / 2 < two, "weights of one command are there once: %llu bytes, %llu with two",
	   (unsigned long long)one, (unsigned long long)two);
}

/* y = product(w), where a branch computes w; or a loop that is not entered passes it on. */
static void test_control(bool loop)
{
	const char *what = loop ? "weights from a loop" : "weights from a branch";
	uint32_t c, w, t, b, out, again, p, q, d, e;

	rig_open(&rig, NULL);
	rig_enable(&rig);
	job_rig_init(&j, &rig, 1, 1);
	begin();
	c = image_tensor(&im, BOOL8, NNPU_TENSOR_INPUT, 1, -1);
	b = constant(UNITS);
	out = image_tensor(&im, type, NNPU_TENSOR_OUTPUT, 1, UNITS, -1);
	again = matrix(NNPU_TENSOR_OUTPUT);
	t = computed(NNPU_TENSOR_TEMPORARY);
	w = matrix(NNPU_TENSOR_TEMPORARY);
	image_command(&im, loop ? NNPU_CMD_LOOP : NNPU_CMD_BRANCH, 2, 1, loop ? t : c, loop ? c : t, w);
	image_targets(&im, 4, loop ? 6 : 4);
	image_command(&im, NNPU_OP_FULLY_CONNECTED, 4, 1, in, w, b, act, out);
	image_command(&im, NNPU_OP_ADD, 3, 1, t, constant(1), act, again);
	if (loop) {
		p = matrix(NNPU_TENSOR_TEMPORARY);
		d = image_tensor(&im, BOOL8, NNPU_TENSOR_TEMPORARY, 1, -1);
		e = image_tensor(&im, BOOL8, NNPU_TENSOR_TEMPORARY, 1, -1);
		image_command(&im, NNPU_CMD_BLOCK, 2, 1, p, d, e);
		image_command(&im, NNPU_OP_LOGICAL_AND, 2, 1, d, d, e);
	}
	p = matrix(NNPU_TENSOR_TEMPORARY);
	q = matrix(NNPU_TENSOR_TEMPORARY);
	d = image_tensor(&im, BOOL8, NNPU_TENSOR_TEMPORARY, 1, -1);
	if (loop)
		image_command(&im, NNPU_CMD_BLOCK, 2, 1, p, d, q);
	else
		image_command(&im, NNPU_CMD_BLOCK, 1, 1, p, q);
	image_command(&im, NNPU_OP_ADD, 3, 1, p, constant(1), act, q);
	load(what);
	j.operands[AT_CONDITION] = 0;
	run(what, 1, 1, 1);
	rig_close(&rig);
}

int main(void)
{
	for (unsigned int i = 0; i < SIZE; i++)
		x[i] = (float)(i % 3) - 1;
	for (unsigned int i = 0; i < UNITS * SIZE; i++)
		weights[i] = (float)(i * 7 % 31) - 15;
	for (unsigned int u = 0; u < UNITS; u++)
		for (unsigned int i = 0; i < SIZE; i++)
			expected[u] += x[i] * weights[u * SIZE + i];
	type = F32;
	test_memory();
	for (int round = 0; round < 4; round++) {
		type = round & 1 ? F16 : F32;
		unknown = round & 2;
		test_kinds();
		test_control(false);
		test_control(true);
	}
	return tap_done();
}
