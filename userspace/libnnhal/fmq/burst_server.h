/* SPDX-License-Identifier: MIT */
/*
 * A burst server: what its files and its tests share.
 */
#ifndef NNHAL_BURST_SERVER_H
#define NNHAL_BURST_SERVER_H

#include <pthread.h>
#include <stdatomic.h>

#include <nnhal/burst_fmq.h>

#include "fmq/burst_executor.h"
#include "base/fork_guard.h"
#include "fmq/burst_link.h"
#include "fmq/fmq_layout.h"

/* Private memory for one request and its result, as large as the queues. */
struct burst_buffers {
	struct nnhal_burst_request_datum *request;
	struct nnhal_burst_result_datum *result;
	struct nnhal_burst_parsed_request parsed;
	struct nnhal_output_shape *shapes;
	/* Slots of the request that are not cached, each once, and their memory. */
	int32_t *missing;
	struct nnhal_memory **memories;
};

struct nnhal_burst_server {
	struct burst_link link;
	struct fork_guard guard;
	struct nnhal_fmq *requests;
	struct nnhal_fmq *results;
	struct spin_window spin;
	/* Serve a nnhal_burst_connect(): the queues come over the socket. */
	bool handshake;
	struct nnhal_prepared_model *model;
	struct model_executor *own_executor;
	struct nnhal_burst_executor callers;	/* the caller's executor */
	const struct nnhal_burst_executor *executor;
	void *executor_context;
	nnhal_burst_get_memories get_memories;
	void *get_memories_context;

	/*
	 * Serialises the executor; protects the lists of slots that it has. It is not held while a
	 * request runs: is_executing stands for it, and slots that are freed meanwhile leave the
	 * executor afterwards. Both lists together are at most full.
	 */
	pthread_mutex_t lock;
	bool is_executing;
	int32_t cached[NNHAL_BURST_MAX_SLOTS];
	uint32_t num_cached;
	int32_t freed[NNHAL_BURST_MAX_SLOTS];
	uint32_t num_freed;

	pthread_t thread;
	struct burst_buffers buffers;
	atomic_bool stop;
	/* Used by the thread only: the socket failed while memory was fetched. */
	int link_error;
	/* Likewise: why the client got no burst, or NONE. */
	enum nnhal_status refusal;
	/* How often the thread was about to sleep, for tests. */
	atomic_uint sleeps;

	pthread_mutex_t end_lock;
	pthread_cond_t end_cond;
	bool ended;
	enum nnhal_status end_status;
	/* Between burst_server_leave() and burst_server_return(). */
	bool is_away;
	/* The thread has nothing left to do. */
	bool is_finished;
	/* Destroyed while the thread was away: it frees the server. */
	bool is_abandoned;
};

/* Attach to the queues of a channel and get the buffers. */
enum nnhal_status burst_server_attach(struct nnhal_burst_server *s, int request_fd,
				      int result_fd, struct nnhal_diag *diag);

/* Release queues, buffers, executor and model. */
void burst_server_release(struct nnhal_burst_server *s);
/* Free a server whose thread does not run, or is the caller. */
void burst_server_free(struct nnhal_burst_server *s);
/* The thread; @data is the server. */
void *burst_server_thread(void *data);

/*
 * The thread is about to wait, perhaps for ever, for a file that the client gave. It holds no lock
 * that others take and does not call the caller's functions until burst_server_return().
 */
void burst_server_leave(struct nnhal_burst_server *s);
/* 0; -ECANCELED: the server was destroyed. The thread must not call the caller's functions. */
int burst_server_return(struct nnhal_burst_server *s);
/* link_receive() and link_close_fds() while away. -ECANCELED: as above, without a message. */
int burst_server_receive(struct nnhal_burst_server *s, uint32_t wanted,
			 struct link_message *message, struct link_extra *extra);
int burst_server_close_fds(struct nnhal_burst_server *s, struct link_extra *extra);

/* burst_server_memory.c: the memory behind the slots of a parsed request. */
enum nnhal_status burst_server_fetch(struct nnhal_burst_server *s);
/* Handle a message that is no answer. 0, or -errno: end of the burst. */
int burst_server_message(struct nnhal_burst_server *s, const struct link_message *message);
/* Around a request: slots that are freed meanwhile are kept. */
void burst_server_begin_execution(struct nnhal_burst_server *s);
void burst_server_end_execution(struct nnhal_burst_server *s);
/* Forget all slots. No request runs. */
void burst_server_forget_all(struct nnhal_burst_server *s);

#endif /* NNHAL_BURST_SERVER_H */
