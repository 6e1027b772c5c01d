// SPDX-License-Identifier: MIT
/*
 * Recurrent operations, signatures and samples: what they refuse, and results small
 * enough to compute by hand.
 */
#include <math.h>

#include "refusals.h"


static const float zeros[256];

static void omitted(struct fixture *f, enum nnpu_type type)
{
	fixture_const(f, type, 0, 0, DIMS(1), zeros)->kind = NNPU_TENSOR_NO_VALUE;
}

static void rnn(struct fixture *f)
{
	fixture_init(f, NNPU_OP_RNN);
	fixture_input(f, F32, 0, 0, DIMS(1, 2), (float[]){ 1, 2 });
	fixture_const(f, F32, 0, 0, DIMS(1, 2), (float[]){ 3, 4 });
	fixture_const(f, F32, 0, 0, DIMS(1, 1), (float[]){ 5 });
	fixture_const(f, F32, 0, 0, DIMS(1), (float[]){ -1 });
	fixture_input(f, F32, 0, 0, DIMS(1, 1), (float[]){ 2 });
	fixture_i32(f, 1);
	fixture_output(f, F32, 0, 0);
	fixture_output(f, F32, 0, 0);
}

static void sequence_rnn(struct fixture *f)
{
	fixture_init(f, NNPU_OP_UNIDIRECTIONAL_SEQUENCE_RNN);
	fixture_input(f, F32, 0, 0, DIMS(1, 3, 1), (float[]){ 1, 10, 100 });
	fixture_const(f, F32, 0, 0, DIMS(1, 1), (float[]){ 1 });
	fixture_const(f, F32, 0, 0, DIMS(1, 1), (float[]){ 2 });
	fixture_const(f, F32, 0, 0, DIMS(1), (float[]){ 0 });
	fixture_const(f, F32, 0, 0, DIMS(1, 1), (float[]){ 1 });
	fixture_i32(f, 0);
	fixture_i32(f, 0);
	fixture_output(f, F32, 0, 0);
	fixture_output(f, F32, 0, 0);
}

static void both_ways(struct fixture *f)
{
	fixture_init(f, NNPU_OP_BIDIRECTIONAL_SEQUENCE_RNN);
	fixture_input(f, F32, 0, 0, DIMS(2, 1, 1), (float[]){ 1, 10 });
	for (int i = 0; i < 2; i++) {
		fixture_const(f, F32, 0, 0, DIMS(1, 1), (float[]){ 1 });
		fixture_const(f, F32, 0, 0, DIMS(1, 1), (float[]){ 2 });
		fixture_const(f, F32, 0, 0, DIMS(1), (float[]){ 0 });
		fixture_const(f, F32, 0, 0, DIMS(1, 1), (float[]){ 0 });
	}
	for (int i = 0; i < 3; i++)
		omitted(f, F32);
	fixture_i32(f, 0);
	fixture_bool(f, true);
	fixture_bool(f, true);
	fixture_output(f, F32, 0, 0);
}

static void svdf(struct fixture *f)
{
	fixture_init(f, NNPU_OP_SVDF);
	fixture_input(f, F32, 0, 0, DIMS(1, 2), (float[]){ 1, 2 });
	fixture_const(f, F32, 0, 0, DIMS(2, 2), (float[]){ 1, 0, 0, 1 });
	fixture_const(f, F32, 0, 0, DIMS(2, 3), (float[]){ 1, 10, 100, 2, 20, 200 });
	fixture_const(f, F32, 0, 0, DIMS(1), (float[]){ 0.5f });
	fixture_input(f, F32, 0, 0, DIMS(1, 6), (float[]){ 3, 4, 9, 5, 6, 9 });
	fixture_i32(f, 2);
	fixture_i32(f, 0);
	fixture_output(f, F32, 0, 0);
	fixture_output(f, F32, 0, 0);
}

/* CIFG, no peepholes, no projection; one cell. */
static void lstm(struct fixture *f)
{
	static const float weights[] = { 0, 0, 1, 0 };

	fixture_init(f, NNPU_OP_UNIDIRECTIONAL_SEQUENCE_LSTM);
	fixture_input(f, F32, 0, 0, DIMS(2, 1, 1), (float[]){ 1, 1 });
	for (int i = 0; i < 8; i++) {
		if (i % 4 == 0)
			omitted(f, F32);
		else
			fixture_const(f, F32, 0, 0, DIMS(1, 1), i < 4 ? &weights[i] : zeros);
	}
	for (int i = 0; i < 4; i++)
		omitted(f, F32);
	for (int i = 0; i < 3; i++)
		fixture_const(f, F32, 0, 0, DIMS(1), zeros);
	omitted(f, F32);
	omitted(f, F32);
	fixture_const(f, F32, 0, 0, DIMS(1, 1), zeros);
	fixture_const(f, F32, 0, 0, DIMS(1, 1), (float[]){ 1 });
	fixture_i32(f, 0);
	fixture_f32(f, 0.75f);
	fixture_f32(f, 0);
	fixture_bool(f, true);
	/* Four more, which the fixture has no room for, are normalization. */
}

