// SPDX-License-Identifier: MIT
/*
 * Slots of the in-process device. Memory objects are mapped into the process and
 * registered with the device; a slot is one mapping.
 *
 * With limits.needs_sync the device has other memory for a buffer than the process, as behind bounce
 * buffers, and reaches no memory of others.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/tsan.h"
#include "transport/sim_private.h"
#include "transport/sim_rings.h"
#include "transport/transport.h"

static uint32_t find_slot(const struct sim_transport *s)
{
	uint32_t i;

	for (i = 0; i < s->rings.num_slots; i++)
		if (!s->slots[i].map)
			return i;
	return NNPU_SLOT_NONE;
}

/* A slot of a mapping that is registered. Caller holds the lock. */
static void fill_slot(struct sim_transport *s, uint32_t i, const struct sim_slot *what,
		      uint32_t flags)
{
	struct nnpu_slot_entry *entry = &s->rings.slot_table[i];

	s->slots[i] = *what;
	memset(entry, 0, sizeof(*entry));
	entry->mem.addr = htole64((uintptr_t)what->map);
	entry->mem.size = htole64(what->size);
	/* Set VALID last: a job may name the slot at any time. */
	__atomic_store_n(&entry->flags, htole32(flags), __ATOMIC_RELEASE);
}

/* Bind a mapping to a slot. On success the slot owns the mapping, unless it @is_lent. */
static int slot_bind(struct sim_transport *s, void *map, size_t size, uint32_t access,
		     bool is_lent, uint32_t *slot)
{
	uint32_t flags = NNPU_SLOT_VALID;
	unsigned int region = 0;
	uint32_t i;
	int err;

	if (access & TRANSPORT_READ) {
		flags |= NNPU_SLOT_READ;
		region |= NNPU_INPROC_READ;
	}
	if (access & TRANSPORT_WRITE) {
		flags |= NNPU_SLOT_WRITE;
		region |= NNPU_INPROC_WRITE;
	}
	pthread_mutex_lock(&s->slot_lock);
	i = find_slot(s);
	err = i == NNPU_SLOT_NONE ? -ENOSPC
				  : nnpu_inproc_register(s->rings.ip, map, size, region);
	if (!err) {
		fill_slot(s, i, &(struct sim_slot){ map, size, region, is_lent, -1 }, flags);
		*slot = i;
	}
	pthread_mutex_unlock(&s->slot_lock);
	return err;
}

/*
 * The device answers when nobody accesses memory any more. A file may keep who reads it waiting for as
 * long as its server likes, and then this waits, and so does each other command. With the lock held all
 * who bind memory would wait, too. The slot keeps its mapping meanwhile, so nobody gets its number.
 */
void sim_unbind(struct transport *t, uint32_t slot)
{
	struct sim_transport *s = to_sim(t);
	struct nnpu_sqe_invalidate sqe = {
		.opcode = NNPU_ADMIN_INVALIDATE_SLOTS, .ctx = htole32(SIM_CTX),
		.first = htole32(slot), .count = htole32(1),
	};
	struct sim_slot old;
	struct nnpu_cqe cqe;

	pthread_mutex_lock(&s->slot_lock);
	__atomic_store_n(&s->rings.slot_table[slot].flags, 0, __ATOMIC_RELEASE);
	old = s->slots[slot];
	pthread_mutex_unlock(&s->slot_lock);
	sim_admin(&s->rings, &sqe, &cqe);
	if (old.fd < 0)
		nnpu_inproc_unregister(s->rings.ip, old.map, old.size, old.region);
	else
		nnpu_inproc_unregister_file(s->rings.ip, old.map);
	pthread_mutex_lock(&s->slot_lock);
	s->slots[slot].map = NULL;
	pthread_mutex_unlock(&s->slot_lock);
	if (old.fd >= 0)
		close(old.fd);
	if (!old.is_lent)
		munmap(old.map, old.size);
}

/* The mapping only keeps the addresses. */
int sim_bind_file(struct transport *t, int fd, uint64_t offset, uint64_t size, uint32_t *slot)
{
	struct sim_transport *s = to_sim(t);
	struct sim_slot file = { .size = (size_t)size, .fd = fcntl(fd, F_DUPFD_CLOEXEC, 0) };
	uint32_t i;
	int err;

	if (t->limits.needs_sync) {
		if (file.fd >= 0)
			close(file.fd);
		return -ENOTSUP;
	}
	if (file.fd < 0)
		return -errno;
	file.map = mmap(NULL, file.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			0);
	if (file.map == MAP_FAILED) {
		close(file.fd);
		return -ENOMEM;
	}
	pthread_mutex_lock(&s->slot_lock);
	i = find_slot(s);
	err = i == NNPU_SLOT_NONE ? -ENOSPC :
	      nnpu_inproc_register_file(s->rings.ip, file.map, file.size, file.fd, offset);
	if (!err) {
		fill_slot(s, i, &file, NNPU_SLOT_VALID | NNPU_SLOT_READ);
		*slot = i;
	}
	pthread_mutex_unlock(&s->slot_lock);
	if (err) {
		munmap(file.map, file.size);
		close(file.fd);
	}
	return err;
}

