// SPDX-License-Identifier: GPL-2.0-only
/*
 * The last close() of a queue's descriptor while something else ends the same queue. Both succeed,
 * and nothing is left of the queue. The debug kernel notices a use of freed memory.
 */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "nnpu_test_queue.h"

#define ROUNDS		60
#define WAIT_MS		120000
/* Turns of a loop: from nothing to some thousand, so that each side comes first at times. */
#define MAX_DELAY	20000

/* What ends the queue besides close() of the descriptor. */
enum party {
	QUEUE_DESTROY,
	CONTEXT_DESTROY,
	FILE_CLOSE,
	FUNCTION_RESET,
};

/* The thread of that party; it takes one turn after each pair of barriers. */
struct other {
	enum party party;
	pthread_barrier_t barrier;
	bool stop;
	int fd;
	uint32_t queue;
	unsigned int delay;
	int ret;
};

FIXTURE(userq_end)
{
	int fd;
	long contexts;
	long queues;
	struct other other;
	pthread_t thread;
	bool has_thread;
};

FIXTURE_VARIANT(userq_end)
{
	enum party party;
	unsigned int rounds;
};

FIXTURE_VARIANT_ADD(userq_end, queue_destroy)
{
	.party = QUEUE_DESTROY,
	.rounds = ROUNDS,
};

FIXTURE_VARIANT_ADD(userq_end, context_destroy)
{
	.party = CONTEXT_DESTROY,
	.rounds = ROUNDS,
};

FIXTURE_VARIANT_ADD(userq_end, file_close)
{
	.party = FILE_CLOSE,
	.rounds = ROUNDS,
};

FIXTURE_VARIANT_ADD(userq_end, function_reset)
{
	.party = FUNCTION_RESET,
	.rounds = ROUNDS / 10,
};

static void other_ends(struct other *o)
{
	struct drm_nnpu_queue_destroy destroy = { .queue = o->queue };
	volatile unsigned int turns = o->delay;

	while (turns)
		turns--;
	switch (o->party) {
	case QUEUE_DESTROY:
		o->ret = nnpu_ioctl(o->fd, DRM_IOCTL_NNPU_QUEUE_DESTROY, &destroy);
		break;
	case CONTEXT_DESTROY:
		o->ret = nnpu_context_destroy(o->fd, 0);
		break;
	case FILE_CLOSE:
		o->ret = close(o->fd);
		break;
	case FUNCTION_RESET:
		o->ret = nnpu_sysfs_write(o->fd, "reset", "1");
		break;
	}
}

static void *other_thread(void *arg)
{
	struct other *o = arg;

	for (;;) {
		pthread_barrier_wait(&o->barrier);
		if (o->stop)
			return NULL;
		other_ends(o);
		pthread_barrier_wait(&o->barrier);
	}
}

FIXTURE_SETUP(userq_end)
{
	struct nnpu_job job;
	struct nnpu_uq uq;
	int fd, ret;

	self->fd = nnpu_open();
	if (self->fd == -ENOENT && !nnpu_device_required())
		SKIP(return, "no device");
	ASSERT_LE(0, self->fd);
	self->contexts = nnpu_debugfs_value(self->fd, "objects", "contexts");
	self->queues = nnpu_debugfs_value(self->fd, "objects", "queues");
	ret = nnpu_uq_setup(&fd, &uq, &job);
	if (nnpu_uq_may_skip(ret))
		SKIP(return, "no device with user queues: %s", strerror(-ret));
	ASSERT_EQ(0, ret);
	nnpu_job_fini(fd, &job);
	nnpu_uq_destroy(fd, &uq);
	close(fd);
	if (variant->party == FUNCTION_RESET &&
	    nnpu_sysfs_write(self->fd, "reset_method", "flr") == -ENOENT)
		SKIP(return, "of PCI functions only");
	self->other = (struct other) { .party = variant->party };
	ASSERT_EQ(0, pthread_barrier_init(&self->other.barrier, NULL, 2));
	ASSERT_EQ(0, pthread_create(&self->thread, NULL, other_thread, &self->other));
	self->has_thread = true;
}

FIXTURE_TEARDOWN(userq_end)
{
	if (self->has_thread) {
		self->other.stop = true;
		pthread_barrier_wait(&self->other.barrier);
		pthread_join(self->thread, NULL);
		pthread_barrier_destroy(&self->other.barrier);
	}
	if (self->fd >= 0)
		close(self->fd);
}

TEST_F_TIMEOUT(userq_end, meets_last_close, 3600)
{
	struct other *o = &self->other;
	unsigned int i, j;

	for (i = 0; i < variant->rounds; i++) {
		struct nnpu_sqe_execute sqe;
		struct nnpu_job job;
		struct nnpu_uq uq;

		ASSERT_EQ(0, nnpu_uq_setup(&o->fd, &uq, &job));
		/* It has a hardware queue now, and work: its end waits for the device. */
		ASSERT_EQ(0, nnpu_uq_run(o->fd, &uq, &job, i));
		for (j = 1; j < 4; j++) {
			nnpu_uq_job_sqe(&job, (uint16_t)j, &sqe);
			nnpu_uq_push(&uq, &sqe);
		}
		nnpu_uq_ring(&uq);
		/* The mapping counts as an open descriptor. */
		munmap((void *)uq.db, uq.db_size);
		o->queue = uq.id;
		o->delay = i * (MAX_DELAY / ROUNDS);
		pthread_barrier_wait(&o->barrier);
		EXPECT_EQ(0, close(uq.fd));
		pthread_barrier_wait(&o->barrier);
		EXPECT_EQ(0, o->ret);
		/* The device may not write to the rings any more. */
		EXPECT_TRUE(nnpu_uq_is_silent(&uq));
		munmap(uq.ring, 2 * NNPU_PAGE_SIZE);
		munmap(job.buf.map, job.buf.size);
		if (variant->party != FILE_CLOSE)
			close(o->fd);
	}
	for (i = 0; i < 300 && nnpu_debugfs_value(self->fd, "objects", "contexts") != self->contexts;
	     i++)
		usleep(100000);
	EXPECT_EQ(self->contexts, nnpu_debugfs_value(self->fd, "objects", "contexts"));
	EXPECT_EQ(self->queues, nnpu_debugfs_value(self->fd, "objects", "queues"));
}

TEST_HARNESS_MAIN
