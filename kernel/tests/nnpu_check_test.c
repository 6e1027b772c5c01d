// SPDX-License-Identifier: GPL-2.0-only
/* Checks of ioctl arguments: each field, at its bounds and beyond. */
#include <kunit/test.h>

#include "../nnpu_check.h"
#include "../nnpu_hw.h"

#define PAGE		((u64)NNPU_PAGE_SIZE)
#define FEATURES	((u64)(NNPU_FEATURE_COPY | NNPU_FEATURE_DEADLINE))
#define MAX_ARGS	16

static void check_test_range(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, nnpu_check_range(0, 0, 0));
	KUNIT_EXPECT_TRUE(test, nnpu_check_range(0, 8, 8));
	KUNIT_EXPECT_TRUE(test, nnpu_check_range(8, 0, 8));
	KUNIT_EXPECT_FALSE(test, nnpu_check_range(0, 9, 8));
	KUNIT_EXPECT_FALSE(test, nnpu_check_range(9, 0, 8));
	KUNIT_EXPECT_FALSE(test, nnpu_check_range(4, 5, 8));
	KUNIT_EXPECT_FALSE(test, nnpu_check_range(U64_MAX, 2, 8));
	KUNIT_EXPECT_FALSE(test, nnpu_check_range(2, U64_MAX, 8));
	KUNIT_EXPECT_FALSE(test, nnpu_check_range(U64_MAX, U64_MAX, U64_MAX - 1));
	KUNIT_EXPECT_TRUE(test, nnpu_check_range(0, U64_MAX, U64_MAX));
}

static void check_test_bo_size(struct kunit *test)
{
	u64 size = 0;

	KUNIT_EXPECT_EQ(test, nnpu_check_bo_size(1, &size), 0);
	KUNIT_EXPECT_EQ(test, size, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, nnpu_check_bo_size(NNPU_MAX_SLOT_SIZE, &size), 0);
	KUNIT_EXPECT_EQ(test, size, NNPU_MAX_SLOT_SIZE);
	KUNIT_EXPECT_EQ(test, nnpu_check_bo_size(0, &size), -EINVAL);
	KUNIT_EXPECT_EQ(test, nnpu_check_bo_size(NNPU_MAX_SLOT_SIZE + 1, &size), -EINVAL);
	KUNIT_EXPECT_EQ(test, nnpu_check_bo_size(U64_MAX, &size), -EINVAL);
}

static void check_test_access(struct kunit *test)
{
	const struct drm_nnpu_bo_prep good_prep = { .flags = DRM_NNPU_BO_READ, .size = 1 };
	const struct drm_nnpu_bo_fini good_fini = { .flags = DRM_NNPU_BO_WRITE, .size = U64_MAX };
	struct drm_nnpu_bo_prep prep;
	struct drm_nnpu_bo_fini fini;
	unsigned int bit;

	KUNIT_EXPECT_EQ(test, nnpu_check_prep(&good_prep), 0);
	KUNIT_EXPECT_EQ(test, nnpu_check_fini(&good_fini), 0);
	for (bit = 0; bit < 32; bit++) {
		prep = good_prep;
		prep.flags |= BIT(bit);
		KUNIT_EXPECT_EQ(test, nnpu_check_prep(&prep), bit < 3 ? 0 : -EINVAL);
		fini = good_fini;
		fini.flags |= BIT(bit);
		KUNIT_EXPECT_EQ(test, nnpu_check_fini(&fini), bit < 2 ? 0 : -EINVAL);
	}
	/* What the CPU does has to be said. */
	prep = good_prep;
	prep.flags = DRM_NNPU_BO_NO_WAIT;
	KUNIT_EXPECT_EQ(test, nnpu_check_prep(&prep), -EINVAL);
	fini = good_fini;
	fini.flags = 0;
	KUNIT_EXPECT_EQ(test, nnpu_check_fini(&fini), -EINVAL);
	prep = good_prep;
	prep.size = 0;
	KUNIT_EXPECT_EQ(test, nnpu_check_prep(&prep), -EINVAL);
	fini = good_fini;
	fini.size = 0;
	KUNIT_EXPECT_EQ(test, nnpu_check_fini(&fini), -EINVAL);
}

