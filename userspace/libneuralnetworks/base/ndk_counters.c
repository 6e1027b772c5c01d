// SPDX-License-Identifier: MIT
/*
 * The counters of the process, in memory that others can find.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/ndk_log.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct ndk_counters *counters;
/* For a process that has no descriptor left: it counts, and nobody sees it. */
static struct ndk_counters own;

static void make_counters(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = MAP_FAILED;
	int fd;

	counters = &own;
	/* The descriptor stays open: it is how others find the page. */
	fd = memfd_create(NDK_COUNTERS_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd >= 0 && !ftruncate(fd, (off_t)size) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED)
		counters = page;
	else if (fd >= 0)
		close(fd);
	counters->magic = NDK_COUNTERS_MAGIC;
}

struct ndk_counters *ndk_counters(void)
{
	pthread_once(&once, make_counters);
	return counters;
}
