// SPDX-License-Identifier: MIT
/*
 * nnctl nnapi finds the counters of this process, and takes nothing else for them.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tap.h"
#include "userspace/libneuralnetworks/base/ndk_log.h"
#include "userspace/tools/nnctl/nnctl.h"

/* Nobody stops this program. */
bool nnctl_stopped(void)
{
	return false;
}

static char said[1 << 16];

static void ask(bool json)
{
	const struct options o = { .json = json };
	int fd = memfd_create("output", MFD_CLOEXEC), saved;
	ssize_t n;

	fflush(stdout);
	saved = dup(STDOUT_FILENO);
	dup2(fd, STDOUT_FILENO);
	nnctl_nnapi(&o);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	n = pread(fd, said, sizeof(said) - 1, 0);
	said[n > 0 ? n : 0] = '\0';
	close(fd);
}

int main(void)
{
	char mine[128], object[256];
	struct ndk_counters false_ones = { .magic = NDK_COUNTERS_MAGIC + 1 };
	int fd;

	prctl(PR_SET_NAME, "a\tname");
	snprintf(mine, sizeof(mine), "%8u  a?name", (unsigned int)getpid());
	/* Of the right name, but of another content, and too short. */
	fd = memfd_create(NDK_COUNTERS_NAME, MFD_CLOEXEC);
	ask(false);
	ok(!strstr(said, mine), "a memfd without content is not taken for counters");
	ok(write(fd, &false_ones, sizeof(false_ones)) == sizeof(false_ones), "other content");
	ask(false);
	ok(!strstr(said, mine), "nor is one with other content");
	for (int i = 0; i < 7; i++)
		ndk_count(&ndk_counters()->on_device);
	ndk_count(&ndk_counters()->in_steps);
	ndk_count(&ndk_counters()->on_reference);
	ndk_count(&ndk_counters()->on_reference);
	for (int i = 0; i < 3; i++)
		ndk_count(&ndk_counters()->reruns);
	ask(false);
	snprintf(mine, sizeof(mine), "%8u  %-16s %10d %10d %10d %8d %10d %8d\n",
		 (unsigned int)getpid(), "a?name", 7, 1, 2, 0, 0, 3);
	ok(strstr(said, mine) != NULL, "the numbers are there, and the name can be printed");
	ok(strstr(said, "fallbacks") != NULL, "they have headings");
	ask(true);
	snprintf(object, sizeof(object), "\"pid\": %u", (unsigned int)getpid());
	ok(strstr(said, object) && strstr(said, "\"reruns\": 3") && strstr(said, "\"hidden\":"),
	   "and as JSON");
	close(fd);
	return tap_done();
}
