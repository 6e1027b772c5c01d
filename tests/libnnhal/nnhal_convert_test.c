// SPDX-License-Identifier: MIT
/*
 * Conversions to the forms of the HAL's versions and back; no device.
 */
#include <fcntl.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "convert/time_points.h"
#include "memory/memory_private.h"
#include "nnhal_fixture.h"

static struct fixture f;

/* The message of a conversion that failed has all words, which "|" separates. */
static bool says(const char *words)
{
	char copy[128], *word, *rest = copy;

	snprintf(copy, sizeof(copy), "%s", words);
	while ((word = strsep(&rest, "|")))
		if (!strstr(f.diag.message, word)) {
			tap_note("\"%s\" is not in \"%s\"", word, f.diag.message);
			return false;
		}
	return true;
}

static bool same_words(const uint32_t *a, const uint32_t *b, uint32_t n)
{
	return !n || (a != b && !memcmp(a, b, n * sizeof(*a)));
}

static bool same_operand(const struct nnhal_operand *a, const struct nnhal_operand *b)
{
	const struct nnhal_extra_params *x = &a->extra_params, *y = &b->extra_params;

	if (a->type != b->type || a->num_dimensions != b->num_dimensions ||
	    !same_words(a->dimensions, b->dimensions, a->num_dimensions) ||
	    a->number_of_consumers != b->number_of_consumers || a->scale != b->scale ||
	    a->zero_point != b->zero_point || a->lifetime != b->lifetime ||
	    memcmp(&a->location, &b->location, sizeof(a->location)) || x->kind != y->kind)
		return false;
	switch (x->kind) {
	case NNHAL_EXTRA_PARAMS_CHANNEL_QUANT:
		return x->channel_quant.channel_dim == y->channel_quant.channel_dim &&
		       x->channel_quant.num_scales == y->channel_quant.num_scales &&
		       !memcmp(x->channel_quant.scales, y->channel_quant.scales,
			       x->channel_quant.num_scales * sizeof(float));
	case NNHAL_EXTRA_PARAMS_EXTENSION:
		return x->extension_size == y->extension_size &&
		       !memcmp(x->extension, y->extension, x->extension_size);
	default:
		return true;
	}
}

static bool same_subgraph(const struct nnhal_subgraph *a, const struct nnhal_subgraph *b)
{
	uint32_t i;

	if (a->num_operands != b->num_operands || a->num_operations != b->num_operations ||
	    a->num_inputs != b->num_inputs || a->num_outputs != b->num_outputs ||
	    !same_words(a->input_indexes, b->input_indexes, a->num_inputs) ||
	    !same_words(a->output_indexes, b->output_indexes, a->num_outputs))
		return false;
	for (i = 0; i < a->num_operands; i++)
		if (!same_operand(&a->operands[i], &b->operands[i]))
			return false;
	for (i = 0; i < a->num_operations; i++) {
		const struct nnhal_operation *x = &a->operations[i], *y = &b->operations[i];

		if (x->type != y->type || x->num_inputs != y->num_inputs ||
		    x->num_outputs != y->num_outputs ||
		    !same_words(x->inputs, y->inputs, x->num_inputs) ||
		    !same_words(x->outputs, y->outputs, x->num_outputs))
			return false;
	}
	return true;
}

/* Equal in all but hal_version, and, but for pools, nothing in common. */
static bool same_model(const struct nnhal_model *a, const struct nnhal_model *b)
{
	uint32_t i;

	if (!same_subgraph(&a->main, &b->main) || a->num_referenced != b->num_referenced ||
	    a->operand_values_size != b->operand_values_size ||
	    (a->operand_values_size && a->operand_values == b->operand_values) ||
	    memcmp(a->operand_values, b->operand_values, a->operand_values_size) ||
	    a->num_pools != b->num_pools ||
	    a->relax_computation_float32_to_float16 != b->relax_computation_float32_to_float16 ||
	    a->num_extensions != b->num_extensions)
		return false;
	for (i = 0; i < a->num_referenced; i++)
		if (!same_subgraph(&a->referenced[i], &b->referenced[i]))
			return false;
	for (i = 0; i < a->num_pools; i++)
		if (a->pools[i] != b->pools[i])
			return false;
	for (i = 0; i < a->num_extensions; i++)
		if (strcmp(a->extensions[i].name, b->extensions[i].name) ||
		    a->extensions[i].prefix != b->extensions[i].prefix)
			return false;
	return true;
}

/* To a version and back; NULL if one of the two fails. The results are freed in between. */
static struct nnhal_model *round_trip(const struct nnhal_model *model, uint32_t version,
				      uint32_t flags)
{
	struct nnhal_model *back = NULL;
	union {
		struct nnhal_model_1_0 *m0;
		struct nnhal_model_1_1 *m1;
		struct nnhal_model_1_2 *m2;
		struct nnhal_model_1_3 *m3;
		void *any;
	} form = { NULL };

	switch (version) {
	case NNHAL_HAL_1_0:
		if (!nnhal_model_to_1_0(model, flags, &form.m0, &f.diag))
			nnhal_model_from_1_0(form.m0, flags, &back, &f.diag);
		break;
	case NNHAL_HAL_1_1:
		if (!nnhal_model_to_1_1(model, flags, &form.m1, &f.diag))
			nnhal_model_from_1_1(form.m1, flags, &back, &f.diag);
		break;
	case NNHAL_HAL_1_2:
		if (!nnhal_model_to_1_2(model, flags, &form.m2, &f.diag))
			nnhal_model_from_1_2(form.m2, flags, &back, &f.diag);
		break;
	default:
		if (!nnhal_model_to_1_3(model, flags, &form.m3, &f.diag))
			nnhal_model_from_1_3(form.m3, flags, &back, &f.diag);
		break;
	}
	nnhal_converted_free(form.any);
	return back;
}

