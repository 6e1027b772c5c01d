// SPDX-License-Identifier: MIT
/*
 * Turning sound into tensor elements.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "mfcc.h"
#include "sound_input.h"

/* The sizes of the first @max dimensions larger than 1; returns how many there are. */
static uint32_t wide_dims(const struct tensor *t, uint32_t *dims, uint32_t max)
{
	uint32_t count = 0;
	uint32_t i;

	for (i = 0; i < t->rank; i++) {
		if (t->dims[i] == 1)
			continue;
		if (count < max)
			dims[count] = t->dims[i];
		count++;
	}
	return count;
}

static void set_all(const struct tensor *t, const double *values, void *sample)
{
	size_t i;

	for (i = 0; i < t->elements; i++)
		tensor_set(t, sample, i, values[i]);
}

/* The samples themselves. Whole numbers without a scale are those of a 16-bit file. */
static void raw_samples(const struct sound *sound, const struct tensor *t,
		       const struct image_scaling *scaling, double *values)
{
	bool whole = t->scale == 0 && (t->type == NNHAL_OPERAND_TENSOR_QUANT16_SYMM ||
				       t->type == NNHAL_OPERAND_TENSOR_INT32);
	size_t i;

	for (i = 0; i < t->elements; i++) {
		double value = i < sound->count ? (double)sound->samples[i] : 0;

		if (scaling->given)
			value = (value - scaling->mean) / scaling->std_dev;
		else if (whole)
			value *= 32768;
		values[i] = value;
	}
}

int sound_to_sample(const struct sound *sound, const struct tensor *t,
		    const struct sound_options *options, const struct image_scaling *scaling,
		    void *sample, struct error *err)
{
	uint32_t dims[2] = { 1, 1 };
	uint32_t wide = wide_dims(t, dims, 2);
	struct sound resampled = { 0, 0, NULL };
	bool is_mfcc = options->features == FEATURES_MFCC;
	double *values;
	size_t needed;
	int ret;

	if (options->features == FEATURES_AUTO)
		is_mfcc = wide == 2 && dims[1] <= MFCC_MAX_COEFFICIENTS;
	if (is_mfcc && (wide != 2 || dims[1] > MFCC_MAX_COEFFICIENTS))
		return fail(err, "the model's input of shape %s takes no MFCC: needed are two "
			    "dimensions, windows and at most %u coefficients", TENSOR_SHAPE(t),
			    MFCC_MAX_COEFFICIENTS);
	if (!is_mfcc && wide > 1 && options->features == FEATURES_AUTO)
		return fail(err, "a sound is no input for this model: its input has the shape %s, "
			    "needed is one of samples, or of windows and at most %u coefficients",
			    TENSOR_SHAPE(t), MFCC_MAX_COEFFICIENTS);
	needed = is_mfcc ? mfcc_samples(options->rate, dims[0]) : t->elements;
	values = calloc(t->elements ? t->elements : 1, sizeof(*values));
	if (!values)
		return fail(err, "out of memory");
	ret = sound_resample(sound, options->rate, needed, &resampled, err);
	if (!ret && is_mfcc)
		ret = mfcc_compute(&resampled, dims[0], dims[1], values, err);
	else if (!ret)
		raw_samples(&resampled, t, scaling, values);
	if (!ret)
		set_all(t, values, sample);
	sound_free(&resampled);
	free(values);
	return ret;
}
