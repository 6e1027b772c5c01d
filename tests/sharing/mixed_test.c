// SPDX-License-Identifier: MIT
/*
 * Processes of eight threads each that make all calls of the library at the same time, on one device.
 * Every result is compared. Each process tries what the others have: tokens, numbers of the driver,
 * mmap() offsets, queue pages; what is refused is counted. In the end nothing may be left.
 *
 *   NNHAL_TEST_DEVICE     device (default: sim; there each process has its own)
 *   NNPU_MIXED_MS         how long new calls are begun (default 2000). Each kind is made in each
 *                         process in any case
 *   NNPU_MIXED_PROCESSES  processes (default 8, on the device in the process 2)
 */
#include <errno.h>
#include <glob.h>
#include <grp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device_nodes.h"
#include "mixed.h"

/* Handles of the device that a process opens beside its two. */
#define HANDLES		2
/* After that long somebody waits for what does not come. */
#define LIMIT_S		900
#define LEFT_MS		20000

struct shared *shared;

static unsigned int setting(const char *name, unsigned int value)
{
	const char *text = getenv(name);

	return text ? (unsigned int)strtoul(text, NULL, 10) : value;
}

static void fail(unsigned int process, const struct worker *w, const char *what)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&lock);
	if (!atomic_exchange(&shared->failed, true))
		snprintf(shared->message, sizeof(shared->message), "process %u: %s: %s, %s", process,
			 what, w ? nnhal_status_name((int)w->status) : "", w ? w->diag.message : "");
	pthread_mutex_unlock(&lock);
}

/* Until all processes are there; false: one of them has given up. */
static bool meet(unsigned int point)
{
	atomic_fetch_add(&shared->arrived[point], 1);
	while (atomic_load(&shared->arrived[point]) < shared->num_processes) {
		if (atomic_load(&shared->failed))
			return false;
		usleep(1000);
	}
	return true;
}

/* ---- a process ---- */

static bool prepare(struct nnhal_device *device, const struct fixture *f,
		    struct nnhal_prepared_model **model)
{
	return !nnhal_device_prepare_model_sync(device, &f->model, NULL, model);
}

static bool make_buffer(struct party *p)
{
	struct nnhal_buffer_role role = { 0, 0, 1.0f };
	struct nnhal_buffer_desc desc = NNHAL_BUFFER_DESC_INIT;
	unsigned int i;
	float *map;

	if (nnhal_memory_create(BYTES, &p->content, NULL) ||
	    nnhal_device_allocate(p->device, &desc, &p->model, 1, &role, 1, NULL, 0, &p->buffer,
				  &p->token, NULL))
		return false;
	map = nnhal_memory_map(p->content, NULL);
	for (i = 0; map && i < FLOATS; i++)
		map[i] = (float)(p->number * 10000 + i);
	return map && !nnhal_buffer_copy_from(p->buffer, p->content, NULL, 0, NULL);
}

/* What the threads share; the name of what is missing, or NULL. */
static const char *party_init(struct party *p, unsigned int number)
{
	unsigned int peer = (number + shared->num_processes - 1) % shared->num_processes;

	p->number = number;
	p->own = &shared->parts[number];
	pthread_mutex_init(&p->controller_lock, NULL);
	sem_init(&p->handles, 0, HANDLES);
	p->own->factor = (float)(number + 2);
	mixed_model(&p->model_fixture, p->own->factor);
	make_while(&p->loop_fixture);
	if (nnhal_device_open(test_device_spec(), &p->device, NULL) ||
	    nnhal_device_open(test_device_spec(), &p->bare_device, NULL))
		return "open";
	if (!prepare(p->device, &p->model_fixture, &p->model) ||
	    !prepare(p->bare_device, &p->model_fixture, &p->bare_model) ||
	    !prepare(p->device, &p->loop_fixture, &p->loop))
		return "prepare";
	if (nnhal_burst_create(p->model, NULL, &p->burst))
		return "burst";
	if (!make_buffer(p))
		return "buffer";
	p->own->token = p->token;
	p->intruder = intruder_create(p->own, number);
	if (!p->intruder)
		return "objects of the driver";
	if (nnhal_burst_serve(shared->serve[number], p->model, NULL, &p->server))
		return "serve";
	if (!meet(0))
		return "another process has failed";
	if (nnhal_burst_connect(shared->connect[peer], NULL, &p->controller))
		return "connect";
	p->controller_factor = shared->parts[peer].factor;
	return NULL;
}

static void party_fini(struct party *p)
{
	nnhal_burst_controller_destroy(p->controller);
	nnhal_burst_server_destroy(p->server);
	intruder_destroy(p->intruder);
	nnhal_buffer_unref(p->buffer);
	nnhal_memory_unref(p->content);
	nnhal_burst_unref(p->burst);
	nnhal_prepared_model_unref(p->loop);
	nnhal_prepared_model_unref(p->bare_model);
	nnhal_prepared_model_unref(p->model);
	nnhal_device_unref(p->bare_device);
	nnhal_device_unref(p->device);
}

