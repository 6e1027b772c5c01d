// SPDX-License-Identifier: MIT
/*
 * Jobs on several threads: the same bytes, time that is charged, and helpers that leave when their
 * job ends or gives way, or when an engine has something else to do.
 *
 * NNPU_EMU_JOBS  tens of small jobs, and half as many that have parts (default 200)
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/device_state.h"
#include "core/engine.h"
#include "core/slots.h"
#include "rig.h"
#include "tap.h"

#define N		64u

/* An image, and the layers that a job computes from it. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SIZE		96u
#define LAYERS		16u
#else
#define SIZE		192u
#define LAYERS		96u
#endif
#define CHANNELS	16u
#define TAPS		3u
#define BYTES		(SIZE * SIZE * CHANNELS)
/* Less than LAYERS take; there are 16 points more, which are far apart under ThreadSanitizer. */
#ifdef __SANITIZE_THREAD__
#define LIMIT_NS	300000000u
#else
#define LIMIT_NS	5000000u
#endif
/* A job that is not to take long. */
#define FEW		2u

enum { ADD = 1, LONG = 2, SHORT = 3, POOL = 4, ITEMS = 5 };
enum { SHARED = 1, OWN_A = 2, OWN_B = 3 };

static struct rig rig;
static struct job_rig a, b;
static struct nnpu_device *dev;
static uint8_t *picture, *result;
static uint8_t expected[2][BYTES * 4];

static int8_t weight(unsigned int i)
{
	return (int8_t)((int)(i * 37 % 255) - 127);
}

static void set_scale(struct image *im, uint32_t tensor, float scale)
{
	memcpy(&im->tensors[tensor].scale, &scale, sizeof(scale));
}

/* @layers times CONV_2D, one behind the other. */
static void image_layers(struct image *im, bool is_float, unsigned int layers)
{
	unsigned int type = is_float ? NNPU_TYPE_TENSOR_FLOAT32 :
				       NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED;
	static union {
		float reals[CHANNELS * TAPS * TAPS * CHANNELS];
		int8_t bytes[CHANNELS * TAPS * TAPS * CHANNELS];
	} weights;
	static const int32_t zeros[CHANNELS];
	uint32_t in, filter, bias, one, same, none, out;
	unsigned int n = CHANNELS * TAPS * TAPS * CHANNELS, i;

	for (i = 0; i < n; i++) {
		if (is_float)
			weights.reals[i] = (float)weight(i) / 1000;
		else
			weights.bytes[i] = weight(i);
	}
	image_init(im);
	in = image_tensor(im, type, NNPU_TENSOR_INPUT, 1, SIZE, SIZE, CHANNELS, -1);
	filter = image_const(im, type, CHANNELS, &weights, is_float ? n * sizeof(float) : n);
	im->tensors[filter].rank = 4;
	im->tensors[filter].dims[1] = htole32(TAPS);
	im->tensors[filter].dims[2] = htole32(TAPS);
	im->tensors[filter].dims[3] = htole32(CHANNELS);
	bias = image_const(im, is_float ? NNPU_TYPE_TENSOR_FLOAT32 : NNPU_TYPE_TENSOR_INT32, CHANNELS,
			   zeros, sizeof(zeros));
	one = image_scalar(im, 1);
	same = image_scalar(im, 1);
	none = image_scalar(im, 0);
	if (!is_float) {
		set_scale(im, in, 1);
		set_scale(im, filter, 1.0f / 1000);
		set_scale(im, bias, 1.0f / 1000);
	}
	for (i = 0; i < layers; i++, in = out) {
		out = image_tensor(im, type, i + 1 < layers ? NNPU_TENSOR_TEMPORARY :
				   NNPU_TENSOR_OUTPUT, 1, SIZE, SIZE, CHANNELS, -1);
		if (!is_float)
			set_scale(im, out, 1);
		image_command(im, NNPU_OP_CONV_2D, 7, 1, in, filter, bias, same, one, one, none, out);
	}
	image_finish(im);
}

