/* SPDX-License-Identifier: MIT */
/*
 * NumPy array files (.npy, format versions 1.0 and 2.0).
 */
#ifndef NNRUN_NPY_H
#define NNRUN_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../common/error.h"

#define NPY_MAX_RANK	16

/* Bytes of the header npy_write_header() makes, whatever the shape. */
#define NPY_HEADER_SIZE	384

/**
 * struct npy - the header of a file
 * @descr: element type, for example "<f4" or "|i1"
 * @rank: number of dimensions
 * @dims: sizes, slowest first
 * @offset: first byte of the data
 * @element_size: bytes per element
 * @elements: number of elements
 */
struct npy {
	char descr[8];
	uint32_t rank;
	uint64_t dims[NPY_MAX_RANK];
	size_t offset;
	size_t element_size;
	uint64_t elements;
};

/* Do these bytes start a .npy file? */
bool npy_probe(const uint8_t *data, size_t size);

/*
 * Read the header of a whole file and check that exactly the data it announces is
 * there, in C order. 0, or -1 with the error filled in.
 */
int npy_parse(const uint8_t *data, size_t size, struct npy *npy, struct error *err);

/* Make a version 1.0 header of NPY_HEADER_SIZE bytes. */
void npy_write_header(uint8_t *header, const char *descr, const uint64_t *dims, uint32_t rank);

#endif /* NNRUN_NPY_H */
