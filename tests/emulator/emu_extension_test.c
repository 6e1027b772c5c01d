// SPDX-License-Identifier: MIT
/*
 * Vendor extensions: what IDENTIFY says of them, their types and operations in programs,
 * and jobs of the example extension and of one with gaps between its numbers.
 */
#include <endian.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "rig.h"
#include "tap.h"

#define NAME	"com.example.fibonacci"

struct quant64 {
	double scale;
	int64_t zero_point;
};

static struct rig rig;
static struct job_rig j;
static struct image im;

/* Codes of the example extension, as IDENTIFY has them. */
static uint32_t fibonacci, int64, quant64;
/* Code of operation and type 0 of org.nnpu.tflite. */
static uint32_t tflite;

static int identify(uint32_t number, void *page)
{
	struct nnpu_sqe_identify c = {
		.opcode = NNPU_ADMIN_IDENTIFY, .addr = rig_addr(page), .page = htole32(number),
	};

	return rig_admin(&rig, &c, NULL);
}

static bool extension_sound(const struct nnpu_extension *e)
{
	uint32_t i, n = le32toh(e->num_types);
	static const uint8_t zeros[sizeof(e->reserved)];

	if (le32toh(e->magic) != NNPU_EXTENSION_MAGIC || n > NNPU_EXTENSION_MAX_TYPES ||
	    le32toh(e->first_operation) < NNPU_CMD_EXTENSION || !memchr(e->name, 0, sizeof(e->name)) ||
	    memcmp(e->reserved, zeros, sizeof(zeros)))
		return false;
	for (i = 0; i < n; i++)
		if (le16toh(e->types[i].code) < NNPU_TYPE_EXTENSION || !e->types[i].byte_size ||
		    (le32toh(e->types[i].flags) & ~NNPU_EXTENSION_TENSOR) || e->types[i].reserved ||
		    (i && le16toh(e->types[i].number) <= le16toh(e->types[i - 1].number)))
			return false;
	return true;
}

static void test_identify(void)
{
	struct nnpu_identify *id = rig_alloc(&rig, sizeof(*id));
	struct nnpu_extension *e = rig_alloc(&rig, sizeof(*e));
	uint32_t i, n, sound = 0, found = 0;

	ok(identify(0, id) == 0 && le32toh(id->magic) == NNPU_IDENTIFY_MAGIC, "page 0: the device");
	n = le32toh(id->num_extensions);
	ok((rig_read(&rig, NNPU_REG_FEATURES_LO) & NNPU_FEATURE_EXTENSIONS) && n &&
	   n <= NNPU_MAX_EXTENSIONS, "FEATURE_EXTENSIONS, and %u of them", n);
	for (i = 1; i <= n; i++) {
		memset(e, 0xff, sizeof(*e));
		sound += identify(i, e) == 0 && extension_sound(e);
		if (!strcmp(e->name, "org.nnpu.tflite"))
			tflite = le32toh(e->first_operation);
		if (strcmp(e->name, NAME))
			continue;
		found++;
		fibonacci = le32toh(e->first_operation);
		int64 = le16toh(e->types[0].code);
		quant64 = le16toh(e->types[1].code);
		ok(le32toh(e->num_operations) == 1 && le32toh(e->num_types) == 2 &&
		   le16toh(e->types[0].number) == 0 && !e->types[0].flags &&
		   le32toh(e->types[0].byte_size) == 8, NAME ": INT64 is scalar 0 of 8 bytes");
		ok(le16toh(e->types[1].number) == 1 && le32toh(e->types[1].byte_size) == 8 &&
		   le32toh(e->types[1].flags) == NNPU_EXTENSION_TENSOR,
		   "TENSOR_QUANT64_ASYMM is tensor 1 of 8 bytes");
	}
	ok(sound == n, "%u of %u pages are sound", sound, n);
	ok(found == 1, NAME " is there once");
	ok(identify(n + 1, e) == NNPU_STATUS_INVALID_FIELD, "a page beyond the last");
	ok(identify(UINT32_MAX, e) == NNPU_STATUS_INVALID_FIELD, "page 2^32 - 1");
}

