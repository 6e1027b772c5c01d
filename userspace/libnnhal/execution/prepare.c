// SPDX-License-Identifier: MIT
/*
 * Preparing models.
 *
 * A launch validates the model, has the device check its operations, and lowers it to a
 * program image. A thread of the device then loads the image. After the launch the library does
 * not use the caller's model any more.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/hal_version.h"
#include "base/monotonic.h"
#include "base/probes.h"
#include "cache/saved_image.h"
#include "device/device_private.h"
#include "device/extensions.h"
#include "device/workers.h"
#include "execution/cached_rules.h"
#include "execution/preparation.h"
#include "execution/prepared_model_private.h"
#include "execution/validate_request.h"
#include "model/explain.h"
#include "model/graph_dump.h"
#include "model/lower.h"
#include "model/model_copy.h"
#include "model/model_image.h"
#include "model/program.h"
#include "model/support.h"
#include "model/validate.h"
#include "transport/transport.h"

static enum nnhal_status read_options(struct nnhal_prepare_options *to,
				      const struct nnhal_prepare_options *from)
{
	static const struct nnhal_prepare_options defaults = NNHAL_PREPARE_OPTIONS_INIT;

	if (!options_read(to, from, &defaults, cache))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	diag_clear(to->diag);
	return NNHAL_STATUS_NONE;
}

static enum nnhal_status check_options(const struct nnhal_prepare_options *options)
{
	if (!nnhal_validate_preference(options->preference)) {
		diag_set(options->diag, "preference %d, expected 0 to 2", options->preference);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!nnhal_validate_priority(options->priority)) {
		diag_set(options->diag, "priority %d, expected 0 to 2", options->priority);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	return NNHAL_STATUS_NONE;
}

enum nnhal_status preparation_options(struct nnhal_prepare_options *to,
				      const struct nnhal_prepare_options *from)
{
	enum nnhal_status status = read_options(to, from);

	return status ? status : check_options(to);
}

/* A prepared model that has no program yet. */
static void unfinished_free(struct nnhal_prepared_model *m)
{
	if (!m)
		return;
	free(m->command_origins);
	free(m->block);
	free(m);
}

void preparation_free(struct preparation *p)
{
	if (!p)
		return;
	cache_files_close(&p->cache);
	unfinished_free(p->restored);
	image_fini(&p->image);
	model_copy_fini(&p->copy);
	nnhal_device_unref(p->device);
	free(p);
}

/*
 * Lower the model. If a valid model cannot be lowered, the launch succeeds and the
 * preparation fails. If an operation is malformed, the launch fails. Only the device can tell
 * the two cases apart, so a launch asks it.
 */
static enum nnhal_status translate(struct preparation *p, bool launch)
{
	const struct nnhal_model *model = &p->copy.model;
	struct nnhal_diag *diag = p->options.diag;
	enum nnhal_status status;

	status = validate_model(model, diag);
	if (!status && launch && check_operations(p->device, model, NULL, diag) ==
				 NNHAL_STATUS_INVALID_ARGUMENT)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (status)
		return status;
	/* If the check could not be made, its reason appears again below or does not matter. */
	diag_clear(diag);
	status = lower_model(model, &p->device->transport->limits, &p->device->extensions, false,
			     &p->image, diag);
	if (status == NNHAL_STATUS_INVALID_ARGUMENT) {
		p->unsupported = status;
		status = NNHAL_STATUS_NONE;
	}
	return status;
}

/* A status as the version of the model has it; @model may be NULL or not valid. */
static enum nnhal_status status_for_model(enum nnhal_status status,
					  const struct nnhal_model *model)
{
	uint32_t version = model ? hal_version_of(model->hal_version) : 0;

	return version ? nnhal_status_for_version(status, version) : status;
}

