// SPDX-License-Identifier: MIT
/*
 * Operations that only move data: what they refuse, and results small enough to see.
 */
#include "refusals.h"

static const float zeros[64];

static void transpose(struct fixture *f)
{
	fixture_init(f, NNPU_OP_TRANSPOSE);
	fixture_input(f, U8, 1, 3, DIMS(2, 3, 4), zeros);
	fixture_const(f, I32, 0, 0, DIMS(3), (int32_t[]){ 2, 0, 1 });
	fixture_output(f, U8, 1, 3);
}

static void shuffle(struct fixture *f)
{
	fixture_init(f, NNPU_OP_CHANNEL_SHUFFLE);
	fixture_input(f, F32, 0, 0, DIMS(2, 6), zeros);
	fixture_i32(f, 3);
	fixture_i32(f, -1);
	fixture_output(f, F32, 0, 0);
}

static void squeeze(struct fixture *f)
{
	fixture_init(f, NNPU_OP_SQUEEZE);
	fixture_input(f, F32, 0, 0, DIMS(1, 2, 1), zeros);
	fixture_const(f, I32, 0, 0, DIMS(1), (int32_t[]){ -1 });
	fixture_output(f, F32, 0, 0);
}

static void expand(struct fixture *f)
{
	fixture_init(f, NNPU_OP_EXPAND_DIMS);
	fixture_input(f, I32, 0, 0, DIMS(2, 3), zeros);
	fixture_i32(f, -3);
	fixture_output(f, I32, 0, 0);
}

static void pad(struct fixture *f)
{
	fixture_init(f, NNPU_OP_PAD);
	fixture_input(f, S8, 1, 5, DIMS(2, 2), zeros);
	fixture_const(f, I32, 0, 0, DIMS(2, 2), (int32_t[]){ 0, 1, 2, 0 });
	fixture_output(f, S8, 1, 5);
}

static void pad_v2(struct fixture *f)
{
	fixture_init(f, NNPU_OP_PAD_V2);
	fixture_input(f, U8, 1, 5, DIMS(2, 2), zeros);
	fixture_const(f, I32, 0, 0, DIMS(2, 2), (int32_t[]){ 0, 1, 2, 0 });
	fixture_i32(f, 9);
	fixture_output(f, U8, 1, 5);
}

static void slice(struct fixture *f)
{
	fixture_init(f, NNPU_OP_SLICE);
	fixture_input(f, I32, 0, 0, DIMS(3, 4), zeros);
	fixture_const(f, I32, 0, 0, DIMS(2), (int32_t[]){ 1, 2 });
	fixture_const(f, I32, 0, 0, DIMS(2), (int32_t[]){ 2, -1 });
	fixture_output(f, I32, 0, 0);
}

static void strided(struct fixture *f)
{
	fixture_init(f, NNPU_OP_STRIDED_SLICE);
	fixture_input(f, F32, 0, 0, DIMS(3, 4), zeros);
	fixture_const(f, I32, 0, 0, DIMS(2), (int32_t[]){ 1, -1 });
	fixture_const(f, I32, 0, 0, DIMS(2), (int32_t[]){ 2, 0 });
	fixture_const(f, I32, 0, 0, DIMS(2), (int32_t[]){ 1, -2 });
	fixture_i32(f, 0);
	fixture_i32(f, 2);
	fixture_i32(f, 1);
	fixture_output(f, F32, 0, 0);
}

static void split(struct fixture *f)
{
	fixture_init(f, NNPU_OP_SPLIT);
	fixture_input(f, F32, 0, 0, DIMS(2, 6), zeros);
	fixture_i32(f, -1);
	fixture_i32(f, 2);
	fixture_output(f, F32, 0, 0);
	fixture_output(f, F32, 0, 0);
}

static void to_depth(struct fixture *f)
{
	fixture_init(f, NNPU_OP_SPACE_TO_DEPTH);
	fixture_input(f, F32, 0, 0, DIMS(1, 2, 4, 3), zeros);
	fixture_i32(f, 2);
	fixture_output(f, F32, 0, 0);
}

static void to_space(struct fixture *f)
{
	fixture_init(f, NNPU_OP_DEPTH_TO_SPACE);
	fixture_input(f, F32, 0, 0, DIMS(1, 2, 1, 8), zeros);
	fixture_i32(f, 2);
	fixture_bool(f, false);
	fixture_output(f, F32, 0, 0);
}

