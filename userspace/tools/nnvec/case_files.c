// SPDX-License-Identifier: MIT
/*
 * Which files to run.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "case_files.h"

/* Deepest nesting of directories. */
#define MAX_DEPTH	16

static int fail(char *text, size_t size, const char *path, const char *why)
{
	snprintf(text, size, "%s: %s", path, why);
	return -1;
}

static int append(struct file_list *list, const char *path)
{
	char **larger = realloc(list->paths, (list->count + 1u) * sizeof(*larger));

	if (!larger)
		return -1;
	list->paths = larger;
	larger[list->count] = strdup(path);
	if (!larger[list->count])
		return -1;
	list->count++;
	return 0;
}

static int is_visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_directory(struct file_list *list, const char *path, unsigned int depth,
			 char *text, size_t size);

static int add_entry(struct file_list *list, const char *path, unsigned int depth, char *text,
		     size_t size)
{
	size_t length = strlen(path);
	struct stat st;

	/*
	 * Symbolic links to directories may form cycles, so they are not followed; those to
	 * files are.
	 */
	if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return add_directory(list, path, depth + 1, text, size);
	if (length < 5 || strcmp(path + length - 5, ".nntc"))
		return 0;
	return append(list, path) ? fail(text, size, path, strerror(ENOMEM)) : 0;
}

static int add_directory(struct file_list *list, const char *path, unsigned int depth,
			 char *text, size_t size)
{
	struct dirent **entries;
	int count, ret = 0;

	if (depth > MAX_DEPTH)
		return fail(text, size, path, "too many directories in each other");
	count = scandir(path, &entries, is_visible, compare_names);
	if (count < 0)
		return fail(text, size, path, strerror(errno));
	for (int i = 0; i < count; i++) {
		char *name = NULL;

		if (!ret && asprintf(&name, "%s/%s", path, entries[i]->d_name) < 0) {
			name = NULL;
			ret = fail(text, size, path, strerror(ENOMEM));
		}
		if (!ret)
			ret = add_entry(list, name, depth, text, size);
		free(name);
		free(entries[i]);
	}
	free(entries);
	return ret;
}

int file_list_add(struct file_list *list, const char *path, char *text, size_t size)
{
	uint32_t before = list->count;
	struct stat st;
	int ret;

	if (stat(path, &st))
		return fail(text, size, path, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return append(list, path) ? fail(text, size, path, strerror(ENOMEM)) : 0;
	ret = add_directory(list, path, 0, text, size);
	if (!ret && list->count == before)
		return fail(text, size, path, "no .nntc file in this directory");
	return ret;
}

void file_list_free(struct file_list *list)
{
	for (uint32_t i = 0; i < list->count; i++)
		free(list->paths[i]);
	free(list->paths);
	list->paths = NULL;
	list->count = 0;
}
