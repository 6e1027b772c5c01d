/* SPDX-License-Identifier: MIT */
/*
 * Private copies of models.
 */
#ifndef NNHAL_MODEL_COPY_H
#define NNHAL_MODEL_COPY_H

#include <nnhal/nnhal.h>

/*
 * A private copy of a model's structure in one allocation. Bytes of constants are
 * not copied: values points into the caller's model and counts only until the call
 * that made the copy returns. Pools are referenced.
 */
struct model_copy {
	struct nnhal_model model;
	void *block;
};

enum nnhal_status model_copy_init(struct model_copy *copy, const struct nnhal_model *model,
				  struct nnhal_diag *diag);
void model_copy_fini(struct model_copy *copy);

#endif /* NNHAL_MODEL_COPY_H */
