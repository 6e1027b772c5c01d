// SPDX-License-Identifier: MIT
/*
 * Properties of a device, its creation and its end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "device_memory.h"
#include "device_state.h"
#include "device_threads.h"
#include "engine.h"
#include "helpers.h"
#include "loads.h"
#include "queue.h"

#define NS_PER_S		1000000000ull
/* Hosts have pages of up to 64 KiB. */
#define MAX_DB_STRIDE		16

void nnpu_device_default_props(struct nnpu_device_props *props)
{
	*props = (struct nnpu_device_props) {
		.num_queues = 64,
		.num_engines = 1,
		.num_threads = 1,
		.num_vectors = 17,
		.max_contexts = 64,
		.max_slots_log2 = 10,
		.max_programs = 256,
		.max_args = 4096,
		.max_entries_log2 = 12,
		.max_db_stride = MAX_DB_STRIDE,
		.memory_size = 1ull << 30,
		.max_operand_size = 256ull << 20,
		.max_loads = 1u << 16,
		.max_operands = NNPU_DEVICE_MAX_OPERANDS,
		.slices = true,
		.load_turns = true,
	};
}

int nnpu_device_check_props(const struct nnpu_device_props *p, char *error, size_t size)
{
	const struct {
		const char *name;
		uint64_t value;
		uint64_t min;
		uint64_t max;
	} ranges[] = {
		{ "num_queues", p->num_queues, 1, NNPU_DEVICE_MAX_QUEUES },
		{ "num_engines", p->num_engines, 1, NNPU_DEVICE_MAX_ENGINES },
		{ "num_threads", p->num_threads, 1, NNPU_DEVICE_MAX_THREADS },
		{ "num_vectors", p->num_vectors, 1,
		  p->platform_irq ? NNPU_PLATFORM_VECTORS : NNPU_DEVICE_MAX_VECTORS },
		{ "max_contexts", p->max_contexts, 1, NNPU_DEVICE_MAX_CONTEXTS },
		{ "max_slots_log2", p->max_slots_log2, 0, 16 },
		{ "max_programs", p->max_programs, 1, UINT16_MAX },
		{ "max_args", p->max_args, 2, UINT16_MAX },
		{ "max_entries_log2", p->max_entries_log2, 1, 16 },
		{ "max_db_stride", p->max_db_stride, NNPU_PAGE_SHIFT, MAX_DB_STRIDE },
		{ "memory_size", p->memory_size, NNPU_DEVICE_MIN_MEMORY, NNPU_DEVICE_MAX_MEMORY },
		{ "max_operand_size", p->max_operand_size, 1, p->memory_size },
		{ "poll_ns", p->poll_ns, 0, NS_PER_S },
		{ "max_loads", p->max_loads, 1, 1u << 16 },
		{ "max_operands", p->max_operands, 1, NNPU_DEVICE_MAX_OPERANDS },
	};
	size_t i;

	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		if (ranges[i].value >= ranges[i].min && ranges[i].value <= ranges[i].max)
			continue;
		snprintf(error, size, "%s is %llu, must be %llu to %llu", ranges[i].name,
			 (unsigned long long)ranges[i].value, (unsigned long long)ranges[i].min,
			 (unsigned long long)ranges[i].max);
		return -1;
	}
	return 0;
}

uint64_t nnpu_device_doorbell_size(const struct nnpu_device_props *props)
{
	uint64_t size = NNPU_PAGE_SIZE;

	while (size < (props->num_queues + 1ull) << props->max_db_stride)
		size <<= 1;
	return size;
}

static void device_free(struct nnpu_device *dev)
{
	unsigned int i;

	for (i = 0; dev->engines && i < dev->max_workers; i++)
		pthread_cond_destroy(&dev->engines[i].turn);
	for (i = 0; dev->loaders && i < dev->props.max_contexts; i++)
		pthread_cond_destroy(&dev->loaders[i].wake);
	helpers_fini(dev);
	pthread_cond_destroy(&dev->left);
	pthread_cond_destroy(&dev->leaves);
	pthread_cond_destroy(&dev->resumed);
	pthread_cond_destroy(&dev->event);
	pthread_cond_destroy(&dev->work);
	pthread_mutex_destroy(&dev->irq_lock);
	sealer_fini(&dev->sealer);
	pthread_mutex_destroy(&dev->lock);
	mem_fini(dev);
	free(dev->loaders);
	free(dev->seats);
	free(dev->engines);
	free(dev->contexts);
	free(dev->groups);
	free(dev->irq_asks);
	free(dev->queues);
	free(dev);
}

