// SPDX-License-Identifier: MIT
/* The loops of row_kernels.h with AVX-512, whole vectors of 512 bits. */
#define ROW_WIDTH	16
#define ROW_REST	load_rest
#define ROW_STORE_REST	store_rest
#define ROW_TARGET	AVX512

#if defined(__x86_64__)

#include <immintrin.h>

#include "row_kernels.h"
#include "row_sums.h"

/* Compilers prefer vectors of 256 bits, for CPUs that clock down. Clang cannot be told otherwise. */
#if defined(__clang__)
#define AVX512	__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#else
#define AVX512	__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,prefer-vector-width=512")))
#endif
#define INLINE	static inline __attribute__((always_inline)) AVX512

/*
 * row_rest() and row_store_rest(), not by way of memory. If nothing is left, an address behind the row may
 * be in no page, for which CPUs take long even if nothing is loaded from there.
 */
INLINE void load_rest(const float *x, size_t n, float fill, row_vector *v)
{
	*v = (row_vector)_mm512_mask_loadu_ps(_mm512_set1_ps(fill), (__mmask16)((1u << n % 16) - 1),
					      n % 16 ? x + n / 16 * 16 : x);
}

INLINE void store_rest(const row_vector *v, size_t n, float *y)
{
	if (n % 16)
		_mm512_mask_storeu_ps(y + n / 16 * 16, (__mmask16)((1u << n % 16) - 1), (__m512)*v);
}

#include "row_kernels_loops.h"

ROW_KERNELS(avx512, AVX512);

#endif
