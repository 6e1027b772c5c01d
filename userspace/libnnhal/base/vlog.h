/* SPDX-License-Identifier: MIT */
/*
 * The verbose log of a device.
 */
#ifndef NNHAL_VLOG_H
#define NNHAL_VLOG_H

#include <stdint.h>

#include <nnhal/debug.h>

#include "base/base.h"

struct vlog {
	uint32_t tags;		/* NNHAL_LOG_*; 0: nothing is written */
	nnhal_log_callback write;
	void *context;
};

/* The tags of a caller, or with @write NULL those of the environment, to standard error. */
void vlog_init(struct vlog *log, uint32_t tags, nnhal_log_callback write, void *context);
void vlog_write(const struct vlog *log, uint32_t tag, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), cold));

#define VLOG_IS_ON(log, tag)	unlikely((log)->tags & (tag))

/* A tag that is off evaluates none of the arguments. */
#define VLOG(log, tag, ...) \
	do { \
		if (VLOG_IS_ON(log, tag)) \
			vlog_write(log, tag, __VA_ARGS__); \
	} while (0)

#endif /* NNHAL_VLOG_H */
