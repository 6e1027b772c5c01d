// SPDX-License-Identifier: MIT
/*
 * Copies of memory objects by the kernel: all kinds, pages that are not there, files that have become shorter,
 * memory of a device.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory/kernel_copy.h"
#include "memory/memory_private.h"
#include "nnhal_fixture.h"

static struct nnhal_diag diag;
static size_t page;

static struct nnhal_memory *of_pointer(void *address, uint64_t size, uint32_t access)
{
	struct nnhal_memory *memory = NULL;

	if (nnhal_memory_from_pointer(address, size, access, &memory, &diag))
		ok(false, "memory of a pointer: %s", diag.message);
	return memory;
}

static struct nnhal_memory *of_file(uint32_t kind, int fd, uint64_t size, uint64_t offset)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = kind, .fd = fd, .size = size, .offset = offset,
	};
	struct nnhal_memory *memory = NULL;

	if (nnhal_memory_import(&desc, &memory, &diag))
		ok(false, "memory of a file: %s", diag.message);
	return memory;
}

/* A file of @size bytes that have their number, from @first on. */
static int numbered_file(size_t size, unsigned int first)
{
	int fd = memfd_create("copy", MFD_CLOEXEC);

	for (size_t i = 0; i < size; i++) {
		uint8_t byte = (uint8_t)(i + first);

		if (pwrite(fd, &byte, 1, (off_t)i) != 1)
			abort();
	}
	return fd;
}

/* @size bytes in pages of their own. */
static uint8_t *pages(size_t size, uint8_t value)
{
	uint8_t *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	memset(p, value, size);
	return p;
}

static bool all(const uint8_t *p, size_t size, uint8_t value)
{
	for (size_t i = 0; i < size; i++)
		if (p[i] != value)
			return false;
	return true;
}

/* Refused, and nothing is written. */
static void expect_refusal(struct nnhal_memory *source, struct nnhal_memory *target,
			   const uint8_t *bytes, size_t size, const char *words)
{
	enum nnhal_status status = nnhal_memory_copy(source, target, &diag);

	ok(status == NNHAL_STATUS_INVALID_ARGUMENT && strstr(diag.message, words) &&
	   all(bytes, size, 5), "refused: %s", diag.message);
}

static void test_arguments(void)
{
	uint8_t from[32], to[32];
	struct nnhal_memory *source = of_pointer(from, 32, 0), *target = of_pointer(to, 32, 0);
	struct nnhal_memory *shorter = of_pointer(to, 31, 0);
	struct nnhal_memory *written = of_pointer(from, 32, NNHAL_MEMORY_WRITE);
	struct nnhal_memory *read = of_pointer(to, 32, NNHAL_MEMORY_READ);

	memset(from, 1, sizeof(from));
	memset(to, 5, sizeof(to));
	expect_refusal(NULL, target, to, 32, "no memory object");
	expect_refusal(source, NULL, to, 32, "no memory object");
	expect_refusal(source, shorter, to, 32, "the source has 32 bytes, the target 31");
	expect_refusal(shorter, source, to, 32, "the source has 31 bytes, the target 32");
	expect_refusal(written, target, to, 32, "the source may not be read");
	expect_refusal(source, read, to, 32, "the target may not be written");
	ok(nnhal_memory_copy(source, NULL, NULL) == NNHAL_STATUS_INVALID_ARGUMENT, "without a diag");
	ok(!nnhal_memory_copy(source, target, &diag) && all(to, 32, 1) && !diag.message[0], "a copy");
	ok(!nnhal_memory_copy(source, source, NULL) && all(from, 32, 1), "to itself");
	to[0] = 9;
	nnhal_memory_unref(target);
	target = of_pointer(to, 32, NNHAL_MEMORY_WRITE);
	ok(!nnhal_memory_copy(read, written, NULL) && from[0] == 9,
	   "from what may only be read to what may only be written");
	ok(!kernel_copy(NULL, NULL, 0), "no bytes from nowhere to nowhere");
	nnhal_memory_unref(source);
	nnhal_memory_unref(target);
	nnhal_memory_unref(shorter);
	nnhal_memory_unref(written);
	nnhal_memory_unref(read);
}

