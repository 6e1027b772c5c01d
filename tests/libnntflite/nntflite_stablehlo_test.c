// SPDX-License-Identifier: MIT
/*
 * Operators of StableHLO with parameters: some that run, and those that are refused, with what is
 * wrong. tests/tflite has results for all of them.
 */
#include <string.h>

#include "graph_builder.h"
#include "userspace/libnntflite/file/schema.h"

static struct nnhal_device *device;

struct list {
	uint32_t count;
	int64_t at[4];
};

/* x [2, 3] and @num_inputs - 1 vectors or scalars -> an operator -> y. */
static struct mw_model model_of(int32_t code, uint8_t options, uint32_t num_inputs)
{
	struct mw_model m = { .num_outputs = 1 };
	struct mw_operator *op;
	uint32_t i;

	for (i = 0; i < num_inputs; i++)
		add_input(&m, TFLITE_FLOAT32, i ? 0 : 1);
	m.tensors[0].rank = 2;
	m.tensors[0].dims[0] = 2;
	m.tensors[0].dims[1] = 3;
	m.outputs[0] = add_tensor(&m, TFLITE_FLOAT32, 1);
	m.tensors[m.outputs[0]].rank = 2;
	m.tensors[m.outputs[0]].dims[0] = 2;
	m.tensors[m.outputs[0]].dims[1] = 3;
	op = add_operator(&m, code, options);
	op->options_2 = options != 0;
	for (i = 0; i < num_inputs; i++)
		reads(op, (int32_t)i);
	writes(op, m.outputs[0]);
	return m;
}

static void set_list(struct mw_model *m, uint8_t slot, const struct list *list)
{
	struct mw_option *o = m->operators[0].options;

	while (o->kind != MW_END)
		o++;
	*o = (struct mw_option){ MW_LIST64, slot, (int32_t)list->count, 0, list->at };
}

static void refuse(const struct mw_model *m, const char *words)
{
	if (!ok(file_is_refused(m, words), "refused: %s", words))
		tap_note("%s", builder_note);
}

static void test_options(void)
{
	struct mw_model m = model_of(TFLITE_STABLEHLO_TRANSPOSE, 0, 1);
	static const struct list one = { 1, { 0 } }, three = { 3, { 0, 1, 2 } },
				 wide = { 2, { INT64_C(1) << 40, 0 } };

	m.operators[0].no_options = true;
	refuse(&m, "(STABLEHLO_TRANSPOSE): its options are missing");
	m = model_of(TFLITE_STABLEHLO_TRANSPOSE, TFLITE_STABLEHLO_SLICE_OPTIONS_2, 1);
	refuse(&m, "options of type 3 of BuiltinOptions2, expected 17");
	m = model_of(TFLITE_STABLEHLO_TRANSPOSE, TFLITE_STABLEHLO_TRANSPOSE_OPTIONS_2, 1);
	set_list(&m, 0, &one);
	refuse(&m, "1 entries in its option 'permutation', expected 2");
	m.operators[0].options[0].kind = MW_END;
	set_list(&m, 0, &three);
	refuse(&m, "3 entries in its option 'permutation', expected 2");
	m.operators[0].options[0].kind = MW_END;
	set_list(&m, 0, &wide);
	refuse(&m, "its option 'permutation' has 1099511627776, which does not fit 32 bits");
	m.tensors[0].dims[1] = -1;
	m.operators[0].code = TFLITE_STABLEHLO_BROADCAST_IN_DIM;
	m.operators[0].options_type = TFLITE_STABLEHLO_BROADCAST_IN_DIM_OPTIONS_2;
	m.tensors[0] = m.tensors[1];
	m.tensors[1].dims[0] = -1;
	refuse(&m, "its shape is not known before the model runs");
}

