// SPDX-License-Identifier: MIT
/*
 * Usage: run_mutants [-n COUNT] [-s SEED] [-f FIRST] FILE.nntc...
 *
 * Models and requests that are changed at random. Those that break a rule of the HAL
 * must be refused with INVALID_ARGUMENT, by every call that judges them; some fail when
 * they run, with a status that is known; others are refused or run. Sanitizers watch the
 * rest. A rule is broken in the first model of the series that it applies to, and each rule
 * has to be broken in some. Prints TAP.
 *
 * Mutant number N of a seed and list of files is always the same one: what fails says
 * its number, which -f N -n 1 repeats.
 *
 * Environment: NNHAL_TEST_DEVICE (default: sim).
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../tap.h"
#include "mutate_model.h"

/* A mutant that works for longer is ended by its deadline. */
#define MAX_SECONDS	2

/* Many changes make loops endless; such loops get less time. */
#define LOOP_NS		20000000u

/* A mutant whose results would need more is not run. */
#define MAX_BYTES	(64u << 20)

/* With so many mutants each rule must have been broken at least once. */
#define ENOUGH		2000u

/* A prime: steps of this many come by all models, those of all files mixed. */
#define STRIDE		1000003ull

enum outcome { REFUSED, RUN, ENDED, NUM_OUTCOMES };

/* A rule, or several, and how often one was broken. */
struct rule_counts {
	uint32_t num_rules;
	const char *(*name)(uint32_t rule);
	unsigned int *broken;
};

static struct {
	unsigned int models[NUM_OUTCOMES], requests[NUM_OUTCOMES];
	struct rule_counts model_rules, request_rules, failures;
	unsigned int wrong, invalid;
} counts;

/* All cases of the files. */
struct source {
	struct nntc_file file;
	const char *name;
};

struct model_case {
	struct nntc_case c;
	const char *file;
	bool judged;			/* it has been prepared as it is, see is_valid() */
	bool valid;
};

static struct model_case *cases;
static uint32_t num_cases;

struct mutant {
	uint32_t number;
	const char *file;
	const struct nntc_case *c;
	struct hal_case h;
	struct prepare_choice choice;
	struct nnhal_diag diag;
};

static struct nnhal_device *device;

static void complain(struct mutant *m, const char *rule, const char *call, uint32_t status)
{
	tap_note("mutant %u (%s, %s): %s: %s gives %s: %s", m->number, m->file, m->c->name, rule,
		 call, nnhal_status_name((int)status), m->diag.message);
	counts.wrong++;
}

static enum nnhal_status prepare(struct mutant *m, struct nnhal_prepared_model **model)
{
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;

	options.preference = m->choice.preference;
	options.priority = m->choice.priority;
	options.diag = &m->diag;
	return nnhal_device_prepare_model_sync(device, &m->h.model, &options, model);
}

/* Which operations are supported: the status, and whether all are. */
static enum nnhal_status ask(struct mutant *m, bool *all)
{
	uint32_t n = m->h.model.main.num_operations;
	bool *supported = calloc(n + 1, sizeof(*supported));
	enum nnhal_status status;

	if (!supported)
		exit(1);
	status = nnhal_device_get_supported_operations(device, &m->h.model, supported, n,
						       &m->diag);
	*all = !status;
	for (uint32_t i = 0; i < n; i++)
		*all = *all && supported[i];
	for (uint32_t i = 0; status && i < n; i++) {
		if (supported[i])
			complain(m, "any", "getSupportedOperations, true with a failure", status);
	}
	free(supported);
	return status;
}

static enum nnhal_status execute(struct mutant *m, struct nnhal_prepared_model *model)
{
	struct nnhal_execute_options options = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_output_shape *shapes = calloc(m->h.request.num_outputs + 1,
						   sizeof(*shapes));
	enum nnhal_status status;
	struct timespec now;
	uint32_t count;

	if (!shapes)
		exit(1);
	clock_gettime(CLOCK_MONOTONIC, &now);
	options.has_loop_timeout = true;
	options.loop_timeout_ns = LOOP_NS;
	options.has_deadline = true;
	options.deadline_ns = (uint64_t)(now.tv_sec + MAX_SECONDS) * 1000000000u;
	options.diag = &m->diag;
	status = nnhal_prepared_model_execute_synchronously(model, &m->h.request, &options, shapes,
							    &count, NULL);
	if (status && status != NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE && count)
		complain(m, "any", "execute, with output shapes", status);
	free(shapes);
	return status;
}

