// SPDX-License-Identifier: MIT
/*
 * Operations on pairs of elements.
 *
 * The output is computed in rows. Within a row both inputs have a stride of one or zero.
 */
#include "broadcast.h"
#include "parallel.h"

/* Units of one call of the kernel. Long rows are cut, so that an abort is seen in time. */
#define CALL_UNITS	(OP_PACE_UNITS / 8)

/* @n steps, and how far each takes the inputs. */
struct loop {
	size_t n, a, b;
};

/* Elements of each tensor. */
struct place {
	size_t a, b, out;
};

/* A call. Its parts share it. */
struct broadcast {
	const struct op_call *c;
	broadcast_fn fn;
	const void *state;
	bool takes_rows;		/* @fn: any number of them at a time */
	unsigned int units;		/* of an element */
	unsigned int num_loops;		/* the first is over a row; 0: an output of one element */
	struct loop loops[NNPU_MAX_RANK];
};

/*
 * The loops over the dimensions of an output that is not one row, innermost first. Dimensions that both
 * inputs go through without a gap are one.
 */
static void set_loops(struct broadcast *b)
{
	const struct tensor *in[] = { b->c->in[0], b->c->in[1] }, *out = b->c->out[0];
	size_t strides[] = { 1, 1 };
	struct loop *last = NULL;

	b->num_loops = 0;
	for (unsigned int i = 1; i <= out->rank; i++) {
		size_t n = out->dims[out->rank - i], steps[2];

		if (n == 1)
			continue;
		for (unsigned int k = 0; k < 2; k++) {
			uint32_t dim = i <= in[k]->rank ? in[k]->dims[in[k]->rank - i] : 1;

			steps[k] = dim == 1 ? 0 : strides[k];
			strides[k] *= dim;
		}
		if (last && steps[0] == last->a * last->n && steps[1] == last->b * last->n) {
			last->n *= n;
			continue;
		}
		last = &b->loops[b->num_loops++];
		*last = (struct loop){ n, steps[0], steps[1] };
	}
}

/* What a row counts for beside its elements. */
#define UNITS_OF_ROW	16u

static int call(const struct broadcast *b, const struct place *at, size_t rows, size_t n,
		struct op_pace *pace)
{
	const struct op_call *c = b->c;
	size_t size = type_size(c->in[0]->type), out_size = type_size(c->out[0]->type);
	struct broadcast_run r = {
		.a = (const char *)c->in[0]->data + at->a * size,
		.b = (const char *)c->in[1]->data + at->b * size,
		.sa = b->loops[0].a,
		.sb = b->loops[0].b,
		.out = (char *)c->out[0]->data + at->out * out_size,
		.n = n,
		.rows = rows,
	};

	if (rows > 1) {
		r.next_a = b->loops[1].a;
		r.next_b = b->loops[1].b;
	}
	b->fn(b->state, &r);
	return op_pace(pace, rows * (n * b->units + UNITS_OF_ROW)) ? OP_ABORTED : 0;
}

/* @n elements of a row. */
static int run_row(const struct broadcast *b, struct place at, size_t n, struct op_pace *pace)
{
	size_t most = CALL_UNITS / b->units;

	for (size_t part; n; n -= part) {
		part = n < most ? n : most;
		if (call(b, &at, 1, part, pace))
			return OP_ABORTED;
		at.a += part * b->loops[0].a;
		at.b += part * b->loops[0].b;
		at.out += part;
	}
	return 0;
}

/* Elements of a part of the only row. */
#define PIECE		1024u

static int run_pieces(const void *work, size_t first, size_t end, struct op_pace *pace)
{
	const struct broadcast *b = work;
	const struct loop *row = &b->loops[0];
	size_t at = first * PIECE, left = row->n - at;

	if (left > (end - first) * PIECE)
		left = (end - first) * PIECE;
	return run_row(b, (struct place){ at * row->a, at * row->b, at }, left, pace);
}

/* The place of row @i, and the steps of the loops around it. */
static struct place row_place(const struct broadcast *b, size_t i, size_t *index)
{
	struct place at = { .out = i * b->loops[0].n };

	for (unsigned int k = 1; k < b->num_loops; k++) {
		const struct loop *l = &b->loops[k];

		index[k] = i % l->n;
		i /= l->n;
		at.a += index[k] * l->a;
		at.b += index[k] * l->b;
	}
	return at;
}

