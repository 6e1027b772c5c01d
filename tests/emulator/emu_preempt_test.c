// SPDX-License-Identifier: MIT
/*
 * Jobs that give way: no client's job keeps the engine from another client. Jobs that use up
 * the engine time that their context allows.
 */
#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "sample_images.h"
#include "tap.h"
#include "watched_calls.h"

#define N	64u

/* ROI_ALIGN with so many sampling points never ends; with fewer it takes a while. */
#define ENDLESS	(1 << 20)
#if defined(__SANITIZE_THREAD__)
#define LONG	1024
#elif defined(__SANITIZE_ADDRESS__)
#define LONG	2048
#else
#define LONG	4096
#endif

enum { ADD = 1, ROI = 2 };

enum { SHARED = 1, OWN_A = 2, OWN_B = 3 };

static struct rig rig;
static struct job_rig a, b;

/* So many more threads can be made. */
static atomic_int threads_left = INT_MAX;

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*main)(void *),
			  void *arg)
{
	if (!atomic_load(&threads_left))
		return EAGAIN;
	atomic_fetch_sub(&threads_left, 1);
	return __real_pthread_create(thread, attr, main, arg);
}

static int load_roi(uint32_t ctx, int32_t points)
{
	struct image im;
	int status;

	image_roi(&im, points);
	status = rig_load(&rig, ctx, ROI, im.bytes, im.size, NULL);
	image_free(&im);
	return status;
}

static int load_add(uint32_t ctx)
{
	struct image im;
	int status;

	image_add(&im, N);
	status = rig_load(&rig, ctx, ADD, im.bytes, im.size, NULL);
	image_free(&im);
	return status;
}

/* A device with one engine, contexts 1 and 2, and three queues. Context 1 has a limit, 2 a weight. */
static void open_limited(int32_t points, uint64_t limit_ns, uint16_t weight)
{
	struct nnpu_inproc_config config;

	rig_config(&config);
	config.props.num_engines = 1;
	rig_open(&rig, &config);
	rig_enable(&rig);
	rig.ctx_attrs.time_limit_ns = htole64(limit_ns);
	if (!job_rig_init(&a, &rig, 1, SHARED))
		a.rig = NULL;
	rig.ctx_attrs.time_limit_ns = 0;
	rig.ctx_attrs.weight = htole16(NNPU_CTX_WEIGHT_DEFAULT * weight);
	if (!a.rig || !job_rig_init(&b, &rig, 2, RIG_QUEUES) ||
	    rig_create_queue(&rig, OWN_A, 1, 0, 16) || rig_create_queue(&rig, OWN_B, 2, 0, 16) ||
	    load_add(1) || load_add(2) || load_roi(1, points)) {
		printf("Bail out! the device does not start\n");
		exit(1);
	}
}

static void open_device(int32_t points)
{
	open_limited(points, 0, 1);
}

/* A job of @j on queue @qid; the command id. */
static uint16_t submit(struct job_rig *j, unsigned int qid, uint32_t program)
{
	struct rig_queue *q = &rig.queues[qid];
	struct nnpu_sqe_execute sqe;
	uint16_t cid;

	job_sqe(j, program, &sqe);
	if (qid == OWN_A || qid == OWN_B)
		sqe.ctx = 0;
	cid = rig_push(&rig, q, (struct nnpu_sqe *)&sqe);
	rig_kick(&rig, q);
	return cid;
}

static uint16_t submit_roi(unsigned int qid)
{
	struct nnpu_arg *args = job_args(&a, 1, 1);

	job_arg(&args[0], 1, 0, 16);
	job_arg(&args[1], 1, 64, 4);
	memset(a.operands, 0, 256);
	memcpy(a.operands, (float[]){ 1, 2, 3, 5 }, 16);
	return submit(&a, qid, ROI);
}

static uint16_t submit_add(unsigned int qid)
{
	job_add_args(&b, N);
	return submit(&b, qid, ADD);
}

/* The next completion is of @cid with this status. */
static bool completes(unsigned int qid, uint16_t cid, unsigned int status)
{
	struct nnpu_cqe cqe;

	if (!rig_wait(&rig, &rig.queues[qid], &cqe))
		return false;
	if (le16toh(cqe.cid) == cid && rig_status(&cqe) == status)
		return true;
	tap_note("completion of %u, status %u", le16toh(cqe.cid), rig_status(&cqe));
	return false;
}

