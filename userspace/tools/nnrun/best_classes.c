// SPDX-License-Identifier: MIT
/*
 * Prints the best classes of an output.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/file.h"
#include "best_classes.h"

#define MAX_LABELS_FILE	((size_t)64 << 20)

int labels_read(struct labels *labels, const char *path, const volatile sig_atomic_t *stop,
		struct error *err)
{
	uint8_t *data;
	size_t size, i, lines = 1;
	char *line;
	int fd;

	*labels = (struct labels){ NULL, NULL, 0 };
	fd = open_input(path, err);
	if (fd < 0)
		return -1;
	if (read_rest(fd, path, NULL, 0, MAX_LABELS_FILE, &data, &size, stop, err)) {
		close(fd);
		return -1;
	}
	close(fd);
	/* read_rest() leaves room for at least one byte more. */
	data[size] = '\0';
	labels->text = (char *)data;
	for (i = 0; i < size; i++) {
		lines += data[i] == '\n';
		if (data[i] == '\0')
			return fail(err, "%s: not a text file (a NUL at offset %zu)", path, i);
	}
	labels->names = calloc(lines, sizeof(*labels->names));
	if (!labels->names)
		return fail(err, "out of memory");
	for (line = labels->text; line && *line; ) {
		char *end = strchr(line, '\n');

		if (end)
			*end++ = '\0';
		line[strcspn(line, "\r")] = '\0';
		labels->names[labels->count++] = line;
		line = end;
	}
	return 0;
}

void labels_free(struct labels *labels)
{
	free(labels->text);
	free(labels->names);
	*labels = (struct labels){ NULL, NULL, 0 };
}

/* Is @a to be listed before @b? Not-a-number comes last. */
static bool better(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(b) && !isnan(a);
	return a > b;
}

int print_top(FILE *stream, const struct tensor *io, const void *data, size_t count,
	      const struct labels *labels, struct error *err)
{
	size_t *best;
	size_t used = 0;
	size_t i, j;

	if (count > io->elements)
		count = io->elements;
	best = calloc(count ? count : 1, sizeof(*best));
	if (!best)
		return fail(err, "out of memory");
	for (i = 0; i < io->elements; i++) {
		double value = tensor_element(io, data, i);

		for (j = used; j > 0 && better(value, tensor_element(io, data, best[j - 1])); j--)
			if (j < count)
				best[j] = best[j - 1];
		if (j < count) {
			best[j] = i;
			if (used < count)
				used++;
		}
	}
	for (i = 0; i < used; i++) {
		size_t class = best[i];

		fprintf(stream, "%12.6f %6zu", tensor_element(io, data, class), class);
		if (class < labels->count) {
			struct text text = { labels->names[class], strlen(labels->names[class]) };
			char name[256];

			fprintf(stream, "  %s", text_print(text, name, sizeof(name)));
		}
		fputc('\n', stream);
	}
	free(best);
	return 0;
}
