// SPDX-License-Identifier: MIT
/*
 * The inner loops of kernels.h with the vectors of AArch64, which every such CPU has.
 *
 * Inputs minus their zero point have nine bits, so products are those of 16 bits (SMLAL), not
 * the ones of bytes that SDOT adds. Requantization is SQRDMULH, which is q_mul_high(), and
 * SRSHL, which rounds halves up: a negative number is made smaller by 1 before. A product of
 * floats and its sum are rounded once (FMLA).
 */
#include "fdepthwise.h"
#include "kernels.h"

#if defined(__aarch64__) && defined(__ARM_NEON) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#include <arm_neon.h>
#include <math.h>
#include <string.h>

#define INLINE	static inline __attribute__((always_inline))

INLINE int16x8_t widen_8(uint8x8_t bytes, struct qbyte b)
{
	uint16x8_t v = vmovl_u8(veor_u8(bytes, vdup_n_u8(b.flip)));

	return vsubq_s16(vreinterpretq_s16_u16(v), vdupq_n_s16(b.bias));
}

static void widen(const uint8_t *x, struct qbyte b, size_t n, int16_t *y)
{
	size_t i = 0;

	for (; i + 8 <= n; i += 8)
		vst1q_s16(y + i, widen_8(vld1_u8(x + i), b));
	for (; i < n; i++)
		y[i] = qbyte_value(x[i], b);
}

/* A run may end in the middle of a vector: what is behind it is overwritten by the next one. */
static void gather(const struct gathered *g, struct qbyte b, int16_t *y, size_t stride)
{
	for (unsigned int r = 0; r < g->rows; r++) {
		const uint8_t *x = g->from + r * g->step;
		int16_t *to = y + r * stride;

		for (unsigned int run = 0; run < g->runs; run++, x += g->next, to += g->run) {
			for (size_t i = 0; i < g->run; i += 8)
				vst1q_s16(to + i, widen_8(vld1_u8(x + i), b));
		}
	}
}

static int32_t sum(const int16_t *x, size_t n)
{
	int32x4_t wide = vdupq_n_s32(0);
	uint32_t total;
	size_t i = 0;

	for (; i + 8 <= n; i += 8)
		wide = vpadalq_s16(wide, vld1q_s16(x + i));
	total = (uint32_t)vaddvq_s32(wide);
	for (; i < n; i++)
		total += (uint32_t)(int32_t)x[i];
	return (int32_t)total;
}

/* Eight sums. */
struct sums {
	int32x4_t low, high;
};

/* The weights of eight channels, those of the two positions of a pair apart. */
INLINE int16x8x2_t load_weights(const int8_t *w)
{
	int8x8x2_t v = vld2_s8(w);

	return (int16x8x2_t){ { vmovl_s8(v.val[0]), vmovl_s8(v.val[1]) } };
}

INLINE struct sums add_value(struct sums s, int16x8_t w, int16_t x)
{
	s.low = vmlal_n_s16(s.low, vget_low_s16(w), x);
	s.high = vmlal_high_n_s16(s.high, w, x);
	return s;
}

INLINE struct sums load_sums(const int32_t *from)
{
	return (struct sums){ vld1q_s32(from), vld1q_s32(from + 4) };
}

INLINE struct sums add_sums(struct sums a, struct sums b)
{
	return (struct sums){ vaddq_s32(a.low, b.low), vaddq_s32(a.high, b.high) };
}

/* Up to KERNEL_ROWS rows and a panel. Inlined with a constant number of rows. */
INLINE void multiply(const unsigned int rows, const int16_t *x, size_t stride, const int8_t *w,
		     size_t pairs, const int32_t *bias, const int32_t *add, int32_t *acc)
{
	struct sums s[KERNEL_ROWS];

	for (unsigned int r = 0; r < rows; r++)
		s[r].low = s[r].high = vdupq_n_s32(0);
	for (size_t i = 0; i < pairs; i++, x += 2, w += 2 * KERNEL_PANEL) {
		int16x8x2_t v = load_weights(w);

		for (unsigned int r = 0; r < rows; r++) {
			s[r] = add_value(s[r], v.val[0], x[r * stride]);
			s[r] = add_value(s[r], v.val[1], x[r * stride + 1]);
		}
	}
	for (unsigned int r = 0; r < rows; r++, acc += KERNEL_COLS) {
		struct sums base = load_sums(bias ? bias : acc);

		if (bias) {
			base.low = vaddq_s32(base.low, vdupq_n_s32(add[r]));
			base.high = vaddq_s32(base.high, vdupq_n_s32(add[r]));
		}
		s[r] = add_sums(base, s[r]);
		vst1q_s32(acc, s[r].low);
		vst1q_s32(acc + 4, s[r].high);
	}
}