static uint32_t qreg(unsigned int qid, uint32_t reg)
{
	return rig_read(&rig, NNPU_QREG_BASE + qid * NNPU_QREG_STRIDE + reg);
}

static bool current_is(unsigned int qid, uint16_t cid)
{
	return rig_poll(&rig, NNPU_QREG_BASE + qid * NNPU_QREG_STRIDE + NNPU_QREG_CURRENT,
			UINT32_MAX, NNPU_QREG_CURRENT_RUNNING | cid);
}

static int abort_job(unsigned int qid, uint16_t cid, uint64_t *found)
{
	struct nnpu_sqe_queue sqe = {
		.opcode = NNPU_ADMIN_ABORT, .qid = htole16(qid), .target_cid = htole16(cid),
	};
	struct nnpu_cqe cqe;
	int status = rig_admin(&rig, &sqe, &cqe);

	*found = le64toh(cqe.result);
	return status;
}

/* The other client's job is done while an endless one runs, whatever queues they use. */
static void test_ways(void)
{
	static const struct {
		unsigned int roi, add;
		const char *name;
	} ways[] = {
		{ SHARED, SHARED, "both in the kernel queue" },
		{ SHARED, OWN_B, "endless in the kernel queue" },
		{ OWN_A, SHARED, "endless in a queue of its context" },
		{ OWN_A, OWN_B, "each in a queue of its context" },
	};

	for (unsigned int i = 0; i < 4; i++) {
		uint32_t progress;
		uint64_t found;
		bool good = true;
		uint16_t roi;

		open_device(ENDLESS);
		roi = submit_roi(ways[i].roi);
		good = current_is(ways[i].roi, roi);
		for (int k = 0; good && k < 20; k++)
			good = completes(ways[i].add, submit_add(ways[i].add), 0) &&
			       job_add_ok(&b, N);
		ok(good, "%s: 20 jobs of another client", ways[i].name);
		ok(current_is(ways[i].roi, roi), "the endless job goes on");
		progress = qreg(ways[i].roi, NNPU_QREG_PROGRESS);
		ok(completes(ways[i].add, submit_add(ways[i].add), 0) &&
		   current_is(ways[i].roi, roi) &&
		   qreg(ways[i].roi, NNPU_QREG_PROGRESS) != progress, "and counts progress");
		ok(!abort_job(ways[i].roi, roi, &found) && found == 1 &&
		   completes(ways[i].roi, roi, NNPU_STATUS_ABORTED) &&
		   le16toh(job_result(&a)->status) == NNPU_STATUS_ABORTED, "until it is aborted");
		ok(completes(ways[i].add, submit_add(ways[i].add), 0) && job_add_ok(&b, N),
		   "the device works");
		rig_close(&rig);
	}
}

