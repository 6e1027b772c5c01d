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

/* Is element @a to be listed before @b? Not-a-number comes last, equal ones in order of their index. */
static bool is_before(const struct tensor *io, const void *data, size_t a, size_t b)
{
	double x = tensor_element(io, data, a);
	double y = tensor_element(io, data, b);

	if (isnan(x) != isnan(y))
		return isnan(y);
	return x > y || (!(x < y) && a < b);
}

/* Restore a heap below @at. Its first element is the one to be listed last. */
static void sink(const struct tensor *io, const void *data, size_t *heap, size_t count, size_t at)
{
	for (;;) {
		size_t last = at, child, swap;

		for (child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
			if (is_before(io, data, heap[last], heap[child]))
				last = child;
		if (last == at)
			return;
		swap = heap[at];
		heap[at] = heap[last];
		heap[last] = swap;
		at = last;
	}
}

/* The first @count elements of the list. It takes time for each element, times the logarithm of @count. */
static void find_best(const struct tensor *io, const void *data, size_t *best, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		best[i] = i;
	for (i = count / 2; i-- > 0; )
		sink(io, data, best, count, i);
	for (i = count; count && i < io->elements; i++) {
		if (!is_before(io, data, i, best[0]))
			continue;
		best[0] = i;
		sink(io, data, best, count, 0);
	}
	/* What is listed last moves to the end, again and again. */
	for (i = count; i-- > 1; ) {
		size_t last = best[0];

		best[0] = best[i];
		best[i] = last;
		sink(io, data, best, i, 0);
	}
}

int print_top(FILE *stream, const struct tensor *io, const void *data, size_t count,
	      const struct labels *labels, struct error *err)
{
	size_t *best;
	size_t i;

	if (count > io->elements)
		count = io->elements;
	best = calloc(count ? count : 1, sizeof(*best));
	if (!best)
		return fail(err, "out of memory");
	find_best(io, data, best, count);
	for (i = 0; i < count; i++) {
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
