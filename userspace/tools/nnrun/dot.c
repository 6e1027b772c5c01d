// SPDX-License-Identifier: MIT
/*
 * A HAL model as a Graphviz graph: operands are d0, d1, ..., operations n0, n1, ...
 * in boxes; those of referenced subgraph k have the prefix s<k>_.
 */
#include <inttypes.h>
#include <string.h>

#include "dot.h"

static const char *type_text(uint32_t type)
{
	switch (type) {
	case NNHAL_OPERAND_FLOAT32:
		return "F32";
	case NNHAL_OPERAND_INT32:
		return "I32";
	case NNHAL_OPERAND_UINT32:
		return "U32";
	case NNHAL_OPERAND_TENSOR_FLOAT32:
		return "TF32";
	case NNHAL_OPERAND_TENSOR_INT32:
		return "TI32";
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM:
		return "TQ8A";
	case NNHAL_OPERAND_OEM:
		return "OEM";
	case NNHAL_OPERAND_TENSOR_OEM_BYTE:
		return "TOEMB";
	default:
		return nnhal_operand_type_name(type);
	}
}

static const char *lifetime_text(uint32_t lifetime)
{
	switch (lifetime) {
	case NNHAL_LIFETIME_CONSTANT_COPY:
		return "COPY";
	case NNHAL_LIFETIME_CONSTANT_REFERENCE:
		return "REF";
	case NNHAL_LIFETIME_NO_VALUE:
		return "NO";
	case NNHAL_LIFETIME_SUBGRAPH:
		return "SUBGRAPH";
	default:
		return NULL;
	}
}

/* Position of @operand in a list of inputs or outputs, or -1. */
static int64_t position(const uint32_t *list, uint32_t count, uint32_t operand)
{
	uint32_t i;

	for (i = 0; list && i < count; i++)
		if (list[i] == operand)
			return i;
	return -1;
}

static void write_value(FILE *stream, const struct nnhal_model *model,
			const struct nnhal_operand *operand)
{
	const uint8_t *values = model->operand_values;
	uint32_t size = nnhal_element_size(operand->type);
	uint64_t offset = operand->location.offset;
	uint32_t bits;
	float real;

	if (operand->lifetime != NNHAL_LIFETIME_CONSTANT_COPY || size == 0 || !values ||
	    !nnhal_operand_type_is_scalar(operand->type) ||
	    operand->location.length != size || offset + size > model->operand_values_size)
		return;
	values += offset;
	bits = values[0];
	if (size == 4)
		memcpy(&bits, values, 4);
	switch (operand->type) {
	case NNHAL_OPERAND_FLOAT32:
		memcpy(&real, &bits, 4);
		fprintf(stream, " = %g", (double)real);
		break;
	case NNHAL_OPERAND_INT32:
		fprintf(stream, " = %" PRId32, (int32_t)bits);
		break;
	case NNHAL_OPERAND_UINT32:
		fprintf(stream, " = %" PRIu32, bits);
		break;
	case NNHAL_OPERAND_BOOL:
		fprintf(stream, " = %s", bits ? "true" : "false");
		break;
	default:
		break;
	}
}

static void write_operand(FILE *stream, const struct nnhal_model *model,
			  const struct nnhal_subgraph *sg, const char *prefix, uint32_t index)
{
	const struct nnhal_operand *operand = &sg->operands[index];
	int64_t input = position(sg->input_indexes, sg->num_inputs, index);
	int64_t output = position(sg->output_indexes, sg->num_outputs, index);
	const char *lifetime = lifetime_text(operand->lifetime);
	uint32_t i;

	fprintf(stream, "    %sd%" PRIu32 " [", prefix, index);
	if (input >= 0 || output >= 0)
		fprintf(stream, "style=filled fillcolor=black fontcolor=white ");
	fprintf(stream, "label=\"%" PRIu32, index);
	if (input >= 0)
		fprintf(stream, " = input[%" PRId64 "]", input);
	if (output >= 0)
		fprintf(stream, " = output[%" PRId64 "]", output);
	if (lifetime)
		fprintf(stream, ": %s", lifetime);
	fprintf(stream, "\\n%s", type_text(operand->type));
	write_value(stream, model, operand);
	for (i = 0; operand->dimensions && i < operand->num_dimensions; i++)
		fprintf(stream, "%s%" PRIu32, i ? "x" : " ", operand->dimensions[i]);
	fprintf(stream, "\"]\n");
}

/* Edges of one operation; they carry their position if there is more than one. */
static void write_edges(FILE *stream, const char *prefix, uint32_t index,
			const uint32_t *operands, uint32_t count, bool inputs)
{
	uint32_t i;

	for (i = 0; operands && i < count; i++) {
		if (inputs)
			fprintf(stream, "    %sd%" PRIu32 " -> %sn%" PRIu32, prefix, operands[i],
				prefix, index);
		else
			fprintf(stream, "    %sn%" PRIu32 " -> %sd%" PRIu32, prefix, index, prefix,
				operands[i]);
		if (count > 1)
			fprintf(stream, " [label=%" PRIu32 "]", i);
		fprintf(stream, "\n");
	}
}

static void write_subgraph(FILE *stream, const struct nnhal_model *model,
			   const struct nnhal_subgraph *sg, const char *prefix)
{
	uint32_t i;

	for (i = 0; sg->operands && i < sg->num_operands; i++)
		write_operand(stream, model, sg, prefix, i);
	for (i = 0; sg->operations && i < sg->num_operations; i++) {
		const struct nnhal_operation *op = &sg->operations[i];

		fprintf(stream, "    %sn%" PRIu32 " [shape=box label=\"%" PRIu32 ": %s\"]\n",
			prefix, i, i, nnhal_operation_type_name(op->type));
		write_edges(stream, prefix, i, op->inputs, op->num_inputs, true);
		write_edges(stream, prefix, i, op->outputs, op->num_outputs, false);
	}
}

void dot_write(FILE *stream, const char *name, const struct nnhal_model *model)
{
	uint32_t k;

	fprintf(stream, "// ");
	for (; *name; name++)
		fputc((unsigned char)*name < 0x20 ? '?' : *name, stream);
	fprintf(stream, "\ndigraph {\n");
	write_subgraph(stream, model, &model->main, "");
	for (k = 0; model->referenced && k < model->num_referenced; k++) {
		char prefix[32];

		snprintf(prefix, sizeof(prefix), "s%" PRIu32 "_", k);
		fprintf(stream, "    subgraph cluster_%" PRIu32 " {\n    label=\"subgraph %" PRIu32
			"\"\n", k, k);
		write_subgraph(stream, model, &model->referenced[k], prefix);
		fprintf(stream, "    }\n");
	}
	fprintf(stream, "}\n");
}
