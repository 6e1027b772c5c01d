/* SPDX-License-Identifier: MIT */
/*
 * Boxes of object detection.
 */
#ifndef NNPU_EMU_BBOX_H
#define NNPU_EMU_BBOX_H

#include "real.h"

/* Scale of boxes in TENSOR_QUANT16_ASYMM. */
#define BBOX_SCALE	0.125f

struct bbox {
	float x1, y1, x2, y2;
};

/* Box @i of a tensor of boxes. */
struct bbox bbox_at(const struct tensor *t, size_t i);
void bbox_put(const struct tensor *t, size_t i, struct bbox b);

/*
 * Move @b by @d[0] and @d[1] times its size in x and y, scale its size by the exponentials
 * of @d[2] and @d[3], and clip it to an image of this size.
 */
struct bbox bbox_transform(struct bbox b, const float *d, float height, float width);

/* Intersection over union; 0 for boxes without area. */
float bbox_overlap(struct bbox a, struct bbox b);

/*
 * Sort the @count indices in @picked by score, best first. Leave out boxes that overlap a
 * better one by @overlap or more, and stop at @limit boxes. @boxes and @scores are arrays
 * by index. Returns how many are left, or -1 for an abort.
 */
int64_t bbox_pick(struct op_pace *pace, const struct bbox *boxes, const float *scores,
		  uint32_t *picked, uint32_t count, float overlap, uint32_t limit);

/*
 * Sort @count indices by score, best first, equal ones by index. Only the first @limit
 * have to be in order. False: abort.
 */
bool bbox_sort(struct op_pace *pace, const float *scores, uint32_t *picked, uint32_t count,
	       uint32_t limit);

/*
 * Operand @i is a tensor of boxes (or of image sizes) for an operation whose input
 * @values is quantized or of a float type: QUANT16_ASYMM or that type.
 */
int bbox_check_type(const struct op_call *c, unsigned int i, unsigned int values);

/* A scalar float that goes with a float type or with a quantized tensor at input @values. */
int bbox_check_scalar(const struct op_call *c, unsigned int i, unsigned int values);

#endif /* NNPU_EMU_BBOX_H */
