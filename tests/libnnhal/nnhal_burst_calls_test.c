// SPDX-License-Identifier: MIT
/*
 * What the kernel sees of a burst on a hardware device.
 *
 *  - Its executions go by its queue: the driver counts no job, and yet the device has
 *    worked. A burst that falls back to SUBMIT fails here.
 *  - An execution that spins for its result makes no system call, one that sleeps makes
 *    exactly one, QUEUE_WAIT.
 *  - The CPU copies no operand.
 *
 * A tracer counts the system calls (ptrace stops at each entry) and tells them apart; the
 * driver counts jobs and the time of the device (fdinfo). Nothing is asked of the library.
 *
 * How long a result takes is up to the machine. On one that stalls a spinning waiter sleeps in
 * the end; therefore a round of ROUND executions without a system call must come, within
 * ROUNDS. A waiter that sleeps at once may find the result before it does; therefore only
 * executions with a system call are counted, until there are ROUND of them.
 *
 * The tracer is a child of this process. It counts the entries between two getppid(),
 * which nothing else here uses.
 */
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <drm/nnpu_accel.h>

#include "nnhal_fixture.h"

/* Executions of a round, and rounds at most. */
#define ROUND		250
#define ROUNDS		20
/* Executions by SUBMIT that the driver has to count. */
#define SUBMITS		10
/*
 * Iterations of a loop that takes about ten milliseconds: usually a waiter is asleep before. ROUND of
 * them take longer than the second by which the library bounds a sleep.
 */
#define ITERATIONS	20000
/*
 * A sleep that lasts so long makes the driver arm the interrupt once more. The second interrupt
 * may wake the waiter of the same execution, or that of the next one, for nothing.
 */
#define STALL_NS	UINT64_C(250000000)

#ifndef PTRACE_GET_SYSCALL_INFO
#define PTRACE_GET_SYSCALL_INFO	0x420e
#endif

/* struct ptrace_syscall_info as far as it is used here, by the kernel's layout. */
struct call_info {
	uint8_t op;			/* 1: entry */
	uint8_t pad[3];
	uint32_t arch;
	uint64_t instruction_pointer;
	uint64_t stack_pointer;
	uint64_t number;
	uint64_t args[8];
};

/* System calls by kind. */
struct calls {
	unsigned int queue_creates;
	unsigned int queue_waits;
	unsigned int submits;
	unsigned int clocks;
	unsigned int others;
};

/* What the two processes share. */
struct shared {
	atomic_uint attached;		/* 1: counting, 2: cannot be done */
	/* Between the last two getppid(). */
	struct calls calls;
};

static struct shared *shared;
/* Reading the clock is a system call. */
static bool clock_calls;

static void count(struct calls *calls, const struct call_info *info)
{
	uint32_t request = info->number == SYS_ioctl ? (uint32_t)info->args[1] : 0;

	if (request == DRM_IOCTL_NNPU_QUEUE_CREATE)
		calls->queue_creates++;
	else if (request == DRM_IOCTL_NNPU_QUEUE_WAIT)
		calls->queue_waits++;
	else if (request == DRM_IOCTL_NNPU_SUBMIT)
		calls->submits++;
	else if (info->number == SYS_clock_gettime)
		calls->clocks++;
	else
		calls->others++;
}

/* In the child: trace @pid until it ends. */
static void trace(pid_t pid)
{
	struct calls calls = { 0 };
	struct call_info info;
	int status;

	if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)(uintptr_t)PTRACE_O_TRACESYSGOOD) ||
	    ptrace(PTRACE_INTERRUPT, pid, NULL, NULL)) {
		atomic_store(&shared->attached, 2);
		return;
	}
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		if (WSTOPSIG(status) == (SIGTRAP | 0x80) &&
		    ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info) > 0 &&
		    info.op == 1) {
			if (info.number == SYS_getppid) {
				/* The traced process stands still: it reads this afterwards. */
				shared->calls = calls;
				memset(&calls, 0, sizeof(calls));
			} else {
				count(&calls, &info);
			}
		}
		atomic_store(&shared->attached, 1);
		if (ptrace(PTRACE_SYSCALL, pid, NULL, NULL))
			break;
	}
}

