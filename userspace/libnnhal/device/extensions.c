// SPDX-License-Identifier: MIT
/*
 * Vendor extensions: the descriptions of the device, and the mapping of a model's types and
 * operations to codes of the device.
 *
 * The library itself knows no extension. A model names an extension and gives it a prefix. If
 * the device has an extension of that name, its codes replace the numbers of the model.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "device/device_private.h"
#include "device/extensions.h"

/* A12: lower-case letters, digits, '_' and '.', at least one '.'. */
static bool name_ok(const struct nnpu_extension *e)
{
	size_t length = strnlen(e->name, sizeof(e->name));

	return length < sizeof(e->name) && memchr(e->name, '.', length) &&
	       strspn(e->name, "abcdefghijklmnopqrstuvwxyz0123456789_.") == length;
}

static bool types_ok(const struct nnpu_extension *e)
{
	uint32_t n = le32toh(e->num_types), i;

	if (n > ARRAY_SIZE(e->types))
		return false;
	for (i = 0; i < n; i++)
		if (le16toh(e->types[i].code) < NNPU_TYPE_EXTENSION || !e->types[i].byte_size ||
		    (i && le16toh(e->types[i].number) <= le16toh(e->types[i - 1].number)))
			return false;
	return true;
}

/* Add @e to the list for callers. */
static bool extension_ok(const struct extensions *x, const struct nnpu_extension *e)
{
	uint32_t first = le32toh(e->first_operation), i;

	if (le32toh(e->magic) != NNPU_EXTENSION_MAGIC || first < NNPU_CMD_EXTENSION ||
	    le32toh(e->num_operations) > UINT32_MAX - first || !name_ok(e) || !types_ok(e))
		return false;
	for (i = 0; i < x->count; i++)
		if (!strcmp(x->device[i].name, e->name))
			return false;
	return true;
}

static void fill_list(struct extensions *x)
{
	struct nnhal_extension_operand_type *type = x->types;
	uint32_t i, k;

	for (i = 0; i < x->count; i++) {
		const struct nnpu_extension *e = &x->device[i];

		x->list[i] = (struct nnhal_extension){
			.name = e->name, .num_operand_types = le32toh(e->num_types),
			.operand_types = type,
		};
		for (k = 0; k < x->list[i].num_operand_types; k++)
			*type++ = (struct nnhal_extension_operand_type){
				.type = le16toh(e->types[k].number),
				.is_tensor = le32toh(e->types[k].flags) & NNPU_EXTENSION_TENSOR,
				.byte_size = le32toh(e->types[k].byte_size),
			};
	}
}

bool extensions_init(struct extensions *x, struct nnpu_extension *device, uint32_t count)
{
	size_t num_types = 0;
	uint32_t i;

	*x = (struct extensions){ .device = device };
	for (i = 0; i < count; i++) {
		if (!extension_ok(x, &device[i]))
			continue;
		if (i != x->count)
			device[x->count] = device[i];
		num_types += le32toh(device[x->count++].num_types);
	}
	if (!x->count)
		return true;
	x->list = calloc(x->count, sizeof(*x->list));
	x->types = calloc(num_types + 1, sizeof(*x->types));
	if (!x->list || !x->types)
		return false;
	fill_list(x);
	return true;
}

void extensions_fini(struct extensions *x)
{
	free(x->types);
	free(x->list);
	free(x->device);
}

/* The name that the model gives to the extension of a type or operation. */
static const char *name_of(const struct nnhal_model *model, uint32_t type)
{
	uint32_t i;

	for (i = 0; i < model->num_extensions; i++)
		if (model->extensions[i].prefix == type >> 16)
			return model->extensions[i].name;
	return NULL;
}

/* Index of the extension on the device; x->count if the device has none of this name. */
static uint32_t find(const struct extensions *x, const struct nnhal_model *model, uint32_t type)
{
	const char *name = name_of(model, type);
	uint32_t i;

	for (i = 0; name && i < x->count; i++)
		if (!strcmp(x->device[i].name, name))
			return i;
	return x->count;
}

const char *extensions_find_type(const struct extensions *x, const struct nnhal_model *model,
				 uint32_t type, struct extension_type *found)
{
	uint32_t i = x ? find(x, model, type) : 0, k;
	const struct nnhal_extension *e;

	if (!x || i == x->count)
		return "the device does not have the extension of this operand type";
	e = &x->list[i];
	for (k = 0; k < e->num_operand_types; k++)
		if (e->operand_types[k].type == (type & 0xffff)) {
			found->code = le16toh(x->device[i].types[k].code);
			found->is_tensor = e->operand_types[k].is_tensor;
			found->byte_size = e->operand_types[k].byte_size;
			return NULL;
		}
	return "the extension does not have this operand type";
}

const char *extensions_find_operation(const struct extensions *x,
				      const struct nnhal_model *model, uint32_t type,
				      uint32_t *opcode)
{
	uint32_t i = x ? find(x, model, type) : 0;

	if (!x || i == x->count)
		return "the device does not have this extension";
	if ((type & 0xffff) >= le32toh(x->device[i].num_operations))
		return "the extension does not have this operation";
	*opcode = le32toh(x->device[i].first_operation) + (type & 0xffff);
	return NULL;
}

const char *operation_text(const struct nnhal_model *model, uint32_t type, char *text,
			   size_t size)
{
	if (!nnhal_is_extension_operation_type(type))
		return nnhal_operation_type_name(type);
	snprintf(text, size, "%.60s operation %u", name_of(model, type), type & 0xffff);
	return text;
}

/* The device's extension of the prefix that @type has in @model, or NULL. */
static const struct nnhal_extension *extension_of(const struct extensions *extensions,
						  const struct nnhal_model *model, uint32_t type)
{
	const char *name = NULL;
	uint32_t i;

	for (i = 0; model && i < model->num_extensions; i++)
		if (model->extensions[i].prefix == type >> 16)
			name = model->extensions[i].name;
	for (i = 0; name && i < extensions->count; i++)
		if (!strcmp(extensions->list[i].name, name))
			return &extensions->list[i];
	return NULL;
}

enum nnhal_status nnhal_device_get_operand_type_info(struct nnhal_device *device,
						     const struct nnhal_model *model,
						     uint32_t type,
						     struct nnhal_operand_type_info *info)
{
	struct nnhal_operand_type_info found = { .size = 0 };
	const struct nnhal_extension *extension;
	uint32_t i;

	if (!device || !info ||
	    !result_size_is_valid(info, SIZE_UP_TO(struct nnhal_operand_type_info, reserved)) ||
	    !nnhal_validate_operand_type(type, NNHAL_HAL_LATEST))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (!nnhal_is_extension_operand_type(type)) {
		found.element_size = nnhal_element_size(type);
		found.is_tensor = nnhal_operand_type_is_tensor(type);
		found.is_quantized = nnhal_operand_type_is_quantized(type);
		result_give(info, info->size, &found, sizeof(found));
		return NNHAL_STATUS_NONE;
	}
	extension = extension_of(&device->extensions, model, type);
	for (i = 0; extension && i < extension->num_operand_types; i++) {
		if (extension->operand_types[i].type != (type & NNHAL_BASE_TYPE_MAX))
			continue;
		found.is_extension = true;
		found.is_tensor = extension->operand_types[i].is_tensor;
		found.element_size = extension->operand_types[i].byte_size;
		result_give(info, info->size, &found, sizeof(found));
		return NNHAL_STATUS_NONE;
	}
	return NNHAL_STATUS_INVALID_ARGUMENT;
}
