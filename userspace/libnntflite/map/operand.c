// SPDX-License-Identifier: MIT
/*
 * Turning tensors of a .tflite file into operands.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mapper.h"

static const struct tflite_tensor *listed(const struct mapper *m, const struct fb_vector *list,
					  uint32_t pos)
{
	int32_t index = pos < list->count ? fb_vector_i32(list, pos) : -1;

	return index < 0 ? NULL : &m->sub->tensors[index];
}

const struct tflite_tensor *input_tensor(const struct mapper *m, uint32_t pos)
{
	const struct tflite_tensor *tensor = listed(m, &m->op->inputs, pos);

	/* What DENSIFY gives is its input. */
	if (tensor && m->same_as && m->same_as[tensor_index(m, tensor)])
		tensor = &m->sub->tensors[m->same_as[tensor_index(m, tensor)] - 1];
	return tensor;
}

const struct tflite_tensor *output_tensor(const struct mapper *m, uint32_t pos)
{
	return listed(m, &m->op->outputs, pos);
}

const struct tflite_tensor *intermediate_tensor(const struct mapper *m, uint32_t pos)
{
	return listed(m, &m->op->intermediates, pos);
}

const struct shape *tensor_shape(const struct mapper *m, const struct tflite_tensor *tensor)
{
	return &m->shapes[tensor_index(m, tensor)];
}

bool shape_is_known(const struct shape *shape)
{
	uint32_t i;

	for (i = 0; i < shape->rank; i++)
		if (shape->dims[i] == 0)
			return false;
	return shape->rank > 0;
}

uint64_t shape_elements(const struct shape *shape)
{
	uint64_t n = 1;
	uint32_t i;

	for (i = 0; i < shape->rank; i++) {
		n *= shape->dims[i];
		if (n > UINT64_C(1) << 31)
			return 0;
	}
	return shape->rank ? n : 0;
}

bool is_constant(const struct mapper *m, const struct tflite_tensor *tensor)
{
	return tensor->data && !(m->role[tensor_index(m, tensor)] & ROLE_INPUT);
}

