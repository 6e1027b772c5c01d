// SPDX-License-Identifier: MIT
/*
 * The operations of a HAL model as XNNPACK's operators.
 *
 * Only the forms are known that libnntflite makes: channels last, implicit padding.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference_source.h"
#include "userspace/tools/common/clock.h"

/* Output limits of a fused activation. */

void float_range(int32_t activation, float *min, float *max)
{
	*min = activation == NNHAL_FUSED_NONE ? -INFINITY :
	       activation == NNHAL_FUSED_RELU1 ? -1.0f : 0.0f;
	*max = activation == NNHAL_FUSED_RELU1 ? 1.0f :
	       activation == NNHAL_FUSED_RELU6 ? 6.0f : INFINITY;
}

static int quantized(const struct nnhal_operand *o, float v, int lowest, int highest)
{
	float q = roundf(v / o->scale) + (float)o->zero_point;

	return q < (float)lowest ? lowest : q > (float)highest ? highest : (int)q;
}

void quant_range(const struct nnhal_operand *o, int32_t activation, int *min, int *max)
{
	int lowest = o->type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM ? 0 : -128;
	float low, high;

	float_range(activation, &low, &high);
	*min = quantized(o, low, lowest, lowest + 255);
	*max = quantized(o, high, lowest, lowest + 255);
}

int unsupported(const struct source *s)
{
	return fail(s->err, "operation %" PRIu32 " (%s): XNNPACK has no operator for this form",
		    s->index, nnhal_operation_type_name(s->op->type));
}

int check(const struct source *s, enum xnn_status status)
{
	if (status == xnn_status_success)
		return 0;
	return fail(s->err, "operation %" PRIu32 " (%s): XNNPACK refuses it, status %d", s->index,
		    nnhal_operation_type_name(s->op->type), (int)status);
}

/* Only over the whole image, which is how classifiers end. */
static int add_average_pool(const struct source *s)
{
	const struct nnhal_operand *in = operand(s, 0), *out = result(s);
	const uint32_t *dims = in->dimensions;
	size_t channels = dims[3], pixels = (size_t)dims[1] * dims[2];
	xnn_operator_t *op = &s->layer->op;
	float low, high;
	int min, max;

	if (s->op->num_inputs != 7 || dims[0] != 1 || out->dimensions[1] != 1 ||
	    out->dimensions[2] != 1 || (uint32_t)scalar(s, 4) < dims[2] ||
	    (uint32_t)scalar(s, 5) < dims[1])
		return unsupported(s);
	if (in->type == NNHAL_OPERAND_TENSOR_FLOAT32) {
		float_range(scalar(s, 6), &low, &high);
		return check(s, xnn_create_global_average_pooling_nwc_f32(channels, channels,
									  channels, low, high, 0,
									  op)) ||
		       check(s, xnn_setup_global_average_pooling_nwc_f32(*op, 1, pixels,
									 value(s, 0),
									 result_value(s),
									 NULL)) ? -1 : 0;
	}
	quant_range(out, scalar(s, 6), &min, &max);
	if (in->type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM)
		return check(s, xnn_create_global_average_pooling_nwc_qu8(channels, channels,
					channels, (uint8_t)in->zero_point, in->scale,
					(uint8_t)out->zero_point, out->scale, (uint8_t)min,
					(uint8_t)max, 0, op)) ||
		       check(s, xnn_setup_global_average_pooling_nwc_qu8(*op, 1, pixels,
									 value(s, 0),
									 result_value(s),
									 NULL)) ? -1 : 0;
	return check(s, xnn_create_global_average_pooling_nwc_qs8(channels, channels, channels,
				(int8_t)in->zero_point, in->scale, (int8_t)out->zero_point,
				out->scale, (int8_t)min, (int8_t)max, 0, op)) ||
	       check(s, xnn_setup_global_average_pooling_nwc_qs8(*op, 1, pixels, value(s, 0),
								 result_value(s), NULL)) ? -1 : 0;
}

