// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device apart from its bus: bring-up, interrupts, unplug.
 */
#include <linux/bitfield.h>
#include <linux/dma-mapping.h>
#include <linux/iopoll.h>
#include <linux/slab.h>

#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include "nnpu_admin.h"
#include "nnpu_check.h"
#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_extension.h"
#include "nnpu_gem.h"
#include "nnpu_status.h"

/* Bounds of register TIMEOUT_MS: the device does not decide how long we wait. */
#define NNPU_TIMEOUT_MIN_MS	100
#define NNPU_TIMEOUT_MAX_MS	10000

/**
 * nnpu_device_enter - begin to use registers or DMA memory
 * @ndev: device
 * @idx: for nnpu_device_exit()
 *
 * Return: false if the device is gone or dead. Then it does not access memory any
 * more either: whoever is refused may free what the device knew.
 */
bool nnpu_device_enter(struct nnpu_device *ndev, int *idx)
{
	if (!drm_dev_enter(&ndev->drm, idx))
		return false;
	if (!READ_ONCE(ndev->dead))
		return true;
	drm_dev_exit(*idx);
	return false;
}

/**
 * nnpu_device_exit - end what nnpu_device_enter() began
 * @idx: from nnpu_device_enter()
 */
void nnpu_device_exit(int idx)
{
	drm_dev_exit(idx);
}

/**
 * nnpu_device_poll - wait for a register
 * @ndev: device
 * @reg: register
 * @mask: bits to look at
 * @value: what they must be
 * @timeout_ms: how long at most
 *
 * The one place where the driver polls.
 *
 * Return: 0; -ETIMEDOUT; -ENODEV if the device does not answer at all.
 */
int nnpu_device_poll(struct nnpu_device *ndev, u32 reg, u32 mask, u32 value, u32 timeout_ms)
{
	u32 v;
	int ret;

	ret = read_poll_timeout(nnpu_read, v, v == U32_MAX || (v & mask) == value, 50,
				(u64)timeout_ms * USEC_PER_MSEC, false, ndev, reg);
	if (v == U32_MAX)
		ret = -ENODEV;
	if (ret)
		drm_err(&ndev->drm, "register %#x is %#x, bits %#x should become %#x: %d\n", reg, v,
			mask, value, ret);
	return ret;
}

static int nnpu_device_read_limits(struct nnpu_device *ndev)
{
	u32 l0 = nnpu_read(ndev, NNPU_REG_LIMITS0);
	u32 l1 = nnpu_read(ndev, NNPU_REG_LIMITS1);
	u32 l2 = nnpu_read(ndev, NNPU_REG_LIMITS2);
	struct nnpu_limits *limits = &ndev->limits;
	u32 entries_log2 = FIELD_GET(NNPU_LIMITS0_MAX_ENTRIES_LOG2, l0);
	u32 slots_log2 = FIELD_GET(NNPU_LIMITS1_MAX_SLOTS_LOG2, l1);

	limits->max_queues = FIELD_GET(NNPU_LIMITS0_MAX_QUEUES, l0);
	limits->max_entries = 1u << min(entries_log2, 15u);
	limits->db_shift = FIELD_GET(NNPU_LIMITS0_DB_STRIDE_LOG2, l0);
	limits->max_contexts = FIELD_GET(NNPU_LIMITS1_MAX_CONTEXTS, l1);
	/* A slot table is contiguous memory: 32 KiB at most. */
	limits->max_slots = 1u << min(slots_log2, 10u);
	limits->num_engines = FIELD_GET(NNPU_LIMITS1_NUM_ENGINES, l1);
	limits->max_programs = FIELD_GET(NNPU_LIMITS2_MAX_PROGRAMS, l2);
	limits->max_args = min(FIELD_GET(NNPU_LIMITS2_MAX_ARGS, l2), NNPU_MAX_ARGS);

	if (!limits->max_queues || limits->max_entries < 4 || limits->db_shift < 4 ||
	    limits->db_shift > 20 || !limits->max_contexts || !limits->max_programs ||
	    limits->max_args < 2) {
		drm_err(&ndev->drm, "impossible limits %#x %#x %#x\n", l0, l1, l2);
		return -EIO;
	}
	if (ndev->doorbells_size < (resource_size_t)NNPU_QID_USER << limits->db_shift) {
		drm_err(&ndev->drm, "%pa bytes of doorbells are too few\n", &ndev->doorbells_size);
		return -EIO;
	}
	return 0;
}

static int nnpu_device_read_id(struct nnpu_device *ndev)
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
	return nnpu_device_read_limits(ndev);
}

/**
 * nnpu_device_hw_reset - reset the device
 * @ndev: device
 *
 * Afterwards it is disabled and accesses no memory.
 *
 * Return: 0 or a negative errno; then the device is in an unknown state.
 */
