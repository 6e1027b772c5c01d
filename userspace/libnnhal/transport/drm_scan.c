// SPDX-License-Identifier: MIT
/*
 * Finding the device nodes of the kernel driver.
 *
 * With DRM_ACCEL the kernel creates /dev/accel/accelN, otherwise /dev/dri/renderDN. The name
 * of the driver comes from the version ioctl of the node, or from sysfs if the process may
 * not open the node.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <drm/nnpu_accel.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "transport/drm_scan.h"

#define ROOT_SIZE	192

struct node_class {
	const char *dev;		/* directory of the nodes */
	const char *prefix;
	const char *sys;		/* class directory in sysfs */
};

static const struct node_class classes[] = {
	{ "/dev/accel", "accel", "/sys/class/accel" },
	{ "/dev/dri", "renderD", "/sys/class/drm" },
};

/* Bus drivers are called nnpu or nnpu-something. */
static bool sysfs_says_ours(const char *root, const struct node_class *class, unsigned int minor)
{
	char path[ROOT_SIZE + 96], target[256];
	const char *base;
	ssize_t n;

	snprintf(path, sizeof(path), "%s%s/%s%u/device/driver", root, class->sys, class->prefix,
		 minor);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return false;
	target[n] = '\0';
	base = strrchr(target, '/');
	base = base ? base + 1 : target;
	return !strncmp(base, NNPU_DRIVER_NAME, strlen(NNPU_DRIVER_NAME));
}

static bool driver_says_ours(int fd)
{
	char name[16] = "";
	struct drm_version version = { .name = name, .name_len = sizeof(name) - 1 };
	int ret;

	do {
		ret = ioctl(fd, DRM_IOCTL_VERSION, &version);
	} while (ret && (errno == EINTR || errno == EAGAIN));
	return !ret && !strcmp(name, NNPU_DRIVER_NAME);
}

static bool examine(const char *root, const struct node_class *class, struct drm_node *node)
{
	char path[ROOT_SIZE + sizeof(node->path)];
	bool ours;
	int fd;

	snprintf(path, sizeof(path), "%s%s", root, node->path);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		node->accessible = errno != EACCES && errno != EPERM;
		return sysfs_says_ours(root, class, node->minor);
	}
	node->accessible = true;
	ours = driver_says_ours(fd);
	close(fd);
	return ours;
}

static int compare_minors(const void *a, const void *b)
{
	const struct drm_node *na = a, *nb = b;

	return na->minor < nb->minor ? -1 : na->minor > nb->minor;
}

/* The number in "accel12"; false: another name. */
static bool parse_minor(const char *name, const char *prefix, unsigned int *minor)
{
	size_t len = strlen(prefix);
	unsigned long n;
	char *end;

	if (strncmp(name, prefix, len) || name[len] < '0' || name[len] > '9')
		return false;
	n = strtoul(name + len, &end, 10);
	if (*end || n > 1u << 20)
		return false;
	*minor = (unsigned int)n;
	return true;
}

static unsigned int scan_class(const char *root, const struct node_class *class,
			       struct drm_node *nodes, unsigned int max)
{
	char path[ROOT_SIZE + 32];
	struct drm_node node;
	struct dirent *entry;
	unsigned int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s%s", root, class->dev);
	dir = opendir(path);
	if (!dir)
		return 0;
	while (n < max && (entry = readdir(dir))) {
		if (!parse_minor(entry->d_name, class->prefix, &node.minor))
			continue;
		snprintf(node.path, sizeof(node.path), "%s/%s%u", class->dev, class->prefix,
			 node.minor);
		if (examine(root, class, &node))
			nodes[n++] = node;
	}
	closedir(dir);
	qsort(nodes, n, sizeof(*nodes), compare_minors);
	return n;
}

unsigned int drm_scan(const char *root, struct drm_node *nodes, unsigned int max)
{
	unsigned int n = 0;
	size_t i;

	if (strlen(root) >= ROOT_SIZE)
		return 0;
	for (i = 0; i < ARRAY_SIZE(classes); i++)
		n += scan_class(root, &classes[i], nodes + n, max - n);
	return n;
}

enum nnhal_status drm_absence(const char *root, struct nnhal_diag *diag)
{
	char path[ROOT_SIZE + 32];

	snprintf(path, sizeof(path), "%s/sys/module/" NNPU_DRIVER_NAME, root);
	if (access(path, F_OK)) {
		diag_set(diag, "the kernel module " NNPU_DRIVER_NAME " is not loaded");
		return NNHAL_STATUS_NO_DRIVER;
	}
	diag_set(diag, "the kernel module " NNPU_DRIVER_NAME " is loaded, but has no such device");
	return NNHAL_STATUS_NO_DEVICE;
}
