// SPDX-License-Identifier: MIT
/*
 * Writing small TensorFlow Lite files for tests.
 *
 * A table is written with room for each of its slots, so that fields can be set in
 * any order; children follow their parents, as offsets point forward only.
 */
#include <stdlib.h>
#include <string.h>

#include "model_writer.h"

struct writer {
	uint8_t *data;
	size_t used;
	uint32_t tensors;		/* of the subgraphs before */
	uint32_t operators;		/* of the subgraphs before */
};

static void put_u16(struct writer *w, size_t at, uint16_t value)
{
	w->data[at] = (uint8_t)value;
	w->data[at + 1] = (uint8_t)(value >> 8);
}

static void put_u32(struct writer *w, size_t at, uint32_t value)
{
	put_u16(w, at, (uint16_t)value);
	put_u16(w, at + 2, (uint16_t)(value >> 16));
}

/* Append zeroes, aligned; returns where they start. */
static size_t append(struct writer *w, size_t size, size_t align)
{
	size_t at = (w->used + align - 1) / align * align;

	if (at + size > MW_MAX_SIZE)
		abort();
	w->used = at + size;
	return at;
}

/* A vtable without fields and the table behind it: each field has 8 bytes. */
static size_t new_table(struct writer *w, uint16_t slots)
{
	size_t vtable = append(w, 4 + 2 * (size_t)slots, 8);
	size_t table = append(w, 8 + 8 * (size_t)slots, 8);

	put_u16(w, vtable, (uint16_t)(4 + 2 * slots));
	put_u16(w, vtable + 2, (uint16_t)(8 + 8 * slots));
	put_u32(w, table, (uint32_t)(table - vtable));
	return table;
}

/* Where the value of a field goes; the field is present from now on. */
static size_t field(struct writer *w, size_t table, unsigned int slot)
{
	uint32_t distance;
	uint16_t offset = (uint16_t)(8 + 8 * slot);

	memcpy(&distance, w->data + table, 4);
	put_u16(w, table - distance + 4 + 2 * slot, offset);
	return table + offset;
}

static void set_i8(struct writer *w, size_t table, unsigned int slot, int value)
{
	w->data[field(w, table, slot)] = (uint8_t)value;
}

static void set_u32(struct writer *w, size_t table, unsigned int slot, uint32_t value)
{
	put_u32(w, field(w, table, slot), value);
}

static void link_to(struct writer *w, size_t at, size_t target)
{
	put_u32(w, at, (uint32_t)(target - at));
}

static void set_vector(struct writer *w, size_t table, unsigned int slot, const void *data,
		       uint32_t count, size_t element)
{
	size_t at = append(w, 4, 4);

	put_u32(w, at, count);
	if (count)
		memcpy(w->data + append(w, count * element, 1), data, count * element);
	link_to(w, field(w, table, slot), at);
}

static void set_string(struct writer *w, size_t table, unsigned int slot, const char *text)
{
	set_vector(w, table, slot, text, (uint32_t)strlen(text), 1);
	append(w, 1, 1);
}

static size_t set_table(struct writer *w, size_t table, unsigned int slot, uint16_t slots)
{
	size_t child = new_table(w, slots);

	link_to(w, field(w, table, slot), child);
	return child;
}

/* A vector of @count tables, linked to by set_element(). */
static size_t set_tables(struct writer *w, size_t table, unsigned int slot, uint32_t count)
{
	size_t at = append(w, 4 + 4 * (size_t)count, 4);

	put_u32(w, at, count);
	link_to(w, field(w, table, slot), at);
	return at;
}

static size_t set_element(struct writer *w, size_t vector, uint32_t i, uint16_t slots)
{
	size_t child = new_table(w, slots);

	link_to(w, vector + 4 + 4 * (size_t)i, child);
	return child;
}

static void write_list(struct writer *w, size_t level, unsigned int slot, uint8_t type,
		       const void *list, uint32_t count)
{
	static const size_t sizes[] = { 1, 4, 2, 1 };
	size_t table;

	set_i8(w, level, slot, type);
	table = set_table(w, level, slot + 1, 1);
	set_vector(w, table, 0, list, count, sizes[type & 3]);
}

