// SPDX-License-Identifier: MIT
/*
 * Quantized convolution.
 *
 * The output pixels are processed in tiles. The elements under the window of each pixel are
 * gathered into a row of 16-bit values from which the zero point is subtracted, so that
 * padding is 0. The rows of a tile are multiplied by two panels of packed weights at a
 * time. Weights stay bytes: their zero point times the sum of the row is subtracted from
 * the result. Very long rows are processed in pieces. Tiles are on the stack. Weights that
 * are not constant are packed into scratch memory.
 *
 * Where kernels multiply bytes, whole rows of channels-last images are gathered as they are, with the
 * zero point as padding.
 */
#include "conv.h"
#include "kernels.h"

#include <string.h>

/* Pixels and values of a tile, at most. */
#define TILE_ROWS	(8 * KERNEL_ROWS)
#define TILE_VALUES	24576

static size_t pairs_of(size_t depth)
{
	return depth / 2 + depth % 2;
}

int32_t conv_weights_zero_point(const struct op_call *c)
{
	int32_t zero_point = tensor_zero_point(c->in[1]);

	return c->in[1]->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM ? zero_point - 128 : zero_point;
}

size_t requant_channels(const struct op_call *c, uint32_t channels)
{
	if (!tensor_is_per_channel(c->in[1]))
		return KERNEL_COLS;
	if (channels <= REQUANT_CHANNELS)
		return 0;
	return ((size_t)channels + KERNEL_COLS - 1) / KERNEL_COLS * KERNEL_COLS;
}

void requant_fill(struct op_pace *pace, const struct op_call *c, uint32_t channels,
		  int32_t *mult, int32_t *shift, struct requant *q)
{
	size_t n = requant_channels(c, channels);
	struct qfactor f = { 0, 0 };

	*q = (struct requant){
		.mult = n ? mult : NULL,
		.shift = n ? shift : NULL,
		.per_channel = tensor_is_per_channel(c->in[1]),
		.shifts_right = true,
		.zero_point = c->out[0]->zero_point,
	};
	for (size_t i = 0; i < n && !op_pace(pace, 32); i++) {
		if (i == 0 || (q->per_channel && i < channels))
			f = qfactor_of_channel(c, (uint32_t)i);
		mult[i] = f.mult;
		/* A factor of 0 is 0 with any shift; -1 keeps @shifts_right. */
		shift[i] = f.mult ? f.shift : -1;
		q->shifts_right &= shift[i] < 0;
	}
}

struct requant requant_of_job(const struct op_call *c, uint32_t channels, enum activation activation,
			      const struct requant *kept, struct requant_room *room)
{
	struct requant q = *kept;

	q.range = qrange_of(activation, c->out[0]);
	if (q.mult)
		return q;
	q.shifts_right = kernels_rows()->factors(c->in[1]->channel_scales, channels,
						 (double)c->in[0]->scale, (double)c->out[0]->scale,
						 room->mult, room->shift);
	/* Kernels read whole blocks. */
	for (size_t i = channels; i % KERNEL_COLS; i++) {
		room->mult[i] = 0;
		room->shift[i] = -1;
	}
	q.mult = room->mult;
	q.shift = room->shift;
	return q;
}

static size_t header_size(const struct op_call *c, uint32_t channels)
{
	return scratch_add(scratch_add(0, 1, sizeof(struct conv_quant)),
			   requant_channels(c, channels), 2 * sizeof(int32_t));
}

static void fill_header(struct op_pace *pace, const struct op_call *c, uint32_t channels,
			size_t depth, struct conv_packed *packed)
{
	struct op_call pieces = { .scratch = packed };
	struct conv_quant *p = scratch_take(&pieces, sizeof(*p));
	size_t n = requant_channels(c, channels);
	int32_t *mult = scratch_take(&pieces, 2 * n * sizeof(*mult));

	p->pairs = pairs_of(depth);
	p->zero_point = conv_weights_zero_point(c);
	requant_fill(pace, c, channels, mult, mult + n, &p->requant);
}

