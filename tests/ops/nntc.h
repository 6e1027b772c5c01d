/* SPDX-License-Identifier: MIT */
/*
 * Reader of NNTC files: operator test cases as plain numbers.
 *
 * Everything points into the bytes of the file, which stay the caller's.
 */
#ifndef NNPU_TESTS_NNTC_H
#define NNPU_TESTS_NNTC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum nntc_lifetime {
	NNTC_TEMPORARY,
	NNTC_INPUT,
	NNTC_OUTPUT,
	NNTC_CONSTANT_COPY,
	NNTC_CONSTANT_REFERENCE,
	NNTC_NO_VALUE,
	NNTC_SUBGRAPH,
};

struct nntc_operand {
	uint32_t type;
	uint8_t lifetime;
	bool ignore_output;
	uint8_t rank;
	float scale;
	int32_t zero_point;
	uint32_t channel_dim;
	uint32_t num_channel_scales;
	uint32_t dims[8];
	float *channel_scales;		/* allocated: the file aligns nothing */
	uint32_t num_bytes;
	const uint8_t *data;
};

struct nntc_operation {
	uint32_t type;
	unsigned int num_inputs, num_outputs;
	uint32_t *operands;		/* inputs, then outputs */
};

/* The main subgraph of a case. */
struct nntc_case {
	char name[256];
	bool relaxed;
	bool expect_failure;
	float multinomial_tolerance;
	uint32_t num_subgraphs;
	uint32_t num_operands, num_operations, num_inputs, num_outputs;
	struct nntc_operand *operands;
	struct nntc_operation *operations;
	uint32_t *inputs, *outputs;
};

struct nntc_file {
	uint8_t *bytes;
	size_t size;
	size_t at;			/* next case */
	uint32_t num_cases;
};

/* Read a file; false if it cannot be read or is no NNTC file. */
bool nntc_open(struct nntc_file *f, const char *path);
void nntc_close(struct nntc_file *f);

/* Read the next case; false if the file is malformed. */
bool nntc_next(struct nntc_file *f, struct nntc_case *c);
void nntc_free(struct nntc_case *c);

#endif /* NNPU_TESTS_NNTC_H */
