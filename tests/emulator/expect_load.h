/* SPDX-License-Identifier: MIT */
/*
 * What the device says to a program image, as one check.
 */
#ifndef TESTS_EMULATOR_EXPECT_LOAD_H
#define TESTS_EMULATOR_EXPECT_LOAD_H

#include <endian.h>

#include "rig.h"
#include "tap.h"

/*
 * Load @im into @ctx as program 1: the completion has this status, reason, error and operand.
 * A program that was loaded is unloaded; the image is freed.
 */
static inline void expect_load(struct rig *rig, uint32_t ctx, struct image *im, const char *what,
			       unsigned int status, unsigned int reason, uint32_t error,
			       unsigned int operand)
{
	struct nnpu_cqe cqe;
	int got = rig_load(rig, ctx, 1, im->bytes, im->size, &cqe);

	if (!got)
		rig_unload(rig, ctx, 1);
	ok(got == (int)status && le16toh(cqe.reason) == reason && le32toh(cqe.error) == error &&
	   le16toh(cqe.operand) == operand,
	   "%s (status 0x%x reason %u error %u operand %u)", what, (unsigned int)got,
	   le16toh(cqe.reason), le32toh(cqe.error), le16toh(cqe.operand));
	image_free(im);
}

#endif /* TESTS_EMULATOR_EXPECT_LOAD_H */