int nnpu_device_hw_reset(struct nnpu_device *ndev)
{
	nnpu_write(ndev, NNPU_REG_CTRL, NNPU_CTRL_RESET);
	return nnpu_device_poll(ndev, NNPU_REG_STATUS,
				NNPU_STATUS_REG_RESETTING | NNPU_STATUS_REG_FATAL |
				NNPU_STATUS_REG_READY, 0, ndev->timeout_ms);
}

/**
 * nnpu_device_disable - stop the device
 * @ndev: device
 *
 * Return: 0 or a negative errno; then the device is in an unknown state.
 */
int nnpu_device_disable(struct nnpu_device *ndev)
{
	nnpu_write(ndev, NNPU_REG_CTRL, 0);
	return nnpu_device_poll(ndev, NNPU_REG_STATUS, NNPU_STATUS_REG_READY, 0,
				ndev->timeout_ms);
}

/**
 * nnpu_device_start - take the device from reset to running
 * @ndev: device, just reset
 *
 * Return: 0 or a negative errno.
 */
int nnpu_device_start(struct nnpu_device *ndev)
{
	struct nnpu_qpair *qp = &ndev->admin.qp;
	int ret;

	spin_lock_irq(&qp->lock);
	nnpu_qpair_restart(qp, true);
	spin_unlock_irq(&qp->lock);
	nnpu_write(ndev, NNPU_REG_ADMIN_SIZE, (qp->cq.size - 1) << 16 | (qp->sq.size - 1));
	nnpu_write(ndev, NNPU_REG_ADMIN_SQ_LO, lower_32_bits(qp->sq_dma));
	nnpu_write(ndev, NNPU_REG_ADMIN_SQ_HI, upper_32_bits(qp->sq_dma));
	nnpu_write(ndev, NNPU_REG_ADMIN_CQ_LO, lower_32_bits(qp->cq_dma));
	nnpu_write(ndev, NNPU_REG_ADMIN_CQ_HI, upper_32_bits(qp->cq_dma));
	nnpu_write(ndev, NNPU_REG_CTRL, NNPU_CTRL_ENABLE);
	ret = nnpu_device_poll(ndev, NNPU_REG_STATUS,
			       NNPU_STATUS_REG_READY | NNPU_STATUS_REG_FATAL,
			       NNPU_STATUS_REG_READY, ndev->timeout_ms);
	if (ret)
		return ret;
	return nnpu_queue_create(ndev);
}

/* Have the device write one page to ndev->identify_mem. */
static int nnpu_device_identify_page(struct nnpu_device *ndev, u32 page,
				     struct nnpu_admin_result *result)
{
	struct nnpu_sqe_identify sqe = {
		.opcode = NNPU_ADMIN_IDENTIFY,
		.addr = cpu_to_le64(ndev->identify_dma),
		.page = cpu_to_le32(page),
	};

	return nnpu_admin_exec_locked(ndev, &sqe, result);
}

/* One that makes no sense is left out: the device is good for everything else. */
static int nnpu_device_read_extensions(struct nnpu_device *ndev)
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
		ret = nnpu_device_identify_page(ndev, i, &result);
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

/* Who reads it later trusts it: user space through QUERY, the driver's limits. */
static int nnpu_device_identify(struct nnpu_device *ndev)
{
	struct nnpu_identify *id = ndev->identify;
	struct nnpu_admin_result result;
	int ret;

	ret = nnpu_device_identify_page(ndev, 0, &result);
	if (ret)
		return ret;
	memcpy(id, ndev->identify_mem, sizeof(*id));
	id->name[sizeof(id->name) - 1] = '\0';
	id->firmware[sizeof(id->firmware) - 1] = '\0';
	if (result.status || le32_to_cpu(id->magic) != NNPU_IDENTIFY_MAGIC ||
	    le32_to_cpu(id->num_performance) > ARRAY_SIZE(id->performance)) {
		drm_err(&ndev->drm, "IDENTIFY failed: %s (%#x)\n",
			nnpu_status_text(result.status), result.status);
		return -EIO;
	}
	ndev->limits.max_program_size = min_t(u64, le64_to_cpu(id->max_program_size),
					      NNPU_PROGRAM_MAX_SIZE);
	return nnpu_device_read_extensions(ndev);
}

/**
 * nnpu_device_init - bring the device up
 * @ndev: device, allocated with devm_drm_dev_alloc(); bus glue has filled in what
 *	it owns
 *
 * After success the caller registers the DRM device and calls
 * nnpu_device_unplug() in the end.
 *
 * Return: 0 or a negative errno.
 */
