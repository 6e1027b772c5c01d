// SPDX-License-Identifier: MIT
/*
 * Loading programs: bind the memory of constants, and pass the image to the device.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/diag.h"
#include "device/device_private.h"
#include "memory/binding.h"
#include "memory/memory_private.h"
#include "model/model_image.h"
#include "model/program.h"
#include "transport/transport.h"

/* Buffers and bindings that are needed while a program loads. */
struct load {
	struct transport *t;
	struct bind_table *table;
	struct image *image;
	struct transport_bo staging;
	/* One per pool: a copy of memory that the device cannot reach. */
	struct transport_bo *copies;
	const struct binding **bindings;	/* NULL: not bound */
	uint32_t *slots;
};

static void set_slot(struct image *image, uint32_t tensor, uint32_t slot)
{
	image_tensors(image)[tensor].slot = htole32(slot);
}

/* Staged constants: one buffer for all of them. */
static int load_staging(struct load *l)
{
	const struct nnpu_tensor_desc *tensors = image_tensors(l->image);
	uint32_t i;
	int err;

	if (!l->image->staging_size)
		return 0;
	err = bind_table_bo_create(l->table, l->image->staging_size, &l->staging);
	if (err)
		return err;
	memcpy(l->staging.map, l->image->staging, l->image->staging_size);
	for (i = 0; i < l->image->num_tensors; i++)
		if (tensors[i].kind == NNPU_TENSOR_SLOT)
			set_slot(l->image, i, l->staging.slot);
	return 0;
}

/* Copy the constants of a pool that cannot be bound in place. */
static int copy_pool(struct load *l, uint32_t pool)
{
	const struct nnhal_memory *memory = l->image->pools[pool];
	int err = bind_table_bo_create(l->table, memory_bind_size(memory), &l->copies[pool]);
	uint32_t i;

	if (err)
		return err;
	l->slots[pool] = l->copies[pool].slot;
	for (i = 0; i < l->image->num_refs && !err; i++) {
		const struct image_ref *ref = &l->image->refs[i];
		const struct nnpu_tensor_desc *t = &image_tensors(l->image)[ref->tensor];

		if (ref->pool == pool)
			err = memory_read(memory, le64toh(t->data_off),
					  (uint8_t *)l->copies[pool].map + le64toh(t->data_off),
					  le64toh(t->data_len));
	}
	return err;
}

static int load_pools(struct load *l, struct nnhal_diag *diag)
{
	uint32_t i, pool;
	int err;

	for (i = 0; i < l->image->num_refs; i++) {
		pool = l->image->refs[i].pool;
		if (l->slots[pool] == NNPU_SLOT_NONE) {
			err = memory_bind(l->image->pools[pool], l->table, false,
					  &l->bindings[pool]);
			if (!err)
				l->slots[pool] = l->bindings[pool]->slot;
			else if (err == -ENOTSUP)
				err = copy_pool(l, pool);
			if (err) {
				diag_set(diag, "pool %u: %s", pool, errno_text(-err));
				return err;
			}
		}
		set_slot(l->image, l->image->refs[i].tensor, l->slots[pool]);
	}
	return 0;
}

static void load_fini(struct load *l)
{
	uint32_t i;

	for (i = 0; l->copies && i < l->image->num_pools; i++)
		l->t->ops->bo_destroy(l->t, &l->copies[i]);
	for (i = 0; l->bindings && i < l->image->num_pools; i++)
		if (l->bindings[i])
			binding_unpin(l->bindings[i]);
	l->t->ops->bo_destroy(l->t, &l->staging);
	free(l->slots);
	free(l->bindings);
	free(l->copies);
}

int image_load(struct nnhal_device *device, struct image *image,
	       struct nnpu_command_report *reports, struct transport_load *result,
	       struct nnhal_diag *diag)
{
	struct load l = {
		.t = device->transport, .table = device->table, .image = image,
		.staging = TRANSPORT_BO_NONE,
	};
	uint32_t i;
	int err = -ENOMEM;

	memset(result, 0, sizeof(*result));
	l.copies = calloc((size_t)image->num_pools + 1, sizeof(*l.copies));
	l.bindings = calloc((size_t)image->num_pools + 1, sizeof(*l.bindings));
	l.slots = malloc(((size_t)image->num_pools + 1) * sizeof(*l.slots));
	if (!l.copies || !l.bindings || !l.slots)
		goto out;
	for (i = 0; i < image->num_pools; i++) {
		l.slots[i] = NNPU_SLOT_NONE;
		l.copies[i] = (struct transport_bo)TRANSPORT_BO_NONE;
	}
	err = load_staging(&l);
	if (!err)
		err = load_pools(&l, diag);
	if (!err) {
		err = l.t->ops->program_load(l.t, image->data, image->size, reports,
					     reports ? image->num_commands : 0, result);
		/* ENOSPC of the above: more slots than a context has. */
		result->is_full = err == -ENOSPC;
	}
	/* The staged bytes are not needed any more, unless it is tried again elsewhere. */
	if (!err)
		image_drop_staging(image);
out:
	load_fini(&l);
	if (err)
		diag_set(diag, "loading the program: %s", errno_text(-err));
	return err;
}