/* Two endless jobs: one has given way at any time. */
static void test_aborts(void)
{
	uint16_t first, second, waiting;
	uint64_t found;

	open_device(ENDLESS);
	ok(!load_roi(2, ENDLESS), "an endless program for the other client");
	first = submit_roi(OWN_A);
	memcpy(b.block, a.block, 256);
	memcpy(b.operands, a.operands, 256);
	second = submit(&b, SHARED, ROI);
	waiting = submit(&b, SHARED, ROI);
	ok(current_is(SHARED, second) && current_is(OWN_A, first) && current_is(SHARED, second),
	   "they take turns");
	ok(qreg(OWN_A, NNPU_QREG_STATE) == NNPU_QSTATE_RUNNING &&
	   qreg(SHARED, NNPU_QREG_STATE) == NNPU_QSTATE_RUNNING, "both queues are RUNNING");
	ok(!abort_job(SHARED, waiting, &found) && found == 1 &&
	   completes(SHARED, waiting, NNPU_STATUS_ABORTED), "abort of one that has not begun");
	ok(!abort_job(SHARED, waiting, &found) && !found, "it has gone");
	ok(!abort_job(SHARED, second, &found) && found == 1 &&
	   completes(SHARED, second, NNPU_STATUS_ABORTED), "abort of the second");
	second = submit(&b, SHARED, ROI);
	ok(current_is(SHARED, second) && current_is(OWN_A, first), "another one");
	ok(!rig_queue_cmd(&rig, NNPU_ADMIN_RESET_QUEUE, SHARED, 0), "RESET_QUEUE");
	memset(rig.queues[SHARED].cq, 0, 16 * sizeof(struct nnpu_cqe));
	rig_queue_rewind(&rig.queues[SHARED]);
	ok(qreg(SHARED, NNPU_QREG_STATE) == NNPU_QSTATE_IDLE && current_is(OWN_A, first),
	   "the first one is still there");
	second = submit(&b, SHARED, ROI);
	waiting = submit(&b, SHARED, ROI);
	ok(current_is(SHARED, second) && current_is(OWN_A, first), "a job in the queue again");
	ok(!rig_destroy_ctx(&rig, 2) && completes(SHARED, waiting, NNPU_STATUS_INVALID_CTX) &&
	   completes(SHARED, second, NNPU_STATUS_ABORTED), "DESTROY_CTX ends its jobs");
	ok(current_is(OWN_A, first), "and no others");
	ok(rig_reset(&rig), "a reset ends what has given way");
	rig_close(&rig);
}

/* A flood in the kernel queue does not stand before another client's job. */
static void test_flood(void)
{
	struct rig_queue *q = &rig.queues[SHARED];
	struct nnpu_cqe cqe;
	unsigned int before = 0;
	uint16_t add = 0;

	open_device(LONG);
	submit_roi(SHARED);
	for (int i = 0; i < 12; i++)
		submit(&a, SHARED, ROI);
	add = submit_add(SHARED);
	while (rig_wait(&rig, q, &cqe) && le16toh(cqe.cid) != add)
		before++;
	ok(le16toh(cqe.cid) == add && !rig_status(&cqe) && job_add_ok(&b, N) && before <= 2,
	   "%u of 13 jobs came before it", before);
	for (; before < 13 && rig_wait(&rig, q, &cqe) && !rig_status(&cqe); before++)
		;
	ok(before == 13, "all the others come after it");
	rig_close(&rig);
}

/* An endless job of high priority leaves turns to one of low priority that has not begun. */
static void test_low_beside_high(void)
{
	struct nnpu_sqe_execute sqe;
	struct nnpu_arg *args;
	uint16_t high, low;

	open_device(ENDLESS);
	args = job_args(&a, 1, 1);
	job_arg(&args[0], 1, 0, 16);
	job_arg(&args[1], 1, 64, 4);
	job_sqe(&a, ROI, &sqe);
	sqe.flags |= NNPU_QUEUE_PRIORITY_HIGH << NNPU_EXEC_PRIORITY_SHIFT;
	high = rig_push(&rig, &rig.queues[SHARED], (struct nnpu_sqe *)&sqe);
	rig_kick(&rig, &rig.queues[SHARED]);
	ok(current_is(SHARED, high), "an endless job of high priority");
	/* Refused when it begins, which is all that matters here: it takes the arguments of the other. */
	sqe.program = htole32(ADD);
	sqe.flags = (uint8_t)(sqe.flags & ~NNPU_EXEC_PRIORITY) |
		    NNPU_QUEUE_PRIORITY_LOW << NNPU_EXEC_PRIORITY_SHIFT;
	low = rig_push(&rig, &rig.queues[SHARED], (struct nnpu_sqe *)&sqe);
	rig_kick(&rig, &rig.queues[SHARED]);
	ok(completes(SHARED, low, NNPU_STATUS_ARG_COUNT), "one of low priority has a turn");
	rig_close(&rig);
}

/* The job of a queue goes on: it counts @more progress. False: not within 20 s. */
static bool goes_on(unsigned int qid, uint32_t more)
{
	uint32_t before = qreg(qid, NNPU_QREG_PROGRESS);
	unsigned int i;

	for (i = 0; i < 20000 && qreg(qid, NNPU_QREG_PROGRESS) - before < more; i++)
		usleep(1000);
	return i < 20000;
}

