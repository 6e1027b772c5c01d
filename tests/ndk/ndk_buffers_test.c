// SPDX-License-Identifier: MIT
/*
 * AHardwareBuffers and ASharedMemory by themselves.
 */
#include <errno.h>
#include <fcntl.h>
#include <nnhal/fence.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <android/hardware_buffer.h>
#include <android/sharedmem.h>

#include "tap.h"

#define CPU_ALL	(AHARDWAREBUFFER_USAGE_CPU_READ_OFTEN | AHARDWAREBUFFER_USAGE_CPU_WRITE_OFTEN)

static const AHardwareBuffer_Desc blob = {
	.width = 100, .height = 1, .layers = 1, .format = AHARDWAREBUFFER_FORMAT_BLOB,
	.usage = CPU_ALL,
};

static void refused(AHardwareBuffer_Desc desc, const char *what)
{
	AHardwareBuffer *buffer = (AHardwareBuffer *)&desc;
	int result = AHardwareBuffer_allocate(&desc, &buffer);

	ok(result == -EINVAL && buffer == (AHardwareBuffer *)&desc, "refused: %s: %d", what,
	   result);
}

#define BUT(...)	({ AHardwareBuffer_Desc d_ = blob; __VA_ARGS__; d_; })

static void test_allocate(void)
{
	AHardwareBuffer *buffer = NULL;
	AHardwareBuffer_Desc desc;

	ok(AHardwareBuffer_allocate(NULL, &buffer) == -EINVAL, "description NULL");
	ok(AHardwareBuffer_allocate(&blob, NULL) == -EINVAL, "buffer to NULL");
	refused(BUT(d_.width = 0), "no width");
	refused(BUT(d_.height = 0), "no height");
	refused(BUT(d_.layers = 0), "no layers");
	refused(BUT(d_.height = 2), "a BLOB of two rows");
	refused(BUT(d_.layers = 2), "a BLOB of two layers");
	refused(BUT(d_.format = 0), "format 0");
	refused(BUT(d_.format = 0x36), "an unknown format");
	refused(BUT(d_.rfu0 = 1), "a reserved field");
	refused(BUT(d_.rfu1 = 1), "the other reserved field");
	refused(BUT(d_.usage |= AHARDWAREBUFFER_USAGE_PROTECTED_CONTENT), "protected content");
	refused(BUT(d_.format = AHARDWAREBUFFER_FORMAT_R16G16B16A16_FLOAT; d_.width = UINT32_MAX;
		    d_.height = UINT32_MAX; d_.layers = UINT32_MAX), "more bytes than there are");
	refused(BUT(d_.format = AHARDWAREBUFFER_FORMAT_Y8Cb8Cr8_420; d_.height = 3),
		"half a row of chroma");
	ok(!AHardwareBuffer_allocate(&blob, &buffer) && buffer, "a BLOB");
	memset(&desc, 0xff, sizeof(desc));
	AHardwareBuffer_describe(buffer, &desc);
	ok(desc.width == 100 && desc.height == 1 && desc.layers == 1 && desc.stride == 100 &&
	   desc.format == AHARDWAREBUFFER_FORMAT_BLOB && desc.usage == blob.usage && !desc.rfu0 &&
	   !desc.rfu1, "its description, the stride included");
	AHardwareBuffer_acquire(buffer);
	AHardwareBuffer_release(buffer);
	AHardwareBuffer_describe(buffer, &desc);
	ok(desc.width == 100, "it is there after one of two releases");
	AHardwareBuffer_release(buffer);
	AHardwareBuffer_release(NULL);
	AHardwareBuffer_acquire(NULL);
}

/* Signals a fence when somebody waits for it, as far as that can be known. */
static void *signal_fence(void *fd)
{
	usleep(1000);
	nnhal_fence_signal(*(int *)fd, 0);
	return NULL;
}

