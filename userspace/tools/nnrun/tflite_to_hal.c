// SPDX-License-Identifier: MIT
/*
 * Mapping a TensorFlow Lite model to a HAL model: tensors, inputs and outputs.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mapper.h"

int map_fail(struct mapper *m, const char *fmt, ...)
{
	char text[400];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (!m->op)
		return fail(m->err, "%s", text);
	return fail(m->err, "operator %" PRIu32 " (%s): %s", m->op_index,
		    TFLITE_BUILTIN_NAME(m->op->code), text);
}

const struct tflite_tensor *input_tensor(const struct mapper *m, uint32_t pos)
{
	int32_t index = -1;

	if (pos < m->op->inputs.count)
		index = fb_vector_i32(&m->op->inputs, pos);
	return index < 0 ? NULL : &m->tflite->tensors[index];
}

const struct tflite_tensor *output_tensor(const struct mapper *m, uint32_t pos)
{
	if (pos >= m->op->outputs.count)
		return NULL;
	return &m->tflite->tensors[fb_vector_i32(&m->op->outputs, pos)];
}

static uint32_t tensor_index(const struct mapper *m, const struct tflite_tensor *tensor)
{
	return (uint32_t)(tensor - m->tflite->tensors);
}

bool is_constant(const struct mapper *m, const struct tflite_tensor *tensor)
{
	return tensor->data && !(m->role[tensor_index(m, tensor)] & ROLE_INPUT);
}

bool is_float(const struct tflite_tensor *tensor)
{
	return tensor->type == TFLITE_FLOAT32 || tensor->type == TFLITE_FLOAT16;
}

bool is_quantized(const struct tflite_tensor *tensor)
{
	return tensor->type == TFLITE_UINT8 || tensor->type == TFLITE_INT8 ||
	       tensor->type == TFLITE_INT16;
}

static int tensor_fail(struct mapper *m, const struct tflite_tensor *tensor, const char *fmt,
		       ...) __attribute__((format(printf, 3, 4)));

static int tensor_fail(struct mapper *m, const struct tflite_tensor *tensor, const char *fmt,
		       ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return map_fail(m, "tensor %" PRIu32 " '%s': %s", tensor_index(m, tensor),
			TEXT(tensor->name), text);
}

static int check_scale(struct mapper *m, const struct tflite_tensor *tensor, float scale)
{
	if (!isfinite(scale) || scale <= 0)
		return tensor_fail(m, tensor, "quantization scale %g is not a positive number",
				   (double)scale);
	return 0;
}

/* Scale and zero point of a tensor that has one of each. */
static int one_quantization(struct mapper *m, const struct tflite_tensor *tensor,
			    float *scale, int32_t *zero_point)
{
	int64_t min = 0, max = 0, value;

	if (tensor->custom_quantization)
		return tensor_fail(m, tensor, "custom quantization is not supported");
	if (tensor->scales.count == 0)
		return tensor_fail(m, tensor, "type %s without quantization parameters",
				   tflite_type_name(tensor->type));
	if (tensor->scales.count > 1)
		return tensor_fail(m, tensor, "%" PRIu32 " quantization scales, where only one "
				   "for the whole tensor is supported", tensor->scales.count);
	*scale = fb_vector_f32(&tensor->scales, 0);
	if (check_scale(m, tensor, *scale))
		return -1;
	value = tensor->zero_points.count ? fb_vector_i64(&tensor->zero_points, 0) : 0;
	if (tensor->type == TFLITE_UINT8)
		max = UINT8_MAX;
	if (tensor->type == TFLITE_INT8) {
		min = INT8_MIN;
		max = INT8_MAX;
	}
	if (value < min || value > max)
		return tensor_fail(m, tensor, "quantization zero point %" PRId64
				   " is outside the range of %s", value,
				   tflite_type_name(tensor->type));
	*zero_point = (int32_t)value;
	return 0;
}

static int describe_shape(struct mapper *m, const struct tflite_tensor *tensor,
			  struct shape *shape)
{
	uint64_t elements;
	uint32_t i;

	for (i = 0; i < tensor->rank; i++) {
		if (tensor->dims[i] <= 0)
			return tensor_fail(m, tensor, "dimension %" PRIu32 " is %" PRId32
					   ": only fixed shapes are supported", i,
					   tensor->dims[i]);
		shape->dims[i] = (uint32_t)tensor->dims[i];
	}
	/* The HAL counts bytes in 32 bits. */
	if (!tflite_elements(tensor, &elements) ||
	    elements * tflite_type_size(tensor->type) > UINT64_C(1) << 31)
		return tensor_fail(m, tensor, "more than 2^31 bytes");
	shape->rank = tensor->rank;
	if (tensor->rank == 0) {
		shape->rank = 1;
		shape->dims[0] = 1;
	}
	return 0;
}

