// SPDX-License-Identifier: MIT
/*
 * The counter that bounds how long a waiter spins is calibrated right, even if the thread loses
 * its CPU between reading the counter and reading the clock, if reading the clock takes long, or if
 * the machine sleeps meanwhile.
 *
 * The clock of the library is wrapped: chosen calls take longer, before or after the clock is read.
 */
#include "base/monotonic.h"
#include "base/spin.h"
#include "nnhal_fixture.h"

/* Units of the counter in a microsecond are measured in so many windows. */
#define WINDOWS		7
#define WINDOW_NS	20000000
#define SPIN_US		100
#define TOLERANCE	1.2

/*
 * When the clock takes longer.
 *
 * @ns: how much longer
 * @period: one call in so many does not take longer
 * @turn: earlier calls wait before they read the clock, this and later ones afterwards
 * @sleeps: only the call @turn waits, and the clock stands still meanwhile
 */
struct delays {
	const char *what;
	uint64_t ns;
	unsigned int period;
	unsigned int turn;
	bool sleeps;
};

static struct delays delays;
static unsigned int calls;

uint64_t __wrap_monotonic_ns(void);
uint64_t __real_monotonic_ns(void);

static void wait_ns(uint64_t ns)
{
	uint64_t start = __real_monotonic_ns();

	while (__real_monotonic_ns() - start < ns)
		;
}

uint64_t __wrap_monotonic_ns(void)
{
	unsigned int call = calls++;
	bool late = delays.ns && (call + 1) % delays.period;
	uint64_t ns;

	if (delays.sleeps) {
		if (call == delays.turn)
			wait_ns(delays.ns);
		return __real_monotonic_ns() - (call >= delays.turn ? delays.ns : 0);
	}
	if (late && call < delays.turn)
		wait_ns(delays.ns);
	ns = __real_monotonic_ns();
	if (late && call >= delays.turn)
		wait_ns(delays.ns);
	return ns;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median, as this thread may lose its CPU, too. */
static double measure_per_us(void)
{
	double rates[WINDOWS];
	unsigned int i;

	for (i = 0; i < WINDOWS; i++) {
		uint64_t start = cycles(), start_ns = __real_monotonic_ns(), end, end_ns;

		wait_ns(WINDOW_NS);
		end = cycles();
		end_ns = __real_monotonic_ns();
		rates[i] = (double)(end - start) * 1000 / (double)(end_ns - start_ns);
	}
	qsort(rates, WINDOWS, sizeof(rates[0]), compare);
	return rates[WINDOWS / 2];
}

static void test_calibration(const struct delays *d, unsigned int first, double per_us)
{
	double low = per_us / TOLERANCE - 1, high = per_us * TOLERANCE + 1;
	struct spin spin;

	delays = *d;
	calls = first;
	spin_init(&spin, SPIN_US);
	ok(calls >= first + 2, "%s, from call %u: the library reads the clock through this test",
	   d->what, first);
	ok((double)spin.per_us > low && (double)spin.per_us < high,
	   "%s, from call %u: %llu units in a microsecond, it has %.1f", d->what, first,
	   (unsigned long long)spin.per_us, per_us);
	ok(spin.max == SPIN_US * spin.per_us && spin_limit(&spin) == spin.max,
	   "%s, from call %u: spins as long as the caller allows", d->what, first);
}

int main(void)
{
	/* Delays of two readings may cancel each other: each has several orders. */
	static const struct delays all[] = {
		{ .what = "no delay" },
		{ "the CPU is lost after the clock is read", 4000000, 3, 0, false },
		{ "the CPU is lost before the clock is read", 4000000, 3, UINT32_MAX, false },
		{ "a slow clock", 30000, UINT32_MAX, 10, false },
		{ "the machine sleeps", 4000000, UINT32_MAX, 10, true },
	};
	double per_us = measure_per_us();
	unsigned int i, first;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		for (first = 0; first < 10; first++)
			test_calibration(&all[i], first, per_us);
	return tap_done();
}