static void test_lock(void)
{
	const AHardwareBuffer_Desc for_reading =
		BUT(d_.usage = AHARDWAREBUFFER_USAGE_CPU_READ_RARELY);
	const ARect inside = { 0, 0, 100, 1 }, outside = { 0, 0, 101, 1 };
	void *bytes = NULL, *again = NULL;
	AHardwareBuffer *buffer = NULL, *read_only = NULL;
	int32_t fence = 99;
	int ends[2];
	pthread_t thread;

	AHardwareBuffer_allocate(&blob, &buffer);
	AHardwareBuffer_allocate(&for_reading, &read_only);
	ok(AHardwareBuffer_lock(NULL, CPU_ALL, -1, NULL, &bytes) == -EINVAL, "lock NULL");
	ok(AHardwareBuffer_lock(buffer, CPU_ALL, -1, NULL, NULL) == -EINVAL, "address to NULL");
	ok(AHardwareBuffer_lock(buffer, 0, -1, NULL, &bytes) == -EINVAL, "lock for nothing");
	ok(AHardwareBuffer_lock(buffer, AHARDWAREBUFFER_USAGE_GPU_DATA_BUFFER, -1, NULL,
				&bytes) == -EINVAL, "lock for the GPU");
	ok(AHardwareBuffer_lock(read_only, CPU_ALL, -1, NULL, &bytes) == -EINVAL,
	   "lock to write what is for reading");
	ok(!AHardwareBuffer_lock(read_only, AHARDWAREBUFFER_USAGE_CPU_READ_OFTEN, -1, NULL,
				 &bytes), "lock to read it");
	AHardwareBuffer_unlock(read_only, NULL);
	ok(AHardwareBuffer_lock(buffer, CPU_ALL, -1, &outside, &bytes) == -EINVAL,
	   "a rectangle beyond the buffer");
	ok(AHardwareBuffer_unlock(buffer, NULL) == -EINVAL, "unlock what is not locked");
	ok(AHardwareBuffer_unlock(NULL, NULL) == -EINVAL, "unlock NULL");
	ok(!AHardwareBuffer_lock(buffer, CPU_ALL, -1, &inside, &bytes) && bytes, "lock");
	ok(!((uint8_t *)bytes)[0] && !((uint8_t *)bytes)[99], "the buffer is zeroed");
	memset(bytes, 0x5a, 100);
	ok(!AHardwareBuffer_lock(buffer, CPU_ALL, -1, NULL, &again) && again == bytes,
	   "lock it once more");
	ok(!AHardwareBuffer_unlock(buffer, &fence) && fence == -1, "unlock without a fence");
	ok(!AHardwareBuffer_unlock(buffer, NULL), "unlock and wait");
	ok(AHardwareBuffer_unlock(buffer, NULL) == -EINVAL, "that was the last lock");
	if (nnhal_fence_create(&ends[0], &ends[1]) ||
	    pthread_create(&thread, NULL, signal_fence, &ends[1])) {
		ok(false, "a fence");
		return;
	}
	ok(!AHardwareBuffer_lock(buffer, CPU_ALL, ends[0], NULL, &bytes), "lock after a fence");
	ok(((uint8_t *)bytes)[99] == 0x5a, "what was written is there");
	ok(fcntl(ends[0], F_GETFD) < 0 && errno == EBADF, "the fence was closed");
	AHardwareBuffer_unlock(buffer, NULL);
	pthread_join(thread, NULL);
	close(ends[1]);
	if (nnhal_fence_create(&ends[0], &ends[1]))
		ok(false, "a fence");
	ok(AHardwareBuffer_lock(NULL, CPU_ALL, ends[0], NULL, &bytes) == -EINVAL,
	   "what is refused does not wait for its fence");
	ok(fcntl(ends[0], F_GETFD) < 0 && errno == EBADF, "which was closed");
	close(ends[1]);
	ok(AHardwareBuffer_lock(buffer, CPU_ALL, dup(0), NULL, &bytes) == -EINVAL,
	   "a descriptor that is no fence");
	AHardwareBuffer_release(buffer);
	AHardwareBuffer_release(read_only);
}

static void test_shared_memory(void)
{
	uint8_t *bytes, *before;
	char name[1000];
	int fd, ends[2];

	ok(ASharedMemory_create("nothing", 0) == -EINVAL, "shared memory of no bytes");
	ok(ASharedMemory_create("huge", SIZE_MAX) == -1, "more than there is");
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	fd = ASharedMemory_create(name, 1);
	ok(ASharedMemory_getSize(fd) == 1, "shared memory with a long name");
	ok(!fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) && !ASharedMemory_setProt(fd, PROT_READ),
	   "a right that it has lost can be taken once more");
	close(fd);
	fd = ASharedMemory_create(NULL, 5000);
	ok(fd >= 0 && ASharedMemory_getSize(fd) == 5000, "shared memory of 5000 bytes");
	before = mmap(NULL, 5000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ok(before != MAP_FAILED && !before[4999], "it can be mapped and is zeroed");
	ok(ASharedMemory_setProt(fd, PROT_WRITE) == -1, "without the right to be read: refused");
	ok(!ASharedMemory_setProt(fd, PROT_READ | PROT_WRITE), "all rights");
	ok(!ASharedMemory_setProt(fd, PROT_READ), "the right to be read only");
	before[0] = 7;
	bytes = mmap(NULL, 5000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ok(bytes == MAP_FAILED, "it cannot be mapped to be written any more");
	bytes = mmap(NULL, 5000, PROT_READ, MAP_SHARED, fd, 0);
	ok(bytes != MAP_FAILED && bytes[0] == 7, "an older mapping writes, a new one reads");
	ok(ASharedMemory_setProt(fd, PROT_READ | PROT_WRITE) == -1, "a lost right does not return");
	munmap(bytes, 5000);
	munmap(before, 5000);
	close(fd);
	ok(!ASharedMemory_getSize(-1), "size of no descriptor");
	if (!pipe(ends)) {
		ok(!ASharedMemory_getSize(ends[0]), "size of a pipe");
		ok(ASharedMemory_setProt(ends[0], PROT_READ) == -1, "rights of a pipe");
		close(ends[0]);
		close(ends[1]);
	}
}

int main(void)
{
	test_allocate();
	test_lock();
	test_shared_memory();
	return tap_done();
}
