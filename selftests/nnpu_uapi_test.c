// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each ioctl of the driver: what must work, and what must be refused with which
 * error. For every ioctl: wrong values field by field, a structure shorter and
 * longer than the driver's, and dirt in padding.
 */
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "../kernel/nnpu_hw.h"
#include "nnpu_test.h"

#define PAGE		((uint64_t)NNPU_PAGE_SIZE)
#define RW		(DRM_NNPU_SLOT_READ | DRM_NNPU_SLOT_WRITE)

/* The request with another size of its structure. */
#define SIZED(request, size) \
	(((request) & ~((unsigned long)_IOC_SIZEMASK << _IOC_SIZESHIFT)) | \
	 ((unsigned long)(size) << _IOC_SIZESHIFT))

FIXTURE(nnpu)
{
	int fd;
};

FIXTURE_SETUP(nnpu)
{
	self->fd = nnpu_open();
	if (self->fd < 0)
		NNPU_SKIP(return, "no NNPU device: %s", strerror(-self->fd));
}

FIXTURE_TEARDOWN(nnpu)
{
	if (self->fd >= 0)
		close(self->fd);
}

TEST_F(nnpu, version)
{
	char name[16] = "";
	struct drm_version version = { .name = name, .name_len = sizeof(name) };

	ASSERT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_VERSION, &version));
	EXPECT_STREQ(NNPU_DRIVER_NAME, name);
	EXPECT_EQ(NNPU_DRIVER_MAJOR, version.version_major);
	EXPECT_LE(NNPU_DRIVER_MINOR, version.version_minor);
}

TEST_F(nnpu, query_device_info)
{
	struct drm_nnpu_device_info info = { 0 };
	uint32_t size = 0;

	ASSERT_EQ(0, nnpu_query(self->fd, DRM_NNPU_QUERY_DEVICE_INFO, NULL, &size));
	ASSERT_EQ(sizeof(info), size);
	ASSERT_EQ(0, nnpu_query(self->fd, DRM_NNPU_QUERY_DEVICE_INFO, &info, &size));
	EXPECT_EQ(NNPU_HW_VERSION_MAJOR, info.hw_version >> 16);
	EXPECT_LE(16, info.max_slots);
	EXPECT_LE(16, info.max_programs);
	EXPECT_LE(16, info.max_args);
	EXPECT_EQ(PAGE, info.page_size);
	EXPECT_LT(0, info.num_queues);
	EXPECT_LT(0, info.num_engines);
	EXPECT_LT(0, info.hang_timeout_ms);
	if (info.features & NNPU_FEATURE_USER_QUEUES) {
		EXPECT_EQ((uint32_t)sysconf(_SC_PAGESIZE), info.doorbell_size);
		EXPECT_LE(2, info.min_ring_entries);
		EXPECT_LE(info.min_ring_entries, info.max_sq_entries);
		EXPECT_LE(info.min_ring_entries, info.max_cq_entries);
		EXPECT_GE(info.page_size, info.max_sq_entries * sizeof(struct nnpu_sqe));
		EXPECT_GE(info.page_size, info.max_cq_entries * sizeof(struct nnpu_cqe));
	} else {
		EXPECT_EQ(0, info.doorbell_size);
		EXPECT_EQ(0, info.max_sq_entries);
	}
}

TEST_F(nnpu, query_short_buffer_is_not_overrun)
{
	unsigned char buf[64];
	uint32_t size = 8;

	memset(buf, 0x5a, sizeof(buf));
	ASSERT_EQ(0, nnpu_query(self->fd, DRM_NNPU_QUERY_DEVICE_INFO, buf, &size));
	EXPECT_EQ(sizeof(struct drm_nnpu_device_info), size);
	EXPECT_EQ(0x5a, buf[8]);
}

TEST_F(nnpu, query_identify)
{
	static struct nnpu_identify id;
	uint32_t size = sizeof(id);
	unsigned int i;

	ASSERT_EQ(0, nnpu_query(self->fd, DRM_NNPU_QUERY_IDENTIFY, &id, &size));
	EXPECT_EQ(NNPU_IDENTIFY_MAGIC, id.magic);
	EXPECT_EQ(4, id.device_type);
	EXPECT_NE('\0', id.name[0]);
	EXPECT_NE('\0', id.firmware[0]);
	ASSERT_LT(0, id.num_performance);
	ASSERT_GE(32, id.num_performance);
	for (i = 1; i < id.num_performance; i++)
		EXPECT_LT(id.performance[i - 1].type, id.performance[i].type);
}

