// SPDX-License-Identifier: MIT
/*
 * Fuzzing the readers of pictures, sounds and arrays of nnrun.
 *
 * Whatever the bytes are: no fault, no leak, a text with every refusal, and what is taken can be
 * used: pictures are resized, sounds become features, arrays are unpacked.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "userspace/tools/nnrun/media/image.h"
#include "userspace/tools/nnrun/media/npy.h"
#include "userspace/tools/nnrun/media/npz.h"
#include "userspace/tools/nnrun/media/sound.h"
#include "userspace/tools/nnrun/mfcc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static void try_image(const uint8_t *data, size_t size)
{
	struct error err = { "", 0 };
	struct image image, small;

	if (image_decode(data, size, &image, &err)) {
		check(err.text[0], "picture: refused without a reason");
	} else if ((uint64_t)image.width * image.height < 1 << 20) {
		check(!image_resize(&image, 16, 16, &small, &err), "picture: cannot be resized");
		image_free(&small);
	}
	image_free(&image);
}

static void try_sound(const uint8_t *data, size_t size)
{
	struct sound sound, resampled = { 0, 0, NULL };
	struct error err = { "", 0 };
	double features[40];

	if (wav_decode(data, size, &sound, &err)) {
		check(err.text[0], "sound: refused without a reason");
	} else {
		check(!sound_resample(&sound, 16000, 200, &resampled, &err) &&
		      !mfcc_compute(&resampled, 4, 10, features, &err), "sound: cannot be used");
	}
	sound_free(&resampled);
	sound_free(&sound);
}

static void try_archive(const uint8_t *data, size_t size)
{
	struct npz_array *arrays = NULL;
	struct error err = { "", 0 };
	size_t count = 0, i;

	if (npz_list(data, size, &arrays, &count, &err)) {
		check(err.text[0], "archive: refused without a reason");
		return;
	}
	for (i = 0; i < count && i < 8; i++) {
		uint8_t *bytes = NULL;
		struct npy npy;

		if (arrays[i].size > 1 << 24)
			continue;
		err.text[0] = '\0';
		if (npz_extract(data, size, &arrays[i], &bytes, &err))
			check(err.text[0], "array: refused without a reason");
		else if (npy_parse(bytes, arrays[i].size, &npy, &err))
			check(err.text[0], "header: refused without a reason");
		free(bytes);
	}
	free(arrays);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = { "", 0 };
	struct npy npy;

	if (npy_probe(data, size))
		check(!npy_parse(data, size, &npy, &err) || err.text[0],
		      "array: refused without a reason");
	else if (npz_probe(data, size))
		try_archive(data, size);
	else if (wav_probe(data, size))
		try_sound(data, size);
	else
		try_image(data, size);
	return 0;
}
