// SPDX-License-Identifier: MIT
/*
 * Which files of a stranger a server of bursts takes, by file system: the program is linked with
 * --wrap for what the library asks, since a test may not mount most of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fmq/file_origin.h"
#include "system_calls.h"
#include "tap.h"

static char mountinfo[512];
static unsigned int major_number;
static mode_t mode;

int __wrap_fcntl(int fd, int cmd, ...)
{
	(void)fd;
	(void)cmd;
	errno = EINVAL;
	return -1;
}

FILE *__wrap_fopen(const char *path, const char *how)
{
	if (strcmp(path, "/proc/self/mountinfo"))
		return __real_fopen(path, how);
	return fmemopen(mountinfo, strlen(mountinfo), "r");
}

int __wrap_statx(int fd, const char *path, int flags, unsigned int mask, struct statx *st)
{
	int ret = __real_statx(fd, path, flags, mask, st);

	st->stx_dev_major = major_number;
	st->stx_mode = (st->stx_mode & ~S_IFMT) | mode;
	return ret;
}

static long mount_of(int fd)
{
	char path[64], line[128];
	long mount = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "mnt_id:", 7))
			mount = strtol(line + 7, NULL, 10);
	if (file)
		fclose(file);
	return mount;
}

static const struct {
	const char *type;	/* NULL: the mount is not listed */
	unsigned int major_number;
	mode_t mode;
	enum nnhal_status expected;
} entries[] = {
	{ "ext4", 8, S_IFREG, NNHAL_STATUS_NONE },
	{ "btrfs", 0, S_IFREG, NNHAL_STATUS_NONE },
	{ "overlay", 0, S_IFREG, NNHAL_STATUS_NONE },
	{ "overlayx", 0, S_IFREG, NNHAL_STATUS_GENERAL_FAILURE },
	{ "nfs4", 0, S_IFREG, NNHAL_STATUS_GENERAL_FAILURE },
	{ "fuse", 0, S_IFREG, NNHAL_STATUS_GENERAL_FAILURE },
	{ "fuse.sshfs", 0, S_IFREG, NNHAL_STATUS_GENERAL_FAILURE },
	{ "fuseblk", 8, S_IFREG, NNHAL_STATUS_GENERAL_FAILURE },
	{ "fuseblk.ntfs", 8, S_IFREG, NNHAL_STATUS_GENERAL_FAILURE },
	{ NULL, 8, S_IFREG, NNHAL_STATUS_NONE },
	{ NULL, 0, S_IFREG, NNHAL_STATUS_GENERAL_FAILURE },
	{ "ext4", 8, S_IFIFO, NNHAL_STATUS_INVALID_ARGUMENT },
};

int main(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	long mount = mount_of(fd);
	enum nnhal_status status;
	unsigned int i;

	if (!ok(fd >= 0 && mount >= 0, "a file on mount %ld", mount))
		return tap_done();
	for (i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		snprintf(mountinfo, sizeof(mountinfo),
			 "%ld 1 8:1 / / rw,relatime shared:1 - %s none rw\n"
			 "%ld 1 0:9 / /a\\040-\\040b rw - %s none rw\n",
			 mount + 1, "ramfs", entries[i].type ? mount : mount + 2,
			 entries[i].type ? entries[i].type : "fuse");
		major_number = entries[i].major_number;
		mode = entries[i].mode;
		status = file_origin_check(fd);
		ok(status == entries[i].expected, "%s, device number %u, %s: %s",
		   entries[i].type ? entries[i].type : "a mount that is not listed",
		   entries[i].major_number, mode == S_IFREG ? "a file" : "no file",
		   nnhal_status_name((int)status));
	}
	close(fd);
	return tap_done();
}
