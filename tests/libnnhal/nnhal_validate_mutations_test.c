// SPDX-License-Identifier: MIT
/*
 * The mutations of the vendor test suite (B34 to B69 of the conformance checklist), made to
 * every operator test case: each is refused by getSupportedOperations and prepareModel
 * of the case's HAL version and of 1.3 with INVALID_ARGUMENT, an answer of false for each
 * operation, no model and exactly one callback.
 *
 * Without arguments the first case of each file is taken; "all" takes every one.
 */
#include <string.h>

#include "ops/shared_vectors.h"
#include "vector_model.h"

enum mutation {
	B34, B35, B36, B37, B38, B39, B40, B41, B42, B43, B44, B45, B46, B47, B48, B49, B50, B51,
	B52, B53, B54, B55, B56, B58, B59, B60, B61, B62, B63, B64, B65, B66, B67, B68, B69,
	NUM_MUTATIONS,
};

static const struct {
	const char *name;
	const char *what;
} mutations[NUM_MUTATIONS] = {
	[B34] = { "B34", "operation moved before what it reads" },
	[B35] = { "B35", "operation moved behind its readers" },
	[B36] = { "B36", "operand type that does not exist" },
	[B37] = { "B37", "scalar with a dimension" },
	[B38] = { "B38", "scale where there is none" },
	[B39] = { "B39", "negative scale of TENSOR_INT32" },
	[B40] = { "B40", "scale of 0" },
	[B41] = { "B41", "zeroPoint where there is none" },
	[B42] = { "B42", "zeroPoint of TENSOR_QUANT8_ASYMM out of range" },
	[B43] = { "B43", "zeroPoint of TENSOR_QUANT8_SYMM" },
	[B44] = { "B44", "zeroPoint of TENSOR_QUANT16_ASYMM out of range" },
	[B45] = { "B45", "zeroPoint of TENSOR_QUANT16_SYMM" },
	[B46] = { "B46", "written operand made an input" },
	[B47] = { "B47", "written operand made a constant" },
	[B48] = { "B48", "constant or input made a temporary" },
	[B49] = { "B49", "constant or input made an output" },
	[B50] = { "B50", "constant made an input that is not listed" },
	[B51] = { "B51", "listed input made a constant" },
	[B52] = { "B52", "listed output made a temporary" },
	[B53] = { "B53", "temporary made an output that is not listed" },
	[B54] = { "B54", "wrong numberOfConsumers" },
	[B55] = { "B55", "operand written twice" },
	[B56] = { "B56 B57", "operand of another type" },
	[B58] = { "B58", "operation type that does not exist" },
	[B59] = { "B59", "operation input out of range" },
	[B60] = { "B60", "operation output out of range" },
	[B61] = { "B61", "write redirected to another operand" },
	[B62] = { "B62", "operand deleted" },
	[B63] = { "B63", "operation deleted" },
	[B64] = { "B64", "operation input deleted" },
	[B65] = { "B65", "operation output deleted" },
	[B66] = { "B66", "operation input added" },
	[B67] = { "B67", "operation output added" },
	[B68] = { "B68", "preference out of range" },
	[B69] = { "B69", "priority out of range" },
};

static struct {
	unsigned int tried, accepted;
} counts[NUM_MUTATIONS];

static bool take_all;
static unsigned int cases_seen, cases_taken;

static struct nnhal_device *device;

/* The model under test, put back after each attempt. */
static struct {
	const char *path;
	const struct nntc_case *nc;
	uint32_t version;
	struct vector_model m;
} t;

/* ---- what is expected of a mutation ---- */

struct result {
	unsigned int calls;
	enum nnhal_status status;
	struct nnhal_prepared_model *model;
};

static void prepared(void *context, enum nnhal_status status, struct nnhal_prepared_model *model)
{
	struct result *r = context;

	r->status = status;
	r->model = model;
	__atomic_add_fetch(&r->calls, 1, __ATOMIC_RELEASE);
}

