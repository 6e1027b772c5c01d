// SPDX-License-Identifier: GPL-2.0-only
/* Status codes: names for messages and errno for user space, in one table. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include <drm/nnpu_program.h>

#include "nnpu_hw.h"
#include "nnpu_status.h"

/**
 * DOC: Status to errno
 *
 * When the device has ended a job, the fence of the job has the ``job`` errno. When the
 * device has refused a program, PROGRAM_LOAD returns the ``load`` errno. -ETIME is a limit of
 * time that the job had: a process that waits for its fence can tell that from a fault. -EINVAL is
 * an error that the caller could have avoided, -ENOMEM a lack of device memory, -EIO a fault of
 * device or driver. A status that is not in the table gives -EIO and leads to a reset of the
 * queue.
 */

/**
 * struct nnpu_status_info - one status
 * @name: NNPU_STATUS_* without the prefix, NULL if there is no such status
 * @text: what it means
 * @job: errno of a job's fence
 * @load: errno of PROGRAM_LOAD
 */
struct nnpu_status_info {
	const char *name;
	const char *text;
	int job;
	int load;
};

/* Errno per status: job, load. */
#define JOB_ERRNO_SUCCESS		0
#define JOB_ERRNO_INVALID_OPCODE	-EIO
#define JOB_ERRNO_INVALID_FIELD		-EINVAL
#define JOB_ERRNO_INVALID_CTX		-EIO
#define JOB_ERRNO_INVALID_QUEUE		-EIO
#define JOB_ERRNO_INVALID_PROGRAM	-EINVAL
#define JOB_ERRNO_INVALID_SLOT		-EINVAL
#define JOB_ERRNO_SLOT_BOUNDS		-EINVAL
#define JOB_ERRNO_SLOT_RIGHTS		-EINVAL
#define JOB_ERRNO_DMA_ERROR		-EIO
#define JOB_ERRNO_NO_RESOURCES		-ENOMEM
#define JOB_ERRNO_NO_MEMORY		-ENOMEM
#define JOB_ERRNO_BUSY			-EIO
#define JOB_ERRNO_ABORTED		-ECANCELED
#define JOB_ERRNO_DEADLINE		-ETIME
#define JOB_ERRNO_LOOP_TIMEOUT		-ETIME
#define JOB_ERRNO_INTERNAL		-EIO
#define JOB_ERRNO_RESET			-ECANCELED
#define JOB_ERRNO_TIME_LIMIT		-ETIME
#define JOB_ERRNO_PROGRAM_HEADER	-EIO
#define JOB_ERRNO_PROGRAM_TENSOR	-EIO
#define JOB_ERRNO_PROGRAM_COMMAND	-EIO
#define JOB_ERRNO_PROGRAM_UNSUPPORTED	-EIO
#define JOB_ERRNO_ARG_COUNT		-EINVAL
#define JOB_ERRNO_ARG_SHAPE		-EINVAL
#define JOB_ERRNO_ARG_SIZE		-EINVAL
#define JOB_ERRNO_OUTPUT_INSUFFICIENT	-EINVAL
#define JOB_ERRNO_OP_FAILED		-EINVAL

#define LOAD_ERRNO_SUCCESS		0
#define LOAD_ERRNO_INVALID_OPCODE	-EIO
#define LOAD_ERRNO_INVALID_FIELD	-EINVAL
#define LOAD_ERRNO_INVALID_CTX		-EIO
#define LOAD_ERRNO_INVALID_QUEUE	-EIO
#define LOAD_ERRNO_INVALID_PROGRAM	-EIO
#define LOAD_ERRNO_INVALID_SLOT		-EINVAL
#define LOAD_ERRNO_SLOT_BOUNDS		-EINVAL
#define LOAD_ERRNO_SLOT_RIGHTS		-EINVAL
#define LOAD_ERRNO_DMA_ERROR		-EIO
#define LOAD_ERRNO_NO_RESOURCES		-ENOSPC
#define LOAD_ERRNO_NO_MEMORY		-ENOMEM
#define LOAD_ERRNO_BUSY			-EIO
#define LOAD_ERRNO_ABORTED		-EIO
#define LOAD_ERRNO_DEADLINE		-EIO
#define LOAD_ERRNO_LOOP_TIMEOUT		-EIO
#define LOAD_ERRNO_INTERNAL		-EIO
#define LOAD_ERRNO_RESET		-ENODEV
#define LOAD_ERRNO_TIME_LIMIT		-EIO
#define LOAD_ERRNO_PROGRAM_HEADER	-EINVAL
#define LOAD_ERRNO_PROGRAM_TENSOR	-EINVAL
#define LOAD_ERRNO_PROGRAM_COMMAND	-EINVAL
#define LOAD_ERRNO_PROGRAM_UNSUPPORTED	-EOPNOTSUPP
#define LOAD_ERRNO_ARG_COUNT		-EIO
#define LOAD_ERRNO_ARG_SHAPE		-EIO
#define LOAD_ERRNO_ARG_SIZE		-EIO
#define LOAD_ERRNO_OUTPUT_INSUFFICIENT	-EIO
#define LOAD_ERRNO_OP_FAILED		-EIO