#define POOL_GEOMETRY(s, channels) \
	0, 0, 0, 0, (uint32_t)scalar(s, 5), (uint32_t)scalar(s, 4), (uint32_t)scalar(s, 3), \
	(uint32_t)scalar(s, 2), 1, 1, channels, channels, channels

static int add_max_pool(const struct source *s)
{
	const struct nnhal_operand *in = operand(s, 0), *out = result(s);
	const uint32_t *dims = in->dimensions;
	xnn_operator_t *op = &s->layer->op;
	uint32_t flags;
	float low, high;
	int min, max;

	if (s->op->num_inputs != 7 || dims[0] != 1)
		return unsupported(s);
	flags = scalar(s, 1) == PADDING_SAME ? XNN_FLAG_TENSORFLOW_SAME_PADDING : 0;
	if (in->type == NNHAL_OPERAND_TENSOR_FLOAT32) {
		float_range(scalar(s, 6), &low, &high);
		return check(s, xnn_create_max_pooling2d_nhwc_f32(POOL_GEOMETRY(s, dims[3]), low,
								  high, flags, op)) ||
		       check(s, xnn_setup_max_pooling2d_nhwc_f32(*op, 1, dims[1], dims[2],
								 value(s, 0), result_value(s),
								 NULL)) ? -1 : 0;
	}
	quant_range(out, scalar(s, 6), &min, &max);
	if (in->type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM)
		return check(s, xnn_create_max_pooling2d_nhwc_u8(POOL_GEOMETRY(s, dims[3]),
								 (uint8_t)min, (uint8_t)max,
								 flags, op)) ||
		       check(s, xnn_setup_max_pooling2d_nhwc_u8(*op, 1, dims[1], dims[2],
								value(s, 0), result_value(s),
								NULL)) ? -1 : 0;
	return check(s, xnn_create_max_pooling2d_nhwc_s8(POOL_GEOMETRY(s, dims[3]), (int8_t)min,
							 (int8_t)max, flags, op)) ||
	       check(s, xnn_setup_max_pooling2d_nhwc_s8(*op, 1, dims[1], dims[2], value(s, 0),
							result_value(s), NULL)) ? -1 : 0;
}

/* Of floats, channels last, to a size in pixels. */
static int add_resize(const struct source *s)
{
	const uint32_t *in = operand(s, 0)->dimensions, *out = result(s)->dimensions;
	uint32_t inputs = s->op->num_inputs, flags = 0;
	xnn_operator_t *op = &s->layer->op;

	if (result(s)->type != NNHAL_OPERAND_TENSOR_FLOAT32 || inputs < 3 ||
	    operand(s, 1)->type != NNHAL_OPERAND_INT32 || (inputs > 3 && flag(s, 3)))
		return unsupported(s);
	if (inputs > 4 && flag(s, 4))
		flags = XNN_FLAG_ALIGN_CORNERS;
	else if (inputs < 6 || !flag(s, 5))
		flags = XNN_FLAG_TENSORFLOW_LEGACY_MODE;
	return check(s, xnn_create_resize_bilinear2d_nhwc_f32(in[3], in[3], in[3], flags, op)) ||
	       check(s, xnn_setup_resize_bilinear2d_nhwc_f32(*op, in[0], in[1], in[2], out[1], out[2],
							     value(s, 0), result_value(s), NULL)) ?
	       -1 : 0;
}

/* Of an element along an axis, which has all that is behind it. */
static size_t inner_bytes(const struct nnhal_operand *o, uint32_t axis)
{
	size_t bytes = nnhal_element_size(o->type);

	for (uint32_t i = axis + 1; i < o->num_dimensions; i++)
		bytes *= o->dimensions[i];
	return bytes;
}

/*
 * Copies of bytes between a tensor of @whole elements along an axis and parts of it, which have
 * @part and begin at element @from; XNNPACK's own graphs do the same.
 */
