/* SPDX-License-Identifier: MIT */
/*
 * What the files with the AVX-512 variants of kernels.h share: AVX-512 F, BW, VL and DQ.
 *
 * There are two variants. They differ in how products of 16 bits are added
 * (kernels_avx512_dot.h).
 */
#ifndef NNPU_EMU_KERNELS_AVX512_H
#define NNPU_EMU_KERNELS_AVX512_H

#include "kernels.h"
#include "kernels_avx2.h"

#define AVX512	__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,fma")))

/* As the members of struct kernels. */
void avx512_widen(const uint8_t *x, struct qbyte b, size_t n, int16_t *y);
void avx512_gather(const struct gathered *g, struct qbyte b, int16_t *y, size_t stride);
int32_t avx512_sum(const int16_t *x, size_t n);
void avx512_requantize(const int32_t *acc, unsigned int rows, const struct requant *q,
		       uint32_t col, unsigned int n, uint8_t *y, size_t y_stride);
void avx512_qsum(const uint8_t *a, const uint8_t *b, size_t n, const struct qsum *s, uint8_t *y);
void avx512_fgemm(const float *x, size_t stride, unsigned int rows, const float *w, size_t depth,
		  size_t panel, unsigned int panels, float *acc);
void avx512_finish(const float *acc, unsigned int rows, const float *bias, struct frange range,
		   unsigned int n, float *y, size_t y_stride);
void avx512_fconv(const float *x, size_t stride, unsigned int rows, const float *w, size_t depth,
		  size_t panel, const float *bias, struct frange range, unsigned int n, float *y,
		  size_t y_stride);
void avx512_frow(const float *x, size_t depth, const float *w, const float *bias,
		 struct frange range, uint32_t n, float *y);
void avx512_fdepthwise(const struct fdepthwise_pixels *p, const float *bias, struct frange range,
		       uint32_t col, uint32_t n, float *y);

/* The members that both variants have in common. */
#define AVX512_COMMON \
	.widen = avx512_widen, \
	.gather = avx512_gather, \
	.sum = avx512_sum, \
	.requantize = avx512_requantize, \
	.qsum = avx512_qsum, \
	.fgemm = avx512_fgemm, \
	.fgemm_rows = avx2_fgemm_rows, \
	.finish = avx512_finish, \
	.fconv = avx512_fconv, \
	.frow = avx512_frow, \
	.pack_bytes = avx2_pack_bytes, \
	.pack_halves = avx2_pack_halves, \
	.fdepthwise = avx512_fdepthwise, \
	.rows = &row_kernels_avx512

static inline bool avx512_supported(void)
{
#if defined(__x86_64__)
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
	       kernels_avx2();
#else
	return false;
#endif
}

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define AVX512_INLINE	AVX512 __attribute__((always_inline, unused)) static inline

/*
 * A sum stays in its register. Compilers keep an array of them in memory, and if they may
 * move all loads to the front, they run out of registers. Either halves the speed.
 */
#define AVX512_KEEP(v)	asm("" : "+v"(v))

/*
 * Sixteen biases, or the first ones of them. A masked load of memory that ends with its page reads
 * nothing of the next one, but if that is not there it takes hundreds of cycles.
 */
AVX512_INLINE __m512i avx512_load_bias(const void *bias, __mmask16 some)
{
	int32_t copy[KERNEL_COLS] = { 0 };

	if (some == 0xffff)
		return _mm512_loadu_si512(bias);
	if (((uintptr_t)bias & 0xfff) <= 0x1000 - sizeof(copy))
		return _mm512_maskz_loadu_epi32(some, bias);
	memcpy(copy, bias, (size_t)__builtin_popcount(some) * sizeof(*copy));
	return _mm512_loadu_si512(copy);
}

/* Factors of sixteen channels, whose shifts are all to the right, by 1 at least. */
struct avx512_factors {
	__m512i mult;
	__m512i odd_mult;		/* of odd channels, moved to the places of even ones */
	__m512i shift;			/* but the last bit: 0 to 30 */
};

