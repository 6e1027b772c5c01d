// SPDX-License-Identifier: MIT
/*
 * Runs a case in a variation.
 *
 * A case is skipped if the form does not apply to it (see case_model.c), if this machine lacks
 * a kind of memory, if the HAL requires that the model is refused, or if getSupportedOperations
 * says no. The last is asked only for the model as the case gives it: if the device supports
 * that, it has to support every form of it.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "execute_case.h"
#include "run_case.h"

__attribute__((format(printf, 2, 3)))
static enum verdict failed(char *text, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, REASON_TEXT, fmt, args);
	va_end(args);
	return VERDICT_FAILED;
}

static enum verdict skipped(char *text, const char *why)
{
	snprintf(text, REASON_TEXT, "%s", why);
	return VERDICT_SKIPPED;
}

void runner_init(struct runner *r, struct nnhal_device *device)
{
	memset(r, 0, sizeof(*r));
	r->device = nnhal_device_ref(device);
	for (unsigned int k = 0; k < NUM_POOL_KINDS; k++) {
		r->pools[k].kind = k;
		pools_available(k, r->unavailable[k], sizeof(r->unavailable[k]));
	}
}

static void drop_prepared(struct runner *r)
{
	nnhal_prepared_model_unref(r->prepared.model);
	vec_model_free(&r->prepared.m);
	memset(&r->prepared, 0, sizeof(r->prepared));
}

void runner_end_case(struct runner *r)
{
	drop_prepared(r);
	twin_free(&r->twin);
}

void runner_free(struct runner *r)
{
	runner_end_case(r);
	for (unsigned int k = 0; k < NUM_POOL_KINDS; k++)
		pools_free(&r->pools[k]);
	nnhal_device_unref(r->device);
	r->device = NULL;
}

static bool is_lost(enum nnhal_status status)
{
	return status == NNHAL_STATUS_DEVICE_UNAVAILABLE || status == NNHAL_STATUS_DEAD_OBJECT;
}

/* Prepare a model with a cache, release it, and prepare it from the cache. */
static enum nnhal_status prepare_from_cache(struct nnhal_device *device,
					    const struct nnhal_model *model,
					    struct nnhal_prepare_options *options,
					    struct nnhal_prepared_model **prepared)
{
	static const uint8_t token[NNHAL_CACHE_TOKEN_SIZE] = "nnvec";
	int model_fd = memfd_create("model", MFD_CLOEXEC);
	int data_fd = memfd_create("data", MFD_CLOEXEC);
	struct nnhal_cache_handle model_file = { &model_fd, 1 }, data_file = { &data_fd, 1 };
	struct nnhal_cache cache = NNHAL_CACHE_INIT;
	struct nnhal_prepared_model *first = NULL;
	enum nnhal_status status;

	cache.model_cache = &model_file;
	cache.data_cache = &data_file;
	cache.num_model_cache = 1;
	cache.num_data_cache = 1;
	cache.token = token;
	options->cache = &cache;
	status = nnhal_device_prepare_model_sync(device, model, options, &first);
	nnhal_prepared_model_unref(first);
	if (!status)
		status = nnhal_device_prepare_model_from_cache_sync(device, &cache, options,
								    prepared);
	options->cache = NULL;
	close(model_fd);
	close(data_fd);
	return status;
}

static bool has_cache(struct nnhal_device *device)
{
	uint32_t model = 0, data = 0;

	nnhal_device_get_number_of_cache_files_needed(device, &model, &data);
	return model == 1 && data == 1;
}

/* Build the model of a case in a form, and prepare it if that works. */
static struct prepared *prepare(struct runner *r, const struct nntc_case *nc,
				const struct form *form)
{
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	struct prepared *p = &r->prepared;
	struct nnhal_diag diag = { "" };

	if (p->nc == nc && !memcmp(&p->form, form, sizeof(*form)))
		return p;
	drop_prepared(r);
	p->nc = nc;
	p->form = *form;
	if (form->from_cache && !has_cache(r->device)) {
		p->built = BUILD_SKIP;
		snprintf(p->text, sizeof(p->text), "the device has no caching");
		return p;
	}
	p->built = vec_model_build(&p->m, nc, form, p->text);
	if (p->built != BUILD_DONE)
		return p;
	p->placed = vec_model_place(&p->m, &r->pools[form->pool_kind], &diag);
	if (p->placed) {
		options.diag = &diag;
		p->status = form->from_cache ?
			    prepare_from_cache(r->device, &p->m.model, &options, &p->model) :
			    nnhal_device_prepare_model_sync(r->device, &p->m.model, &options,
							    &p->model);
	}
	snprintf(p->text, sizeof(p->text), "%s", diag.message);
	return p;
}

enum support { SUPPORT_ALL, SUPPORT_NOT, SUPPORT_ERROR };

/* Call getSupportedOperations. The text does not depend on the case. */
static enum support get_support(struct runner *r, const struct nnhal_model *model, char *text)
{
	uint32_t count = model->main.num_operations;
	struct nnhal_ext_operation_support *support = calloc((size_t)count + 1, sizeof(*support));
	struct nnhal_diag diag = { "" };
	enum support result = SUPPORT_ALL;
	enum nnhal_status status;

