// SPDX-License-Identifier: MIT
/*
 * The threads of a device: the workers, the loaders, the cleaner and the control thread; how
 * they start and end.
 */
#include <signal.h>
#include <stdio.h>

#include "admin.h"
#include "cleaner.h"
#include "device_state.h"
#include "device_threads.h"
#include "engine.h"
#include "helpers.h"
#include "loads.h"
#include "reset.h"
#include "seats.h"

/* Operations need less than 100 KiB. Sanitizers make frames larger and keep data of their own there. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STACK_SIZE	(4u << 20)
#else
#define STACK_SIZE	(512u << 10)
#endif

static bool start(pthread_t *thread, void *(*main)(void *arg), void *arg)
{
	pthread_attr_t attr;
	bool ok;

	if (pthread_attr_init(&attr))
		return false;
	ok = !pthread_attr_setstacksize(&attr, STACK_SIZE) &&
	     !pthread_create(thread, &attr, main, arg);
	pthread_attr_destroy(&attr);
	return ok;
}

static void *engine_main(void *arg)
{
	struct nnpu_engine *e = arg;
	struct nnpu_device *dev = e->dev;
	char name[16];

	snprintf(name, sizeof(name), "nnpu-engine%u", e->id);
	if (dev->ops->thread_begin)
		dev->ops->thread_begin(dev->bus, name);
	engine_run(e);
	if (dev->ops->thread_end)
		dev->ops->thread_end(dev->bus);
	return NULL;
}

static void *helper_main(void *arg)
{
	struct helper *h = arg;
	struct nnpu_device *dev = helper_device(h);

	if (dev->ops->thread_begin)
		dev->ops->thread_begin(dev->bus, "nnpu-helper");
	helper_run(h);
	if (dev->ops->thread_end)
		dev->ops->thread_end(dev->bus);
	return NULL;
}

static void *control_main(void *arg)
{
	struct nnpu_device *dev = arg;

	if (dev->ops->thread_begin)
		dev->ops->thread_begin(dev->bus, "nnpu-control");
	control_run(dev);
	if (dev->ops->thread_end)
		dev->ops->thread_end(dev->bus);
	return NULL;
}

static void *loader_main(void *arg)
{
	struct load_worker *w = arg;
	struct nnpu_device *dev = w->dev;
	char name[16];

	snprintf(name, sizeof(name), "nnpu-load%u", w->id);
	if (dev->ops->thread_begin)
		dev->ops->thread_begin(dev->bus, name);
	loader_run(w);
	if (dev->ops->thread_end)
		dev->ops->thread_end(dev->bus);
	return NULL;
}

static void *cleaner_main(void *arg)
{
	struct nnpu_device *dev = arg;

	if (dev->ops->thread_begin)
		dev->ops->thread_begin(dev->bus, "nnpu-clean");
	cleaner_run(dev);
	if (dev->ops->thread_end)
		dev->ops->thread_end(dev->bus);
	return NULL;
}

void worker_create(struct nnpu_device *dev)
{
	unsigned int i = atomic_load(&dev->num_workers);
	struct nnpu_engine *e = &dev->engines[i];
	bool ok;

	if (i == dev->max_workers || dev->making_worker)
		return;
	dev->making_worker = true;
	atomic_store(&dev->num_workers, i + 1);
	pthread_mutex_unlock(&dev->lock);
	ok = start(&e->thread, engine_main, e);
	pthread_mutex_lock(&dev->lock);
	dev->making_worker = false;
	if (!ok)
		atomic_store(&dev->num_workers, i);
	else if (!e->started)
		worker_spare(e);
}

bool load_worker_create(struct nnpu_device *dev)
{
	unsigned int i = atomic_load(&dev->num_loaders);
	struct load_worker *w = &dev->loaders[i];

	if (i == dev->props.max_contexts || !start(&w->thread, loader_main, w))
		return false;
	pthread_mutex_lock(&dev->lock);
	atomic_store(&dev->num_loaders, i + 1);
	w->next = dev->idle_loaders;
	dev->idle_loaders = w;
	/* It may have begun to wait before the device began to exit. */
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&dev->lock);
	return true;
}

bool threads_start(struct nnpu_device *dev)
{
	sigset_t all, old;
	unsigned int i;
	bool ok;

	/*
	 * Signals of the process are handled by its own threads; workers create workers, the
	 * control thread creates loaders.
	 */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	dev->cleaner_started = start(&dev->cleaner, cleaner_main, dev);
	ok = dev->cleaner_started;
	for (i = 0; ok && i < dev->props.num_engines; i++) {
		dev->engines[i].seated = true;
		dev->engines[i].seat = i;
		dev->seats[i].worker = &dev->engines[i];
		ok = start(&dev->engines[i].thread, engine_main, &dev->engines[i]);
		if (ok)
			atomic_store(&dev->num_workers, i + 1);
	}
	for (i = 0; ok && i < dev->props.num_threads - 1; i++) {
		ok = start(&dev->helper_threads[i], helper_main, helper_at(dev, i));
		dev->num_helpers += ok;
	}
	if (ok)
		dev->control_started = start(&dev->control, control_main, dev);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return dev->control_started;
}

void threads_join(struct nnpu_device *dev)
{
	unsigned int i;

	pthread_mutex_lock(&dev->lock);
	dev->exiting = true;
	device_stop(dev);
	pthread_mutex_unlock(&dev->lock);
	/* The control thread waits for the engines to be done, then frees contexts. */
	if (dev->control_started)
		pthread_join(dev->control, NULL);
	/* Only a busy worker makes workers. */
	for (i = 0; i < atomic_load(&dev->num_workers); i++) {
		pthread_join(dev->engines[i].thread, NULL);
		exec_fini(&dev->engines[i]);
	}
	for (i = 0; i < dev->num_helpers; i++)
		pthread_join(dev->helper_threads[i], NULL);
	for (i = 0; i < atomic_load(&dev->num_loaders); i++)
		pthread_join(dev->loaders[i].thread, NULL);
	if (!dev->cleaner_started)
		return;
	pthread_mutex_lock(&dev->lock);
	dev->all_left = true;
	pthread_cond_signal(&dev->leaves);
	pthread_mutex_unlock(&dev->lock);
	pthread_join(dev->cleaner, NULL);
}
