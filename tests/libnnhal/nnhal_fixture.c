// SPDX-License-Identifier: MIT
/*
 * Models and requests for the tests of libnnhal.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nnhal_fixture.h"

void fixture_init(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->model.operand_values = f->values;
	f->model.referenced = f->referenced;
	f->model.pools = f->pools;
}

uint32_t add_operand(struct graph *g, uint32_t type, uint32_t lifetime, uint32_t rank,
		     const uint32_t *dims)
{
	uint32_t i = g->sg.num_operands++;

	if (rank)
		memcpy(g->dims[i], dims, rank * sizeof(*dims));
	g->operands[i].type = type;
	g->operands[i].lifetime = lifetime;
	g->operands[i].num_dimensions = rank;
	g->operands[i].dimensions = g->dims[i];
	return i;
}

uint32_t add_constant(struct fixture *f, struct graph *g, uint32_t type, uint32_t rank,
		      const uint32_t *dims, const void *data, size_t size)
{
	uint32_t i = add_operand(g, type, NNHAL_LIFETIME_CONSTANT_COPY, rank, dims);

	g->operands[i].location.offset = (uint32_t)f->model.operand_values_size;
	g->operands[i].location.length = (uint32_t)size;
	memcpy(f->values + f->model.operand_values_size, data, size);
	f->model.operand_values_size += (size + 7) / 8 * 8;
	return i;
}

uint32_t add_int32(struct fixture *f, struct graph *g, int32_t value)
{
	return add_constant(f, g, NNHAL_OPERAND_INT32, SCALAR, &value, sizeof(value));
}

static uint32_t copy_list(uint32_t *to, const int32_t *from)
{
	uint32_t n;

	for (n = 0; from[n] >= 0; n++)
		to[n] = (uint32_t)from[n];
	return n;
}

void add_operation(struct graph *g, uint32_t type, const int32_t *inputs,
		   const int32_t *outputs)
{
	uint32_t i = g->sg.num_operations++;

	g->operations[i].type = type;
	g->operations[i].num_inputs = copy_list(g->op_inputs[i], inputs);
	g->operations[i].num_outputs = copy_list(g->op_outputs[i], outputs);
	g->operations[i].inputs = g->op_inputs[i];
	g->operations[i].outputs = g->op_outputs[i];
}

void graph_finish(struct graph *g)
{
	uint32_t i, k;

	g->sg.operands = g->operands;
	g->sg.operations = g->operations;
	g->sg.input_indexes = g->inputs;
	g->sg.output_indexes = g->outputs;
	g->sg.num_inputs = 0;
	g->sg.num_outputs = 0;
	for (i = 0; i < g->sg.num_operands; i++) {
		g->operands[i].number_of_consumers = 0;
		if (g->operands[i].lifetime == NNHAL_LIFETIME_SUBGRAPH_INPUT)
			g->inputs[g->sg.num_inputs++] = i;
		if (g->operands[i].lifetime == NNHAL_LIFETIME_SUBGRAPH_OUTPUT)
			g->outputs[g->sg.num_outputs++] = i;
	}
	for (i = 0; i < g->sg.num_operations; i++)
		for (k = 0; k < g->operations[i].num_inputs; k++)
			if (g->op_inputs[i][k] < g->sg.num_operands)
				g->operands[g->op_inputs[i][k]].number_of_consumers++;
}

void fixture_finish(struct fixture *f, uint32_t num_referenced)
{
	uint32_t i;

	graph_finish(&f->graph);
	f->model.main = f->graph.sg;
	f->model.num_referenced = num_referenced;
	for (i = 0; i < num_referenced; i++) {
		graph_finish(&f->sub[i]);
		f->referenced[i] = f->sub[i].sg;
	}
}

static void make_add_relu_shape(struct fixture *f, uint32_t rank, const uint32_t *dims)
{
	struct graph *g = &f->graph;

	fixture_init(f);
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT, rank, dims);
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT, rank, dims);
	add_int32(f, g, NNHAL_FUSED_NONE);
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_TEMPORARY_VARIABLE, rank,
		    dims);
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, rank, dims);
	add_operation(g, NNHAL_OPERATION_ADD, OPERANDS(0, 1, 2), OPERANDS(3));
	add_operation(g, NNHAL_OPERATION_RELU, OPERANDS(3), OPERANDS(4));
	fixture_finish(f, 0);
}

void make_add_relu(struct fixture *f)
{
	make_add_relu_shape(f, DIMS(2, 2));
}

void make_dynamic_add(struct fixture *f, uint32_t rank)
{
	static const uint32_t unknown[NNHAL_MAX_RANK];

	make_add_relu_shape(f, rank, unknown);
}

void make_chain(struct fixture *f, unsigned int length)
{
	struct graph *g = &f->graph;
	int32_t from = 0;
	unsigned int i;

	fixture_init(f);
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(2, 2));
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(2, 2));
	add_int32(f, g, NNHAL_FUSED_NONE);
	for (i = 0; i < length; i++) {
		int32_t to = (int32_t)add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32,
						  i + 1 < length
						  ? NNHAL_LIFETIME_TEMPORARY_VARIABLE
						  : NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(2, 2));

		add_operation(g, NNHAL_OPERATION_ADD, OPERANDS(from, 1, 2), OPERANDS(to));
		from = to;
	}
	fixture_finish(f, 0);
}

void make_add_large(struct fixture *f)
{
	static const float zeros[LARGE_COUNT];
	struct graph *g = &f->graph;

	fixture_init(f);
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(1));
	add_constant(f, g, NNHAL_OPERAND_TENSOR_FLOAT32, DIMS(LARGE_COUNT), zeros, sizeof(zeros));
	add_int32(f, g, NNHAL_FUSED_NONE);
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT,
		    DIMS(LARGE_COUNT));
	add_operation(g, NNHAL_OPERATION_ADD, OPERANDS(0, 1, 2), OPERANDS(3));
	graph_finish(g);
	f->model.main = g->sg;
}

static void callback_notify(struct callback_result *result, enum nnhal_status status,
			    struct nnhal_prepared_model *model)
{
	pthread_mutex_lock(&result->lock);
	result->calls++;
	result->status = status;
	result->model = model;
	pthread_cond_signal(&result->cond);
	pthread_mutex_unlock(&result->lock);
}

void callback_prepared(void *context, enum nnhal_status status,
		       struct nnhal_prepared_model *model)
{
	callback_notify(context, status, model);
}

void callback_executed(void *context, enum nnhal_status status,
		       const struct nnhal_output_shape *shapes, uint32_t num_shapes,
		       const struct nnhal_timing *timing)
{
	(void)shapes;
	(void)num_shapes;
	(void)timing;
	callback_notify(context, status, NULL);
}

enum nnhal_status callback_wait(struct callback_result *result, enum nnhal_status launch)
{
	pthread_mutex_lock(&result->lock);
	while (!result->calls)
		pthread_cond_wait(&result->cond, &result->lock);
	result->calls = 0;
	pthread_mutex_unlock(&result->lock);
	return launch ? launch : result->status;
}

unsigned int count_entries(const char *path)
{
	DIR *dir = opendir(path);
	unsigned int n = 0;

	if (!dir) {
		printf("Bail out! %s\n", path);
		exit(1);
	}
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

unsigned int wait_for_entries(const char *path, unsigned int expected)
{
	unsigned int waits, n = count_entries(path);

	for (waits = 0; n != expected && waits < 1000; waits++) {
		usleep(10000);
		n = count_entries(path);
	}
	return n;
}

/* A graph of one operation on two inputs; ADD and MUL have an activation. */
static void make_binary(struct fixture *f, struct graph *g, uint32_t type, uint32_t out_type,
			uint32_t rank, const uint32_t *out_dims)
{
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(1));
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(1));
	if (type == NNHAL_OPERATION_LESS) {
		add_operand(g, out_type, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, rank, out_dims);
		add_operation(g, type, OPERANDS(0, 1), OPERANDS(2));
		return;
	}
	add_int32(f, g, NNHAL_FUSED_NONE);
	add_operand(g, out_type, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, rank, out_dims);
	add_operation(g, type, OPERANDS(0, 1, 2), OPERANDS(3));
}

