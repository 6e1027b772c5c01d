// SPDX-License-Identifier: MIT
/*
 * The command line.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <nnhal/nnhal.h>

#include "../common/file.h"
#include "nnrun_options.h"

static const char help[] =
"Usage: nnrun [OPTION]... MODEL.tflite [FILE]...\n"
"       nnrun --list-devices\n"
"Run a TensorFlow Lite model on an NNPU device.\n"
"\n"
"Input and output:\n"
"  -i, --input [NAME=]FILE  data of the model input NAME, or of the next one: raw\n"
"                         tensors one after another, a .npy array or one of a\n"
"                         .npz archive, an image (PNG, JPEG, BMP, PPM, PGM) or a\n"
"                         sound (WAV)\n"
"  -o, --output [NAME=]FILE  write the model output NAME, or the next one, raw, or\n"
"                         as array if the file ends in .npy, as sound for .wav;\n"
"                         without it the best classes, boxes or points are printed\n"
"      --draw FILE.png    draw boxes, points or segments into the input picture\n"
"      --min-score S      show boxes and points from this score on (default 0.3)\n"
"      --compare [NAME=]FILE  compare the model output NAME, or the next one, with\n"
"                         a file; exit status 1 if they differ\n"
"      --tolerance A[,R]  by more than A + R * |expected| (default 0)\n"
"  -l, --labels FILE      names of the classes, one per line\n"
"  -k, --top K            print the K best classes (default 5)\n"
"      --format FORMAT    auto (default), raw, npy, npz, image or wav\n"
"      --mean M, --std S  input is (pixel - M) / S, for sound (sample - M) / S\n"
"      --rate HZ          samples per second that the model takes (default 16000)\n"
"      --features WHAT    what the model takes of sound: auto (default), raw, mfcc\n"
"      --shape NAME=1x8x8x3  the shape of an input\n"
"      --signature KEY    run the subgraph of this signature of the file, with its\n"
"                         names of inputs and outputs\n"
"  FILE                   as --input; several are run one after the other if the\n"
"                         model has one input. - is standard input or output\n"
"\n"
"Device:\n"
"  -d, --device SPEC      drm, drm:N, a device node, or sim (default: the first\n"
"                         drm device)\n"
"      --list-devices     list the devices and exit\n"
"      --supported        say which operations the device takes, and why not;\n"
"                         exit status 1 if there is one it does not take\n"
"\n"
"Measuring:\n"
"      --repeat N         run each sample N times\n"
"      --warmup N         run the first sample N times before\n"
"      --stateful         carry variables on from sample to sample\n"
"      --async            keep several inferences in flight\n"
"      --burst            run them in a burst: no system call per inference; not\n"
"                         with --async or --profile\n"
"      --profile[=FILE]   report times in queue, on device and in driver, and\n"
"                         of each operation; FILE.json is a trace for Perfetto,\n"
"                         FILE.html a page\n"
"      --latency FILE     write the time of each inference in ns, one per line\n"
"\n"
"Other:\n"
"      --dump-graph FILE  write the HAL model as a Graphviz graph\n"
"  -q, --quiet            no progress and no warnings\n"
"  -v, --verbose          say what is done\n"
"      --version          print the version and exit\n"
"  -h, --help             print this help and exit\n"
"\n"
"Exit status: 0 success, 1 failure, 2 wrong command line, 130 interrupted.\n";

enum {
	OPT_FORMAT = 256, OPT_MEAN, OPT_STD, OPT_LIST_DEVICES, OPT_SUPPORTED, OPT_REPEAT,
	OPT_WARMUP, OPT_STATEFUL, OPT_ASYNC, OPT_BURST, OPT_PROFILE, OPT_LATENCY, OPT_DUMP_GRAPH, OPT_VERSION,
	OPT_RATE, OPT_FEATURES, OPT_SHAPE, OPT_COMPARE, OPT_TOLERANCE, OPT_DRAW, OPT_MIN_SCORE,
	OPT_SIGNATURE,
};

static const struct option long_options[] = {
	{ "input", required_argument, NULL, 'i' },
	{ "output", required_argument, NULL, 'o' },
	{ "labels", required_argument, NULL, 'l' },
	{ "top", required_argument, NULL, 'k' },
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "mean", required_argument, NULL, OPT_MEAN },
	{ "std", required_argument, NULL, OPT_STD },
	{ "rate", required_argument, NULL, OPT_RATE },
	{ "features", required_argument, NULL, OPT_FEATURES },
	{ "shape", required_argument, NULL, OPT_SHAPE },
	{ "signature", required_argument, NULL, OPT_SIGNATURE },
	{ "compare", required_argument, NULL, OPT_COMPARE },
	{ "tolerance", required_argument, NULL, OPT_TOLERANCE },
	{ "draw", required_argument, NULL, OPT_DRAW },
	{ "min-score", required_argument, NULL, OPT_MIN_SCORE },
	{ "device", required_argument, NULL, 'd' },
	{ "list-devices", no_argument, NULL, OPT_LIST_DEVICES },
	{ "supported", no_argument, NULL, OPT_SUPPORTED },
	{ "repeat", required_argument, NULL, OPT_REPEAT },
	{ "warmup", required_argument, NULL, OPT_WARMUP },
	{ "stateful", no_argument, NULL, OPT_STATEFUL },
	{ "async", no_argument, NULL, OPT_ASYNC },
	{ "burst", no_argument, NULL, OPT_BURST },
	{ "profile", optional_argument, NULL, OPT_PROFILE },
	{ "latency", required_argument, NULL, OPT_LATENCY },
	{ "dump-graph", required_argument, NULL, OPT_DUMP_GRAPH },
	{ "quiet", no_argument, NULL, 'q' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

int usage_error(const char *fmt, ...)
{
	va_list args;

	fputs("nnrun: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputs("\nTry 'nnrun --help'.\n", stderr);
	return EXIT_USAGE;
}

/* A whole number in [@min, @max]. */
static bool parse_number(const char *option, const char *text, uint64_t min, uint64_t max,
			 uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && *value >= min &&
	    *value <= max)
		return true;
	usage_error("--%s: '%s' is not a number from %llu to %llu", option, text,
		    (unsigned long long)min, (unsigned long long)max);
	return false;
}