static bool prepare_is_refused(const struct nnhal_prepare_options *options)
{
	struct result *r = calloc(1, sizeof(*r));
	enum nnhal_status launch;
	bool refused;

	if (!r)
		exit(1);
	launch = nnhal_device_prepare_model(device, &t.m.model, options, prepared, r);
	refused = launch == NNHAL_STATUS_INVALID_ARGUMENT && r->calls == 1 &&
		  r->status == launch && !r->model;
	/* A launch that succeeded may still call back, so keep its memory. */
	if (launch)
		free(r);
	return refused;
}

static bool support_is_refused(void)
{
	uint32_t n = t.m.model.main.num_operations, i;
	bool *supported = malloc(n + 1), refused;

	if (!supported)
		exit(1);
	memset(supported, true, n);
	refused = nnhal_device_get_supported_operations(device, &t.m.model, supported, n, NULL) ==
		  NNHAL_STATUS_INVALID_ARGUMENT;
	for (i = 0; i < n; i++)
		refused &= !supported[i];
	free(supported);
	return refused;
}

/* The mutated model is refused; then it is as it was. */
static void expect_refusal(enum mutation mutation, uint32_t number, uint32_t detail)
{
	bool support = support_is_refused(), prepare = prepare_is_refused(NULL);

	counts[mutation].tried++;
	if (!support || !prepare) {
		if (counts[mutation].accepted++ < 20)
			tap_note("%s: %s: HAL version %u: %s: %s: number %u, %u:%s%s", t.path,
				 t.nc->name, t.version, mutations[mutation].name,
				 mutations[mutation].what, number, detail,
				 support ? "" : " getSupportedOperations accepts it",
				 prepare ? "" : " prepareModel accepts it");
	}
	vector_model_restore(&t.m);
}

/* ---- helpers ---- */

static uint32_t num_operands(void)
{
	return t.m.model.main.num_operands;
}

static bool is_constant(uint32_t i)
{
	return t.m.operands[i].lifetime == NNHAL_LIFETIME_CONSTANT_COPY ||
	       t.m.operands[i].lifetime == NNHAL_LIFETIME_CONSTANT_REFERENCE;
}

static bool is_input(uint32_t i)
{
	return t.m.operands[i].lifetime == NNHAL_LIFETIME_SUBGRAPH_INPUT;
}

static bool is_output(uint32_t i)
{
	return t.m.operands[i].lifetime == NNHAL_LIFETIME_SUBGRAPH_OUTPUT;
}

static bool is_temporary(uint32_t i)
{
	return t.m.operands[i].lifetime == NNHAL_LIFETIME_TEMPORARY_VARIABLE;
}

static bool is_written(uint32_t i)
{
	return is_temporary(i) || is_output(i);
}

static bool contains(const uint32_t *list, uint32_t count, uint32_t value)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (list[i] == value)
			return true;
	return false;
}

static void remove_at(uint32_t *list, uint32_t *count, uint32_t at)
{
	memmove(list + at, list + at + 1, (*count - at - 1) * sizeof(*list));
	(*count)--;
}

static void remove_value(uint32_t *list, uint32_t *count, uint32_t value)
{
	uint32_t i = 0;

	while (i < *count) {
		if (list[i] == value)
			remove_at(list, count, i);
		else
			i++;
	}
}

static void list_input(uint32_t i)
{
	t.m.inputs[t.m.model.main.num_inputs++] = i;
}

static void list_output(uint32_t i)
{
	t.m.outputs[t.m.model.main.num_outputs++] = i;
}

static void unlist(uint32_t i)
{
	remove_value(t.m.inputs, &t.m.model.main.num_inputs, i);
	remove_value(t.m.outputs, &t.m.model.main.num_outputs, i);
}

static void set_lifetime(uint32_t i, uint32_t lifetime)
{
	t.m.operands[i].lifetime = lifetime;
	memset(&t.m.operands[i].location, 0, sizeof(t.m.operands[i].location));
}

/* Make an operand a constant of zeros; false if there are not enough of them. */
static bool make_constant(uint32_t i)
{
	struct nnhal_operand *o = &t.m.operands[i];
	uint32_t size;

	if (nnhal_size_of_data(o->type, o->dimensions, o->num_dimensions, &size) || !size ||
	    size > VECTOR_ZEROS)
		return false;
	set_lifetime(i, NNHAL_LIFETIME_CONSTANT_COPY);
	o->location.offset = (uint32_t)t.m.model.operand_values_size - VECTOR_ZEROS;
	o->location.length = size;
	return true;
}