int constant_int32(const struct mapper *m, const struct tflite_tensor *tensor, int32_t *values,
		   uint32_t max)
{
	size_t size = tflite_type_size(tensor->type);
	uint64_t count;
	uint32_t i;

	if (!is_constant(m, tensor) || tensor->sparsity.present ||
	    (tensor->type != TFLITE_INT32 && tensor->type != TFLITE_INT64))
		return -1;
	if (!tflite_elements(tensor, &count) || count > max || tensor->bytes != count * size)
		return -1;
	for (i = 0; i < count; i++) {
		struct fb_vector one = { .data = tensor->data + i * size, .count = 1 };
		int64_t value = tensor->type == TFLITE_INT32 ? fb_vector_i32(&one, 0) :
							       fb_vector_i64(&one, 0);

		if (value < INT32_MIN || value > INT32_MAX)
			return -1;
		values[i] = (int32_t)value;
	}
	return (int)count;
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

int check_scale(struct mapper *m, const struct tflite_tensor *tensor, float scale)
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

int check_size(struct mapper *m, const struct tflite_tensor *tensor, const struct shape *shape)
{
	uint64_t elements = shape_elements(shape);

	if (!shape_is_known(shape))
		return 0;
	if (elements == 0 || elements * tflite_type_size(tensor->type) > UINT64_C(1) << 31)
		return tensor_fail(m, tensor, "more than 2^31 bytes");
	return 0;
}

/* Types of the HAL, or numbers of the extension's types, which are TensorFlow Lite's. */
static uint32_t operand_type(const struct tflite_tensor *tensor)
{
	switch (tensor->type) {
	case TFLITE_FLOAT32:
		return NNHAL_OPERAND_TENSOR_FLOAT32;
	case TFLITE_FLOAT16:
		return NNHAL_OPERAND_TENSOR_FLOAT16;
	case TFLITE_INT32:
		return NNHAL_OPERAND_TENSOR_INT32;
	case TFLITE_BOOL:
		return NNHAL_OPERAND_TENSOR_BOOL8;
	case TFLITE_UINT8:
		return NNHAL_OPERAND_TENSOR_QUANT8_ASYMM;
	case TFLITE_INT8:
		return NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED;
	case TFLITE_INT16:
		return NNHAL_OPERAND_TENSOR_QUANT16_SYMM;
	case TFLITE_INT64:
	case TFLITE_UINT64:
	case TFLITE_UINT32:
	case TFLITE_UINT16:
	case TFLITE_FLOAT64:
	case TFLITE_COMPLEX64:
		return HAL_EXTENSION_CODE(tensor->type);
	default:
		return UINT32_MAX;
	}
}

int describe_with_shape(struct mapper *m, const struct tflite_tensor *tensor,
			struct nnhal_operand *operand, const struct shape *shape)
{
	memset(operand, 0, sizeof(*operand));
	operand->type = operand_type(tensor);
	if (operand->type == UINT32_MAX)
		return tensor_fail(m, tensor, "type %s has no counterpart in the HAL",
				   tflite_type_name(tensor->type));
	if (operand->type >> 16)
		m->b->uses_extension = true;
	if (is_quantized(tensor)) {
		/* A number without quantization stands for itself. */
		operand->scale = 1;
		if ((tensor->scales.count || tensor->custom_quantization) &&
		    one_quantization(m, tensor, &operand->scale, &operand->zero_point))
			return -1;
	}
	if (check_size(m, tensor, shape))
		return -1;
	operand->num_dimensions = shape->rank;
	operand->dimensions = shape->dims;
	return 0;
}

int describe_tensor(struct mapper *m, const struct tflite_tensor *tensor,
		    struct nnhal_operand *operand, struct shape *shape)
{
	*shape = *tensor_shape(m, tensor);
	return describe_with_shape(m, tensor, operand, shape);
}

const uint8_t *checked_data(struct mapper *m, const struct tflite_tensor *tensor, size_t *bytes)
{
	uint64_t elements = shape_elements(tensor_shape(m, tensor));
	uint64_t wanted = elements * tflite_type_size(tensor->type);
	const uint8_t *data = dense_data(m, tensor, bytes);

	if (data && wanted != *bytes) {
		tensor_fail(m, tensor, "%zu bytes of data, its shape takes %" PRIu64, *bytes, wanted);
		return NULL;
	}
	return data;
}

static int pooled(struct mapper *m, const struct tflite_tensor *tensor,
		  struct nnhal_operand *operand)
{
	size_t bytes;
	const uint8_t *data = checked_data(m, tensor, &bytes);

	if (!data)
		return -1;
	return hal_add_pooled(m->g, operand, data, bytes, tensor_index(m, tensor), m->diag);
}

int add_operation_outputs(struct mapper *m, uint32_t type, const int *inputs,
			  uint32_t num_inputs, const int *outputs, uint32_t num_outputs)
{
	int index = hal_add_operation(m->g, type, inputs, num_inputs, outputs, num_outputs,
				      m->op ? m->op_index : HAL_NO_ORIGIN, m->diag);

	return index < 0 ? -1 : 0;
}

int add_operation(struct mapper *m, uint32_t type, const int *inputs, uint32_t num_inputs,
		  int output)
{
	return add_operation_outputs(m, type, inputs, num_inputs, &output, 1);
}

/* An operand that is no tensor of the file. */
static int intermediate(struct mapper *m, const struct nnhal_operand *operand)
{
	if (nnhal_size_of_data_overflows(nnhal_element_size(operand->type), operand->dimensions,
					 operand->num_dimensions))
		return map_fail(m, "an intermediate result takes more than 2^32 bytes");
	return hal_add_operand(m->g, operand, HAL_NO_ORIGIN, m->diag);
}

int float_operand(struct mapper *m, const struct shape *shape)
{
	struct nnhal_operand operand = {
		.type = NNHAL_OPERAND_TENSOR_FLOAT32,
		.num_dimensions = shape->rank,
		.dimensions = shape->dims,
	};

	return intermediate(m, &operand);
}

int temporary_operand(struct mapper *m, uint32_t like, const struct shape *shape)
{
	struct nnhal_operand operand = m->g->operands[like];

	operand.lifetime = NNHAL_LIFETIME_TEMPORARY_VARIABLE;
	/* @like may be a constant, which is in the file. */
	operand.location = (struct nnhal_data_location){ 0 };
	operand.num_dimensions = shape->rank;
	operand.dimensions = shape->dims;
	return intermediate(m, &operand);
}

int int32_vector_operand(struct mapper *m, const int32_t *values, uint32_t count)
{
	struct nnhal_operand operand = {
		.type = NNHAL_OPERAND_TENSOR_INT32,
		.num_dimensions = 1,
		.dimensions = &count,
	};

	/* The HAL has no constants without elements. */
	if (!count)
		return map_fail(m, "a list of sizes without elements");
	return hal_add_copied(m->g, &operand, values, count * sizeof(*values), HAL_NO_ORIGIN,
			      m->diag);
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

/* RESHAPE of the HAL takes these types and ranks. */
static bool hal_reshapes(const struct nnhal_operand *o)
{
	return o->num_dimensions <= 4 &&
	       (o->type == NNHAL_OPERAND_TENSOR_FLOAT32 || o->type == NNHAL_OPERAND_TENSOR_FLOAT16 ||
		o->type == NNHAL_OPERAND_TENSOR_INT32 ||
		o->type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM ||
		o->type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED);
}

/*
 * The HAL has no operation that copies. RESHAPE to the same shape does; of a shape that is not
 * known, a CONCATENATION of one tensor.
 */
int copy_operand(struct mapper *m, int from, const struct nnhal_operand *to, uint32_t lifetime)
{
	struct nnhal_operand source = m->g->operands[from], copy = to ? *to : source;
	int32_t dims[TFLITE_MAX_RANK];
	int inputs[3] = { from, -1, -1 };
	bool known = source.num_dimensions > 0;
	uint32_t i, type, count = 2;
	int output;

	copy.lifetime = lifetime;
	copy.location = (struct nnhal_data_location){ .offset = 0 };
	for (i = 0; i < source.num_dimensions; i++) {
		dims[i] = (int32_t)source.dimensions[i];
		known &= dims[i] != 0;
	}
	output = hal_add_operand(m->g, &copy, HAL_NO_ORIGIN, m->diag);
	if (output < 0)
		return -1;
	if (known) {
		type = hal_reshapes(&source) ? NNHAL_OPERATION_RESHAPE :
					       HAL_EXTENSION_CODE(TFLITE_RESHAPE);
		inputs[1] = int32_vector_operand(m, dims, source.num_dimensions);
	} else {
		type = HAL_EXTENSION_CODE(TFLITE_CONCATENATION);
		inputs[1] = hal_add_int32(m->g, 0, m->diag);
		inputs[2] = inputs[1];
		count = 3;
	}
	if (inputs[1] < 0 || add_operation(m, type, inputs, count, output))
		return -1;
	return output;
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
		*shape = *tensor_shape(m, tensor);
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
		/* These make floats of the numbers or the bits themselves, whatever their scale. */
		bool reads_numbers = m->op->code == TFLITE_CAST || m->op->code == TFLITE_BITCAST;

		if (m->op->code == TFLITE_DEQUANTIZE && eight_bits)
			return quantized_constant(m, pos, &shape);
		if (eight_bits && !reads_numbers &&
		    ((pos > 0 && first && first->type == TFLITE_FLOAT32) ||
		     (output && output->type == TFLITE_FLOAT32)))
			return dequantized_operand(m, pos);
		if (describe_tensor(m, tensor, &operand, &shape))
			return -1;
		return pooled(m, tensor, &operand);
	}
	if (tensor->is_variable && !(m->role[tensor_index(m, tensor)] & ROLE_INPUT))
		return variable_operand(m, pos);
	return value_operand(m, tensor);
}

int *input_operands(struct mapper *m, uint32_t more)
{
	uint32_t count = m->op->inputs.count, i;
	int *inputs = hal_alloc(m->b, (size_t)count + more, sizeof(*inputs), m->diag);

	for (i = 0; inputs && i < count; i++) {
		inputs[i] = input_operand(m, i);
		if (inputs[i] < 0)
			return NULL;
	}
	return inputs;
}

bool is_empty_constant(const struct mapper *m, const struct tflite_tensor *tensor)
{
	uint32_t i;

	/* Its buffer is empty, as that of a tensor that is computed. */
	if (tensor->data || m->role[tensor_index(m, tensor)] & ROLE_INPUT ||
	    m->operand_of[tensor_index(m, tensor)] >= 0)
		return false;
	for (i = 0; i < tensor->rank; i++)
		if (tensor->dims[i] == 0)
			return true;
	return false;
}

/* The HAL has no constants without elements; FILL of a shape with a 0 computes them. */
static int empty_operand(struct mapper *m, const struct tflite_tensor *tensor)
{
	static const uint64_t zero;
	struct nnhal_operand operand, element;
	int32_t dims[TFLITE_MAX_RANK];
	struct shape shape;
	int inputs[2], output;

	if (describe_tensor(m, tensor, &operand, &shape))
		return -1;
	memcpy(dims, tensor->dims, tensor->rank * sizeof(*dims));
	element = operand;
	element.num_dimensions = 1;
	element.dimensions = (const uint32_t[]){ 1 };
	inputs[0] = int32_vector_operand(m, dims, tensor->rank);
	inputs[1] = inputs[0] < 0 ? -1 :
		    hal_add_copied(m->g, &element, &zero, tflite_type_size(tensor->type), HAL_NO_ORIGIN,
				   m->diag);
	output = inputs[1] < 0 ? -1 :
		 hal_add_operand(m->g, &operand, tensor_index(m, tensor), m->diag);
	if (output < 0 || add_operation(m, HAL_EXTENSION_CODE(TFLITE_FILL), inputs, 2, output))
		return -1;
	return output;
}

int value_operand(struct mapper *m, const struct tflite_tensor *tensor)
{
	struct nnhal_operand operand;
	struct shape shape;
	int index;

	if (is_constant(m, tensor)) {
		if (describe_tensor(m, tensor, &operand, &shape))
			return -1;
		return pooled(m, tensor, &operand);
	}
	if (is_empty_constant(m, tensor))
		return empty_operand(m, tensor);
	index = m->operand_of[tensor_index(m, tensor)];
	if (index < 0)
		return tensor_fail(m, tensor, "read before an operator computes it");
	if (m->g->operands[index].type == NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL &&
	    !takes_channels(m))
		return tensor_fail(m, tensor, "%" PRIu32 " quantization scales, where only one "
				   "for the whole tensor is supported", tensor->scales.count);
	return index;
}

/*
 * An int32 operand that is fed or computed, with a scale. Elsewhere int32 has none, and other
 * operators may read the tensor too, with another scale: a copy has it.
 */
static int scaled_operand(struct mapper *m, int from, float scale)
{
	struct nnhal_operand copy;
	int output;

	if (from < 0 || m->g->operands[from].type != NNHAL_OPERAND_TENSOR_INT32 || scale == 0)
		return from;
	copy = m->g->operands[from];
	copy.lifetime = NNHAL_LIFETIME_TEMPORARY_VARIABLE;
	copy.scale = scale;
	output = intermediate(m, &copy);
	if (output < 0 || add_operation(m, NNHAL_OPERATION_CAST, &from, 1, output))
		return -1;
	return output;
}

int bias_operand(struct mapper *m, uint32_t pos, uint32_t count, int input, int filter)
{
	const struct tflite_tensor *tensor = input_tensor(m, pos);
	const struct nnhal_operand *in = &m->g->operands[input];
	const struct nnhal_operand *weights = &m->g->operands[filter];
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
		return scaled_operand(m, input_operand(m, pos), operand.scale);
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
		elements = shape_elements(&shape);
		if (elements != count)
			return tensor_fail(m, tensor, "a bias of %" PRIu64 " elements for %" PRIu32
					   " output channels", elements, count);
		return pooled(m, tensor, &operand);
	}
	zeros = hal_alloc(m->b, count, sizeof(float), m->diag);
	if (!zeros)
		return -1;
	return hal_add_copied(m->g, &operand, zeros,
			      (size_t)count * nnhal_element_size(operand.type), HAL_NO_ORIGIN,
			      m->diag);
}

