// SPDX-License-Identifier: MIT
/*
 * Memory of each kind: a memfd, a part of a file, a dma-buf made of a memfd, memory of the process.
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

#include "case_pools.h"

#define UDMABUF		"/dev/udmabuf"
#define MIN_POOL	4096u

/* An mmap_fd pool starts at this offset of its file. */
#define FILE_OFFSET	8192u

/* Memory of the process begins that far behind what malloc() gave: aligned to nothing. */
#define POINTER_OFFSET	37u

static bool fail(struct nnhal_diag *diag, const char *what, int err)
{
	snprintf(diag->message, sizeof(diag->message), "%s: %s", what, strerror(err));
	return false;
}

bool pools_available(enum pool_kind kind, char *text, size_t size)
{
	int fd;

	if (kind != POOL_DMA_BUF)
		return true;
	fd = open(UDMABUF, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		snprintf(text, size, "dma-bufs come from " UDMABUF ": %s", strerror(errno));
		return false;
	}
	close(fd);
	return true;
}

static bool import(const struct nnhal_memory_desc *desc, struct pool *pool,
		   struct nnhal_diag *diag)
{
	enum nnhal_status status = nnhal_memory_import(desc, &pool->memory, diag);

	close(desc->fd);
	return status == NNHAL_STATUS_NONE;
}

static bool make_memfd(struct pool *pool, struct nnhal_diag *diag)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = NNHAL_MEMORY_ASHMEM, .size = pool->size,
	};

	desc.fd = nnhal_memfd_create("nnvec", pool->size);
	if (desc.fd < 0)
		return fail(diag, "memfd", -desc.fd);
	return import(&desc, pool, diag);
}

static bool make_file(struct pool *pool, struct nnhal_diag *diag)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = NNHAL_MEMORY_MMAP_FD, .size = pool->size,
		.offset = FILE_OFFSET,
	};

	desc.fd = memfd_create("nnvec-file", MFD_CLOEXEC);
	if (desc.fd < 0)
		return fail(diag, "file", errno);
	if (ftruncate(desc.fd, (off_t)(pool->size + FILE_OFFSET))) {
		fail(diag, "file", errno);
		close(desc.fd);
		return false;
	}
	return import(&desc, pool, diag);
}

static bool make_dma_buf(struct pool *pool, struct nnhal_diag *diag)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = NNHAL_MEMORY_HARDWARE_BUFFER_BLOB,
		.size = pool->size,
	};
	struct udmabuf_create create = { .flags = UDMABUF_FLAGS_CLOEXEC, .size = pool->size };
	int memfd = nnhal_memfd_create("nnvec-dma-buf", pool->size);
	int udmabuf, err;

	if (memfd < 0)
		return fail(diag, "memfd", -memfd);
	udmabuf = open(UDMABUF, O_RDWR | O_CLOEXEC);
	if (udmabuf < 0) {
		err = errno;
		close(memfd);
		return fail(diag, UDMABUF, err);
	}
	create.memfd = (uint32_t)memfd;
	desc.fd = ioctl(udmabuf, UDMABUF_CREATE, &create);
	err = errno;
	close(udmabuf);
	close(memfd);
	if (desc.fd < 0)
		return fail(diag, "dma-buf", err);
	return import(&desc, pool, diag);
}

static bool make_pointer(struct pool *pool, struct nnhal_diag *diag)
{
	pool->block = calloc(1, pool->size + POINTER_OFFSET);
	if (!pool->block)
		return fail(diag, "memory of the process", ENOMEM);
	return !nnhal_memory_from_pointer((uint8_t *)pool->block + POINTER_OFFSET, pool->size, 0,
					  &pool->memory, diag);
}

static void drop(struct pool *pool)
{
	nnhal_memory_unref(pool->memory);
	free(pool->block);
	memset(pool, 0, sizeof(*pool));
}

static bool add_entries(struct pools *pools, uint32_t count)
{
	struct pool *larger = realloc(pools->entries, count * sizeof(*larger));

	if (!larger)
		return false;
	memset(larger + pools->count, 0, (count - pools->count) * sizeof(*larger));
	pools->entries = larger;
	pools->count = count;
	return true;
}

bool pools_reserve(struct pools *pools, uint32_t index, uint64_t size, struct nnhal_diag *diag)
{
	struct pool *pool;
	bool made;

	if (index >= pools->count && !add_entries(pools, index + 1))
		return fail(diag, "list of pools", ENOMEM);
	pool = &pools->entries[index];
	if (pool->memory && pool->size >= size)
		return true;
	drop(pool);
	/* Sizes are powers of two, so that a pool grows only a few times. */
	for (pool->size = MIN_POOL; pool->size < size; )
		pool->size *= 2;
	if (pools->kind == POOL_MEMFD)
		made = make_memfd(pool, diag);
	else if (pools->kind == POOL_MMAP_FD)
		made = make_file(pool, diag);
	else if (pools->kind == POOL_POINTER)
		made = make_pointer(pool, diag);
	else
		made = make_dma_buf(pool, diag);
	if (made)
		pool->bytes = nnhal_memory_map(pool->memory, diag);
	if (pool->bytes)
		return true;
	drop(pool);
	return false;
}

void pools_free(struct pools *pools)
{
	for (uint32_t i = 0; i < pools->count; i++)
		drop(&pools->entries[i]);
	free(pools->entries);
	pools->entries = NULL;
	pools->count = 0;
}
