// SPDX-License-Identifier: MIT
/*
 * Weights that DEQUANTIZE or CAST makes of a constant. The command that reads them decodes the constant
 * itself if nobody else does: with the same results as from weights that were written to memory, in
 * less memory, also in blocks, without known shapes, and after the program was saved.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"
#include "float16.h"
#include "tap.h"
#include "ops/kernels.h"

#define F32	NNPU_TYPE_TENSOR_FLOAT32
#define UNITS	23u
/* Most elements of a row: more than are decoded at once. */
#define SIZE	600u
#define ROWS	3u
#define TAPS	2u

/* Of the operands. */
#define AT_X		0u
#define AT_CONDITION	8192u
#define AT_OUTPUT(i)	((1u + (i)) * (64u << 10))

/* What the weights are made of. */
struct source {
	const char *name;
	unsigned int type;
	uint32_t opcode;
	int zero_point;
	int channel_dim;		/* -1: one scale */
};

static const struct source sources[] = {
	{ "unsigned bytes", NNPU_TYPE_TENSOR_QUANT8_ASYMM, NNPU_OP_DEQUANTIZE, 131, -1 },
	{ "signed bytes", NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED, NNPU_OP_DEQUANTIZE, -5, -1 },
	{ "symmetric bytes", NNPU_TYPE_TENSOR_QUANT8_SYMM, NNPU_OP_DEQUANTIZE, 0, -1 },
	{ "bytes per unit", NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL, NNPU_OP_DEQUANTIZE, 0, 0 },
	{ "bytes per input", NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL, NNPU_OP_DEQUANTIZE, 0, 1 },
	{ "plain numbers", NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED, NNPU_OP_CAST, 9, -1 },
	{ "halves", NNPU_TYPE_TENSOR_FLOAT16, NNPU_OP_CAST, 0, -1 },
};

#define NUM_SOURCES	(sizeof(sources) / sizeof(*sources))

/* A program. */
struct built {
	const struct source *source;
	uint32_t size;			/* of a row */
	bool window;			/* rows are windows of CONV_2D */
	bool unknown;			/* dimensions of the inputs when it is loaded */
};

static struct rig rig;
static struct job_rig j;
static struct image im;
static struct built b;
static float x[ROWS * SIZE];
static uint32_t in, from, act, one;

static uint32_t random_state = 3;

static uint32_t random_number(void)
{
	random_state = random_state * 1664525u + 1013904223u;
	return random_state >> 8;
}

static void set_dims(uint32_t t, uint32_t rows, uint32_t size)
{
	const uint32_t plain[] = { rows, size }, window[] = { rows, TAPS, 1, size / TAPS };

	im.tensors[t].rank = b.window ? 4 : 2;
	for (unsigned int i = 0; i < im.tensors[t].rank; i++)
		im.tensors[t].dims[i] = htole32(b.window ? window[i] : plain[i]);
}

/* The constant. */
static uint32_t stored(void)
{
	uint32_t n = UNITS * b.size, scales = UNITS > SIZE ? UNITS : SIZE, t;
	float scale = 0.0371f, channel[UNITS > SIZE ? UNITS : SIZE];
	uint16_t *halves = malloc(n * sizeof(*halves));
	uint8_t *bytes = (uint8_t *)halves;
	bool wide = b.source->type == NNPU_TYPE_TENSOR_FLOAT16;

	for (uint32_t i = 0; i < n; i++) {
		if (wide)
			halves[i] = float_to_half((float)(int)(random_number() % 2001) / 77 - 13);
		else
			bytes[i] = (uint8_t)random_number();
	}
	t = image_const(&im, b.source->type, 1, halves, n * (wide ? 2 : 1));
	free(halves);
	set_dims(t, UNITS, b.size);
	im.tensors[t].zero_point = htole32(b.source->opcode == NNPU_OP_DEQUANTIZE || !wide ?
					   (uint32_t)b.source->zero_point : 0);
	if (b.source->channel_dim >= 0) {
		scales = le32toh(im.tensors[t].dims[b.source->channel_dim]);
		for (uint32_t i = 0; i < scales; i++)
			channel[i] = scale * (float)(i % 7 + 1);
		scale = 0;
		im.tensors[t].channel_dim = htole32((uint32_t)b.source->channel_dim);
		im.tensors[t].num_channel_scales = htole32(scales);
		/* Its place is that of another constant, which nobody uses. */
		im.tensors[t].channel_scales_off = htole32((uint32_t)le64toh(
			im.tensors[image_const(&im, F32, scales, channel,
					       scales * sizeof(*channel))].data_off));
	} else if (wide) {
		scale = 0;
	}
	memcpy(&im.tensors[t].scale, &scale, sizeof(scale));
	return t;
}

