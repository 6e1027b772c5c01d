/* SPDX-License-Identifier: MIT */
/*
 * Sound: reading and writing WAV files, changing the sample rate.
 */
#ifndef NNRUN_SOUND_H
#define NNRUN_SOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../common/error.h"

#define SOUND_MIN_RATE		100u
#define SOUND_MAX_RATE		768000u
#define SOUND_MAX_CHANNELS	64u
/* Longer files are refused before memory is asked for. */
#define SOUND_MAX_SAMPLES	((size_t)1 << 28)

/* Bytes of the header that wav_write_header() makes. */
#define WAV_HEADER_SIZE	44

/* One channel, samples from -1 to 1. */
struct sound {
	uint32_t rate;
	size_t count;
	float *samples;
};

/* Do these bytes start a WAV file? */
bool wav_probe(const uint8_t *data, size_t size);

/*
 * Decode a whole file: PCM of 8, 16, 24 or 32 bits, or float of 32 or 64; several channels
 * become one, their mean. 0, or -1 with the error filled in. sound_free() also after an error.
 */
int wav_decode(const uint8_t *data, size_t size, struct sound *sound, struct error *err);

/* The header of a WAV file with one channel of 16 bits; @count samples follow. */
void wav_write_header(uint8_t *header, uint32_t rate, uint32_t count);

/*
 * Change the sample rate, by a windowed sinc; the result has at most @max_count samples. 0 or
 * -1.
 */
int sound_resample(const struct sound *sound, uint32_t rate, size_t max_count,
		   struct sound *resampled, struct error *err);

void sound_free(struct sound *sound);

#endif /* NNRUN_SOUND_H */
