// SPDX-License-Identifier: MIT
/*
 * Which file goes to which input of the model.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/plural.h"
#include "assign_inputs.h"

uint32_t find_input(const struct tensors *tensors, const char *name, size_t length)
{
	uint64_t number = 0;
	uint32_t i;
	size_t k;

	for (i = 0; i < tensors->num_inputs; i++)
		if (strlen(tensors->inputs[i].name) == length &&
		    strncmp(tensors->inputs[i].name, name, length) == 0)
			return i;
	if (length == 0 || length > 9)
		return UINT32_MAX;
	for (k = 0; k < length; k++) {
		if (name[k] < '0' || name[k] > '9')
			return UINT32_MAX;
		number = number * 10 + (uint64_t)(name[k] - '0');
	}
	return number < tensors->num_inputs ? (uint32_t)number : UINT32_MAX;
}

/* "'a', 'b'", as far as there is room. */
static const char *list_names(const struct tensors *tensors, char *text, size_t size)
{
	size_t used = 0;
	uint32_t i;

	text[0] = '\0';
	for (i = 0; i < tensors->num_inputs && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s'%s'", i ? ", " : "",
					 tensors->inputs[i].name);
	return text;
}

static bool is_archive(const char *path)
{
	size_t length = strlen(path);

	return length > 4 && strcmp(path + length - 4, ".npz") == 0;
}

/* Is the argument meant to name an input, though there is none of that name? */
static bool is_wrong_name(const char *argument)
{
	const char *equals = strchr(argument, '=');

	return equals && !memchr(argument, '/', (size_t)(equals - argument)) &&
	       access(argument, F_OK) != 0;
}

static int no_such_input(const struct options *o, const struct tensors *tensors,
			 const char *argument)
{
	char names[256];

	return usage_error("input %s: %s has no such input, it has %s", argument, o->model,
			   list_names(tensors, names, sizeof(names)));
}

int strip_names(struct options *o, const struct tensors *tensors)
{
	uint32_t i;

	for (i = 0; i < o->num_files; i++) {
		const char *equals = strchr(o->files[i], '=');

		if (equals && find_input(tensors, o->files[i], (size_t)(equals - o->files[i])) == 0)
			o->files[i] = equals + 1;
		else if (is_wrong_name(o->files[i]))
			return no_such_input(o, tensors, o->files[i]);
	}
	return EXIT_OK;
}

int assign_inputs(const struct options *o, const struct tensors *tensors, const char **paths)
{
	const char *const *given = o->num_inputs ? o->inputs : o->files;
	uint32_t count = o->num_inputs ? o->num_inputs : o->num_files;
	uint32_t used = 0;
	uint32_t i, next = 0;
	char names[256];

	if (count == 1 && tensors->num_inputs > 1 && is_archive(given[0]) &&
	    !strchr(given[0], '=')) {
		for (i = 0; i < tensors->num_inputs; i++)
			paths[i] = given[0];
		return EXIT_OK;
	}
	for (i = 0; i < tensors->num_inputs; i++)
		paths[i] = NULL;
	for (i = 0; i < count; i++) {
		const char *equals = strchr(given[i], '=');
		uint32_t input = UINT32_MAX;

		if (equals)
			input = find_input(tensors, given[i], (size_t)(equals - given[i]));
		if (input == UINT32_MAX) {
			if (is_wrong_name(given[i]))
				return no_such_input(o, tensors, given[i]);
			continue;
		}
		if (paths[input])
			return usage_error("two files for the input '%s'",
					   tensors->inputs[input].name);
		paths[input] = equals + 1;
		used++;
	}
	if (count != tensors->num_inputs)
		return usage_error("%s has %" PRIu32 " input%s, %" PRIu32 " %s%s given: it has %s",
				   o->model, tensors->num_inputs, plural(tensors->num_inputs), count,
				   o->num_inputs ? "--input" : "file",
				   o->num_inputs ? "" : plural(count),
				   list_names(tensors, names, sizeof(names)));
	for (i = 0; i < count && used < count; i++) {
		const char *equals = strchr(given[i], '=');

		if (equals && find_input(tensors, given[i], (size_t)(equals - given[i])) !=
			      UINT32_MAX)
			continue;
		while (paths[next])
			next++;
		paths[next] = given[i];
		used++;
	}
	return EXIT_OK;
}
