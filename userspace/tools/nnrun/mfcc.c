// SPDX-License-Identifier: MIT
/*
 * Mel-frequency cepstral coefficients.
 */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mfcc.h"

#define BANDS		40
#define LOW_HZ		20.0
#define HIGH_HZ		4000.0
#define LOG_OFFSET	1e-6

struct front_end {
	complex double *roots;
	complex double *spectrum;
	size_t window;			/* samples */
	size_t stride;
	size_t size;			/* of the Fourier transform, a power of two */
	size_t bins;			/* of the spectrum, size / 2 + 1 */
	double *hann;
	double *mel_of_bin;
	double edges[BANDS + 2];	/* of the bands, mel */
};

static double mel(double hz)
{
	return 1127 * log1p(hz / 700);
}

static size_t window_samples(uint32_t rate)
{
	return (size_t)rate * 30 / 1000;
}

static size_t stride_samples(uint32_t rate)
{
	return (size_t)rate * 20 / 1000;
}

size_t mfcc_samples(uint32_t rate, uint32_t frames)
{
	return window_samples(rate) + (frames - 1) * stride_samples(rate);
}

static void front_end_free(struct front_end *fe)
{
	free(fe->hann);
	free(fe->mel_of_bin);
	free(fe->roots);
	free(fe->spectrum);
}

static int front_end_init(struct front_end *fe, uint32_t rate, struct error *err)
{
	size_t i;

	memset(fe, 0, sizeof(*fe));
	fe->window = window_samples(rate);
	fe->stride = stride_samples(rate);
	for (fe->size = 1; fe->size < fe->window; )
		fe->size *= 2;
	fe->bins = fe->size / 2 + 1;
	fe->hann = malloc(fe->window * sizeof(*fe->hann));
	fe->mel_of_bin = malloc(fe->bins * sizeof(*fe->mel_of_bin));
	fe->roots = malloc(fe->size * sizeof(*fe->roots));
	fe->spectrum = malloc(fe->size * sizeof(*fe->spectrum));
	if (!fe->hann || !fe->mel_of_bin || !fe->roots || !fe->spectrum)
		return fail(err, "out of memory");
	for (i = 0; i < fe->window; i++)
		fe->hann[i] = 0.5 - 0.5 * cos(2 * M_PI * (double)i / (double)fe->window);
	for (i = 0; i < fe->size; i++)
		fe->roots[i] = cexp(-2 * M_PI * I * (double)i / (double)fe->size);
	for (i = 0; i < fe->bins; i++)
		fe->mel_of_bin[i] = mel((double)i * rate / (double)fe->size);
	for (i = 0; i < BANDS + 2; i++)
		fe->edges[i] = mel(LOW_HZ) +
			       (double)i * (mel(HIGH_HZ) - mel(LOW_HZ)) / (BANDS + 1);
	return 0;
}

/* In place; the values come in bit-reversed order first. */
static void fourier(const struct front_end *fe, double complex *x)
{
	size_t i, j = 0, half, k;

	for (i = 1; i < fe->size; i++) {
		size_t bit = fe->size / 2;

		for (; j & bit; bit /= 2)
			j ^= bit;
		j |= bit;
		if (i < j) {
			double complex swap = x[i];

			x[i] = x[j];
			x[j] = swap;
		}
	}
	for (half = 1; half < fe->size; half *= 2) {
		for (i = 0; i < fe->size; i += 2 * half) {
			for (k = 0; k < half; k++) {
				double complex a = x[i + k];
				double complex b = x[i + k + half] *
						   fe->roots[k * (fe->size / 2 / half)];

				x[i + k] = a + b;
				x[i + k + half] = a - b;
			}
		}
	}
}

/* The logarithm of what each band holds; a band is a triangle over the mel scale. */
static void bands_of_spectrum(const struct front_end *fe, double *bands)
{
	size_t bin, band;

	memset(bands, 0, BANDS * sizeof(*bands));
	/* Bin 0 is the mean, which no band has. */
	for (bin = 1; bin < fe->bins; bin++) {
		double magnitude = cabs(fe->spectrum[bin]);
		double place = fe->mel_of_bin[bin];

		for (band = 0; band < BANDS; band++) {
			double up = (place - fe->edges[band]) /
				    (fe->edges[band + 1] - fe->edges[band]);
			double down = (fe->edges[band + 2] - place) /
				      (fe->edges[band + 2] - fe->edges[band + 1]);

			bands[band] += magnitude * fmax(0, fmin(up, down));
		}
	}
	for (band = 0; band < BANDS; band++)
		bands[band] = log(bands[band] + LOG_OFFSET);
}

static void cosine_transform(const double *bands, uint32_t coefficients, double *out)
{
	uint32_t c, band;

	for (c = 0; c < coefficients; c++) {
		double sum = 0;

		for (band = 0; band < BANDS; band++)
			sum += bands[band] * cos(M_PI * c * (band + 0.5) / BANDS);
		out[c] = sum * sqrt(2.0 / BANDS);
	}
}

int mfcc_compute(const struct sound *sound, uint32_t frames, uint32_t coefficients, double *out,
		 struct error *err)
{
	double largest = 0, bands[BANDS];
	struct front_end fe;
	size_t i, frame;
	int ret;

	ret = front_end_init(&fe, sound->rate, err);
	for (i = 0; i < sound->count; i++)
		largest = fmax(largest, (double)sound->samples[i]);
	/* Silence stays silence. */
	if (largest == 0)
		largest = 1;
	for (frame = 0; frame < frames && !ret; frame++) {
		memset(fe.spectrum, 0, fe.size * sizeof(*fe.spectrum));
		for (i = 0; i < fe.window && frame * fe.stride + i < sound->count; i++) {
			double sample = (double)sound->samples[frame * fe.stride + i] / largest;

			fe.spectrum[i] = fe.hann[i] * fmin(fmax(sample, -1), 1);
		}
		fourier(&fe, fe.spectrum);
		bands_of_spectrum(&fe, bands);
		cosine_transform(bands, coefficients, out + frame * coefficients);
	}
	front_end_free(&fe);
	return ret;
}
