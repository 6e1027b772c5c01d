// SPDX-License-Identifier: GPL-2.0-only
/* Status codes: names and errno. */
#include <kunit/test.h>

#include <drm/nnpu_program.h>

#include "../nnpu_hw.h"
#include "../nnpu_status.h"

#define STATUS(name, num, text)	{ num, #name, text },

static const struct {
	u16 status;
	const char *name;
	const char *text;
} status_list[] = { NNPU_STATUS_LIST(STATUS) };

/* Every status of the specification has its name and an errno of the ABI. */
static void status_test_known(struct kunit *test)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(status_list); i++) {
		u16 status = status_list[i].status;
		int job = nnpu_status_job_errno(status), load = nnpu_status_load_errno(status);

		KUNIT_EXPECT_TRUE(test, nnpu_status_known(status));
		KUNIT_EXPECT_STREQ(test, nnpu_status_name(status), status_list[i].name);
		KUNIT_EXPECT_STREQ(test, nnpu_status_text(status), status_list[i].text);
		if (status == NNPU_STATUS_SUCCESS) {
			KUNIT_EXPECT_EQ(test, job, 0);
			KUNIT_EXPECT_EQ(test, load, 0);
			continue;
		}
		KUNIT_EXPECT_TRUE_MSG(test, job == -EIO || job == -EINVAL || job == -ENOMEM ||
				      job == -ECANCELED || job == -ETIME, "%s: %d",
				      status_list[i].name, job);
		KUNIT_EXPECT_TRUE_MSG(test, load == -EIO || load == -EINVAL || load == -ENOMEM ||
				      load == -ENOSPC || load == -EOPNOTSUPP || load == -ENODEV,
				      "%s: %d", status_list[i].name, load);
	}
}

/* Anything else is an I/O error, never success. */
static void status_test_unknown(struct kunit *test)
{
	u32 status, i, known = 0;

	for (status = 0; status <= 0xffff; status++) {
		if (nnpu_status_known(status)) {
			known++;
			continue;
		}
		if (nnpu_status_job_errno(status) != -EIO ||
		    nnpu_status_load_errno(status) != -EIO)
			KUNIT_FAIL(test, "status %#x", status);
		for (i = 0; i < ARRAY_SIZE(status_list); i++)
			KUNIT_EXPECT_NE(test, status, status_list[i].status);
	}
	KUNIT_EXPECT_EQ(test, known, ARRAY_SIZE(status_list));
	KUNIT_EXPECT_STREQ(test, nnpu_status_name(0x7fff), "UNKNOWN");
	KUNIT_EXPECT_FALSE(test, nnpu_status_known(NNPU_STATUS_PENDING));
}

/* The errno that nnpu_accel.h documents. */
static void status_test_documented(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, nnpu_status_job_errno(NNPU_STATUS_OUTPUT_INSUFFICIENT), -EINVAL);
	KUNIT_EXPECT_EQ(test, nnpu_status_job_errno(NNPU_STATUS_ARG_SHAPE), -EINVAL);
	KUNIT_EXPECT_EQ(test, nnpu_status_job_errno(NNPU_STATUS_DEADLINE), -ETIME);
	KUNIT_EXPECT_EQ(test, nnpu_status_job_errno(NNPU_STATUS_LOOP_TIMEOUT), -ETIME);
	KUNIT_EXPECT_EQ(test, nnpu_status_job_errno(NNPU_STATUS_DMA_ERROR), -EIO);
	KUNIT_EXPECT_EQ(test, nnpu_status_job_errno(NNPU_STATUS_NO_MEMORY), -ENOMEM);
	KUNIT_EXPECT_EQ(test, nnpu_status_load_errno(NNPU_STATUS_PROGRAM_TENSOR), -EINVAL);
	KUNIT_EXPECT_EQ(test, nnpu_status_load_errno(NNPU_STATUS_PROGRAM_UNSUPPORTED),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, nnpu_status_load_errno(NNPU_STATUS_NO_RESOURCES), -ENOSPC);
	KUNIT_EXPECT_EQ(test, nnpu_status_load_errno(NNPU_STATUS_NO_MEMORY), -ENOMEM);
}

static void status_test_admin_names(struct kunit *test)
{
	u32 opcode;

	for (opcode = 0; opcode < NNPU_ADMIN_NUM; opcode++)
		KUNIT_EXPECT_STRNEQ(test, nnpu_status_opcode_name(opcode), "UNKNOWN");
	KUNIT_EXPECT_STREQ(test, nnpu_status_opcode_name(NNPU_ADMIN_NUM), "UNKNOWN");
	KUNIT_EXPECT_STREQ(test, nnpu_status_opcode_name(0xff), "UNKNOWN");
}

static struct kunit_case status_test_cases[] = {
	KUNIT_CASE(status_test_known),
	KUNIT_CASE(status_test_unknown),
	KUNIT_CASE(status_test_documented),
	KUNIT_CASE(status_test_admin_names),
	{ }
};

static struct kunit_suite status_test_suite = {
	.name = "nnpu_status",
	.test_cases = status_test_cases,
};

kunit_test_suite(status_test_suite);