int nnpu_device_init(struct nnpu_device *ndev)
{
	struct drm_device *drm = &ndev->drm;
	int ret;

	init_rwsem(&ndev->reset_sem);
	mutex_init(&ndev->bo_lock);
	INIT_LIST_HEAD(&ndev->bo_list);
	nnpu_power_init(ndev);
	ret = nnpu_device_read_id(ndev);
	if (ret)
		return ret;
	nnpu_table_init(&ndev->contexts, 1, ndev->limits.max_contexts);
	ndev->identify = drmm_kzalloc(drm, sizeof(*ndev->identify), GFP_KERNEL);
	if (!ndev->identify)
		return -ENOMEM;
	/* Whoever ran before us may have left it running. */
	ret = nnpu_device_hw_reset(ndev);
	if (ret)
		return ret;

	ndev->identify_mem = dma_alloc_coherent(drm->dev, sizeof(*ndev->identify),
						&ndev->identify_dma, GFP_KERNEL);
	if (!ndev->identify_mem)
		return -ENOMEM;
	ret = nnpu_admin_init(ndev);
	if (ret)
		goto err_identify;
	ret = nnpu_queue_init(ndev);
	if (ret)
		goto err_admin;
	ret = nnpu_sched_init(ndev);
	if (ret)
		goto err_queue;
	ret = nnpu_userq_init(ndev);
	if (ret)
		goto err_queue;
	ret = nnpu_recovery_init(ndev);
	if (ret)
		goto err_userq;
	ret = nnpu_irq_request(ndev);
	if (ret)
		goto err_recovery;
	ndev->bus->start_dma(ndev);
	ret = nnpu_device_start(ndev);
	if (!ret)
		ret = nnpu_device_identify(ndev);
	if (ret)
		goto err_stop;
	nnpu_debugfs_init(ndev);
	return 0;

err_stop:
	if (nnpu_device_hw_reset(ndev))
		drm_err(drm, "device does not reset\n");
	ndev->bus->stop_dma(ndev);
	nnpu_irq_free(ndev);
err_recovery:
	nnpu_recovery_stop(ndev);
err_userq:
	nnpu_userq_fini(ndev);
err_queue:
	nnpu_queue_fini(ndev);
err_admin:
	nnpu_admin_fini(ndev);
err_identify:
	dma_free_coherent(drm->dev, sizeof(*ndev->identify), ndev->identify_mem,
			  ndev->identify_dma);
	return ret;
}

/**
 * nnpu_device_cut_off - have nothing more to do with the device
 * @ndev: device, stopped or beyond help
 *
 * It answers nothing, completes nothing and reaches no memory afterwards. Caller
 * holds nnpu_device.reset_sem for writing.
 */
void nnpu_device_cut_off(struct nnpu_device *ndev)
{
	lockdep_assert_held_write(&ndev->reset_sem);
	nnpu_admin_stop(ndev);
	nnpu_queue_stop(&ndev->queue);
	ndev->bus->stop_dma(ndev);
	WRITE_ONCE(ndev->dead, true);
}

/*
 * The device is stopped while those who wait for it, or close their file, still take
 * it for present: they wait for reset_sem. A moment later they are refused and free
 * memory that a job was writing to.
 */
static void nnpu_device_silence(struct nnpu_device *ndev)
{
	/* Those who wait for an answer hold reset_sem. */
	nnpu_admin_stop(ndev);
	down_write(&ndev->reset_sem);
	if (!ndev->dead) {
		nnpu_queue_stop(&ndev->queue);
		nnpu_device_disable(ndev);
		/*
		 * However that ended. The admin queue once more, too: a reset that was
		 * under way has started it again.
		 */
		nnpu_device_cut_off(ndev);
	}
	up_write(&ndev->reset_sem);
}

/**
 * nnpu_device_unplug - take the driver off the device
 * @ndev: device, present or already removed
 *
 * Jobs end with -ENODEV. What open files still hold is memory only; it goes with
 * the last file, fence or buffer.
 */
void nnpu_device_unplug(struct nnpu_device *ndev)
{
	struct drm_device *drm = &ndev->drm;

	nnpu_device_silence(ndev);
	/* Nobody uses registers or DMA memory after this but us. */
	drm_dev_unplug(drm);
	nnpu_sched_pause(&ndev->sched);
	nnpu_userq_unplug(ndev);
	nnpu_irq_free(ndev);
	nnpu_recovery_stop(ndev);

	nnpu_ctx_lose_all(ndev);
	nnpu_queue_abandon(&ndev->queue, NNPU_CID_NONE, 0, -ENODEV);
	/* Jobs that wait get their -ENODEV from run_job. */
	nnpu_sched_unpause(&ndev->sched);
	flush_workqueue(nnpu_release_wq);
	nnpu_ctx_unplug_all(ndev);
	nnpu_gem_unplug_all(ndev);
	nnpu_userq_fini(ndev);
	nnpu_queue_fini(ndev);
	nnpu_admin_fini(ndev);
	dma_free_coherent(drm->dev, sizeof(*ndev->identify), ndev->identify_mem,
			  ndev->identify_dma);
}
