// SPDX-License-Identifier: MIT
/*
 * Operations on pairs of elements.
 *
 * The output is computed run by run. Within a run both inputs have a stride of one or
 * zero.
 */
#include "broadcast.h"
#include "parallel.h"

/* Element strides of @t under the output's dimensions, 0 where it is broadcast. */
static void broadcast_strides(const struct tensor *t, const struct tensor *out, size_t *strides)
{
	unsigned int missing = out->rank - t->rank;
	size_t stride = 1;

	for (unsigned int i = out->rank; i-- > 0;) {
		uint32_t dim = i < missing ? 1 : t->dims[i - missing];

		strides[i] = dim == 1 && out->dims[i] != 1 ? 0 : stride;
		stride *= dim;
	}
}

/*
 * Number of trailing dimensions that make up one run: those over which each input keeps
 * its stride of one or zero.
 */
static unsigned int run_dims(const struct tensor *out, const size_t *sa, const size_t *sb)
{
	unsigned int last = out->rank - 1u, n = 1;
	size_t length = out->dims[last];

	while (n < out->rank) {
		unsigned int d = last - n;

		if (out->dims[d] != 1 &&
		    (sa[d] != sa[last] * length || sb[d] != sb[last] * length))
			break;
		length *= out->dims[d];
		n++;
	}
	return n;
}

/* No dimension of @t is broadcast. */
static bool is_like(const struct tensor *t, const struct tensor *out)
{
	if (t->rank != out->rank)
		return false;
	for (unsigned int i = 0; i < t->rank; i++)
		if (t->dims[i] != out->dims[i])
			return false;
	return true;
}

/* Units of one call of the kernel. Long runs are cut, so that an abort is seen in time. */
#define RUN_UNITS	(OP_PACE_UNITS / 8)

/* First element of a run in each tensor, and the strides within it. */
struct run_place {
	size_t a, b, out;
	size_t sa, sb;
};

/* A call. Its parts share it. */
struct broadcast {
	const struct op_call *c;
	broadcast_fn fn;
	const void *state;
	unsigned int units;		/* of an element */
	size_t length;			/* of a run */
	unsigned int outer;		/* dimensions outside of a run */
	size_t sa[NNPU_MAX_RANK], sb[NNPU_MAX_RANK];
	struct run_place place;		/* its strides */
};

static int run(const struct broadcast *b, struct op_pace *pace, const struct run_place *place,
	       size_t length)
{
	const struct op_call *c = b->c;
	size_t most = RUN_UNITS / b->units, size = type_size(c->in[0]->type), out_size = type_size(c->out[0]->type);

	for (size_t at = 0, n; at < length; at += n) {
		n = length - at < most ? length - at : most;
		b->fn(b->state, &(struct broadcast_run){
			.a = (const char *)c->in[0]->data + (place->a + at * place->sa) * size,
			.b = (const char *)c->in[1]->data + (place->b + at * place->sb) * size,
			.sa = place->sa,
			.sb = place->sb,
			.out = (char *)c->out[0]->data + (place->out + at) * out_size,
			.n = n,
		});
		if (op_pace(pace, n * b->units + 16))
			return OP_ABORTED;
	}
	return 0;
}

/* Elements of a part of the only run. */
#define PIECE		1024u

static int run_pieces(const void *work, size_t first, size_t end, struct op_pace *pace)
{
	const struct broadcast *b = work;
	size_t at = first * PIECE, left = b->length - at;
	struct run_place place = b->place;

	place.a = at * place.sa;
	place.b = at * place.sb;
	place.out = at;
	if (left > (end - first) * PIECE)
		left = (end - first) * PIECE;
	return run(b, pace, &place, left);
}

static int run_runs(const void *work, size_t first, size_t end, struct op_pace *pace)
{
	const struct broadcast *b = work;
	const struct tensor *out = b->c->out[0];
	uint32_t index[NNPU_MAX_RANK];
	struct run_place place = b->place;
	size_t i = first;

	for (unsigned int d = b->outer; d-- > 0; i /= out->dims[d]) {
		index[d] = (uint32_t)(i % out->dims[d]);
		place.a += index[d] * b->sa[d];
		place.b += index[d] * b->sb[d];
	}
	place.out = first * b->length;
	for (i = first; i < end; i++, place.out += b->length) {
		if (run(b, pace, &place, b->length))
			return OP_ABORTED;
		for (unsigned int d = b->outer; d-- > 0;) {
			place.a += b->sa[d];
			place.b += b->sb[d];
			if (++index[d] < out->dims[d])
				break;
			place.a -= b->sa[d] * out->dims[d];
			place.b -= b->sb[d] * out->dims[d];
			index[d] = 0;
		}
	}
	return 0;
}

int op_broadcast_slow(const struct op_call *c, broadcast_fn fn, const void *state, unsigned int units)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *out = c->out[0];
	size_t total = tensor_elements(out);
	struct broadcast b;
	struct op_parts parts = { .work = &b };

	/* Field by field: to clear all of it takes longer than a small sum. */
	b.c = c;
	b.fn = fn;
	b.state = state;
	b.units = units;
	b.length = total;
	b.place = (struct run_place) { .sa = 1, .sb = 1 };
	if (total == 0)
		return 0;
	if (!is_like(c->in[0], out) || !is_like(c->in[1], out)) {
		broadcast_strides(c->in[0], out, b.sa);
		broadcast_strides(c->in[1], out, b.sb);
		b.outer = out->rank - run_dims(out, b.sa, b.sb);
		b.length = tensor_elements_of(out, b.outer, out->rank);
		b.place.sa = b.sa[out->rank - 1];
		b.place.sb = b.sb[out->rank - 1];
	}
	parts.items = total / b.length;
	parts.units = b.length * units + 16;
	parts.compute = run_runs;
	if (parts.items == 1) {
		parts.items = (total - 1) / PIECE + 1;
		parts.units = PIECE * units;
		parts.compute = run_pieces;
	}
	return op_run_parts(c, &parts, &pace);
}

int op_broadcast(const struct op_call *c, broadcast_fn fn, const void *state)
{
	return op_broadcast_slow(c, fn, state, 2);
}
