/* SPDX-License-Identifier: MIT */
/*
 * Admin commands. They run on the control thread, without dev->lock.
 */
#ifndef NNPU_EMU_ADMIN_COMMAND_H
#define NNPU_EMU_ADMIN_COMMAND_H

#include <endian.h>

#include "verdict.h"

struct nnpu_ctx;
struct nnpu_device;
struct nnpu_queue;

/* A command that executes. */
struct admin {
	struct nnpu_device *dev;
	struct verdict v;
	uint64_t result;
	bool bad_status;		/* injected: for a command that completes later */
	bool later;			/* the command completes by itself */
};

/* admin.c: what several commands need. */

void admin_fail(struct admin *a, unsigned int status);

/* The context or queue that an entry names, or NULL with the verdict. */
struct nnpu_ctx *admin_get_ctx(struct admin *a, __le32 id);
struct nnpu_queue *admin_get_queue(struct admin *a, __le16 id);

/* admin_queue.c: end the job of a queue and wait for its engine. dev->lock held. */
void admin_quiesce(struct nnpu_device *dev, struct nnpu_queue *q);

/* The commands. */

void admin_identify(struct admin *a, const struct nnpu_sqe_identify *c);

void admin_create_ctx(struct admin *a, const struct nnpu_sqe_create_ctx *c);
void admin_destroy_ctx(struct admin *a, const struct nnpu_sqe *c);
void admin_invalidate(struct admin *a, const struct nnpu_sqe_invalidate *c);

void admin_create_queue(struct admin *a, const struct nnpu_sqe_create_queue *c);
void admin_suspend_queue(struct admin *a, const struct nnpu_sqe_suspend_queue *c);
void admin_destroy_queue(struct admin *a, const struct nnpu_sqe_queue *c);
void admin_reset_queue(struct admin *a, const struct nnpu_sqe_queue *c);
void admin_abort(struct admin *a, const struct nnpu_sqe_queue *c);

void admin_load_program(struct admin *a, const struct nnpu_sqe_load_program *c);
void admin_save_program(struct admin *a, const struct nnpu_sqe_save_program *c);
void admin_unload_program(struct admin *a, const struct nnpu_sqe_unload_program *c);

#endif /* NNPU_EMU_ADMIN_COMMAND_H */
