// SPDX-License-Identifier: MIT
/*
 * Where the samples of a model's input come from.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nnhal/nnhal.h>

#include "../common/file.h"
#include "input.h"
#include "media/npy.h"
#include "media/npz.h"

/* Largest .npy, .npz, image or sound file; raw tensors are not held in memory. */
#define MAX_FILE	((size_t)2 << 30)

static bool npy_type_fits(const char *descr, uint32_t type)
{
	switch (type) {
	case NNHAL_OPERAND_TENSOR_FLOAT32:
		return strcmp(descr + 1, "f4") == 0;
	case NNHAL_OPERAND_TENSOR_FLOAT16:
		return strcmp(descr + 1, "f2") == 0;
	case NNHAL_OPERAND_TENSOR_INT32:
		return strcmp(descr + 1, "i4") == 0;
	case NNHAL_OPERAND_TENSOR_QUANT16_SYMM:
		return strcmp(descr + 1, "i2") == 0;
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM:
		return strcmp(descr + 1, "u1") == 0;
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED:
		return strcmp(descr + 1, "i1") == 0;
	case NNHAL_OPERAND_TENSOR_BOOL8:
		return strcmp(descr + 1, "b1") == 0;
	case TENSOR_INT64:
		return strcmp(descr + 1, "i8") == 0;
	case TENSOR_FLOAT64:
		return strcmp(descr + 1, "f8") == 0;
	case TENSOR_UINT64:
		return strcmp(descr + 1, "u8") == 0;
	case TENSOR_UINT32:
		return strcmp(descr + 1, "u4") == 0;
	case TENSOR_UINT16:
		return strcmp(descr + 1, "u2") == 0;
	default:
		return false;
	}
}

/* Do the last @io->rank - @skip dimensions of the file equal the input's? */
static bool tail_fits(const struct npy *npy, const struct tensor *io, uint32_t skip)
{
	uint32_t count = io->rank - skip;
	uint32_t i;

	if (npy->rank < count)
		return false;
	for (i = 0; i < count; i++)
		if (npy->dims[npy->rank - count + i] != io->dims[skip + i])
			return false;
	return true;
}

/* One sample of the input's shape, or several along a first or the batch dimension. */
static bool npy_shape_fits(const struct npy *npy, const struct tensor *io)
{
	if (npy->rank == io->rank || npy->rank == io->rank + 1)
		if (tail_fits(npy, io, 0))
			return true;
	return io->dims[0] == 1 && npy->rank == io->rank && tail_fits(npy, io, 1);
}

static int use_npy(struct input *input, uint8_t *data, size_t size, struct error *err)
{
	const struct tensor *io = input->io;
	struct error why = { "", 0 };
	struct npy npy;

	input->data = data;
	if (npy_parse(data, size, &npy, &why))
		return fail(err, "%s: %s", input->name, why.text);
	if (!npy_type_fits(npy.descr, io->type))
		return fail(err, "%s: elements of type '%s', the model's %s is %s", input->name,
			    npy.descr, input->role, nnhal_operand_type_name(io->type));
	if (!npy_shape_fits(&npy, io))
		return fail(err, "%s: the array's shape is not that of the model's %s, %s, nor "
			    "of several such samples", input->name, input->role, TENSOR_SHAPE(io));
	input->data_offset = npy.offset;
	input->count = npy.elements / io->elements;
	input->count_known = true;
	if (input->count == 0)
		return fail(err, "%s: the array is empty", input->name);
	return 0;
}

static int use_image(struct input *input, uint8_t *data, size_t size,
		     const struct image_scaling *scaling, struct error *err)
{
	const struct tensor *io = input->io;
	struct error why = { "", 0 };
	struct image image = { 0, 0, NULL };
	int ret = -1;

	if (!image_fits(io)) {
		fail(err, "%s: an image is no input for this model: its input is %s of shape %s, "
		     "needed are 8-bit or float elements in the shape 1 x height x width x 1 or 3",
		     input->name, nnhal_operand_type_name(io->type), TENSOR_SHAPE(io));
	} else if (image_decode(data, size, &image, &why)) {
		fail(err, "%s: %s", input->name, why.text);
	} else {
		input->data = malloc(io->bytes);
		if (!input->data)
			fail(err, "out of memory");
		else
			ret = image_to_sample(&image, io, scaling, input->data, err);
	}
	input->count = 1;
	input->count_known = true;
	input->picture = image;
	free(data);
	return ret;
}

