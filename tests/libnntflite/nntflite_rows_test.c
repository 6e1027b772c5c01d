// SPDX-License-Identifier: MIT
/*
 * The table of operators against the operations of org.nnpu.tflite: a row that names fields
 * has an operation that takes as many inputs, and the fields as scalars behind them.
 */
#include <stdio.h>
#include <string.h>

#include <tap.h>

#include "ops/extension.h"
#include "userspace/libnntflite/map/map_table.h"

#define TYPE(name)	(UINT64_C(1) << NNPU_TYPE_##name)

/* The letter of a field for an operand that is one scalar, or 0. */
static char field_of(const struct extension_operand *o)
{
	if (o->types == TYPE(INT32))
		return 'i';
	if (o->types == TYPE(FLOAT32))
		return 'f';
	return o->types == TYPE(BOOL) ? 'b' : 0;
}

/* The scalars that a row passes: without defaults, and e is an integer, too. */
static void scalars_of(const char *fields, char *text)
{
	for (; *fields; fields++)
		if (strchr("iefbxy", *fields))
			*text++ = strchr("exy", *fields) ? 'i' : *fields;
	*text = '\0';
}

static void test_row(int32_t code, const struct op_row *row)
{
	const struct extension_operation *o = code < (int32_t)tflite_extension.num_operations ?
					      &tflite_extension.operations[code] : NULL;
	const char *name = nntflite_operator_name(code);
	const struct extension_signature *s;
	char wanted[32] = "", passed[32];
	uint32_t tensors, i;
	bool repeated = false;

	if (!ok(o && o->desc.name && !strcmp(o->desc.name, name), "%s: the device has it", name))
		return;
	s = &o->signature;
	for (tensors = s->num_in; tensors && field_of(&s->in[tensors - 1]); tensors--)
		;
	for (i = tensors; i < s->num_in; i++)
		wanted[i - tensors] = field_of(&s->in[i]);
	for (i = 0; i < tensors; i++)
		repeated |= s->in[i].flags & EXTENSION_REPEATED;
	scalars_of(row->fields, passed);
	if (!ok(strcmp(wanted, passed) == 0, "%s: its fields '%s'", name, passed))
		tap_note("the device takes '%s'", wanted);
	ok(repeated ? row->max_inputs > tensors :
	   row->min_inputs <= tensors && row->max_inputs >= tensors, "%s: %u inputs", name,
	   tensors);
}

int main(void)
{
	int32_t code;

	for (code = 0; code < TFLITE_NUM_BUILTINS; code++)
		if (op_table[code].fields)
			test_row(code, &op_table[code]);
	return tap_done();
}
