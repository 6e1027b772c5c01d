// SPDX-License-Identifier: MIT
/*
 * Packing weights of convolutions into panels, the form that kernels.h needs. Constant
 * weights are packed when the program is loaded, in place if no other operand uses the
 * constant. Other weights are packed while the job runs: in place if they were computed for
 * this operation alone, else into scratch memory. So are weights of single precision whose constant
 * has another type: they are larger than the constant.
 */
#include "conv.h"
#include "kernels.h"
#include "nd_copy.h"
#include "ops.h"
#include "quant.h"

#include <string.h>

/* Values of a row that are packed between two looks at op_pace(). */
#define PIECE	(1u << 12)

/* Values of a row that are decoded together. */
#define DECODED	512u

/* How weights of a type are packed. NULL: they are not packed. */
static const struct conv_packing *packing_of(enum nnpu_type type)
{
	if (type == NNPU_TYPE_TENSOR_FLOAT32)
		return &conv_float_packing;
	return type_size(type) == 1 ? &conv_quant_packing : NULL;
}

static size_t panels_of(uint32_t channels)
{
	return ((size_t)channels + KERNEL_PANEL - 1) / KERNEL_PANEL;
}

/* Bytes of a panel, SIZE_MAX if they cannot be counted. */
static size_t panel_size(const struct conv_packing *packing, size_t depth)
{
	size_t groups = depth / packing->group + (depth % packing->group != 0);
	size_t bytes;

	if (__builtin_mul_overflow(groups, packing->group * KERNEL_PANEL * packing->value_size,
				   &bytes))
		return SIZE_MAX;
	return bytes;
}

/* Bytes of all panels. */
static size_t weights_size(const struct conv_packing *packing, uint32_t channels, size_t depth)
{
	return scratch_add(0, panels_of(channels), panel_size(packing, depth));
}

static size_t header_size(const struct conv_packing *packing, const struct op_call *c,
			  uint32_t channels)
{
	if (packing->header_size)
		return packing->header_size(c, channels);
	return scratch_add(0, 1, sizeof(struct conv_packed));
}

/* Bytes of the header and of all panels. */
static size_t packed_size(const struct conv_packing *packing, const struct op_call *c,
			  uint32_t channels, size_t depth)
{
	return scratch_add(header_size(packing, c, channels),
			   weights_size(packing, channels, depth), 1);
}

/* One panel: @cols rows from @rows on. */
static bool pack_rows(struct op_pace *pace, const struct conv_packing *packing,
		      const struct tensor *filter, const char *rows, unsigned int cols,
		      size_t depth, char *panel)
{
	/* Rows that are long are far apart, and memory is slow. */
	for (size_t at = 0, len; at < depth; at += len) {
		len = depth - at < PIECE ? depth - at : PIECE;
		packing->pack_panel(filter, rows + at * packing->value_size, cols, depth, len,
				    panel + at * KERNEL_PANEL * packing->value_size);
		if (op_pace(pace, len * KERNEL_PANEL * 2 + 32))
			return false;
	}
	return true;
}

/* Rows of a panel that are quantized, @at values behind row @first. False: no kernel is for these. */
static bool pack_bytes(const struct tensor *from, size_t first, size_t depth, size_t at, size_t len,
		       void *panel)
{
	float scale[KERNEL_PANEL];

	if (!kernels_get()->pack_bytes || (tensor_is_per_channel(from) && from->channel_dim != 0))
		return false;
	for (unsigned int j = 0; j < KERNEL_PANEL; j++)
		scale[j] = tensor_is_per_channel(from) ? from->channel_scales[first + j] : from->scale;
	kernels_get()->pack_bytes((const uint8_t *)from->data + first * depth + at, depth, len,
				  qbyte_of(from), scale, panel);
	return true;
}

/* The same for rows of half precision. */
static bool pack_halves(const struct tensor *from, size_t first, size_t depth, size_t at,
			size_t len, void *panel)
{
	if (!kernels_get()->pack_halves || from->type != NNPU_TYPE_TENSOR_FLOAT16)
		return false;
	kernels_get()->pack_halves((const uint16_t *)from->data + first * depth + at, depth, len,
				   panel);
	return true;
}

/* Rows of a panel that are decoded and packed by one kernel. False: no kernel is for these. */
static bool pack_by_kernel(const struct op_call *c, size_t first, unsigned int cols, size_t depth,
			   size_t at, size_t len, void *panel)
{
	if (cols < KERNEL_PANEL)
		return false;
	if (c->decode == dequantize_decode)
		return pack_bytes(c->coded, first, depth, at, len, panel);
	return c->decode == cast_decode && pack_halves(c->coded, first, depth, at, len, panel);
}

/*
 * The same from row @first on of weights that are decoded, a few at a time. Rows that are short lie
 * one behind the other.
 */
