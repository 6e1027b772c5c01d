// SPDX-License-Identifier: MIT
/*
 * Memory of a job that comes in small pieces: it is charged as that of one piece is.
 */
#include <endian.h>
#include <string.h>

#include "sample_images.h"
#include "tap.h"


/* A value of the loop takes less than what a job may have uncounted. */
#define N	(60u << 10 >> 2)
#define VALUES	64u
/* Two places of each value in the loop, and its output. */
#define CHUNKS	(3 * VALUES)
/* The job fits, but not in half of it. */
#define MEMORY	(16u << 20)

_Static_assert(CHUNKS * N * 4ull > MEMORY / 2 && CHUNKS * N * 4ull < MEMORY * 3 / 4,
	       "more than a group gets");

enum { CTX = 1 };

static struct rig rig;
static struct job_rig j;

static int run(void)
{
	struct nnpu_arg *args = job_args(&j, 1, 1);
	float *x = (float *)j.operands;
	unsigned int i;

	for (i = 0; i < N; i++)
		x[i] = (float)i;
	job_arg(&args[0], 1, 0, N * 4);
	args[0].flags = htole16(NNPU_ARG_SHAPE);
	args[0].rank = 1;
	args[0].dims[0] = htole32(N);
	job_arg(&args[1], 1, N * 4, N * 4);
	memset(x + N, 0, N * 4);
	return job_execute(&j, 1, NULL);
}

static bool results_ok(void)
{
	const float *x = (const float *)j.operands;
	unsigned int i;

	for (i = 0; i < N; i++)
		if (x[N + i] != 8.0f * (float)i)
			return false;
	return true;
}

/* A job of a context of @group, on a device with @memory. Its status; @*left stays charged. */
static int run_in(uint32_t group, uint64_t memory, unsigned int times, uint64_t *left)
{
	struct nnpu_inproc_config config;
	struct image im;
	int status;

	rig_config(&config);
	config.props.memory_size = memory;
	config.props.max_operand_size = memory / 4;
	rig_open(&rig, &config);
	rig_enable(&rig);
	rig.ctx_attrs.group = htole32(group);
	image_loop(&im, VALUES);
	if (!job_rig_init(&j, &rig, CTX, 1) || rig_load(&rig, CTX, 1, im.bytes, im.size, NULL)) {
		printf("Bail out! the program does not load\n");
		exit(1);
	}
	image_free(&im);
	do {
		status = run();
		if (!status && !results_ok())
			status = -1;
	} while (!status && --times);
	rig_unload(&rig, CTX, 1);
	rig_destroy_ctx(&rig, CTX);
	*left = rig_read64(&rig, NNPU_REG_MEM_USED_LO);
	rig_close(&rig);
	return status;
}

int main(void)
{
	uint64_t left;

	ok(!run_in(0, MEMORY, 1, &left), "%u chunks of %u bytes fit", CHUNKS, N * 4);
	ok(!left, "nothing is left");
	ok(run_in(7, MEMORY, 1, &left) == NNPU_STATUS_NO_MEMORY,
	   "a group does not get more than half of the memory in small chunks");
	ok(!left, "nothing is left");
	ok(!run_in(7, 4 * MEMORY, 10, &left), "of more memory: ten jobs");
	ok(!left, "nothing is left");
	return tap_done();
}
