// SPDX-License-Identifier: MIT
/* The loops of row_kernels.h with AVX-512, whole vectors of 512 bits. */
#define ROW_WIDTH	16

#include "row_kernels_loops.h"

#if defined(__x86_64__)

/* Compilers prefer vectors of 256 bits, for CPUs that clock down. Clang cannot be told otherwise. */
#if defined(__clang__)
#define AVX512	__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#else
#define AVX512	__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,prefer-vector-width=512")))
#endif

ROW_KERNELS(avx512, AVX512);

#endif