int describe_tensor(struct mapper *m, const struct tflite_tensor *tensor,
		    struct nnhal_operand *operand, struct shape *shape)
{
	memset(operand, 0, sizeof(*operand));
	switch (tensor->type) {
	case TFLITE_FLOAT32:
		operand->type = NNHAL_OPERAND_TENSOR_FLOAT32;
		break;
	case TFLITE_FLOAT16:
		operand->type = NNHAL_OPERAND_TENSOR_FLOAT16;
		break;
	case TFLITE_INT32:
		operand->type = NNHAL_OPERAND_TENSOR_INT32;
		break;
	case TFLITE_BOOL:
		operand->type = NNHAL_OPERAND_TENSOR_BOOL8;
		break;
	case TFLITE_UINT8:
		operand->type = NNHAL_OPERAND_TENSOR_QUANT8_ASYMM;
		break;
	case TFLITE_INT8:
		operand->type = NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED;
		break;
	case TFLITE_INT16:
		operand->type = NNHAL_OPERAND_TENSOR_QUANT16_SYMM;
		break;
	default:
		return tensor_fail(m, tensor, "type %s has no counterpart in the HAL",
				   tflite_type_name(tensor->type));
	}
	if (is_quantized(tensor) &&
	    one_quantization(m, tensor, &operand->scale, &operand->zero_point))
		return -1;
	if (tensor->is_variable)
		return tensor_fail(m, tensor, "variable tensors are not supported");
	if (describe_shape(m, tensor, shape))
		return -1;
	operand->num_dimensions = shape->rank;
	operand->dimensions = shape->dims;
	return 0;
}

/* Is there exactly as much constant data as the shape asks for? */
static int check_data(struct mapper *m, const struct tflite_tensor *tensor)
{
	uint64_t elements = 0;
	uint64_t bytes;

	if (tensor->is_sparse)
		return tensor_fail(m, tensor, "sparse data is not supported");
	tflite_elements(tensor, &elements);
	bytes = elements * tflite_type_size(tensor->type);
	if (bytes != tensor->bytes)
		return tensor_fail(m, tensor, "%zu bytes of data, its shape takes %" PRIu64,
				   tensor->bytes, bytes);
	return 0;
}

static int pooled(struct mapper *m, const struct tflite_tensor *tensor,
		  struct nnhal_operand *operand)
{
	if (check_data(m, tensor))
		return -1;
	return hal_add_pooled(m->b, operand, tensor->data, tensor->bytes,
			      tensor_index(m, tensor), m->err);
}

int add_operation(struct mapper *m, uint32_t type, const int *inputs, uint32_t num_inputs,
		  int output)
{
	int index = hal_add_operation(m->b, type, inputs, num_inputs, output,
				      m->op ? m->op_index : HAL_NO_ORIGIN, m->err);

	return index < 0 ? -1 : 0;
}

int float_operand(struct mapper *m, const struct shape *shape)
{
	struct nnhal_operand operand = {
		.type = NNHAL_OPERAND_TENSOR_FLOAT32,
		.num_dimensions = shape->rank,
		.dimensions = shape->dims,
	};

	return hal_add_operand(m->b, &operand, HAL_NO_ORIGIN, m->err);
}

int temporary_operand(struct mapper *m, uint32_t like, const struct shape *shape)
{
	struct nnhal_operand operand = m->b->operands[like];

	operand.lifetime = NNHAL_LIFETIME_TEMPORARY_VARIABLE;
	operand.num_dimensions = shape->rank;
	operand.dimensions = shape->dims;
	return hal_add_operand(m->b, &operand, HAL_NO_ORIGIN, m->err);
}

int int32_vector_operand(struct mapper *m, const int32_t *values, uint32_t count)
{
	struct nnhal_operand operand = {
		.type = NNHAL_OPERAND_TENSOR_INT32,
		.num_dimensions = 1,
		.dimensions = &count,
	};

	return hal_add_copied(m->b, &operand, values, count * sizeof(*values), HAL_NO_ORIGIN,
			      m->err);
}

int add_reshape(struct mapper *m, int input, int output, const struct shape *shape)
{
	int32_t dims[TFLITE_MAX_RANK];
	int inputs[2] = { input, -1 };
	uint32_t i;

	for (i = 0; i < shape->rank; i++)
		dims[i] = (int32_t)shape->dims[i];
	inputs[1] = int32_vector_operand(m, dims, shape->rank);
	if (inputs[1] < 0)
		return -1;
	return add_operation(m, NNHAL_OPERATION_RESHAPE, inputs, 2, output);
}

