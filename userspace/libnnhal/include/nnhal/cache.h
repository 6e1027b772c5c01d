/* SPDX-License-Identifier: MIT */
/*
 * Compilation caching: modelCache, dataCache and token of prepareModel_1_2 and
 * prepareModelFromCache.
 *
 * A cache is a number of files that the caller has opened, and a token that says which model
 * it is for. Preparing a model with a cache saves the device's own form of the model there;
 * preparing from the cache needs no model and does less work.
 *
 * What is in the files is used only if this library wrote it, with the same token and key, for the
 * same device and the same build of its firmware, of driver and library, and if no bit has changed
 * since. Otherwise preparing from the cache fails, and the caller prepares the model anew.
 */
#ifndef NNHAL_CACHE_H
#define NNHAL_CACHE_H

#include <nnhal/device.h>
#include <nnhal/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* BYTE_SIZE_OF_CACHE_TOKEN */
#define NNHAL_CACHE_TOKEN_SIZE	32

/**
 * struct nnhal_cache_handle - a file of a cache, as a handle of the HAL
 * @fds: file descriptors; exactly one is good: a regular file or memfd, opened for reading
 *	and writing
 * @num_fds: entries of @fds
 */
struct nnhal_cache_handle {
	const int *fds;
	uint32_t num_fds;
};

/**
 * struct nnhal_cache - a cache of one model
 * @size: sizeof(struct nnhal_cache)
 * @model_cache: files for the program
 * @num_model_cache: as many as nnhal_device_get_number_of_cache_files_needed() says
 * @num_data_cache: likewise
 * @data_cache: files for its constants
 * @token: NNHAL_CACHE_TOKEN_SIZE bytes that the caller chooses, another one for each model
 * @key: a secret, or NULL
 * @key_size: bytes at @key, 0 to 256
 *
 * The files are authenticated with @key and @token. Who knows neither cannot change them
 * unnoticed. Tokens are often hashes of models, which others may know: where others can write
 * the files, give a key that they cannot read. Whatever is in the files, it does no harm
 * beyond wrong results of this model.
 *
 * If both numbers of files are 0 there is no cache, and the rest is ignored. The structure, what
 * it points to and the descriptors are not used after the call has returned; the library has
 * descriptors of its own. Nobody else should write to the files before the callback has been called: a
 * cache that somebody wrote to meanwhile is refused later.
 */
struct nnhal_cache {
	size_t size;
	const struct nnhal_cache_handle *model_cache;
	uint32_t num_model_cache;
	uint32_t num_data_cache;
	const struct nnhal_cache_handle *data_cache;
	const uint8_t *token;
	const void *key;
	size_t key_size;
};

/* No cache. */
#define NNHAL_CACHE_INIT	{ sizeof(struct nnhal_cache), NULL, 0, 0, NULL, NULL, NULL, 0 }

/**
 * nnhal_device_prepare_model_from_cache() - prepareModelFromCache_1_3, asynchronously
 * @device: device
 * @cache: files that a preparation with options->cache has written
 * @options: parameters as for nnhal_device_prepare_model(), or NULL; the cache in it is ignored.
 *	Not used after the function has returned, except for @options->diag
 * @callback: called exactly once, from within this function if it does not
 *	return NONE, else from a thread of the library
 * @context: passed to @callback
 *
 * The function reads the model file, once, and checks it; a thread loads the program, and the
 * device checks the values of constants in the data file. The prepared model is as one that
 * was prepared from the model.
 *
 * Return: NONE: @callback delivers the result. With any other status @callback has been
 * called with it and NULL. INVALID_ARGUMENT: a wrong number of files or descriptors, no token,
 * NULL for @device, @cache or @callback. GENERAL_FAILURE: the device does not support caching, a
 * descriptor is not open for reading and writing, or the files do not hold what a preparation
 * with this token and key has written; @callback may get that, too.
 */
enum nnhal_status
nnhal_device_prepare_model_from_cache(struct nnhal_device *device,
				      const struct nnhal_cache *cache,
				      const struct nnhal_prepare_options *options,
				      nnhal_prepared_model_callback callback, void *context);

/**
 * nnhal_device_prepare_model_from_cache_sync() - the same, and wait for the result
 * @device: as above
 * @cache: as above
 * @options: as above
 * @prepared: out: prepared model with one reference, NULL after an error
 *
 * Return: as above; DEVICE_UNAVAILABLE, MISSED_DEADLINE_*, RESOURCE_EXHAUSTED_* or DEAD_OBJECT.
 */
enum nnhal_status
nnhal_device_prepare_model_from_cache_sync(struct nnhal_device *device,
					   const struct nnhal_cache *cache,
					   const struct nnhal_prepare_options *options,
					   struct nnhal_prepared_model **prepared);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* NNHAL_CACHE_H */
