/* SPDX-License-Identifier: MIT */
/*
 * Reader of NNTC files: operator test cases as plain numbers.
 *
 * A file may hold anything. What the reader hands out is consistent: indexes of
 * operands and subgraphs exist, and data is as long as the shape of its operand says
 * (see struct nntc_operand). Whether the model makes sense is for the HAL to judge.
 */
#ifndef TOOLS_NNTC_H
#define TOOLS_NNTC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NNTC_MAX_RANK	8

/* Largest file that is read, bytes. */
#define NNTC_MAX_FILE	(1u << 30)

enum nntc_lifetime {
	NNTC_TEMPORARY,
	NNTC_INPUT,
	NNTC_OUTPUT,
	NNTC_CONSTANT_COPY,
	NNTC_CONSTANT_REFERENCE,
	NNTC_NO_VALUE,
	NNTC_SUBGRAPH,
};

/**
 * struct nntc_operand - an operand and its value
 * @type: OperandType of the HAL
 * @lifetime: enum nntc_lifetime
 * @ignore_output: the value of this output is not compared
 * @rank: dimensions; 0 for scalars and tensors of unknown rank
 * @scale: quantization scale
 * @zero_point: quantization zero point
 * @channel_dim: dimension that @channel_scales belong to
 * @num_channel_scales: entries of @channel_scales
 * @dims: sizes, 0 = unknown or none
 * @channel_scales: per-channel scales, aligned
 * @subgraph: NNTC_SUBGRAPH: which of the referenced subgraphs
 * @num_bytes: bytes of @data. Inputs: what the shape takes, or 0 if the input is
 *	omitted. Constants: what the shape takes. Outputs: likewise, 0, or elements of
 *	a shape that is not known. 0 for all others
 * @data: the value or, of an output, the expected one; aligned to nothing
 */
struct nntc_operand {
	uint32_t type;
	uint8_t lifetime;
	bool ignore_output;
	uint8_t rank;
	float scale;
	int32_t zero_point;
	uint32_t channel_dim;
	uint32_t num_channel_scales;
	uint32_t dims[NNTC_MAX_RANK];
	float *channel_scales;
	uint32_t subgraph;
	uint32_t num_bytes;
	const uint8_t *data;
};

struct nntc_operation {
	uint32_t type;
	unsigned int num_inputs, num_outputs;
	uint32_t *operands;		/* inputs, then outputs */
};

struct nntc_subgraph {
	uint32_t num_operands, num_operations, num_inputs, num_outputs;
	struct nntc_operand *operands;
	struct nntc_operation *operations;
	uint32_t *inputs, *outputs;
};

/**
 * struct nntc_case - a model and what it has to give
 * @name: printable ASCII
 * @min_hal_version: 0 unknown, 1 = 1.0, 2 = 1.1, 3 = 1.2, 4 = 1.3
 * @relaxed: relaxComputationFloat32toFloat16
 * @expect_failure: compilation or execution must be refused
 * @multinomial_tolerance: > 0: frequencies are compared instead of values
 * @main: main subgraph
 * @num_referenced: entries of @referenced
 * @referenced: subgraphs that operands of lifetime NNTC_SUBGRAPH name
 */
struct nntc_case {
	char name[256];
	uint8_t min_hal_version;
	bool relaxed;
	bool expect_failure;
	float multinomial_tolerance;
	struct nntc_subgraph main;
	uint32_t num_referenced;
	struct nntc_subgraph *referenced;
};

/**
 * struct nntc_file - a file being read
 * @num_cases: cases the file says it has
 * @error: after a failure: offset, place, what is wrong and what was expected
 * @bytes: the file
 * @size: bytes of @bytes
 * @at: where the next case starts
 * @next: number of the next case
 * @owned: @bytes to free, or NULL
 */
struct nntc_file {
	uint32_t num_cases;
	char error[320];
	const uint8_t *bytes;
	size_t size;
	size_t at;
	uint32_t next;
	uint8_t *owned;
};

/* Read a file. After false there is a text in @f->error, and nothing to close. */
bool nntc_open(struct nntc_file *f, const char *path);

/* The same for bytes in memory. They must stay valid until nntc_close(). */
bool nntc_open_bytes(struct nntc_file *f, const void *bytes, size_t size);

void nntc_close(struct nntc_file *f);

/*
 * Read the next of the @num_cases cases; what it points to lasts until the file is
 * closed. After false there is a text in @f->error, and nothing to free.
 */
bool nntc_next(struct nntc_file *f, struct nntc_case *c);
void nntc_free(struct nntc_case *c);

/* Bytes of an element or scalar of the HAL's types; 0 for types without a size. */
uint32_t nntc_element_size(uint32_t type);

/* Is this type of the HAL a scalar? */
bool nntc_is_scalar(uint32_t type);

#endif /* TOOLS_NNTC_H */
