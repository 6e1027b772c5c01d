// SPDX-License-Identifier: GPL-2.0-only
/* Counters of 64 bits that move while several read them, and the time that belongs to a value. */
#include <kunit/test.h>

#include "../nnpu_counter.h"

#define REG_LO		0x58

/* A device whose LO latches HI. After each read of a register the counter moves on. */
struct counter_device {
	struct mutex lock;	/* see nnpu_counter_read() */
	const u64 *values;
	unsigned int next, num_values;
	u32 latched;
	bool others;
};

static u32 counter_latch(struct counter_device *device)
{
	u64 value = device->values[device->next];

	if (device->next + 1 < device->num_values)
		device->next++;
	device->latched = value >> 32;
	return value;
}

static u32 counter_device_read(void *data, u32 reg)
{
	struct counter_device *device = data;
	u32 value;

	value = reg == REG_LO ? counter_latch(device) : device->latched;
	/* Another thread looks at the counter, as soon as it may. */
	if (device->others && mutex_trylock(&device->lock)) {
		counter_latch(device);
		mutex_unlock(&device->lock);
	}
	return value;
}

static void counter_test_run(struct kunit *test, const u64 *values, unsigned int num_values,
			     bool others)
{
	struct counter_device device = {
		.values = values, .num_values = num_values, .others = others,
	};
	unsigned int i;
	u64 value;

	mutex_init(&device.lock);
	value = nnpu_counter_read(&device.lock, counter_device_read, &device, REG_LO);
	for (i = 0; i < num_values && values[i] != value; i++)
		;
	KUNIT_EXPECT_LT_MSG(test, i, num_values, "%#llx is no value that it had", value);
	KUNIT_EXPECT_FALSE(test, mutex_is_locked(&device.lock));
	mutex_destroy(&device.lock);
}

/* Over the end of LO, in each direction, and back again. */
static void counter_test_moves(struct kunit *test)
{
	static const u64 rises[] = { 0xffffff00, 0x100000010, 0x100000020 };
	static const u64 falls[] = { 0x100000010, 0xffffff00, 0xfffffe00, 0xfffffd00 };
	static const u64 both[] = { 0x100000010, 0xffffff00, 0x100000020, 0xffffff10 };
	unsigned int others;

	for (others = 0; others < 2; others++) {
		counter_test_run(test, rises, ARRAY_SIZE(rises), others);
		counter_test_run(test, falls, ARRAY_SIZE(falls), others);
		counter_test_run(test, both, ARRAY_SIZE(both), others);
	}
}

#define STALL		1000
/* Accesses of one try: the time, LO, HI, the time. */
#define ACCESSES	4

/*
 * A device whose counter is the time. Each access takes 1, those in @stalls take STALL more, before
 * or after the look at the time.
 */
struct counter_clock {
	struct mutex lock;	/* see nnpu_counter_read() */
	u64 time;
	u64 latched;
	unsigned int accesses;
	unsigned long stalls;
	bool after;
};

static u64 counter_clock_now(void *data)
{
	struct counter_clock *clock = data;
	u64 stall = clock->stalls & BIT(clock->accesses++) ? STALL : 0, time;

	time = clock->time += clock->after ? 1 : 1 + stall;
	if (clock->after)
		clock->time += stall;
	return time;
}

static u32 counter_clock_read(void *data, u32 reg)
{
	struct counter_clock *clock = data;
	u64 now = counter_clock_now(data);

	if (reg == REG_LO)
		clock->latched = now;
	return reg == REG_LO ? clock->latched : clock->latched >> 32;
}

/* All tries but @good are stalled at one access. */
static void counter_test_stalls(struct kunit *test, unsigned int good, unsigned int access,
				bool after)
{
	struct counter_clock clock = { .time = U32_MAX - 8, .after = after };
	u64 time, value;
	unsigned int i;

	for (i = 0; i < NNPU_COUNTER_TRIES; i++)
		if (i != good)
			clock.stalls |= BIT(i * ACCESSES + access);
	mutex_init(&clock.lock);
	value = nnpu_counter_read_timed(&clock.lock, counter_clock_read, &clock, REG_LO,
					counter_clock_now, &time);
	KUNIT_EXPECT_EQ(test, value, time + 1);
	KUNIT_EXPECT_EQ(test, clock.accesses, NNPU_COUNTER_TRIES * ACCESSES);
	mutex_destroy(&clock.lock);
}

static void counter_test_timed(struct kunit *test)
{
	unsigned int good, access;

	for (good = 0; good < NNPU_COUNTER_TRIES; good++) {
		for (access = 0; access < ACCESSES; access++) {
			counter_test_stalls(test, good, access, false);
			counter_test_stalls(test, good, access, true);
		}
	}
}

static struct kunit_case counter_test_cases[] = {
	KUNIT_CASE(counter_test_moves),
	KUNIT_CASE(counter_test_timed),
	{ }
};

static struct kunit_suite counter_test_suite = {
	.name = "nnpu_counter",
	.test_cases = counter_test_cases,
};

kunit_test_suite(counter_test_suite);
