// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the device says of itself: its registers ID, VERSION, FEATURES and LIMITS, and the
 * pages of IDENTIFY. Everything is read once, at probe, and checked here.
 */
#include <linux/bitfield.h>
#include <linux/dma-mapping.h>

#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include "nnpu_admin.h"
#include "nnpu_check.h"
#include "nnpu_device.h"
#include "nnpu_extension.h"
#include "nnpu_identify.h"
#include "nnpu_status.h"

/* Bounds of register TIMEOUT_MS: the device does not decide how long we wait. */
#define NNPU_TIMEOUT_MIN_MS	100
#define NNPU_TIMEOUT_MAX_MS	10000

/* Rings with fewer entries have no places for a context. */
#define NNPU_IDENTIFY_MIN_ENTRIES	8

static int nnpu_identify_limits(struct nnpu_device *ndev)
{
	u32 l0 = nnpu_read(ndev, NNPU_REG_LIMITS0);
	u32 l1 = nnpu_read(ndev, NNPU_REG_LIMITS1);
	u32 l2 = nnpu_read(ndev, NNPU_REG_LIMITS2);
	struct nnpu_limits *limits = &ndev->limits;
	u32 entries_log2 = FIELD_GET(NNPU_LIMITS0_MAX_ENTRIES_LOG2, l0);
	u32 slots_log2 = FIELD_GET(NNPU_LIMITS1_MAX_SLOTS_LOG2, l1);
	u32 max_db_stride = FIELD_GET(NNPU_LIMITS0_MAX_DB_STRIDE, l0);

	limits->max_queues = FIELD_GET(NNPU_LIMITS0_MAX_QUEUES, l0);
	limits->max_entries = 1u << min(entries_log2, 15u);
	/* A doorbell page is a page of the CPU, so that a process can have one for itself. */
	limits->db_shift = min_t(u32, max_db_stride, PAGE_SHIFT);
	/* Rings have places for all contexts, so small rings are for few contexts. */
	limits->max_contexts = FIELD_GET(NNPU_LIMITS1_MAX_CONTEXTS, l1);
	if (limits->max_entries >= NNPU_IDENTIFY_MIN_ENTRIES)
		limits->max_contexts = min3(limits->max_contexts,
					    nnpu_queue_max_contexts(limits->max_entries),
					    nnpu_admin_max_contexts(limits->max_entries));
	/* A slot table is contiguous memory: 32 KiB at most. */
	limits->max_slots = 1u << min(slots_log2, 10u);
	limits->num_engines = FIELD_GET(NNPU_LIMITS1_NUM_ENGINES, l1);
	limits->max_programs = FIELD_GET(NNPU_LIMITS2_MAX_PROGRAMS, l2);
	limits->max_args = min(FIELD_GET(NNPU_LIMITS2_MAX_ARGS, l2), NNPU_MAX_ARGS);

	if (!limits->max_queues || limits->max_entries < NNPU_IDENTIFY_MIN_ENTRIES ||
	    limits->db_shift < NNPU_PAGE_SHIFT || !limits->max_contexts ||
	    !limits->max_programs || limits->max_args < 2) {
		drm_err(&ndev->drm, "impossible limits %#x %#x %#x\n", l0, l1, l2);
		return -EIO;
	}
	if (ndev->doorbells_size < (resource_size_t)NNPU_QID_USER << limits->db_shift) {
		drm_err(&ndev->drm, "%pa bytes of doorbells are too few\n", &ndev->doorbells_size);
		return -EIO;
	}
	return 0;
}

/**
 * nnpu_identify_registers - read and check the registers that describe the device
 * @ndev: device; its features, version, timeout and limits are filled in
 *
 * Values that make no sense are errors. Values above what the driver supports are cut.
 *
 * Return: 0; -ENODEV if this is no device the driver knows; -EIO.
 */