static void pack_panel(const struct tensor *filter, const void *rows, unsigned int cols,
		       size_t depth, size_t len, void *panel)
{
	uint8_t flip = filter->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM ? 0x80 : 0;
	const uint8_t *src = rows;

	for (unsigned int i = 0; i < KERNEL_PANEL; i++, src += depth) {
		int8_t *dst = (int8_t *)panel + 2 * i;
		size_t at = 0;

		for (; i < cols && at + 2 <= len; at += 2, dst += 2 * KERNEL_PANEL) {
			dst[0] = (int8_t)(src[at] ^ flip);
			dst[1] = (int8_t)(src[at + 1] ^ flip);
		}
		for (; at < len; at += 2, dst += 2 * KERNEL_PANEL) {
			dst[0] = i < cols ? (int8_t)(src[at] ^ flip) : 0;
			dst[1] = 0;
		}
	}
}

const struct conv_packing conv_quant_packing = {
	.value_size = sizeof(int8_t),
	.group = 2,
	.header_size = header_size,
	.fill_header = fill_header,
	.pack_panel = pack_panel,
};

/* Gathering. */

/* Values that are adjacent: widened, or as the bytes that qconv() takes. */
static void copy_values(const struct kernels *k, const uint8_t *src, struct qbyte b, size_t n,
			size_t size, void *dst)
{
	if (size == 1)
		k->flip(src, b.flip, n, dst);
	else
		k->widen(src, b, n, dst);
}

/* @n values from @src on. They span several pixels only if those are adjacent in memory. */
static void gather_run(const struct kernels *k, const struct conv *cv, struct op_pace *pace,
		       struct qbyte b, const uint8_t *src, size_t n, int16_t *dst)
{
	if (cv->in.c_stride == 1) {
		k->widen(src, b, n, dst);
		return;
	}
	for (size_t i = 0; i < n && !op_pace_strided(pace, i, cv->in.c_stride, 1); i++)
		dst[i] = qbyte_value(src[i * cv->in.c_stride], b);
	op_pace(pace, op_pace_rest(n, cv->in.c_stride, 1));
}

/* Piece [from, from + len) of the row of inputs of pixel @p. */
static void gather_piece(const struct kernels *k, const struct conv *cv, struct op_pace *pace,
			 struct qbyte b, const uint8_t *in, struct conv_pixel p, size_t from, size_t len,
			 int16_t *dst)
{
	struct conv_runs r = conv_runs_of(cv, p, from, len);

	for (; conv_runs_next(&r) && !op_pace(pace, OP_PACE_RUN_APART); dst += r.len) {
		if (r.inside)
			gather_run(k, cv, pace, b, in + r.offset, r.len, dst);
		else
			memset(dst, 0, r.len * sizeof(*dst));
	}
}

/*
 * The same for a whole row of a channels-last image without dilation; elements of @dst are values, or
 * if @size is 1, bytes.
 */
static void gather_row(const struct kernels *k, const struct conv *cv, struct qbyte b,
		       const uint8_t *in, struct conv_pixel p, size_t size, char *dst)
{
	int outside = size == 1 ? b.bias : 0;
	uint32_t y_first, y_last, x_first, x_last;
	size_t channels = cv->in.c, width = cv->x.taps * channels;
	size_t before, run;

	window_taps(&cv->y, p.y, &y_first, &y_last);
	window_taps(&cv->x, p.x, &x_first, &x_last);
	before = x_first * channels;
	run = (x_last - x_first) * channels;
	in += p.n * cv->in.n_stride;
	if (run)
		in += window_index(&cv->x, p.x, x_first) * cv->in.x_stride;
	for (uint32_t ty = 0; ty < cv->y.taps; ty++, dst += width * size) {
		if (ty < y_first || ty >= y_last || !run) {
			memset(dst, outside, width * size);
			continue;
		}
		if (run < width) {
			memset(dst, outside, before * size);
			memset(dst + (before + run) * size, outside, (width - before - run) * size);
		}
		copy_values(k, in + window_index(&cv->y, p.y, ty) * cv->in.y_stride, b, run, size,
			    dst + before * size);
	}
}

/* Execution. */

