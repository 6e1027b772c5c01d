// SPDX-License-Identifier: MIT
/*
 * SPACE_TO_DEPTH, DEPTH_TO_SPACE, SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND: blocks
 * of pixels become channels or batches, and back.
 *
 * Inputs: 0 image, 1 block size (a scalar for depth, height and width for batches),
 * SPACE_TO_BATCH_ND: 2 paddings [2, 2]; then optionally the layout flag.
 */
#include "nd_copy.h"
#include "ops.h"
#include "window.h"

struct blocks {
	int64_t y, x;
	int64_t pad[2][2];		/* height, width; before, behind */
	bool nchw;
};

static bool to_batch(const struct op_call *c)
{
	return c->desc->op == NNPU_OP_SPACE_TO_BATCH_ND;
}

static bool with_depth(const struct op_call *c)
{
	return c->desc->op == NNPU_OP_SPACE_TO_DEPTH || c->desc->op == NNPU_OP_DEPTH_TO_SPACE;
}

static unsigned int layout_operand(const struct op_call *c)
{
	return to_batch(c) ? 3 : 2;
}

int space_check(const struct op_call *c)
{
	unsigned int layout = layout_operand(c);

	if (op_check_moved(c, TYPES_FLOAT | TYPES_QUANT8, OP_MAX_RANK) ||
	    op_check_rank(c, 0, 4, 4) || op_check_rank(c, op_output(c, 0), 4, 4) ||
	    (with_depth(c) ? op_check_type(c, 1, TYPE_BIT(INT32)) : op_check_list(c, 1)))
		return -1;
	if (to_batch(c) && (op_check_type(c, 2, TYPE_BIT(TENSOR_INT32)) ||
			    op_check_rank(c, 2, 2, 2)))
		return -1;
	return c->num_inputs > layout ? op_check_type(c, layout, TYPE_BIT(BOOL)) : 0;
}

static int read_paddings(const struct op_call *c, struct blocks *b)
{
	const struct tensor *t = c->in[2];

	if (op_check_rank(c, 2, 2, 2))
		return -1;
	if (t->dims[0] != 2 || t->dims[1] != 2)
		return op_fail(c, NNPU_REASON_DIMENSION, 2);
	if (!tensor_data_known(t))
		return 1;
	for (unsigned int i = 0; i < 4; i++) {
		b->pad[i / 2][i % 2] = op_list_at(c, 2, i);
		if (b->pad[i / 2][i % 2] < 0)
			return op_fail(c, NNPU_REASON_VALUE, 2);
	}
	return 0;
}

/* 0; 1 if an operand is not known before the job runs; -1 with error. */
static int read_blocks(const struct op_call *c, struct blocks *b)
{
	unsigned int layout = layout_operand(c);
	int32_t block;

	*b = (struct blocks){ 0 };
	if (op_check_rank(c, 0, 4, 4))
		return -1;
	if (with_depth(c)) {
		if (op_get_i32(c, 1, &block))
			return 1;
		b->y = block;
		b->x = block;
	} else {
		if (op_check_rank(c, 1, 1, 1))
			return -1;
		if (c->in[1]->dims[0] != 2)
			return op_fail(c, NNPU_REASON_DIMENSION, 1);
		if (!tensor_data_known(c->in[1]))
			return 1;
		b->y = op_list_at(c, 1, 0);
		b->x = op_list_at(c, 1, 1);
	}
	if (b->y < 1 || b->x < 1)
		return op_fail(c, NNPU_REASON_VALUE, 1);
	if (c->num_inputs > layout && op_get_bool(c, layout, &b->nchw))
		return 1;
	return to_batch(c) ? read_paddings(c, b) : 0;
}

static int set_shape(const struct op_call *c, bool nchw, int64_t n, int64_t y, int64_t x,
		     int64_t channels)
{
	/* Every factor is below 2^33: no product of two overflows. */
	if (n > UINT32_MAX || y > UINT32_MAX || x > UINT32_MAX || channels > UINT32_MAX)
		return op_fail(c, NNPU_REASON_OVERFLOW, 1);
	image_set_shape(c, nchw, (uint32_t)n, (uint32_t)y, (uint32_t)x, (uint32_t)channels);
	return 0;
}

int space_infer(const struct op_call *c)
{
	struct blocks b;
	struct image in;
	int64_t y, x, area;
	int ret = read_blocks(c, &b);

	if (ret)
		return ret;
	in = image_of(c->in[0], b.nchw);
	y = (int64_t)in.y + b.pad[0][0] + b.pad[0][1];
	x = (int64_t)in.x + b.pad[1][0] + b.pad[1][1];
	area = b.y * b.x;
	switch (c->desc->op) {
	case NNPU_OP_SPACE_TO_DEPTH:
	case NNPU_OP_SPACE_TO_BATCH_ND:
		if (y % b.y || x % b.x)
			return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 0);
		if (__builtin_mul_overflow(area, with_depth(c) ? in.c : in.n, &area))
			return op_fail(c, NNPU_REASON_OVERFLOW, 1);
		if (with_depth(c))
			return set_shape(c, b.nchw, in.n, y / b.y, x / b.x, area);
		return set_shape(c, b.nchw, area, y / b.y, x / b.x, in.c);
	case NNPU_OP_DEPTH_TO_SPACE:
		if (in.c % area)
			return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 0);
		return set_shape(c, b.nchw, in.n, y * b.y, x * b.x, in.c / area);
	default:
		if (in.n % area)
			return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 0);
		return set_shape(c, b.nchw, in.n / area, y * b.y, x * b.x, in.c);
	}
}