void add_subgraph(struct graph *g, uint32_t number)
{
	uint32_t i = add_operand(g, NNHAL_OPERAND_SUBGRAPH, NNHAL_LIFETIME_SUBGRAPH, SCALAR);

	g->operands[i].location.offset = number;
}

void make_if(struct fixture *f)
{
	struct graph *g = &f->graph;

	fixture_init(f);
	make_binary(f, &f->sub[0], NNHAL_OPERATION_ADD, NNHAL_OPERAND_TENSOR_FLOAT32, DIMS(1));
	make_binary(f, &f->sub[1], NNHAL_OPERATION_MUL, NNHAL_OPERAND_TENSOR_FLOAT32, DIMS(1));
	add_operand(g, NNHAL_OPERAND_TENSOR_BOOL8, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(1));
	add_subgraph(g, 0);
	add_subgraph(g, 1);
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(1));
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(1));
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(1));
	add_operation(g, NNHAL_OPERATION_IF, OPERANDS(0, 1, 2, 3, 4), OPERANDS(5));
	fixture_finish(f, 2);
}

void make_while(struct fixture *f)
{
	struct graph *g = &f->graph;

	fixture_init(f);
	make_binary(f, &f->sub[0], NNHAL_OPERATION_LESS, NNHAL_OPERAND_TENSOR_BOOL8, DIMS(1));
	make_binary(f, &f->sub[1], NNHAL_OPERATION_ADD, NNHAL_OPERAND_TENSOR_FLOAT32, DIMS(1));
	add_subgraph(g, 0);
	add_subgraph(g, 1);
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(1));
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(1));
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(1));
	add_operation(g, NNHAL_OPERATION_WHILE, OPERANDS(0, 1, 2, 3), OPERANDS(4));
	fixture_finish(f, 2);
}

