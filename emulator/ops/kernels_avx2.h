/* SPDX-License-Identifier: MIT */
/*
 * What the files with the AVX2 variant of kernels.h share.
 */
#ifndef NNPU_EMU_KERNELS_AVX2_H
#define NNPU_EMU_KERNELS_AVX2_H

#include "kernels.h"

#define AVX2	__attribute__((target("avx2,fma,f16c")))
#define INLINE	AVX2 __attribute__((always_inline)) static inline

/* As the members of struct kernels. */
void avx2_qrow(const int16_t *x, const int8_t *w, size_t pairs, const int32_t *bias, int32_t add,
	       const struct requant *q, uint32_t col, uint32_t n, uint8_t *y);
void avx2_fgemm(const float *x, size_t stride, unsigned int rows, const float *w, size_t depth,
		size_t panel, unsigned int panels, float *acc);
void avx2_fgemm_rows(const float *x, size_t stride, unsigned int rows, const float *w,
		     size_t apart, size_t depth, unsigned int n, float *acc);
void avx2_finish(const float *acc, unsigned int rows, const float *bias, struct frange range,
		 unsigned int n, float *y, size_t y_stride);
void avx2_frow(const float *x, size_t depth, const float *w, const float *bias,
	       struct frange range, uint32_t n, float *y);
void avx2_pack_bytes(const uint8_t *rows, size_t stride, size_t n, struct qbyte b,
		     const float *scale, float *panel);
void avx2_pack_halves(const uint16_t *rows, size_t stride, size_t n, float *panel);
void avx2_fdepthwise(const struct fdepthwise_pixels *p, const float *bias, struct frange range,
		     uint32_t col, uint32_t n, float *y);

#endif /* NNPU_EMU_KERNELS_AVX2_H */