int check_output(struct mapper *m, uint32_t pos)
{
	const struct tflite_tensor *tensor = output_tensor(m, pos);
	uint32_t index;

	if (!tensor)
		return map_fail(m, "output %" PRIu32 " is missing", pos);
	index = tensor_index(m, tensor);
	if (m->role[index] & ROLE_INPUT)
		return tensor_fail(m, tensor, "written, but it is an input of the model");
	if (tensor->data)
		return tensor_fail(m, tensor, "written, but it is a constant");
	if (m->operand_of[index] >= 0)
		return tensor_fail(m, tensor, "written a second time");
	return 0;
}

int output_operand_of_shape(struct mapper *m, uint32_t pos, const struct shape *shape)
{
	const struct tflite_tensor *tensor = output_tensor(m, pos);
	struct nnhal_operand operand;
	uint32_t index;
	int number;

	if (check_output(m, pos) || describe_with_shape(m, tensor, &operand, shape))
		return -1;
	index = tensor_index(m, tensor);
	operand.lifetime = m->role[index] & ROLE_OUTPUT ? NNHAL_LIFETIME_SUBGRAPH_OUTPUT :
							  NNHAL_LIFETIME_TEMPORARY_VARIABLE;
	number = hal_add_operand(m->g, &operand, index, m->diag);
	m->operand_of[index] = number;
	return number;
}

