// SPDX-License-Identifier: MIT
/*
 * A HAL model as a Graphviz graph: operands are d0, d1, ..., operations n0, n1, ...
 * in boxes; those of referenced subgraph k have the prefix s<k>_.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/hal_version.h"
#include "model/graph_dump.h"

struct stream {
	nnhal_text_callback write;
	void *context;
};

/* At most 255 bytes at once: all texts here are shorter. */
__attribute__((format(printf, 2, 3)))
static void put(const struct stream *stream, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	int length;

	va_start(ap, fmt);
	length = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (length > 0)
		stream->write(stream->context, text,
			      (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1);
}

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

static void write_value(const struct stream *stream, const struct nnhal_model *model,
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
		put(stream, " = %g", (double)real);
		break;
	case NNHAL_OPERAND_INT32:
		put(stream, " = %" PRId32, (int32_t)bits);
		break;
	case NNHAL_OPERAND_UINT32:
		put(stream, " = %" PRIu32, bits);
		break;
	case NNHAL_OPERAND_BOOL:
		put(stream, " = %s", bits ? "true" : "false");
		break;
	default:
		break;
	}
}

static void write_operand(const struct stream *stream, const struct nnhal_model *model,
			  const struct nnhal_subgraph *sg, const char *prefix, uint32_t index)
{
	const struct nnhal_operand *operand = &sg->operands[index];
	int64_t input = position(sg->input_indexes, sg->num_inputs, index);
	int64_t output = position(sg->output_indexes, sg->num_outputs, index);
	const char *lifetime = lifetime_text(operand->lifetime);
	uint32_t i;

	put(stream, "    %sd%" PRIu32 " [", prefix, index);
	if (input >= 0 || output >= 0)
		put(stream, "style=filled fillcolor=black fontcolor=white ");
	put(stream, "label=\"%" PRIu32, index);
	if (input >= 0)
		put(stream, " = input[%" PRId64 "]", input);
	if (output >= 0)
		put(stream, " = output[%" PRId64 "]", output);
	if (lifetime)
		put(stream, ": %s", lifetime);
	put(stream, "\\n%s", type_text(operand->type));
	write_value(stream, model, operand);
	for (i = 0; operand->dimensions && i < operand->num_dimensions; i++)
		put(stream, "%s%" PRIu32, i ? "x" : " ", operand->dimensions[i]);
	put(stream, "\"]\n");
}

/* Edges of one operation; they carry their position if there is more than one. */
static void write_edges(const struct stream *stream, const char *prefix, uint32_t index,
			const uint32_t *operands, uint32_t count, bool inputs)
{
	uint32_t i;

	for (i = 0; operands && i < count; i++) {
		if (inputs)
			put(stream, "    %sd%" PRIu32 " -> %sn%" PRIu32, prefix, operands[i],
				prefix, index);
		else
			put(stream, "    %sn%" PRIu32 " -> %sd%" PRIu32, prefix, index, prefix,
				operands[i]);
		if (count > 1)
			put(stream, " [label=%" PRIu32 "]", i);
		put(stream, "\n");
	}
}

static void write_subgraph(const struct stream *stream, const struct nnhal_model *model,
			   const struct nnhal_subgraph *sg, const char *prefix)
{
	uint32_t i;

	for (i = 0; sg->operands && i < sg->num_operands; i++)
		write_operand(stream, model, sg, prefix, i);
	for (i = 0; sg->operations && i < sg->num_operations; i++) {
		const struct nnhal_operation *op = &sg->operations[i];

		put(stream, "    %sn%" PRIu32 " [shape=box label=\"%" PRIu32 ": %s\"]\n",
			prefix, i, i, nnhal_operation_type_name(op->type));
		write_edges(stream, prefix, i, op->inputs, op->num_inputs, true);
		write_edges(stream, prefix, i, op->outputs, op->num_outputs, false);
	}
}

enum nnhal_status nnhal_graph_dump(const char *name, const struct nnhal_model *model,
				   nnhal_text_callback write, void *context)
{
	const struct stream stream = { write, context };
	uint32_t k;

	if (!model || !write || !layout_is_known(model->hal_version, "model", NULL))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	put(&stream, "// ");
	for (; name && *name; name++)
		put(&stream, "%c", (unsigned char)*name < 0x20 ? '?' : *name);
	put(&stream, "\ndigraph {\n");
	write_subgraph(&stream, model, &model->main, "");
	for (k = 0; model->referenced && k < model->num_referenced; k++) {
		char prefix[32];

		snprintf(prefix, sizeof(prefix), "s%" PRIu32 "_", k);
		put(&stream, "    subgraph cluster_%" PRIu32 " {\n    label=\"subgraph %" PRIu32
		    "\"\n", k, k);
		write_subgraph(&stream, model, &model->referenced[k], prefix);
		put(&stream, "    }\n");
	}
	put(&stream, "}\n");
	return NNHAL_STATUS_NONE;
}

/* Lines of the log that a text becomes. */
struct lines {
	const struct vlog *log;
	size_t length;
	char line[400];
};

static void add_to_line(void *context, const char *text, size_t length)
{
	struct lines *lines = context;
	size_t i;

	for (i = 0; i < length; i++) {
		if (text[i] == '\n') {
			lines->line[lines->length] = '\0';
			vlog_write(lines->log, NNHAL_LOG_MODEL, "%s", lines->line);
			lines->length = 0;
		} else if (lines->length < sizeof(lines->line) - 1) {
			lines->line[lines->length++] = text[i];
		}
	}
}

void graph_log(const struct vlog *log, const char *name, const struct nnhal_model *model)
{
	struct lines lines = { .log = log };

	if (VLOG_IS_ON(log, NNHAL_LOG_MODEL))
		nnhal_graph_dump(name, model, add_to_line, &lines);
}
