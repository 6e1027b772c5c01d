/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Properties of the device, the same on each bus. No header of the device model: who wires a
 * machine up is compiled without their folders.
 */
#ifndef HW_MISC_NNPU_PROPS_H
#define HW_MISC_NNPU_PROPS_H

#include "hw/qdev-properties.h"
#include "qemu/units.h"

typedef struct NnpuGlueProps {
	uint32_t queues;
	uint32_t engines;
	uint32_t threads;
	uint64_t memory;
	uint32_t vectors;
	uint32_t poll_us;
	uint32_t db_stride;
	uint32_t max_loads;
	bool slices;
	bool load_turns;
	bool inject;
	bool null_mode;
	bool examples;
	bool trace;
} NnpuGlueProps;

#define DEFINE_NNPU_PROPERTIES(state, props)					\
	DEFINE_PROP_UINT32("queues", state, props.queues, 64),			\
	DEFINE_PROP_UINT32("engines", state, props.engines, 1),			\
	DEFINE_PROP_UINT32("threads", state, props.threads, 1),			\
	DEFINE_PROP_SIZE("memory", state, props.memory, 1 * GiB),		\
	DEFINE_PROP_UINT32("vectors", state, props.vectors, 0),			\
	DEFINE_PROP_UINT32("poll-us", state, props.poll_us, 0),			\
	DEFINE_PROP_UINT32("db-stride", state, props.db_stride, 16),		\
	DEFINE_PROP_UINT32("max-loads", state, props.max_loads, 65536),	\
	DEFINE_PROP_BOOL("slices", state, props.slices, true),			\
	DEFINE_PROP_BOOL("load-turns", state, props.load_turns, true),		\
	DEFINE_PROP_BOOL("inject", state, props.inject, false),			\
	DEFINE_PROP_BOOL("null", state, props.null_mode, false),		\
	DEFINE_PROP_BOOL("examples", state, props.examples, false),		\
	DEFINE_PROP_BOOL("trace", state, props.trace, false)

#endif /* HW_MISC_NNPU_PROPS_H */