static void qgemm(const int16_t *x, size_t stride, unsigned int rows, const int8_t *w,
		  size_t pairs, unsigned int panels, const int32_t *bias, const int32_t *add,
		  int32_t *acc)
{
	for (unsigned int r = 0, n; r < rows; r += n) {
		n = rows - r < KERNEL_ROWS ? 1 : KERNEL_ROWS;
		for (unsigned int p = 0; p < panels; p++) {
			const int8_t *v = w + p * pairs * 2 * KERNEL_PANEL;
			const int32_t *b = bias ? bias + p * KERNEL_PANEL : NULL;
			int32_t *to = acc + r * KERNEL_COLS + p * KERNEL_PANEL;

			if (n == KERNEL_ROWS)
				multiply(KERNEL_ROWS, x + r * stride, stride, v, pairs, b, add + r,
					 to);
			else
				multiply(1, x + r * stride, stride, v, pairs, b, add + r, to);
		}
	}
}

/* Requantization. */

/* q_shift_right(q_mul_high(v, mult), -shift) */
INLINE int32x4_t scale(int32x4_t v, int32x4_t mult, int32x4_t shift)
{
	int32x4_t high = vqrdmulhq_s32(v, mult);
	/* Minus one where the number is negative and there is a shift, which is negative, too. */
	int32x4_t down = vshrq_n_s32(vandq_s32(high, shift), 31);

	return vrshlq_s32(vqaddq_s32(high, down), shift);
}

/* As in kernels_avx2.c: saturating to 16 bits first gives the same. */
INLINE uint8x8_t to_bytes(struct sums s, int32_t zero_point, struct qrange range)
{
	int16x8_t v = vqmovn_high_s32(vqmovn_s32(s.low), s.high);

	v = vqaddq_s16(v, vdupq_n_s16((int16_t)zero_point));
	v = vmaxq_s16(v, vdupq_n_s16((int16_t)range.min));
	v = vminq_s16(v, vdupq_n_s16((int16_t)range.max));
	return vmovn_u16(vreinterpretq_u16_s16(v));
}

/* Eight channels from @channel on, all shifts to the right. */
INLINE uint8x8_t requantize_8(struct sums s, const struct requant *q, uint32_t channel)
{
	uint32_t i = q->per_channel ? channel : 0;

	s.low = scale(s.low, vld1q_s32(q->mult + i), vld1q_s32(q->shift + i));
	s.high = scale(s.high, vld1q_s32(q->mult + i + 4), vld1q_s32(q->shift + i + 4));
	return to_bytes(s, q->zero_point, q->range);
}

static void requantize(const int32_t *acc, unsigned int rows, const struct requant *q,
		       uint32_t col, unsigned int n, uint8_t *y, size_t y_stride)
{
	if (!q->shifts_right) {
		kernels_variant(0)->requantize(acc, rows, q, col, n, y, y_stride);
		return;
	}
	for (unsigned int r = 0; r < rows; r++, acc += KERNEL_COLS, y += y_stride) {
		uint8_t bytes[KERNEL_COLS];

		vst1_u8(bytes, requantize_8(load_sums(acc), q, col));
		vst1_u8(bytes + 8, requantize_8(load_sums(acc + 8), q, col + 8));
		memcpy(y, bytes, n);
	}
}

/* Depthwise. */

/* Eight bytes under a tap. */
INLINE int16x8_t load_tap(const uint8_t *tap, size_t at, const struct depthwise_pixels *p)
{
	if (!tap)
		return vdupq_n_s16((int16_t)p->zero_point);
	if (p->is_signed)
		return vmovl_s8(vreinterpret_s8_u8(vld1_u8(tap + at)));
	return vreinterpretq_s16_u16(vmovl_u8(vld1_u8(tap + at)));
}

