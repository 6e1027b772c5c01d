// SPDX-License-Identifier: MIT
/*
 * Commands and verdicts of the device in terms of the model.
 */
#include <stdio.h>

#include <nnhal/nnhal.h>

#include "base/diag.h"
#include "base/status.h"
#include "device/extensions.h"
#include "model/explain.h"
#include "model/model_image.h"
#include "transport/transport.h"

/* " input 2 (operand 7)" of a command, or nothing. */
static void explain_operand(const struct nnhal_operation *o, uint32_t operand, char *text,
			    size_t size)
{
	text[0] = '\0';
	if (operand == NNPU_OPERAND_NONE)
		return;
	operand = operand_of_operation(o, operand);
	if (operand < o->num_inputs)
		snprintf(text, size, " input %u (operand %u)", operand, o->inputs[operand]);
	else if (operand - o->num_inputs < o->num_outputs)
		snprintf(text, size, " output %u (operand %u)", operand - o->num_inputs,
			 o->outputs[operand - o->num_inputs]);
}

void command_text(const struct nnhal_model *model, const struct command_origin *origin,
		  uint32_t operand, char *text, size_t size)
{
	bool is_main = origin->subgraph == MAIN_SUBGRAPH;
	const struct nnhal_subgraph *sg = is_main ? &model->main :
						    &model->referenced[origin->subgraph];
	char where[32] = "", which[64], name[96];
	const struct nnhal_operation *o;

	if (!is_main)
		snprintf(where, sizeof(where), "subgraph %u ", origin->subgraph);
	if (origin->inner == UINT32_MAX) {
		snprintf(text, size, "%sas a whole", where);
		return;
	}
	o = &sg->operations[origin->inner];
	explain_operand(o, operand, which, sizeof(which));
	snprintf(text, size, "%soperation %u (%s)%s", where, origin->inner,
		 operation_text(model, o->type, name, sizeof(name)), which);
}

void image_explain(const struct nnhal_model *model, const struct image *image,
		   const struct transport_load *result, struct nnhal_diag *diag)
{
	const char *status = device_status_text(result->status);
	const char *reason = device_reason_text(result->reason);
	const struct tensor_origin *origin;
	uint32_t index = result->index;
	char text[160];

	switch (result->status) {
	case NNPU_STATUS_PROGRAM_COMMAND:
	case NNPU_STATUS_PROGRAM_UNSUPPORTED:
		if (index >= image->num_commands)
			break;
		command_text(model, &image->command_origins[index], result->operand, text,
			     sizeof(text));
		diag_set(diag, "%s: %s: %s", text, status, reason);
		return;
	case NNPU_STATUS_PROGRAM_TENSOR:
	case NNPU_STATUS_INVALID_SLOT:
	case NNPU_STATUS_SLOT_BOUNDS:
	case NNPU_STATUS_SLOT_RIGHTS:
	case NNPU_STATUS_DMA_ERROR:
		if (index >= image->num_tensors)
			break;
		origin = &image->tensor_origins[index];
		if (origin->subgraph == MAIN_SUBGRAPH)
			diag_set(diag, "operand %u: %s: %s", origin->operand, status, reason);
		else
			diag_set(diag, "subgraph %u operand %u: %s: %s", origin->subgraph,
				 origin->operand, status, reason);
		return;
	default:
		break;
	}
	diag_set(diag, "program: %s: %s", status, reason);
}
