/* SPDX-License-Identifier: MIT */
/*
 * The hardware device of a test: its name, its directories, faults that it is to have.
 */
#ifndef NNHAL_TEST_HARDWARE_RIG_H
#define NNHAL_TEST_HARDWARE_RIG_H

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nnhal_fixture.h"

/* Name of the device on its bus, and its directories. */
static char bus_name[64];
static char driver_dir[256];
static char inject_path[256];

static inline bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good;

	if (fd < 0)
		return false;
	good = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return good;
}

static inline bool inject(unsigned int kind, unsigned int count)
{
	char text[32];

	snprintf(text, sizeof(text), "%u %u\n", kind, count);
	return write_file(inject_path, text);
}

/* Last component of where a symbolic link leads. */
static inline bool read_link(const char *path, char *name, size_t size)
{
	char target[256];
	const char *base;
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n < 0)
		return false;
	target[n] = '\0';
	base = strrchr(target, '/');
	snprintf(name, size, "%.63s", base ? base + 1 : target);
	return true;
}

static inline bool find_device(void)
{
	struct nnhal_device_info info = NNHAL_DEVICE_INFO_INIT;
	const char *node, *class;
	char path[128], link[160];
	char *resolved;
	uint32_t count;

	if (nnhal_enumerate_devices(&info, 1, &count, NULL))
		return false;
	node = strrchr(info.path, '/') + 1;
	class = strncmp(node, "accel", 5) ? "drm" : "accel";
	snprintf(path, sizeof(path), "/sys/class/%s/%.32s/device", class, node);
	if (!read_link(path, bus_name, sizeof(bus_name)))
		return false;
	/* The link vanishes when the device is unbound, so keep its target. */
	snprintf(link, sizeof(link), "%s/driver", path);
	resolved = realpath(link, NULL);
	if (!resolved)
		return false;
	snprintf(driver_dir, sizeof(driver_dir), "%s", resolved);
	free(resolved);
	snprintf(inject_path, sizeof(inject_path), "/sys/kernel/debug/%s/%s/fault_inject",
		 strcmp(class, "drm") ? "accel" : "dri", bus_name);
	return !access(inject_path, W_OK);
}

/* Skips where there is no such device, unless one is required. */
static inline void must_find_device(void)
{
	if (strncmp(test_device_spec(), "drm", 3))
		tap_skip_all("faults: needs a hardware device");
	if (find_device())
		return;
	if (!getenv("NNPU_REQUIRE_DEVICE"))
		tap_skip_all("faults: no fault injection (device property, debugfs, root)");
	printf("Bail out! the device, which must be there, has no fault injection\n");
	exit(1);
}

#endif /* NNHAL_TEST_HARDWARE_RIG_H */