static bool pack_coded(struct op_pace *pace, const struct conv_packing *packing,
		       const struct op_call *c, size_t first, unsigned int cols, size_t depth,
		       char *panel)
{
	float values[KERNEL_PANEL * DECODED];

	for (size_t at = 0, len; at < depth; at += len) {
		char *to = panel + at * KERNEL_PANEL * packing->value_size;

		len = depth - at < DECODED ? depth - at : DECODED;
		if (!pack_by_kernel(c, first, cols, depth, at, len, to)) {
			if (len == depth)
				c->decode(c->coded, first * depth, cols * depth, values);
			for (unsigned int j = 0; len < depth && j < cols; j++)
				c->decode(c->coded, (first + j) * depth + at, len,
					  values + j * len);
			packing->pack_panel(c->in[1], values, cols, len, len, to);
		}
		if (op_pace(pace, len * KERNEL_PANEL * 8 + 64))
			return false;
	}
	return true;
}

/*
 * Write the header to @packed and the panels to @weights. @weights may be the place of the
 * rows themselves, which are not larger. So the last panel is packed first, and @row_buffer
 * holds the rows of one panel meanwhile (NULL: @weights is another place). False: abort.
 */
static bool pack(struct op_pace *pace, const struct conv_packing *packing,
		 const struct op_call *c, uint32_t channels, size_t depth,
		 struct conv_packed *packed, void *weights, void *row_buffer)
{
	size_t panel = panel_size(packing, depth), row = depth * packing->value_size;

	packed->weights = weights;
	if (packing->fill_header)
		packing->fill_header(pace, c, channels, depth, packed);
	for (size_t i = panels_of(channels); i-- > 0;) {
		size_t left = channels - i * KERNEL_PANEL;
		unsigned int cols = left < KERNEL_PANEL ? (unsigned int)left : KERNEL_PANEL;
		const void *rows;

		if (c->coded) {
			if (!pack_coded(pace, packing, c, i * KERNEL_PANEL, cols, depth,
					(char *)weights + i * panel))
				return false;
			continue;
		}
		rows = (const char *)c->in[1]->data + i * KERNEL_PANEL * row;
		if (row_buffer) {
			nd_move(pace, rows, row_buffer, cols * row);
			rows = row_buffer;
		}
		if (!pack_rows(pace, packing, c->in[1], rows, cols, depth,
			       (char *)weights + i * panel))
			return false;
	}
	return !pace->ended;
}

/* Room for the rows of a panel while weights are packed in their own place. */
static size_t rows_size(const struct conv_packing *packing, size_t depth)
{
	return scratch_add(0, KERNEL_PANEL, depth * packing->value_size);
}

/* Are the weights packed in their own place? */
static bool packs_in_place(const struct conv_packing *packing, const struct op_call *c,
			   uint32_t channels, size_t depth)
{
	return c->own >> 1 & 1 && weights_size(packing, channels, depth) <= op_room(c->in[1]);
}

/* Pack the weights in place. */
static void *prepare_in_place(struct op_pace *pace, const struct conv_packing *packing,
			      const struct op_call *c, uint32_t channels, size_t depth,
			      size_t *bytes)
{
	size_t size = header_size(packing, c, channels);
	size_t rows = rows_size(packing, depth), taken = 0;
	void *row_buffer = op_take(c->progress, rows, NULL);
	void *memory = op_take(c->progress, size, &taken);

	if (row_buffer && memory) {
		pack(pace, packing, c, channels, depth, memory, c->in[1]->data, row_buffer);
		c->in[1]->form = FORM_NATIVE;
		*bytes += taken;
	} else {
		op_give(c->progress, memory, size);
		memory = NULL;
	}
	op_give(c->progress, row_buffer, rows);
	return memory;
}

/*
 * The weights behind rows of an odd depth are 0 in panels that are packed here: kernels read some byte of
 * theirs there. In those of an image they may be any.
 */
static void clear_behind(struct op_pace *pace, const struct conv_packing *packing,
			 uint32_t channels, size_t depth, void *weights)
{
	size_t panel = panel_size(packing, depth);

	if (packing->value_size > 1 || depth % packing->group == 0)
		return;
	for (size_t i = 1; i <= panels_of(channels) && !op_pace(pace, 16); i++) {
		int8_t *end = (int8_t *)weights + i * panel;

		for (unsigned int c = 1; c <= KERNEL_PANEL; c++)
			end[1 - 2 * (int)c] = 0;
	}
}

/* The weights are packed already: all that is missing is the header. */
static int prepare_native(struct op_pace *pace, const struct conv_packing *packing,
			  struct op_call *c, uint32_t channels, size_t depth, size_t *bytes)
{
	struct conv_packed *packed = op_take(c->progress, header_size(packing, c, channels), bytes);

	if (!packed)
		return -1;	/* execute() cannot do without */
	packed->weights = c->in[1]->data;
	clear_behind(pace, packing, channels, depth, c->in[1]->data);
	if (packing->fill_header)
		packing->fill_header(pace, c, channels, depth, packed);
	c->prepared = packed;
	return 0;
}