struct tile {
	const struct kernels *k;
	const struct op_call *c;
	const struct conv *cv;
	const struct conv_quant *packed;
	struct requant requant;
	struct op_pace *pace;
	size_t depth;
	bool rows_adjacent;		/* one tap: the rows are the image itself */
	struct window_interior interior;	/* of the x axis */
	unsigned int rows;
	struct conv_pixel first;	/* pixel of row 0 */
	size_t pixel;			/* its number */
	size_t size;			/* of an element of @inputs: of a value, or 1: qconv() is used */
	void *inputs;
	size_t stride;			/* of the rows in @inputs, in elements */
	int32_t add[TILE_ROWS];
};

static void *row_of(const struct tile *t, unsigned int r)
{
	return (char *)t->inputs + r * t->stride * t->size;
}

/*
 * Gather the rows of the tile from row @r on, whose pixel is @p, as far as they have the same
 * taps inside and no tap outside at the sides. Returns their number; 0 if there is none, or if
 * it cannot be done within the tensor.
 */
static unsigned int gather_inside(struct tile *t, struct conv_pixel p, unsigned int r)
{
	const struct conv *cv = t->cv;
	const struct tensor *in = t->c->in[0];
	size_t run = (size_t)cv->x.taps * cv->in.c, offset, room, last;
	int outside = t->size == 1 ? qbyte_of(in).bias : 0;
	uint32_t y_first, y_last, ty;
	char *dst = row_of(t, r);
	struct gathered g = {
		.run = run,
		.next = (size_t)cv->y.dilation * cv->in.y_stride,
		.step = (size_t)cv->x.stride * cv->in.x_stride,
		.rows = t->rows - r,
	};

	window_taps(&cv->y, p.y, &y_first, &y_last);
	if (p.x < t->interior.first || p.x >= t->interior.end || y_first == y_last)
		return 0;
	offset = p.n * cv->in.n_stride + window_index(&cv->y, p.y, y_first) * cv->in.y_stride +
		 window_index(&cv->x, p.x, 0) * cv->in.x_stride;
	g.from = (const uint8_t *)in->data + offset;
	g.runs = y_last - y_first;
	if (g.rows > t->interior.end - p.x)
		g.rows = t->interior.end - p.x;
	/* At least one: see conv_rows_short(). */
	if (g.rows > OP_PACE_TAPS / g.runs)
		g.rows = OP_PACE_TAPS / g.runs;
	/* The last run of the last row ends here, with what may be read behind it. */
	room = in->bytes - offset;
	last = (g.runs - 1) * g.next + run + KERNEL_SLACK;
	if (last > room)
		return 0;
	if (g.rows - 1 > (room - last) / g.step)
		g.rows = (unsigned int)((room - last) / g.step) + 1;
	if (t->size == 1)
		t->k->gather_bytes(&g, qbyte_of(in).flip, (uint8_t *)dst + y_first * run, t->stride);
	else
		t->k->gather(&g, qbyte_of(in), (int16_t *)dst + y_first * run, t->stride);
	run *= t->size;
	for (unsigned int i = 0; g.runs < cv->y.taps && i < g.rows; i++) {
		dst = row_of(t, r + i);
		for (ty = 0; ty < cv->y.taps; ty++) {
			if (ty < y_first || ty >= y_last)
				memset(dst + ty * run, outside, run);
		}
	}
	return g.rows;
}

/* Gather the rows of a tile of a channels-last image without dilation along x. */
static void gather_rows(struct tile *t)
{
	struct qbyte b = qbyte_of(t->c->in[0]);
	struct conv_pixel p = t->first;

	for (unsigned int r = 0, n; r < t->rows; r += n) {
		n = gather_inside(t, p, r);
		if (!n) {
			gather_row(t->k, t->cv, b, t->c->in[0]->data, p, t->size, row_of(t, r));
			n = 1;
		}
		if (op_pace(t->pace, (size_t)n * t->cv->y.taps * OP_PACE_RUN_APART))
			return;
		p.x += n - 1;
		conv_pixel_next(t->cv, &p);
	}
}

