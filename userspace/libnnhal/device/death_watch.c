// SPDX-License-Identifier: MIT
/*
 * Watches of a device. A watch is an eventfd, which whoever finds the loss in a call writes to, and on
 * a hardware device a queue, whose descriptor hangs up by itself. The callback runs in the
 * caller's thread.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <nnhal/nnhal.h>

#include "base/diag.h"
#include "device/device_private.h"

struct nnhal_death_watch {
	struct nnhal_device *device;
	nnhal_death_callback callback;
	void *context;
	atomic_flag told;
	int event_fd;
	int poll_fd;
	struct transport_queue *queue;
	struct nnhal_death_watch *next;
};

void device_tell_watches(struct nnhal_device *device)
{
	struct nnhal_device *root = device_root(device);
	struct nnhal_death_watch *w;

	pthread_mutex_lock(&root->watch_lock);
	for (w = root->watches; w; w = w->next)
		/* It fails only if the counter is at its end, and then it is readable. */
		(void)eventfd_write(w->event_fd, 1);
	pthread_mutex_unlock(&root->watch_lock);
}

static bool is_lost(struct nnhal_device *device)
{
	return nnhal_device_get_status(device) == NNHAL_DEVICE_OFFLINE;
}

static bool poll_also(struct nnhal_death_watch *w, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events };

	return !epoll_ctl(w->poll_fd, EPOLL_CTL_ADD, fd, &event);
}

static void watch_free(struct nnhal_death_watch *w)
{
	struct transport *t = w->device->transport;

	if (w->queue && device_is_own(w->device))
		t->ops->queue_destroy(t, w->queue);
	else if (w->queue)
		t->ops->queue_free_copy(w->queue);
	if (w->poll_fd >= 0)
		close(w->poll_fd);
	if (w->event_fd >= 0)
		close(w->event_fd);
	nnhal_device_unref(w->device);
	free(w);
}

/* Where there is a descriptor for it. Without one the watch works, later. */
static void watch_queue(struct nnhal_death_watch *w)
{
	struct transport *t = w->device->transport;
	int fd;

	if (!t->ops->queue_fd || t->ops->queue_create(t, NNHAL_PRIORITY_LOW, &w->queue))
		return;
	fd = t->ops->queue_fd(w->queue);
	/* No entry is ever written, so it has nothing to tell but its end. */
	poll_also(w, fd, EPOLLIN);
}

static enum nnhal_status watch_start(struct nnhal_death_watch *w, struct nnhal_diag *diag)
{
	struct nnhal_device *root = device_root(w->device);

	w->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (w->event_fd < 0 || w->poll_fd < 0 || !poll_also(w, w->event_fd, EPOLLIN)) {
		diag_set(diag, "no descriptor for a watch");
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	watch_queue(w);
	pthread_mutex_lock(&root->watch_lock);
	w->next = root->watches;
	root->watches = w;
	pthread_mutex_unlock(&root->watch_lock);
	return NNHAL_STATUS_NONE;
}

enum nnhal_status nnhal_death_watch_create(struct nnhal_device *device,
					   nnhal_death_callback callback, void *context,
					   struct nnhal_death_watch **watch,
					   struct nnhal_diag *diag)
{
	struct nnhal_death_watch *w;
	enum nnhal_status status;

	diag_clear(diag);
	if (watch)
		*watch = NULL;
	if (!device || !watch) {
		diag_set(diag, "NULL pointer for device or result");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!device_is_usable(device, diag))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	w = calloc(1, sizeof(*w));
	if (!w) {
		diag_set(diag, "no memory for a watch");
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	*w = (struct nnhal_death_watch){
		.device = nnhal_device_ref(device), .callback = callback, .context = context,
		.told = ATOMIC_FLAG_INIT, .event_fd = -1, .poll_fd = -1,
	};
	status = watch_start(w, diag);
	if (status) {
		watch_free(w);
		return status;
	}
	/* After it is in the list: a loss in between is not missed. */
	status = nnhal_death_watch_dispatch(w);
	if (status) {
		diag_set(diag, "the device is lost");
		nnhal_death_watch_destroy(w);
		return status;
	}
	*watch = w;
	return NNHAL_STATUS_NONE;
}

int nnhal_death_watch_fd(const struct nnhal_death_watch *watch)
{
	return watch ? watch->poll_fd : -1;
}

enum nnhal_status nnhal_death_watch_dispatch(struct nnhal_death_watch *watch)
{
	if (!watch)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (!is_lost(watch->device))
		return NNHAL_STATUS_NONE;
	if (!atomic_flag_test_and_set(&watch->told)) {
		(void)eventfd_write(watch->event_fd, 1);
		if (watch->callback)
			watch->callback(watch->context);
	}
	return NNHAL_STATUS_DEAD_OBJECT;
}

void nnhal_death_watch_destroy(struct nnhal_death_watch *watch)
{
	struct nnhal_death_watch **link;
	struct nnhal_device *root;

	if (!watch)
		return;
	root = device_root(watch->device);
	/* In a child of fork() the lock may be taken for ever, and nobody uses the list. */
	if (device_is_own(watch->device)) {
		pthread_mutex_lock(&root->watch_lock);
		for (link = &root->watches; *link; link = &(*link)->next)
			if (*link == watch) {
				*link = watch->next;
				break;
			}
		pthread_mutex_unlock(&root->watch_lock);
	}
	watch_free(watch);
}
