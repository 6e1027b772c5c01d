// SPDX-License-Identifier: MIT
/*
 * Admin command IDENTIFY: the pages about the device and its extensions.
 */
#include <stdio.h>
#include <stdlib.h>

#include "admin_command.h"
#include "device_state.h"
#include "dma.h"
#include "firmware_build.h"
#include "program_image.h"
#include "program_load.h"
#include "seats.h"
#include "ops/extension.h"

/*
 * Time hints. The model shares the processors of its host with others: these are several times
 * what it takes when it has one for itself.
 */
#define ADMIN_MS		100
#define LOAD_MS			100
#define LOAD_IMAGE_MS		500
#define LOAD_CONST_MS		20

static __le32 float_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return htole32(bits);
}

/*
 * Performance relative to a host CPU core. The model runs on one, so floating point costs
 * about the same. Quantized kernels move less memory.
 */
static void set_performance(struct nnpu_performance *p, uint32_t type)
{
	bool quant = type == NNPU_TYPE_TENSOR_QUANT8_ASYMM ||
		     type == NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED ||
		     type == NNPU_TYPE_TENSOR_QUANT8_SYMM ||
		     type == NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL;

	p->type = htole32(type);
	p->exec_time = float_bits(quant ? 0.5f : 0.9f);
	p->power = float_bits(quant ? 0.4f : 0.8f);
}

static void fill_identify(const struct nnpu_device *dev, struct nnpu_identify *id)
{
	uint32_t i, n = 0;

	id->magic = htole32(NNPU_IDENTIFY_MAGIC);
	id->version = htole32(NNPU_HW_VERSION);
	id->features = htole64(dev_features(dev));
	snprintf(id->name, sizeof(id->name), "%s", NNPU_DEVICE_NAME);
	snprintf(id->firmware, sizeof(id->firmware), "%s", NNPU_DEVICE_FIRMWARE);
	firmware_build(id->build);
	id->device_type = htole32(4);
	id->max_rank = htole32(NNPU_MAX_RANK);
	id->memory_size = htole64(dev->props.memory_size);
	id->max_program_size = htole64(NNPU_PROGRAM_MAX_SIZE);
	id->max_operand_size = htole64(dev->props.max_operand_size);
	id->num_engines = htole32(dev->props.num_engines);
	for (i = 0; i < NNPU_NUM_OPERATIONS; i++)
		if (op_find(i) || i == NNPU_OP_IF || i == NNPU_OP_WHILE)
			id->operations[i / 32] |= htole32(1u << (i % 32));
	for (i = 0; i < sizeof(id->relaxed) / sizeof(id->relaxed[0]); i++)
		set_performance(&id->relaxed[i], 0);
	for (i = 0; i < NNPU_NUM_TYPES; i++)
		if (i != NNPU_TYPE_SUBGRAPH)
			set_performance(&id->performance[n++], i);
	id->num_performance = htole32(n);
	for (i = 0; i < NNPU_NUM_TYPES; i++)
		if (i != NNPU_TYPE_SUBGRAPH)
			id->types[i / 32] |= htole32(1u << (i % 32));
	id->program_min = htole16(PROGRAM_MIN);
	id->program_max = htole16(PROGRAM_MAX);
	id->encodings = htole32(1u << NNPU_ENCODING_PACKED | 1u << NNPU_ENCODING_NATIVE);
	id->max_depth = htole32(MAX_DEPTH);
	id->num_extensions = htole32(extension_offered(dev->props.examples, NULL));
	id->admin_ms = htole32(ADMIN_MS);
	id->load_ms = htole32(LOAD_MS);
	id->load_image_ms = htole32(LOAD_IMAGE_MS);
	id->load_const_ms = htole32(LOAD_CONST_MS);
	id->slice_us = htole32(dev->props.slices ? SLICE_NS / 1000 : 0);
	id->max_loads = htole32(dev->props.max_loads);
	id->max_operands = htole32(dev->props.max_operands);
}

/* The codes of extension @i of the list. */
static void fill_extension(uint32_t i, struct nnpu_extension *out)
{
	const struct extension *e = extension_get(i);
	uint32_t k, n = 0, code = EXTENSION_CODE(i, 0);

	out->magic = htole32(NNPU_EXTENSION_MAGIC);
	out->first_operation = htole32(code);
	out->num_operations = htole32(e->num_operations);
	snprintf(out->name, sizeof(out->name), "%s", e->name);
	for (k = 0; k < e->num_types; k++) {
		if (!e->types[k].name)
			continue;
		out->types[n++] = (struct nnpu_extension_type) {
			.number = htole16((uint16_t)k),
			.code = htole16((uint16_t)(code + k)),
			.byte_size = htole32(e->types[k].byte_size),
			.flags = htole32(e->types[k].is_tensor ? NNPU_EXTENSION_TENSOR : 0),
		};
	}
	out->num_types = htole32(n);
}

void admin_identify(struct admin *a, const struct nnpu_sqe_identify *c)
{
	uint32_t list[NNPU_MAX_EXTENSIONS];
	uint32_t count = extension_offered(a->dev->props.examples, list);
	uint32_t number = le32toh(c->page);
	union {
		struct nnpu_identify device;
		struct nnpu_extension extension;
	} *page;

	if (c->flags || c->ctx || c->reserved0 || !is_zero(c->reserved, sizeof(c->reserved)) ||
	    !page_aligned(le64toh(c->addr)) || number > count) {
		admin_fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	page = calloc(1, sizeof(*page));
	if (!page) {
		admin_fail(a, NNPU_STATUS_INTERNAL);
		return;
	}
	if (number)
		fill_extension(list[number - 1], &page->extension);
	else
		fill_identify(a->dev, &page->device);
	if (dev_dma_write(a->dev, le64toh(c->addr), page, sizeof(*page)))
		admin_fail(a, NNPU_STATUS_DMA_ERROR);
	free(page);
}