int conv_prepare(struct op_call *c, uint32_t channels, size_t depth, size_t *bytes)
{
	const struct conv_packing *packing = packing_of(c->in[0]->type);
	struct op_pace pace = { .progress = c->progress };
	size_t size;

	if (c->in[1]->form == FORM_NATIVE)
		return prepare_native(&pace, packing, c, channels, depth, bytes);
	if (kernels_plain() || !packing)
		return 0;
	size = packed_size(packing, c, channels, depth);
	if (size == SIZE_MAX)
		return 0;
	if (packs_in_place(packing, c, channels, depth)) {
		c->prepared = prepare_in_place(&pace, packing, c, channels, depth, bytes);
		return 0;
	}
	c->prepared = op_take(c->progress, size, bytes);
	if (!c->prepared)
		return 0;	/* execute() packs the weights then */
	conv_pack(&pace, packing, c, channels, depth, c->prepared);
	c->released |= 1u << 1;
	return 0;
}

void conv_unprepare(struct op_pace *pace, const struct op_call *c, unsigned int i, void *to)
{
	const struct conv_packing *packing = packing_of(c->in[0]->type);
	const struct tensor *filter = c->in[i];
	size_t depth = tensor_elements_of(filter, 1, filter->rank), size = packing->value_size;
	size_t panel = panel_size(packing, depth), group = packing->group;
	uint8_t flip = filter->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM ? 0x80 : 0;
	const char *weights = op_native_weights(c->prepared);
	uint8_t *dst = to;

	for (uint32_t row = 0; row < filter->dims[0] && !op_pace(pace, 8); row++) {
		const char *src = weights + row / KERNEL_PANEL * panel;

		for (size_t at = 0; at < depth && !op_pace_row(pace, at, 4); at++, dst += size) {
			size_t value = (at / group * KERNEL_PANEL + row % KERNEL_PANEL) * group +
				       at % group;

			memcpy(dst, src + value * size, size);
			*dst ^= flip;
		}
	}
}

size_t conv_scratch(const struct op_call *c, uint32_t channels, size_t depth)
{
	const struct conv_packing *packing = packing_of(c->in[0]->type);

	if (c->prepared)
		return 0;
	if (packs_in_place(packing, c, channels, depth))
		return scratch_add(header_size(packing, c, channels), rows_size(packing, depth), 1);
	return packed_size(packing, c, channels, depth);
}

struct conv_packed *conv_pack(struct op_pace *pace, const struct conv_packing *packing,
			      const struct op_call *c, uint32_t channels, size_t depth,
			      void *memory)
{
	void *behind = (char *)memory + header_size(packing, c, channels);
	bool in_place = packs_in_place(packing, c, channels, depth);

	if (!pack(pace, packing, c, channels, depth, memory, in_place ? c->in[1]->data : behind,
		  in_place ? behind : NULL))
		return NULL;
	return memory;
}

bool conv_is_few(const struct op_call *c, uint32_t channels, size_t depth)
{
	const struct tensor *out = c->out[0];

	return !kernels_plain() && tensor_is_const(c->in[1]) && c->in[1]->form == FORM_PLAIN &&
	       packing_of(c->in[0]->type) && out->shape_known && depth > CONV_FEW_DEPTH &&
	       2 * KERNEL_PANEL * panels_of(channels) > 3 * (size_t)channels &&
	       tensor_elements(out) <= (uint64_t)channels * KERNEL_ROWS;
}

size_t op_room(const struct tensor *t)
{
	const struct conv_packing *packing = packing_of(t->type);
	size_t packed;

	if (!packing || t->rank < 2 || !t->shape_known || t->bytes == 0)
		return t->bytes;
	packed = weights_size(packing, t->dims[0], tensor_elements_of(t, 1, t->rank));
	/* Padding this large tells that the constant is no filter of a convolution. */
	return packed - t->bytes > t->bytes / 8 ? t->bytes : packed;
}

size_t op_native_size(const struct tensor *t)
{
	const struct conv_packing *packing = packing_of(t->type);
	size_t size;

	if (!packing || t->rank < 2 || !t->shape_known || !t->bytes)
		return 0;
	size = weights_size(packing, t->dims[0], tensor_elements_of(t, 1, t->rank));
	return size == SIZE_MAX ? 0 : size;
}

bool op_takes_native(const struct op_call *c, unsigned int i)
{
	return c->desc && c->desc->native_weights && i == 1 && !kernels_plain() &&
	       packing_of(c->in[0]->type) == packing_of(c->in[1]->type);
}

bool op_decodes_weights(const struct op_call *c)
{
	return c->desc->native_weights && !kernels_plain() &&
	       c->in[0]->type == NNPU_TYPE_TENSOR_FLOAT32 &&
	       c->in[1]->type == NNPU_TYPE_TENSOR_FLOAT32;
}

const void *op_native_weights(const void *prepared)
{
	return ((const struct conv_packed *)prepared)->weights;
}
