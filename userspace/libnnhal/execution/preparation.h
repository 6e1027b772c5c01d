/* SPDX-License-Identifier: MIT */
/*
 * A preparation under way: of a model, or from a cache.
 */
#ifndef NNHAL_PREPARATION_H
#define NNHAL_PREPARATION_H

#include <stdbool.h>
#include <stdint.h>

#include <nnhal/nnhal.h>

#include "cache/cache_files.h"
#include "device/device_private.h"
#include "device/workers.h"
#include "execution/prepared_model_private.h"
#include "model/model_copy.h"
#include "model/model_image.h"

struct preparation {
	struct work work;
	struct nnhal_device *device;
	bool from_cache;
	struct model_copy copy;		/* from a cache: empty */
	struct image image;
	/* INVALID_ARGUMENT: the model is valid but cannot be lowered: no image. */
	enum nnhal_status unsupported;
	struct nnhal_prepare_options options;
	uint32_t hal_version;		/* whose statuses the result has */
	struct cache_files cache;	/* to save to, or none */
	/* From a cache: the prepared model, as far as it comes from there. */
	struct nnhal_prepared_model *restored;
	nnhal_prepared_model_callback callback;
	void *context;
};

/* Read and check the options of a call. */
enum nnhal_status preparation_options(struct nnhal_prepare_options *to,
				      const struct nnhal_prepare_options *from);
void preparation_free(struct preparation *p);
/*
 * Do the rest on a thread, which calls the callback and frees @p. If that is impossible, a
 * status, and nothing has been done.
 */
enum nnhal_status preparation_start(struct preparation *p, nnhal_prepared_model_callback callback,
				    void *context);
/* Do the rest now. */
enum nnhal_status preparation_finish(struct preparation *p, struct nnhal_prepared_model **result);

#endif /* NNHAL_PREPARATION_H */