static uint32_t matrix(unsigned int kind)
{
	uint32_t t = image_tensor(&im, F32, kind, 1, -1);

	set_dims(t, UNITS, b.size);
	return t;
}

static uint32_t computed(unsigned int kind)
{
	uint32_t w = matrix(kind);

	image_command(&im, b.source->opcode, 1, 1, from, w);
	return w;
}

/* The products of an input and weights. */
static uint32_t products(unsigned int kind)
{
	uint32_t t = image_tensor(&im, F32, kind, ROWS, UNITS, -1);

	if (b.window) {
		im.tensors[t].rank = 4;
		im.tensors[t].dims[1] = im.tensors[t].dims[2] = htole32(1);
		im.tensors[t].dims[3] = htole32(UNITS);
	}
	return t;
}

static uint32_t product(uint32_t input, uint32_t w, unsigned int kind)
{
	static const float zeros[UNITS];
	uint32_t bias = image_const(&im, F32, UNITS, zeros, sizeof(zeros));
	uint32_t out = products(kind);

	if (b.window) {
		image_command(&im, NNPU_OP_CONV_2D, 7, 1, input, w, bias, image_scalar(&im, 2), one,
			      one, act, out);
	} else {
		image_command(&im, NNPU_OP_FULLY_CONNECTED, 4, 1, input, w, bias, act, out);
	}
	return out;
}

static uint32_t input(unsigned int kind)
{
	uint32_t t = image_tensor(&im, F32, kind, 1, -1);

	set_dims(t, b.unknown ? 0 : ROWS, b.size);
	return t;
}

/* How weights are computed, and who reads them. */
enum form {
	/* One command: these forms have no place for them. */
	DECODED,
	TWO_DECODED,			/* twice, both times before they are read */
	TWO_READERS,			/* two commands */
	AN_OUTPUT,			/* the caller, too */
	IN_A_BLOCK,			/* both commands are in a block */
	PASSED_ON,			/* the one that reads them is in a block, and they are its input */
	NUM_FORMS,
};

static const char *const form_names[] = {
	"decoded", "decoded twice", "two readers", "an output", "in a block", "passed on to a block",
};

/* A BRANCH to one of two blocks that do the same. */
static void build_blocks(enum form form)
{
	uint32_t t = form == PASSED_ON ? computed(NNPU_TENSOR_TEMPORARY) : in, y, w, v;
	uint32_t c = image_tensor(&im, NNPU_TYPE_TENSOR_BOOL8, NNPU_TENSOR_INPUT, 1, -1);
	uint32_t out = products(NNPU_TENSOR_OUTPUT);
	uint32_t header = form == PASSED_ON ? 2 : 1, length = form == PASSED_ON ? 2 : 3;

	image_command(&im, NNPU_CMD_BRANCH, 3, 1, c, in, t, out);
	image_targets(&im, header, header + length);
	for (int i = 0; i < 2; i++) {
		uint32_t place = im.num_commands;

		v = input(NNPU_TENSOR_TEMPORARY);
		w = form == PASSED_ON ? matrix(NNPU_TENSOR_TEMPORARY) :
					input(NNPU_TENSOR_TEMPORARY);
		/* The output of the block is known when its commands are. */
		image_command(&im, NNPU_CMD_BLOCK, 2, 1, v, w, 0);
		y = product(v, form == PASSED_ON ? w : computed(NNPU_TENSOR_TEMPORARY),
			    NNPU_TENSOR_TEMPORARY);
		im.indexes[le32toh(im.commands[place].operands_first) + 2] = y;
	}
}