int filter_operand(struct mapper *m, uint32_t pos, uint32_t channel_dim)
{
	const struct tflite_tensor *tensor = input_tensor(m, pos);
	struct nnhal_operand operand = { .type = NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL };
	uint32_t count, num_scales = tensor->scales.count;
	struct shape shape;
	float *scales;
	uint32_t i;

	if (tensor->custom_quantization)
		return tensor_fail(m, tensor, "custom quantization is not supported");
	if (describe_shape(m, tensor, &shape))
		return -1;
	if (channel_dim >= shape.rank)
		return tensor_fail(m, tensor, "rank %" PRIu32 " is too small for a filter",
				   tensor->rank);
	count = shape.dims[channel_dim];
	if (num_scales != 1 && num_scales != count)
		return tensor_fail(m, tensor, "%" PRIu32 " quantization scales for %" PRIu32
				   " channels", num_scales, count);
	if (num_scales > 1 && tensor->quantized_dim != (int32_t)channel_dim)
		return tensor_fail(m, tensor, "quantized along dimension %" PRId32
				   ", only %" PRIu32 " is supported here", tensor->quantized_dim,
				   channel_dim);
	for (i = 0; i < tensor->zero_points.count; i++)
		if (fb_vector_i64(&tensor->zero_points, i) != 0)
			return tensor_fail(m, tensor, "zero point %" PRId64
					   " of an int8 filter is not 0",
					   fb_vector_i64(&tensor->zero_points, i));
	/* The data is checked first so that a wild shape asks for no memory. */
	if (check_data(m, tensor))
		return -1;
	scales = hal_alloc(m->b, count, sizeof(*scales), m->err);
	if (!scales)
		return -1;
	for (i = 0; i < count; i++) {
		scales[i] = fb_vector_f32(&tensor->scales, num_scales == 1 ? 0 : i);
		if (check_scale(m, tensor, scales[i]))
			return -1;
	}
	operand.num_dimensions = shape.rank;
	operand.dimensions = shape.dims;
	operand.extra_params.kind = NNHAL_EXTRA_PARAMS_CHANNEL_QUANT;
	operand.extra_params.channel_quant = (struct nnhal_channel_quant){
		.scales = scales, .num_scales = count, .channel_dim = channel_dim,
	};
	return pooled(m, tensor, &operand);
}

/* A quantized constant in the form DEQUANTIZE takes; its shape goes to @shape. */
static int quantized_constant(struct mapper *m, uint32_t pos, struct shape *shape)
{
	const struct tflite_tensor *tensor = input_tensor(m, pos);
	struct nnhal_operand operand;

	if (tensor->scales.count > 1 && tensor->type == TFLITE_INT8) {
		if (tensor->quantized_dim < 0)
			return tensor_fail(m, tensor, "quantized along dimension %" PRId32,
					   tensor->quantized_dim);
		if (describe_shape(m, tensor, shape))
			return -1;
		return filter_operand(m, pos, (uint32_t)tensor->quantized_dim);
	}
	if (describe_tensor(m, tensor, &operand, shape))
		return -1;
	if (tensor->type == TFLITE_INT8 && operand.zero_point == 0)
		operand.type = NNHAL_OPERAND_TENSOR_QUANT8_SYMM;
	return pooled(m, tensor, &operand);
}

/* A quantized constant a float operator reads: let the device dequantize it. */
static int dequantized_operand(struct mapper *m, uint32_t pos)
{
	struct shape shape;
	int input, output;

	input = quantized_constant(m, pos, &shape);
	if (input < 0)
		return -1;
	output = float_operand(m, &shape);
	if (output < 0 || add_operation(m, NNHAL_OPERATION_DEQUANTIZE, &input, 1, output))
		return -1;
	return output;
}

int input_operand(struct mapper *m, uint32_t pos)
{
	const struct tflite_tensor *tensor = input_tensor(m, pos);
	const struct tflite_tensor *first = input_tensor(m, 0);
	const struct tflite_tensor *output = output_tensor(m, 0);
	struct nnhal_operand operand;
	struct shape shape;

	if (!tensor)
		return map_fail(m, "input %" PRIu32 " is missing", pos);
	if (is_constant(m, tensor)) {
		bool eight_bits = tensor->type == TFLITE_INT8 || tensor->type == TFLITE_UINT8;

		if (m->op->code == TFLITE_DEQUANTIZE && eight_bits)
			return quantized_constant(m, pos, &shape);
		if (eight_bits && ((pos > 0 && first && first->type == TFLITE_FLOAT32) ||
				   (output && output->type == TFLITE_FLOAT32)))
			return dequantized_operand(m, pos);
		if (describe_tensor(m, tensor, &operand, &shape))
			return -1;
		return pooled(m, tensor, &operand);
	}
	if (m->operand_of[tensor_index(m, tensor)] < 0)
		return tensor_fail(m, tensor, "read before an operator computes it");
	return m->operand_of[tensor_index(m, tensor)];
}