static void test_ranges(void)
{
	static const struct {
		struct list begin, end, step;
		const char *words;
	} cases[] = {
		{ { 2, { 0, -1 } }, { 2, { 2, 3 } }, { 2, { 1, 1 } }, "-1 to 3 by 1 of dimension 1" },
		{ { 2, { 0, 0 } }, { 2, { 3, 3 } }, { 2, { 1, 1 } },
		  "0 to 3 by 1 of dimension 0, which has 2 elements" },
		{ { 2, { 2, 0 } }, { 2, { 1, 3 } }, { 2, { 1, 1 } }, "2 to 1 by 1 of dimension 0" },
		{ { 2, { 0, 0 } }, { 2, { 2, 3 } }, { 2, { 1, 0 } }, "0 to 3 by 0 of dimension 1" },
	};
	static const struct list whole[] = { { 2, { 0, 0 } }, { 2, { 2, 3 } }, { 2, { 1, 1 } } };
	static const struct list large = { 2, { 2, 4 } }, order = { 2, { 1, 0 } };
	static const float numbers[6] = { 1, 2, 3, 4, 5, 6 };
	struct mw_model m;
	struct opened o;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		m = model_of(TFLITE_STABLEHLO_SLICE, TFLITE_STABLEHLO_SLICE_OPTIONS_2, 1);
		set_list(&m, 0, &cases[i].begin);
		set_list(&m, 1, &cases[i].end);
		set_list(&m, 2, &cases[i].step);
		refuse(&m, cases[i].words);
	}
	m = model_of(TFLITE_STABLEHLO_SLICE, TFLITE_STABLEHLO_SLICE_OPTIONS_2, 1);
	for (i = 0; i < 3; i++)
		set_list(&m, (uint8_t)i, &whole[i]);
	if (!ok(session_opens(device, &m, &o) && session_gives(&o, numbers, NULL, 6, numbers),
		"a slice of all"))
		tap_note("%s", builder_note);
	close_session(&o);

	m = model_of(TFLITE_STABLEHLO_DYNAMIC_SLICE, TFLITE_STABLEHLO_DYNAMIC_SLICE_OPTIONS_2, 2);
	set_list(&m, 0, &whole[1]);
	refuse(&m, "1 places in a tensor of rank 2");
	m.operators[0].options[0].kind = MW_END;
	set_list(&m, 0, &large);
	refuse(&m, "4 elements of dimension 1, which has 3");
	m = model_of(TFLITE_STABLEHLO_BROADCAST_IN_DIM, TFLITE_STABLEHLO_BROADCAST_IN_DIM_OPTIONS_2, 1);
	set_list(&m, 0, &order);
	refuse(&m, "dimension 1 becomes dimension 0 of 2, expected an increasing order");
}

static void test_pads(void)
{
	static const struct list none = { 2, { 0, 0 } }, all = { 2, { -2, 0 } }, below = { 2, { 0, -1 } },
				 huge = { 2, { 0, 2000000000 } }, most = { 2, { INT32_MAX, 0 } };
	static const struct {
		const struct list *low, *high, *between;
		const char *words;
	} cases[] = {
		{ &all, &none, &none, "padding of -2, 0 and 0 between elements, for a dimension of 2" },
		{ &none, &none, &below, "padding of 0, 0 and -1 between" },
		{ &huge, &huge, &none, "padding of 2000000000, 2000000000 and 0 between" },
		{ &none, &none, &huge, "padding of 0, 0 and 2000000000 between" },
	};
	/* One element has nothing between, but such a number must not be counted up. */
	static const char between_one[] = "padding of 0, 0 and 2147483647 between elements, for a"
					  " dimension of 1";
	struct mw_model m;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		m = model_of(TFLITE_STABLEHLO_PAD, TFLITE_STABLEHLO_PAD_OPTIONS_2, 2);
		set_list(&m, 0, cases[i].low);
		set_list(&m, 1, cases[i].high);
		set_list(&m, 2, cases[i].between);
		refuse(&m, cases[i].words);
	}
	m = model_of(TFLITE_STABLEHLO_PAD, TFLITE_STABLEHLO_PAD_OPTIONS_2, 2);
	m.tensors[0].dims[0] = 1;
	set_list(&m, 0, &none);
	set_list(&m, 1, &none);
	set_list(&m, 2, &most);
	refuse(&m, between_one);
}

/* The body of a reduction: @code of tensors @a and @b of x, y and their result. */
static struct mw_model body_of(int32_t code, int32_t a, int32_t b)
{
	struct mw_model body = { .num_outputs = 1 };
	struct mw_operator *op;

