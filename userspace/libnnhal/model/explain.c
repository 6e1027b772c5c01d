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

static void quantization_text(const struct nnhal_operand *o, char *text, size_t size)
{
	snprintf(text, size, "scale %.9g, zero point %d", (double)o->scale, o->zero_point);
}

void explain_reason(const struct nnhal_subgraph *sg, const struct nnhal_operation *o, uint32_t position,
		 uint32_t reason, char *text, size_t size)
{
	const char *said = device_reason_text(reason);
	const struct nnhal_operand *at, *other;
	char one[64], two[64];
	uint32_t index;

	snprintf(text, size, "%s", said);
	if (position == NNPU_OPERAND_NONE)
		return;
	position = operand_of_operation(o, position);
	if (position >= o->num_inputs + o->num_outputs)
		return;
	index = position < o->num_inputs ? o->inputs[position] : o->outputs[position - o->num_inputs];
	at = &sg->operands[index];
	quantization_text(at, one, sizeof(one));
	switch (reason) {
	case NNPU_REASON_TYPE:
	case NNPU_REASON_RANK:
		snprintf(text, size, "%s: %s of rank %u", said, nnhal_operand_type_name(at->type),
			 at->num_dimensions);
		break;
	case NNPU_REASON_SCALE:
	case NNPU_REASON_ZERO_POINT:
		snprintf(text, size, "%s: %s", said, one);
		break;
	case NNPU_REASON_QUANT_MISMATCH:
		/* What it is compared with is the first input, or of that the first output. */
		if (!o->num_inputs || !o->num_outputs)
			break;
		other = &sg->operands[position ? o->inputs[0] : o->outputs[0]];
		quantization_text(other, two, sizeof(two));
		snprintf(text, size, "%s: %s, and %s of %s 0", said, one, two,
			 position ? "input" : "output");
		break;
	default:
		break;
	}
}

void image_explain(const struct nnhal_model *model, const struct image *image,
		   const struct transport_load *result, struct nnhal_diag *diag)
{
	const char *status = device_status_text(result->status);
	const char *reason = device_reason_text(result->reason);
	const struct command_origin *command;
	const struct nnhal_subgraph *sg;
	const struct tensor_origin *origin;
	uint32_t index = result->index;
	char text[160], why[160];

	switch (result->status) {
	case NNPU_STATUS_PROGRAM_COMMAND:
	case NNPU_STATUS_PROGRAM_UNSUPPORTED:
		if (index >= image->num_commands)
			break;
		command = &image->command_origins[index];
		command_text(model, command, result->operand, text, sizeof(text));
		if (command->inner != UINT32_MAX) {
			sg = command->subgraph == MAIN_SUBGRAPH ? &model->main :
								  &model->referenced[command->subgraph];
			explain_reason(sg, &sg->operations[command->inner], result->operand,
				    result->reason, why, sizeof(why));
			reason = why;
		}
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
