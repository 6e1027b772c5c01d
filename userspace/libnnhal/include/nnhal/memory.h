/* SPDX-License-Identifier: MIT */
/*
 * Memory objects: the hidl_memory of the HAL.
 *
 * A struct nnhal_memory is reference-counted and belongs to no device: it can hold
 * constants and arguments for any number of devices. The first use in a device binds
 * it to a slot of the device's context. The binding is kept until the memory or the
 * device is released, or until others need the slot more, and later executions with the
 * same object only pass the slot number. Therefore keep memory objects and use them again.
 *
 * All functions may be called from any thread.
 */
#ifndef NNHAL_MEMORY_H
#define NNHAL_MEMORY_H

#include <nnhal/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nnhal_device;

#pragma GCC visibility push(default)

/**
 * enum nnhal_memory_kind - the kinds that hidl_memory names by a string
 * @NNHAL_MEMORY_ASHMEM: "ashmem": a memfd. The library seals it against shrinking, if that is
 *	allowed. nnhal_memory_create() makes one that all devices reach without a copy
 * @NNHAL_MEMORY_MMAP_FD: "mmap_fd": a file, or a part of one
 * @NNHAL_MEMORY_HARDWARE_BUFFER_BLOB: "hardware_buffer_blob": a linear dma-buf;
 *	no copy
 * @NNHAL_MEMORY_HARDWARE_BUFFER: "hardware_buffer": an image in a layout of its
 *	own; not supported
 * @NNHAL_MEMORY_HOST_POINTER: memory of the process, by nnhal_memory_from_pointer(); the HAL has
 *	no such kind
 *
 * Whether a device reaches an object without a copy depends on both: nnhal_memory_reach(). Where
 * it does not, the operands are copied before and after each execution.
 */
enum nnhal_memory_kind {
	NNHAL_MEMORY_ASHMEM = 0,
	NNHAL_MEMORY_MMAP_FD = 1,
	NNHAL_MEMORY_HARDWARE_BUFFER_BLOB = 2,
	NNHAL_MEMORY_HARDWARE_BUFFER = 3,
	NNHAL_MEMORY_HOST_POINTER = 4,
};

/* The library and the device may read. */
#define NNHAL_MEMORY_READ	(1u << 0)
/* The library and the device may write. */
#define NNHAL_MEMORY_WRITE	(1u << 1)

/**
 * struct nnhal_memory_desc - what to make a memory object of
 * @struct_size: sizeof(struct nnhal_memory_desc)
 * @kind: enum nnhal_memory_kind
 * @fd: file descriptor; duplicated, the caller keeps its own
 * @size: bytes, not 0, at most what the object behind @fd has from @offset on
 * @offset: NNHAL_MEMORY_MMAP_FD: first byte in the file; else zero
 * @access: NNHAL_MEMORY_READ and NNHAL_MEMORY_WRITE, 0 = all that @fd allows.
 *	Memory without write access serves inputs and constants only
 * @reserved: zero
 */
struct nnhal_memory_desc {
	size_t struct_size;
	uint32_t kind;
	int fd;
	uint64_t size;
	uint64_t offset;
	uint32_t access;
	uint32_t reserved;
};

/**
 * nnhal_memory_import() - make a memory object of a file descriptor
 * @desc: kind, file descriptor, size
 * @memory: out: new object with one reference, NULL after an error
 * @diag: filled in after an error; may be NULL
 *
 * Return: NONE; INVALID_ARGUMENT (unknown kind, reserved not 0, fd not of this kind, size 0 or
 * larger than the object, access the fd does not give); GENERAL_FAILURE
 * (NNHAL_MEMORY_HARDWARE_BUFFER); RESOURCE_EXHAUSTED_* (no memory or file
 * descriptors).
 */
enum nnhal_status nnhal_memory_import(const struct nnhal_memory_desc *desc,
				      struct nnhal_memory **memory,
				      struct nnhal_diag *diag);

