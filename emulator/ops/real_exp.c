// SPDX-License-Identifier: MIT
/*
 * The exponential function of the box operations. Their quantized forms are exact to the
 * byte on every device, so the function is specified step by step
 * (Documentation/operations/arithmetic.rst) and none of a C library.
 */
#include <math.h>

#include "real.h"

float real_exp(float x)
{
	/* ln 2 in two parts; the first has so few bits that its product with n is exact. */
	static const double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
	static const double per_ln2 = 0x1.71547652b82fep+0;
	/* 1 / k!, from k = 11 down. */
	static const double term[] = {
		0x1.ae64567f544e4p-26, 0x1.27e4fb7789f5cp-22, 0x1.71de3a556c734p-19,
		0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-13, 0x1.6c16c16c16c17p-10,
		0x1.1111111111111p-7, 0x1.5555555555555p-5, 0x1.5555555555555p-3,
		0x1p-1, 0x1p+0, 0x1p+0,
	};
	double n, r, p = term[0];

	if (isnan(x))
		return x;
	/* Beyond these the result is infinite or zero, and n would not fit. */
	if (x > 128.0f)
		return INFINITY;
	if (x < -128.0f)
		return 0.0f;
	n = floor((double)x * per_ln2 + 0.5);
	r = ((double)x - n * ln2_high) - n * ln2_low;
	for (unsigned int i = 1; i < sizeof(term) / sizeof(term[0]); i++)
		p = p * r + term[i];
	return (float)ldexp(p, (int)n);
}
