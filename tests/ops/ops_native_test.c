// SPDX-License-Identifier: MIT
/*
 * Weights in the form of the device whose rows have an odd length: the image may have any bytes behind
 * them, which no result may depend on.
 */
#include <string.h>

#include "../tap.h"
#include "kernels.h"
#include "ops_fixture.h"

#define S8	NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED

enum { UNITS = 2 * KERNEL_PANEL, DEPTH = 459, PANEL = (DEPTH + 1) * KERNEL_PANEL, MOST = 5 };

static int8_t inputs[MOST * DEPTH], native[2 * PANEL];
static int32_t bias[UNITS];

/* All weights are 0, so all results are. */
static bool all_zero(uint32_t rows)
{
	struct fixture f;
	struct tensor *w;
	bool good;

	fixture_init(&f, NNPU_OP_FULLY_CONNECTED);
	fixture_input(&f, S8, 1, -128, 2, (uint32_t[]){ rows, DEPTH }, inputs);
	w = fixture_const(&f, S8, 1, 0, 1, (uint32_t[]){ sizeof(native) }, native);
	w->rank = 2;
	w->dims[0] = UNITS;
	w->dims[1] = DEPTH;
	w->bytes = UNITS * DEPTH;
	w->form = FORM_NATIVE;
	fixture_const(&f, NNPU_TYPE_TENSOR_INT32, 1, 0, 1, (uint32_t[]){ UNITS }, bias);
	fixture_i32(&f, 0);
	fixture_output(&f, S8, 127, 0);
	good = !fixture_load(&f) && !fixture_run(&f);
	for (uint32_t i = 0; good && i < rows * UNITS; i++)
		good = ((const int8_t *)fixture_result(&f)->data)[i] == 0;
	fixture_end(&f);
	return good;
}

int main(void)
{
	const char *name;

	memset(inputs, 5, sizeof(inputs));
	for (unsigned int i = 0; i < UNITS; i++)
		native[(i / KERNEL_PANEL + 1) * PANEL - 1 - 2 * (i % KERNEL_PANEL)] = 127;
	for (unsigned int v = 0; (name = kernels_name(v)); v++) {
		if (!kernels_variant(v)) {
			tap_skip("kernels: this CPU cannot run %s", name);
			continue;
		}
		kernels_use(name);
		ok(all_zero(1), "%s: a row and what is behind native weights", name);
		ok(all_zero(MOST), "%s: rows and what is behind native weights", name);
	}
	return tap_done();
}