	add_input(&body, TFLITE_FLOAT32, 0);
	add_input(&body, TFLITE_FLOAT32, 0);
	body.outputs[0] = add_tensor(&body, TFLITE_FLOAT32, 0);
	op = add_operator(&body, code, 0);
	op->no_options = true;
	reads(op, a);
	reads(op, b);
	writes(op, body.outputs[0]);
	return body;
}

static void test_reductions(void)
{
	static const struct list first = { 1, { 0 } }, third = { 3, { 0, 1, 0 } };
	static const char not_one[] = "its body, subgraph 1, is not one operator of its two inputs";
	static const float x[6] = { 1, 2, 3, 4, 5, 6 }, start = 10, sums[3] = { 15, 17, 19 };
	struct mw_model bodies[] = {
		body_of(TFLITE_STABLEHLO_ADD, 1, 0), body_of(TFLITE_STABLEHLO_SUBTRACT, 0, 1),
		body_of(TFLITE_STABLEHLO_ADD, 0, 0), body_of(TFLITE_ADD, 0, 1),
	};
	struct mw_model m;
	struct opened o;
	size_t i;

	bodies[3].operators[0].no_options = false;
	bodies[3].operators[0].options_type = TFLITE_ADD_OPTIONS;
	bodies[3].operators[0].options[0] = (struct mw_option){ MW_I8, 0, 1, 0, NULL };
	for (i = 0; i < 4; i++) {
		m = model_of(TFLITE_STABLEHLO_REDUCE, TFLITE_STABLEHLO_REDUCE_OPTIONS_2, 2);
		m.tensors[m.outputs[0]].rank = 1;
		m.tensors[m.outputs[0]].dims[0] = 3;
		set_list(&m, 0, &first);
		m.operators[0].options[1] = (struct mw_option){ MW_I32, 1, 1, 0, NULL };
		add_subgraph(&m, &bodies[i]);
		if (i) {
			refuse(&m, not_one);
			continue;
		}
		if (!ok(session_opens(device, &m, &o) && session_gives(&o, x, &start, 3, sums),
			"a reduction with a start value"))
			tap_note("%s", builder_note);
		close_session(&o);
	}
	m.operators[0].options[1].value = 7;
	refuse(&m, "its body is subgraph 7, the file has 2");
	m.operators[0].options[0].kind = MW_END;
	set_list(&m, 0, &third);
	m.operators[0].options[1] = (struct mw_option){ MW_I32, 1, 1, 0, NULL };
	m.subgraphs[0] = &bodies[0];
	refuse(&m, "3 dimensions of a tensor of rank 2");
}

static void test_others(void)
{
	static const struct list none = { 0, { 0 } }, second = { 1, { 1 } }, third = { 1, { 2 } };
	struct mw_model m = model_of(TFLITE_STABLEHLO_COMPARE, TFLITE_STABLEHLO_COMPARE_OPTIONS_2, 2);

	m.tensors[m.outputs[0]].type = TFLITE_BOOL;
	m.operators[0].options[0] = (struct mw_option){ MW_I32, 0, 6, 0, NULL };
	refuse(&m, "unknown direction 6 of a comparison");
	m.operators[0].options[0].value = 1;
	m.operators[0].options[1] = (struct mw_option){ MW_I32, 1, 2, 0, NULL };
	refuse(&m, "a comparison in the total order of floats is not supported");

	m = model_of(TFLITE_STABLEHLO_DOT_GENERAL, TFLITE_STABLEHLO_DOT_GENERAL_OPTIONS_2, 2);
	m.tensors[1] = m.tensors[0];
	set_list(&m, 0, &none);
	set_list(&m, 1, &none);
	set_list(&m, 2, &third);
	set_list(&m, 3, &second);
	refuse(&m, "contracts dimension 2 of a tensor of rank 2");
	m.operators[0].options[0].kind = MW_END;
	set_list(&m, 0, &second);
	refuse(&m, "tensors of rank 2 and 2 with 1 batches");

	m = model_of(TFLITE_STABLEHLO_IOTA, TFLITE_STABLEHLO_IOTA_OPTIONS_2, 1);
	m.operators[0].num_inputs = 0;
	m.operators[0].options[0] = (struct mw_option){ MW_LIST64, 1, 0, 0, second.at };
	m.tensors[m.outputs[0]].type = TFLITE_BOOL;
	refuse(&m, "type bool is not supported here, only float32, int32 and int64");
	m = model_of(TFLITE_STABLEHLO_CLAMP, 0, 3);
	m.operators[0].no_options = true;
	m.operators[0].inputs[1] = -1;
	refuse(&m, "input 1 is missing");
	m = model_of(TFLITE_STABLEHLO_TRANSPOSE, TFLITE_STABLEHLO_TRANSPOSE_OPTIONS_2, 1);
	m.tensors[0].rank = 0;
	refuse(&m, "a scalar, expected a tensor with dimensions");
}

