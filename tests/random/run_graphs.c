// SPDX-License-Identifier: MIT
/*
 * Usage: run_graphs [-d DEVICE] FILE.nntc OUTPUT
 *        run_graphs [-d DEVICE] -l FILE.nntc.limits FILE.nntc
 *
 * Prepare and execute each case of a file and write what came out of it, for a reader
 * that knows how exact it has to be. Each model runs twice, by itself and in a burst,
 * with other bytes in the outputs before; what differs between the two, or was written
 * beside the outputs, is reported as status 1000 or 1001, another number of shapes than
 * of outputs as 1002.
 *
 * The output file has for each case: u32 0 if it was prepared, else 1; u32 status; u32
 * length of a message; the message; and if the status is NONE for each output u32 rank,
 * u32 dimensions, u32 bytes, the bytes.
 *
 * With -l the results are compared with those in the file, as exactly as random_graphs.py
 * --write has put down (expectations.py), and TAP is printed.
 *
 * The device is DEVICE, or NNHAL_TEST_DEVICE of the environment, or sim. Without a driver
 * for it the exit status is 4; with NNPU_REQUIRE_DEVICE in the environment it is 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../userspace/tools/common/compare_outputs.h"
#include "../tap.h"
#include "hal_case.h"

#define RUNS_DIFFER	1000u
#define STRAY_WRITE	1001u
#define SHAPES_MISSING	1002u

#define EXIT_SKIPPED	4

/* Of so many random graphs each operation is alone in one. */
#define ALL_OPERATIONS	170u

/* What the limits have of an output. */
struct limit {
	uint32_t exact;
	float real;
	uint32_t steps;
	uint32_t rank;
	uint32_t dims[8];
};

static FILE *out;

/* With -l. */
static FILE *limits;
static unsigned int agreeing, disagreeing;
static bool seen[NNHAL_OPERATION_RANK + 1];

static void put(const void *p, size_t n)
{
	if (n && fwrite(p, 1, n, out) != n) {
		perror("run_graphs");
		exit(1);
	}
}

static void put_u32(uint32_t v)
{
	put(&v, sizeof(v));
}

static void put_status(bool prepared, uint32_t status, const char *message)
{
	put_u32(!prepared);
	put_u32(status);
	put_u32((uint32_t)strlen(message));
	put(message, strlen(message));
}

/* Outputs as they are in memory now. */
static uint8_t *save(const struct hal_case *h)
{
	uint8_t *copy = malloc(h->size);

	if (!copy)
		exit(1);
	memcpy(copy, h->map, h->size);
	return copy;
}

static bool outputs_same(const struct hal_case *h, const uint8_t *first)
{
	for (uint32_t i = 0; i < h->request.num_outputs; i++) {
		const struct nnhal_data_location *l = &h->out_args[i].location;

		if (memcmp(first + l->offset, h->map + l->offset, l->length))
			return false;
	}
	return true;
}

/* Compare one output; the next record of the limits is its. */
static bool judge_output(const struct hal_case *h, const struct nntc_case *c, uint32_t i,
			 const struct nnhal_output_shape *shape, char *text)
{
	struct nntc_operand o = c->main.operands[c->main.outputs[i]];
	const uint8_t *bytes = h->map + h->out_args[i].location.offset;
	struct tolerance tolerance;
	struct limit limit;

	if (fread(&limit, sizeof(limit), 1, limits) != 1) {
		snprintf(text, COMPARE_TEXT, "output %u: the limits have ended", i);
		return false;
	}
	/* The case may leave the shape open. */
	o.rank = (uint8_t)limit.rank;
	memcpy(o.dims, limit.dims, sizeof(o.dims));
	if (!compare_shape(i, &o, shape, text))
		return false;
	tolerance = (struct tolerance){ limit.real, limit.real, (long)limit.steps };
	if (!compare_output(i, &o, bytes, &tolerance, text))
		return false;
	if (!limit.exact || o.type == NNHAL_OPERAND_TENSOR_FLOAT32 ||
	    o.type == NNHAL_OPERAND_TENSOR_FLOAT16 || !memcmp(bytes, o.data, o.num_bytes))
		return true;
	snprintf(text, COMPARE_TEXT, "output %u: not the same bytes", i);
	return false;
}

