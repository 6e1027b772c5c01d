// SPDX-License-Identifier: MIT
/*
 * nnrun_compare - compare tensors in files and say by how much they differ.
 *
 *   nnrun_compare bytes GOT EXPECTED SAMPLE_BYTES
 *	samples that are equal byte for byte; status 0 if all are
 *   nnrun_compare floats GOT EXPECTED TOLERANCE
 *	largest absolute difference; status 0 if it is within the tolerance. NaN differs
 *	from everything, also from NaN
 *   nnrun_compare classes GOT LABELS CLASSES int8|float
 *	prints how many samples have the largest score (first on a tie) at the class
 *	in LABELS, one byte each; no score may be NaN
 *   nnrun_compare dequantize IN OUT SCALE ZERO_POINT
 *	int8 to float
 *
 * Prints one line; status 1 for a difference, 2 for files that do not fit.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../difference.h"

struct file {
	uint8_t *data;
	size_t size;
};

static void die(const char *what, const char *path)
{
	printf("%s: %s\n", path, what);
	exit(2);
}

static struct file load(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct file file = { NULL, 0 };
	size_t room = 1 << 16;
	size_t n;

	if (!f)
		die("cannot be opened", path);
	file.data = malloc(room);
	while (file.data && (n = fread(file.data + file.size, 1, room - file.size, f)) > 0) {
		file.size += n;
		if (file.size == room)
			file.data = realloc(file.data, room *= 2);
	}
	if (!file.data || ferror(f) || file.size == 0)
		die("cannot be read or is empty", path);
	fclose(f);
	return file;
}

static int compare_bytes(struct file got, struct file want, size_t sample)
{
	size_t count, equal = 0, i, k;
	int largest = 0;

	if (sample == 0 || got.size != want.size || want.size % sample != 0) {
		printf("%zu bytes, expected %zu\n", got.size, want.size);
		return 2;
	}
	count = want.size / sample;
	for (i = 0; i < count; i++) {
		equal += memcmp(got.data + i * sample, want.data + i * sample, sample) == 0;
		for (k = i * sample; k < (i + 1) * sample; k++) {
			int difference = abs((int8_t)got.data[k] - (int8_t)want.data[k]);

			if (difference > largest)
				largest = difference;
		}
	}
	printf("%zu of %zu samples equal, largest difference %d\n", equal, count, largest);
	return equal == count ? 0 : 1;
}

static int compare_floats(struct file got, struct file want, double tolerance)
{
	double largest = 0;
	size_t i;

	if (got.size != want.size || want.size % 4 != 0) {
		printf("%zu bytes, expected %zu\n", got.size, want.size);
		return 2;
	}
	for (i = 0; i < want.size; i += 4) {
		float a, b;

		memcpy(&a, got.data + i, 4);
		memcpy(&b, want.data + i, 4);
		largest = larger_difference(largest, fabs((double)a - (double)b));
	}
	printf("%zu values, largest difference %.3g, allowed %g\n", want.size / 4, largest,
	       tolerance);
	return is_within(largest, tolerance) ? 0 : 1;
}

static int count_classes(struct file got, struct file labels, size_t classes, int is_float)
{
	size_t element = is_float ? 4 : 1;
	size_t right = 0, i, k;

	if (classes == 0 || got.size != labels.size * classes * element) {
		printf("%zu bytes for %zu labels\n", got.size, labels.size);
		return 2;
	}
	for (i = 0; i < labels.size; i++) {
		float best = -INFINITY;
		size_t at = 0;

		for (k = 0; k < classes; k++) {
			const uint8_t *p = got.data + (i * classes + k) * element;
			float value = (int8_t)*p;

			if (is_float)
				memcpy(&value, p, 4);
			if (isnan(value)) {
				printf("sample %zu: the score of class %zu is no number\n", i, k);
				return 1;
			}
			if (value > best) {
				best = value;
				at = k;
			}
		}
		right += at == labels.data[i];
	}
	printf("%zu of %zu right\n", right, labels.size);
	return 0;
}

static int dequantize(struct file in, const char *path, float scale, int zero_point)
{
	FILE *f = fopen(path, "wb");
	size_t i;

	if (!f)
		die("cannot be written", path);
	for (i = 0; i < in.size; i++) {
		float value = (float)((int8_t)in.data[i] - zero_point) * scale;

		fwrite(&value, 4, 1, f);
	}
	if (fclose(f) != 0)
		die("cannot be written", path);
	printf("%zu values\n", in.size);
	return 0;
}

int main(int argc, char **argv)
{
	struct file got = { NULL, 0 }, want = { NULL, 0 };
	const char *mode = argc > 1 ? argv[1] : "";
	int status = 2;

	if ((argc != 5 && argc != 6) || (argc == 6) != (mode[0] == 'c' || mode[0] == 'd')) {
		fprintf(stderr, "wrong arguments; see the comment at the top of the source\n");
		return 2;
	}
	got = load(argv[2]);
	if (strcmp(mode, "dequantize") != 0)
		want = load(argv[3]);
	if (strcmp(mode, "bytes") == 0)
		status = compare_bytes(got, want, strtoul(argv[4], NULL, 10));
	else if (strcmp(mode, "floats") == 0)
		status = compare_floats(got, want, strtod(argv[4], NULL));
	else if (strcmp(mode, "classes") == 0)
		status = count_classes(got, want, strtoul(argv[4], NULL, 10),
				       strcmp(argv[5], "float") == 0);
	else if (strcmp(mode, "dequantize") == 0)
		status = dequantize(got, argv[3], strtof(argv[4], NULL), atoi(argv[5]));
	free(got.data);
	free(want.data);
	return status;
}
