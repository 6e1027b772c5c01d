// SPDX-License-Identifier: MIT
/*
 * Admin commands about programs. LOAD_PROGRAM and SAVE_PROGRAM are only checked by the control
 * thread. The rest runs on a loader (loads.c).
 */

#include <stdlib.h>

#include "admin_command.h"
#include "device_state.h"
#include "dma.h"
#include "loads.h"
#include "program_load.h"
#include "program_save.h"
#include "ops/op.h"

/* Bytes of a transfer between two points. */
#define PIECE	(256u << 10)

/* Read the image piece by piece. Returns a status. */
static unsigned int read_image(struct load_worker *w, struct mem_map *map, uint8_t *image)
{
	uint64_t at, n;
	unsigned int status = NNPU_STATUS_SUCCESS;

	for (at = 0; !status && at < map->size; at += n) {
		n = map->size - at < PIECE ? map->size - at : PIECE;
		status = op_progress(&w->progress) ? NNPU_STATUS_ABORTED :
			 mem_map_access(w->dev, map, at, image + at, n, DMA_READ, NULL);
	}
	return status;
}

/* Write the reports piece by piece. Returns a status. */
static unsigned int write_reports(struct load_worker *w, const struct load_request *request)
{
	uint64_t bytes = request->reports_size, at, n;
	unsigned int status = NNPU_STATUS_SUCCESS;
	struct mem_map map;

	mem_map_init(&map, &w->load->sqe.reports);
	for (at = 0; !status && at < bytes; at += n) {
		n = bytes - at < PIECE ? bytes - at : PIECE;
		status = op_progress(&w->progress) ? NNPU_STATUS_ABORTED :
			 mem_map_access(w->dev, &map, at, (uint8_t *)request->reports + at, n,
					DMA_WRITE, NULL);
	}
	return status;
}

static void load_image(struct load_worker *w, struct mem_map *map, struct load_outcome *out)
{
	const struct nnpu_sqe_load_program *c = &w->load->sqe;
	struct load_request request = {
		.ctx = w->ctx,
		.progress = &w->progress,
		.slots = &w->slots,
		.check = c->flags & NNPU_LOAD_CHECK,
		.reports_size = le64toh(c->reports.size),
		.size = map->size,
	};
	unsigned int status;
	uint8_t *image;

	image = load_take_image(&request);
	if (!image) {
		verdict_status(&out->v, job_is_to_end(&w->progress) ? NNPU_STATUS_ABORTED :
								      NNPU_STATUS_NO_MEMORY);
		return;
	}
	status = read_image(w, map, image);
	if (status) {
		verdict_status(&out->v, status);
		load_give_image(&request);
		return;
	}
	out->program = program_load(&request, &out->v);
	if (out->program)
		out->result = out->program->memory;
	status = NNPU_STATUS_SUCCESS;
	if (request.reports && !load_cut_short(&out->v))
		status = write_reports(w, &request);
	if (status)
		verdict_status(&out->v, status);
	op_give(&w->progress, request.reports, request.reports_size);
}

static void save(struct load_worker *w, struct load_outcome *out)
{
	const struct nnpu_sqe_save_program *c = &w->load->save;
	struct save_request request = {
		.ctx = w->ctx, .progress = &w->progress, .program = w->load->saved,
	};
	unsigned int status;

	if (c->image.size)
		mem_map_init(&request.map, &c->image);
	status = program_save(&request, &out->result);
	if (status)
		verdict_status(&out->v, status);
}

void load_run(struct load_worker *w, struct load_outcome *out)
{
	struct mem_map map;

	if (w->load->saved) {
		save(w, out);
		return;
	}

	/* Impossible sizes are refused before memory is allocated for them. */
	if (!mem_map_init(&map, &w->load->sqe.image))
		verdict_status(&out->v, NNPU_STATUS_INVALID_FIELD);
	else if (map.size < sizeof(struct nnpu_program_header) ||
		 map.size > NNPU_PROGRAM_MAX_SIZE)
		verdict_set(&out->v, NNPU_STATUS_PROGRAM_HEADER, NNPU_REASON_SIZE, 0,
			    NNPU_OPERAND_NONE);
	else
		load_image(w, &map, out);
}

