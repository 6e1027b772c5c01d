// SPDX-License-Identifier: MIT
/* The loops of row_kernels.h with AVX2. */
#define ROW_WIDTH	8

#include "row_kernels_loops.h"

#if defined(__x86_64__)

#define AVX2	__attribute__((target("avx2")))

ROW_KERNELS(avx2, AVX2);

#endif
