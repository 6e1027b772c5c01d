// SPDX-License-Identifier: MIT
/*
 * LSH_PROJECTION: locality-sensitive hashes of a tensor.
 *
 * Inputs: 0 hash functions [n, bits], 1 tensor of any type, 2 weights of its rows (may be
 * omitted), 3 kind: 1 sparse without offsets, 2 dense, 3 sparse.
 * Output: 0 one number per function, or one per bit if dense.
 *
 * A bit is the sign of a weighted sum over the rows. Its terms are 64-bit fingerprints of
 * the seed of the function and the bytes of the row.
 */
#include <string.h>

#include "nd_copy.h"
#include "ops.h"
#include "real.h"

enum { LSH_SPARSE_OLD = 1, LSH_DENSE = 2, LSH_SPARSE = 3 };

#define MAX_BITS	32

int lsh_projection_check(const struct op_call *c)
{
	int32_t kind;

	if (op_check_operands(c) || op_check_type(c, 0, TYPES_FLOAT) ||
	    op_check_rank(c, 0, 2, 2) || op_check_rank(c, 1, 1, NNPU_MAX_RANK) ||
	    op_check_type(c, 3, TYPE_BIT(INT32)) ||
	    op_check_type(c, op_output(c, 0), TYPE_BIT(TENSOR_INT32)) ||
	    op_check_rank(c, op_output(c, 0), 1, 1))
		return -1;
	if (type_is_scalar(c->in[1]->type))
		return op_fail(c, NNPU_REASON_TYPE, 1);
	if (op_check_same_type(c, 2, 0) ||
	    (tensor_has_value(c->in[2]) && op_check_rank(c, 2, 1, 1)))
		return -1;
	if (!op_get_i32(c, 3, &kind) && (kind < LSH_SPARSE_OLD || kind > LSH_SPARSE))
		return op_fail(c, NNPU_REASON_VALUE, 3);
	return 0;
}

int lsh_projection_infer(const struct op_call *c)
{
	uint32_t functions, bits;
	int32_t kind;

	if (op_check_rank(c, 0, 2, 2))
		return -1;
	if (op_get_i32(c, 3, &kind))
		return 1;
	if (kind < LSH_SPARSE_OLD || kind > LSH_SPARSE)
		return op_fail(c, NNPU_REASON_VALUE, 3);
	functions = c->in[0]->dims[0];
	bits = c->in[0]->dims[1];
	if (bits > MAX_BITS)
		return op_fail(c, NNPU_REASON_DIMENSION, 0);
	if (tensor_has_value(c->in[2]) &&
	    (c->in[2]->rank != 1 || c->in[2]->dims[0] != c->in[1]->dims[0]))
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 2);
	if (kind == LSH_DENSE && __builtin_mul_overflow(functions, bits, &functions))
		return op_fail(c, NNPU_REASON_OVERFLOW, 0);
	tensor_set_shape(c->out[0], 1, &functions);
	return 0;
}

static size_t row_bytes(const struct tensor *t)
{
	return tensor_elements_of(t, 1, t->rank) * type_size(t->type);
}

/* The key: a seed and a row, if there are rows. */
size_t lsh_projection_scratch(const struct op_call *c)
{
	return scratch_add(0, sizeof(float) + (c->in[1]->bytes ? row_bytes(c->in[1]) : 0), 1);
}

/*
 * The 64-bit fingerprint: odd constants, rotations and multiplications. Little-endian
 * words are read from the start and from the end of the key, so that they overlap if its
 * length is no multiple of theirs.
 */
#define K0	0xc3a5c85c97cb3127ull
#define K1	0xb492b66fbe98f273ull
#define K2	0x9ae16a3b2f90404full

