// SPDX-License-Identifier: MIT
#include <signal.h>

#include "base/thread.h"

int thread_start(pthread_t *thread, void *(*function)(void *), void *data)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(thread, NULL, function, data);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -err;
}