static const char *const version_names[] = { "", "1.0", "1.1", "1.2", "1.3" };

/* The fixture's model can be expressed since @oldest, and nothing of it gets lost. */
static void expect_round_trips(const char *what, uint32_t oldest)
{
	struct nnhal_model *back;
	uint32_t v;

	for (v = NNHAL_HAL_1_0; v <= NNHAL_HAL_1_3; v++) {
		f.model.hal_version = v < oldest ? NNHAL_HAL_1_3 : v;
		back = round_trip(&f.model, v, 0);
		if (v < oldest) {
			ok(!back && f.diag.message[0], "G02 %s to %s fails: %s", what,
			   version_names[v], f.diag.message);
			ok(!nnhal_model_complies_with(&f.model, v, NULL),
			   "G03 %s does not comply with %s", what, version_names[v]);
		} else {
			ok(back && back->hal_version == v && same_model(&f.model, back),
			   "G02 %s to %s and back", what, version_names[v]);
			ok(nnhal_model_complies_with(&f.model, v, &f.diag),
			   "G03 %s complies with %s", what, version_names[v]);
		}
		nnhal_converted_free(back);
	}
	f.model.hal_version = NNHAL_HAL_LATEST;
}

/* A model with every type of 1.2: per-channel filter, extension data, extension prefix. */
static void make_1_2(void)
{
	static const float scales[] = { 0.5f, 0.25f };
	static const uint8_t data[] = { 1, 2, 3 };
	static const struct nnhal_extension_prefix prefix = { "com.example.x", 7 };
	static const int8_t filter[2] = { 3, 4 };
	static const int32_t bias[2] = { 1, 2 };
	struct graph *g = &f.graph;
	uint32_t i;

	fixture_init(&f);
	i = add_operand(g, NNHAL_OPERAND_TENSOR_QUANT8_ASYMM, NNHAL_LIFETIME_SUBGRAPH_INPUT,
			DIMS(1, 2, 2, 1));
	g->operands[i].scale = 0.5f;
	i = add_constant(&f, g, NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL, DIMS(2, 1, 1, 1),
			 filter, sizeof(filter));
	g->operands[i].extra_params.kind = NNHAL_EXTRA_PARAMS_CHANNEL_QUANT;
	g->operands[i].extra_params.channel_quant = (struct nnhal_channel_quant){ scales, 2, 0 };
	add_constant(&f, g, NNHAL_OPERAND_TENSOR_INT32, DIMS(2), bias, sizeof(bias));
	add_int32(&f, g, 1);
	add_int32(&f, g, 1);
	add_int32(&f, g, 1);
	add_int32(&f, g, NNHAL_FUSED_NONE);
	i = add_operand(g, NNHAL_OPERAND_TENSOR_QUANT8_ASYMM, NNHAL_LIFETIME_SUBGRAPH_OUTPUT,
			DIMS(1, 2, 2, 2));
	g->operands[i].scale = 1.0f;
	add_operation(g, NNHAL_OPERATION_CONV_2D, OPERANDS(0, 1, 2, 3, 4, 5, 6), OPERANDS(7));
	i = add_operand(g, 7 << 16 | 1, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(3));
	g->operands[i].extra_params.kind = NNHAL_EXTRA_PARAMS_EXTENSION;
	g->operands[i].extra_params.extension = data;
	g->operands[i].extra_params.extension_size = sizeof(data);
	add_operand(g, 7 << 16 | 1, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(3));
	add_operation(g, 7 << 16 | 2, OPERANDS(8), OPERANDS(9));
	fixture_finish(&f, 0);
	f.model.extensions = &prefix;
	f.model.num_extensions = 1;
}

static void test_models(void)
{
	struct nnhal_model_1_0 *old;
	struct nnhal_model *back;

	make_add_relu(&f);
	expect_round_trips("ADD and RELU", NNHAL_HAL_1_0);
	f.graph.operations[0].type = NNHAL_OPERATION_DIV;
	expect_round_trips("DIV", NNHAL_HAL_1_1);
	f.graph.operations[1].type = NNHAL_OPERATION_ABS;
	expect_round_trips("ABS", NNHAL_HAL_1_2);
	ok(nnhal_model_to_1_0(&f.model, 0, &old, &f.diag) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   !old && says("HAL 1.0 cannot express|operation 0"),
	   "G02 the message names version and operation");
	f.graph.operations[1].type = NNHAL_OPERATION_HARD_SWISH;
	expect_round_trips("HARD_SWISH", NNHAL_HAL_1_3);
	make_1_2();
	expect_round_trips("per-channel quantization and extension data", NNHAL_HAL_1_2);
	make_if(&f);
	expect_round_trips("IF", NNHAL_HAL_1_3);
	make_while(&f);
	expect_round_trips("WHILE", NNHAL_HAL_1_3);
	make_dynamic_add(&f, 0);
	expect_round_trips("unknown rank", NNHAL_HAL_1_2);

	/* An invalid source fails everywhere, and unvalidated nowhere. */
	make_add_relu(&f);
	f.graph.operations[1].inputs = (const uint32_t[]){ 77 };
	for (uint32_t v = NNHAL_HAL_1_0; v <= NNHAL_HAL_1_3; v++) {
		back = round_trip(&f.model, v, 0);
		ok(!back && says("operation 1 (RELU) input 0|operand 77"),
		   "G02 an invalid model to %s: %s", version_names[v], f.diag.message);
		back = round_trip(&f.model, v, NNHAL_CONVERT_UNVALIDATED);
		ok(back && back->main.operations[1].inputs[0] == 77,
		   "G02 unvalidated: the fields of %s are mapped", version_names[v]);
		nnhal_converted_free(back);
	}
	make_add_relu(&f);
	ok(nnhal_model_to_1_0(&f.model, 2, &old, &f.diag) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   !old && nnhal_model_to_1_0(NULL, 0, &old, NULL) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_model_to_1_0(&f.model, 0, NULL, NULL) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_model_from_1_0(NULL, 0, &back, NULL) == NNHAL_STATUS_INVALID_ARGUMENT && !back,
	   "G02 unknown flags and NULL pointers are refused");
	f.model.hal_version = 1u << 16;
	ok(nnhal_model_to_1_0(&f.model, 0, &old, &f.diag) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   !old && !nnhal_model_complies_with(&f.model, NNHAL_HAL_1_3, &f.diag) &&
	   says("layout"), "G02 a layout that is not known is refused");
}

