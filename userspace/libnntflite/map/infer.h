/* SPDX-License-Identifier: MIT */
/*
 * Shapes that operators compute, and small integer values that shapes depend on.
 *
 * A file whose inputs may have several shapes stores those of one case. For another case,
 * or where a shape depends on values, the shapes of all results follow from those of the
 * inputs. What cannot be found here stays unknown: the device finds it while it runs.
 */
#ifndef NNTFLITE_MAP_INFER_H
#define NNTFLITE_MAP_INFER_H

#include "../file/tflite.h"

/* Integer values are followed up to this many elements: the rank of a tensor. */
#define INFER_MAX_VALUES	TFLITE_MAX_RANK

/**
 * struct extent - what is known of a tensor
 * @rank: number of dimensions, -1 if it is not known; 0 for a scalar
 * @dims: sizes, -1 for those that are not known
 * @num_values: how many of @values are known: all elements of the tensor, or 0
 * @values: values of an int32 or int64 tensor, each within 32 bits
 */
struct extent {
	int32_t rank;
	int64_t dims[TFLITE_MAX_RANK];
	uint32_t num_values;
	int64_t values[INFER_MAX_VALUES];
};

extern const struct extent extent_unknown;

/**
 * struct inference - an operator whose results are looked for
 * @sub: its subgraph
 * @op: the operator
 * @options: its options, with a reader of the caller's
 * @extents: of all tensors of the subgraph
 */
struct inference {
	const struct tflite_subgraph *sub;
	const struct tflite_operator *op;
	struct fb_table options;
	struct extent *extents;
};

/**
 * infer_operator() - the extents of the results of an operator
 * @inference: operator; extents of its inputs are filled in, those of its outputs are
 *	set. They are unknown if the operator is not one of those that are followed, or if
 *	its inputs do not fit together: the mapping and the device say why
 */
void infer_operator(struct inference *inference);

/* What infer.c and infer_layout.c share. */
const struct extent *infer_input(const struct inference *inf, uint32_t pos);
void infer_set(struct inference *inf, uint32_t pos, const struct extent *extent);
/* Number of elements; -1 if it is not known. */
int64_t extent_elements(const struct extent *e);
/* An axis from the end or the beginning as one from the beginning; -1 if it is none. */
int32_t infer_axis(int64_t axis, int32_t rank);

/* Operators that move elements: infer_layout.c. Returns whether @code is one of them. */
bool infer_layout(struct inference *inf, int32_t code);

#endif /* NNTFLITE_MAP_INFER_H */
