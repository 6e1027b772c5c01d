/* SPDX-License-Identifier: MIT */
/* Real factors as quantized operations have them. */
#ifndef NNPU_EMU_QFACTOR_H
#define NNPU_EMU_QFACTOR_H

#include <stdint.h>
#include <string.h>

/* factor = mult / 2^31 * 2^shift */
struct qfactor {
	int32_t mult;
	int32_t shift;
};

/*
 * qfactor_from() of a positive number, infinity included: frexp() and round() on its bits, for calls of
 * them would take longer than a small operation. Without conditions, so that loops are vectorized.
 */
static inline __attribute__((always_inline)) struct qfactor qfactor_of_positive(double real)
{
	struct qfactor f;
	int32_t up;
	uint64_t bits;
	uint32_t m;

	memcpy(&bits, &real, sizeof(bits));
	f.shift = (int32_t)(bits >> 52) - 1022;
	/* 31 bits, rounded; or 2^31. */
	m = (uint32_t)(((bits & 0xfffffffffffffull) + 0x10000000200000ull) >> 22);
	up = (int32_t)(m >> 31);
	m = up ? 1u << 30 : m;
	f.shift += up;
	m = f.shift > 62 ? INT32_MAX : m;
	f.shift = f.shift > 62 ? 62 : f.shift;
	f.mult = f.shift < -31 ? 0 : (int32_t)m;
	f.shift = f.shift < -31 ? 0 : f.shift;
	return f;
}

#endif /* NNPU_EMU_QFACTOR_H */
