// SPDX-License-Identifier: MIT
/*
 * Operations on pairs of elements.
 *
 * The output is computed run by run: a run is what both inputs walk through with a
 * stride of one or zero.
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
 * Number of trailing dimensions that make up one run: as long as both inputs
 * go on with the next element, or both or one stand still.
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

int op_broadcast(const struct op_call *c, broadcast_fn fn, const void *state)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *out = c->out[0];
	size_t size = type_size(c->in[0]->type), out_size = type_size(out->type);
	size_t sa[NNPU_MAX_RANK], sb[NNPU_MAX_RANK];
	uint32_t index[NNPU_MAX_RANK] = { 0 };
	unsigned int outer;
	size_t length, total = tensor_elements(out);
	size_t a = 0, b = 0;

	if (total == 0)
		return 0;
	broadcast_strides(c->in[0], out, sa);
	broadcast_strides(c->in[1], out, sb);
	outer = out->rank - run_dims(out, sa, sb);
	length = tensor_elements_of(out, outer, out->rank);

	for (size_t done = 0; done < total; done += length) {
		/* Long runs are cut so that an abort is seen in time. */
		for (size_t at = 0, n; at < length; at += n) {
			n = length - at < OP_PACE_UNITS / 16 ? length - at : OP_PACE_UNITS / 16;
			fn(state, &(struct broadcast_run){
				.a = (const char *)c->in[0]->data +
				     (a + at * sa[out->rank - 1]) * size,
				.b = (const char *)c->in[1]->data +
				     (b + at * sb[out->rank - 1]) * size,
				.sa = sa[out->rank - 1],
				.sb = sb[out->rank - 1],
				.out = (char *)out->data + (done + at) * out_size,
				.n = n,
			});
			if (op_pace(&pace, n * 2 + 16))
				return OP_ABORTED;
		}
		for (unsigned int d = outer; d-- > 0;) {
			a += sa[d];
			b += sb[d];
			if (++index[d] < out->dims[d])
				break;
			a -= sa[d] * out->dims[d];
			b -= sb[d] * out->dims[d];
			index[d] = 0;
		}
	}
	return 0;
}
