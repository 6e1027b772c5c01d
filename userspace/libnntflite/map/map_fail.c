// SPDX-License-Identifier: MIT
/*
 * Naming what is at fault: subgraph, operator and tensor.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mapper.h"

/* The tensor that people know an operator by: what it computes, else what it reads. */
static const struct tflite_tensor *tensor_of(const struct mapper *m, const char **verb)
{
	const struct tflite_tensor *tensor = NULL;
	uint32_t i;

	*verb = "computes";
	for (i = 0; i < m->op->outputs.count && !tensor; i++)
		tensor = output_tensor(m, i);
	if (tensor)
		return tensor;
	*verb = "reads";
	for (i = 0; i < m->op->inputs.count && !tensor; i++)
		tensor = input_tensor(m, i);
	return tensor;
}

int map_name_place(struct mapper *m)
{
	struct nntflite_diag *diag = m->diag;
	const struct tflite_tensor *tensor;
	char name[80], place[32] = "";
	size_t used = strlen(diag->message);
	const char *verb;

	diag->subgraph = m->sub_index;
	if (m->sub_index != 0)
		snprintf(place, sizeof(place), "subgraph %" PRIu32 ", ", m->sub_index);
	if (!m->op)
		return diag_prefix(diag, "%s", place);
	diag->op = m->op_index;
	tensor = diag->tensor == NNTFLITE_NONE ? tensor_of(m, &verb) : NULL;
	if (tensor) {
		diag->tensor = tensor_index(m, tensor);
		snprintf(diag->message + used, sizeof(diag->message) - used, " (it %s tensor %" PRIu32
			 " '%s')", verb, diag->tensor, TEXT(tensor->name));
	}
	/* As the file has it: m->op may be the operator that serves for it. */
	return diag_prefix(diag, "%soperator %" PRIu32 " (%s): ", place, m->op_index,
			   tflite_operator_name(&m->sub->operators[m->op_index], name,
						sizeof(name)));
}

int map_fail(struct mapper *m, const char *fmt, ...)
{
	char text[400];
	va_list args;

	if (m->diag->message[0] != '\0')
		return -1;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	diag_fail(m->diag, "%s", text);
	return map_name_place(m);
}

int tensor_fail(struct mapper *m, const struct tflite_tensor *tensor, const char *fmt, ...)
{
	char text[256];
	va_list args;

	if (m->diag->message[0] != '\0')
		return -1;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	m->diag->tensor = tensor_index(m, tensor);
	return map_fail(m, "tensor %" PRIu32 " '%s': %s", tensor_index(m, tensor),
			TEXT(tensor->name), text);
}
