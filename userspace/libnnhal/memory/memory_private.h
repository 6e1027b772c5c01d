/* SPDX-License-Identifier: MIT */
/*
 * Memory objects.
 */
#ifndef NNHAL_MEMORY_PRIVATE_H
#define NNHAL_MEMORY_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

#include <nnhal/nnhal.h>

#include "base/base.h"

struct binding;

struct nnhal_memory {
	atomic_uint refs;
	uint32_t kind;
	uint32_t access;
	int fd;				/* -1: memory of the process, at the address @offset */
	uint64_t size;
	uint64_t offset;
	dev_t dev;
	ino_t ino;
	/* Whole pages that cannot be truncated: the device may use them in place, through @fd. */
	bool direct;
	/* The file cannot be truncated to less than the object has. */
	bool is_sealed;
	/* Of a client that is not trusted. */
	bool is_foreign;
	pthread_mutex_t lock;
	void *map;
	size_t map_size;
	size_t map_delta;
	struct binding *bindings;
};

/* Size of the object in whole pages of the host, which is what is bound. */
static inline uint64_t memory_bind_size(const struct nnhal_memory *memory)
{
	return round_up_u64(memory->size, (uint64_t)sysconf(_SC_PAGESIZE));
}

static inline bool memory_is_pointer(const struct nnhal_memory *memory)
{
	return memory->kind == NNHAL_MEMORY_HOST_POINTER;
}

/* Has HAL 1.2 brought this kind? */
static inline bool memory_is_of_1_2(const struct nnhal_memory *memory)
{
	return memory->kind == NNHAL_MEMORY_HARDWARE_BUFFER_BLOB ||
	       memory->kind == NNHAL_MEMORY_HARDWARE_BUFFER;
}

/* Are the first @end bytes of the object still in its file? 0 or -errno. */
int memory_check_file(const struct nnhal_memory *memory, uint64_t end);

/*
 * As nnhal_memory_import(), for a file of a client that is not trusted and has passed
 * file_origin_check(). A client that writes from a page that never comes holds the lock of the file
 * for ever: the file is not sealed, and what a device cannot use in place is not written.
 */
enum nnhal_status memory_import_foreign(const struct nnhal_memory_desc *desc,
					struct nnhal_memory **memory);

/*
 * Copy with pread() and pwrite(); to foreign memory through a mapping, without the lock of the file;
 * from and to memory of the process by the kernel, too. 0 or -errno; -EIO: the file has become too
 * short; -EFAULT: the memory of the process is not there.
 */
int memory_read(const struct nnhal_memory *memory, uint64_t offset, void *data, size_t size);
int memory_write(const struct nnhal_memory *memory, uint64_t offset, const void *data,
		 size_t size);

#endif /* NNHAL_MEMORY_PRIVATE_H */
