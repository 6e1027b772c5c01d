// SPDX-License-Identifier: MIT
/*
 * Utilities, names and status tables; no device.
 */
#include <errno.h>
#include <float.h>
#include <string.h>

#include <drm/nnpu_program.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/status.h"
#include "nnhal_fixture.h"
#include "transport/transport.h"

static void test_types(void)
{
	ok(!nnhal_is_extension_operand_type(0xffff) && nnhal_is_extension_operand_type(0x10000) &&
	   nnhal_is_extension_operand_type(0xffffffff), "I01 extension operand types");
	ok(!nnhal_is_extension_operation_type(0xffff) &&
	   nnhal_is_extension_operation_type(0x10000), "I01 extension operation types");
	ok(nnhal_operand_type_is_scalar(NNHAL_OPERAND_FLOAT32) &&
	   nnhal_operand_type_is_scalar(NNHAL_OPERAND_INT32) &&
	   nnhal_operand_type_is_scalar(NNHAL_OPERAND_UINT32) &&
	   nnhal_operand_type_is_scalar(NNHAL_OPERAND_BOOL) &&
	   nnhal_operand_type_is_scalar(NNHAL_OPERAND_FLOAT16) &&
	   nnhal_operand_type_is_scalar(NNHAL_OPERAND_SUBGRAPH) &&
	   nnhal_operand_type_is_scalar(NNHAL_OPERAND_OEM), "I01 scalars");
	ok(!nnhal_operand_type_is_scalar(NNHAL_OPERAND_TENSOR_FLOAT32) &&
	   !nnhal_operand_type_is_scalar(NNHAL_OPERAND_TENSOR_BOOL8) &&
	   !nnhal_operand_type_is_scalar(NNHAL_OPERAND_TENSOR_OEM_BYTE), "I01 tensors");
}

static void expect_size(uint32_t type, uint32_t rank, const uint32_t *dims, uint32_t expected)
{
	uint32_t size = 99;
	enum nnhal_status status = nnhal_size_of_data(type, dims, rank, &size);

	ok(!status && size == expected, "I02 size of %s of rank %u is %u",
	   nnhal_operand_type_name(type), rank, expected);
}

static void test_sizes(void)
{
	static const uint32_t big[] = { 65536, 65536 };
	uint32_t size = 99;

	expect_size(NNHAL_OPERAND_FLOAT32, SCALAR, 4);
	expect_size(NNHAL_OPERAND_FLOAT16, SCALAR, 2);
	expect_size(NNHAL_OPERAND_BOOL, SCALAR, 1);
	expect_size(NNHAL_OPERAND_SUBGRAPH, SCALAR, 0);
	expect_size(NNHAL_OPERAND_OEM, SCALAR, 0);
	expect_size(NNHAL_OPERAND_INT32, DIMS(7), 4);
	expect_size(NNHAL_OPERAND_TENSOR_FLOAT32, DIMS(2, 3), 24);
	expect_size(NNHAL_OPERAND_TENSOR_QUANT16_SYMM, DIMS(2, 3), 12);
	expect_size(NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL, DIMS(2, 3), 6);
	expect_size(NNHAL_OPERAND_TENSOR_OEM_BYTE, DIMS(5), 5);
	expect_size(NNHAL_OPERAND_TENSOR_FLOAT32, SCALAR, 0);
	expect_size(NNHAL_OPERAND_TENSOR_FLOAT32, DIMS(2, 0, 3), 0);
	ok(nnhal_size_of_data(NNHAL_OPERAND_TENSOR_FLOAT32, big, 2, &size) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "I03 size beyond 32 bits is an error");
	ok(nnhal_size_of_data(0x10001, big, 2, &size) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "I03 size of an extension type is an error");
	ok(nnhal_size_of_data(16, big, 2, &size) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "I03 size of an unknown type is an error");
	ok(size == 99, "I03 an error leaves the size as it was");
	ok(nnhal_size_of_data(0, NULL, 0, NULL) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "I03 no room for the size");
	ok(nnhal_size_of_data_overflows(1, big, 2), "I03 2^32 bytes overflow");
	ok(!nnhal_size_of_data_overflows(1, (uint32_t[]){ 65536, 65535 }, 2),
	   "I03 2^32 - 65536 bytes do not");
	ok(nnhal_size_of_data_overflows(8, (uint32_t[]){ 0xffffffff, 0xffffffff, 2 }, 3),
	   "I03 a product beyond 64 bits overflows");
	ok(!nnhal_size_of_data_overflows(8, (uint32_t[]){ 0xffffffff, 0xffffffff, 0 }, 3),
	   "I03 a dimension of 0 does not");
	ok(!nnhal_size_of_data_overflows(8, NULL, 0), "I03 rank 0 does not");
}

