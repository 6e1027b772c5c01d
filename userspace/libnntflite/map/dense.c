// SPDX-License-Identifier: MIT
/*
 * Constants whose elements do not lie one behind the other in the file: sparse ones, and
 * numbers of four bits. Models get them as the HAL has constants. Elements are moved; nothing
 * is computed.
 *
 * The format of sparse data is that of TACO: the dimensions of the tensor in some order, then
 * those of blocks, are levels of a tree. A level is dense, with a node for each index, or
 * compressed, with a list of the indices below each node. The leaves are the stored elements.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "map_ops.h"

/* Slots of the tables, in the order of the schema; a union takes two. */
enum { SPARSITY_ORDER, SPARSITY_BLOCKS, SPARSITY_LEVELS };
enum {
	LEVEL_FORMAT, LEVEL_SIZE, LEVEL_SEGMENTS_TYPE, LEVEL_SEGMENTS, LEVEL_INDICES_TYPE,
	LEVEL_INDICES,
};
enum { FORMAT_DENSE, FORMAT_COMPRESSED };

/* Each dimension may have blocks. */
#define MAX_LEVELS	(2 * TFLITE_MAX_RANK)

/* A list of numbers of 4, 2 or 1 bytes. */
struct index_list {
	struct fb_vector vector;
	size_t size;
};

struct level {
	bool compressed;
	uint32_t size;			/* of the dimension, or of a block of it */
	size_t stride;			/* elements from one index to the next */
	struct index_list segments, indices;
};

struct tree {
	struct level levels[MAX_LEVELS];
	uint32_t num_levels;
	size_t leaves;
};

static uint32_t number(const struct index_list *list, size_t i)
{
	const uint8_t *p = list->vector.data + i * list->size;

	switch (list->size) {
	case 4:
		return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
	case 2:
		return p[0] | (uint32_t)p[1] << 8;
	default:
		return p[0];
	}
}

static int read_list(struct mapper *m, const struct tflite_tensor *tensor,
		     const struct fb_table *table, unsigned int slot, struct index_list *list)
{
	/* SparseIndexVector of the schema. */
	static const uint8_t sizes[] = { 0, 4, 2, 1 };
	uint8_t type = fb_u8(table, slot, 0);
	struct fb_table values = fb_subtable(table, slot + 1);

	if (type == 0 || type >= sizeof(sizes))
		return tensor_fail(m, tensor, "sparse data: a list of indices of type %u", type);
	list->size = sizes[type];
	list->vector = fb_vector(&values, 0, list->size);
	return 0;
}

/* Segment k of a level has the indices [segments[k], segments[k + 1]). */
static int check_compressed(struct mapper *m, const struct tflite_tensor *tensor, uint32_t number_of,
			    const struct level *level, size_t nodes)
{
	uint32_t i, count = level->indices.vector.count;

	if (level->segments.vector.count != nodes + 1)
		return tensor_fail(m, tensor, "sparse data: level %" PRIu32 " has %" PRIu32
				   " segments, expected %zu", number_of,
				   level->segments.vector.count, nodes + 1);
	for (i = 0; i < nodes; i++)
		if (number(&level->segments, i) > number(&level->segments, i + 1))
			return tensor_fail(m, tensor, "sparse data: segment %" PRIu32 " of level %"
					   PRIu32 " ends before it begins", i, number_of);
	if (number(&level->segments, 0) != 0 || number(&level->segments, nodes) != count)
		return tensor_fail(m, tensor, "sparse data: the segments of level %" PRIu32
				   " do not cover its %" PRIu32 " indices", number_of, count);
	for (i = 0; i < count; i++)
		if (number(&level->indices, i) >= level->size)
			return tensor_fail(m, tensor, "sparse data: index %" PRIu32 " of level %"
					   PRIu32 " is outside of %" PRIu32, number(&level->indices, i),
					   number_of, level->size);
	return 0;
}

/*
 * Which dimension each level is of, its size and stride. The first levels are the dimensions
 * of the tensor, whose elements are the blocks if there are any.
 */
static int place_levels(struct mapper *m, const struct tflite_tensor *tensor,
			const struct fb_vector *order, const struct fb_vector *blocks,
			struct tree *tree)
{
	uint32_t block_of[TFLITE_MAX_RANK], l, d, rank = tensor->rank, seen = 0;
	size_t stride[TFLITE_MAX_RANK], step = 1;

