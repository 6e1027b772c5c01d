// SPDX-License-Identifier: MIT
/*
 * Where the results of inferences go.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "media/npy.h"
#include "media/sound.h"
#include "output_files.h"

static const char *npy_descr(uint32_t type)
{
	switch (type) {
	case NNHAL_OPERAND_TENSOR_FLOAT32:
		return "<f4";
	case NNHAL_OPERAND_TENSOR_FLOAT16:
		return "<f2";
	case NNHAL_OPERAND_TENSOR_INT32:
		return "<i4";
	case NNHAL_OPERAND_TENSOR_QUANT16_SYMM:
		return "<i2";
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED:
		return "|i1";
	case NNHAL_OPERAND_TENSOR_BOOL8:
		return "|b1";
	case TENSOR_INT64:
		return "<i8";
	case TENSOR_COMPLEX64:
		return "<c8";
	case TENSOR_FLOAT64:
		return "<f8";
	case TENSOR_UINT64:
		return "<u8";
	case TENSOR_UINT32:
		return "<u4";
	case TENSOR_UINT16:
		return "<u2";
	default:
		return "|u1";
	}
}

/* The header for @samples samples along the batch dimension, or along a new one. */
static void npy_header(const struct tensor *io, uint64_t samples, uint8_t *header)
{
	uint64_t dims[TENSOR_MAX_RANK + 1];
	uint32_t skip = io->dims[0] == 1;
	uint32_t rank = 0;
	uint32_t i;

	dims[rank++] = samples;
	for (i = skip; i < io->rank; i++)
		dims[rank++] = io->dims[i];
	npy_write_header(header, npy_descr(io->type), dims, rank);
}

static enum output_format format_of(const char *path)
{
	size_t length = strlen(path);

	if (length > 4 && strcmp(path + length - 4, ".npy") == 0)
		return OUTPUT_NPY;
	if (length > 4 && strcmp(path + length - 4, ".wav") == 0)
		return OUTPUT_WAV;
	return OUTPUT_RAW;
}

/* The header of output @i for @samples samples; returns its size, 0 if it has none. */
static size_t make_header(const struct results *r, uint32_t i, uint64_t samples,
			  uint8_t *header)
{
	const struct tensor *t = &r->tensors->outputs[i];
	uint64_t count;

	switch (r->formats[i]) {
	case OUTPUT_NPY:
		npy_header(t, samples, header);
		return NPY_HEADER_SIZE;
	case OUTPUT_WAV:
		/* A longer sound than the header can tell of has the largest number there. */
		count = samples * t->elements;
		wav_write_header(header, r->options->reading.sound.rate,
				 count < UINT32_MAX / 4 ? (uint32_t)count : UINT32_MAX / 4);
		return WAV_HEADER_SIZE;
	default:
		return 0;
	}
}

static int open_output(struct results *r, uint32_t i, uint64_t samples, struct error *err)
{
	const char *path = r->options->outputs[i];
	uint8_t header[NPY_HEADER_SIZE];
	size_t size;

	if (!path)
		return 0;
	if (out_open(&r->files[i], path, err))
		return -1;
	r->formats[i] = format_of(path);
	size = make_header(r, i, samples, header);
	if (size && !r->files[i].seekable && (samples == 0 || !r->tensors->outputs[i].bytes))
		return fail(err, "%s: the header of a .npy or .wav file takes the number and the "
			    "size of samples, which are not known before the end; the file cannot "
			    "be rewritten", path);
	return size ? out_write(&r->files[i], header, size, err) : 0;
}

/* Values from -1 to 1 as samples of 16 bits. */
static int write_sound(struct out_file *file, const struct tensor *t, const void *data,
		       struct error *err)
{
	size_t i;

	for (i = 0; i < t->elements; i++) {
		double value = tensor_element(t, data, i) * 32768;
		int16_t sample = isnan(value) ? 0 :
				 (int16_t)nearbyint(fmin(fmax(value, -32768), 32767));
		uint8_t bytes[2] = { (uint8_t)sample, (uint8_t)((uint16_t)sample >> 8) };

		if (out_write(file, bytes, sizeof(bytes), err))
			return -1;
	}
	return 0;
}

/* The file that output @i is compared with, when the size of the output is known. */
static int open_compare(struct results *r, uint32_t i, struct error *err)
{
	const struct tensor *t = &r->tensors->outputs[i];
	void *bigger = realloc(r->expected, r->largest > t->bytes ? r->largest : t->bytes);

	if (!bigger)
		return fail(err, "out of memory");
	r->expected = bigger;
	r->largest = r->largest > t->bytes ? r->largest : t->bytes;
	return compare_open(&r->compares[i], r->options->compares[i], t, i, r->stop,
			    err);
}