static uint32_t add_operand(uint32_t type, uint32_t lifetime)
{
	uint32_t i = t.m.model.main.num_operands++;

	t.m.operands[i] = (struct nnhal_operand){
		.type = type, .lifetime = lifetime, .dimensions = t.m.dims[i],
	};
	return i;
}

static struct nnhal_operation *operation(uint32_t i)
{
	return &t.m.operations[i];
}

static uint32_t num_operations(void)
{
	return t.m.model.main.num_operations;
}

static bool reads(uint32_t op, uint32_t operand)
{
	return contains(operation(op)->inputs, operation(op)->num_inputs, operand);
}

static bool writes(uint32_t op, uint32_t operand)
{
	return contains(operation(op)->outputs, operation(op)->num_outputs, operand);
}

/* ---- order, lifetimes, counts ---- */

static void move_operation(uint32_t from, uint32_t to)
{
	struct nnhal_operation moved = *operation(from);

	if (from < to)
		memmove(operation(from), operation(from + 1), (to - from) * sizeof(moved));
	else
		memmove(operation(to + 1), operation(to), (from - to) * sizeof(moved));
	*operation(to) = moved;
}

static void test_order(void)
{
	uint32_t i, k, last = num_operations() - 1;

	for (i = 1; i <= last; i++)
		for (k = 0; k < operation(i)->num_inputs; k++)
			if (is_written(operation(i)->inputs[k])) {
				move_operation(i, 0);
				expect_refusal(B34, i, k);
				break;
			}
	for (i = 0; i < last; i++)
		for (k = 0; k < operation(i)->num_outputs; k++)
			if (t.m.operands[operation(i)->outputs[k]].number_of_consumers) {
				move_operation(i, last);
				expect_refusal(B35, i, k);
				break;
			}
}

static void test_lifetimes(uint32_t i)
{
	if (is_written(i)) {
		unlist(i);
		set_lifetime(i, NNHAL_LIFETIME_SUBGRAPH_INPUT);
		list_input(i);
		expect_refusal(B46, i, 0);
		unlist(i);
		if (make_constant(i))
			expect_refusal(B47, i, 0);
		else
			vector_model_restore(&t.m);
	}
	if (is_constant(i) || is_input(i)) {
		unlist(i);
		set_lifetime(i, NNHAL_LIFETIME_TEMPORARY_VARIABLE);
		expect_refusal(B48, i, 0);
		unlist(i);
		set_lifetime(i, NNHAL_LIFETIME_SUBGRAPH_OUTPUT);
		list_output(i);
		expect_refusal(B49, i, 0);
	}
	if (is_constant(i)) {
		set_lifetime(i, NNHAL_LIFETIME_SUBGRAPH_INPUT);
		expect_refusal(B50, i, 0);
	}
	if (is_input(i) && make_constant(i))
		expect_refusal(B51, i, 0);
	if (is_output(i)) {
		set_lifetime(i, NNHAL_LIFETIME_TEMPORARY_VARIABLE);
		expect_refusal(B52, i, 0);
	}
	if (is_temporary(i)) {
		set_lifetime(i, NNHAL_LIFETIME_SUBGRAPH_OUTPUT);
		expect_refusal(B53, i, 0);
	}
}

static void test_consumers(uint32_t i)
{
	t.m.operands[i].number_of_consumers++;
	expect_refusal(B54, i, 0);
	if (t.m.operands[i].number_of_consumers) {
		t.m.operands[i].number_of_consumers--;
		expect_refusal(B54, i, 1);
	}
}

/* ---- operands by themselves ---- */

static void set_type(uint32_t i, uint32_t type)
{
	t.m.operands[i].type = type;
	expect_refusal(B36, i, type);
}

static void set_scale(enum mutation mutation, uint32_t i, float scale)
{
	t.m.operands[i].scale = scale;
	expect_refusal(mutation, i, 0);
}