TEST_F(nnpu, query_extensions)
{
	static struct nnpu_extension first[NNPU_MAX_EXTENSIONS], again[NNPU_MAX_EXTENSIONS];
	static struct nnpu_identify id;
	uint32_t size = 0, room = sizeof(again), i, k;

	ASSERT_EQ(0, nnpu_query(self->fd, DRM_NNPU_QUERY_EXTENSIONS, NULL, &size));
	EXPECT_EQ(0, size % sizeof(first[0]));
	ASSERT_GE(sizeof(first), size);
	ASSERT_EQ(0, nnpu_query(self->fd, DRM_NNPU_QUERY_EXTENSIONS, first, &size));
	ASSERT_EQ(0, nnpu_query(self->fd, DRM_NNPU_QUERY_EXTENSIONS, again, &room));
	EXPECT_EQ(size, room);
	EXPECT_EQ(0, memcmp(first, again, size));
	for (i = 0; i < size / sizeof(first[0]); i++) {
		EXPECT_EQ(NNPU_EXTENSION_MAGIC, first[i].magic);
		EXPECT_NE(NULL, memchr(first[i].name, '\0', sizeof(first[i].name)));
		EXPECT_NE(NULL, strchr(first[i].name, '.'));
		EXPECT_LE(NNPU_CMD_EXTENSION, first[i].first_operation);
		ASSERT_GE(NNPU_EXTENSION_MAX_TYPES, first[i].num_types);
		for (k = 0; k < first[i].num_types; k++) {
			EXPECT_LE(NNPU_TYPE_EXTENSION, first[i].types[k].code);
			EXPECT_LT(0, first[i].types[k].byte_size);
		}
	}
	size = sizeof(id);
	ASSERT_EQ(0, nnpu_query(self->fd, DRM_NNPU_QUERY_IDENTIFY, &id, &size));
	EXPECT_GE(id.num_extensions, room / sizeof(first[0]));
}

TEST_F(nnpu, query_negative)
{
	struct drm_nnpu_device_info info;
	uint32_t size = sizeof(info);

	EXPECT_EQ(-EINVAL, nnpu_query(self->fd, 99, &info, &size));
	size = sizeof(info);
	EXPECT_EQ(-EFAULT, nnpu_query(self->fd, DRM_NNPU_QUERY_DEVICE_INFO, (void *)8, &size));
}

TEST_F(nnpu, bo_create_rounds_and_zeroes)
{
	struct drm_nnpu_bo_create arg = { .size = 1 };
	unsigned char *map;
	void *p;

	ASSERT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_BO_CREATE, &arg));
	EXPECT_EQ(0, arg.size % PAGE);
	ASSERT_EQ(0, nnpu_bo_mmap(self->fd, arg.handle, arg.size, &p));
	map = p;
	EXPECT_EQ(0, map[0]);
	EXPECT_EQ(0, map[arg.size - 1]);
	map[arg.size - 1] = 1;
	munmap(p, arg.size);
	EXPECT_EQ(0, nnpu_bo_close(self->fd, arg.handle));
}

TEST_F(nnpu, bo_create_negative)
{
	struct drm_nnpu_bo_create arg = { .size = 0 };

	EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_BO_CREATE, &arg));
	arg.size = UINT64_MAX;
	EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_BO_CREATE, &arg));
	arg.size = UINT64_MAX - PAGE;
	EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_BO_CREATE, &arg));
	arg.size = PAGE;
	arg.flags = 1;
	EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_BO_CREATE, &arg));
}

TEST_F(nnpu, bo_mmap_negative)
{
	struct drm_nnpu_bo_mmap arg = { .handle = 12345 };
	uint32_t handle;
	void *p;

	EXPECT_EQ(-ENOENT, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_BO_MMAP, &arg));
	ASSERT_EQ(0, nnpu_bo_create(self->fd, PAGE, &handle));
	arg = (struct drm_nnpu_bo_mmap) { .handle = handle, .flags = 1 };
	EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_BO_MMAP, &arg));
	/* Nothing but what BO_MMAP handed out can be mapped, and no more than that. */
	arg = (struct drm_nnpu_bo_mmap) { .handle = handle };
	ASSERT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_BO_MMAP, &arg));
	p = mmap(NULL, 2 * (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, self->fd,
		 (off_t)arg.offset);
	EXPECT_EQ(MAP_FAILED, p);
	p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->fd, 0);
	EXPECT_EQ(MAP_FAILED, p);
}