/* @shapes: NULL if the graph did not run. */
static void judge(const struct hal_case *h, const struct nntc_case *c, uint32_t status,
		  const char *message, const struct nnhal_output_shape *shapes)
{
	char text[COMPARE_TEXT] = "", first[COMPARE_TEXT] = "";

	/* All, whatever the first is like: each has a record. */
	for (uint32_t i = 0; shapes && !status && i < c->main.num_outputs; i++) {
		if (!judge_output(h, c, i, &shapes[i], text) && !first[0])
			memcpy(first, text, sizeof(first));
	}
	if (status)
		fseek(limits, (long)(c->main.num_outputs * sizeof(struct limit)), SEEK_CUR);
	if (status || first[0]) {
		tap_note("%s: status %u: %s", c->name, status, status ? message : first);
		disagreeing++;
	} else {
		agreeing++;
	}
}

static void note_operations(const struct nntc_subgraph *sg)
{
	for (uint32_t i = 0; i < sg->num_operations; i++) {
		if (sg->operations[i].type <= NNHAL_OPERATION_RANK)
			seen[sg->operations[i].type] = true;
	}
}

static int report(void)
{
	unsigned int operations = 0;

	for (uint32_t i = 0; i <= NNHAL_OPERATION_RANK; i++)
		operations += seen[i];
	ok(agreeing && !disagreeing, "%u random graphs agree with the reference, %u do not",
	   agreeing, disagreeing);
	if (agreeing + disagreeing < ALL_OPERATIONS)
		tap_skip("%u operations occur in them; it takes %u graphs to have all", operations,
			 ALL_OPERATIONS);
	else
		ok(operations == NNHAL_OPERATION_RANK + 1, "%u of %u operations occur in them",
		   operations, NNHAL_OPERATION_RANK + 1);
	ok(fgetc(limits) == EOF, "there are no limits of more graphs");
	return tap_done();
}

static uint32_t run(struct nnhal_prepared_model *model, const struct hal_case *h, bool in_burst,
		    struct nnhal_output_shape *shapes, uint32_t *count, struct nnhal_diag *diag)
{
	struct nnhal_execute_options options = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_burst *burst;
	uint32_t status;

	options.diag = diag;
	/* No result is to depend on how long a loop takes. */
	options.has_loop_timeout = true;
	options.loop_timeout_ns = NNHAL_MAX_LOOP_TIMEOUT_NS;
	if (!in_burst)
		return nnhal_prepared_model_execute_synchronously(model, &h->request, &options,
								  shapes, count, NULL);
	status = nnhal_burst_create(model, NULL, &burst);
	if (status)
		return status;
	status = nnhal_burst_execute(burst, &h->request, &options, shapes, count, NULL);
	nnhal_burst_unref(burst);
	return status;
}

static void execute(struct hal_case *h, const struct nntc_case *c,
		    struct nnhal_prepared_model *model)
{
	struct nnhal_output_shape *shapes = calloc(c->main.num_outputs + 1, sizeof(*shapes));
	struct nnhal_diag diag = { "" };
	uint8_t *first = NULL;
	uint32_t status, count;

