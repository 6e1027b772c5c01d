// SPDX-License-Identifier: MIT
/*
 * Handles and memory as the HAL passes them between processes.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/status.h"
#include "memory/memory_private.h"

static const struct {
	const char *name;
	uint32_t num_ints;
} kinds[] = {
	[NNHAL_MEMORY_ASHMEM] = { "ashmem", 0 },
	[NNHAL_MEMORY_MMAP_FD] = { "mmap_fd", 3 },
	[NNHAL_MEMORY_HARDWARE_BUFFER_BLOB] = { "hardware_buffer_blob", 0 },
	[NNHAL_MEMORY_HARDWARE_BUFFER] = { "hardware_buffer", 0 },
};

static enum nnhal_status duplicate(int fd, int *copy, struct nnhal_diag *diag)
{
	int new = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (new < 0) {
		enum nnhal_status status = status_from_errno(errno);

		diag_set(diag, "descriptor %d: %s", fd, errno_text(errno));
		return status;
	}
	*copy = new;
	return NNHAL_STATUS_NONE;
}

enum nnhal_status nnhal_handle_to_fd(const struct nnhal_native_handle *handle, int *fd,
				     struct nnhal_diag *diag)
{
	diag_clear(diag);
	if (!fd) {
		diag_set(diag, "NULL pointer for the result");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!handle || (!handle->num_fds && !handle->num_ints)) {
		*fd = -1;
		return NNHAL_STATUS_NONE;
	}
	if (handle->num_fds != 1 || handle->num_ints) {
		diag_set(diag, "handle with %u descriptors and %u numbers, expected one descriptor",
			 handle->num_fds, handle->num_ints);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	return duplicate(handle->data[0], fd, diag);
}

enum nnhal_status nnhal_handle_from_fd(int fd, struct nnhal_native_handle *handle,
				       struct nnhal_diag *diag)
{
	struct nnhal_native_handle new = { .num_fds = fd == -1 ? 0 : 1 };
	enum nnhal_status status = NNHAL_STATUS_NONE;

	diag_clear(diag);
	if (!handle) {
		diag_set(diag, "NULL pointer for the result");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (fd != -1)
		status = duplicate(fd, &new.data[0], diag);
	if (!status)
		*handle = new;
	return status;
}

void nnhal_handle_close(struct nnhal_native_handle *handle)
{
	uint32_t i;

	if (!handle)
		return;
	for (i = 0; i < handle->num_fds && i < NNHAL_HANDLE_MAX; i++)
		close(handle->data[i]);
	memset(handle, 0, sizeof(*handle));
}

enum nnhal_status nnhal_memory_from_hal(const struct nnhal_hal_memory *from,
					struct nnhal_memory **memory, struct nnhal_diag *diag)
{
	struct nnhal_memory_desc desc = { .struct_size = sizeof(desc) };
	struct nnhal_hal_memory hal;

	diag_clear(diag);
	if (memory)
		*memory = NULL;
	if (!from || !memory) {
		diag_set(diag, "NULL pointer for source or result");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	hal = *from;
	hal.name[NNHAL_MEMORY_NAME_SIZE - 1] = '\0';
	while (desc.kind < ARRAY_SIZE(kinds) && strcmp(kinds[desc.kind].name, hal.name))
		desc.kind++;
	if (desc.kind == ARRAY_SIZE(kinds)) {
		diag_set(diag, "memory \"%s\": the HAL has no such kind", hal.name);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (hal.handle.num_fds != 1 || hal.handle.num_ints != kinds[desc.kind].num_ints) {
		diag_set(diag, "memory \"%s\": handle with %u descriptors and %u numbers, expected 1 and %u",
			 hal.name, hal.handle.num_fds, hal.handle.num_ints,
			 kinds[desc.kind].num_ints);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	desc.fd = hal.handle.data[0];
	desc.size = hal.size;
	if (desc.kind == NNHAL_MEMORY_MMAP_FD) {
		desc.access = (hal.handle.data[1] & PROT_READ ? NNHAL_MEMORY_READ : 0) |
			      (hal.handle.data[1] & PROT_WRITE ? NNHAL_MEMORY_WRITE : 0);
		desc.offset = (uint32_t)hal.handle.data[2] | (uint64_t)(uint32_t)hal.handle.data[3] << 32;
		if (!desc.access) {
			diag_set(diag, "memory \"mmap_fd\": protection %d allows no access",
				 hal.handle.data[1]);
			return NNHAL_STATUS_INVALID_ARGUMENT;
		}
	}
	return nnhal_memory_import(&desc, memory, diag);
}

enum nnhal_status nnhal_memory_to_hal(const struct nnhal_memory *memory,
				      struct nnhal_hal_memory *hal, struct nnhal_diag *diag)
{
	struct nnhal_hal_memory new = { .handle = { .num_fds = 1 } };
	enum nnhal_status status;

	diag_clear(diag);
	if (!memory || !hal) {
		diag_set(diag, "NULL pointer for source or result");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (memory->kind >= ARRAY_SIZE(kinds)) {
		diag_set(diag, "the HAL has no memory of kind %u", memory->kind);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	memcpy(new.name, kinds[memory->kind].name, strlen(kinds[memory->kind].name));
	new.size = memory->size;
	new.handle.num_ints = kinds[memory->kind].num_ints;
	if (memory->kind == NNHAL_MEMORY_MMAP_FD) {
		new.handle.data[1] = (memory->access & NNHAL_MEMORY_READ ? PROT_READ : 0) |
				     (memory->access & NNHAL_MEMORY_WRITE ? PROT_WRITE : 0);
		new.handle.data[2] = (int32_t)(uint32_t)memory->offset;
		new.handle.data[3] = (int32_t)(memory->offset >> 32);
	}
	status = duplicate(memory->fd, &new.handle.data[0], diag);
	if (!status)
		*hal = new;
	return status;
}
