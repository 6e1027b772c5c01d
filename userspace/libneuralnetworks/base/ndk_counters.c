// SPDX-License-Identifier: MIT
/*
 * The counters of the process, in memory that others can find.
 */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/ndk_log.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct ndk_counters *counters;
/* For a process that has no descriptor left: it counts, and nobody sees it. */
static struct ndk_counters own;
/* It stays open: it is how others find the page. */
static int page_fd = -1;

/* A page that others can find, at @at if that is not NULL; MAP_FAILED without a descriptor or memory. */
static void *make_page(void *at)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = MAP_FAILED;
	int fd;

	fd = memfd_create(NDK_COUNTERS_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd >= 0 && !ftruncate(fd, (off_t)size) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		page = mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd,
			    0);
	if (page != MAP_FAILED)
		page_fd = fd;
	else if (fd >= 0)
		close(fd);
	return page;
}

/*
 * A child of fork() begins with counters of its own: in the page it would count for its parent. They are where
 * those of the parent were, since compilations point to them.
 */
static void begin_child(void)
{
	if (page_fd < 0) {
		memset(counters, 0, sizeof(*counters));
	} else {
		close(page_fd);
		page_fd = -1;
		if (make_page(counters) == MAP_FAILED &&
		    mmap(counters, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			return;
	}
	counters->magic = NDK_COUNTERS_MAGIC;
}

static void make_counters(void)
{
	void *page = make_page(NULL);

	counters = page == MAP_FAILED ? &own : page;
	counters->magic = NDK_COUNTERS_MAGIC;
	pthread_atfork(NULL, NULL, begin_child);
}

struct ndk_counters *ndk_counters(void)
{
	pthread_once(&once, make_counters);
	return counters;
}