static void check_test_userptr(struct kunit *test)
{
	const struct drm_nnpu_bo_userptr good = {
		.addr = 3 * PAGE_SIZE,
		.size = 2 * PAGE_SIZE,
		.flags = DRM_NNPU_USERPTR_WRITE,
	};
	struct drm_nnpu_bo_userptr args;

#define BAD(field, value) do { \
		args = good; \
		args.field = (value); \
		KUNIT_EXPECT_EQ_MSG(test, nnpu_check_userptr(&args), -EINVAL, "%s", #field); \
	} while (0)

	KUNIT_EXPECT_EQ(test, nnpu_check_userptr(&good), 0);
	BAD(flags, 2);
	BAD(flags, DRM_NNPU_USERPTR_WRITE | 1u << 31);
	BAD(addr, 1);
	BAD(addr, PAGE_SIZE / 2);
	BAD(addr, U64_MAX & ~(PAGE - 1));
	BAD(size, 0);
	BAD(size, PAGE_SIZE - 1);
	BAD(size, NNPU_MAX_SLOT_SIZE + PAGE_SIZE);
	BAD(size, U64_MAX & ~(PAGE - 1));
#undef BAD
	args = good;
	args.size = NNPU_MAX_SLOT_SIZE;
	args.flags = 0;
	KUNIT_EXPECT_EQ(test, nnpu_check_userptr(&args), 0);
}

static void check_test_bind(struct kunit *test)
{
	const struct drm_nnpu_slot_bind good = {
		.flags = DRM_NNPU_SLOT_READ | DRM_NNPU_SLOT_WRITE,
		.offset = PAGE,
		.size = 2 * PAGE,
	};
	struct drm_nnpu_slot_bind args;

#define BAD(field, value) do { \
		args = good; \
		args.field = (value); \
		KUNIT_EXPECT_EQ_MSG(test, nnpu_check_bind(&args), -EINVAL, "%s", #field); \
	} while (0)

	KUNIT_EXPECT_EQ(test, nnpu_check_bind(&good), 0);
	BAD(flags, 0);
	BAD(flags, 4);
	BAD(flags, DRM_NNPU_SLOT_READ | 1u << 31);
	BAD(offset, 1);
	BAD(offset, PAGE / 2);
	BAD(size, 0);
	BAD(size, PAGE - 1);
	BAD(size, NNPU_MAX_SLOT_SIZE + PAGE);
	BAD(size, U64_MAX & ~(PAGE - 1));
	BAD(kind, DRM_NNPU_SLOT_KIND_DEVICE + 1);
	BAD(kind, U32_MAX);
	BAD(pad, 1);
#undef BAD
	args = good;
	args.kind = DRM_NNPU_SLOT_KIND_DEVICE;
	KUNIT_EXPECT_EQ(test, nnpu_check_bind(&args), -EOPNOTSUPP);
}