static void test_lossy_models(void)
{
	struct nnhal_model_1_0 *old = NULL;
	struct nnhal_model_1_1 *newer = NULL;
	struct nnhal_model *back = NULL;

	make_add_relu(&f);
	f.model.relax_computation_float32_to_float16 = true;
	ok(!nnhal_model_to_1_0(&f.model, 0, &old, &f.diag) &&
	   !nnhal_model_from_1_0(old, 0, &back, &f.diag) &&
	   !back->relax_computation_float32_to_float16, "G08 relaxed is dropped towards 1.0");
	nnhal_converted_free(old);
	nnhal_converted_free(back);
	ok(!nnhal_model_to_1_1(&f.model, 0, &newer, &f.diag) &&
	   newer->relax_computation_float32_to_float16, "G08 1.1 has it");
	nnhal_converted_free(newer);

	/* numberOfConsumers: counted towards the HAL, checked from it. */
	make_add_relu(&f);
	f.graph.operands[0].number_of_consumers = 9;
	ok(!nnhal_model_to_1_0(&f.model, 0, &old, &f.diag) &&
	   old->operands[0].number_of_consumers == 1 && old->operands[4].number_of_consumers == 0,
	   "G10 a wrong numberOfConsumers is counted anew towards the HAL");
	((struct nnhal_operand_1_0 *)old->operands)[0].number_of_consumers = 2;
	ok(nnhal_model_from_1_0(old, 0, &back, &f.diag) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   !back && says("operand 0|numberOfConsumers 2"),
	   "G10 from the HAL it is an error: %s", f.diag.message);
	nnhal_converted_free(old);
	make_if(&f);
	f.sub[1].operands[0].number_of_consumers = 5;
	back = round_trip(&f.model, NNHAL_HAL_1_3, 0);
	ok(back && back->referenced[1].operands[0].number_of_consumers == 1,
	   "G10 also in referenced subgraphs");
	nnhal_converted_free(back);

	/* Constants by pointer: lifetime 7 of canonical types elsewhere. */
	make_add_relu(&f);
	f.graph.operands[2].lifetime = 7;
	for (uint32_t v = NNHAL_HAL_1_0; v <= NNHAL_HAL_1_3; v++)
		ok(!round_trip(&f.model, v, 0) && says("operand 2|lifetime 7"),
		   "G09 a constant by pointer to %s: %s", version_names[v], f.diag.message);
}

static void test_pools(void)
{
	struct nnhal_memory *memory;
	struct nnhal_model *back;
	uint32_t v, kind;

	if (!ok(!nnhal_memory_create(4096, &memory, &f.diag), "memory"))
		return;
	make_add_relu(&f);
	f.pools[0] = memory;
	f.model.num_pools = 1;
	/* The kinds of real objects; only conversions look at this one. */
	for (kind = NNHAL_MEMORY_ASHMEM; kind <= NNHAL_MEMORY_HARDWARE_BUFFER + 1; kind++) {
		uint32_t oldest = kind <= NNHAL_MEMORY_MMAP_FD ? NNHAL_HAL_1_0 :
				  kind <= NNHAL_MEMORY_HARDWARE_BUFFER ? NNHAL_HAL_1_2 : 99;

		memory->kind = kind;
		for (v = NNHAL_HAL_1_0; v <= NNHAL_HAL_1_3; v++) {
			back = round_trip(&f.model, v, 0);
			ok(!back == (v < oldest) && (back || says("pool 0")),
			   "G07 pool of kind %u in a model of %s: %s", kind, version_names[v],
			   back ? "" : f.diag.message);
			nnhal_converted_free(back);
		}
	}
	memory->kind = NNHAL_MEMORY_ASHMEM;
	ok(memory->refs == 1, "the references of pools are released");
	nnhal_memory_unref(memory);
}

/* The request of a struct run to a version and back. */
static struct nnhal_request *request_trip(const struct nnhal_request *request, uint32_t version,
					  uint32_t flags)
{
	struct nnhal_request *back = NULL;
	struct nnhal_request_1_0 *old = NULL;
	struct nnhal_request_1_3 *newest = NULL;

	if (version == NNHAL_HAL_1_3) {
		if (!nnhal_request_to_1_3(request, flags, &newest, &f.diag))
			nnhal_request_from_1_3(newest, flags, &back, &f.diag);
		nnhal_converted_free(newest);
	} else {
		if (!nnhal_request_to_1_0(request, version, flags, &old, &f.diag))
			nnhal_request_from_1_0(old, version, flags, &back, &f.diag);
		nnhal_converted_free(old);
	}
	return back;
}

static bool same_arguments(const struct nnhal_request_argument *a,
			   const struct nnhal_request_argument *b, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (a[i].has_no_value != b[i].has_no_value ||
		    memcmp(&a[i].location, &b[i].location, sizeof(a[i].location)) ||
		    a[i].num_dimensions != b[i].num_dimensions ||
		    !same_words(a[i].dimensions, b[i].dimensions, a[i].num_dimensions))
			return false;
	return true;
}

