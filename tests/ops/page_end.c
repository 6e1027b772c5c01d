// SPDX-License-Identifier: MIT
/*
 * Memory in front of a page that may not be touched.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "page_end.h"

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Of the pages that may be touched. */
static size_t page_bytes(size_t bytes)
{
	return (bytes + page_size() - 1) / page_size() * page_size();
}

void *page_end(size_t bytes)
{
	size_t size = page_bytes(bytes);
	char *p = mmap(NULL, size + page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p + size, page_size(), PROT_NONE))
		abort();
	return p + size - bytes;
}

void page_end_free(void *p, size_t bytes)
{
	size_t size = page_bytes(bytes);

	munmap((char *)p + bytes - size, size + page_size());
}
