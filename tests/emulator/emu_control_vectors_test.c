// SPDX-License-Identifier: MIT
/*
 * Run the operator test cases beside the repository that have subgraphs on the device model: as
 * they are, with the constants of the main subgraph fed as inputs, and with no shape known
 * before the job runs. Some of the resulting programs are more than the HAL allows: it refuses
 * loops whose operands grow.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "../../userspace/tools/common/compare_outputs.h"
#include "../ops/shared_vectors.h"
#include "rig.h"

#define MAX_SUBGRAPHS	16
#define MAX_OPERANDS	64
#define ARGUMENT	4096u		/* room for each argument */

enum variation { AS_GIVEN, CONSTANTS_AS_INPUTS, SHAPES_UNKNOWN, VARIATIONS };

static const char *const variation_names[VARIATIONS] = {
	"", " (constants as inputs)", " (shapes unknown)",
};

static struct rig rig;
static struct job_rig j;
static struct image im;

/* The case at hand; part 0 is the main subgraph, part n the referenced one n - 1. */
static struct {
	const struct nntc_case *nc;
	enum variation variation;
	uint32_t order[MAX_SUBGRAPHS];	/* parts, each behind all that refer to it */
	uint32_t num_parts;
	bool placed[MAX_SUBGRAPHS];
	uint32_t block[MAX_SUBGRAPHS];	/* command that begins it */
	uint32_t tensor[MAX_SUBGRAPHS][MAX_OPERANDS];
} b;

static unsigned int passed, failed;

static const struct nntc_subgraph *part(uint32_t n)
{
	return n ? &b.nc->referenced[n - 1] : &b.nc->main;
}

/* Parts in the order in which the search leaves them: referenced parts come first. */
static void visit(uint32_t n)
{
	const struct nntc_subgraph *sg = part(n);

	if (b.placed[n])
		return;
	b.placed[n] = true;
	for (uint32_t i = 0; i < sg->num_operands; i++) {
		if (sg->operands[i].lifetime == NNTC_SUBGRAPH)
			visit(sg->operands[i].subgraph + 1);
	}
	b.order[b.num_parts++] = n;
}

static bool is_constant(const struct nntc_operand *o)
{
	return o->lifetime == NNTC_CONSTANT_COPY || o->lifetime == NNTC_CONSTANT_REFERENCE;
}

static unsigned int kind_of(const struct nntc_operand *o, uint32_t n)
{
	if (o->lifetime == NNTC_NO_VALUE)
		return NNPU_TENSOR_NO_VALUE;
	if (is_constant(o))
		return !n && b.variation == CONSTANTS_AS_INPUTS ? NNPU_TENSOR_INPUT :
								  NNPU_TENSOR_INLINE;
	return n ? NNPU_TENSOR_TEMPORARY : o->lifetime;
}

static uint32_t add_operand(const struct nntc_operand *o, uint32_t n)
{
	unsigned int kind = kind_of(o, n);
	struct nnpu_tensor_desc *d;
	uint32_t t, scale;

	if (kind == NNPU_TENSOR_INLINE)
		t = image_const(&im, o->type, 0, o->data, o->num_bytes);
	else
		t = image_tensor(&im, o->type, kind, -1);
	d = &im.tensors[t];
	d->rank = 0;
	memset(d->dims, 0, sizeof(d->dims));
	memcpy(&scale, &o->scale, sizeof(scale));
	d->scale = htole32(scale);
	d->zero_point = htole32((uint32_t)o->zero_point);
	if (nntc_is_scalar(o->type))
		return t;
	if (b.variation != SHAPES_UNKNOWN || kind == NNPU_TENSOR_INLINE)
		d->rank = o->rank;
	for (unsigned int i = 0; i < d->rank; i++)
		d->dims[i] = htole32(o->dims[i]);
	if (!d->rank)
		d->flags = htole32(NNPU_TENSOR_UNKNOWN_RANK);
	return t;
}

static void add_index(uint32_t n, uint32_t operand)
{
	im.indexes[im.num_indexes++] = b.tensor[n][operand];
}

static void add_operation(const struct nntc_operation *o, uint32_t n)
{
	bool is_if = o->type == NNPU_OP_IF, is_while = o->type == NNPU_OP_WHILE;
	uint32_t first = is_if ? 1 : 0, skip = is_if || is_while ? 2 : 0;
	const struct nntc_subgraph *sg = part(n);

	image_command(&im, is_if ? NNPU_CMD_BRANCH : is_while ? NNPU_CMD_LOOP : o->type, 0, 0);
	im.commands[im.num_commands - 1].num_inputs = htole16((uint16_t)(o->num_inputs - skip));
	im.commands[im.num_commands - 1].num_outputs = htole16((uint16_t)o->num_outputs);
	if (skip)
		image_targets(&im, b.block[sg->operands[o->operands[first]].subgraph + 1],
			      b.block[sg->operands[o->operands[first + 1]].subgraph + 1]);
	for (uint32_t i = 0; i < o->num_inputs + o->num_outputs; i++) {
		if (!skip || i < first || i >= first + 2)
			add_index(n, o->operands[i]);
	}
}

static void add_part(uint32_t n)
{
	const struct nntc_subgraph *sg = part(n);

	if (n) {
		image_command(&im, NNPU_CMD_BLOCK, 0, 0);
		im.commands[im.num_commands - 1].num_inputs = htole16((uint16_t)sg->num_inputs);
		im.commands[im.num_commands - 1].num_outputs = htole16((uint16_t)sg->num_outputs);
		for (uint32_t i = 0; i < sg->num_inputs; i++)
			add_index(n, sg->inputs[i]);
		for (uint32_t i = 0; i < sg->num_outputs; i++)
			add_index(n, sg->outputs[i]);
	}
	for (uint32_t i = 0; i < sg->num_operations; i++)
		add_operation(&sg->operations[i], n);
}

