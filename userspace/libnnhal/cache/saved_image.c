// SPDX-License-Identifier: MIT
/*
 * Images of loaded programs.
 *
 * The device gives an image with all constants inline. Here large ones move to the data, and the
 * records refer to a slot: so the image stays small, and loading binds the data as it does a pool
 * of a model. A seal says what the values of all constants are: so the device sees whether
 * the data is what was saved, as it reads it, and the library does not look at it. The device
 * checks all of that when it loads the image; this file checks what it reads itself.
 */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/diag.h"
#include "cache/saved_image.h"

/* Constants up to this many bytes stay in the image, or fewer if it were larger than IMAGE_LARGE. */
#define INLINE_MAX	4096u
#define INLINE_LEAST	64u
#define IMAGE_LARGE	(64u << 10)
#define ALIGN		64

/* Does the image have records where this library expects them? */
static bool image_ok(const uint8_t *data, uint64_t size)
{
	struct nnpu_program_header h;
	uint64_t tensors, commands, end;

	if (size < sizeof(h) || size > UINT32_MAX)
		return false;
	memcpy(&h, data, sizeof(h));
	tensors = (uint64_t)le32toh(h.num_tensors) * sizeof(struct nnpu_tensor_desc);
	commands = (uint64_t)le32toh(h.num_commands) * sizeof(struct nnpu_command);
	end = sizeof(h) + tensors + commands + le32toh(h.num_indexes) * (uint64_t)sizeof(__le32);
	return le32toh(h.magic) == NNPU_PROGRAM_MAGIC &&
	       le16toh(h.version) == NNPU_PROGRAM_VERSION && le32toh(h.size) == size &&
	       le16toh(h.header_size) == sizeof(h) && le32toh(h.tensors_off) == sizeof(h) &&
	       le16toh(h.tensor_stride) == sizeof(struct nnpu_tensor_desc) &&
	       le16toh(h.command_stride) == sizeof(struct nnpu_command) &&
	       le32toh(h.commands_off) == sizeof(h) + tensors &&
	       le32toh(h.indexes_off) == sizeof(h) + tensors + commands &&
	       le32toh(h.data_off) >= end && le32toh(h.data_off) <= size &&
	       le32toh(h.data_size) <= size - le32toh(h.data_off) && !h.hints_size &&
	       !h.native_size && !h.seal_off;
}

/* What a tensor has in the inline data. */
struct piece {
	uint64_t from;
	uint64_t bytes;
};

static bool piece_ok(struct piece p, uint64_t size)
{
	return p.from <= size && p.bytes <= size - p.from;
}

/* Taking an image apart. */
struct split {
	uint64_t inline_max;
	const uint8_t *from;		/* inline data of the device's image */
	uint64_t from_size;
	uint8_t *inline_data;
	uint64_t inline_size;
	uint8_t *data;
	uint64_t data_size;
};

/* Copy a piece to the data that stays inline; where it is now. */
static uint32_t keep(struct split *s, struct piece p)
{
	uint64_t at = s->inline_size;

	if (s->inline_data)
		memcpy(s->inline_data + at, s->from + p.from, p.bytes);
	s->inline_size = round_up_u64(at + p.bytes, 16);
	return (uint32_t)at;
}

static bool split_tensor(struct split *s, struct nnpu_tensor_desc *t)
{
	struct piece scales = { le32toh(t->channel_scales_off),
				le32toh(t->num_channel_scales) * (uint64_t)sizeof(float) };
	struct piece params = { le32toh(t->params_off), le32toh(t->params_len) };
	struct piece values = { le64toh(t->data_off), le64toh(t->data_len) };

	if (t->kind == NNPU_TENSOR_SLOT || !piece_ok(scales, s->from_size) ||
	    !piece_ok(params, s->from_size))
		return false;
	if (scales.bytes)
		t->channel_scales_off = htole32(keep(s, scales));
	if (params.bytes)
		t->params_off = htole32(keep(s, params));
	if (t->kind != NNPU_TENSOR_INLINE)
		return true;
	if (!piece_ok(values, s->from_size))
		return false;
	if (values.bytes <= s->inline_max) {
		t->data_off = htole64(keep(s, values));
		return true;
	}
	t->kind = NNPU_TENSOR_SLOT;
	t->data_off = htole64(s->data_size);
	if (s->data)
		memcpy(s->data + s->data_size, s->from + values.from, values.bytes);
	s->data_size = round_up_u64(s->data_size + values.bytes, ALIGN);
	return true;
}

/* @records are written if there is memory for the data. */
static bool split_image(struct split *s, const uint8_t *image, uint8_t *records)
{
	struct nnpu_program_header h;
	struct nnpu_tensor_desc t;
	uint32_t i;

	memcpy(&h, image, sizeof(h));
	s->from = image + le32toh(h.data_off);
	s->from_size = le32toh(h.data_size);
	s->inline_size = 0;
	s->data_size = 0;
	for (i = 0; i < le32toh(h.num_tensors); i++) {
		size_t at = sizeof(h) + (size_t)i * sizeof(t);

		memcpy(&t, image + at, sizeof(t));
		if (!split_tensor(s, &t))
			return false;
		if (records)
			memcpy(records + at, &t, sizeof(t));
	}
	return true;
}

static int split(const uint8_t *image, uint64_t size, uint64_t max_image,
		 struct cache_content *content)
{
	struct split s = { .inline_max = INLINE_MAX };
	struct nnpu_program_header *h;
	uint64_t head, total;
	uint8_t *block;