/* One AVERAGE_POOL_2D with a window about as large as the picture: it takes long, and has many parts. */
static void image_pool(struct image *im, unsigned int size, unsigned int channels)
{
	const unsigned int type = NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED;
	uint32_t in, same, one, window, none, out;

	image_init(im);
	in = image_tensor(im, type, NNPU_TENSOR_INPUT, 1, size, size, channels, -1);
	same = image_scalar(im, 1);
	one = image_scalar(im, 1);
	window = image_scalar(im, (int32_t)size - 1);
	none = image_scalar(im, 0);
	out = image_tensor(im, type, NNPU_TENSOR_OUTPUT, 1, size, size, channels, -1);
	set_scale(im, in, 1);
	set_scale(im, out, 1);
	image_command(im, NNPU_OP_AVERAGE_POOL_2D, 7, 1, in, same, one, one, window, window, none,
		      out);
	image_finish(im);
}

static bool load(uint32_t ctx, uint32_t program, struct image *im)
{
	int status = rig_load(&rig, ctx, program, im->bytes, im->size, NULL);

	image_free(im);
	return !status;
}

static bool load_all(bool is_float)
{
	const uint32_t rw = NNPU_SLOT_VALID | NNPU_SLOT_READ | NNPU_SLOT_WRITE;
	struct image im;
	bool good;

	/* Room for pictures in two more slots. */
	picture = rig_alloc(&rig, BYTES * 4);
	result = rig_alloc(&rig, BYTES * 4);
	for (unsigned int i = 0; i < BYTES; i++) {
		float v = (float)weight(i);

		if (is_float)
			memcpy(picture + i * 4, &v, 4);
		else
			picture[i] = (uint8_t)weight(i);
	}
	rig_slot(&a.slots[2], picture, BYTES * 4, rw);
	rig_slot(&a.slots[3], result, BYTES * 4, rw);
	rig_slot(&b.slots[2], picture, BYTES * 4, rw);
	rig_slot(&b.slots[3], result, BYTES * 4, rw);
	image_add(&im, N);
	good = load(1, ADD, &im);
	image_add(&im, N);
	good &= load(2, ADD, &im);
	image_pool(&im, SIZE, CHANNELS);
	good &= load(2, POOL, &im);
	/* Each part takes long, too. */
	image_pool(&im, SIZE * 8, 1);
	good &= load(1, ITEMS, &im);
	image_layers(&im, is_float, LAYERS);
	good &= load(1, LONG, &im);
	image_layers(&im, is_float, FEW);
	return load(1, SHORT, &im) && good;
}

static void open_device(bool is_float, unsigned int engines, unsigned int threads,
			uint64_t limit_ns)
{
	struct nnpu_inproc_config config;

	rig_config(&config);
	config.props.num_engines = engines;
	config.props.num_threads = threads;
	rig_open(&rig, &config);
	dev = nnpu_inproc_device(rig.ip);
	rig_enable(&rig);
	rig.ctx_attrs.time_limit_ns = htole64(limit_ns);
	if (!job_rig_init(&a, &rig, 1, SHARED))
		a.rig = NULL;
	rig.ctx_attrs.time_limit_ns = 0;
	if (!a.rig || !job_rig_init(&b, &rig, 2, RIG_QUEUES) ||
	    rig_create_queue(&rig, OWN_A, 1, 0, 16) || rig_create_queue(&rig, OWN_B, 2, 0, 16) ||
	    !load_all(is_float)) {
		printf("Bail out! the device does not start\n");
		exit(1);
	}
}

/* A job of @j on queue @qid; the command id. */
static uint16_t submit(struct job_rig *j, unsigned int qid, uint32_t program)
{
	struct rig_queue *q = &rig.queues[qid];
	struct nnpu_sqe_execute sqe;
	uint16_t cid;

	job_sqe(j, program, &sqe);
	sqe.ctx = 0;
	cid = rig_push(&rig, q, (struct nnpu_sqe *)&sqe);
	rig_kick(&rig, q);
	return cid;
}

static uint16_t submit_picture(uint32_t program, uint32_t bytes)
{
	struct nnpu_arg *args = job_args(&a, 1, 1);

	memset(result, 0xa5, BYTES * 4);
	job_arg(&args[0], 2, 0, bytes);
	job_arg(&args[1], 3, 0, bytes);
	return submit(&a, OWN_A, program);
}

static uint16_t submit_layers(uint32_t program, bool is_float)
{
	return submit_picture(program, is_float ? BYTES * 4 : BYTES);
}

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

