// SPDX-License-Identifier: MIT
/*
 * What all parts of a device use: clock, log, faults, waiting for jobs.
 */
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>

#include "device_state.h"
#include "interrupts.h"
#include "ops/extension.h"

bool dev_log_wanted(struct nnpu_device *dev, enum nnpu_log_level level)
{
	if (!dev->ops->log)
		return false;
	return dev->ops->log_wanted ? dev->ops->log_wanted(dev->bus, level) :
				      level == NNPU_LOG_GUEST_ERROR;
}

void dev_log(struct nnpu_device *dev, enum nnpu_log_level level, const char *format, ...)
{
	char text[256];
	va_list args;

	if (!dev_log_wanted(dev, level))
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	dev->ops->log(dev->bus, level, text);
}

uint64_t dev_features(const struct nnpu_device *dev)
{
	return NNPU_FEATURE_PROFILE | NNPU_FEATURE_ABORT | NNPU_FEATURE_PRIORITY |
	       NNPU_FEATURE_USER_QUEUES | NNPU_FEATURE_PERF_LEVELS | NNPU_FEATURE_SUSPEND |
	       NNPU_FEATURE_CONTROL_FLOW | NNPU_FEATURE_COPY | NNPU_FEATURE_DEADLINE |
	       NNPU_FEATURE_SAVE |
	       (dev->props.slices ? NNPU_FEATURE_SLICES : 0) |
	       (dev->props.load_turns ? NNPU_FEATURE_LOAD_TURNS : 0) |
	       (extension_offered(dev->props.examples, NULL) ? NNPU_FEATURE_EXTENSIONS : 0) |
	       (dev->props.inject ? NNPU_FEATURE_INJECT : 0) |
	       (dev->props.null_mode ? NNPU_FEATURE_NULL : 0);
}

void dev_fault(struct nnpu_device *dev, unsigned int fault, unsigned int qid, unsigned int cid)
{
	if (dev->fault_status != NNPU_FAULT_NONE)
		return;
	dev->fault_status = fault;
	dev->fault_info = (qid & 0xffff) | cid << 16;
}

void dev_fatal(struct nnpu_device *dev, unsigned int code, struct irqs *irqs)
{
	if (dev->fatal)
		return;
	dev->fatal = true;
	dev->fatal_code = (uint16_t)code;
	dev->ready = false;
	atomic_store(&dev->stop, true);
	dev_kick_workers(dev);
	pthread_cond_broadcast(&dev->event);
	irqs_add(irqs, 0);
}

void dev_await_resume_locked(struct nnpu_device *dev)
{
	while (dev_is_paused(dev) && !atomic_load(&dev->stop))
		pthread_cond_wait(&dev->resumed, &dev->lock);
}

void dev_await_resume(struct nnpu_device *dev)
{
	if (!dev_is_paused(dev))
		return;
	pthread_mutex_lock(&dev->lock);
	dev_await_resume_locked(dev);
	pthread_mutex_unlock(&dev->lock);
}

void nnpu_device_pause(struct nnpu_device *dev)
{
	/* A completion that is being written has the lock. */
	pthread_mutex_lock(&dev->lock);
	atomic_store(&dev->paused, true);
	atomic_fetch_add(&dev->pauses, 1);
	pthread_mutex_unlock(&dev->lock);
}

void nnpu_device_resume(struct nnpu_device *dev)
{
	pthread_mutex_lock(&dev->lock);
	atomic_store(&dev->paused, false);
	pthread_cond_broadcast(&dev->resumed);
	pthread_mutex_unlock(&dev->lock);
}

bool nnpu_device_may_access(const struct nnpu_device *dev)
{
	return dev_runs(dev);
}

void dev_yield(struct nnpu_device *dev, struct irqs *irqs)
{
	pthread_mutex_unlock(&dev->lock);
	if (irqs)
		irqs_raise(dev, irqs);
	/* A lock that is free for an instant is taken again before a waiter wakes up. */
	sched_yield();
	pthread_mutex_lock(&dev->lock);
}

bool dev_inject(struct nnpu_device *dev, unsigned int kind)
{
	if (!dev->inject[kind])
		return false;
	dev->inject[kind]--;
	return true;
}

void dev_await_jobs(struct nnpu_device *dev)
{
	dev->awaiting_jobs = true;
	pthread_cond_wait(&dev->event, &dev->lock);
	dev->awaiting_jobs = false;
}

void dev_job_ended(struct nnpu_device *dev)
{
	if (dev->awaiting_jobs)
		pthread_cond_broadcast(&dev->event);
}