/* ---- requests ---- */

static void fill_floats(uint8_t *to, uint32_t count, float first, float step)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		float value = first + step * (float)i;

		memcpy(to + i * sizeof(value), &value, sizeof(value));
	}
}

void run_init(struct run *r, uint32_t count)
{
	uint32_t size = count * (uint32_t)sizeof(float);
	unsigned int i;

	memset(r, 0, sizeof(*r));
	if (nnhal_memory_create(4096, &r->memory, &r->diag) ||
	    !(r->map = nnhal_memory_map(r->memory, &r->diag))) {
		printf("Bail out! %s\n", r->diag.message);
		exit(1);
	}
	r->request.num_inputs = 2;
	r->request.num_outputs = 1;
	r->request.num_pools = 1;
	r->request.inputs = r->inputs;
	r->request.outputs = r->outputs;
	r->request.pools = r->pools;
	r->pools[0].memory = r->memory;
	for (i = 0; i < 2; i++)
		r->inputs[i].location = (struct nnhal_data_location){ 0, RUN_INPUT(i), size };
	r->outputs[0].location = (struct nnhal_data_location){ 0, RUN_OUTPUT(0), size };
	for (i = 0; i < 4; i++) {
		r->inputs[i].dimensions = r->dims[i];
		r->outputs[i].dimensions = r->dims[4 + i];
	}
	fill_floats(r->map + RUN_INPUT(0), count, 1.0f, 1.0f);
	fill_floats(r->map + RUN_INPUT(1), count, -2.0f, 0.0f);
	memset(r->map + RUN_OUTPUT(0), 0xee, 1024);
}

void run_fini(struct run *r)
{
	nnhal_memory_unref(r->memory);
}

bool run_output_is_right(const struct run *r, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		float value, expected = i < 2 ? 0.0f : (float)i - 1.0f;

		memcpy(&value, r->map + RUN_OUTPUT(0) + i * sizeof(value), sizeof(value));
		if (value != expected)
			return false;
	}
	return true;
}

/* ---- the device ---- */

const char *test_device_spec(void)
{
	const char *spec = getenv("NNHAL_TEST_DEVICE");

	if (spec && *spec)
		return spec;
	/* Set where the tests run on a virtual machine's hardware device. */
	spec = getenv("NNPU_REQUIRE_DEVICE");
	return spec && *spec && *spec != '0' ? "drm" : "sim";
}

struct nnhal_device *test_device_open(void)
{
	struct nnhal_device *device;
	struct nnhal_diag diag = { "" };
	enum nnhal_status status;

	status = nnhal_device_open(test_device_spec(), &device, &diag);
	if (!status)
		return device;
	if (status == NNHAL_STATUS_NO_DRIVER && !getenv("NNPU_REQUIRE_DEVICE"))
		tap_skip_all("device \"%s\": %s", test_device_spec(), diag.message);
	printf("Bail out! device \"%s\": %s: %s\n", test_device_spec(),
	       nnhal_status_name(status), diag.message);
	exit(1);
}