static bool parse_real(const char *option, const char *text, double *value)
{
	char *end;

	*value = strtod(text, &end);
	if (end != text && *end == '\0' && isfinite(*value))
		return true;
	usage_error("--%s: '%s' is not a number", option, text);
	return false;
}

/* One of @count names. */
static bool parse_word(const char *option, const char *text, const char *const *names,
		       size_t count, const char *list, unsigned int *value)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (strcmp(text, names[i]) == 0) {
			*value = (unsigned int)i;
			return true;
		}
	}
	usage_error("--%s: '%s' is none of %s", option, text, list);
	return false;
}

static bool parse_format(const char *text, enum input_format *format)
{
	static const char *const names[] = {
		[INPUT_AUTO] = "auto", [INPUT_RAW] = "raw", [INPUT_NPY] = "npy",
		[INPUT_NPZ] = "npz", [INPUT_IMAGE] = "image", [INPUT_WAV] = "wav",
	};

	return parse_word("format", text, names, sizeof(names) / sizeof(names[0]),
			  "auto, raw, npy, npz, image, wav", format);
}

static bool parse_features(const char *text, enum sound_features *features)
{
	static const char *const names[] = {
		[FEATURES_AUTO] = "auto", [FEATURES_RAW] = "raw", [FEATURES_MFCC] = "mfcc",
	};

	return parse_word("features", text, names, sizeof(names) / sizeof(names[0]),
			  "auto, raw, mfcc", features);
}

static bool parse_rate(const char *text, uint32_t *rate)
{
	uint64_t value;

	if (!parse_number("rate", text, SOUND_MIN_RATE, SOUND_MAX_RATE, &value))
		return false;
	*rate = (uint32_t)value;
	return true;
}

/* "A" or "A,R" */
static bool parse_tolerance(const char *text, struct compare_tolerance *t)
{
	char *end;

	t->relative = 0;
	t->absolute = strtod(text, &end);
	if (end != text && *end == ',') {
		text = end + 1;
		t->relative = strtod(text, &end);
	}
	if (end != text && *end == '\0' && t->absolute >= 0 && t->relative >= 0)
		return true;
	usage_error("--tolerance: '%s' is not one number or two, 0 or above", text);
	return false;
}

/* "NAME=1x224x224x3"; a name may have '=' as well. */
static bool parse_shape(const char *text, struct shape_option *shape)
{
	const char *equals = strrchr(text, '=');
	const char *at = equals ? equals + 1 : "";

	for (shape->rank = 0; shape->rank < TENSOR_MAX_RANK; at++) {
		size_t digits = strspn(at, "0123456789");
		unsigned long dim = digits > 0 && digits < 10 ? strtoul(at, NULL, 10) : 0;

		if (dim == 0)
			break;
		shape->dims[shape->rank++] = (uint32_t)dim;
		at += digits;
		if (*at == '\0') {
			shape->name = strndup(text, (size_t)(equals - text));
			if (!shape->name)
				usage_error("out of memory");
			return shape->name;
		}
		if (*at != 'x')
			break;
	}
	usage_error("--shape: '%s' is not of the form NAME=1x8x8x3 with at most %d sizes above 0",
		    text, TENSOR_MAX_RANK);
	return false;
}

