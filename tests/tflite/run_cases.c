// SPDX-License-Identifier: MIT
/*
 * Runs archives of .tflite files with inputs and expected outputs (archive.py) on a device,
 * and counts per operator.
 *
 *   run_cases [-d DEVICE] [-e EVERY] [-a] [-w FOLDER] ARCHIVE...
 *
 * -e N takes every Nth case of each operator, the first one always. With -a each operator that
 * libnntflite maps needs a case. -w writes the cases as files, for another runtime.
 * Prints TAP: a line per operator, the cases that fail above it as comments.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nntflite/session.h>
#include <tap.h>

#include "userspace/libnntflite/map/map_table.h"

#define MAX_OUTPUTS	64
/* So many failures of an operator are told in full. */
#define MAX_TOLD	5

enum kind { EXACT, INT8, UINT8, INT16, INT32, FLOAT16, FLOAT32, IGNORED, NUM_KINDS };

static const size_t kind_size[NUM_KINDS] = { 1, 1, 1, 2, 4, 2, 4, 1 };

struct archive {
	uint8_t *data;
	size_t size;
	size_t at;
	bool broken;
};

struct name {
	char at[128];
};

struct blob {
	const uint8_t *at;
	size_t size;
};

struct counts {
	unsigned int seen;
	unsigned int source[2];
	unsigned int passed;
	unsigned int failed;
	unsigned int unmapped;
};

static struct counts counts[TFLITE_NUM_BUILTINS];
static struct nnhal_device *device;
static const char *folder;
static unsigned int every = 1, told;

/* Operators without a case, and why. */
static const struct {
	int32_t code;
	const char *why;
} no_case[] = {
	{ TFLITE_CALL_ONCE, "it has no tensors; nntflite_control_test has it" },
	{ TFLITE_VAR_HANDLE, "a resource is no tensor; nntflite_control_test has it" },
	{ TFLITE_READ_VARIABLE, "a resource is no tensor; nntflite_control_test has it" },
	{ TFLITE_ASSIGN_VARIABLE, "a resource is no tensor; nntflite_control_test has it" },
};

static const uint8_t *take(struct archive *a, size_t size)
{
	const uint8_t *p = a->data + a->at;

	if (a->broken || size > a->size - a->at) {
		a->broken = true;
		return NULL;
	}
	a->at += size;
	return p;
}

static uint64_t take_number(struct archive *a, size_t size)
{
	const uint8_t *p = take(a, size);
	uint64_t n = 0;

	while (p && size--)
		n = n << 8 | p[size];
	return n;
}

