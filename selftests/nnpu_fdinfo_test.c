// SPDX-License-Identifier: GPL-2.0-only
/*
 * fdinfo by the rules of the kernel's document drm-usage-stats, one after the other,
 * and attributes in sysfs.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "nnpu_test.h"
#include "nnpu_test_queue.h"

#define WAIT_MS		120000

/* Keys of DRM; the rest are the driver's. */
struct info {
	char driver[32];
	char pdev[64];
	unsigned long long client;
	unsigned long long engine;
	unsigned long long capacity;
	unsigned long long total;	/* bytes; ~0 if the key is missing, as below */
	unsigned long long shared;
	unsigned long long resident;
	unsigned long long device;	/* memory of the device: total, and resident */
	unsigned long long device_resident;
	unsigned int engines;		/* keys drm-engine-* */
	const char *fault;		/* the rule that is broken */
	char line[256];			/* the line that breaks it */
};

/* "NUMBER UNIT", UNIT of those allowed; the number in the smallest unit. False: it is not that. */
static bool number(const char *value, bool bytes, unsigned long long *result)
{
	unsigned long long factor = 1;
	char *end;

	if (!isdigit((unsigned char)*value))
		return false;
	*result = strtoull(value, &end, 10);
	if (bytes && !strcmp(end, " KiB"))
		factor = 1 << 10;
	else if (bytes && !strcmp(end, " MiB"))
		factor = 1 << 20;
	else if (strcmp(end, bytes ? "" : " ns"))
		return false;
	*result *= factor;
	return true;
}

static bool plain(const char *value, unsigned long long *result)
{
	char *end;

	if (!isdigit((unsigned char)*value))
		return false;
	*result = strtoull(value, &end, 10);
	return !*end;
}

/* One key of DRM. Returns the rule that it breaks, or NULL. */
static const char *take(struct info *info, const char *key, const char *value)
{
	unsigned long long any;

	if (!strcmp(key, "drm-driver")) {
		snprintf(info->driver, sizeof(info->driver), "%s", value);
		return *value ? NULL : "drm-driver is a string";
	}
	if (!strcmp(key, "drm-pdev")) {
		snprintf(info->pdev, sizeof(info->pdev), "%s", value);
		return strlen(value) == strlen("0000:00:00.0") ? NULL : "drm-pdev is a PCI address";
	}
	if (!strcmp(key, "drm-client-id"))
		return plain(value, &info->client) ? NULL : "drm-client-id is a number";
	if (!strncmp(key, "drm-engine-capacity-", 20)) {
		if (strcmp(key + 20, "npu"))
			return "a capacity is that of an engine";
		return plain(value, &info->capacity) && info->capacity ? NULL :
		       "a capacity is a number greater than 0";
	}
	if (!strncmp(key, "drm-engine-", 11)) {
		info->engines++;
		if (!strncmp(key + 11, "capacity-", 9) || !key[11])
			return "an engine has a name of its own";
		return number(value, false, &info->engine) ? NULL : "engine time is in ns";
	}
	if (!strcmp(key, "drm-total-memory"))
		return number(value, true, &info->total) ? NULL : "memory is [KiB|MiB]";
	if (!strcmp(key, "drm-shared-memory"))
		return number(value, true, &info->shared) ? NULL : "memory is [KiB|MiB]";
	if (!strcmp(key, "drm-resident-memory"))
		return number(value, true, &info->resident) ? NULL : "memory is [KiB|MiB]";
	/* A region with a name of the driver. */
	if (!strcmp(key, "drm-total-device"))
		return number(value, true, &info->device) ? NULL : "memory is [KiB|MiB]";
	if (!strcmp(key, "drm-resident-device"))
		return number(value, true, &info->device_resident) ? NULL : "memory is [KiB|MiB]";
	if (!strncmp(key, "drm-active-", 11) || !strncmp(key, "drm-purgeable-", 14) ||
	    !strncmp(key, "drm-memory-", 11))
		return number(value, true, &any) ? NULL : "memory is [KiB|MiB]";
	return "a key that begins with drm- is in the document";
}

/* Of a line: "KEY:", white space, "VALUE". */
static const char *judge(struct info *info, char *line)
{
	char *colon = strchr(line, ':'), *value, *c;

	if (!colon)
		return "each line is a key and a value";
	*colon = '\0';
	for (c = line; *c; c++)
		if (isspace((unsigned char)*c))
			return "a key has no white space";
	for (value = colon + 1; isspace((unsigned char)*value); value++)
		;
	if (!*value)
		return "a key has a value";
	if (!strncmp(line, "drm-", 4))
		return take(info, line, value);
	/* What the kernel says of any file. */
	if (!strcmp(line, "pos") || !strcmp(line, "flags") || !strcmp(line, "mnt_id") ||
	    !strcmp(line, "ino"))
		return NULL;
	return strncmp(line, "nnpu-", 5) ? "the driver's keys begin with its name" : NULL;
}

/* False: there is no such file. */
static bool read_info(struct info *info, pid_t pid, int fd)
{
	char path[64], line[256];
	FILE *f;

	memset(info, 0, sizeof(*info));
	info->client = info->engine = info->total = info->shared = info->resident = ~0ull;
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", pid, fd);
	f = fopen(path, "r");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		const char *fault;

		line[strcspn(line, "\n")] = '\0';
		snprintf(info->line, sizeof(info->line), "%s", line);
		fault = judge(info, line);
		if (fault) {
			info->fault = fault;
			break;
		}
	}
	fclose(f);
	return true;
}

FIXTURE(fdinfo)
{
	int fd;
};

