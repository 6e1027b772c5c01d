// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks of what user space hands in. Each case starts from a structure that is
 * accepted and spoils one field; success is that the spoilt one is refused.
 */
#include <kunit/test.h>

#include "../nnpu_check.h"
#include "../nnpu_hw.h"

#define MAX_ARGS	16
#define IMAGE_SIZE	1024

/* Success: ranges that wrap around are outside, empty ones at the end inside. */
static void range(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, nnpu_check_range(0, 4096, 4096));
	KUNIT_EXPECT_TRUE(test, nnpu_check_range(4096, 0, 4096));
	KUNIT_EXPECT_TRUE(test, nnpu_check_range(U64_MAX, 0, U64_MAX));
	KUNIT_EXPECT_FALSE(test, nnpu_check_range(4097, 0, 4096));
	KUNIT_EXPECT_FALSE(test, nnpu_check_range(1, 4096, 4096));
	KUNIT_EXPECT_FALSE(test, nnpu_check_range(4096, U64_MAX, 4096));
	KUNIT_EXPECT_FALSE(test, nnpu_check_range(U64_MAX, 2, 4096));
	KUNIT_EXPECT_FALSE(test, nnpu_check_range(U64_MAX - 4095, 8192, 4096));
}

/* Success: whole pages, no size that rounds up to nothing. */
static void bo_size(struct kunit *test)
{
	u64 aligned;

	KUNIT_EXPECT_EQ(test, nnpu_check_bo_size(1, &aligned), 0);
	KUNIT_EXPECT_EQ(test, aligned, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, nnpu_check_bo_size(PAGE_SIZE + 1, &aligned), 0);
	KUNIT_EXPECT_EQ(test, aligned, 2 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, nnpu_check_bo_size(NNPU_MAX_SLOT_SIZE, &aligned), 0);
	KUNIT_EXPECT_EQ(test, nnpu_check_bo_size(0, &aligned), -EINVAL);
	KUNIT_EXPECT_EQ(test, nnpu_check_bo_size(NNPU_MAX_SLOT_SIZE + 1, &aligned), -EINVAL);
	KUNIT_EXPECT_EQ(test, nnpu_check_bo_size(U64_MAX, &aligned), -EINVAL);
}

static const struct drm_nnpu_slot_bind good_bind = {
	.handle = 1,
	.flags = DRM_NNPU_SLOT_READ,
	.offset = NNPU_PAGE_SIZE,
	.size = NNPU_PAGE_SIZE,
};

static void bind_fields(struct kunit *test)
{
	struct drm_nnpu_slot_bind b = good_bind;

	KUNIT_EXPECT_EQ(test, nnpu_check_bind(&b), 0);

#define REFUSED(field, value) do {						\
		b = good_bind;							\
		b.field = (value);						\
		KUNIT_EXPECT_EQ_MSG(test, nnpu_check_bind(&b), -EINVAL,		\
				    #field " = " #value);			\
	} while (0)
	REFUSED(pad, 1);
	REFUSED(flags, 0);
	REFUSED(flags, 1u << 2);
	REFUSED(flags, U32_MAX);
	REFUSED(size, 0);
	REFUSED(size, 1);
	REFUSED(size, NNPU_MAX_SLOT_SIZE + NNPU_PAGE_SIZE);
	REFUSED(offset, 1);
	REFUSED(offset, U64_MAX);
#undef REFUSED
}

static const struct drm_nnpu_submit good_submit = {
	.program = 1,
	.args = 4096,
	.num_inputs = 2,
	.num_outputs = 1,
	.arg_stride = sizeof(struct nnpu_arg),
	.priority = DRM_NNPU_PRIORITY_MEDIUM,
	.result_slot = 3,
	.result_offset = 8,
	.num_out_syncs = 1,
	.sync_stride = sizeof(struct drm_nnpu_sync),
	.out_syncs = 4096,
};