static void to_batch(struct fixture *f)
{
	fixture_init(f, NNPU_OP_SPACE_TO_BATCH_ND);
	fixture_input(f, U8, 1, 5, DIMS(1, 3, 3, 1), zeros);
	fixture_const(f, I32, 0, 0, DIMS(2), (int32_t[]){ 2, 2 });
	fixture_const(f, I32, 0, 0, DIMS(2, 2), (int32_t[]){ 1, 0, 0, 1 });
	fixture_output(f, U8, 1, 5);
}

static void from_batch(struct fixture *f)
{
	fixture_init(f, NNPU_OP_BATCH_TO_SPACE_ND);
	fixture_input(f, U8, 1, 5, DIMS(4, 2, 1, 2), zeros);
	fixture_const(f, I32, 0, 0, DIMS(2), (int32_t[]){ 2, 2 });
	fixture_output(f, U8, 1, 5);
}

static void gather(struct fixture *f)
{
	fixture_init(f, NNPU_OP_GATHER);
	fixture_input(f, F32, 0, 0, DIMS(2, 3), zeros);
	fixture_i32(f, -1);
	fixture_const(f, I32, 0, 0, DIMS(2, 1), (int32_t[]){ 2, 0 });
	fixture_output(f, F32, 0, 0);
}

static void embedding(struct fixture *f)
{
	fixture_init(f, NNPU_OP_EMBEDDING_LOOKUP);
	fixture_const(f, I32, 0, 0, DIMS(2), (int32_t[]){ 2, 0 });
	fixture_input(f, F32, 0, 0, DIMS(3, 2), zeros);
	fixture_output(f, F32, 0, 0);
}

static void hashtable(struct fixture *f)
{
	fixture_init(f, NNPU_OP_HASHTABLE_LOOKUP);
	fixture_const(f, I32, 0, 0, DIMS(2), (int32_t[]){ 7, 8 });
	fixture_const(f, I32, 0, 0, DIMS(3), (int32_t[]){ -5, 0, 8 });
	fixture_input(f, U8, 1, 0, DIMS(3, 2), zeros);
	fixture_output(f, U8, 1, 0);
	fixture_output(f, U8, 1, 0);
}

static void tile(struct fixture *f)
{
	fixture_init(f, NNPU_OP_TILE);
	fixture_input(f, F32, 0, 0, DIMS(2, 3), zeros);
	fixture_const(f, I32, 0, 0, DIMS(2), (int32_t[]){ 2, 3 });
	fixture_output(f, F32, 0, 0);
}

static void cast(struct fixture *f)
{
	fixture_init(f, NNPU_OP_CAST);
	fixture_input(f, F32, 0, 0, DIMS(2, 3), zeros);
	fixture_output(f, U8, 1, 0);
}

static void cast_flags(struct fixture *f)
{
	fixture_init(f, NNPU_OP_CAST);
	fixture_input(f, B8, 0, 0, DIMS(2, 3), zeros);
	fixture_output(f, B8, 0, 0);
}

static void fill(struct fixture *f)
{
	fixture_init(f, NNPU_OP_FILL);
	fixture_const(f, I32, 0, 0, DIMS(2), (int32_t[]){ 2, 3 });
	fixture_i32(f, 7);
	fixture_output(f, I32, 0, 0);
}

static void rank(struct fixture *f)
{
	fixture_init(f, NNPU_OP_RANK);
	fixture_input(f, F32, 0, 0, DIMS(2, 3), zeros);
	fixture_output(f, NNPU_TYPE_INT32, 0, 0);
}

static void choose(struct fixture *f)
{
	fixture_init(f, NNPU_OP_SELECT);
	fixture_input(f, B8, 0, 0, DIMS(2), zeros);
	fixture_input(f, U8, 1, 0, DIMS(2), zeros);
	fixture_input(f, U8, 2, 0, DIMS(2), zeros);
	fixture_output(f, U8, 1, 3);
}

static void (*const legal[])(struct fixture *f) = {
	transpose, shuffle, squeeze, expand, pad, pad_v2, slice, strided, split, to_depth,
	to_space, to_batch, from_batch, gather, embedding, hashtable, tile, cast, cast_flags,
	fill, rank, choose,
};