static void check_test_submit(struct kunit *test)
{
	const struct drm_nnpu_submit good = {
		.num_inputs = 2,
		.num_outputs = 1,
		.arg_stride = sizeof(struct nnpu_arg),
		.priority = DRM_NNPU_PRIORITY_MEDIUM,
		.result_slot = 3,
		.result_offset = 8,
		.sync_stride = sizeof(struct drm_nnpu_sync),
		.num_in_syncs = 1,
		.num_out_syncs = 1,
		.in_syncs = 4096,
		.out_syncs = 4096,
	};
	struct drm_nnpu_submit args;

#define TRY(field, value, want) do { \
		args = good; \
		args.field = (value); \
		KUNIT_EXPECT_EQ_MSG(test, nnpu_check_submit(&args, MAX_ARGS, FEATURES), want, \
				    "%s", #field); \
	} while (0)

	KUNIT_EXPECT_EQ(test, nnpu_check_submit(&good, MAX_ARGS, FEATURES), 0);
	TRY(flags, DRM_NNPU_SUBMIT_PROFILE, 0);
	TRY(flags, DRM_NNPU_SUBMIT_PROPAGATE, 0);
	/* Without a deadline. */
	TRY(flags, DRM_NNPU_SUBMIT_DEADLINE_ABORT, -EINVAL);
	TRY(flags, DRM_NNPU_SUBMIT_NONBLOCK, 0);
	TRY(flags, 1u << 4, -EINVAL);
	TRY(flags, 1u << 31, -EINVAL);
	TRY(kind, DRM_NNPU_JOB_COPY + 1, -EINVAL);
	TRY(kind, U32_MAX, -EINVAL);
	TRY(priority, DRM_NNPU_PRIORITY_HIGH, 0);
	TRY(priority, DRM_NNPU_PRIORITY_HIGH + 1, -EINVAL);
	TRY(priority, U32_MAX, -EINVAL);
	TRY(deadline_ns, 1, 0);
	TRY(deadline_ns, U64_MAX, 0);
	TRY(duration_ns, 1, 0);
	TRY(loop_timeout_ns, 1, 0);
	TRY(loop_timeout_ns, NNPU_LOOP_TIMEOUT_MAX_NS, 0);
	TRY(loop_timeout_ns, NNPU_LOOP_TIMEOUT_MAX_NS + 1, -EINVAL);
	TRY(loop_timeout_ns, U64_MAX, -EINVAL);
	TRY(num_inputs, 0, 0);
	TRY(num_inputs, MAX_ARGS - 1, 0);
	TRY(num_inputs, MAX_ARGS, -EINVAL);
	TRY(num_inputs, U32_MAX, -EINVAL);
	TRY(num_outputs, 0, -EINVAL);
	TRY(num_outputs, U32_MAX - 1, -EINVAL);
	TRY(arg_stride, 0, -EINVAL);
	TRY(arg_stride, sizeof(struct nnpu_arg) - 8, -EINVAL);
	TRY(arg_stride, sizeof(struct nnpu_arg) + 4, -EINVAL);
	TRY(arg_stride, sizeof(struct nnpu_arg) + 8, 0);
	TRY(arg_stride, NNPU_MAX_STRIDE + 8, -EINVAL);
	TRY(result_slot, NNPU_SLOT_NONE, -EINVAL);	/* with an offset */
	TRY(result_offset, 4, -EINVAL);
	TRY(profile_slot, 1, -EINVAL);
	TRY(profile_offset, 8, -EINVAL);
	TRY(profile_size, 32, -EINVAL);
	TRY(sync_stride, 0, -EINVAL);
	TRY(sync_stride, 8, -EINVAL);
	TRY(sync_stride, 20, -EINVAL);
	TRY(sync_stride, 24, 0);
	TRY(sync_stride, NNPU_MAX_STRIDE + 8, -EINVAL);
	TRY(num_in_syncs, NNPU_MAX_SYNCS, 0);
	TRY(num_in_syncs, NNPU_MAX_SYNCS + 1, -EINVAL);
	TRY(num_out_syncs, NNPU_MAX_SYNCS + 1, -EINVAL);
	TRY(num_out_syncs, U32_MAX, -EINVAL);
#undef TRY

	args = good;
	args.result_slot = NNPU_SLOT_NONE;
	args.result_offset = 0;
	KUNIT_EXPECT_EQ(test, nnpu_check_submit(&args, MAX_ARGS, FEATURES), 0);

	args = good;
	args.duration_ns = 1;
	args.flags = DRM_NNPU_SUBMIT_DEADLINE_ABORT;
	KUNIT_EXPECT_EQ(test, nnpu_check_submit(&args, MAX_ARGS, FEATURES), 0);
	args.deadline_ns = 1;
	KUNIT_EXPECT_EQ(test, nnpu_check_submit(&args, MAX_ARGS, FEATURES), 0);
	/* A device without deadlines. */
	KUNIT_EXPECT_EQ(test, nnpu_check_submit(&args, MAX_ARGS, NNPU_FEATURE_COPY), -EOPNOTSUPP);
	args = good;
	args.duration_ns = 1;
	KUNIT_EXPECT_EQ(test, nnpu_check_submit(&args, MAX_ARGS, NNPU_FEATURE_COPY), -EOPNOTSUPP);

	/* Without syncs the stride may be 0. */
	args = good;
	args.num_in_syncs = 0;
	args.num_out_syncs = 0;
	args.sync_stride = 0;
	KUNIT_EXPECT_EQ(test, nnpu_check_submit(&args, MAX_ARGS, FEATURES), 0);

	args = good;
	args.flags = DRM_NNPU_SUBMIT_PROFILE;
	args.profile_offset = 12;
	KUNIT_EXPECT_EQ(test, nnpu_check_submit(&args, MAX_ARGS, FEATURES), -EINVAL);
}

