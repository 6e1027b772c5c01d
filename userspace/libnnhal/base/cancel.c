// SPDX-License-Identifier: MIT
/*
 * Cancels.
 *
 * A cancel has a list of the executions that name it. Its lock is held while they are aborted, so
 * that none of them is over, and its memory in use for something else, meanwhile. How long that
 * lasts depends on the driver: an execution that ends at the same time waits for its commands.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <nnhal/nnhal.h>

#include "base/cancel_node.h"
#include "base/fork_guard.h"
#include "base/status.h"

struct nnhal_cancel {
	atomic_uint refs;
	atomic_bool is_requested;
	atomic_uint_least64_t count;
	struct fork_guard guard;
	pthread_mutex_t lock;
	struct cancel_node *nodes;
};

enum nnhal_status nnhal_cancel_create(struct nnhal_cancel **cancel)
{
	struct nnhal_cancel *c;
	int err;

	if (!cancel)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	*cancel = NULL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	err = fork_guard_init(&c->guard);
	if (err) {
		free(c);
		return status_from_errno(-err);
	}
	atomic_init(&c->refs, 1);
	pthread_mutex_init(&c->lock, NULL);
	*cancel = c;
	return NNHAL_STATUS_NONE;
}

/* Caller holds the lock. */
static void abort_node(struct cancel_node *node)
{
	if (!node->is_aborted)
		node->is_aborted = node->abort(node);
}

enum nnhal_status nnhal_cancel_request(struct nnhal_cancel *cancel)
{
	struct cancel_node *node;

	if (!cancel)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	/* The executions are those of the parent. */
	if (fork_guard_in_child(&cancel->guard))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	pthread_mutex_lock(&cancel->lock);
	atomic_store_explicit(&cancel->is_requested, true, memory_order_relaxed);
	for (node = cancel->nodes; node; node = node->next)
		abort_node(node);
	pthread_mutex_unlock(&cancel->lock);
	return NNHAL_STATUS_NONE;
}

bool nnhal_cancel_is_requested(const struct nnhal_cancel *cancel)
{
	return cancel && atomic_load_explicit(&cancel->is_requested, memory_order_relaxed);
}

uint64_t nnhal_cancel_count(const struct nnhal_cancel *cancel)
{
	return cancel ? atomic_load_explicit(&cancel->count, memory_order_relaxed) : 0;
}

struct nnhal_cancel *nnhal_cancel_ref(struct nnhal_cancel *cancel)
{
	atomic_fetch_add_explicit(&cancel->refs, 1, memory_order_relaxed);
	return cancel;
}

void nnhal_cancel_unref(struct nnhal_cancel *cancel)
{
	if (!cancel || atomic_fetch_sub_explicit(&cancel->refs, 1, memory_order_acq_rel) != 1)
		return;
	/* In a child of fork() another thread may have had the lock, for ever. */
	if (!fork_guard_in_child(&cancel->guard))
		pthread_mutex_destroy(&cancel->lock);
	fork_guard_fini(&cancel->guard);
	free(cancel);
}

bool cancel_node_add(struct nnhal_cancel *cancel, struct cancel_node *node,
		     bool (*abort)(struct cancel_node *node))
{
	bool begins;

	pthread_mutex_lock(&cancel->lock);
	begins = !atomic_load_explicit(&cancel->is_requested, memory_order_relaxed);
	if (begins) {
		node->cancel = nnhal_cancel_ref(cancel);
		node->abort = abort;
		node->is_aborted = false;
		node->next = cancel->nodes;
		if (node->next)
			node->next->prev = &node->next;
		node->prev = &cancel->nodes;
		cancel->nodes = node;
	} else {
		atomic_fetch_add_explicit(&cancel->count, 1, memory_order_relaxed);
	}
	pthread_mutex_unlock(&cancel->lock);
	return begins;
}

void cancel_node_submitted(struct cancel_node *node)
{
	if (!node->cancel)
		return;
	pthread_mutex_lock(&node->cancel->lock);
	/* Also if it was aborted: that may have been a run before this one, which ended by itself. */
	if (atomic_load_explicit(&node->cancel->is_requested, memory_order_relaxed))
		node->is_aborted |= node->abort(node);
	pthread_mutex_unlock(&node->cancel->lock);
}

bool cancel_node_is_aborted(struct cancel_node *node)
{
	bool aborted;

	if (!node->cancel)
		return false;
	pthread_mutex_lock(&node->cancel->lock);
	aborted = node->is_aborted;
	pthread_mutex_unlock(&node->cancel->lock);
	return aborted;
}

void cancel_node_count(struct cancel_node *node)
{
	atomic_fetch_add_explicit(&node->cancel->count, 1, memory_order_relaxed);
}

void cancel_node_remove(struct cancel_node *node)
{
	struct nnhal_cancel *cancel = node->cancel;

	if (!cancel)
		return;
	pthread_mutex_lock(&cancel->lock);
	*node->prev = node->next;
	if (node->next)
		node->next->prev = node->prev;
	pthread_mutex_unlock(&cancel->lock);
	node->cancel = NULL;
	nnhal_cancel_unref(cancel);
}