static uint64_t get64(const uint8_t *p)
{
	uint64_t v = 0;

	for (int i = 7; i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}

static uint64_t get32(const uint8_t *p)
{
	return p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24;
}

static uint64_t rotate(uint64_t v, int n)
{
	return v >> n | v << (64 - n);
}

static uint64_t mix(uint64_t v)
{
	return v ^ v >> 47;
}

static uint64_t join(uint64_t a, uint64_t b, uint64_t factor)
{
	return mix((b ^ mix((a ^ b) * factor)) * factor) * factor;
}

static uint64_t print_up_to_16(const uint8_t *s, size_t n)
{
	uint64_t factor = K2 + n * 2, a, b;

	if (n >= 8) {
		a = get64(s) + K2;
		b = get64(s + n - 8);
		return join(rotate(b, 37) * factor + a, (rotate(a, 25) + b) * factor, factor);
	}
	if (n >= 4)
		return join(n + (get32(s) << 3), get32(s + n - 4), factor);
	if (n == 0)
		return K2;
	a = s[0] + ((uint64_t)s[n >> 1] << 8);
	b = n + ((uint64_t)s[n - 1] << 2);
	return mix((a * K2) ^ (b * K0)) * K2;
}

static uint64_t print_up_to_64(const uint8_t *s, size_t n)
{
	uint64_t factor = K2 + n * 2;
	uint64_t a = get64(s) * (n <= 32 ? K1 : K2), b = get64(s + 8);
	uint64_t c = get64(s + n - 8) * factor, d = get64(s + n - 16) * K2;
	uint64_t y = rotate(a + b, 43) + rotate(c, 30) + d;
	uint64_t z = join(y, a + rotate(b + K2, 18) + c, factor);
	uint64_t e, f, g, h;

	if (n <= 32)
		return z;
	e = get64(s + 16) * factor;
	f = get64(s + 24);
	g = (y + get64(s + n - 32)) * factor;
	h = (z + get64(s + n - 24)) * factor;
	return join(rotate(e + f, 43) + rotate(g, 30) + h, e + rotate(f + a, 18) + g, factor);
}

struct pair {
	uint64_t a, b;
};

/* Mix 32 bytes into a pair of seeds. */
static struct pair stir(const uint8_t *s, uint64_t a, uint64_t b)
{
	uint64_t first, last = get64(s + 24);

	a += get64(s);
	b = rotate(b + a + last, 21);
	first = a;
	a += get64(s + 8) + get64(s + 16);
	b += rotate(a, 44);
	return (struct pair){ a + last, b + first };
}

struct long_print {
	uint64_t x, y, z;
	struct pair v, w;
};

/* Mix in 64 bytes. The last block has another factor and a weight. */
static void stir_block(struct long_print *l, const uint8_t *s, uint64_t factor, uint64_t weight)
{
	uint64_t z;

	l->x = rotate(l->x + l->y + l->v.a + get64(s + 8), 37) * factor;
	l->y = rotate(l->y + l->v.b + get64(s + 48), 42) * factor;
	l->x ^= l->w.b * weight;
	l->y += l->v.a * weight + get64(s + 40);
	z = rotate(l->z + l->w.a, 33) * factor;
	l->v = stir(s, l->v.b * factor, l->x + l->w.a);
	l->w = stir(s + 32, z + l->w.b, l->y + get64(s + 16));
	l->z = l->x;
	l->x = z;
}

static uint64_t fingerprint(struct op_pace *pace, const uint8_t *s, size_t n)
{
	struct long_print l = { .x = 81, .y = 81 * K1 + 113 };
	const uint8_t *end;
	uint64_t factor;

	if (n <= 16)
		return print_up_to_16(s, n);
	if (n <= 64)
		return print_up_to_64(s, n);
	l.z = mix(l.y * K2 + 113) * K2;
	l.x = l.x * K2 + get64(s);
	end = s + (n - 1) / 64 * 64;
	for (; s != end && !op_pace(pace, 32); s += 64)
		stir_block(&l, s, K1, 1);
	factor = K1 + ((l.z & 0xff) << 1);
	l.w.a += (n - 1) & 63;
	l.v.a += l.w.a;
	l.w.a += l.v.a;
	stir_block(&l, end + ((n - 1) & 63) - 63, factor, 9);
	return join(join(l.v.a, l.w.a, factor) + mix(l.y) * K0 + l.z,
		    join(l.v.b, l.w.b, factor) + l.x, factor);
}

/* One bit, or -1 for an abort. */
static int signature_bit(const struct op_call *c, size_t at, struct op_pace *pace)
{
	const struct tensor *t = c->in[1];
	float seed = real_at(c->in[0], at);
	size_t bytes = row_bytes(t);
	uint8_t *key = c->scratch;
	double score = 0;

	memcpy(key, &seed, sizeof(seed));
	for (uint32_t i = 0; i < t->dims[0]; i++) {
		double v;

		if (nd_move(pace, (const char *)t->data + i * bytes, key + sizeof(seed), bytes))
			return -1;
		v = (double)(int64_t)fingerprint(pace, key, sizeof(seed) + bytes);
		score += tensor_has_value(c->in[2]) ? real_at(c->in[2], i) * v : v;
		if (op_pace(pace, 64))
			return -1;
	}
	return score > 0;
}

int lsh_projection_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	uint32_t functions = c->in[0]->dims[0], bits = c->in[0]->dims[1];
	int32_t *out = c->out[0]->data, kind;

	if (op_get_i32(c, 3, &kind))
		return -1;
	for (uint32_t i = 0; i < functions; i++) {
		uint64_t signature = 0;

		for (uint32_t j = 0; j < bits; j++) {
			int bit = signature_bit(c, (size_t)i * bits + j, &pace);

			if (bit < 0)
				return OP_ABORTED;
			signature = signature << 1 | (unsigned int)bit;
			if (kind == LSH_DENSE)
				*out++ = bit;
			/* The tensor may have no rows. */
			if (op_pace(&pace, 16))
				return OP_ABORTED;
		}
		if (kind == LSH_SPARSE)
			signature += (uint64_t)i << bits;
		if (kind != LSH_DENSE)
			*out++ = (int32_t)(uint32_t)signature;
		if (op_pace(&pace, 8))
			return OP_ABORTED;
	}
	return 0;
}