static int bind_mapping(struct sim_transport *s, void *map, size_t size, uint32_t access,
			uint32_t *slot)
{
	int err = slot_bind(s, map, size, access, false, slot);

	if (err)
		munmap(map, size);
	return err;
}

static void *map_zeroed(size_t bytes)
{
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return map == MAP_FAILED ? NULL : map;
}

int sim_bo_create(struct transport *t, uint64_t size, struct transport_bo *bo)
{
	size_t bytes = (size_t)round_up_u64(size, NNPU_PAGE_SIZE);
	void *seen = map_zeroed(bytes), *map = seen;
	uint32_t slot;
	int err;

	if (!seen)
		return -ENOMEM;
	if (t->limits.needs_sync) {
		map = map_zeroed(bytes);
		if (!map) {
			munmap(seen, bytes);
			return -ENOMEM;
		}
	}
	err = bind_mapping(to_sim(t), seen, bytes, TRANSPORT_READ | TRANSPORT_WRITE, &slot);
	if (!err)
		*bo = (struct transport_bo){ .slot = slot, .map = map, .size = bytes };
	else if (map != seen)
		munmap(map, bytes);
	return err;
}

/* What the device has of a buffer. */
static uint8_t *seen_by_device(struct transport *t, const struct transport_bo *bo)
{
	struct sim_transport *s = to_sim(t);
	void *seen;

	pthread_mutex_lock(&s->slot_lock);
	seen = s->slots[bo->slot].map;
	pthread_mutex_unlock(&s->slot_lock);
	return seen;
}

/* Jobs may just read the same bytes: see args_copy_inputs(). */
int sim_bo_give(struct transport *t, const struct transport_bo *bo, uint64_t offset, uint64_t size)
{
	tsan_racy_writes_begin();
	memcpy(seen_by_device(t, bo) + offset, (uint8_t *)bo->map + offset, (size_t)size);
	tsan_racy_writes_end();
	return 0;
}

int sim_bo_take(struct transport *t, const struct transport_bo *bo, uint64_t offset, uint64_t size)
{
	tsan_racy_reads_begin();
	memcpy((uint8_t *)bo->map + offset, seen_by_device(t, bo) + offset, (size_t)size);
	tsan_racy_reads_end();
	return 0;
}

void sim_bo_destroy(struct transport *t, struct transport_bo *bo)
{
	if (!bo->map)
		return;
	sim_unbind(t, bo->slot);
	if (t->limits.needs_sync)
		munmap(bo->map, bo->size);
	*bo = (struct transport_bo)TRANSPORT_BO_NONE;
}

/* Tells what sim_storage_create() made from memory of callers, which has other rights. */
#define STORAGE_MODE	0600

static bool is_storage(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && (st.st_mode & 0777) == STORAGE_MODE;
}

int sim_storage_create(struct transport *t, uint64_t size, enum transport_memory_type *type,
		       int *fd)
{
	int memfd = memfd_create("nnhal-buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int err;

	(void)t;
	if (memfd < 0)
		return -errno;
	if (ftruncate(memfd, (off_t)round_up_u64(size, (uint64_t)sysconf(_SC_PAGESIZE))) ||
	    fchmod(memfd, STORAGE_MODE)) {
		err = -errno;
		close(memfd);
		return err;
	}
	*type = TRANSPORT_MEMFD;
	*fd = memfd;
	return 0;
}

int sim_bind_fd(struct transport *t, enum transport_memory_type type, int fd, uint64_t size,
		uint32_t access, uint32_t *slot)
{
	int prot = (access & TRANSPORT_READ ? PROT_READ : 0) |
		   (access & TRANSPORT_WRITE ? PROT_WRITE : 0);
	void *map;

	if (t->limits.needs_sync && !is_storage(fd))
		return -ENOTSUP;
	map = mmap(NULL, size, prot, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return type == TRANSPORT_MEMFD ? -ENOTSUP : -errno;
	return bind_mapping(to_sim(t), map, size, access, slot);
}

int sim_bind_pointer(struct transport *t, void *map, uint64_t size, uint32_t access, uint32_t *slot)
{
	if (t->limits.needs_sync)
		return -EOPNOTSUPP;
	return slot_bind(to_sim(t), map, size, access, true, slot);
}
