// SPDX-License-Identifier: MIT
/*
 * The thread that gives memory back.
 */
#include <stdlib.h>

#include "cleaner.h"
#include "device_memory.h"
#include "device_state.h"

static void leave(struct nnpu_device *dev, struct leaving_list *list, struct leaving *l)
{
	l->next = NULL;
	if (list->last)
		list->last->next = l;
	else
		list->first = l;
	list->last = l;
	dev->mem_used -= l->bytes;
	dev->mem_leaving += l->bytes;
	pthread_cond_signal(&dev->leaves);
}

void dev_leave(struct nnpu_device *dev, struct leaving *l)
{
	leave(dev, &dev->memory_leaving, l);
}

static void memory_free(struct nnpu_device *dev, struct leaving *l)
{
	mem_free(dev, l, l->bytes);
}

void dev_leave_memory(struct nnpu_device *dev, void *memory, uint64_t bytes)
{
	struct leaving *l = memory;

	l->free = memory_free;
	l->bytes = bytes;
	dev_leave(dev, l);
}

static void end_free(struct nnpu_device *dev, struct leaving *l)
{
	mem_free_end(dev, l, l->bytes);
}

void dev_leave_end(struct nnpu_device *dev, void *end, uint64_t bytes)
{
	struct leaving *l = end;

	mem_cut(end, bytes);
	l->free = end_free;
	l->bytes = bytes;
	dev_leave(dev, l);
}

static void object_free(struct nnpu_device *dev, struct leaving *l)
{
	(void)dev;
	free(l);
}

void dev_leave_object(struct nnpu_device *dev, struct leaving_object *o, uint64_t size)
{
	o->size = size;
	if (!o->leaving.free)
		o->leaving.free = object_free;
	dev->object_bytes_leaving += size;
	leave(dev, &dev->objects_leaving, &o->leaving);
}

/* Free the oldest. False: there is none. dev->lock held, dropped inside. */
static bool clean(struct nnpu_device *dev, struct leaving_list *list)
{
	struct leaving *l = list->first;
	uint64_t bytes;

	if (!l)
		return false;
	list->first = l->next;
	if (!l->next)
		list->last = NULL;
	bytes = l->bytes;
	pthread_mutex_unlock(&dev->lock);
	l->free(dev, l);
	pthread_mutex_lock(&dev->lock);
	dev->mem_leaving -= bytes;
	pthread_cond_broadcast(&dev->left);
	return true;
}

/* The same of an object. Returns its size, or 0. */
static uint64_t clean_object(struct nnpu_device *dev)
{
	const struct leaving_object *o = (struct leaving_object *)dev->objects_leaving.first;
	uint64_t size = o ? o->size : 0;

	clean(dev, &dev->objects_leaving);
	dev->object_bytes_leaving -= size;
	return size;
}

void cleaner_make_room(struct nnpu_device *dev, uint64_t size)
{
	uint64_t freed = 0, n = 1;

	pthread_mutex_lock(&dev->lock);
	while (n && freed < size && dev->object_bytes_leaving + size > OBJECTS_LEAVING_MAX) {
		n = clean_object(dev);
		freed += n;
	}
	pthread_mutex_unlock(&dev->lock);
}

void cleaner_run(struct nnpu_device *dev)
{
	bool cleaned;

	pthread_mutex_lock(&dev->lock);
	for (;;) {
		/* In turns. */
		cleaned = clean_object(dev);
		if (clean(dev, &dev->memory_leaving) || cleaned)
			continue;
		if (dev->all_left)
			break;
		pthread_cond_wait(&dev->leaves, &dev->lock);
	}
	pthread_mutex_unlock(&dev->lock);
}
