// SPDX-License-Identifier: MIT
/*
 * The variant of kernels.h for AVX-512 without VNNI: VPMADDWD multiplies and adds pairs, which is
 * exact, and VPADDD adds them to the sum.
 */
#include "kernels_avx512.h"

#if defined(__x86_64__)

#define DOT		AVX512
#define dot_512(sum, a, b)	_mm512_add_epi32(sum, _mm512_madd_epi16(a, b))
#define dot_256(sum, a, b)	_mm256_add_epi32(sum, _mm256_madd_epi16(a, b))

#include "kernels_avx512_dot.h"

DOT_VARIANT(avx512);

const struct kernels *kernels_avx512(void)
{
	return avx512_supported() ? &avx512 : NULL;
}

#else

const struct kernels *kernels_avx512(void)
{
	return NULL;
}

#endif