/* This checks the spelling. Whether the device exists is for the library to say. */
static bool check_device(const char *spec)
{
	size_t digits;

	if (strcmp(spec, "drm") == 0 || strcmp(spec, "sim") == 0 || spec[0] == '/' ||
	    (strncmp(spec, "sim:", 4) == 0 && spec[4] != '\0'))
		return true;
	if (strncmp(spec, "drm:", 4) == 0) {
		digits = strspn(spec + 4, "0123456789");
		if (digits > 0 && digits < 8 && spec[4 + digits] == '\0')
			return true;
	}
	usage_error("--device: '%s' is none of drm, drm:N, sim, and no path of a device node", spec);
	return false;
}

/* Without a file the table; else what its name ends in. */
static bool parse_profile(struct options *o, const char *file)
{
	size_t length = file ? strlen(file) : 0;

	o->profile = true;
	if (!file)
		o->profile_table = true;
	else if (length > 5 && strcmp(file + length - 5, ".json") == 0)
		o->profile_trace = file;
	else if (length > 5 && strcmp(file + length - 5, ".html") == 0)
		o->profile_html = file;
	else
		return usage_error("--profile: '%s' ends neither in .json nor in .html", file) == 0;
	return true;
}

static bool take_option(struct options *o, int c, const char *arg)
{
	switch (c) {
	case 'i':
		o->inputs[o->num_inputs++] = arg;
		return true;
	case 'o':
		o->outputs[o->num_outputs++] = arg;
		return true;
	case 'l':
		o->labels = arg;
		return true;
	case 'k':
		o->top_given = true;
		return parse_number("top", arg, 1, UINT32_MAX, &o->top);
	case 'd':
		o->device = arg;
		return check_device(arg);
	case 'q':
		o->quiet = true;
		return true;
	case 'v':
		o->verbose = true;
		return true;
	case OPT_FORMAT:
		return parse_format(arg, &o->reading.format);
	case OPT_MEAN:
		o->reading.scaling.given = true;
		return parse_real("mean", arg, &o->reading.scaling.mean);
	case OPT_STD:
		o->reading.scaling.given = true;
		if (!parse_real("std", arg, &o->reading.scaling.std_dev))
			return false;
		if (o->reading.scaling.std_dev != 0)
			return true;
		usage_error("--std: must not be 0");
		return false;
	case OPT_SIGNATURE:
		o->signature = arg;
		return true;
	case OPT_COMPARE:
		o->compares[o->num_compares++] = arg;
		return true;
	case OPT_TOLERANCE:
		return parse_tolerance(arg, &o->tolerance);
	case OPT_DRAW:
		o->draw = arg;
		return true;
	case OPT_MIN_SCORE:
		return parse_real("min-score", arg, &o->min_score);
	case OPT_RATE:
		return parse_rate(arg, &o->reading.sound.rate);
	case OPT_FEATURES:
		return parse_features(arg, &o->reading.sound.features);
	case OPT_SHAPE:
		return parse_shape(arg, &o->shapes[o->num_shapes++]);
	case OPT_LIST_DEVICES:
		o->list_devices = true;
		return true;
	case OPT_SUPPORTED:
		o->supported = true;
		return true;
	case OPT_REPEAT:
		return parse_number("repeat", arg, 1, UINT32_MAX, &o->repeat);
	case OPT_WARMUP:
		return parse_number("warmup", arg, 0, UINT32_MAX, &o->warmup);
	case OPT_STATEFUL:
		o->stateful = true;
		return true;
	case OPT_ASYNC:
		o->async = true;
		return true;
	case OPT_BURST:
		o->burst = true;
		return true;
	case OPT_PROFILE:
		return parse_profile(o, arg);
	case OPT_LATENCY:
		o->latency = arg;
		return true;
	case OPT_DUMP_GRAPH:
		o->dump_graph = arg;
		return true;
	default:
		return false;
	}
}

/* The file of an argument with or without a name. */
static const char *file_of(const char *argument)
{
	const char *equals = strchr(argument, '=');

	return equals ? equals + 1 : argument;
}

static bool is_stdin(const char *argument)
{
	return strcmp(file_of(argument), "-") == 0;
}

/* How many options read standard input? */
static uint32_t uses_of_stdin(const struct options *o)
{
	uint32_t used = 0;
	uint32_t i;

	used += o->model && strcmp(o->model, "-") == 0;
	used += o->labels && strcmp(o->labels, "-") == 0;
	for (i = 0; i < o->num_inputs; i++)
		used += is_stdin(o->inputs[i]);
	for (i = 0; i < o->num_files; i++)
		used += is_stdin(o->files[i]);
	for (i = 0; i < o->num_compares; i++)
		used += is_stdin(o->compares[i]);
	return used;
}

