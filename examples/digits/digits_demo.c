// SPDX-License-Identifier: MIT
/*
 * digits_demo - judge what nnrun computed for the held-out digits.
 *
 * Reads the test set and the expected outputs from one folder and the outputs
 * of the float and the int8 model from two files; draws some digits, and
 * reports accuracy, agreement with the expected outputs and latency. The
 * README of the folder describes the files.
 *
 * Exit status: 0 when every output is the expected one and the accuracy is
 * what it has to be, 1 when not, 2 when something could not be read.
 */
#include <endian.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDE 8
#define PIXELS (SIDE * SIDE)
#define CLASSES 10

/* What the demo demands, in percent of the samples. */
#define MIN_FLOAT_ACCURACY 97
#define MAX_INT8_LOSS 1

/*
 * Largest difference of a float output: the absolute part of the limit that
 * the HAL's test suite has for TENSOR_FLOAT32. The int8 outputs have none:
 * their arithmetic is exact.
 */
#define FLOAT_TOLERANCE 1e-5

/* Digits side by side: each pixel takes two characters. */
#define PER_ROW 4
#define GAP 3
#define MAX_WRONG_SHOWN 8

struct options {
	const char *data;
	const char *float_output;
	const char *int8_output;
	const char *float_latency;
	const char *int8_latency;
	const char *burst_latency;
	size_t show;
};

/* The test set and both models' outputs, one row per sample. */
struct results {
	size_t count;
	uint8_t *labels;
	float *images;
	float *float_scores;
	float *float_expected;
	int8_t *int8_scores;
	int8_t *int8_expected;
};

static void fail(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));

static void fail(const char *format, ...)
{
	va_list args;

	fputs("digits_demo: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(2);
}

/* The whole file, in memory the caller frees; @size is its length in bytes. */
static void *read_file(const char *path, size_t *size)
{
	size_t room = 1 << 16, used = 0, got;
	FILE *file = fopen(path, "rb");
	uint8_t *data;

	if (!file)
		fail("%s: %s", path, strerror(errno));
	data = malloc(room);
	if (!data)
		fail("%s: out of memory", path);
	while ((got = fread(data + used, 1, room - used, file)) > 0) {
		used += got;
		if (used == room) {
			room *= 2;
			data = realloc(data, room);
			if (!data)
				fail("%s: out of memory", path);
		}
	}
	if (ferror(file))
		fail("%s: read error", path);
	fclose(file);
	*size = used;
	return data;
}

/* A file of @count rows of @row_size bytes; any other length is fatal. */
static void *read_rows(const char *path, size_t count, size_t row_size)
{
	size_t size;
	void *data = read_file(path, &size);

	if (size != count * row_size) {
		free(data);
		fail("%s: %zu bytes, expected %zu (%zu samples of %zu)", path,
		     size, count * row_size, count, row_size);
	}
	return data;
}

static float *read_floats(const char *path, size_t count, size_t row)
{
	uint32_t *words = read_rows(path, count, row * sizeof(*words));
	float *values = malloc(count * row * sizeof(*values));
	size_t i;

	if (!values)
		fail("%s: out of memory", path);
	for (i = 0; i < count * row; i++) {
		uint32_t word = le32toh(words[i]);

		memcpy(&values[i], &word, sizeof(word));
	}
	free(words);
	return values;
}

static const char *in_folder(const char *folder, const char *name)
{
	static char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >=
	    (int)sizeof(path))
		fail("%s/%s: the path is too long", folder, name);
	return path;
}

