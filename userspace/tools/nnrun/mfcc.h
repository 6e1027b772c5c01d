/* SPDX-License-Identifier: MIT */
/*
 * Mel-frequency cepstral coefficients, the features that models of keywords take.
 */
#ifndef NNRUN_MFCC_H
#define NNRUN_MFCC_H

#include <stddef.h>
#include <stdint.h>

#include "../common/error.h"
#include "media/sound.h"

#define MFCC_MAX_COEFFICIENTS	40u

/*
 * The coefficients of @frames windows of a sound, @coefficients of each, one window after the
 * other; silence follows the end of the sound. The parameters are those of the MLPerf Tiny
 * models: windows of 30 ms every 20 ms under a Hann window, the magnitudes of a Fourier
 * transform of the next power of two, 40 mel bands from 20 to 4000 Hz, natural logarithm of the
 * sum plus 1e-6, cosine transform II; the sound is divided by its largest sample before. 0, or
 * -1 with the error filled in.
 */
int mfcc_compute(const struct sound *sound, uint32_t frames, uint32_t coefficients, double *out,
		 struct error *err);

/* Samples that @frames windows cover at a sample rate. */
size_t mfcc_samples(uint32_t rate, uint32_t frames);

#endif /* NNRUN_MFCC_H */
