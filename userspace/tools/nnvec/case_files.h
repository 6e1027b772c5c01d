/* SPDX-License-Identifier: MIT */
/*
 * Which files to run.
 */
#ifndef NNVEC_CASE_FILES_H
#define NNVEC_CASE_FILES_H

#include <stdint.h>

/**
 * struct file_list - files in the order they are run in
 * @count: entries of @paths
 * @paths: paths
 */
struct file_list {
	uint32_t count;
	char **paths;
};

/*
 * Add a file, or the .nntc files of a directory and those below it in the order of
 * their names. Returns 0, or -1 with a text of @size bytes.
 */
int file_list_add(struct file_list *list, const char *path, char *text, size_t size);

void file_list_free(struct file_list *list);

#endif /* NNVEC_CASE_FILES_H */