static void set_zero_point(enum mutation mutation, uint32_t i, int32_t zero_point)
{
	t.m.operands[i].zero_point = zero_point;
	expect_refusal(mutation, i, (uint32_t)zero_point);
}

static void test_attributes(uint32_t i)
{
	static const uint32_t next_type[] = { 0, 6, 6, 14, 16 };
	struct nnhal_operand *o = &t.m.operands[i];

	set_type(i, UINT32_MAX);
	set_type(i, next_type[t.version]);
	set_type(i, 9999);
	set_type(i, 10002);
	switch (o->type) {
	case NNHAL_OPERAND_FLOAT32:
	case NNHAL_OPERAND_INT32:
	case NNHAL_OPERAND_UINT32:
	case NNHAL_OPERAND_FLOAT16:
	case NNHAL_OPERAND_BOOL:
		t.m.dims[i][0] = 0;
		o->num_dimensions = 1;
		expect_refusal(B37, i, 0);
		/* fall through */
	case NNHAL_OPERAND_TENSOR_FLOAT32:
	case NNHAL_OPERAND_TENSOR_FLOAT16:
	case NNHAL_OPERAND_TENSOR_BOOL8:
	case NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL:
	case NNHAL_OPERAND_SUBGRAPH:
		set_scale(B38, i, 1.0f);
		set_zero_point(B41, i, 1);
		break;
	case NNHAL_OPERAND_TENSOR_INT32:
		set_scale(B39, i, -1.0f);
		set_zero_point(B41, i, 1);
		break;
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM:
		set_scale(B40, i, 0.0f);
		set_zero_point(B42, i, -1);
		set_zero_point(B42, i, 256);
		break;
	case NNHAL_OPERAND_TENSOR_QUANT8_SYMM:
		set_scale(B40, i, 0.0f);
		set_zero_point(B43, i, -129);
		set_zero_point(B43, i, -1);
		set_zero_point(B43, i, 1);
		set_zero_point(B43, i, 128);
		break;
	case NNHAL_OPERAND_TENSOR_QUANT16_ASYMM:
		set_scale(B40, i, 0.0f);
		set_zero_point(B44, i, -1);
		set_zero_point(B44, i, 65536);
		break;
	case NNHAL_OPERAND_TENSOR_QUANT16_SYMM:
		set_scale(B40, i, 0.0f);
		set_zero_point(B45, i, -32769);
		set_zero_point(B45, i, -1);
		set_zero_point(B45, i, 1);
		set_zero_point(B45, i, 32768);
		break;
	default:
		break;
	}
}

static bool is_one_of(uint32_t type, uint32_t types)
{
	return types >> type & 1;
}

#define BIT(type)	(1u << NNHAL_OPERAND_##type)
#define FLOATS		(BIT(TENSOR_FLOAT32) | BIT(TENSOR_FLOAT16))
#define BYTES		(BIT(TENSOR_QUANT8_ASYMM) | BIT(TENSOR_QUANT8_ASYMM_SIGNED))

/* B57: may operand @i have this type as well, because of operation @op? */
static bool has_choice(const struct nnhal_operation *op, uint32_t i, uint32_t type)
{
	switch (op->type) {
	case NNHAL_OPERATION_LSH_PROJECTION:
		return i == op->inputs[1];
	case NNHAL_OPERATION_CAST:
	case NNHAL_OPERATION_ARGMAX:
	case NNHAL_OPERATION_ARGMIN:
		return (i == op->inputs[0] || op->type == NNHAL_OPERATION_CAST) &&
		       is_one_of(type, FLOATS | BIT(TENSOR_INT32) | BYTES);
	case NNHAL_OPERATION_QUANTIZE:
		return (i == op->inputs[0] && is_one_of(type, FLOATS)) ||
		       (i == op->outputs[0] && is_one_of(type, BYTES));
	case NNHAL_OPERATION_RANDOM_MULTINOMIAL:
		return i == op->inputs[0] && is_one_of(type, FLOATS);
	case NNHAL_OPERATION_DEQUANTIZE:
		return (i == op->inputs[0] &&
			is_one_of(type, BYTES | BIT(TENSOR_QUANT8_SYMM) |
				  BIT(TENSOR_QUANT8_SYMM_PER_CHANNEL))) ||
		       (i == op->outputs[0] && is_one_of(type, FLOATS));
	case NNHAL_OPERATION_CONV_2D:
	case NNHAL_OPERATION_DEPTHWISE_CONV_2D:
	case NNHAL_OPERATION_GROUPED_CONV_2D:
	case NNHAL_OPERATION_TRANSPOSE_CONV_2D:
		return i == op->inputs[1] &&
		       is_one_of(type, BYTES | BIT(TENSOR_QUANT8_SYMM_PER_CHANNEL));
	case NNHAL_OPERATION_AXIS_ALIGNED_BBOX_TRANSFORM:
		return i == op->inputs[1] && is_one_of(type, BYTES);
	case NNHAL_OPERATION_RANK:
		return i == op->inputs[0] && !nnhal_operand_type_is_scalar(type);
	default:
		return false;
	}
}

