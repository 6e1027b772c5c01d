// SPDX-License-Identifier: MIT
/*
 * The instructions of one execution in a burst.
 *
 * A child process executes in a burst; this process single-steps the child's calling
 * thread from the first instruction of nnhal_burst_execute() to its return. So each
 * instruction counts, whatever library it is in, and the count does not depend on how
 * fast the machine is.
 *
 * The device, which is not traced, has a result ready long before the thread that is
 * single-stepped gets to look for it. The smallest count of several executions is
 * therefore that of an execution with one look at the ring.
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../common/json.h"
#include "nnbench.h"
#include "nnbench_instructions.h"
#include "nnbench_symbols.h"

/* More than a ring has entries, so that its wrap-around is among them. */
#define EXECUTIONS	70
#define WARM_UP		300
/* An execution that takes more steps has waited for something. That is an error. */
#define MAX_STEPS	1000000u
#define MAX_FUNCTIONS	256

/* How the executions are called. */
struct way {
	const char *name;
	const char *what;
	bool as_nnrun, is_bound, is_single;
};

static const struct way ways[] = {
	{ "as_nnrun", "as nnrun --burst calls it: with options for a message, with times",
	  true, false, false },
	{ "plain", "without options", false, false, false },
	{ "bound", "a bound request, in a burst that one thread uses", false, true, true },
	{ "bound_shared", "a bound request, in a burst for any thread", false, true, false },
};

struct function {
	struct symbol_name name;
	uint64_t count;
};

struct counts {
	uint64_t smallest, largest;
	uint64_t system_calls;		/* of the smallest */
	uintptr_t *at;			/* addresses of the instructions of the smallest */
	struct function functions[MAX_FUNCTIONS];
	unsigned int num_functions;
};

/* The registers that matter. */
struct state {
	uintptr_t pc, sp, link;
};

static int get_state(pid_t pid, struct state *s)
{
	struct user_regs_struct regs;
	struct iovec iov = { &regs, sizeof(regs) };

	if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &iov))
		return -1;
#if defined(__x86_64__)
	s->pc = regs.rip;
	s->sp = regs.rsp;
	s->link = 0;
#elif defined(__aarch64__)
	s->pc = regs.pc;
	s->sp = regs.sp;
	s->link = regs.regs[30];
#else
#error "nnbench does not know the registers of this machine"
#endif
	return 0;
}

/* The return address of the function whose first instruction comes next. */
static int return_address(pid_t pid, const struct state *s, uintptr_t *to)
{
	long word;

	if (s->link) {
		*to = s->link;
		return 0;
	}
	errno = 0;
	word = ptrace(PTRACE_PEEKDATA, pid, (void *)s->sp, NULL);
	*to = (uintptr_t)word;
	return errno ? -1 : 0;
}

/* The child is the same program at the same addresses: its code can be read here. */
static bool is_system_call(uintptr_t pc)
{
#if defined(__x86_64__)
	return !memcmp((const void *)pc, "\x0f\x05", 2);
#else
	return !memcmp((const void *)pc, "\x01\x00\x00\xd4", 4);
#endif
}

static int step(pid_t pid, struct state *s)
{
	int status;

	if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) || waitpid(pid, &status, 0) != pid ||
	    !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
		return -1;
	return get_state(pid, s);
}

/*
 * Step through one call of the function at @entry and store the addresses in @at. Returns the
 * number of instructions, 0 after an error.
 */
static uint64_t step_through(pid_t pid, uintptr_t entry, uintptr_t *at)
{
	uintptr_t to = 0, last = 0, entry_sp = 0;
	uint64_t count = 0, steps;
	struct state s;

	if (get_state(pid, &s))
		return 0;
	for (steps = 0; steps < MAX_STEPS; steps++) {
		if (!to && s.pc == entry) {
			entry_sp = s.sp;
			if (return_address(pid, &s, &to))
				return 0;
		} else if (to && s.pc == to && s.sp >= entry_sp) {
			return count;
		}
		/* A repeated string instruction traps once per repetition; it counts once. */
		if (to && s.pc != last)
			at[count++] = s.pc;
		last = to ? s.pc : 0;
		if (step(pid, &s))
			return 0;
	}
	return steps;
}

/* One execution. */
static enum nnhal_status call(const struct way *way, struct nnhal_burst *burst,
			      struct add_request *r, struct nnhal_bound_request *bound,
			      struct nnhal_diag *diag)
{
	struct nnhal_execute_options options = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_timing timing;

	options.diag = diag;
	if (way->is_bound)
		return nnhal_burst_execute_bound(burst, bound, NULL, NULL, NULL, NULL);
	return nnhal_burst_execute(burst, &r->request, way->as_nnrun ? &options : NULL, NULL, NULL,
				   way->as_nnrun ? &timing : NULL);
}

/* The child. It raises a signal before each execution; that stops it for the parent. */
static void execute(const char *device_spec, const struct way *way)
{
	struct bench b = { .device_spec = device_spec };
	struct nnhal_diag diag = { "" };
	struct nnhal_bound_request *bound;
	struct nnhal_burst *burst;
	struct add_request r;

	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL)) {
		perror("nnbench: this process may not be traced");
		_exit(2);
	}
	if (prepare(&b))
		_exit(2);
	burst = open_burst(&b, 1, 1000000, way->is_single ? NNHAL_BURST_SINGLE_THREAD : 0);
	bound = bind_request(&b, &r);
	if (!burst || !bound)
		_exit(2);
	for (int i = 0; i < WARM_UP + EXECUTIONS; i++) {
		enum nnhal_status status;

		b.data[32] = 0;
		if (i >= WARM_UP)
			raise(SIGUSR1);
		status = call(way, burst, &r, bound, &diag);
		if (status || b.data[32] != 3) {
			failed("burst", status, &diag);
			_exit(2);
		}
	}
	nnhal_bound_request_unref(bound);
	nnhal_burst_unref(burst);
	unprepare(&b);
	_exit(0);
}

