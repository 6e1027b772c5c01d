// SPDX-License-Identifier: MIT
/*
 * Queues that the library has for synchronous executions, on a hardware device: the context is lost
 * while they are idle or busy, the process is killed, the device sleeps, bursts need the queues. Nobody
 * can tell by a status whether an execution was to take such a queue.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include <nnpu_hw.h>

#include "device/device_private.h"
#include "execution/prepared_model_private.h"
#include "hardware_rig.h"

#define KILLS	6
#define BURSTS	80
/* In steps of 10 ms: nobody waits for ever. */
#define MOST	6000

static struct fixture f;

struct client {
	struct nnhal_device *device;
	struct nnhal_prepared_model *model;
	struct run run;
};

static bool client_open(struct client *c)
{
	memset(c, 0, sizeof(*c));
	run_init(&c->run, 4);
	return !nnhal_device_open("drm", &c->device, &c->run.diag) &&
	       !nnhal_device_prepare_model_sync(c->device, &f.model, NULL, &c->model);
}

static void client_close(struct client *c)
{
	nnhal_prepared_model_unref(c->model);
	nnhal_device_unref(c->device);
	run_fini(&c->run);
}

static bool has_queue(const struct client *c)
{
	return c->device->own_queues.queues[c->model->priority].queue;
}

static enum nnhal_status execute(struct client *c)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	enum nnhal_status status;

	o.diag = &c->run.diag;
	memset(c->run.map + RUN_OUTPUT(0), 0xee, 16);
	status = nnhal_prepared_model_execute_synchronously(c->model, &c->run.request, &o, NULL,
							    NULL, NULL);
	return !status && !run_output_is_right(&c->run, 4) ? NNHAL_STATUS_GENERAL_FAILURE : status;
}

/* With a deadline the driver runs it. */
static enum nnhal_status execute_by_driver(struct client *c)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;

	o.diag = &c->run.diag;
	o.has_deadline = true;
	o.deadline_ns = UINT64_MAX;
	return nnhal_prepared_model_execute_synchronously(c->model, &c->run.request, &o, NULL, NULL,
							  NULL);
}

static bool is_pci(void)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s", bus_name);
	return !access(path, F_OK);
}

static bool device_file(const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/bus/%s/devices/%s/%s", is_pci() ? "pci" : "platform", bus_name,
		 name);
	return write_file(path, text);
}

static bool device_says(const char *name, const char *value)
{
	char path[256], line[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/sys/bus/%s/devices/%s/%s", is_pci() ? "pci" : "platform", bus_name,
		 name);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	return !strncmp(line, value, strlen(value));
}

static bool function_reset(void)
{
	return device_file("reset_method", "flr") && device_file("reset", "1");
}

static bool unbind(void)
{
	char path[sizeof(driver_dir) + 8];

	snprintf(path, sizeof(path), "%s/unbind", driver_dir);
	return write_file(path, bus_name);
}

static bool bind(void)
{
	char path[sizeof(driver_dir) + 8];

	snprintf(path, sizeof(path), "%s/bind", driver_dir);
	return write_file(path, bus_name);
}

/* The first execution after a loss says what it says without such a queue. */
static void test_idle_loss(const char *name, bool (*lose)(void))
{
	enum nnhal_status with, without;
	struct client a, b;

	if (!ok(client_open(&a) && client_open(&b) && !execute(&a) && !execute(&a) &&
		!execute_by_driver(&b) && has_queue(&a) && !has_queue(&b),
		"%s: a client with a queue and one without", name))
		return;
	if (!ok(lose(), "%s: lost while idle", name))
		return;
	with = execute(&a);
	without = execute_by_driver(&b);
	ok(with == without && without &&
	   (with == NNHAL_STATUS_DEAD_OBJECT || with == NNHAL_STATUS_DEVICE_UNAVAILABLE),
	   "H09 %s: idle queue %s, driver %s", name, nnhal_status_name((int)with),
	   nnhal_status_name((int)without));
	with = execute(&a);
	ok(with == without, "H09 %s: and so does the next one: %s", name,
	   nnhal_status_name((int)with));
	client_close(&a);
	client_close(&b);
}

static bool unbind_and_bind(void)
{
	return unbind() && bind();
}

struct thread {
	struct client *client;
	enum nnhal_status status;
	atomic_bool done;
};

static void *execute_thread(void *data)
{
	struct thread *t = data;

	t->status = execute(t->client);
	atomic_store(&t->done, true);
	return NULL;
}

/* Has an engine a job? */
static bool is_busy(void)
{
	char path[sizeof(inject_path)], line[64];
	unsigned int engine, current;
	bool busy = false;
	FILE *file;

	snprintf(path, sizeof(path), "%s", inject_path);
	snprintf(strrchr(path, '/'), 16, "/registers");
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "E%u_CURRENT %x", &engine, &current) == 2)
			busy |= current & NNPU_EREG_CURRENT_RUNNING;
	if (file)
		fclose(file);
	return busy;
}