INLINE struct sums add_products(struct sums s, int16x8_t a, int16x8_t b)
{
	s.low = vmlal_s16(s.low, vget_low_s16(a), vget_low_s16(b));
	s.high = vmlal_high_s16(s.high, a, b);
	return s;
}

/* Eight channels from @c on of the pixel @in bytes behind the first. */
static uint8x8_t deep_8(const struct depthwise_pixels *p, const struct depthwise_weights *w,
			const int32_t *bias, const struct requant *q, uint32_t c, size_t in)
{
	size_t at = c / KERNEL_COLS * ((size_t)w->pairs * 2 * KERNEL_COLS) + c % KERNEL_COLS * 2;
	struct sums s = load_sums(bias + c);

	if (w->fold)
		s = add_sums(s, load_sums(w->fold + c));
	for (unsigned int i = 0; i < w->pairs; i++, at += 2 * KERNEL_COLS) {
		int16x8x2_t v = w->narrow ? load_weights((const int8_t *)w->data + at) :
					    vld2q_s16((const int16_t *)w->data + at);

		s = add_products(s, load_tap(p->taps[2 * i], in + c, p), v.val[0]);
		s = add_products(s, load_tap(p->taps[2 * i + 1], in + c, p), v.val[1]);
	}
	return requantize_8(s, q, c);
}

static void depthwise(const struct depthwise_pixels *p, const struct depthwise_weights *w,
		      const int32_t *bias, const struct requant *q, uint32_t col, uint32_t n,
		      uint8_t *y)
{
	uint32_t whole = q->shifts_right ? n / 8 * 8 : 0;

	for (unsigned int i = 0; whole && i < p->rows * p->cols; i++) {
		size_t in = i / p->cols * p->in_row + i % p->cols * p->in_col;
		uint8_t *to = y + i / p->cols * p->out_row + i % p->cols * p->out_col;

		for (uint32_t c = col; c < col + whole; c += 8)
			vst1_u8(to + c, deep_8(p, w, bias, q, c, in));
	}
	if (whole < n)
		kernels_variant(0)->depthwise(p, w, bias, q, col + whole, n - whole, y);
}

/* Sums. */

/* Eight values of a term, scaled. */
INLINE struct sums term(uint8x8_t bytes, const struct qsum *s, const unsigned int i)
{
	int32x4_t left = vdupq_n_s32(s->left_shift), mult = vdupq_n_s32(s->factor[i].mult);
	int32x4_t shift = vdupq_n_s32(s->factor[i].shift);
	int16x8_t v = widen_8(bytes, s->byte[i]);

	return (struct sums){
		scale(vshlq_s32(vmovl_s16(vget_low_s16(v)), left), mult, shift),
		scale(vshlq_s32(vmovl_high_s16(v), left), mult, shift),
	};
}

INLINE uint8x8_t sum_8(uint8x8_t a, uint8x8_t b, const struct qsum *s)
{
	int32x4_t mult = vdupq_n_s32(s->out.mult), shift = vdupq_n_s32(s->out.shift);
	struct sums x = term(a, s, 0), y = term(b, s, 1);

	if (s->subtract) {
		y.low = vnegq_s32(y.low);
		y.high = vnegq_s32(y.high);
	}
	x = add_sums(x, y);
	x.low = scale(x.low, mult, shift);
	x.high = scale(x.high, mult, shift);
	return to_bytes(x, s->zero_point, s->range);
}

static void qsum(const uint8_t *a, const uint8_t *b, size_t n, const struct qsum *s, uint8_t *y)
{
	uint8_t tail[3][8] = { { 0 } };
	size_t i = 0;

	for (; i + 8 <= n; i += 8)
		vst1_u8(y + i, sum_8(vld1_u8(a + i), vld1_u8(b + i), s));
	if (i < n) {
		memcpy(tail[0], a + i, n - i);
		memcpy(tail[1], b + i, n - i);
		vst1_u8(tail[2], sum_8(vld1_u8(tail[0]), vld1_u8(tail[1]), s));
		memcpy(y + i, tail[2], n - i);
	}
}

/* Floats. */

struct fsums {
	float32x4_t low, high;
};

