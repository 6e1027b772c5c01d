// SPDX-License-Identifier: MIT
/*
 * One operation in a test.
 */
#include "ops_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

void fixture_init(struct fixture *f, enum nnpu_operation op)
{
	memset(f, 0, sizeof(*f));
	f->op = op;
}

static struct tensor *append(struct fixture *f, enum nnpu_type type, uint8_t kind, float scale,
			     int32_t zero_point, unsigned int rank, const uint32_t *dims,
			     const void *data)
{
	unsigned int i = f->num_inputs + f->num_outputs;
	struct tensor *t = &f->tensors[i];
	size_t bytes = type_size(type);

	if (i >= FIXTURE_MAX_OPERANDS)
		abort();
	t->type = type;
	t->kind = kind;
	t->scale = scale;
	t->zero_point = zero_point;
	graph_set_shape(t, rank, dims);
	for (unsigned int d = 0; d < rank; d++)
		bytes *= dims[d];
	if (data) {
		f->sizes[i] = bytes;
		f->data[i] = graph_alloc(bytes);
		if (!f->data[i])
			abort();
		memcpy(f->data[i], data, bytes);
	}
	return t;
}

struct tensor *fixture_input(struct fixture *f, enum nnpu_type type, float scale,
			     int32_t zero_point, unsigned int rank, const uint32_t *dims,
			     const void *data)
{
	struct tensor *t = append(f, type, NNPU_TENSOR_INPUT, scale, zero_point, rank, dims,
				  data);

	f->num_inputs++;
	return t;
}

struct tensor *fixture_const(struct fixture *f, enum nnpu_type type, float scale,
			     int32_t zero_point, unsigned int rank, const uint32_t *dims,
			     const void *data)
{
	struct tensor *t = append(f, type, NNPU_TENSOR_INLINE, scale, zero_point, rank, dims,
				  data);

	t->data = f->data[f->num_inputs];
	f->num_inputs++;
	return t;
}

struct tensor *fixture_output(struct fixture *f, enum nnpu_type type, float scale,
			      int32_t zero_point)
{
	struct tensor *t = append(f, type, NNPU_TENSOR_OUTPUT, scale, zero_point, UNKNOWN_RANK,
				  NULL);

	f->num_outputs++;
	return t;
}

struct tensor *fixture_i32(struct fixture *f, int32_t v)
{
	return fixture_const(f, NNPU_TYPE_INT32, 0, 0, 0, NULL, &v);
}

struct tensor *fixture_f32(struct fixture *f, float v)
{
	return fixture_const(f, NNPU_TYPE_FLOAT32, 0, 0, 0, NULL, &v);
}

struct tensor *fixture_bool(struct fixture *f, bool v)
{
	return fixture_const(f, NNPU_TYPE_BOOL, 0, 0, 0, NULL, &v);
}

void fixture_channel_scales(struct fixture *f, uint32_t dim, const float *scales)
{
	struct tensor *t = &f->tensors[f->num_inputs - 1];

	t->channel_dim = (uint8_t)dim;
	t->channel_scales = scales;
}

void fixture_unfix(struct fixture *f)
{
	for (unsigned int i = 0; i < f->num_inputs; i++) {
		if (tensor_is_const(&f->tensors[i])) {
			f->tensors[i].kind = NNPU_TENSOR_INPUT;
			f->tensors[i].data = NULL;
		}
	}
}

/* Constants with the room that the device gives them, unless a test has changed their shape. */
static void copy_constants(struct fixture *f)
{
	for (unsigned int i = 0; i < f->num_inputs; i++) {
		struct tensor *t = &f->graph.tensors[i];

		if (!tensor_is_const(t) || !t->data || t->bytes != f->sizes[i] ||
		    t->bytes == 0)
			continue;
		f->constants[i] = graph_alloc(op_room(t));
		if (!f->constants[i])
			abort();
		memcpy(f->constants[i], t->data, t->bytes);
		t->data = f->constants[i];
		if (!f->shared_constants)
			f->graph.calls[0].call.own |= 1ull << i;
	}
}

enum nnpu_reason fixture_load(struct fixture *f)
{
	unsigned int n = f->num_inputs + f->num_outputs;
	uint32_t numbers[FIXTURE_MAX_OPERANDS];