static void count_run(struct mutant *m, unsigned int *outcomes, enum nnhal_status status)
{
	switch (status) {
	case NNHAL_STATUS_NONE:
		outcomes[RUN]++;
		break;
	case NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT:
	case NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT:
		outcomes[ENDED]++;
		break;
	case NNHAL_STATUS_GENERAL_FAILURE:
	case NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE:
	case NNHAL_STATUS_INVALID_ARGUMENT:
	case NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT:
	case NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT:
		outcomes[REFUSED]++;
		break;
	default:
		complain(m, "any", "execute", status);
		break;
	}
}

static void mutant_init(struct mutant *m, uint32_t number, const struct model_case *mc)
{
	memset(m, 0, sizeof(*m));
	m->number = number;
	m->file = mc->file;
	m->c = &mc->c;
	m->choice = (struct prepare_choice){ NNHAL_PREFER_FAST_SINGLE_ANSWER,
					     NNHAL_PRIORITY_MEDIUM };
	hal_case_init(&m->h, &mc->c);
	hal_case_load(&m->h, &mc->c, 0xc3);
}

/* Is the model valid before it is changed? Otherwise its refusal would prove nothing. */
static bool is_valid(struct model_case *mc)
{
	struct nnhal_prepared_model *model;
	enum nnhal_status status;
	struct mutant m;

	if (mc->judged)
		return mc->valid;
	mutant_init(&m, 0, mc);
	status = prepare(&m, &model);
	mc->judged = true;
	mc->valid = !status;
	if (status) {
		tap_note("%s, %s: refused as it is: %s: %s", mc->file, mc->c.name,
			 nnhal_status_name((int)status), m.diag.message);
		counts.invalid++;
	}
	nnhal_prepared_model_unref(model);
	hal_case_fini(&m.h);
	return mc->valid;
}

/* Number @i of the models from @first on. */
static struct model_case *nth_case(uint32_t first, uint32_t i)
{
	return &cases[(first + i * STRIDE) % num_cases];
}

enum change { BREAK_MODEL, BREAK_REQUEST, MAKE_FAIL };

static bool needs_subgraphs(enum change change, uint32_t rule)
{
	return change == MAKE_FAIL || (change == BREAK_MODEL && is_control_rule(rule));
}

static bool make_change(struct mutant *m, struct mutation_rng *rng, enum change change,
			uint32_t rule)
{
	switch (change) {
	case BREAK_MODEL:
		return break_model(rng, &m->h, &m->choice, rule);
	case BREAK_REQUEST:
		return break_request(rng, &m->h, rule);
	default:
		return make_fail(rng, &m->h, rule);
	}
}

/* Make a change to the first model from @first on that it fits; is there one? */
static bool find_broken(struct mutant *m, struct mutation_rng *rng, uint32_t first,
			enum change change, uint32_t rule)
{
	uint32_t number = m->number;

	for (uint32_t i = 0; i < num_cases; i++) {
		struct model_case *mc = nth_case(first, i);

		if (needs_subgraphs(change, rule) && !mc->c.num_referenced)
			continue;
		if (!is_valid(mc))
			continue;
		mutant_init(m, number, mc);
		if (make_change(m, rng, change, rule))
			return true;
		hal_case_fini(&m->h);
	}
	return false;
}

static void broken_model(struct mutant *m, struct mutation_rng *rng, uint32_t first)
{
	uint32_t rule = pick(rng, counts.model_rules.num_rules);
	struct nnhal_prepared_model *model;
	enum nnhal_status status;
	bool all;

	if (!find_broken(m, rng, first, BREAK_MODEL, rule))
		return;
	status = prepare(m, &model);
	if (status != NNHAL_STATUS_INVALID_ARGUMENT || model)
		complain(m, model_rule_name(rule), "prepareModel", status);
	nnhal_prepared_model_unref(model);
	if (m->choice.preference == NNHAL_PREFER_FAST_SINGLE_ANSWER &&
	    m->choice.priority == NNHAL_PRIORITY_MEDIUM) {
		status = ask(m, &all);
		if (status != NNHAL_STATUS_INVALID_ARGUMENT)
			complain(m, model_rule_name(rule), "getSupportedOperations", status);
	}
	counts.model_rules.broken[rule]++;
	hal_case_fini(&m->h);
}

