/* SPDX-License-Identifier: MIT */
/*
 * Copies within the process that the kernel makes.
 */
#ifndef NNHAL_KERNEL_COPY_H
#define NNHAL_KERNEL_COPY_H

#include <stddef.h>

/*
 * Copy @size bytes, which do not overlap, by the kernel: a page that cannot be had is an error, not a signal.
 * Either side may be memory of a device. 0 or -errno, after which a part may have been copied; -EFAULT: a
 * page is not there.
 */
int kernel_copy(void *to, const void *from, size_t size);

#endif /* NNHAL_KERNEL_COPY_H */