static void check_test_copy(struct kunit *test)
{
	const struct drm_nnpu_submit good = {
		.kind = DRM_NNPU_JOB_COPY,
		.num_inputs = 2,
		.num_outputs = 2,
		.arg_stride = sizeof(struct nnpu_arg),
		.result_slot = NNPU_SLOT_NONE,
	};
	struct drm_nnpu_submit args = good;
	struct nnpu_arg arg[4] = { };

#define TRY(field, value, want) do { \
		args = good; \
		args.field = (value); \
		KUNIT_EXPECT_EQ_MSG(test, nnpu_check_submit(&args, MAX_ARGS, FEATURES), want, \
				    "%s", #field); \
	} while (0)

	KUNIT_EXPECT_EQ(test, nnpu_check_submit(&good, MAX_ARGS, FEATURES), 0);
	KUNIT_EXPECT_EQ(test, nnpu_check_submit(&good, MAX_ARGS, 0), -EOPNOTSUPP);
	TRY(flags, DRM_NNPU_SUBMIT_PROPAGATE, 0);
	TRY(flags, DRM_NNPU_SUBMIT_PROFILE, -EINVAL);
	TRY(program, 1, -EINVAL);
	TRY(loop_timeout_ns, 1, -EINVAL);
	TRY(num_inputs, 1, -EINVAL);
	TRY(num_outputs, 3, -EINVAL);
#undef TRY
	args = good;
	args.num_inputs = 0;
	args.num_outputs = 0;
	KUNIT_EXPECT_EQ(test, nnpu_check_submit(&args, MAX_ARGS, FEATURES), -EINVAL);

	arg[1].length = cpu_to_le64(5);
	arg[3].length = cpu_to_le64(5);
	KUNIT_EXPECT_EQ(test, nnpu_check_copy(arg, 2), 0);
	KUNIT_EXPECT_EQ(test, nnpu_check_copy(arg, 1), -EINVAL);
	arg[3].flags = cpu_to_le16(NNPU_ARG_SHAPE);
	KUNIT_EXPECT_EQ(test, nnpu_check_copy(arg, 2), -EINVAL);
	arg[3].flags = 0;
	arg[0].flags = cpu_to_le16(NNPU_ARG_NO_VALUE);
	KUNIT_EXPECT_EQ(test, nnpu_check_copy(arg, 2), -EINVAL);
}

