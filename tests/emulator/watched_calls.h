/* SPDX-License-Identifier: MIT */
/*
 * Functions that tests link with --wrap, to see what the device calls.
 */
#ifndef TESTS_EMULATOR_WATCHED_CALLS_H
#define TESTS_EMULATOR_WATCHED_CALLS_H

#include <pthread.h>
#include <stddef.h>
#include <sys/types.h>

#include "core/device_model.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *p);
void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off);
int __real_munmap(void *p, size_t len);
void *__real_mremap(void *p, size_t old, size_t new, int flags);
int __real_madvise(void *p, size_t len, int advice);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*main)(void *),
			  void *arg);
int __real_pthread_mutex_lock(pthread_mutex_t *lock);
int __real_pthread_mutex_unlock(pthread_mutex_t *lock);
struct nnpu_device *__real_nnpu_device_create(const struct nnpu_device_props *props,
					      const struct nnpu_bus_ops *ops, void *bus,
					      char *error, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *p);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off);
int __wrap_munmap(void *p, size_t len);
void *__wrap_mremap(void *p, size_t old, size_t new, int flags);
int __wrap_madvise(void *p, size_t len, int advice);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*main)(void *),
			  void *arg);
int __wrap_pthread_mutex_lock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock);
struct nnpu_device *__wrap_nnpu_device_create(const struct nnpu_device_props *props,
					      const struct nnpu_bus_ops *ops, void *bus,
					      char *error, size_t size);

#endif /* TESTS_EMULATOR_WATCHED_CALLS_H */