static const struct change changes[] = {
	I(transpose, LIST_VALUE, 1, 0, 0, R(VALUE), 1),
	I(transpose, LIST_VALUE, 1, 3, 2, R(VALUE), 1),
	I(transpose, LIST_VALUE, 1, -1, 2, R(VALUE), 1),
	I(transpose, DIM, 1, 2, 0, R(DIMENSION), 1),
	I(transpose, TYPE, 0, B8, 0, R(TYPE), 0),
	I(transpose, ZERO_POINT, 2, 4, 0, R(QUANT_MISMATCH), 2),
	I(transpose, OMIT, 1, 0, 0, R(NONE), 0),
	I(transpose, OMIT, 0, 0, 0, R(OMITTED), 0),
	I(transpose, RANK, 0, 5, 0, R(RANK), 0),
	I(shuffle, VALUE, 1, 4, 0, R(VALUE), 1),
	I(shuffle, VALUE, 1, 0, 0, R(VALUE), 1),
	I(shuffle, VALUE, 2, 2, 0, R(VALUE), 2),
	I(squeeze, VALUE, 1, 1, 0, R(SHAPE_MISMATCH), 1),
	I(squeeze, VALUE, 1, 3, 0, R(VALUE), 1),
	I(squeeze, VALUE, 1, -4, 0, R(VALUE), 1),
	I(squeeze, OMIT, 1, 0, 0, R(NONE), 0),
	I(expand, VALUE, 1, 3, 0, R(VALUE), 1),
	I(expand, VALUE, 1, -4, 0, R(VALUE), 1),
	I(expand, RANK, 0, 8, 0, R(RANK), 0),
	I(pad, LIST_VALUE, 1, -1, 3, R(VALUE), 1),
	I(pad, DIM, 1, 3, 0, R(DIMENSION), 1),
	I(pad, RANK, 1, 1, 0, R(RANK), 1),
	I(pad, TYPE, 0, I32, 0, R(TYPE), 0),
	I(pad_v2, TYPE, 2, NNPU_TYPE_FLOAT32, 0, R(TYPE), 2),
	I(slice, LIST_VALUE, 1, -1, 0, R(VALUE), 1),
	I(slice, LIST_VALUE, 1, 4, 0, R(VALUE), 1),
	I(slice, LIST_VALUE, 2, 3, 0, R(VALUE), 2),
	I(slice, LIST_VALUE, 2, -2, 1, R(VALUE), 2),
	I(slice, LIST_VALUE, 2, INT32_MAX, 1, R(VALUE), 2),
	I(slice, DIM, 1, 1, 0, R(DIMENSION), 1),
	I(strided, LIST_VALUE, 3, 0, 0, R(VALUE), 3),
	I(strided, LIST_VALUE, 2, 3, 0, R(VALUE), 6),
	I(strided, VALUE, 6, 2, 0, R(VALUE), 6),
	I(strided, LIST_VALUE, 3, INT32_MIN, 1, R(NONE), 0),
	I(strided, LIST_VALUE, 1, INT32_MIN, 1, R(NONE), 0),
	I(strided, TYPE, 0, I32, 0, R(TYPE), 0),
	I(split, VALUE, 1, 2, 0, R(VALUE), 1),
	I(split, VALUE, 2, 3, 0, R(VALUE), 2),
	I(split, DIM, 0, 5, 1, R(SHAPE_MISMATCH), 0),
	I(split, TYPE, 4, I32, 0, R(TYPE), 4),
	I(to_depth, VALUE, 1, 3, 0, R(SHAPE_MISMATCH), 0),
	I(to_depth, VALUE, 1, 0, 0, R(VALUE), 1),
	I(to_depth, VALUE, 1, -2, 0, R(VALUE), 1),
	I(to_depth, RANK, 0, 3, 0, R(RANK), 0),
	I(to_space, VALUE, 1, 3, 0, R(SHAPE_MISMATCH), 0),
	I(to_space, VALUE, 1, INT32_MAX, 0, R(SHAPE_MISMATCH), 0),
	I(to_space, TYPE, 2, NNPU_TYPE_INT32, 0, R(TYPE), 2),
	I(to_batch, LIST_VALUE, 1, 3, 0, R(SHAPE_MISMATCH), 0),
	I(to_batch, LIST_VALUE, 1, 0, 1, R(VALUE), 1),
	I(to_batch, LIST_VALUE, 2, -1, 0, R(VALUE), 2),
	I(to_batch, DIM, 2, 3, 0, R(DIMENSION), 2),
	I(from_batch, LIST_VALUE, 1, 3, 0, R(SHAPE_MISMATCH), 0),
	I(from_batch, DIM, 1, 1, 0, R(DIMENSION), 1),
	I(gather, VALUE, 1, 2, 0, R(VALUE), 1),
	I(gather, RANK, 2, 8, 0, R(RANK), 2),
	I(gather, TYPE, 2, F32, 0, R(TYPE), 2),
	I(embedding, TYPE, 0, F32, 0, R(TYPE), 0),
	I(embedding, RANK, 1, 1, 0, R(RANK), 1),
	I(hashtable, DIM, 1, 2, 0, R(SHAPE_MISMATCH), 2),
	I(hashtable, TYPE, 2, S8, 0, R(TYPE), 2),
	F(hashtable, SCALE, 4, 2, R(SCALE), 4),
	I(tile, LIST_VALUE, 1, -1, 0, R(VALUE), 1),
	I(tile, LIST_VALUE, 1, INT32_MAX, 1, R(OVERFLOW), 1),
	I(tile, DIM, 1, 1, 0, R(DIMENSION), 1),
	I(cast, TYPE, 1, B8, 0, R(TYPE), 1),
	I(cast_flags, TYPE, 1, U8, 0, R(TYPE), 1),
	I(fill, LIST_VALUE, 0, -1, 0, R(VALUE), 0),
	I(fill, DIM, 0, 9, 0, R(RANK), 0),
	I(fill, TYPE, 1, NNPU_TYPE_FLOAT32, 0, R(TYPE), 1),
	I(rank, TYPE, 0, NNPU_TYPE_INT32, 0, R(TYPE), 0),
	I(rank, TYPE, 1, I32, 0, R(TYPE), 1),
	I(choose, TYPE, 0, U8, 0, R(TYPE), 0),
	I(choose, DIM, 2, 3, 0, R(SHAPE_MISMATCH), 2),
};

