// SPDX-License-Identifier: MIT
/*
 * Getters of an object that is not there say nothing: -1 for a descriptor, else 0 or NULL. The list of
 * getters is that of the headers.
 */
#include <string.h>

#include <nntflite/session.h>

#include "api_lists.h"
#include "nnhal_fixture.h"

static bool is_right(const char *name, intptr_t value)
{
	const char *end = strrchr(name, '_');

	return value == (end && !strcmp(end, "_fd") ? -1 : 0);
}

int main(void)
{
#define GET(function)	{ #function, (intptr_t)function(NULL) },
	const struct {
		const char *name;
		intptr_t value;
	} results[] = { API_GETTERS(GET) };
	size_t i;

	for (i = 0; i < sizeof(results) / sizeof(results[0]); i++)
		ok(is_right(results[i].name, results[i].value), "%s(NULL): %ld", results[i].name,
		   (long)results[i].value);
	return tap_done();
}
