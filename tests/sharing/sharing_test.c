// SPDX-License-Identifier: MIT
/*
 * Hostile and large clients beside a small one, on one device: what the small one has to wait.
 *
 * Each client is a process of a user of its own. The small one opens the device, prepares a
 * model, executes it by itself or in a burst, and closes, again and again, while another
 *
 *   - runs jobs that never end, by execute, by a burst, or by more bursts than the device has
 *     queues,
 *   - prepares a large model in a loop,
 *   - has 256 long jobs in flight,
 *   - has 15 bursts of high priority with long jobs,
 *   - opens the device until that fails.
 *
 * NNPU_SHARING_MS is the time of each, by default 1500 ms. NNPU_SHARING_BOUND_MS is what one
 * turn of the small client may take, from the open to the result. The default, 5 s, only tells waiting from starving,
 * whatever the machine does; 250 is what a quiet machine keeps. NNPU_SHARING_STRICT=1 allows shares of
 * engine time to be 10 % off a third and no more, and fails where they cannot be read.
 * NNPU_SHARING_CLIENT is the number of the only one to try.
 */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device_nodes.h"
#include "sharing.h"

#define LONG_JOB_NS	50000000u
#define SHARE_JOB_NS	10000000u
#define MOST_POINTS	(1 << 16)
#define NO_CLIENT	UINT_MAX
#define IN_FLIGHT	256
#define BURST_DEPTH	4
#define ONE_BURST_DEPTH	32
/*
 * A processor that is taken from the engine for a while is charged to whose job it was. Not with
 * NNPU_SHARING_STRICT.
 */
#define SHARE_SLACK_NS	200000000u
#define SHARE_TRIES	3
/* The slack is a fifth of a third of it. */
#define LEAST_SHARES_MS	3000u

static unsigned int setting(const char *name, unsigned int value)
{
	const char *text = getenv(name);

	return text ? (unsigned int)strtoul(text, NULL, 10) : value;
}

/* ---- the small client ---- */

enum step { STEP_OPEN, STEP_PREPARE, STEP_EXECUTE, STEP_BURST, STEP_CLOSE };

static const char *const step_names[STEPS] = { "open", "prepare", "execute", "burst", "close" };

static uint64_t turn_bound_ns;
static uint64_t turns_end_ns;

/* @burst: gets the burst that the caller drops; NULL: by itself */
static enum nnhal_status execute(struct nnhal_prepared_model *model, struct run *r,
				 struct nnhal_burst **burst)
{
	enum nnhal_status status;

	if (!burst)
		return nnhal_prepared_model_execute_synchronously(model, &r->request, NULL, NULL,
								  NULL, NULL);
	status = nnhal_burst_create(model, NULL, burst);
	return status ? status :
			nnhal_burst_execute(*burst, &r->request, NULL, NULL, NULL, NULL);
}

/* Note what a step took, from *@since on. */
static void note_step(enum step step, uint64_t *since)
{
	uint64_t now = now_ns();

	shared->step_us[step][atomic_load(&shared->turns)] = (uint32_t)((now - *since) / 1000);
	*since = now;
}

static bool turn(struct run *r, bool in_burst, const char **what, enum nnhal_status *status)
{
	struct nnhal_prepared_model *model;
	struct nnhal_burst *burst = NULL;
	uint64_t begin = now_ns(), since = begin;
	struct nnhal_device *device;

	*what = "open";
	*status = nnhal_device_open(test_device_spec(), &device, &r->diag);
	note_step(STEP_OPEN, &since);
	if (*status)
		return false;
	*what = "prepare";
	*status = nnhal_device_prepare_model_sync(device, &f.model, NULL, &model);
	note_step(STEP_PREPARE, &since);
	if (!*status) {
		memset(r->map + RUN_OUTPUT(0), 0xee, 64);
		*what = in_burst ? "burst" : "execute";
		*status = execute(model, r, in_burst ? &burst : NULL);
		note_step(in_burst ? STEP_BURST : STEP_EXECUTE, &since);
		shared->turn_us[shared->turns] = (uint32_t)((since - begin) / 1000);
		nnhal_burst_unref(burst);
		nnhal_prepared_model_unref(model);
	}
	nnhal_device_unref(device);
	note_step(STEP_CLOSE, &since);
	if (*status)
		return false;
	*what = "wrong result";
	return run_output_is_right(r, 4);
}

