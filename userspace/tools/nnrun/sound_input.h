/* SPDX-License-Identifier: MIT */
/*
 * Turning sound into tensor elements.
 */
#ifndef NNRUN_SOUND_INPUT_H
#define NNRUN_SOUND_INPUT_H

#include "image_input.h"
#include "media/sound.h"
#include "tensor.h"

/* Samples per second if nothing is said. */
#define SOUND_DEFAULT_RATE	16000u

enum sound_features {
	FEATURES_AUTO,		/* by the shape of the input */
	FEATURES_RAW,
	FEATURES_MFCC,
};

/**
 * struct sound_options - how sound becomes numbers
 * @rate: samples per second that the model takes
 * @features: what it takes
 */
struct sound_options {
	uint32_t rate;
	enum sound_features features;
};

/*
 * Write the sample that a sound gives: resampled, of the model's length; silence follows a
 * shorter one, a longer one is cut. With @scaling given, samples from -1 to 1 become
 * (sample - mean) / std_dev. @sample has t->bytes bytes. 0, or -1 with the error filled
 * in, also if the model can take no sound.
 */
int sound_to_sample(const struct sound *sound, const struct tensor *t,
		    const struct sound_options *options, const struct image_scaling *scaling,
		    void *sample, struct error *err);

#endif /* NNRUN_SOUND_INPUT_H */
