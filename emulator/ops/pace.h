/* SPDX-License-Identifier: MIT */
/*
 * Counting work between two points.
 */
#ifndef NNPU_EMU_PACE_H
#define NNPU_EMU_PACE_H

#include "op.h"

/*
 * Counts work so that op_progress() is called about four times per millisecond;
 * a unit is about a nanosecond. So a millisecond is not exceeded on a slower CPU, or
 * where a unit is more.
 */
struct op_pace {
	struct job_progress *progress;
	uint32_t work;
	bool ended;			/* stays true: an outer loop may check it */
};

#define OP_PACE_UNITS		(1u << 18)

/* Elements of a long row between two looks at op_pace(). */
#define OP_PACE_RUN		(1u << 14)

/* Taps of a wide window between two looks, of up to 64 channels each. */
#define OP_PACE_TAPS	(1u << 11)

/* Returns true when the job is to end. */
static inline bool op_pace(struct op_pace *p, size_t units)
{
	if (units < OP_PACE_UNITS - p->work) {
		p->work += (uint32_t)units;
		return p->ended;
	}
	p->work = 0;
	if (p->progress && op_progress(p->progress))
		p->ended = true;
	return p->ended;
}

/* The same after element @i of a row whose elements take @units each. */
static inline bool op_pace_row(struct op_pace *p, size_t i, size_t units)
{
	return i % OP_PACE_RUN == OP_PACE_RUN - 1 && op_pace(p, OP_PACE_RUN * units);
}

/* The same after tap @i of a row of a window. */
static inline bool op_pace_tap(struct op_pace *p, size_t i, size_t units)
{
	return i % OP_PACE_TAPS == OP_PACE_TAPS - 1 && op_pace(p, OP_PACE_TAPS * units);
}

#endif /* NNPU_EMU_PACE_H */
