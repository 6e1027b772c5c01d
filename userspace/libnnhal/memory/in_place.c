// SPDX-License-Identifier: MIT
/*
 * Memory that a device reaches without a copy, and why it does not.
 *
 * A memfd that cannot shrink becomes a dma-buf, by its descriptor. Everything else is mapped for as
 * long as it takes to pin its pages; what happens to the file after that costs nobody a fault. The
 * device in the process does not pin: it gets memory that cannot be taken from under it. A
 * client of a burst server would make the server pay for what is pinned, and could make it wait for
 * pages: its memory is not pinned.
 */
#include <errno.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "memory/binding.h"
#include "memory/memory_private.h"
#include "transport/transport.h"

static uint32_t transport_access(const struct nnhal_memory *memory)
{
	return (memory->access & NNHAL_MEMORY_READ ? TRANSPORT_READ : 0) |
	       (memory->access & NNHAL_MEMORY_WRITE ? TRANSPORT_WRITE : 0);
}

void binding_free_map(struct binding *b)
{
	if (b->map)
		munmap(b->map, b->map_size);
	b->map = NULL;
}

/* The kernel does not pin files for writing that it writes back itself. */
static bool is_written_back(const struct nnhal_memory *memory)
{
	struct statfs fs;

	return !memory_is_pointer(memory) && memory->access & NNHAL_MEMORY_WRITE &&
	       !fstatfs(memory->fd, &fs) && (unsigned long)fs.f_type != TMPFS_MAGIC &&
	       (unsigned long)fs.f_type != HUGETLBFS_MAGIC;
}

/* An error that means that memory is not for this device; 0: it is another error. */
static uint32_t reach_of_error(const struct nnhal_memory *memory, int err)
{
	switch (err) {
	case -EDQUOT:
		return NNHAL_MEMORY_REACH_LOCK_LIMIT;
	case -EFAULT:
		return is_written_back(memory) ? NNHAL_MEMORY_REACH_FILE_WRITTEN
					       : NNHAL_MEMORY_REACH_NOT_PINNABLE;
	case -EOPNOTSUPP:
	case -EINVAL:
	case -ENOTTY:
		return NNHAL_MEMORY_REACH_NOT_SUPPORTED;
	default:
		return NNHAL_MEMORY_REACH_IN_PLACE;
	}
}

static int fail(struct binding *b, uint32_t reach)
{
	b->reach = reach;
	return -ENOTSUP;
}

/* Bind pages of the process; @map has all pages of the object. */
static int bind_map(struct binding *b, const struct nnhal_memory *memory, struct transport *t,
		    void *map, uint64_t size)
{
	int err = t->ops->bind_pointer(t, map, size, transport_access(memory), &b->slot);
	uint32_t reach = reach_of_error(memory, err);

	return reach ? fail(b, reach) : err;
}

static int bind_file(struct binding *b, const struct nnhal_memory *memory, struct transport *t,
		     uint64_t size)
{
	int prot = (memory->access & NNHAL_MEMORY_READ ? PROT_READ : 0) |
		   (memory->access & NNHAL_MEMORY_WRITE ? PROT_WRITE : 0);
	void *map;
	int err;

	if (memory->is_foreign)
		return fail(b, NNHAL_MEMORY_REACH_UNTRUSTED);
	if (!t->limits.pins_memory && !memory->is_sealed)
		return fail(b, NNHAL_MEMORY_REACH_CAN_SHRINK);
	map = mmap(NULL, size, prot, MAP_SHARED, memory->fd, (off_t)(memory->offset - b->delta));
	if (map == MAP_FAILED)
		return fail(b, NNHAL_MEMORY_REACH_NOT_MAPPABLE);
	err = bind_map(b, memory, t, map, size);
	if (err || t->limits.pins_memory) {
		munmap(map, size);
	} else {
		b->map = map;
		b->map_size = size;
	}
	return err;
}

int binding_in_place(struct binding *b, const struct nnhal_memory *memory, struct transport *t)
{
	enum transport_memory_type type = memory->kind == NNHAL_MEMORY_HARDWARE_BUFFER_BLOB
					  ? TRANSPORT_DMABUF : TRANSPORT_MEMFD;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), size;
	int err = -ENOTSUP;

	b->reach = NNHAL_MEMORY_REACH_IN_PLACE;
	b->delta = 0;
	b->needs_cpu = false;
	if (memory->direct)
		err = t->ops->bind_fd(t, type, memory->fd, memory_bind_size(memory),
				      transport_access(memory), &b->slot);
	if (err != -ENOTSUP || type == TRANSPORT_DMABUF)
		return err;
	b->delta = (uint32_t)(memory->offset % page);
	size = round_up_u64(b->delta + memory->size, page);
	if (memory_is_pointer(memory)) {
		err = bind_map(b, memory, t, (void *)(uintptr_t)(memory->offset - b->delta), size);
	} else {
		err = bind_file(b, memory, t, size);
		b->needs_cpu = !memory->is_sealed;
	}
	/* A bounce buffer begins with the object. */
	if (err)
		b->delta = 0;
	return err;
}

const char *nnhal_memory_reach_text(uint32_t reach)
{
	static const char *const texts[] = {
		[NNHAL_MEMORY_REACH_IN_PLACE] = "without a copy",
		[NNHAL_MEMORY_REACH_LOCK_LIMIT] =
			"copied: RLIMIT_MEMLOCK does not allow to pin as much",
		[NNHAL_MEMORY_REACH_FILE_WRITTEN] =
			"copied: the kernel pins files of this kind for reading only",
		[NNHAL_MEMORY_REACH_NOT_PINNABLE] =
			"copied: the memory is not mapped so, or of a kind that cannot be pinned",
		[NNHAL_MEMORY_REACH_NOT_SUPPORTED] =
			"copied: device or driver do not take memory of this kind or size",
		[NNHAL_MEMORY_REACH_CAN_SHRINK] =
			"copied: the file can shrink under a device that does not pin",
		[NNHAL_MEMORY_REACH_NOT_MAPPABLE] = "copied: the file cannot be mapped",
		[NNHAL_MEMORY_REACH_UNTRUSTED] = "copied: the file of a client is not pinned",
	};

	return reach < ARRAY_SIZE(texts) ? texts[reach] : NULL;
}