/* No worker can be made for a job that has not begun: those that have begun take turns without it. */
static void test_no_worker(void)
{
	uint16_t first, second, third;
	struct nnpu_cqe cqe;
	bool turns = true;
	uint64_t found;

	open_device(ENDLESS);
	ok(!load_roi(2, ENDLESS), "an endless program for the other client");
	atomic_store(&threads_left, 1);
	first = submit_roi(OWN_A);
	memcpy(b.block, a.block, 256);
	memcpy(b.operands, a.operands, 256);
	second = submit(&b, SHARED, ROI);
	ok(current_is(SHARED, second) && goes_on(SHARED, 16) && current_is(OWN_A, first) &&
	   !atomic_load(&threads_left), "two jobs, for which there is a worker each");
	third = submit_add(OWN_B);
	for (unsigned int i = 0; turns && i < 20; i++)
		turns = goes_on(OWN_A, 16) && goes_on(SHARED, 16);
	ok(turns, "beside a third one, for which none can be made, they take turns");
	ok(!rig_peek(&rig.queues[OWN_B], &cqe), "it waits");
	ok(!abort_job(OWN_A, first, &found) && found == 1 &&
	   completes(OWN_A, first, NNPU_STATUS_ABORTED), "one of them ends");
	ok(completes(OWN_B, third, 0) && job_add_ok(&b, N), "its worker runs the third");
	ok(current_is(SHARED, second) && goes_on(SHARED, 16), "the second goes on");
	atomic_store(&threads_left, INT_MAX);
	rig_close(&rig);
}

/* Who was alone has not to pay for that when another one comes. */
static void test_newcomer(void)
{
	uint32_t before, after, waits;
	uint16_t first;

	open_device(ENDLESS);
	ok(!load_roi(2, ENDLESS), "an endless job for the other client");
	first = submit_roi(OWN_A);
	ok(current_is(OWN_A, first), "one that is alone");
	usleep(500000);
	memcpy(b.block, a.block, 256);
	memcpy(b.operands, a.operands, 256);
	before = qreg(OWN_A, NNPU_QREG_BUSY);
	submit(&b, OWN_B, ROI);
	/* By the time of the newcomer, not of a clock: a busy machine gives both little. */
	for (waits = 0; qreg(OWN_B, NNPU_QREG_BUSY) < 150000 && waits < 30000; waits++)
		usleep(1000);
	after = qreg(OWN_A, NNPU_QREG_BUSY);
	/* BUSY is charged at the first point beside another one: what it had alone comes with it. */
	ok(waits < 30000 && after - before >= 500000 + 60000,
	   "it goes on beside the newcomer: %u us", after - before);
	rig_close(&rig);
}

/* A busy machine takes the processor away from a job, and from this thread, as well. */
#define TRIES	5

/*
 * Jobs of another client that run while the job in queue @qid does. None, if this thread loses its CPU
 * for as long as that job takes.
 */
static unsigned int run_beside(unsigned int qid)
{
	unsigned int rounds = 0;
	struct nnpu_cqe cqe;

	while (!rig_peek(&rig.queues[qid], &cqe) && completes(OWN_B, submit_add(OWN_B), 0))
		rounds++;
	return rounds;
}

/* A job that gives way many times has the same result. */
static void test_result(void)
{
	unsigned int i, rounds = 0;
	uint32_t alone, result = 0;
	bool good = true;
	uint16_t roi;

	open_device(LONG);
	roi = submit_roi(OWN_A);
	ok(completes(OWN_A, roi, 0), "alone");
	memcpy(&alone, a.operands + 64, 4);
	for (i = 0; i < TRIES && !rounds && good; i++) {
		roi = submit_roi(OWN_A);
		rounds = run_beside(OWN_A);
		good = completes(OWN_A, roi, 0);
		memcpy(&result, a.operands + 64, 4);
		good &= result == alone && alone;
	}
	ok(good && rounds, "the same beside %u jobs of another client", rounds);
	rig_close(&rig);
}

/* The engine time of the job that ended last, as its result block says. */
static uint64_t exec_ns(void)
{
	return le64toh(job_result(&a)->exec_ns);
}

/*
 * The time of an engine counts from before it reads the entry, exec_ns from when the job starts: a busy
 * machine may take the processor away in between.
 */