static void expect_request(struct run *r, const char *what, uint32_t oldest)
{
	const struct nnhal_request *q = &r->request;
	uint32_t v;

	for (v = NNHAL_HAL_1_0; v <= NNHAL_HAL_1_3; v++) {
		struct nnhal_request *back = request_trip(q, v, 0);
		bool complies = nnhal_request_complies_with(q, v, NULL);

		ok(complies == (v >= oldest) && !back == (v < oldest) &&
		   (!back || (back->hal_version == v && back->num_inputs == q->num_inputs &&
			      back->num_outputs == q->num_outputs &&
			      back->num_pools == q->num_pools &&
			      same_arguments(back->inputs, q->inputs, q->num_inputs) &&
			      same_arguments(back->outputs, q->outputs, q->num_outputs) &&
			      !memcmp(back->pools, q->pools,
				      q->num_pools * sizeof(*q->pools)))) &&
		   (back || says(oldest == 99 ? "put 0" : "pool 0")),
		   "G07 G02 request with %s at %s: %s", what, version_names[v],
		   back ? "and back" : f.diag.message);
		nnhal_converted_free(back);
	}
}

static void test_requests(void)
{
	struct nnhal_request_argument saved;
	struct nnhal_request_1_0 *old;
	struct nnhal_request *back;
	struct run r;

	run_init(&r, 4);
	r.inputs[0].dimensions = r.dims[0];
	r.inputs[0].num_dimensions = 2;
	r.dims[0][0] = 2;
	r.dims[0][1] = 2;
	expect_request(&r, "a memfd", NNHAL_HAL_1_0);
	r.memory->kind = NNHAL_MEMORY_HARDWARE_BUFFER_BLOB;
	expect_request(&r, "hardware_buffer_blob", NNHAL_HAL_1_2);
	r.memory->kind = NNHAL_MEMORY_HARDWARE_BUFFER;
	expect_request(&r, "hardware_buffer", NNHAL_HAL_1_2);
	r.memory->kind = NNHAL_MEMORY_HARDWARE_BUFFER + 1;
	back = request_trip(&r.request, NNHAL_HAL_1_3, 0);
	ok(!back && says("pool 0|no version of the HAL"),
	   "G09 pointers as arguments: %s", f.diag.message);
	r.memory->kind = NNHAL_MEMORY_ASHMEM;

	saved = r.inputs[0];
	r.inputs[0].location.offset = UINT32_MAX;
	expect_request(&r, "an argument behind its pool", 99);
	r.inputs[0] = saved;
	r.inputs[0].location.pool_index = 1;
	expect_request(&r, "a pool that is not there", 99);
	back = request_trip(&r.request, NNHAL_HAL_1_1, NNHAL_CONVERT_UNVALIDATED);
	ok(back && back->inputs[0].location.pool_index == 1, "G02 unvalidated: not looked at");
	nnhal_converted_free(back);
	r.inputs[0] = saved;
	r.outputs[0].has_no_value = true;
	expect_request(&r, "no value, but a location", 99);
	r.outputs[0].has_no_value = false;

	r.pools[0].memory = NULL;
	back = request_trip(&r.request, NNHAL_HAL_1_3, 0);
	ok(!back && says("pool 0|memory or a token"), "a pool without memory and token");
	r.pools[0].token = 70000;
	back = request_trip(&r.request, NNHAL_HAL_1_3, 0);
	ok(!back && says("input 0"), "an offset in a buffer");
	memset(&r.inputs[0].location, 0, sizeof(r.inputs[0].location));
	memset(&r.inputs[1].location, 0, sizeof(r.inputs[1].location));
	memset(&r.outputs[0].location, 0, sizeof(r.outputs[0].location));
	expect_request(&r, "a token", NNHAL_HAL_1_3);
	ok(nnhal_request_to_1_0(&r.request, NNHAL_HAL_1_2, NNHAL_CONVERT_UNVALIDATED, &old,
				&f.diag) == NNHAL_STATUS_INVALID_ARGUMENT && !old && says("token"),
	   "G07 a token has no place in the form of 1.2");
	r.pools[0].token = 0;
	r.pools[0].memory = r.memory;
	ok(nnhal_request_to_1_0(&r.request, NNHAL_HAL_1_3, 0, &old, &f.diag) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && !old, "G02 the form of 1.0 is not that of 1.3");
	ok(r.memory->refs == 1, "the references of pools are released");
	run_fini(&r);
}

static bool is_info(struct nnhal_performance_info a, float exec, float power)
{
	return a.exec_time == exec && a.power_usage == power;
}

