// SPDX-License-Identifier: MIT
/*
 * Allocations that fail.
 */
#include <stdlib.h>
#include <string.h>

#include "failing_allocations.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_reallocarray(void *p, size_t count, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_reallocarray(void *p, size_t count, size_t size);
char *__wrap_strdup(const char *text);

__thread unsigned int alloc_countdown, text_countdown;
__thread bool alloc_failed;

static bool reaches_zero(unsigned int *count)
{
	if (!*count || --*count)
		return false;
	alloc_failed = true;
	return true;
}

static bool fails(void)
{
	return reaches_zero(&alloc_countdown);
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

void *__wrap_reallocarray(void *p, size_t count, size_t size)
{
	return fails() ? NULL : __real_reallocarray(p, count, size);
}

char *__wrap_strdup(const char *text)
{
	return fails() || reaches_zero(&text_countdown) ? NULL : __real_strdup(text);
}