FIXTURE_SETUP(fdinfo)
{
	self->fd = nnpu_open();
	if (self->fd < 0)
		NNPU_SKIP(return, "no NNPU device: %s", strerror(-self->fd));
}

FIXTURE_TEARDOWN(fdinfo)
{
	if (self->fd >= 0)
		close(self->fd);
}

#define READ_INFO(info, fd) do {						\
	ASSERT_TRUE(read_info(info, getpid(), fd));				\
	ASSERT_EQ(NULL, (info)->fault) {					\
		TH_LOG("%s: %s", (info)->fault, (info)->line);			\
	}									\
} while (0)

TEST_F(fdinfo, format)
{
	char path[NNPU_DEBUGFS_PATH_MAX];
	struct info info;

	READ_INFO(&info, self->fd);
	EXPECT_STREQ("nnpu", info.driver);
	ASSERT_EQ(0, nnpu_debugfs_dir(self->fd, path));
	/* Not on a bus without such addresses. */
	if (info.pdev[0])
		EXPECT_STREQ(strrchr(path, '/') + 1, info.pdev);
	EXPECT_NE(~0ull, info.client);
	EXPECT_EQ(1, info.engines);
	EXPECT_EQ(0, info.engine);
	EXPECT_NE(~0ull, info.total);
	EXPECT_NE(~0ull, info.shared);
}

/* A file has a number of its own; another descriptor of it has the same. */
TEST_F(fdinfo, client_id)
{
	struct info a, b, c;
	int other = nnpu_open(), same = dup(self->fd);

	ASSERT_LE(0, other);
	ASSERT_LE(0, same);
	READ_INFO(&a, self->fd);
	READ_INFO(&b, other);
	READ_INFO(&c, same);
	EXPECT_NE(a.client, b.client);
	EXPECT_EQ(a.client, c.client);
	close(other);
	close(same);
}

/* Engine time grows, never shrinks, and is not more than the engines have. */
TEST_F(fdinfo, engine)
{
	unsigned long long before = 0, begin = nnpu_now_ns();
	struct nnpu_job job;
	struct info info;
	uint32_t i;

	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 4096));
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, nnpu_job_run(self->fd, &job, i));
		READ_INFO(&info, self->fd);
		EXPECT_LT(before, info.engine);
		before = info.engine;
		EXPECT_GE((nnpu_now_ns() - begin) * (info.capacity ? info.capacity : 1),
			  info.engine);
	}
	/* No job, no time. */
	READ_INFO(&info, self->fd);
	EXPECT_EQ(before, info.engine);
}

/* Memory: what a file has handles of, how much of it is there, and how much others have. */
TEST_F(fdinfo, memory)
{
	const unsigned long long size = 16 * NNPU_PAGE_SIZE;
	struct info empty, info;
	uint32_t handle;
	void *map;

	READ_INFO(&empty, self->fd);
	EXPECT_EQ(0, empty.total);
	ASSERT_EQ(0, nnpu_bo_create(self->fd, size, &handle));
	READ_INFO(&info, self->fd);
	/* shared and total tell buffers of one file from those of several. */
	EXPECT_EQ(size, info.total + info.shared);
	EXPECT_EQ(0, info.shared);
	EXPECT_GE(info.total + info.shared, info.resident);
	ASSERT_EQ(0, nnpu_bo_mmap(self->fd, handle, size, &map));
	memset(map, 1, size);
	READ_INFO(&info, self->fd);
	EXPECT_EQ(size, info.resident);
	ASSERT_EQ(0, nnpu_bo_close(self->fd, handle));
	READ_INFO(&info, self->fd);
	EXPECT_EQ(0, info.total);
	EXPECT_EQ(0, info.shared);
}

/* Memory of the device belongs to the file that has loaded what is in it, and to no other. */
TEST_F(fdinfo, device_memory)
{
	struct nnpu_job job, second;
	struct info info, other;
	unsigned long long one;
	int fd = nnpu_open();

	ASSERT_LE(0, fd);
	READ_INFO(&info, self->fd);
	EXPECT_EQ(0, info.device);
	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 64));
	READ_INFO(&info, self->fd);
	one = info.device;
	EXPECT_LT(0, one);
	EXPECT_EQ(one, info.device_resident);
	ASSERT_EQ(0, nnpu_job_init_slow(self->fd, &second, 64));
	READ_INFO(&info, self->fd);
	EXPECT_LT(one, info.device);
	READ_INFO(&other, fd);
	EXPECT_EQ(0, other.device);
	nnpu_job_fini(self->fd, &second);
	READ_INFO(&info, self->fd);
	EXPECT_EQ(one, info.device);
	nnpu_job_fini(self->fd, &job);
	READ_INFO(&info, self->fd);
	EXPECT_EQ(0, info.device);
	close(fd);
}

/* Attributes of the device: one value, one line. */
TEST_F(fdinfo, sysfs)
{
	bool level = nnpu_sysfs_is(self->fd, "perf_level", "low") ||
		     nnpu_sysfs_is(self->fd, "perf_level", "medium") ||
		     nnpu_sysfs_is(self->fd, "perf_level", "high");
	struct nnpu_job job;

	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 64));
	ASSERT_EQ(0, nnpu_job_run(self->fd, &job, 1));
	EXPECT_TRUE(level);
	EXPECT_TRUE(nnpu_sysfs_is(self->fd, "power/runtime_status", "active") ||
		    nnpu_sysfs_is(self->fd, "power/runtime_status", "suspended"));
	EXPECT_GT(0, nnpu_sysfs_write(self->fd, "perf_level", "high"));
}

TEST_HARNESS_MAIN