static bool call(struct worker *w, unsigned int n)
{
	if (atomic_load(&shared->failed))
		return false;
	if (!mixed_ops[n].run(w)) {
		char text[256];

		snprintf(text, sizeof(text), "%s: %s", mixed_ops[n].name, w->what);
		fail(w->party->number, w, text);
		return false;
	}
	atomic_fetch_add(&w->party->own->calls[n], 1);
	return true;
}

static void *work(void *data)
{
	struct worker *w = data;
	unsigned int n;

	/* Each kind once in each process, whatever the time. */
	for (n = w->number; n < num_mixed_ops; n += THREADS)
		if (!call(w, n))
			return NULL;
	while (mixed_now_ns() < shared->end_ns)
		if (!call(w, mixed_random(w, num_mixed_ops)))
			return NULL;
	return NULL;
}

static void run_workers(struct party *p)
{
	static struct worker workers[THREADS];
	unsigned int i, begun;

	for (i = 0; i < THREADS; i++) {
		struct worker *w = &workers[i];

		w->party = p;
		w->number = i;
		w->random = (p->number * THREADS + i + 1) * UINT64_C(0x9e3779b97f4a7c15);
		if (nnhal_memory_create(MEMORY_SIZE, &w->memory, NULL) ||
		    !(w->map = nnhal_memory_map(w->memory, NULL)) ||
		    pthread_create(&w->thread, NULL, work, w)) {
			fail(p->number, NULL, "threads");
			break;
		}
	}
	for (begun = i, i = 0; i < begun; i++) {
		pthread_join(workers[i].thread, NULL);
		nnhal_memory_unref(workers[i].memory);
	}
}

/* A thread that was joined may still be on its way out. */
static void count_left(struct published *own)
{
	uint64_t until = mixed_now_ns() + LEFT_MS * UINT64_C(1000000);

	for (;;) {
		atomic_store(&own->descriptors[1], count_entries("/proc/self/fd"));
		atomic_store(&own->threads[1], count_entries("/proc/self/task"));
		if ((own->descriptors[1] == own->descriptors[0] &&
		     own->threads[1] == own->threads[0]) || mixed_now_ns() >= until)
			return;
		usleep(10000);
	}
}

static int process_main(unsigned int number)
{
	static struct party party;
	struct published *own = &shared->parts[number];
	const char *missing;

	alarm(LIMIT_S + (unsigned int)((shared->end_ns - mixed_now_ns()) / 1000000000));
	if (!shared->is_sim && !geteuid() &&
	    (setgroups(0, NULL) || setgid(UID_FIRST + number) || setuid(UID_FIRST + number)))
		return 2;
	atomic_store(&own->descriptors[0], count_entries("/proc/self/fd"));
	atomic_store(&own->threads[0], count_entries("/proc/self/task"));
	missing = party_init(&party, number);
	if (missing)
		fail(number, NULL, missing);
	else if (meet(1))
		run_workers(&party);
	/* A server stays until its client has ended; what is in a socket goes with it. */
	meet(2);
	party_fini(&party);
	count_left(own);
	return atomic_load(&shared->failed);
}

/* ---- what is left on the device ---- */

#define NUM_LEFT	6

static const char *const left_names[NUM_LEFT] = {
	"contexts", "slots", "programs", "jobs", "buffers", "queues",
};

/* All lines of a file of debugfs in one text; false: there is none. */
static bool read_debugfs(const char *name, char *text, size_t size)
{
	char path[128];
	FILE *f = NULL;
	size_t n;
	glob_t g;

	snprintf(path, sizeof(path), "/sys/kernel/debug/{accel,dri}/*/%s", name);
	if (glob(path, GLOB_BRACE, NULL, &g))
		return false;
	f = fopen(g.gl_pathv[0], "r");
	globfree(&g);
	if (!f)
		return false;
	n = fread(text, 1, size - 1, f);
	text[n] = '\0';
	fclose(f);
	return true;
}

static long value_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtol(at + strlen(name), NULL, 0) : -1;
}

static bool is_left(const char *before, char *after, size_t size)
{
	unsigned int i;

	if (!read_debugfs("objects", after, size))
		return true;
	/* What others had before may have gone meanwhile. */
	for (i = 0; i < NUM_LEFT; i++)
		if (value_of(after, left_names[i]) < 0 ||
		    value_of(after, left_names[i]) > value_of(before, left_names[i]))
			return true;
	return false;
}