static void submit_fields(struct kunit *test)
{
	struct drm_nnpu_submit s = good_submit;

	KUNIT_EXPECT_EQ(test, nnpu_check_submit(&s, MAX_ARGS), 0);

#define REFUSED(field, value) do {						\
		s = good_submit;						\
		s.field = (value);						\
		KUNIT_EXPECT_EQ_MSG(test, nnpu_check_submit(&s, MAX_ARGS),	\
				    -EINVAL, #field " = " #value);		\
	} while (0)
	REFUSED(flags, 1u << 1);
	REFUSED(flags, 1u << 31);
	REFUSED(priority, DRM_NNPU_PRIORITY_HIGH + 1);
	REFUSED(priority, U32_MAX);
	REFUSED(deadline_ns, 1);
	REFUSED(loop_timeout_ns, 1);
	REFUSED(num_outputs, 0);
	REFUSED(num_outputs, MAX_ARGS - 1);
	REFUSED(num_inputs, MAX_ARGS);
	REFUSED(num_inputs, U32_MAX);
	REFUSED(arg_stride, 0);
	REFUSED(arg_stride, sizeof(struct nnpu_arg) - 8);
	REFUSED(arg_stride, sizeof(struct nnpu_arg) + 4);
	REFUSED(arg_stride, NNPU_MAX_STRIDE + 8);
	REFUSED(result_offset, 4);
	REFUSED(result_slot, NNPU_SLOT_NONE);
	REFUSED(profile_slot, 1);
	REFUSED(profile_offset, 8);
	REFUSED(profile_size, 32);
	REFUSED(num_in_syncs, NNPU_MAX_SYNCS + 1);
	REFUSED(num_out_syncs, NNPU_MAX_SYNCS + 1);
	REFUSED(num_out_syncs, U32_MAX);
	REFUSED(num_out_syncs, 0);
	REFUSED(in_syncs, 4096);
	REFUSED(sync_stride, 0);
	REFUSED(sync_stride, 8);
	REFUSED(sync_stride, NNPU_MAX_STRIDE + 8);
#undef REFUSED

	s = good_submit;
	s.flags = DRM_NNPU_SUBMIT_PROFILE;
	s.profile_slot = 3;
	s.profile_offset = 64;
	s.profile_size = 320;
	KUNIT_EXPECT_EQ(test, nnpu_check_submit(&s, MAX_ARGS), 0);
	s.profile_offset = 63;
	KUNIT_EXPECT_EQ(test, nnpu_check_submit(&s, MAX_ARGS), -EINVAL);
}

/* Success: without syncs the stride may be absent; a later version's may be larger. */
static void submit_strides(struct kunit *test)
{
	struct drm_nnpu_submit s = good_submit;

	s.num_out_syncs = 0;
	s.out_syncs = 0;
	s.sync_stride = 0;
	KUNIT_EXPECT_EQ(test, nnpu_check_submit(&s, MAX_ARGS), 0);
	s = good_submit;
	s.arg_stride += 64;
	s.sync_stride += 16;
	KUNIT_EXPECT_EQ(test, nnpu_check_submit(&s, MAX_ARGS), 0);
}

/* Success: the sum of two counts near the top does not wrap into the limit. */
static void submit_count_overflow(struct kunit *test)
{
	struct drm_nnpu_submit s = good_submit;

	s.num_inputs = U32_MAX;
	s.num_outputs = 2;
	KUNIT_EXPECT_EQ(test, nnpu_check_submit(&s, MAX_ARGS), -EINVAL);
}

static void arg_fields(struct kunit *test)
{
	struct nnpu_arg good = {
		.slot = cpu_to_le32(1),
		.flags = cpu_to_le16(NNPU_ARG_SHAPE),
		.rank = 2,
		.length = cpu_to_le64(64),
		.dims = { cpu_to_le32(4), cpu_to_le32(4) },
	};
	struct nnpu_arg a = good;

	KUNIT_EXPECT_EQ(test, nnpu_check_arg(&a), 0);

#define REFUSED(field, value) do {						\
		a = good;							\
		a.field = (value);						\
		KUNIT_EXPECT_EQ_MSG(test, nnpu_check_arg(&a), -EINVAL,		\
				    #field " = " #value);			\
	} while (0)
	REFUSED(pad, 1);
	REFUSED(reserved, cpu_to_le64(1));
	REFUSED(flags, cpu_to_le16(NNPU_ARG_INSUFFICIENT));
	REFUSED(flags, cpu_to_le16(1u << 15));
	/* A rank without the flag that makes it count. */
	REFUSED(flags, cpu_to_le16(0));
	REFUSED(rank, NNPU_MAX_RANK + 1);
	REFUSED(rank, 0xff);
	REFUSED(dims[2], cpu_to_le32(1));
	REFUSED(dims[NNPU_MAX_RANK - 1], cpu_to_le32(1));
#undef REFUSED
}

