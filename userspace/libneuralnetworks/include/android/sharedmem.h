/* SPDX-License-Identifier: MIT */
/*
 * ASharedMemory: memory that has a file descriptor, on Linux a memfd. The library of
 * <android/NeuralNetworks.h> has these functions.
 */
#ifndef ANDROID_SHARED_MEMORY_H
#define ANDROID_SHARED_MEMORY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/*
 * A descriptor of @size bytes, zeroed; @name, which may be NULL, is for those who look at the process.
 * -EINVAL if @size is 0; otherwise -1 and errno if it fails.
 */
int ASharedMemory_create(const char *name, size_t size);

/* The size in bytes; 0 if @fd is not such memory. */
size_t ASharedMemory_getSize(int fd);

/*
 * From now on the memory can only be mapped with @prot (PROT_*), which rights can be taken from but not
 * added to. Mappings that exist keep theirs. 0, or -1 and errno.
 */
int ASharedMemory_setProt(int fd, int prot);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* ANDROID_SHARED_MEMORY_H */
