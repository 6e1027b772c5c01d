// SPDX-License-Identifier: MIT
/*
 * The instructions of one execution in a burst.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/json.h"
#include "nnbench.h"
#include "nnbench_instructions.h"
#include "nnbench_steps.h"

#define WARM_UP		300

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

struct child {
	const char *device_spec;
	const struct way *way;
};

/* The child process. */
static void execute(void *context)
{
	const struct child *child = context;
	const struct way *way = child->way;
	struct bench b = { .device_spec = child->device_spec };
	struct nnhal_diag diag = { "" };
	struct nnhal_bound_request *bound;
	struct nnhal_burst *burst;
	struct add_request r;

	if (prepare(&b))
		_exit(2);
	burst = open_burst(&b, 1, 1000000, way->is_single ? NNHAL_BURST_SINGLE_THREAD : 0);
	bound = bind_request(&b, &r);
	if (!burst || !bound)
		_exit(2);
	for (int i = 0; i < WARM_UP + STEPS_CALLS; i++) {
		enum nnhal_status status;

		b.data[32] = 0;
		if (i >= WARM_UP)
			steps_next();
		status = call(way, burst, &r, bound, &diag);
		if (status || b.data[32] != 3) {
			failed("burst", status, &diag);
			_exit(2);
		}
	}
	nnhal_bound_request_unref(bound);
	nnhal_burst_unref(burst);
	unprepare(&b);
}

static void print_counts(const struct way *way, const struct steps *c)
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

static void write_counts(struct json *json, const struct way *way, const struct steps *c)
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
		struct child child = { device_spec, &ways[i] };
		struct steps c;

		ret = steps_count(execute, &child,
				  ways[i].is_bound ? (uintptr_t)nnhal_burst_execute_bound
						   : (uintptr_t)nnhal_burst_execute, &c);
		if (!ret) {
			print_counts(&ways[i], &c);
			write_counts(&json, &ways[i], &c);
		}
	}
	json_end(&json);
	if (ferror(f) | fclose(f)) {
		fprintf(stderr, "nnbench: %s: %s\n", path, strerror(errno));
		return 1;
	}
	return ret ? 1 : 0;
}
