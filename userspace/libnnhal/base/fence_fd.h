/* SPDX-License-Identifier: MIT */
/*
 * Descriptors of fences: what has become of them.
 */
#ifndef NNHAL_FENCE_FD_H
#define NNHAL_FENCE_FD_H

#include <stdint.h>

/* Kinds of descriptors. */
#define FENCE_SYNC_FILE	(1u << 0)
#define FENCE_SOCKET	(1u << 1)	/* of nnhal_fence_create() */

struct fence_info {
	int status;		/* 0: active, 1: signalled, negative: its error */
	uint64_t time_ns;	/* CLOCK_MONOTONIC of the signal; 0: active, or not known */
};

/* 0; -EINVAL: no fence of these kinds; -errno. */
int fence_info_read(int fd, unsigned int kinds, struct fence_info *info);
/* A pair as of nnhal_fence_create(). 0 or -errno. */
int fence_socket_create(int *fence, int *signal);
/* @error: 0 or -errno. */
int fence_socket_signal(int signal, int error);

#endif /* NNHAL_FENCE_FD_H */
