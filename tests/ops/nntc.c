// SPDX-License-Identifier: MIT
/*
 * Reader of NNTC files.
 */
#include "nntc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool take(struct nntc_file *f, void *to, size_t n)
{
	if (n > f->size - f->at)
		return false;
	if (n)
		memcpy(to, f->bytes + f->at, n);
	f->at += n;
	return true;
}

/* An array of @n elements; NULL if the file is too short. */
static void *take_array(struct nntc_file *f, size_t n, size_t size)
{
	void *a;

	if (n > (f->size - f->at) / size)
		return NULL;
	a = calloc(n + 1, size);
	if (a && !take(f, a, n * size)) {
		free(a);
		return NULL;
	}
	return a;
}

bool nntc_open(struct nntc_file *f, const char *path)
{
	FILE *in = fopen(path, "rb");
	char magic[4];
	uint32_t version;
	long size;

	memset(f, 0, sizeof(*f));
	if (!in)
		return false;
	size = fseek(in, 0, SEEK_END) ? -1 : ftell(in);
	if (size > 0) {
		rewind(in);
		f->bytes = malloc((size_t)size);
		if (f->bytes)
			f->size = fread(f->bytes, 1, (size_t)size, in);
	}
	fclose(in);
	if (!take(f, magic, 4) || memcmp(magic, "NNTC", 4) || !take(f, &version, 4) ||
	    version != 1 || !take(f, &f->num_cases, 4)) {
		nntc_close(f);
		return false;
	}
	return true;
}

void nntc_close(struct nntc_file *f)
{
	free(f->bytes);
	memset(f, 0, sizeof(*f));
}

static bool read_operand(struct nntc_file *f, struct nntc_operand *o)
{
	uint8_t b[4];

	if (!take(f, &o->type, 4) || !take(f, b, 4) || !take(f, &o->scale, 4) ||
	    !take(f, &o->zero_point, 4) || !take(f, &o->channel_dim, 4) ||
	    !take(f, &o->num_channel_scales, 4))
		return false;
	o->lifetime = b[0];
	o->ignore_output = b[1];
	o->rank = b[2];
	if (o->rank > 8 || !take(f, o->dims, 4u * o->rank))
		return false;
	o->channel_scales = take_array(f, o->num_channel_scales, sizeof(float));
	if (!o->channel_scales || !take(f, &o->num_bytes, 4) ||
	    o->num_bytes > f->size - f->at)
		return false;
	o->data = f->bytes + f->at;
	f->at += o->num_bytes;
	return true;
}

static bool read_operation(struct nntc_file *f, struct nntc_operation *o)
{
	uint16_t n[2];

	if (!take(f, &o->type, 4) || !take(f, n, 4))
		return false;
	o->num_inputs = n[0];
	o->num_outputs = n[1];
	o->operands = take_array(f, (size_t)n[0] + n[1], 4);
	return o->operands;
}

/* One subgraph into the fields of @c; nntc_free() releases what a failure leaves. */
static bool read_subgraph(struct nntc_file *f, struct nntc_case *c)
{
	uint32_t n[4];

	if (!take(f, n, sizeof(n)) || n[0] > f->size || n[1] > f->size)
		return false;
	c->operands = calloc(n[0] + 1, sizeof(*c->operands));
	c->operations = calloc(n[1] + 1, sizeof(*c->operations));
	if (!c->operands || !c->operations)
		return false;
	c->num_operands = n[0];
	c->num_operations = n[1];
	c->num_inputs = n[2];
	c->num_outputs = n[3];
	for (uint32_t i = 0; i < c->num_operands; i++) {
		if (!read_operand(f, &c->operands[i]))
			return false;
	}
	for (uint32_t i = 0; i < c->num_operations; i++) {
		if (!read_operation(f, &c->operations[i]))
			return false;
	}
	c->inputs = take_array(f, c->num_inputs, 4);
	c->outputs = take_array(f, c->num_outputs, 4);
	return c->inputs && c->outputs;
}

bool nntc_next(struct nntc_file *f, struct nntc_case *c)
{
	uint8_t flags[4];
	uint16_t length;

	memset(c, 0, sizeof(*c));
	if (!take(f, &length, 2) || length >= sizeof(c->name) || !take(f, c->name, length) ||
	    !take(f, flags, 4) || !take(f, &c->multinomial_tolerance, 4) ||
	    !take(f, &c->num_subgraphs, 4) || !c->num_subgraphs || !read_subgraph(f, c)) {
		nntc_free(c);
		return false;
	}
	c->relaxed = flags[1];
	c->expect_failure = flags[2];
	for (uint32_t i = 1; i < c->num_subgraphs; i++) {
		struct nntc_case other = { 0 };
		bool ok = read_subgraph(f, &other);

		nntc_free(&other);
		if (!ok) {
			nntc_free(c);
			return false;
		}
	}
	return true;
}

void nntc_free(struct nntc_case *c)
{
	for (uint32_t i = 0; c->operands && i < c->num_operands; i++)
		free(c->operands[i].channel_scales);
	for (uint32_t i = 0; c->operations && i < c->num_operations; i++)
		free(c->operations[i].operands);
	free(c->operands);
	free(c->operations);
	free(c->inputs);
	free(c->outputs);
	memset(c, 0, sizeof(*c));
}