int bias_operand(struct mapper *m, uint32_t pos, uint32_t count, int input, int filter)
{
	const struct tflite_tensor *tensor = input_tensor(m, pos);
	const struct nnhal_operand *in = &m->b->operands[input];
	const struct nnhal_operand *weights = &m->b->operands[filter];
	struct nnhal_operand operand = { .type = in->type };
	uint64_t elements;
	void *zeros;

	operand.num_dimensions = 1;
	operand.dimensions = &count;
	if (in->scale > 0) {
		operand.type = NNHAL_OPERAND_TENSOR_INT32;
		/* One scale per channel is implied by the filter's; the bias has 0 then. */
		operand.scale = in->scale * weights->scale;
	}
	if (tensor && !is_constant(m, tensor))
		return input_operand(m, pos);
	if (tensor) {
		struct nnhal_operand own;
		struct shape shape;

		if (in->scale == 0 && is_quantized(tensor))
			return input_operand(m, pos);
		if (describe_tensor(m, tensor, &own, &shape))
			return -1;
		if (own.type != operand.type)
			return tensor_fail(m, tensor, "a bias of type %s does not go with an input"
					   " of type %s", tflite_type_name(tensor->type),
					   nnhal_operand_type_name(in->type));
		if (!tflite_elements(tensor, &elements) || elements != count)
			return tensor_fail(m, tensor, "a bias of %" PRIu64 " elements for %" PRIu32
					   " output channels", elements, count);
		return pooled(m, tensor, &operand);
	}
	zeros = hal_alloc(m->b, count, sizeof(float), m->err);
	if (!zeros)
		return -1;
	return hal_add_copied(m->b, &operand, zeros,
			      (size_t)count * nnhal_element_size(operand.type), HAL_NO_ORIGIN,
			      m->err);
}

int output_operand(struct mapper *m, uint32_t pos)
{
	const struct tflite_tensor *tensor = output_tensor(m, pos);
	struct nnhal_operand operand;
	struct shape shape;
	uint32_t index;
	int number;

	if (!tensor)
		return map_fail(m, "output %" PRIu32 " is missing", pos);
	index = tensor_index(m, tensor);
	if (m->role[index] & ROLE_INPUT)
		return tensor_fail(m, tensor, "written, but it is an input of the model");
	if (tensor->data)
		return tensor_fail(m, tensor, "written, but it is a constant");
	if (m->operand_of[index] >= 0)
		return tensor_fail(m, tensor, "written a second time");
	if (describe_tensor(m, tensor, &operand, &shape))
		return -1;
	operand.lifetime = m->role[index] & ROLE_OUTPUT ? NNHAL_LIFETIME_SUBGRAPH_OUTPUT :
							  NNHAL_LIFETIME_TEMPORARY_VARIABLE;
	number = hal_add_operand(m->b, &operand, index, m->err);
	m->operand_of[index] = number;
	return number;
}

/* What the caller has to know to feed or fetch a tensor of the model. */
static int fill_io(struct mapper *m, uint32_t tensor, struct hal_io *io)
{
	struct nnhal_operand operand;
	struct shape shape;
	uint64_t elements;
	uint64_t bytes;

	if (describe_tensor(m, &m->tflite->tensors[tensor], &operand, &shape))
		return -1;
	elements = 1;
	tflite_elements(&m->tflite->tensors[tensor], &elements);
	bytes = elements * nnhal_element_size(operand.type);
	*io = (struct hal_io){
		.tensor = tensor,
		.operand = (uint32_t)m->operand_of[tensor],
		.type = operand.type,
		.rank = shape.rank,
		.elements = (size_t)elements,
		.bytes = (size_t)bytes,
		.scale = operand.scale,
		.zero_point = operand.zero_point,
	};
	memcpy(io->dims, shape.dims, shape.rank * sizeof(shape.dims[0]));
	return 0;
}