static bool start_tracer(pid_t *tracer)
{
	pid_t parent = getpid();

	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return false;
	*tracer = fork();
	if (!*tracer) {
		trace(parent);
		_exit(0);
	}
	prctl(PR_SET_PTRACER, *tracer, 0, 0, 0);
	while (*tracer > 0 && !atomic_load(&shared->attached))
		usleep(1000);
	return *tracer > 0 && atomic_load(&shared->attached) == 1;
}

static void begin_count(void)
{
	syscall(SYS_getppid);
}

static struct calls end_count(void)
{
	syscall(SYS_getppid);
	return shared->calls;
}

/* Does the tracer see what this process does? The counts below mean nothing otherwise. */
static void test_tracer(void)
{
	struct timespec ts;
	struct calls c;

	begin_count();
	syscall(SYS_getuid);
	syscall(SYS_getuid);
	c = end_count();
	ok(c.others == 2 && !c.queue_waits && !c.submits && !c.clocks,
	   "the tracer counts two system calls as two");
	begin_count();
	clock_gettime(CLOCK_MONOTONIC, &ts);
	c = end_count();
	clock_calls = c.clocks;
	tap_note("reading the clock %s a system call here", clock_calls ? "is" : "is not");
}

/* A number of all devices that this process has open, by fdinfo; UINT64_MAX: none has it. */
static uint64_t fdinfo(const char *key)
{
	DIR *dir = opendir("/proc/self/fdinfo");
	uint64_t sum = 0, value;
	char path[300], line[256];
	bool found = false;
	struct dirent *e;
	FILE *f;

	while (dir && (e = readdir(dir))) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", e->d_name);
		f = fopen(path, "r");
		while (f && fgets(line, sizeof(line), f)) {
			size_t length = strlen(key);

			if (!strncmp(line, key, length) && line[length] == ':' &&
			    sscanf(line + length + 1, "%" SCNu64, &value) == 1) {
				sum += value;
				found = true;
			}
		}
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
	return found ? sum : UINT64_MAX;
}

static unsigned int threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *e;
	unsigned int n = 0;

	while (dir && (e = readdir(dir)))
		n += isdigit((unsigned char)e->d_name[0]) != 0;
	if (dir)
		closedir(dir);
	return n;
}

/* ROUND executions of make_add_relu(); how many of them failed or gave a wrong result. */
static unsigned int execute_round(struct nnhal_burst *burst, struct run *r)
{
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < ROUND; i++) {
		memset(r->map + RUN_OUTPUT(0), 0xee, 16);
		wrong += nnhal_burst_execute(burst, &r->request, NULL, NULL, NULL, NULL) ||
			 !run_output_is_right(r, 4);
	}
	return wrong;
}

