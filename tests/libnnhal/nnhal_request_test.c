// SPDX-License-Identifier: MIT
/*
 * Rules for requests, without a device.
 */
#include <string.h>
#include <unistd.h>

#include "nnhal_fixture.h"

static struct fixture f;
static struct run r;

static void expect(bool valid, const char *what, bool allow_unspecified)
{
	bool result;

	memset(&r.diag, 0, sizeof(r.diag));
	result = nnhal_validate_request(&r.request, &f.model, allow_unspecified, &r.diag);
	ok(result == valid && !r.diag.message[0] == valid, "%s: %s%s%s", what,
	   valid ? "accepted" : "refused", r.diag.message[0] ? ": " : "", r.diag.message);
}

static void expect_invalid(const char *what)
{
	expect(false, what, true);
}

static void expect_valid(const char *what)
{
	expect(true, what, true);
}

/* Fresh model of known shapes and request that fits it. */
static void reset(void)
{
	run_fini(&r);
	make_add_relu(&f);
	run_init(&r, 4);
}

/* The same with a model of unknown dimensions (or rank) and full request dimensions. */
static void reset_dynamic(uint32_t rank)
{
	unsigned int i;

	run_fini(&r);
	make_dynamic_add(&f, rank);
	run_init(&r, 4);
	for (i = 0; i < 2; i++) {
		r.inputs[i].num_dimensions = 2;
		r.dims[i][0] = 2;
		r.dims[i][1] = 2;
	}
}

static void test_counts(void)
{
	reset();
	expect_valid("request");
	r.request.num_inputs = 1;
	expect_invalid("D01 input removed");
	reset();
	r.request.num_outputs = 0;
	expect_invalid("D01 output removed");
	reset();
	r.request.num_inputs = 3;
	expect_invalid("D01 input added");
	reset();
	r.request.num_outputs = 2;
	expect_invalid("D01 output added");
	reset();
	r.request.inputs = NULL;
	expect_invalid("D01 NULL pointer for inputs");
	reset();
	r.request.pools = NULL;
	expect_invalid("D04 NULL pointer for pools");
	reset();
	r.request.hal_version = 9;
	expect_invalid("unknown version");
	ok(!nnhal_validate_request(NULL, &f.model, true, NULL), "no request: refused");
	ok(!nnhal_validate_request(&r.request, NULL, true, NULL), "no model: refused");
}

static void test_no_value(void)
{
	reset();
	r.inputs[1] = (struct nnhal_request_argument){ .has_no_value = true };
	expect_valid("D02 hasNoValue");
	r.inputs[1].location.length = 16;
	expect_invalid("D02 hasNoValue with a length");
	r.inputs[1].location = (struct nnhal_data_location){ .offset = 1 };
	expect_invalid("D02 hasNoValue with an offset");
	r.inputs[1].location = (struct nnhal_data_location){ .pool_index = 1 };
	expect_invalid("D02 hasNoValue with a poolIndex");
	r.inputs[1].location = (struct nnhal_data_location){ 0 };
	r.inputs[1].num_dimensions = 2;
	r.inputs[1].dimensions = r.dims[1];
	expect_invalid("D02 hasNoValue with dimensions");
}

static void test_locations(void)
{
	reset();
	r.inputs[0].location.pool_index = 1;
	expect_invalid("D03 poolIndex out of range");
	reset();
	r.inputs[0].location.offset = 4096 - 16;
	r.inputs[1].location.offset = 4096 - 16;
	expect_valid("D03 input up to the end of the pool, both the same");
	r.inputs[0].location.offset++;
	expect_invalid("D03 input one byte beyond the pool");
	reset();
	r.outputs[0].location.offset = 0xfffffff8;
	expect_invalid("D03 offset + length above 32 bits");
	reset();
	r.pools[0].memory = NULL;
	expect_invalid("D04 pool without memory");
	r.pools[0].token = 100;
	expect_invalid("D04 F34 token that was never given out");
	r.pools[0].memory = r.memory;
	expect_invalid("D04 pool with memory and token");
}

static void test_dimensions(void)
{
	reset();
	r.inputs[0].num_dimensions = 2;
	r.dims[0][0] = 2;
	r.dims[0][1] = 2;
	expect_valid("D05 dimensions as in the model");
	r.dims[0][1] = 3;
	expect_invalid("D05 another dimension");
	r.dims[0][1] = 0;
	expect_invalid("D06 input with a dimension of 0");
	r.inputs[0].num_dimensions = 3;
	r.dims[0][1] = 2;
	r.dims[0][2] = 1;
	expect_invalid("D05 another rank");
	reset();
	r.inputs[0].num_dimensions = 2;
	r.inputs[0].dimensions = NULL;
	expect_invalid("D05 NULL pointer for dimensions");

	reset_dynamic(2);
	expect_valid("D07 output of unknown size");
	expect(false, "D07 output of unknown size where that is not allowed", false);
	r.request.hal_version = NNHAL_HAL_1_1;
	expect_invalid("D07 output of unknown size at 1.1");
	r.request.hal_version = NNHAL_HAL_1_2;
	expect_valid("D07 output of unknown size at 1.2");
	r.outputs[0].num_dimensions = 2;
	r.dims[4][0] = 2;
	r.dims[4][1] = 0;
	expect_valid("D07 output with one unknown dimension");
	expect(false, "D07 output with one unknown dimension where that is not allowed", false);
	r.dims[4][1] = 2;
	expect(true, "D07 output with full dimensions where they are needed", false);
	r.inputs[0].num_dimensions = 0;
	expect_invalid("D06 input of unknown size");
	reset_dynamic(2);
	r.dims[1][1] = 0;
	expect_invalid("D06 input with a dimension of 0, unknown in the model");
	reset_dynamic(2);
	r.inputs[0].num_dimensions = 1;
	r.dims[0][0] = 4;
	expect_invalid("D05 another rank than the model's");
	reset_dynamic(0);
	expect_valid("D05 any rank where the model has none");
	r.inputs[0].num_dimensions = 1;
	r.dims[0][0] = 4;
	expect_valid("D05 any other rank where the model has none");
	r.inputs[0].num_dimensions = 0;
	expect_invalid("D06 input of unknown rank");
	reset_dynamic(0);
	r.inputs[0].num_dimensions = 9;
	for (unsigned int i = 0; i < 9; i++)
		r.dims[0][i] = i ? 1 : 4;
	ok(nnhal_validate_request(&r.request, &f.model, true, &r.diag),
	   "D05 rank 9 is no error of the request");

	reset();
	r.inputs[0].location.length = 15;
	expect_invalid("D08 input one byte short");
	r.inputs[0].location.length = 17;
	expect_invalid("D08 input one byte long");
	reset();
	r.outputs[0].location.length = 15;
	expect_valid("D18 output one byte short");
	r.outputs[0].location.length = 0;
	expect_valid("D18 output without room");
	reset_dynamic(2);
	r.dims[0][0] = 65536;
	r.dims[0][1] = 65536;
	expect_invalid("D08 size above 32 bits");
}

