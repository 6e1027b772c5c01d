/* SPDX-License-Identifier: MIT */
/*
 * Writing small TensorFlow Lite files for tests, valid ones and others.
 */
#ifndef TESTS_NNRUN_MODEL_WRITER_H
#define TESTS_NNRUN_MODEL_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MW_MAX		24
#define MW_MAX_SIZE	65536

/* A level of sparse data; lists of numbers of @type: 1 int32_t, 2 uint16_t, 3 uint8_t. */
struct mw_level {
	int format;
	uint32_t size;
	uint8_t type;
	uint32_t num_segments, num_indices;
	const void *segments, *indices;
};

struct mw_sparsity {
	uint32_t num_order, num_blocks, num_levels;
	int32_t order[6], blocks[3];
	struct mw_level levels[6];
};

/* A tensor; what is zero is left out of the file. */
struct mw_tensor {
	const char *name;
	int type;
	uint32_t rank;
	int32_t dims[9];
	const void *data;
	uint32_t data_size;
	float scales[MW_MAX];
	uint32_t num_scales;
	int64_t zero_point;		/* of every scale */
	uint32_t more_zero_points;	/* than there are scales */
	int32_t quantized_dim;
	bool variable;
	bool custom_quantization;
	const struct mw_sparsity *sparsity;
};

/* A field of an operator's options. */
struct mw_option {
	uint8_t kind;			/* MW_* */
	uint8_t slot;
	int32_t value;			/* number, or count of @list */
	float real;
	const void *list;		/* int32_t or int64_t, or the bytes of a text */
};

enum { MW_END, MW_I8, MW_I32, MW_F32, MW_LIST, MW_TEXT, MW_LIST64 };

struct mw_operator {
	int32_t code;
	const char *custom_name;
	uint32_t num_inputs;
	int32_t inputs[MW_MAX];
	uint32_t num_outputs;
	int32_t outputs[MW_MAX];
	uint8_t options_type;
	bool options_2;			/* @options_type is one of BuiltinOptions2 */
	struct mw_option options[9];	/* ends with MW_END */
	const void *custom;		/* options of a custom operator */
	uint32_t custom_size;
	uint32_t outside;		/* offset of four bytes of such options in the file */
	bool no_options;
	uint32_t times;			/* it is listed so often; 0 = 1 */
};

/* Subgraphs behind the main one. */
#define MW_MAX_SUBGRAPHS	20

struct mw_model {
	uint32_t version;		/* 0 = 3 */
	uint32_t num_subgraphs;		/* 0 = 1; further ones are @subgraphs, or empty */
	const struct mw_model *subgraphs[MW_MAX_SUBGRAPHS];
	struct mw_tensor tensors[MW_MAX];
	uint32_t num_tensors;
	struct mw_operator operators[MW_MAX];
	uint32_t num_operators;
	int32_t inputs[MW_MAX];
	uint32_t num_inputs;
	int32_t outputs[MW_MAX];
	uint32_t num_outputs;
	/* Signatures, all of one table: its key, and how often it names tensor 0 as input. */
	uint32_t num_signatures;
	const char *signature_key;
	uint32_t signature_inputs;
	uint32_t padded_inputs;		/* tensor 0 is so often among the inputs of the subgraph */
};

/* Write the file to @out, MW_MAX_SIZE bytes; returns its size. */
size_t mw_write(const struct mw_model *model, uint8_t *out);

#endif /* TESTS_NNRUN_MODEL_WRITER_H */