static void build(void)
{
	uint32_t command = 0;

	image_init(&im);
	b.num_parts = 0;
	memset(b.placed, 0, sizeof(b.placed));
	visit(0);
	for (uint32_t i = b.num_parts; i--;) {
		uint32_t n = b.order[i];

		b.block[n] = command;
		command += part(n)->num_operations + (n ? 1 : 0);
		for (uint32_t k = 0; k < part(n)->num_operands; k++) {
			if (part(n)->operands[k].lifetime != NNTC_SUBGRAPH)
				b.tensor[n][k] = add_operand(&part(n)->operands[k], n);
		}
	}
	for (uint32_t i = b.num_parts; i--;)
		add_part(b.order[i]);
	image_finish(&im);
}

/* The arguments of the case, each in a place of its own. */
static void feed(void)
{
	const struct nntc_subgraph *sg = &b.nc->main;
	struct nnpu_arg *args = job_args(&j, im.num_inputs, im.num_outputs);
	uint32_t n = 0;

	((struct nnpu_args_header *)j.block)->loop_timeout_ns =
		htole64(b.nc->expect_failure ? 1000000 : NNPU_LOOP_TIMEOUT_MAX_NS);
	memset(j.operands, 0xa5, (im.num_inputs + im.num_outputs) * ARGUMENT);
	/* Inputs are in the order of the tensors, which is that of the operands. */
	for (uint32_t i = 0; i < sg->num_operands; i++) {
		const struct nntc_operand *o = &sg->operands[i];

		if (o->lifetime == NNTC_SUBGRAPH || kind_of(o, 0) != NNPU_TENSOR_INPUT)
			continue;
		job_arg(&args[n], 1, n * ARGUMENT, o->num_bytes);
		args[n].flags = htole16(NNPU_ARG_SHAPE);
		args[n].rank = o->rank;
		for (unsigned int d = 0; d < o->rank; d++)
			args[n].dims[d] = htole32(o->dims[d]);
		memcpy(j.operands + n * ARGUMENT, o->data, o->num_bytes);
		n++;
	}
	for (uint32_t i = 0; i < im.num_outputs; i++, n++)
		job_arg(&args[n], 1, n * ARGUMENT, ARGUMENT);
}

static bool outputs_match(char *text)
{
	const struct nntc_subgraph *sg = &b.nc->main;
	struct tolerance tolerance = tolerance_of(b.nc);
	uint32_t n = 0;

	for (uint32_t i = 0; i < sg->num_operands; i++) {
		const struct nnpu_arg *arg = job_result_arg(&j, im.num_inputs + n);
		struct nnhal_output_shape shape = { .num_dimensions = arg->rank };

		if (sg->operands[i].lifetime != NNTC_OUTPUT)
			continue;
		for (unsigned int d = 0; d < arg->rank; d++)
			shape.dimensions[d] = le32toh(arg->dims[d]);
		if (!compare_shape(n, &sg->operands[i], &shape, text) ||
		    !compare_output(n, &sg->operands[i],
				    j.operands + (im.num_inputs + n) * ARGUMENT, &tolerance, text))
			return false;
		n++;
	}
	return n == sg->num_outputs;
}

/* Is the case refused when it is loaded, or when it runs, as it should be? */
static bool run(char *text)
{
	struct nnpu_cqe cqe;
	bool good;
	int status;

	build();
	status = rig_load(&rig, 1, 1, im.bytes, im.size, &cqe);
	image_free(&im);
	if (!status) {
		feed();
		status = job_execute(&j, 1, &cqe);
		good = !status && outputs_match(text);
		rig_unload(&rig, 1, 1);
		if (good)
			return !b.nc->expect_failure;
	}
	if (status)
		snprintf(text, COMPARE_TEXT, "status 0x%x, reason %u, command %u, operand %u",
			 (unsigned int)status, le16toh(cqe.reason), le32toh(cqe.error),
			 le16toh(cqe.operand));
	return status && b.nc->expect_failure &&
	       (status == NNPU_STATUS_LOOP_TIMEOUT || le16toh(cqe.reason) == NNPU_REASON_OMITTED);
}

static bool fits(const struct nntc_case *nc)
{
	if (!nc->num_referenced || nc->num_referenced >= MAX_SUBGRAPHS)
		return false;
	for (uint32_t i = 0; i < nc->num_referenced; i++) {
		if (nc->referenced[i].num_operands > MAX_OPERANDS)
			return false;
	}
	return nc->main.num_operands <= MAX_OPERANDS;
}

static void run_case(const char *path, const struct nntc_case *nc)
{
	char text[COMPARE_TEXT];
	bool good = true;

	if (!nc->num_referenced)
		return;
	if (!fits(nc)) {
		tap_note("%s: too large for this test", nc->name);
		failed++;
		return;
	}
	b.nc = nc;
	for (b.variation = AS_GIVEN; b.variation < VARIATIONS; b.variation++) {
		if (run(text))
			continue;
		tap_note("%s: %s%s: %s", path, nc->name, variation_names[b.variation], text);
		good = false;
	}
	passed += good;
	failed += !good;
}

int main(void)
{
	rig_open(&rig, NULL);
	rig_enable(&rig);
	job_rig_init(&j, &rig, 1, 1);
	vectors_run_shared(run_case);
	ok(passed > 500 && !failed, "%u cases with subgraphs passed, %u failed", passed, failed);
	rig_close(&rig);
	return tap_done();
}
