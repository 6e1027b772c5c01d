/* SPDX-License-Identifier: MIT */
/*
 * Times of inferences: collecting them.
 */
#ifndef NNRUN_PROFILE_H
#define NNRUN_PROFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <nnhal/nnhal.h>

#include "../common/error.h"

/* A list of times in nanoseconds. */
struct series {
	uint64_t *values;
	size_t count;
	size_t room;
};

/* Sums over all inferences for one operation. */
struct operation_time {
	uint64_t count;
	uint64_t total_ns;
	uint64_t bytes;
};

/* What the device did beside the operations, summed up and at last. */
struct work {
	uint64_t count;
	uint64_t inferences, allocations, copies;
	struct nnhal_ext_work last;
};

enum event_kind { EVENT_INFERENCE, EVENT_DEVICE, EVENT_OPERATION };

/* Something that took time. */
struct profile_event {
	enum event_kind kind;
	uint32_t lane;
	uint32_t operation;
	uint64_t inference;
	uint64_t start_ns;
	uint64_t duration_ns;
};

struct profile {
	struct series latency;		/* from call to return, this process's clock */
	struct series driver;		/* timeInDriver of the HAL */
	struct series device;		/* on the device */
	struct series queue;		/* in the device's queue */
	struct work work;
	struct operation_time *operations;
	uint32_t num_operations;
	struct profile_event *events;	/* of a trace */
	size_t num_events;
	size_t event_room;
	uint64_t events_lost;
	uint32_t num_lanes;
};

int profile_init(struct profile *profile, uint32_t num_operations, struct error *err);
void profile_free(struct profile *profile);

/* 0, or -1 if there is no memory. @timing, @times and @work may be NULL: latency only. */
int profile_add(struct profile *profile, uint64_t latency_ns,
		const struct nnhal_timing *timing, const struct nnhal_ext_profile *times,
		const struct nnhal_ext_work *work, struct error *err);

/*
 * The same inference as events of a trace, to be called before profile_add(). @lane tells those
 * in flight at the same time apart; @start_ns counts from the first start. 0 or -1.
 */
int profile_add_events(struct profile *profile, uint32_t lane, uint64_t start_ns,
		       uint64_t latency_ns, const struct nnhal_ext_profile *times,
		       struct error *err);

#endif /* NNRUN_PROFILE_H */