/* Success: an omitted argument carries nothing else. */
static void arg_omitted(struct kunit *test)
{
	const struct nnpu_arg good = { .flags = cpu_to_le16(NNPU_ARG_NO_VALUE) };
	struct nnpu_arg a = good;

	KUNIT_EXPECT_EQ(test, nnpu_check_arg(&a), 0);
	a.slot = cpu_to_le32(1);
	KUNIT_EXPECT_EQ(test, nnpu_check_arg(&a), -EINVAL);
	a = good;
	a.offset = cpu_to_le64(8);
	KUNIT_EXPECT_EQ(test, nnpu_check_arg(&a), -EINVAL);
	a = good;
	a.length = cpu_to_le64(8);
	KUNIT_EXPECT_EQ(test, nnpu_check_arg(&a), -EINVAL);
	a = good;
	a.flags = cpu_to_le16(NNPU_ARG_NO_VALUE | NNPU_ARG_SHAPE);
	KUNIT_EXPECT_EQ(test, nnpu_check_arg(&a), -EINVAL);
}

static void sync_fields(struct kunit *test)
{
	struct drm_nnpu_sync s = { .handle = 1, .point = U64_MAX };

	KUNIT_EXPECT_EQ(test, nnpu_check_sync(&s), 0);
	s.flags = 1;
	KUNIT_EXPECT_EQ(test, nnpu_check_sync(&s), -EINVAL);
}

static void load_fields(struct kunit *test)
{
	const struct drm_nnpu_program_load good = { .image = 4096, .image_size = IMAGE_SIZE };
	struct drm_nnpu_program_load l = good;

	KUNIT_EXPECT_EQ(test, nnpu_check_load(&l, IMAGE_SIZE), 0);

#define REFUSED(field, value) do {						\
		l = good;							\
		l.field = (value);						\
		KUNIT_EXPECT_EQ_MSG(test, nnpu_check_load(&l, IMAGE_SIZE),	\
				    -EINVAL, #field " = " #value);		\
	} while (0)
	REFUSED(flags, 1u << 1);
	REFUSED(image_size, 0);
	REFUSED(image_size, sizeof(struct nnpu_program_header) - 8);
	REFUSED(image_size, IMAGE_SIZE - 4);
	REFUSED(image_size, IMAGE_SIZE + 8);
	REFUSED(image_size, U32_MAX);
	REFUSED(report, 4096);
	REFUSED(num_reports, 1);
	/* To check a program without room for the verdicts is no use. */
	REFUSED(flags, DRM_NNPU_PROGRAM_CHECK);
#undef REFUSED

	l = good;
	l.flags = DRM_NNPU_PROGRAM_CHECK;
	l.report = 4096;
	l.num_reports = 1;
	KUNIT_EXPECT_EQ(test, nnpu_check_load(&l, IMAGE_SIZE), 0);
}

static const struct nnpu_program_header good_header = {
	.magic = cpu_to_le32(NNPU_PROGRAM_MAGIC),
	.version = cpu_to_le16(NNPU_PROGRAM_VERSION),
	.header_size = cpu_to_le16(sizeof(struct nnpu_program_header)),
	.size = cpu_to_le32(IMAGE_SIZE),
	.tensors_off = cpu_to_le32(64),
	.num_tensors = cpu_to_le32(4),
	.commands_off = cpu_to_le32(448),
	.num_commands = cpu_to_le32(1),
	.indexes_off = cpu_to_le32(480),
	.num_indexes = cpu_to_le32(4),
	.data_off = cpu_to_le32(496),
	.data_size = cpu_to_le32(IMAGE_SIZE - 496),
	.outputs_first = cpu_to_le32(3),
	.num_inputs = cpu_to_le16(2),
	.num_outputs = cpu_to_le16(1),
};

