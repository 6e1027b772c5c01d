// SPDX-License-Identifier: GPL-2.0-only
/* Names and errno of status codes. */
#include <kunit/test.h>

#include <drm/nnpu_program.h>

#include "../nnpu_hw.h"
#include "../nnpu_status.h"

struct status_case {
	u16 status;
	const char *name;
	int job;
	int load;
};

/* What nnpu_accel.h promises, written down a second time. */
static const struct status_case cases[] = {
	{ NNPU_STATUS_SUCCESS, "SUCCESS", 0, 0 },
	{ NNPU_STATUS_SLOT_BOUNDS, "SLOT_BOUNDS", -EINVAL, -EINVAL },
	{ NNPU_STATUS_DMA_ERROR, "DMA_ERROR", -EIO, -EIO },
	{ NNPU_STATUS_NO_RESOURCES, "NO_RESOURCES", -ENOMEM, -ENOSPC },
	{ NNPU_STATUS_NO_MEMORY, "NO_MEMORY", -ENOMEM, -ENOMEM },
	{ NNPU_STATUS_ABORTED, "ABORTED", -ECANCELED, -EIO },
	{ NNPU_STATUS_RESET, "RESET", -ECANCELED, -ENODEV },
	{ NNPU_STATUS_PROGRAM_HEADER, "PROGRAM_HEADER", -EIO, -EINVAL },
	{ NNPU_STATUS_PROGRAM_TENSOR, "PROGRAM_TENSOR", -EIO, -EINVAL },
	{ NNPU_STATUS_PROGRAM_COMMAND, "PROGRAM_COMMAND", -EIO, -EINVAL },
	{ NNPU_STATUS_PROGRAM_UNSUPPORTED, "PROGRAM_UNSUPPORTED", -EIO, -EOPNOTSUPP },
	{ NNPU_STATUS_ARG_COUNT, "ARG_COUNT", -EINVAL, -EIO },
	{ NNPU_STATUS_OUTPUT_INSUFFICIENT, "OUTPUT_INSUFFICIENT", -EINVAL, -EIO },
	{ NNPU_STATUS_OP_FAILED, "OP_FAILED", -EINVAL, -EIO },
};

static void status_case_desc(const struct status_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(status, cases, status_case_desc);

/* Success: each status has its name and both errno of the table. */
static void status_table(struct kunit *test)
{
	const struct status_case *c = test->param_value;

	KUNIT_EXPECT_TRUE(test, nnpu_status_known(c->status));
	KUNIT_EXPECT_STREQ(test, nnpu_status_name(c->status), c->name);
	KUNIT_EXPECT_EQ(test, nnpu_status_job_errno(c->status), c->job);
	KUNIT_EXPECT_EQ(test, nnpu_status_load_errno(c->status), c->load);
}

/* Success: of all values 16 bits can have only those of the list are known. */
static void status_unknown(struct kunit *test)
{
#define COUNT_STATUS(name, num, text)	+ 1
	const u32 in_list = 0 NNPU_STATUS_LIST(COUNT_STATUS);
	u32 status, known = 0;

	for (status = 0; status <= U16_MAX; status++) {
		if (nnpu_status_known(status)) {
			known++;
			continue;
		}
		if (nnpu_status_job_errno(status) != -EIO ||
		    nnpu_status_load_errno(status) != -EIO)
			KUNIT_FAIL(test, "status %#x", status);
	}
	KUNIT_EXPECT_EQ(test, known, in_list);
	KUNIT_EXPECT_STREQ(test, nnpu_status_name(0x7fff), "UNKNOWN");
	KUNIT_EXPECT_NOT_NULL(test, nnpu_status_text(0x7fff));
}

/* Success: only success is no error. */
static void status_only_success_is_zero(struct kunit *test)
{
	u32 status;

	for (status = 1; status <= U16_MAX; status++)
		if (nnpu_status_job_errno(status) >= 0 || nnpu_status_load_errno(status) >= 0)
			KUNIT_FAIL(test, "status %#x is no error", status);
}

/* Success: every admin opcode has a name, no other has. */
static void admin_names(struct kunit *test)
{
	u32 opcode;

	for (opcode = 0; opcode < NNPU_ADMIN_NUM; opcode++)
		KUNIT_EXPECT_STRNEQ(test, nnpu_admin_name(opcode), "UNKNOWN");
	for (; opcode <= U8_MAX; opcode++)
		KUNIT_EXPECT_STREQ(test, nnpu_admin_name(opcode), "UNKNOWN");
}

static struct kunit_case nnpu_status_cases[] = {
	KUNIT_CASE_PARAM(status_table, status_gen_params),
	KUNIT_CASE(status_unknown),
	KUNIT_CASE(status_only_success_is_zero),
	KUNIT_CASE(admin_names),
	{ }
};

static struct kunit_suite nnpu_status_suite = {
	.name = "nnpu_status",
	.test_cases = nnpu_status_cases,
};

kunit_test_suite(nnpu_status_suite);
