// SPDX-License-Identifier: MIT
/*
 * Preparing from a cache: prepareModelFromCache.
 *
 * A launch reads the model file, once, and checks what it has read. The rest is as for a model whose
 * constants are in a pool, but that the device says whether they are what was saved.
 */
#include <endian.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/diag.h"
#include "cache/cache_files.h"
#include "cache/saved_image.h"
#include "execution/cached_rules.h"
#include "execution/preparation.h"

static enum nnhal_status unpack(struct preparation *p, struct cache_content *content)
{
	const struct nnpu_program_header *header;
	enum nnhal_status status;

	status = saved_image_load(content, &p->image, p->options.diag);
	if (status)
		return status;
	p->restored = calloc(1, sizeof(*p->restored));
	if (!p->restored)
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	header = (const struct nnpu_program_header *)p->image.data;
	status = cached_rules_unpack(p->restored, content->rules, content->rules_size,
				     p->image.num_commands, le16toh(header->num_inputs),
				     le16toh(header->num_outputs));
	if (status)
		diag_set(p->options.diag, "cache: the rules for requests are malformed");
	return status;
}

static enum nnhal_status restore(struct preparation *p, const struct nnhal_cache *cache)
{
	struct cache_content content;
	enum nnhal_status status;

	status = cache_files_open(&p->cache, p->device, cache, p->options.diag);
	if (status)
		return status;
	status = cache_files_read(&p->cache, &content, p->options.diag);
	/* It is there already: nothing is saved. */
	cache_files_close(&p->cache);
	if (status)
		return status;
	status = unpack(p, &content);
	cache_content_fini(&content);
	return status;
}

static enum nnhal_status create(struct nnhal_device *device, const struct nnhal_cache *cache,
				const struct nnhal_prepare_options *options,
				struct preparation **result)
{
	struct preparation *p = calloc(1, sizeof(*p));
	enum nnhal_status status;

	if (!p)
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	p->cache = (struct cache_files)CACHE_FILES_NONE;
	p->from_cache = true;
	p->hal_version = NNHAL_HAL_1_3;
	status = preparation_options(&p->options, options);
	if (!status && (!device || !cache)) {
		diag_set(p->options.diag, "NULL pointer for device or cache");
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!status && !device_is_usable(device, p->options.diag))
		status = NNHAL_STATUS_DEVICE_UNAVAILABLE;
	if (!status) {
		p->device = nnhal_device_ref(device);
		status = restore(p, cache);
	}
	if (status) {
		preparation_free(p);
		return status;
	}
	*result = p;
	return NNHAL_STATUS_NONE;
}

enum nnhal_status
nnhal_device_prepare_model_from_cache(struct nnhal_device *device,
				      const struct nnhal_cache *cache,
				      const struct nnhal_prepare_options *options,
				      nnhal_prepared_model_callback callback, void *context)
{
	struct preparation *p = NULL;
	enum nnhal_status status;

	if (!callback)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	status = create(device, cache, options, &p);
	if (!status) {
		status = preparation_start(p, callback, context);
		if (!status)
			return NNHAL_STATUS_NONE;
		preparation_free(p);
	}
	callback(context, status, NULL);
	return status;
}

enum nnhal_status
nnhal_device_prepare_model_from_cache_sync(struct nnhal_device *device,
					   const struct nnhal_cache *cache,
					   const struct nnhal_prepare_options *options,
					   struct nnhal_prepared_model **prepared)
{
	struct preparation *p = NULL;
	enum nnhal_status status;

	if (!prepared)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	*prepared = NULL;
	status = create(device, cache, options, &p);
	if (status)
		return status;
	status = preparation_finish(p, prepared);
	preparation_free(p);
	return status;
}
