// SPDX-License-Identifier: MIT
/*
 * Memory for the values of a case, of each kind that the NNAPI knows.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ndk_places.h"

/* Part of a file may begin anywhere, and values of four bytes need not be aligned to four. */
#define ODD_OFFSET	98u

#define CPU_USAGE	(AHARDWAREBUFFER_USAGE_CPU_READ_OFTEN | \
			 AHARDWAREBUFFER_USAGE_CPU_WRITE_OFTEN)

static bool init_file(struct ndk_place *place)
{
	int fd = memfd_create("vectors", MFD_CLOEXEC);
	size_t size = place->size + ODD_OFFSET;
	void *map = MAP_FAILED;
	int result;

	if (fd >= 0 && !ftruncate(fd, (off_t)size))
		map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map != MAP_FAILED) {
		place->map = map;
		place->map_size = size;
		place->bytes = (uint8_t *)map + ODD_OFFSET;
	}
	result = ANeuralNetworksMemory_createFromFd(place->size, PROT_READ | PROT_WRITE, fd,
						    ODD_OFFSET, &place->memory);
	close(fd);
	return place->map && !result;
}

static bool init_buffer(struct ndk_place *place)
{
	AHardwareBuffer_Desc desc = {
		.width = (uint32_t)place->size, .height = 1, .layers = 1,
		.format = AHARDWAREBUFFER_FORMAT_BLOB,
		.usage = CPU_USAGE | AHARDWAREBUFFER_USAGE_GPU_DATA_BUFFER,
	};

	return !AHardwareBuffer_allocate(&desc, &place->buffer) &&
	       !ANeuralNetworksMemory_createFromAHardwareBuffer(place->buffer, &place->memory);
}

bool place_init(struct ndk_place *place, enum ndk_kind kind, size_t size)
{
	*place = (struct ndk_place){ .size = size };
	switch (kind) {
	case KIND_MEMORY:
		return init_file(place);
	case KIND_BUFFER:
		return init_buffer(place);
	/* Values of described memory are copied from and to a pointer. */
	case KIND_DESCRIBED:
	case KIND_POINTER:
		break;
	}
	place->bytes = calloc(1, size);
	return place->bytes;
}

void place_free(struct ndk_place *place)
{
	ANeuralNetworksMemory_free(place->memory);
	if (place->map)
		munmap(place->map, place->map_size);
	else if (place->buffer)
		AHardwareBuffer_release(place->buffer);
	else
		free(place->bytes);
	memset(place, 0, sizeof(*place));
}

bool place_begin(struct ndk_place *place)
{
	void *bytes = NULL;

	if (!place->buffer)
		return true;
	if (AHardwareBuffer_lock(place->buffer, CPU_USAGE, -1, NULL, &bytes))
		return false;
	place->bytes = bytes;
	return bytes;
}

bool place_end(struct ndk_place *place)
{
	if (!place->buffer)
		return true;
	place->bytes = NULL;
	return !AHardwareBuffer_unlock(place->buffer, NULL);
}
