// SPDX-License-Identifier: MIT
/*
 * Reading the cases of the extension org.nnpu.tflite.
 */
#include "tflite_case.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tflite/tflite_ops.h"

#define MAX_ELEMENTS	65536u

static const struct {
	const char *name;
	enum nnpu_type type;
} types[] = {
	{ "f32", NNPU_TYPE_TENSOR_FLOAT32 }, { "f16", NNPU_TYPE_TENSOR_FLOAT16 },
	{ "f64", TFLITE_TENSOR_FLOAT64 }, { "c64", TFLITE_TENSOR_COMPLEX64 },
	{ "i8", NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED }, { "u8", NNPU_TYPE_TENSOR_QUANT8_ASYMM },
	{ "i16", NNPU_TYPE_TENSOR_QUANT16_SYMM }, { "u16", TFLITE_TENSOR_UINT16 },
	{ "i32", NNPU_TYPE_TENSOR_INT32 }, { "u32", TFLITE_TENSOR_UINT32 },
	{ "i64", TFLITE_TENSOR_INT64 }, { "u64", TFLITE_TENSOR_UINT64 },
	{ "bool", NNPU_TYPE_TENSOR_BOOL8 }, { "pc8", NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL },
};

static _Noreturn void bad(const char *text, const char *at)
{
	printf("Bail out! case '%s', at '%s'\n", text, at);
	exit(1);
}

static bool is_real(enum nnpu_type type)
{
	return type == NNPU_TYPE_TENSOR_FLOAT32 || type == TFLITE_TENSOR_FLOAT64 ||
	       type == TFLITE_TENSOR_COMPLEX64;
}

/* Write value @i of the data, of @size bytes, from the text; returns the end of it. */
static const char *put_value(const struct tflite_operand *o, size_t i, size_t size, const char *p)
{
	char *end, *to = (char *)o->data + i * size;

	if (is_real(o->type)) {
		double wide = strtod(p, &end);
		/* Not by way of double precision, which would round twice. */
		float narrow = strtof(p, &end);

		memcpy(to, size == 8 ? (void *)&wide : (void *)&narrow, size);
	} else {
		uint64_t v = *p == '-' ? (uint64_t)strtoll(p, &end, 0) : strtoull(p, &end, 0);

		memcpy(to, &v, size);	/* little-endian */
	}
	return end;
}

static const char *read_values(const char *text, const char *p, struct tflite_operand *o)
{
	size_t size = type_size(o->type), n = 1, i = 0;

	if (o->type == TFLITE_TENSOR_COMPLEX64) {
		size /= 2;
		n = 2;
	}
	for (unsigned int d = 0; d < o->rank; d++)
		n *= o->dims[d];
	if (n > MAX_ELEMENTS)
		bad(text, p);
	o->bytes = n * size;
	o->data = calloc(1, o->bytes + 1);
	if (!o->data)
		abort();
	if (*p != '{')
		return p;
	for (p++; *p != '}'; i++) {
		const char *end;

		if (i >= n)
			bad(text, p);
		end = put_value(o, i, size, p);
		if (end == p || (*end != ',' && *end != '}'))
			bad(text, p);
		p = end + (*end == ',');
	}
	if (i != n && i != 1)
		bad(text, p);
	for (; i && i < n; i++)
		memcpy((char *)o->data + i * size, o->data, size);
	return p + 1;
}

/* Scales of channels and their dimension; returns the end of them. */
static const char *read_scales(const char *text, const char *p, struct tflite_operand *o)
{
	char *end;

	for (o->scale = 0.0f; *p != ':'; p = end) {
		o->scales = realloc(o->scales, (o->num_scales + 1) * sizeof(*o->scales));
		if (!o->scales)
			abort();
		o->scales[o->num_scales++] = strtof(p + 1, &end);
		if (end == p + 1 || (*end != '/' && *end != ':'))
			bad(text, p);
	}
	o->channel_dim = (uint32_t)strtoul(p + 1, &end, 10);
	return end;
}

