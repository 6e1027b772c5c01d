/* SPDX-License-Identifier: MIT */
/*
 * Archives of NumPy arrays (.npz): ZIP files, stored or deflated.
 */
#ifndef NNRUN_NPZ_H
#define NNRUN_NPZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../common/error.h"

/**
 * struct npz_array - an array in an archive
 * @name: its name without .npy; not terminated
 * @header: offset of its local header
 * @method: of compression
 * @packed: bytes in the archive
 * @size: bytes of the .npy file
 * @crc: checksum of these
 */
struct npz_array {
	struct text name;
	size_t header;
	uint32_t method;
	size_t packed;
	size_t size;
	uint32_t crc;
};

/* Does an archive start here? */
bool npz_probe(const uint8_t *data, size_t size);

/*
 * Find all arrays. @arrays is to be freed. 0, or -1 with the error filled in and nothing to be
 * freed.
 */
int npz_list(const uint8_t *data, size_t size, struct npz_array **arrays, size_t *count,
	     struct error *err);

/*
 * Get the .npy file of an array, @array->size bytes to be freed. 0, or -1 with the error filled
 * in.
 */
int npz_extract(const uint8_t *data, size_t size, const struct npz_array *array, uint8_t **npy,
		struct error *err);

#endif /* NNRUN_NPZ_H */
