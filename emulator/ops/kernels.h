/* SPDX-License-Identifier: MIT */
/*
 * Inner loops of the convolutions: portable C for any CPU, and a variant with vector
 * instructions for CPUs that have them. All variants give the same bytes for integers, whose sums
 * are exact. Float sums keep the order of their terms, but for fgemm_rows(). The portable loops round a product and the
 * sum, the others only the sum: a result depends on the variant, but not on tiles or threads.
 */
#ifndef NNPU_EMU_KERNELS_H
#define NNPU_EMU_KERNELS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "quant.h"
#include "row_kernels.h"

/* Output channels of a panel of weights, and of two panels, which are used together. */
#define KERNEL_PANEL	8u
#define KERNEL_COLS	16u

/* Channels that fconv() and qconv() compute together, at most: those of four panels. */
#define KERNEL_WIDE	32u

/* Rows of inputs that are multiplied together. */
#define KERNEL_ROWS	6u

/* Most taps of a depthwise convolution. Even. */
#define KERNEL_TAPS	64u

/* Requantization of output channels. */
struct requant {
	/* By channel, in whole blocks of KERNEL_COLS; or one block that all channels share. */
	const int32_t *mult;
	const int32_t *shift;
	bool per_channel;
	bool shifts_right;		/* every shift is negative */
	int32_t zero_point;
	struct qrange range;
};

/*
 * Weights of a depthwise convolution: int8_t if all fit, else int16_t. They are ordered by
 * blocks of KERNEL_COLS channels, then by pairs of taps, then by channel; the two taps of a
 * channel are adjacent.
 */
struct depthwise_weights {
	unsigned int pairs;
	bool narrow;
	const void *data;
	const int32_t *fold;		/* by channel, or NULL */
};

/*
 * Output pixels of a depthwise convolution that lie in a rectangle. Each tap is inside of the
 * image for all of them or outside for all.
 */
struct depthwise_pixels {
	/* What each tap reads for the first pixel, from channel 0 on; NULL: it is outside. */
	const uint8_t *const *taps;
	int32_t zero_point;		/* what is read outside */
	bool is_signed;
	unsigned int rows, cols;
	size_t in_row, in_col;		/* bytes from a pixel to the next */
	size_t out_row, out_col;
};

/*
 * The same for floats: only taps inside are there, and distances are in values. Variants may compute
 * pixels of a row together: rows are the longer side.
 */
struct fdepthwise_pixels {
	const float *const *x;		/* by tap */
	const float *const *w;		/* by tap: its weights, from channel 0 on */
	unsigned int taps;
	unsigned int rows, cols;
	size_t in_row, in_col;
	size_t out_row, out_col;
};

/*
 * Rows of inputs of a convolution. A row has @runs runs of @run bytes each, @next bytes apart;
 * @step is from a row to the next.
 */
struct gathered {
	const uint8_t *from;
	size_t run, next, step;
	unsigned int runs, rows;
};

/* What gather() may read and write behind a run. */
#define KERNEL_SLACK	15u

/* A sum of two quantized numbers of 8 bits. Both values are shifted left and scaled first. */
struct qsum {
	struct qbyte byte[2];
	int left_shift;
	struct qfactor factor[2];	/* shifts are not to the left */
	bool subtract;
	struct qfactor out;		/* its shift is to the right */
	int32_t zero_point;
	struct qrange range;
};

struct kernels {
	/* y[i] = value of byte x[i]. */
	void (*widen)(const uint8_t *x, struct qbyte b, size_t n, int16_t *y);

	/*
	 * Write the values of the runs of each row to @y, one behind the other; @stride is
	 * from a row of @y to the next. Up to KERNEL_SLACK bytes behind each run are read, and
	 * up to as many values behind each row written.
	 */
	void (*gather)(const struct gathered *g, struct qbyte b, int16_t *y, size_t stride);

	/* Sum of x[i], wrapping around. */
	int32_t (*sum)(const int16_t *x, size_t n);

	/*
	 * Multiply rows of inputs, @stride values apart, by @panels (1 or 2) contiguous
	 * panels of weights. A panel holds, for each pair of positions in the row, the
	 * 2 * KERNEL_PANEL weights of this pair, channel by channel.
	 * With @bias, of as many channels: acc[r * KERNEL_COLS + c] = sum + bias[c] + add[r].
	 * Without: acc[] += sum. Inputs are in [-255, 255]; sums wrap around.
	 */
	void (*qgemm)(const int16_t *x, size_t stride, unsigned int rows, const int8_t *w,
		      size_t pairs, unsigned int panels, const int32_t *bias,
		      const int32_t *add, int32_t *acc);

