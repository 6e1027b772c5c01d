/* SPDX-License-Identifier: MIT */
/*
 * nnctl: what NNPU devices do, and who uses them.
 */
#ifndef NNCTL_H
#define NNCTL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../common/error.h"
#include "../common/json.h"
#include "nnctl_netlink.h"

/* Exit statuses. */
#define NNCTL_PROBLEM	1
#define NNCTL_USAGE	2

/* In place of what a device does for all clients together, if that is not for this user. */
#define NNCTL_USE_HIDDEN "shown to users who may open the node"

static inline bool nnctl_is_use_told(const struct record *device)
{
	return record_has(device, NNPU_A_DEV_CLIENTS);
}

/* What the command line says. */
struct options {
	bool json;
	const char *device;	/* NULL: not given */
	double seconds;		/* --seconds, 0: not given */
	double interval;	/* --interval */
	unsigned long count;	/* --count, 0: not given */
	const char *output;	/* --output */
};

/* Each returns an exit status. Errors of netlink are in @err, printed by the caller. */
int nnctl_list(struct netlink *nl, const struct options *o, struct error *err);
int nnctl_info(struct netlink *nl, const struct options *o, struct error *err);
int nnctl_top(struct netlink *nl, const struct options *o, struct error *err);
int nnctl_monitor(struct netlink *nl, const struct options *o, struct error *err);
int nnctl_reset(struct netlink *nl, const struct options *o, struct error *err);
int nnctl_capture(struct netlink *nl, const struct options *o, struct error *err);
int nnctl_doctor(const struct options *o);
int nnctl_nnapi(const struct options *o);
/* The same with sysfs in another place, for tests. */
int nnctl_doctor_at(const struct options *o, const char *sysfs, const char *kmsg);

/* From here on SIGINT, SIGTERM and SIGHUP end waits and loops, not the program. Who ignores them still does. */
void nnctl_catch_signals(void);
/* One of them came, or the output does not reach anybody. Each loop asks. */
bool nnctl_stopped(void);
/* The latter, found by nnctl_wait(). */
bool nnctl_no_reader(void);
/*
 * Wait until @fd can be read (-1: nothing), for @seconds, until a signal, or until nobody reads @out any
 * more (NULL: that does not matter). True if @fd can be read. Without a reader it is as if something had
 * been written: SIGPIPE.
 */
bool nnctl_wait(int fd, FILE *out, double seconds);

/* A device by number, node, or name on the bus; NULL: the only one. 0, or -1 with @err set. */
int nnctl_find_device(const struct records *devices, const char *name, const struct record **found,
		      struct error *err);
/* All devices, or the one that the options name; 0, or -1 with @err set. */
int nnctl_get_devices(struct netlink *nl, const struct options *o, struct records *devices,
		      struct error *err);

/* "1.5 GiB", in a buffer that lasts until the end of the block. */
const char *nnctl_bytes(uint64_t bytes, char *text, size_t size);
const char *nnctl_time(uint64_t ns, char *text, size_t size);
#define BYTES(n)	nnctl_bytes(n, (char[32]) { 0 }, 32)
#define TIME(n)		nnctl_time(n, (char[32]) { 0 }, 32)

/*
 * The time that a part of the jobs of a histogram did not exceed, ns: within its bucket the times
 * count as spread evenly. 0 if there were none. @before may be NULL.
 */
bool nnctl_has_samples(const uint64_t *now, const uint64_t *before);
uint64_t nnctl_percentile(const uint64_t *now, const uint64_t *before, double part);

#endif /* NNCTL_H */
