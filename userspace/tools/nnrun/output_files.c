// SPDX-License-Identifier: MIT
/*
 * Where the results of inferences go.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "media/npy.h"
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

static bool has_npy_name(const char *path)
{
	size_t length = strlen(path);

	return length > 4 && strcmp(path + length - 4, ".npy") == 0;
}

static int open_output(struct results *r, uint32_t i, uint64_t samples, struct error *err)
{
	const char *path = r->options->outputs[i];
	uint8_t header[NPY_HEADER_SIZE];

	if (out_open(&r->files[i], path, err))
		return -1;
	r->is_npy[i] = has_npy_name(path);
	if (!r->is_npy[i])
		return 0;
	if (!r->files[i].seekable && samples == 0)
		return fail(err, "%s: the header of a .npy file takes the number of samples, which "
			    "is not known before the end; the file cannot be rewritten", path);
	npy_header(&r->tensors->outputs[i], samples, header);
	return out_write(&r->files[i], header, sizeof(header), err);
}

static bool uses_stdout(const struct options *o)
{
	uint32_t i;

	for (i = 0; i < o->num_outputs; i++)
		if (strcmp(o->outputs[i], "-") == 0)
			return true;
	return (o->latency && strcmp(o->latency, "-") == 0) ||
	       (o->dump_graph && strcmp(o->dump_graph, "-") == 0);
}

int results_open(struct results *r, const struct options *options,
		 const struct tensors *tensors, uint64_t samples, struct error *err)
{
	uint32_t i;

	memset(r, 0, sizeof(*r));
	r->options = options;
	r->tensors = tensors;
	r->live = samples == 0;
	r->many = samples != 1;
	r->text = uses_stdout(options) ? stderr : stdout;
	r->print_lists = options->num_outputs == 0 || options->top_given || options->labels;
	if (options->labels && labels_read(&r->labels, options->labels, err))
		return -1;
	if (options->num_outputs) {
		r->files = calloc(options->num_outputs, sizeof(*r->files));
		r->is_npy = calloc(options->num_outputs, sizeof(*r->is_npy));
		if (!r->files || !r->is_npy)
			return fail(err, "out of memory");
	}
	for (i = 0; i < options->num_outputs; i++)
		if (open_output(r, i, samples, err))
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

int results_add(struct results *r, const char *source, uint64_t index,
		const void *const *outputs, struct error *err)
{
	uint32_t i;

	r->samples++;
	for (i = 0; i < r->options->num_outputs; i++) {
		if (out_write(&r->files[i], outputs[i], r->tensors->outputs[i].bytes, err))
			return -1;
		if (r->live && !r->files[i].seekable && out_flush(&r->files[i], err))
			return -1;
	}
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
		if (!r->is_npy[i] || !r->files[i].seekable)
			continue;
		npy_header(&r->tensors->outputs[i], r->samples, header);
		if (out_rewrite_start(&r->files[i], header, sizeof(header), err))
			return -1;
	}
	for (i = 0; i < r->options->num_outputs; i++)
		if (out_flush(&r->files[i], err))
			return -1;
	if (r->options->latency && out_flush(&r->latency, err))
		return -1;
	for (i = 0; i < r->options->num_outputs; i++)
		if (out_commit(&r->files[i], err))
			return -1;
	return r->options->latency ? out_commit(&r->latency, err) : 0;
}

void results_free(struct results *r)
{
	uint32_t i;

	for (i = 0; r->files && i < r->options->num_outputs; i++)
		out_abort(&r->files[i]);
	out_abort(&r->latency);
	free(r->files);
	free(r->is_npy);
	labels_free(&r->labels);
	r->files = NULL;
	r->is_npy = NULL;
}
