// SPDX-License-Identifier: MIT
/*
 * Admin commands about programs.
 */
#include <stdlib.h>

#include "admin_command.h"
#include "device_state.h"
#include "dma.h"
#include "program_load.h"
#include "slots.h"

static void admin_load_reports(struct admin *a, const struct nnpu_sqe_load_program *c,
			       struct load_request *request)
{
	uint64_t addr = le64toh(c->report_addr);
	uint64_t bytes = (uint64_t)request->num_reports * sizeof(*request->reports);

	if (!request->reports)
		return;
	if (dev_dma_write(a->dev, addr, request->reports, bytes))
		admin_fail(a, NNPU_STATUS_DMA_ERROR);
}

static void load_image(struct admin *a, const struct nnpu_sqe_load_program *c,
		       struct nnpu_ctx *ctx, struct mem_map *map)
{
	struct nnpu_device *dev = a->dev;
	uint32_t number = le32toh(c->program);
	struct load_request request = {
		.ctx = ctx,
		.check = c->flags & NNPU_LOAD_CHECK,
		.num_reports = le32toh(c->num_reports),
		.size = map->size,
	};
	struct program *p;
	unsigned int status;
	uint8_t *image;

	/* Refuse impossible sizes before memory is allocated for them. */
	if (map->size < sizeof(struct nnpu_program_header) ||
	    map->size > NNPU_PROGRAM_MAX_SIZE) {
		verdict_set(&a->v, NNPU_STATUS_PROGRAM_HEADER, NNPU_REASON_SIZE, 0,
			    NNPU_OPERAND_NONE);
		return;
	}
	image = malloc(map->size);
	if (!image) {
		admin_fail(a, NNPU_STATUS_NO_MEMORY);
		return;
	}
	status = mem_map_access(dev, map, 0, image, map->size, DMA_READ, NULL);
	if (status) {
		admin_fail(a, status);
		free(image);
		return;
	}
	request.image = image;
	p = program_load(&request, &a->v);
	free(image);
	if (request.check) {
		admin_load_reports(a, c, &request);
		free(request.reports);
		return;
	}
	if (!p)
		return;
	a->result = p->memory;
	pthread_mutex_lock(&dev->lock);
	ctx->programs[number] = p;
	dev->num_programs++;
	pthread_mutex_unlock(&dev->lock);
}

void admin_load_program(struct admin *a, const struct nnpu_sqe_load_program *c)
{
	bool check = c->flags & NNPU_LOAD_CHECK;
	uint32_t number = le32toh(c->program);
	struct nnpu_ctx *ctx;
	struct mem_map map;

	if ((c->flags & ~NNPU_LOAD_CHECK) || !is_zero(c->reserved, sizeof(c->reserved)) ||
	    (check ? number || !c->num_reports || (le64toh(c->report_addr) & 7) :
		     c->num_reports || c->report_addr)) {
		admin_fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	ctx = admin_get_ctx(a, c->ctx);
	if (!ctx)
		return;
	if (!check && (!number || number > a->dev->props.max_programs)) {
		admin_fail(a, NNPU_STATUS_INVALID_PROGRAM);
		return;
	}
	if (!check && ctx->programs[number]) {
		admin_fail(a, NNPU_STATUS_BUSY);
		return;
	}
	if (!mem_map_init(&map, &c->image)) {
		admin_fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	load_image(a, c, ctx, &map);
}

void admin_unload_program(struct admin *a, const struct nnpu_sqe_unload_program *c)
{
	struct nnpu_device *dev = a->dev;
	uint32_t number = le32toh(c->program);
	struct nnpu_ctx *ctx;
	struct program *p;

	if (c->flags || c->reserved0 || !is_zero(c->reserved, sizeof(c->reserved))) {
		admin_fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	ctx = admin_get_ctx(a, c->ctx);
	if (!ctx)
		return;
	if (!number || number > dev->props.max_programs || !ctx->programs[number]) {
		admin_fail(a, NNPU_STATUS_INVALID_PROGRAM);
		return;
	}
	pthread_mutex_lock(&dev->lock);
	p = ctx->programs[number];
	ctx->programs[number] = NULL;
	dev->num_programs--;
	pthread_mutex_unlock(&dev->lock);
	program_put(p);
}
