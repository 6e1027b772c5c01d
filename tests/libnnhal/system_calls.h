/* SPDX-License-Identifier: MIT */
/*
 * System calls of the library, in programs that are linked with --wrap for them: __wrap_X is
 * called in place of X, __real_X is X.
 */
#ifndef NNHAL_TEST_SYSTEM_CALLS_H
#define NNHAL_TEST_SYSTEM_CALLS_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

struct statx;

int __real_ioctl(int fd, unsigned long request, ...);
int __real_open(const char *path, int flags, ...);
int __real_fcntl(int fd, int cmd, ...);
int __real_memfd_create(const char *name, unsigned int flags);
int __real_madvise(void *map, size_t size, int advice);
int __real_eventfd(unsigned int count, int flags);
int __real_poll(struct pollfd *fds, nfds_t count, int timeout);
int __real_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
	       const sigset_t *mask);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			  void *(*function)(void *), void *data);
void *__real_mmap(void *map, size_t size, int prot, int flags, int fd, off_t offset);
int __real_munmap(void *map, size_t size);
int __real_statx(int fd, const char *path, int flags, unsigned int mask, struct statx *st);
FILE *__real_fopen(const char *path, const char *how);

int __wrap_ioctl(int fd, unsigned long request, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_fcntl(int fd, int cmd, ...);
int __wrap_memfd_create(const char *name, unsigned int flags);
int __wrap_madvise(void *map, size_t size, int advice);
int __wrap_eventfd(unsigned int count, int flags);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout);
int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
	       const sigset_t *mask);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			  void *(*function)(void *), void *data);
void *__wrap_mmap(void *map, size_t size, int prot, int flags, int fd, off_t offset);
int __wrap_munmap(void *map, size_t size);
int __wrap_statx(int fd, const char *path, int flags, unsigned int mask, struct statx *st);
FILE *__wrap_fopen(const char *path, const char *how);

#endif /* NNHAL_TEST_SYSTEM_CALLS_H */
