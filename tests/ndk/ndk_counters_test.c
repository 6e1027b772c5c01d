// SPDX-License-Identifier: MIT
/*
 * Counters of a process and of its child: each has a page of its own, and one descriptor that leads to
 * it, by which nnctl finds it.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ndk_log.h"
#include "tap.h"

/* Descriptors of pages of counters, and the page of the last one. */
static unsigned int count_pages(ino_t *page)
{
	static const char name[] = "/memfd:" NDK_COUNTERS_NAME;
	char path[32], target[128];
	unsigned int n = 0;
	struct stat st;
	ssize_t length;
	int fd;

	for (fd = 0; fd < 1024; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		length = readlink(path, target, sizeof(target) - 1);
		if (length < (ssize_t)strlen(name) || strncmp(target, name, strlen(name)) ||
		    fstat(fd, &st))
			continue;
		*page = st.st_ino;
		n++;
	}
	return n;
}

/* What the page says that the descriptor leads to. */
static uint64_t runs_of(void)
{
	return atomic_load(&ndk_counters()->on_reference);
}

static int child(ino_t parents)
{
	ino_t page = parents;

	if (count_pages(&page) != 1 || page == parents)
		return 1;
	if (runs_of())
		return 2;
	ndk_count(&ndk_counters()->on_reference);
	if (runs_of() != 1 || ndk_counters()->magic != NDK_COUNTERS_MAGIC)
		return 3;
	return count_pages(&page) == 1 && page != parents ? 0 : 4;
}

static int run_child(ino_t page)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(child(page));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int main(void)
{
	ino_t page = 0;
	int step;

	ok(!count_pages(&page), "a process that has counted nothing has no page");
	ndk_count(&ndk_counters()->on_reference);
	ndk_count(&ndk_counters()->on_reference);
	ok(count_pages(&page) == 1 && runs_of() == 2, "one that has, has one");
	step = run_child(page);
	ok(!step, "a child begins with a page of its own and counts there (%d)", step);
	ok(runs_of() == 2, "and its parent counts on");
	return tap_done();
}