/* What the zero point of weights adds to the sums of each row, whose piece is @len elements long. */
static void add_zero_point(struct tile *t, size_t len)
{
	uint32_t zero_point = (uint32_t)t->packed->zero_point;
	int32_t sums[TILE_ROWS], bias = qbyte_of(t->c->in[0]).bias;

	if (!zero_point)
		return;
	if (t->size == 1)
		t->k->sum_rows(t->inputs, t->stride, t->rows, len, sums);
	for (unsigned int r = 0; r < t->rows; r++) {
		int32_t sum = t->size == 1 ? sums[r] - (int32_t)len * bias :
					     t->k->sum(row_of(t, r), len);

		t->add[r] = (int32_t)((uint32_t)t->add[r] - (uint32_t)sum * zero_point);
	}
}

/*
 * Gather piece [from, from + len) of the rows of a tile. Compute what it and the pieces before add
 * to their sums.
 */
static int gather(struct tile *t, size_t from, size_t len)
{
	const struct conv *cv = t->cv;
	const uint8_t *in = t->c->in[0]->data;
	struct qbyte b = qbyte_of(t->c->in[0]);
	bool simple = conv_rows_short(cv) && len == t->depth;
	struct conv_pixel p = t->first;

	if (t->rows_adjacent && len == t->depth && t->stride == len) {
		copy_values(t->k, in + t->pixel * len, b, t->rows * len, t->size, t->inputs);
	} else if (simple) {
		gather_rows(t);
	} else {
		for (unsigned int r = 0; r < t->rows; r++, conv_pixel_next(cv, &p))
			gather_piece(t->k, cv, t->pace, b, in, p, from, len, row_of(t, r));
	}
	for (unsigned int r = 0; t->size > 1 && len % 2 && r < t->rows; r++)
		((int16_t *)row_of(t, r))[len] = 0;
	if (!from)
		memset(t->add, 0, t->rows * sizeof(*t->add));
	add_zero_point(t, len);
	return op_pace(t->pace, t->rows * (len / 4 + 64)) ? OP_ABORTED : 0;
}

static void store(const struct tile *t, const int32_t *acc, uint32_t col, unsigned int cols)
{
	const struct conv *cv = t->cv;
	uint8_t *out = t->c->out[0]->data;
	struct conv_pixel p = t->first;

	if (cv->out.c_stride == 1) {
		t->k->requantize(acc, t->rows, &t->requant, col, cols,
				 out + t->pixel * cv->out.c + col, cv->out.c);
		return;
	}
	for (unsigned int r = 0; r < t->rows; r++, acc += KERNEL_COLS) {
		uint8_t *dst = out + conv_pixel_offset(cv, p) + col * cv->out.c_stride;
		uint8_t values[KERNEL_COLS];

		t->k->requantize(acc, 1, &t->requant, col, cols, values, 0);
		for (unsigned int i = 0; i < cols; i++)
			dst[i * cv->out.c_stride] = values[i];
		conv_pixel_next(cv, &p);
	}
}

static void add_bias(const struct tile *t, const int32_t *bias, unsigned int cols, int32_t *acc)
{
	for (unsigned int r = 0; r < t->rows; r++) {
		for (unsigned int i = 0; i < cols; i++) {
			int32_t *a = &acc[r * KERNEL_COLS + i];

			*a = q_add(*a, q_add(bias[i], t->add[r]));
		}
	}
}

/* Up to KERNEL_COLS channels of a tile. Its rows have been gathered unless they go in pieces. */
static int execute_cols(struct tile *t, uint32_t col, unsigned int cols, size_t piece)
{
	unsigned int panels = cols > KERNEL_PANEL ? 2 : 1;
	const int32_t *bias = (const int32_t *)t->c->in[2]->data + col;
	size_t panel = t->packed->pairs * 2 * KERNEL_PANEL;
	const int8_t *weights = (const int8_t *)t->packed->packed.weights +
				col / KERNEL_PANEL * panel;
	int32_t acc[TILE_ROWS * KERNEL_COLS], padded[KERNEL_COLS];

	if (cols < KERNEL_COLS) {
		memset(padded, 0, sizeof(padded));
		memcpy(padded, bias, cols * sizeof(*padded));
		bias = padded;
	}
	if (piece >= t->depth) {
		t->k->qgemm(t->inputs, t->stride, t->rows, weights, t->packed->pairs, panels,
			    bias, t->add, acc);
		store(t, acc, col, cols);
		return op_pace(t->pace, t->rows * (t->stride + 32)) ? OP_ABORTED : 0;
	}
	memset(acc, 0, sizeof(acc));
	for (size_t from = 0; from < t->depth; from += piece) {
		size_t len = t->depth - from < piece ? t->depth - from : piece;

		if (gather(t, from, len))
			return OP_ABORTED;
		for (unsigned int i = 0; i < panels; i++)
			t->k->qgemm(t->inputs, t->stride, t->rows,
				    weights + i * panel + from * KERNEL_PANEL, pairs_of(len), 1,
				    NULL, t->add, acc + i * KERNEL_PANEL);
		if (op_pace(t->pace, t->rows * t->stride))
			return OP_ABORTED;
	}
	add_bias(t, bias, cols, acc);
	store(t, acc, col, cols);
	return 0;
}

