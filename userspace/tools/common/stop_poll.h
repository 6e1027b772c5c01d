/* SPDX-License-Identifier: MIT */
/*
 * Waits that a signal ends, whenever it comes.
 */
#ifndef TOOLS_STOP_POLL_H
#define TOOLS_STOP_POLL_H

#include <poll.h>
#include <signal.h>

/*
 * ppoll(), or -1 with EINTR if a handler has set *@stop. A signal that comes after the look at *@stop
 * ends the wait, too.
 */
int poll_unless_stopped(struct pollfd *fds, nfds_t num, const struct timespec *timeout,
			const volatile sig_atomic_t *stop);

#endif /* TOOLS_STOP_POLL_H */