/* A tensor with parameters. */
static uint32_t tensor_with(uint32_t type, unsigned int kind, int dim, const void *params,
			    uint32_t len)
{
	uint32_t t = image_tensor(&im, type, kind, dim, -1);

	im.data_size = (im.data_size + 7) & ~7u;
	im.tensors[t].params_off = htole32(len ? im.data_size : 0);
	im.tensors[t].params_len = htole32(len);
	if (len)
		memcpy(im.data + im.data_size, params, len);
	im.data_size += len;
	return t;
}

/* n -> [F(1) .. F(n)]: n constant if @n is not NULL, the output quantized or not. */
static void build(const int64_t *n, int dim, const struct quant64 *quant)
{
	uint32_t in, out;

	image_init(&im);
	if (n) {
		in = image_const(&im, int64, 0, n, sizeof(*n));
		im.tensors[in].rank = 0;
	} else {
		in = image_tensor(&im, int64, NNPU_TENSOR_INPUT, -1);
	}
	if (quant)
		out = tensor_with(quant64, NNPU_TENSOR_OUTPUT, dim, quant, sizeof(*quant));
	else
		out = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, dim, -1);
	image_command(&im, fibonacci, 1, 1, in, out);
}

/* Loads, or does not; the program's number is 1. */
static void loads(const char *what, unsigned int status, unsigned int reason, uint32_t error,
		  unsigned int operand)
{
	struct nnpu_cqe cqe;
	int got;

	image_finish(&im);
	got = rig_load(&rig, 1, 1, im.bytes, im.size, &cqe);
	ok(got == (int)status && le16toh(cqe.reason) == reason && le32toh(cqe.error) == error &&
	   le16toh(cqe.operand) == operand,
	   "%s (status 0x%x reason %u error %u operand %u)", what, (unsigned int)got,
	   le16toh(cqe.reason), le32toh(cqe.error), le16toh(cqe.operand));
	if (!got && status)
		rig_unload(&rig, 1, 1);
	image_free(&im);
}

/* Run program 1 with n, or without input, and @room bytes for the output. */
static int run(const int64_t *n, uint64_t room, struct nnpu_cqe *cqe)
{
	struct nnpu_arg *a = job_args(&j, n ? 1 : 0, 1);

	if (n) {
		memcpy(j.operands, n, sizeof(*n));
		job_arg(a++, 1, 0, sizeof(*n));
	}
	job_arg(a, 1, 64, room);
	return job_execute(&j, 1, cqe);
}

static void test_jobs(void)
{
	static const float reals[10] = { 1, 1, 2, 3, 5, 8, 13, 21, 34, 55 };
	static const uint64_t integers[10] = { 12, 12, 14, 16, 20, 26, 36, 52, 78, 120 };
	static const struct quant64 half = { 0.5, 10 };
	const int64_t ten = 10, zero = 0, most = 186, more = 187, least = INT64_MIN;
	struct nnpu_cqe cqe;
	float last;

	build(&ten, 10, NULL);
	loads("constant n, float32", 0, 0, 0, NNPU_OPERAND_NONE);
	ok(run(NULL, 40, &cqe) == 0 && !memcmp(j.operands + 64, reals, sizeof(reals)),
	   "1 1 2 3 5 8 13 21 34 55");
	ok(!job_result(&j)->inferences, "its shape is known beforehand");
	rig_unload(&rig, 1, 1);
	build(NULL, 0, &half);
	loads("n from the job, quantized", 0, 0, 0, NNPU_OPERAND_NONE);
	ok(run(&ten, 80, &cqe) == 0 && !memcmp(j.operands + 64, integers, sizeof(integers)),
	   "scale 0.5, zero point 10: 12 12 14 16 20 26 36 52 78 120");
	ok(job_result_arg(&j, 1)->rank == 1 && le32toh(job_result_arg(&j, 1)->dims[0]) == 10,
	   "the shape comes back");
	ok(run(&ten, 72, &cqe) == NNPU_STATUS_OUTPUT_INSUFFICIENT, "one element short of room");
	ok(run(&zero, 80, &cqe) == NNPU_STATUS_OP_FAILED && le16toh(cqe.reason) == NNPU_REASON_VALUE &&
	   le16toh(cqe.operand) == 0, "n = 0 is refused");
	ok(run(&least, 80, &cqe) == NNPU_STATUS_OP_FAILED && le16toh(cqe.reason) == NNPU_REASON_VALUE,
	   "so is the least n there is");
	ok(run(&more, 187 * 8, &cqe) == NNPU_STATUS_OP_FAILED &&
	   le16toh(cqe.reason) == NNPU_REASON_VALUE, "so is n = 187");
	ok(run(&most, 186 * 8, &cqe) == 0 && !memcmp(j.operands + 64 + 185 * 8,
	   "\xff\xff\xff\xff\xff\xff\xff\xff", 8), "n = 186: what has no place in 64 bits is the largest");
	rig_unload(&rig, 1, 1);
	build(NULL, 0, NULL);
	loads("n from the job, float32", 0, 0, 0, NNPU_OPERAND_NONE);
	ok(run(&most, 186 * 4, &cqe) == 0, "n = 186");
	memcpy(&last, j.operands + 64 + 185 * 4, 4);
	ok(last == 3.3282511008706756e38f, "F(186) is %.9g", (double)last);
	rig_unload(&rig, 1, 1);
}

