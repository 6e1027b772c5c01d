/* SPDX-License-Identifier: MIT */
/*
 * A case of the vectors in one way: the model, its compilations, their executions.
 */
#ifndef TESTS_NDK_CASE_H
#define TESTS_NDK_CASE_H

#include "examples/delegate/hal_graph.h"
#include "ndk_places.h"
#include "ndk_ways.h"
#include "userspace/tools/common/compare_outputs.h"
#include "userspace/tools/nnvec/case_model.h"

enum ndk_verdict { NDK_PASSED, NDK_FAILED, NDK_SKIPPED };

/**
 * struct ndk_case - a case in one way
 * @nc: case
 * @way: way
 * @device: device that it is compiled for
 * @folder: folder for cache files; used if the way says so
 * @token: of the cache
 * @tolerance: for its outputs
 * @endless: the case may be a loop without end, which has to fail
 * @shares_pool: constants are in the pool of the arguments: for one thread only
 * @m: model of the HAL, without memory
 * @places: memory by pool: of constants, and of arguments in the same pool
 * @graph: the model
 */
struct ndk_case {
	const struct nntc_case *nc;
	const struct ndk_way *way;
	const ANeuralNetworksDevice *device;
	const char *folder;
	uint8_t token[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN];
	struct tolerance tolerance;
	bool endless;
	bool shares_pool;
	struct vec_model m;
	struct ndk_place *places;
	struct graph graph;
};

/*
 * Run a case in a way. @text, of REASON_TEXT bytes, says why it failed or was skipped.
 */
enum ndk_verdict ndk_case_run(struct ndk_case *c, char *text);

/*
 * One thread's part: compile the model of @c, execute it and judge the results. After a refusal
 * that the case has to meet this is NDK_PASSED as well.
 */
enum ndk_verdict ndk_case_execute(const struct ndk_case *c, char *text);

enum ndk_verdict ndk_failed(char *text, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* TESTS_NDK_CASE_H */
