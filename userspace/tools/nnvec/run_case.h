/* SPDX-License-Identifier: MIT */
/*
 * Running a case in a variation.
 */
#ifndef NNVEC_RUN_CASE_H
#define NNVEC_RUN_CASE_H

#include <nnhal/nnhal.h>

#include "../common/nntc.h"
#include "case_model.h"
#include "case_pools.h"
#include "twin.h"
#include "variation.h"

enum verdict { VERDICT_PASSED, VERDICT_FAILED, VERDICT_SKIPPED };

/**
 * struct prepared - the model of the last variation; the next one may need the same
 * @nc: case, or NULL if there is none
 * @form: form
 * @built: enum build_result; the rest counts with BUILD_DONE
 * @m: the model, with memory
 * @placed: @m has memory
 * @status: what preparing it gave
 * @model: prepared model
 * @text: why it could not be built, placed or prepared
 */
struct prepared {
	const struct nntc_case *nc;
	struct form form;
	enum build_result built;
	struct vec_model m;
	bool placed;
	enum nnhal_status status;
	struct nnhal_prepared_model *model;
	char text[REASON_TEXT];
};

/**
 * struct runner - a device and what is kept from case to case
 * @device: device
 * @pools: memory of each kind
 * @unavailable: why there is no memory of a kind; empty if there is
 * @prepared: model of the last variation
 * @twin: signed twin of the case, if it was needed
 * @unsupported: the last case was skipped because getSupportedOperations said no
 * @lost: the device is gone or was reset: nothing more can be run with it
 */
struct runner {
	struct nnhal_device *device;
	struct pools pools[NUM_POOL_KINDS];
	char unavailable[NUM_POOL_KINDS][128];
	struct prepared prepared;
	struct twin twin;
	bool unsupported;
	bool lost;
};

/* The runner keeps a reference of the device. */
void runner_init(struct runner *r, struct nnhal_device *device);
void runner_free(struct runner *r);

/*
 * Run a case. @text, of REASON_TEXT bytes, says why it failed or was skipped.
 */
enum verdict runner_run(struct runner *r, const struct nntc_case *given,
			const struct variation *v, char *text);

/* Release what belongs to a case. */
void runner_end_case(struct runner *r);

#endif /* NNVEC_RUN_CASE_H */
