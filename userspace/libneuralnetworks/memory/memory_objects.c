// SPDX-License-Identifier: MIT
/*
 * Memory objects: parts of files, AHardwareBuffers.
 */
#include <nnhal/buffer.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/ndk_why.h"
#include "buffers/hardware_buffer_private.h"
#include "memory/ndk_memory.h"

ANeuralNetworksMemory *ndk_memory_new(void)
{
	ANeuralNetworksMemory *memory = calloc(1, sizeof(*memory));

	if (memory)
		atomic_init(&memory->refs, 1);
	return memory;
}

/* Programs have constant pointers to memory that executions keep. */
ANeuralNetworksMemory *ndk_memory_ref(const ANeuralNetworksMemory *memory)
{
	ANeuralNetworksMemory *m = (ANeuralNetworksMemory *)memory;

	atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
	return m;
}

static int import(const struct nnhal_memory_desc *desc, ANeuralNetworksMemory **memory)
{
	ANeuralNetworksMemory *m = ndk_memory_new();
	enum nnhal_status status;
	struct nnhal_diag diag;

	if (!m)
		return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	status = nnhal_memory_import(desc, &m->memory, &diag);
	if (status) {
		free(m);
		return ndk_why_status(status, &diag, "the memory");
	}
	*memory = m;
	return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksMemory_createFromFd(size_t size, int protect, int fd, size_t offset,
				       ANeuralNetworksMemory **memory)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = NNHAL_MEMORY_MMAP_FD, .fd = fd,
		.size = size, .offset = offset,
	};

	if (!memory)
		return REFUSE_NULL(memory);
	*memory = NULL;
	if (fd < 0 || protect & ~(PROT_READ | PROT_WRITE))
		return REFUSE(ANEURALNETWORKS_BAD_DATA,
			      "descriptor %d, protection 0x%x: expected PROT_READ or PROT_WRITE", fd,
			      (unsigned int)protect);
	if (protect & PROT_READ)
		desc.access |= NNHAL_MEMORY_READ;
	if (protect & PROT_WRITE)
		desc.access |= NNHAL_MEMORY_WRITE;
	/* Zero would mean "all that the descriptor allows" below. */
	if (!desc.access)
		return REFUSE(ANEURALNETWORKS_BAD_DATA, "protection 0x%x: expected PROT_READ or PROT_WRITE",
			      (unsigned int)protect);
	return TELL(import(&desc, memory));
}

int ANeuralNetworksMemory_createFromAHardwareBuffer(const AHardwareBuffer *ahwb,
						    ANeuralNetworksMemory **memory)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = NNHAL_MEMORY_MMAP_FD,
		.access = NNHAL_MEMORY_READ | NNHAL_MEMORY_WRITE,
	};
	ANeuralNetworksMemory *m;
	int result;

	if (!memory)
		return REFUSE_NULL(memory);
	*memory = NULL;
	if (!ahwb)
		return REFUSE_NULL(ahwb);
	desc.fd = ahwb->fd;
	desc.size = ahwb->size;
	result = import(&desc, &m);
	if (result)
		return TELL(result);
	m->hardware_buffer = (AHardwareBuffer *)ahwb;
	AHardwareBuffer_acquire(m->hardware_buffer);
	m->whole = ahwb->desc.format != AHARDWAREBUFFER_FORMAT_BLOB;
	*memory = m;
	return ANEURALNETWORKS_NO_ERROR;
}

void ANeuralNetworksMemory_free(ANeuralNetworksMemory *memory)
{
	if (!memory || atomic_fetch_sub_explicit(&memory->refs, 1, memory_order_acq_rel) != 1)
		return;
	nnhal_memory_unref(memory->memory);
	nnhal_buffer_unref(memory->buffer);
	AHardwareBuffer_release(memory->hardware_buffer);
	ndk_roles_free(memory->roles, memory->num_roles);
	free(memory);
}
