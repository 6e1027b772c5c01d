// SPDX-License-Identifier: MIT
/*
 * The vendor extensions of the device, and their signatures.
 */
#include "extension.h"

#include "shape.h"

#define ROW(name)	&name,

static const struct extension *const table[] = { EXTENSION_LIST(ROW) };

_Static_assert(NNPU_CMD_EXTENSION == NNPU_TYPE_EXTENSION, "one way to count codes");
_Static_assert(sizeof(table) / sizeof(table[0]) <= NNPU_MAX_EXTENSIONS, "as many as IDENTIFY has");

uint32_t extension_count(void)
{
	return sizeof(table) / sizeof(table[0]);
}

const struct extension *extension_get(uint32_t i)
{
	return table[i];
}

uint32_t extension_offered(bool examples, uint32_t *list)
{
	uint32_t i, n = 0;

	for (i = 0; i < extension_count(); i++) {
		if (table[i]->is_example && !examples)
			continue;
		if (list)
			list[n] = i;
		n++;
	}
	return n;
}

/* The extension of a code, or NULL; and the number of the code in it. */
static const struct extension *find(uint32_t code, uint32_t *number)
{
	uint32_t i;

	if (code < NNPU_CMD_EXTENSION)
		return NULL;
	i = (code - NNPU_CMD_EXTENSION) >> EXTENSION_SHIFT;
	*number = code & (EXTENSION_MAX - 1);
	return i < extension_count() ? table[i] : NULL;
}

bool extension_offers(uint32_t code, bool examples)
{
	uint32_t number;
	const struct extension *e = find(code, &number);

	return !e || examples || !e->is_example;
}

const struct extension_type *extension_find_type(uint32_t code)
{
	uint32_t number;
	const struct extension *e = find(code, &number);

	return e && number < e->num_types ? &e->types[number] : NULL;
}

const struct extension_operation *extension_find_operation(uint32_t code)
{
	uint32_t number;
	const struct extension *e = find(code, &number);

	return e && number < e->num_operations ? &e->operations[number] : NULL;
}

/* Does a type fit the pattern, in an operation of the extension of @opcode? */
static bool type_fits(const struct extension_operand *pattern, uint32_t opcode, uint32_t type)
{
	uint32_t number = type & (EXTENSION_MAX - 1);

	if (!type_is_extension(type))
		return pattern->base >> type & 1;
	return type >> EXTENSION_SHIFT == opcode >> EXTENSION_SHIFT &&
	       pattern->own >> number & 1;
}

static int check_operand(const struct op_call *c, uint32_t opcode,
			 const struct extension_operand *pattern, unsigned int i)
{
	const struct tensor *t = op_operand(c, i);

	if (!tensor_has_value(t))
		return op_fail(c, NNPU_REASON_OMITTED, i);
	if (!type_fits(pattern, opcode, t->type))
		return op_fail(c, NNPU_REASON_TYPE, i);
	if (!pattern->max_rank || type_is_scalar(t->type))
		return 0;
	return op_check_rank(c, i, pattern->min_rank, pattern->max_rank);
}

int extension_check(uint32_t opcode, const struct extension_operation *o,
		    const struct op_call *c)
{
	if (c->num_inputs != o->signature.num_in || c->num_outputs != o->signature.num_out)
		return op_fail(c, NNPU_REASON_OPERAND_COUNT, NNPU_OPERAND_NONE);
	for (unsigned int i = 0; i < c->num_inputs; i++)
		if (check_operand(c, opcode, &o->signature.in[i], i))
			return -1;
	for (unsigned int i = 0; i < c->num_outputs; i++)
		if (check_operand(c, opcode, &o->signature.out[i], op_output(c, i)))
			return -1;
	return 0;
}