static void test_capabilities(void)
{
	static const struct nnhal_performance_info one = { 1.0f, 2.0f }, other = { 0.5f, 0.25f };
	struct nnhal_capabilities_1_1 old = NNHAL_CAPABILITIES_1_1_INIT;
	struct nnhal_capabilities_1_2 mid = NNHAL_CAPABILITIES_1_2_INIT;
	struct nnhal_capabilities caps = NNHAL_CAPABILITIES_INIT, back = NNHAL_CAPABILITIES_INIT;
	bool good = true;
	uint32_t i;

	nnhal_operand_performance_init(&caps, NNHAL_HAL_1_3, one);
	caps.relaxed_float32_to_float16_scalar = one;
	caps.relaxed_float32_to_float16_tensor = one;
	caps.if_performance = other;
	caps.while_performance = other;
	ok(nnhal_capabilities_comply_with(&caps, NNHAL_HAL_1_0) &&
	   nnhal_capabilities_comply_with(&caps, NNHAL_HAL_1_1) &&
	   nnhal_capabilities_comply_with(&caps, NNHAL_HAL_1_2) &&
	   nnhal_capabilities_comply_with(&caps, NNHAL_HAL_LATEST) &&
	   !nnhal_capabilities_comply_with(&caps, 9), "G14 equal figures comply with all versions");
	caps.relaxed_float32_to_float16_scalar = other;
	ok(!nnhal_capabilities_comply_with(&caps, NNHAL_HAL_1_1) &&
	   nnhal_capabilities_comply_with(&caps, NNHAL_HAL_1_2),
	   "G14 relaxed scalars and tensors differ");
	caps.relaxed_float32_to_float16_tensor = other;
	ok(nnhal_capabilities_comply_with(&caps, NNHAL_HAL_1_1) &&
	   !nnhal_capabilities_comply_with(&caps, NNHAL_HAL_1_0),
	   "G14 relaxed and float32 differ: 1.1, not 1.0");
	nnhal_operand_performance_update(&caps, NNHAL_OPERAND_FLOAT32, other);
	ok(!nnhal_capabilities_comply_with(&caps, NNHAL_HAL_1_1),
	   "G14 FLOAT32 and TENSOR_FLOAT32 differ");
	nnhal_operand_performance_update(&caps, NNHAL_OPERAND_FLOAT32, one);
	for (i = 0; i < 5; i++) {
		static const uint32_t types[] = {
			NNHAL_OPERAND_INT32, NNHAL_OPERAND_UINT32, NNHAL_OPERAND_TENSOR_INT32,
			NNHAL_OPERAND_OEM, NNHAL_OPERAND_TENSOR_OEM_BYTE,
		};

		nnhal_operand_performance_update(&caps, types[i], other);
		ok(!nnhal_capabilities_comply_with(&caps, NNHAL_HAL_1_1),
		   "G14 %s and TENSOR_QUANT8_ASYMM differ", nnhal_operand_type_name(types[i]));
		nnhal_operand_performance_update(&caps, types[i], one);
	}

	nnhal_operand_performance_update(&caps, NNHAL_OPERAND_TENSOR_QUANT8_ASYMM, other);
	ok(!nnhal_capabilities_to_1_1(&caps, NNHAL_HAL_1_1, &old, &f.diag) &&
	   is_info(old.float32_performance, 1.0f, 2.0f) &&
	   is_info(old.quantized8_performance, 0.5f, 0.25f) &&
	   is_info(old.relaxed_float32_to_float16_performance, 0.5f, 0.25f), "G12 to 1.1");
	ok(!nnhal_capabilities_to_1_1(&caps, NNHAL_HAL_1_0, &old, &f.diag) &&
	   is_info(old.quantized8_performance, 0.5f, 0.25f) &&
	   is_info(old.relaxed_float32_to_float16_performance, 0, 0), "G12 to 1.0");
	ok(!nnhal_capabilities_to_1_2(&caps, &mid, &f.diag) && mid.num_operand_performance == 16 &&
	   mid.operand_performance[13].type == NNHAL_OPERAND_TENSOR_QUANT8_SYMM &&
	   mid.operand_performance[14].type == NNHAL_OPERAND_OEM &&
	   is_info(mid.relaxed_float32_to_float16_scalar, 0.5f, 0.25f),
	   "G12 to 1.2: no type of 1.3");

	old.relaxed_float32_to_float16_performance = (struct nnhal_performance_info){ 3.0f, 4.0f };
	ok(!nnhal_capabilities_from_1_1(&old, NNHAL_HAL_1_0, &back, &f.diag) &&
	   back.num_operand_performance == 8 && is_info(back.if_performance, FLT_MAX, FLT_MAX) &&
	   is_info(back.while_performance, FLT_MAX, FLT_MAX) &&
	   is_info(back.relaxed_float32_to_float16_scalar, 1.0f, 2.0f) &&
	   is_info(back.relaxed_float32_to_float16_tensor, 1.0f, 2.0f),
	   "G13 from 1.0: relaxed is float32");
	for (i = 0; i < back.num_operand_performance; i++) {
		uint32_t type = back.operand_performance[i].type;
		bool is_float = type == NNHAL_OPERAND_FLOAT32 ||
				type == NNHAL_OPERAND_TENSOR_FLOAT32;

		good &= is_info(back.operand_performance[i].info, is_float ? 1.0f : 0.5f,
				is_float ? 2.0f : 0.25f);
		good &= nnhal_validate_operand_type(type, NNHAL_HAL_1_0);
		good &= !i || type > back.operand_performance[i - 1].type;
	}
	ok(good, "G13 from 1.0: each type has its figure, ascending");
	ok(nnhal_capabilities_comply_with(&back, NNHAL_HAL_1_0), "G13 G14 what comes from 1.0 complies");
	ok(!nnhal_capabilities_from_1_1(&old, NNHAL_HAL_1_1, &back, &f.diag) &&
	   is_info(back.relaxed_float32_to_float16_scalar, 3.0f, 4.0f) &&
	   is_info(back.relaxed_float32_to_float16_tensor, 3.0f, 4.0f),
	   "G13 from 1.1: relaxed is its own");
	ok(!nnhal_capabilities_from_1_2(&mid, &back, &f.diag) &&
	   back.num_operand_performance == 16 &&
	   !memcmp(back.operand_performance, mid.operand_performance,
		   16 * sizeof(back.operand_performance[0])) &&
	   is_info(back.if_performance, FLT_MAX, FLT_MAX) &&
	   is_info(back.while_performance, FLT_MAX, FLT_MAX),
	   "G13 from 1.2: IF and WHILE have FLT_MAX");

	caps.operand_performance[3].info.power_usage = 0;
	ok(nnhal_capabilities_to_1_2(&caps, &mid, &f.diag) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   says("TENSOR_FLOAT32") && !nnhal_capabilities_comply_with(&caps, NNHAL_HAL_1_3),
	   "G02 a figure of 0: %s", f.diag.message);
	caps.operand_performance[3].info.power_usage = 1;
	caps.operand_performance[4].type = NNHAL_OPERAND_TENSOR_FLOAT32;
	ok(nnhal_capabilities_to_1_1(&caps, NNHAL_HAL_1_1, &old, &f.diag) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && says("figures 4"), "G02 a type twice");
	caps.num_operand_performance = NNHAL_MAX_OPERAND_PERFORMANCE + 1;
	ok(nnhal_capabilities_to_1_2(&caps, &mid, &f.diag) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "G02 more figures than there is room for");
	mid.operand_performance[13].type = NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED;
	ok(nnhal_capabilities_from_1_2(&mid, &back, &f.diag) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   says("type 14"), "G02 a type of 1.3 in capabilities of 1.2");
	ok(nnhal_capabilities_to_1_1(&back, NNHAL_HAL_1_2, &old, &f.diag) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "G02 the form of 1.1 is not that of 1.2");
	back.size = 0;
	ok(nnhal_capabilities_from_1_2(&mid, &back, NULL) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_capabilities_from_1_2(NULL, &back, NULL) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "G02 a size of 0, a NULL pointer");
}