static void test_float_n(void)
{
	static const float values[] = { 0.99f, -3, NAN, INFINITY, 187, 1e30f };
	const float whole = 3, fraction = 2.75f;
	unsigned int i, refused = 0;
	struct nnpu_cqe cqe;
	uint32_t in, out;
	struct nnpu_arg *a;

	image_init(&im);
	in = image_const(&im, NNPU_TYPE_TENSOR_FLOAT32, 1, &whole, sizeof(whole));
	out = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 4, -1);
	image_command(&im, fibonacci, 1, 1, in, out);
	loads("n = 3.0 gives no four numbers", NNPU_STATUS_PROGRAM_COMMAND,
	      NNPU_REASON_SHAPE_MISMATCH, 0, 1);
	image_init(&im);
	in = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 1, -1);
	out = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 0, -1);
	image_command(&im, fibonacci, 1, 1, in, out);
	loads("n as a TENSOR_FLOAT32", 0, 0, 0, NNPU_OPERAND_NONE);
	for (i = 0; i <= sizeof(values) / sizeof(values[0]); i++) {
		int status;

		memcpy(j.operands, i ? &values[i - 1] : &fraction, 4);
		a = job_args(&j, 1, 1);
		job_arg(a, 1, 0, 4);
		job_arg(a + 1, 1, 64, 64);
		status = job_execute(&j, 1, &cqe);
		if (i)
			refused += status == NNPU_STATUS_OP_FAILED &&
				   le16toh(cqe.reason) == NNPU_REASON_VALUE;
		else
			ok(!status && le32toh(job_result_arg(&j, 1)->dims[0]) == 2,
			   "n = 2.75 counts as 2");
	}
	ok(refused == i - 1, "%u of %u bad values are refused", refused, i - 1);
	rig_unload(&rig, 1, 1);
	image_init(&im);
	in = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 2, -1);
	out = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 0, -1);
	image_command(&im, fibonacci, 1, 1, in, out);
	loads("a TENSOR_FLOAT32 of two elements", NNPU_STATUS_PROGRAM_COMMAND,
	      NNPU_REASON_DIMENSION, 0, 0);
}

static const struct quant64 good = { 0.5, 10 };

/* Parameters of the output that lie elsewhere, or are longer or shorter. */
static void refuses_params(const char *what, uint32_t offset, uint32_t length)
{
	const int64_t ten = 10;

	build(&ten, 10, &good);
	im.tensors[1].params_off = htole32(offset);
	im.tensors[1].params_len = htole32(length);
	loads(what, NNPU_STATUS_PROGRAM_TENSOR, NNPU_REASON_PARAMS, 1, NNPU_OPERAND_NONE);
}