static int open_compares(struct results *r, struct error *err)
{
	uint32_t i;

	r->compares = calloc(r->options->num_compares, sizeof(*r->compares));
	if (!r->compares)
		return fail(err, "out of memory");
	for (i = 0; i < r->options->num_compares; i++) {
		compare_init(&r->compares[i]);
		r->num_compares = i + 1;
		if (r->tensors->outputs[i].bytes && r->options->compares[i] &&
		    open_compare(r, i, err))
			return -1;
	}
	return 0;
}

/*
 * A picture is one sample, and several files are refused before: the picture stays open
 * until the only sample is drawn.
 */
static int open_drawing(struct results *r, const struct input *inputs, struct error *err)
{
	uint32_t i;

	if (r->picture.kind == PICTURE_NONE)
		return fail(err, "--draw: the model's outputs are neither boxes, key points nor "
			    "segments");
	for (i = 0; i < r->tensors->num_inputs && !r->drawn; i++)
		if (inputs[i].picture.pixels)
			r->drawn = &inputs[i].picture;
	if (!r->drawn)
		return fail(err, "--draw: no input is a picture");
	return out_open(&r->drawing, r->options->draw, err);
}

static bool uses_stdout(const struct options *o)
{
	uint32_t i;

	for (i = 0; i < o->num_outputs; i++)
		if (o->outputs[i] && strcmp(o->outputs[i], "-") == 0)
			return true;
	if (o->draw && strcmp(o->draw, "-") == 0)
		return true;
	return (o->latency && strcmp(o->latency, "-") == 0) ||
	       (o->dump_graph && strcmp(o->dump_graph, "-") == 0);
}

int results_open(struct results *r, const struct options *options,
		 const struct tensors *tensors, const struct input *inputs, uint64_t samples,
		 const volatile sig_atomic_t *stop, struct error *err)
{
	uint32_t i;

	memset(r, 0, sizeof(*r));
	r->options = options;
	r->tensors = tensors;
	r->stop = stop;
	r->live = samples == 0;
	r->many = samples != 1;
	r->text = uses_stdout(options) ? stderr : stdout;
	r->print_lists = options->num_outputs + options->num_compares == 0 ||
			 options->top_given || options->labels;
	r->picture = picture_find(tensors);
	if (options->labels && labels_read(&r->labels, options->labels, stop, err))
		return -1;
	if (options->num_outputs) {
		r->files = calloc(options->num_outputs, sizeof(*r->files));
		r->formats = calloc(options->num_outputs, sizeof(*r->formats));
		if (!r->files || !r->formats)
			return fail(err, "out of memory");
	}
	for (i = 0; i < options->num_outputs; i++)
		if (open_output(r, i, samples, err))
			return -1;
	if (options->num_compares && open_compares(r, err))
		return -1;
	if (options->draw && open_drawing(r, inputs, err))
		return -1;
	if (options->latency && out_open(&r->latency, options->latency, err))
		return -1;
	return 0;
}

int check_stream(FILE *stream, struct error *err)
{
	if (fflush(stream) != 0 || ferror(stream))
		return fail_errno(err, errno ? errno : EIO, "%s",
				  stream == stderr ? "standard error" : "standard output");
	return 0;
}

static int print_list(struct results *r, const char *source, uint64_t index,
		      const void *const *outputs, struct error *err)
{
	uint32_t i;

	if (r->many) {
		struct text name = { source, strlen(source) };

		fprintf(r->text, "%s", TEXT(name));
		if (index != UINT64_MAX)
			fprintf(r->text, "[%" PRIu64 "]", index);
		fprintf(r->text, ":\n");
	}
	if (r->picture.kind != PICTURE_NONE) {
		if (picture_print(r->text, r->picture, r->tensors, outputs, r->options->min_score,
				  &r->labels, err))
			return -1;
		return r->live || ferror(r->text) ? check_stream(r->text, err) : 0;
	}
	for (i = 0; i < r->tensors->num_outputs; i++) {
		const struct tensor *io = &r->tensors->outputs[i];

		if (r->tensors->num_outputs > 1)
			fprintf(r->text, "output %" PRIu32 " '%s':\n", i,
				io->name);
		if (print_top(r->text, io, outputs[i], r->options->top, &r->labels, err))
			return -1;
	}
	/* With a pipe at either end, each sample is written at once. */
	if (r->live || ferror(r->text))
		return check_stream(r->text, err);
	return 0;
}

/* Draw the outputs into the picture they belong to, which stays as it is. */
static int draw(struct results *r, const void *const *outputs, struct error *err)
{
	struct image copy = { 0, 0, NULL };
	uint8_t *png = NULL;
	size_t size = 0;
	int ret;

	if (image_alloc(&copy, r->drawn->width, r->drawn->height, err))
		return -1;
	memcpy(copy.pixels, r->drawn->pixels, (size_t)copy.width * copy.height * 3);
	ret = picture_draw(&copy, r->picture, r->tensors, outputs, r->options->min_score, err);
	if (!ret)
		ret = image_encode_png(&copy, &png, &size, err);
	if (!ret)
		ret = out_write(&r->drawing, png, size, err);
	free(png);
	image_free(&copy);
	return ret;
}