/*
 * Is this the name of the input? Exporters add ":0" to names, and numpy names arrays without
 * one arr_0 and so on.
 */
static bool is_array_of(const struct input *input, struct text name)
{
	size_t length = strlen(input->io->name);
	char numbered[24];

	snprintf(numbered, sizeof(numbered), "arr_%" PRIu32, input->index);
	if (name.length == strlen(numbered) && memcmp(name.data, numbered, name.length) == 0)
		return true;
	if (name.length + 2 == length && strcmp(input->io->name + name.length, ":0") == 0)
		length -= 2;
	return name.length == length && memcmp(name.data, input->io->name, length) == 0;
}

/* The array of an archive for this input: the one with its name, or the only one. */
static int use_npz(struct input *input, uint8_t *data, size_t size, struct error *err)
{
	const struct npz_array *found = NULL;
	struct error why = { "", 0 };
	struct npz_array *arrays = NULL;
	uint8_t *npy = NULL;
	size_t npy_size = 0, count = 0, i;
	int ret = -1;

	if (npz_list(data, size, &arrays, &count, &why)) {
		fail(err, "%s: %s", input->name, why.text);
		goto out;
	}
	for (i = 0; i < count && !found; i++)
		if (is_array_of(input, arrays[i].name))
			found = &arrays[i];
	if (count == 1)
		found = &arrays[0];
	if (!found) {
		fail(err, "%s: none of the %zu arrays has the name of the model's %s, '%s', the "
		     "first is '%s'", input->name, count, input->role, input->io->name,
		     count ? TEXT(arrays[0].name) : "");
	} else if (found->size > MAX_FILE) {
		fail(err, "%s: the array '%s' has %zu bytes, at most %zu are read", input->name,
		     TEXT(found->name), found->size, MAX_FILE);
	} else if (npz_extract(data, size, found, &npy, &why)) {
		fail(err, "%s: %s", input->name, why.text);
	} else {
		npy_size = found->size;
		ret = 0;
	}
out:
	free(arrays);
	free(data);
	return ret ? -1 : use_npy(input, npy, npy_size, err);
}

static int use_sound(struct input *input, uint8_t *data, size_t size,
		     const struct input_options *options, struct error *err)
{
	struct error why = { "", 0 };
	struct sound sound;
	int ret;

	ret = wav_decode(data, size, &sound, &why);
	free(data);
	if (!ret) {
		input->data = malloc(input->io->bytes);
		ret = input->data ? sound_to_sample(&sound, input->io, &options->sound,
						    &options->scaling, input->data, &why) :
				    fail(&why, "out of memory");
	}
	sound_free(&sound);
	input->count = 1;
	input->count_known = true;
	return ret ? fail(err, "%s: %s", input->name, why.text) : 0;
}

static int use_raw(struct input *input, struct error *err)
{
	size_t bytes = input->io->bytes;
	struct stat st;

	if (fstat(input->fd, &st) < 0)
		return fail_errno(err, errno, "%s", input->name);
	if (!S_ISREG(st.st_mode))
		return 0;
	/* Standard input may be a file of which a part was already read. */
	if (lseek(input->fd, 0, SEEK_CUR) > (off_t)input->head_size)
		st.st_size -= lseek(input->fd, 0, SEEK_CUR) - (off_t)input->head_size;
	if (st.st_size <= 0)
		return fail(err, "%s: the file is empty, expected a multiple of %zu bytes (%s %s)",
			    input->name, bytes, nnhal_operand_type_name(input->io->type),
			    TENSOR_SHAPE(input->io));
	if ((uint64_t)st.st_size % bytes != 0)
		return fail(err, "%s: %lld bytes, expected a multiple of %zu (one sample: %s %s)",
			    input->name, (long long)st.st_size, bytes,
			    nnhal_operand_type_name(input->io->type), TENSOR_SHAPE(input->io));
	input->count = (uint64_t)st.st_size / bytes;
	input->count_known = true;
	return 0;
}

