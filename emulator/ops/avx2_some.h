/* SPDX-License-Identifier: MIT */
/*
 * The first values of a vector of AVX2: nothing behind them is read or written.
 */
#ifndef NNPU_EMU_AVX2_SOME_H
#define NNPU_EMU_AVX2_SOME_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define AVX2_SOME	static inline __attribute__((always_inline, unused, target("avx2")))

/* @n values, or eight if there are more, with those of @fill behind them. */
AVX2_SOME __m256 avx2_load_some(const float *p, size_t n, __m256 fill)
{
	static const int32_t ones[16] = { -1, -1, -1, -1, -1, -1, -1, -1 };
	__m256i mask;

	if (n >= 8)
		return _mm256_loadu_ps(p);
	mask = _mm256_loadu_si256((const __m256i *)(ones + 8 - n));
	return _mm256_blendv_ps(fill, _mm256_maskload_ps(p, mask), _mm256_castsi256_ps(mask));
}

/* Not with a mask: many CPUs take longer to store with one. */
AVX2_SOME void avx2_store_some(float *p, size_t n, __m256 v)
{
	__m128 part = _mm256_castps256_ps128(v);

	if (n >= 8) {
		_mm256_storeu_ps(p, v);
		return;
	}
	if (n & 4) {
		_mm_storeu_ps(p, part);
		part = _mm256_extractf128_ps(v, 1);
		p += 4;
	}
	if (n & 2) {
		_mm_storel_pi((__m64 *)p, part);
		part = _mm_movehl_ps(part, part);
		p += 2;
	}
	if (n & 1)
		_mm_store_ss(p, part);
}

#endif /* NNPU_EMU_AVX2_SOME_H */