/* A job that the device has begun: it may have had an effect. */
static void test_busy_loss(void)
{
	struct thread t = { .status = NNHAL_STATUS_NONE };
	enum nnhal_status next;
	struct client c;
	pthread_t thread;
	unsigned int i;

	if (!is_pci()) {
		tap_skip("busy: a reset of the function: of PCI functions only");
		return;
	}
	if (!ok(client_open(&c) && !execute(&c) && has_queue(&c) &&
		inject(NNPU_INJECT_JOB_STALL, 1), "busy: a client whose next job hangs"))
		return;
	t.client = &c;
	pthread_create(&thread, NULL, execute_thread, &t);
	for (i = 0; i < MOST && !is_busy(); i++)
		usleep(10000);
	ok(i < MOST && !atomic_load(&t.done) && function_reset(), "busy: a reset of the function meanwhile");
	pthread_join(thread, NULL);
	ok(t.status == NNHAL_STATUS_GENERAL_FAILURE, "H09 busy: %s, %s",
	   nnhal_status_name((int)t.status), c.run.diag.message);
	next = execute(&c);
	ok(next == NNHAL_STATUS_DEAD_OBJECT, "H09 busy: then %s", nnhal_status_name((int)next));
	client_close(&c);
}

/* Lines of debugfs that count objects: all of them, or 0. */
static unsigned int count_objects(void)
{
	char path[sizeof(inject_path)], name[32];
	unsigned int sum = 0, value;
	FILE *file;

	snprintf(path, sizeof(path), "%s", inject_path);
	snprintf(strrchr(path, '/'), 16, "/objects");
	file = fopen(path, "r");
	if (!file)
		return UINT32_MAX;
	while (fscanf(file, "%31s %u", name, &value) == 2)
		sum += value;
	fclose(file);
	return sum;
}

/* kill -9 with an execution on such a queue: nothing stays, and others go on. */
static void test_kill(void)
{
	atomic_uint *progress = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				     -1, 0);
	unsigned int i, n, before, gone = 0, right = 0, busy = 0;
	struct client other;
	int status;
	pid_t pid;

	if (!ok(progress != MAP_FAILED && client_open(&other) && !execute(&other), "kill: a client"))
		return;
	before = count_objects();
	if (!ok(before && before != UINT32_MAX, "kill: %u objects are counted", before))
		return;
	for (i = 0; i < KILLS; i++) {
		atomic_store(progress, 0);
		fflush(stdout);
		pid = fork();
		if (!pid) {
			struct client c;

			if (!client_open(&c) || execute(&c) || !has_queue(&c))
				_exit(1);
			atomic_store(progress, 1);
			/* Killed between two of them, or in one: the last one takes a second. */
			while (!execute(&c))
				atomic_fetch_add(progress, 1);
			_exit(2);
		}
		for (n = 0; n < MOST && !atomic_load(progress); n++)
			usleep(10000);
		if (i % 2) {
			inject(NNPU_INJECT_JOB_SLOW, 1);
			usleep(100000);
		}
		kill(pid, SIGKILL);
		busy += waitpid(pid, &status, 0) == pid && WIFSIGNALED(status);
		/* What an earlier client had may have gone meanwhile. */
		for (n = 0; n < MOST && count_objects() > before; n++)
			usleep(10000);
		gone += n < MOST;
		right += !execute(&other);
	}
	ok(busy == KILLS, "kill: %u processes killed while they executed", busy);
	ok(gone == KILLS, "kill: nothing left of %u of them", gone);
	ok(right == KILLS, "kill: %u executions of another client in between", right);
	inject(NNPU_INJECT_JOB_SLOW, 0);
	client_close(&other);
	munmap(progress, 4096);
}

/* An idle queue does not keep the device awake, and is there again when it is needed. */
static void test_sleep(void)
{
	unsigned int i, round, slept = 0, right = 0;
	struct client c;

	if (!ok(client_open(&c) && !execute(&c) && has_queue(&c), "sleep: a client with a queue"))
		return;
	for (round = 0; round < 2; round++) {
		for (i = 0; i < MOST && !device_says("power/runtime_status", "suspended"); i++)
			usleep(10000);
		slept += i < MOST;
		right += !execute(&c) && has_queue(&c);
	}
	ok(slept == 2, "sleep: the device was suspended %u times", slept);
	ok(right == 2, "sleep: %u executions on the same queue woke it", right);
	client_close(&c);
}

/* The application's bursts get all queues that there are, and executions go on. */
static void test_bursts(void)
{
	struct nnhal_burst *bursts[BURSTS] = { NULL };
	unsigned int i, good = 0, after = 0;
	struct client c;

	if (!ok(client_open(&c) && !execute(&c) && has_queue(&c), "bursts: a client with a queue"))
		return;
	for (i = 0; i < BURSTS; i++) {
		memset(c.run.map + RUN_OUTPUT(0), 0xee, 16);
		good += !nnhal_burst_create(c.model, NULL, &bursts[i]) &&
			!nnhal_burst_execute(bursts[i], &c.run.request, NULL, NULL, NULL, NULL) &&
			run_output_is_right(&c.run, 4);
		after += !execute(&c);
	}
	ok(good == BURSTS, "bursts: %u work", good);
	ok(after == BURSTS, "bursts: %u executions between them", after);
	for (i = 0; i < BURSTS; i++)
		nnhal_burst_unref(bursts[i]);
	for (i = 0; i < 2000 && !has_queue(&c); i++)
		if (execute(&c))
			break;
	ok(has_queue(&c), "bursts: without them the library has a queue again");
	client_close(&c);
}

int main(void)
{
	must_find_device();
	make_add_relu(&f);
	if (is_pci())
		test_idle_loss("reset of the function", function_reset);
	else
		tap_skip("reset of the function: of PCI functions only");
	test_idle_loss("driver unbound", unbind_and_bind);
	test_busy_loss();
	test_kill();
	test_sleep();
	test_bursts();
	return tap_done();
}