static int add_copy(const struct source *s, uint32_t index, const struct nnhal_operand *whole,
		    uint32_t axis, size_t part, size_t whole_size, const void *from, void *to,
		    bool to_whole)
{
	size_t bytes = inner_bytes(whole, axis), outer = 1;
	xnn_operator_t *op = index ? &s->layer->more[index - 1] : &s->layer->op;
	size_t in, out, n;

	for (uint32_t i = 0; i < axis; i++)
		outer *= whole->dimensions[i];
	n = part * bytes;
	in = to_whole ? n : whole_size * bytes;
	out = to_whole ? whole_size * bytes : n;
	/* Words are faster than bytes. */
	if (!(n % 4) && !(in % 4) && !(out % 4))
		return check(s, xnn_create_copy_nc_x32(n / 4, in / 4, out / 4, 0, op)) ||
		       check(s, xnn_setup_copy_nc_x32(*op, outer, from, to, NULL)) ? -1 : 0;
	return check(s, xnn_create_copy_nc_x8(n, in, out, 0, op)) ||
	       check(s, xnn_setup_copy_nc_x8(*op, outer, from, to, NULL)) ? -1 : 0;
}

/* Of tensors that have the quantization of the output. */
static int add_concatenation(const struct source *s)
{
	const struct nnhal_operand *out = result(s);
	uint32_t parts = s->op->num_inputs - 1;
	int32_t axis = scalar(s, parts);
	uint8_t *to = result_value(s);

	axis += axis < 0 ? (int32_t)out->num_dimensions : 0;
	if (parts > MAX_OPERATORS)
		return unsupported(s);
	for (uint32_t i = 0; i < parts; i++) {
		const struct nnhal_operand *in = operand(s, i);
		size_t part = in->dimensions[axis];

		if (in->scale != out->scale || in->zero_point != out->zero_point)
			return unsupported(s);
		if (add_copy(s, i, out, (uint32_t)axis, part, out->dimensions[axis], value(s, i),
			     to, true))
			return -1;
		to += part * inner_bytes(out, (uint32_t)axis);
	}
	return 0;
}

static int add_split(const struct source *s)
{
	const struct nnhal_operand *in = operand(s, 0);
	int32_t axis = scalar(s, 1);
	const uint8_t *from = value(s, 0);

	axis += axis < 0 ? (int32_t)in->num_dimensions : 0;
	if (s->op->num_outputs > MAX_OPERATORS)
		return unsupported(s);
	for (uint32_t i = 0; i < s->op->num_outputs; i++) {
		size_t part = in->dimensions[axis] / s->op->num_outputs;

		if (add_copy(s, i, in, (uint32_t)axis, part, in->dimensions[axis], from,
			     s->l->values[s->op->outputs[i]], false))
			return -1;
		from += part * inner_bytes(in, (uint32_t)axis);
	}
	return 0;
}

/* Of constants, whose values operators want to have when they are made. */
static int add_dequantize(const struct source *s)
{
	const struct nnhal_operand *in = operand(s, 0);
	const int8_t *from = value(s, 0);
	float *to = result_value(s);

	if (!is_const(in))
		return add_conversion(s);
	if (result(s)->type != NNHAL_OPERAND_TENSOR_FLOAT32 ||
	    (in->type != NNHAL_OPERAND_TENSOR_QUANT8_SYMM &&
	     in->type != NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED))
		return unsupported(s);
	for (size_t i = 0; i < operand_elements(in); i++)
		to[i] = in->scale * (float)(from[i] - in->zero_point);
	s->layer->kind = LAYER_NONE;
	return 0;
}

