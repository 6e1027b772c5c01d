/* SPDX-License-Identifier: MIT */
/*
 * Files of a stranger: may this process read and write them without waiting for somebody?
 */
#ifndef NNHAL_FILE_ORIGIN_H
#define NNHAL_FILE_ORIGIN_H

#include <nnhal/types.h>

/*
 * NONE: it is in memory or on this machine, or a dma-buf; GENERAL_FAILURE: a process or a machine
 * elsewhere may serve it; INVALID_ARGUMENT: it is no file. Does not wait either.
 */
enum nnhal_status file_origin_check(int fd);

#endif /* NNHAL_FILE_ORIGIN_H */