static bool has_two_products(enum form form)
{
	return form == TWO_DECODED || form == TWO_READERS;
}

static void build(enum form form)
{
	uint32_t w, again;

	random_state = 3;
	image_init(&im);
	in = input(NNPU_TENSOR_INPUT);
	act = image_scalar(&im, 0);
	one = image_scalar(&im, 1);
	from = stored();
	if (form == IN_A_BLOCK || form == PASSED_ON) {
		build_blocks(form);
		return;
	}
	w = computed(form == AN_OUTPUT ? NNPU_TENSOR_OUTPUT : NNPU_TENSOR_TEMPORARY);
	again = form == TWO_DECODED ? computed(NNPU_TENSOR_TEMPORARY) : w;
	product(in, w, NNPU_TENSOR_OUTPUT);
	if (has_two_products(form))
		product(in, again, NNPU_TENSOR_OUTPUT);
}

static int load(enum form form, uint32_t program)
{
	struct nnpu_cqe cqe;
	int status;

	build(form);
	image_finish(&im);
	status = rig_load(&rig, 1, program, im.bytes, im.size, &cqe);
	if (status)
		tap_note("loading: status 0x%x reason %u command %llu operand %u",
			 (unsigned int)status, le16toh(cqe.reason),
			 (unsigned long long)le64toh(cqe.result), le16toh(cqe.operand));
	image_free(&im);
	return status;
}

static void set_shape(struct nnpu_arg *a)
{
	const uint32_t plain[] = { ROWS, b.size }, window[] = { ROWS, TAPS, 1, b.size / TAPS };

	a->flags |= htole16(NNPU_ARG_SHAPE);
	a->rank = b.window ? 4 : 2;
	for (unsigned int i = 0; i < a->rank; i++)
		a->dims[i] = htole32(b.window ? window[i] : plain[i]);
}

/* Run a program of this form; the product. */
static int run(enum form form, uint32_t program, float out[ROWS * UNITS])
{
	bool blocks = form == IN_A_BLOCK || form == PASSED_ON;
	unsigned int inputs = blocks ? 2 : 1, outputs;
	const size_t bytes = ROWS * UNITS * sizeof(*out);
	uint64_t at = AT_OUTPUT(0);
	struct nnpu_arg *a;
	int status;

	outputs = has_two_products(form) || form == AN_OUTPUT ? 2 : 1;
	a = job_args(&j, inputs, outputs);
	memcpy(j.operands + AT_X, x, sizeof(x));
	j.operands[AT_CONDITION] = 0;
	memset(j.operands + AT_OUTPUT(0), 0xa5, AT_OUTPUT(2) - AT_OUTPUT(0));
	job_arg(a, 1, AT_X, ROWS * b.size * sizeof(*x));
	set_shape(a++);
	if (blocks)
		job_arg(a++, 1, AT_CONDITION, 1);
	/* They are in the order of their tensors. */
	if (form == AN_OUTPUT) {
		job_arg(a++, 1, at, UNITS * b.size * sizeof(*x));
		at = AT_OUTPUT(1);
	}
	job_arg(a++, 1, at, bytes);
	if (has_two_products(form))
		job_arg(a, 1, AT_OUTPUT(1), bytes);
	status = job_execute(&j, program, NULL);
	memcpy(out, j.operands + at, bytes);
	if (has_two_products(form) && memcmp(j.operands + AT_OUTPUT(1), out, bytes))
		return -1;
	return status;
}

static void open_rig(void)
{
	rig_open(&rig, NULL);
	rig_enable(&rig);
	job_rig_init(&j, &rig, 1, 1);
}