	/*
	 * y[r * y_stride + c] = clamp(scale(acc[r * KERNEL_COLS + c]) + zero point) for
	 * @n <= KERNEL_COLS channels from @col, a multiple of KERNEL_COLS, on.
	 */
	void (*requantize)(const int32_t *acc, unsigned int rows, const struct requant *q,
			   uint32_t col, unsigned int n, uint8_t *y, size_t y_stride);

	/*
	 * Channels [col, col + n) of one row, @col a multiple of KERNEL_COLS: qgemm() by all of
	 * their panels, then requantize(). @w and @bias are of channel @col, @y of channel 0;
	 * @w has whole panels, all shifts are to the right. NULL: this variant has none.
	 */
	void (*qrow)(const int16_t *x, const int8_t *w, size_t pairs, const int32_t *bias,
		     int32_t add, const struct requant *q, uint32_t col, uint32_t n, uint8_t *y);

	/* The same for a row of @depth bytes as they are. NULL: this variant has none. */
	void (*qrow_bytes)(const uint8_t *x, struct qbyte b, size_t depth, const int8_t *w,
			   const int32_t *bias, const struct requant *q, uint32_t col,
			   uint32_t n, uint8_t *y);

	/* sums[r] = sum of the @n unsigned bytes of row @r, wrapping around. */
	void (*sum_rows)(const uint8_t *x, size_t stride, unsigned int rows, size_t n,
			 int32_t *sums);

	/* y[i] = x[i] ^ flip; and gather() of such bytes. */
	void (*flip)(const uint8_t *x, uint8_t flip, size_t n, uint8_t *y);
	void (*gather_bytes)(const struct gathered *g, uint8_t flip, uint8_t *y, size_t stride);

	/*
	 * Channels [col, col + n) of rows of bytes as flip() gives them, @n <= KERNEL_WIDE:
	 * qgemm() of the values, which are byte - @zero, and requantize(). @w, @bias and @y are of
	 * channel @col; @w has whole panels, with 0 behind rows of an odd depth; all shifts are to the
	 * right. Up to 3 bytes behind each row are read. NULL: this variant has none, and none of the
	 * three above.
	 */
	void (*qconv)(const uint8_t *x, size_t stride, unsigned int rows, const int8_t *w,
		      size_t depth, int32_t zero, const int32_t *bias, const int32_t *add,
		      const struct requant *q, uint32_t col, uint32_t n, uint8_t *y,
		      size_t y_stride);

	/*
	 * Channels [col, col + n) of pixels of a depthwise convolution; @col is a multiple of
	 * KERNEL_COLS. Sums the products of 2 * w->pairs taps and their weights, adds
	 * @bias and w->fold, and requantizes. Pointers are to channel 0.
	 */
	void (*depthwise)(const struct depthwise_pixels *p, const struct depthwise_weights *w,
			  const int32_t *bias, const struct requant *q, uint32_t col, uint32_t n,
			  uint8_t *y);

	/* y[i] = a[i] + b[i] as @s says. NULL: this variant has none; tables are used. */
	void (*qsum)(const uint8_t *a, const uint8_t *b, size_t n, const struct qsum *s,
		     uint8_t *y);

	/*
	 * The same for floats: products are added to acc[r * KERNEL_COLS + c] in the order
	 * of the row. A panel is @panel values long; it holds the KERNEL_PANEL weights of
	 * each position in the row.
	 */
	void (*fgemm)(const float *x, size_t stride, unsigned int rows, const float *w,
		      size_t depth, size_t panel, unsigned int panels, float *acc);

	/*
	 * fgemm() by the weights of @n <= KERNEL_COLS channels that are not packed, in rows that are
	 * @apart values apart. Whole groups of 16 products are in 16 sums, one for each position, which
	 * begin at 0, and are added to the others as arithmetic.rst says; then come the rest. Sums of
	 * other channels are not defined. NULL: this variant has none.
	 */
	void (*fgemm_rows)(const float *x, size_t stride, unsigned int rows, const float *w,
			   size_t apart, size_t depth, unsigned int n, float *acc);

	/* y[r * y_stride + c] = clamp(acc[r * KERNEL_COLS + c] + bias[c]) for c < @n. */
	void (*finish)(const float *acc, unsigned int rows, const float *bias,
		       struct frange range, unsigned int n, float *y, size_t y_stride);

