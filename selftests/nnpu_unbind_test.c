// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver is unbound while a file is in use: a call waits for memory of its process that does
 * not come (the kernel needs userfaultfd), buffers are mapped, or a load begins.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "../kernel/nnpu_hw.h"
#include "nnpu_test.h"

#define PAGE	4096u

/* Memory without pages: an access waits until memory_comes(). */
static void *memory_missing(int *uffd)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	void *map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	reg.range.start = (uintptr_t)map;
	reg.range.len = PAGE;
	if (map == MAP_FAILED || *uffd < 0 || ioctl(*uffd, UFFDIO_API, &api) ||
	    ioctl(*uffd, UFFDIO_REGISTER, &reg))
		return NULL;
	return map;
}

/* Sleeps until somebody waits for the memory. */
static bool memory_wanted(int uffd)
{
	struct uffd_msg msg;

	return read(uffd, &msg, sizeof(msg)) == sizeof(msg) && msg.event == UFFD_EVENT_PAGEFAULT;
}

static bool memory_comes(int uffd, void *map)
{
	struct uffdio_zeropage zero = { .range = { .start = (uintptr_t)map, .len = PAGE } };

	return !ioctl(uffd, UFFDIO_ZEROPAGE, &zero);
}

/* A PROGRAM_LOAD in a thread of its own. */
struct load {
	int fd;
	struct drm_nnpu_program_load args;
	int ret;
};

static void *load_run(void *arg)
{
	struct load *load = arg;

	load->ret = nnpu_ioctl(load->fd, DRM_IOCTL_NNPU_PROGRAM_LOAD, &load->args);
	return NULL;
}

FIXTURE(unbind)
{
	char device[64];
	struct load load;
	void *missing;
	int uffd;
	uint8_t image[NNPU_ADD_IMAGE_SIZE];
	size_t size;
	bool skipped;			/* the device was not touched */
};

FIXTURE_SETUP(unbind)
{
	char path[NNPU_DEBUGFS_PATH_MAX];

	self->load.fd = nnpu_open();
	if (self->load.fd < 0)
		NNPU_SKIP(return, "no NNPU device: %s", strerror(-self->load.fd));
	ASSERT_EQ(0, nnpu_debugfs_dir(self->load.fd, path));
	snprintf(self->device, sizeof(self->device), "%s", strrchr(path, '/') + 1);
	self->missing = memory_missing(&self->uffd);
	ASSERT_NE(NULL, self->missing);
	self->size = nnpu_add_image(self->image, 64);
}

FIXTURE_TEARDOWN(unbind)
{
	uint32_t program;
	int fd;

	if (self->load.fd < 0)
		return;
	close(self->load.fd);
	if (!self->skipped)
		EXPECT_EQ(0, nnpu_driver_write("bind", self->device));
	fd = nnpu_open();
	EXPECT_LE(0, fd);
	EXPECT_EQ(0, nnpu_program_load(fd, self->image, self->size, &program, NULL));
	close(fd);
	close(self->uffd);
	munmap(self->missing, PAGE);
}

/* Not even the image has come: the device never hears of it. */
TEST_F(unbind, while_the_image_is_missing)
{
	pthread_t thread;

	self->load.args.image = (uintptr_t)self->missing;
	self->load.args.image_size = self->size;
	ASSERT_EQ(0, pthread_create(&thread, NULL, load_run, &self->load));
	ASSERT_TRUE(memory_wanted(self->uffd));
	EXPECT_EQ(0, nnpu_driver_write("unbind", self->device));
	EXPECT_TRUE(memory_comes(self->uffd, self->missing));
	pthread_join(thread, NULL);
	/* What has come is no image. */
	EXPECT_EQ(-EINVAL, self->load.ret);
}

/* The device has answered, and the answer cannot be written yet. */
TEST_F(unbind, while_the_reports_have_no_room)
{
	pthread_t thread;

	self->load.args.image = (uintptr_t)self->image;
	self->load.args.image_size = self->size;
	self->load.args.flags = DRM_NNPU_PROGRAM_CHECK;
	self->load.args.report = (uintptr_t)self->missing;
	self->load.args.num_reports = 1;
	ASSERT_EQ(0, pthread_create(&thread, NULL, load_run, &self->load));
	ASSERT_TRUE(memory_wanted(self->uffd));
	EXPECT_EQ(0, nnpu_driver_write("unbind", self->device));
	EXPECT_TRUE(memory_comes(self->uffd, self->missing));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, self->load.ret);
}

/* Their memory stays with the process. Unplug takes its mappings for DMA away. */
TEST_F(unbind, while_buffers_are_mapped)
{
	struct nnpu_job job;

	ASSERT_EQ(0, nnpu_job_init(self->load.fd, &job, 64));
	EXPECT_EQ(0, nnpu_job_run(self->load.fd, &job, 1));
	EXPECT_EQ(0, nnpu_driver_write("unbind", self->device));
	EXPECT_TRUE(nnpu_job_correct(&job, 1));
	memset(job.buf.map, 0x5a, job.buf.size);
	EXPECT_EQ(-ENODEV, nnpu_job_submit(self->load.fd, &job));
	/* The mapping would keep the file. */
	munmap(job.buf.map, job.buf.size);
}

