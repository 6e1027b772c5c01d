// SPDX-License-Identifier: MIT
/*
 * Comparing the outputs of a model with files.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "../common/plural.h"
#include "compare.h"

/* Arrays by their name; all else is raw, whatever it looks like. */
static enum input_format format_of(const char *path)
{
	size_t length = strlen(path);

	if (length > 4 && (!strcmp(path + length - 4, ".npy") || !strcmp(path + length - 4, ".npz")))
		return INPUT_AUTO;
	return INPUT_RAW;
}

void compare_init(struct compare *c)
{
	*c = (struct compare){ .expected.fd = -1 };
}

int compare_open(struct compare *c, const char *path, const struct tensor *t, uint32_t index,
		 const volatile sig_atomic_t *stop, struct error *err)
{
	struct input_options options = { .format = format_of(path), .of_output = true };

	*c = (struct compare){ .stop = stop };
	return input_open(&c->expected, path, t, index, &options, stop, err);
}

int compare_add(struct compare *c, const void *output, void *buffer,
		const struct compare_tolerance *tolerance, struct error *err)
{
	const struct tensor *t = c->expected.io;
	int ret = input_read(&c->expected, buffer, c->stop, err);
	size_t i;

	if (ret < 0)
		return -1;
	if (ret == 0)
		return fail(err, "%s has %" PRIu64 " sample%s, the model gave more",
			    c->expected.name, c->expected.next, plural(c->expected.next));
	for (i = 0; i < t->elements; i++) {
		double d = tensor_distance(t, output, buffer, i);
		double limit = tolerance->absolute +
			       tolerance->relative * tensor_magnitude(t, buffer, i);

		/* Written so that a limit that is not a number passes nothing. */
		if (d > 0 && !(d <= limit && isfinite(d)))
			c->beyond++;
		if (d > c->largest || c->values == 0) {
			c->largest = d;
			c->sample = c->expected.next - 1;
			c->element = i;
			tensor_element_text(t, output, i, c->got, sizeof(c->got));
			tensor_element_text(t, buffer, i, c->wanted, sizeof(c->wanted));
		}
		c->values++;
	}
	return 0;
}

/* "[0,5,3]" */
static const char *place(const struct tensor *t, size_t element, char *text, size_t size)
{
	size_t stride = t->elements;
	size_t used = 0;
	uint32_t i;

	for (i = 0; i < t->rank && used < size; i++) {
		stride /= t->dims[i];
		used += (size_t)snprintf(text + used, size - used, "%s%zu", i ? "," : "[",
					 element / stride % t->dims[i]);
	}
	if (used < size)
		snprintf(text + used, size - used, "]");
	return text;
}

int compare_report(FILE *stream, const struct compare *c, bool *same, struct error *err)
{
	int at_end = input_at_end(&c->expected, c->stop, err);
	char text[160];

	if (at_end < 0)
		return -1;

	fprintf(stream, "%s: %" PRIu64 " value%s, largest difference %g", c->expected.name,
		c->values, plural(c->values), c->largest);
	if (c->largest > 0)
		fprintf(stream, " in sample %" PRIu64 " at %s (%s, expected %s)", c->sample,
			place(c->expected.io, c->element, text, sizeof(text)), c->got, c->wanted);
	fprintf(stream, ", %" PRIu64 " beyond the tolerance\n", c->beyond);
	if (!at_end && c->expected.count_known)
		fprintf(stream, "%s: %" PRIu64 " sample%s expected, the model gave %" PRIu64 "\n",
			c->expected.name, c->expected.count, plural(c->expected.count), c->expected.next);
	else if (!at_end)
		fprintf(stream, "%s: more is expected than the %" PRIu64 " sample%s that the model gave\n",
			c->expected.name, c->expected.next, plural(c->expected.next));
	if (!at_end || c->beyond)
		*same = false;
	return 0;
}

void compare_close(struct compare *c)
{
	input_close(&c->expected);
}
