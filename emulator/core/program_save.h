/* SPDX-License-Identifier: MIT */
/*
 * Saving a program: an image of it, from what the device keeps.
 */
#ifndef NNPU_EMU_PROGRAM_SAVE_H
#define NNPU_EMU_PROGRAM_SAVE_H

#include <stdint.h>

#include "dma.h"

struct job_progress;
struct nnpu_ctx;
struct program;

struct save_request {
	struct nnpu_ctx *ctx;
	struct job_progress *progress;
	const struct program *program;
	struct mem_map map;		/* room; size 0: none */
};

/* Write the image if there is room. *@size is its size. Returns a status. */
unsigned int program_save(struct save_request *request, uint64_t *size);

#endif /* NNPU_EMU_PROGRAM_SAVE_H */
