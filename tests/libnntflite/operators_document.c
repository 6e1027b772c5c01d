// SPDX-License-Identifier: MIT
/*
 * Prints Documentation/tflite-operators.rst: how libnntflite maps each builtin operator, as its
 * tables say.
 */
#include <stdio.h>
#include <string.h>

#include <nnhal/types.h>

#include "userspace/libnntflite/map/map_table.h"

static const struct op_row *row_of(int32_t code)
{
	return &op_table[op_same_as(code)];
}

static bool is_mapped(int32_t code)
{
	return row_of(code)->map || row_of(code)->fields;
}

static void print_types(const struct op_row *row)
{
	const char *comma = "";
	int type;

	if (!row->types) {
		printf("all types");
	} else {
		for (type = 0; type < 32; type++) {
			if (!(row->types >> type & 1))
				continue;
			printf("%s%s", comma, nntflite_type_name(type));
			comma = ", ";
		}
	}
	if (row->type_input)
		printf(" (of input %u)", row->type_input);
}

/* An operation of the extension has the name of the operator. */
static void print_row(int32_t code)
{
	const struct op_row *row = row_of(code);

	printf("   * - %s (%d)\n     -", nntflite_operator_name(code), code);
	if (op_same_as(code) != code) {
		printf(" as %s\n     -\n", nntflite_operator_name(op_same_as(code)));
		return;
	}
	if (row->how) {
		printf(" %s", row->how);
	} else if (row->map) {
		printf(" %s: ", nnhal_operation_type_name(row->hal));
		print_types(row);
	}
	printf("\n     -%s\n", row->fields ? " yes" : "");
}

static void print_left_out(int32_t code)
{
	printf("   * - %s (%d)\n     - %s\n", nntflite_operator_name(code), code, op_left_out(code));
}

static void print_table(const char *columns, bool mapped, void (*print)(int32_t code))
{
	int32_t code;

	printf("\n.. list-table::\n   :header-rows: 1\n\n%s", columns);
	for (code = 0; code < TFLITE_NUM_BUILTINS; code++)
		if (is_mapped(code) == mapped)
			print(code);
}

int main(void)
{
	int32_t code, mapped = 0;

	for (code = 0; code < TFLITE_NUM_BUILTINS; code++)
		mapped += is_mapped(code);
	printf(".. SPDX-License-Identifier: GPL-2.0-only OR MIT\n"
	       ".. Written by scripts/gen-operators from userspace/libnntflite/map/map_table.c and its\n"
	       ".. neighbours.\n"
	       "\n"
	       "============================\n"
	       "Operators of TensorFlow Lite\n"
	       "============================\n"
	       "\n"
	       "This page lists all %d builtin operators of schema version 3, with their numbers, and how\n"
	       ":doc:`libnntflite` maps them: %d are mapped, %d are left out. A script generates it from\n"
	       "the tables of the library. ``nnrun --supported`` says the same of the operators of a file.\n"
	       "\n"
	       "Mapped\n"
	       "======\n"
	       "\n"
	       "The second column has the operation of the HAL 1.3, and for which types it serves: types of\n"
	       "input 0, if no other input is named. It does not serve where a tensor has more than four\n"
	       "dimensions and the operation of the HAL takes no more, nor where an input is int64; where the\n"
	       "HAL lacks a form of an operator (:doc:`libnntflite`) neither. The third column says\n"
	       "whether the operation of the same name of the extension ``org.nnpu.tflite`` serves in all other\n"
	       "cases; :doc:`operation-signatures` has its types.\n",
	       TFLITE_NUM_BUILTINS, mapped, TFLITE_NUM_BUILTINS - mapped);
	print_table("   * - Operator\n     - HAL\n     - Extension\n", true, print_row);
	printf("\nLeft out\n========\n");
	print_table("   * - Operator\n     - Why\n", false, print_left_out);
	return 0;
}
