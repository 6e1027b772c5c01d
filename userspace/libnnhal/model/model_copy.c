// SPDX-License-Identifier: MIT
/*
 * Private copies of models.
 *
 * The library validates and lowers a copy of the model: another thread that writes to the
 * caller's structures cannot change what was checked. Every count is read once, and all
 * loops use the count of the copy.
 */
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/diag.h"
#include "base/hal_version.h"
#include "device/extensions.h"
#include "memory/memory_private.h"
#include "model/model_copy.h"

/*
 * Memory for a copy is allocated in pieces that form a list. One walk over the caller's
 * structures is enough; two walks could disagree.
 */
struct piece {
	struct piece *next;
	max_align_t data[];
};

struct copier {
	struct piece *pieces;
	struct nnhal_diag *diag;
	enum nnhal_status status;
};

/* Copy @count elements; an empty vector becomes NULL. NULL with status set on error. */
static void *copy_array(struct copier *c, const void *from, uint64_t count, size_t size,
			const char *what)
{
	struct piece *piece;

	if (!count || c->status)
		return NULL;
	if (!from) {
		diag_set(c->diag, "%s: NULL pointer for %llu entries", what,
			 (unsigned long long)count);
		c->status = NNHAL_STATUS_INVALID_ARGUMENT;
		return NULL;
	}
	if (count > (SIZE_MAX - sizeof(*piece)) / size ||
	    !(piece = malloc(sizeof(*piece) + count * size))) {
		diag_set(c->diag, "%s: no memory to copy %llu entries", what,
			 (unsigned long long)count);
		c->status = NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
		return NULL;
	}
	piece->next = c->pieces;
	c->pieces = piece;
	memcpy(piece->data, from, count * size);
	return piece->data;
}

static void copy_operand(struct copier *c, struct nnhal_operand *op)
{
	struct nnhal_extra_params *extra = &op->extra_params;

	op->dimensions = copy_array(c, op->dimensions, op->num_dimensions,
				    sizeof(*op->dimensions), "operand dimensions");
	if (extra->kind == NNHAL_EXTRA_PARAMS_CHANNEL_QUANT)
		extra->channel_quant.scales =
			copy_array(c, extra->channel_quant.scales,
				   extra->channel_quant.num_scales,
				   sizeof(*extra->channel_quant.scales), "channel scales");
	/* The library does not interpret the bytes; the device does. */
	if (extra->kind != NNHAL_EXTRA_PARAMS_EXTENSION)
		extra->extension_size = 0;
	extra->extension = copy_array(c, extra->extension, extra->extension_size, 1,
				      "extension data");
}

static void copy_subgraph(struct copier *c, struct nnhal_subgraph *sg)
{
	struct nnhal_operation *operations;
	struct nnhal_operand *operands;
	uint32_t i;

	operands = copy_array(c, sg->operands, sg->num_operands, sizeof(*operands), "operands");
	operations = copy_array(c, sg->operations, sg->num_operations, sizeof(*operations),
				"operations");
	sg->operands = operands;
	sg->operations = operations;
	sg->input_indexes = copy_array(c, sg->input_indexes, sg->num_inputs,
				       sizeof(*sg->input_indexes), "inputIndexes");
	sg->output_indexes = copy_array(c, sg->output_indexes, sg->num_outputs,
					sizeof(*sg->output_indexes), "outputIndexes");
	if (c->status)
		return;
	for (i = 0; i < sg->num_operands; i++)
		copy_operand(c, &operands[i]);
	for (i = 0; i < sg->num_operations; i++) {
		operations[i].inputs = copy_array(c, operations[i].inputs,
						  operations[i].num_inputs,
						  sizeof(uint32_t), "operation inputs");
		operations[i].outputs = copy_array(c, operations[i].outputs,
						   operations[i].num_outputs,
						   sizeof(uint32_t), "operation outputs");
	}
}

static void copy_extensions(struct copier *c, struct nnhal_model *model)
{
	struct nnhal_extension_prefix *ext;
	size_t length;
	char *name;
	uint32_t i;

	ext = copy_array(c, model->extensions, model->num_extensions, sizeof(*ext),
			 "extensionNameToPrefix");
	model->extensions = ext;
	for (i = 0; ext && i < model->num_extensions; i++) {
		if (!ext[i].name)
			continue;
		length = strlen(ext[i].name);
		name = copy_array(c, ext[i].name, length + 1, 1, "extension name");
		/* Somebody may have written to the caller's in between. */
		if (name)
			name[length] = '\0';
		ext[i].name = name;
	}
}

static void free_pieces(struct piece *piece)
{
	struct piece *next;

	for (; piece; piece = next) {
		next = piece->next;
		free(piece);
	}
}

enum nnhal_status model_copy_init(struct model_copy *copy, const struct nnhal_model *model,
				  struct nnhal_diag *diag)
{
	struct copier c = { .diag = diag };
	struct nnhal_subgraph *referenced;
	struct nnhal_memory **pools;
	uint32_t i;

	copy->model = *model;
	if (!layout_is_known(copy->model.hal_version, "model", diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	copy_subgraph(&c, &copy->model.main);
	referenced = copy_array(&c, model->referenced, copy->model.num_referenced,
				sizeof(*referenced), "referenced subgraphs");
	copy->model.referenced = referenced;
	for (i = 0; referenced && i < copy->model.num_referenced; i++)
		copy_subgraph(&c, &referenced[i]);
	copy_extensions(&c, &copy->model);
	pools = copy_array(&c, copy->model.pools, copy->model.num_pools, sizeof(*pools),
			   "pools");
	copy->model.pools = pools;
	if (!copy->model.operand_values && copy->model.operand_values_size && !c.status) {
		diag_set(diag, "operandValues: NULL pointer for %zu bytes",
			 copy->model.operand_values_size);
		c.status = NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (c.status) {
		free_pieces(c.pieces);
		return c.status;
	}
	for (i = 0; i < copy->model.num_pools; i++)
		if (pools[i])
			nnhal_memory_ref(pools[i]);
	copy->block = c.pieces;
	return NNHAL_STATUS_NONE;
}

void model_copy_fini(struct model_copy *copy)
{
	uint32_t i;

	for (i = 0; i < copy->model.num_pools; i++)
		nnhal_memory_unref(copy->model.pools[i]);
	free_pieces(copy->block);
	copy->block = NULL;
}