/* Give an operand another type and what goes with it; false if that cannot be. */
static bool change_type(uint32_t i, uint32_t type)
{
	static float ones[4096];
	struct nnhal_operand *o = &t.m.operands[i];
	uint32_t k, size;

	if (nnhal_operand_type_is_scalar(type)) {
		o->num_dimensions = 0;
	} else if (nnhal_operand_type_is_scalar(o->type)) {
		o->num_dimensions = 1;
		t.m.dims[i][0] = 1;
	}
	o->type = type;
	o->zero_point = 0;
	memset(&o->extra_params, 0, sizeof(o->extra_params));
	if (!is_one_of(type, BYTES | BIT(TENSOR_QUANT8_SYMM) | BIT(TENSOR_QUANT16_ASYMM) |
		       BIT(TENSOR_QUANT16_SYMM)))
		o->scale = 0.0f;
	else if (o->scale == 0.0f)
		o->scale = 1.0f;
	if (type == NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL) {
		if (!o->num_dimensions || !o->dimensions[0] || o->dimensions[0] > 4096)
			return false;
		for (k = 0; k < 4096; k++)
			ones[k] = 1.0f;
		o->extra_params.kind = NNHAL_EXTRA_PARAMS_CHANNEL_QUANT;
		o->extra_params.channel_quant = (struct nnhal_channel_quant){
			ones, o->dimensions[0], 0,
		};
	}
	if (!is_constant(i))
		return true;
	if (nnhal_size_of_data(type, o->dimensions, o->num_dimensions, &size) ||
	    size > VECTOR_ZEROS)
		return false;
	o->location.length = size;
	if (o->lifetime == NNHAL_LIFETIME_CONSTANT_COPY)
		return o->location.offset + size <= t.m.model.operand_values_size;
	return o->location.offset + size <= nnhal_memory_size(t.m.model.pools[0]);
}

static void test_types(uint32_t i)
{
	static const uint32_t num_types[] = { 0, 6, 6, 14, 15 };
	uint32_t type, k;
	bool choice, used;

	for (type = 0; type < num_types[t.version]; type++) {
		choice = false;
		used = false;
		for (k = 0; k < num_operations(); k++) {
			used |= reads(k, i) || writes(k, i);
			if (reads(k, i) || writes(k, i))
				choice |= has_choice(operation(k), i, type);
		}
		if (!used || choice || type == t.m.operands[i].type)
			continue;
		if (change_type(i, type))
			expect_refusal(B56, i, type);
		else
			vector_model_restore(&t.m);
	}
}

/* ---- operations ---- */

/* A new operand like @i. */
static uint32_t add_like(uint32_t i, uint32_t lifetime)
{
	uint32_t n = t.m.model.main.num_operands++;

	t.m.operands[n] = t.m.operands[i];
	t.m.operands[n].number_of_consumers = 0;
	set_lifetime(n, lifetime);
	return n;
}