static void test_shapes(void)
{
	static const uint32_t a[] = { 2, 0, 3 }, b[] = { 0, 5, 3 }, c[] = { 2, 5, 4 };
	static const uint32_t sum[] = { 2, 5, 3 };
	uint32_t out[3], n = 9;

	ok(nnhal_tensor_has_unspecified_dimensions(NNHAL_OPERAND_TENSOR_FLOAT32, NULL, 0),
	   "I04 rank 0 is unspecified");
	ok(nnhal_tensor_has_unspecified_dimensions(NNHAL_OPERAND_TENSOR_FLOAT32, a, 3),
	   "I04 a dimension of 0 is unspecified");
	ok(!nnhal_tensor_has_unspecified_dimensions(NNHAL_OPERAND_TENSOR_FLOAT32, c, 3),
	   "I04 full dimensions are not");
	ok(!nnhal_tensor_has_unspecified_dimensions(NNHAL_OPERAND_INT32, NULL, 0),
	   "I04 a scalar is not");
	ok(nnhal_tensor_has_unspecified_dimensions(0x10001, NULL, 0),
	   "I04 an extension's tensor of rank 0 is unspecified");

	ok(nnhal_combine_dimensions(NULL, 0, a, 3, out, &n) && n == 3 &&
	   !memcmp(out, a, sizeof(a)), "I05 {} and X give X");
	ok(nnhal_combine_dimensions(a, 3, NULL, 0, out, &n) && n == 3 &&
	   !memcmp(out, a, sizeof(a)), "I05 X and {} give X");
	ok(nnhal_combine_dimensions(NULL, 0, NULL, 0, out, &n) && n == 0, "I05 {} and {} give {}");
	ok(nnhal_combine_dimensions(a, 3, b, 3, out, &n) && n == 3 &&
	   !memcmp(out, sum, sizeof(sum)), "I05 zeros are filled in");
	ok(!nnhal_combine_dimensions(a, 3, b, 2, out, &n), "I05 different ranks");
	ok(!nnhal_combine_dimensions(a, 3, c, 3, out, &n), "I05 different values");
	memcpy(out, a, sizeof(a));
	ok(nnhal_combine_dimensions(out, 3, b, 3, out, &n) && !memcmp(out, sum, sizeof(sum)),
	   "I05 in place");

	ok(nnhal_align_bytes_needed(3, 1) == 0 && nnhal_align_bytes_needed(3, 2) == 1 &&
	   nnhal_align_bytes_needed(3, 3) == 1 && nnhal_align_bytes_needed(4, 3) == 0 &&
	   nnhal_align_bytes_needed(5, 4) == 3 && nnhal_align_bytes_needed(8, 100) == 0 &&
	   nnhal_align_bytes_needed(6, 100) == 2 && nnhal_align_bytes_needed(4, 8) == 0,
	   "I07 alignment");
}

static void test_performance(void)
{
	static const struct nnhal_performance_info one = { 1.0f, 2.0f }, half = { 0.5f, 0.25f };
	struct nnhal_capabilities caps;
	struct nnhal_performance_info info;
	bool sorted = true, subgraph = false;
	uint32_t i;

	memset(&caps, 0, sizeof(caps));
	nnhal_operand_performance_init(&caps, NNHAL_HAL_1_2, one);
	ok(caps.num_operand_performance == 16, "I06 16 entries for 1.2");
	nnhal_operand_performance_init(&caps, NNHAL_HAL_1_3, one);
	ok(caps.num_operand_performance == 17, "I06 17 entries for 1.3");
	for (i = 0; i < caps.num_operand_performance; i++) {
		subgraph |= caps.operand_performance[i].type == NNHAL_OPERAND_SUBGRAPH;
		if (i && caps.operand_performance[i].type <= caps.operand_performance[i - 1].type)
			sorted = false;
	}
	ok(sorted && !subgraph, "I06 sorted, without SUBGRAPH");
	ok(nnhal_operand_performance_update(&caps, NNHAL_OPERAND_TENSOR_INT32, half),
	   "I06 update of an entry");
	info = nnhal_operand_performance_lookup(&caps, NNHAL_OPERAND_TENSOR_INT32);
	ok(info.exec_time == 0.5f && info.power_usage == 0.25f, "I06 lookup of an entry");
	ok(!nnhal_operand_performance_update(&caps, NNHAL_OPERAND_SUBGRAPH, half),
	   "I06 no update of a missing entry");
	info = nnhal_operand_performance_lookup(&caps, NNHAL_OPERAND_SUBGRAPH);
	ok(info.exec_time == FLT_MAX && info.power_usage == FLT_MAX,
	   "I06 lookup of a missing entry");
}

