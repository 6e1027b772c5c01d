/* SPDX-License-Identifier: MIT */
/*
 * Interrupts. The first SIGINT or SIGTERM asks the tool to stop early and to keep its results;
 * the second one kills it.
 *
 * Only the file with main() includes this. It passes &stop to functions that wait or loop.
 */
#ifndef TOOLS_STOP_H
#define TOOLS_STOP_H

#include <signal.h>
#include <stddef.h>

/* Number of the signal that arrived, or 0. The exit status is then 128 + @stop. */
static volatile sig_atomic_t stop;

static inline void on_stop(int number)
{
	stop = number;
}

/*
 * Set the handlers. If SIGINT is ignored when the program starts, it stays ignored: a shell
 * starts background jobs in that way. System calls are not restarted; they fail with EINTR.
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