static void add_function(struct counts *c, uintptr_t pc)
{
	struct symbol_name name;
	unsigned int i;

	symbol_at(pc, &name);
	for (i = 0; i < c->num_functions; i++) {
		if (!strcmp(c->functions[i].name.function, name.function) &&
		    !strcmp(c->functions[i].name.object, name.object))
			break;
	}
	if (i == MAX_FUNCTIONS)
		i--;
	else if (i == c->num_functions)
		c->functions[c->num_functions++].name = name;
	c->functions[i].count++;
}

static int by_count(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return (x->count < y->count) - (x->count > y->count);
}

/* Follow the child to its end. */
static int trace(pid_t pid, const struct way *way, struct counts *c)
{
	uintptr_t entry = way->is_bound ? (uintptr_t)nnhal_burst_execute_bound
					: (uintptr_t)nnhal_burst_execute;
	uintptr_t *at = calloc(MAX_STEPS, sizeof(*at)), *swap;
	unsigned int executions = 0;
	int status = 0;

	c->smallest = UINT64_MAX;
	while (at && waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		int number = WSTOPSIG(status);
		uint64_t count;

		if (number == SIGUSR1) {
			count = step_through(pid, entry, at);
			if (!count)
				break;
			executions++;
			c->largest = count > c->largest ? count : c->largest;
			if (count < c->smallest) {
				c->smallest = count;
				swap = c->at;
				c->at = at;
				at = swap;
			}
			number = 0;
		}
		/* Other signals are passed on to the child. */
		if (ptrace(PTRACE_CONT, pid, NULL, (void *)(uintptr_t)number))
			break;
	}
	free(at);
	if (!WIFEXITED(status) && !WIFSIGNALED(status)) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) || executions != EXECUTIONS ||
	    c->smallest == MAX_STEPS) {
		fprintf(stderr, "nnbench: instructions: only %u of %d executions could be followed\n",
			executions, EXECUTIONS);
		return -1;
	}
	for (uint64_t i = 0; i < c->smallest; i++) {
		add_function(c, c->at[i]);
		c->system_calls += is_system_call(c->at[i]);
	}
	qsort(c->functions, c->num_functions, sizeof(c->functions[0]), by_count);
	return 0;
}

static int count_instructions(const char *device_spec, const struct way *way, struct counts *c)
{
	pid_t pid;

	memset(c, 0, sizeof(*c));
	c->at = calloc(MAX_STEPS, sizeof(*c->at));
	if (!c->at) {
		fprintf(stderr, "nnbench: out of memory\n");
		return -1;
	}
	fflush(NULL);
	pid = fork();
	if (!pid)
		execute(device_spec, way);
	if (pid < 0) {
		perror("nnbench: fork");
		return -1;
	}
	return trace(pid, way, c);
}

static void print_counts(const struct way *way, const struct counts *c)
{
	printf("%s\n", way->what);
	printf("  %-56s %12llu\n", "instructions", (unsigned long long)c->smallest);
	printf("  %-56s %12llu\n", "  in the execution that took most", (unsigned long long)c->largest);
	printf("  %-56s %12llu\n", "system calls", (unsigned long long)c->system_calls);
	for (unsigned int i = 0; i < c->num_functions; i++) {
		const struct function *f = &c->functions[i];
		char name[2 * SYMBOL_SIZE + 1];

		snprintf(name, sizeof(name), "%s:%s", f->name.object, f->name.function);
		printf("    %-54s %12llu\n", name, (unsigned long long)f->count);
	}
}

static void write_counts(struct json *json, const struct way *way, const struct counts *c)
{
	json_object(json, way->name);
	json_u64(json, "instructions", c->smallest);
	json_u64(json, "largest", c->largest);
	json_u64(json, "system_calls", c->system_calls);
	json_array(json, "functions");
	for (unsigned int i = 0; i < c->num_functions; i++) {
		json_object(json, NULL);
		json_string(json, "object", c->functions[i].name.object);
		json_string(json, "function", c->functions[i].name.function);
		json_u64(json, "instructions", c->functions[i].count);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

#define COUNTED		"all of the calling thread, from the call of nnhal_burst_execute() or nnhal_burst_execute_bound() to its " \
			"return: libnnhal, libc, locks, one look at the ring"
#define NOT_COUNTED	"further looks at the ring while the device works; the device; the kernel"

int instructions_main(const char *device_spec, const char *path)
{
	FILE *f = fopen(path ? path : "/dev/null", "w");
	struct json json;
	int ret = 0;

	if (!f) {
		fprintf(stderr, "nnbench: %s: %s\n", path, strerror(errno));
		return 1;
	}
	json_begin(&json, f);
	json_string(&json, "counted", COUNTED);
	json_string(&json, "not_counted", NOT_COUNTED);
	printf("instructions of an execution in a burst, one ADD of one float, device %s\n"
	       "counted: " COUNTED "\nnot counted: " NOT_COUNTED "\n", device_spec);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]) && !ret; i++) {
		struct counts c;

		ret = count_instructions(device_spec, &ways[i], &c);
		if (!ret) {
			print_counts(&ways[i], &c);
			write_counts(&json, &ways[i], &c);
		}
		free(c.at);
	}
	json_end(&json);
	if (ferror(f) | fclose(f)) {
		fprintf(stderr, "nnbench: %s: %s\n", path, strerror(errno));
		return 1;
	}
	return ret ? 1 : 0;
}
