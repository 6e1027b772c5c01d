// SPDX-License-Identifier: MIT
/*
 * Fuzzing the reader of NNTC files and what makes HAL models of cases.
 *
 * Whatever the bytes are: no fault, no leak, a text with every refusal, and models that
 * can be judged in every form.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <nnhal/nnhal.h>

#include "userspace/tools/common/nntc.h"
#include "userspace/tools/nnvec/case_model.h"
#include "userspace/tools/nnvec/variation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

/* Models of all forms; memory of pools stays, as in nnvec. */
static void build(const struct nntc_case *nc)
{
	static struct pools pools = { .kind = POOL_MEMFD };
	struct nnhal_diag diag = { "" };
	char reason[REASON_TEXT];
	struct vec_model m;

	for (unsigned int v = 0; v < NUM_VARIATIONS; v++) {
		reason[0] = '\0';
		if (vec_model_build(&m, nc, &variations[v].form, reason) != BUILD_DONE) {
			check(reason[0], "skipped without a reason");
			continue;
		}
		/* Without memory for the constants there is nothing to judge. */
		if (m.num_pools < 64 && vec_model_place(&m, &pools, &diag) &&
		    !nnhal_validate_model(&m.model, &diag))
			check(diag.message[0], "refused without a reason");
		vec_model_free(&m);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nntc_file f;
	struct nntc_case nc;
	bool good = nntc_open_bytes(&f, data, size);

	while (good && f.next < f.num_cases) {
		good = nntc_next(&f, &nc);
		if (!good)
			break;
		build(&nc);
		nntc_free(&nc);
	}
	check(good || f.error[0], "refused without a text");
	nntc_close(&f);
	return 0;
}
