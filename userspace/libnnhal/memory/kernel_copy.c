// SPDX-License-Identifier: MIT
/*
 * Copies within the process that the kernel makes.
 *
 * A system call of process_vm_readv(2) accesses one side as the process does, and takes hold of the pages of
 * the other side. Pages of a device (a mapping of a dma-buf, say) cannot be held.
 */
#include <errno.h>
#include <stdint.h>
#include <sys/uio.h>
#include <unistd.h>

#include "memory/kernel_copy.h"

/* What goes from a device to a device in a step. It is on the stack. */
#define PIECE	8192u

/* Take hold of the pages of @from. Bytes, or -1 with errno set. */
static ssize_t hold_from(void *to, const void *from, size_t size)
{
	struct iovec here = { .iov_base = to, .iov_len = size };
	struct iovec there = { .iov_base = (void *)(uintptr_t)from, .iov_len = size };

	return process_vm_readv(getpid(), &here, 1, &there, 1, 0);
}

/* The same of @to. */
static ssize_t hold_to(void *to, const void *from, size_t size)
{
	struct iovec here = { .iov_base = (void *)(uintptr_t)from, .iov_len = size };
	struct iovec there = { .iov_base = to, .iov_len = size };

	return process_vm_writev(getpid(), &here, 1, &there, 1, 0);
}

/* Of neither: by a piece that is held instead. */
static ssize_t hold_none(void *to, const void *from, size_t size)
{
	uint8_t piece[PIECE];
	ssize_t n = hold_to(piece, from, size < sizeof(piece) ? size : sizeof(piece));

	return n > 0 ? hold_from(to, piece, (size_t)n) : n;
}

int kernel_copy(void *to, const void *from, size_t size)
{
	size_t done = 0;

	while (done < size) {
		uint8_t *target = (uint8_t *)to + done;
		const uint8_t *source = (const uint8_t *)from + done;
		ssize_t n = hold_from(target, source, size - done);

		if (n < 0 && errno == EFAULT)
			n = hold_to(target, source, size - done);
		if (n < 0 && errno == EFAULT)
			n = hold_none(target, source, size - done);
		if (n <= 0)
			return n ? -errno : -EIO;
		done += (size_t)n;
	}
	return 0;
}
