/* SPDX-License-Identifier: MIT */
/*
 * What nnrun needs to know of an input or output of a model. It says nothing of the file or
 * of the HAL model that the tensor belongs to.
 */
#ifndef NNRUN_TENSOR_H
#define NNRUN_TENSOR_H

#include <stddef.h>
#include <stdint.h>

#define TENSOR_MAX_RANK	8

/* A type that the HAL lacks: the extension's number, which is TensorFlow Lite's, above 2^16. */
#define TENSOR_OF_EXTENSION(number)	(1u << 16 | (number))
#define TENSOR_INT64		TENSOR_OF_EXTENSION(4)
#define TENSOR_COMPLEX64	TENSOR_OF_EXTENSION(8)
#define TENSOR_FLOAT64		TENSOR_OF_EXTENSION(10)
#define TENSOR_UINT64		TENSOR_OF_EXTENSION(12)
#define TENSOR_UINT32		TENSOR_OF_EXTENSION(15)
#define TENSOR_UINT16		TENSOR_OF_EXTENSION(16)

/**
 * struct tensor - an input or output
 * @name: name in the file, printable; may be empty
 * @type: enum nnhal_operand_type, or TENSOR_OF_EXTENSION()
 * @rank: number of dimensions, at least 1
 * @dims: sizes
 * @elements: product of @dims
 * @bytes: bytes of one sample
 * @scale: quantization scale, 0 if the type has none
 * @zero_point: quantization zero point
 */
struct tensor {
	char name[256];
	uint32_t type;
	uint32_t rank;
	uint32_t dims[TENSOR_MAX_RANK];
	size_t elements;
	size_t bytes;
	float scale;
	int32_t zero_point;
};

/* All inputs and outputs of a model, in the order of the file. */
struct tensors {
	struct tensor *inputs;
	struct tensor *outputs;
	uint32_t num_inputs;
	uint32_t num_outputs;
};

/* "1x49x10x1"; returns @text. */
const char *tensor_shape(const struct tensor *t, char *text, size_t size);

/* The same, in a buffer that lasts until the end of the enclosing block. */
#define TENSOR_SHAPE(t)	tensor_shape((t), (char[100]) { 0 }, 100)

/* Element @i as a number, dequantized; of a complex one the real part. */
double tensor_element(const struct tensor *t, const void *data, size_t i);

/*
 * How far element @i of @a and of @b are apart. Whole numbers of 64 bits are not rounded before. Not-a-number
 * agrees with itself and is infinitely far from all else. Of complex ones it is the length of the difference.
 */
double tensor_distance(const struct tensor *t, const void *a, const void *b, size_t i);

/* How far element @i is from zero. */
double tensor_magnitude(const struct tensor *t, const void *data, size_t i);

/* Element @i for people, dequantized; returns @text. */
const char *tensor_element_text(const struct tensor *t, const void *data, size_t i, char *text,
				size_t size);

/* All elements as numbers, to be freed; NULL without memory. */
double *tensor_reals(const struct tensor *t, const void *data);

/* Set element @i to the nearest value that its type and quantization have. */
void tensor_set(const struct tensor *t, void *data, size_t i, double value);

#endif /* NNRUN_TENSOR_H */
