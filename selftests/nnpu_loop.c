// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keep the device busy: jobs back to back, several in flight, every result
 * checked. The scripts run it, kill it and take the device from under it.
 *
 *   nnpu_loop [-d NODE] [-n JOBS] [-q] [-s] [-r FD]
 *   nnpu_loop -w
 *
 * -d is the device node (default: the first device), -n ends after so many jobs (default: never, but SIGUSR1
 * ends it well), -q submits through a user queue
 * instead of SUBMIT, -s mixes in slow convolutions, -r writes one byte to the
 * descriptor when the first job is done. -w only opens the device, waits for the end of
 * standard input, and says what it finds then: 3, or 0 for a device that works. Exit status: 0 done, 1 wrong result or
 * unexpected error, 3 the device went away, 4 there is none.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nnpu_test_queue.h"

#define IN_FLIGHT	16
#define WAIT_MS		120000

static volatile sig_atomic_t stop;

static void on_signal(int signal)
{
	stop = 1;
}

static int fail(const char *what, int error, const struct nnpu_job *job)
{
	/* What a device that is unbound or reset may answer. */
	if (error == -ENODEV || error == -ECANCELED)
		return 3;
	fprintf(stderr, "nnpu_loop: %s: %s, status %#x\n", what, strerror(-error),
		nnpu_job_result(job)->status);
	return 1;
}

static int wait_fence(int fd, struct nnpu_job *job)
{
	int ret = nnpu_job_wait(fd, job, WAIT_MS);

	if (!ret)
		ret = nnpu_syncobj_status(fd, job->syncobj);
	return ret < 0 ? ret : 0;
}

/* Jobs of a queue end in order. */
static int wait_queue(int fd, struct nnpu_uq *uq, uint16_t cid)
{
	struct nnpu_cqe cqe;
	uint32_t state;
	int ret = nnpu_uq_take(fd, uq, &cqe, WAIT_MS, &state);

	/* Reset or removal, and nothing else, ends a queue of ours. */
	if (ret == -ECANCELED && state != DRM_NNPU_QUEUE_STATE_LOST &&
	    state != DRM_NNPU_QUEUE_STATE_GONE)
		ret = -EPROTO;
	if (ret == -ECANCELED && !nnpu_uq_is_silent(uq)) {
		fprintf(stderr, "nnpu_loop: the device completes jobs of a queue that has ended\n");
		ret = -EBADFD;
	}
	if (!ret && (cqe.cid != cid || nnpu_cqe_status(&cqe)))
		ret = -EIO;
	return ret;
}

static void push(struct nnpu_uq *uq, struct nnpu_job *job, uint16_t cid)
{
	struct nnpu_sqe_execute sqe;

	nnpu_uq_job_sqe(job, cid, &sqe);
	nnpu_uq_push(uq, &sqe);
	nnpu_uq_ring(uq);
}

/* A file without context, opened before: does it notice that the device is gone? */
static int wait_and_look(int fd)
{
	struct drm_nnpu_context_info info = { 0 };
	uint32_t size = sizeof(info);
	struct nnpu_buf buf;
	int query, bind;
	char c;

	printf("ready\n");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	query = nnpu_query(fd, DRM_NNPU_QUERY_CONTEXT_INFO, &info, &size);
	bind = nnpu_buf_create(fd, &buf, 1, DRM_NNPU_SLOT_READ);
	if (!query && !(info.flags & DRM_NNPU_CONTEXT_LOST) && !bind)
		return 0;
	if (bind == -ENODEV && (query == -ENODEV || info.flags & DRM_NNPU_CONTEXT_LOST))
		return 3;
	fprintf(stderr, "nnpu_loop: context info %s, flags %#x; bind %s\n", strerror(-query),
		info.flags, strerror(-bind));
	return 1;
}

int main(int argc, char **argv)
{
	struct nnpu_job jobs[IN_FLIGHT];
	unsigned long count = 0, done = 0, submitted = 0;
	int opt, fd, ret, ready = -1;
	const char *node = NULL;
	bool slow = false, queue = false, look = false;
	struct nnpu_uq uq;
	unsigned int i;

	signal(SIGUSR1, on_signal);
	while ((opt = getopt(argc, argv, "d:n:qsr:w")) != -1) {
		switch (opt) {
		case 'd':
			node = optarg;
			break;
		case 'n':
			count = strtoul(optarg, NULL, 0);
			break;
		case 'q':
			queue = true;
			break;
		case 's':
			slow = true;
			break;
		case 'w':
			look = true;
			break;
		case 'r':
			ready = atoi(optarg);
			break;
		default:
			fprintf(stderr, "usage: %s [-d NODE] [-n JOBS] [-q] [-s] [-r FD]\n", argv[0]);
			return 2;
		}
	}

	fd = node ? nnpu_open_node(node) : nnpu_open();
	if (fd < 0) {
		fprintf(stderr, "nnpu_loop: no device: %s\n", strerror(-fd));
		return 4;
	}
	if (look)
		return wait_and_look(fd);
	for (i = 0; i < IN_FLIGHT; i++) {
		if (slow && i % 2 == 0)
			ret = nnpu_job_init_slow(fd, &jobs[i], 48);
		else
			ret = nnpu_job_init(fd, &jobs[i], 5000);
		if (ret)
			return ret == -ENODEV ? 3 : 1;
	}

	if (queue) {
		ret = nnpu_uq_create(fd, &uq, DRM_NNPU_PRIORITY_MEDIUM, 32, 32);
		if (ret)
			return fail("queue", ret, &jobs[0]);
	}

	while (!stop && (!count || done < count)) {
		struct nnpu_job *job = &jobs[submitted % IN_FLIGHT];

		if (submitted >= IN_FLIGHT) {
			ret = queue ? wait_queue(fd, &uq, (uint16_t)(submitted - IN_FLIGHT)) :
				      wait_fence(fd, job);
			if (ret)
				return fail("job", ret, job);
			if (!nnpu_job_correct(job, (uint32_t)(submitted - IN_FLIGHT)))
				return fail("wrong result", -EBADMSG, job);
			done++;
			if (done == 1 && ready >= 0 && write(ready, "r", 1) != 1)
				return 1;
		}
		nnpu_job_fill(job, (uint32_t)submitted);
		ret = 0;
		if (queue)
			push(&uq, job, (uint16_t)submitted);
		else
			ret = nnpu_job_submit(fd, job);
		if (ret)
			return fail("submit", ret, job);
		submitted++;
	}
	printf("nnpu_loop: %lu jobs ok\n", done);
	return 0;
}
