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
/* Calibration: a window of time, and how long to look for two that agree. */
#define WINDOW_NS	10000
#define CALIBRATE_NS	50000000
#define CLOCK_TRIES	5
/* No counter is faster. */
#define MOST_PER_US	10000

/* What the counter and the clock said at the same time. */
struct clocks {
	uint64_t cycles;
	uint64_t ns;
};

/* A thread that loses its CPU between the two takes long: the shortest of a few tries counts. */
static struct clocks read_clocks(void)
{
	uint64_t shortest = UINT64_MAX;
	struct clocks clocks = { 0 };
	unsigned int i;

	for (i = 0; i < CLOCK_TRIES; i++) {
		uint64_t before = cycles(), ns = monotonic_ns(), took = cycles() - before;

		if (took < shortest) {
			shortest = took;
			clocks.cycles = before + took / 2;
			clocks.ns = ns;
		}
	}
	return clocks;
}

static struct clocks read_clocks_after(const struct clocks *begin)
{
	struct clocks end;

	do {
		end = read_clocks();
	} while (end.ns - begin->ns < WINDOW_NS);
	return end;
}

static uint64_t per_ms(const struct clocks *begin, const struct clocks *end)
{
	return (end->cycles - begin->cycles) * 1000000 / (end->ns - begin->ns);
}

static bool agree(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) <= a / 16;
}

/*
 * Units of the counter in a microsecond. Two windows disagree if the reading between them is wrong,
 * or if the counter jumped because the machine slept or the CPU is another one.
 */
static uint64_t measure_per_us(void)
{
	struct clocks a = read_clocks(), b = read_clocks_after(&a), c = read_clocks_after(&b);
	uint64_t until_ns = a.ns + CALIBRATE_NS, rate;

	while (!agree(per_ms(&a, &b), per_ms(&b, &c)) && c.ns < until_ns) {
		a = b;
		b = c;
		c = read_clocks_after(&b);
	}
	rate = (per_ms(&a, &c) + 500) / 1000;
	if (!rate)
		return 1;
	return rate < MOST_PER_US ? rate : MOST_PER_US;
}

void spin_init(struct spin *spin, uint32_t spin_us)
{
	spin->per_us = measure_per_us();
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