static void check_test_arg(struct kunit *test)
{
	struct nnpu_arg arg;
	u32 i;

#define ARG(...) ({ \
		arg = (struct nnpu_arg) { __VA_ARGS__ }; \
		nnpu_check_arg(&arg); \
	})

	KUNIT_EXPECT_EQ(test, ARG(.slot = cpu_to_le32(1), .length = cpu_to_le64(4)), 0);
	KUNIT_EXPECT_EQ(test, ARG(.pad = 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ARG(.reserved = cpu_to_le64(1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, ARG(.flags = cpu_to_le16(NNPU_ARG_INSUFFICIENT)), -EINVAL);
	KUNIT_EXPECT_EQ(test, ARG(.flags = cpu_to_le16(1u << 15)), -EINVAL);

	/* A shape needs the flag, and dimensions beyond the rank are 0. */
	KUNIT_EXPECT_EQ(test, ARG(.flags = cpu_to_le16(NNPU_ARG_SHAPE), .rank = NNPU_MAX_RANK), 0);
	KUNIT_EXPECT_EQ(test, ARG(.flags = cpu_to_le16(NNPU_ARG_SHAPE),
				  .rank = NNPU_MAX_RANK + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ARG(.flags = cpu_to_le16(NNPU_ARG_SHAPE), .rank = 255), -EINVAL);
	KUNIT_EXPECT_EQ(test, ARG(.rank = 1), -EINVAL);
	for (i = 0; i < NNPU_MAX_RANK; i++) {
		arg = (struct nnpu_arg) { .flags = cpu_to_le16(NNPU_ARG_SHAPE), .rank = i };
		arg.dims[i] = cpu_to_le32(1);
		KUNIT_EXPECT_EQ(test, nnpu_check_arg(&arg), -EINVAL);
		arg.rank++;
		KUNIT_EXPECT_EQ(test, nnpu_check_arg(&arg), 0);
	}

	/* All other fields of an omitted argument are 0. */
	KUNIT_EXPECT_EQ(test, ARG(.flags = cpu_to_le16(NNPU_ARG_NO_VALUE)), 0);
	KUNIT_EXPECT_EQ(test, ARG(.flags = cpu_to_le16(NNPU_ARG_NO_VALUE | NNPU_ARG_SHAPE)),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ARG(.flags = cpu_to_le16(NNPU_ARG_NO_VALUE),
				  .slot = cpu_to_le32(1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, ARG(.flags = cpu_to_le16(NNPU_ARG_NO_VALUE),
				  .offset = cpu_to_le64(1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, ARG(.flags = cpu_to_le16(NNPU_ARG_NO_VALUE),
				  .length = cpu_to_le64(1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, ARG(.flags = cpu_to_le16(NNPU_ARG_NO_VALUE),
				  .dims[0] = cpu_to_le32(1)), -EINVAL);
#undef ARG
}

static void check_test_sync(struct kunit *test)
{
	struct drm_nnpu_sync sync = { .handle = 1, .point = U64_MAX };

	KUNIT_EXPECT_EQ(test, nnpu_check_sync(&sync), 0);
	sync.flags = 1;
	KUNIT_EXPECT_EQ(test, nnpu_check_sync(&sync), -EINVAL);
}

static void check_test_load(struct kunit *test)
{
	const struct drm_nnpu_program_load load = { .image_size = 128 };
	const struct drm_nnpu_program_load check = {
		.image_size = 128,
		.flags = DRM_NNPU_PROGRAM_CHECK,
		.report = 4096,
		.num_reports = 1,
	};
	struct drm_nnpu_program_load args;

#define TRY(good, field, value, want) do { \
		args = good; \
		args.field = (value); \
		KUNIT_EXPECT_EQ_MSG(test, nnpu_check_load(&args, 4096), want, "%s", #field); \
	} while (0)

	KUNIT_EXPECT_EQ(test, nnpu_check_load(&load, 4096), 0);
	KUNIT_EXPECT_EQ(test, nnpu_check_load(&check, 4096), 0);
	TRY(load, image_size, 0, -EINVAL);
	TRY(load, image_size, sizeof(struct nnpu_program_header) - 8, -EINVAL);
	TRY(load, image_size, sizeof(struct nnpu_program_header), 0);
	TRY(load, image_size, 132, -EINVAL);
	TRY(load, image_size, 4096, 0);
	TRY(load, image_size, 4104, -EINVAL);
	TRY(load, image_size, U32_MAX, -EINVAL);
	TRY(load, flags, 2, -EINVAL);
	TRY(load, flags, 1u << 31, -EINVAL);
	TRY(load, report, 4096, -EINVAL);
	TRY(load, num_reports, 1, -EINVAL);
	TRY(check, report, 0, -EINVAL);
	TRY(check, num_reports, 0, -EINVAL);
	TRY(check, flags, DRM_NNPU_PROGRAM_CHECK | 2, -EINVAL);
#undef TRY
}

static void check_test_save(struct kunit *test)
{
	struct drm_nnpu_program_save args = { .ctx = 7, .program = 9 };

	KUNIT_EXPECT_EQ(test, nnpu_check_save(&args), 0);
	args.image = 4096;
	KUNIT_EXPECT_EQ(test, nnpu_check_save(&args), 0);
	args.size = U64_MAX;
	KUNIT_EXPECT_EQ(test, nnpu_check_save(&args), 0);
	args.image = 0;
	KUNIT_EXPECT_EQ(test, nnpu_check_save(&args), -EINVAL);
	args.size = 0;
	args.flags = 1;
	KUNIT_EXPECT_EQ(test, nnpu_check_save(&args), -EINVAL);
	args.flags = 0;
	args.pad = 1;
	KUNIT_EXPECT_EQ(test, nnpu_check_save(&args), -EINVAL);
}

/* One tensor, one command, one index, eight bytes of data, in this order. */
static const struct nnpu_program_header good_header = {
	.magic = cpu_to_le32(NNPU_PROGRAM_MAGIC),
	.version = cpu_to_le16(NNPU_PROGRAM_VERSION),
	.header_size = cpu_to_le16(96),
	.size = cpu_to_le32(240),
	.tensors_off = cpu_to_le32(96),
	.num_tensors = cpu_to_le32(1),
	.commands_off = cpu_to_le32(192),
	.num_commands = cpu_to_le32(1),
	.indexes_off = cpu_to_le32(224),
	.num_indexes = cpu_to_le32(2),
	.data_off = cpu_to_le32(232),
	.data_size = cpu_to_le32(8),
	.inputs_first = cpu_to_le32(0),
	.outputs_first = cpu_to_le32(1),
	.num_inputs = cpu_to_le16(1),
	.num_outputs = cpu_to_le16(1),
	.tensor_stride = cpu_to_le16(96),
	.command_stride = cpu_to_le16(32),
};

static void check_header(struct kunit *test, const struct nnpu_program_header *h, u16 reason,
			 const char *field)
{
	struct nnpu_header_verdict verdict;
	int ret = nnpu_check_program_header(h, 240, &verdict);

	KUNIT_EXPECT_EQ_MSG(test, ret, reason ? -EINVAL : 0, "%s", field);
	KUNIT_EXPECT_EQ_MSG(test, verdict.reason, reason, "%s", field);
	KUNIT_EXPECT_EQ_MSG(test, verdict.status, reason ? NNPU_STATUS_PROGRAM_HEADER :
			    NNPU_STATUS_SUCCESS, "%s", field);
}

static void check_test_program_header(struct kunit *test)
{
	struct nnpu_program_header h;

#define TRY(field, value, want) do { \
		h = good_header; \
		h.field = (value); \
		check_header(test, &h, want, #field); \
	} while (0)

	TRY(magic, good_header.magic, NNPU_REASON_NONE);
	TRY(magic, 0, NNPU_REASON_MAGIC);
	TRY(version, cpu_to_le16(NNPU_PROGRAM_VERSION + 1), NNPU_REASON_VERSION);
	TRY(version, 0, NNPU_REASON_VERSION);
	TRY(header_size, cpu_to_le16(88), NNPU_REASON_SIZE);
	TRY(header_size, cpu_to_le16(100), NNPU_REASON_SIZE);
	TRY(header_size, cpu_to_le16(104), NNPU_REASON_RANGE);	/* the tensors are in it */
	TRY(header_size, cpu_to_le16(248), NNPU_REASON_SIZE);
	TRY(tensor_stride, cpu_to_le16(0), NNPU_REASON_SIZE);
	TRY(tensor_stride, cpu_to_le16(88), NNPU_REASON_SIZE);
	TRY(tensor_stride, cpu_to_le16(100), NNPU_REASON_SIZE);
	TRY(tensor_stride, cpu_to_le16(104), NNPU_REASON_NONE);
	TRY(tensor_stride, cpu_to_le16(0xfff8), NNPU_REASON_SIZE);
	TRY(command_stride, cpu_to_le16(24), NNPU_REASON_SIZE);
	TRY(command_stride, cpu_to_le16(48), NNPU_REASON_NONE);
	TRY(command_stride, cpu_to_le16(56), NNPU_REASON_SIZE);
	TRY(hints_off, cpu_to_le32(4), NNPU_REASON_ALIGNMENT);
	TRY(hints_size, cpu_to_le32(16), NNPU_REASON_RANGE);
	TRY(native_off, cpu_to_le32(0xfffffff8), NNPU_REASON_SIZE);
	TRY(native_size, cpu_to_le32(8), NNPU_REASON_RANGE);
	TRY(native_isa, cpu_to_le32(1), NNPU_REASON_NONE);	/* the device knows */
	TRY(seal_off, cpu_to_le32(1), NNPU_REASON_ALIGNMENT);
	TRY(seal_off, cpu_to_le32(88), NNPU_REASON_RANGE);
	TRY(seal_off, cpu_to_le32(192), NNPU_REASON_SIZE);
	TRY(seal_off, cpu_to_le32(184), NNPU_REASON_NONE);
	TRY(size, cpu_to_le32(232), NNPU_REASON_SIZE);
	TRY(size, cpu_to_le32(248), NNPU_REASON_SIZE);
	TRY(flags, cpu_to_le32(NNPU_PROGRAM_RELAXED), NNPU_REASON_NONE);
	TRY(flags, cpu_to_le32(2), NNPU_REASON_FLAGS);
	TRY(reserved, cpu_to_le64(1), NNPU_REASON_RESERVED);
	TRY(tensors_off, cpu_to_le32(92), NNPU_REASON_ALIGNMENT);
	TRY(tensors_off, cpu_to_le32(88), NNPU_REASON_RANGE);
	TRY(tensors_off, cpu_to_le32(152), NNPU_REASON_SIZE);
	TRY(tensors_off, cpu_to_le32(0xfffffff8), NNPU_REASON_SIZE);
	TRY(num_tensors, cpu_to_le32(2), NNPU_REASON_SIZE);
	TRY(num_tensors, cpu_to_le32(0xffffffff), NNPU_REASON_SIZE);
	TRY(commands_off, cpu_to_le32(0), NNPU_REASON_RANGE);
	TRY(commands_off, cpu_to_le32(216), NNPU_REASON_SIZE);
	TRY(num_commands, cpu_to_le32(0), NNPU_REASON_SIZE);
	TRY(num_commands, cpu_to_le32(0x08000001), NNPU_REASON_SIZE);
	TRY(indexes_off, cpu_to_le32(228), NNPU_REASON_ALIGNMENT);
	TRY(indexes_off, cpu_to_le32(240), NNPU_REASON_SIZE);
	TRY(num_indexes, cpu_to_le32(1), NNPU_REASON_RANGE);
	TRY(num_indexes, cpu_to_le32(0x40000001), NNPU_REASON_SIZE);
	TRY(data_off, cpu_to_le32(236), NNPU_REASON_ALIGNMENT);
	TRY(data_size, cpu_to_le32(9), NNPU_REASON_SIZE);
	TRY(data_size, cpu_to_le32(0), NNPU_REASON_NONE);
	TRY(inputs_first, cpu_to_le32(2), NNPU_REASON_RANGE);
	TRY(inputs_first, cpu_to_le32(0xffffffff), NNPU_REASON_RANGE);
	TRY(num_inputs, cpu_to_le16(3), NNPU_REASON_RANGE);
	TRY(outputs_first, cpu_to_le32(2), NNPU_REASON_RANGE);
	TRY(num_outputs, cpu_to_le16(0), NNPU_REASON_SIZE);
	TRY(num_outputs, cpu_to_le16(0xffff), NNPU_REASON_RANGE);
#undef TRY
}

static void check_test_result_size(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, nnpu_check_args_size(0), 64);
	KUNIT_EXPECT_EQ(test, nnpu_check_args_size(1), 128);
	KUNIT_EXPECT_EQ(test, nnpu_check_args_size(NNPU_MAX_ARGS), 64 * 257);
}

static void check_test_queue(struct kunit *test)
{
	const struct drm_nnpu_queue_create good = {
		.priority = DRM_NNPU_PRIORITY_HIGH,
		.sq_entries = NNPU_MAX_SQ_ENTRIES,
		.cq_entries = NNPU_MAX_CQ_ENTRIES,
		.sq_offset = PAGE,
	};
	struct drm_nnpu_queue_create args = good;

#define BAD(field, value) do { \
		args = good; \
		args.field = (value); \
		KUNIT_EXPECT_EQ_MSG(test, nnpu_check_queue(&args, 1 << 15), -EINVAL, \
				    "%s", #field); \
	} while (0)

	KUNIT_EXPECT_EQ(test, nnpu_check_queue(&args, 1 << 15), 0);
	args.sq_entries = NNPU_MIN_ENTRIES;
	args.cq_entries = NNPU_MIN_ENTRIES;
	KUNIT_EXPECT_EQ(test, nnpu_check_queue(&args, 1 << 15), 0);
	BAD(flags, 1);
	BAD(flags, 1u << 31);
	BAD(priority, DRM_NNPU_PRIORITY_HIGH + 1);
	BAD(sq_entries, 0);
	BAD(sq_entries, 1);
	BAD(sq_entries, 48);
	BAD(sq_entries, 2 * NNPU_MAX_SQ_ENTRIES);
	BAD(cq_entries, 0);
	BAD(cq_entries, 3);
	BAD(cq_entries, 2 * NNPU_MAX_CQ_ENTRIES);
	BAD(cq_entries, 1u << 31);
	BAD(sq_offset, 1);
	BAD(sq_offset, PAGE + 64);
	BAD(sq_offset, 0);
	BAD(cq_offset, PAGE);
	BAD(cq_offset, PAGE / 2);
#undef BAD
	/* A device with smaller rings. */
	KUNIT_EXPECT_EQ(test, nnpu_check_queue(&good, 32), -EINVAL);
	args = good;
	args.sq_entries = 32;
	KUNIT_EXPECT_EQ(test, nnpu_check_queue(&args, 32), -EINVAL);
	args.cq_entries = 32;
	KUNIT_EXPECT_EQ(test, nnpu_check_queue(&args, 32), 0);
}

static void check_test_context(struct kunit *test)
{
	const struct nnpu_time_limits limits = { .usual = 30, .max = 40 };
	const struct drm_nnpu_context_create good = {
		.flags = DRM_NNPU_CONTEXT_URGENT,
		.weight = 3,
		.mem_limit = U64_MAX,
		.time_limit_ns = 40,
		.num_priorities = 1,
	};
	struct drm_nnpu_context_create args = { };
	struct nnpu_ctx_attrs attrs;

	/* What zeros stand for. */
	KUNIT_EXPECT_EQ(test, nnpu_check_context(&args, &limits, &attrs), 0);
	KUNIT_EXPECT_EQ(test, attrs.mem_limit, 0);
	KUNIT_EXPECT_EQ(test, attrs.time_limit_ns, 30);
	KUNIT_EXPECT_EQ(test, attrs.num_priorities, DRM_NNPU_PRIORITY_HIGH + 1);
	KUNIT_EXPECT_EQ(test, attrs.weight, NNPU_CTX_WEIGHT_DEFAULT);
	KUNIT_EXPECT_EQ(test, attrs.sched_class, NNPU_CTX_CLASS_NORMAL);
	KUNIT_EXPECT_FALSE(test, nnpu_check_context_is_nice(&attrs));

	KUNIT_EXPECT_EQ(test, nnpu_check_context(&good, &limits, &attrs), 0);
	KUNIT_EXPECT_EQ(test, attrs.mem_limit, U64_MAX);
	KUNIT_EXPECT_EQ(test, attrs.time_limit_ns, 40);
	KUNIT_EXPECT_EQ(test, attrs.num_priorities, 1);
	KUNIT_EXPECT_EQ(test, attrs.weight, 3);
	KUNIT_EXPECT_EQ(test, attrs.sched_class, NNPU_CTX_CLASS_URGENT);
	KUNIT_EXPECT_TRUE(test, nnpu_check_context_is_nice(&attrs));

#define TRY(field, value, want) do { \
		args = good; \
		args.field = (value); \
		KUNIT_EXPECT_EQ_MSG(test, nnpu_check_context(&args, &limits, &attrs), want, \
				    "%s", #field); \
	} while (0)

	TRY(flags, 2, -EINVAL);
	TRY(flags, 1u << 31, -EINVAL);
	TRY(weight, DRM_NNPU_WEIGHT_MAX + 1, -EINVAL);
	TRY(weight, 0x10001, -EINVAL);
	TRY(time_limit_ns, 41, -EINVAL);
	TRY(time_limit_ns, U64_MAX, -EINVAL);
	TRY(time_limit_ns, 1, 0);
	TRY(num_priorities, DRM_NNPU_PRIORITY_HIGH + 2, -EINVAL);
	TRY(num_priorities, U32_MAX, -EINVAL);
	TRY(flags, 0, 0);
	KUNIT_EXPECT_FALSE(test, nnpu_check_context_is_nice(&attrs));
	args.weight = DRM_NNPU_WEIGHT_DEFAULT + 1;
	KUNIT_EXPECT_EQ(test, nnpu_check_context(&args, &limits, &attrs), 0);
	KUNIT_EXPECT_TRUE(test, nnpu_check_context_is_nice(&attrs));
#undef TRY
}

static struct kunit_case check_test_cases[] = {
	KUNIT_CASE(check_test_range),
	KUNIT_CASE(check_test_bo_size),
	KUNIT_CASE(check_test_access),
	KUNIT_CASE(check_test_userptr),
	KUNIT_CASE(check_test_bind),
	KUNIT_CASE(check_test_submit),
	KUNIT_CASE(check_test_copy),
	KUNIT_CASE(check_test_arg),
	KUNIT_CASE(check_test_sync),
	KUNIT_CASE(check_test_load),
	KUNIT_CASE(check_test_save),
	KUNIT_CASE(check_test_program_header),
	KUNIT_CASE(check_test_result_size),
	KUNIT_CASE(check_test_queue),
	KUNIT_CASE(check_test_context),
	{ }
};

static struct kunit_suite check_test_suite = {
	.name = "nnpu_check",
	.test_cases = check_test_cases,
};

kunit_test_suite(check_test_suite);
