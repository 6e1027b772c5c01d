// SPDX-License-Identifier: MIT
/*
 * How long to spin on a completion ring before sleeping, learned from earlier waits.
 */
#include "base/base.h"
#include "base/monotonic.h"
#include "base/spin.h"

/* Default: for longer waits the cost of a sleep matters little. */
#define SPIN_DEFAULT_US	250
/* Upper limit for callers. */
#define SPIN_MOST_US	100000

void spin_init(struct spin *spin, uint32_t spin_us, uint64_t start, uint64_t start_ns)
{
	uint64_t now;

	/* Long enough for an accurate quotient. */
	do {
		now = monotonic_ns();
	} while (now - start_ns < 20000);
	spin->per_us = (cycles() - start) * 1000 / (now - start_ns);
	if (!spin->per_us)
		spin->per_us = 1;
	if (spin_us == UINT32_MAX)
		spin_us = SPIN_DEFAULT_US;
	else if (spin_us > SPIN_MOST_US)
		spin_us = SPIN_MOST_US;
	spin->max = spin_us * spin->per_us;
	atomic_init(&spin->sleep_cost, spin->max / 4);
	atomic_init(&spin->num_long, 0);
	atomic_init(&spin->average, spin->max / 4);
	atomic_init(&spin->limit, spin->max);
	spin->num_short = 0;
}

uint64_t spin_forget(struct spin *spin, uint64_t average)
{
	uint32_t count = spin->num_short;

	spin->num_short = 0;
	/* A wait that was seen at once: average - average / 8. After so many there is nothing left. */
	for (; count && average; count--)
		average = count < 256 ? average - (average + 7) / 8 : 0;
	return average;
}

/*
 * The sleep includes time that the device needed anyway. A moving average within limits is
 * a good enough estimate of the cost of a sleep.
 */
void spin_learn_sleep(struct spin *spin, uint64_t slept)
{
	uint64_t cost = atomic_load_explicit(&spin->sleep_cost, memory_order_relaxed);
	uint64_t most = spin->max / 2;

	spin_learn(spin, spin_limit(spin) + (slept > cost ? slept - cost : 0), false);
	cost += (uint64_t)((int64_t)((slept < most ? slept : most) - cost) / 8);
	atomic_store_explicit(&spin->sleep_cost, cost, memory_order_relaxed);
}

uint64_t spin_limit_until(const struct spin *spin, uint64_t until_ns)
{
	uint64_t now = monotonic_ns(), left;

	left = until_ns > now ? (until_ns - now) / 1000 * spin->per_us : 0;
	return left < spin_limit(spin) ? left : spin_limit(spin);
}