static void read_results(struct results *r, const struct options *opt)
{
	size_t i;

	r->labels = read_file(in_folder(opt->data, "test_labels.bin"),
			      &r->count);
	if (!r->count)
		fail("%s: no samples", in_folder(opt->data, "test_labels.bin"));
	for (i = 0; i < r->count; i++)
		if (r->labels[i] >= CLASSES)
			fail("%s: sample %zu has label %u",
			     in_folder(opt->data, "test_labels.bin"), i,
			     r->labels[i]);
	r->images = read_floats(in_folder(opt->data, "test_images_float.bin"),
				r->count, PIXELS);
	r->float_expected = read_floats(in_folder(opt->data,
						  "expected_float.bin"),
					r->count, CLASSES);
	r->int8_expected = read_rows(in_folder(opt->data, "expected_int8.bin"),
				     r->count, CLASSES);
	r->float_scores = read_floats(opt->float_output, r->count, CLASSES);
	r->int8_scores = read_rows(opt->int8_output, r->count, CLASSES);
}

static void free_results(struct results *r)
{
	free(r->labels);
	free(r->images);
	free(r->float_scores);
	free(r->float_expected);
	free(r->int8_scores);
	free(r->int8_expected);
}

/* The class with the largest score; the first one on a tie. */
static unsigned int float_class(const struct results *r, size_t sample)
{
	const float *scores = &r->float_scores[sample * CLASSES];
	unsigned int best = 0, i;

	for (i = 1; i < CLASSES; i++)
		if (scores[i] > scores[best])
			best = i;
	return best;
}

static unsigned int int8_class(const struct results *r, size_t sample)
{
	const int8_t *scores = &r->int8_scores[sample * CLASSES];
	unsigned int best = 0, i;

	for (i = 1; i < CLASSES; i++)
		if (scores[i] > scores[best])
			best = i;
	return best;
}

static void draw_line(const struct results *r, size_t sample, unsigned int y)
{
	static const char shades[] = " .:-=+*#%@";
	const float *row = &r->images[sample * PIXELS + y * SIDE];
	unsigned int x;

	for (x = 0; x < SIDE; x++) {
		float value = fminf(fmaxf(row[x], 0.0f), 1.0f);
		char shade = shades[lrintf(value * (sizeof(shades) - 2))];

		putchar(shade);
		putchar(shade);
	}
}

/* After column @i of @count: the gap to the next one, or the line's end. */
static void end_column(size_t i, size_t count, int gap)
{
	if (i + 1 < count)
		printf("%*s", gap, "");
	else
		putchar('\n');
}

/* One row of digits with what both models make of them. */
static void draw_row(const struct results *r, const size_t *samples,
		     size_t count)
{
	unsigned int class, y;
	size_t i;

	for (y = 0; y < SIDE; y++) {
		for (i = 0; i < count; i++) {
			draw_line(r, samples[i], y);
			end_column(i, count, GAP);
		}
	}
	for (i = 0; i < count; i++) {
		printf("label %u  (#%04zu)", r->labels[samples[i]], samples[i]);
		end_column(i, count, GAP);
	}
	for (i = 0; i < count; i++) {
		class = float_class(r, samples[i]);
		printf("float %u  %5.1f %%", class, 100.0 *
		       (double)r->float_scores[samples[i] * CLASSES + class]);
		end_column(i, count, GAP);
	}
	for (i = 0; i < count; i++) {
		class = int8_class(r, samples[i]);
		/* Scale 1/256, zero point -128. */
		printf("int8  %u  %5.1f %%", class, 100.0 / 256.0 *
		       (r->int8_scores[samples[i] * CLASSES + class] + 128));
		end_column(i, count, GAP);
	}
	putchar('\n');
}

static void draw(const struct results *r, const size_t *samples, size_t count)
{
	size_t first;

	for (first = 0; first < count; first += PER_ROW)
		draw_row(r, &samples[first], count - first < PER_ROW ?
			 count - first : PER_ROW);
}

/* @count samples with the labels 0, 1, .. 9, 0, 1, ... */
static void draw_some(const struct results *r, size_t count)
{
	size_t *samples = malloc((count ? count : 1) * sizeof(*samples));
	size_t next[CLASSES] = { 0 };
	size_t found = 0, misses = 0;
	unsigned int digit = 0;

	if (!samples)
		fail("out of memory");
	while (found < count && misses < CLASSES) {
		size_t i = next[digit];

		while (i < r->count && r->labels[i] != digit)
			i++;
		if (i < r->count) {
			samples[found++] = i;
			misses = 0;
		} else {
			misses++;
		}
		next[digit] = i + 1;
		digit = (digit + 1) % CLASSES;
	}
	draw(r, samples, found);
	free(samples);
}

