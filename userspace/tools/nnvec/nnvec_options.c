// SPDX-License-Identifier: MIT
/*
 * The command line.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "nnvec_options.h"

static const char help_head[] =
"Usage: nnvec [OPTION]... FILE|DIRECTORY...\n"
"Run the test cases of .nntc files, and of all such files in directories, on an\n"
"NNPU device, each in several variations.\n"
"\n"
"  -d, --device SPEC        drm, drm:N or sim (default: the first drm device)\n"
"      --variation LIST     names of variations joined by commas, or all\n"
"                           (default: given); may be repeated\n"
"      --every N            run every Nth case only, counted over all files\n"
"      --strict             a case the device does not support has failed\n"
"      --report FILE.json   write all results to a file\n"
"  -q, --quiet              print failures and the last line only\n"
"      --version            print the version and exit\n"
"  -h, --help               print this help and exit\n"
"\n"
"Variations:\n";

static const char help_tail[] =
"\n"
"The last line is \"N passed, N failed, N skipped\", each case counted once for\n"
"each variation. Exit status: 0 if none failed, 1 if some did or a file could not\n"
"be read, 2 wrong command line, 130 interrupted.\n";

enum { OPT_VARIATION = 256, OPT_EVERY, OPT_STRICT, OPT_REPORT, OPT_VERSION };

static const struct option long_options[] = {
	{ "device", required_argument, NULL, 'd' },
	{ "variation", required_argument, NULL, OPT_VARIATION },
	{ "every", required_argument, NULL, OPT_EVERY },
	{ "strict", no_argument, NULL, OPT_STRICT },
	{ "report", required_argument, NULL, OPT_REPORT },
	{ "quiet", no_argument, NULL, 'q' },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static bool usage_error(int *status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool usage_error(int *status, const char *fmt, ...)
{
	va_list args;

	fputs("nnvec: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputs("\nTry 'nnvec --help'.\n", stderr);
	*status = EXIT_USAGE;
	return false;
}

static bool print_help(int *status)
{
	fputs(help_head, stdout);
	for (unsigned int i = 0; i < NUM_VARIATIONS; i++)
		printf("  %-30s %s\n", variations[i].name, variations[i].what);
	fputs(help_tail, stdout);
	*status = fflush(stdout) ? EXIT_FAILED : EXIT_OK;
	return false;
}

static bool is_number(const char *text)
{
	for (const char *c = text; *c; c++) {
		if (!isdigit((unsigned char)*c))
			return false;
	}
	return *text;
}

static bool is_device(const char *spec)
{
	if (!strcmp(spec, "drm") || !strcmp(spec, "sim"))
		return true;
	if (!strncmp(spec, "sim:", 4))
		return spec[4];
	return !strncmp(spec, "drm:", 4) && is_number(spec + 4);
}

static bool parse_option(struct options *o, int option, int *status)
{
	const char *unknown;
	char *end;

	switch (option) {
	case 'd':
		o->device = optarg;
		if (!is_device(optarg))
			return usage_error(status, "device '%s' is none of drm, drm:N, sim",
					   optarg);
		return true;
	case OPT_VARIATION:
		unknown = variations_select(o->selected, optarg);
		if (unknown)
			return usage_error(status, "there is no variation '%.*s'",
					   (int)strcspn(unknown, ","), unknown);
		return true;
	case OPT_EVERY:
		errno = 0;
		o->every = strtoull(optarg, &end, 10);
		if (!is_number(optarg) || errno || !o->every)
			return usage_error(status, "--every %s: not a number from 1 on", optarg);
		return true;
	case OPT_STRICT:
		o->strict = true;
		return true;
	case OPT_REPORT:
		o->report = optarg;
		return true;
	case 'q':
		o->quiet = true;
		return true;
	case 'h':
		return print_help(status);
	case OPT_VERSION:
		printf("nnvec %s\n", nnhal_version_string());
		*status = fflush(stdout) ? EXIT_FAILED : EXIT_OK;
		return false;
	default:
		/* getopt_long() has printed a message. */
		fputs("Try 'nnvec --help'.\n", stderr);
		*status = EXIT_USAGE;
		return false;
	}
}

bool options_parse(struct options *o, int argc, char **argv, int *status)
{
	bool any = false;
	int option;

	*o = (struct options){ .device = "drm", .every = 1 };
	while ((option = getopt_long(argc, argv, "d:qh", long_options, NULL)) != -1) {
		if (!parse_option(o, option, status))
			return false;
		any |= option == OPT_VARIATION;
	}
	if (!any)
		variations_select(o->selected, "given");
	o->num_paths = argc - optind;
	o->paths = argv + optind;
	if (!o->num_paths)
		return usage_error(status, "no file and no directory given");
	return true;
}