/* Values that only execution sees. */
static void test_indices(void)
{
	static void (*const calls[])(struct fixture *f) = { gather, embedding };
	static const unsigned int operand[] = { 2, 0 };
	static const int32_t bad[] = { -1, 3, INT32_MIN, INT32_MAX };
	struct fixture f;

	for (unsigned int i = 0; i < 8; i++) {
		unsigned int o = operand[i / 4];

		calls[i / 4](&f);
		memcpy(f.data[o], &bad[i % 4], sizeof(bad[0]));
		ok(fixture_run(&f) == -1 && fixture_reason(&f) == NNPU_REASON_VALUE &&
		   fixture_bad_operand(&f) == o, "%s: index %d", op_name(f.op), bad[i % 4]);
		fixture_end(&f);
	}
	pad_v2(&f);
	memcpy(f.data[2], &(int32_t){ 256 }, sizeof(int32_t));
	ok(fixture_run(&f) == -1 && fixture_reason(&f) == NNPU_REASON_VALUE,
	   "PAD_V2: a value that is no quantized value");
	fixture_end(&f);
}

static void test_results(void)
{
	struct fixture f;

	slice(&f);
	memcpy(f.data[0], (int32_t[]){ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 }, 48);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(2, 2), (int32_t[]){ 6, 7, 10, 11 }),
	   "SLICE: the rest of a dimension");
	fixture_end(&f);

	strided(&f);
	memcpy(f.data[0], (float[]){ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 }, 48);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(2), (float[]){ 7, 5 }),
	   "STRIDED_SLICE: backwards through all of a dimension");
	fixture_end(&f);

	pad(&f);
	memcpy(f.data[0], (int8_t[]){ 1, 2, 3, 4 }, 4);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(3, 4), (int8_t[]){
		5, 5, 1, 2, 5, 5, 3, 4, 5, 5, 5, 5 }), "PAD: with the zero point");
	fixture_end(&f);

	to_batch(&f);
	memcpy(f.data[0], (uint8_t[]){ 1, 2, 3, 4, 11, 6, 7, 8, 9 }, 9);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(4, 2, 2, 1), (uint8_t[]){
		5, 5, 4, 6, 5, 5, 11, 5, 1, 3, 7, 9, 2, 5, 8, 5 }),
	   "SPACE_TO_BATCH_ND: padding in front and behind");
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_CAST);
	fixture_input(&f, F32, 0, 0, DIMS(7), (float[]){ -1.9f, 2.9f, 300, -1e30f, 1e30f,
							 __builtin_nanf(""), 255.5f });
	fixture_output(&f, U8, 0.5f, 7);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(7), (uint8_t[]){ 0, 2, 255, 0, 255, 0, 255 }),
	   "CAST: what does not fit");
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_CAST);
	fixture_input(&f, F32, 0, 0, DIMS(4), (float[]){ -1.9f, 2147483648.0f, -3e9f,
							 __builtin_nanf("") });
	fixture_output(&f, I32, 0, 0);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(4), (int32_t[]){ -1, INT32_MAX, INT32_MIN, 0 }),
	   "CAST: to integers");
	fixture_end(&f);

	choose(&f);
	memcpy(f.data[0], (uint8_t[]){ 2, 0 }, 2);
	memcpy(f.data[1], (uint8_t[]){ 10, 20 }, 2);
	memcpy(f.data[2], (uint8_t[]){ 30, 40 }, 2);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(2), (uint8_t[]){ 13, 83 }),
	   "SELECT: three quantizations");
	fixture_end(&f);

	hashtable(&f);
	memcpy(f.data[2], (uint8_t[]){ 1, 2, 3, 4, 5, 6 }, 6);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(2, 2), (uint8_t[]){ 0, 0, 5, 6 }) &&
	   !memcmp(f.graph.tensors[4].data, (uint8_t[]){ 0, 1 }, 2),
	   "HASHTABLE_LOOKUP: a hit and a miss");
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_TILE);
	fixture_input(&f, F32, 0, 0, DIMS(1, 2), (float[]){ 1, 2 });
	fixture_const(&f, I32, 0, 0, DIMS(2), (int32_t[]){ 2, 2 });
	fixture_output(&f, F32, 0, 0);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(2, 4), (float[]){ 1, 2, 1, 2, 1, 2, 1, 2 }),
	   "TILE: two dimensions");
	fixture_end(&f);
}

