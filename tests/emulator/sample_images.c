// SPDX-License-Identifier: MIT
#include <endian.h>
#include <string.h>

#include "sample_images.h"

#define F32	NNPU_TYPE_TENSOR_FLOAT32
#define I32	NNPU_TYPE_TENSOR_INT32

uint32_t image_scalar_f32(struct image *im, float value)
{
	int32_t bits;
	uint32_t t;

	memcpy(&bits, &value, sizeof(bits));
	t = image_scalar(im, bits);
	im->tensors[t].type = htole16(NNPU_TYPE_FLOAT32);
	return t;
}

void image_roi(struct image *im, int32_t points)
{
	static const float region[] = { 0, 0, 2, 2 };
	static const uint8_t nhwc;
	static const int32_t batch;
	uint32_t in[10], out;

	image_init(im);
	in[0] = image_tensor(im, F32, NNPU_TENSOR_INPUT, 1, 2, 2, 1, -1);
	in[1] = image_const(im, F32, 1, region, sizeof(region));
	im->tensors[in[1]].rank = 2;
	im->tensors[in[1]].dims[1] = htole32(4);
	in[2] = image_const(im, I32, 1, &batch, sizeof(batch));
	in[3] = image_scalar(im, 1);
	in[4] = image_scalar(im, 1);
	in[5] = image_scalar_f32(im, 1);
	in[6] = image_scalar_f32(im, 1);
	in[7] = image_scalar(im, points);
	in[8] = image_scalar(im, points);
	in[9] = image_const(im, NNPU_TYPE_BOOL, 0, &nhwc, sizeof(nhwc));
	im->tensors[in[9]].rank = 0;
	out = image_tensor(im, F32, NNPU_TENSOR_OUTPUT, 1, 1, 1, 1, -1);
	image_command(im, NNPU_OP_ROI_ALIGN, 10, 1, in[0], in[1], in[2], in[3], in[4], in[5],
		      in[6], in[7], in[8], in[9], out);
	image_finish(im);
}

static uint32_t vec(struct image *im, unsigned int type, unsigned int kind)
{
	return image_tensor(im, type, kind, 0, -1);
}

/* @list: counter, @values values, and the limit if there is one. */
static void temporaries(struct image *im, uint32_t *list, unsigned int values, bool has_limit)
{
	unsigned int i;

	for (i = 0; i < values + 1 + has_limit; i++)
		list[i] = vec(im, i && i <= values ? F32 : I32, NNPU_TENSOR_TEMPORARY);
}

void image_loop(struct image *im, unsigned int values)
{
	uint32_t list[2 * LOOP_VALUES_MAX + 3], x, act, one, ops[4];
	const int32_t zero = 0, step = 1, limit = 3;
	uint32_t *in = list, *out = list + values + 2;
	unsigned int i;

	image_init(im);
	x = vec(im, F32, NNPU_TENSOR_INPUT);
	act = image_scalar(im, 0);
	one = image_const(im, I32, 1, &step, sizeof(step));
	in[0] = image_const(im, I32, 1, &zero, sizeof(zero));
	for (i = 1; i <= values; i++)
		in[i] = x;
	in[values + 1] = image_const(im, I32, 1, &limit, sizeof(limit));
	temporaries(im, out, values, false);
	out[values] = vec(im, F32, NNPU_TENSOR_OUTPUT);
	image_command_list(im, NNPU_CMD_LOOP, values + 2, values + 1, list);
	image_targets(im, 1, 3);

	temporaries(im, in, values, true);
	out[0] = vec(im, NNPU_TYPE_TENSOR_BOOL8, NNPU_TENSOR_TEMPORARY);
	image_command_list(im, NNPU_CMD_BLOCK, values + 2, 1, list);
	image_command(im, NNPU_OP_LESS, 2, 1, in[0], in[values + 1], out[0]);

	temporaries(im, in, values, true);
	temporaries(im, out, values, false);
	image_command_list(im, NNPU_CMD_BLOCK, values + 2, values + 1, list);
	for (i = 0; i <= values; i++) {
		ops[0] = in[i];
		ops[1] = i ? in[i] : one;
		ops[2] = act;
		ops[3] = out[i];
		image_command_list(im, NNPU_OP_ADD, 3, 1, ops);
	}
	image_finish(im);
}

uint8_t *image_more(struct rig *rig, const struct image *im, const struct nnpu_tensor_desc *one,
		    uint32_t more, size_t *size)
{
	const size_t desc = sizeof(*one), off = (im->size + 7) & ~(size_t)7;
	struct nnpu_program_header *h;
	uint8_t *bytes;
	uint32_t i;

	*size = off + (im->num_tensors + more) * desc;
	bytes = rig_alloc(rig, *size);
	memcpy(bytes, im->bytes, im->size);
	h = (struct nnpu_program_header *)bytes;
	memcpy(bytes + off, bytes + le32toh(h->tensors_off), im->num_tensors * desc);
	for (i = 0; i < more; i++)
		memcpy(bytes + off + (im->num_tensors + i) * desc, one, desc);
	h->tensors_off = htole32((uint32_t)off);
	h->num_tensors = htole32(im->num_tensors + more);
	h->size = htole32((uint32_t)*size);
	return bytes;
}

uint8_t *image_tensors(struct rig *rig, uint32_t more, size_t *size)
{
	struct nnpu_tensor_desc one;
	struct image im;
	uint8_t *bytes;

	image_add(&im, 16);
	one = im.tensors[2];
	one.kind = NNPU_TENSOR_TEMPORARY;
	bytes = image_more(rig, &im, &one, more, size);
	image_free(&im);
	return bytes;
}

uint8_t *image_weights(struct rig *rig, uint32_t n, size_t *size)
{
	struct nnpu_program_header *h;
	uint32_t in, w, out, act;
	float value = 1;
	struct image im;
	uint8_t *bytes;

	image_init(&im);
	in = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, (int)n, -1);
	act = image_scalar(&im, 0);
	w = image_const(&im, NNPU_TYPE_TENSOR_FLOAT32, n, &value, sizeof(value));
	out = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, (int)n, -1);
	image_command(&im, NNPU_OP_ADD, 3, 1, in, w, act, out);
	image_finish(&im);
	/* The constant is the last in the data, and that is the last in the image. */
	*size = im.size + n * 4;
	bytes = rig_alloc(rig, *size);
	memcpy(bytes, im.bytes, im.size);
	h = (struct nnpu_program_header *)bytes;
	((struct nnpu_tensor_desc *)(bytes + le32toh(h->tensors_off)))[w].data_len =
		htole64(n * 4);
	h->data_size = htole32(le32toh(h->data_size) + n * 4);
	h->size = htole32((uint32_t)*size);
	image_free(&im);
	return bytes;
}