	if (!support) {
		failed(text, "no memory for a list of operations");
		return SUPPORT_ERROR;
	}
	support->size = sizeof(*support);
	status = nnhal_ext_get_operation_support(r->device, model, support, count, &diag);
	r->lost |= is_lost(status);
	if (status) {
		failed(text, "getSupportedOperations: %s: %s", nnhal_status_name((int)status),
		       diag.message);
		result = SUPPORT_ERROR;
	}
	for (uint32_t i = 0; i < count && result == SUPPORT_ALL; i++) {
		if (support[i].supported)
			continue;
		failed(text, "%s: %s", nnhal_operation_type_name(model->main.operations[i].type),
		       support[i].reason);
		result = SUPPORT_NOT;
	}
	free(support);
	return result;
}

/* Is the case supported as it is given? Ends what is prepared. */
static enum support get_support_as_given(struct runner *r, const struct nntc_case *nc,
					 char *text)
{
	static const struct form given;
	enum support support = SUPPORT_ERROR;
	struct nnhal_diag diag = { "" };
	struct vec_model m;

	drop_prepared(r);
	if (vec_model_build(&m, nc, &given, text) != BUILD_DONE)
		return SUPPORT_ERROR;
	if (vec_model_place(&m, &r->pools[given.pool_kind], &diag))
		support = get_support(r, &m.model, text);
	else
		failed(text, "%s", diag.message);
	vec_model_free(&m);
	return support;
}

/* Does this status refuse a model or request? Others report that something went wrong. */
static bool is_refusal(enum nnhal_status status)
{
	return status == NNHAL_STATUS_INVALID_ARGUMENT || status == NNHAL_STATUS_GENERAL_FAILURE;
}

/* The model was not prepared; @given is the case it was made of. */
static enum verdict judge_refusal(struct runner *r, const struct nntc_case *nc,
				  const struct nntc_case *given, struct prepared *p, char *text)
{
	enum nnhal_status status = p->status;
	char why[REASON_TEXT], reason[REASON_TEXT];
	enum support support;

	snprintf(why, sizeof(why), "%s", p->text);
	if (!is_refusal(status))
		return failed(text, "prepare: %s: %.300s", nnhal_status_name((int)status), why);
	support = get_support(r, &p->m.model, reason);
	if (support == SUPPORT_ALL)
		return failed(text,
			      "prepare: %s: %.300s; getSupportedOperations promised otherwise",
			      nnhal_status_name((int)status), why);
	if (nc->expect_failure)
		return VERDICT_PASSED;
	if (support == SUPPORT_ERROR && case_has_open_while(nc))
		return skipped(text, "HAL 1.3 refuses a WHILE with operands of unknown size");
	if (support == SUPPORT_ERROR)
		return failed(text, "prepare: %s: %.300s", nnhal_status_name((int)status), why);
	if (get_support_as_given(r, given, text) == SUPPORT_NOT) {
		r->unsupported = true;
		return VERDICT_SKIPPED;
	}
	return failed(text, "not supported in this form: %.400s", reason);
}

static enum verdict judge_prepared(struct runner *r, const struct nntc_case *nc,
				   const struct variation *v, struct prepared *p, char *text)
{
	struct tolerance tolerance = tolerance_of(nc);
	struct execution e;
	bool passed;

	if (!execution_init(&e, r->device, p->model, &p->m, nc, &tolerance, v, text)) {
		r->lost |= is_lost(e.status);
		execution_free(&e);
		return VERDICT_FAILED;
	}
	if (nc->expect_failure)
		passed = execution_must_fail(&e, text);
	else if (v->too_small)
		passed = execution_too_small(&e, text);
	else
		passed = execution_check(&e, text);
	r->lost |= is_lost(e.status);
	execution_free(&e);
	return passed ? VERDICT_PASSED : VERDICT_FAILED;
}

static bool has_output_bytes(const struct nntc_case *nc)
{
	for (uint32_t i = 0; i < nc->main.num_outputs; i++) {
		if (nc->main.operands[nc->main.outputs[i]].num_bytes)
			return true;
	}
	return false;
}

enum verdict runner_run(struct runner *r, const struct nntc_case *given,
			const struct variation *v, char *text)
{
	const struct nntc_case *nc = given;
	enum build_result twin;
	struct prepared *p;

	text[0] = '\0';
	r->unsupported = false;
	if (v->form.signed_twin) {
		runner_end_case(r);
		twin = twin_init(&r->twin, given, text);
		if (twin != BUILD_DONE)
			return twin == BUILD_SKIP ? VERDICT_SKIPPED : VERDICT_FAILED;
		nc = &r->twin.nc;
	}
	if (r->unavailable[v->form.pool_kind][0])
		return skipped(text, r->unavailable[v->form.pool_kind]);
	if (v->too_small && nc->expect_failure)
		return skipped(text, "must be refused, whatever the size of its outputs");
	if (v->too_small && !has_output_bytes(nc))
		return skipped(text, "no output that could be smaller");
	p = prepare(r, nc, &v->form);
	if (p->built == BUILD_SKIP)
		return skipped(text, p->text);
	if (p->built != BUILD_DONE || !p->placed)
		return failed(text, "%s", p->text);
	r->lost |= is_lost(p->status);
	if (p->status)
		return judge_refusal(r, nc, given, p, text);
	return judge_prepared(r, nc, v, p, text);
}
