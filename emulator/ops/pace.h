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

/*
 * Elements that lie at least a line of the cache apart. Each may be a miss of the caches, from a page on
 * of the TLB, too, and takes several hundred nanoseconds then. So there is a point after so many.
 */
#define OP_PACE_FAR	(1u << 8)
#define OP_PACE_LINE	64u

/*
 * What a run of elements counts for beside these. It may have few of them, in a page of its own.
 */
#define OP_PACE_RUN_APART	128u

/* As op_pace_row(), for elements that are @bytes apart. */
static inline bool op_pace_strided(struct op_pace *p, size_t i, size_t bytes, size_t units)
{
	if (bytes < OP_PACE_LINE)
		return op_pace_row(p, i, units);
	return i % OP_PACE_FAR == OP_PACE_FAR - 1 && op_pace(p, OP_PACE_UNITS);
}

/* What op_pace_strided() has left uncounted of a row of @n elements, at its end. */
static inline size_t op_pace_rest(size_t n, size_t bytes, size_t units)
{
	if (bytes < OP_PACE_LINE)
		return n % OP_PACE_RUN * units;
	return n % OP_PACE_FAR * (OP_PACE_UNITS / OP_PACE_FAR);
}

/*
 * As op_pace_tap(), after tap @i of fewer than OP_PACE_FAR channels that are @bytes apart: those of planes are
 * misses all.
 */
static inline bool op_pace_channels(struct op_pace *p, size_t i, size_t n, size_t bytes,
				    size_t units)
{
	if (bytes < OP_PACE_LINE)
		return op_pace_tap(p, i, units);
	return op_pace(p, op_pace_rest(n, bytes, 0));
}

#endif /* NNPU_EMU_PACE_H */
