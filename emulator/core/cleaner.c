// SPDX-License-Identifier: MIT
/*
 * The thread that gives memory back.
 */
#include <stdlib.h>

#include "cleaner.h"
#include "device_memory.h"
#include "device_state.h"

void dev_leave(struct nnpu_device *dev, struct leaving *l)
{
	l->next = NULL;
	if (dev->last_leaving)
		dev->last_leaving->next = l;
	else
		dev->first_leaving = l;
	dev->last_leaving = l;
	dev->mem_used -= l->bytes;
	dev->mem_leaving += l->bytes;
	pthread_cond_signal(&dev->leaves);
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

static void object_free(struct nnpu_device *dev, struct leaving *l)
{
	(void)dev;
	free(l);
}

void dev_leave_object(struct nnpu_device *dev, struct leaving *l)
{
	l->free = object_free;
	l->bytes = 0;
	dev_leave(dev, l);
}

void cleaner_run(struct nnpu_device *dev)
{
	struct leaving *l;
	uint64_t bytes;

	pthread_mutex_lock(&dev->lock);
	while (dev->first_leaving || !dev->all_left) {
		l = dev->first_leaving;
		if (!l) {
			pthread_cond_wait(&dev->leaves, &dev->lock);
			continue;
		}
		dev->first_leaving = l->next;
		if (!l->next)
			dev->last_leaving = NULL;
		pthread_mutex_unlock(&dev->lock);
		bytes = l->bytes;
		l->free(dev, l);
		pthread_mutex_lock(&dev->lock);
		dev->mem_leaving -= bytes;
		pthread_cond_broadcast(&dev->left);
	}
	pthread_mutex_unlock(&dev->lock);
}