/* Another client's job, 20 times. */
static bool others_run(void)
{
	bool good = true;

	for (int i = 0; good && i < 20; i++) {
		job_add_args(&b, N);
		good = completes(OWN_B, submit(&b, OWN_B, ADD), 0) && job_add_ok(&b, N);
	}
	return good;
}

static uint64_t helped_ns(void)
{
	uint64_t ns = 0;

	for (unsigned int i = 0; i < atomic_load(&dev->num_workers); i++)
		ns += team_time(&dev->engines[i].team);
	return ns;
}

/* A worker that runs nothing has the time of its last entry: another one may run the next. */
static void forget_helped(void)
{
	pthread_mutex_lock(&dev->lock);
	for (unsigned int i = 0; i < atomic_load(&dev->num_workers); i++)
		if (!dev->engines[i].busy)
			team_renew(&dev->engines[i].team);
	pthread_mutex_unlock(&dev->lock);
}

static bool is_right(bool is_float, uint32_t program)
{
	return !memcmp(result, expected[program == SHORT], is_float ? BYTES * 4 : BYTES);
}

/* Run it until a helper has had a part in it: on a busy machine none may come in time. */
static bool run_helped(uint32_t program, bool is_float)
{
	bool good = true;

	for (int i = 0; good && i < 2000; i++) {
		good = completes(OWN_A, submit_layers(program, is_float), 0) &&
		       is_right(is_float, program);
		if (helped_ns())
			return good;
	}
	tap_note("no helper has come");
	return false;
}

/* Are so many workers at work? Those that have ended an entry have charged all that belongs to it. */
static bool busy_engines_are(unsigned int wanted)
{
	unsigned int busy = wanted + 1;

	for (int i = 0; busy != wanted && i < 60000; i++) {
		busy = 0;
		pthread_mutex_lock(&dev->lock);
		for (unsigned int k = 0; k < atomic_load(&dev->num_workers); k++)
			busy += dev->engines[k].busy;
		pthread_mutex_unlock(&dev->lock);
		if (busy != wanted)
			usleep(1000);
	}
	return busy == wanted;
}

/* What one thread computes. */
static void compute_expected(bool is_float)
{
	open_device(is_float, 1, 1, 0);
	if (!completes(OWN_A, submit_layers(LONG, is_float), 0)) {
		printf("Bail out! the job fails\n");
		exit(1);
	}
	memcpy(expected[0], result, sizeof(expected[0]));
	ok(!helped_ns(), "one thread, %s: nobody helps", is_float ? "floats" : "bytes");
	ok(completes(OWN_A, submit_layers(SHORT, is_float), 0) && memcmp(result, expected[0], BYTES),
	   "fewer layers give something else");
	memcpy(expected[1], result, sizeof(expected[1]));
	rig_close(&rig);
}

static void test_bytes(bool is_float)
{
	static const unsigned int threads[] = { 2, 3, 8, NNPU_DEVICE_MAX_THREADS };

	for (unsigned int i = 0; i < 4; i++) {
		open_device(is_float, 1, threads[i], 0);
		ok(run_helped(LONG, is_float), "%u threads: the same bytes", threads[i]);
		rig_close(&rig);
	}
}

/* Time of helpers counts for the context, and not as time of an engine. */
static void test_charge(void)
{
	uint64_t vtime, busy, helped;
	bool good;

	open_device(false, 1, 2, 0);
	good = run_helped(SHORT, false) && busy_engines_are(0);
	pthread_mutex_lock(&dev->lock);
	vtime = dev->contexts[1]->sched.vtime;
	busy = dev->busy_ns;
	pthread_mutex_unlock(&dev->lock);
	good &= run_helped(SHORT, false) && busy_engines_are(0);
	pthread_mutex_lock(&dev->lock);
	vtime = dev->contexts[1]->sched.vtime - vtime;
	busy = dev->busy_ns - busy;
	pthread_mutex_unlock(&dev->lock);
	helped = vtime - busy;
	ok(good && vtime > busy, "%llu ns of the engine, and %llu of the helper, are charged",
	   (unsigned long long)busy, (unsigned long long)helped);
	rig_close(&rig);
}

/*
 * A limit of engine time counts helpers, too: one that has had help ends after less time than the
 * limit.
 */
