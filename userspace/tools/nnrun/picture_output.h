/* SPDX-License-Identifier: MIT */
/*
 * Outputs that belong to a picture: boxes of detectors, key points, segments.
 */
#ifndef NNRUN_PICTURE_OUTPUT_H
#define NNRUN_PICTURE_OUTPUT_H

#include <stdio.h>

#include "best_classes.h"
#include "media/image.h"
#include "tensor.h"

enum picture_kind {
	PICTURE_NONE,
	PICTURE_BOXES,		/* four outputs of TFLite_Detection_PostProcess */
	PICTURE_POINTS,		/* 1 x 1 x points x 3: y, x, score */
	PICTURE_SEGMENTS,	/* 1 x height x width x classes */
};

/* Which outputs these are. */
struct picture_outputs {
	enum picture_kind kind;
	uint32_t first;
};

/* Find them by their shapes. */
struct picture_outputs picture_find(const struct tensors *tensors);

/* How many classes, points or segments have a label; 0 if that is not known, as of boxes. */
size_t picture_labels(struct picture_outputs which, const struct tensors *tensors);

/*
 * Print boxes and points whose score is at least @min_score; of segments, the part of the
 * picture that each class has. 0 or -1.
 */
int picture_print(FILE *stream, struct picture_outputs which, const struct tensors *tensors,
		  const void *const *outputs, double min_score, const struct labels *labels,
		  struct error *err);

/* Draw the same into a picture; a segment is mixed with the colour of its class. 0 or -1. */
int picture_draw(struct image *image, struct picture_outputs which,
		 const struct tensors *tensors, const void *const *outputs, double min_score,
		 struct error *err);

#endif /* NNRUN_PICTURE_OUTPUT_H */