static void disturbed_model(struct mutant *m, struct mutation_rng *rng)
{
	struct nnhal_prepared_model *model;
	enum nnhal_status status, asked;
	bool all;

	disturb_model(rng, &m->h);
	asked = ask(m, &all);
	status = prepare(m, &model);
	/*
	 * If all operations are supported, the model must prepare; a broken model must be
	 * refused by both calls.
	 */
	if ((all && status && status != NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT &&
	     status != NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT) || (asked && !status))
		complain(m, nnhal_status_name((int)asked), "getSupportedOperations before prepareModel",
			 status);
	if (!status != !!model)
		complain(m, "any", "prepareModel, with or without a model", status);
	if (status) {
		counts.models[REFUSED]++;
		return;
	}
	if (pick(rng, 2))
		disturb_request(rng, &m->h);
	count_run(m, counts.models, execute(m, model));
	nnhal_prepared_model_unref(model);
}

static void disturbed_request(struct mutant *m, struct mutation_rng *rng)
{
	struct nnhal_prepared_model *model;
	enum nnhal_status status = prepare(m, &model);

	if (status) {
		complain(m, "none", "prepareModel of a valid model", status);
		return;
	}
	for (uint32_t n = 1 + pick(rng, 3); n; n--)
		disturb_request(rng, &m->h);
	count_run(m, counts.requests, execute(m, model));
	nnhal_prepared_model_unref(model);
}

/* What is refused, or fails, only when it is executed. */
static void failing_execution(struct mutant *m, struct mutation_rng *rng, uint32_t first,
			      enum change change, struct rule_counts *rules)
{
	enum nnhal_status status, expected = NNHAL_STATUS_INVALID_ARGUMENT;
	uint32_t rule = pick(rng, rules->num_rules);
	struct nnhal_prepared_model *model;

	if (!find_broken(m, rng, first, change, rule))
		return;
	if (change == MAKE_FAIL)
		expected = failure_status(rule);
	status = prepare(m, &model);
	if (status) {
		complain(m, rules->name(rule), "prepareModel of a valid model", status);
	} else {
		status = execute(m, model);
		if (status != expected)
			complain(m, rules->name(rule), "execute", status);
	}
	rules->broken[rule]++;
	nnhal_prepared_model_unref(model);
	hal_case_fini(&m->h);
}

/* A model to change in any way; false if none is valid. */
static bool find_valid(struct mutant *m, uint32_t first)
{
	uint32_t number = m->number;

	for (uint32_t i = 0; i < num_cases; i++) {
		struct model_case *mc = nth_case(first, i);

		if (is_valid(mc)) {
			mutant_init(m, number, mc);
			return true;
		}
	}
	return false;
}

static void run_mutant(uint32_t seed, uint32_t number)
{
	struct mutation_rng which = { (uint64_t)seed << 32 | number };
	struct mutation_rng rng = { ((uint64_t)seed << 32 | number) * 0x9e3779b97f4a7c15ull };
	uint32_t first = pick(&which, num_cases), kind = pick(&rng, 16);
	struct mutant m = { .number = number };

	if (kind < 6) {
		broken_model(&m, &rng, first);
	} else if (kind == 6) {
		failing_execution(&m, &rng, first, BREAK_REQUEST, &counts.request_rules);
	} else if (kind == 7) {
		failing_execution(&m, &rng, first, MAKE_FAIL, &counts.failures);
	} else if (find_valid(&m, first)) {
		if (kind < 14)
			disturbed_model(&m, &rng);
		else
			disturbed_request(&m, &rng);
		hal_case_fini(&m.h);
	}
}

static bool usable(const struct nntc_case *c)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < c->main.num_operands; i++)
		bytes += c->main.operands[i].num_bytes;
	return !c->expect_failure && bytes < MAX_BYTES && c->main.num_inputs &&
	       c->main.num_outputs;
}

static bool read_cases(struct source *s)
{
	for (uint32_t i = 0; i < s->file.num_cases; i++) {
		struct nntc_case c;

		if (!nntc_next(&s->file, &c))
			return false;
		if (!usable(&c)) {
			nntc_free(&c);
			continue;
		}
		cases = realloc(cases, (num_cases + 1) * sizeof(*cases));
		if (!cases)
			exit(1);
		cases[num_cases++] = (struct model_case){ .c = c, .file = s->name };
	}
	return true;
}