static void test_left(const char *before, const char *stats)
{
	static const char *const names[] = { "hangs", "queue_resets", "device_resets",
					     "admin_timeouts", "unknown_cids", "bad_completions" };
	uint64_t until = mixed_now_ns() + LEFT_MS * UINT64_C(1000000);
	char after[4096];
	unsigned int i;
	bool left;

	if (!before[0]) {
		tap_skip("no debugfs: what is left on the device");
		return;
	}
	/* Released by work of the driver. */
	while ((left = is_left(before, after, sizeof(after))) && mixed_now_ns() < until)
		usleep(10000);
	ok(!left, "contexts, slots, programs, jobs, buffers and queues as before");
	if (left)
		tap_note("before:\n# %s# after:\n# %s", before, after);
	if (!read_debugfs("stats", after, sizeof(after)))
		after[0] = '\0';
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ok(value_of(after, names[i]) == value_of(stats, names[i]) &&
		   value_of(stats, names[i]) >= 0, "%s: none", names[i]);
}

/* ---- all of them ---- */

static bool make_sockets(void)
{
	unsigned int i;
	int sv[2];

	for (i = 0; i < shared->num_processes; i++) {
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
			return false;
		shared->serve[i] = sv[0];
		shared->connect[i] = sv[1];
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
			return false;
		shared->send[i] = sv[0];
		shared->receive[(i + 1) % shared->num_processes] = sv[1];
	}
	return true;
}

static void close_sockets(void)
{
	unsigned int i;

	for (i = 0; i < shared->num_processes; i++) {
		close(shared->serve[i]);
		close(shared->connect[i]);
		close(shared->send[i]);
		close(shared->receive[i]);
	}
}

static void test_counts(void)
{
	static const char *const loot[NUM_LOOT] = {
		"tokens", "GEM handles", "mmap offsets of buffers", "contexts", "programs", "slots",
		"slots in arguments", "queues", "queue pages",
	};
	unsigned int i, n;

	for (n = 0; n < num_mixed_ops; n++) {
		unsigned int sum = 0, least = UINT32_MAX;

		for (i = 0; i < shared->num_processes; i++) {
			unsigned int calls = atomic_load(&shared->parts[i].calls[n]);

			sum += calls;
			least = calls < least ? calls : least;
		}
		ok(least, "%s: %u times with the right result", mixed_ops[n].name, sum);
	}
	for (n = 0; n < NUM_LOOT; n++) {
		unsigned int sum = 0;

		for (i = 0; i < shared->num_processes; i++)
			sum += atomic_load(&shared->parts[i].refused[n]);
		/* The rest is the driver's. */
		if (n == LOOT_TOKEN || !shared->is_sim)
			ok(sum, "%s of others: %u attempts, all refused", loot[n], sum);
	}
}

static void test_mixed(void)
{
	char objects[4096] = "", stats[4096] = "";
	pid_t pids[MAX_PROCESSES];
	unsigned int i, good = 0, same = 0;

	if (!ok(make_sockets(), "sockets"))
		return;
	if (!shared->is_sim) {
		read_debugfs("objects", objects, sizeof(objects));
		read_debugfs("stats", stats, sizeof(stats));
	}
	fflush(stdout);
	for (i = 0; i < shared->num_processes; i++) {
		pids[i] = fork();
		if (!pids[i])
			_exit(process_main(i));
	}
	close_sockets();
	for (i = 0; i < shared->num_processes; i++) {
		int status = -1;

		if (pids[i] > 0)
			waitpid(pids[i], &status, 0);
		if (status)
			fail(i, NULL, "ended early");
		good += !status;
	}
	ok(good == shared->num_processes, "%u of %u processes, %u threads each, to the end: %s", good,
	   shared->num_processes, THREADS, shared->message);
	test_counts();
	for (i = 0; i < shared->num_processes; i++) {
		struct published *p = &shared->parts[i];

		same += p->descriptors[0] && p->descriptors[0] == p->descriptors[1] &&
			p->threads[0] == p->threads[1];
		if (p->descriptors[0] != p->descriptors[1] || p->threads[0] != p->threads[1])
			tap_note("process %u: descriptors %u, then %u; threads %u, then %u", i,
				 p->descriptors[0], p->descriptors[1], p->threads[0],
				 p->threads[1]);
	}
	ok(same == shared->num_processes,
	   "descriptors and threads of %u processes as before", same);
	if (!shared->is_sim)
		test_left(objects, stats);
}

int main(void)
{
	unsigned int ms = setting("NNPU_MIXED_MS", 2000), processes;

	/* Skips where there is no device. */
	nnhal_device_unref(test_device_open());
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED) {
		printf("Bail out! mmap: %s\n", strerror(errno));
		return 1;
	}
	shared->is_sim = !strncmp(test_device_spec(), "sim", 3);
	processes = setting("NNPU_MIXED_PROCESSES", shared->is_sim ? 2 : 8);
	shared->num_processes = processes < 2 ? 2 : processes > MAX_PROCESSES ? MAX_PROCESSES
									       : processes;
	shared->end_ns = mixed_now_ns() + ms * UINT64_C(1000000);
	if (!shared->is_sim)
		nodes_open();
	test_mixed();
	if (!shared->is_sim)
		nodes_close();
	return tap_done();
}
