/* SPDX-License-Identifier: MIT */
/*
 * Every case of the operator vectors beside the repository (NNPU_SHARED), in a fixed
 * order, with a test result for each folder.
 */
#ifndef NNPU_TESTS_SHARED_VECTORS_H
#define NNPU_TESTS_SHARED_VECTORS_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../userspace/tools/common/nntc.h"
#include "../tap.h"

#define VECTORS_MAX_FILES	1024

typedef void (*vectors_case_fn)(const char *path, const struct nntc_case *nc);

/* All cases of a file; false if it is malformed or cannot be read. */
static inline bool vectors_run_file(const char *path, vectors_case_fn run)
{
	struct nntc_file f;
	struct nntc_case nc;
	bool good = nntc_open(&f, path);

	for (uint32_t i = 0; good && i < f.num_cases; i++) {
		good = nntc_next(&f, &nc);
		if (good) {
			run(path, &nc);
			nntc_free(&nc);
		}
	}
	if (!good)
		tap_note("%s: %s", path, f.error);
	nntc_close(&f);
	return good;
}

static inline int vectors_compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All files of a folder in the order of their names; false if there is none, or one is left out. */
static inline bool vectors_run_folder(const char *path, vectors_case_fn run)
{
	char *files[VECTORS_MAX_FILES];
	unsigned int n = 0;
	struct dirent *e;
	bool good = true;
	DIR *d = opendir(path);

	while (d && (e = readdir(d))) {
		size_t length = strlen(e->d_name);

		if (length <= 5 || strcmp(e->d_name + length - 5, ".nntc"))
			continue;
		if (n < VECTORS_MAX_FILES && asprintf(&files[n], "%s/%s", path, e->d_name) > 0)
			n++;
		else
			good = false;
	}
	if (d)
		closedir(d);
	qsort(files, n, sizeof(*files), vectors_compare_names);
	for (unsigned int i = 0; i < n; i++) {
		good &= vectors_run_file(files[i], run);
		free(files[i]);
	}
	return good && n;
}

/* Ends the program as skipped if there are no vectors. */
static inline void vectors_run_shared(vectors_case_fn run)
{
	static const char *const folders[] = { "V1_0", "V1_1", "V1_2", "V1_3", "V1_3_cts_only" };
	const char *shared = getenv("NNPU_SHARED");
	char path[4096];
	struct stat st;
	int n;

	n = snprintf(path, sizeof(path), "%s/vectors", shared ? shared : "../shared");
	if (n < 0 || (size_t)n >= sizeof(path) || stat(path, &st))
		tap_skip_all("no test vectors: %s", path);
	for (unsigned int i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path + n, sizeof(path) - (size_t)n, "/%s", folders[i]);
		ok(vectors_run_folder(path, run), "files of %s are well-formed", folders[i]);
	}
}

#endif /* NNPU_TESTS_SHARED_VECTORS_H */