static double take_double(struct archive *a)
{
	uint64_t bits = take_number(a, 8);
	double d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

static struct name take_text(struct archive *a)
{
	size_t length = (size_t)take_number(a, 2);
	const uint8_t *p = take(a, length);
	struct name t = { "" };

	if (p)
		snprintf(t.at, sizeof(t.at), "%.*s", (int)length, (const char *)p);
	return t;
}

static struct blob take_blob(struct archive *a)
{
	struct blob b;

	b.size = (size_t)take_number(a, 4);
	b.at = take(a, b.size);
	return b;
}

static double half(uint16_t bits)
{
	int exponent = bits >> 10 & 31, fraction = bits & 1023;
	double value;

	if (exponent == 31)
		value = fraction ? (double)NAN : (double)INFINITY;
	else if (exponent)
		value = ldexp(1024 + fraction, exponent - 25);
	else
		value = ldexp(fraction, -24);
	return bits >> 15 ? -value : value;
}

static double element(enum kind kind, const uint8_t *p)
{
	uint16_t bits;
	int16_t i16;
	int32_t i32;
	float f;

	switch (kind) {
	case INT8:
		return (int8_t)*p;
	case INT16:
		memcpy(&i16, p, sizeof(i16));
		return i16;
	case INT32:
		memcpy(&i32, p, sizeof(i32));
		return i32;
	case FLOAT16:
		memcpy(&bits, p, sizeof(bits));
		return half(bits);
	case FLOAT32:
		memcpy(&f, p, sizeof(f));
		return (double)f;
	default:
		return *p;
	}
}

struct output {
	enum kind kind;
	double absolute, relative;
	uint32_t rank, dims[NNTFLITE_MAX_RANK];
	struct blob data;
};

struct tflite_case {
	struct name name, operator;
	unsigned int source;
	struct blob model;
	uint32_t num_inputs, num_outputs;
	struct blob inputs[MAX_OUTPUTS];
	struct output outputs[MAX_OUTPUTS];
};

static void take_output(struct archive *a, struct output *o)
{
	uint32_t i;

	o->kind = (enum kind)take_number(a, 1);
	o->absolute = take_double(a);
	o->relative = take_double(a);
	o->rank = (uint32_t)take_number(a, 1);
	if (o->kind >= NUM_KINDS || o->rank > NNTFLITE_MAX_RANK)
		a->broken = true;
	for (i = 0; !a->broken && i < o->rank; i++)
		o->dims[i] = (uint32_t)take_number(a, 4);
	o->data = take_blob(a);
}

static bool take_case(struct archive *a, struct tflite_case *c)
{
	uint32_t i;

	c->name = take_text(a);
	c->operator = take_text(a);
	c->source = (unsigned int)take_number(a, 1);
	c->model = take_blob(a);
	c->num_inputs = (uint32_t)take_number(a, 4);
	if (c->num_inputs > MAX_OUTPUTS || c->source > 1)
		a->broken = true;
	for (i = 0; !a->broken && i < c->num_inputs; i++)
		c->inputs[i] = take_blob(a);
	c->num_outputs = (uint32_t)take_number(a, 4);
	if (c->num_outputs > MAX_OUTPUTS)
		a->broken = true;
	for (i = 0; !a->broken && i < c->num_outputs; i++)
		take_output(a, &c->outputs[i]);
	return !a->broken;
}

static bool compare(const struct output *o, const struct nntflite_value *v, char *why, size_t size)
{
	size_t step = kind_size[o->kind], i;

	/* A value that is ignored still has a shape. */
	if (v->rank != o->rank || memcmp(v->dims, o->dims, o->rank * sizeof(o->dims[0])) ||
	    v->bytes != o->data.size) {
		snprintf(why, size, "rank %" PRIu32 " and %zu bytes, expected %" PRIu32
			 " and %zu, or other sizes", v->rank, v->bytes, o->rank, o->data.size);
		return false;
	}
	if (o->kind == IGNORED)
		return true;
	for (i = 0; i < v->bytes; i += step) {
		double is = element(o->kind, (const uint8_t *)v->data + i);
		double expected = element(o->kind, o->data.at + i);

		if (isnan(expected) ? isnan(is) : is == expected ||
		    fabs(is - expected) <= o->absolute + o->relative * fabs(expected))
			continue;
		snprintf(why, size, "element %zu is %.9g, expected %.9g", i / step, is, expected);
		return false;
	}
	return true;
}

static bool run_session(const struct tflite_case *c, struct nntflite_session *session,
			char *why, size_t size)
{
	struct nntflite_diag diag = { .message = "" };
	uint32_t i;

	for (i = 0; i < c->num_inputs; i++)
		if (nntflite_session_set_input(session, i, c->inputs[i].at, c->inputs[i].size,
					       &diag) != NNHAL_STATUS_NONE)
			goto fail;
	if (nntflite_session_run(session, NULL, NULL, &diag) != NNHAL_STATUS_NONE)
		goto fail;
	for (i = 0; i < c->num_outputs; i++) {
		struct nntflite_value value = NNTFLITE_VALUE_INIT;
		char what[200];

		if (nntflite_session_output(session, i, &value) != NNHAL_STATUS_NONE) {
			snprintf(why, size, "no output %" PRIu32, i);
			return false;
		}
		if (!compare(&c->outputs[i], &value, what, sizeof(what))) {
			snprintf(why, size, "output %" PRIu32 ": %s", i, what);
			return false;
		}
	}
	return true;
fail:
	snprintf(why, size, "%s", diag.message);
	return false;
}

static bool run_case(const struct tflite_case *c, char *why, size_t size)
{
	struct nntflite_file *file = NULL;
	struct nntflite_model *model = NULL;
	struct nntflite_session *session = NULL;
	struct nntflite_diag diag = { .message = "" };
	bool passed = false;

	if (nntflite_file_open_memory(c->model.at, c->model.size, &file, &diag) == NNHAL_STATUS_NONE &&
	    nntflite_model_create(file, NULL, &model, &diag) == NNHAL_STATUS_NONE &&
	    nntflite_session_create(model, device, NULL, &session, &diag) == NNHAL_STATUS_NONE) {
		if (nntflite_model_num_inputs(model) == c->num_inputs &&
		    nntflite_model_num_outputs(model) == c->num_outputs)
			passed = run_session(c, session, why, size);
		else
			snprintf(why, size, "another number of inputs or outputs");
	} else {
		snprintf(why, size, "%s", diag.message);
	}
	nntflite_session_destroy(session);
	nntflite_model_destroy(model);
	nntflite_file_close(file);
	return passed;
}

static void write_blob(const char *name, const char *what, uint32_t index, const struct blob *b)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.%s%" PRIu32, folder, name, what, index);
	f = fopen(path, "wb");
	if (!f || fwrite(b->at, 1, b->size, f) != b->size || fclose(f)) {
		fprintf(stderr, "run_cases: %s: %s\n", path, strerror(errno));
		exit(1);
	}
}

static void write_case(const struct tflite_case *c)
{
	char name[300], *p;
	uint32_t i;

	snprintf(name, sizeof(name), "%s.%s", c->operator.at, c->name.at);
	for (p = name; *p; p++)
		if (*p == '/' || *p == ' ')
			*p = '_';
	write_blob(name, "tflite", 0, &c->model);
	for (i = 0; i < c->num_inputs; i++)
		write_blob(name, "input", i, &c->inputs[i]);
	for (i = 0; i < c->num_outputs; i++)
		write_blob(name, "output", i, &c->outputs[i].data);
}