/* What CAST and DEQUANTIZE write is what other tests check. */
static void compare_forms(void)
{
	float out[NUM_FORMS][ROWS * UNITS], again[ROWS * UNITS];
	uint32_t form;

	open_rig();
	for (form = 0; form < NUM_FORMS; form++) {
		bool good = !load(form, form + 1) && !run(form, form + 1, out[form]);

		/* A job leaves the constant as it is. */
		good &= !run(form, form + 1, again) && !memcmp(again, out[form], sizeof(again));
		good &= !memcmp(out[form], out[AN_OUTPUT], sizeof(again)) || form < AN_OUTPUT;
		ok(good, "%s, %u of %s%s%s", form_names[form], b.size, b.source->name,
		   b.window ? " in windows" : "", b.unknown ? ", no dimensions" : "");
	}
	ok(!memcmp(out[DECODED], out[AN_OUTPUT], sizeof(again)) &&
	   !memcmp(out[TWO_DECODED], out[AN_OUTPUT], sizeof(again)) &&
	   !memcmp(out[TWO_READERS], out[AN_OUTPUT], sizeof(again)),
	   "the products are the same");
	rig_close(&rig);
}

/* Device memory at most, with the program and a job. */
static uint64_t peak_of(enum form form)
{
	float out[ROWS * UNITS];
	uint64_t peak;

	open_rig();
	ok(!load(form, 1) && !run(form, 1, out), "%s: to measure its memory", form_names[form]);
	peak = rig_read64(&rig, NNPU_REG_MEM_PEAK_LO);
	rig_close(&rig);
	return peak;
}

static void test_memory(void)
{
	const uint64_t weights = UNITS * SIZE * sizeof(float);
	uint64_t one_command, two;

	if (kernels_plain()) {
		tap_skip("plain loops do not decode weights");
		return;
	}
	b = (struct built){ .source = &sources[1], .size = SIZE };
	one_command = peak_of(DECODED);
	two = peak_of(TWO_DECODED);
	ok(two < one_command + weights / 2,
	   "weights that are decoded have no place: %llu bytes for one command, %llu for two",
	   (unsigned long long)one_command, (unsigned long long)two);
}

static int save(uint32_t program, void *room, uint64_t bytes, uint64_t *size)
{
	struct nnpu_sqe_save_program c = {
		.opcode = NNPU_ADMIN_SAVE_PROGRAM, .ctx = htole32(1), .program = htole32(program),
	};
	struct nnpu_cqe cqe;
	int status;

	c.image.addr = rig_addr(room);
	c.image.size = htole64(bytes);
	status = rig_admin(&rig, &c, &cqe);
	*size = le64toh(cqe.result);
	return status;
}

/* A program that is saved has the constant, and the saved one gives the same. */
static void test_save(void)
{
	const uint64_t room = 128u << 10;
	float out[2][ROWS * UNITS];
	uint8_t *image[2];
	uint64_t size[2] = { 0, 0 };
	bool good;

	open_rig();
	image[0] = rig_alloc(&rig, room);
	image[1] = rig_alloc(&rig, room);
	good = !load(DECODED, 1) && !run(DECODED, 1, out[0]) && !save(1, image[0], room, &size[0]) &&
	       !rig_unload(&rig, 1, 1) && !rig_load(&rig, 1, 2, image[0], size[0], NULL) &&
	       !run(DECODED, 2, out[1]) && !memcmp(out[0], out[1], sizeof(out[0])) &&
	       !save(2, image[1], room, &size[1]);
	ok(good && size[0] == size[1] && !memcmp(image[0], image[1], size[0]),
	   "saved and loaded again, %s: the same program", b.source->name);
	ok(size[0] < UNITS * SIZE * sizeof(float), "weights are saved as they are stored");
	rig_close(&rig);
}

int main(void)
{
	static const uint32_t sizes[] = { 2, 16, 38, SIZE };

	for (unsigned int i = 0; i < ROWS * SIZE; i++)
		x[i] = (float)(int)(random_number() % 2001) / 100 - 10;
	for (unsigned int s = 0; s < NUM_SOURCES; s++) {
		for (unsigned int i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			b = (struct built){ .source = &sources[s], .size = sizes[i] };
			b.window = i & 1;
			b.unknown = (s + i) & 2;
			compare_forms();
		}
		test_save();
	}
	test_memory();
	return tap_done();
}