static bool loop_is_right(const struct run *r)
{
	float value;

	memcpy(&value, r->map + RUN_OUTPUT(0), sizeof(value));
	return value == 1;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/*
 * Executions without a burst, with a deadline or without. The library's own queue takes none with a
 * deadline.
 */
static unsigned int execute_plain(struct nnhal_prepared_model *model, struct run *r, bool deadline)
{
	struct nnhal_execute_options options = NNHAL_EXECUTE_OPTIONS_INIT;
	unsigned int wrong = 0, i;

	options.has_deadline = deadline;
	options.deadline_ns = now_ns() + 3600000000000ull;
	for (i = 0; i < SUBMITS; i++)
		wrong += nnhal_prepared_model_execute_synchronously(model, &r->request, &options,
								    NULL, NULL, NULL) != 0;
	return wrong;
}

/* The driver has jobs to count for SUBMIT, none for the queue of a burst or of the library. */
static void test_queue(struct nnhal_prepared_model *model, struct nnhal_burst *burst,
		       struct run *r)
{
	uint64_t jobs = fdinfo("nnpu-jobs-submitted"), busy;
	unsigned int wrong;
	struct calls c;

	begin_count();
	wrong = execute_plain(model, r, true);
	c = end_count();
	ok(!wrong && c.submits == SUBMITS && jobs != UINT64_MAX &&
	   fdinfo("nnpu-jobs-submitted") == jobs + SUBMITS,
	   "the driver counts %u executions with a deadline as %u jobs", SUBMITS, SUBMITS);
	jobs = fdinfo("nnpu-jobs-submitted");
	begin_count();
	wrong = execute_plain(model, r, false);
	c = end_count();
	ok(!wrong && !c.submits && c.queue_creates <= 1 && fdinfo("nnpu-jobs-submitted") == jobs,
	   "it counts %u executions on the library's queue as none: %u SUBMIT, %u QUEUE_CREATE",
	   SUBMITS, c.submits, c.queue_creates);
	jobs = fdinfo("nnpu-jobs-submitted");
	busy = fdinfo("drm-engine-npu");
	begin_count();
	wrong = execute_round(burst, r);
	c = end_count();
	ok(!wrong && !c.submits && fdinfo("nnpu-jobs-submitted") == jobs,
	   "it counts %u executions in a burst as none: %u wrong results, %u SUBMIT", ROUND,
	   wrong, c.submits);
	ok(busy != UINT64_MAX && fdinfo("drm-engine-npu") > busy,
	   "the device has worked for them all the same");
}

/* What is met for the first time is bound with system calls. */
static bool is_ready(const char *what, struct nnhal_burst *burst, struct run *r)
{
	return ok(!nnhal_burst_execute(burst, &r->request, NULL, NULL, NULL, NULL), "%s: ready",
		  what) &&
	       ok(threads() == 1, "%s: no thread has system calls that nobody counts", what);
}

/* Rounds until one has no system call at all. None may have another one than QUEUE_WAIT. */
static void test_spins(const char *what, struct nnhal_burst *burst, struct run *r)
{
	unsigned int wrong = 0, strange = 0, round = 0, calls = 1;

	if (!is_ready(what, burst, r))
		return;
	while (calls && !strange && round++ < ROUNDS) {
		struct calls c;

		begin_count();
		wrong += execute_round(burst, r);
		c = end_count();
		strange += c.submits + c.queue_creates + c.others;
		calls = c.queue_waits + c.clocks + c.submits + c.queue_creates + c.others;
		tap_note("%s, round %u: %u QUEUE_WAIT, %u SUBMIT, %u of the clock, %u others", what,
			 round, c.queue_waits, c.submits, c.clocks, c.others);
	}
	ok(!wrong, "%s: each result is right", what);
	ok(!strange, "%s: no system call but to sleep", what);
	ok(!calls, "%s: %u executions make no system call", what, ROUND);
}

/* Executions until ROUND of them have slept with one system call. None may make two. */
static void test_sleeps(const char *what, struct nnhal_burst *burst, struct run *r)
{
	unsigned int wrong = 0, strange = 0, slept = 0, again = 0, clocks = 0, stalled = 0, n;
	uint64_t begin = now_ns(), start = begin, last, seconds;

	if (!is_ready(what, burst, r))
		return;
	for (n = 0; slept < ROUND && !strange && n < ROUNDS * ROUND; n++) {
		struct calls c;

		last = start;
		start = now_ns();
		memset(r->map + RUN_OUTPUT(0), 0xee, 16);
		begin_count();
		wrong += nnhal_burst_execute(burst, &r->request, NULL, NULL, NULL, NULL) != 0;
		c = end_count();
		wrong += !loop_is_right(r);
		strange += c.submits + c.queue_creates + c.others;
		clocks += c.clocks;
		slept += c.queue_waits == 1;
		if (c.queue_waits > 1 && now_ns() - last > STALL_NS)
			stalled++;
		else
			again += c.queue_waits > 1;
	}
	seconds = (now_ns() - begin) / 1000000000;
	tap_note("%s: %u of %u executions slept once, %u more than once, %u of these in a stall; %u of the clock in %llu s",
		 what, slept, n, again + stalled, stalled, clocks, (unsigned long long)seconds);
	ok(!wrong, "%s: each result is right", what);
	/*
	 * About twice a second the library reads the clock, for the end of its sleeps. That is
	 * a system call only where user space cannot read the clock.
	 */
	ok(!strange && clocks <= (clock_calls ? 4 * (seconds + 1) : 0),
	   "%s: no system call but to sleep", what);
	ok(!again, "%s: no execution makes two system calls", what);
	ok(slept == ROUND, "%s: %u executions make one", what, ROUND);
}

/* Mappings of the file behind @fd in this process that can be read or written. */
static int accessible_mappings(int fd)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long inode;
	char line[512], access[8];
	struct stat st;
	int n = 0;

	if (!maps || fstat(fd, &st)) {
		if (maps)
			fclose(maps);
		return -1;
	}
	while (fgets(line, sizeof(line), maps))
		n += sscanf(line, "%*s %7s %*s %*s %lu", access, &inode) == 2 &&
		     inode == st.st_ino && strncmp(access, "--", 2);
	fclose(maps);
	return n;
}

