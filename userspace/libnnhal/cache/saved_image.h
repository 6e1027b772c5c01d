/* SPDX-License-Identifier: MIT */
/*
 * Images of loaded programs, as a cache keeps them: small constants in the image, large ones in a
 * block of data of their own.
 */
#ifndef NNHAL_SAVED_IMAGE_H
#define NNHAL_SAVED_IMAGE_H

#include <stdint.h>

#include <nnhal/nnhal.h>

#include "cache/cache_files.h"
#include "model/model_image.h"
#include "transport/transport.h"

/* Save a program into image and data of @content, in content->block. 0 or -errno. */
int saved_image_take(struct transport *t, uint32_t program, struct cache_content *content);
/* The tag of struct nnpu_seal for image and data, both in memory. False after an error. */
bool saved_image_seal(const struct crypto *crypto, const struct cache_content *content,
		      const uint8_t key[CRYPTO_SEAL_KEY_SIZE], uint8_t tag[CRYPTO_SEAL_SIZE]);
/*
 * Make an image of the content that can be loaded, with copies of what it needs. @content
 * gives its data file away. NONE, GENERAL_FAILURE: it is none, or RESOURCE_EXHAUSTED_TRANSIENT.
 */
enum nnhal_status saved_image_load(struct cache_content *content, struct image *image,
				   struct nnhal_diag *diag);

#endif /* NNHAL_SAVED_IMAGE_H */