/* First and last number of an enumeration in each version; 0 and -1: there is none. */
static const struct {
	const char *name;
	uint32_t which;
	int64_t first, last[5];
} numbers[] = {
	{ "ErrorStatus", NNHAL_ENUM_ERROR_STATUS, 0, { 0, 4, 4, 4, 8 } },
	{ "DeviceStatus", NNHAL_ENUM_DEVICE_STATUS, 0, { 0, 3, 3, 3, 3 } },
	{ "DeviceType", NNHAL_ENUM_DEVICE_TYPE, 1, { 0, -1, -1, 4, 4 } },
	{ "OperandType", NNHAL_ENUM_OPERAND_TYPE, 0, { 0, 5, 5, 13, 15 } },
	{ "OperationType", NNHAL_ENUM_OPERATION_TYPE, 0, { 0, 28, 37, 94, 101 } },
	{ "OperandLifeTime", NNHAL_ENUM_OPERAND_LIFETIME, 0, { 0, 5, 5, 5, 6 } },
	{ "FusedActivationFunc", NNHAL_ENUM_FUSED_ACTIVATION, 0, { 0, 3, 3, 3, 3 } },
	{ "ExecutionPreference", NNHAL_ENUM_EXECUTION_PREFERENCE, 0, { 0, -1, 2, 2, 2 } },
	{ "MeasureTiming", NNHAL_ENUM_MEASURE_TIMING, 0, { 0, -1, -1, 1, 1 } },
	{ "Priority", NNHAL_ENUM_PRIORITY, 0, { 0, -1, -1, -1, 2 } },
};

static void test_numbers(void)
{
	enum nnhal_status status = NNHAL_STATUS_NONE;
	size_t i;
	uint32_t v;
	int64_t n;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		for (v = NNHAL_HAL_1_0; v <= NNHAL_HAL_1_3; v++) {
			bool good = true;

			for (n = -2; n < 200; n++)
				good &= nnhal_hal_number_is_valid(numbers[i].which, n, v) ==
					(n >= numbers[i].first && n <= numbers[i].last[v]);
			ok(good, "G16 G18 numbers of %s in %s", numbers[i].name, version_names[v]);
		}
	ok(!nnhal_hal_number_is_valid(NNHAL_ENUM_DEVICE_TYPE, 0, NNHAL_HAL_1_3),
	   "G16 DeviceType 0 is none");
	ok(!nnhal_hal_number_is_valid(NNHAL_ENUM_OPERAND_TYPE, 0x10001, NNHAL_HAL_1_1) &&
	   nnhal_hal_number_is_valid(NNHAL_ENUM_OPERAND_TYPE, 0x10001, NNHAL_HAL_1_2) &&
	   nnhal_hal_number_is_valid(NNHAL_ENUM_OPERATION_TYPE, 10000, NNHAL_HAL_1_0) &&
	   !nnhal_hal_number_is_valid(NNHAL_ENUM_OPERAND_TYPE, (int64_t)1 << 32, NNHAL_HAL_1_2) &&
	   !nnhal_hal_number_is_valid(99, 0, NNHAL_HAL_1_3) &&
	   !nnhal_hal_number_is_valid(NNHAL_ENUM_OPERAND_TYPE, 0, 9),
	   "G16 types of extensions and OEM, unknown enumerations and versions");
	ok(NNHAL_LIFETIME_SUBGRAPH_INPUT == 1 && NNHAL_LIFETIME_SUBGRAPH_OUTPUT == 2 &&
	   !strcmp(nnhal_operation_type_name(28), "TANH") &&
	   !strcmp(nnhal_operation_type_name(37), "TRANSPOSE") &&
	   !strcmp(nnhal_operation_type_name(94), "RESIZE_NEAREST_NEIGHBOR") &&
	   !strcmp(nnhal_operation_type_name(101), "RANK"), "G18 the last names of each version");

	for (n = 0; n <= 120; n++) {
		bool is_1_3 = n <= 8, is_old = n <= 4;

		if (nnhal_status_to_hal((enum nnhal_status)n, NNHAL_HAL_1_3) !=
		    (is_1_3 ? n : NNHAL_STATUS_GENERAL_FAILURE) ||
		    nnhal_status_to_hal((enum nnhal_status)n, NNHAL_HAL_1_0) !=
		    (is_old ? n : NNHAL_STATUS_GENERAL_FAILURE))
			break;
	}
	ok(n == 121, "G11 statuses to the HAL: what it does not have is GENERAL_FAILURE");
	ok(!nnhal_status_from_hal(8, NNHAL_HAL_1_3, &status) &&
	   status == NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT &&
	   nnhal_status_from_hal(5, NNHAL_HAL_1_2, &status) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_status_from_hal(9, NNHAL_HAL_1_3, &status) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_status_from_hal(-1, NNHAL_HAL_1_3, &status) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_status_from_hal(100, NNHAL_HAL_1_3, &status) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   status == NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT,
	   "G11 from the HAL an unknown number is an error and changes nothing");
}

