// SPDX-License-Identifier: MIT
/*
 * System calls of a burst on a hardware device, counted by a tracer: none while the
 * waiter looks, one for each time it sleeps; results as execute gives them. How often
 * it sleeps is printed and decides nothing: that depends on what else the machine does.
 * Reading the clock is no system call but where the machine has no clock for it.
 *
 * The tracer is a child of this process. It counts the entries to system calls between
 * two getppid(), which nothing else here uses.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burst_internal.h"
#include "nnhal_fixture.h"

#define REQUESTS	2000

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

/* What the two processes share. */
struct shared {
	atomic_uint attached;		/* 1: counting, 2: cannot be done */
	/* Between the last two getppid(). */
	atomic_uint ioctls;
	atomic_uint clocks;
	atomic_uint others;
};

static struct shared *shared;

/* In the child: trace @pid until it ends tracing by exiting or by a third marker. */
static void trace(pid_t pid)
{
	unsigned int ioctls = 0, clocks = 0, others = 0;
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
				atomic_store(&shared->ioctls, ioctls);
				atomic_store(&shared->clocks, clocks);
				atomic_store(&shared->others, others);
				ioctls = 0;
				clocks = 0;
				others = 0;
			} else {
				ioctls += info.number == SYS_ioctl;
				clocks += info.number == SYS_clock_gettime;
				others += info.number != SYS_ioctl &&
					  info.number != SYS_clock_gettime;
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

static void count_calls(const char *what, struct nnhal_burst *burst, struct run *r)
{
	unsigned int i, wrong = 0;
	uint64_t sleeps;

	/* What is met for the first time is bound with system calls. */
	nnhal_burst_execute(burst, &r->request, NULL, NULL, NULL, NULL);
	sleeps = burst->num_sleeps;
	syscall(SYS_getppid);
	for (i = 0; i < REQUESTS; i++) {
		memset(r->map + RUN_OUTPUT(0), 0xee, 16);
		wrong += nnhal_burst_execute(burst, &r->request, NULL, NULL, NULL, NULL) ||
			 !run_output_is_right(r, 4);
	}
	syscall(SYS_getppid);
	sleeps = burst->num_sleeps - sleeps;
	tap_note("%s: %u requests, %llu sleeps; %u ioctls, %u of the clock, %u others", what,
		 REQUESTS, (unsigned long long)sleeps, atomic_load(&shared->ioctls),
		 atomic_load(&shared->clocks), atomic_load(&shared->others));
	ok(!wrong, "%s: each of %u results is right", what, REQUESTS);
	/* The clock now and then, to learn how long things take, but not each time. */
	ok(atomic_load(&shared->ioctls) == sleeps && !atomic_load(&shared->others) &&
	   atomic_load(&shared->clocks) <= sleeps + REQUESTS / 50,
	   "%s: no system call but one for each sleep", what);
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

	memset(r->map + RUN_OUTPUT(0), 0xee, 16);
	if (!ok(before == 1 && !mprotect(r->map, size, PROT_NONE), "operands are out of reach"))
		return;
	during = accessible_mappings(nnhal_memory_fd(r->memory));
	syscall(SYS_getppid);
	for (i = 0; i < REQUESTS; i++)
		failed += nnhal_burst_execute(burst, &r->request, NULL, NULL, NULL, NULL) != 0;
	syscall(SYS_getppid);
	mprotect(r->map, size, PROT_READ | PROT_WRITE);
	ok(!failed && !during && !atomic_load(&shared->others) && run_output_is_right(r, 4),
	   "%u requests with operands that no CPU can touch", REQUESTS);
}

static void test_calls(struct nnhal_prepared_model *model, struct run *r)
{
	struct nnhal_burst_options o = NNHAL_BURST_OPTIONS_INIT;
	struct nnhal_burst *spins, *sleeps;

	o.spin_us = 100000;
	if (!ok(!nnhal_burst_create(model, &o, &spins), "a burst that looks"))
		return;
	o.spin_us = 0;
	if (!ok(!nnhal_burst_create(model, &o, &sleeps), "a burst that sleeps")) {
		nnhal_burst_unref(spins);
		return;
	}
	if (!spins->queue || !sleeps->queue) {
		tap_skip("system calls: this driver gives bursts no queue");
	} else {
		count_calls("a burst that looks", spins, r);
		count_calls("a burst that sleeps at once", sleeps, r);
		test_no_copy(spins, r);
	}
	nnhal_burst_unref(spins);
	nnhal_burst_unref(sleeps);
}

int main(void)
{
	struct nnhal_prepared_model *model;
	struct nnhal_device *device;
	static struct fixture f;
	struct run r;
	pid_t tracer = 0;

	if (strncmp(test_device_spec(), "drm", 3))
		tap_skip_all("system calls: the in-process device makes its own");
	device = test_device_open();
	make_add_relu(&f);
	run_init(&r, 4);
	if (nnhal_device_prepare_model_sync(device, &f.model, NULL, &model)) {
		printf("Bail out! model cannot be prepared\n");
		return 1;
	}
	if (start_tracer(&tracer))
		test_calls(model, &r);
	else
		tap_skip("system calls: this process cannot be traced");
	if (tracer > 0) {
		kill(tracer, SIGKILL);
		waitpid(tracer, NULL, 0);
	}
	nnhal_prepared_model_unref(model);
	run_fini(&r);
	nnhal_device_unref(device);
	return tap_done();
}
