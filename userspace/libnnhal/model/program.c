// SPDX-License-Identifier: MIT
/*
 * Loading programs: bind the memory of constants, and pass the image to the device.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <nnhal/nnhal.h>

#include "base/diag.h"
#include "device/device_private.h"
#include "memory/binding.h"
#include "memory/memory_private.h"
#include "model/model_image.h"
#include "model/program.h"
#include "transport/transport.h"

/* Constants with so many bytes between them are copied with what is between them. */
#define CLOSE		64u
/* Fewer bytes are not worth a system call. */
#define TOUCH_MIN	(64u << 10)

/* Buffers and bindings that are needed while a program loads. */
struct load {
	struct transport *t;
	struct bind_table *table;
	struct image *image;
	struct transport_bo staging;
	/* One per pool: a copy of memory that the device cannot reach. */
	struct transport_bo *copies;
	bool *is_file;			/* the slot is of load_file() */
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
	return transport_give(l->t, &l->staging, 0, l->image->staging_size);
}

/*
 * Have all pages of a range at once, for it is written now: one after the other takes twice as long.
 * Makes no difference otherwise, and none at all to memory of a driver.
 */
static void touch(void *p, size_t size)
{
#ifdef MADV_POPULATE_WRITE
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)p & ~(page - 1);

	if (size >= TOUCH_MIN)
		madvise((void *)first, (uintptr_t)p + size - first, MADV_POPULATE_WRITE);
#else
	(void)p;
	(void)size;
#endif
}

/* Copy a part of a pool. */
static int copy_part(struct load *l, uint32_t pool, uint64_t from, uint64_t end)
{
	uint8_t *to = (uint8_t *)l->copies[pool].map + from;

	int err;

	touch(to, end - from);
	err = memory_read(l->image->pools[pool], from, to, end - from);
	return err ? err : transport_give(l->t, &l->copies[pool], from, end - from);
}

/* Copy the constants of a pool that cannot be bound in place, those that are close in one go. */
static int copy_pool(struct load *l, uint32_t pool)
{
	int err = bind_table_bo_create(l->table, memory_bind_size(l->image->pools[pool]),
				       &l->copies[pool]);
	uint64_t from = 0, end = 0;
	uint32_t i;

	if (err)
		return err;
	l->slots[pool] = l->copies[pool].slot;
	for (i = 0; i < l->image->num_refs && !err; i++) {
		const struct image_ref *ref = &l->image->refs[i];
		const struct nnpu_tensor_desc *t = &image_tensors(l->image)[ref->tensor];
		uint64_t at = le64toh(t->data_off);

		if (ref->pool != pool)
			continue;
		if (at < from || at > end + CLOSE) {
			if (end > from)
				err = copy_part(l, pool, from, end);
			from = at;
			end = at;
		}
		if (at + le64toh(t->data_len) > end)
			end = at + le64toh(t->data_len);
	}
	return err || end == from ? err : copy_part(l, pool, from, end);
}

/*
 * A file that the device does not reach in place: it reads it by itself, as it goes through the
 * constants, instead of a copy.
 */
static int load_file(struct load *l, uint32_t pool)
{
	const struct nnhal_memory *memory = l->image->pools[pool];
	int err;

	if (!l->t->ops->bind_file || memory->is_foreign || memory_is_pointer(memory) ||
	    memory->kind == NNHAL_MEMORY_HARDWARE_BUFFER_BLOB)
		return -ENOTSUP;
	err = l->t->ops->bind_file(l->t, memory->fd, memory->offset, memory->size,
				   &l->slots[pool]);
	l->is_file[pool] = !err;
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
				err = load_file(l, pool) ? copy_pool(l, pool) : 0;
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
	for (i = 0; l->is_file && i < l->image->num_pools; i++)
		if (l->is_file[i])
			l->t->ops->unbind(l->t, l->slots[i]);
	for (i = 0; l->bindings && i < l->image->num_pools; i++)
		if (l->bindings[i])
			binding_unpin(l->bindings[i]);
	l->t->ops->bo_destroy(l->t, &l->staging);
	free(l->slots);
	free(l->is_file);
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
	l.is_file = calloc((size_t)image->num_pools + 1, sizeof(*l.is_file));
	if (!l.copies || !l.bindings || !l.slots || !l.is_file)
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