	if (!image_ok(image, size) || !split_image(&s, image, NULL))
		return -EIO;
	head = le32toh(((const struct nnpu_program_header *)image)->data_off);
	if (head + s.inline_size > IMAGE_LARGE) {
		s.inline_max = INLINE_LEAST;
		split_image(&s, image, NULL);
	}
	total = head + s.inline_size;
	if (total + sizeof(struct nnpu_seal) > max_image)
		return -EFBIG;
	block = calloc(1, round_up_u64(total, ALIGN) + s.data_size + 1);
	if (!block)
		return -ENOMEM;
	memcpy(block, image, head);
	s.inline_data = block + head;
	s.data = block + round_up_u64(total, ALIGN);
	split_image(&s, image, block);
	h = (struct nnpu_program_header *)block;
	h->size = htole32((uint32_t)total);
	h->data_size = htole32((uint32_t)s.inline_size);
	content->block = block;
	content->image = block;
	content->image_size = total;
	content->data = s.data;
	content->data_size = s.data_size;
	return 0;
}

int saved_image_take(struct transport *t, uint32_t program, struct cache_content *content)
{
	uint64_t size = 0, room;
	uint8_t *image;
	int err;

	err = t->ops->program_save(t, program, NULL, &size);
	if (err)
		return err;
	image = malloc(size);
	if (!image)
		return -ENOMEM;
	room = size;
	err = t->ops->program_save(t, program, image, &size);
	if (!err)
		err = size == room ? split(image, size, t->limits.max_program_size, content) : -EIO;
	free(image);
	return err;
}

/* Where the values of a constant are in image or data; NULL: they are not inside. */
static const uint8_t *values_of(const struct cache_content *content,
				const struct nnpu_tensor_desc *t)
{
	struct piece values = { le64toh(t->data_off), le64toh(t->data_len) };
	const struct nnpu_program_header *h = (const void *)content->image;

	if (t->kind == NNPU_TENSOR_SLOT)
		return piece_ok(values, content->data_size) ? content->data + values.from : NULL;
	return piece_ok(values, le32toh(h->data_size)) ?
	       content->image + le32toh(h->data_off) + values.from : NULL;
}

bool saved_image_seal(const struct crypto *crypto, const struct cache_content *content,
		      const uint8_t key[CRYPTO_SEAL_KEY_SIZE], uint8_t tag[CRYPTO_SEAL_SIZE])
{
	const struct nnpu_program_header *h = (const void *)content->image;
	const struct nnpu_tensor_desc *t = (const void *)(h + 1);
	void *seal = crypto_seal_begin(crypto, key);
	bool good = seal;
	uint32_t i;

	for (i = 0; good && i < le32toh(h->num_tensors); i++) {
		const uint8_t *values;

		if (t[i].kind != NNPU_TENSOR_SLOT && t[i].kind != NNPU_TENSOR_INLINE)
			continue;
		values = values_of(content, &t[i]);
		good = values && crypto_seal_add(crypto, seal, values, le64toh(t[i].data_len));
	}
	return crypto_seal_end(crypto, seal, tag) && good;
}

/* A copy of the image with its seal. */
static bool copy_sealed(const struct cache_content *content, struct image *image)
{
	uint64_t at = round_up_u64(content->image_size, 8), size = at + sizeof(struct nnpu_seal);
	struct nnpu_seal seal = { .kind = htole32(NNPU_SEAL_POLY1305) };
	struct nnpu_program_header *h;

	image->data = calloc(1, size);
	if (!image->data)
		return false;
	memcpy(image->data, content->image, content->image_size);
	memcpy(seal.key, content->seal_key, sizeof(seal.key));
	memcpy(seal.tag, content->seal, sizeof(seal.tag));
	memcpy(image->data + at, &seal, sizeof(seal));
	h = (struct nnpu_program_header *)image->data;
	h->seal_off = htole32((uint32_t)at);
	h->size = htole32((uint32_t)size);
	image->size = (uint32_t)size;
	image->num_tensors = le32toh(h->num_tensors);
	image->num_commands = le32toh(h->num_commands);
	return true;
}

/* Each constant in a slot is in the data file. False: one is not. */
static bool refer_to_data(const struct cache_content *content, struct image *image)
{
	const struct nnpu_tensor_desc *t = image_tensors(image);
	uint32_t i;

	for (i = 0; i < image->num_tensors; i++) {
		struct piece values = { le64toh(t[i].data_off), le64toh(t[i].data_len) };

		if (t[i].kind != NNPU_TENSOR_SLOT)
			continue;
		/* Without data it would be in somebody else's slot. */
		if (!piece_ok(values, content->data_size) || !content->data_size)
			return false;
		image->refs[image->num_refs++] = (struct image_ref){ .tensor = i, .pool = 0 };
	}
	return true;
}

enum nnhal_status saved_image_load(struct cache_content *content, struct image *image,
				   struct nnhal_diag *diag)
{
	memset(image, 0, sizeof(*image));
	if (!image_ok(content->image, content->image_size)) {
		diag_set(diag, "cache: the image is malformed");
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	if (copy_sealed(content, image)) {
		image->refs = calloc((size_t)image->num_tensors + 1, sizeof(*image->refs));
		image->pools = calloc(1, sizeof(struct nnhal_memory *));
	}
	if (!image->refs || !image->pools) {
		image_fini(image);
		diag_set(diag, "no memory for a program");
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	if (!refer_to_data(content, image)) {
		image_fini(image);
		diag_set(diag, "cache: the image is malformed");
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	if (content->data_file) {
		image->pools[0] = content->data_file;
		image->num_pools = 1;
		content->data_file = NULL;
	}
	return NNHAL_STATUS_NONE;
}
