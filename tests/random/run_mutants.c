// SPDX-License-Identifier: MIT
/*
 * Usage: run_mutants [-n COUNT] [-s SEED] [-f FIRST] FILE.nntc...
 *
 * Models and requests that are changed at random. Those that break a rule of the HAL
 * must be refused with INVALID_ARGUMENT, by every call that judges them; others are
 * refused or run. Sanitizers watch the rest. Prints TAP.
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

/* A mutant whose results would need more is not run. */
#define MAX_BYTES	(64u << 20)

enum outcome { BROKEN_REFUSED, REFUSED, RUN, ENDED, NOT_APPLICABLE, NUM_OUTCOMES };

static struct {
	unsigned int models[NUM_OUTCOMES], requests[NUM_OUTCOMES], valid;
	unsigned int wrong;
} counts;

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

static void broken_model(struct mutant *m, struct mutation_rng *rng)
{
	const char *rule = break_model(rng, &m->h, &m->choice);
	bool of_model = m->choice.preference == NNHAL_PREFER_FAST_SINGLE_ANSWER &&
			m->choice.priority == NNHAL_PRIORITY_MEDIUM;
	struct nnhal_prepared_model *model;
	enum nnhal_status status;
	bool all;

	if (!rule) {
		counts.models[NOT_APPLICABLE]++;
		return;
	}
	status = prepare(m, &model);
	if (status != NNHAL_STATUS_INVALID_ARGUMENT || model)
		complain(m, rule, "prepareModel", status);
	nnhal_prepared_model_unref(model);
	if (of_model) {
		status = ask(m, &all);
		if (status != NNHAL_STATUS_INVALID_ARGUMENT)
			complain(m, rule, "getSupportedOperations", status);
	}
	counts.models[BROKEN_REFUSED]++;
}

static void disturbed_model(struct mutant *m, struct mutation_rng *rng)
{
	struct nnhal_prepared_model *model;
	enum nnhal_status status, asked;
	bool all;

	disturb_model(rng, &m->h);
	asked = ask(m, &all);
	status = prepare(m, &model);
	/* Support of all operations is a promise; a broken model is one for both. */
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

static void mutated_request(struct mutant *m, struct mutation_rng *rng)
{
	struct nnhal_prepared_model *model;
	const char *rule = NULL;
	enum nnhal_status status = prepare(m, &model);

	if (status) {
		/* Some of the cases beside the repository are meant to be refused. */
		counts.requests[NOT_APPLICABLE]++;
		return;
	}
	if (pick(rng, 2)) {
		for (uint32_t n = 1 + pick(rng, 3); n; n--)
			disturb_request(rng, &m->h);
		count_run(m, counts.requests, execute(m, model));
	} else {
		rule = break_request(rng, &m->h);
		if (rule) {
			status = execute(m, model);
			if (status != NNHAL_STATUS_INVALID_ARGUMENT)
				complain(m, rule, "execute", status);
			counts.requests[BROKEN_REFUSED]++;
		} else {
			counts.requests[NOT_APPLICABLE]++;
		}
	}
	nnhal_prepared_model_unref(model);
}

static void run_mutant(uint32_t seed, uint32_t number, const char *file,
		       const struct nntc_case *c)
{
	struct mutation_rng rng = { ((uint64_t)seed << 32 | number) * 0x9e3779b97f4a7c15ull };
	struct mutant m = {
		.number = number, .file = file, .c = c,
		.choice = { NNHAL_PREFER_FAST_SINGLE_ANSWER, NNHAL_PRIORITY_MEDIUM },
	};

	hal_case_init(&m.h, c);
	hal_case_load(&m.h, c, 0xc3);
	switch (pick(&rng, 8)) {
	case 0:
	case 1:
	case 2:
		broken_model(&m, &rng);
		break;
	case 3:
	case 4:
	case 5:
		disturbed_model(&m, &rng);
		break;
	default:
		mutated_request(&m, &rng);
		break;
	}
	/* What grew or shrank is freed by its first size. */
	m.h.model.main.num_operations = c->main.num_operations;
	hal_case_fini(&m.h);
}

/* All cases of the files. */
struct source {
	struct nntc_file file;
	const char *name;
};

static struct nntc_case *cases;
static const char **names;
static uint32_t num_cases;

static bool usable(const struct nntc_case *c)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < c->main.num_operands; i++)
		bytes += c->main.operands[i].num_bytes;
	return !c->num_referenced && !c->expect_failure && bytes < MAX_BYTES &&
	       c->main.num_inputs && c->main.num_outputs;
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
		names = realloc(names, (num_cases + 1) * sizeof(*names));
		if (!cases || !names)
			exit(1);
		cases[num_cases] = c;
		names[num_cases++] = s->name;
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

static void report(uint32_t count)
{
	const unsigned int *m = counts.models, *r = counts.requests;

	ok(!counts.wrong, "%u mutants: each is refused as it must be, or run; %u are not", count,
	   counts.wrong);
	tap_note("models with a broken rule: %u refused; rule not applicable: %u",
		 m[BROKEN_REFUSED], m[NOT_APPLICABLE]);
	tap_note("models changed at random: %u refused, %u run, %u ended at their deadline",
		 m[REFUSED], m[RUN], m[ENDED]);
	tap_note("requests with a broken rule: %u refused; not applicable: %u", r[BROKEN_REFUSED],
		 r[NOT_APPLICABLE]);
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
	if (!num_cases)
		tap_skip_all("no cases to mutate");
	for (uint32_t n = first; n < first + count; n++) {
		struct mutation_rng which = { (uint64_t)seed << 32 | n };
		uint32_t i = pick(&which, num_cases);

		run_mutant(seed, n, names[i], &cases[i]);
	}
	report(count);
	for (uint32_t i = 0; i < num_cases; i++)
		nntc_free(&cases[i]);
	for (int i = 0; i < num_files; i++)
		nntc_close(&sources[i].file);
	free(cases);
	free(names);
	free(sources);
	nnhal_device_unref(device);
	return tap_done();
}