/* Is output @i compared with a file? */
static bool compares(const struct results *r, uint32_t i)
{
	return r->options->num_compares && r->options->compares[i];
}

int results_reshape(struct results *r, uint32_t i, struct tensor *t, uint32_t rank,
		    const uint32_t *dims, size_t bytes, struct error *err)
{
	bool first = r->samples == 0;
	uint32_t k;

	if (t->rank == rank && memcmp(t->dims, dims, rank * sizeof(*dims)) == 0)
		return 0;
	if (!first && (compares(r, i) || (r->options->num_outputs && r->formats[i] == OUTPUT_NPY)))
		return fail(err, "output %" PRIu32 " '%s' has another shape than in the sample before: "
			    "only raw files take that", i, t->name);
	if (rank == 0 || rank > TENSOR_MAX_RANK)
		return fail(err, "output %" PRIu32 " '%s' has rank %" PRIu32, i, t->name, rank);
	t->rank = rank;
	memcpy(t->dims, dims, rank * sizeof(*dims));
	t->elements = 1;
	for (k = 0; k < rank; k++)
		t->elements *= dims[k];
	t->bytes = bytes;
	r->picture = picture_find(r->tensors);
	if (!compares(r, i) || !first)
		return 0;
	if (bytes == 0)
		return fail(err, "output %" PRIu32 " '%s' is empty, which is compared with nothing", i,
			    t->name);
	return open_compare(r, i, err);
}

int results_add(struct results *r, const char *source, uint64_t index,
		const void *const *outputs, struct error *err)
{
	uint32_t i;

	r->samples++;
	for (i = 0; i < r->options->num_outputs; i++) {
		const struct tensor *t = &r->tensors->outputs[i];

		if (!r->options->outputs[i])
			continue;
		if (r->formats[i] == OUTPUT_WAV ?
		    write_sound(&r->files[i], t, outputs[i], err) :
		    out_write(&r->files[i], outputs[i], t->bytes, err))
			return -1;
		if (r->live && !r->files[i].seekable && out_flush(&r->files[i], err))
			return -1;
	}
	for (i = 0; i < r->num_compares; i++)
		if (compares(r, i) && compare_add(&r->compares[i], outputs[i], r->expected, &r->options->tolerance,
				err))
			return -1;
	if (r->options->draw && draw(r, outputs, err))
		return -1;
	return r->print_lists ? print_list(r, source, index, outputs, err) : 0;
}

int results_add_latency(struct results *r, uint64_t ns, struct error *err)
{
	char line[24];
	int n;

	if (!r->options->latency)
		return 0;
	n = snprintf(line, sizeof(line), "%" PRIu64 "\n", ns);
	return out_write(&r->latency, line, (size_t)n, err);
}

int results_commit(struct results *r, struct error *err)
{
	uint8_t header[NPY_HEADER_SIZE];
	uint32_t i;

	/* Write the headers before any file gets its final name. */
	for (i = 0; i < r->options->num_outputs; i++) {
		size_t size = make_header(r, i, r->samples, header);

		if (size && r->options->outputs[i] && r->files[i].seekable &&
		    out_rewrite_start(&r->files[i], header, size, err))
			return -1;
	}
	for (i = 0; i < r->options->num_outputs; i++)
		if (r->options->outputs[i] && out_flush(&r->files[i], err))
			return -1;
	if (r->options->latency && out_flush(&r->latency, err))
		return -1;
	for (i = 0; i < r->options->num_outputs; i++)
		if (r->options->outputs[i] && out_commit(&r->files[i], err))
			return -1;
	if (r->options->draw && out_commit(&r->drawing, err))
		return -1;
	return r->options->latency ? out_commit(&r->latency, err) : 0;
}

int results_compare(struct results *r, bool *same, struct error *err)
{
	uint32_t i;

	*same = true;
	for (i = 0; i < r->num_compares; i++)
		if (compares(r, i) && compare_report(r->text, &r->compares[i], same, err))
			return -1;
	return 0;
}

void results_free(struct results *r)
{
	uint32_t i;

	for (i = 0; r->files && i < r->options->num_outputs; i++)
		out_abort(&r->files[i]);
	out_abort(&r->latency);
	out_abort(&r->drawing);
	while (r->num_compares)
		compare_close(&r->compares[--r->num_compares]);
	free(r->compares);
	free(r->expected);
	free(r->files);
	free(r->formats);
	labels_free(&r->labels);
	r->files = NULL;
	r->formats = NULL;
}
