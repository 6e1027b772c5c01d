// SPDX-License-Identifier: MIT
/*
 * A kernel with larger pages. It refuses what begins within a page, which ends the test here, and
 * rounds what ends within one up.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host_pages.h"

uint32_t host_page = 65536;

int __wrap_getpagesize(void);
int __wrap_madvise(void *p, size_t bytes, int advice);
int __real_madvise(void *p, size_t bytes, int advice);
int __wrap_munmap(void *p, size_t bytes);
int __real_munmap(void *p, size_t bytes);
void *__wrap_mmap(void *p, size_t bytes, int prot, int flags, int fd, off_t offset);
void *__real_mmap(void *p, size_t bytes, int prot, int flags, int fd, off_t offset);

int __wrap_getpagesize(void)
{
	return (int)host_page;
}

static size_t round_up(size_t bytes)
{
	return (bytes + host_page - 1) / host_page * host_page;
}

static void check(const char *call, const void *p)
{
	if (!((uintptr_t)p % host_page))
		return;
	printf("Bail out! %s of %p: not a page of %u\n", call, p, host_page);
	abort();
}

int __wrap_madvise(void *p, size_t bytes, int advice)
{
	check("madvise", p);
	return __real_madvise(p, round_up(bytes), advice);
}

int __wrap_munmap(void *p, size_t bytes)
{
	check("munmap", p);
	return __real_munmap(p, round_up(bytes));
}

/* Maps more, and what is too much at both ends goes at once. */
void *__wrap_mmap(void *p, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	size_t before, size = round_up(bytes);
	uint8_t *map;

	if (fd >= 0 || p)
		return __real_mmap(p, bytes, prot, flags, fd, offset);
	map = __real_mmap(NULL, size + host_page, prot, flags, fd, offset);
	if (map == MAP_FAILED)
		return map;
	before = (host_page - (uintptr_t)map % host_page) % host_page;
	if (before)
		__real_munmap(map, before);
	__real_munmap(map + before + size, host_page - before);
	return map + before;
}