static const char *read_tensor(const char *text, const char *p, struct tflite_operand *o)
{
	size_t length = strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789");
	unsigned int t;
	char *end;

	for (t = 0; t < sizeof(types) / sizeof(types[0]); t++)
		if (length == strlen(types[t].name) && !memcmp(p, types[t].name, length))
			break;
	if (t == sizeof(types) / sizeof(types[0]))
		bad(text, p);
	o->type = types[t].type;
	o->scale = o->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM ||
		   o->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED ||
		   o->type == NNPU_TYPE_TENSOR_QUANT16_SYMM ? 1.0f : 0.0f;
	p += length;
	if (*p == '@' && o->type == NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL) {
		p = read_scales(text, p, o);
	} else if (*p == '@') {
		o->scale = strtof(p + 1, &end);
		p = end;
		if (*p == '+' || *p == '-') {
			o->zero_point = (int32_t)strtol(p, &end, 10);
			p = end;
		}
	}
	if (*p != '[')
		return p;
	o->has_shape = true;
	for (p++; *p != ']'; p = end + (*end == ',')) {
		if (o->rank == NNPU_MAX_RANK || !isdigit((unsigned char)*p))
			bad(text, p);
		o->dims[o->rank++] = (uint32_t)strtoul(p, &end, 10);
	}
	return read_values(text, p + 1, o);
}

static const char *read_scalar(const char *text, const char *p, struct tflite_operand *o)
{
	static const struct tflite_operand scalar = { .scalar = true, .has_shape = true };
	bool fixed = o->fixed;
	int32_t integer;
	uint8_t flag;
	float real;
	char *end;

	*o = scalar;
	o->fixed = fixed;
	o->data = calloc(1, sizeof(real));
	if (!o->data)
		abort();
	if (*p == '$') {
		real = strtof(p + 1, &end);
		o->type = NNPU_TYPE_FLOAT32;
		memcpy(o->data, &real, o->bytes = sizeof(real));
	} else if (*p == '#') {
		integer = (int32_t)strtol(p + 1, &end, 0);
		o->type = NNPU_TYPE_INT32;
		memcpy(o->data, &integer, o->bytes = sizeof(integer));
	} else {
		flag = strtol(p + 1, &end, 0) != 0;
		o->type = NNPU_TYPE_BOOL;
		memcpy(o->data, &flag, o->bytes = sizeof(flag));
	}
	if (end == p + 1)
		bad(text, p);
	return end;
}

static const char *read_operand(const char *text, const char *p, struct tflite_operand *o)
{
	if (*p == '=') {
		o->fixed = true;
		p++;
	}
	if (*p == '#' || *p == '%' || *p == '$')
		return read_scalar(text, p, o);
	if (*p == '-') {
		o->omitted = true;
		p++;
	}
	return read_tensor(text, p, o);
}

void tflite_call_read(struct tflite_call *call, const char *text)
{
	const char *p = text;
	bool outputs = false;

	memset(call, 0, sizeof(*call));
	while (*p) {
		unsigned long times = 1;
		const char *from;
		char *end;

		if (*p == ' ') {
			p++;
			continue;
		}
		if (*p == '>') {
			outputs = true;
			p++;
			continue;
		}
		if (isdigit((unsigned char)*p)) {
			times = strtoul(p, &end, 10);
			if (*end != '*' || !times)
				bad(text, p);
			p = end + 1;
		}
		for (from = p; times; times--) {
			unsigned int n = call->num_inputs + call->num_outputs;

			if (n == TFLITE_MAX_OPERANDS)
				bad(text, from);
			p = read_operand(text, from, &call->operands[n]);
			call->num_outputs += outputs;
			call->num_inputs += !outputs;
		}
		if (*p && *p != ' ')
			bad(text, p);
	}
	if (!call->num_outputs)
		bad(text, p);
}

void tflite_call_free(struct tflite_call *call)
{
	for (unsigned int i = 0; i < call->num_inputs + call->num_outputs; i++) {
		free(call->operands[i].data);
		free(call->operands[i].scales);
	}
	memset(call, 0, sizeof(*call));
}
