// SPDX-License-Identifier: MIT
/*
 * Memory of files: descriptors that are no memory, places at odd offsets, holes, and files that their owner
 * makes shorter.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <android/sharedmem.h>

#include "ndk_parts.h"

enum {
	NONE = ANEURALNETWORKS_NO_ERROR, DATA = ANEURALNETWORKS_BAD_DATA, OP = ANEURALNETWORKS_OP_FAILED,
};

#define READ_WRITE	(PROT_READ | PROT_WRITE)
#define BEYOND_32_BITS	(UINT64_C(1) << 32)

static int file_of(uint64_t size)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)size)) {
		printf("Bail out! no file\n");
		exit(1);
	}
	return fd;
}

static ANeuralNetworksMemory *memory_of(int fd, size_t size, size_t offset)
{
	ANeuralNetworksMemory *memory = NULL;

	is(ANeuralNetworksMemory_createFromFd(size, READ_WRITE, fd, offset, &memory), NONE, "memory of a file");
	return memory;
}

static void refused(int fd, size_t size, int protect, size_t offset, const char *what)
{
	ANeuralNetworksMemory *memory = (ANeuralNetworksMemory *)what;
	int result = ANeuralNetworksMemory_createFromFd(size, protect, fd, offset, &memory);

	ok(result == DATA && !memory, "refused: %s: result %d", what, result);
}

static void test_descriptors(void)
{
	int fd = file_of(100), ends[2], file, shared = ASharedMemory_create("shared", 100);
	char name[] = "/tmp/ndk_memory_XXXXXX", path[64];
	ANeuralNetworksMemory *memory = NULL;

	refused(fd, 0, READ_WRITE, 0, "no bytes");
	refused(fd, 101, READ_WRITE, 0, "more bytes than the file has");
	refused(fd, 1, READ_WRITE, 100, "an offset at its end");
	refused(fd, 100, READ_WRITE, SIZE_MAX, "an offset beyond all files");
	refused(fd, SIZE_MAX, READ_WRITE, 2, "a size beyond all files");
	refused(fd, 100, 0, 0, "no right");
	refused(-1, 100, READ_WRITE, 0, "no descriptor");
	refused(1000000, 100, READ_WRITE, 0, "a descriptor that is not open");
	if (!pipe(ends)) {
		refused(ends[0], 100, PROT_READ, 0, "a pipe");
		close(ends[0]);
		close(ends[1]);
	}
	file = open("/dev/zero", O_RDWR | O_CLOEXEC);
	refused(file, 100, PROT_READ, 0, "a device");
	close(file);
	file = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	refused(file, 100, PROT_READ, 0, "a folder");
	close(file);
	file = mkstemp(name);
	if (file >= 0 && !ftruncate(file, 100)) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
		close(fd);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		refused(fd, 100, READ_WRITE, 0, "to write a file that is open for reading");
		close(fd);
		fd = open(name, O_PATH | O_CLOEXEC);
		refused(fd, 100, PROT_READ, 0, "a name without a right to the file");
		unlink(name);
	}
	close(file);
	close(fd);
	is(ASharedMemory_setProt(shared, PROT_READ), 0, "a memfd loses the right to be written");
	refused(shared, 100, READ_WRITE, 0, "to write that");
	is(ANeuralNetworksMemory_createFromFd(100, PROT_READ, shared, 0, &memory), NONE, "to read it");
	ANeuralNetworksMemory_free(memory);
	close(shared);
}

/* A file of 12 GiB that is one hole: an addition in it, beyond 32 bits and at odd offsets. */
static void test_odd_places(void)
{
	static const float a[4] = { 1, 2, 3, 4 }, b[4] = { 10, 20, 30, 40 };
	const uint64_t begin = BEYOND_32_BITS + 77, size = BEYOND_32_BITS + 999;
	int fd = file_of(3 * BEYOND_32_BITS);
	ANeuralNetworksMemory *memory = memory_of(fd, size, begin);
	ANeuralNetworksModel *m = finished_model();
	ANeuralNetworksCompilation *c = compiled(m, false);
	ANeuralNetworksExecution *e = NULL;
	float sum[4] = { 0 };

	if (pwrite(fd, a, sizeof(a), (off_t)begin + 1) < 0 || pwrite(fd, b, sizeof(b), (off_t)begin + 19) < 0)
		ok(false, "the arguments are written");
	ANeuralNetworksExecution_create(c, &e);
	is(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, memory, 1, BEYOND_32_BITS + 16), DATA,
	   "a length whose low bits are right");
	is(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, memory, BEYOND_32_BITS + 1, 16), DATA,
	   "an offset whose low bits are right");
	is(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, memory, 1, 16), NONE, "an input at 1");
	is(ANeuralNetworksExecution_setInputFromMemory(e, 1, NULL, memory, 19, 16), NONE, "an input at 19");
	is(ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, memory, 101, 16), NONE, "an output at 101");
	is(ANeuralNetworksExecution_compute(e), NONE, "compute");
	ok(pread(fd, sum, sizeof(sum), (off_t)begin + 101) == sizeof(sum) && sum[0] == 11 && sum[3] == 44,
	   "the sums: %g to %g", sum[0], sum[3]);
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(m);
	ANeuralNetworksMemory_free(memory);
	close(fd);
}

/* Who has a file may make it shorter at any time: that is an error of what uses it, and nobody faults. */
static void test_shorter_files(void)
{
	int fds[2] = { file_of(65536), file_of(65536) };
	ANeuralNetworksMemory *memories[2] = { memory_of(fds[0], 65536, 0), memory_of(fds[1], 65536, 0) };
	ANeuralNetworksMemory *argument = memory_of(fds[0], 16, 32768);
	ANeuralNetworksModel *m = finished_model();
	ANeuralNetworksCompilation *c = compiled(m, false);
	ANeuralNetworksExecution *e = NULL;
	static const float a[4] = { 1 };
	float sum[4];
	uint8_t byte = 7;

	if (pwrite(fds[0], &byte, 1, 65535) != 1)
		ok(false, "a byte is written");
	is(ANeuralNetworksMemory_copy(memories[0], memories[1]), NONE, "a copy between files");
	byte = 0;
	ok(pread(fds[1], &byte, 1, 65535) == 1 && byte == 7, "its last byte is there");
	for (int i = 0; i < 2; i++) {
		if (ftruncate(fds[i], 8192))
			ok(false, "a file becomes shorter");
		is(ANeuralNetworksMemory_copy(memories[0], memories[1]), OP,
		   i ? "a copy to a file that has become shorter" : "a copy of a file that has become shorter");
		if (!i)
			is(ANeuralNetworksMemory_copy(memories[1], memories[0]), OP, "and to it");
	}
	ANeuralNetworksExecution_create(c, &e);
	ANeuralNetworksExecution_setInput(e, 0, NULL, a, sizeof(a));
	is(ANeuralNetworksExecution_setInputFromMemory(e, 1, NULL, argument, 0, 16), NONE,
	   "an input that the file no longer has");
	ANeuralNetworksExecution_setOutput(e, 0, NULL, sum, sizeof(sum));
	is(ANeuralNetworksExecution_compute(e), OP, "compute with it");
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(m);
	for (int i = 0; i < 2; i++) {
		ANeuralNetworksMemory_free(memories[i]);
		close(fds[i]);
	}
	ANeuralNetworksMemory_free(argument);
}

int main(void)
{
	test_descriptors();
	test_odd_places();
	test_shorter_files();
	return tap_done();
}
