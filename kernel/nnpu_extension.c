// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks of the device's descriptions of its vendor extensions.
 *
 * The driver does not use extensions. User space reads the valid ones through QUERY.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "nnpu_extension.h"

/* Characters that the HAL allows, at least one dot, and NUL up to the end. */
static bool nnpu_extension_name_ok(const struct nnpu_extension *e)
{
	size_t i, len = strnlen(e->name, sizeof(e->name));
	bool dot = false;

	if (len == sizeof(e->name) || memchr_inv(e->name + len, 0, sizeof(e->name) - len))
		return false;
	for (i = 0; i < len; i++) {
		char c = e->name[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_' && c != '.')
			return false;
		dot |= c == '.';
	}
	return dot;
}

static bool nnpu_extension_types_ok(const struct nnpu_extension *e)
{
	u32 num = le32_to_cpu(e->num_types), i;

	if (num > ARRAY_SIZE(e->types))
		return false;
	for (i = 0; i < num; i++) {
		const struct nnpu_extension_type *t = &e->types[i];

		if (le16_to_cpu(t->code) < NNPU_TYPE_EXTENSION || !t->byte_size ||
		    le32_to_cpu(t->flags) & ~NNPU_EXTENSION_TENSOR || t->reserved)
			return false;
		if (i && le16_to_cpu(t->number) <= le16_to_cpu(e->types[i - 1].number))
			return false;
	}
	return !memchr_inv(&e->types[num], 0, sizeof(e->types) - num * sizeof(e->types[0]));
}

/**
 * nnpu_extension_ok - check the description of an extension
 * @e: copy of the description
 * @others: extensions before it
 * @num_others: entries of @others
 *
 * Return: true if it follows the hardware specification.
 */
bool nnpu_extension_ok(const struct nnpu_extension *e, const struct nnpu_extension *others,
		       u32 num_others)
{
	u32 first = le32_to_cpu(e->first_operation), i;

	if (le32_to_cpu(e->magic) != NNPU_EXTENSION_MAGIC || first < NNPU_CMD_EXTENSION ||
	    le32_to_cpu(e->num_operations) > U32_MAX - first ||
	    memchr_inv(e->reserved, 0, sizeof(e->reserved)))
		return false;
	if (!nnpu_extension_name_ok(e) || !nnpu_extension_types_ok(e))
		return false;
	for (i = 0; i < num_others; i++)
		if (!strcmp(others[i].name, e->name))
			return false;
	return true;
}