	/*
	 * fgemm() with sums that begin at 0, by as many panels as @n <= KERNEL_WIDE channels have,
	 * and then finish(). NULL: this variant has none.
	 */
	void (*fconv)(const float *x, size_t stride, unsigned int rows, const float *w,
		      size_t depth, size_t panel, const float *bias, struct frange range,
		      unsigned int n, float *y, size_t y_stride);

	/*
	 * fgemm() of one row with sums that begin at 0, and then finish(), for @n >= 1 channels, whose panels
	 * follow one another. NULL: this variant has none.
	 */
	void (*frow)(const float *x, size_t depth, const float *w, const float *bias,
		     struct frange range, uint32_t n, float *y);

	/*
	 * Write scale[j] * value of byte i of row j to panel[i * KERNEL_PANEL + j], for @n bytes of
	 * KERNEL_PANEL rows, which are @stride bytes apart. NULL: this variant has none.
	 */
	void (*pack_bytes)(const uint8_t *rows, size_t stride, size_t n, struct qbyte b,
			   const float *scale, float *panel);

	/*
	 * The same for numbers of half precision, which are written in single precision; @stride
	 * counts them. NULL: this variant has none.
	 */
	void (*pack_halves)(const uint16_t *rows, size_t stride, size_t n, float *panel);

	/*
	 * Channels [col, col + n) of pixels of a depthwise convolution of floats: the products of
	 * inputs and weights in the order of the taps, and the bias. Pointers are to channel 0.
	 */
	void (*fdepthwise)(const struct fdepthwise_pixels *p, const float *bias,
			   struct frange range, uint32_t col, uint32_t n, float *y);

	/* Of operations without products of matrices. */
	const struct row_kernels *rows;
};

/* What is in use. NULL: nobody has asked yet. */
struct kernels_choice {
	_Atomic(const struct kernels *) kernels;
	_Atomic(const struct row_kernels *) rows;
	atomic_bool plain;
};

extern struct kernels_choice kernels_choice;

/* Make the first choice. */
void kernels_choose(void);

/*
 * The best variant for this CPU, or the one that the environment variable NNPU_ISA names:
 * kernels_name() has the names, and "plain" is kernels_use_plain(). A name that is not known, or
 * of a variant that this CPU cannot run, chooses nothing. It is read once.
 */
static inline const struct kernels *kernels_get(void)
{
	/* Pairs with choose(): the other two are there, too. */
	const struct kernels *k = atomic_load_explicit(&kernels_choice.kernels, memory_order_acquire);

	if (k)
		return k;
	kernels_choose();
	return atomic_load_explicit(&kernels_choice.kernels, memory_order_relaxed);
}

/* The loops along rows of the variant in use; for plain loops, those of the baseline. */
static inline const struct row_kernels *kernels_rows(void)
{
	const struct row_kernels *k = atomic_load_explicit(&kernels_choice.rows, memory_order_relaxed);

	if (k)
		return k;
	kernels_choose();
	return atomic_load_explicit(&kernels_choice.rows, memory_order_relaxed);
}

/* Are operations computed by plain loops? See kernels_use_plain(). */
static inline bool kernels_plain(void)
{
	kernels_get();
	return atomic_load_explicit(&kernels_choice.plain, memory_order_relaxed);
}

/* Variant @i of those of this architecture, the baseline first; NULL: this CPU cannot run it. */
const struct kernels *kernels_variant(unsigned int i);

/* Its name, which is that of an instruction set; NULL after the last. */
const char *kernels_name(unsigned int i);

/*
 * The variants of kernels_avx2.c, kernels_avx512_madd.c and kernels_avx512_vnni.c, NULL if the CPU
 * cannot run them. Where the latter two run, AVX2 does.
 */
const struct kernels *kernels_avx2(void);
const struct kernels *kernels_avx512(void);
const struct kernels *kernels_avx512_vnni(void);

/* The variant of kernels_neon.c, NULL on other CPUs than little-endian AArch64. */
const struct kernels *kernels_neon(void);

/* For tests: as if NNPU_ISA were @name from now on; NULL: what it is. False: it chooses nothing. */
bool kernels_use(const char *name);

/*
 * For tests. With @on, operations are computed by plain loops from now on, term by term as
 * Documentation/operations/ defines them. Objects that are prepared already are not
 * affected.
 */
void kernels_use_plain(bool on);

#endif /* NNPU_EMU_KERNELS_H */