/* Between a file at an odd offset, a memfd and a pointer, and nothing beside. */
static void test_kinds(void)
{
	size_t size = 2 * page + 77;
	int fd = numbered_file(3 * page, 0);
	struct nnhal_memory *file = of_file(NNHAL_MEMORY_MMAP_FD, fd, size, 33), *memfd = NULL;
	uint8_t *bytes = pages(3 * page, 5), byte;
	struct nnhal_memory *pointer = of_pointer(bytes + 1, size, 0);
	const uint8_t *map;
	bool good = true;

	if (nnhal_memory_create(size, &memfd, &diag))
		ok(false, "a memfd");
	ok(!nnhal_memory_copy(file, memfd, &diag) && !nnhal_memory_copy(memfd, pointer, &diag),
	   "from a file to a memfd to a pointer");
	map = nnhal_memory_map(memfd, NULL);
	for (size_t i = 0; i < size; i++)
		good &= bytes[i + 1] == (uint8_t)(i + 33) && map[i] == bytes[i + 1];
	ok(good && bytes[0] == 5 && all(bytes + 1 + size, 3 * page - size - 1, 5),
	   "all bytes, and none beside");
	memset(bytes, 7, 3 * page);
	ok(!nnhal_memory_copy(pointer, file, &diag), "from a pointer to a file");
	for (size_t i = 0; i < 3 * page; i++)
		good &= pread(fd, &byte, 1, (off_t)i) == 1 &&
			byte == (i >= 33 && i < size + 33 ? 7 : (uint8_t)i);
	ok(good, "at its place in the file");
	nnhal_memory_unref(file);
	nnhal_memory_unref(memfd);
	nnhal_memory_unref(pointer);
	munmap(bytes, 3 * page);
	close(fd);
}

/* A page in the midst is not there. */
static void test_faults(void)
{
	uint8_t *from = pages(4 * page, 1), *to = pages(4 * page, 5);
	struct nnhal_memory *source = of_pointer(from, 4 * page, 0);
	struct nnhal_memory *target = of_pointer(to, 4 * page, 0);
	enum nnhal_status status;

	mprotect(from + 2 * page, page, PROT_NONE);
	status = nnhal_memory_copy(source, target, &diag);
	ok(status == NNHAL_STATUS_GENERAL_FAILURE && strstr(diag.message, "Bad address"),
	   "a page of the source is not there: %s", diag.message);
	ok(all(to, 2 * page, 1) && all(to + 2 * page, 2 * page, 5), "what is before it has been copied");
	mprotect(from + 2 * page, page, PROT_READ);
	memset(to, 5, 4 * page);
	mprotect(to + page, page, PROT_READ);
	status = nnhal_memory_copy(source, target, &diag);
	ok(status == NNHAL_STATUS_GENERAL_FAILURE && strstr(diag.message, "Bad address"),
	   "a page of the target cannot be written: %s", diag.message);
	ok(all(to, page, 1) && all(to + page, 3 * page, 5), "and stays as it is");
	nnhal_memory_unref(source);
	nnhal_memory_unref(target);
	munmap(from, 4 * page);
	munmap(to, 4 * page);
}

/* A file loses its end while it is mapped. */
static void test_shorter_file(void)
{
	int fd = numbered_file(3 * page, 0);
	uint8_t *bytes = pages(3 * page, 5);
	struct nnhal_memory *file = of_file(NNHAL_MEMORY_MMAP_FD, fd, 3 * page, 0);
	struct nnhal_memory *pointer = of_pointer(bytes, 3 * page, 0);

	ok(!nnhal_memory_copy(file, pointer, &diag), "a copy of a file");
	memset(bytes, 5, 3 * page);
	ok(!ftruncate(fd, (off_t)page), "it becomes shorter");
	ok(nnhal_memory_copy(file, pointer, &diag) == NNHAL_STATUS_GENERAL_FAILURE,
	   "a copy of what it has lost: %s", diag.message);
	ok(all(bytes + page, 2 * page, 5), "gives no bytes");
	ok(nnhal_memory_copy(pointer, file, &diag) == NNHAL_STATUS_GENERAL_FAILURE,
	   "a copy to it: %s", diag.message);
	ok(lseek(fd, 0, SEEK_END) == (off_t)page, "does not make it longer");
	nnhal_memory_unref(file);
	nnhal_memory_unref(pointer);
	munmap(bytes, 3 * page);
	close(fd);
}

