/* SPDX-License-Identifier: MIT */
/*
 * Another driver, vgem: memory of its own as a dma-buf, and fences which a test signals when it likes,
 * at the latest after 10 seconds: then vgem signals them itself.
 */
#ifndef NNHAL_TEST_VGEM_FENCE_H
#define NNHAL_TEST_VGEM_FENCE_H

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <drm.h>
#include <drm_mode.h>

/* What vgem_drm.h has. */
struct vgem_attach {
	uint32_t handle;
	uint32_t flags;
	uint32_t out_fence;
	uint32_t pad;
};

struct vgem_signal {
	uint32_t fence;
	uint32_t flags;
};

#define VGEM_WRITE	1
#define VGEM_IOCTL_ATTACH	DRM_IOWR(DRM_COMMAND_BASE + 0x1, struct vgem_attach)
#define VGEM_IOCTL_SIGNAL	DRM_IOW(DRM_COMMAND_BASE + 0x2, struct vgem_signal)

/* A descriptor of vgem, or -1: this kernel has none, or this user may not use it. */
static inline int vgem_open(void)
{
	char path[32], name[16];
	struct drm_version version;
	int fd, i;

	if (system("modprobe -q vgem 2>/dev/null") < 0)
		return -1;
	for (i = 0; i < 16; i++) {
		snprintf(path, sizeof(path), "/dev/dri/card%d", i);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		memset(name, 0, sizeof(name));
		version = (struct drm_version){ .name = name, .name_len = sizeof(name) - 1 };
		if (!ioctl(fd, DRM_IOCTL_VERSION, &version) && !strcmp(name, "vgem"))
			return fd;
		close(fd);
	}
	return -1;
}

/* Memory of vgem as a dma-buf of @bytes, a multiple of 4096; -1 as above. */
static inline int vgem_memory(uint32_t bytes)
{
	struct drm_mode_create_dumb dumb = { .width = 1024, .height = bytes / 4096, .bpp = 32 };
	struct drm_prime_handle prime = { .flags = O_RDWR | O_CLOEXEC, .fd = -1 };
	int node = vgem_open();

	if (node < 0)
		return -1;
	if (!ioctl(node, DRM_IOCTL_MODE_CREATE_DUMB, &dumb)) {
		prime.handle = dumb.handle;
		ioctl(node, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);
	}
	close(node);
	return prime.fd;
}

/* A fence as a sync file, and its number for vgem_fence_signal(); -1: it cannot be had. */
static inline int vgem_fence_create(int vgem, uint32_t *number)
{
	struct drm_mode_create_dumb create = { .width = 64, .height = 64, .bpp = 32 };
	struct drm_prime_handle prime = { .flags = DRM_CLOEXEC | DRM_RDWR };
	struct dma_buf_export_sync_file export = { .flags = DMA_BUF_SYNC_READ, .fd = -1 };
	struct vgem_attach attach = { .flags = VGEM_WRITE };

	if (ioctl(vgem, DRM_IOCTL_MODE_CREATE_DUMB, &create))
		return -1;
	attach.handle = create.handle;
	prime.handle = create.handle;
	if (ioctl(vgem, VGEM_IOCTL_ATTACH, &attach) || ioctl(vgem, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime))
		return -1;
	if (ioctl(prime.fd, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &export))
		export.fd = -1;
	close(prime.fd);
	*number = attach.out_fence;
	return export.fd;
}

static inline int vgem_fence_signal(int vgem, uint32_t number)
{
	struct vgem_signal signal = { .fence = number };

	return ioctl(vgem, VGEM_IOCTL_SIGNAL, &signal);
}

#endif /* NNHAL_TEST_VGEM_FENCE_H */