int nnpu_identify_registers(struct nnpu_device *ndev)
{
	u32 id = nnpu_read(ndev, NNPU_REG_ID);

	if (id != NNPU_ID_MAGIC) {
		drm_err(&ndev->drm, "register ID is %#x: not an NNPU\n", id);
		return -ENODEV;
	}
	ndev->hw_version = nnpu_read(ndev, NNPU_REG_VERSION);
	if (ndev->hw_version >> 16 != NNPU_HW_VERSION_MAJOR) {
		drm_err(&ndev->drm, "hardware specification %u.%u is not supported\n",
			ndev->hw_version >> 16, ndev->hw_version & 0xffff);
		return -ENODEV;
	}
	ndev->features = nnpu_read64(ndev, NNPU_REG_FEATURES_LO);
	ndev->timeout_ms = clamp(nnpu_read(ndev, NNPU_REG_TIMEOUT_MS), NNPU_TIMEOUT_MIN_MS,
				 NNPU_TIMEOUT_MAX_MS);
	return nnpu_identify_limits(ndev);
}

/* Have the device write one page to ndev->identify_mem. */
static int nnpu_identify_page(struct nnpu_device *ndev, u32 page,
			      struct nnpu_admin_result *result)
{
	struct nnpu_sqe_identify sqe = {
		.opcode = NNPU_ADMIN_IDENTIFY,
		.addr = cpu_to_le64(ndev->identify_dma),
		.page = cpu_to_le32(page),
	};

	return nnpu_admin_exec(ndev, NNPU_ADMIN_PLACE_RECOVERY, &sqe, result);
}

/* Leave out an extension with an invalid description: the rest of the device works. */
static int nnpu_identify_extensions(struct nnpu_device *ndev)
{
	u32 num = le32_to_cpu(ndev->identify->num_extensions), i;
	struct nnpu_admin_result result;
	struct nnpu_extension *e;
	int ret;

	if (!(ndev->features & NNPU_FEATURE_EXTENSIONS) || !num)
		return 0;
	if (num > NNPU_MAX_EXTENSIONS) {
		drm_err(&ndev->drm, "%u extensions are more than the specification allows\n", num);
		return -EIO;
	}
	ndev->extensions = drmm_kcalloc(&ndev->drm, num, sizeof(*e), GFP_KERNEL);
	if (!ndev->extensions)
		return -ENOMEM;
	for (i = 1; i <= num; i++) {
		ret = nnpu_identify_page(ndev, i, &result);
		if (ret)
			return ret;
		e = &ndev->extensions[ndev->num_extensions];
		memcpy(e, ndev->identify_mem, sizeof(*e));
		if (!result.status && nnpu_extension_ok(e, ndev->extensions, ndev->num_extensions))
			ndev->num_extensions++;
		else
			drm_err(&ndev->drm, "extension %u is left out: %s\n", i, result.status ?
				nnpu_status_text(result.status) : "malformed description");
	}
	return 0;
}

/**
 * nnpu_identify_command - read and check the pages of IDENTIFY
 * @ndev: device, running
 *
 * User space reads the copy through QUERY, and the driver takes two limits from it.
 *
 * Return: 0; -EIO, -ETIMEDOUT, -ENOMEM.
 */
int nnpu_identify_command(struct nnpu_device *ndev)
{
	struct nnpu_identify *id = ndev->identify;
	struct nnpu_admin_result result;
	int ret;

	ret = nnpu_identify_page(ndev, 0, &result);
	if (ret)
		return ret;
	memcpy(id, ndev->identify_mem, sizeof(*id));
	id->name[sizeof(id->name) - 1] = '\0';
	id->firmware[sizeof(id->firmware) - 1] = '\0';
	if (result.status || le32_to_cpu(id->magic) != NNPU_IDENTIFY_MAGIC ||
	    !id->max_loads || le32_to_cpu(id->num_performance) > ARRAY_SIZE(id->performance)) {
		drm_err(&ndev->drm, "IDENTIFY failed: %s (%#x)\n",
			nnpu_status_text(result.status), result.status);
		return -EIO;
	}
	ndev->limits.max_program_size = min_t(u64, le64_to_cpu(id->max_program_size),
					      NNPU_PROGRAM_MAX_SIZE);
	sema_init(&ndev->load_room, min_t(u32, le32_to_cpu(id->max_loads), INT_MAX));
	return nnpu_identify_extensions(ndev);
}