	if (!shapes)
		exit(1);
	for (int in_burst = 0; in_burst < 2; in_burst++) {
		uint8_t fill = in_burst ? 0x5a : 0xc3;

		hal_case_load(h, c, fill);
		status = run(model, h, in_burst, shapes, &count, &diag);
		if (!status && count != c->main.num_outputs)
			status = SHAPES_MISSING;
		if (!status && !hal_case_untouched(h, c, fill))
			status = STRAY_WRITE;
		if (status)
			break;
		if (!in_burst)
			first = save(h);
		else if (!outputs_same(h, first))
			status = RUNS_DIFFER;
	}
	if (limits)
		judge(h, c, status, diag.message, shapes);
	else
		put_status(true, status, diag.message);
	for (uint32_t i = 0; out && !status && i < count; i++) {
		const struct nnhal_data_location *l = &h->out_args[i].location;

		put_u32(shapes[i].num_dimensions);
		put(shapes[i].dimensions, 4u * shapes[i].num_dimensions);
		put_u32(l->length);
		put(h->map + l->offset, l->length);
	}
	free(first);
	free(shapes);
}

static void run_case(struct nnhal_device *device, const struct nntc_case *c)
{
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	struct nnhal_prepared_model *model;
	struct nnhal_diag diag = { "" };
	struct hal_case h;
	uint32_t status;

	options.diag = &diag;
	hal_case_init(&h, c);
	status = nnhal_device_prepare_model_sync(device, &h.model, &options, &model);
	if (status && limits)
		judge(&h, c, status, diag.message, NULL);
	else if (status)
		put_status(false, status, diag.message);
	else
		execute(&h, c, model);
	nnhal_prepared_model_unref(model);
	hal_case_fini(&h);
}

static int open_device(const char *spec, struct nnhal_device **device)
{
	struct nnhal_diag diag = { "" };
	enum nnhal_status status;

	if (!spec)
		spec = getenv("NNHAL_TEST_DEVICE");
	if (!spec)
		spec = "sim";
	status = nnhal_device_open(spec, device, &diag);
	if (!status)
		return 0;
	fprintf(stderr, "run_graphs: %s\n", diag.message);
	if (limits)
		printf("1..0 # SKIP %s\n", diag.message);
	return status == NNHAL_STATUS_NO_DRIVER && !getenv("NNPU_REQUIRE_DEVICE") ? EXIT_SKIPPED : 1;
}

static bool run_file(struct nnhal_device *device, const char *path)
{
	struct nntc_file f;

	if (!nntc_open(&f, path)) {
		fprintf(stderr, "run_graphs: %s: %s\n", path, f.error);
		return false;
	}
	for (uint32_t i = 0; i < f.num_cases; i++) {
		struct nntc_case c;

		if (!nntc_next(&f, &c)) {
			fprintf(stderr, "run_graphs: %s: %s\n", path, f.error);
			nntc_close(&f);
			return false;
		}
		note_operations(&c.main);
		for (uint32_t k = 0; k < c.num_referenced; k++)
			note_operations(&c.referenced[k]);
		run_case(device, &c);
		nntc_free(&c);
	}
	nntc_close(&f);
	return true;
}

int main(int argc, char **argv)
{
	const char *spec = NULL, *limits_path = NULL, *path;
	struct nnhal_device *device;
	int option, status;
	bool good;

	while ((option = getopt(argc, argv, "d:l:")) != -1) {
		if (option == 'd')
			spec = optarg;
		else if (option == 'l')
			limits_path = optarg;
		else
			break;
	}
	if (option != -1 || argc - optind != (limits_path ? 1 : 2)) {
		fprintf(stderr, "usage: run_graphs [-d DEVICE] FILE.nntc OUTPUT\n"
			"       run_graphs [-d DEVICE] -l FILE.nntc.limits FILE.nntc\n");
		return 2;
	}
	path = limits_path ? limits_path : argv[optind + 1];
	*(limits_path ? &limits : &out) = fopen(path, limits_path ? "rb" : "wb");
	if (!limits && !out) {
		perror(path);
		return 1;
	}
	status = open_device(spec, &device);
	if (status)
		return status;
	good = run_file(device, argv[optind]);
	nnhal_device_unref(device);
	status = limits ? report() : 0;
	if (fclose(limits ? limits : out)) {
		perror(path);
		return 1;
	}
	return good ? status : 1;
}