/* On every device: what the two calls change, nnpu_bounced_test.c says. */
TEST_F(nnpu, bo_prep_and_fini)
{
	struct drm_nnpu_bo_prep good = { .flags = DRM_NNPU_BO_READ, .size = 2 * PAGE }, prep;
	struct drm_nnpu_bo_fini good_fini = { .flags = DRM_NNPU_BO_WRITE, .size = 2 * PAGE }, fini;
	uint32_t slot;

	ASSERT_EQ(0, nnpu_bo_create(self->fd, 2 * PAGE, &good.handle));
	good_fini.handle = good.handle;
#define TRY(field, value, want) do { \
		prep = good; \
		fini = good_fini; \
		prep.field = (value); \
		fini.field = (value); \
		EXPECT_EQ(want, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_BO_PREP, &prep)) { \
			TH_LOG("line %d", __LINE__); \
		} \
		EXPECT_EQ(want, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_BO_FINI, &fini)) { \
			TH_LOG("line %d", __LINE__); \
		} \
	} while (0)

	/* Before it has a slot, and after. */
	TRY(offset, 0, 0);
	ASSERT_EQ(0, nnpu_slot_bind(self->fd, good.handle, 0, 2 * PAGE, RW, &slot));
	TRY(flags, DRM_NNPU_BO_READ | DRM_NNPU_BO_WRITE, 0);
	TRY(flags, DRM_NNPU_BO_WRITE, 0);
	TRY(size, 1, 0);
	TRY(handle, good.handle + 1, -ENOENT);
	TRY(flags, 0, -EINVAL);
	TRY(flags, DRM_NNPU_BO_NO_WAIT, -EINVAL);
	TRY(flags, DRM_NNPU_BO_READ | 1u << 3, -EINVAL);
	TRY(flags, DRM_NNPU_BO_WRITE | 1u << 31, -EINVAL);
	TRY(size, 0, -EINVAL);
	TRY(size, 2 * PAGE + 1, -EINVAL);
	TRY(size, UINT64_MAX, -EINVAL);
	TRY(offset, 1, -EINVAL);
	TRY(offset, 2 * PAGE, -EINVAL);
	TRY(offset, UINT64_MAX, -EINVAL);
#undef TRY
	prep = good;
	prep.flags |= DRM_NNPU_BO_NO_WAIT;
	prep.offset = 2 * PAGE - 1;
	prep.size = 1;
	EXPECT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_BO_PREP, &prep));
	fini = good_fini;
	fini.flags |= DRM_NNPU_BO_NO_WAIT;
	EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_BO_FINI, &fini));
}

TEST_F(nnpu, bo_mmap_is_private_to_the_file)
{
	struct drm_nnpu_bo_mmap arg = { 0 };
	int other = nnpu_open();
	void *p;

	ASSERT_LE(0, other);
	ASSERT_EQ(0, nnpu_bo_create(self->fd, PAGE, &arg.handle));
	ASSERT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_BO_MMAP, &arg));
	p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, other, (off_t)arg.offset);
	EXPECT_EQ(MAP_FAILED, p);
	close(other);
}

TEST_F(nnpu, slot_bind_lowest_free_number)
{
	uint32_t handle, a, b, c;

	ASSERT_EQ(0, nnpu_bo_create(self->fd, 4 * PAGE, &handle));
	ASSERT_EQ(0, nnpu_slot_bind(self->fd, handle, 0, PAGE, RW, &a));
	ASSERT_EQ(0, nnpu_slot_bind(self->fd, handle, PAGE, 3 * PAGE, RW, &b));
	EXPECT_NE(a, b);
	ASSERT_EQ(0, nnpu_slot_unbind(self->fd, a));
	ASSERT_EQ(0, nnpu_slot_bind(self->fd, handle, 0, PAGE, DRM_NNPU_SLOT_READ, &c));
	EXPECT_EQ(a, c);
}