int output_operand(struct mapper *m, uint32_t pos)
{
	const struct tflite_tensor *tensor = output_tensor(m, pos);

	if (!tensor)
		return map_fail(m, "output %" PRIu32 " is missing", pos);
	return output_operand_of_shape(m, pos, tensor_shape(m, tensor));
}

int optional_operand(struct mapper *m, uint32_t pos, uint32_t type)
{
	if (!input_tensor(m, pos))
		return hal_add_no_value(m->g, type, m->diag);
	return input_operand(m, pos);
}

uint32_t real_type(struct mapper *m)
{
	const struct tflite_tensor *tensor = input_tensor(m, 0);

	return tensor && tensor->type == TFLITE_FLOAT16 ? NNHAL_OPERAND_TENSOR_FLOAT16 :
							  NNHAL_OPERAND_TENSOR_FLOAT32;
}

void put(struct inputs *in, int operand)
{
	if (operand < 0 || in->count == sizeof(in->list) / sizeof(in->list[0]))
		in->failed = true;
	else
		in->list[in->count++] = operand;
}

void put_int32(struct mapper *m, struct inputs *in, int32_t value)
{
	if (!in->failed)
		put(in, hal_add_int32(m->g, value, m->diag));
}

void put_float32(struct mapper *m, struct inputs *in, float value)
{
	if (!in->failed)
		put(in, hal_add_float32(m->g, value, m->diag));
}