/* The same with bytes for up to KERNEL_WIDE channels. */
static int execute_bytes(struct tile *t, uint32_t col, unsigned int cols)
{
	const struct conv_quant *packed = t->packed;
	const int8_t *weights = (const int8_t *)packed->packed.weights + col * 2 * packed->pairs;

	t->k->qconv(t->inputs, t->stride, t->rows, weights, t->depth, qbyte_of(t->c->in[0]).bias,
		    (const int32_t *)t->c->in[2]->data + col, t->add, &t->requant, col, cols,
		    (uint8_t *)t->c->out[0]->data + t->pixel * t->cv->out.c + col, t->cv->out.c);
	return op_pace(t->pace, t->rows * (t->stride + 32)) ? OP_ABORTED : 0;
}

/* Weights that a single row is multiplied by between two looks at op_pace(). */
#define ROW_WEIGHTS	(1u << 19)

/* A tile of one row, if there is a kernel for that. */
static bool is_row(const struct tile *t)
{
	return t->rows == 1 && t->cv->out.c_stride == 1 && t->requant.shifts_right;
}

/*
 * The channels [col, end) of a tile of one row: @bytes as they are, or if it is NULL, the inputs that
 * were gathered.
 */
static void execute_row(struct tile *t, const uint8_t *bytes, uint32_t col, uint32_t end)
{
	const struct conv_quant *packed = t->packed;
	const int8_t *weights = (const int8_t *)packed->packed.weights;
	const int32_t *bias = t->c->in[2]->data;
	uint8_t *out = (uint8_t *)t->c->out[0]->data + conv_pixel_offset(t->cv, t->first);
	uint32_t max = KERNEL_COLS, n;

	if (packed->pairs < ROW_WEIGHTS / (2 * KERNEL_COLS))
		max = (uint32_t)(ROW_WEIGHTS / 2 / packed->pairs) / KERNEL_COLS * KERNEL_COLS;
	for (; col < end && !t->pace->ended; col += n) {
		const int8_t *w = weights + col * 2 * packed->pairs;

		n = end - col < max ? end - col : max;
		if (bytes)
			t->k->qrow_bytes(bytes, qbyte_of(t->c->in[0]), t->depth, w, bias + col,
					 &t->requant, col, n, out);
		else
			t->k->qrow(t->inputs, w, packed->pairs, bias + col, t->add[0], &t->requant,
				   col, n, out);
		op_pace(t->pace, n * (packed->pairs / (bytes ? 16 : 8) + 2));
	}
}

/* A call. Its parts share it. */
struct quant_call {
	const struct op_call *c;
	const struct conv *cv;
	const struct conv_quant *packed;
	struct requant requant;
	struct conv_split split;
	size_t depth;
	size_t piece;			/* longest piece of a row */
	size_t size;
	size_t stride;
	unsigned int max_rows;
};

/* Are rows of bytes multiplied? For a single row there are other kernels. */
static bool takes_bytes(const struct quant_call *q)
{
	const struct conv *cv = q->cv;

	return kernels_get()->qconv && q->piece == q->depth &&
	       q->requant.shifts_right && conv_rows_short(cv) && cv->out.c_stride == 1 &&
	       q->split.pixels > 1;
}

