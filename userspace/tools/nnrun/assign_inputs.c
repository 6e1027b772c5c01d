// SPDX-License-Identifier: MIT
/*
 * Which file goes to which input or output of the model.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/plural.h"
#include "assign_inputs.h"

/* Input or output of a model, by what its name is compared with. */
struct ports {
	const char *what;		/* "input", "output" */
	const struct tensor *list;
	uint32_t count;
	const struct nntflite_model *model;
	uint32_t (*find)(const struct nntflite_model *model, const char *name);
};

static struct ports inputs_of(const struct tensors *tensors, const struct nntflite_model *model)
{
	return (struct ports){ "input", tensors->inputs, tensors->num_inputs, model,
			       nntflite_model_find_input };
}

static struct ports outputs_of(const struct tensors *tensors, const struct nntflite_model *model)
{
	return (struct ports){ "output", tensors->outputs, tensors->num_outputs, model,
			       nntflite_model_find_output };
}

/* The input or output that @length bytes of text name; UINT32_MAX if there is none. */
static uint32_t find(const struct ports *ports, const char *name, size_t length)
{
	uint32_t found;
	char *copy;

	/* The number of an input has no sign and no blank; an empty name is no name. */
	copy = length ? strndup(name, length) : NULL;
	found = copy ? ports->find(ports->model, copy) : UINT32_MAX;
	free(copy);
	return found < ports->count ? found : UINT32_MAX;
}

/* "'a', 'b'", as far as there is room. */
static const char *list_names(const struct ports *ports, char *text, size_t size)
{
	size_t used = 0;
	uint32_t i;

	text[0] = '\0';
	for (i = 0; i < ports->count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s'%s'", i ? ", " : "",
					 ports->list[i].name);
	return text;
}

static bool is_archive(const char *path)
{
	size_t length = strlen(path);

	return length > 4 && strcmp(path + length - 4, ".npz") == 0;
}

/* Is the argument meant to name an input or output, though there is none of that name? */
static bool is_wrong_name(const char *argument)
{
	const char *equals = strchr(argument, '=');

	return equals && !memchr(argument, '/', (size_t)(equals - argument)) &&
	       access(argument, F_OK) != 0;
}

static int no_such_name(const struct options *o, const struct ports *ports, const char *option,
			const char *argument)
{
	char names[256];

	return usage_error("%s %s: %s has no such %s, it has %s", option, argument, o->model,
			   ports->what, list_names(ports, names, sizeof(names)));
}

int strip_names(struct options *o, const struct tensors *tensors, const struct nntflite_model *model)
{
	struct ports ports = inputs_of(tensors, model);
	uint32_t i;

	for (i = 0; i < o->num_files; i++) {
		const char *equals = strchr(o->files[i], '=');

		if (equals && find(&ports, o->files[i], (size_t)(equals - o->files[i])) == 0)
			o->files[i] = equals + 1;
		else if (is_wrong_name(o->files[i]))
			return no_such_name(o, &ports, "input", o->files[i]);
	}
	return EXIT_OK;
}

int assign_outputs(struct options *o, const struct tensors *tensors,
		   const struct nntflite_model *model, const char *option, const char ***list,
		   uint32_t *given)
{
	struct ports ports = outputs_of(tensors, model);
	const char **files = calloc(ports.count + 1, sizeof(*files));
	uint32_t i, next = 0, unnamed = 0;
	char names[256];
	int status = EXIT_OK;

	if (!files)
		return usage_error("out of memory");
	for (i = 0; i < *given && !status; i++) {
		const char *argument = (*list)[i], *equals = strchr(argument, '=');
		uint32_t output = equals ? find(&ports, argument, (size_t)(equals - argument)) :
					   UINT32_MAX;

		if (output == UINT32_MAX && is_wrong_name(argument))
			status = no_such_name(o, &ports, option, argument);
		else if (output == UINT32_MAX)
			unnamed++;
		else if (files[output])
			status = usage_error("two files for the output '%s'", ports.list[output].name);
		else
			files[output] = equals + 1;
	}
	/* Without names there is one for each output; with names only, those that are named. */
	if (!status && unnamed && *given != ports.count)
		status = usage_error("%s has %" PRIu32 " output%s, %" PRIu32 " --%s given: it has %s",
				     o->model, ports.count, plural(ports.count), *given, option,
				     list_names(&ports, names, sizeof(names)));
	for (i = 0; i < *given && !status; i++) {
		const char *argument = (*list)[i], *equals = strchr(argument, '=');

		if (equals && find(&ports, argument, (size_t)(equals - argument)) != UINT32_MAX)
			continue;
		while (files[next])
			next++;
		files[next] = argument;
	}
	free(*list);
	*list = files;
	*given = *given ? ports.count : 0;
	return status;
}

int assign_inputs(const struct options *o, const struct tensors *tensors,
		  const struct nntflite_model *model, const char **paths)
{
	struct ports ports = inputs_of(tensors, model);
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
			input = find(&ports, given[i], (size_t)(equals - given[i]));
		if (input == UINT32_MAX) {
			if (is_wrong_name(given[i]))
				return no_such_name(o, &ports, "input", given[i]);
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
				   list_names(&ports, names, sizeof(names)));
	for (i = 0; i < count && used < count; i++) {
		const char *equals = strchr(given[i], '=');

		if (equals && find(&ports, given[i], (size_t)(equals - given[i])) != UINT32_MAX)
			continue;
		while (paths[next])
			next++;
		paths[next] = given[i];
		used++;
	}
	return EXIT_OK;
}
