// SPDX-License-Identifier: MIT
/*
 * The floor: what a system call and a wake-up of another process cost on this machine.
 */
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../common/clock.h"
#include "nnbench.h"

static void bench_syscall(struct bench *b)
{
	unsigned int i;

	for (i = 0; i < b->count; i++) {
		uint64_t start = now_ns();

		syscall(SYS_getppid);
		b->samples[i] = now_ns() - start;
	}
	metric_percentile(b, "syscall_ns", "system call", 50);
}

/* Two processes wake each other: the floor of any transport with a service process. */
static int bench_round_trip(struct bench *b)
{
	int there = eventfd(0, EFD_CLOEXEC), back = eventfd(0, EFD_CLOEXEC);
	uint64_t value = 1;
	unsigned int i;
	pid_t pid;

	if (there < 0 || back < 0)
		return failed("eventfd", NNHAL_STATUS_GENERAL_FAILURE, NULL);
	pid = fork();
	if (pid < 0)
		return failed("fork", NNHAL_STATUS_GENERAL_FAILURE, NULL);
	if (!pid) {
		while (read(there, &value, sizeof(value)) == sizeof(value) && value < 1000) {
			value = 1;
			if (write(back, &value, sizeof(value)) != sizeof(value))
				break;
		}
		_exit(0);
	}
	for (i = 0; i < b->count; i++) {
		uint64_t start = now_ns();

		value = 1;
		if (write(there, &value, sizeof(value)) != sizeof(value) ||
		    read(back, &value, sizeof(value)) != sizeof(value))
			break;
		b->samples[i] = now_ns() - start;
	}
	value = 1000;
	if (write(there, &value, sizeof(value)) != sizeof(value))
		i = 0;
	waitpid(pid, NULL, 0);
	close(there);
	close(back);
	if (i != b->count)
		return failed("round trip", NNHAL_STATUS_GENERAL_FAILURE, NULL);
	metric_percentile(b, "round_trip_ns", "wake-up round trip between two processes (eventfd)", 50);
	return 0;
}

/* One direction of the queue: a counter to sleep on, and a message beside it. */
struct futex_queue {
	atomic_uint sent;
	uint32_t message[16];
};

static void futex_send(struct futex_queue *q)
{
	q->message[0]++;
	atomic_fetch_add(&q->sent, 1);
	syscall(SYS_futex, &q->sent, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void futex_receive(struct futex_queue *q, unsigned int seen)
{
	while (atomic_load(&q->sent) == seen)
		syscall(SYS_futex, &q->sent, FUTEX_WAIT, seen, NULL, NULL, 0);
}

/*
 * A message queue in shared memory in each direction, with futexes as event flags; both sides
 * sleep at once. A burst that a service implements costs at least this.
 */
static int bench_message_queue(struct bench *b)
{
	struct futex_queue *q = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int i;
	pid_t pid;

	if (q == MAP_FAILED)
		return failed("mmap", NNHAL_STATUS_GENERAL_FAILURE, NULL);
	pid = fork();
	if (pid < 0)
		return failed("fork", NNHAL_STATUS_GENERAL_FAILURE, NULL);
	if (!pid) {
		for (i = 0; i < b->count; i++) {
			futex_receive(&q[0], i);
			futex_send(&q[1]);
		}
		_exit(0);
	}
	for (i = 0; i < b->count; i++) {
		uint64_t start = now_ns();

		futex_send(&q[0]);
		futex_receive(&q[1], i);
		b->samples[i] = now_ns() - start;
	}
	waitpid(pid, NULL, 0);
	munmap(q, 4096);
	metric_percentile(b, "message_queue_ns", "round trip over futex message queues", 50);
	return 0;
}

int bench_floor(struct bench *b)
{
	if (bench_round_trip(b) || bench_message_queue(b))
		return -1;
	bench_syscall(b);
	return 0;
}
