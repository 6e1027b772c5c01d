// SPDX-License-Identifier: MIT
/*
 * Program images: release.
 */
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "model/model_image.h"

void image_drop_staging(struct image *image)
{
	free(image->staging);
	image->staging = NULL;
}

void image_fini(struct image *image)
{
	uint32_t i;

	for (i = 0; i < image->num_pools; i++)
		nnhal_memory_unref(image->pools[i]);
	free(image->pools);
	free(image->refs);
	image_drop_staging(image);
	free(image->skips);
	free(image->command_origins);
	free(image->tensor_origins);
	free(image->data);
	memset(image, 0, sizeof(*image));
}
