// SPDX-License-Identifier: MIT
/*
 * The work of a job besides its operations, as the device counts it. There is none if all
 * shapes are known and the engine has run such a job before.
 */
#include <endian.h>
#include <string.h>

#include "rig.h"
#include "tap.h"

#define N	64u

enum { STATIC = 1, DYNAMIC = 2 };

static struct rig rig;
static struct job_rig j;

static void load(uint32_t program, uint32_t n)
{
	struct image im;

	image_add(&im, n);
	ok(rig_load(&rig, 1, program, im.bytes, im.size, NULL) == 0, "program %u loads", program);
	image_free(&im);
}

/* Run a program with N elements; its counts, in hosts' order, are in @counts. */
static bool run(uint32_t program, uint32_t *counts)
{
	const struct nnpu_args_header *h = job_result(&j);

	job_add_args(&j, N);
	for (unsigned int i = 0; i < 2; i++) {
		struct nnpu_arg *a = (struct nnpu_arg *)(j.block + 64) + i;

		a->flags |= htole16(NNPU_ARG_SHAPE);
		a->rank = 1;
		a->dims[0] = htole32(N);
	}
	memset((void *)h, 0xff, sizeof(*h));
	if (job_execute(&j, program, NULL) || !job_add_ok(&j, N))
		return false;
	counts[0] = le16toh(h->inferences);
	counts[1] = le16toh(h->allocations);
	counts[2] = le16toh(h->copies);
	return true;
}

static void test_static(void)
{
	unsigned int busy = 0;
	uint32_t counts[3] = { 0 };
	bool good = run(STATIC, counts);

	ok(good && !counts[0] && counts[1] && !counts[2],
	   "static shapes, first job: %u inferences, %u allocations, %u copies", counts[0],
	   counts[1], counts[2]);
	for (int i = 0; i < 10; i++)
		busy += !run(STATIC, counts) || counts[0] || counts[1] || counts[2];
	ok(!busy, "static shapes, ten more: no inference, no allocation, no copy");
}

static void test_dynamic(void)
{
	uint32_t counts[3] = { 0 };

	for (int i = 0; i < 3; i++) {
		bool good = run(DYNAMIC, counts);

		ok(good && counts[0] == 1 && counts[1] && !counts[2],
		   "dynamic shapes: %u inferences, %u allocations, %u copies", counts[0], counts[1],
		   counts[2]);
	}
	/* Memory is there, the tables are those of another program. */
	ok(run(STATIC, counts) && run(STATIC, counts) && !counts[0] && !counts[1] && !counts[2],
	   "static shapes after them: nothing again");
}

int main(void)
{
	struct nnpu_inproc_config config;

	rig_config(&config);
	config.props.num_engines = 1;
	rig_open(&rig, &config);
	rig_enable(&rig);
	ok(job_rig_init(&j, &rig, 1, 1), "context and queue");
	load(STATIC, N);
	load(DYNAMIC, 0);
	test_static();
	test_dynamic();
	rig_close(&rig);
	return tap_done();
}
