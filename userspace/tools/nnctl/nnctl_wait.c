// SPDX-License-Identifier: MIT
/*
 * What ends a command early: a signal, or an output that nobody reads.
 */
#include <math.h>
#include <signal.h>
#include <time.h>

#include "../common/stop_poll.h"
#include "nnctl.h"

static volatile sig_atomic_t stopped;
static bool no_reader;

static void on_signal(int number)
{
	(void)number;
	stopped = 1;
}

void nnctl_catch_signals(void)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP };
	/* No SA_RESTART: what blocks ends. */
	struct sigaction action = { .sa_handler = on_signal }, before;
	unsigned int i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		/* A shell ignores SIGINT for jobs in the background, nohup SIGHUP. */
		if (numbers[i] != SIGTERM && (sigaction(numbers[i], NULL, &before) ||
					      before.sa_handler == SIG_IGN))
			continue;
		sigaction(numbers[i], &action, NULL);
	}
}

bool nnctl_stopped(void)
{
	return stopped || no_reader || ferror(stdout);
}

bool nnctl_no_reader(void)
{
	return no_reader;
}

bool nnctl_wait(int fd, FILE *out, double seconds)
{
	struct pollfd pfds[] = {
		{ .fd = fd, .events = POLLIN },
		/* No event is asked for. A pipe without a reader has an error. */
		{ .fd = out ? fileno(out) : -1 },
	};
	struct timespec ts = {
		.tv_sec = (time_t)seconds,
		.tv_nsec = (long)((seconds - floor(seconds)) * 1e9),
	};

	if (nnctl_stopped() || poll_unless_stopped(pfds, 2, &ts, &stopped) <= 0)
		return false;
	if (pfds[1].revents) {
		/* As a write would; it ends the program unless SIGPIPE is ignored. */
		raise(SIGPIPE);
		no_reader = true;
	}
	return pfds[0].revents;
}