/* The row that serves an operator. */
static const struct op_row *row_of(int32_t code)
{
	return &op_table[op_same_as(code)];
}

static int32_t code_of(const char *operator)
{
	int32_t code;

	for (code = 0; code < TFLITE_NUM_BUILTINS; code++)
		if (!strcmp(nntflite_operator_name(code), operator))
			return code;
	return -1;
}

static void one_case(const struct tflite_case *c)
{
	int32_t code = code_of(c->operator.at);
	char why[NNTFLITE_DIAG_SIZE] = "";
	struct counts *n;

	if (code < 0) {
		ok(false, "%s: operator '%s' is in the schema", c->name.at, c->operator.at);
		return;
	}
	n = &counts[code];
	if (n->seen++ % every)
		return;
	if (folder)
		write_case(c);
	/* The vectors have operators that libnntflite does not know yet; the table says so. */
	if (!row_of(code)->map && !row_of(code)->fields) {
		n->unmapped++;
		return;
	}
	n->source[c->source]++;
	if (run_case(c, why, sizeof(why))) {
		n->passed++;
		return;
	}
	if (n->failed++ < MAX_TOLD || told)
		tap_note("%s, %s: %s", c->operator.at, c->name.at, why);
}

static bool read_archive(const char *path, struct archive *a)
{
	FILE *f = fopen(path, "rb");
	long size = -1;
	bool read = false;

	*a = (struct archive){ .broken = false };
	if (f && !fseek(f, 0, SEEK_END))
		size = ftell(f);
	if (size >= 0 && !fseek(f, 0, SEEK_SET)) {
		a->size = (size_t)size;
		a->data = malloc(a->size + 1);
		read = a->data && fread(a->data, 1, a->size, f) == a->size;
	}
	if (!read)
		fprintf(stderr, "run_cases: %s: %s\n", path, strerror(errno));
	if (f)
		fclose(f);
	return read;
}

static void run_archive(const char *path)
{
	static struct tflite_case c;
	const uint8_t *magic;
	struct archive a;
	uint32_t count, i;

	if (!read_archive(path, &a)) {
		ok(false, "%s can be read", path);
		free(a.data);
		return;
	}
	magic = take(&a, 4);
	count = (uint32_t)take_number(&a, 4);
	if (!magic || memcmp(magic, "TFLC", 4))
		a.broken = true;
	for (i = 0; i < count && take_case(&a, &c); i++)
		one_case(&c);
	ok(!a.broken && a.at == a.size && count > 0, "%s: %" PRIu32 " cases", path, i);
	free(a.data);
}

static const char *reason_without(int32_t code)
{
	size_t i;

	for (i = 0; i < sizeof(no_case) / sizeof(no_case[0]); i++)
		if (no_case[i].code == code)
			return no_case[i].why;
	return NULL;
}

static void report(bool all)
{
	struct counts sum = { 0 };
	int32_t code;

	for (code = 0; code < TFLITE_NUM_BUILTINS; code++) {
		const struct counts *n = &counts[code];
		const struct op_row *row = row_of(code);
		const char *name = nntflite_operator_name(code), *why = reason_without(code);

		if (n->unmapped)
			tap_note("%s: %u cases, but libnntflite does not map it", name, n->unmapped);
		else if (n->seen)
			ok(!n->failed && n->passed && !why, "%s: %u of %u passed", name, n->passed,
			   n->passed + n->failed);
		else if (all && (row->map || row->fields))
			ok(why, "%s: no case: %s", name, why ? why : "nobody wrote one");
	}
	tap_note("%-32s %8s %8s %8s %8s", "operator", "vectors", "numpy", "passed", "failed");
	for (code = 0; code < TFLITE_NUM_BUILTINS; code++) {
		const struct counts *n = &counts[code];

		if (n->seen == n->unmapped)
			continue;
		tap_note("%-32s %8u %8u %8u %8u", nntflite_operator_name(code), n->source[0],
			 n->source[1], n->passed, n->failed);
		sum.source[0] += n->source[0];
		sum.source[1] += n->source[1];
		sum.passed += n->passed;
		sum.failed += n->failed;
	}
	tap_note("%-32s %8u %8u %8u %8u", "all", sum.source[0], sum.source[1], sum.passed,
		 sum.failed);
}

int main(int argc, char **argv)
{
	struct nnhal_diag why = { .message = "" };
	const char *name = "sim";
	bool all = false;
	int option;

	while ((option = getopt(argc, argv, "d:e:aw:v")) != -1) {
		if (option == 'd')
			name = optarg;
		else if (option == 'e' && atoi(optarg) > 0)
			every = (unsigned int)atoi(optarg);
		else if (option == 'a')
			all = true;
		else if (option == 'w')
			folder = optarg;
		else if (option == 'v')
			told = 1;
		else
			return 2;
	}
	if (nnhal_device_open(name, &device, &why) != NNHAL_STATUS_NONE) {
		ok(false, "device %s: %s", name, why.message);
		return tap_done();
	}
	for (; optind < argc; optind++)
		run_archive(argv[optind]);
	report(all);
	nnhal_device_unref(device);
	return tap_done();
}