/* x and an index -> branches that add and multiply x with itself. */
static struct mw_model case_of(const int32_t *branches, int32_t count)
{
	struct mw_model m = { .num_outputs = 1 };
	struct mw_operator *op;
	int32_t index, x;

	index = add_input(&m, TFLITE_INT32, 0);
	x = add_input(&m, TFLITE_FLOAT32, 3);
	m.outputs[0] = add_tensor(&m, TFLITE_FLOAT32, 3);
	op = add_operator(&m, TFLITE_STABLEHLO_CASE, TFLITE_STABLEHLO_CASE_OPTIONS_2);
	op->options_2 = true;
	op->options[0] = (struct mw_option){ MW_LIST, 0, count, 0, branches };
	reads(op, index);
	reads(op, x);
	writes(op, m.outputs[0]);
	return m;
}

static void test_branches(void)
{
	static const int32_t indices[] = { 0, 1, -3, 7 }, both[] = { 1, 2, 2 }, third[] = { 1, 3 };
	static const float x[3] = { 1, 2, 3 }, sums[3] = { 2, 4, 6 }, squares[3] = { 1, 4, 9 };
	struct mw_model branches[2] = { { .num_inputs = 0 }, { .num_inputs = 0 } };
	struct mw_model m = case_of(both, 2);
	struct opened o;
	size_t i;

	for (i = 0; i < 2; i++) {
		add_input(&branches[i], TFLITE_FLOAT32, 3);
		add_output(&branches[i], binary(&branches[i], i ? TFLITE_STABLEHLO_MULTIPLY :
						TFLITE_STABLEHLO_ADD, 0, 0));
		add_subgraph(&m, &branches[i]);
	}
	if (open_session(device, &m, &o, "two branches"))
		for (i = 0; i < 4; i++)
			gives(&o, &indices[i], x, 3, i ? squares : sums, "a branch");
	close_session(&o);
	m.operators[0].options[0].value = 1;
	if (open_session(device, &m, &o, "one branch"))
		gives(&o, &indices[1], x, 3, sums, "the branch");
	close_session(&o);
	m.operators[0].options[0].value = 3;
	refuse(&m, "(STABLEHLO_CASE): only one or two branches are supported");
	m.operators[0].options[0].value = 0;
	refuse(&m, "(STABLEHLO_CASE): only one or two branches are supported");
	m.operators[0].options[0] = (struct mw_option){ MW_LIST, 0, 2, 0, third };
	refuse(&m, "else: subgraph 3 of 3 does not exist");
	m.operators[0].options[0].list = both;
	m.tensors[0].type = TFLITE_FLOAT32;
	refuse(&m, "the index of a branch has to be one int32");
	m.tensors[0].type = TFLITE_INT32;
	m.tensors[0].rank = 1;
	m.tensors[0].dims[0] = 2;
	refuse(&m, "the index of a branch has to be one int32");
}

/* What a composite stands for is at another place of the options than what CALL calls. */
static struct mw_model composite_of(const struct mw_model *decomposition)
{
	struct mw_model m = { .num_outputs = 1 };
	struct mw_operator *op;