static int map_inputs(struct mapper *m, struct hal_model *model)
{
	const struct fb_vector *inputs = &m->tflite->inputs;
	uint32_t i;

	if (inputs->count == 0)
		return map_fail(m, "the model has no inputs");
	model->inputs = hal_alloc(m->b, inputs->count, sizeof(*model->inputs), m->err);
	if (!model->inputs)
		return -1;
	for (i = 0; i < inputs->count; i++) {
		uint32_t index = (uint32_t)fb_vector_i32(inputs, i);
		struct nnhal_operand operand;
		struct shape shape;

		if (m->role[index] & ROLE_INPUT)
			return map_fail(m, "tensor %" PRIu32 " is listed twice as input", index);
		m->role[index] |= ROLE_INPUT;
		if (describe_tensor(m, &m->tflite->tensors[index], &operand, &shape))
			return -1;
		operand.lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT;
		m->operand_of[index] = hal_add_operand(m->b, &operand, index, m->err);
		if (m->operand_of[index] < 0 ||
		    fill_io(m, index, &model->inputs[i]))
			return -1;
	}
	model->num_inputs = inputs->count;
	return 0;
}

/* Before the operators: which tensors are outputs. */
static int mark_outputs(struct mapper *m)
{
	const struct fb_vector *outputs = &m->tflite->outputs;
	uint32_t i;

	for (i = 0; i < outputs->count; i++) {
		uint32_t index = (uint32_t)fb_vector_i32(outputs, i);

		if (m->role[index] & ROLE_OUTPUT)
			return map_fail(m, "tensor %" PRIu32 " is listed twice as output", index);
		m->role[index] |= ROLE_OUTPUT;
	}
	return 0;
}

/* After the operators: all outputs are computed. */
static int map_outputs(struct mapper *m, struct hal_model *model)
{
	const struct fb_vector *outputs = &m->tflite->outputs;
	uint32_t i;

	model->outputs = hal_alloc(m->b, outputs->count, sizeof(*model->outputs), m->err);
	if (!model->outputs)
		return -1;
	for (i = 0; i < outputs->count; i++) {
		uint32_t index = (uint32_t)fb_vector_i32(outputs, i);

		if (m->operand_of[index] < 0 || m->role[index] & ROLE_INPUT)
			return tensor_fail(m, &m->tflite->tensors[index],
					   "output of the model, but no operator computes it");
		if (fill_io(m, index, &model->outputs[i]))
			return -1;
	}
	model->num_outputs = outputs->count;
	return 0;
}

static int finish(struct mapper *m, struct hal_model *model)
{
	uint32_t *inputs = hal_alloc(m->b, model->num_inputs, sizeof(*inputs), m->err);
	uint32_t *outputs = hal_alloc(m->b, model->num_outputs, sizeof(*outputs), m->err);
	uint32_t i;

	if (!inputs || !outputs)
		return -1;
	for (i = 0; i < model->num_inputs; i++)
		inputs[i] = model->inputs[i].operand;
	for (i = 0; i < model->num_outputs; i++)
		outputs[i] = model->outputs[i].operand;
	return hal_builder_finish(m->b, inputs, model->num_inputs, outputs, model->num_outputs,
				  m->err);
}

static int map_model(struct mapper *m, struct hal_model *model)
{
	uint32_t i;

	if (map_inputs(m, model) || mark_outputs(m))
		return -1;
	for (i = 0; i < m->tflite->num_operators; i++) {
		m->op = &m->tflite->operators[i];
		m->op_index = i;
		if (map_operator(m))
			return -1;
	}
	m->op = NULL;
	if (map_outputs(m, model))
		return -1;
	return finish(m, model);
}

int tflite_to_hal(struct tflite_model *tflite, struct hal_model *model, struct error *err)
{
	struct mapper m = { .tflite = tflite, .b = &model->builder, .err = err };
	uint32_t count = tflite->num_tensors ? tflite->num_tensors : 1;
	uint32_t i;
	int ret = -1;

	memset(model, 0, sizeof(*model));
	/*
	 * Constants that overlap in the file are stored apart: a bound in proportion to
	 * the file keeps a hostile one from asking for all memory. A small constant
	 * takes more than 4 bytes in the file and at least 64 in the pool.
	 */
	hal_builder_init(&model->builder, 16 * (uint64_t)tflite->reader.size + 65536);
	tflite->reader.err = err;
	m.operand_of = malloc(count * sizeof(*m.operand_of));
	m.role = calloc(count, sizeof(*m.role));
	if (!m.operand_of || !m.role) {
		fail(err, "out of memory");
	} else {
		for (i = 0; i < count; i++)
			m.operand_of[i] = -1;
		ret = map_model(&m, model);
	}
	free(m.operand_of);
	free(m.role);
	return ret;
}

void hal_model_free(struct hal_model *model)
{
	hal_builder_fini(&model->builder);
	memset(model, 0, sizeof(*model));
}
