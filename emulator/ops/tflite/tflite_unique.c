// SPDX-License-Identifier: MIT
/*
 * UNIQUE: the different elements of a list, in the order in which they come first.
 *
 * Input: 0 a list, 1 idx_out_type, the TensorType of output 1. Outputs: 0 the elements, 1 for
 * each element of the list its place among them.
 */
#include "tflite_ops.h"

#include <string.h>

/* A hash table of places in the output, 0 being empty and place p being p + 1. */
struct table {
	uint32_t *slots;
	size_t mask;
};

/* Slots for a list of @n elements: a power of two, at most half of them in use. */
static size_t table_slots(size_t n)
{
	size_t slots = 2;

	while (slots / 2 < n)
		slots *= 2;
	return slots;
}

static int check_index_type(const struct op_call *c)
{
	int32_t type;

	if (op_get_i32(c, 1, &type))
		return 1;
	return type == (int32_t)tflite_type_of(c->out[1]) ? 0 : op_fail(c, NNPU_REASON_VALUE, 1);
}

int tflite_unique_check(const struct op_call *c)
{
	return tflite_check_moved(c, 0) || check_index_type(c) < 0 ? -1 : 0;
}

/* Bits that are the same for equal elements: zeros have one sign. */
static uint64_t key_of(const struct tensor *t, const void *data, size_t i)
{
	size_t size = type_size(t->type);
	uint64_t key = 0;

	memcpy(&key, (const char *)data + i * size, size);
	return t->type == NNPU_TYPE_TENSOR_FLOAT32 && key == 0x80000000u ? 0 : key;
}

/* Is it a NaN, which equals nothing? */
static bool is_nan(const struct tensor *t, uint64_t key)
{
	return t->type == NNPU_TYPE_TENSOR_FLOAT32 && (key & 0x7fffffffu) > 0x7f800000u;
}

/*
 * Number the different elements in the order in which they come. Outputs are written if @write.
 * Returns how many there are; fewer if the job is to end.
 */
static uint32_t number_elements(const struct op_call *c, struct op_pace *pace, struct table *t,
				uint32_t *firsts, bool write)
{
	const struct tensor *in = c->in[0];
	size_t size = type_size(in->type);
	uint32_t found = 0;

	for (uint32_t i = 0; i < in->dims[0]; i++) {
		uint64_t key = key_of(in, in->data, i);
		size_t at = (size_t)((key * 0x9e3779b97f4a7c15ull) >> 20) & t->mask;
		uint32_t place;

		while (t->slots[at] && key_of(in, in->data, firsts[t->slots[at] - 1]) != key) {
			at = (at + 1) & t->mask;
			if (op_pace(pace, 4))
				return found;
		}
		place = t->slots[at] && !is_nan(in, key) ? t->slots[at] - 1 : found;
		if (place == found) {
			firsts[found++] = i;
			t->slots[at] = found;
			if (write)
				memcpy((char *)c->out[0]->data + place * size,
				       (const char *)in->data + i * size, size);
		}
		if (write && tflite_type_of(c->out[1]) == TFLITE_INT64)
			((int64_t *)c->out[1]->data)[i] = place;
		else if (write)
			((int32_t *)c->out[1]->data)[i] = (int32_t)place;
		if (op_pace(pace, 16))
			return found;
	}
	return found;
}

/* Bytes for the table and the first places; SIZE_MAX: too many. */
static size_t table_bytes(size_t n)
{
	return scratch_add(scratch_add(0, table_slots(n), sizeof(uint32_t)), n, sizeof(uint32_t));
}

/* Empty the table in @memory. */
static struct table make_table(struct op_pace *pace, void *memory, size_t n)
{
	struct table t = { .slots = memory, .mask = table_slots(n) - 1 };

	for (size_t i = 0; i <= t.mask; i++) {
		t.slots[i] = 0;
		if (op_pace_row(pace, i, 1))
			break;
	}
	return t;
}

int tflite_unique_infer(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *in = c->in[0];
	size_t bytes = table_bytes(in->dims[0]);
	struct table t;
	uint32_t found;
	void *memory;

	if (op_check_rank(c, 0, 1, 1) || check_index_type(c) < 0)
		return -1;
	if (in->dims[0] > INT32_MAX)
		return op_fail(c, NNPU_REASON_OVERFLOW, 0);
	if (c->loading || !tensor_data_known(in))
		return 1;
	memory = op_take(c->progress, bytes, NULL);
	if (!memory)
		return OP_NO_MEMORY;
	t = make_table(&pace, memory, in->dims[0]);
	found = pace.ended ? 0 : number_elements(c, &pace, &t, t.slots + t.mask + 1, false);
	op_give(c->progress, memory, bytes);
	tensor_set_shape(c->out[0], 1, &found);
	tensor_set_shape(c->out[1], 1, in->dims);
	return 0;
}

size_t tflite_unique_scratch(const struct op_call *c)
{
	return table_bytes(c->in[0]->dims[0]);
}

int tflite_unique_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	struct table t = make_table(&pace, c->scratch, c->in[0]->dims[0]);

	if (!pace.ended)
		number_elements(c, &pace, &t, t.slots + t.mask + 1, true);
	return pace.ended ? OP_ABORTED : 0;
}
