// SPDX-License-Identifier: MIT
/*
 * The loops of row_kernels.h for any CPU of this architecture: with SSE2 on x86-64, with the
 * vectors of AArch64 there.
 */
#define ROW_WIDTH	4

#include "row_kernels_loops.h"

/* No attribute: what the compiler uses anyway. */
#define BASELINE

ROW_KERNELS(baseline, BASELINE);
