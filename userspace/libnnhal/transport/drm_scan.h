/* SPDX-License-Identifier: MIT */
/*
 * The device nodes of the driver.
 */
#ifndef NNHAL_DRM_SCAN_H
#define NNHAL_DRM_SCAN_H

#include <stdbool.h>

#include <nnhal/types.h>

/* One device node of our driver. */
struct drm_node {
	char path[64];
	unsigned int minor;
	bool accessible;		/* opening it is allowed */
	int fd;				/* -1: not open */
};

/*
 * Find the nodes of our driver under @root, ordered: accel nodes, then render
 * nodes, each by number. At most @max; returns the number found, or -errno if a directory
 * cannot be read for want of memory or descriptors.
 */
int drm_scan(const char *root, struct drm_node *nodes, unsigned int max);
/*
 * The same; those that can be opened stay open: to look at a node takes that anyway, and it is half
 * of what opening a device costs.
 */
int drm_scan_open(const char *root, struct drm_node *nodes, unsigned int max);
/* Close those of the first @num that are open. */
void drm_nodes_close(struct drm_node *nodes, int num);

/*
 * Why there is no device, with a text: NO_DRIVER or NO_DEVICE if drm_scan() @found 0, else the
 * status of its error.
 */
enum nnhal_status drm_absence(const char *root, int found, struct nnhal_diag *diag);

#endif /* NNHAL_DRM_SCAN_H */