static void lsh(struct fixture *f)
{
	fixture_init(f, NNPU_OP_LSH_PROJECTION);
	fixture_const(f, F32, 0, 0, DIMS(4, 2), (float[]){ 0.123f, 0.456f, -0.321f, -0.654f,
							   1.234f, 5.678f, -4.321f, -8.765f });
	fixture_input(f, I32, 0, 0, DIMS(3, 2), (int32_t[]){ 12345, 54321, 67890, 9876, -12345678,
							     -87654321 });
	fixture_const(f, F32, 0, 0, DIMS(3), (float[]){ 0.12f, 0.34f, 0.56f });
	fixture_i32(f, 2);
	fixture_output(f, I32, 0, 0);
}

static void samples(struct fixture *f)
{
	fixture_init(f, NNPU_OP_RANDOM_MULTINOMIAL);
	fixture_input(f, F32, 0, 0, DIMS(2, 3), (float[]){ 0, -INFINITY, 0, 50, -50, NAN });
	fixture_i32(f, 1000);
	fixture_const(f, I32, 0, 0, DIMS(2), (int32_t[]){ 37, 42 });
	fixture_output(f, I32, 0, 0);
}

static void (*const legal[])(struct fixture *f) = {
	rnn, sequence_rnn, both_ways, svdf, lsh, samples,
};

static const struct change changes[] = {
	I(rnn, VALUE, 5, 5, 0, R(VALUE), 5),
	I(rnn, VALUE, 5, 7, 0, R(VALUE), 5),
	I(rnn, DIM, 1, 3, 1, R(SHAPE_MISMATCH), 1),
	I(rnn, DIM, 2, 2, 1, R(SHAPE_MISMATCH), 2),
	I(rnn, DIM, 4, 2, 0, R(SHAPE_MISMATCH), 4),
	I(rnn, TYPE, 3, I32, 0, R(TYPE), 3),
	I(rnn, TYPE, 0, U8, 0, R(TYPE), 0),
	I(rnn, OMIT, 3, 0, 0, R(OMITTED), 3),
	I(sequence_rnn, VALUE, 6, 2, 0, R(VALUE), 6),
	I(sequence_rnn, RANK, 0, 2, 0, R(RANK), 0),
	I(sequence_rnn, TYPE, 6, NNPU_TYPE_BOOL, 0, R(TYPE), 6),
	I(both_ways, DIM, 5, 2, 1, R(SHAPE_MISMATCH), 5),
	I(both_ways, TYPE, 13, NNPU_TYPE_INT32, 0, R(TYPE), 13),
	I(both_ways, VALUE, 14, 0, 0, R(OPERAND_COUNT), NONE),
	I(svdf, VALUE, 5, 0, 0, R(VALUE), 5),
	I(svdf, VALUE, 5, 3, 0, R(VALUE), 5),
	I(svdf, DIM, 4, 5, 1, R(SHAPE_MISMATCH), 4),
	I(svdf, DIM, 2, 3, 0, R(SHAPE_MISMATCH), 2),
	I(svdf, DIM, 3, 2, 0, R(SHAPE_MISMATCH), 3),
	I(svdf, OMIT, 3, 0, 0, R(NONE), 0),
	I(lsh, VALUE, 3, 0, 0, R(VALUE), 3),
	I(lsh, VALUE, 3, 4, 0, R(VALUE), 3),
	I(lsh, DIM, 2, 2, 0, R(SHAPE_MISMATCH), 2),
	I(lsh, TYPE, 1, NNPU_TYPE_INT32, 0, R(TYPE), 1),
	I(lsh, OMIT, 2, 0, 0, R(NONE), 0),
	I(samples, VALUE, 1, 0, 0, R(VALUE), 1),
	I(samples, DIM, 2, 3, 0, R(DIMENSION), 2),
	I(samples, TYPE, 0, I32, 0, R(TYPE), 0),
};

static bool output_is(const struct fixture *f, unsigned int i, const void *data, size_t bytes)
{
	const struct tensor *t = &f->graph.tensors[f->num_inputs + i];

	return t->bytes == bytes && !memcmp(t->data, data, bytes);
}