static void test_refusals(void)
{
	static const struct quant64 bad[] = { { 0, 0 }, { -1, 0 }, { NAN, 0 }, { INFINITY, 0 } };
	const unsigned int command = NNPU_STATUS_PROGRAM_COMMAND;
	const unsigned int tensor = NNPU_STATUS_PROGRAM_TENSOR;
	const unsigned int none = NNPU_OPERAND_NONE;
	const int64_t ten = 10, minus = -1;
	uint32_t i, t, place;

	build(&minus, 10, NULL);
	loads("constant n = -1", command, NNPU_REASON_VALUE, 0, 0);
	build(&ten, 11, NULL);
	loads("an output of another length", command, NNPU_REASON_SHAPE_MISMATCH, 0, 1);
	build(&ten, 10, NULL);
	im.tensors[1].rank = 2;
	im.tensors[1].dims[1] = htole32(1);
	loads("an output of rank 2", command, NNPU_REASON_RANK, 0, 1);
	build(&ten, 10, NULL);
	im.commands[0].num_inputs = 0;
	im.commands[0].operands_first = htole32(1);
	loads("no input", command, NNPU_REASON_OPERAND_COUNT, 0, none);
	build(&ten, 10, NULL);
	t = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_TEMPORARY, 10, -1);
	im.commands[0].num_outputs = htole16(2);
	im.indexes[im.num_indexes++] = t;
	loads("two outputs", command, NNPU_REASON_OPERAND_COUNT, 0, none);
	build(&ten, 10, NULL);
	im.tensors[0].type = htole16(NNPU_TYPE_INT32);
	im.tensors[0].data_len = htole64(4);
	loads("an INT32 as input", command, NNPU_REASON_TYPE, 0, 0);
	build(&ten, 10, NULL);
	im.tensors[1].type = htole16(NNPU_TYPE_TENSOR_INT32);
	loads("a TENSOR_INT32 as output", command, NNPU_REASON_TYPE, 0, 1);
	build(&ten, 10, NULL);
	im.indexes[0] = image_omitted(&im, int64);
	loads("an omitted input", command, NNPU_REASON_OMITTED, 0, 0);
	build(&ten, 10, NULL);
	im.commands[0].opcode = htole32(fibonacci + 1);
	loads("an operation the extension does not have", NNPU_STATUS_PROGRAM_UNSUPPORTED,
	      NNPU_REASON_OPERATION, 0, none);

	build(&ten, 10, NULL);
	im.tensors[0].type = htole16((uint16_t)(quant64 + 1));
	loads("a type the extension does not have", tensor, NNPU_REASON_TYPE, 0, none);
	build(&ten, 10, NULL);
	im.tensors[0].type = 0xffff;
	loads("a type of no extension", tensor, NNPU_REASON_TYPE, 0, none);
	build(&ten, 10, NULL);
	im.tensors[0].rank = 1;
	im.tensors[0].dims[0] = htole32(1);
	loads("a scalar with a dimension", tensor, NNPU_REASON_RANK, 0, none);
	build(&ten, 10, NULL);
	im.tensors[0].data_len = htole64(4);
	loads("a constant of 4 bytes", tensor, NNPU_REASON_DATA_LENGTH, 0, none);
	build(&ten, 10, &good);
	im.tensors[1].scale = htole32(0x3f800000);
	loads("a scale", tensor, NNPU_REASON_SCALE, 1, none);
	build(&ten, 10, &good);
	im.tensors[1].zero_point = htole32(1);
	loads("a zero point", tensor, NNPU_REASON_ZERO_POINT, 1, none);
	build(&ten, 0x7fffffff, &good);
	loads("2^31 elements of 8 bytes", tensor, NNPU_REASON_OVERFLOW, 1, none);

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		build(&ten, 10, &bad[i]);
		loads("a scale that is none", tensor, NNPU_REASON_PARAMS, 1, none);
	}
	build(&ten, 10, &good);
	place = le32toh(im.tensors[1].params_off);
	refuses_params("no parameters", 0, 0);
	refuses_params("parameters of 15 bytes", place, 15);
	refuses_params("parameters of 17 bytes", place, 17);
	refuses_params("parameters that go beyond the data", place + 8, sizeof(good));
	refuses_params("parameters at 2^32 - 1", 0xffffffff, sizeof(good));
	build(&ten, 10, &good);
	im.tensors[0].params_len = htole32(16);
	loads("parameters of a type without", tensor, NNPU_REASON_PARAMS, 0, none);
}