	for (d = rank; d-- > 0; step *= (size_t)tensor->dims[d]) {
		stride[d] = step;
		block_of[d] = 1;
	}
	for (l = 0; l < tree->num_levels; l++) {
		struct level *level = &tree->levels[l];
		int32_t at = fb_vector_i32(order, l);

		if (at < 0 || (l < rank) != (at < (int32_t)rank) || at >= (int32_t)tree->num_levels ||
		    seen & 1u << at)
			return tensor_fail(m, tensor, "sparse data: level %" PRIu32
					   " is of dimension %" PRId32, l, at);
		seen |= 1u << at;
		if (l < rank)
			continue;
		at = fb_vector_i32(blocks, (uint32_t)at - rank);
		if (at < 0 || at >= (int32_t)rank || block_of[at] != 1 || level->compressed ||
		    level->size == 0 || (uint32_t)tensor->dims[at] % level->size)
			return tensor_fail(m, tensor, "sparse data: blocks of %" PRIu32
					   " in dimension %" PRId32, level->size, at);
		block_of[at] = level->size;
		level->stride = stride[at];
	}
	for (l = 0; l < rank; l++) {
		struct level *level = &tree->levels[l];
		uint32_t size;

		d = (uint32_t)fb_vector_i32(order, l);
		size = (uint32_t)tensor->dims[d] / block_of[d];
		if (!level->compressed && level->size != size)
			return tensor_fail(m, tensor, "sparse data: level %" PRIu32 " of size %"
					   PRIu32 ", expected %" PRIu32, l, level->size, size);
		level->size = size;
		level->stride = stride[d] * block_of[d];
	}
	return 0;
}

/* Takes time in proportion to @elements, those of the tensor, whatever the file says. */
static int read_tree(struct mapper *m, const struct tflite_tensor *tensor, uint64_t elements,
		     size_t stored, struct tree *tree)
{
	struct fb_table sparsity = tensor->sparsity;
	struct fb_vector order, blocks, levels;
	uint32_t l;

	sparsity.reader = &m->reader;
	order = fb_vector(&sparsity, SPARSITY_ORDER, 4);
	blocks = fb_vector(&sparsity, SPARSITY_BLOCKS, 4);
	levels = fb_vector(&sparsity, SPARSITY_LEVELS, 4);
	if (levels.count > MAX_LEVELS || order.count != levels.count || blocks.count > tensor->rank ||
	    levels.count != tensor->rank + blocks.count)
		return tensor_fail(m, tensor, "sparse data: %" PRIu32 " levels in an order of %"
				   PRIu32 ", for rank %" PRIu32 " and %" PRIu32 " blocks",
				   levels.count, order.count, tensor->rank, blocks.count);
	tree->num_levels = levels.count;
	for (l = 0; l < levels.count; l++) {
		struct fb_table table = fb_vector_table(&m->reader, &levels, l);
		struct level *level = &tree->levels[l];
		int8_t format = fb_i8(&table, LEVEL_FORMAT, FORMAT_DENSE);

		*level = (struct level){ .compressed = format == FORMAT_COMPRESSED };
		if (format != FORMAT_DENSE && format != FORMAT_COMPRESSED)
			return tensor_fail(m, tensor, "sparse data: level %" PRIu32 " of format %d", l,
					   format);
		if (!level->compressed)
			level->size = fb_u32(&table, LEVEL_SIZE, 0);
		else if (read_list(m, tensor, &table, LEVEL_SEGMENTS_TYPE, &level->segments) ||
			 read_list(m, tensor, &table, LEVEL_INDICES_TYPE, &level->indices))
			return -1;
		if (fb_failed(&m->reader))
			return map_name_place(m);
	}
	if (place_levels(m, tensor, &order, &blocks, tree))
		return -1;
	/* Lists that are longer than the tensor would be read in no proportion to it. */
	if (stored > elements)
		return tensor_fail(m, tensor, "sparse data: %zu elements, its shape has %" PRIu64, stored,
				   elements);
	tree->leaves = 1;
	for (l = 0; l < tree->num_levels; l++) {
		const struct level *level = &tree->levels[l];

		if (level->compressed && level->indices.vector.count > elements)
			return tensor_fail(m, tensor, "sparse data: level %" PRIu32 " has %" PRIu32
					   " indices, its shape %" PRIu64 " elements", l,
					   level->indices.vector.count, elements);
		if (level->compressed) {
			if (check_compressed(m, tensor, l, level, tree->leaves))
				return -1;
			tree->leaves = level->indices.vector.count;
		} else {
			tree->leaves *= level->size;
		}
		/* The number of nodes does not fall behind a level without compression. */
		if (tree->leaves > UINT32_MAX)
			break;
	}
	if (tree->leaves != stored)
		return tensor_fail(m, tensor, "sparse data: %zu elements, its levels have %zu", stored,
				   tree->leaves);
	return 0;
}

/* The places of the nodes of a level, from those of the level above; NULL without memory. */
static size_t *descend(const struct level *level, const size_t *above, size_t nodes, size_t *count)
{
	size_t below = level->compressed ? level->indices.vector.count : nodes * level->size;
	size_t *places = malloc((below ? below : 1) * sizeof(*places)), at = 0, n;

	for (n = 0; places && n < nodes; n++) {
		uint32_t i = level->compressed ? number(&level->segments, n) : 0;
		uint32_t end = level->compressed ? number(&level->segments, n + 1) : level->size;

		for (; i < end; i++)
			places[at++] = above[n] + level->stride *
				       (level->compressed ? number(&level->indices, i) : i);
	}
	*count = below;
	return places;
}

