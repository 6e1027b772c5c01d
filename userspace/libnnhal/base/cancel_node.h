/* SPDX-License-Identifier: MIT */
/*
 * Executions as a cancel knows them.
 */
#ifndef NNHAL_CANCEL_NODE_H
#define NNHAL_CANCEL_NODE_H

#include <stdbool.h>

#include <nnhal/cancel.h>

/* Part of an execution. */
struct cancel_node {
	struct nnhal_cancel *cancel;	/* referenced; NULL: in no list */
	struct cancel_node *next;
	struct cancel_node **prev;
	/*
	 * End the execution, if it has been submitted. True: it ends. Called with the lock of the
	 * cancel, so it must not take locks that are held when a function of this file is called.
	 */
	bool (*abort)(struct cancel_node *node);
	bool is_aborted;		/* abort() was true; under the lock of the cancel */
};

/* An execution begins. False: it must not, and has been counted; the node is in no list. */
bool cancel_node_add(struct nnhal_cancel *cancel, struct cancel_node *node,
		     bool (*abort)(struct cancel_node *node));
/* It has been submitted, maybe once more: a request that came before ends it now. */
void cancel_node_submitted(struct cancel_node *node);
/* Has abort() been true for it? */
bool cancel_node_is_aborted(struct cancel_node *node);
/* It has ended, because of the cancel. */
void cancel_node_count(struct cancel_node *node);
/* It is over: abort() is not called any more. Nothing for a node that is in no list. */
void cancel_node_remove(struct cancel_node *node);

#endif /* NNHAL_CANCEL_NODE_H */