/*
 * Copy between a wide and a deep image. Pixels (y * by + i, x * bx + j) of the wide image
 * form block (y, x). The deep image holds them in channels or batches. @wide_is_in: the
 * wide image is the input.
 */
static int move_blocks(const struct op_call *c, const struct blocks *b,
		       const struct image *wide, const struct image *deep, bool wide_is_in)
{
	struct op_pace pace = { .progress = c->progress };
	/* Stride in the deep image from one element of a block to the next. */
	ptrdiff_t step = (ptrdiff_t)(with_depth(c) ? wide->c * deep->c_stride :
						     wide->n * deep->n_stride);
	struct nd_dim d[] = {
		{ wide->n, (ptrdiff_t)wide->n_stride, (ptrdiff_t)deep->n_stride },
		{ deep->y, (ptrdiff_t)wide->y_stride * b->y, (ptrdiff_t)deep->y_stride },
		{ (size_t)b->y, (ptrdiff_t)wide->y_stride, step * b->x },
		{ deep->x, (ptrdiff_t)wide->x_stride * b->x, (ptrdiff_t)deep->x_stride },
		{ (size_t)b->x, (ptrdiff_t)wide->x_stride, step },
		{ wide->c, (ptrdiff_t)wide->c_stride, (ptrdiff_t)deep->c_stride },
	};

	for (unsigned int i = 0; !wide_is_in && i < 6; i++) {
		ptrdiff_t swap = d[i].in;

		d[i].in = d[i].out;
		d[i].out = swap;
	}
	return nd_copy(&pace, c->in[0]->data, c->out[0]->data, type_size(c->in[0]->type), d, 6);
}

/* Outputs [*first, *last) whose input o * block + offset - pad is inside [0, size). */
static void inside(int64_t offset, int64_t pad, int64_t block, int64_t size, int64_t outputs,
		   int64_t *first, int64_t *last)
{
	int64_t low = pad - offset, high = size + pad - offset;

	*first = low > 0 ? (low + block - 1) / block : 0;
	*last = high > 0 ? (high + block - 1) / block : 0;
	if (*last > outputs)
		*last = outputs;
	if (*first > *last)
		*first = *last;
}

/* SPACE_TO_BATCH_ND with padding: the output is filled, then gets what is inside. */
static int pad_to_batch(const struct op_call *c, const struct blocks *b,
			const struct image *in, const struct image *out)
{
	struct op_pace pace = { .progress = c->progress };
	size_t size = type_size(c->in[0]->type);
	uint32_t zero = 0;

	if (type_is_quant8(c->out[0]->type))
		*(uint8_t *)&zero = (uint8_t)c->out[0]->zero_point;
	if (nd_fill(&pace, c->out[0]->data, size, tensor_elements(c->out[0]), &zero))
		return OP_ABORTED;
	/* Block elements beyond the padded image read no input. */
	for (int64_t i = 0; i < b->y && in->n; i++) {
		for (int64_t j = 0; j < b->x; j++) {
			int64_t y, y_end, x, x_end;
			ptrdiff_t from, to;
			int ret;

			inside(i, b->pad[0][0], b->y, in->y, out->y, &y, &y_end);
			inside(j, b->pad[1][0], b->x, in->x, out->x, &x, &x_end);
			from = (y * b->y + i - b->pad[0][0]) * (ptrdiff_t)in->y_stride +
			       (x * b->x + j - b->pad[1][0]) * (ptrdiff_t)in->x_stride;
			to = (i * b->x + j) * in->n * (ptrdiff_t)out->n_stride +
			     y * (ptrdiff_t)out->y_stride + x * (ptrdiff_t)out->x_stride;
			if (op_pace(&pace, 16))
				return OP_ABORTED;
			if (y == y_end || x == x_end)
				continue;
			ret = nd_copy(&pace, (const char *)c->in[0]->data + from * (ptrdiff_t)size,
				      (char *)c->out[0]->data + to * (ptrdiff_t)size, size,
				      (struct nd_dim[]){
				{ in->n, (ptrdiff_t)in->n_stride, (ptrdiff_t)out->n_stride },
				{ (size_t)(y_end - y), (ptrdiff_t)in->y_stride * b->y,
				  (ptrdiff_t)out->y_stride },
				{ (size_t)(x_end - x), (ptrdiff_t)in->x_stride * b->x,
				  (ptrdiff_t)out->x_stride },
				{ in->c, (ptrdiff_t)in->c_stride, (ptrdiff_t)out->c_stride },
			}, 4);
			if (ret)
				return ret;
		}
	}
	return 0;
}

int space_execute(const struct op_call *c)
{
	struct image in, out;
	struct blocks b;

	if (read_blocks(c, &b))
		return -1;
	in = image_of(c->in[0], b.nchw);
	out = image_of(c->out[0], b.nchw);
	if (to_batch(c))
		return pad_to_batch(c, &b, &in, &out);
	if (c->desc->op == NNPU_OP_SPACE_TO_DEPTH)
		return move_blocks(c, &b, &in, &out, true);
	return move_blocks(c, &b, &out, &in, false);
}