static void run_small(void)
{
	enum nnhal_status status;
	const char *what;
	struct run r;

	make_add_relu(&f);
	run_init(&r, 4);
	/* Once in any case: this process may begin late. */
	do {
		shared->turn_us[shared->turns] = 0;
		if (!turn(&r, shared->turns % 2, &what, &status)) {
			snprintf(shared->message, sizeof(shared->message), "%s: %s %s", what,
				 nnhal_status_name((int)status), r.diag.message);
			atomic_fetch_add(&shared->failed, 1);
		}
		atomic_fetch_add(&shared->turns, 1);
		usleep(2000);
	} while (now_ns() < turns_end_ns && shared->turns < MAX_TURNS);
}

static int compare_us(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* ---- what the driver counted ---- */

/* The sum of what must not happen, or -1 where there is no debugfs. */
static long count_faults(void)
{
	static const char *const names[] = {
		"hangs", "queue_resets", "device_resets", "admin_timeouts",
	};
	char line[128], name[64];
	long value, sum = -1;
	unsigned int i;
	glob_t g;
	FILE *stats;

	if (glob("/sys/kernel/debug/{accel,dri}/*/stats", GLOB_BRACE, NULL, &g))
		return -1;
	stats = fopen(g.gl_pathv[0], "r");
	globfree(&g);
	while (stats && fgets(line, sizeof(line), stats)) {
		if (sscanf(line, "%63s %ld", name, &value) != 2)
			continue;
		for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (!strcmp(name, names[i]))
				sum = (sum < 0 ? 0 : sum) + value;
	}
	if (stats)
		fclose(stats);
	return sum;
}

/* Which step the time goes to. A step that is not in a turn took 0. */
static void note_steps(const struct large_client *large, unsigned int turns)
{
	char text[256] = "";
	unsigned int s, i, len = 0;

	for (s = 0; s < STEPS; s++) {
		uint32_t *us = shared->step_us[s];

		qsort(us, turns, sizeof(*us), compare_us);
		for (i = 0; i < turns && !us[i]; i++)
			;
		if (i < turns)
			len += (unsigned int)snprintf(text + len, sizeof(text) - len, "%s%s %.1f, %.1f",
						      len ? "; " : "", step_names[s],
						      us[(i + turns) / 2] / 1e3,
						      us[turns - 1] / 1e3);
	}
	tap_note("beside %s: median and longest of %s ms", large->name, text);
}

static void test_beside(const struct large_client *large, unsigned int ms)
{
	long faults = count_faults();
	unsigned int turns, over = 0, i;
	pid_t pid = 0, small;
	bool works = true;
	int status;

	memset(shared->message, 0, sizeof(shared->message));
	memset(shared->step_us, 0, sizeof(shared->step_us));
	atomic_store(&shared->work, 0);
	atomic_store(&shared->error, 0);
	atomic_store(&shared->turns, 0);
	atomic_store(&shared->failed, 0);
	if (large->run) {
		pid = start(UID_LARGE, large->run);
		works = wait_for(&shared->work, 1);
		ok(works, "%s: at work %s", large->name, shared->message);
		usleep(500000);
	}
	turns_end_ns = now_ns() + ms * UINT64_C(1000000);
	small = start(UID_SMALL, run_small);
	waitpid(small, &status, 0);
	turns = atomic_load(&shared->turns);
	if (large->run)
		ok(end(pid) && !atomic_load(&shared->error), "%s: to the end %s", large->name,
		   shared->message);
	for (i = 0; i < turns; i++)
		over += shared->turn_us[i] * UINT64_C(1000) > turn_bound_ns;
	qsort(shared->turn_us, turns, sizeof(shared->turn_us[0]), compare_us);
	ok(WIFEXITED(status) && !WEXITSTATUS(status) && turns && !atomic_load(&shared->failed),
	   "beside %s: %d of %u turns of the small client failed %s", large->name,
	   atomic_load(&shared->failed), turns, shared->message);
	ok(!over, "beside %s: %u turns took longer than %u ms", large->name, over,
	   (unsigned int)(turn_bound_ns / 1000000));
	if (turns)
		tap_note("beside %s: median %.1f, 99th percentile %.1f, longest %.1f ms of %u",
			 large->name, shared->turn_us[turns / 2] / 1e3,
			 shared->turn_us[turns * 99 / 100] / 1e3,
			 shared->turn_us[turns - 1] / 1e3, turns);
	if (turns)
		note_steps(large, turns);
	if (faults < 0)
		tap_skip("no debugfs: hangs and resets");
	else
		ok(count_faults() == faults, "beside %s: no hang, no reset", large->name);
}

/* Engine time of the contexts that there are, by their numbers; how many. */
static unsigned int read_engine_ns(uint64_t *ns, unsigned int max)
{
	unsigned int n = 0, id;
	char line[256];
	FILE *state;
	char *text;
	glob_t g;

	if (glob("/sys/kernel/debug/{accel,dri}/*/state", GLOB_BRACE, NULL, &g))
		return 0;
	state = fopen(g.gl_pathv[0], "r");
	globfree(&g);
	while (state && fgets(line, sizeof(line), state)) {
		text = strstr(line, ", engine ");
		if (sscanf(line, "context %u:", &id) == 1 && text && n < max)
			ns[n++] = strtoull(text + strlen(", engine "), NULL, 10);
	}
	if (state)
		fclose(state);
	return n;
}

/* ---- three clients that share ---- */

static void wait_go(void)
{
	while (!atomic_load(&shared->go))
		usleep(1000);
}

static void share_flood(void)
{
	struct nnhal_prepared_model *model;
	struct call c;

	make_roi(shared->share_points);
	model = prepare_or_give_up(open_or_give_up(), NNHAL_PRIORITY_MEDIUM);
	if (!call_init(&c))
		give_up("memory", NNHAL_STATUS_GENERAL_FAILURE);
	wait_go();
	flood(model, &c, IN_FLIGHT, &shared->done[0]);
}

static void share_burst(void)
{
	wait_go();
	run_bursts(shared->share_points, 1, ONE_BURST_DEPTH, NNHAL_PRIORITY_MEDIUM,
		   &shared->done[1]);
}

static void share_bursts(void)
{
	wait_go();
	run_bursts(shared->share_points, BURSTS, BURST_DEPTH, NNHAL_PRIORITY_MEDIUM,
		   &shared->done[2]);
}

/* Engine time of each within 10 % of a third? */
static bool is_fair(const uint64_t *time, bool strict)
{
	uint64_t sum = 0, slack;
	unsigned int i;

	for (i = 0; i < SHARERS; i++)
		sum += time[i];
	slack = sum / 10 / SHARERS + (strict ? 0 : SHARE_SLACK_NS);
	for (i = 0; i < SHARERS; i++)
		if (time[i] + slack < sum / SHARERS || time[i] > sum / SHARERS + slack)
			return false;
	return true;
}

/*
 * Let the three share for @ms. @time: out: engine time of each. Returns how many contexts there
 * were, -1 if something failed. The number of jobs is for people.
 */
static int share(unsigned int ms, uint64_t *time)
{
	static void (*const clients[])(void) = { share_flood, share_burst, share_bursts };
	uint64_t begin[SHARERS + 1], end_ns[SHARERS + 1];
	unsigned int jobs[SHARERS], i, n;
	pid_t pids[SHARERS];
	bool alive = true;

	atomic_store(&shared->error, 0);
	atomic_store(&shared->go, false);
	for (i = 0; i < SHARERS; i++) {
		atomic_store(&shared->done[i], 0);
		pids[i] = start(UID_SMALL + i, clients[i]);
	}
	atomic_store(&shared->go, true);
	for (i = 0; i < SHARERS; i++)
		wait_for(&shared->done[i], 20);
	for (i = 0; i < SHARERS; i++)
		jobs[i] = atomic_load(&shared->done[i]);
	n = read_engine_ns(begin, SHARERS + 1);
	usleep(ms * 1000);
	if (read_engine_ns(end_ns, SHARERS + 1) != n)
		n = 0;
	for (i = 0; i < SHARERS; i++) {
		jobs[i] = atomic_load(&shared->done[i]) - jobs[i];
		alive = end(pids[i]) && alive;
	}
	tap_note("jobs: execute %u, one burst %u, fifteen bursts %u", jobs[0], jobs[1], jobs[2]);
	for (i = 0; i < n && i < SHARERS; i++)
		time[i] = end_ns[i] - begin[i];
	return alive && !atomic_load(&shared->error) ? (int)n : -1;
}

/*
 * A client that gets no processor for longer than its jobs last has no work for the device: on a
 * busy machine one good try of a few is enough. Not with NNPU_SHARING_STRICT.
 */
static void test_shares(unsigned int ms, bool strict)
{
	unsigned int tries = 0, most = strict ? 1 : SHARE_TRIES;
	uint64_t time[SHARERS];
	bool fair = false;
	int n;

	do {
		n = share(ms, time);
		if (n == SHARERS)
			fair = is_fair(time, strict);
	} while (n == SHARERS && !fair && ++tries < most);
	ok(n >= 0, "three clients execute %s", shared->message);
	if (n != SHARERS) {
		if (strict)
			ok(false, "engine time of three clients: %d contexts in debugfs", n);
		else
			tap_skip("engine time of three clients: %d contexts in debugfs", n);
		return;
	}
	ok(fair, "each has a third of the engine time: %llu, %llu and %llu ms",
	   (unsigned long long)time[0] / 1000000, (unsigned long long)time[1] / 1000000,
	   (unsigned long long)time[2] / 1000000);
}

/* ---- priorities within a client ---- */

#define LOW_JOBS	24

static atomic_uint low_done, high_done;

static void run_priorities(void)
{
	struct nnhal_device *device = open_or_give_up();
	struct nnhal_prepared_model *low, *high;
	unsigned int i, before;
	struct call c;

	make_roi(shared->long_points);
	low = prepare_or_give_up(device, NNHAL_PRIORITY_LOW);
	high = prepare_or_give_up(device, NNHAL_PRIORITY_HIGH);
	if (!call_init(&c))
		give_up("memory", NNHAL_STATUS_GENERAL_FAILURE);
	for (i = 0; i < LOW_JOBS; i++)
		nnhal_prepared_model_execute(low, &c.request, NULL, count_ended, &low_done);
	before = atomic_load(&low_done);
	nnhal_prepared_model_execute(high, &c.request, NULL, count_ended, &high_done);
	while (!atomic_load(&high_done))
		usleep(200);
	atomic_store(&shared->done[0], atomic_load(&low_done) - before);
	atomic_store(&shared->done[2], LOW_JOBS - before);
	while (atomic_load(&low_done) < LOW_JOBS)
		usleep(1000);
	atomic_store(&shared->done[1], 1);
}

/*
 * The process may get no processor for a while: before the HIGH job, and too few LOW ones are left
 * to overtake; or after it, and LOW ones end meanwhile. Then once more. Without priorities all that
 * are left end first, each time.
 */
static void test_priorities(void)
{
	bool well = true, overtakes = false;
	unsigned int tries, ended, left;
	pid_t pid;
	int status;

	for (tries = 0; tries < SHARE_TRIES && well && !overtakes; tries++) {
		atomic_store(&shared->error, 0);
		atomic_store(&shared->done[1], 0);
		pid = start(UID_SMALL, run_priorities);
		waitpid(pid, &status, 0);
		well = WIFEXITED(status) && !WEXITSTATUS(status) && atomic_load(&shared->done[1]);
		ended = atomic_load(&shared->done[0]);
		left = atomic_load(&shared->done[2]);
		/* The one that had begun, and those that ended while the test looked. */
		overtakes = left >= LOW_JOBS / 2 && ended <= LOW_JOBS / 3;
	}
	ok(well, "jobs of low and high priority of one client %s", shared->message);
	ok(overtakes,
	   "HIGH before LOW: %u of %u LOW jobs ended before a HIGH one that was submitted last",
	   ended, left);
}

/* ---- preparation ---- */

static int32_t *calibrated;
static uint64_t calibrate_ns;

/* The smallest number of points that takes as long as wanted. */
static void calibrate(void)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_device *device = open_or_give_up();
	struct nnhal_prepared_model *model;
	struct nnhal_timing timing;
	enum nnhal_status status;
	unsigned int i;
	struct call c;
	int32_t points;

	o.measure = NNHAL_MEASURE_YES;
	for (points = 64; points < MOST_POINTS; points += points / 8) {
		uint64_t least = UINT64_MAX;

		make_roi(points);
		model = prepare_or_give_up(device, NNHAL_PRIORITY_MEDIUM);
		if (!call_init(&c))
			give_up("memory", NNHAL_STATUS_GENERAL_FAILURE);
		/* The first one allocates; others may have been interrupted. */
		for (i = 0; i < 4; i++) {
			status = nnhal_prepared_model_execute_synchronously(model, &c.request, &o,
									    NULL, NULL, &timing);
			if (status)
				give_up("execution", status);
			if (timing.time_on_device < least)
				least = timing.time_on_device;
		}
		nnhal_prepared_model_unref(model);
		nnhal_memory_unref(c.pool.memory);
		if (least * 1000 >= calibrate_ns)
			break;
	}
	*calibrated = points;
	_exit(0);
}