INLINE void fmultiply(const unsigned int rows, const float *x, size_t stride, const float *w,
		      size_t depth, float *acc)
{
	struct fsums s[KERNEL_ROWS];

	for (unsigned int r = 0; r < rows; r++) {
		s[r].low = vld1q_f32(acc + r * KERNEL_COLS);
		s[r].high = vld1q_f32(acc + r * KERNEL_COLS + 4);
	}
	for (size_t i = 0; i < depth; i++, x++, w += KERNEL_PANEL) {
		float32x4_t low = vld1q_f32(w), high = vld1q_f32(w + 4);

		for (unsigned int r = 0; r < rows; r++) {
			s[r].low = vfmaq_n_f32(s[r].low, low, x[r * stride]);
			s[r].high = vfmaq_n_f32(s[r].high, high, x[r * stride]);
		}
	}
	for (unsigned int r = 0; r < rows; r++) {
		vst1q_f32(acc + r * KERNEL_COLS, s[r].low);
		vst1q_f32(acc + r * KERNEL_COLS + 4, s[r].high);
	}
}

static void fgemm(const float *x, size_t stride, unsigned int rows, const float *w, size_t depth,
		  size_t panel, unsigned int panels, float *acc)
{
	for (unsigned int r = 0, n; r < rows; r += n) {
		n = rows - r < KERNEL_ROWS ? 1 : KERNEL_ROWS;
		for (unsigned int p = 0; p < panels; p++) {
			float *to = acc + r * KERNEL_COLS + p * KERNEL_PANEL;

			if (n == KERNEL_ROWS)
				fmultiply(KERNEL_ROWS, x + r * stride, stride, w + p * panel, depth,
					  to);
			else
				fmultiply(1, x + r * stride, stride, w + p * panel, depth, to);
		}
	}
}

/* A comparison with a NaN is false, so that a NaN stays a NaN. */
INLINE float32x4_t limit(float32x4_t v, struct frange range)
{
	float32x4_t min = vdupq_n_f32(range.min), max = vdupq_n_f32(range.max);

	v = vbslq_f32(vcltq_f32(v, min), min, v);
	return vbslq_f32(vcgtq_f32(v, max), max, v);
}

static void finish(const float *acc, unsigned int rows, const float *bias, struct frange range,
		   unsigned int n, float *y, size_t y_stride)
{
	for (unsigned int r = 0; r < rows; r++, acc += KERNEL_COLS, y += y_stride) {
		unsigned int c = 0;

		for (; c + 4 <= n; c += 4)
			vst1q_f32(y + c, limit(vaddq_f32(vld1q_f32(acc + c), vld1q_f32(bias + c)),
					       range));
		for (; c < n; c++)
			y[c] = f_clamp(acc[c] + bias[c], range.min, range.max);
	}
}

static inline float add_product(float total, float x, float w)
{
	return fmaf(x, w, total);
}

static inline void fdepthwise_pixel(const struct fdepthwise_pixels *p, size_t at,
				    const float *bias, struct frange range, uint32_t col,
				    uint32_t n, float *y)
{
	uint32_t c = col, end = col + n;

	for (; c + 4 <= end; c += 4) {
		float32x4_t total = vdupq_n_f32(0);

		for (unsigned int t = 0; t < p->taps; t++)
			total = vfmaq_f32(total, vld1q_f32(p->x[t] + at + c),
					  vld1q_f32(p->w[t] + c));
		vst1q_f32(y + c, limit(vaddq_f32(total, vld1q_f32(bias + c)), range));
	}
	fdepthwise_channels(p, at, bias, range, c, end, y, add_product);
}

static void fdepthwise(const struct fdepthwise_pixels *p, const float *bias, struct frange range,
		       uint32_t col, uint32_t n, float *y)
{
	fdepthwise_by_pixel(p, bias, range, col, n, y, fdepthwise_pixel);
}

static const struct kernels neon = {
	.widen = widen,
	.gather = gather,
	.sum = sum,
	.qgemm = qgemm,
	.requantize = requantize,
	.depthwise = depthwise,
	.qsum = qsum,
	.fgemm = fgemm,
	.finish = finish,
	.fdepthwise = fdepthwise,
	.rows = &row_kernels_baseline,
};

const struct kernels *kernels_neon(void)
{
	return &neon;
}

#else

const struct kernels *kernels_neon(void)
{
	return NULL;
}

#endif
