// SPDX-License-Identifier: MIT
/*
 * Finding the device nodes of the kernel driver.
 *
 * With DRM_ACCEL the kernel creates /dev/accel/accelN, otherwise /dev/dri/renderDN. sysfs names
 * the driver of a node. Nodes of other drivers are not opened: that may wake their hardware or
 * wait for it. Only where sysfs does not know the node, the version ioctl is asked.
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
#include "base/status.h"
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

enum verdict {
	NOT_OURS,
	OURS,
	NOT_KNOWN,
};

/* Bus drivers are called nnpu or nnpu-something. */
static bool name_is_ours(const char *name)
{
	size_t len = strlen(NNPU_DRIVER_NAME);

	return !strncmp(name, NNPU_DRIVER_NAME, len) &&
	       (!name[len] || name[len] == '-' || name[len] == '_');
}

static enum verdict ask_sysfs(const char *root, const struct node_class *class,
			      unsigned int minor)
{
	char path[ROOT_SIZE + 96], target[256];
	const char *base;
	ssize_t n;

	snprintf(path, sizeof(path), "%s%s/%s%u/device/driver", root, class->sys, class->prefix,
		 minor);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0) {
		/* A device without a bus driver is none of ours. */
		snprintf(path, sizeof(path), "%s%s/%s%u", root, class->sys, class->prefix, minor);
		return access(path, F_OK) ? NOT_KNOWN : NOT_OURS;
	}
	target[n] = '\0';
	base = strrchr(target, '/');
	return name_is_ours(base ? base + 1 : target) ? OURS : NOT_OURS;
}

static enum verdict ask_driver(int fd)
{
	char name[16] = "";
	struct drm_version version = { .name = name, .name_len = sizeof(name) - 1 };
	int ret;

	do {
		ret = ioctl(fd, DRM_IOCTL_VERSION, &version);
	} while (ret && (errno == EINTR || errno == EAGAIN));
	if (ret)
		return errno == ENOTTY ? NOT_OURS : NOT_KNOWN;
	return strcmp(name, NNPU_DRIVER_NAME) ? NOT_OURS : OURS;
}

static bool examine(const char *root, const struct node_class *class, struct drm_node *node)
{
	enum verdict by_sysfs = ask_sysfs(root, class, node->minor), by_driver;
	char path[ROOT_SIZE + sizeof(node->path)];
	int fd;

	if (by_sysfs == NOT_OURS)
		return false;
	snprintf(path, sizeof(path), "%s%s", root, node->path);
	node->fd = -1;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		node->accessible = errno != EACCES && errno != EPERM;
		return by_sysfs == OURS;
	}
	node->accessible = true;
	by_driver = ask_driver(fd);
	/* If the driver could not answer, opening the device will say why. */
	if (by_driver == OURS || (by_driver == NOT_KNOWN && by_sysfs == OURS)) {
		node->fd = fd;
		return true;
	}
	close(fd);
	return false;
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

static int scan_class(const char *root, const struct node_class *class, struct drm_node *nodes,
		      unsigned int max)
{
	char path[ROOT_SIZE + 32];
	struct drm_node node;
	struct dirent *entry;
	unsigned int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s%s", root, class->dev);
	dir = opendir(path);
	if (!dir)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : 0;
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
	return (int)n;
}

void drm_nodes_close(struct drm_node *nodes, int num)
{
	int i;

	for (i = 0; i < num; i++) {
		if (nodes[i].fd >= 0)
			close(nodes[i].fd);
		nodes[i].fd = -1;
	}
}

int drm_scan_open(const char *root, struct drm_node *nodes, unsigned int max)
{
	unsigned int n = 0;
	size_t i;
	int some;

	if (strlen(root) >= ROOT_SIZE)
		return 0;
	for (i = 0; i < ARRAY_SIZE(classes); i++) {
		some = scan_class(root, &classes[i], nodes + n, max - n);
		/* What was found can be used all the same. */
		if (some < 0)
			return n ? (int)n : some;
		n += (unsigned int)some;
	}
	return (int)n;
}

int drm_scan(const char *root, struct drm_node *nodes, unsigned int max)
{
	int n = drm_scan_open(root, nodes, max);

	drm_nodes_close(nodes, n);
	return n;
}

enum nnhal_status drm_absence(const char *root, int found, struct nnhal_diag *diag)
{
	char path[ROOT_SIZE + 32];

	if (found < 0) {
		diag_set(diag, "looking for devices: %s", errno_text(-found));
		return status_from_errno(-found);
	}
	snprintf(path, sizeof(path), "%s/sys/module/" NNPU_DRIVER_NAME, root);
	if (access(path, F_OK)) {
		diag_set(diag, "the kernel module " NNPU_DRIVER_NAME " is not loaded");
		return NNHAL_STATUS_NO_DRIVER;
	}
	diag_set(diag, "the kernel module " NNPU_DRIVER_NAME " is loaded, but has no such device");
	return NNHAL_STATUS_NO_DEVICE;
}