/* Operations of the HAL take no operand of an extension. */
static void test_base_operations(void)
{
	static const struct quant64 one = { 1, 0 };
	uint32_t in, out;

	image_init(&im);
	in = tensor_with(quant64, NNPU_TENSOR_INPUT, 4, &one, sizeof(one));
	out = image_tensor(&im, NNPU_TYPE_INT32, NNPU_TENSOR_OUTPUT, -1);
	image_command(&im, NNPU_OP_RANK, 1, 1, in, out);
	loads("RANK of a tensor of an extension", NNPU_STATUS_PROGRAM_COMMAND, NNPU_REASON_TYPE, 0, 0);
	image_init(&im);
	in = tensor_with(quant64, NNPU_TENSOR_INPUT, 4, &one, sizeof(one));
	out = tensor_with(quant64, NNPU_TENSOR_OUTPUT, 4, &one, sizeof(one));
	image_command(&im, NNPU_OP_RELU, 1, 1, in, out);
	loads("RELU of one", NNPU_STATUS_PROGRAM_COMMAND, NNPU_REASON_TYPE, 0, 0);
}

/* Values of an extension's type pass into a block if their parameters are the same. */
static void test_blocks(void)
{
	static const struct quant64 a = { 0.5, 10 }, b = { 0.5, 11 };
	unsigned int k;

	for (k = 0; k < 2; k++) {
		const struct quant64 *other = k ? &b : &a;
		uint32_t n, cond, out, t_in[2], t_out[2];

		image_init(&im);
		cond = image_tensor(&im, NNPU_TYPE_TENSOR_BOOL8, NNPU_TENSOR_INPUT, 1, -1);
		n = image_tensor(&im, int64, NNPU_TENSOR_INPUT, -1);
		out = tensor_with(quant64, NNPU_TENSOR_OUTPUT, 0, &a, sizeof(a));
		t_in[0] = image_tensor(&im, int64, NNPU_TENSOR_TEMPORARY, -1);
		t_out[0] = tensor_with(quant64, NNPU_TENSOR_TEMPORARY, 0, &a, sizeof(a));
		t_in[1] = image_tensor(&im, int64, NNPU_TENSOR_TEMPORARY, -1);
		t_out[1] = tensor_with(quant64, NNPU_TENSOR_TEMPORARY, 0, other, sizeof(*other));
		image_command(&im, NNPU_CMD_BRANCH, 2, 1, cond, n, out);
		image_targets(&im, 1, 3);
		image_command(&im, NNPU_CMD_BLOCK, 1, 1, t_in[0], t_out[0]);
		image_command(&im, fibonacci, 1, 1, t_in[0], t_out[0]);
		image_command(&im, NNPU_CMD_BLOCK, 1, 1, t_in[1], t_out[1]);
		image_command(&im, fibonacci, 1, 1, t_in[1], t_out[1]);
		if (k)
			loads("blocks that differ in parameters", NNPU_STATUS_PROGRAM_COMMAND,
			      NNPU_REASON_QUANT_MISMATCH, 0, 2);
		else
			loads("blocks of the same parameters", 0, 0, 0, NNPU_OPERAND_NONE);
		if (!k) {
			const int64_t three = 3;
			const uint64_t expected[3] = { 12, 12, 14 };
			struct nnpu_arg *args = job_args(&j, 2, 1);
			struct nnpu_cqe cqe;

			j.operands[32] = 1;
			memcpy(j.operands, &three, sizeof(three));
			job_arg(args, 1, 32, 1);
			job_arg(args + 1, 1, 0, sizeof(three));
			job_arg(args + 2, 1, 64, 256);
			ok(job_execute(&j, 1, &cqe) == 0 &&
			   !memcmp(j.operands + 64, expected, sizeof(expected)),
			   "FIBONACCI in a block");
			rig_unload(&rig, 1, 1);
		}
	}
}