/**
 * nnhal_memory_from_pointer() - make a memory object of memory of the process
 * @address: first byte, page-aligned or not
 * @size: bytes, not 0
 * @access: NNHAL_MEMORY_READ and NNHAL_MEMORY_WRITE, 0 = both. The device gets no more
 * @memory: out: new object with one reference, NULL after an error
 * @diag: filled in after an error; may be NULL
 *
 * The caller keeps the memory mapped, with this access, until it has released the object and all
 * executions with it have ended. The first use of a device pins the pages, which counts against
 * RLIMIT_MEMLOCK; a device reaches whole pages, so what else is in the first and the last one, too.
 * Who unmaps the memory earlier, or maps something else there, finds that the device goes on with
 * the old pages; the device in the process accesses the address itself and faults there. A child of
 * fork() gets copies. Constants of a model are read when it is prepared, and not after that.
 *
 * Return: NONE; INVALID_ARGUMENT (NULL, size 0 or beyond the address space, unknown access);
 * RESOURCE_EXHAUSTED_TRANSIENT. Whether the memory is there is found out when it is used.
 */
enum nnhal_status nnhal_memory_from_pointer(void *address, uint64_t size, uint32_t access,
					    struct nnhal_memory **memory,
					    struct nnhal_diag *diag);

/**
 * enum nnhal_memory_reach - how a device reaches a memory object
 * @NNHAL_MEMORY_REACH_IN_PLACE: without a copy. All others: operands are copied for each execution
 * @NNHAL_MEMORY_REACH_LOCK_LIMIT: RLIMIT_MEMLOCK does not allow to pin the memory
 * @NNHAL_MEMORY_REACH_FILE_WRITTEN: the object has write access, and the kernel pins files that
 *	are neither shmem nor hugetlbfs for reading only
 * @NNHAL_MEMORY_REACH_NOT_PINNABLE: not mapped, not mapped with this access, memory of a
 *	device, or shrunk meanwhile
 * @NNHAL_MEMORY_REACH_NOT_SUPPORTED: device or driver do not take it: DAX, DMA that is not coherent,
 *	more than a slot
 * @NNHAL_MEMORY_REACH_CAN_SHRINK: the device in the process does not pin, and would fault when
 *	the file is truncated: only memfds that are sealed against it
 * @NNHAL_MEMORY_REACH_NOT_MAPPABLE: mmap() of the descriptor failed, for example for want of read access
 * @NNHAL_MEMORY_REACH_UNTRUSTED: a file that came from a client of a burst server
 */
enum nnhal_memory_reach {
	NNHAL_MEMORY_REACH_IN_PLACE = 0,
	NNHAL_MEMORY_REACH_LOCK_LIMIT = 1,
	NNHAL_MEMORY_REACH_FILE_WRITTEN = 2,
	NNHAL_MEMORY_REACH_NOT_PINNABLE = 3,
	NNHAL_MEMORY_REACH_NOT_SUPPORTED = 4,
	NNHAL_MEMORY_REACH_CAN_SHRINK = 5,
	NNHAL_MEMORY_REACH_NOT_MAPPABLE = 6,
	NNHAL_MEMORY_REACH_UNTRUSTED = 7,
};

/**
 * nnhal_memory_reach() - does a device reach a memory object without a copy, and why not?
 * @memory: object
 * @device: device
 * @reach: out: enum nnhal_memory_reach; unchanged after an error
 * @diag: gets the reason as a text if the object is copied, and the error after an error; may be NULL
 *
 * Binds the object as its first use does; the answer holds as long as the binding.
 *
 * Return: NONE; INVALID_ARGUMENT; DEVICE_UNAVAILABLE; GENERAL_FAILURE or RESOURCE_EXHAUSTED_* if it
 * cannot be bound at all.
 */
enum nnhal_status nnhal_memory_reach(struct nnhal_memory *memory, struct nnhal_device *device,
				     uint32_t *reach, struct nnhal_diag *diag);

/** nnhal_memory_reach_text() - enum nnhal_memory_reach as a text; NULL for other numbers */
const char *nnhal_memory_reach_text(uint32_t reach);

/**
 * nnhal_memory_create() - make new zeroed memory that devices reach without a copy
 * @size: bytes, not 0; the memfd behind it has whole pages
 * @memory: out: new object of kind NNHAL_MEMORY_ASHMEM with one reference, NULL
 *	after an error
 * @diag: filled in after an error; may be NULL
 *
 * Return: NONE, INVALID_ARGUMENT or RESOURCE_EXHAUSTED_*.
 */
