// SPDX-License-Identifier: MIT
/*
 * What a message is about, as numbers.
 *
 * Messages about a model begin with "subgraph 1 operation 2 (ADD) input 0: operand 3 ...", each
 * part only where it has a meaning (model/validate*.c, model/explain.c, execution/arguments.c).
 */
#include <stdio.h>
#include <string.h>

#include <nnhal/ext.h>

#include "base/base.h"

/* The number behind @words at the start of *@text, which then goes on behind it. */
static bool take(const char **text, const char *words, uint32_t *number)
{
	size_t length = strlen(words);
	int used = 0;

	if (strncmp(*text, words, length) || sscanf(*text + length, "%9u%n", number, &used) != 1)
		return false;
	*text += length + (size_t)used;
	return true;
}

enum nnhal_status nnhal_ext_get_place(const struct nnhal_diag *diag, struct nnhal_ext_place *place)
{
	struct nnhal_ext_place found = NNHAL_EXT_PLACE_INIT;
	const char *text, *operand;

	if (!diag || !place ||
	    !result_size_is_valid(place, SIZE_UP_TO(struct nnhal_ext_place, reserved)))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	text = diag->message;
	if (take(&text, "subgraph ", &found.subgraph) && *text == ' ')
		text++;
	if (take(&text, "operation ", &found.operation)) {
		operand = strstr(text, "operand ");
		if (operand)
			take(&operand, "operand ", &found.operand);
	} else {
		take(&text, "operand ", &found.operand);
	}
	result_give(place, place->size, &found, sizeof(found));
	return NNHAL_STATUS_NONE;
}