static void header_fields(struct kunit *test)
{
	struct nnpu_program_header h = good_header;
	struct nnpu_header_verdict v;

	KUNIT_EXPECT_EQ(test, nnpu_check_program_header(&h, IMAGE_SIZE, &v), 0);
	KUNIT_EXPECT_EQ(test, v.status, NNPU_STATUS_SUCCESS);

#define REFUSED(field, value, why) do {						\
		h = good_header;						\
		h.field = (value);						\
		KUNIT_EXPECT_EQ_MSG(test,					\
				    nnpu_check_program_header(&h, IMAGE_SIZE, &v), \
				    -EINVAL, #field " = " #value);		\
		KUNIT_EXPECT_EQ(test, v.status, NNPU_STATUS_PROGRAM_HEADER);	\
		KUNIT_EXPECT_EQ_MSG(test, v.reason, NNPU_REASON_##why,		\
				    #field " = " #value);			\
	} while (0)
	REFUSED(magic, cpu_to_le32(0), MAGIC);
	REFUSED(version, cpu_to_le16(2), VERSION);
	REFUSED(header_size, cpu_to_le16(72), SIZE);
	REFUSED(size, cpu_to_le32(IMAGE_SIZE - 8), SIZE);
	REFUSED(flags, cpu_to_le32(1u << 1), FLAGS);
	REFUSED(reserved, cpu_to_le32(1), RESERVED);
	REFUSED(tensors_off, cpu_to_le32(68), ALIGNMENT);
	REFUSED(tensors_off, cpu_to_le32(0), RANGE);
	REFUSED(tensors_off, cpu_to_le32(IMAGE_SIZE), SIZE);
	REFUSED(num_tensors, cpu_to_le32(U32_MAX), SIZE);
	REFUSED(commands_off, cpu_to_le32(56), RANGE);
	REFUSED(commands_off, cpu_to_le32(0xfffffff8), SIZE);
	REFUSED(num_commands, cpu_to_le32(0), SIZE);
	REFUSED(num_commands, cpu_to_le32(U32_MAX), SIZE);
	REFUSED(indexes_off, cpu_to_le32(484), ALIGNMENT);
	REFUSED(num_indexes, cpu_to_le32(U32_MAX), SIZE);
	REFUSED(data_size, cpu_to_le32(IMAGE_SIZE - 495), SIZE);
	REFUSED(inputs_first, cpu_to_le32(3), RANGE);
	REFUSED(inputs_first, cpu_to_le32(U32_MAX), RANGE);
	REFUSED(outputs_first, cpu_to_le32(4), RANGE);
	REFUSED(num_inputs, cpu_to_le16(5), RANGE);
	REFUSED(num_outputs, cpu_to_le16(2), RANGE);
	REFUSED(num_outputs, cpu_to_le16(0), SIZE);
#undef REFUSED
}

/* Success: the block has room for the header and the records. */
static void result_size(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, nnpu_result_size(0), 64);
	KUNIT_EXPECT_EQ(test, nnpu_result_size(3), 256);
	KUNIT_EXPECT_EQ(test, nnpu_result_size(NNPU_MAX_ARGS), 64 * (NNPU_MAX_ARGS + 1));
}

static struct kunit_case nnpu_check_cases[] = {
	KUNIT_CASE(range),
	KUNIT_CASE(bo_size),
	KUNIT_CASE(bind_fields),
	KUNIT_CASE(submit_fields),
	KUNIT_CASE(submit_strides),
	KUNIT_CASE(submit_count_overflow),
	KUNIT_CASE(arg_fields),
	KUNIT_CASE(arg_omitted),
	KUNIT_CASE(sync_fields),
	KUNIT_CASE(load_fields),
	KUNIT_CASE(header_fields),
	KUNIT_CASE(result_size),
	{ }
};

static struct kunit_suite nnpu_check_suite = {
	.name = "nnpu_check",
	.test_cases = nnpu_check_cases,
};

kunit_test_suite(nnpu_check_suite);