enum nnhal_status nnhal_memory_create(uint64_t size, struct nnhal_memory **memory,
				      struct nnhal_diag *diag);

/**
 * nnhal_memfd_create() - create a memfd that devices reach without a copy
 * @name: shown in /proc, for debugging
 * @size: bytes, not 0; rounded up to whole pages and sealed against shrinking
 *	and growing
 *
 * Return: a file descriptor (close-on-exec), or a negative errno.
 */
int nnhal_memfd_create(const char *name, uint64_t size);

/**
 * nnhal_memory_map() - map a memory object into the process
 * @memory: object
 * @diag: filled in after an error; may be NULL
 *
 * The mapping is made once, is shared by all callers, and lasts as long as the
 * object. It is writable if the object is. The device sees writes made before an
 * execution starts; the process sees outputs when the execution has ended. If
 * somebody truncates the file, access to the mapping raises SIGBUS, as always with
 * mmap(). The library itself never accesses this mapping; nnhal_memory_copy() has the kernel do it.
 *
 * Return: first byte of the object, or NULL.
 */
void *nnhal_memory_map(struct nnhal_memory *memory, struct nnhal_diag *diag);

/**
 * nnhal_memory_begin_cpu_access() - before the process reads or writes a mapping
 * @memory: object
 * @access: NNHAL_MEMORY_READ and NNHAL_MEMORY_WRITE
 *
 * Keeps caches coherent for a dma-buf (DMA_BUF_IOCTL_SYNC); does nothing for
 * other kinds.
 *
 * Return: NONE, INVALID_ARGUMENT or GENERAL_FAILURE.
 */
enum nnhal_status nnhal_memory_begin_cpu_access(struct nnhal_memory *memory, uint32_t access);

/**
 * nnhal_memory_end_cpu_access() - after the process has read or written a mapping
 * @memory: object
 * @access: as passed to nnhal_memory_begin_cpu_access()
 *
 * Return: NONE, INVALID_ARGUMENT or GENERAL_FAILURE.
 */
enum nnhal_status nnhal_memory_end_cpu_access(struct nnhal_memory *memory, uint32_t access);

/**
 * nnhal_memory_copy() - copy a memory object to another one
 * @source: object that may be read
 * @target: object of the same size that may be written
 * @diag: filled in after an error; may be NULL
 *
 * Copies all bytes, of memory of any kind, with what nnhal_memory_begin_cpu_access() does for a dma-buf. Both
 * are mapped, as by nnhal_memory_map(), and the kernel copies: a file that somebody has truncated, or a page of
 * memory of the process that is not there, is an error and no signal. A part of the target may have been written
 * then. Where both overlap, the result is undefined, unless they are the same object.
 *
 * Return: NONE; INVALID_ARGUMENT (NULL, different sizes, access); GENERAL_FAILURE if an object cannot be mapped,
 * read or written.
 */
enum nnhal_status nnhal_memory_copy(struct nnhal_memory *source, struct nnhal_memory *target,
				    struct nnhal_diag *diag);

/** nnhal_memory_size() - bytes, as given when the object was made */
uint64_t nnhal_memory_size(const struct nnhal_memory *memory);

/** nnhal_memory_kind() - enum nnhal_memory_kind */
uint32_t nnhal_memory_kind(const struct nnhal_memory *memory);

/** nnhal_memory_access() - NNHAL_MEMORY_READ and NNHAL_MEMORY_WRITE */
uint32_t nnhal_memory_access(const struct nnhal_memory *memory);

/** nnhal_memory_fd() - the object's own file descriptor, not to be closed; -1: it has none */
int nnhal_memory_fd(const struct nnhal_memory *memory);

/** nnhal_memory_ref() - take a reference; returns @memory */
struct nnhal_memory *nnhal_memory_ref(struct nnhal_memory *memory);

/**
 * nnhal_memory_unref() - release a reference; NULL is allowed
 *
 * The last release frees the object and its bindings; executions that still run
 * hold references of their own.
 */
void nnhal_memory_unref(struct nnhal_memory *memory);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* NNHAL_MEMORY_H */