static void test_limit(void)
{
	bool good = true, sooner = false;
	uint64_t used = 0, helped = 0;

	open_device(false, 1, 4, LIMIT_NS);
	for (int i = 0; good && !sooner && i < 500; i++) {
		good = completes(OWN_A, submit_layers(LONG, false), NNPU_STATUS_TIME_LIMIT);
		used = le64toh(job_result(&a)->exec_ns);
		helped = helped_ns();
		/* The engine may have lost its processor before the job started: that says nothing. */
		sooner = used < LIMIT_NS - LIMIT_NS / 8 && used + helped >= LIMIT_NS / 2;
	}
	ok(good && sooner,
	   "a limit of %u ns: %llu, and %llu of helpers", LIMIT_NS, (unsigned long long)used,
	   (unsigned long long)helped);
	rig_close(&rig);
}

static void test_abort(void)
{
	unsigned int aborted = 0;
	bool good = true;

	open_device(true, 1, 3, 0);
	for (unsigned int i = 0; good && i < 100; i++) {
		uint16_t cid = submit_layers(LONG, true);
		struct nnpu_sqe_queue sqe = {
			.opcode = NNPU_ADMIN_ABORT, .qid = htole16(OWN_A),
			.target_cid = htole16(cid),
		};
		struct nnpu_cqe cqe;

		usleep(i * 50);
		good = !rig_admin(&rig, &sqe, NULL) && rig_wait(&rig, &rig.queues[OWN_A], &cqe) &&
		       le16toh(cqe.cid) == cid;
		good &= rig_status(&cqe) == NNPU_STATUS_ABORTED ||
			(!rig_status(&cqe) && is_right(true, LONG));
		aborted += rig_status(&cqe) == NNPU_STATUS_ABORTED;
	}
	ok(good && aborted, "%u of 100 jobs with helpers are aborted", aborted);
	ok(run_helped(SHORT, true), "then one runs");
	submit_layers(LONG, true);
	usleep(2000);
	ok(rig_reset(&rig), "a reset in the middle");
	rig_close(&rig);
	open_device(true, 1, 3, 0);
	submit_layers(LONG, true);
	usleep(2000);
	rig_close(&rig);
	ok(true, "the device goes in the middle");
}

/* Another client's jobs run while one with helpers does, which gives way. */
static void test_giving_way(void)
{
	unsigned int rounds = 0;
	bool good = true;
	struct nnpu_cqe cqe;

	open_device(true, 1, 3, 0);
	for (int i = 0; i < 5; i++) {
		submit_layers(LONG, true);
		do {
			good &= others_run();
			rounds++;
		} while (good && !rig_peek(&rig.queues[OWN_A], &cqe));
		good = good && !rig_status(&cqe) && is_right(true, LONG);
		rig_pop(&rig, &rig.queues[OWN_A]);
	}
	ok(good, "%u times 20 jobs of another client beside it, and its bytes are right", rounds);
	rig_close(&rig);
}

/*
 * The other client's job shares an operation while the first one's, in the middle of one, has given
 * way: abort that.
 */
static bool abort_who_is_away(void)
{
	bool found = false;

	for (int i = 0; !found && i < 60000; i++) {
		struct nnpu_engine *on;

		pthread_mutex_lock(&dev->lock);
		on = dev->seats[0].worker;
		for (unsigned int k = 0; k < atomic_load(&dev->num_workers); k++) {
			struct nnpu_engine *e = &dev->engines[k];

			/* It sleeps: what belongs to its thread stays as it is. */
			if (e->seated || !e->q || e->ctx != dev->contexts[1] ||
			    on->ctx != dev->contexts[2] || atomic_load(&dev->teams[0]) != on ||
			    !e->team.shared)
				continue;
			engine_abort(e);
			found = true;
		}
		pthread_mutex_unlock(&dev->lock);
		if (!found)
			usleep(100);
	}
	return found;
}