/* Numbers with gaps: what is not there is refused, what is there runs. */
static void test_gaps(void)
{
	struct nnpu_cqe cqe;
	struct nnpu_arg *a;
	uint32_t in, out;

	for (unsigned int k = 0; k < 3; k++) {
		image_init(&im);
		in = image_tensor(&im, tflite + (k == 2 ? 5 : 4), NNPU_TENSOR_INPUT, 3, 5, -1);
		out = image_tensor(&im, NNPU_TYPE_TENSOR_INT32, NNPU_TENSOR_OUTPUT, 0, -1);
		image_command(&im, tflite + (k == 1 ? 119 : 77), 2, 1, in,
			      image_scalar(&im, 2), out);
		if (k == 0)
			loads("SHAPE of a TENSOR_INT64", 0, 0, 0, NNPU_OPERAND_NONE);
		else if (k == 1)
			loads("an operator that the device does not have",
			      NNPU_STATUS_PROGRAM_UNSUPPORTED, NNPU_REASON_OPERATION, 0,
			      NNPU_OPERAND_NONE);
		else
			loads("a type in a gap", NNPU_STATUS_PROGRAM_TENSOR, NNPU_REASON_TYPE, 0,
			      NNPU_OPERAND_NONE);
		if (k)
			continue;
		a = job_args(&j, 1, 1);
		job_arg(a, 1, 128, 3 * 5 * 8);
		job_arg(a + 1, 1, 64, 8);
		ok(job_execute(&j, 1, &cqe) == 0 && !memcmp(j.operands + 64, "\3\0\0\0\5\0\0", 8),
		   "it is 3 and 5");
		rig_unload(&rig, 1, 1);
	}
}

/* A device that was not asked for examples has neither its codes nor its page. */
static void test_plain_device(void)
{
	struct nnpu_inproc_config config;
	struct nnpu_extension *e;
	struct nnpu_identify *id;
	struct nnpu_cqe cqe;
	struct image im;
	uint32_t in, out;

	rig_config(&config);
	config.props.examples = false;
	rig_open(&rig, &config);
	if (!ok(rig_enable(&rig) && job_rig_init(&j, &rig, 1, 1), "a device without examples"))
		return;
	id = rig_alloc(&rig, sizeof(*id));
	e = rig_alloc(&rig, sizeof(*e));
	ok(identify(0, id) == 0 && le32toh(id->num_extensions) == 1 &&
	   (rig_read(&rig, NNPU_REG_FEATURES_LO) & NNPU_FEATURE_EXTENSIONS), "one extension");
	ok(identify(1, e) == 0 && extension_sound(e) && !strcmp(e->name, "org.nnpu.tflite"),
	   "it is %s", e->name);
	ok(le32toh(e->num_types) == 6 && le16toh(e->types[0].number) == 4 &&
	   le16toh(e->types[0].code) == tflite + 4 && le16toh(e->types[5].number) == 16 &&
	   le16toh(e->types[5].code) == tflite + 16, "its types have numbers and codes with gaps");
	ok(le32toh(e->first_operation) == tflite && le32toh(e->num_operations) > 77 &&
	   le32toh(e->num_operations) <= 256, "it numbers %u operations", le32toh(e->num_operations));
	ok(identify(2, id) == NNPU_STATUS_INVALID_FIELD, "page 2 does not exist");
	image_init(&im);
	in = image_tensor(&im, int64, NNPU_TENSOR_INPUT, -1);
	out = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 0, -1);
	image_command(&im, fibonacci, 1, 1, in, out);
	image_finish(&im);
	ok(rig_load(&rig, 1, 1, im.bytes, im.size, &cqe) == NNPU_STATUS_PROGRAM_TENSOR,
	   "its type is unknown");
	image_free(&im);
	image_init(&im);
	in = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 1, -1);
	out = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 0, -1);
	image_command(&im, fibonacci, 1, 1, in, out);
	image_finish(&im);
	ok(rig_load(&rig, 1, 1, im.bytes, im.size, &cqe) == NNPU_STATUS_PROGRAM_UNSUPPORTED,
	   "its operation is not supported");
	image_free(&im);
	rig_close(&rig);
}

int main(void)
{
	rig_open(&rig, NULL);
	if (!rig_enable(&rig) || !job_rig_init(&j, &rig, 1, 1)) {
		ok(false, "the device comes up");
		return tap_done();
	}
	test_identify();
	test_jobs();
	test_float_n();
	test_refusals();
	test_base_operations();
	test_blocks();
	test_gaps();
	ok(rig_read(&rig, NNPU_REG_PROGRAMS) == 0, "no program is left");
	rig_close(&rig);
	test_plain_device();
	return tap_done();
}
