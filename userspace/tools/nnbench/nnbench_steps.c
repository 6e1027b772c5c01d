// SPDX-License-Identifier: MIT
/*
 * The instructions of calls of a function in another process.
 *
 * A child process makes the calls; this process single-steps the child's calling thread from the first
 * instruction of the function to its return. So each instruction counts, whatever library
 * it is in, and the count does not depend on how fast the machine is.
 *
 * The device, which is not traced, has a result ready long before the thread that is
 * single-stepped gets to look for it. The smallest count of several executions in a burst is
 * therefore that of an execution with one look at the ring.
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nnbench_steps.h"

/* A call that takes more steps has waited for something. That is an error. */
#define MAX_STEPS	1000000u

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

static void add_function(struct steps *c, uintptr_t pc)
{
	struct symbol_name name;
	unsigned int i;

	symbol_at(pc, &name);
	for (i = 0; i < c->num_functions; i++) {
		if (!strcmp(c->functions[i].name.function, name.function) &&
		    !strcmp(c->functions[i].name.object, name.object))
			break;
	}
	if (i == STEPS_FUNCTIONS)
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
static int trace(pid_t pid, uintptr_t entry, struct steps *c)
{
	uintptr_t *best = calloc(MAX_STEPS, sizeof(*best));
	uintptr_t *at = calloc(MAX_STEPS, sizeof(*at)), *swap;
	unsigned int executions = 0;
	int status = 0;

	c->smallest = UINT64_MAX;
	while (at && best && waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
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
				swap = best;
				best = at;
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
	if (!WIFEXITED(status) || WEXITSTATUS(status) || executions != STEPS_CALLS ||
	    c->smallest == MAX_STEPS) {
		fprintf(stderr, "nnbench: instructions: only %u of %d executions could be followed\n",
			executions, STEPS_CALLS);
		free(best);
		return -1;
	}
	for (uint64_t i = 0; i < c->smallest; i++) {
		add_function(c, best[i]);
		c->system_calls += is_system_call(best[i]);
	}
	free(best);
	qsort(c->functions, c->num_functions, sizeof(c->functions[0]), by_count);
	return 0;
}

int steps_count(void (*execute)(void *context), void *context, uintptr_t entry,
		struct steps *steps)
{
	pid_t pid;

	memset(steps, 0, sizeof(*steps));
	fflush(NULL);
	pid = fork();
	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL)) {
			perror("nnbench: this process may not be traced");
			_exit(2);
		}
		execute(context);
		_exit(0);
	}
	if (pid < 0) {
		perror("nnbench: fork");
		return -1;
	}
	return trace(pid, entry, steps);
}

/* The signal stops the child for the parent. */
void steps_next(void)
{
	raise(SIGUSR1);
}