static void test_second_write(uint32_t i)
{
	uint32_t last = num_operations(), k, j;

	for (k = 0; k < operation(i)->num_outputs && k < VECTOR_MORE_OPERANDS; k++) {
		uint32_t *in, *out;

		*operation(last) = *operation(i);
		/* Lists of its own, in the room behind the last operand list. */
		in = malloc((operation(i)->num_inputs + 1) * sizeof(*in));
		out = malloc((operation(i)->num_outputs + 1) * sizeof(*out));
		if (!in || !out)
			exit(1);
		memcpy(in, operation(i)->inputs, operation(i)->num_inputs * sizeof(*in));
		memcpy(out, operation(i)->outputs, operation(i)->num_outputs * sizeof(*out));
		for (j = 0; j < operation(i)->num_outputs && j < VECTOR_MORE_OPERANDS; j++)
			if (j != k)
				out[j] = add_like(out[j], NNHAL_LIFETIME_TEMPORARY_VARIABLE);
		for (j = 0; j < operation(i)->num_inputs; j++)
			t.m.operands[in[j]].number_of_consumers++;
		operation(last)->inputs = in;
		operation(last)->outputs = out;
		t.m.model.main.num_operations++;
		expect_refusal(B55, i, k);
		free(in);
		free(out);
	}
}

static void test_operation_type(uint32_t i)
{
	static const uint32_t next_type[] = { 0, 29, 38, 95, 102 };
	const uint32_t types[] = { next_type[t.version], 9999, 10001, UINT32_MAX };
	uint32_t k;

	/* UINT32_MAX is -1. Since 1.2 it is an operation of an unknown extension. */
	for (k = 0; k < 4; k++) {
		operation(i)->type = types[k];
		expect_refusal(B58, i, types[k]);
	}
}

static void test_indexes(uint32_t i)
{
	uint32_t k, n = num_operands();

	for (k = 0; k < operation(i)->num_inputs; k++) {
		vector_op_inputs(&t.m, i)[k] = n;
		expect_refusal(B59, i, k);
	}
	for (k = 0; k < operation(i)->num_outputs; k++) {
		vector_op_outputs(&t.m, i)[k] = n;
		expect_refusal(B60, i, k);
		if (t.m.operands[operation(i)->outputs[k]].number_of_consumers) {
			vector_op_outputs(&t.m, i)[k] =
				add_like(operation(i)->outputs[k],
					 NNHAL_LIFETIME_TEMPORARY_VARIABLE);
			expect_refusal(B61, i, k);
		}
	}
}

/* B64: is an operation legal without input @k? */
static bool may_lack_input(const struct nnhal_operation *op, uint32_t k)
{
	bool flag = t.m.operands[op->inputs[op->num_inputs - 1]].type == NNHAL_OPERAND_BOOL;
	bool last = k == op->num_inputs - 1;

	switch (op->type) {
	case NNHAL_OPERATION_CONCATENATION:
		return op->num_inputs > 2 && !last;
	case NNHAL_OPERATION_AVERAGE_POOL_2D:
	case NNHAL_OPERATION_MAX_POOL_2D:
	case NNHAL_OPERATION_L2_POOL_2D:
	case NNHAL_OPERATION_CONV_2D:
	case NNHAL_OPERATION_DEPTHWISE_CONV_2D:
	case NNHAL_OPERATION_SPACE_TO_DEPTH:
	case NNHAL_OPERATION_DEPTH_TO_SPACE:
	case NNHAL_OPERATION_SPACE_TO_BATCH_ND:
	case NNHAL_OPERATION_BATCH_TO_SPACE_ND:
		return last && flag;
	case NNHAL_OPERATION_RESIZE_BILINEAR:
		return k >= 3;
	case NNHAL_OPERATION_RESIZE_NEAREST_NEIGHBOR:
		return k >= 3 && op->num_inputs > 4;
	case NNHAL_OPERATION_L2_NORMALIZATION:
	case NNHAL_OPERATION_LOCAL_RESPONSE_NORMALIZATION:
	case NNHAL_OPERATION_SOFTMAX:
		return last && op->num_inputs ==
			       (op->type == NNHAL_OPERATION_SOFTMAX ? 3u :
				op->type == NNHAL_OPERATION_L2_NORMALIZATION ? 2u : 6u);
	default:
		return false;
	}
}

