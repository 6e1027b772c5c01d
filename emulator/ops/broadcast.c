// SPDX-License-Identifier: MIT
/*
 * Operations on pairs of elements.
 *
 * The output is computed run by run. Within a run both inputs have a stride of one or
 * zero.
 */
#include "broadcast.h"

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

/* Elements of one call of the kernel. Long runs are cut, so that an abort is seen in time. */
#define RUN_MAX		(OP_PACE_UNITS / 16)

/* First element of a run in each tensor, and the strides within it. */
struct run_place {
	size_t a, b, out;
	size_t sa, sb;
};

static int run(const struct op_call *c, broadcast_fn fn, const void *state,
	       struct op_pace *pace, const struct run_place *place, size_t length)
{
	size_t size = type_size(c->in[0]->type), out_size = type_size(c->out[0]->type);

	for (size_t at = 0, n; at < length; at += n) {
		n = length - at < RUN_MAX ? length - at : RUN_MAX;
		fn(state, &(struct broadcast_run){
			.a = (const char *)c->in[0]->data + (place->a + at * place->sa) * size,
			.b = (const char *)c->in[1]->data + (place->b + at * place->sb) * size,
			.sa = place->sa,
			.sb = place->sb,
			.out = (char *)c->out[0]->data + (place->out + at) * out_size,
			.n = n,
		});
		if (op_pace(pace, n * 2 + 16))
			return OP_ABORTED;
	}
	return 0;
}

int op_broadcast(const struct op_call *c, broadcast_fn fn, const void *state)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *out = c->out[0];
	size_t sa[NNPU_MAX_RANK], sb[NNPU_MAX_RANK];
	size_t length, total = tensor_elements(out);
	struct run_place place = { .sa = 1, .sb = 1 };
	uint32_t index[NNPU_MAX_RANK] = { 0 };
	unsigned int outer;

	if (is_like(c->in[0], out) && is_like(c->in[1], out))
		return run(c, fn, state, &pace, &place, total);
	if (total == 0)
		return 0;
	broadcast_strides(c->in[0], out, sa);
	broadcast_strides(c->in[1], out, sb);
	outer = out->rank - run_dims(out, sa, sb);
	length = tensor_elements_of(out, outer, out->rank);
	place.sa = sa[out->rank - 1];
	place.sb = sb[out->rank - 1];

	for (; place.out < total; place.out += length) {
		if (run(c, fn, state, &pace, &place, length))
			return OP_ABORTED;
		for (unsigned int d = outer; d-- > 0;) {
			place.a += sa[d];
			place.b += sb[d];
			if (++index[d] < out->dims[d])
				break;
			place.a -= sa[d] * out->dims[d];
			place.b -= sb[d] * out->dims[d];
			index[d] = 0;
		}
	}
	return 0;
}
