/* SPDX-License-Identifier: MIT */
/*
 * Private copies of models.
 */
#ifndef NNHAL_MODEL_COPY_H
#define NNHAL_MODEL_COPY_H

#include <nnhal/nnhal.h>

/*
 * A private copy of a model. The bytes of constants are not copied: operand_values points
 * to the caller's bytes, and is valid only until the call that made the copy returns. The
 * copy holds references of the pools.
 */
struct model_copy {
	struct nnhal_model model;
	void *block;
};

enum nnhal_status model_copy_init(struct model_copy *copy, const struct nnhal_model *model,
				  struct nnhal_diag *diag);
void model_copy_fini(struct model_copy *copy);

#endif /* NNHAL_MODEL_COPY_H */
