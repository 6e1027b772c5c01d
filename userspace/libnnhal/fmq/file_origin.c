// SPDX-License-Identifier: MIT
/*
 * Files of a stranger.
 *
 * If a process serves a file, as with FUSE, or another machine, a read may take for ever, and
 * nothing ends it. fstat() and fstatfs() would wait as well. The calls here ask the kernel
 * only: for seals, for attributes that it has already, and procfs. A network block device is not
 * told apart from a disk.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "fmq/file_origin.h"

enum origin { UNKNOWN, LOCAL, ELSEWHERE };

/*
 * File systems without a disk number of their own that this machine serves. An overlay is as
 * good as what is below it; who may mount one in the namespace of this process is trusted.
 */
static const char *const local_types[] = {
	"bcachefs", "btrfs", "overlay", "ramfs", "rootfs", "zfs",
};

/* The beginning of /proc/self/fdinfo/N. */
static bool read_info(int fd, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int info;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = open(path, O_RDONLY | O_CLOEXEC);
	if (info < 0)
		return false;
	n = read(info, text, size - 1);
	close(info);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* What the type of the file system in a line of mountinfo says. */
static enum origin origin_of_type(const char *line)
{
	const char *type = strstr(line, " - ");
	size_t i, len;

	if (!type)
		return UNKNOWN;
	type += 3;
	/* A process serves "fuseblk", too, for all that it has the number of a disk. */
	if (!strncmp(type, "fuse", 4))
		return ELSEWHERE;
	len = strcspn(type, " ");
	for (i = 0; i < ARRAY_SIZE(local_types); i++)
		if (strlen(local_types[i]) == len && !memcmp(type, local_types[i], len))
			return LOCAL;
	return UNKNOWN;
}

/* Mounts of other namespaces are not listed: nobody knows who made them. */
static enum origin origin_of_mount(long mount)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	enum origin origin = UNKNOWN;
	char *line = NULL;
	size_t size = 0;

	while (file && getline(&line, &size, file) > 0)
		if (strtol(line, NULL, 10) == mount) {
			origin = origin_of_type(line);
			break;
		}
	free(line);
	if (file)
		fclose(file);
	return origin;
}

enum nnhal_status file_origin_check(int fd)
{
	enum origin origin = UNKNOWN;
	const char *mount;
	struct statx st;
	char info[1024];

	/* Files of tmpfs and hugetlbfs, memfds among them. */
	if (fcntl(fd, F_GET_SEALS) >= 0)
		return NNHAL_STATUS_NONE;
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &st) ||
	    !read_info(fd, info, sizeof(info)))
		return NNHAL_STATUS_GENERAL_FAILURE;
	/* Only dma-bufs have this line. */
	if (strstr(info, "\nexp_name:"))
		return NNHAL_STATUS_NONE;
	if (!S_ISREG(st.stx_mode))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	mount = strstr(info, "\nmnt_id:");
	if (mount)
		origin = origin_of_mount(strtol(mount + strlen("\nmnt_id:"), NULL, 10));
	/* Of types that say nothing, those with a disk number of their own are on a block device. */
	if (origin == UNKNOWN && st.stx_dev_major)
		origin = LOCAL;
	return origin == LOCAL ? NNHAL_STATUS_NONE : NNHAL_STATUS_GENERAL_FAILURE;
}