TEST_F(nnpu, slot_bind_negative)
{
	/* Of a buffer that has whole pages of the CPU. */
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const struct {
		uint64_t offset, size;
		uint32_t flags;
		int error;
	} bad[] = {
		{ 0, page, 0, -EINVAL },
		{ 0, page, 1u << 2, -EINVAL },
		{ 0, page, RW | 1u << 31, -EINVAL },
		{ 1, page, RW, -EINVAL },
		{ PAGE / 2, PAGE, RW, -EINVAL },
		{ 0, PAGE / 2, RW, -EINVAL },
		{ 0, 1, RW, -EINVAL },
		{ 0, 0, RW, -EINVAL },
		{ 0, 5 * page, RW, -EINVAL },
		{ 4 * page, page, RW, -EINVAL },
		{ 3 * page, 2 * page, RW, -EINVAL },
		{ UINT64_MAX & ~(page - 1), 2 * page, RW, -EINVAL },
		{ page, UINT64_MAX & ~(page - 1), RW, -EINVAL },
	};
	struct drm_nnpu_slot_bind arg;
	uint32_t handle, slot;
	size_t i;

	ASSERT_EQ(0, nnpu_bo_create(self->fd, 4 * page, &handle));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		EXPECT_EQ(bad[i].error, nnpu_slot_bind(self->fd, handle, bad[i].offset,
						       bad[i].size, bad[i].flags, &slot)) {
			TH_LOG("case %zu", i);
		}
	EXPECT_EQ(-ENOENT, nnpu_slot_bind(self->fd, handle + 1000, 0, PAGE, RW, &slot));
	arg = (struct drm_nnpu_slot_bind) {
		.handle = handle, .size = PAGE, .flags = RW, .kind = 7,
	};
	EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_SLOT_BIND, &arg));
	arg = (struct drm_nnpu_slot_bind) {
		.handle = handle, .size = PAGE, .flags = RW, .ctx = 1,
	};
	EXPECT_EQ(-ENOENT, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_SLOT_BIND, &arg));
}

TEST_F(nnpu, slot_unbind_negative)
{
	struct drm_nnpu_slot_unbind arg;
	uint32_t handle, slot;

	EXPECT_EQ(-ENOENT, nnpu_slot_unbind(self->fd, 0));
	EXPECT_EQ(-ENOENT, nnpu_slot_unbind(self->fd, 0x7fffffff));
	EXPECT_EQ(-ENOENT, nnpu_slot_unbind(self->fd, NNPU_SLOT_NONE));
	ASSERT_EQ(0, nnpu_bo_create(self->fd, PAGE, &handle));
	ASSERT_EQ(0, nnpu_slot_bind(self->fd, handle, 0, PAGE, RW, &slot));
	arg = (struct drm_nnpu_slot_unbind) { .slot = slot, .flags = 1 };
	EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_SLOT_UNBIND, &arg));
	EXPECT_EQ(0, nnpu_slot_unbind(self->fd, slot));
	EXPECT_EQ(-ENOENT, nnpu_slot_unbind(self->fd, slot));
}

TEST_F(nnpu, slot_table_full_and_reusable)
{
	struct drm_nnpu_device_info info;
	uint32_t size = sizeof(info), handle, slot, i;

	ASSERT_EQ(0, nnpu_query(self->fd, DRM_NNPU_QUERY_DEVICE_INFO, &info, &size));
	ASSERT_EQ(0, nnpu_bo_create(self->fd, PAGE, &handle));
	for (i = 0; i < info.max_slots; i++)
		ASSERT_EQ(0, nnpu_slot_bind(self->fd, handle, 0, PAGE, RW, &slot));
	EXPECT_EQ(-ENOSPC, nnpu_slot_bind(self->fd, handle, 0, PAGE, RW, &slot));
	ASSERT_EQ(0, nnpu_slot_unbind(self->fd, info.max_slots / 2));
	ASSERT_EQ(0, nnpu_slot_bind(self->fd, handle, 0, PAGE, RW, &slot));
	EXPECT_EQ(info.max_slots / 2, slot);
}

TEST_F(nnpu, program_load_unload)
{
	char image[NNPU_ADD_IMAGE_SIZE] __attribute__((aligned(8)));
	struct drm_nnpu_program_load load;
	size_t size = nnpu_add_image(image, 16);
	uint32_t program;

	ASSERT_EQ(0, nnpu_program_load(self->fd, image, size, &program, &load));
	EXPECT_NE(0, program);
	EXPECT_EQ(NNPU_STATUS_SUCCESS, load.status);
	EXPECT_EQ(0, nnpu_program_unload(self->fd, program));
	EXPECT_EQ(-ENOENT, nnpu_program_unload(self->fd, program));
	EXPECT_EQ(-ENOENT, nnpu_program_unload(self->fd, 0));
	EXPECT_EQ(-ENOENT, nnpu_program_unload(self->fd, UINT32_MAX));
}