static void draw_wrong(const struct results *r)
{
	size_t samples[MAX_WRONG_SHOWN];
	size_t found = 0, total = 0, i;

	for (i = 0; i < r->count; i++) {
		if (float_class(r, i) == r->labels[i] &&
		    int8_class(r, i) == r->labels[i])
			continue;
		total++;
		if (found < MAX_WRONG_SHOWN)
			samples[found++] = i;
	}
	if (!total) {
		printf("Both models are right on every held-out digit.\n\n");
		return;
	}
	printf("Wrong in at least one model: %zu", total);
	if (found < total)
		printf(" (the first %zu)", found);
	printf("\n\n");
	draw(r, samples, found);
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The nearest-rank percentile of sorted values. */
static double percentile_us(const uint64_t *sorted, size_t count,
			    unsigned int percent)
{
	size_t rank = (count * percent + 99) / 100;

	return (double)sorted[rank - 1] / 1000.0;
}

/* @path holds one duration in nanoseconds per line. */
static void report_latency(const char *name, const char *path)
{
	size_t count = 0, room = 1024;
	FILE *file = fopen(path, "r");
	uint64_t *values;
	char line[64];

	if (!file)
		fail("%s: %s", path, strerror(errno));
	values = malloc(room * sizeof(*values));
	if (!values)
		fail("%s: out of memory", path);
	while (fgets(line, sizeof(line), file)) {
		char *end;

		if (count == room) {
			room *= 2;
			values = realloc(values, room * sizeof(*values));
			if (!values)
				fail("%s: out of memory", path);
		}
		errno = 0;
		values[count] = strtoull(line, &end, 10);
		if (errno || end == line || *end != '\n')
			fail("%s: line %zu is not a number of nanoseconds",
			     path, count + 1);
		count++;
	}
	if (ferror(file))
		fail("%s: read error", path);
	fclose(file);
	if (!count)
		fail("%s: no latencies", path);

	qsort(values, count, sizeof(*values), compare_u64);
	printf("  %-15s  p50 %.1f us   p90 %.1f us   p99 %.1f us   (%zu inferences)\n",
	       name, percentile_us(values, count, 50),
	       percentile_us(values, count, 90),
	       percentile_us(values, count, 99), count);
	free(values);
}

static void report_accuracy(const char *name, size_t correct, size_t count)
{
	printf("  %-5s  %6.2f %%   (%zu of %zu)\n", name,
	       100.0 * (double)correct / (double)count, correct, count);
}

/* True when the outputs are those of the reference implementation. */
static bool report_agreement(const struct results *r)
{
	double worst = 0.0;
	size_t same = 0, near = 0, i, j;

	for (i = 0; i < r->count; i++) {
		bool is_near = true;

		if (!memcmp(&r->int8_scores[i * CLASSES],
			    &r->int8_expected[i * CLASSES], CLASSES))
			same++;
		for (j = i * CLASSES; j < (i + 1) * CLASSES; j++) {
			double error = fabs((double)r->float_scores[j] -
					    (double)r->float_expected[j]);

			/* A NaN is the worst of all. */
			if (!isnan(worst) && !(error <= worst))
				worst = error;
			if (!(error <= FLOAT_TOLERANCE))
				is_near = false;
		}
		near += is_near;
	}
	printf("Agreement with the reference implementation\n");
	printf("  float  %zu of %zu within %g, largest difference %.2g\n",
	       near, r->count, FLOAT_TOLERANCE, worst);
	printf("  int8   %zu of %zu byte for byte\n\n", same, r->count);
	return same == r->count && near == r->count;
}

/* Report everything; true when the results are what they have to be. */
static bool report(const struct results *r, const struct options *opt)
{
	size_t float_correct = 0, int8_correct = 0, i;
	bool good = true, agrees;

	for (i = 0; i < r->count; i++) {
		float_correct += float_class(r, i) == r->labels[i];
		int8_correct += int8_class(r, i) == r->labels[i];
	}
	printf("Accuracy on %zu held-out digits\n", r->count);
	report_accuracy("float", float_correct, r->count);
	report_accuracy("int8", int8_correct, r->count);
	putchar('\n');

	agrees = report_agreement(r);
	if (opt->float_latency || opt->int8_latency || opt->burst_latency) {
		printf("Latency per inference\n");
		if (opt->float_latency)
			report_latency("float", opt->float_latency);
		if (opt->int8_latency)
			report_latency("int8", opt->int8_latency);
		if (opt->burst_latency)
			report_latency("int8 in a burst", opt->burst_latency);
		putchar('\n');
	}
	fflush(stdout);

	if (float_correct * 100 < r->count * MIN_FLOAT_ACCURACY) {
		fprintf(stderr, "digits_demo: float accuracy is below %d %%\n",
			MIN_FLOAT_ACCURACY);
		good = false;
	}
	if (int8_correct * 100 + r->count * MAX_INT8_LOSS <
	    float_correct * 100) {
		fprintf(stderr,
			"digits_demo: int8 is more than %d point below float\n",
			MAX_INT8_LOSS);
		good = false;
	}
	if (!agrees) {
		fprintf(stderr,
			"digits_demo: the outputs differ from the expected ones\n");
		good = false;
	}
	return good;
}

static void usage(FILE *file)
{
	fputs("Usage: digits_demo --data DIR --float FILE --int8 FILE [OPTION]...\n"
	      "  --data DIR            test set and expected outputs\n"
	      "  --float FILE          outputs of digits_float.tflite\n"
	      "  --int8 FILE           outputs of digits_int8.tflite\n"
	      "  --float-latency FILE  nanoseconds per inference, one per line\n"
	      "  --int8-latency FILE   the same for the int8 model\n"
	      "  --burst-latency FILE  the same for the int8 model in a burst\n"
	      "  --show N              draw N digits (default 12)\n",
	      file);
}

static void parse_options(struct options *opt, int argc, char **argv)
{
	static const struct option known[] = {
		{ "data", required_argument, NULL, 'd' },
		{ "float", required_argument, NULL, 'f' },
		{ "int8", required_argument, NULL, 'i' },
		{ "float-latency", required_argument, NULL, 'F' },
		{ "int8-latency", required_argument, NULL, 'I' },
		{ "burst-latency", required_argument, NULL, 'B' },
		{ "show", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	unsigned long show;
	char *end;
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (c) {
		case 'd':
			opt->data = optarg;
			break;
		case 'f':
			opt->float_output = optarg;
			break;
		case 'i':
			opt->int8_output = optarg;
			break;
		case 'F':
			opt->float_latency = optarg;
			break;
		case 'I':
			opt->int8_latency = optarg;
			break;
		case 'B':
			opt->burst_latency = optarg;
			break;
		case 's':
			show = strtoul(optarg, &end, 10);
			if (*optarg < '0' || *optarg > '9' || *end ||
			    show > 100000)
				fail("--show takes a number up to 100000");
			opt->show = show;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(2);
		}
	}
	if (optind != argc || !opt->data || !opt->float_output ||
	    !opt->int8_output) {
		usage(stderr);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct options opt = { .show = 12 };
	struct results results;
	bool good;

	parse_options(&opt, argc, argv);
	read_results(&results, &opt);
	if (opt.show) {
		draw_some(&results, opt.show);
		draw_wrong(&results);
	}
	good = report(&results, &opt);
	free_results(&results);
	if (fflush(stdout) || ferror(stdout))
		fail("cannot write to standard output");
	return good ? 0 : 1;
}