/* Does an operation have outputs that may be left out? */
static bool may_lack_outputs(const struct nnhal_operation *op)
{
	return op->type == NNHAL_OPERATION_SPLIT ||
	       op->type == NNHAL_OPERATION_BIDIRECTIONAL_SEQUENCE_LSTM ||
	       op->type == NNHAL_OPERATION_BIDIRECTIONAL_SEQUENCE_RNN ||
	       op->type == NNHAL_OPERATION_UNIDIRECTIONAL_SEQUENCE_LSTM ||
	       op->type == NNHAL_OPERATION_UNIDIRECTIONAL_SEQUENCE_RNN;
}

static void test_operands_removed(uint32_t i)
{
	uint32_t k;

	for (k = 0; k < operation(i)->num_inputs; k++) {
		if (may_lack_input(operation(i), k))
			continue;
		t.m.operands[operation(i)->inputs[k]].number_of_consumers--;
		remove_at(vector_op_inputs(&t.m, i), &operation(i)->num_inputs, k);
		expect_refusal(B64, i, k);
	}
	for (k = 0; k < operation(i)->num_outputs; k++) {
		remove_at(vector_op_outputs(&t.m, i), &operation(i)->num_outputs, k);
		expect_refusal(B65, i, k);
	}
}

/* B66: may an operation have an axis that it has not? */
static bool may_have_axis(const struct nnhal_operation *op)
{
	if (t.version < NNHAL_HAL_1_2)
		return false;
	return (op->type == NNHAL_OPERATION_L2_NORMALIZATION && op->num_inputs == 1) ||
	       (op->type == NNHAL_OPERATION_LOCAL_RESPONSE_NORMALIZATION && op->num_inputs == 5) ||
	       (op->type == NNHAL_OPERATION_SOFTMAX && op->num_inputs == 2);
}

static void test_operands_added(uint32_t i)
{
	uint32_t n;

	if (!may_have_axis(operation(i))) {
		n = add_operand(NNHAL_OPERAND_INT32, NNHAL_LIFETIME_SUBGRAPH_INPUT);
		t.m.operands[n].number_of_consumers = 1;
		list_input(n);
		vector_op_inputs(&t.m, i)[operation(i)->num_inputs++] = n;
		expect_refusal(B66, i, 0);
	}
	n = add_operand(NNHAL_OPERAND_INT32, NNHAL_LIFETIME_TEMPORARY_VARIABLE);
	vector_op_outputs(&t.m, i)[operation(i)->num_outputs++] = n;
	expect_refusal(B67, i, 0);
}

static void test_operation_removed(uint32_t i)
{
	uint32_t k;

	for (k = 0; k < operation(i)->num_inputs; k++)
		t.m.operands[operation(i)->inputs[k]].number_of_consumers--;
	memmove(operation(i), operation(i + 1),
		(num_operations() - i - 1) * sizeof(*operation(i)));
	t.m.model.main.num_operations--;
	expect_refusal(B63, i, 0);
}

static void shift_indexes(uint32_t *list, uint32_t count, uint32_t above)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (list[i] > above)
			list[i]--;
}

/* Delete an operand and all references to it; @shift: adjust the other indexes. */
static void delete_operand(uint32_t i, bool shift)
{
	uint32_t k, above = shift ? i : UINT32_MAX;

	unlist(i);
	for (k = 0; k < num_operations(); k++) {
		remove_value(vector_op_inputs(&t.m, k), &operation(k)->num_inputs, i);
		remove_value(vector_op_outputs(&t.m, k), &operation(k)->num_outputs, i);
		shift_indexes(vector_op_inputs(&t.m, k), operation(k)->num_inputs, above);
		shift_indexes(vector_op_outputs(&t.m, k), operation(k)->num_outputs, above);
	}
	shift_indexes(t.m.inputs, t.m.model.main.num_inputs, above);
	shift_indexes(t.m.outputs, t.m.model.main.num_outputs, above);
	memmove(&t.m.operands[i], &t.m.operands[i + 1],
		(num_operands() - i - 1) * sizeof(t.m.operands[i]));
	t.m.model.main.num_operands--;
}