static uint32_t number_option(const char *text)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	if (*end || end == text || v > UINT32_MAX) {
		fprintf(stderr, "run_mutants: '%s' is not a number\n", text);
		exit(2);
	}
	return (uint32_t)v;
}

static void set_rules(struct rule_counts *r, uint32_t num_rules, const char *(*name)(uint32_t))
{
	r->num_rules = num_rules;
	r->name = name;
	r->broken = calloc(num_rules, sizeof(*r->broken));
	if (!r->broken)
		exit(1);
}

/* Sum of them; those that were never broken are named. */
static unsigned int report_rules(const char *what, const struct rule_counts *r,
				 unsigned int *never)
{
	unsigned int sum = 0;

	for (uint32_t i = 0; i < r->num_rules; i++) {
		sum += r->broken[i];
		*never += !r->broken[i];
		tap_note("%s, %s: %u", what, r->name(i), r->broken[i]);
	}
	return sum;
}

static void report(uint32_t count)
{
	const unsigned int *m = counts.models, *r = counts.requests;
	unsigned int never = 0, rules, models, requests, failures;

	models = report_rules("model", &counts.model_rules, &never);
	requests = report_rules("request", &counts.request_rules, &never);
	failures = report_rules("execution", &counts.failures, &never);
	rules = counts.model_rules.num_rules + counts.request_rules.num_rules +
		counts.failures.num_rules;
	ok(!counts.wrong && models + requests + failures + m[REFUSED] + m[RUN] + m[ENDED] +
	   r[REFUSED] + r[RUN] + r[ENDED] == count,
	   "%u mutants: each is refused as it must be, or run; %u are not", count, counts.wrong);
	if (never && count < ENOUGH)
		tap_skip("%u rules of %u were not broken; it takes %u mutants", never, rules,
			 ENOUGH);
	else
		ok(!never, "each of %u rules was broken", rules);
	ok(!counts.invalid, "all models are valid before they are changed, but %u",
	   counts.invalid);
	tap_note("models with a broken rule: %u refused", models);
	tap_note("models changed at random: %u refused, %u run, %u ended at their deadline",
		 m[REFUSED], m[RUN], m[ENDED]);
	tap_note("requests with a broken rule: %u refused", requests);
	tap_note("models and requests that fail when they run: %u", failures);
	tap_note("requests changed at random: %u refused, %u run, %u ended at their deadline",
		 r[REFUSED], r[RUN], r[ENDED]);
}

int main(int argc, char **argv)
{
	uint32_t count = 1000, seed = 1, first = 0;
	const char *spec = getenv("NNHAL_TEST_DEVICE");
	struct nnhal_diag diag;
	struct source *sources;
	int option, num_files;

	while ((option = getopt(argc, argv, "n:s:f:")) != -1) {
		if (option == 'n')
			count = number_option(optarg);
		else if (option == 's')
			seed = number_option(optarg);
		else if (option == 'f')
			first = number_option(optarg);
		else
			return 2;
	}
	num_files = argc - optind;
	sources = calloc((size_t)num_files + 1, sizeof(*sources));
	if (!sources || nnhal_device_open(spec ? spec : "sim", &device, &diag)) {
		fprintf(stderr, "run_mutants: %s\n", sources ? diag.message : "out of memory");
		return 1;
	}
	for (int i = 0; i < num_files; i++) {
		sources[i].name = argv[optind + i];
		if (!nntc_open(&sources[i].file, sources[i].name) || !read_cases(&sources[i])) {
			fprintf(stderr, "run_mutants: %s is no file of cases\n", sources[i].name);
			return 1;
		}
	}
	if (!num_cases) {
		fprintf(stderr, "run_mutants: the files have no case to change\n");
		return 1;
	}
	set_rules(&counts.model_rules, num_model_rules(), model_rule_name);
	set_rules(&counts.request_rules, num_request_rules(), request_rule_name);
	set_rules(&counts.failures, num_failures(), failure_name);
	for (uint32_t n = first; n < first + count; n++)
		run_mutant(seed, n);
	report(count);
	free(counts.model_rules.broken);
	free(counts.request_rules.broken);
	free(counts.failures.broken);
	for (uint32_t i = 0; i < num_cases; i++)
		nntc_free(&cases[i].c);
	for (int i = 0; i < num_files; i++)
		nntc_close(&sources[i].file);
	free(cases);
	free(sources);
	nnhal_device_unref(device);
	return tap_done();
}