#define PLANTED_DIR	"/sys/module/nnpu_planted/parameters"

static bool unplug_lingers(void)
{
	FILE *f = fopen(PLANTED_DIR "/lingers", "r");
	bool lingers = f && fgetc(f) == 'Y';

	if (f)
		fclose(f);
	return lingers;
}

static void *unbind_run(void *device)
{
	return nnpu_driver_write("unbind", device) ? device : NULL;
}

/* Ends within a minute? */
static bool joined(pthread_t thread, void **result)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 60;
	return !pthread_timedjoin_np(thread, result, &end);
}

/*
 * Unplug has ended the waits for answers, and is about to wait until no command is under way. A
 * device reset that comes just then makes the device work once more. A load, which may last as
 * long as it likes, would keep unplug waiting.
 */
TEST_F_TIMEOUT(unbind, no_load_begins_meanwhile, 600)
{
	struct drm_nnpu_context_create attrs = { 0 };
	pthread_t unbinder, loader;
	void *fault = self->device;

	self->skipped = !getenv("NNPU_DEBUG_KERNEL");
	if (self->skipped)
		SKIP(return, "the module that makes unplug linger is for the debug kernel");
	ASSERT_NE(NULL, getenv("NNPU_PLANTED_KO"));
	nnpu_set_parameter("hang_timeout_ms", 600000);
	ASSERT_EQ(0, system("insmod \"$NNPU_PLANTED_KO\" plant=linger"));
	ASSERT_EQ(0, pthread_create(&unbinder, NULL, unbind_run, self->device));
	while (!unplug_lingers())
		usleep(1000);
	/* The first attempt finds that the device does not answer, and has it reset. */
	EXPECT_EQ(0, nnpu_context_create(self->load.fd, &attrs, &self->load.args.ctx));
	EXPECT_EQ(0, nnpu_inject(self->load.fd, NNPU_INJECT_LOAD_STALL, 1));
	self->load.args.image = (uintptr_t)self->image;
	self->load.args.image_size = self->size;
	ASSERT_EQ(0, pthread_create(&loader, NULL, load_run, &self->load));
	/* Time for the device to have the load; nothing depends on it if there is none. */
	usleep(1000000);
	/* Else unplug has gone on by itself, and may have refused the load without this check. */
	EXPECT_TRUE(unplug_lingers());
	EXPECT_EQ(0, nnpu_write_file(PLANTED_DIR, "go", "1"));
	EXPECT_TRUE(joined(unbinder, &fault)) {
		TH_LOG("unbind waits for a load");
		/* It hangs: end it. */
		nnpu_set_timeouts(NNPU_TIMEOUTS_SHORT);
		pthread_join(unbinder, &fault);
	}
	EXPECT_EQ(NULL, fault);
	pthread_join(loader, NULL);
	EXPECT_EQ(-ENODEV, self->load.ret);
	nnpu_set_timeouts(NNPU_TIMEOUTS_DEFAULT);
	EXPECT_EQ(0, system("rmmod nnpu_planted"));
}

/* More than the device takes at a time. */
#define JOBS	64

/*
 * A job hangs, others wait with the device and with the driver, and the registers answer no more: the
 * reset fails. All jobs end for the same reason.
 */
TEST_F(unbind, jobs_of_a_device_that_dies)
{
	const char without_memory = 4;	/* of COMMAND: a bus master, and no registers */
	uint32_t syncobjs[JOBS];
	struct nnpu_job job;
	unsigned int i;
	char path[128];
	int config;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/config", self->device);
	config = open(path, O_RDWR);
	if (config < 0) {
		self->skipped = true;
		SKIP(return, "of PCI functions only");
	}
	ASSERT_EQ(0, nnpu_job_init(self->load.fd, &job, 64));
	if (nnpu_inject(self->load.fd, NNPU_INJECT_JOB_STALL, 1) == -EOPNOTSUPP) {
		self->skipped = true;
		NNPU_SKIP(return, "device without fault injection");
	}
	nnpu_job_fill(&job, 1);
	for (i = 0; i < JOBS; i++) {
		ASSERT_EQ(0, nnpu_syncobj_create(self->load.fd, &syncobjs[i]));
		job.out_sync.handle = syncobjs[i];
		ASSERT_EQ(0, nnpu_job_submit(self->load.fd, &job));
	}
	ASSERT_EQ(1, pwrite(config, &without_memory, 1, 4));
	nnpu_set_timeouts(NNPU_TIMEOUTS_SHORT);
	for (i = 0; i < JOBS; i++) {
		EXPECT_EQ(0, nnpu_syncobj_wait(self->load.fd, syncobjs[i], 300000));
		EXPECT_EQ(-ENODEV, nnpu_syncobj_status(self->load.fd, syncobjs[i]));
	}
	nnpu_set_timeouts(NNPU_TIMEOUTS_DEFAULT);
	close(config);
	EXPECT_EQ(0, nnpu_driver_write("unbind", self->device));
}

TEST_HARNESS_MAIN