/* Like calloc(), aligned to cache lines. @size must be a multiple of a line. */
static void *alloc_lines(size_t num, size_t size)
{
	void *p = aligned_alloc(CACHE_LINE, num * size);

	return p ? memset(p, 0, num * size) : NULL;
}

struct nnpu_device *nnpu_device_create(const struct nnpu_device_props *props,
				       const struct nnpu_bus_ops *ops, void *bus,
				       char *error, size_t size)
{
	pthread_mutexattr_t lock_attr;
	struct nnpu_device *dev;
	pthread_condattr_t attr;
	unsigned int i;

	if (nnpu_device_check_props(props, error, size))
		return NULL;
	dev = alloc_lines(1, sizeof(*dev));
	if (!dev)
		goto err_memory;
	dev->props = *props;
	dev->ops = ops;
	dev->bus = bus;
	/* The lock is held so briefly that spinning beats sleeping. */
	pthread_mutexattr_init(&lock_attr);
	pthread_mutexattr_settype(&lock_attr, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutex_init(&dev->lock, &lock_attr);
	pthread_mutexattr_destroy(&lock_attr);
	pthread_mutex_init(&dev->irq_lock, NULL);
	sealer_init(&dev->sealer);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&dev->work, &attr);
	pthread_cond_init(&dev->left, &attr);
	pthread_cond_init(&dev->event, &attr);
	pthread_cond_init(&dev->resumed, &attr);
	pthread_cond_init(&dev->leaves, NULL);
	dev->queues = calloc(props->num_queues + 1, sizeof(*dev->queues));
	dev->contexts = calloc(props->max_contexts + 1, sizeof(*dev->contexts));
	dev->groups = calloc(props->max_contexts, sizeof(*dev->groups));
	dev->irq_asks = calloc(props->num_vectors, sizeof(*dev->irq_asks));
	/* Each lane may have a job that has given way. */
	dev->max_workers = props->num_engines + props->num_queues +
			   props->max_contexts * NNPU_QUEUE_PRIORITY_NUM;
	dev->engines = alloc_lines(dev->max_workers, sizeof(*dev->engines));
	dev->loaders = alloc_lines(props->max_contexts, sizeof(*dev->loaders));
	dev->seats = calloc(props->num_engines, sizeof(*dev->seats));
	dev->perf_level = NNPU_PERF_MEDIUM;
	if (!helpers_init(dev, &attr) || !dev->queues || !dev->contexts || !dev->groups ||
	    !dev->irq_asks || !dev->engines || !dev->loaders || !dev->seats) {
		pthread_condattr_destroy(&attr);
		device_free(dev);
		goto err_memory;
	}
	if (!mem_init(dev, error, size)) {
		pthread_condattr_destroy(&attr);
		/* Neither workers nor loaders are there yet. */
		free(dev->engines);
		free(dev->loaders);
		dev->engines = NULL;
		dev->loaders = NULL;
		device_free(dev);
		return NULL;
	}
	for (i = 0; i <= props->num_queues; i++) {
		dev->queues[i].id = (uint16_t)i;
		dev->queues[i].lane.q = &dev->queues[i];
	}
	for (i = 0; i < dev->max_workers; i++) {
		dev->engines[i].dev = dev;
		dev->engines[i].id = i;
		team_init(&dev->engines[i].team);
		pthread_cond_init(&dev->engines[i].turn, &attr);
	}
	for (i = 0; i < props->max_contexts; i++) {
		dev->loaders[i].dev = dev;
		dev->loaders[i].id = i;
		pthread_cond_init(&dev->loaders[i].wake, NULL);
	}
	pthread_condattr_destroy(&attr);
	dev->next_serial = 1;
	dev->db_stride = NNPU_PAGE_SHIFT;
	dev->power_on_ns = dev_now(dev);
	if (!threads_start(dev)) {
		threads_join(dev);
		device_free(dev);
		snprintf(error, size, "cannot start the device's threads");
		return NULL;
	}
	return dev;

err_memory:
	snprintf(error, size, "out of memory");
	return NULL;
}

void nnpu_device_destroy(struct nnpu_device *dev)
{
	if (!dev)
		return;
	threads_join(dev);
	device_free(dev);
}
