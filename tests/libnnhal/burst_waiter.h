/* SPDX-License-Identifier: MIT */
/*
 * Clients of nnhal_burst_serve(), and a server in this process that only waits.
 */
#ifndef NNHAL_TEST_BURST_WAITER_H
#define NNHAL_TEST_BURST_WAITER_H

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fmq/burst_server.h"
#include "nnhal_fixture.h"

#define LONG_NS		UINT64_C(60000000000)

static inline void die_if(bool failed, const char *what)
{
	if (!failed)
		return;
	printf("Bail out! %s\n", what);
	exit(1);
}

static inline void make_sockets(int sv[2])
{
	die_if(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv), "socketpair");
}

/* An executor that does nothing, and waits while @hold is set. */
struct waiter {
	atomic_bool hold;
	atomic_bool holding;
	atomic_uint present;		/* memory objects in the cache */
	atomic_uint executions;
	struct nnhal_memory *memories[NNHAL_BURST_MAX_SLOTS];
};

static inline enum nnhal_status add_entry(void *context, int32_t slot, struct nnhal_memory *memory)
{
	struct waiter *w = context;

	w->memories[slot] = nnhal_memory_ref(memory);
	w->present++;
	return NNHAL_STATUS_NONE;
}

static inline void remove_entry(void *context, int32_t slot)
{
	struct waiter *w = context;

	nnhal_memory_unref(w->memories[slot]);
	w->memories[slot] = NULL;
	w->present--;
}

static inline bool is_present(void *context, int32_t slot)
{
	struct waiter *w = context;

	return w->memories[slot];
}

static inline enum nnhal_status wait_and_end(void *context, const struct nnhal_request *request,
				      const int32_t *slots, int32_t measure,
				      struct nnhal_output_shape *shapes, uint32_t *num_shapes,
				      struct nnhal_timing *timing)
{
	struct waiter *w = context;

	(void)request;
	(void)slots;
	(void)measure;
	(void)shapes;
	(void)timing;
	w->executions++;
	while (w->hold) {
		w->holding = true;
		usleep(100);
	}
	w->holding = false;
	*num_shapes = 0;
	return NNHAL_STATUS_NONE;
}

static const struct nnhal_burst_executor waiter_ops = {
	sizeof(struct nnhal_burst_executor), add_entry, remove_entry, is_present, wait_and_end,
};

static inline int end_of(pid_t pid)
{
	int status = -1;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

static inline struct nnhal_burst_controller *
connect_to(int socket, const struct nnhal_burst_controller_options *options)
{
	struct nnhal_burst_controller *c;
	enum nnhal_status status = nnhal_burst_connect(socket, options, &c);

	if (status)
		printf("# connect: %s\n", nnhal_status_name(status));
	die_if(status, "cannot connect");
	close(socket);
	return c;
}

static inline enum nnhal_status run(struct nnhal_burst_controller *c, struct run *r)
{
	return nnhal_burst_controller_execute(c, &r->request, NULL, r->shapes, &r->num_shapes,
					      &r->timing, NULL);
}

/* With a limit, on a machine that may be slow: the next call takes what came too late. */
static inline enum nnhal_status run_to_the_end(struct nnhal_burst_controller *c, struct run *r)
{
	enum nnhal_status status;

	do {
		status = run(c, r);
	} while (status == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT);
	return status;
}

/*
 * With a limit: a request that was sent before that was over. A busy machine may take the processor
 * away until then; such a request does nothing.
 */
static inline enum nnhal_status run_sent(struct nnhal_burst_controller *c, struct run *r,
					 const struct nnhal_execute_options *options, bool *sent)
{
	enum nnhal_status status;

	do {
		r->num_shapes = 4;
		status = nnhal_burst_controller_execute(c, &r->request, options, r->shapes,
							&r->num_shapes, &r->timing, sent);
	} while (status == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT && !*sent);
	return status;
}

/* A server in this process, so that a test can see both sides. */
static inline struct nnhal_burst_server *start_waiter(struct waiter *w, int *socket)
{
	struct nnhal_burst_server_options options = NNHAL_BURST_SERVER_OPTIONS_INIT;
	struct nnhal_burst_server *server;
	int sv[2];

	memset(w, 0, sizeof(*w));
	make_sockets(sv);
	options.executor = &waiter_ops;
	options.executor_context = w;
	die_if(nnhal_burst_serve(sv[1], NULL, &options, &server), "serve");
	close(sv[1]);
	*socket = sv[0];
	return server;
}

#endif /* NNHAL_TEST_BURST_WAITER_H */
