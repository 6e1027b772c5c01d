/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_COUNTER_H_
#define _NNPU_COUNTER_H_

#include <linux/mutex.h>
#include <linux/types.h>

/**
 * nnpu_counter_read - read a counter of 64 bits
 * @lock: whoever reads a LO register holds it
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

#endif /* _NNPU_COUNTER_H_ */