TEST_F(nnpu, program_load_refuses_and_names_the_place)
{
	char image[NNPU_ADD_IMAGE_SIZE] __attribute__((aligned(8)));
	struct nnpu_program_header *h = (void *)image;
	struct nnpu_tensor_desc *t = (void *)(image + sizeof(*h));
	struct drm_nnpu_program_load load;
	size_t size = nnpu_add_image(image, 16);
	uint32_t program;

	h->magic++;
	EXPECT_EQ(-EINVAL, nnpu_program_load(self->fd, image, size, &program, &load));
	EXPECT_EQ(0, program);
	EXPECT_EQ(NNPU_STATUS_PROGRAM_HEADER, load.status);
	EXPECT_EQ(NNPU_REASON_MAGIC, load.reason);

	nnpu_add_image(image, 16);
	t[1].type = 77;
	EXPECT_EQ(-EINVAL, nnpu_program_load(self->fd, image, size, &program, &load));
	EXPECT_EQ(NNPU_STATUS_PROGRAM_TENSOR, load.status);
	EXPECT_EQ(NNPU_REASON_TYPE, load.reason);
	EXPECT_EQ(1, load.index);

	nnpu_add_image(image, 16);
	t[1].dims[0] = 7;
	EXPECT_EQ(-EINVAL, nnpu_program_load(self->fd, image, size, &program, &load));
	EXPECT_EQ(NNPU_STATUS_PROGRAM_COMMAND, load.status);
	EXPECT_EQ(NNPU_REASON_SHAPE_MISMATCH, load.reason);
	EXPECT_EQ(0, load.index);
}

TEST_F(nnpu, program_load_negative)
{
	char image[NNPU_ADD_IMAGE_SIZE] __attribute__((aligned(8)));
	size_t size = nnpu_add_image(image, 16);
	struct drm_nnpu_program_load good = {
		.image = (uintptr_t)image, .image_size = size,
	}, arg;

	arg = good;
	arg.image = 8;
	EXPECT_EQ(-EFAULT, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_PROGRAM_LOAD, &arg));
	arg = good;
	arg.image_size = 0;
	EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_PROGRAM_LOAD, &arg));
	arg = good;
	arg.image_size = 63;
	EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_PROGRAM_LOAD, &arg));
	arg = good;
	arg.image_size = size - 8;
	EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_PROGRAM_LOAD, &arg));
	arg = good;
	arg.image_size = UINT32_MAX;
	EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_PROGRAM_LOAD, &arg));
	arg = good;
	arg.flags = 1u << 5;
	EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_PROGRAM_LOAD, &arg));
	arg = good;
	arg.num_reports = 1;
	EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_PROGRAM_LOAD, &arg));
	arg = good;
	arg.report = (uintptr_t)image;
	EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_PROGRAM_LOAD, &arg));
}

/* A saved program: its image loads, and the program does what it did. */
TEST_F(nnpu, program_save)
{
	unsigned char image[4096], again[4096], untouched[4096];
	struct drm_nnpu_program_save save = { .program = 1 };
	struct drm_nnpu_program_load load;
	struct nnpu_job job;
	uint32_t first;
	uint64_t size;

	EXPECT_EQ(-ENOENT, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_PROGRAM_SAVE, &save));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 16));
	first = job.program;
	save.program = first;
	ASSERT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_PROGRAM_SAVE, &save));
	size = save.size;
	ASSERT_LT(sizeof(struct nnpu_program_header), size);
	ASSERT_GT(sizeof(image), size);

	memset(image, 0xa5, sizeof(image));
	memset(untouched, 0xa5, sizeof(untouched));
	save.image = (uintptr_t)image;
	save.size = size - 1;
	EXPECT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_PROGRAM_SAVE, &save));
	EXPECT_EQ(size, save.size);
	EXPECT_EQ(0, memcmp(image, untouched, sizeof(image)));
	save.size = sizeof(image);
	ASSERT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_PROGRAM_SAVE, &save));
	EXPECT_EQ(size, save.size);
	EXPECT_EQ(0, memcmp(image + size, untouched, sizeof(image) - size));

	/* Errors leave the size as it was. */
	save.size = UINT64_MAX;
	save.image = 0;
	EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_PROGRAM_SAVE, &save));
	save.image = 4096;
	EXPECT_EQ(-EFAULT, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_PROGRAM_SAVE, &save));
	EXPECT_EQ(UINT64_MAX, save.size);
	save.image = (uintptr_t)again;
	save.flags = 1;
	EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_PROGRAM_SAVE, &save));
	save.flags = 0;
	save.pad = 1;
	EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_PROGRAM_SAVE, &save));
	save.pad = 0;
	save.ctx = 99;
	EXPECT_EQ(-ENOENT, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_PROGRAM_SAVE, &save));
	save.ctx = 0;

	ASSERT_EQ(0, nnpu_program_load(self->fd, image, size, &job.program, &load));
	job.submit.program = job.program;
	EXPECT_EQ(0, nnpu_program_unload(self->fd, first));
	EXPECT_EQ(-ENOENT, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_PROGRAM_SAVE, &save));
	EXPECT_EQ(0, nnpu_job_run(self->fd, &job, 1));
	save.program = job.program;
	ASSERT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_PROGRAM_SAVE, &save));
	EXPECT_EQ(0, memcmp(image, again, size));
	nnpu_job_fini(self->fd, &job);
}

