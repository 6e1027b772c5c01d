// SPDX-License-Identifier: MIT
/*
 * Reading from a pipe that gives nothing ends by a signal, whenever it comes: also just before the wait.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "userspace/tools/common/file.h"
#include "userspace/tools/common/stop.h"

/* Longer than the test: a wait that does not end fails by SIGALRM. */
#define SECONDS	120

int __real_ppoll(struct pollfd *fds, nfds_t num, const struct timespec *timeout, const sigset_t *mask);
int __wrap_ppoll(struct pollfd *fds, nfds_t num, const struct timespec *timeout, const sigset_t *mask);

static int signal_before;	/* between the look at @stop and the wait */

int __wrap_ppoll(struct pollfd *fds, nfds_t num, const struct timespec *timeout, const sigset_t *mask)
{
	if (signal_before)
		raise(signal_before);
	signal_before = 0;
	return __real_ppoll(fds, num, timeout, mask);
}

static void nothing(int number)
{
	(void)number;
}

/* Does read_full() of 4 bytes, of which 2 are there, end by the signal? */
static bool ends(int fd, int writer, int number)
{
	char data[4];
	int64_t n;

	stop = 0;
	stop_on_signals();
	if (write(writer, "ab", 2) != 2)
		return false;
	n = read_full(fd, data, sizeof(data), &stop);
	return n == -1 && errno == EINTR && stop == number;
}

int main(void)
{
	struct sigaction action = { .sa_handler = nothing };
	int fds[2];
	char data[4];

	alarm(SECONDS);
	sigaction(SIGUSR1, &action, NULL);
	if (pipe(fds))
		return 1;
	stop_on_signals();
	ok(write(fds[1], "abcd", 4) == 4 && read_full(fds[0], data, 4, &stop) == 4 && !memcmp(data, "abcd", 4),
	   "what is there is read");
	signal_before = SIGTERM;
	ok(ends(fds[0], fds[1], SIGTERM), "SIGTERM just before the wait ends it");
	signal_before = SIGINT;
	ok(ends(fds[0], fds[1], SIGINT), "and SIGINT does");
	stop = SIGTERM;
	ok(read_full(fds[0], data, 4, &stop) == -1 && errno == EINTR, "one that came before the call, too");
	stop = 0;
	signal_before = SIGUSR1;
	ok(write(fds[1], "efgh", 4) == 4 && read_full(fds[0], data, 4, &stop) == 4 && !memcmp(data, "efgh", 4),
	   "another signal does not");
	close(fds[1]);
	ok(read_full(fds[0], data, 4, &stop) == 0, "the end of the pipe");
	return tap_done();
}