/*
 * No operand is copied by the CPU: this process cannot reach the memory, and there is
 * no system call in which the kernel could.
 */
static void test_no_copy(struct nnhal_burst *burst, struct run *r)
{
	size_t size = (size_t)nnhal_memory_size(r->memory);
	int before = accessible_mappings(nnhal_memory_fd(r->memory)), during;
	unsigned int i, failed = 0;
	struct calls c;

	memset(r->map + RUN_OUTPUT(0), 0xee, 16);
	if (!ok(before == 1 && !mprotect(r->map, size, PROT_NONE), "operands are out of reach"))
		return;
	during = accessible_mappings(nnhal_memory_fd(r->memory));
	begin_count();
	for (i = 0; i < ROUND; i++)
		failed += nnhal_burst_execute(burst, &r->request, NULL, NULL, NULL, NULL) != 0;
	c = end_count();
	mprotect(r->map, size, PROT_READ | PROT_WRITE);
	ok(!failed && !during && !c.submits && !c.others && run_output_is_right(r, 4),
	   "%u requests with operands that no CPU can touch", ROUND);
}

/* A burst; the driver has to give it a queue. */
static struct nnhal_burst *create_burst(struct nnhal_prepared_model *model, uint32_t spin_us,
					const char *what)
{
	struct nnhal_burst_options o = NNHAL_BURST_OPTIONS_INIT;
	struct nnhal_burst *burst;
	enum nnhal_status status;
	struct calls c;

	o.spin_us = spin_us;
	begin_count();
	status = nnhal_burst_create(model, &o, &burst);
	c = end_count();
	ok(!status && c.queue_creates == 1, "%s: the driver is asked for a queue", what);
	return burst;
}

static void test_spinning(struct nnhal_device *device)
{
	static const char what[] = "a burst that spins";
	struct nnhal_prepared_model *model;
	struct nnhal_burst *burst;
	static struct fixture f;
	struct run r;

	make_add_relu(&f);
	run_init(&r, 4);
	if (!ok(!nnhal_device_prepare_model_sync(device, &f.model, NULL, &model),
		"a model of two operations"))
		return;
	burst = create_burst(model, 100000, what);
	if (burst) {
		test_queue(model, burst, &r);
		test_spins(what, burst, &r);
		test_no_copy(burst, &r);
	}
	nnhal_burst_unref(burst);
	nnhal_prepared_model_unref(model);
	run_fini(&r);
}

/* The model takes longer than it takes to fall asleep. */
static void test_sleeping(struct nnhal_device *device)
{
	static const char what[] = "a burst that sleeps at once";
	static const float from = 1 - ITERATIONS, step = 1;
	struct nnhal_prepared_model *model;
	struct nnhal_burst *burst;
	static struct fixture f;
	struct run r;

	make_while(&f);
	run_init(&r, 1);
	memcpy(r.map + RUN_INPUT(0), &from, sizeof(from));
	memcpy(r.map + RUN_INPUT(1), &step, sizeof(step));
	if (!ok(!nnhal_device_prepare_model_sync(device, &f.model, NULL, &model),
		"a model with a loop"))
		return;
	burst = create_burst(model, 0, what);
	if (burst)
		test_sleeps(what, burst, &r);
	nnhal_burst_unref(burst);
	nnhal_prepared_model_unref(model);
	run_fini(&r);
}

int main(void)
{
	struct nnhal_device *device;
	pid_t tracer = 0;

	if (strncmp(test_device_spec(), "drm", 3))
		tap_skip_all("system calls: the in-process device makes its own");
	device = test_device_open();
	if (ok(start_tracer(&tracer), "a tracer counts the system calls of this process")) {
		test_tracer();
		test_spinning(device);
		test_sleeping(device);
	}
	if (tracer > 0) {
		kill(tracer, SIGKILL);
		waitpid(tracer, NULL, 0);
	}
	nnhal_device_unref(device);
	return tap_done();
}