static void test_errno_table(void)
{
	static const struct { int err; enum nnhal_status status; } table[] = {
		{ EINVAL, NNHAL_STATUS_INVALID_ARGUMENT },
		{ EFAULT, NNHAL_STATUS_INVALID_ARGUMENT },
		{ EBADF, NNHAL_STATUS_INVALID_ARGUMENT },
		{ ENODEV, NNHAL_STATUS_DEVICE_UNAVAILABLE },
		{ EBUSY, NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT },
		{ ENOMEM, NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT },
		{ EUSERS, NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT },
		{ EDQUOT, NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT },
		{ EMFILE, NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT },
		{ ENFILE, NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT },
		{ ENOSPC, NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT },
		{ ETIME, NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT },
		{ ESTALE, NNHAL_STATUS_DEAD_OBJECT },
	};
	unsigned int general = 0;
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(table); i++)
		ok(status_from_errno(table[i].err) == table[i].status, "H10 %s gives %s",
		   errno_text(table[i].err), nnhal_status_name((int)table[i].status));
	for (err = 1; err < 134; err++)
		general += status_from_errno(err) == NNHAL_STATUS_GENERAL_FAILURE;
	ok(general == 133 - ARRAY_SIZE(table), "H10 all others give GENERAL_FAILURE");
	ok(status_from_fence_error(ETIME, false) == NNHAL_STATUS_GENERAL_FAILURE,
	   "H09 D28 a hang without a deadline is a GENERAL_FAILURE");
	ok(status_from_fence_error(ETIME, true) == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT,
	   "D27 with a deadline it is MISSED_DEADLINE_TRANSIENT");
	ok(status_from_fence_error(ENODEV, false) == NNHAL_STATUS_GENERAL_FAILURE &&
	   status_from_fence_error(ECANCELED, false) == NNHAL_STATUS_GENERAL_FAILURE &&
	   status_from_fence_error(EIO, true) == NNHAL_STATUS_GENERAL_FAILURE,
	   "H09 reset and removal end running jobs with GENERAL_FAILURE");
}

static void test_device_statuses(void)
{
	static const struct { uint32_t device; enum nnhal_status status; } table[] = {
		{ NNPU_STATUS_SUCCESS, NNHAL_STATUS_NONE },
		{ NNPU_STATUS_OUTPUT_INSUFFICIENT, NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE },
		{ NNPU_STATUS_ARG_SHAPE, NNHAL_STATUS_INVALID_ARGUMENT },
		{ NNPU_STATUS_ARG_SIZE, NNHAL_STATUS_INVALID_ARGUMENT },
		{ NNPU_STATUS_ARG_COUNT, NNHAL_STATUS_INVALID_ARGUMENT },
		{ NNPU_STATUS_NO_MEMORY, NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT },
		{ NNPU_STATUS_NO_RESOURCES, NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT },
		{ NNPU_STATUS_DEADLINE, NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT },
		{ NNPU_STATUS_LOOP_TIMEOUT, NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT },
		{ NNPU_STATUS_OP_FAILED, NNHAL_STATUS_GENERAL_FAILURE },
		{ NNPU_STATUS_DMA_ERROR, NNHAL_STATUS_GENERAL_FAILURE },
		{ NNPU_STATUS_TIME_LIMIT, NNHAL_STATUS_GENERAL_FAILURE },
		{ NNPU_STATUS_ABORTED, NNHAL_STATUS_GENERAL_FAILURE },
		{ 0x7777, NNHAL_STATUS_GENERAL_FAILURE },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(table); i++)
		ok(status_from_device(table[i].device) == table[i].status,
		   "device status 0x%x (%s) gives %s", table[i].device,
		   device_status_text(table[i].device),
		   nnhal_status_name((int)table[i].status));
	ok(!strcmp(device_reason_text(NNPU_REASON_RANK), "rank not allowed here") &&
	   !strcmp(device_reason_text(999), "unknown reason"), "texts of reasons");
}

