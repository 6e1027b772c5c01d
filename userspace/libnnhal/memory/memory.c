// SPDX-License-Identifier: MIT
/*
 * Memory objects: import of file descriptors, pointers, reading and writing.
 *
 * Another process may truncate a file at any time. The library therefore never touches
 * memory through a mapping. The device gets pages that stay (in_place.c); everything else
 * is accessed with pread() and pwrite(). pwrite() takes the lock of the file, which a client of a
 * burst server may hold for ever: into its memory the kernel copies through a mapping.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "memory/binding.h"
#include "memory/kernel_copy.h"
#include "memory/memory_private.h"

#ifndef DMA_BUF_MAGIC
#define DMA_BUF_MAGIC	0x444d4142
#endif

static uint64_t host_page_size(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

int nnhal_memfd_create(const char *name, uint64_t size)
{
	uint64_t page = host_page_size();
	int fd, err;

	if (!name || !size || size > INT64_MAX - page)
		return -EINVAL;
	fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)round_up_u64(size, page)) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW)) {
		err = errno;
		close(fd);
		return -err;
	}
	return fd;
}

static void *address_of(const struct nnhal_memory *memory, uint64_t offset)
{
	return (uint8_t *)(uintptr_t)memory->offset + offset;
}

/* Seals take the right to write from all descriptors of a memfd. */
static bool is_sealed_against_writes(int seals)
{
	return seals >= 0 && seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE);
}

static uint32_t fd_access(int fd)
{
	switch (fcntl(fd, F_GETFL) & O_ACCMODE) {
	case O_RDONLY:
		return NNHAL_MEMORY_READ;
	case O_WRONLY:
		return NNHAL_MEMORY_WRITE;
	default:
		return NNHAL_MEMORY_READ | NNHAL_MEMORY_WRITE;
	}
}

static bool is_dmabuf(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && (unsigned long)fs.f_type == DMA_BUF_MAGIC;
}

static enum nnhal_status check_size(const struct nnhal_memory *m, uint64_t available,
				    struct nnhal_diag *diag)
{
	if (m->offset > available || m->size > available - m->offset) {
		diag_set(diag, "memory of %llu bytes at offset %llu, but the object has %llu",
			 (unsigned long long)m->size, (unsigned long long)m->offset,
			 (unsigned long long)available);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	return NNHAL_STATUS_NONE;
}

/* A memfd that passed all checks: can a device use its pages? Seal it if that is @allowed. */
static enum nnhal_status seal_memfd(struct nnhal_memory *m, bool allowed,
				    struct nnhal_diag *diag)
{
	int seals = fcntl(m->fd, F_GET_SEALS);
	struct stat sealed;

	if (seals < 0)
		return NNHAL_STATUS_NONE;
	if (!(seals & F_SEAL_SHRINK) && (!allowed || fcntl(m->fd, F_ADD_SEALS, F_SEAL_SHRINK)))
		return NNHAL_STATUS_NONE;
	/* Only now the size stays: it may have shrunk since @st was read. */
	if (fstat(m->fd, &sealed)) {
		diag_set(diag, "memory fd: %s", errno_text(errno));
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	m->direct = memory_bind_size(m) <= (uint64_t)sealed.st_size;
	m->is_sealed = m->size <= (uint64_t)sealed.st_size;
	return check_size(m, (uint64_t)sealed.st_size, diag);
}

/* A memfd: may it be written? */
static enum nnhal_status examine_memfd(struct nnhal_memory *m, const struct stat *st,
				       struct nnhal_diag *diag)
{
	int seals = fcntl(m->fd, F_GET_SEALS);

	if (!S_ISREG(st->st_mode) || seals < 0) {
		diag_set(diag, "ashmem memory: fd is not a memfd");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (is_sealed_against_writes(seals))
		m->access &= ~(uint32_t)NNHAL_MEMORY_WRITE;
	return NNHAL_STATUS_NONE;
}

/* Check the file descriptor; fill in access and identity, and direct of what is no memfd. */
static enum nnhal_status examine(struct nnhal_memory *m, struct nnhal_diag *diag)
{
	int seals = m->kind == NNHAL_MEMORY_MMAP_FD ? fcntl(m->fd, F_GET_SEALS) : -1;
	enum nnhal_status status;
	struct stat st;
	off_t end;