AVX512_INLINE struct avx512_factors avx512_factors_of(const struct requant *q, uint32_t channel)
{
	uint32_t i = q->per_channel ? channel : 0;
	struct avx512_factors f;

	f.mult = _mm512_loadu_si512(q->mult + i);
	f.odd_mult = _mm512_srli_epi64(f.mult, 32);
	f.shift = _mm512_sub_epi32(_mm512_set1_epi32(-1), _mm512_loadu_si512(q->shift + i));
	return f;
}

/* q_mul_high() */
AVX512_INLINE __m512i avx512_mul_high(__m512i v, __m512i mult, __m512i odd_mult)
{
	const __m512i round = _mm512_set1_epi64(1 << 30);
	__m512i even = _mm512_add_epi64(_mm512_mul_epi32(v, mult), round);
	__m512i odd = _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(v, 32), odd_mult),
				       round);

	return _mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 31),
				       _mm512_slli_epi64(odd, 1));
}

/*
 * q_shift_right(v, shift + 1) but its last step: x / 2, rounded up. For halves away from zero, 1
 * is subtracted from a negative number first. No product of q_mul_high() is INT32_MIN.
 */
AVX512_INLINE __m512i avx512_shift(__m512i v, __m512i shift)
{
	return _mm512_srav_epi32(_mm512_add_epi32(v, _mm512_srai_epi32(v, 31)), shift);
}

AVX512_INLINE __m512i avx512_scale(__m512i v, const struct avx512_factors *f)
{
	return avx512_shift(avx512_mul_high(v, f->mult, f->odd_mult), f->shift);
}

struct avx512_limits {
	__m512i zero_point, min, max;
};

AVX512_INLINE struct avx512_limits avx512_limits_of(int32_t zero_point, struct qrange range)
{
	return (struct avx512_limits){
		.zero_point = _mm512_set1_epi16((int16_t)zero_point),
		.min = _mm512_set1_epi16((int16_t)range.min),
		.max = _mm512_set1_epi16((int16_t)range.max),
	};
}

/*
 * Sixteen bytes from scaled numbers. Saturating to 16 bits gives the same as 32 bits would:
 * halves of a limit of 16 bits are still far outside of the range of a byte.
 */
AVX512_INLINE __m128i avx512_to_bytes(__m512i scaled, const struct avx512_limits *l)
{
	__m256i v = _mm512_cvtsepi32_epi16(scaled);

	v = _mm256_srai_epi16(_mm256_adds_epi16(v, _mm256_set1_epi16(1)), 1);
	v = _mm256_adds_epi16(v, _mm512_castsi512_si256(l->zero_point));
	v = _mm256_max_epi16(v, _mm512_castsi512_si256(l->min));
	v = _mm256_min_epi16(v, _mm512_castsi512_si256(l->max));
	return _mm256_cvtepi16_epi8(v);
}

/* The same for two vectors, whose quarters alternate in the result. */
AVX512_INLINE __m512i avx512_limit_two(__m512i a, __m512i b, const struct avx512_limits *l)
{
	__m512i v = _mm512_packs_epi32(a, b);

	v = _mm512_srai_epi16(_mm512_adds_epi16(v, _mm512_set1_epi16(1)), 1);
	v = _mm512_adds_epi16(v, l->zero_point);
	v = _mm512_min_epi16(_mm512_max_epi16(v, l->min), l->max);
	return _mm512_and_si512(v, _mm512_set1_epi16(0xff));
}

/* Sixty-four bytes from four vectors. */
AVX512_INLINE __m512i avx512_to_bytes_4(__m512i a, __m512i b, __m512i c, __m512i d,
					const struct avx512_limits *l)
{
	const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11,
						15);

	return _mm512_permutexvar_epi32(order, _mm512_packus_epi16(avx512_limit_two(a, b, l),
								   avx512_limit_two(c, d, l)));
}

#endif /* __x86_64__ */

#endif /* NNPU_EMU_KERNELS_AVX512_H */