/* NULL: the context has none of this number. dev->lock held. */
static struct program *find_program(const struct nnpu_ctx *ctx, uint32_t number)
{
	return number && number <= ctx->dev->props.max_programs ? ctx->programs[number] : NULL;
}

/* After loads_add(): its completion comes later, or the command fails now. */
static void load_added(struct admin *a, struct load *load, unsigned int status)
{
	a->later = !status;
	if (!status)
		return;
	free(load);
	admin_fail(a, status);
}

void admin_load_program(struct admin *a, const struct nnpu_sqe_load_program *c)
{
	bool check = c->flags & NNPU_LOAD_CHECK;
	uint32_t number = le32toh(c->program);
	struct nnpu_device *dev = a->dev;
	unsigned int status;
	struct nnpu_ctx *ctx;
	struct mem_map map;
	struct load *load;

	if ((c->flags & ~NNPU_LOAD_CHECK) || c->reserved0 ||
	    (check ? number : !is_zero(&c->reports, sizeof(c->reports)))) {
		admin_fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	ctx = admin_get_ctx(a, c->ctx);
	if (!ctx)
		return;
	if (!check && (!number || number > dev->props.max_programs)) {
		admin_fail(a, NNPU_STATUS_INVALID_PROGRAM);
		return;
	}
	load = loads_prepare(dev, ctx, c, a->bad_status);
	pthread_mutex_lock(&dev->lock);
	if (!check && (ctx->programs[number] || loads_have_number(ctx, number)))
		status = NNPU_STATUS_BUSY;
	else if (!mem_map_init(&map, &c->image) || (check && !mem_map_init(&map, &c->reports)))
		status = NNPU_STATUS_INVALID_FIELD;
	else
		status = loads_add(dev, ctx, load);
	pthread_mutex_unlock(&dev->lock);
	load_added(a, load, status);
}

/* Room for an image is memory like any other, or none at all. */
static bool room_ok(const struct nnpu_mem *mem)
{
	struct mem_map map;

	return mem->size ? mem_map_init(&map, mem) : is_zero(mem, sizeof(*mem));
}

void admin_save_program(struct admin *a, const struct nnpu_sqe_save_program *c)
{
	uint32_t number = le32toh(c->program);
	struct nnpu_sqe_load_program sqe;
	struct nnpu_device *dev = a->dev;
	struct program *p;
	unsigned int status;
	struct nnpu_ctx *ctx;
	struct load *load;

	_Static_assert(sizeof(sqe) == sizeof(*c), "both are entries");
	if (c->flags || c->reserved0 || !is_zero(c->reserved, sizeof(c->reserved))) {
		admin_fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	ctx = admin_get_ctx(a, c->ctx);
	if (!ctx)
		return;
	memcpy(&sqe, c, sizeof(sqe));
	load = loads_prepare(dev, ctx, &sqe, a->bad_status);
	pthread_mutex_lock(&dev->lock);
	p = find_program(ctx, number);
	if (load)
		load->saved = p;
	if (!p)
		status = NNPU_STATUS_INVALID_PROGRAM;
	else if (!room_ok(&c->image))
		status = NNPU_STATUS_INVALID_FIELD;
	else
		status = loads_add(dev, ctx, load);
	if (!status)
		p->refs++;
	pthread_mutex_unlock(&dev->lock);
	load_added(a, load, status);
}

void admin_unload_program(struct admin *a, const struct nnpu_sqe_unload_program *c)
{
	struct nnpu_device *dev = a->dev;
	uint32_t number = le32toh(c->program);
	struct program *p;
	struct nnpu_ctx *ctx;

	if (c->flags || c->reserved0 || !is_zero(c->reserved, sizeof(c->reserved))) {
		admin_fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	ctx = admin_get_ctx(a, c->ctx);
	if (!ctx)
		return;
	pthread_mutex_lock(&dev->lock);
	p = find_program(ctx, number);
	if (p) {
		ctx->programs[number] = NULL;
		dev->num_programs--;
		program_put(p);
	}
	pthread_mutex_unlock(&dev->lock);
	/* A program that is still being loaded is none yet. */
	if (!p)
		admin_fail(a, NNPU_STATUS_INVALID_PROGRAM);
}