static void test_times(void)
{
	uint64_t boot, back;

	ok(nnhal_duration_to_us(0) == 0 && nnhal_duration_to_us(1) == 1 &&
	   nnhal_duration_to_us(1000) == 1 && nnhal_duration_to_us(1001) == 2,
	   "G15 nanoseconds round up");
	ok(nnhal_duration_to_us(NNHAL_NO_TIME) == NNHAL_NO_TIMING &&
	   nnhal_duration_from_us(NNHAL_NO_TIMING) == NNHAL_NO_TIME,
	   "G15 none is none both ways");
	ok(nnhal_duration_to_us(UINT64_MAX - 1) == UINT64_MAX / 1000 + 1 &&
	   nnhal_duration_from_us(7) == 7000 &&
	   nnhal_duration_from_us(UINT64_MAX - 1) == UINT64_MAX - 1 &&
	   nnhal_duration_from_us(UINT64_MAX / 1000) == UINT64_MAX / 1000 * 1000,
	   "G15 out of range saturates and is not none");
	ok(time_point_move(150, 100, 1000) == 1050 && time_point_move(60, 100, 1000) == 960,
	   "G15 the time that remains is kept");
	ok(time_point_move(10, 100, 50) == 0, "G15 not below 0");
	ok(time_point_move(UINT64_MAX - 1, 100, 1000) == UINT64_MAX - 1 &&
	   time_point_move(UINT64_MAX, 100, 1000) == NNHAL_NO_TIME,
	   "G15 time points saturate, none is none");
	/* Between the clocks are two looks at them, so the result is near. */
	boot = nnhal_time_point_to_boot_time(INT64_MAX / 2);
	back = nnhal_time_point_from_boot_time(boot);
	ok(back > INT64_MAX / 2 - UINT64_C(3600000000000) &&
	   back < INT64_MAX / 2 + UINT64_C(3600000000000) &&
	   nnhal_time_point_to_boot_time(NNHAL_NO_TIME) == NNHAL_NO_TIME &&
	   nnhal_time_point_from_boot_time(NNHAL_NO_TIME) == NNHAL_NO_TIME,
	   "G15 to the boot clock and back");
}

static void test_handles(void)
{
	struct nnhal_native_handle handle = { .num_fds = 1, .num_ints = 1 };
	int fd = 99, file = nnhal_memfd_create("handle", 4096);

	handle.data[0] = file;
	ok(nnhal_handle_to_fd(&handle, &fd, &f.diag) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   fd == 99 && says("1 descriptors and 1 numbers"), "G16 a handle with a number");
	handle = (struct nnhal_native_handle){ 2, 0, { file, file } };
	ok(nnhal_handle_to_fd(&handle, &fd, &f.diag) == NNHAL_STATUS_INVALID_ARGUMENT && fd == 99,
	   "G16 a handle with two descriptors");
	handle = (struct nnhal_native_handle){ 0, 1, { 3 } };
	ok(nnhal_handle_to_fd(&handle, &fd, &f.diag) == NNHAL_STATUS_INVALID_ARGUMENT && fd == 99,
	   "G16 a handle with a number only");
	ok(!nnhal_handle_to_fd(NULL, &fd, &f.diag) && fd == -1, "G16 no handle gives -1");
	ok(!nnhal_handle_from_fd(-1, &handle, &f.diag) && !handle.num_fds && !handle.num_ints,
	   "G16 -1 gives the null handle");
	ok(!nnhal_handle_to_fd(&handle, &fd, &f.diag) && fd == -1, "G16 which gives -1");
	ok(!nnhal_handle_from_fd(file, &handle, &f.diag) && handle.num_fds == 1 &&
	   handle.data[0] != file && !nnhal_handle_to_fd(&handle, &fd, &f.diag) &&
	   fd != handle.data[0] && fcntl(fd, F_GETFD) == FD_CLOEXEC,
	   "G16 one descriptor is duplicated both ways");
	close(fd);
	fd = handle.data[0];
	nnhal_handle_close(&handle);
	ok(fcntl(fd, F_GETFD) < 0 && !handle.num_fds, "G16 close releases the duplicate");
	handle = (struct nnhal_native_handle){ 1, 0, { 12345 } };
	ok(nnhal_handle_to_fd(&handle, &fd, &f.diag) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_handle_from_fd(12345, &handle, &f.diag) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   handle.num_fds == 1, "G16 a descriptor that is not open");
	close(file);
}

