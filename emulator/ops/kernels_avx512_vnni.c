// SPDX-License-Identifier: MIT
/*
 * The variant of kernels.h for AVX-512 with VNNI: VPDPWSSD multiplies pairs and adds them to the
 * sum, without saturation.
 */
#include "kernels_avx512.h"

#if defined(__x86_64__)

#define DOT	__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,fma")))
#define dot_512(sum, a, b)	_mm512_dpwssd_epi32(sum, a, b)
#define dot_256(sum, a, b)	_mm256_dpwssd_epi32(sum, a, b)

#include "kernels_avx512_dot.h"

DOT_VARIANT(vnni);

const struct kernels *kernels_avx512_vnni(void)
{
	return kernels_avx512() && __builtin_cpu_supports("avx512vnni") ? &vnni : NULL;
}

#else

const struct kernels *kernels_avx512_vnni(void)
{
	return NULL;
}

#endif
