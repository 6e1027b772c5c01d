// SPDX-License-Identifier: MIT
/*
 * Waits that a signal ends, whenever it comes.
 */
#include <errno.h>

#include "stop_poll.h"

int poll_unless_stopped(struct pollfd *fds, nfds_t num, const struct timespec *timeout,
			const volatile sig_atomic_t *stop)
{
	sigset_t all, before;
	int ret = -1, error = EINTR;

	/* A signal that comes after the look is pending, and ends ppoll(). */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	if (!*stop) {
		ret = ppoll(fds, num, timeout, &before);
		error = errno;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return ret;
}
