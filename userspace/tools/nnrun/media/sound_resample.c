// SPDX-License-Identifier: MIT
/*
 * Changing the sample rate: each new sample is a weighted sum of old ones around its place. The
 * weights are a sinc that passes what both rates can hold, under a Hann window.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sound.h"

/* Zeros of the sinc at each side. */
#define ZEROS	24

static double weight(double x)
{
	if (fabs(x) >= ZEROS)
		return 0;
	if (x == 0)
		return 1;
	return sin(M_PI * x) / (M_PI * x) * (0.5 + 0.5 * cos(M_PI * x / ZEROS));
}

/* The value at @place, in samples of @sound; @pass is the part of its band that is kept. */
static float value_at(const struct sound *sound, double place, double pass)
{
	double reach = ZEROS / pass;
	double first = ceil(place - reach);
	double last = floor(place + reach);
	double sum = 0;
	size_t i;

	first = first < 0 ? 0 : first;
	last = last > (double)sound->count - 1 ? (double)sound->count - 1 : last;
	for (i = (size_t)first; (double)i <= last; i++)
		sum += weight(((double)i - place) * pass) * (double)sound->samples[i];
	/* Silence lies beyond both ends. */
	return (float)(sum * pass);
}

int sound_resample(const struct sound *sound, uint32_t rate, size_t max_count,
		   struct sound *resampled, struct error *err)
{
	double step = (double)sound->rate / rate;
	double pass = step > 1 ? 1 / step : 1;
	double count = ceil((double)sound->count / step);
	size_t i;

	*resampled = (struct sound){ .rate = rate };
	resampled->count = count < (double)max_count ? (size_t)count : max_count;
	resampled->samples = malloc((resampled->count ? resampled->count : 1) *
				    sizeof(*resampled->samples));
	if (!resampled->samples)
		return fail(err, "out of memory");
	if (sound->rate == rate) {
		memcpy(resampled->samples, sound->samples,
		       resampled->count * sizeof(*resampled->samples));
		return 0;
	}
	for (i = 0; i < resampled->count; i++)
		resampled->samples[i] = value_at(sound, (double)i * step, pass);
	return 0;
}