	if (f->loaded || !graph_init(&f->graph, n, 1))
		abort();
	for (unsigned int i = 0; i < n; i++)
		numbers[i] = i;
	memcpy(f->graph.tensors, f->tensors, n * sizeof(*f->tensors));
	if (!graph_set_call(&f->graph, 0, op_find(f->op), f->num_inputs, f->num_outputs, numbers,
			    f->relaxed))
		abort();
	if (f->op >= NNPU_CMD_EXTENSION)
		f->graph.calls[0].extension = f->op;
	copy_constants(f);
	f->loaded = true;
	if (graph_load(&f->graph))
		return f->graph.error.reason;
	/* Constants that are not needed any more are not there any more. */
	for (unsigned int i = 0; i < f->num_inputs; i++) {
		if (f->graph.calls[0].call.released >> i & 1)
			f->graph.tensors[i].data = NULL;
	}
	return NNPU_REASON_NONE;
}

int fixture_run(struct fixture *f)
{
	if (!f->loaded && fixture_load(f))
		return -1;
	graph_reset(&f->graph);
	for (unsigned int i = 0; i < f->num_inputs; i++) {
		struct tensor *t = &f->graph.tensors[i];

		if (t->kind != NNPU_TENSOR_INPUT)
			continue;
		t->data = f->data[i];
		t->shape_known = true;
		t->bytes = type_size(t->type);
		for (unsigned int d = 0; d < t->rank; d++)
			t->bytes *= t->dims[d];
	}
	return graph_run(&f->graph);
}

void fixture_unload(struct fixture *f)
{
	if (f->loaded)
		graph_destroy(&f->graph);
	f->loaded = false;
	for (unsigned int i = 0; i < FIXTURE_MAX_OPERANDS; i++) {
		free(f->constants[i]);
		f->constants[i] = NULL;
	}
}

enum nnpu_reason fixture_reason(const struct fixture *f)
{
	return f->graph.error.reason;
}

unsigned int fixture_bad_operand(const struct fixture *f)
{
	return f->graph.error.operand;
}

const struct tensor *fixture_result(const struct fixture *f)
{
	return &f->graph.tensors[f->num_inputs];
}

bool fixture_is(const struct fixture *f, unsigned int rank, const uint32_t *dims,
		const void *data)
{
	const struct tensor *t = fixture_result(f);

	if (t->rank != rank || memcmp(t->dims, dims, rank * sizeof(*dims))) {
		printf("# wrong shape, rank %u:", t->rank);
		for (unsigned int i = 0; i < t->rank; i++)
			printf(" %u", t->dims[i]);
		putchar('\n');
		return false;
	}
	for (size_t i = 0; i < t->bytes; i++) {
		const uint8_t *actual = t->data, *expected = data;

		if (actual[i] != expected[i]) {
			printf("# byte %zu is %d, expected %d\n", i, actual[i], expected[i]);
			return false;
		}
	}
	return true;
}

bool fixture_agrees(struct fixture *f)
{
	void *expected;
	size_t bytes;
	bool good;

	kernels_use_plain(true);
	good = !fixture_run(f);
	kernels_use_plain(false);
	if (!good) {
		printf("# %s, operand %u\n", reason_text(fixture_reason(f)), fixture_bad_operand(f));
		return false;
	}
	bytes = fixture_result(f)->bytes;
	expected = malloc(bytes + 1);
	if (!expected)
		abort();
	memcpy(expected, fixture_result(f)->data, bytes);
	fixture_unload(f);
	good = !fixture_run(f) && fixture_result(f)->bytes == bytes &&
	       !memcmp(fixture_result(f)->data, expected, bytes);
	free(expected);
	return good;
}

float fixture_add_term(float sum, float x, float w)
{
	float product;

	if (kernels_get() != kernels_variant(0) && !kernels_plain())
		return fmaf(x, w, sum);
	product = x * w;
	return sum + product;
}

void fixture_end(struct fixture *f)
{
	fixture_unload(f);
	for (unsigned int i = 0; i < FIXTURE_MAX_OPERANDS; i++)
		free(f->data[i]);
	memset(f, 0, sizeof(*f));
}
