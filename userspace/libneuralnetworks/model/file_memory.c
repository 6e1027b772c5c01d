// SPDX-License-Identifier: MIT
/*
 * Memory objects: parts of files.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "ndk.h"

int ANeuralNetworksMemory_createFromFd(size_t size, int protect, int fd, size_t offset,
				       ANeuralNetworksMemory **memory)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = NNHAL_MEMORY_MMAP_FD, .fd = fd,
		.size = size, .offset = offset,
	};
	ANeuralNetworksMemory *m;
	enum nnhal_status status;

	if (!memory)
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	if (fd < 0 || protect & ~(PROT_READ | PROT_WRITE))
		return ANEURALNETWORKS_BAD_DATA;
	if (protect & PROT_READ)
		desc.access |= NNHAL_MEMORY_READ;
	if (protect & PROT_WRITE)
		desc.access |= NNHAL_MEMORY_WRITE;
	/* Zero would mean "all that the descriptor allows" below. */
	if (!desc.access)
		return ANEURALNETWORKS_BAD_DATA;
	m = malloc(sizeof(*m));
	if (!m)
		return ANEURALNETWORKS_OUT_OF_MEMORY;
	status = nnhal_memory_import(&desc, &m->memory, NULL);
	if (status) {
		free(m);
		return ndk_result(status);
	}
	*memory = m;
	return ANEURALNETWORKS_NO_ERROR;
}

void ANeuralNetworksMemory_free(ANeuralNetworksMemory *memory)
{
	if (!memory)
		return;
	nnhal_memory_unref(memory->memory);
	free(memory);
}
