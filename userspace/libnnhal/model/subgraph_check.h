/* SPDX-License-Identifier: MIT */
/*
 * What the checks of one subgraph share.
 */
#ifndef NNHAL_SUBGRAPH_CHECK_H
#define NNHAL_SUBGRAPH_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include <nnhal/nnhal.h>

#include "base/diag.h"

struct subgraph_check {
	const struct nnhal_model *model;
	const struct nnhal_subgraph *sg;
	uint32_t version;
	char where[24];			/* "" or "subgraph 3 " */
	const uint32_t *known;		/* signature_known() of the operands */
	struct nnhal_diag *diag;
};

#define FAIL(c, fmt, ...) \
	(diag_set((c)->diag, "%s" fmt, (c)->where, ##__VA_ARGS__), false)

static inline bool validate_is_constant(const struct nnhal_operand *op)
{
	return op->lifetime == NNHAL_LIFETIME_CONSTANT_COPY ||
	       op->lifetime == NNHAL_LIFETIME_CONSTANT_REFERENCE;
}

/* The high half of an extension type names an extension of the model. */
static inline bool validate_known_prefix(const struct nnhal_model *model, uint32_t type)
{
	uint32_t i;

	for (i = 0; i < model->num_extensions; i++)
		if (model->extensions[i].prefix == type >> 16)
			return true;
	return false;
}

/* Type, shape, quantization, lifetime and location of operand @i. */
bool validate_operand(const struct subgraph_check *c, uint32_t i);

#endif /* NNHAL_SUBGRAPH_CHECK_H */
