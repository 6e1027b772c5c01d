// SPDX-License-Identifier: MIT
/*
 * AHardwareBuffer over memfds.
 */
#include <errno.h>
#include <fcntl.h>
#include <nnhal/fence.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "buffers/hardware_buffer_private.h"

#define CPU_READ	AHARDWAREBUFFER_USAGE_CPU_READ_MASK
#define CPU_WRITE	AHARDWAREBUFFER_USAGE_CPU_WRITE_MASK

/* Bits of an element; 0: no such format. */
static uint64_t bits_of(uint32_t format)
{
	switch (format) {
	case AHARDWAREBUFFER_FORMAT_BLOB:
	case AHARDWAREBUFFER_FORMAT_S8_UINT:
		return 8;
	case AHARDWAREBUFFER_FORMAT_Y8Cb8Cr8_420:
		return 12;
	case AHARDWAREBUFFER_FORMAT_R5G6B5_UNORM:
	case AHARDWAREBUFFER_FORMAT_D16_UNORM:
		return 16;
	case AHARDWAREBUFFER_FORMAT_R8G8B8_UNORM:
		return 24;
	case AHARDWAREBUFFER_FORMAT_R8G8B8A8_UNORM:
	case AHARDWAREBUFFER_FORMAT_R8G8B8X8_UNORM:
	case AHARDWAREBUFFER_FORMAT_R10G10B10A2_UNORM:
	case AHARDWAREBUFFER_FORMAT_D24_UNORM:
	case AHARDWAREBUFFER_FORMAT_D24_UNORM_S8_UINT:
	case AHARDWAREBUFFER_FORMAT_D32_FLOAT:
		return 32;
	case AHARDWAREBUFFER_FORMAT_R16G16B16A16_FLOAT:
	case AHARDWAREBUFFER_FORMAT_D32_FLOAT_S8_UINT:
		return 64;
	default:
		return 0;
	}
}

/* Rows follow each other without gaps. 0: not a description of a buffer. */
static uint64_t size_of(const AHardwareBuffer_Desc *desc)
{
	uint64_t bits = bits_of(desc->format), elements, size;

	if (desc->format == AHARDWAREBUFFER_FORMAT_BLOB && (desc->height != 1 || desc->layers != 1))
		return 0;
	/* Chroma has half of the rows and columns. */
	if (desc->format == AHARDWAREBUFFER_FORMAT_Y8Cb8Cr8_420 &&
	    (desc->height % 2 || desc->width % 2))
		return 0;
	elements = (uint64_t)desc->width * desc->height;
	if (__builtin_mul_overflow(elements, desc->layers, &elements) ||
	    __builtin_mul_overflow(elements, bits, &size) || size / 8 > INT64_MAX / 2)
		return 0;
	return size / 8;
}

/* In whole pages, which never go away: devices take such memory without a copy. */
static int make_memfd(uint64_t size)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("AHardwareBuffer", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)((size + page - 1) / page * page)) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW)) {
		close(fd);
		return -ENOMEM;
	}
	return fd;
}

int AHardwareBuffer_allocate(const AHardwareBuffer_Desc *desc, AHardwareBuffer **outBuffer)
{
	AHardwareBuffer *buffer;
	uint64_t size;
	int fd;

	if (!desc || !outBuffer || desc->rfu0 || desc->rfu1)
		return -EINVAL;
	/* Memory that the CPU must never see is not to be had here. */
	if (desc->usage & AHARDWAREBUFFER_USAGE_PROTECTED_CONTENT)
		return -EINVAL;
	size = size_of(desc);
	if (!size)
		return -EINVAL;
	fd = make_memfd(size);
	if (fd < 0)
		return fd;
	buffer = calloc(1, sizeof(*buffer));
	if (!buffer) {
		close(fd);
		return -ENOMEM;
	}
	atomic_init(&buffer->refs, 1);
	pthread_mutex_init(&buffer->lock, NULL);
	buffer->desc = *desc;
	buffer->desc.stride = desc->width;
	buffer->size = size;
	buffer->fd = fd;
	*outBuffer = buffer;
	return 0;
}

void AHardwareBuffer_acquire(AHardwareBuffer *buffer)
{
	if (buffer)
		atomic_fetch_add_explicit(&buffer->refs, 1, memory_order_relaxed);
}

void AHardwareBuffer_release(AHardwareBuffer *buffer)
{
	if (!buffer ||
	    atomic_fetch_sub_explicit(&buffer->refs, 1, memory_order_acq_rel) != 1)
		return;
	if (buffer->bytes)
		munmap(buffer->bytes, buffer->size);
	close(buffer->fd);
	pthread_mutex_destroy(&buffer->lock);
	free(buffer);
}

void AHardwareBuffer_describe(const AHardwareBuffer *buffer, AHardwareBuffer_Desc *outDesc)
{
	if (buffer && outDesc)
		*outDesc = buffer->desc;
}

/* What the buffer was not made for it is not locked for. */
static bool usage_is_right(const AHardwareBuffer *buffer, uint64_t usage)
{
	if (!usage || usage & ~(uint64_t)(CPU_READ | CPU_WRITE))
		return false;
	return !(usage & CPU_READ && !(buffer->desc.usage & CPU_READ)) &&
	       !(usage & CPU_WRITE && !(buffer->desc.usage & CPU_WRITE));
}

static bool rect_is_inside(const AHardwareBuffer *buffer, const ARect *rect)
{
	return rect->left >= 0 && rect->top >= 0 && rect->left < rect->right &&
	       rect->top < rect->bottom && (uint32_t)rect->right <= buffer->desc.width &&
	       (uint32_t)rect->bottom <= buffer->desc.height;
}

static int map_locked(AHardwareBuffer *buffer, void **bytes)
{
	if (!buffer->bytes) {
		void *map = mmap(NULL, buffer->size, PROT_READ | PROT_WRITE, MAP_SHARED,
				 buffer->fd, 0);

		if (map == MAP_FAILED)
			return -ENOMEM;
		buffer->bytes = map;
	}
	buffer->num_locks++;
	*bytes = buffer->bytes;
	return 0;
}

int AHardwareBuffer_lock(AHardwareBuffer *buffer, uint64_t usage, int32_t fence,
			 const ARect *rect, void **outVirtualAddress)
{
	bool valid = buffer && outVirtualAddress && usage_is_right(buffer, usage) &&
		     buffer->desc.layers == 1 && (!rect || rect_is_inside(buffer, rect));
	int result;

	/* A call that is refused waits for nobody. */
	if (valid && fence >= 0)
		valid = nnhal_fence_wait(fence, -1) != NNHAL_FENCE_UNKNOWN;
	/* The fence is the buffer's from the call on. */
	if (fence >= 0)
		close(fence);
	if (!valid)
		return -EINVAL;
	pthread_mutex_lock(&buffer->lock);
	result = map_locked(buffer, outVirtualAddress);
	pthread_mutex_unlock(&buffer->lock);
	return result;
}

int AHardwareBuffer_unlock(AHardwareBuffer *buffer, int32_t *fence)
{
	int result = 0;

	if (!buffer)
		return -EINVAL;
	pthread_mutex_lock(&buffer->lock);
	if (buffer->num_locks)
		buffer->num_locks--;
	else
		result = -EINVAL;
	pthread_mutex_unlock(&buffer->lock);
	/* The memory is coherent: what the CPU wrote is there. */
	if (!result && fence)
		*fence = -1;
	return result;
}