/* A table is made for each input, however small it is: points come in time. */
static void test_many_inputs(void)
{
	enum { INPUTS = 4000 };
	static uint8_t bytes[INPUTS];
	static uint32_t operands[INPUTS + 2];
	uint32_t one = 1;
	int32_t axis = 0;
	struct graph g;
	bool good = graph_init(&g, INPUTS + 2, 1);

	for (uint32_t i = 0; good && i < INPUTS + 2; i++) {
		struct tensor *t = &g.tensors[i];

		operands[i] = i;
		t->type = i == INPUTS ? NNPU_TYPE_INT32 : NNPU_TYPE_TENSOR_QUANT8_ASYMM;
		t->kind = i < INPUTS ? NNPU_TENSOR_INPUT : i == INPUTS ? NNPU_TENSOR_INLINE : NNPU_TENSOR_OUTPUT;
		t->scale = i == INPUTS ? 0 : (float)(i + 1);
		t->data = i < INPUTS ? (void *)&bytes[i] : i == INPUTS ? (void *)&axis : NULL;
		graph_set_shape(t, i < INPUTS, &one);
	}
	good = good && graph_set_call(&g, 0, op_find(NNPU_OP_CONCATENATION), INPUTS + 1, 1, operands, false) &&
	       !graph_load(&g);
	graph_progress.count = 0;
	good = good && !graph_run(&g);
	ok(good && graph_progress.count >= INPUTS / 256,
	   "CONCATENATION of %d inputs: %lu points", INPUTS, graph_progress.count);
	graph_destroy(&g);
}

int main(void)
{
	test_legal(legal, sizeof(legal) / sizeof(legal[0]));
	test_refusals(changes, sizeof(changes) / sizeof(changes[0]));
	test_indices();
	test_results();
	test_many_inputs();
	return tap_done();
}
