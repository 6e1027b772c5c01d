// SPDX-License-Identifier: MIT
/*
 * Finding hardware devices, in a made-up /dev and /sys; why there is none.
 */
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nnhal_fixture.h"
#include "system_calls.h"
#include "transport/drm_scan.h"
#include "transport/transport.h"

/* Opened by the library: any node, and one of another driver. */
static unsigned int opened, opened_other;

int __wrap_open(const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, int) : 0;
	va_end(ap);
	if (strstr(path, "/dev/") && !(flags & O_CREAT)) {
		opened++;
		opened_other += strstr(path, "accel3") || strstr(path, "renderD");
	}
	return __real_open(path, flags, mode);
}

static char root[64] = "/tmp/nnhal-scan-XXXXXX";

static void make_dir(const char *path)
{
	char full[256], *p;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (p = full + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(full, 0755);
		*p = '/';
	}
	mkdir(full, 0755);
}

/* A file in place of a device node, and the driver that sysfs names for it. */
static void make_node(const char *path, const char *sys, const char *driver, mode_t mode)
{
	char full[256];
	int fd;

	snprintf(full, sizeof(full), "%s%s", root, path);
	fd = open(full, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	chmod(full, mode);
	make_dir(sys);
	snprintf(full, sizeof(full), "%s%s/driver", root, sys);
	if (symlink(driver, full))
		perror("symlink");
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* What a user without rights sees; exit status of the child is the verdict. */
static int unprivileged(void)
{
	struct drm_node nodes[8];
	struct transport *t;
	struct nnhal_diag diag = { "" };
	int n;

	if (!geteuid() && setuid(65534))
		return 2;
	n = drm_scan(root, nodes, 8);
	if (n != 2 || strcmp(nodes[0].path, "/dev/accel/accel2") || nodes[0].accessible ||
	    strcmp(nodes[1].path, "/dev/accel/accel10"))
		return 3;
	if (transport_drm_open(root, 0, &t, &diag) != NNHAL_STATUS_NO_PERMISSION ||
	    !diag.message[0])
		return 4;
	if (transport_drm_open(root, 2, &t, &diag) != NNHAL_STATUS_NO_DEVICE)
		return 5;
	return 0;
}

static int run_unprivileged(void)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid)
		_exit(unprivileged());
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

int main(void)
{
	struct drm_node nodes[8];
	struct transport *t = NULL;
	struct nnhal_diag diag = { "" };
	struct rlimit limit, none;
	enum nnhal_status status;
	int verdict;

	ok(mkdtemp(root) && !chmod(root, 0755), "directory");
	ok(!drm_scan(root, nodes, 8), "no node where there is no /dev");
	ok(drm_absence(root, 0, &diag) == NNHAL_STATUS_NO_DRIVER && strstr(diag.message, "not loaded"),
	   "no module: NO_DRIVER: %s", diag.message);
	diag.message[0] = '\0';
	ok(transport_drm_open(root, 0, &t, &diag) == NNHAL_STATUS_NO_DRIVER && diag.message[0],
	   "opening gives NO_DRIVER");
	make_dir("/sys/module/nnpu");
	diag.message[0] = '\0';
	ok(drm_absence(root, 0, &diag) == NNHAL_STATUS_NO_DEVICE && strstr(diag.message, "loaded"),
	   "module without device: NO_DEVICE: %s", diag.message);
	diag.message[0] = '\0';
	ok(transport_drm_open(root, 0, &t, &diag) == NNHAL_STATUS_NO_DEVICE && diag.message[0],
	   "opening gives NO_DEVICE");

	make_dir("/dev/accel");
	make_node("/dev/accel/accel10", "/sys/class/accel/accel10/device", "../drivers/nnpu", 0);
	make_node("/dev/accel/accel2", "/sys/class/accel/accel2/device", "../drivers/nnpu-pci", 0);
	make_node("/dev/accel/accel3", "/sys/class/accel/accel3/device", "../drivers/other", 0);
	make_node("/dev/accel/control", "/sys/class/accel/control/device", "../drivers/nnpu", 0);
	verdict = run_unprivileged();
	ok(verdict == 0, "nodes without permission are found, in order, and named so (%d)", verdict);

	getrlimit(RLIMIT_NOFILE, &limit);
	none = (struct rlimit){ 0, limit.rlim_max };
	setrlimit(RLIMIT_NOFILE, &none);
	status = transport_drm_open(root, 0, &t, &diag);
	setrlimit(RLIMIT_NOFILE, &limit);
	ok(status == NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT,
	   "no descriptor to look for devices: %s, %s", nnhal_status_name((int)status),
	   diag.message);

	make_dir("/dev/dri");
	make_node("/dev/dri/renderD128", "/sys/class/drm/renderD128/device", "../drivers/nnpux", 0);
	make_node("/dev/dri/renderD129", "/sys/class/drm/renderD129/unbound", "../drivers/nnpu", 0);
	drm_scan(root, nodes, 8);
	ok(opened >= 2 && !opened_other, "of %u nodes opened, %u are of another driver", opened,
	   opened_other);

	/* As root the files can be opened, and they are no DRM devices. */
	if (geteuid())
		tap_skip("files that are no devices: needs root");
	else
		ok(!drm_scan(root, nodes, 8), "files that are no devices are not ours");
	ok(drm_scan("/this/path/is/longer/than/the/buffers/for/it/this/path/is/longer/than/the/"
		    "buffers/for/it/this/path/is/longer/than/the/buffers/for/it/this/path/is/longer/"
		    "than/the/buffers/for/it/this/path/is/longer/than/the/buffers", nodes, 8) == 0,
	   "a root that is too long");
	nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	return tap_done();
}