/* A job that ends without an engine leaves the helpers to the one that has it now. */
static void test_ending_away(void)
{
	struct nnpu_sqe_queue sqe = { .opcode = NNPU_ADMIN_ABORT, .qid = htole16(OWN_B) };
	bool good, shared = false;
	struct nnpu_arg *args;
	uint16_t layers, pool;
	struct nnpu_cqe cqe;

	open_device(true, 1, 2, 0);
	layers = submit_layers(LONG, true);
	args = job_args(&b, 1, 1);
	job_arg(&args[0], 2, 0, BYTES);
	job_arg(&args[1], 3, 0, BYTES);
	pool = submit(&b, OWN_B, POOL);
	good = abort_who_is_away() && completes(OWN_A, layers, NNPU_STATUS_ABORTED);
	while (good && !shared && !rig_peek(&rig.queues[OWN_B], &cqe))
		shared = atomic_load(&dev->teams[0]);
	ok(good && shared, "after another one was aborted while it was away, a job still has helpers");
	sqe.target_cid = htole16(pool);
	ok(!rig_admin(&rig, &sqe, NULL) && completes(OWN_B, pool, NNPU_STATUS_ABORTED),
	   "and ends in the middle");
	rig_close(&rig);
}

/* Only one engine is busy. Forget what helpers have done for jobs that have ended. */
static bool forget_help(void)
{
	bool done = false;

	for (int i = 0; !done && i < 60000; i++) {
		unsigned int busy = 0;

		pthread_mutex_lock(&dev->lock);
		for (unsigned int k = 0; k < atomic_load(&dev->num_workers); k++)
			busy += dev->engines[k].busy;
		done = busy == 1;
		for (unsigned int k = 0; done && k < atomic_load(&dev->num_workers); k++)
			if (!dev->engines[k].busy)
				team_renew(&dev->engines[k].team);
		pthread_mutex_unlock(&dev->lock);
		if (!done)
			usleep(1000);
	}
	return done;
}

static bool is_running(unsigned int qid, uint16_t cid)
{
	return rig_poll(&rig, NNPU_QREG_BASE + qid * NNPU_QREG_STRIDE + NNPU_QREG_CURRENT,
			UINT32_MAX, NNPU_QREG_CURRENT_RUNNING | cid);
}

/* Engines come first: with as many of them at work as there may be threads, nobody helps. */
static void test_engines_first(void)
{
	struct nnpu_sqe_queue sqe = { .opcode = NNPU_ADMIN_ABORT, .qid = htole16(OWN_B) };
	uint16_t stalled, cid;
	unsigned int i;
	bool good;

	open_device(true, 2, 2, 0);
	ok(run_helped(SHORT, true), "two engines, one of them idle");
	cid = submit_layers(LONG, true);
	good = is_running(OWN_A, cid);
	/* It comes to no points, so it never gives way: while it did, an engine would be idle. */
	rig_inject(&rig, NNPU_INJECT_JOB_STALL, 1);
	job_add_args(&b, N);
	stalled = submit(&b, OWN_B, ADD);
	good &= is_running(OWN_B, stalled) && completes(OWN_A, cid, 0) && is_right(true, LONG);
	ok(good, "a job that loses its helper has the same bytes");
	good &= forget_help();
	for (i = 0; i < 3; i++) {
		/* A completion comes before its worker is idle; meanwhile the endless job may give way. */
		good &= busy_engines_are(1);
		forget_helped();
		good &= completes(OWN_A, submit_layers(SHORT, true), 0) && is_right(true, SHORT);
		good &= !helped_ns();
	}
	ok(good, "and beside an endless job of the other engine nobody helps");
	sqe.target_cid = htole16(stalled);
	ok(!rig_admin(&rig, &sqe, NULL) && completes(OWN_B, stalled, NNPU_STATUS_ABORTED) &&
	   run_helped(SHORT, true), "until that has ended");
	rig_close(&rig);
}

/* More than a few small jobs of two clients, whose operations are not worth a second thread. */
static void test_small_jobs(void)
{
	struct rig_queue *q = &rig.queues[OWN_A];
	const char *number = getenv("NNPU_EMU_JOBS");
	int tens = number && atoi(number) > 1 ? atoi(number) : 200;
	bool good = true;

	open_device(false, 2, NNPU_DEVICE_MAX_THREADS, 0);
	good = run_helped(SHORT, false);
	job_add_args(&a, N);
	for (int i = 0; good && i < tens; i++) {
		struct nnpu_cqe cqe;

		for (int k = 0; k < 10; k++)
			submit(&a, OWN_A, ADD);
		for (int k = 0; good && k < 10; k++)
			good = rig_wait(&rig, q, &cqe) && !rig_status(&cqe);
		good &= job_add_ok(&a, N);
		if (i % 10 == 0)
			good &= others_run();
	}
	ok(good, "%d jobs without parts", 10 * tens);
	good = true;
	for (int i = 0; good && i < tens / 2; i++)
		good = completes(OWN_A, submit_layers(SHORT, false), 0) && is_right(false, SHORT);
	ok(good, "%d with some", tens / 2);
	rig_close(&rig);
}

