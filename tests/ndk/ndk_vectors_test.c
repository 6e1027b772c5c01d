// SPDX-License-Identifier: MIT
/*
 * The operator vectors beside the repository through the NNAPI, in each of the ways of ndk_ways.c: a
 * line for each way, with counts, and what was skipped for which reason.
 *
 * Environment:
 *   NNPU_SHARED      where the vectors are (default: ../shared)
 *   NNPU_VECTORS     every Nth case goes each way; 1 = all of them (default: 48, and every fourth
 *                    the first way; in the virtual machine every 360th, and every 96th the first)
 *   NNPU_NDK_DEVICE  name of the device (default: nnapi-reference; in the virtual machine another)
 *   NNPU_NDK_WAY     only ways whose names contain this
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ndk_case.h"
#include "tap.h"
#include "userspace/tools/nnvec/case_files.h"

#define MAX_REASONS	16

struct reason {
	char text[REASON_TEXT];
	uint64_t count;
};

struct counts {
	uint64_t of[3];			/* by enum ndk_verdict */
	uint64_t cached;		/* folders with a cache file */
	uint32_t num_reasons;
	struct reason reasons[MAX_REASONS];
};

static const ANeuralNetworksDevice *find_device(const char *wanted)
{
	bool hardware = getenv("NNPU_KO") && getenv("NNPU_KO")[0];
	ANeuralNetworksDevice *device;
	const char *name;

	for (uint32_t i = 0; !ANeuralNetworks_getDevice(i, &device); i++) {
		if (ANeuralNetworksDevice_getName(device, &name))
			continue;
		if (wanted ? !strcmp(name, wanted) : hardware != !strcmp(name, "nnapi-reference")) {
			printf("# device %s\n", name);
			return device;
		}
	}
	return NULL;
}

/* Remove what is in a folder of caches. Returns how many files there were. */
static unsigned int empty_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	unsigned int count = 0;
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.')
			count += !unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	return count;
}

static void add_reason(struct counts *counts, const char *text)
{
	uint32_t i;

	for (i = 0; i < counts->num_reasons; i++)
		if (!strcmp(counts->reasons[i].text, text))
			break;
	if (i == MAX_REASONS)
		return;
	if (i == counts->num_reasons)
		snprintf(counts->reasons[counts->num_reasons++].text, REASON_TEXT, "%s", text);
	counts->reasons[i].count++;
}

static void run_case(struct counts *counts, struct ndk_case *c, const char *path)
{
	enum ndk_verdict verdict;
	char text[REASON_TEXT];

	verdict = ndk_case_run(c, text);
	counts->of[verdict]++;
	if (verdict == NDK_SKIPPED)
		add_reason(counts, text);
	if (verdict == NDK_FAILED && counts->of[verdict] <= 20)
		printf("# %s: %s: %s: %s\n", path, c->nc->name, c->way->name, text);
	if (c->way->from_cache)
		counts->cached += empty_folder(c->folder) > 0;
}

/* Each case the ways that it is due for. false: a file cannot be read. */
static bool run_file(const char *path, struct ndk_case *c, struct counts *counts,
		     const bool *selected, const unsigned long every[2])
{
	static unsigned long number;
	struct nntc_case nc;
	struct nntc_file f;

	if (!nntc_open(&f, path)) {
		printf("# %s: %s\n", path, f.error);
		return false;
	}
	while (f.next < f.num_cases) {
		if (!nntc_next(&f, &nc)) {
			printf("# %s: %s\n", path, f.error);
			nntc_close(&f);
			return false;
		}
		c->nc = &nc;
		/* Each case is a model of its own for the cache. */
		memcpy(c->token, &number, sizeof(number));
		for (unsigned int w = 0; w < num_ndk_ways; w++) {
			c->way = &ndk_ways[w];
			if (selected[w] && !(number % every[w > 0]))
				run_case(&counts[w], c, path);
		}
		number++;
		nntc_free(&nc);
	}
	nntc_close(&f);
	return true;
}

static void print_way(const struct ndk_way *way, const struct counts *counts)
{
	ok(counts->of[NDK_PASSED] && !counts->of[NDK_FAILED],
	   "%s: %llu passed, %llu failed, %llu skipped", way->name,
	   (unsigned long long)counts->of[NDK_PASSED], (unsigned long long)counts->of[NDK_FAILED],
	   (unsigned long long)counts->of[NDK_SKIPPED]);
	for (uint32_t i = 0; i < counts->num_reasons; i++)
		printf("# %llu skipped: %s\n", (unsigned long long)counts->reasons[i].count,
		       counts->reasons[i].text);
	if (way->from_cache)
		printf("# %llu of them left cache files\n", (unsigned long long)counts->cached);
}

static unsigned long number_of(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);
	unsigned long number = text ? strtoul(text, NULL, 10) : 0;

	return number ? number : otherwise;
}

int main(void)
{
	bool in_vm = getenv("NNPU_KO") && getenv("NNPU_KO")[0];
	unsigned long every[2] = { number_of("NNPU_VECTORS", in_vm ? 96 : 4),
				   number_of("NNPU_VECTORS", in_vm ? 360 : 48) };
	const char *shared = getenv("NNPU_SHARED"), *only = getenv("NNPU_NDK_WAY");
	struct counts *counts = calloc(num_ndk_ways, sizeof(*counts));
	bool *selected = calloc(num_ndk_ways, sizeof(*selected));
	char path[PATH_MAX], folder[] = "/tmp/ndk_vectors.XXXXXX", text[REASON_TEXT];
	struct file_list files = { 0 };
	struct ndk_case c = { .folder = folder };
	unsigned int w, unread = 0;

	snprintf(path, sizeof(path), "%s/vectors", shared && shared[0] ? shared : "../shared");
	if (access(path, R_OK)) {
		printf("1..0 # SKIP no test vectors: %s\n", path);
		return TAP_SKIP_ALL;
	}
	c.device = find_device(getenv("NNPU_NDK_DEVICE"));
	if (!counts || !selected || !c.device || !mkdtemp(folder) ||
	    file_list_add(&files, path, text, sizeof(text))) {
		printf("Bail out! no device, no folder or no memory\n");
		return 1;
	}
	for (w = 0; w < num_ndk_ways; w++)
		selected[w] = !only || strstr(ndk_ways[w].name, only);
	for (uint32_t i = 0; i < files.count; i++)
		unread += !run_file(files.paths[i], &c, counts, selected, every);
	ok(!unread, "%u files, all were read", files.count);
	for (w = 0; w < num_ndk_ways; w++)
		if (selected[w])
			print_way(&ndk_ways[w], &counts[w]);
	rmdir(folder);
	file_list_free(&files);
	free(counts);
	free(selected);
	return tap_done();
}