void put_real(struct mapper *m, struct inputs *in, float value)
{
	const struct tflite_tensor *tensor = input_tensor(m, 0);

	if (!in->failed)
		put(in, tensor && tensor->type == TFLITE_FLOAT16 ?
			hal_add_float16(m->g, value, m->diag) :
			hal_add_float32(m->g, value, m->diag));
}

void put_bool(struct mapper *m, struct inputs *in, bool value)
{
	if (!in->failed)
		put(in, hal_add_bool(m->g, value, m->diag));
}

void put_input(struct mapper *m, struct inputs *in, uint32_t pos)
{
	if (!in->failed)
		put(in, input_operand(m, pos));
}

int finish_operation(struct mapper *m, uint32_t type, const struct inputs *in)
{
	int output;

	if (in->failed)
		return -1;
	output = output_operand(m, 0);
	if (output < 0)
		return -1;
	return add_operation(m, type, in->list, in->count, output);
}

/* The HAL has the same numbers up to RELU6. */
int fused_activation(struct mapper *m, unsigned int slot, int32_t *value)
{
	static const char *const names[] = { "TANH", "SIGN_BIT" };

	*value = fb_i8(&m->options, slot, 0);
	if (*value >= NNHAL_FUSED_NONE && *value <= NNHAL_FUSED_RELU6)
		return 0;
	if (*value == 4 || *value == 5)
		return map_fail(m, "fused activation %s has no counterpart in the HAL",
				names[*value - 4]);
	return map_fail(m, "unknown fused activation %" PRId32, *value);
}