/* The driver passes on what only the device can judge; the device says why it refuses. */
TEST_F(nnpu, program_of_a_newer_writer)
{
	unsigned char image[NNPU_ADD_IMAGE_SIZE + 64];
	struct nnpu_program_header *h = (void *)image;
	struct drm_nnpu_program_load load;
	size_t size = nnpu_add_image(image, 16);
	uint32_t program;

	memset(image + size, 0, 64);
	h->native_isa = 1;
	EXPECT_EQ(-EOPNOTSUPP, nnpu_program_load(self->fd, image, size, &program, &load));
	EXPECT_EQ(NNPU_STATUS_PROGRAM_UNSUPPORTED, load.status);
	EXPECT_EQ(NNPU_REASON_ISA, load.reason);
	h->native_isa = 0;
	/* A hint that nobody knows. */
	h->hints_off = size;
	h->hints_size = 16;
	h->size = size + 16;
	((struct nnpu_hint *)(image + size))->kind = 99;
	((struct nnpu_hint *)(image + size))->size = 16;
	EXPECT_EQ(0, nnpu_program_load(self->fd, image, size + 16, &program, &load));
}

TEST_F(nnpu, program_check)
{
	char image[NNPU_ADD_IMAGE_SIZE] __attribute__((aligned(8)));
	struct nnpu_command_report report = { .status = 0xffff };
	size_t size = nnpu_add_image(image, 16);
	struct nnpu_program_header *h = (void *)image;
	struct nnpu_command *c = (void *)(image + h->commands_off);
	struct drm_nnpu_program_load arg = {
		.image = (uintptr_t)image,
		.image_size = size,
		.flags = DRM_NNPU_PROGRAM_CHECK,
		.report = (uintptr_t)&report,
		.num_reports = 1,
	};
	struct drm_nnpu_program_load bad;

	ASSERT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_PROGRAM_LOAD, &arg));
	EXPECT_EQ(0, arg.program);
	EXPECT_EQ(NNPU_STATUS_SUCCESS, report.status);

	/* A command of an extension is a verdict, not an error. */
	c->opcode = NNPU_CMD_EXTENSION + 0xff00;	/* of no extension */
	ASSERT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_PROGRAM_LOAD, &arg));
	EXPECT_EQ(NNPU_STATUS_PROGRAM_UNSUPPORTED, report.status);
	/* A number that is no operation at all is malformed. */
	c->opcode = 9999;
	EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_PROGRAM_LOAD, &arg));
	EXPECT_EQ(NNPU_STATUS_PROGRAM_COMMAND, report.status);
	EXPECT_EQ(NNPU_REASON_OPERATION, report.reason);
	c->opcode = NNPU_OP_ADD;

	bad = arg;
	bad.num_reports = 2;
	EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_PROGRAM_LOAD, &bad));
	bad = arg;
	bad.report = 8;
	EXPECT_EQ(-EFAULT, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_PROGRAM_LOAD, &bad));
}