/* "-" is standard output, and no file of that name. */
static bool same_output(const char *a, const char *b)
{
	if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
		return strcmp(a, b) == 0;
	return same_path(a, b);
}

/* How many files of all options that write one are this one? */
static uint32_t writers_of(const struct options *o, const char *name)
{
	const char *const others[] = {
		o->draw, o->latency, o->dump_graph, o->profile_trace, o->profile_html,
	};
	uint32_t writers = 0;
	uint32_t i;

	for (i = 0; i < o->num_outputs; i++)
		writers += same_output(file_of(o->outputs[i]), name);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		writers += others[i] && same_output(others[i], name);
	return writers;
}

/* Would one result replace another in this file? Devices take any number of them. */
static bool is_shared(const struct options *o, const char *name)
{
	struct stat st;

	if (strncmp(name, "/dev/", 5) == 0 || (stat(name, &st) == 0 && S_ISCHR(st.st_mode)))
		return false;
	return writers_of(o, name) > 1;
}

static bool same_file(const struct options *o)
{
	const char *const others[] = { o->draw, o->latency, o->dump_graph };
	uint32_t i;

	for (i = 0; i < o->num_outputs; i++)
		if (is_shared(o, file_of(o->outputs[i])))
			return true;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i] && is_shared(o, others[i]))
			return true;
	return false;
}

/* Why these options do not go together; NULL if they do. */
static const char *wrong_combination(const struct options *o)
{
	if (o->list_devices)
		return o->model ? "--list-devices takes no model" : NULL;
	if (!o->model)
		return "no model given";
	if (o->num_inputs && o->num_files)
		return "give input files either with --input or after the model";
	if (o->burst && o->async)
		return "--burst and --async are two ways to run";
	if (o->burst && o->profile)
		return "a burst makes no profile";
	if (uses_of_stdin(o) > 1)
		return "standard input can be used once only";
	if (writers_of(o, "-") > 1)
		return "standard output can be used once only";
	if (!o->num_inputs && !o->num_files && !o->supported && !o->dump_graph)
		return "no input given: a picture, sound or file for each input, or --supported";
	if (!o->num_inputs && !o->num_files && (o->num_outputs || o->latency || o->profile || o->draw ||
					   o->num_compares))
		return "nothing can be run without an input";
	return same_file(o) ? "two outputs go to the same file" : NULL;
}

bool options_parse(struct options *o, int argc, char **argv, int *status)
{
	const char *wrong;
	int c;

	memset(o, 0, sizeof(*o));
	o->repeat = 1;
	o->top = DEFAULT_TOP;
	o->min_score = DEFAULT_MIN_SCORE;
	o->reading.scaling.std_dev = 1;
	o->reading.sound.rate = SOUND_DEFAULT_RATE;
	*status = EXIT_USAGE;
	o->inputs = calloc((size_t)argc + 1, sizeof(*o->inputs));
	o->outputs = calloc((size_t)argc + 1, sizeof(*o->outputs));
	o->shapes = calloc((size_t)argc + 1, sizeof(*o->shapes));
	o->compares = calloc((size_t)argc + 1, sizeof(*o->compares));
	if (!o->inputs || !o->outputs || !o->shapes || !o->compares) {
		fputs("nnrun: out of memory\n", stderr);
		*status = EXIT_FAILED;
		return false;
	}
	while ((c = getopt_long(argc, argv, "i:o:l:k:d:qvh", long_options, NULL)) != -1) {
		switch (c) {
		case 'h':
			*status = fputs(help, stdout) < 0 || fflush(stdout) ? EXIT_FAILED : EXIT_OK;
			return false;
		case OPT_VERSION:
			*status = printf("nnrun %d.%d.%d, libnnhal %s\n", NNHAL_VERSION_MAJOR,
					 NNHAL_VERSION_MINOR, NNHAL_VERSION_PATCH,
					 nnhal_version_string()) < 0 || fflush(stdout) ?
				  EXIT_FAILED : EXIT_OK;
			return false;
		case '?':	/* getopt_long() has printed a message */
			fputs("Try 'nnrun --help'.\n", stderr);
			return false;
		default:
			if (!take_option(o, c, optarg))
				return false;
		}
	}
	if (optind < argc)
		o->model = argv[optind++];
	o->files = (const char **)(argv + optind);
	o->num_files = (uint32_t)(argc - optind);
	wrong = wrong_combination(o);
	if (wrong)
		usage_error("%s", wrong);
	return !wrong;
}

void options_free(struct options *o)
{
	while (o->num_shapes)
		free(o->shapes[--o->num_shapes].name);
	free(o->shapes);
	free(o->compares);
	free(o->inputs);
	free(o->outputs);
}
