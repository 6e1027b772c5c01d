// SPDX-License-Identifier: GPL-2.0-only
/* Counters of 64 bits that move while several read them. */
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
	/* Somebody else looks at the counter, as soon as he may. */
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

static struct kunit_case counter_test_cases[] = {
	KUNIT_CASE(counter_test_moves),
	{ }
};

static struct kunit_suite counter_test_suite = {
	.name = "nnpu_counter",
	.test_cases = counter_test_cases,
};

kunit_test_suite(counter_test_suite);