#define LIMIT	(30 * 1000000ull)

/* Does a job end within its limit that has a ninth of the engine? @taken: out: its time. */
static bool has_whole_limit(uint64_t limit, uint64_t *taken)
{
	bool good;
	uint16_t roi;

	open_limited(LONG, limit, 8);
	ok(!load_roi(2, ENDLESS), "an endless job beside it");
	roi = submit_roi(SHARED);
	memcpy(b.block, a.block, 256);
	memcpy(b.operands, a.operands, 256);
	submit(&b, OWN_B, ROI);
	good = completes(SHARED, roi, 0);
	*taken = exec_ns();
	good &= *taken <= limit;
	rig_close(&rig);
	return good;
}

static void test_limit(void)
{
	static const unsigned int queues[] = { SHARED, OWN_A };
	unsigned int i, k, rounds;
	uint64_t ns, taken = 0;
	bool good, whole;
	uint16_t roi;

	for (i = 0; i < 2; i++) {
		open_limited(ENDLESS, LIMIT, 1);
		for (k = 0, whole = false, good = true; k < TRIES && !whole && good; k++) {
			roi = submit_roi(queues[i]);
			good = completes(queues[i], roi, NNPU_STATUS_TIME_LIMIT) &&
			       le16toh(job_result(&a)->status) == NNPU_STATUS_TIME_LIMIT;
			whole = exec_ns() >= LIMIT / 2;
		}
		ok(good, "a job alone in queue %u ends at its limit", queues[i]);
		ok(whole, "and not before: %llu ns", (unsigned long long)exec_ns());
		for (k = 0, whole = false, good = true; k < TRIES && !whole && good; k++) {
			roi = submit_roi(queues[i]);
			rounds = run_beside(queues[i]);
			good = completes(queues[i], roi, NNPU_STATUS_TIME_LIMIT);
			whole = rounds && exec_ns() >= LIMIT / 2;
		}
		ok(good && whole, "and beside %u jobs of another client", rounds);
		rig_inject(&rig, NNPU_INJECT_JOB_STALL, 1);
		ok(completes(queues[i], submit_roi(queues[i]), NNPU_STATUS_TIME_LIMIT),
		   "one that makes no progress");
		rig_inject(&rig, NNPU_INJECT_JOB_SLOW, 1);
		ok(completes(queues[i], submit_roi(queues[i]), NNPU_STATUS_TIME_LIMIT),
		   "one that makes little");
		ok(completes(OWN_B, submit_add(OWN_B), 0), "the other client has no limit");
		rig_close(&rig);
	}

	/* Time for which a job has given way does not count. */
	open_device(LONG);
	ok(completes(OWN_A, submit_roi(OWN_A), 0), "how long it takes alone");
	ns = exec_ns();
	rig_close(&rig);
	for (i = 0; i < TRIES && !has_whole_limit(4 * ns + LIMIT, &taken); i++)
		;
	if (!ok(i < TRIES, "a job that gives way has its whole limit: the time of others does not count"))
		tap_note("%llu ns of %llu that it takes alone", (unsigned long long)taken,
			 (unsigned long long)ns);
}

static void test_null_limit(void)
{
	struct nnpu_inproc_config config;

	rig_config(&config);
	config.props.null_mode = true;
	rig_open(&rig, &config);
	rig_enable(&rig);
	rig.ctx_attrs.time_limit_ns = htole64(LIMIT);
	if (!job_rig_init(&b, &rig, 2, SHARED) || load_add(2)) {
		printf("Bail out! the device does not start\n");
		exit(1);
	}
	ok(completes(SHARED, submit_add(SHARED), 0), "null mode: below the limit");
	rig_inject(&rig, NNPU_INJECT_JOB_SLOW, 1);
	ok(completes(SHARED, submit_add(SHARED), NNPU_STATUS_TIME_LIMIT), "null mode: beyond it");
	rig_close(&rig);
}

int main(void)
{
	test_limit();
	test_null_limit();

	test_ways();
	test_aborts();
	test_flood();
	test_low_beside_high();
	test_no_worker();
	test_newcomer();
	test_result();
	return tap_done();
}