static bool set_level(uint32_t level)
{
	struct nnpu_sqe_set_perf c = {
		.opcode = NNPU_ADMIN_SET_PERF, .level = htole32(level),
	};

	return !rig_admin(&rig, &c, NULL);
}

static void test_level(void)
{
	bool good;

	open_device(false, 1, 4, 0);
	ok(run_helped(SHORT, false), "level MEDIUM: helpers");
	good = set_level(NNPU_PERF_LOW);
	for (int i = 0; i < 10; i++)
		good &= completes(OWN_A, submit_layers(SHORT, false), 0) && !helped_ns() &&
			is_right(false, SHORT);
	ok(good, "level LOW: none");
	ok(set_level(NNPU_PERF_HIGH) && run_helped(SHORT, false), "level HIGH: helpers again");
	rig_close(&rig);
}

static void wake_helper(void)
{
	pthread_mutex_lock(&dev->lock);
	pthread_cond_signal(&dev->help);
	pthread_mutex_unlock(&dev->lock);
	usleep(1000);
}

/* The helper has worked for the job, and had to leave it. What it has worked, or 0. */
static uint64_t interrupt_helper(void)
{
	bool left = false;

	for (int i = 0; i < 60000 && !helped_ns(); i++)
		wake_helper();
	if (!helped_ns() || !set_level(NNPU_PERF_LOW))
		return 0;
	for (int i = 0; i < 60000 && !left; i++) {
		usleep(1000);
		left = !atomic_load(&dev->helping);
	}
	return left && set_level(NNPU_PERF_MEDIUM) ? helped_ns() : 0;
}

/* A long item that a helper had to give back is computed by the worker: nobody begins it again. */
static void test_long_items(void)
{
	struct nnpu_sqe_queue sqe = { .opcode = NNPU_ADMIN_ABORT, .qid = htole16(OWN_A) };
	uint64_t helped = 0;
	bool good = false;
	uint16_t cid;

	open_device(false, 1, 2, 0);
	cid = submit_picture(ITEMS, BYTES * 4);
	/* In some of twenty cases it leaves at the end of an item. Then it comes again, rightly. */
	for (int i = 0; i < 5 && !good; i++) {
		helped = interrupt_helper();
		for (int k = 0; k < 100; k++)
			wake_helper();
		good = helped && helped_ns() == helped;
	}
	ok(good, "a helper does not begin anew what takes long: %llu ns, and %llu a while later",
	   (unsigned long long)helped, (unsigned long long)helped_ns());
	sqe.target_cid = htole16(cid);
	ok(!rig_admin(&rig, &sqe, NULL) && completes(OWN_A, cid, NNPU_STATUS_ABORTED),
	   "and its job ends in the middle");
	rig_close(&rig);
}

static void test_bounds(void)
{
	struct nnpu_device_props props;
	char error[128];

	nnpu_device_default_props(&props);
	ok(props.num_threads == 1, "one thread unless somebody asks");
	props.num_threads = 0;
	ok(nnpu_device_check_props(&props, error, sizeof(error)) &&
	   !strcmp(error, "num_threads is 0, must be 1 to 16"), "%s", error);
	props.num_threads = NNPU_DEVICE_MAX_THREADS + 1;
	ok(nnpu_device_check_props(&props, error, sizeof(error)) &&
	   !strcmp(error, "num_threads is 17, must be 1 to 16"), "%s", error);
}

int main(void)
{
	test_bounds();
	compute_expected(false);
	test_bytes(false);
	test_charge();
	test_limit();
	test_small_jobs();
	test_level();
	test_long_items();
	compute_expected(true);
	test_bytes(true);
	test_abort();
	test_giving_way();
	test_ending_away();
	test_engines_first();
	return tap_done();
}