/* The part that needs the caller's model. @launch: the call is asynchronous. */
static enum nnhal_status preparation_create(struct nnhal_device *device,
					    const struct nnhal_model *model,
					    const struct nnhal_prepare_options *options,
					    bool launch, struct preparation **result)
{
	struct nnhal_diag *diag;
	struct preparation *p;
	enum nnhal_status status;

	p = calloc(1, sizeof(*p));
	if (!p)
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	p->cache = (struct cache_files)CACHE_FILES_NONE;
	status = preparation_options(&p->options, options);
	if (status) {
		free(p);
		return status;
	}
	diag = p->options.diag;
	if (!device || !model) {
		diag_set(diag, "NULL pointer for device or model");
		free(p);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	status = device_is_usable(device, diag) ? model_copy_init(&p->copy, model, diag)
						: NNHAL_STATUS_DEVICE_UNAVAILABLE;
	if (status) {
		free(p);
		return status;
	}
	p->device = nnhal_device_ref(device);
	status = translate(p, launch);
	if (status) {
		preparation_free(p);
		return status;
	}
	p->hal_version = p->copy.model.hal_version;
	/* A cache that cannot be used is none. */
	if (cache_is_given(p->options.cache))
		cache_files_open(&p->cache, device, p->options.cache, NULL);
	*result = p;
	return NNHAL_STATUS_NONE;
}

/* Take over a reference of a device and load the model there. */
static int load_in(struct preparation *p, struct nnhal_device *device,
		   struct transport_load *result, struct nnhal_diag *detail)
{
	/* A sibling holds the device that the caller opened. */
	nnhal_device_unref(p->device);
	p->device = device;
	diag_clear(detail);
	return image_load(device, &p->image, NULL, result, detail);
}

/*
 * A context has room for so many programs; another one has room for more. No other shortage is
 * smaller there. A call opens at most one, which ends with it if the model is not loaded.
 */
static int load_somewhere(struct preparation *p, struct transport_load *result,
			  struct nnhal_diag *detail)
{
	struct nnhal_device *root = p->device, *sibling;
	int err = image_load(root, &p->image, NULL, result, detail);

	while (err && result->is_full && (sibling = device_next_sibling(p->device)))
		err = load_in(p, sibling, result, detail);
	if (!err || !result->is_full)
		return err;
	sibling = device_open_sibling(root);
	if (!sibling)
		return err;
	err = load_in(p, sibling, result, detail);
	if (!err)
		device_add_sibling(sibling);
	return err;
}

static enum nnhal_status load(struct preparation *p, struct transport_load *result)
{
	struct nnhal_diag detail = { "" };
	int err = load_somewhere(p, result, &detail);

	if (!err)
		return NNHAL_STATUS_NONE;
	if (result->status && !p->from_cache)
		image_explain(&p->copy.model, &p->image, result, p->options.diag);
	else
		diag_set(p->options.diag, "%s", detail.message);
	/* There is no model that could be invalid: the cache does not hold what was saved. */
	if (p->from_cache && (err == -EINVAL || err == -EOPNOTSUPP || err == -EIO || err == -EFAULT))
		return NNHAL_STATUS_GENERAL_FAILURE;
	return load_status(p->device, err, result);
}

/* What the library knows of the model. */
static enum nnhal_status describe(struct preparation *p, struct nnhal_prepared_model **result)
{
	struct nnhal_prepared_model *m = calloc(1, sizeof(*m));
	enum nnhal_status status;

	if (!m)
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	status = request_rules_init(&m->rules, &p->copy.model, &p->device->extensions,
				    &m->block);
	if (status) {
		free(m);
		return status;
	}
	m->num_operations = p->copy.model.main.num_operations;
	m->num_commands = p->image.num_commands;
	m->command_origins = p->image.command_origins;
	p->image.command_origins = NULL;
	m->has_loops = p->image.has_loops;
	*result = m;
	return NNHAL_STATUS_NONE;
}

static enum nnhal_status wrap(struct preparation *p, const struct transport_load *loaded,
			      struct nnhal_prepared_model **result)
{
	struct nnhal_prepared_model *m = p->restored;
	enum nnhal_status status = m ? NNHAL_STATUS_NONE : describe(p, &m);

	if (status)
		return status;
	p->restored = NULL;
	atomic_init(&m->refs, 1);
	pthread_mutex_init(&m->lock, NULL);
	m->device = nnhal_device_ref(p->device);
	m->rules.device = m->device;
	m->rules.model = atomic_fetch_add_explicit(&device_root(m->device)->num_models, 1,
						   memory_order_relaxed);
	m->program = loaded->program;
	m->priority = p->options.priority;
	m->preference = p->options.preference;
	m->device_memory = loaded->memory;
	m->image_size = p->image.size;
	*result = m;
	return NNHAL_STATUS_NONE;
}

/* Save the model to the cache, if there is one. Whether that works is nobody's problem. */
static void save(struct preparation *p, const struct nnhal_prepared_model *model)
{
	struct cache_content content = { 0 };
	uint8_t *rules;

	if (p->cache.model < 0)
		return;
	rules = cached_rules_pack(model, &content.rules_size);
	content.rules = rules;
	if (rules && !saved_image_take(model->device->transport, model->program, &content))
		cache_files_write(&p->cache, &content);
	/* The data is in the block, too. */
	free(content.block);
	free(rules);
}

/* The part that waits for the device. */
static enum nnhal_status prepare_on_device(struct preparation *p,
					   struct nnhal_prepared_model **result)
{
	struct transport_load loaded;
	enum nnhal_status status;
	struct transport *t;

	if (deadline_passed(p->options.has_deadline, p->options.deadline_ns)) {
		diag_set(p->options.diag, "the deadline has passed");
		return NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT;
	}
	if (p->unsupported)
		return p->unsupported;
	status = load(p, &loaded);
	if (status)
		return status;
	status = wrap(p, &loaded, result);
	if (status) {
		t = p->device->transport;
		diag_set(p->options.diag, "no memory for a prepared model");
		t->ops->program_unload(t, loaded.program);
		return status;
	}
	save(p, *result);
	return NNHAL_STATUS_NONE;
}

static void log_prepared(const struct preparation *p, enum nnhal_status status,
			 const struct nnhal_prepared_model *model)
{
	const struct vlog *log = &p->device->log;

	VLOG(log, NNHAL_LOG_COMPILATION, "prepareModel%s: %u operations, preference %d, priority %d: %s%s%s",
	     p->from_cache ? "FromCache" : "",
	     p->from_cache ? model ? model->num_operations : 0 :
			     p->copy.model.main.num_operations, p->options.preference, p->options.priority,
	     nnhal_status_name((int)status), status && p->options.diag ? ": " : "",
	     status && p->options.diag ? p->options.diag->message : "");
	if (model)
		VLOG(log, NNHAL_LOG_DRIVER, "program %u: %u commands, image of %u bytes, %llu bytes of device memory",
		     model->program, model->num_commands, (unsigned int)model->image_size,
		     (unsigned long long)model->device_memory);
	if (!p->from_cache)
		graph_log(log, "prepareModel", &p->copy.model);
}

enum nnhal_status preparation_finish(struct preparation *p, struct nnhal_prepared_model **result)
{
	enum nnhal_status status;

	TRACE_BEGIN(TRACE_PREPARE, p->device);
	status = prepare_on_device(p, result);
	TRACE_END(TRACE_PREPARE, p->device, status);
	log_prepared(p, status, status ? NULL : *result);
	return status;
}

/* On a thread of the device. */
static void prepare_and_notify(struct work *work)
{
	struct preparation *p = (struct preparation *)work;
	struct nnhal_prepared_model *model = NULL;
	enum nnhal_status status = preparation_finish(p, &model);
	struct nnhal_device *device = p->device;

	status = nnhal_status_for_version(status, p->hal_version);
	/*
	 * Before the callback: who was told of the end may close the device, and closing waits
	 * for this thread.
	 */
	image_fini(&p->image);
	p->device = NULL;
	nnhal_device_unref(device);
	p->callback(p->context, status, model);
	preparation_free(p);
}

enum nnhal_status preparation_start(struct preparation *p, nnhal_prepared_model_callback callback,
				    void *context)
{
	p->callback = callback;
	p->context = context;
	p->work.run = prepare_and_notify;
	if (!workers_add(p->device->workers, &p->work))
		return NNHAL_STATUS_NONE;
	diag_set(p->options.diag, "cannot start a thread");
	return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

enum nnhal_status nnhal_device_prepare_model(struct nnhal_device *device,
					     const struct nnhal_model *model,
					     const struct nnhal_prepare_options *options,
					     nnhal_prepared_model_callback callback,
					     void *context)
{
	struct preparation *p = NULL;
	enum nnhal_status status;

	if (!callback)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	status = preparation_create(device, model, options, true, &p);
	if (!status) {
		status = preparation_start(p, callback, context);
		if (!status)
			return NNHAL_STATUS_NONE;
		preparation_free(p);
	}
	status = status_for_model(status, model);
	callback(context, status, NULL);
	return status;
}

enum nnhal_status nnhal_device_prepare_model_sync(struct nnhal_device *device,
						  const struct nnhal_model *model,
						  const struct nnhal_prepare_options *options,
						  struct nnhal_prepared_model **prepared)
{
	struct preparation *p = NULL;
	enum nnhal_status status;

	if (!prepared)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	*prepared = NULL;
	status = preparation_create(device, model, options, false, &p);
	if (status)
		return status_for_model(status, model);
	status = nnhal_status_for_version(preparation_finish(p, prepared), p->hal_version);
	preparation_free(p);
	return status;
}
