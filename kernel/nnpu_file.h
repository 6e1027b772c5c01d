/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_FILE_H_
#define _NNPU_FILE_H_

#include <linux/mutex.h>

#include <drm/drm_file.h>

#include "nnpu_ctx.h"
#include "nnpu_table.h"

/* Contexts of one file, number 0 included. */
#define NNPU_FILE_MAX_CONTEXTS	256

/**
 * struct nnpu_file - driver's part of an open file
 * @lock: held while context 0 is created, so that there is one, and while a context gets what its
 *	first job needs
 * @contexts: contexts by number; 0 is always reserved
 * @userqs: user queues by number
 * @tally: counters of its contexts
 */
struct nnpu_file {
	struct mutex lock;	/* see above */
	struct nnpu_table contexts;
	struct nnpu_table userqs;
	struct nnpu_tally *tally;
};

int nnpu_file_open(struct drm_device *drm, struct drm_file *file);
int nnpu_file_release(struct inode *inode, struct file *filp);
void nnpu_file_close(struct drm_device *drm, struct drm_file *file);
struct nnpu_ctx *nnpu_file_get_context(struct drm_file *file, u32 id);
struct nnpu_ctx *nnpu_file_use_context(struct drm_file *file, u32 id);
void nnpu_file_put_context(struct drm_file *file, struct nnpu_ctx *ctx);
struct nnpu_ctx *nnpu_file_begin_command(struct drm_file *file, u32 id);
void nnpu_file_end_command(struct drm_file *file, struct nnpu_ctx *ctx);
int nnpu_file_prepare_jobs(struct drm_file *file, struct nnpu_ctx *ctx);
int nnpu_file_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int nnpu_file_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

static inline struct nnpu_table *nnpu_file_userqs(struct drm_file *file)
{
	return &((struct nnpu_file *)file->driver_priv)->userqs;
}

static inline struct nnpu_tally *nnpu_file_tally(struct drm_file *file)
{
	return ((struct nnpu_file *)file->driver_priv)->tally;
}

#endif /* _NNPU_FILE_H_ */
