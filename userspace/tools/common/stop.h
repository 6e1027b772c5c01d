/* SPDX-License-Identifier: MIT */
/*
 * How a tool is interrupted: the first SIGINT or SIGTERM asks it to end at a point where
 * what it has done so far is of use, the second one kills it.
 *
 * For the file with main() only, which hands &stop to those who wait or loop.
 */
#ifndef TOOLS_STOP_H
#define TOOLS_STOP_H

#include <signal.h>
#include <stddef.h>

/* Number of the signal that came, 0 if none did. The exit status is 128 + @stop then. */
static volatile sig_atomic_t stop;

static inline void on_stop(int number)
{
	stop = number;
}

/*
 * Set the handlers. A SIGINT that is ignored when the program starts stays ignored: so a
 * shell starts its background jobs. System calls are not restarted, they fail with EINTR.
 */
static inline void stop_on_signals(void)
{
	struct sigaction action = { .sa_handler = on_stop, .sa_flags = SA_RESETHAND };
	struct sigaction old;

	sigemptyset(&action.sa_mask);
	if (sigaction(SIGINT, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

#endif /* TOOLS_STOP_H */
