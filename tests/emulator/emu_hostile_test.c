// SPDX-License-Identifier: MIT
/*
 * A process writes random values into the rings and doorbells of its own queue, at any time,
 * while the kernel suspends, resumes and resets that queue. The jobs of another client give
 * right results throughout, and the device carries out each command of the kernel.
 */
#include <endian.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "rig.h"
#include "tap.h"

/* The least that has to happen for the test to count. */
#define MUTATIONS	1000000u
#define SUSPENDED	1000u
#define REVIVED		50u
#define JOBS		200u
/* Enough for all of that on a slow machine. */
#define MAX_STEPS	1000000u

#define ENTRIES		16u
#define N		64u

/* Queue ids: the victim's, and those the attacker's queue moves between. */
#define VICTIM		1u
#define FIRST		3u
#define LAST		8u

static struct rig rig;
static atomic_uint attacked;		/* the attacker's queue */
static atomic_bool finished;

struct attacker {
	pthread_t thread;
	uint8_t *sq;
	uint8_t *cq;
	uint64_t random;
	unsigned int mutations;
};

static uint32_t next(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return (uint32_t)(*x >> 24);
}

static void scribble(uint8_t *p, uint8_t value)
{
	__atomic_store_n(p, value, __ATOMIC_RELAXED);
}

static void *attack(void *arg)
{
	struct attacker *a = arg;

	for (; a->mutations < MUTATIONS || !atomic_load(&finished); a->mutations++) {
		uint32_t r = next(&a->random), value = next(&a->random);
		unsigned int entry = value % ENTRIES * NNPU_SQE_SIZE;

		switch (r % 8) {
		case 0:
			/* An entry of the right kind, one byte of it bent below. */
			scribble(a->sq + entry, NNPU_IO_EXECUTE);
			scribble(a->sq + entry + 8, 1);
			break;
		case 1:
			scribble(a->cq + value % (ENTRIES * NNPU_CQE_SIZE), (uint8_t)(r >> 8));
			break;
		case 2:
		case 3:
		case 4:
			scribble(a->sq + entry + (r >> 8 & 63), r & 0x10000 ? 0 : (uint8_t)value);
			break;
		default:
			/* Mostly values that do not stop the queue. */
			nnpu_inproc_doorbell(rig.ip, atomic_load(&attacked), r >> 4 & 12,
					     r >> 8 & 31 ? value % ENTRIES : value);
			break;
		}
	}
	return NULL;
}

/* What the kernel does with that queue meanwhile. */
struct kernel {
	struct rig rig;			/* ids of its own */
	struct nnpu_queue_state *state;
	struct attacker *attacker;
	uint64_t random;
	unsigned int suspended;
	unsigned int revived;
	unsigned int strange;
};

static int suspend(struct kernel *k, unsigned int flags)
{
	struct nnpu_sqe_suspend_queue c = {
		.opcode = NNPU_ADMIN_SUSPEND_QUEUE,
		.flags = (uint8_t)flags,
		.qid = htole16(atomic_load(&attacked)),
		.state_addr = rig_addr(k->state),
	};

	return rig_admin(&rig, &c, NULL);
}

static int resume(struct kernel *k, unsigned int qid)
{
	struct nnpu_sqe_create_queue c = {
		.opcode = NNPU_ADMIN_CREATE_QUEUE,
		.flags = NNPU_QUEUE_ARMED_IRQ | NNPU_QUEUE_RESUME,
		.ctx = htole32(2),
		.qid = htole16(qid),
		.vector = htole16(qid),
		.sq_entries = htole32(ENTRIES),
		.cq_entries = htole32(ENTRIES),
		.priority = htole32(next(&k->random) % NNPU_QUEUE_PRIORITY_NUM),
		.sq_addr = rig_addr(k->attacker->sq),
		.cq_addr = rig_addr(k->attacker->cq),
		.state = *k->state,
	};

	return rig_admin(&rig, &c, NULL);
}