/* A status added to the list without an errno above does not compile. */
#define STATUS_INFO(name, num, text) \
	[num] = { #name, text, JOB_ERRNO_##name, LOAD_ERRNO_##name },

static const struct nnpu_status_info nnpu_status_infos[] = {
	NNPU_STATUS_LIST(STATUS_INFO)
};

static const char * const nnpu_status_opcode_names[NNPU_ADMIN_NUM] = {
	[NNPU_ADMIN_NOP] = "NOP",
	[NNPU_ADMIN_IDENTIFY] = "IDENTIFY",
	[NNPU_ADMIN_CREATE_CTX] = "CREATE_CTX",
	[NNPU_ADMIN_DESTROY_CTX] = "DESTROY_CTX",
	[NNPU_ADMIN_CREATE_QUEUE] = "CREATE_QUEUE",
	[NNPU_ADMIN_DESTROY_QUEUE] = "DESTROY_QUEUE",
	[NNPU_ADMIN_RESET_QUEUE] = "RESET_QUEUE",
	[NNPU_ADMIN_LOAD_PROGRAM] = "LOAD_PROGRAM",
	[NNPU_ADMIN_UNLOAD_PROGRAM] = "UNLOAD_PROGRAM",
	[NNPU_ADMIN_INVALIDATE_SLOTS] = "INVALIDATE_SLOTS",
	[NNPU_ADMIN_ABORT] = "ABORT",
	[NNPU_ADMIN_SET_PERF] = "SET_PERF",
	[NNPU_ADMIN_SUSPEND_QUEUE] = "SUSPEND_QUEUE",
	[NNPU_ADMIN_SAVE_PROGRAM] = "SAVE_PROGRAM",
};

static const struct nnpu_status_info *nnpu_status_find(u16 status)
{
	if (status >= ARRAY_SIZE(nnpu_status_infos) || !nnpu_status_infos[status].name)
		return NULL;
	return &nnpu_status_infos[status];
}

/**
 * nnpu_status_known - is this a status of the hardware specification?
 * @status: any value
 *
 * Return: true if it is.
 */
bool nnpu_status_known(u16 status)
{
	return nnpu_status_find(status);
}

/**
 * nnpu_status_name - NNPU_STATUS_* without the prefix
 * @status: any value
 *
 * Return: the name, or "UNKNOWN".
 */
const char *nnpu_status_name(u16 status)
{
	const struct nnpu_status_info *info = nnpu_status_find(status);

	return info ? info->name : "UNKNOWN";
}

/**
 * nnpu_status_text - what a status means
 * @status: any value
 *
 * Return: a short text.
 */
const char *nnpu_status_text(u16 status)
{
	const struct nnpu_status_info *info = nnpu_status_find(status);

	return info ? info->text : "unknown status";
}

/**
 * nnpu_status_job_errno - error of the fence of a job
 * @status: status of its completion
 *
 * Return: 0 for success, a negative errno otherwise; -EIO if unknown.
 */
int nnpu_status_job_errno(u16 status)
{
	const struct nnpu_status_info *info = nnpu_status_find(status);

	return info ? info->job : -EIO;
}

/**
 * nnpu_status_load_errno - error of PROGRAM_LOAD
 * @status: status of the completion of LOAD_PROGRAM
 *
 * Return: 0 for success, a negative errno otherwise; -EIO if unknown.
 */
int nnpu_status_load_errno(u16 status)
{
	const struct nnpu_status_info *info = nnpu_status_find(status);

	return info ? info->load : -EIO;
}

/**
 * nnpu_status_opcode_name - name of an admin command
 * @opcode: any value
 *
 * Return: the name, or "UNKNOWN".
 */
const char *nnpu_status_opcode_name(u8 opcode)
{
	if (opcode >= ARRAY_SIZE(nnpu_status_opcode_names) || !nnpu_status_opcode_names[opcode])
		return "UNKNOWN";
	return nnpu_status_opcode_names[opcode];
}