static void test_results(void)
{
	struct fixture f;

	rnn(&f);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(1, 1), (float[]){ 20 }) &&
	   output_is(&f, 1, (float[]){ 20 }, 4), "RNN: 3 + 8 + 10 - 1");
	fixture_end(&f);

	sequence_rnn(&f);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(1, 3, 1), (float[]){ 3, 16, 132 }) &&
	   output_is(&f, 1, (float[]){ 132 }, 4), "UNIDIRECTIONAL_SEQUENCE_RNN: batch first");
	fixture_end(&f);

	both_ways(&f);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(2, 1, 2), (float[]){ 1, 21, 12, 10 }),
	   "BIDIRECTIONAL_SEQUENCE_RNN: joined");
	fixture_end(&f);

	svdf(&f);
	/* 1 * 3 + 10 * 4 + 100 * 1 and 2 * 5 + 20 * 6 + 200 * 2, and the bias. */
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(1, 6), (float[]){ 4, 1, 0, 6, 2, 0 }) &&
	   output_is(&f, 1, (float[]){ 143 + 530 + 0.5f }, 4), "SVDF");
	fixture_end(&f);

	samples(&f);
	if (ok(!fixture_run(&f), "RANDOM_MULTINOMIAL: runs")) {
		const int32_t *ids = fixture_result(&f)->data;
		unsigned int count[3] = { 0 }, others = 0;

		for (int i = 0; i < 1000; i++) {
			count[ids[i] % 3]++;
			others += ids[1000 + i] != 0;
		}
		ok(count[0] > 400 && count[2] > 400 && !count[1] && !others,
		   "RANDOM_MULTINOMIAL: impossible classes are not drawn");
	}
	fixture_end(&f);

	lsh(&f);
	if (ok(!fixture_run(&f), "LSH_PROJECTION: dense")) {
		int32_t bits[8], sparse[4];

		memcpy(bits, fixture_result(&f)->data, sizeof(bits));
		fixture_end(&f);
		lsh(&f);
		memcpy(f.data[3], &(int32_t){ 3 }, 4);
		for (int i = 0; i < 4; i++)
			sparse[i] = bits[2 * i] * 2 + bits[2 * i + 1] + 4 * i;
		ok(!fixture_run(&f) && fixture_is(&f, DIMS(4), sparse),
		   "LSH_PROJECTION: sparse signatures are made of the same bits");
	}
	fixture_end(&f);
}

/* UNIDIRECTIONAL_SEQUENCE_LSTM has more operands than a fixture holds. */
static void test_lstm(void)
{
	enum { INPUTS = 28, TENSORS = INPUTS + 1 };
	struct tensor none = { .type = F32, .kind = NNPU_TENSOR_NO_VALUE };
	uint32_t numbers[TENSORS];
	struct fixture f;
	struct graph g;
	float cell = 1, *out;
	bool good;

	lstm(&f);
	if (!ok(graph_init(&g, TENSORS, 1), "a graph"))
		return;
	for (unsigned int i = 0; i < TENSORS; i++) {
		numbers[i] = i;
		g.tensors[i] = i < f.num_inputs ? f.tensors[i] : none;
	}
	g.tensors[INPUTS] = (struct tensor){ .type = F32, .kind = NNPU_TENSOR_OUTPUT };
	graph_set_call(&g, 0, op_find(NNPU_OP_UNIDIRECTIONAL_SEQUENCE_LSTM), INPUTS, 1, numbers,
		       false);
	good = !graph_load(&g);
	g.tensors[0].data = f.data[0];
	good = good && !graph_run(&g);
	out = g.tensors[INPUTS].data;
	/* All gates are 1/2: the cell becomes 1/2 + 1/2, limited to 3/4, then 7/8 again 3/4. */
	for (int i = 0; good && i < 2; i++) {
		cell = fminf(cell / 2 + 0.5f, 0.75f);
		good = out[i] == cell / 2;
	}
	ok(good, "UNIDIRECTIONAL_SEQUENCE_LSTM: coupled gates and a limit");
	graph_destroy(&g);

	/* Recurrent weights of an input gate that is not there. */
	if (!graph_init(&g, TENSORS, 1))
		return;
	for (unsigned int i = 0; i < TENSORS; i++)
		g.tensors[i] = i < f.num_inputs ? f.tensors[i] : none;
	g.tensors[INPUTS] = (struct tensor){ .type = F32, .kind = NNPU_TENSOR_OUTPUT };
	g.tensors[5] = f.tensors[6];
	graph_set_call(&g, 0, op_find(NNPU_OP_UNIDIRECTIONAL_SEQUENCE_LSTM), INPUTS, 1, numbers,
		       false);
	ok(graph_load(&g) == -1 && g.error.reason == NNPU_REASON_OMITTED && g.error.operand == 5,
	   "UNIDIRECTIONAL_SEQUENCE_LSTM: half an input gate");
	graph_destroy(&g);
	fixture_end(&f);
}

int main(void)
{
	test_legal(legal, sizeof(legal) / sizeof(legal[0]));
	test_refusals(changes, sizeof(changes) / sizeof(changes[0]));
	test_results();
	test_lstm();
	return tap_done();
}
