// SPDX-License-Identifier: MIT
/*
 * The vendor extensions of the device, and their signatures.
 */
#include "extension.h"

#include "shape.h"

#define ROW(name)	&name,

static const struct extension *const table[] = { EXTENSION_LIST(ROW) };

_Static_assert(NNPU_CMD_EXTENSION == NNPU_TYPE_EXTENSION, "one way to count codes");
_Static_assert(EXTENSION_COUNT <= NNPU_MAX_EXTENSIONS, "as many as IDENTIFY has");

const struct extension *extension_get(uint32_t i)
{
	return table[i];
}

uint32_t extension_offered(bool examples, uint32_t *list)
{
	uint32_t i, n = 0;

	for (i = 0; i < EXTENSION_COUNT; i++) {
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
	return i < EXTENSION_COUNT ? table[i] : NULL;
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

	return e && number < e->num_types && e->types[number].name ? &e->types[number] : NULL;
}

const struct extension_operation *extension_find_operation(uint32_t code)
{
	uint32_t number;
	const struct extension *e = find(code, &number);

	if (!e || number >= e->num_operations || !e->operations[number].desc.name)
		return NULL;
	return &e->operations[number];
}

/* Does a type fit the pattern, in an operation of the extension of @opcode? */
static bool type_fits(const struct extension_operand *pattern, uint32_t opcode, uint32_t type)
{
	uint32_t number = type & (EXTENSION_MAX - 1);

	if (!type_is_extension(type))
		return pattern->types >> type & 1;
	return type >> EXTENSION_SHIFT == opcode >> EXTENSION_SHIFT &&
	       number < EXTENSION_MAX_TYPES && pattern->types & EXTENSION_TYPE(number);
}

static int check_operand(const struct op_call *c, uint32_t opcode,
			 const struct extension_operand *pattern, unsigned int i)
{
	const struct tensor *t = op_operand(c, i);

	if (!tensor_has_value(t) && !(pattern->flags & EXTENSION_OPTIONAL))
		return op_fail(c, NNPU_REASON_OMITTED, i);
	if (!type_fits(pattern, opcode, t->type))
		return op_fail(c, NNPU_REASON_TYPE, i);
	if (!tensor_has_value(t) || !pattern->max_rank || type_is_scalar(t->type))
		return 0;
	return op_check_rank(c, i, pattern->min_rank, pattern->max_rank);
}

/* Check the @count operands from @first on against the patterns. */
static int check_list(const struct op_call *c, uint32_t opcode, unsigned int first,
		      unsigned int count, const struct extension_operand *patterns,
		      unsigned int num)
{
	unsigned int repeated = 0, more;

	while (repeated < num && !(patterns[repeated].flags & EXTENSION_REPEATED))
		repeated++;
	if (count < num || (count > num && repeated == num))
		return op_fail(c, NNPU_REASON_OPERAND_COUNT, NNPU_OPERAND_NONE);
	more = count - num;
	for (unsigned int i = 0; i < count; i++) {
		unsigned int p = i;

		if (i > repeated)
			p = i > repeated + more ? i - more : repeated;
		if (check_operand(c, opcode, &patterns[p], first + i))
			return -1;
	}
	return 0;
}

int extension_check(uint32_t opcode, const struct extension_operation *o,
		    const struct op_call *c)
{
	const struct extension_signature *s = &o->signature;

	return check_list(c, opcode, 0, c->num_inputs, s->in, s->num_in) ||
	       check_list(c, opcode, c->num_inputs, c->num_outputs, s->out, s->num_out) ? -1 : 0;
}