TEST_F(nnpu, program_limit)
{
	char image[NNPU_ADD_IMAGE_SIZE] __attribute__((aligned(8)));
	size_t size = nnpu_add_image(image, 16);
	struct drm_nnpu_device_info info;
	uint32_t info_size = sizeof(info), program, i;

	ASSERT_EQ(0, nnpu_query(self->fd, DRM_NNPU_QUERY_DEVICE_INFO, &info, &info_size));
	for (i = 0; i < info.max_programs; i++)
		ASSERT_EQ(0, nnpu_program_load(self->fd, image, size, &program, NULL));
	EXPECT_EQ(-ENOSPC, nnpu_program_load(self->fd, image, size, &program, NULL));
	EXPECT_EQ(0, nnpu_program_unload(self->fd, 1));
	EXPECT_EQ(0, nnpu_program_load(self->fd, image, size, &program, NULL));
}

TEST_F(nnpu, submit_negative)
{
	struct nnpu_job job;
	struct drm_nnpu_submit good, arg;
	struct nnpu_arg saved[3];
	struct drm_nnpu_sync sync = { 0 };

#define REFUSED(error) \
	EXPECT_EQ(error, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_SUBMIT, &arg)) { \
		TH_LOG("line %d", __LINE__); \
	} \
	arg = good; \
	memcpy(job.args, saved, sizeof(saved))

	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 16));
	nnpu_job_fill(&job, 1);
	good = job.submit;
	arg = good;
	memcpy(saved, job.args, sizeof(saved));

	arg.program = 0;
	REFUSED(-ENOENT);
	arg.program = job.program + 1;
	REFUSED(-ENOENT);
	arg.flags = 1u << 7;
	REFUSED(-EINVAL);
	arg.args = 8;
	REFUSED(-EFAULT);
	arg.num_inputs = 1;
	REFUSED(-EINVAL);
	arg.num_outputs = 2;
	REFUSED(-EINVAL);
	arg.num_inputs = 0xfffffffe;
	REFUSED(-EINVAL);
	arg.arg_stride = 0;
	REFUSED(-EINVAL);
	arg.arg_stride = 8;
	REFUSED(-EINVAL);
	arg.priority = 3;
	REFUSED(-EINVAL);
	arg.result_slot = job.buf.slot + 1;
	REFUSED(-ENOENT);
	arg.result_offset = 4;
	REFUSED(-EINVAL);
	arg.result_offset = job.buf.size - 8;
	REFUSED(-EINVAL);
	arg.result_offset = UINT64_MAX - 7;
	REFUSED(-EINVAL);
	arg.profile_size = 64;
	REFUSED(-EINVAL);
	arg.profile_slot = 1;
	REFUSED(-EINVAL);
	arg.flags = DRM_NNPU_SUBMIT_DEADLINE_ABORT;
	REFUSED(-EINVAL);
	arg.kind = DRM_NNPU_JOB_COPY + 1;
	REFUSED(-EINVAL);
	arg.ctx = 1;
	REFUSED(-ENOENT);
	arg.loop_timeout_ns = NNPU_LOOP_TIMEOUT_MAX_NS + 1;
	REFUSED(-EINVAL);
	arg.in_syncs = 8;
	arg.num_in_syncs = 1;
	REFUSED(-EFAULT);
	arg.out_syncs = 8;
	REFUSED(-EFAULT);
	arg.sync_stride = 4;
	REFUSED(-EINVAL);
	arg.num_in_syncs = UINT32_MAX;
	REFUSED(-EINVAL);
	sync.handle = 0x1234567;
	arg.in_syncs = (uintptr_t)&sync;
	arg.num_in_syncs = 1;
	REFUSED(-ENOENT);
	sync = job.out_sync;
	sync.flags = 1;
	arg.out_syncs = (uintptr_t)&sync;
	REFUSED(-EINVAL);

	job.args[0].slot++;
	REFUSED(-ENOENT);
	job.args[0].flags = 1u << 8;
	REFUSED(-EINVAL);
	job.args[0].flags = NNPU_ARG_INSUFFICIENT;
	REFUSED(-EINVAL);
	job.args[0].pad = 1;
	REFUSED(-EINVAL);
	job.args[0].reserved = 1;
	REFUSED(-EINVAL);
	job.args[0].offset = job.buf.size;
	REFUSED(-EINVAL);
	job.args[0].length = UINT64_MAX;
	REFUSED(-EINVAL);
	job.args[0].offset = UINT64_MAX - 16;
	REFUSED(-EINVAL);
	job.args[0].flags = NNPU_ARG_SHAPE;
	job.args[0].rank = NNPU_MAX_RANK + 1;
	REFUSED(-EINVAL);
	job.args[0].rank = 1;
	REFUSED(-EINVAL);
	job.args[2].flags = NNPU_ARG_NO_VALUE;
	REFUSED(-EINVAL);