/* Channels of a tile. */
static int execute_tile(struct tile *t, uint32_t col, uint32_t end, size_t piece)
{
	bool whole = piece >= t->depth;
	uint32_t most = t->size == 1 ? KERNEL_WIDE : KERNEL_COLS, cols;

	if (whole && is_row(t) && t->k->qrow_bytes && t->rows_adjacent && !t->packed->zero_point) {
		execute_row(t, (const uint8_t *)t->c->in[0]->data + t->pixel * t->depth, col, end);
		return t->pace->ended ? OP_ABORTED : 0;
	}
	if (whole && gather(t, 0, t->depth))
		return OP_ABORTED;
	if (whole && is_row(t) && t->k->qrow && t->size > 1) {
		execute_row(t, NULL, col, end);
		return t->pace->ended ? OP_ABORTED : 0;
	}
	for (; col < end; col += cols) {
		if (t->pace->ended)
			return OP_ABORTED;
		cols = end - col < most ? end - col : most;
		if (t->size == 1) {
			if (execute_bytes(t, col, cols))
				return OP_ABORTED;
			continue;
		}
		if (execute_cols(t, col, cols, piece))
			return OP_ABORTED;
	}
	return 0;
}

static int execute_part(const void *work, size_t first, size_t end, struct op_pace *pace)
{
	int16_t inputs[TILE_VALUES + KERNEL_SLACK] __attribute__((aligned(64)));
	const struct quant_call *q = work;
	struct conv_range range = conv_split_range(&q->split, first, end);
	struct tile t;

	/* Field by field: an initializer clears all of it, which takes long for a small layer. */
	t.k = kernels_get();
	t.c = q->c;
	t.cv = q->cv;
	t.packed = q->packed;
	t.requant = q->requant;
	t.pace = pace;
	t.depth = q->depth;
	t.rows_adjacent = conv_is_pointwise(q->cv);
	t.interior = window_interior(&q->cv->x);
	t.size = q->size;
	t.inputs = inputs;
	t.stride = q->stride;
	for (t.pixel = range.pixel; t.pixel < range.pixel_end; t.pixel += t.rows) {
		size_t left = range.pixel_end - t.pixel;

		t.first = t.pixel ? conv_pixel_at(q->cv, t.pixel) : (struct conv_pixel){ 0, 0, 0 };
		t.rows = left < q->max_rows ? (unsigned int)left : q->max_rows;
		if (execute_tile(&t, range.col, range.col_end, q->piece))
			return OP_ABORTED;
	}
	return 0;
}

int conv_quant_execute(const struct op_call *c, const struct conv *cv)
{
	struct op_pace pace = { .progress = c->progress };
	struct op_parts parts = { .compute = execute_part };
	struct requant_room room;
	struct quant_call q;

	q.c = c;
	q.cv = cv;
	q.depth = conv_depth(cv);
	if (!c->prepared &&
	    !conv_pack(&pace, &conv_quant_packing, c, cv->out.c, q.depth, c->scratch))
		return OP_ABORTED;
	q.packed = c->prepared ? c->prepared : c->scratch;
	q.requant = requant_of_job(c, cv->out.c, cv->activation, &q.packed->requant, &room);
	q.split = conv_split_of(cv);
	q.piece = q.depth;
	q.stride = pairs_of(q.depth) * 2;
	if (q.stride > TILE_VALUES) {
		q.piece = TILE_VALUES;
		q.stride = q.piece;
	}
	q.size = sizeof(int16_t);
	if (takes_bytes(&q)) {
		q.size = 1;
		q.stride = conv_is_pointwise(cv) ? q.depth : (q.depth + 3) / 4 * 4;
	}
	q.max_rows = TILE_ROWS;
	if (q.max_rows * q.stride > TILE_VALUES)
		q.max_rows = (unsigned int)(TILE_VALUES / q.stride);
	if (q.max_rows > KERNEL_ROWS)
		q.max_rows -= q.max_rows % KERNEL_ROWS;
	parts.work = &q;
	parts.items = conv_split_items(&q.split);
	parts.units = conv_split_units(&q.split, q.depth + 32);
	return op_run_parts(c, &parts, &pace);
}
