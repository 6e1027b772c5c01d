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

static void make_page(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = MAP_FAILED;
	int fd;

	fd = memfd_create(NDK_COUNTERS_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd >= 0 && !ftruncate(fd, (off_t)size) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED) {
		counters = page;
		page_fd = fd;
	} else if (fd >= 0) {
		close(fd);
	}
	counters->magic = NDK_COUNTERS_MAGIC;
}

/* A child of fork() begins with counters of its own: in the page it would count for its parent. */
static void begin_child(void)
{
	if (page_fd >= 0) {
		munmap(counters, (size_t)sysconf(_SC_PAGESIZE));
		close(page_fd);
		page_fd = -1;
	}
	memset(&own, 0, sizeof(own));
	counters = &own;
	make_page();
}

static void make_counters(void)
{
	counters = &own;
	make_page();
	pthread_atfork(NULL, NULL, begin_child);
}

struct ndk_counters *ndk_counters(void)
{
	pthread_once(&once, make_counters);
	return counters;
}
