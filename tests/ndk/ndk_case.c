// SPDX-License-Identifier: MIT
/*
 * A case of the vectors in one way: the model, and the threads that share it.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ndk_case.h"

enum ndk_verdict ndk_failed(char *text, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, REASON_TEXT, fmt, args);
	va_end(args);
	return NDK_FAILED;
}

static enum ndk_verdict skipped(char *text, const char *why)
{
	snprintf(text, REASON_TEXT, "%s", why);
	return NDK_SKIPPED;
}

/* Constants have memory of their own, unless they share it with the arguments. */
static uint32_t num_model_places(const struct ndk_case *c)
{
	return c->shares_pool ? c->m.num_pools : c->m.first_argument_pool;
}

static bool write_constants(struct ndk_case *c)
{
	for (uint32_t i = 0; i < c->m.num_constants; i++) {
		const struct value *v = &c->m.constants[i];
		struct ndk_place *place = &c->places[v->pool];

		if (!place_begin(place))
			return false;
		memcpy(place->bytes + v->offset, v->operand->data, v->length);
		memset(place->bytes + v->offset + v->length, GUARD_BYTE, GUARD_SIZE);
		if (!place_end(place))
			return false;
	}
	return true;
}

static bool has_while(const struct nntc_case *nc)
{
	for (uint32_t s = 0; s <= nc->num_referenced; s++) {
		const struct nntc_subgraph *sg = s ? &nc->referenced[s - 1] : &nc->main;

		for (uint32_t i = 0; i < sg->num_operations; i++)
			if (sg->operations[i].type == NNHAL_OPERATION_WHILE)
				return true;
	}
	return false;
}

/* Memory of constants, and the model. */
static enum ndk_verdict make_model(struct ndk_case *c, char *text)
{
	uint32_t i, count = num_model_places(c);
	struct graph_pool *pools = calloc((size_t)count + 1, sizeof(*pools));
	bool good = pools && c->places;
	int result;

	for (i = 0; i < count && good; i++)
		good = place_init(&c->places[i], c->way->kind, c->m.pool_sizes[i]);
	good = good && write_constants(c);
	for (i = 0; i < count && good; i++)
		pools[i] = (struct graph_pool){ c->places[i].bytes, c->places[i].memory };
	if (!good) {
		free(pools);
		return ndk_failed(text, "no memory for constants");
	}
	result = graph_build(&c->graph, &c->m.model, pools);
	free(pools);
	if (!result)
		return NDK_PASSED;
	if (c->nc->expect_failure && result == ANEURALNETWORKS_BAD_DATA)
		return skipped(text, "");
	if (case_has_open_while(c->nc))
		return skipped(text, "HAL 1.3 refuses a WHILE with operands of unknown size");
	return ndk_failed(text, "model: %s", c->graph.error);
}

struct thread {
	pthread_t id;
	const struct ndk_case *c;
	enum ndk_verdict verdict;
	char text[REASON_TEXT];
};

static void *run_thread(void *argument)
{
	struct thread *t = argument;

	t->verdict = ndk_case_execute(t->c, t->text);
	return NULL;
}

static enum ndk_verdict run_threads(const struct ndk_case *c, char *text)
{
	struct thread *threads = calloc(MAX_THREADS, sizeof(*threads));
	enum ndk_verdict verdict = NDK_PASSED;
	unsigned int i, started;

	for (started = 0; threads && started < c->way->threads; started++) {
		threads[started].c = c;
		if (pthread_create(&threads[started].id, NULL, run_thread, &threads[started]))
			break;
	}
	for (i = 0; i < started; i++) {
		pthread_join(threads[i].id, NULL);
		if (threads[i].verdict == NDK_PASSED || verdict == NDK_FAILED)
			continue;
		verdict = threads[i].verdict;
		snprintf(text, REASON_TEXT, "%s", threads[i].text);
	}
	free(threads);
	return started == c->way->threads ? verdict : ndk_failed(text, "no threads");
}

static bool has_output_bytes(const struct nntc_case *nc)
{
	for (uint32_t i = 0; i < nc->main.num_outputs; i++)
		if (nc->main.operands[nc->main.outputs[i]].num_bytes)
			return true;
	return false;
}

static enum ndk_verdict run_model(struct ndk_case *c, char *text)
{
	enum ndk_verdict verdict = make_model(c, text);

	/* A model that has to be refused was. */
	if (verdict == NDK_SKIPPED && !text[0])
		return NDK_PASSED;
	if (verdict != NDK_PASSED)
		return verdict;
	return c->way->threads ? run_threads(c, text) : ndk_case_execute(c, text);
}

enum ndk_verdict ndk_case_run(struct ndk_case *c, char *text)
{
	enum ndk_verdict verdict;
	enum build_result built;

	text[0] = '\0';
	if (c->way->too_small && (c->nc->expect_failure || !has_output_bytes(c->nc)))
		return skipped(text, "no output that could be smaller");
	built = vec_model_build(&c->m, c->nc, &c->way->form, text);
	if (built != BUILD_DONE)
		return built == BUILD_SKIP ? NDK_SKIPPED : NDK_FAILED;
	/* A case may have constants in a pool whatever the form says. */
	c->shares_pool = c->m.num_constants && !c->way->form.pool_each;
	c->tolerance = tolerance_of(c->nc);
	c->endless = c->nc->expect_failure && has_while(c->nc);
	c->places = calloc((size_t)c->m.num_pools + 1, sizeof(*c->places));
	memset(&c->graph, 0, sizeof(c->graph));
	verdict = run_model(c, text);
	graph_free(&c->graph);
	for (uint32_t i = 0; c->places && i < c->m.num_pools; i++)
		place_free(&c->places[i]);
	free(c->places);
	vec_model_free(&c->m);
	return verdict;
}