static void test_operand_removed(uint32_t i)
{
	uint32_t last = num_operands() - 1, k, j;
	bool exempt = !t.m.operands[i].number_of_consumers && !is_written(i);

	if (i < last && (t.m.operands[last].number_of_consumers || is_written(last))) {
		delete_operand(i, false);
		expect_refusal(B62, i, 0);
	}
	for (k = 0; k < num_operations(); k++) {
		exempt |= writes(k, i) && may_lack_outputs(operation(k));
		for (j = 0; j < operation(k)->num_inputs; j++)
			exempt |= operation(k)->inputs[j] == i && may_lack_input(operation(k), j);
	}
	if (!exempt) {
		delete_operand(i, true);
		expect_refusal(B62, i, 1);
	}
}

/* ---- parameters of prepareModel ---- */

static void expect_option_refused(enum mutation mutation,
				  const struct nnhal_prepare_options *options)
{
	counts[mutation].tried++;
	if (!prepare_is_refused(options)) {
		counts[mutation].accepted++;
		tap_note("%s: %s: preference %d and priority %d are accepted", t.path, t.nc->name,
			 options->preference, options->priority);
	}
}

static void test_options(void)
{
	static const int32_t wrong[] = { -1, 3 };
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		options.preference = wrong[i];
		expect_option_refused(B68, &options);
		options.preference = NNHAL_PREFER_FAST_SINGLE_ANSWER;
		options.priority = wrong[i];
		expect_option_refused(B69, &options);
		options.priority = NNHAL_PRIORITY_MEDIUM;
	}
}

/* ---- cases ---- */

static void test_model(const char *path, const struct nntc_case *nc, uint32_t version)
{
	uint32_t i;

	t.path = path;
	t.nc = nc;
	t.version = version;
	vector_model_init(&t.m, nc, version);
	test_options();
	test_order();
	for (i = 0; i < num_operands(); i++) {
		test_attributes(i);
		test_lifetimes(i);
		test_consumers(i);
		test_types(i);
		test_operand_removed(i);
	}
	for (i = 0; i < num_operations(); i++) {
		test_second_write(i);
		test_operation_type(i);
		test_indexes(i);
		test_operands_removed(i);
		test_operands_added(i);
		test_operation_removed(i);
	}
	vector_model_fini(&t.m);
}

static void test_case(const char *path, const struct nntc_case *nc)
{
	static char last_path[4096];
	struct vector_model m;
	uint32_t since;

	if (nc->expect_failure || strstr(nc->name, "inputs_as_internal") ||
	    strstr(nc->name, "all_tensors_as_inputs"))
		return;
	cases_seen++;
	/* Large networks take long and show little more than small models. */
	if (!take_all && (!strcmp(path, last_path) || nc->main.num_operations > 20))
		return;
	snprintf(last_path, sizeof(last_path), "%s", path);
	vector_model_init(&m, nc, NNHAL_HAL_1_3);
	since = nnhal_model_get_min_version(&m.model, NULL);
	vector_model_fini(&m);
	if (!since)
		return;
	cases_taken++;
	test_model(path, nc, since);
	if (since < NNHAL_HAL_1_3)
		test_model(path, nc, NNHAL_HAL_1_3);
}

int main(int argc, char **argv)
{
	struct nnhal_diag diag = { "" };
	enum nnhal_status status;
	unsigned int i, total = 0;

	if (argc > 1 && !strcmp(argv[1], "all"))
		take_all = true;
	status = nnhal_device_open("sim", &device, &diag);
	if (status == NNHAL_STATUS_NO_DRIVER)
		tap_skip_all("this library has no in-process device: %s", diag.message);
	if (status) {
		printf("Bail out! in-process device: %s\n", diag.message);
		return 1;
	}
	vectors_run_shared(test_case);
	ok(cases_taken > 200, "%u of %u cases taken", cases_taken, cases_seen);
	for (i = 0; i < NUM_MUTATIONS; i++) {
		ok(counts[i].tried && !counts[i].accepted,
		   "%s %s: %u of %u mutations are accepted", mutations[i].name,
		   mutations[i].what, counts[i].accepted, counts[i].tried);
		total += counts[i].tried;
	}
	tap_note("%u mutations in all", total);
	nnhal_device_unref(device);
	return tap_done();
}