	add_input(&m, TFLITE_FLOAT32, 3);
	m.outputs[0] = add_tensor(&m, TFLITE_FLOAT32, 3);
	op = add_operator(&m, TFLITE_STABLEHLO_COMPOSITE, TFLITE_STABLEHLO_COMPOSITE_OPTIONS_2);
	op->options_2 = true;
	op->options[0] = (struct mw_option){ MW_TEXT, 0, 4, 0, "name" };
	op->options[1] = (struct mw_option){ MW_I32, 1, 1, 0, NULL };
	reads(op, 0);
	writes(op, m.outputs[0]);
	add_subgraph(&m, decomposition);
	return m;
}

static void test_composite(void)
{
	static const float x[3] = { 1, 2, 3 }, squares[3] = { 1, 4, 9 }, doubled[3] = { 2, 4, 6 };
	struct mw_model square = { .num_inputs = 0 }, keeper = { .num_inputs = 0 }, m, outer;
	int32_t handle, value;
	struct opened o;

	add_input(&square, TFLITE_FLOAT32, 3);
	add_output(&square, binary(&square, TFLITE_STABLEHLO_MULTIPLY, 0, 0));
	m = composite_of(&square);
	if (open_session(device, &m, &o, "a composite"))
		gives(&o, x, NULL, 3, squares, "its decomposition");
	close_session(&o);
	m.operators[0].options[1].value = 2;
	refuse(&m, "callee: subgraph 2 of 2 does not exist");
	m.operators[0].options[1].value = 0;
	refuse(&m, "(STABLEHLO_COMPOSITE): subgraph 0");

	/* A variable that only the decomposition assigns. */
	value = add_input(&keeper, TFLITE_FLOAT32, 3);
	handle = add_handle(&keeper, "v");
	add_assign(&keeper, handle, binary(&keeper, TFLITE_STABLEHLO_ADD, value, value));
	add_output(&keeper, value);
	m = composite_of(&keeper);
	m.outputs[0] = add_read(&m, add_handle(&m, "v"), 3);
	if (open_session(device, &m, &o, "a composite with a variable"))
		gives(&o, x, NULL, 3, doubled, "its value");
	close_session(&o);

	/* The same, two subgraphs deep. */
	outer = composite_of(&keeper);
	outer.num_subgraphs = 0;
	outer.operators[0].options[1].value = 2;
	m = composite_of(&outer);
	add_subgraph(&m, &keeper);
	m.outputs[0] = add_read(&m, add_handle(&m, "v"), 3);
	if (open_session(device, &m, &o, "a composite of a composite"))
		gives(&o, x, NULL, 3, doubled, "the value of a variable");
	close_session(&o);
}

/* The loop of other tests, as StableHLO has it. */
static void test_loop(void)
{
	static const int32_t five = 5;
	static const float three = 3, two = 2, result = 13;
	struct mw_model f = { .num_inputs = 0 };
	struct mw_operator *op;
	struct opened o;
	struct loop l;
	int32_t x;

	x = add_input(&f, TFLITE_FLOAT32, 0);
	add_output(&f, binary(&f, TFLITE_STABLEHLO_ADD, x,
			      add_constant(&f, TFLITE_FLOAT32, 0, &two)));
	build_loop(&l, &f, 0);
	op = &l.main.operators[0];
	op->code = TFLITE_STABLEHLO_WHILE;
	op->options_type = TFLITE_STABLEHLO_WHILE_OPTIONS_2;
	op->options_2 = true;
	if (open_session(device, &l.main, &o, "a loop"))
		gives(&o, &five, &three, 1, &result, "five rounds");
	close_session(&o);
	op->options[1].value = 9;
	refuse(&l.main, "(STABLEHLO_WHILE): body: subgraph 9 of 4 does not exist");
}

int main(void)
{
	struct nnhal_diag why = { .message = "" };

	if (!ok(nnhal_device_open("sim", &device, &why) == NNHAL_STATUS_NONE, "a device")) {
		tap_note("%s", why.message);
		return tap_done();
	}
	test_options();
	test_ranges();
	test_pads();
	test_reductions();
	test_others();
	test_branches();
	test_composite();
	test_loop();
	nnhal_device_unref(device);
	return tap_done();
}