static int scatter(struct mapper *m, const struct tflite_tensor *tensor, const struct tree *tree,
		   uint8_t *dense)
{
	size_t size = tflite_type_size(tensor->type), nodes = 1, n;
	size_t *places = calloc(1, sizeof(*places));
	uint32_t l;

	for (l = 0; places && l < tree->num_levels; l++) {
		size_t *below = descend(&tree->levels[l], places, nodes, &nodes);

		free(places);
		places = below;
	}
	if (!places)
		return diag_fail_memory(m->diag);
	for (n = 0; n < nodes; n++)
		memcpy(dense + places[n] * size, tensor->data + n * size, size);
	free(places);
	return 0;
}

/* Two numbers in a byte, the first one in its lower half. */
static void unpack(const uint8_t *packed, size_t count, uint8_t *dense)
{
	size_t i;

	for (i = 0; i < count; i++) {
		uint8_t half = i % 2 ? packed[i / 2] >> 4 : packed[i / 2] & 0x0f;

		dense[i] = (half ^ 8) - 8;
	}
}

static int fill(struct mapper *m, const struct tflite_tensor *tensor, uint64_t elements,
		uint8_t **dense)
{
	size_t size = tflite_type_size(tensor->type);
	struct tree tree;

	if (tensor->sparsity.present && tensor->is_packed)
		return tensor_fail(m, tensor, "sparse data of type int4 is not supported");
	if (tensor->is_packed) {
		if (tensor->bytes != (elements + 1) / 2)
			return tensor_fail(m, tensor, "%zu bytes of data, its shape takes %" PRIu64,
					   tensor->bytes, (elements + 1) / 2);
		*dense = hal_alloc_constant(m->b, elements, m->diag);
		if (*dense)
			unpack(tensor->data, elements, *dense);
		return *dense ? 0 : -1;
	}
	if (size == 0 || tensor->bytes % size)
		return tensor_fail(m, tensor, "%zu bytes of data, not a whole number of elements",
				   tensor->bytes);
	/*
	 * Tensors may share their lists. All constants together are limited in proportion to the
	 * file, and with them what reading the lists takes.
	 */
	*dense = hal_alloc_constant(m->b, elements * size, m->diag);
	if (!*dense || read_tree(m, tensor, elements, tensor->bytes / size, &tree))
		return -1;
	return scatter(m, tensor, &tree, *dense);
}

const uint8_t *dense_data(struct mapper *m, const struct tflite_tensor *tensor, size_t *bytes)
{
	uint32_t index = tensor_index(m, tensor);
	uint64_t elements;

	*bytes = tensor->bytes;
	if (!tensor->sparsity.present && !tensor->is_packed)
		return tensor->data;
	if (!tflite_elements(tensor, &elements)) {
		tensor_fail(m, tensor, "a constant whose shape is not known");
		return NULL;
	}
	if (!m->dense)
		m->dense = calloc((size_t)m->sub->num_tensors + 1, sizeof(*m->dense));
	if (!m->dense) {
		diag_fail_memory(m->diag);
		return NULL;
	}
	if (!m->dense[index] && fill(m, tensor, elements, &m->dense[index])) {
		m->dense[index] = NULL;
		return NULL;
	}
	*bytes = elements * tflite_type_size(tensor->type);
	return m->dense[index];
}

int map_densify(struct mapper *m, uint32_t type)
{
	const struct tflite_tensor *from = input_tensor(m, 0);
	const struct tflite_tensor *to = output_tensor(m, 0);
	uint32_t index, i;
	int operand;

	(void)type;
	if (!from || !is_constant(m, from))
		return map_fail(m, "its input is no constant");
	if (check_output(m, 0))
		return -1;
	index = tensor_index(m, to);
	if (from->type != to->type || from->rank != to->rank)
		return tensor_fail(m, to, "its type or rank is not that of the input");
	for (i = 0; i < to->rank; i++)
		if (from->dims[i] != to->dims[i])
			return tensor_fail(m, to, "dimension %" PRIu32 " of size %" PRId32
					   ", the input has %" PRId32, i, to->dims[i], from->dims[i]);
	if (!m->same_as)
		m->same_as = calloc((size_t)m->sub->num_tensors + 1, sizeof(*m->same_as));
	if (!m->same_as)
		return diag_fail_memory(m->diag);
	if (m->same_as[index])
		return tensor_fail(m, to, "written a second time");
	operand = value_operand(m, from);
	if (operand < 0)
		return -1;
	m->same_as[index] = tensor_index(m, from) + 1;
	if (!(m->role[index] & ROLE_OUTPUT))
		return 0;
	m->operand_of[index] = copy_operand(m, operand, NULL, NNHAL_LIFETIME_TEMPORARY_VARIABLE);
	return m->operand_of[index] < 0 ? -1 : 0;
}