/* Find out how many points take @ns. */
static bool find_points(uint64_t ns, int32_t *points)
{
	int status;
	pid_t pid;

	calibrate_ns = ns;
	calibrated = points;
	pid = start(UID_SMALL, calibrate);
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status) &&
	       *points;
}

int main(void)
{
	unsigned int ms = setting("NNPU_SHARING_MS", 1500), i;
	unsigned int only = setting("NNPU_SHARING_CLIENT", NO_CLIENT);
	bool found;

	if (strncmp(test_device_spec(), "drm", 3))
		tap_skip_all("device \"%s\" belongs to one process", test_device_spec());
	if (geteuid())
		tap_skip_all("clients of several users: needs root");
	/* Skips where there is no device. */
	nnhal_device_unref(test_device_open());
	turn_bound_ns = setting("NNPU_SHARING_BOUND_MS", 5000) * UINT64_C(1000000);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED) {
		printf("Bail out! mmap: %s\n", strerror(errno));
		return 1;
	}
	nodes_open();
	found = find_points(SHARE_JOB_NS, &shared->share_points);
	ok(found, "a job of 10 ms: %d^2 points %s", shared->share_points, shared->message);
	found = find_points(LONG_JOB_NS, &shared->long_points);
	ok(found, "a job of 50 ms: %d^2 points %s", shared->long_points, shared->message);
	for (i = 0; i < num_large_clients; i++)
		if (only == NO_CLIENT || only == i)
			test_beside(&large_clients[i], ms);
	test_shares(ms < LEAST_SHARES_MS ? LEAST_SHARES_MS : ms, setting("NNPU_SHARING_STRICT", 0));
	test_priorities();
	nodes_close();
	return tap_done();
}