static void test_versions(void)
{
	int status;
	bool right = true;

	for (status = 0; status <= 4; status++)
		right &= (int)nnhal_status_for_version((enum nnhal_status)status,
						       NNHAL_HAL_1_0) == status;
	ok(right, "G11 statuses 0 to 4 stay");
	right = true;
	for (status = 5; status <= 8; status++)
		right &= nnhal_status_for_version((enum nnhal_status)status, NNHAL_HAL_1_2) ==
				 NNHAL_STATUS_GENERAL_FAILURE &&
			 (int)nnhal_status_for_version((enum nnhal_status)status,
						       NNHAL_HAL_1_3) == status &&
			 (int)nnhal_status_for_version((enum nnhal_status)status,
						       NNHAL_HAL_LATEST) == status;
	ok(right, "G11 statuses 5 to 8 exist since 1.3");
	ok(nnhal_version() == NNHAL_VERSION, "version of library and headers agree");
	ok(!strcmp(nnhal_version_string(), "1.1.0"), "version as text: %s",
	   nnhal_version_string());
}

static void test_names(void)
{
	ok(!strcmp(nnhal_status_name(4), "INVALID_ARGUMENT") &&
	   !strcmp(nnhal_status_name(100), "DEAD_OBJECT") &&
	   !strcmp(nnhal_status_name(-1), "unknown status"), "names of statuses");
	ok(!strcmp(nnhal_operand_type_name(3), "TENSOR_FLOAT32") &&
	   !strcmp(nnhal_operand_type_name(10001), "TENSOR_OEM_BYTE") &&
	   !strcmp(nnhal_operand_type_name(16), "unknown type") &&
	   !strcmp(nnhal_operand_type_name(0x10000), "extension type"), "names of operand types");
	ok(!strcmp(nnhal_operation_type_name(3), "CONV_2D") &&
	   !strcmp(nnhal_operation_type_name(101), "RANK") &&
	   !strcmp(nnhal_operation_type_name(102), "unknown operation") &&
	   !strcmp(nnhal_operation_type_name(0x10000), "extension operation"),
	   "names of operations");
	ok(!strcmp(nnhal_lifetime_name(3), "CONSTANT_COPY") &&
	   !strcmp(nnhal_lifetime_name(7), "unknown lifetime"), "names of lifetimes");
}

static void test_programs(void)
{
	const uint16_t version = NNPU_PROGRAM_VERSION;
	struct nnpu_identify id = { .program_min = htole16(version),
				    .program_max = htole16(version) };

	ok(transport_takes_programs(&id), "a device of this version of programs");
	id.program_min = htole16(1);
	id.program_max = htole16(UINT16_MAX);
	ok(transport_takes_programs(&id), "one of many versions");
	id.program_min = htole16(version + 1);
	ok(!transport_takes_programs(&id), "one of newer ones only");
	id.program_min = 0;
	id.program_max = htole16(version - 1);
	ok(!transport_takes_programs(&id), "one of older ones only");
}

static void test_diag(void)
{
	struct nnhal_diag diag = { "" };
	char text[400];

	diag_set(&diag, "first %d", 1);
	diag_set(&diag, "second");
	ok(!strcmp(diag.message, "first 1"), "the first message stands");
	diag_clear(&diag);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	diag_set(&diag, "%s", text);
	ok(strlen(diag.message) == NNHAL_DIAG_SIZE - 1, "a long message is cut");
	diag_set(NULL, "nowhere");
	diag_clear(NULL);
}

int main(void)
{
	test_types();
	test_sizes();
	test_shapes();
	test_performance();
	test_errno_table();
	test_device_statuses();
	test_versions();
	test_names();
	test_programs();
	test_diag();
	return tap_done();
}
