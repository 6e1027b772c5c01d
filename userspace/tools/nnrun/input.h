/* SPDX-License-Identifier: MIT */
/*
 * Where the samples of a model's input come from: raw tensors, .npy files and archives of
 * them, images, sounds.
 */
#ifndef NNRUN_INPUT_H
#define NNRUN_INPUT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "../common/error.h"
#include "image_input.h"
#include "sound_input.h"
#include "tensor.h"

enum input_format {
	INPUT_AUTO,		/* by content */
	INPUT_RAW,
	INPUT_NPY,
	INPUT_NPZ,
	INPUT_IMAGE,
	INPUT_WAV,
};

/**
 * struct input_options - how files are read
 * @format: format of the files
 * @of_output: they have what is expected of an output of the model, for messages
 * @scaling: how pixels become numbers
 * @sound: how sounds do
 */
struct input_options {
	enum input_format format;
	bool of_output;
	struct image_scaling scaling;
	struct sound_options sound;
};

/* Bytes that suffice to recognise the format. */
#define INPUT_HEAD	64

/**
 * struct input - an open source of samples for one input of the model
 * @name: for messages
 * @role: what @io is, for messages
 * @io: input of the model, or an output that is compared with the file
 * @index: number of the input
 * @count_known: @count says how many samples there are
 * @count: number of samples; a pipe of raw tensors has as many as come
 */
struct input {
	const char *name;
	const char *role;
	const struct tensor *io;
	uint32_t index;
	bool count_known;
	uint64_t count;
	uint64_t next;			/* sample to be read next */
	int fd;				/* raw tensors, else -1 */
	uint8_t head[INPUT_HEAD];	/* read ahead */
	size_t head_used;
	size_t head_size;
	uint8_t *data;			/* samples in memory, or NULL */
	size_t data_offset;
	struct image picture;		/* that the sample was made of, if it was one */
};

/**
 * input_open() - open a source
 * @input: filled in; to be closed with input_close(), also after an error
 * @path: file, "-" for standard input
 * @io: input of the model
 * @index: number of the input, for archives without names
 * @options: how to read it
 * @stop: ends waiting for a pipe
 * @err: names file, size and what was expected
 *
 * Return: 0 or -1.
 */
int input_open(struct input *input, const char *path, const struct tensor *io, uint32_t index,
	       const struct input_options *options, const volatile sig_atomic_t *stop,
	       struct error *err);

/* Can the start of a sample be read without waiting? */
bool input_ready(const struct input *input);

/**
 * input_read() - read the next sample
 * @input: source
 * @sample: room for io->bytes bytes
 * @stop: ends waiting for a pipe
 * @err: filled in on failure
 *
 * Return: 1, 0 at the end, or -1 (without a text if @stop is true).
 */
int input_read(struct input *input, void *sample, const volatile sig_atomic_t *stop,
	       struct error *err);

/**
 * input_at_end() - have all samples been read?
 * @input: source
 * @stop: ends waiting for a pipe
 * @err: filled in on failure
 * Return: 1 if so, 0 if there is more, were it a single byte, or -1 as input_read().
 */
int input_at_end(const struct input *input, const volatile sig_atomic_t *stop, struct error *err);
void input_close(struct input *input);

#endif /* NNRUN_INPUT_H */
