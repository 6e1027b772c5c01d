/* SPDX-License-Identifier: MIT */
/*
 * Threads of the library.
 */
#ifndef NNHAL_THREAD_H
#define NNHAL_THREAD_H

#include <pthread.h>

/* Start a thread that gets no signals: these are for the threads of the program. 0 or -errno. */
int thread_start(pthread_t *thread, void *(*function)(void *), void *data);

#endif /* NNHAL_THREAD_H */