static void test_memory(void)
{
	char path[] = "/tmp/nnhal_convert.XXXXXX";
	struct nnhal_memory_desc desc = { .struct_size = sizeof(desc) };
	struct nnhal_memory *memory = NULL, *back = NULL;
	struct nnhal_hal_memory hal = { 0 }, bad;
	int file = mkstemp(path);

	unlink(path);
	ok(!nnhal_memory_create(8192, &memory, &f.diag) &&
	   !nnhal_memory_to_hal(memory, &hal, &f.diag) && !strcmp(hal.name, "ashmem") &&
	   hal.size == 8192 && hal.handle.num_fds == 1 && !hal.handle.num_ints &&
	   !nnhal_memory_from_hal(&hal, &back, &f.diag) && nnhal_memory_size(back) == 8192 &&
	   nnhal_memory_kind(back) == NNHAL_MEMORY_ASHMEM && back->ino == memory->ino,
	   "G16 ashmem and back: %s", f.diag.message);
	nnhal_memory_unref(back);

	bad = hal;
	bad.size = 0;
	ok(nnhal_memory_from_hal(&bad, &back, &f.diag) == NNHAL_STATUS_INVALID_ARGUMENT && !back,
	   "G16 empty memory");
	bad = hal;
	bad.handle.num_fds = 0;
	ok(nnhal_memory_from_hal(&bad, &back, &f.diag) == NNHAL_STATUS_INVALID_ARGUMENT && !back &&
	   says("ashmem|0 descriptors"), "G16 memory with the null handle");
	bad = hal;
	bad.handle.num_ints = 1;
	ok(nnhal_memory_from_hal(&bad, &back, &f.diag) == NNHAL_STATUS_INVALID_ARGUMENT && !back,
	   "G16 ashmem with a number");
	bad = hal;
	memset(bad.name, 'x', sizeof(bad.name));
	ok(nnhal_memory_from_hal(&bad, &back, &f.diag) == NNHAL_STATUS_INVALID_ARGUMENT && !back &&
	   says("no such kind"), "G16 an unknown name");
	bad = hal;
	strcpy(bad.name, "hardware_buffer");
	ok(nnhal_memory_from_hal(&bad, &back, &f.diag) == NNHAL_STATUS_GENERAL_FAILURE && !back,
	   "G16 hardware_buffer is not supported");
	strcpy(bad.name, "hardware_buffer_blob");
	ok(nnhal_memory_from_hal(&bad, &back, &f.diag) == NNHAL_STATUS_INVALID_ARGUMENT && !back,
	   "G16 a memfd is no dma-buf");
	nnhal_handle_close(&hal.handle);
	memory->kind = NNHAL_MEMORY_HARDWARE_BUFFER + 1;
	ok(nnhal_memory_to_hal(memory, &hal, &f.diag) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   !hal.handle.num_fds, "G09 memory of a kind that the HAL does not have");
	memory->kind = NNHAL_MEMORY_ASHMEM;
	nnhal_memory_unref(memory);

	desc.kind = NNHAL_MEMORY_MMAP_FD;
	desc.fd = file;
	desc.offset = UINT64_C(0x180000000);
	desc.size = 4096;
	desc.access = NNHAL_MEMORY_READ;
	if (!ok(!ftruncate(file, (off_t)desc.offset + 4096) &&
		!nnhal_memory_import(&desc, &memory, &f.diag), "a file: %s", f.diag.message))
		return;
	ok(!nnhal_memory_to_hal(memory, &hal, &f.diag) && !strcmp(hal.name, "mmap_fd") &&
	   hal.handle.num_ints == 3 && hal.handle.data[1] == PROT_READ &&
	   (uint32_t)hal.handle.data[2] == 0x80000000 && hal.handle.data[3] == 1 &&
	   !nnhal_memory_from_hal(&hal, &back, &f.diag) && back->offset == desc.offset &&
	   back->access == NNHAL_MEMORY_READ && back->size == 4096,
	   "G16 mmap_fd with protection and offset, and back: %s", f.diag.message);
	nnhal_memory_unref(back);
	bad = hal;
	bad.handle.data[1] = PROT_NONE;
	ok(nnhal_memory_from_hal(&bad, &back, &f.diag) == NNHAL_STATUS_INVALID_ARGUMENT && !back,
	   "G16 mmap_fd without access");
	nnhal_handle_close(&hal.handle);
	nnhal_memory_unref(memory);
	close(file);
}

/* A07: figures by the first operand's type, sums over subgraphs. */
static void test_costs(void)
{
	struct nnhal_capabilities caps = NNHAL_CAPABILITIES_INIT;
	struct nnhal_performance_info cost = { 9, 9 };

	nnhal_operand_performance_init(&caps, NNHAL_HAL_1_3,
				       (struct nnhal_performance_info){ 1.0f, 2.0f });
	nnhal_operand_performance_update(&caps, NNHAL_OPERAND_TENSOR_FLOAT32,
					 (struct nnhal_performance_info){ 4.0f, 8.0f });
	caps.relaxed_float32_to_float16_tensor = (struct nnhal_performance_info){ 0.5f, 0.75f };
	caps.if_performance = (struct nnhal_performance_info){ 16.0f, 32.0f };
	caps.while_performance = (struct nnhal_performance_info){ 64.0f, 128.0f };

	make_add_relu(&f);
	ok(!nnhal_model_get_operation_cost(&f.model, &caps, 1, &cost, &f.diag) &&
	   is_info(cost, 4.0f, 8.0f), "A07 an operation costs what its first operand's type costs");
	f.model.relax_computation_float32_to_float16 = true;
	ok(!nnhal_model_get_operation_cost(&f.model, &caps, 1, &cost, &f.diag) &&
	   is_info(cost, 0.5f, 0.75f), "A07 in a relaxed model the relaxed figures");
	ok(nnhal_model_get_operation_cost(&f.model, &caps, 2, &cost, &f.diag) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && says("operation 2") && is_info(cost, 0.5f, 0.75f),
	   "A07 an operation that is not there");
	caps.num_operand_performance = 2;
	f.model.relax_computation_float32_to_float16 = false;
	ok(!nnhal_model_get_operation_cost(&f.model, &caps, 0, &cost, &f.diag) &&
	   is_info(cost, FLT_MAX, FLT_MAX), "A07 a type without figures");
	caps.num_operand_performance = 17;

	make_if(&f);
	ok(!nnhal_model_get_operation_cost(&f.model, &caps, 0, &cost, &f.diag) &&
	   is_info(cost, 16.0f + 4.0f, 32.0f + 8.0f), "A07 IF and the mean of both branches: %g, %g",
	   (double)cost.exec_time, (double)cost.power_usage);
	f.sub[0].operations[0].inputs = (const uint32_t[]){ 99, 1, 2 };
	ok(nnhal_model_get_operation_cost(&f.model, &caps, 0, &cost, &f.diag) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "A07 an invalid model has no cost");
	make_while(&f);
	ok(!nnhal_model_get_operation_cost(&f.model, &caps, 0, &cost, &f.diag) &&
	   is_info(cost, 64.0f + 4.0f + 4.0f, 128.0f + 8.0f + 8.0f),
	   "A07 WHILE, condition and body: %g, %g", (double)cost.exec_time,
	   (double)cost.power_usage);
}

int main(void)
{
	test_models();
	test_lossy_models();
	test_pools();
	test_requests();
	test_capabilities();
	test_costs();
	test_numbers();
	test_times();
	test_handles();
	test_memory();
	return tap_done();
}
