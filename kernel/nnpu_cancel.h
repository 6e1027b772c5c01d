/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_CANCEL_H_
#define _NNPU_CANCEL_H_

#include <linux/types.h>

struct drm_device;
struct drm_file;

/**
 * enum nnpu_cancel_verdict - what CANCEL does with a job
 * @NNPU_CANCEL_LATE: nothing: it has ended, or somebody else is ending it
 * @NNPU_CANCEL_END: it waits: end it
 * @NNPU_CANCEL_TURN: it waits: its scheduler ends it when it comes to it
 * @NNPU_CANCEL_HELD: it is in flight, but the device does not have it: take it back
 * @NNPU_CANCEL_ABORT: the device has it
 * @NNPU_CANCEL_ASKED: the device has it, and was asked to abort it
 */
enum nnpu_cancel_verdict {
	NNPU_CANCEL_LATE,
	NNPU_CANCEL_END,
	NNPU_CANCEL_TURN,
	NNPU_CANCEL_HELD,
	NNPU_CANCEL_ABORT,
	NNPU_CANCEL_ASKED,
};

/**
 * nnpu_cancel_judge - what CANCEL does with a job
 * @ending: somebody ends it, or has
 * @in_flight: it has a command id
 * @held: in flight, but not given to the device
 * @cancelled: it was cancelled before
 * @may_leave: if it waits: it need not wait for its in-fences
 *
 * Return: the verdict.
 */
static inline enum nnpu_cancel_verdict nnpu_cancel_judge(bool ending, bool in_flight, bool held,
							 bool cancelled, bool may_leave)
{
	if (ending)
		return NNPU_CANCEL_LATE;
	if (!in_flight)
		return may_leave ? NNPU_CANCEL_END : NNPU_CANCEL_TURN;
	if (held)
		return NNPU_CANCEL_HELD;
	return cancelled ? NNPU_CANCEL_ASKED : NNPU_CANCEL_ABORT;
}

int nnpu_cancel_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif /* _NNPU_CANCEL_H_ */
