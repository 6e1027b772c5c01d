// SPDX-License-Identifier: MIT
/*
 * Does ThreadSanitizer see what the other programs are run for? A copy of this program
 * with a planted race, and one with two locks in opposite orders, must be reported and
 * end with its exit status; one that keeps to the order must not.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

/* What ThreadSanitizer ends a program with that it has reported something of. */
#define REPORTED	66

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static volatile int shared;

/* Two accesses at the very same time may hide each other from ThreadSanitizer, but not so many. */
#define COUNT		1000

static void *count_without_lock(void *data)
{
	(void)data;
	for (int i = 0; i < COUNT; i++)
		shared++;
	return NULL;
}

static void *count_with_lock(void *data)
{
	(void)data;
	for (int i = 0; i < COUNT; i++) {
		pthread_mutex_lock(&a);
		shared++;
		pthread_mutex_unlock(&a);
	}
	return NULL;
}

static void lock_both(pthread_mutex_t *first, pthread_mutex_t *second)
{
	pthread_mutex_lock(first);
	pthread_mutex_lock(second);
	pthread_mutex_unlock(second);
	pthread_mutex_unlock(first);
}

static int count_twice(void *(*function)(void *))
{
	pthread_t threads[2];
	int i;

	for (i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, function, NULL))
			return 1;
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return shared == 2 * COUNT ? 0 : 1;
}

static int misbehave(const char *how)
{
	if (!strcmp(how, "race"))
		return count_twice(count_without_lock);
	if (!strcmp(how, "deadlock")) {
		lock_both(&a, &b);
		lock_both(&b, &a);
		return 0;
	}
	return count_twice(count_with_lock);
}

/* Run a copy of this program; its exit status, and what it said. */
static int run_copy(const char *how, char *said, size_t size)
{
	int fds[2], status = -1;
	size_t used = 0;
	ssize_t n;
	pid_t pid;

	if (pipe(fds))
		return -1;
	pid = fork();
	if (!pid) {
		dup2(fds[1], STDERR_FILENO);
		close(fds[0]);
		close(fds[1]);
		execl("/proc/self/exe", "tsan_test", how, (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	while (used < size - 1 && (n = read(fds[0], said + used, size - 1 - used)) > 0)
		used += (size_t)n;
	said[used] = '\0';
	close(fds[0]);
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status)
	       ? WEXITSTATUS(status) : -1;
}

int main(int argc, char **argv)
{
	static char said[1 << 16];

	if (argc > 1)
		return misbehave(argv[1]);
	ok(run_copy("race", said, sizeof(said)) == REPORTED && strstr(said, "data race"),
	   "a data race is reported");
	ok(run_copy("deadlock", said, sizeof(said)) == REPORTED &&
	   strstr(said, "lock-order-inversion"), "locks in opposite orders are reported");
	ok(!run_copy("order", said, sizeof(said)) && !said[0], "threads that take a lock are not");
	return tap_done();
}