static void write_sparsity(struct writer *w, size_t tensor, const struct mw_sparsity *s)
{
	size_t table = set_table(w, tensor, 6, 3), levels, level;
	uint32_t i;

	set_vector(w, table, 0, s->order, s->num_order, 4);
	set_vector(w, table, 1, s->blocks, s->num_blocks, 4);
	levels = set_tables(w, table, 2, s->num_levels);
	for (i = 0; i < s->num_levels; i++) {
		const struct mw_level *l = &s->levels[i];

		level = set_element(w, levels, i, 6);
		set_i8(w, level, 0, l->format);
		set_u32(w, level, 1, l->size);
		if (!l->type)
			continue;
		write_list(w, level, 2, l->type, l->segments, l->num_segments);
		write_list(w, level, 4, l->type, l->indices, l->num_indices);
	}
}

static void write_tensor(struct writer *w, size_t vector, uint32_t i,
			 const struct mw_tensor *tensor)
{
	size_t table = set_element(w, vector, i, 8);
	int64_t zero_points[MW_MAX];
	uint32_t k;
	size_t quant;

	set_vector(w, table, 0, tensor->dims, tensor->rank, 4);
	set_i8(w, table, 1, tensor->type);
	set_u32(w, table, 2, tensor->data ? w->tensors + i + 1 : 0);
	if (tensor->name)
		set_string(w, table, 3, tensor->name);
	if (tensor->variable)
		set_i8(w, table, 5, 1);
	if (tensor->sparsity)
		write_sparsity(w, table, tensor->sparsity);
	if (!tensor->num_scales)
		return;
	for (k = 0; k < tensor->num_scales + tensor->more_zero_points; k++)
		zero_points[k] = tensor->zero_point;
	quant = set_table(w, table, 4, 7);
	set_vector(w, quant, 2, tensor->scales, tensor->num_scales, 4);
	set_vector(w, quant, 3, zero_points, tensor->num_scales + tensor->more_zero_points, 8);
	if (tensor->custom_quantization)
		set_i8(w, quant, 4, 1);
	set_u32(w, quant, 6, (uint32_t)tensor->quantized_dim);
}

/* Operator @i of its subgraph, at @at and the places behind it of the list. */
static void write_operator(struct writer *w, size_t vector, uint32_t i, uint32_t at,
			   const struct mw_operator *op)
{
	uint16_t slots = op->options_2 ? 13 : op->outside ? 11 : op->custom ? 6 : 5;
	size_t table = set_element(w, vector, at, slots);
	const struct mw_option *option;
	size_t options;
	uint32_t bits, k;

	for (k = 1; k < op->times; k++)
		link_to(w, vector + 4 + 4 * (size_t)(at + k), table);
	set_u32(w, table, 0, w->operators + i);
	set_vector(w, table, 1, op->inputs, op->num_inputs, 4);
	set_vector(w, table, 2, op->outputs, op->num_outputs, 4);
	if (op->custom)
		set_vector(w, table, 5, op->custom, op->custom_size, 1);
	if (op->outside) {
		set_u32(w, table, 9, op->outside);
		set_u32(w, table, 10, 4);
	}
	if (op->no_options || op->custom)
		return;
	set_i8(w, table, op->options_2 ? 11 : 3, op->options_type);
	options = set_table(w, table, op->options_2 ? 12 : 4, 9);
	for (option = op->options; option->kind != MW_END; option++) {
		switch (option->kind) {
		case MW_I8:
			set_i8(w, options, option->slot, option->value);
			break;
		case MW_I32:
			set_u32(w, options, option->slot, (uint32_t)option->value);
			break;
		case MW_F32:
			memcpy(&bits, &option->real, 4);
			set_u32(w, options, option->slot, bits);
			break;
		case MW_LIST:
			set_vector(w, options, option->slot, option->list,
				   (uint32_t)option->value, 4);
			break;
		case MW_LIST64:
			set_vector(w, options, option->slot, option->list,
				   (uint32_t)option->value, 8);
			break;
		case MW_TEXT:
			set_vector(w, options, option->slot, option->list,
				   (uint32_t)option->value, 1);
			append(w, 1, 1);
			break;
		default:
			abort();
		}
	}
}

