// SPDX-License-Identifier: MIT
/*
 * Waits of nnctl end by a signal, also by one that comes just before the wait, and when nobody reads
 * the output any more.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "userspace/tools/nnctl/nnctl.h"

/* Longer than the test: a wait that does not end fails by SIGALRM. */
#define LONG	1e6
#define SECONDS	120

int __real_ppoll(struct pollfd *fds, nfds_t num, const struct timespec *timeout, const sigset_t *mask);
int __wrap_ppoll(struct pollfd *fds, nfds_t num, const struct timespec *timeout, const sigset_t *mask);

static int signal_before;	/* between the look at the signals and the wait */

int __wrap_ppoll(struct pollfd *fds, nfds_t num, const struct timespec *timeout, const sigset_t *mask)
{
	if (signal_before)
		raise(signal_before);
	return __real_ppoll(fds, num, timeout, mask);
}

/* A pipe that has something to read, or one that nobody reads. */
static int readable(void)
{
	int fds[2];

	if (pipe(fds) || write(fds[1], "x", 1) != 1)
		_exit(2);
	return fds[0];
}

static FILE *unread(void)
{
	int fds[2];

	if (pipe(fds))
		_exit(2);
	close(fds[0]);
	return fdopen(fds[1], "w");
}

static bool time_is_over(void)
{
	return !nnctl_wait(-1, NULL, 0.01) && !nnctl_stopped();
}

static bool something_to_read(void)
{
	return nnctl_wait(readable(), stdout, LONG) && !nnctl_stopped();
}

static bool signal_came(void)
{
	raise(SIGTERM);
	return nnctl_stopped() && !nnctl_wait(-1, NULL, LONG);
}

static bool signal_in_the_gap(void)
{
	signal_before = SIGINT;
	return !nnctl_wait(-1, NULL, LONG) && nnctl_stopped();
}

/* A stream of events does not hide it. */
static bool signal_beside_events(void)
{
	signal_before = SIGHUP;
	nnctl_wait(readable(), NULL, LONG);
	return nnctl_stopped();
}

static bool ignored_in_background(void)
{
	raise(SIGINT);
	signal_before = SIGINT;
	return !nnctl_wait(-1, NULL, 0.01) && !nnctl_stopped();
}

static bool no_reader_kills(void)
{
	nnctl_wait(-1, unread(), LONG);
	return false;
}

static bool no_reader_is_told(void)
{
	signal(SIGPIPE, SIG_IGN);
	nnctl_wait(-1, unread(), LONG);
	return nnctl_stopped() && nnctl_no_reader();
}

/* What happened is kept by the process: each has its own. */
static int in_child(bool (*function)(void))
{
	pid_t pid = fork();
	int status = -1;

	if (!pid) {
		alarm(SECONDS);
		signal(SIGPIPE, SIG_DFL);
		signal(SIGHUP, SIG_DFL);
		signal(SIGINT, function == ignored_in_background ? SIG_IGN : SIG_DFL);
		nnctl_catch_signals();
		_exit(!function());
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

int main(void)
{
	ok(!in_child(time_is_over), "a wait ends when it is time");
	ok(!in_child(something_to_read), "a wait ends when there is something to read");
	ok(!in_child(signal_came), "after a signal no wait begins");
	ok(!in_child(signal_in_the_gap), "a signal just before the wait ends it");
	ok(!in_child(signal_beside_events), "a signal is seen beside events");
	ok(!in_child(ignored_in_background), "SIGINT stays ignored");
	ok(WTERMSIG(in_child(no_reader_kills)) == SIGPIPE, "an output without a reader ends the program");
	ok(!in_child(no_reader_is_told), "with SIGPIPE ignored it ends the wait");
	return tap_done();
}
