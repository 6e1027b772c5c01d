/* SPDX-License-Identifier: MIT */
/*
 * Models, memory and buffers for the tests of buffers.
 */
#ifndef NNHAL_TEST_BUFFER_RIG_H
#define NNHAL_TEST_BUFFER_RIG_H

#include <string.h>

#include "nnhal_fixture.h"

#define FLOATS	NNHAL_OPERAND_TENSOR_FLOAT32
#define QUANT	NNHAL_OPERAND_TENSOR_QUANT8_ASYMM

/* What a test knows; ends the program otherwise. */
#define MUST(condition) \
	do { \
		if (!(condition)) { \
			printf("Bail out! line %d: %s\n", __LINE__, #condition); \
			exit(1); \
		} \
	} while (0)

/* RELU of a tensor. Operands: 0 input, 1 output. */
static inline void make_relu(struct fixture *f, uint32_t type, float scale, int32_t zero_point,
			     uint32_t rank, const uint32_t *dims)
{
	unsigned int i;

	fixture_init(f);
	add_operand(&f->graph, type, NNHAL_LIFETIME_SUBGRAPH_INPUT, rank, dims);
	add_operand(&f->graph, type, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, rank, dims);
	for (i = 0; i < 2; i++) {
		f->graph.operands[i].scale = scale;
		f->graph.operands[i].zero_point = zero_point;
	}
	add_operation(&f->graph, NNHAL_OPERATION_RELU, OPERANDS(0), OPERANDS(1));
	fixture_finish(f, 0);
}

static inline struct nnhal_prepared_model *prepare_on(struct nnhal_device *device,
						      const struct fixture *f)
{
	struct nnhal_prepare_options o = NNHAL_PREPARE_OPTIONS_INIT;
	struct nnhal_prepared_model *model;
	struct nnhal_diag diag;

	o.diag = &diag;
	if (nnhal_device_prepare_model_sync(device, &f->model, &o, &model)) {
		printf("Bail out! model cannot be prepared: %s\n", diag.message);
		exit(1);
	}
	return model;
}

static inline struct nnhal_prepared_model *prepare_relu(struct nnhal_device *device, uint32_t type,
							float scale, int32_t zero_point,
							uint32_t rank, const uint32_t *dims)
{
	static struct fixture f;

	make_relu(&f, type, scale, zero_point, rank, dims);
	return prepare_on(device, &f);
}

/* ADD whose activation, a scalar, is an input. */
static inline struct nnhal_prepared_model *prepare_scalar(struct nnhal_device *device)
{
	static struct fixture f;
	unsigned int i;

	fixture_init(&f);
	for (i = 0; i < 2; i++)
		add_operand(&f.graph, FLOATS, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(2, 2));
	add_operand(&f.graph, NNHAL_OPERAND_INT32, NNHAL_LIFETIME_SUBGRAPH_INPUT, SCALAR);
	add_operand(&f.graph, FLOATS, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(2, 2));
	add_operation(&f.graph, NNHAL_OPERATION_ADD, OPERANDS(0, 1, 2), OPERANDS(3));
	fixture_finish(&f, 0);
	return prepare_on(device, &f);
}

/* A buffer and what nnhal_device_allocate() needs. */
struct rig {
	struct nnhal_prepared_model *models[4];
	uint32_t num_models;
	struct nnhal_buffer_role inputs[4], outputs[4];
	uint32_t num_inputs, num_outputs;
	struct nnhal_buffer_desc desc;
	struct nnhal_buffer *buffer;
	uint32_t token;
	struct nnhal_diag diag;
};

/* One model; its input 0 and its output 0 are roles as asked for. */
static inline void rig_init(struct rig *g, struct nnhal_prepared_model *model, bool input,
			    bool output)
{
	memset(g, 0, sizeof(*g));
	g->models[0] = model;
	g->num_models = 1;
	g->inputs[0] = (struct nnhal_buffer_role){ 0, 0, 1.0f };
	g->outputs[0] = g->inputs[0];
	g->num_inputs = input;
	g->num_outputs = output;
	g->desc.size = sizeof(g->desc);
}

static inline enum nnhal_status rig_allocate(struct rig *g, struct nnhal_device *device)
{
	/* Something that must be overwritten. */
	g->buffer = (struct nnhal_buffer *)g;
	g->token = 7;
	return nnhal_device_allocate(device, &g->desc, g->models, g->num_models, g->inputs,
				     g->num_inputs, g->outputs, g->num_outputs, &g->buffer,
				     &g->token, &g->diag);
}

/* A buffer for input 0, output 0 or both of a model. */
static inline struct nnhal_buffer *buffer_for(struct nnhal_device *device,
					      struct nnhal_prepared_model *model, bool input,
					      bool output, uint32_t rank, const uint32_t *dims,
					      uint32_t *token)
{
	struct rig g;

	rig_init(&g, model, input, output);
	g.desc.num_dimensions = rank;
	g.desc.dimensions = dims;
	if (rig_allocate(&g, device)) {
		printf("Bail out! no buffer: %s\n", g.diag.message);
		exit(1);
	}
	*token = g.token;
	return g.buffer;
}

/* Memory of a size, filled with floats from @first on. */
static inline struct nnhal_memory *memory_of(uint32_t size, float first)
{
	struct nnhal_memory *memory;
	uint32_t i;
	float *map;

	MUST(!nnhal_memory_create(size, &memory, NULL));
	map = nnhal_memory_map(memory, NULL);
	MUST(map);
	for (i = 0; i < size / sizeof(*map); i++)
		map[i] = first + (float)i;
	return memory;
}

/* Does memory hold floats from @first on, negative ones as 0 if @relu? */
static inline bool memory_has(struct nnhal_memory *memory, float first, bool relu)
{
	const float *map = nnhal_memory_map(memory, NULL);
	uint64_t i, count = nnhal_memory_size(memory) / sizeof(*map);
	float value;

	for (i = 0; i < count; i++) {
		value = first + (float)i;
		if (map[i] != (relu && value < 0.0f ? 0.0f : value))
			return false;
	}
	return true;
}

/* Fill a buffer with floats, through memory. */
static inline enum nnhal_status fill(struct nnhal_buffer *buffer, float first, uint32_t size,
				     uint32_t rank, const uint32_t *dims)
{
	struct nnhal_memory *memory = memory_of(size, first);
	enum nnhal_status status = nnhal_buffer_copy_from(buffer, memory, dims, rank, NULL);

	nnhal_memory_unref(memory);
	return status;
}

/* Does a buffer hold these floats, and as many? */
static inline bool holds(struct nnhal_buffer *buffer, float first, uint32_t size, bool relu)
{
	struct nnhal_memory *memory = memory_of(size, -77.0f);
	bool good = !nnhal_buffer_copy_to(buffer, memory, NULL) && memory_has(memory, first, relu);

	nnhal_memory_unref(memory);
	return good;
}

static inline struct nnhal_buffer_state state_of(struct nnhal_buffer *buffer)
{
	struct nnhal_buffer_state state = { .size = sizeof(state) };

	MUST(!nnhal_buffer_get_state(buffer, &state));
	return state;
}

#endif /* NNHAL_TEST_BUFFER_RIG_H */
