// SPDX-License-Identifier: MIT
/*
 * The device memory of real models: constants are there once, packed or not, and activations share
 * memory. What comes on top is bounded. It is counted, not measured: it is the same in each run.
 *
 * NNPU_SHARED	folder with models/ and models2/ (default ../shared)
 */
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/core/page_runs.h"
#include "tap.h"
#include "tests/bench/model_memory.h"

/*
 * Beside a part of what is needed: tables of the program by tensor and command, and the rest of pages.
 * What is large enough has room for all that in the part.
 */
#define SLACK		1.15
#define LARGE		(40u << 10)
#define TABLES		(8u << 10)
/* With AddressSanitizer small pieces have gaps between them. */
#define GAPS		(8u << 10)

/*
 * Models that take more, KiB. What is packed is there twice while a load packs it, and panels of weights
 * have whole multiples of eight channels: that is much for ten channels, or for three.
 */
static const struct {
	const char *name;
	unsigned int most;
} beyond[] = {
	{ "digits_float.tflite", 28 },
	{ "digits_int8.tflite", 16 },
};

static double bound(const char *name, uint64_t needed)
{
	double most = SLACK * (double)needed;

	for (size_t i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++)
		if (!strcmp(name, beyond[i].name))
			return beyond[i].most * 1024.0;
	return needed < LARGE ? most + TABLES : most;
}

static void judge(const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	struct error err = { "", 0 };
	struct model_memory m;
	double most;

	if (model_memory_of(path, &m, &err)) {
		ok(false, "%s: %s", name, err.text);
		return;
	}
	most = bound(name, model_needs(&m)) + GAPS * MEM_WATCHED;
	ok((double)m.peak <= most, "%s: %.1f KiB at most, %.1f needed: %.3f", name,
	   (double)m.peak / 1024, (double)model_needs(&m) / 1024, model_memory_ratio(&m));
}

/* All models of a folder. */
static void judge_all(const char *parent, const char *folder)
{
	char pattern[512];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/%s/*.tflite", parent, folder);
	if (glob(pattern, 0, NULL, &found)) {
		tap_skip("no models in %s/%s (NNPU_SHARED)", parent, folder);
		return;
	}
	for (size_t i = 0; i < found.gl_pathc; i++)
		judge(found.gl_pathv[i]);
	globfree(&found);
}

int main(void)
{
	const char *shared = getenv("NNPU_SHARED");

	if (!shared)
		shared = "../shared";
	judge("examples/digits/digits_float.tflite");
	judge("examples/digits/digits_int8.tflite");
	judge_all(shared, "models");
	judge_all(shared, "models2");
	return tap_done();
}
