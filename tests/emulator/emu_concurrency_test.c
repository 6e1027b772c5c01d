// SPDX-License-Identifier: MIT
/*
 * Several engines, contexts and queues at once, each driven by a thread of its own,
 * while others read registers, ring wrong doorbells and invalidate slots.
 *
 * NNPU_EMU_JOBS  jobs per queue (default 300)
 */
#include <endian.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"
#include "tap.h"

#define WORKERS	4u
#define N	256u

static struct rig rig;
static unsigned int num_jobs = 300;
static atomic_bool finished;

struct worker {
	struct job_rig j;
	struct rig rig;			/* ids of its own */
	pthread_t thread;
	unsigned int good;
	unsigned int wakeups;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	struct nnpu_sqe_execute sqe;
	unsigned int i;

	for (i = 0; i < num_jobs; i++) {
		uint64_t seen = nnpu_inproc_irq_count(rig.ip, w->j.q->qid);
		struct nnpu_cqe cqe;

		job_add_args(&w->j, N);
		job_sqe(&w->j, 1, &sqe);
		rig_push(&w->rig, w->j.q, (struct nnpu_sqe *)&sqe);
		rig_kick(&rig, w->j.q);
		w->wakeups += nnpu_inproc_wait_irq(rig.ip, w->j.q->qid, seen, 60000000000ll) == 0;
		if (rig_peek(w->j.q, &cqe)) {
			rig_pop(&rig, w->j.q);
			w->good += !rig_status(&cqe) && job_add_ok(&w->j, N);
		}
	}
	return NULL;
}

/* What monitoring tools and hostile processes do meanwhile. */
static void *disturb(void *arg)
{
	uint32_t reg = 0;

	(void)arg;
	while (!atomic_load(&finished)) {
		rig_read(&rig, reg);
		reg = (reg + 4) % 0x1200;
		nnpu_inproc_doorbell(rig.ip, RIG_QUEUES, NNPU_DB_SQ_TAIL, reg);
		nnpu_inproc_register(rig.ip, &rig, 64, NNPU_INPROC_READ);
		nnpu_inproc_unregister(rig.ip, &rig, 64, NNPU_INPROC_READ);
	}
	return NULL;
}

int main(void)
{
	static struct worker workers[WORKERS];
	struct nnpu_inproc_config config;
	unsigned int i, good = 0, wakeups = 0, admin = 0, commands = 0;
	const char *number = getenv("NNPU_EMU_JOBS");
	pthread_t disturber;
	struct image im;

	if (number && atoi(number) > 0)
		num_jobs = (unsigned int)atoi(number);
	rig_config(&config);
	config.props.num_engines = 3;
	config.props.poll_ns = 20000;
	rig_open(&rig, &config);
	rig_enable(&rig);
	image_add(&im, N);
	for (i = 0; i < WORKERS; i++) {
		struct worker *w = &workers[i];

		w->rig.next_cid = 1;
		ok(job_rig_init(&w->j, &rig, i + 1, (uint16_t)(i + 1)) &&
		   !rig_load(&rig, i + 1, 1, im.bytes, im.size, NULL), "client %u", i);
	}
	pthread_create(&disturber, NULL, disturb, NULL);
	for (i = 0; i < WORKERS; i++)
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	/* Slots stay valid, so jobs only read them again. */
	for (i = 0; i < num_jobs * 2 / 3; i++) {
		admin += rig_invalidate(&rig, i % WORKERS + 1, 0, 16) == 0;
		admin += rig_load(&rig, i % WORKERS + 1, 2, im.bytes, im.size, NULL) == 0;
		admin += rig_unload(&rig, i % WORKERS + 1, 2) == 0;
		commands += 3;
	}
	for (i = 0; i < WORKERS; i++) {
		pthread_join(workers[i].thread, NULL);
		good += workers[i].good;
		wakeups += workers[i].wakeups;
	}
	atomic_store(&finished, true);
	pthread_join(disturber, NULL);
	ok(good == WORKERS * num_jobs, "%u of %u jobs right", good, WORKERS * num_jobs);
	ok(wakeups == WORKERS * num_jobs, "%u interrupts waited for", wakeups);
	ok(admin == commands, "%u admin commands meanwhile", commands);
	ok(rig_read64(&rig, NNPU_REG_JOBS_LO) == WORKERS * num_jobs, "JOBS");
	for (i = 0; i < WORKERS; i++)
		rig_destroy_ctx(&rig, i + 1);
	ok(rig_read64(&rig, NNPU_REG_MEM_USED_LO) == 0, "device memory is back");
	image_free(&im);
	rig_close(&rig);
	return tap_done();
}
