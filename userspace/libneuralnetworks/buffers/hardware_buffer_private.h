/* SPDX-License-Identifier: MIT */
/*
 * An AHardwareBuffer inside of the library.
 */
#ifndef NDK_HARDWARE_BUFFER_PRIVATE_H
#define NDK_HARDWARE_BUFFER_PRIVATE_H

#include <android/hardware_buffer.h>
#include <pthread.h>
#include <stdatomic.h>

/**
 * struct AHardwareBuffer - memory with a description
 * @refs: references
 * @desc: what it is, the stride included
 * @size: bytes that @desc takes
 * @fd: memfd of at least as many bytes, in whole pages
 * @lock: for the fields below
 * @num_locks: locks of the CPU
 * @bytes: mapping of @size bytes; NULL before the first lock
 */
struct AHardwareBuffer {
	atomic_uint refs;
	AHardwareBuffer_Desc desc;
	uint64_t size;
	int fd;
	pthread_mutex_t lock;
	unsigned int num_locks;
	void *bytes;
};

#endif /* NDK_HARDWARE_BUFFER_PRIVATE_H */
