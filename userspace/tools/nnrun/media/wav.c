// SPDX-License-Identifier: MIT
/*
 * WAV files: a RIFF container of chunks, of which "fmt " and "data" count.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sound.h"

#define FORMAT_PCM		1
#define FORMAT_FLOAT		3
#define FORMAT_EXTENSIBLE	0xfffe

/* A program that writes to a pipe does not know the size of what follows. */
#define SIZE_UNKNOWN	UINT32_MAX

struct wav_format {
	uint32_t format;
	uint32_t channels;
	uint32_t rate;
	uint32_t bits;
};

static uint32_t get16(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8;
}

static uint32_t get32(const uint8_t *p)
{
	return get16(p) | get16(p + 2) << 16;
}

static void put16(uint8_t *p, uint32_t value)
{
	p[0] = (uint8_t)value;
	p[1] = (uint8_t)(value >> 8);
}

static void put32(uint8_t *p, uint32_t value)
{
	put16(p, value & 0xffff);
	put16(p + 2, value >> 16);
}

bool wav_probe(const uint8_t *data, size_t size)
{
	return size >= 12 && memcmp(data, "RIFF", 4) == 0 && memcmp(data + 8, "WAVE", 4) == 0;
}

static int parse_format(const uint8_t *p, uint32_t size, size_t at, struct wav_format *f,
			struct error *err)
{
	if (size < 16)
		return fail(err, "WAV file: format of %" PRIu32 " bytes at offset %zu, expected "
			    "at least 16", size, at);
	f->format = get16(p);
	f->channels = get16(p + 2);
	f->rate = get32(p + 4);
	f->bits = get16(p + 14);
	/* The extended form has the old number at the head of a GUID. */
	if (f->format == FORMAT_EXTENSIBLE && size >= 26)
		f->format = get16(p + 24);
	if (f->channels == 0 || f->channels > SOUND_MAX_CHANNELS)
		return fail(err, "WAV file: %" PRIu32 " channels at offset %zu, expected 1 to %u",
			    f->channels, at, SOUND_MAX_CHANNELS);
	if (f->rate < SOUND_MIN_RATE || f->rate > SOUND_MAX_RATE)
		return fail(err, "WAV file: %" PRIu32 " samples per second at offset %zu, "
			    "expected %u to %u", f->rate, at, SOUND_MIN_RATE, SOUND_MAX_RATE);
	if (f->format == FORMAT_PCM &&
	    (f->bits == 8 || f->bits == 16 || f->bits == 24 || f->bits == 32))
		return 0;
	if (f->format == FORMAT_FLOAT && (f->bits == 32 || f->bits == 64))
		return 0;
	return fail(err, "WAV file: format %" PRIu32 " with %" PRIu32 " bits at offset %zu is not "
		    "supported, only PCM of 8, 16, 24, 32 bits and float of 32, 64", f->format,
		    f->bits, at);
}

/* One sample as a number from -1 to 1; not-a-number is silence. */
static double get_sample(const struct wav_format *f, const uint8_t *p)
{
	double wide;
	float narrow;

	if (f->format == FORMAT_PCM) {
		switch (f->bits) {
		case 8:
			return (p[0] - 128) / 128.0;
		case 16:
			return (int16_t)get16(p) / 32768.0;
		case 24:
			/* In the upper bytes, so that the sign is where it belongs. */
			return (int32_t)(get16(p) << 8 | (uint32_t)p[2] << 24) / 2147483648.0;
		default:
			return (int32_t)get32(p) / 2147483648.0;
		}
	}
	if (f->bits == 64) {
		memcpy(&wide, p, sizeof(wide));
	} else {
		memcpy(&narrow, p, sizeof(narrow));
		wide = (double)narrow;
	}
	if (isnan(wide))
		return 0;
	return fmin(fmax(wide, -1), 1);
}

static int decode_data(const uint8_t *p, size_t size, size_t at, const struct wav_format *f,
		       struct sound *sound, struct error *err)
{
	size_t bytes = f->bits / 8;
	size_t frame = bytes * f->channels;
	size_t i, c;

	if (size % frame != 0)
		return fail(err, "WAV file: %zu bytes of data at offset %zu, expected a multiple "
			    "of %zu", size, at, frame);
	if (size / frame > SOUND_MAX_SAMPLES)
		return fail(err, "WAV file: %zu samples at offset %zu, at most %zu are supported",
			    size / frame, at, SOUND_MAX_SAMPLES);
	sound->rate = f->rate;
	sound->count = size / frame;
	sound->samples = malloc((sound->count ? sound->count : 1) * sizeof(*sound->samples));
	if (!sound->samples)
		return fail(err, "out of memory");
	for (i = 0; i < sound->count; i++) {
		double sum = 0;

		for (c = 0; c < f->channels; c++)
			sum += get_sample(f, p + i * frame + c * bytes);
		sound->samples[i] = (float)(sum / f->channels);
	}
	return 0;
}

int wav_decode(const uint8_t *data, size_t size, struct sound *sound, struct error *err)
{
	struct wav_format format = { 0, 0, 0, 0 };
	size_t at = 12;

	*sound = (struct sound){ 0, 0, NULL };
	if (!wav_probe(data, size))
		return fail(err, "not a WAV file");
	while (size - at >= 8) {
		const uint8_t *chunk = data + at;
		uint32_t length = get32(chunk + 4);
		bool is_data = memcmp(chunk, "data", 4) == 0;
		size_t room = size - at - 8;

		if (is_data && length == SIZE_UNKNOWN)
			length = room < SIZE_UNKNOWN ? (uint32_t)room : SIZE_UNKNOWN;
		if (length > room)
			return fail(err, "WAV file: the chunk at offset %zu has %" PRIu32
				    " bytes, the file only %zu more", at, length, room);
		if (memcmp(chunk, "fmt ", 4) == 0 &&
		    parse_format(chunk + 8, length, at + 8, &format, err))
			return -1;
		if (is_data && format.channels == 0)
			return fail(err, "WAV file: data at offset %zu before the format", at);
		if (is_data)
			return decode_data(chunk + 8, length, at + 8, &format, sound, err);
		/* Chunks start at even offsets. The last one may lack the padding. */
		at += 8 + (size_t)length;
		if (length % 2 && at < size)
			at++;
	}
	return fail(err, "WAV file: no data before its end at offset %zu", size);
}

void wav_write_header(uint8_t *header, uint32_t rate, uint32_t count)
{
	memset(header, 0, WAV_HEADER_SIZE);
	memcpy(header, "RIFF", 4);
	put32(header + 4, WAV_HEADER_SIZE - 8 + 2 * count);
	memcpy(header + 8, "WAVEfmt ", 8);
	put32(header + 16, 16);
	put16(header + 20, FORMAT_PCM);
	put16(header + 22, 1);
	put32(header + 24, rate);
	put32(header + 28, 2 * rate);
	put16(header + 32, 2);
	put16(header + 34, 16);
	memcpy(header + 36, "data", 4);
	put32(header + 40, 2 * count);
}

void sound_free(struct sound *sound)
{
	free(sound->samples);
	sound->samples = NULL;
}