static int add_layer(const struct source *s)
{
	switch (s->op->type) {
	case NNHAL_OPERATION_CONV_2D:
		return add_convolution(s, false);
	case NNHAL_OPERATION_DEPTHWISE_CONV_2D:
		return add_convolution(s, true);
	case NNHAL_OPERATION_FULLY_CONNECTED:
		return add_fully_connected(s);
	case NNHAL_OPERATION_AVERAGE_POOL_2D:
		return add_average_pool(s);
	case NNHAL_OPERATION_MAX_POOL_2D:
		return add_max_pool(s);
	case NNHAL_OPERATION_ADD:
	case NNHAL_OPERATION_SUB:
	case NNHAL_OPERATION_MUL:
	case NNHAL_OPERATION_DIV:
	case EXTENSION_SQUARED_DIFFERENCE:
		return add_binary(s, s->op->type);
	case NNHAL_OPERATION_LOGISTIC:
	case NNHAL_OPERATION_NEG:
	case NNHAL_OPERATION_SQRT:
	case NNHAL_OPERATION_ABS:
		return add_unary(s, s->op->type);
	case EXTENSION_LEAKY_RELU:
		return add_leaky_relu(s);
	case NNHAL_OPERATION_MEAN:
		return add_mean(s);
	case NNHAL_OPERATION_SPLIT:
		return add_split(s);
	case NNHAL_OPERATION_SOFTMAX:
		return add_softmax(s);
	case NNHAL_OPERATION_RESIZE_BILINEAR:
		return add_resize(s);
	case NNHAL_OPERATION_CONCATENATION:
		return add_concatenation(s);
	case NNHAL_OPERATION_DEQUANTIZE:
		return add_dequantize(s);
	case NNHAL_OPERATION_RESHAPE:
		s->layer->kind = LAYER_COPY;
		s->layer->from = value(s, 0);
		s->layer->to = result_value(s);
		s->layer->bytes = operand_bytes(result(s));
		return 0;
	}
	return unsupported(s);
}

static int make_values(struct layers *l, struct error *err)
{
	const struct nnhal_model *m = l->hal;
	struct nnhal_diag diag = { "" };

	if (m->num_pools) {
		l->pool = nnhal_memory_map(m->pools[0], &diag);
		if (!l->pool)
			return fail(err, "constants: %s", diag.message);
	}
	for (uint32_t i = 0; i < l->hal->main.num_operands; i++) {
		const struct nnhal_operand *o = &l->hal->main.operands[i];

		if (o->lifetime == NNHAL_LIFETIME_CONSTANT_COPY)
			l->values[i] = (uint8_t *)m->operand_values + o->location.offset;
		else if (o->lifetime == NNHAL_LIFETIME_CONSTANT_REFERENCE)
			l->values[i] = (uint8_t *)l->pool + o->location.offset;
		else
			l->values[i] = calloc(1, operand_bytes(o) + XNN_EXTRA_BYTES);
		if (!l->values[i])
			return fail(err, "out of memory");
	}
	return 0;
}

/* Of each operand: a constant, or computed from such alone. */
static void find_fixed(struct layers *l)
{
	const struct nnhal_subgraph *b = &l->hal->main;

	for (uint32_t i = 0; i < b->num_operands; i++)
		l->fixed[i] = is_const(&b->operands[i]);
	for (uint32_t i = 0; i < b->num_operations; i++) {
		const struct nnhal_operation *op = &b->operations[i];
		bool fixed = true;

		for (uint32_t k = 0; k < op->num_inputs; k++)
			fixed &= l->fixed[op->inputs[k]] ||
				 b->operands[op->inputs[k]].lifetime == NNHAL_LIFETIME_NO_VALUE;
		for (uint32_t k = 0; k < op->num_outputs; k++)
			l->fixed[op->outputs[k]] = fixed;
	}
}

static struct layers *create(const struct nnhal_model *hal, void **values, struct error *err)
{
	const struct nnhal_subgraph *b = &hal->main;
	struct layers *l = calloc(1, sizeof(*l));
	int ret = 0;

