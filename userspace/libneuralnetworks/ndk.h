/* SPDX-License-Identifier: MIT */
/*
 * What the files of libneuralnetworks share.
 */
#ifndef NDK_H
#define NDK_H

#include <android/NeuralNetworks.h>
#include <nnhal/nnhal.h>
#include <stdatomic.h>

struct ndk_role;

/**
 * struct ANeuralNetworksMemory - memory
 * @refs: the program's, and one for each execution that has it as an argument
 * @memory: what libnnhal has of it; NULL: a buffer of a device
 * @hardware_buffer: a reference, or NULL
 * @whole: can only be a whole argument: an AHardwareBuffer that is no BLOB, or memory of a descriptor
 * @buffer: of memory that a descriptor describes, if it is a device's
 * @token: names @buffer in requests
 * @roles: of memory of a descriptor
 * @num_roles: entries of @roles; 0: it has no descriptor
 * @content: enum ndk_content, of memory of a descriptor that is no device's
 * @writer: what writes the content, or has written it: never looked into
 * @rank: of memory of a descriptor: what the descriptor says of the shape; 0: nothing, or it is a scalar
 * @dimensions: of that shape; 0: not known, of memory of a device
 */
struct ANeuralNetworksMemory {
	atomic_uint refs;
	struct nnhal_memory *memory;
	AHardwareBuffer *hardware_buffer;
	bool whole;
	struct nnhal_buffer *buffer;
	uint32_t token;
	struct ndk_role *roles;
	uint32_t num_roles;
	atomic_int content;
	atomic_uintptr_t writer;
	uint32_t rank;
	uint32_t dimensions[NNHAL_MAX_RANK];
};

enum ndk_content {
	CONTENT_NONE,		/* nothing was written, or a writer has failed */
	CONTENT_COMES,		/* an execution writes it */
	CONTENT_THERE,
};

/* Memory of a descriptor that no single device has: libnnhal does not know that it may be without content. */
static inline bool ndk_memory_is_shared(const ANeuralNetworksMemory *memory)
{
	return memory->num_roles && !memory->buffer;
}

/* Result codes of the statuses of libnnhal. */
int ndk_result(enum nnhal_status status);

/*
 * The device, open, with a reference for the caller; NULL if it cannot be opened. A device that was
 * lost is opened anew.
 */
struct nnhal_device *ndk_device_open(const ANeuralNetworksDevice *device, int *result);

/*
 * A list of devices: UNEXPECTED_NULL: one of them is NULL; BAD_DATA: it is empty or names a device
 * twice.
 */
int ndk_check_devices(const ANeuralNetworksDevice *const *devices, uint32_t count);

/* Is this the device in the process that computes on the CPU? It is what is left when others fail. */
bool ndk_device_is_reference(const ANeuralNetworksDevice *device);

/*
 * For tests: another device in the process, listed before nnapi-reference as if it were hardware. @spec: of
 * libnnhal. NULL: it cannot be had.
 */
ANeuralNetworksDevice *ndk_device_add(const char *name, const char *spec);

/* All devices that are there, hardware first; the caller frees the list. */
int ndk_devices_by_preference(const ANeuralNetworksDevice ***devices, uint32_t *count);

/*
 * Which operations of a valid model a device supports: @supported has one entry for each operation of the
 * model that devices get. False: none, as the device fails. @result: OUT_OF_MEMORY or NO_ERROR.
 */
bool ndk_device_supports(const ANeuralNetworksDevice *device, const struct nnhal_model *model,
			 bool *supported, int *result);

/* Does a device that is there now have this extension? */
bool ndk_extension_exists(const char *name);

#endif /* NDK_H */
