/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_COUNTER_H_
#define _NNPU_COUNTER_H_

#include <linux/mutex.h>
#include <linux/types.h>

/**
 * nnpu_counter_read - read a counter of 64 bits
 * @lock: the reader of a LO register holds it
 * @read: reads a register
 * @device: for @read
 * @lo: the LO register, which latches HI
 *
 * Another look at LO between the two reads would latch another HI. No number of looks tells that
 * apart for a counter that falls as well, such as MEM_USED. So one reads after the other.
 *
 * Return: a value that the counter had.
 */
static inline u64 nnpu_counter_read(struct mutex *lock, u32 (*read)(void *device, u32 reg),
				    void *device, u32 lo)
{
	u32 low, high;

	mutex_lock(lock);
	low = read(device, lo);
	high = read(device, lo + 4);
	mutex_unlock(lock);
	return (u64)high << 32 | low;
}

#define NNPU_COUNTER_TRIES	4

/**
 * nnpu_counter_read_timed - read a counter of 64 bits and the time
 * @lock: as for nnpu_counter_read(), like @read, @device and @lo
 * @read: reads a register
 * @device: for @read and @now
 * @lo: the LO register
 * @now: reads the time
 * @time: gets the time just before the counter was read
 *
 * The CPU may do something else between the two, for as long as it likes. So the shortest of a few
 * tries counts.
 *
 * Return: a value that the counter had.
 */
static inline u64 nnpu_counter_read_timed(struct mutex *lock, u32 (*read)(void *device, u32 reg),
					  void *device, u32 lo, u64 (*now)(void *device), u64 *time)
{
	u64 shortest = U64_MAX, value = 0;
	unsigned int i;

	for (i = 0; i < NNPU_COUNTER_TRIES; i++) {
		u64 before = now(device);
		u64 latest = nnpu_counter_read(lock, read, device, lo);
		u64 took = now(device) - before;

		if (took < shortest) {
			shortest = took;
			*time = before;
			value = latest;
		}
	}
	return value;
}

#endif /* _NNPU_COUNTER_H_ */
