/* SPDX-License-Identifier: MIT */
/*
 * The files of a cache: which they are, whether they may be used, writing and reading them.
 *
 * A file may change at any time, and become shorter. So the library does not map them. The model
 * file is read once, and what was read is checked and used. The data file is a memory object like
 * another: the device reads it once, and checks the seal of what it has read.
 */
#ifndef NNHAL_CACHE_FILES_H
#define NNHAL_CACHE_FILES_H

#include <stdint.h>

#include <nnhal/nnhal.h>

#include "base/crypto.h"
#include "device/device_private.h"

struct nnhal_memory;

/* How many files of each kind there are. */
#define CACHE_MODEL_FILES	1u
#define CACHE_DATA_FILES	1u

struct cache_files {
	const struct crypto *crypto;	/* of the device; NULL: no cache */
	int model;			/* descriptors of our own, -1: none */
	int data;
	uint8_t key[CRYPTO_TAG_SIZE];	/* of token, key, and who can use the content */
};

#define CACHE_FILES_NONE	{ .model = -1, .data = -1 }

/* What the files hold. */
struct cache_content {
	const uint8_t *rules;
	uint64_t rules_size;
	const uint8_t *image;
	uint64_t image_size;
	const uint8_t *data;		/* before writing; NULL after reading */
	uint64_t data_size;
	/* After reading. */
	struct nnhal_memory *data_file;	/* NULL: there is no data */
	uint8_t seal_key[CRYPTO_SEAL_KEY_SIZE];
	uint8_t seal[CRYPTO_SEAL_SIZE];
	uint8_t *block;			/* rules and image after reading; malloc()ed */
};

/* Has the caller given a cache at all? */
bool cache_is_given(const struct nnhal_cache *cache);
/*
 * Take over descriptors. INVALID_ARGUMENT: their number is wrong, or something is missing;
 * GENERAL_FAILURE: they cannot be used, or the device cannot save. Then there are none.
 */
enum nnhal_status cache_files_open(struct cache_files *files, struct nnhal_device *device,
				   const struct nnhal_cache *cache, struct nnhal_diag *diag);
void cache_files_close(struct cache_files *files);

/* Write all. After an error the files are empty, as far as they can be. */
void cache_files_write(const struct cache_files *files, const struct cache_content *content);
/*
 * Read and check all but the values of constants, which the device checks. NONE, GENERAL_FAILURE
 * or RESOURCE_EXHAUSTED_TRANSIENT.
 */
enum nnhal_status cache_files_read(const struct cache_files *files,
				   struct cache_content *content, struct nnhal_diag *diag);
void cache_content_fini(struct cache_content *content);

#endif /* NNHAL_CACHE_FILES_H */
