// SPDX-License-Identifier: MIT
/*
 * nnbench: what the software around the device costs.
 *
 * All times are medians of one run on one machine. They mean something as ratios to the
 * floor, which is measured in the same run, and to each other.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/standard_files.h"
#include "nnbench.h"
#include "nnbench_fmq.h"
#include "nnbench_instructions.h"

static int usage(FILE *f, int status)
{
	fprintf(f,
		"usage: nnbench [OPTION]...              all measurements\n"
		"       nnbench [OPTION]... execute      no bursts\n"
		"       nnbench [OPTION]... burst        only bursts\n"
		"       nnbench [OPTION]... fmq          message queues between two processes\n"
		"       nnbench [OPTION]... instructions count those of an execution in a burst\n"
		"\n"
		"  --device SPEC  drm, drm:N or sim; without it drm. all: bursts on all\n"
		"                 hardware devices, each alone and all at once\n"
		"  --null         the device does not compute: check no sums\n"
		"  --count N      executions per figure, 10 to 10000000; without it 2000\n"
		"  --json FILE    write the figures as JSON\n"
		"  --help         print this text\n");
	return status;
}

static int measure(struct bench *b, const char *what, const char *json)
{
	int ret = -1;

	b->samples = calloc(b->count, sizeof(*b->samples));
	if (!b->samples)
		fprintf(stderr, "nnbench: out of memory\n");
	else
		ret = prepare(b);
	if (!ret && strcmp(what, "burst"))
		ret = bench_floor(b) || bench_execute(b);
	if (!ret && strcmp(what, "execute"))
		ret = bench_burst(b) || bench_bound(b);
	if (!ret) {
		print_text(b);
		ret = json ? print_json(b, json) : 0;
	}
	unprepare(b);
	free(b->samples);
	return ret ? 1 : 0;
}

/* The number in @text, 0 if it is not valid. */
static unsigned int count_of(const char *text)
{
	unsigned long count;
	char *end;

	errno = 0;
	count = strtoul(text, &end, 10);
	return errno || end == text || *end || count < 10 || count > 10000000 ?
		0 : (unsigned int)count;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "count", required_argument, NULL, 'n' },
		{ "null", no_argument, NULL, '0' },
		{ "json", required_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct bench b = { .device_spec = "drm", .count = 2000 };
	const char *json = NULL, *what = "";
	int opt;

	if (hold_standard_files())
		return 1;
	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'd':
			b.device_spec = optarg;
			break;
		case 'n':
			b.count = count_of(optarg);
			if (!b.count) {
				fprintf(stderr, "nnbench: --count takes 10 to 10000000, not '%s'\n",
					optarg);
				return 2;
			}
			break;
		case '0':
			b.null_device = true;
			break;
		case 'j':
			json = optarg;
			break;
		case 'h':
			return usage(stdout, 0);
		default:
			return usage(stderr, 2);
		}
	}
	if (argc - optind == 1)
		what = argv[optind];
	else if (argc != optind)
		return usage(stderr, 2);
	if (!strcmp(b.device_spec, "all")) {
		if (*what && strcmp(what, "burst")) {
			fprintf(stderr, "nnbench: --device all measures bursts, not '%s'\n", what);
			return 2;
		}
		return bench_devices(&b, json) ? 1 : 0;
	}
	if (!strcmp(what, "fmq"))
		return fmq_main(b.count, json);
	if (!strcmp(what, "instructions"))
		return instructions_main(b.device_spec, json);
	if (*what && strcmp(what, "burst") && strcmp(what, "execute"))
		return usage(stderr, 2);
	return measure(&b, what, json);
}