static enum input_format recognise(const struct input *input)
{
	if (npy_probe(input->head, input->head_size))
		return INPUT_NPY;
	if (npz_probe(input->head, input->head_size))
		return INPUT_NPZ;
	if (wav_probe(input->head, input->head_size))
		return INPUT_WAV;
	return image_probe(input->head, input->head_size) ? INPUT_IMAGE : INPUT_RAW;
}

int input_open(struct input *input, const char *path, const struct tensor *io, uint32_t index,
	       const struct input_options *options, const volatile sig_atomic_t *stop,
	       struct error *err)
{
	enum input_format format = options->format;
	struct stat st;
	uint8_t *data;
	size_t size;
	int64_t n;

	*input = (struct input){ .name = path, .io = io, .index = index, .fd = -1 };
	input->role = options->of_output ? "output" : "input";
	if (strcmp(path, "-") == 0)
		input->name = "standard input";
	input->fd = open_input(path, err);
	if (input->fd < 0)
		return -1;
	if (format != INPUT_RAW) {
		/* Of a pipe, one sample and no more: its writer may wait for the result. */
		size = sizeof(input->head);
		if (io->bytes < size && (fstat(input->fd, &st) || !S_ISREG(st.st_mode)))
			size = io->bytes;
		n = read_full(input->fd, input->head, size, stop);
		if (n < 0)
			return fail_errno(err, errno, "%s", input->name);
		input->head_size = (size_t)n;
	}
	if (format == INPUT_AUTO)
		format = recognise(input);
	if (format == INPUT_RAW)
		return use_raw(input, err);

	if (read_rest(input->fd, input->name, input->head, input->head_size, MAX_FILE, &data,
		      &size, stop, err))
		return -1;
	close(input->fd);
	input->fd = -1;
	switch (format) {
	case INPUT_NPY:
		return use_npy(input, data, size, err);
	case INPUT_NPZ:
		return use_npz(input, data, size, err);
	case INPUT_WAV:
		return use_sound(input, data, size, options, err);
	default:
		return use_image(input, data, size, &options->scaling, err);
	}
}

static int read_raw(struct input *input, uint8_t *sample, const volatile sig_atomic_t *stop,
		    struct error *err)
{
	size_t bytes = input->io->bytes;
	size_t have = input->head_size - input->head_used;
	int64_t n = 0;

	if (have > bytes)
		have = bytes;
	memcpy(sample, input->head + input->head_used, have);
	input->head_used += have;
	if (have < bytes)
		n = read_full(input->fd, sample + have, bytes - have, stop);
	if (n < 0)
		return *stop ? -1 : fail_errno(err, errno, "%s", input->name);
	have += (size_t)n;
	if (have == bytes)
		return 1;
	if (have == 0 && !input->count_known && input->next > 0)
		return 0;
	if (input->count_known)
		return fail(err, "%s: became shorter while it was read", input->name);
	return fail(err, "%s: ended after %" PRIu64 " bytes, expected a multiple of %zu "
		    "(one sample: %s %s)", input->name, input->next * bytes + have, bytes,
		    nnhal_operand_type_name(input->io->type), TENSOR_SHAPE(input->io));
}

bool input_ready(const struct input *input)
{
	struct pollfd pfd = { .fd = input->fd, .events = POLLIN };

	if (input->count_known || input->head_used < input->head_size)
		return true;
	return poll(&pfd, 1, 0) != 0;
}

int input_read(struct input *input, void *sample, const volatile sig_atomic_t *stop,
	       struct error *err)
{
	int ret = 1;

	if (input->count_known && input->next == input->count)
		return 0;
	if (input->data)
		memcpy(sample, input->data + input->data_offset + input->next * input->io->bytes,
		       input->io->bytes);
	else
		ret = read_raw(input, sample, stop, err);
	if (ret == 1)
		input->next++;
	return ret;
}

int input_at_end(const struct input *input, const volatile sig_atomic_t *stop, struct error *err)
{
	uint8_t byte;
	int64_t n;

	if (input->count_known)
		return input->next == input->count;
	if (input->head_used < input->head_size)
		return 0;
	n = read_full(input->fd, &byte, 1, stop);
	if (n < 0)
		return *stop ? -1 : fail_errno(err, errno, "%s", input->name);
	return n == 0;
}

void input_close(struct input *input)
{
	if (input->fd >= 0)
		close(input->fd);
	free(input->data);
	image_free(&input->picture);
	input->fd = -1;
	input->data = NULL;
}