/* One step; statuses that the specification does not give here are strange. */
static void manage(struct kernel *k)
{
	unsigned int qid = atomic_load(&attacked);
	int status = suspend(k, next(&k->random) & NNPU_SUSPEND_IDLE);

	switch (status) {
	case NNPU_STATUS_SUCCESS:
		k->suspended++;
		qid = FIRST + next(&k->random) % (LAST - FIRST + 1);
		if (resume(k, qid))
			k->strange++;
		atomic_store(&attacked, qid);
		break;
	case NNPU_STATUS_NO_RESOURCES:
		k->revived += rig_queue_cmd(&rig, NNPU_ADMIN_RESET_QUEUE, (uint16_t)qid, 0) == 0;
		break;
	case NNPU_STATUS_BUSY:
		break;
	default:
		k->strange++;
		break;
	}
}

struct victim {
	pthread_t thread;
	struct job_rig j;
	struct rig rig;
	atomic_uint jobs;
	unsigned int good;
};

static void *work(void *arg)
{
	struct victim *v = arg;
	struct nnpu_sqe_execute sqe;
	struct nnpu_cqe cqe;

	while (!atomic_load(&finished)) {
		job_add_args(&v->j, N);
		job_sqe(&v->j, 1, &sqe);
		rig_push(&v->rig, v->j.q, (struct nnpu_sqe *)&sqe);
		rig_kick(&rig, v->j.q);
		atomic_fetch_add(&v->jobs, 1);
		v->good += rig_wait(&rig, v->j.q, &cqe) && !rig_status(&cqe) &&
			   job_add_ok(&v->j, N);
	}
	return NULL;
}

int main(void)
{
	static struct attacker a = { .random = 0x9e3779b97f4a7c15ull };
	static struct kernel k = { .random = 0xd1b54a32d192ed03ull, .attacker = &a };
	static struct victim v;
	struct nnpu_inproc_config config;
	struct job_rig own;
	struct image im;
	unsigned int i;

	rig_config(&config);
	config.props.num_engines = 2;
	rig_open(&rig, &config);
	rig_enable(&rig);
	k.state = rig_alloc(&rig, 4096);
	v.rig.next_cid = 1;
	image_add(&im, N);
	ok(job_rig_init(&v.j, &rig, 1, VICTIM) && !rig_load(&rig, 1, 1, im.bytes, im.size, NULL),
	   "a client with work to do");
	/* The attacker's jobs are good ones when nobody bends them. */
	ok(job_rig_init(&own, &rig, 2, 2) && !rig_load(&rig, 2, 1, im.bytes, im.size, NULL) &&
	   !rig_create_queue(&rig, FIRST, 2, NNPU_QUEUE_ARMED_IRQ, ENTRIES),
	   "a client with a queue of its own");
	job_add_args(&own, N);
	atomic_store(&attacked, FIRST);
	a.sq = (uint8_t *)rig.queues[FIRST].sq;
	a.cq = (uint8_t *)rig.queues[FIRST].cq;

	pthread_create(&v.thread, NULL, work, &v);
	pthread_create(&a.thread, NULL, attack, &a);
	for (i = 0; i < MAX_STEPS && !k.strange; i++) {
		manage(&k);
		if (k.suspended >= SUSPENDED && k.revived >= REVIVED && atomic_load(&v.jobs) >= JOBS)
			break;
	}
	atomic_store(&finished, true);
	pthread_join(a.thread, NULL);
	pthread_join(v.thread, NULL);
	tap_note("%u mutations, %u times suspended, %u times reset, %u jobs of the other",
		 a.mutations, k.suspended, k.revived, atomic_load(&v.jobs));
	ok(v.good == v.jobs && v.good >= JOBS, "jobs of the other client are right");
	ok(k.suspended >= SUSPENDED && k.revived >= REVIVED,
	   "the queue was suspended, stopped and reset");
	ok(!k.strange, "no status the specification does not give: %u", k.strange);
	ok(rig_read(&rig, NNPU_REG_STATUS) == NNPU_STATUS_REG_READY, "the device goes on");
	ok(rig_destroy_ctx(&rig, 2) == 0 && rig_destroy_ctx(&rig, 1) == 0 &&
	   rig_poll(&rig, NNPU_REG_MEM_USED_LO, ~0u, 0), "and lets go of everything");
	image_free(&im);
	rig_close(&rig);
	return tap_done();
}