/* Where the pages of the kernel's clocks are; NULL: this machine has none. */
static void *clock_pages(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start = 0;
	char line[256];
	bool found = false;

	while (maps && !found && fgets(line, sizeof(line), maps))
		found = strstr(line, "[vvar]") && sscanf(line, "%lx-", &start) == 1;
	if (maps)
		fclose(maps);
	return found ? (void *)start : NULL;
}

/* Pages that nobody can hold, as those of a device: the kernel has mapped its clocks in the same way. */
static void test_unheld_pages(void)
{
	void *clocks = clock_pages();
	uint8_t *bytes = pages(page, 5), back[64];
	struct nnhal_memory *source, *target;

	if (!clocks) {
		tap_skip("memory that cannot be held: no pages of the kernel's clocks");
		return;
	}
	source = of_pointer(clocks, page, NNHAL_MEMORY_READ);
	target = of_pointer(bytes, page, 0);
	ok(!nnhal_memory_copy(source, target, &diag) && !all(bytes, page, 5),
	   "a copy of memory that cannot be held: %s", diag.message);
	ok(!memory_read(source, 0, back, sizeof(back)), "and it is read");
	nnhal_memory_unref(source);
	nnhal_memory_unref(target);
	munmap(bytes, page);
}

static struct nnhal_memory *dma_buf(int device, uint8_t value)
{
	int fd = nnhal_memfd_create("dma-buf", 4 * page), buf;
	struct udmabuf_create create = {
		.memfd = (uint32_t)fd, .flags = UDMABUF_FLAGS_CLOEXEC, .size = 4 * page,
	};
	struct nnhal_memory *memory;
	uint8_t *p = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		abort();
	memset(p, value, 4 * page);
	munmap(p, 4 * page);
	buf = ioctl(device, UDMABUF_CREATE, &create);
	memory = of_file(NNHAL_MEMORY_HARDWARE_BUFFER_BLOB, buf, 4 * page, 0);
	close(buf);
	close(fd);
	return memory;
}

static void test_dma_bufs(void)
{
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	struct nnhal_memory *source, *target, *pointer;
	uint8_t *bytes;

	if (device < 0) {
		tap_skip("copies of dma-bufs: no /dev/udmabuf");
		return;
	}
	bytes = pages(4 * page, 5);
	source = dma_buf(device, 1);
	target = dma_buf(device, 2);
	pointer = of_pointer(bytes, 4 * page, 0);
	ok(!nnhal_memory_copy(source, target, &diag), "from a dma-buf to another one: %s", diag.message);
	ok(!nnhal_memory_copy(target, pointer, &diag) && all(bytes, 4 * page, 1),
	   "from that to a pointer: %s", diag.message);
	memset(bytes, 9, 4 * page);
	ok(!nnhal_memory_copy(pointer, source, &diag) &&
	   all(nnhal_memory_map(source, NULL), 4 * page, 9), "and back: %s", diag.message);
	mprotect(bytes + page, page, PROT_NONE);
	ok(nnhal_memory_copy(pointer, source, &diag) == NNHAL_STATUS_GENERAL_FAILURE,
	   "a page of the pointer's is not there: %s", diag.message);
	nnhal_memory_unref(source);
	nnhal_memory_unref(target);
	nnhal_memory_unref(pointer);
	munmap(bytes, 4 * page);
	close(device);
}

int main(void)
{
	page = (size_t)sysconf(_SC_PAGESIZE);
	test_arguments();
	test_kinds();
	test_faults();
	test_shorter_file();
	test_unheld_pages();
	test_dma_bufs();
	return tap_done();
}