static void write_subgraph(struct writer *w, size_t subgraph, const struct mw_model *model)
{
	uint32_t i, count = 0;
	size_t vector;

	if (model->padded_inputs) {
		/* Zeros. */
		set_tables(w, subgraph, 1, model->padded_inputs);
	} else {
		set_vector(w, subgraph, 1, model->inputs, model->num_inputs, 4);
	}
	set_vector(w, subgraph, 2, model->outputs, model->num_outputs, 4);
	vector = set_tables(w, subgraph, 0, model->num_tensors);
	for (i = 0; i < model->num_tensors; i++)
		write_tensor(w, vector, i, &model->tensors[i]);
	for (i = 0; i < model->num_operators; i++)
		count += model->operators[i].times ? model->operators[i].times : 1;
	vector = set_tables(w, subgraph, 3, count);
	for (i = count = 0; i < model->num_operators; i++) {
		write_operator(w, vector, i, count, &model->operators[i]);
		count += model->operators[i].times ? model->operators[i].times : 1;
	}
	w->tensors += model->num_tensors;
	w->operators += model->num_operators;
}

/* Subgraph @i, NULL if it is empty. */
static const struct mw_model *part(const struct mw_model *model, uint32_t i)
{
	return i ? model->subgraphs[i - 1] : model;
}

/* All elements of the vector are one table, and all names of its inputs another. */
static void write_signatures(struct writer *w, size_t root, const struct mw_model *model)
{
	size_t vector = set_tables(w, root, 7, model->num_signatures);
	size_t table = set_element(w, vector, 0, 5);
	size_t names = set_tables(w, table, 0, model->signature_inputs);
	size_t name = set_element(w, names, 0, 2);
	uint32_t i;

	set_string(w, name, 0, "x");
	set_string(w, table, 2, model->signature_key);
	for (i = 1; i < model->signature_inputs; i++)
		link_to(w, names + 4 + 4 * (size_t)i, name);
	for (i = 1; i < model->num_signatures; i++)
		link_to(w, vector + 4 + 4 * (size_t)i, table);
}

size_t mw_write(const struct mw_model *model, uint8_t *out)
{
	struct writer w = { .data = out, .used = 8 };
	uint32_t num_subgraphs = model->num_subgraphs ? model->num_subgraphs : 1;
	uint32_t i, k, at, tensors = 0, operators = 0;
	size_t root, vector, subgraphs, table;

	memset(out, 0, MW_MAX_SIZE);
	memcpy(out + 4, "TFL3", 4);
	root = new_table(&w, 8);
	put_u32(&w, 0, (uint32_t)root);
	set_u32(&w, root, 0, model->version ? model->version : 3);
	for (k = 0; k < num_subgraphs; k++) {
		tensors += part(model, k) ? part(model, k)->num_tensors : 0;
		operators += part(model, k) ? part(model, k)->num_operators : 0;
	}

	vector = set_tables(&w, root, 1, operators);
	for (k = at = 0; k < num_subgraphs; k++) {
		for (i = 0; part(model, k) && i < part(model, k)->num_operators; i++) {
			const struct mw_operator *op = &part(model, k)->operators[i];

			table = set_element(&w, vector, at++, 4);
			set_i8(&w, table, 0, op->code < 127 ? op->code : 127);
			set_u32(&w, table, 3, (uint32_t)op->code);
			if (op->custom_name)
				set_string(&w, table, 1, op->custom_name);
		}
	}
	subgraphs = set_tables(&w, root, 2, num_subgraphs);
	for (k = 0; k < num_subgraphs; k++) {
		table = set_element(&w, subgraphs, k, 5);
		if (part(model, k))
			write_subgraph(&w, table, part(model, k));
	}

	/* Buffer 0 is empty, each tensor has one of its own behind it. */
	vector = set_tables(&w, root, 4, tensors + 1);
	set_element(&w, vector, 0, 3);
	for (k = at = 0; k < num_subgraphs; k++) {
		for (i = 0; part(model, k) && i < part(model, k)->num_tensors; i++) {
			const struct mw_tensor *tensor = &part(model, k)->tensors[i];

			table = set_element(&w, vector, ++at, 3);
			if (tensor->data)
				set_vector(&w, table, 0, tensor->data, tensor->data_size, 1);
		}
	}
	if (model->num_signatures)
		write_signatures(&w, root, model);
	return w.used;
}
