// SPDX-License-Identifier: MIT
/*
 * Guards against children of fork().
 */
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fork_guard.h"

int fork_guard_init(struct fork_guard *guard)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *map = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err;

	guard->page = NULL;
	if (map == MAP_FAILED)
		return -errno;
	if (madvise(map, page, MADV_WIPEONFORK)) {
		err = -errno;
		munmap(map, page);
		return err;
	}
	guard->page = map;
	atomic_store_explicit(guard->page, 1, memory_order_relaxed);
	return 0;
}

void fork_guard_fini(struct fork_guard *guard)
{
	if (guard->page)
		munmap(guard->page, (size_t)sysconf(_SC_PAGESIZE));
	guard->page = NULL;
}