	if (!l || xnn_initialize(NULL) != xnn_status_success) {
		fail(err, "XNNPACK does not start");
		free(l);
		return NULL;
	}
	l->hal = hal;
	l->borrowed = values;
	l->values = values ? values : calloc(b->num_operands, sizeof(*l->values));
	l->fixed = calloc(b->num_operands, sizeof(*l->fixed));
	l->layers = calloc(b->num_operations, sizeof(*l->layers));
	if (!l->values || !l->fixed || !l->layers)
		ret = fail(err, "out of memory");
	else if (!values)
		ret = make_values(l, err);
	if (!ret)
		find_fixed(l);
	for (; !ret && l->count < b->num_operations; l->count++) {
		struct layer *layer = &l->layers[l->count];
		struct error why = { "", 0 };
		struct source s = {
			.l = l,
			.op = &b->operations[l->count],
			.index = l->count,
			.layer = layer,
			.err = values ? &why : err,
		};

		/* With values, what depends on no input has been computed. */
		if (values && s.op->num_outputs && l->fixed[s.op->outputs[0]])
			layer->kind = LAYER_NONE;
		else if (add_layer(&s) && values)
			layer->kind = LAYER_ABSENT;
		else if (err->text[0])
			ret = -1;
	}
	if (ret) {
		layers_destroy(l);
		return NULL;
	}
	return l;
}

struct layers *layers_create(const struct nntflite_model *model, struct error *err)
{
	return create(nntflite_model_get_hal(model), NULL, err);
}

struct layers *layers_create_some(const struct nnhal_model *hal, void **values, struct error *err)
{
	return create(hal, values, err);
}

bool layers_has(const struct layers *l, uint32_t operation)
{
	return l->layers[operation].kind != LAYER_ABSENT;
}

bool layers_is_fixed(const struct layers *l, uint32_t operation)
{
	return l->layers[operation].kind == LAYER_NONE;
}

void layers_destroy(struct layers *l)
{
	const struct nnhal_subgraph *b = &l->hal->main;

	for (uint32_t i = 0; l->layers && i < b->num_operations; i++) {
		if (l->layers[i].op)
			xnn_delete_operator(l->layers[i].op);
		for (uint32_t k = 0; k < MAX_OPERATORS - 1 && l->layers[i].more[k]; k++)
			xnn_delete_operator(l->layers[i].more[k]);
		free(l->layers[i].flipped);
	}
	for (uint32_t i = 0; l->values && !l->borrowed && i < b->num_operands; i++) {
		if (!is_const(&b->operands[i]))
			free(l->values[i]);
	}
	if (!l->borrowed)
		free(l->values);
	free(l->fixed);
	free(l->layers);
	free(l);
}

void *layers_input(struct layers *l, size_t *bytes)
{
	uint32_t i = l->hal->main.input_indexes[0];

	*bytes = operand_bytes(&l->hal->main.operands[i]);
	return l->values[i];
}

const void *layers_output(struct layers *l, size_t *bytes)
{
	uint32_t i = l->hal->main.output_indexes[0];

	*bytes = operand_bytes(&l->hal->main.operands[i]);
	return l->values[i];
}

static void flip(uint8_t *to, const uint8_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = from[i] ^ 0x80;
}

static int run_layer(struct layer *layer)
{
	switch (layer->kind) {
	case LAYER_NONE:
	case LAYER_ABSENT:
		return 0;
	case LAYER_COPY:
		memcpy(layer->to, layer->from, layer->bytes);
		return 0;
	case LAYER_FLIPPED:
		flip(layer->flipped, layer->from, layer->bytes);
		break;
	case LAYER_OPERATOR:
		break;
	}
	if (xnn_run_operator(layer->op, NULL) != xnn_status_success)
		return -1;
	for (int i = 0; i < MAX_OPERATORS - 1 && layer->more[i]; i++) {
		if (xnn_run_operator(layer->more[i], NULL) != xnn_status_success)
			return -1;
	}
	if (layer->kind == LAYER_FLIPPED)
		flip(layer->to, layer->to, layer->bytes);
	return 0;
}

int layers_run(struct layers *l)
{
	for (uint32_t i = 0; i < l->count; i++) {
		if (run_layer(&l->layers[i]))
			return -1;
	}
	return 0;
}

int layers_time(struct layers *l, uint64_t *ns)
{
	for (uint32_t i = 0; i < l->count; i++) {
		uint64_t start = now_ns();

		if (run_layer(&l->layers[i]))
			return -1;
		ns[i] = now_ns() - start;
	}
	return 0;
}

int layers_run_one(struct layers *l, uint32_t operation)
{
	return run_layer(&l->layers[operation]);
}
