/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_FILE_H_
#define _NNPU_FILE_H_

#include <linux/mutex.h>

#include <drm/drm_file.h>

struct nnpu_ctx;

/**
 * struct nnpu_file - driver's part of an open file
 * @lock: held while the context is created, so that there is one
 * @ctx: context; NULL until a call needs one, then fixed
 */
struct nnpu_file {
	struct mutex lock;	/* see above */
	struct nnpu_ctx *ctx;
};

int nnpu_file_open(struct drm_device *drm, struct drm_file *file);
void nnpu_file_close(struct drm_device *drm, struct drm_file *file);
struct nnpu_ctx *nnpu_file_use_context(struct drm_file *file);

/* The context of a file, or NULL. It lives as long as the file. */
static inline struct nnpu_ctx *nnpu_file_context(struct drm_file *file)
{
	struct nnpu_file *priv = file->driver_priv;

	/* Pairs with smp_store_release() in nnpu_file_use_context(): the context is complete. */
	return smp_load_acquire(&priv->ctx);
}

#endif /* _NNPU_FILE_H_ */
