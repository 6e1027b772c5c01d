// SPDX-License-Identifier: MIT
/* Performance levels: how long an idle engine keeps device memory for its next job. */
#include <endian.h>
#include <time.h>

#include "rig.h"
#include "tap.h"

#define N	4096u

static int set_perf(struct rig *r, unsigned int level)
{
	struct nnpu_sqe_set_perf c = { .opcode = NNPU_ADMIN_SET_PERF, .level = htole32(level) };

	return rig_admin(r, &c, NULL);
}

static void run_job(struct job_rig *j)
{
	job_add_args(j, N);
	ok(job_execute(j, 1, NULL) == 0 && job_add_ok(j, N), "job");
}

static void test_memory(struct rig *r)
{
	uint32_t program;
	struct job_rig j;
	struct image im;

	rig_enable(r);
	job_rig_init(&j, r, 1, 1);
	image_add(&im, N);
	rig_load(r, 1, 1, im.bytes, im.size, NULL);
	image_free(&im);
	program = rig_read(r, NNPU_REG_MEM_USED_LO);

	run_job(&j);
	ok(rig_poll(r, NNPU_REG_MEM_USED_LO, ~0u, program), "medium: memory goes back in the end");

	set_perf(r, NNPU_PERF_HIGH);
	run_job(&j);
	nanosleep(&(struct timespec) { .tv_sec = 2 }, NULL);
	ok(rig_read(r, NNPU_REG_MEM_USED_LO) > program, "high: it is kept");
	run_job(&j);
	/* An engine that has not let go of the job yet gives it back itself. */
	ok(set_perf(r, NNPU_PERF_LOW) == 0 &&
	   rig_poll(r, NNPU_REG_MEM_USED_LO, ~0u, program), "from high to low: it goes");
	run_job(&j);
	ok(rig_poll(r, NNPU_REG_MEM_USED_LO, ~0u, program), "low: it goes with the job");

	set_perf(r, NNPU_PERF_HIGH);
	run_job(&j);
	set_perf(r, NNPU_PERF_MEDIUM);
	ok(rig_poll(r, NNPU_REG_MEM_USED_LO, ~0u, program), "from high to medium: in the end");
	set_perf(r, NNPU_PERF_HIGH);
	run_job(&j);
	rig_destroy_ctx(r, 1);
	ok(rig_poll(r, NNPU_REG_MEM_USED_LO, ~0u, 0), "a client that leaves takes it along");
}

int main(void)
{
	struct rig r;

	rig_open(&r, NULL);
	test_memory(&r);
	rig_close(&r);
	return tap_done();
}
