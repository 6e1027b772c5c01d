/* SPDX-License-Identifier: MIT */
/*
 * Results of conversions: a form and all that it points to.
 */
#ifndef NNHAL_CONVERTED_H
#define NNHAL_CONVERTED_H

#include <nnhal/nnhal.h>

#include "model/model_copy.h"

struct converted {
	/* A model: what it points to, pools included. */
	struct model_copy model;
	/* A request: references of its pools. */
	struct nnhal_memory **pools;
	uint32_t num_pools;
	/* Further arrays, from malloc(). */
	void *arrays[4];
	/* What the caller sees. */
	union {
		struct nnhal_model canonical;
		struct nnhal_model_1_0 model_1_0;
		struct nnhal_model_1_1 model_1_1;
		struct nnhal_model_1_2 model_1_2;
		struct nnhal_model_1_3 model_1_3;
		struct nnhal_request request;
		struct nnhal_request_1_0 request_1_0;
		struct nnhal_request_1_3 request_1_3;
	} form;
};

/*
 * Arguments that all conversions have: @from and @to are not NULL, which is then NULL, and the flags
 * are known.
 */
bool conversion_begin(const void *from, void *to, uint32_t flags, struct nnhal_diag *diag);
/* "1.2"; @version is normalised. */
const char *hal_version_text(uint32_t version);
/* Release everything. NULL is allowed. */
void converted_destroy(struct converted *converted);

#endif /* NNHAL_CONVERTED_H */
