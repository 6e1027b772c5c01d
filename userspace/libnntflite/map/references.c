// SPDX-License-Identifier: MIT
/*
 * Subgraphs that an operator runs: where its options name them.
 */
#include "references.h"

/* Slots of the options tables, in the order of the schema. */
enum { CALL_SUBGRAPH };
enum { IF_THEN, IF_ELSE };
enum { WHILE_CONDITION, WHILE_BODY };
enum { COMPOSITE_NAME, COMPOSITE_DECOMPOSITION };
enum { CASE_BRANCHES };

/* The index of the branch is the first input. The last branch serves all other indices. */
static bool case_references(const struct fb_table *options, struct references *refs)
{
	struct fb_vector branches = fb_vector(options, CASE_BRANCHES, 4);
	uint32_t i;

	if (branches.count < 1 || branches.count > 2)
		return false;
	refs->like = branches.count == 1 ? TFLITE_CALL : TFLITE_IF;
	refs->first = 1;
	refs->count = branches.count;
	for (i = 0; i < branches.count; i++)
		refs->subgraphs[i] = (uint32_t)fb_vector_i32(&branches, i);
	return true;
}

bool op_references(const struct tflite_operator *op, struct fb_reader *reader,
		   struct references *refs)
{
	struct fb_table options = op->options, options_2 = op->options_2;

	options.reader = reader;
	options_2.reader = reader;
	*refs = (struct references){ .count = 2 };
	switch (op->code) {
	case TFLITE_CALL:
		refs->like = TFLITE_CALL;
		refs->count = 1;
		refs->subgraphs[0] = fb_u32(&options, CALL_SUBGRAPH, 0);
		return true;
	case TFLITE_STABLEHLO_COMPOSITE:
		refs->like = TFLITE_CALL;
		refs->count = 1;
		refs->subgraphs[0] = fb_u32(&options_2, COMPOSITE_DECOMPOSITION, 0);
		return true;
	case TFLITE_IF:
		refs->like = TFLITE_IF;
		refs->first = 1;
		refs->subgraphs[0] = fb_u32(&options, IF_THEN, 0);
		refs->subgraphs[1] = fb_u32(&options, IF_ELSE, 0);
		return true;
	case TFLITE_STABLEHLO_CASE:
		return case_references(&options_2, refs);
	case TFLITE_WHILE:
		refs->like = TFLITE_WHILE;
		refs->subgraphs[0] = fb_u32(&options, WHILE_CONDITION, 0);
		refs->subgraphs[1] = fb_u32(&options, WHILE_BODY, 0);
		return true;
	case TFLITE_STABLEHLO_WHILE:
		refs->like = TFLITE_WHILE;
		refs->subgraphs[0] = fb_u32(&options_2, WHILE_CONDITION, 0);
		refs->subgraphs[1] = fb_u32(&options_2, WHILE_BODY, 0);
		return true;
	default:
		return false;
	}
}