/* From a row on by @rows, not beyond the end of the loop over them. */
static void next_row(const struct broadcast *b, size_t rows, size_t *index, struct place *at)
{
	at->out += rows * b->loops[0].n;
	for (unsigned int k = 1; k < b->num_loops; k++, rows = 1) {
		const struct loop *l = &b->loops[k];

		at->a += rows * l->a;
		at->b += rows * l->b;
		index[k] += rows;
		if (index[k] < l->n)
			break;
		at->a -= l->n * l->a;
		at->b -= l->n * l->b;
		index[k] = 0;
	}
}

static int run_rows(const void *work, size_t first, size_t end, struct op_pace *pace)
{
	const struct broadcast *b = work;
	size_t most = CALL_UNITS / b->units, n = b->loops[0].n, index[NNPU_MAX_RANK], rows;
	struct place at = row_place(b, first, index);
	int ret = 0;

	for (size_t i = first; !ret && i < end; i += rows) {
		rows = b->takes_rows && n < most ? CALL_UNITS / (n * b->units + UNITS_OF_ROW) : 1;
		rows = rows ? rows : 1;
		rows = rows < b->loops[1].n - index[1] ? rows : b->loops[1].n - index[1];
		rows = rows < end - i ? rows : end - i;
		ret = n <= most ? call(b, &at, rows, n, pace) : run_row(b, at, n, pace);
		next_row(b, rows, index, &at);
	}
	return ret;
}

/*
 * Is all of the output one row for an input? Then what its stride is. An input with as many elements as
 * the output has no dimension that is broadcast.
 */
static bool one_row(const struct tensor *t, size_t total, size_t size, size_t *stride)
{
	*stride = t->bytes == total * size;
	return *stride || t->bytes == size;
}

/* All that is not a short row: rows, or, unless @row is NULL, pieces of this one. */
static __attribute__((noinline)) int execute_parts(const struct op_call *c, broadcast_fn fn,
						   const void *state, bool takes_rows,
						   unsigned int units, const struct loop *row,
						   size_t total)
{
	struct broadcast b = {
		.c = c,
		.fn = fn,
		.state = state,
		.takes_rows = takes_rows,
		.units = units,
		.loops = { { .n = total } },
	};
	struct op_pace pace = { .progress = c->progress };
	struct op_parts parts = { .work = &b };

	if (row)
		b.loops[b.num_loops++] = *row;
	else
		set_loops(&b);
	parts.items = total / b.loops[0].n;
	parts.units = b.loops[0].n * units + UNITS_OF_ROW;
	parts.compute = run_rows;
	if (parts.items == 1) {
		parts.items = (total - 1) / PIECE + 1;
		parts.units = PIECE * units;
		parts.compute = run_pieces;
	}
	return op_run_parts(c, &parts, &pace);
}

/* Inline: half of a short row's time is that of the calls down to it. */
static inline __attribute__((always_inline)) int
execute(const struct op_call *c, broadcast_fn fn, const void *state, bool takes_rows, unsigned int units)
{
	size_t total = tensor_elements(c->out[0]), size = type_size(c->in[0]->type), sa, sb = 0;
	bool row = one_row(c->in[0], total, size, &sa) && one_row(c->in[1], total, size, &sb);
	struct loop loop = { total, sa, sb };
	struct broadcast_run run;

	if (!row || total > PIECE || total * units >= OP_PACE_UNITS)
		return execute_parts(c, fn, state, takes_rows, units, row ? &loop : NULL, total);
	/* A short row is not worth another thread, and has fewer units than there are between two points. */
	run.a = c->in[0]->data;
	run.b = c->in[1]->data;
	run.sa = sa;
	run.sb = sb;
	run.out = c->out[0]->data;
	run.n = total;
	run.rows = 1;
	run.next_a = 0;
	run.next_b = 0;
	fn(state, &run);
	return 0;
}

int op_broadcast(const struct op_call *c, broadcast_fn fn, const void *state)
{
	return execute(c, fn, state, false, 2);
}

int op_broadcast_slow(const struct op_call *c, broadcast_fn fn, const void *state, unsigned int units)
{
	return execute(c, fn, state, false, units);
}

int op_broadcast_rows(const struct op_call *c, broadcast_fn fn, const void *state)
{
	return execute(c, fn, state, true, 2);
}