static void test_overlaps(void)
{
	struct nnhal_memory_desc desc;
	struct nnhal_memory *twin = NULL;

	reset();
	r.inputs[1].location.offset = RUN_INPUT(0);
	expect_valid("D09 two inputs may be one");
	reset();
	r.outputs[0].location.offset = RUN_INPUT(0);
	expect_invalid("D09 output is an input");
	r.outputs[0].location.offset = RUN_INPUT(0) + 15;
	expect_invalid("D09 output begins in an input");
	r.outputs[0].location.offset = RUN_INPUT(0) + 16;
	expect_valid("D09 output right behind an input");
	r.outputs[0].location.offset = RUN_INPUT(1) - 15;
	expect_invalid("D09 output ends in an input");

	reset();
	desc = (struct nnhal_memory_desc){
		.struct_size = sizeof(desc), .kind = NNHAL_MEMORY_ASHMEM,
		.fd = nnhal_memory_fd(r.memory), .size = 4096,
	};
	ok(!nnhal_memory_import(&desc, &twin, &r.diag), "second object of one memfd");
	r.pools[1].memory = twin;
	r.request.num_pools = 2;
	r.outputs[0].location.pool_index = 1;
	expect_valid("D09 second object of the memory, elsewhere");
	r.outputs[0].location.offset = RUN_INPUT(1);
	expect_invalid("D09 overlap through a second file descriptor");
	nnhal_memory_unref(twin);

	/* A constant of the model in the same memory. */
	reset();
	f.pools[0] = r.memory;
	f.model.num_pools = 1;
	f.graph.operands[2].lifetime = NNHAL_LIFETIME_CONSTANT_REFERENCE;
	f.graph.operands[2].location = (struct nnhal_data_location){ 0, 1024, 4 };
	f.model.main = f.graph.sg;
	expect_valid("D09 output away from a constant");
	r.outputs[0].location.offset = 1024 - 12;
	expect_invalid("D09 output ends in a constant");
	r.outputs[0].location.offset = 1024 + 4;
	expect_valid("D09 output right behind a constant");
	r.inputs[0].location.offset = 1024;
	r.outputs[0].location.offset = RUN_OUTPUT(0);
	expect_valid("D09 input on a constant");

	/* A constant of a subgraph that an IF or WHILE may run. */
	reset();
	f.pools[0] = r.memory;
	f.model.num_pools = 1;
	add_operand(&f.sub[1], NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_CONSTANT_REFERENCE,
		    DIMS(4));
	f.sub[1].operands[0].location = (struct nnhal_data_location){ 0, 1024, 16 };
	fixture_finish(&f, 2);
	expect_valid("D09 output away from a constant of a subgraph");
	r.outputs[0].location.offset = 1024 + 12;
	expect_invalid("D09 output begins in a constant of a subgraph");
	r.outputs[0].location.offset = 1024 - 16;
	expect_valid("D09 output right before a constant of a subgraph");
}

static void test_rights(void)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = NNHAL_MEMORY_ASHMEM, .size = 4096,
	};
	struct nnhal_memory *memory = NULL;

	reset();
	desc.fd = nnhal_memory_fd(r.memory);
	desc.access = NNHAL_MEMORY_READ;
	ok(!nnhal_memory_import(&desc, &memory, &r.diag), "read-only object");
	r.pools[0].memory = memory;
	expect_invalid("F07 read-only memory for an output");
	r.pools[1].memory = r.memory;
	r.request.num_pools = 2;
	r.outputs[0].location.pool_index = 1;
	expect_valid("F07 read-only memory for inputs");
	nnhal_memory_unref(memory);
	desc.access = NNHAL_MEMORY_WRITE;
	ok(!nnhal_memory_import(&desc, &memory, &r.diag), "write-only object");
	r.pools[0].memory = memory;
	expect_invalid("write-only memory for an input");
	nnhal_memory_unref(memory);
}

int main(void)
{
	make_add_relu(&f);
	run_init(&r, 4);
	test_counts();
	test_no_value();
	test_locations();
	test_dimensions();
	test_overlaps();
	test_rights();
	run_fini(&r);
	return tap_done();
}