	if (fstat(m->fd, &st)) {
		diag_set(diag, "memory fd: %s", errno_text(errno));
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	m->dev = st.st_dev;
	m->ino = st.st_ino;
	m->access = fd_access(m->fd);
	switch (m->kind) {
	case NNHAL_MEMORY_ASHMEM:
		status = check_size(m, (uint64_t)st.st_size, diag);
		return status ? status : examine_memfd(m, &st, diag);
	case NNHAL_MEMORY_MMAP_FD:
		if (!S_ISREG(st.st_mode)) {
			diag_set(diag, "mmap_fd memory: fd is not a regular file");
			return NNHAL_STATUS_INVALID_ARGUMENT;
		}
		if (is_sealed_against_writes(seals))
			m->access &= ~(uint32_t)NNHAL_MEMORY_WRITE;
		status = check_size(m, (uint64_t)st.st_size, diag);
		/* Sealed before its size was read. */
		m->is_sealed = !status && seals > 0 && seals & F_SEAL_SHRINK;
		return status;
	default:
		if (!is_dmabuf(m->fd)) {
			diag_set(diag, "hardware_buffer_blob memory: fd is not a dma-buf");
			return NNHAL_STATUS_INVALID_ARGUMENT;
		}
		end = lseek(m->fd, 0, SEEK_END);
		m->direct = true;
		return check_size(m, end < 0 ? 0 : (uint64_t)end, diag);
	}
}

static enum nnhal_status check_desc(const struct nnhal_memory_desc *desc,
				    struct nnhal_diag *diag)
{
	if (desc->reserved) {
		diag_set(diag, "memory reserved 0x%x, expected 0", desc->reserved);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (desc->kind > NNHAL_MEMORY_HARDWARE_BUFFER) {
		diag_set(diag, "memory kind %u is not known", desc->kind);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (desc->fd < 0 || fcntl(desc->fd, F_GETFD) < 0) {
		diag_set(diag, "memory fd %d is not open", desc->fd);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (fcntl(desc->fd, F_GETFL) & O_PATH) {
		diag_set(diag, "memory fd %d is a path, expected an open file", desc->fd);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (desc->kind == NNHAL_MEMORY_HARDWARE_BUFFER) {
		diag_set(diag, "hardware_buffer memory (image layouts) is not supported");
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	if (!desc->size || desc->size > INT64_MAX - host_page_size()) {
		diag_set(diag, "memory size %llu", (unsigned long long)desc->size);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (desc->offset && desc->kind != NNHAL_MEMORY_MMAP_FD) {
		diag_set(diag, "memory offset %llu, expected 0 for this kind",
			 (unsigned long long)desc->offset);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (desc->access & ~(uint32_t)(NNHAL_MEMORY_READ | NNHAL_MEMORY_WRITE)) {
		diag_set(diag, "memory access 0x%x", desc->access);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	return NNHAL_STATUS_NONE;
}

/* Descriptors stay in use until the caller closes some. */
static enum nnhal_status shortage(int err)
{
	return err == EMFILE || err == ENFILE ? NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT
					      : NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

static enum nnhal_status import(const struct nnhal_memory_desc *given, bool foreign,
				struct nnhal_memory **memory, struct nnhal_diag *diag)
{
	static const struct nnhal_memory_desc defaults;
	struct nnhal_memory_desc read;
	const struct nnhal_memory_desc *desc = &read;
	enum nnhal_status status;
	struct nnhal_memory *m;

	diag_clear(diag);
	if (memory)
		*memory = NULL;
	if (!given || !memory) {
		diag_set(diag, "NULL pointer for description or result");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!options_read(&read, given, &defaults, reserved)) {
		diag_set(diag, "description of a memory object of another version");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	status = check_desc(desc, diag);
	if (status)
		return status;
	m = calloc(1, sizeof(*m));
	if (!m) {
		diag_set(diag, "no memory for a memory object");
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	m->fd = fcntl(desc->fd, F_DUPFD_CLOEXEC, 0);
	if (m->fd < 0) {
		status = shortage(errno);
		diag_set(diag, "memory fd: %s", errno_text(errno));
		free(m);
		return status;
	}
	atomic_init(&m->refs, 1);
	pthread_mutex_init(&m->lock, NULL);
	m->kind = desc->kind;
	m->size = desc->size;
	m->offset = desc->offset;
	m->is_foreign = foreign;
	status = examine(m, diag);
	if (!status && (desc->access & ~m->access)) {
		diag_set(diag, "memory access 0x%x, but the fd allows 0x%x", desc->access,
			 m->access);
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	}
	/* Last: a seal stays. */
	if (!status && m->kind == NNHAL_MEMORY_ASHMEM)
		status = seal_memfd(m, !foreign, diag);
	if (status) {
		nnhal_memory_unref(m);
		return status;
	}
	if (desc->access)
		m->access = desc->access;
	if (foreign && !m->direct)
		m->access &= ~(uint32_t)NNHAL_MEMORY_WRITE;
	*memory = m;
	return NNHAL_STATUS_NONE;
}

enum nnhal_status nnhal_memory_import(const struct nnhal_memory_desc *desc,
				      struct nnhal_memory **memory, struct nnhal_diag *diag)
{
	return import(desc, false, memory, diag);
}

enum nnhal_status memory_import_foreign(const struct nnhal_memory_desc *desc,
					struct nnhal_memory **memory)
{
	return import(desc, true, memory, NULL);
}

enum nnhal_status nnhal_memory_create(uint64_t size, struct nnhal_memory **memory,
				      struct nnhal_diag *diag)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = NNHAL_MEMORY_ASHMEM, .size = size,
	};
	enum nnhal_status status;

	diag_clear(diag);
	if (memory)
		*memory = NULL;
	desc.fd = nnhal_memfd_create("nnhal", size);
	if (desc.fd < 0) {
		diag_set(diag, "memfd of %llu bytes: %s", (unsigned long long)size,
			 errno_text(-desc.fd));
		return desc.fd == -EINVAL ? NNHAL_STATUS_INVALID_ARGUMENT
					  : shortage(-desc.fd);
	}
	status = nnhal_memory_import(&desc, memory, diag);
	close(desc.fd);
	return status;
}

enum nnhal_status nnhal_memory_from_pointer(void *address, uint64_t size, uint32_t access,
					    struct nnhal_memory **memory, struct nnhal_diag *diag)
{
	struct nnhal_memory *m;

	diag_clear(diag);
	if (memory)
		*memory = NULL;
	if (!address || !memory) {
		diag_set(diag, "NULL pointer for memory or result");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!size || size > INTPTR_MAX || (uintptr_t)address > INTPTR_MAX - size) {
		diag_set(diag, "memory size %llu", (unsigned long long)size);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (access & ~(uint32_t)(NNHAL_MEMORY_READ | NNHAL_MEMORY_WRITE)) {
		diag_set(diag, "memory access 0x%x", access);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	m = calloc(1, sizeof(*m));
	if (!m) {
		diag_set(diag, "no memory for a memory object");
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	atomic_init(&m->refs, 1);
	pthread_mutex_init(&m->lock, NULL);
	m->kind = NNHAL_MEMORY_HOST_POINTER;
	m->access = access ? access : NNHAL_MEMORY_READ | NNHAL_MEMORY_WRITE;
	m->fd = -1;
	m->size = size;
	/* One file for all of them, so that overlaps are found. No file has this device. */
	m->dev = (dev_t)-1;
	m->offset = (uintptr_t)address;
	*memory = m;
	return NNHAL_STATUS_NONE;
}

static int mapping_prot(uint32_t access)
{
	return (access & NNHAL_MEMORY_READ ? PROT_READ : 0) |
	       (access & NNHAL_MEMORY_WRITE ? PROT_WRITE : 0);
}

void *nnhal_memory_map(struct nnhal_memory *memory, struct nnhal_diag *diag)
{
	uint64_t page = host_page_size();
	void *result = NULL;
	void *map;

	diag_clear(diag);
	if (!memory) {
		diag_set(diag, "no memory object");
		return NULL;
	}
	if (memory_is_pointer(memory))
		return address_of(memory, 0);
	pthread_mutex_lock(&memory->lock);
	if (!memory->map) {
		memory->map_delta = memory->offset % page;
		memory->map_size = memory->map_delta + memory->size;
		map = mmap(NULL, memory->map_size, mapping_prot(memory->access), MAP_SHARED,
			   memory->fd, (off_t)(memory->offset - memory->map_delta));
		if (map == MAP_FAILED)
			diag_set(diag, "mmap of %llu bytes: %s",
				 (unsigned long long)memory->size, errno_text(errno));
		else
			memory->map = map;
	}
	if (memory->map)
		result = (uint8_t *)memory->map + memory->map_delta;
	pthread_mutex_unlock(&memory->lock);
	return result;
}

static enum nnhal_status dmabuf_sync(struct nnhal_memory *memory, uint32_t access,
				     uint64_t phase)
{
	struct dma_buf_sync sync = { .flags = phase };
	int ret;

	if (!memory || !access ||
	    (access & ~(uint32_t)(NNHAL_MEMORY_READ | NNHAL_MEMORY_WRITE)))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (memory->kind != NNHAL_MEMORY_HARDWARE_BUFFER_BLOB)
		return NNHAL_STATUS_NONE;
	if (access & NNHAL_MEMORY_READ)
		sync.flags |= DMA_BUF_SYNC_READ;
	if (access & NNHAL_MEMORY_WRITE)
		sync.flags |= DMA_BUF_SYNC_WRITE;
	do {
		ret = ioctl(memory->fd, DMA_BUF_IOCTL_SYNC, &sync);
	} while (ret && (errno == EINTR || errno == EAGAIN));
	return ret ? NNHAL_STATUS_GENERAL_FAILURE : NNHAL_STATUS_NONE;
}

enum nnhal_status nnhal_memory_begin_cpu_access(struct nnhal_memory *memory, uint32_t access)
{
	return dmabuf_sync(memory, access, DMA_BUF_SYNC_START);
}

enum nnhal_status nnhal_memory_end_cpu_access(struct nnhal_memory *memory, uint32_t access)
{
	return dmabuf_sync(memory, access, DMA_BUF_SYNC_END);
}

/* Why one memory object cannot be copied to another one; NULL: it can. */
static const char *copy_refusal(const struct nnhal_memory *source, const struct nnhal_memory *target)
{
	if (!source || !target)
		return "no memory object";
	if (!(source->access & NNHAL_MEMORY_READ))
		return "the source may not be read";
	if (!(target->access & NNHAL_MEMORY_WRITE))
		return "the target may not be written";
	return NULL;
}

/* The mappings are there. 0 or -errno. */
static int copy_mapped(struct nnhal_memory *source, const void *from, struct nnhal_memory *target,
		       void *to)
{
	int err = 0;

	if (nnhal_memory_begin_cpu_access(source, NNHAL_MEMORY_READ))
		return -errno;
	if (nnhal_memory_begin_cpu_access(target, NNHAL_MEMORY_WRITE))
		err = -errno;
	if (!err) {
		err = kernel_copy(to, from, (size_t)source->size);
		/* What caches keep is not in the target. */
		if (nnhal_memory_end_cpu_access(target, NNHAL_MEMORY_WRITE) && !err)
			err = -errno;
	}
	nnhal_memory_end_cpu_access(source, NNHAL_MEMORY_READ);
	return err;
}

enum nnhal_status nnhal_memory_copy(struct nnhal_memory *source, struct nnhal_memory *target,
				    struct nnhal_diag *diag)
{
	const char *refusal = copy_refusal(source, target);
	void *from, *to;
	int err;

	diag_clear(diag);
	if (refusal) {
		diag_set(diag, "copy of memory: %s", refusal);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (source->size != target->size) {
		diag_set(diag, "copy of memory: the source has %llu bytes, the target %llu",
			 (unsigned long long)source->size, (unsigned long long)target->size);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (source == target)
		return NNHAL_STATUS_NONE;
	from = nnhal_memory_map(source, diag);
	to = from ? nnhal_memory_map(target, diag) : NULL;
	if (!to)
		return NNHAL_STATUS_GENERAL_FAILURE;
	err = copy_mapped(source, from, target, to);
	if (!err)
		return NNHAL_STATUS_NONE;
	diag_set(diag, "copy of %llu bytes of memory: %s", (unsigned long long)source->size,
		 errno_text(-err));
	return NNHAL_STATUS_GENERAL_FAILURE;
}

uint64_t nnhal_memory_size(const struct nnhal_memory *memory)
{
	return memory ? memory->size : 0;
}

uint32_t nnhal_memory_kind(const struct nnhal_memory *memory)
{
	return memory ? memory->kind : 0;
}

uint32_t nnhal_memory_access(const struct nnhal_memory *memory)
{
	return !memory ? 0 : memory->access;
}

int nnhal_memory_fd(const struct nnhal_memory *memory)
{
	return memory ? memory->fd : -1;
}

struct nnhal_memory *nnhal_memory_ref(struct nnhal_memory *memory)
{
	atomic_fetch_add_explicit(&memory->refs, 1, memory_order_relaxed);
	return memory;
}

void nnhal_memory_unref(struct nnhal_memory *memory)
{
	if (!memory ||
	    atomic_fetch_sub_explicit(&memory->refs, 1, memory_order_acq_rel) != 1)
		return;
	memory_unbind_all(memory);
	if (memory->map)
		munmap(memory->map, memory->map_size);
	if (memory->fd >= 0)
		close(memory->fd);
	pthread_mutex_destroy(&memory->lock);
	free(memory);
}

int memory_check_file(const struct nnhal_memory *memory, uint64_t end)
{
	struct stat st;

	if (fstat(memory->fd, &st))
		return -errno;
	return memory->offset + end <= (uint64_t)st.st_size ? 0 : -EIO;
}

int memory_read(const struct nnhal_memory *memory, uint64_t offset, void *data, size_t size)
{
	ssize_t n;

	if (memory_is_pointer(memory))
		return kernel_copy(data, address_of(memory, offset), size);
	offset += memory->offset;
	while (size) {
		n = pread(memory->fd, data, size, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		data = (uint8_t *)data + n;
		offset += (size_t)n;
		size -= (size_t)n;
	}
	return 0;
}

/* Without the lock of the file, which pwrite() takes. */
static int write_mapped(const struct nnhal_memory *memory, uint64_t offset, const void *data,
			size_t size)
{
	size_t delta = (size_t)(offset % host_page_size());
	uint8_t *map = mmap(NULL, delta + size, PROT_WRITE, MAP_SHARED, memory->fd,
			    (off_t)(offset - delta));
	int err;

	if (map == MAP_FAILED)
		return -errno;
	err = kernel_copy(map + delta, data, size);
	munmap(map, delta + size);
	return err;
}

int memory_write(const struct nnhal_memory *memory, uint64_t offset, const void *data,
		 size_t size)
{
	ssize_t n;

	if (memory_is_pointer(memory))
		return kernel_copy(address_of(memory, offset), data, size);
	if (memory->is_foreign)
		return size ? write_mapped(memory, memory->offset + offset, data, size) : 0;
	offset += memory->offset;
	while (size) {
		n = pwrite(memory->fd, data, size, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		data = (const uint8_t *)data + n;
		offset += (size_t)n;
		size -= (size_t)n;
	}
	return 0;
}
