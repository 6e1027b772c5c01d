// SPDX-License-Identifier: MIT
/*
 * Copies between tensors that differ in strides.
 */
#include "nd_copy.h"

/* Elements with gaps between them: each may be in a page of its own. */
#define STRIDED_RUN	4096

void nd_strides(const struct tensor *t, ptrdiff_t *strides)
{
	/* Unsigned: those of a tensor without elements may wrap around. */
	size_t stride = 1;

	for (unsigned int i = t->rank; i-- > 0;) {
		strides[i] = (ptrdiff_t)stride;
		stride *= t->dims[i];
	}
}

/* Merge loops over contiguous elements; drop loops of one step. */
static unsigned int join(const struct nd_dim *dims, unsigned int rank, struct nd_dim *joined)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < rank; i++) {
		struct nd_dim *last = n ? &joined[n - 1] : NULL;
		ptrdiff_t steps = (ptrdiff_t)dims[i].n;

		if (steps == 1)
			continue;
		if (last && last->in == dims[i].in * steps && last->out == dims[i].out * steps) {
			last->n *= dims[i].n;
			last->in = dims[i].in;
			last->out = dims[i].out;
		} else {
			joined[n++] = dims[i];
		}
	}
	return n;
}

#define STRIDED_LOOP(type) do { \
	const type *src = in; \
	type *dst = out; \
	for (size_t i = 0; i < n; i++, src += d->in, dst += d->out) \
		*dst = *src; \
} while (0)

/* @n steps of the innermost loop. */
static void copy_run(const void *in, void *out, size_t size, const struct nd_dim *d, size_t n)
{
	if (d->in == 1 && d->out == 1)
		memcpy(out, in, n * size);
	else if (size == 1)
		STRIDED_LOOP(uint8_t);
	else if (size == 2)
		STRIDED_LOOP(uint16_t);
	else if (size == 4)
		STRIDED_LOOP(uint32_t);
	else
		STRIDED_LOOP(uint64_t);
}

/*
 * Rows of @first bytes, or of up to twice as many: the last @last ones may be some of those before. For so
 * few a call of memcpy() takes longer than the copy.
 */
static inline __attribute__((always_inline)) void
move_some(const size_t first, const size_t last, const char *in, ptrdiff_t in_step, char *out,
	  ptrdiff_t out_step, size_t bytes, size_t rows)
{
	for (; rows; rows--, in += in_step, out += out_step) {
		memcpy(out, in, first);
		memcpy(out + bytes - last, in + bytes - last, last);
	}
}

/* Rows of at most SHORT bytes, and at least one. */
#define SHORT	16u

static void move_short(const char *in, ptrdiff_t in_step, char *out, ptrdiff_t out_step,
		       size_t bytes, size_t rows)
{
	if (bytes == 1)
		move_some(1, 0, in, in_step, out, out_step, bytes, rows);
	else if (bytes == 2)
		move_some(2, 0, in, in_step, out, out_step, bytes, rows);
	else if (bytes == 3)
		move_some(2, 1, in, in_step, out, out_step, bytes, rows);
	else if (bytes == 4)
		move_some(4, 0, in, in_step, out, out_step, bytes, rows);
	else if (bytes < 8)
		move_some(4, 4, in, in_step, out, out_step, bytes, rows);
	else if (bytes == 8)
		move_some(8, 0, in, in_step, out, out_step, bytes, rows);
	else
		move_some(8, 8, in, in_step, out, out_step, bytes, rows);
}

int nd_move_many(struct op_pace *pace, const void *in, ptrdiff_t in_step, void *out,
		 ptrdiff_t out_step, size_t bytes, size_t rows)
{
	const char *src = in;
	char *dst = out;

	for (size_t n; bytes && rows; rows -= n) {
		n = bytes > SHORT ? 1 : rows < STRIDED_RUN ? rows : STRIDED_RUN;
		if (bytes > SHORT) {
			if (nd_move(pace, src, dst, bytes))
				return OP_ABORTED;
		} else {
			move_short(src, in_step, dst, out_step, bytes, n);
			if (op_pace(pace, n * 32 + 8))
				return OP_ABORTED;
		}
		src += in_step * (ptrdiff_t)n;
		dst += out_step * (ptrdiff_t)n;
	}
	return 0;
}

int nd_copy(struct op_pace *pace, const void *in, void *out, size_t size,
	    const struct nd_dim *dims, unsigned int rank)
{
	struct nd_dim joined[ND_MAX_RANK + 1];
	size_t index[ND_MAX_RANK + 1] = { 0 };
	ptrdiff_t at_in = 0, at_out = 0;
	struct nd_dim *inner, *rows = NULL;
	unsigned int outer;
	bool strided;

	for (unsigned int i = 0; i < rank; i++) {
		if (dims[i].n == 0)
			return 0;
	}
	outer = join(dims, rank, joined);
	if (outer == 0)
		joined[outer++] = (struct nd_dim){ 1, 1, 1 };
	inner = &joined[--outer];
	strided = inner->in != 1 || inner->out != 1;
	if (!strided && outer && inner->n * size <= SHORT)
		rows = &joined[--outer];
	for (;;) {
		const char *src = (const char *)in + at_in * (ptrdiff_t)size;
		char *dst = (char *)out + at_out * (ptrdiff_t)size;
		unsigned int d;

		if (rows && nd_move_rows(pace, src, rows->in * (ptrdiff_t)size, dst,
					 rows->out * (ptrdiff_t)size, inner->n * size, rows->n))
			return OP_ABORTED;
		for (size_t at = 0, n; !rows && at < inner->n; at += n) {
			ptrdiff_t skip = (ptrdiff_t)(at * size);

			n = inner->n - at < ND_MOVE_BYTES / 4 ? inner->n - at : ND_MOVE_BYTES / 4;
			if (n > STRIDED_RUN && strided)
				n = STRIDED_RUN;
			copy_run(src + skip * inner->in, dst + skip * inner->out, size, inner, n);
			if (op_pace(pace, n * (strided ? 32 : 2) + 8))
				return OP_ABORTED;
		}
		for (d = outer; d-- > 0;) {
			at_in += joined[d].in;
			at_out += joined[d].out;
			if (++index[d] < joined[d].n)
				break;
			at_in -= joined[d].in * (ptrdiff_t)joined[d].n;
			at_out -= joined[d].out * (ptrdiff_t)joined[d].n;
			index[d] = 0;
		}
		if (d == UINT32_MAX)
			return 0;
	}
}

int nd_fill(struct op_pace *pace, void *out, size_t size, size_t n, const void *value)
{
	for (size_t at = 0, run; at < n; at += run) {
		run = n - at < ND_MOVE_BYTES / 4 ? n - at : ND_MOVE_BYTES / 4;
		if (size == 1) {
			memset((uint8_t *)out + at, *(const uint8_t *)value, run);
		} else {
			for (size_t i = at; i < at + run; i++)
				memcpy((char *)out + i * size, value, size);
		}
		if (op_pace(pace, run))
			return OP_ABORTED;
	}
	return 0;
}

int nd_move_long(struct op_pace *pace, const void *in, void *out, size_t bytes)
{
	for (size_t at = 0, n; at < bytes; at += n) {
		n = bytes - at < ND_MOVE_BYTES ? bytes - at : ND_MOVE_BYTES;
		if (nd_move(pace, (const char *)in + at, (char *)out + at, n))
			return OP_ABORTED;
	}
	return 0;
}
