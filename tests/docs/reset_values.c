// SPDX-License-Identifier: MIT
/*
 * Prints the values of all registers of the device model: after power-on, and after it has
 * worked and CTRL.RESET. tests/docs/check-spec compares them with the specification.
 */
#include <endian.h>
#include <stdio.h>

#include "emulator/rig.h"

#define QUEUE	1u
#define CTX	1u
#define N	16u

static void print_window(const char *when, const char *what, struct rig *rig, uint32_t base,
			 uint32_t end)
{
	uint32_t offset;

	for (offset = 0; offset < end; offset += 4)
		printf("%s%s 0x%03x 0x%08x\n", when, what, offset, rig_read(rig, base + offset));
}

static void print(const char *when, struct rig *rig)
{
	print_window(when, "", rig, 0, 0x100);
	print_window(when, "-queue", rig, NNPU_QREG_BASE + QUEUE * NNPU_QREG_STRIDE,
		     NNPU_QREG_STRIDE);
	print_window(when, "-engine", rig, NNPU_EREG_BASE, NNPU_EREG_STRIDE);
}

/* A program, a job, a fault, injections: whatever leaves traces in registers. */
static bool work(struct rig *rig)
{
	static struct job_rig j;
	struct image im;
	bool good;

	good = rig_enable(rig) && job_rig_init(&j, rig, CTX, QUEUE);
	image_add(&im, N);
	good = good && !rig_load(rig, CTX, 1, im.bytes, im.size, NULL);
	image_free(&im);
	job_add_args(&j, N);
	good = good && !job_execute(&j, 1, NULL);
	nnpu_inproc_doorbell(rig->ip, RIG_QUEUES, NNPU_DB_SQ_TAIL, 0);
	rig_write(rig, NNPU_REG_INJECT, NNPU_INJECT_JOB_STALL << NNPU_INJECT_KIND_SHIFT | 3);
	return good && rig_read(rig, NNPU_REG_FAULT_STATUS) && rig_read(rig, NNPU_REG_CONTEXTS);
}

int main(void)
{
	static struct rig rig;
	bool good;

	rig_open(&rig, NULL);
	print("power-on", &rig);
	good = work(&rig);
	rig_write(&rig, NNPU_REG_CTRL, NNPU_CTRL_RESET);
	good = rig_poll(&rig, NNPU_REG_STATUS, NNPU_STATUS_REG_RESETTING, 0) && good;
	print("reset", &rig);
	rig_close(&rig);
	return !good;
}