#undef REFUSED

	/* Nothing of that ran, and the good job still does. */
	EXPECT_EQ(NNPU_STATUS_PENDING, nnpu_job_result(&job)->status);
	EXPECT_EQ(0, nnpu_job_run(self->fd, &job, 2));
	nnpu_job_fini(self->fd, &job);
}

TEST_F(nnpu, submit_rights)
{
	struct nnpu_buf readonly, writeonly;
	struct nnpu_job job;

	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 16));
	ASSERT_EQ(0, nnpu_buf_create(self->fd, &readonly, PAGE, DRM_NNPU_SLOT_READ));
	ASSERT_EQ(0, nnpu_buf_create(self->fd, &writeonly, PAGE, DRM_NNPU_SLOT_WRITE));
	job.args[2].slot = readonly.slot;
	job.args[2].offset = 0;
	EXPECT_EQ(-EINVAL, nnpu_job_submit(self->fd, &job));
	job.args[2].slot = job.buf.slot;
	job.args[2].offset = NNPU_JOB_DATA_OFFSET;
	job.args[0].slot = writeonly.slot;
	job.args[0].offset = 0;
	EXPECT_EQ(-EINVAL, nnpu_job_submit(self->fd, &job));
	job.args[0].slot = readonly.slot;
	job.submit.result_slot = readonly.slot;
	EXPECT_EQ(-EINVAL, nnpu_job_submit(self->fd, &job));
}

/* Every ioctl: a shorter structure is zero-extended, a longer one is accepted. */
TEST_F(nnpu, structure_sizes)
{
	struct {
		struct drm_nnpu_bo_create arg;
		uint64_t more;
	} bo = { .arg.size = PAGE };
	struct {
		struct drm_nnpu_query arg;
		uint64_t more;
	} query = { .arg.topic = DRM_NNPU_QUERY_DEVICE_INFO };

	ASSERT_EQ(0, nnpu_ioctl(self->fd, SIZED(DRM_IOCTL_NNPU_QUERY, sizeof(query)), &query));
	EXPECT_EQ(sizeof(struct drm_nnpu_device_info), query.arg.size);
	ASSERT_EQ(0, nnpu_ioctl(self->fd, SIZED(DRM_IOCTL_NNPU_BO_CREATE, sizeof(bo)), &bo));
	EXPECT_NE(0, bo.arg.handle);
	/* Only the size field: flags are zero, and there is no room for the handle. */
	EXPECT_EQ(0, nnpu_ioctl(self->fd, SIZED(DRM_IOCTL_NNPU_BO_CREATE, 8), &bo));
	/* A SUBMIT cut off in the middle has no arguments and names program 0. */
	EXPECT_GT(0, nnpu_ioctl(self->fd, SIZED(DRM_IOCTL_NNPU_SUBMIT, 8), &bo));
}

TEST_F(nnpu, unknown_ioctls)
{
	char buf[256] = { 0 };
	unsigned int nr;

	for (nr = DRM_NNPU_BO_USERPTR + 1; nr < DRM_COMMAND_END - DRM_COMMAND_BASE; nr++)
		EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd,
					      _IOC(_IOC_READ | _IOC_WRITE, DRM_IOCTL_BASE,
						   DRM_COMMAND_BASE + nr, 64), buf)) {
			TH_LOG("ioctl %u", nr);
		}
}

TEST_F(nnpu, fdinfo)
{
	char path[64], text[4096] = "";
	struct nnpu_job job;
	ssize_t n;
	int file;

	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 1024));
	ASSERT_EQ(0, nnpu_job_run(self->fd, &job, 1));
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", self->fd);
	file = open(path, O_RDONLY);
	ASSERT_LE(0, file);
	n = read(file, text, sizeof(text) - 1);
	close(file);
	ASSERT_LT(0, n);
	EXPECT_NE(NULL, strstr(text, "drm-driver:\tnnpu"));
	EXPECT_NE(NULL, strstr(text, "drm-client-id:"));
	EXPECT_NE(NULL, strstr(text, "drm-engine-npu:"));
	EXPECT_EQ(NULL, strstr(text, "drm-engine-npu:\t0 ns")) {
		TH_LOG("%s", text);
	}
	nnpu_job_fini(self->fd, &job);
}

TEST_HARNESS_MAIN
