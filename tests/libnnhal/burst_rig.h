/* SPDX-License-Identifier: MIT */
/*
 * A burst server whose executor records what it is asked, and a client that consists of plain
 * queues and sends whatever a test wants.
 */
#ifndef NNHAL_TEST_BURST_RIG_H
#define NNHAL_TEST_BURST_RIG_H

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fmq/burst_server.h"
#include "nnhal_fixture.h"

#define LONG_NS		UINT64_C(60000000000)
#define MAX_DATUMS	1024
#define MAX_SEEN	16

typedef struct nnhal_burst_request_datum request_datum;
typedef struct nnhal_burst_result_datum result_datum;

/* ---- an executor that remembers what it was asked ---- */

struct recorder {
	/* What to answer. */
	enum nnhal_status status;
	enum nnhal_status add_status;
	uint32_t num_dimensions;
	uint32_t num_shapes;		/* beside one per output */
	/* What was asked. */
	atomic_uint executions;
	atomic_uint adds;
	atomic_uint removes;
	int32_t slots[MAX_SEEN];
	struct nnhal_memory *memories[MAX_SEEN];
	struct nnhal_memory *used;	/* behind pool 0 of the last request */
	/* An execution waits here while hold is set. */
	atomic_bool hold;
	atomic_bool holding;
};

static inline struct nnhal_memory **cache_find(struct recorder *r, int32_t slot)
{
	uint32_t i;

	for (i = 0; i < MAX_SEEN; i++)
		if (r->memories[i] && r->slots[i] == slot)
			return &r->memories[i];
	return NULL;
}

static inline bool is_present(void *context, int32_t slot)
{
	return cache_find(context, slot);
}

static inline enum nnhal_status add_entry(void *context, int32_t slot, struct nnhal_memory *memory)
{
	struct recorder *r = context;
	uint32_t i;

	for (i = 0; i < MAX_SEEN && r->memories[i]; i++)
		;
	if (i == MAX_SEEN || r->add_status)
		return r->add_status ? r->add_status : NNHAL_STATUS_GENERAL_FAILURE;
	r->slots[i] = slot;
	r->memories[i] = nnhal_memory_ref(memory);
	r->adds++;
	return NNHAL_STATUS_NONE;
}

static inline void remove_entry(void *context, int32_t slot)
{
	struct recorder *r = context;
	struct nnhal_memory **entry = cache_find(r, slot);

	if (!entry)
		return;
	nnhal_memory_unref(*entry);
	*entry = NULL;
	r->removes++;
}

static inline enum nnhal_status record(void *context, const struct nnhal_request *request,
				const int32_t *slots, int32_t measure,
				struct nnhal_output_shape *shapes, uint32_t *num_shapes,
				struct nnhal_timing *timing)
{
	struct nnhal_memory **entry;
	struct recorder *r = context;
	uint32_t i, d;

	(void)measure;
	r->executions++;
	while (r->hold) {
		r->holding = true;
		usleep(100);
	}
	r->holding = false;
	entry = request->num_pools ? cache_find(r, slots[0]) : NULL;
	r->used = entry ? *entry : NULL;
	for (i = 0; i < request->num_outputs; i++) {
		memset(&shapes[i], 0, sizeof(shapes[i]));
		shapes[i].is_sufficient = true;
		shapes[i].num_dimensions = r->num_dimensions;
		for (d = 0; d < r->num_dimensions; d++)
			shapes[i].dimensions[d] = d + 2;
	}
	*num_shapes = request->num_outputs + r->num_shapes;
	timing->time_on_device = 1;
	timing->time_in_driver = 2;
	return r->status;
}

static const struct nnhal_burst_executor recorder_ops = {
	sizeof(struct nnhal_burst_executor), add_entry, remove_entry, is_present, record,
};

/* ---- getMemories ---- */

struct lender {
	enum nnhal_status status;
	int extra;			/* added to the count of the answer */
	atomic_uint calls;
	uint32_t num_slots;
	int32_t slots[MAX_SEEN];
	struct nnhal_memory *memory[MAX_SEEN];	/* by slot */
};

static inline enum nnhal_status lend(void *context, const int32_t *slots, uint32_t num_slots,
			      struct nnhal_memory **memories, uint32_t *num_memories)
{
	struct lender *l = context;
	uint32_t i;

	l->calls++;
	l->num_slots = num_slots;
	for (i = 0; i < num_slots; i++) {
		if (i < MAX_SEEN)
			l->slots[i] = slots[i];
		if (slots[i] >= MAX_SEEN || !l->memory[slots[i]])
			return NNHAL_STATUS_INVALID_ARGUMENT;
		memories[i] = nnhal_memory_ref(l->memory[slots[i]]);
	}
	*num_memories = num_slots + (uint32_t)l->extra;
	return l->status;
}

/* ---- server and bare client ---- */

struct rig {
	struct nnhal_fmq *requests;
	struct nnhal_fmq *results;
	int socket[2];			/* 0: the client's, 1: the server's */
	struct recorder recorder;
	struct lender lender;
	struct nnhal_burst_server *server;
	struct nnhal_burst_server_options options;
	result_datum result[MAX_DATUMS];
	int num_results;
	/* The result, taken apart. */
	enum nnhal_status status;
	uint32_t num_shapes;
	struct nnhal_output_shape shapes[8];
	struct nnhal_timing timing;
};

static inline void rig_init(struct rig *r, uint32_t num_requests, uint32_t num_results)
{
	static const struct nnhal_burst_server_options defaults =
		NNHAL_BURST_SERVER_OPTIONS_INIT;
	uint32_t i;

	memset(r, 0, sizeof(*r));
	if (nnhal_fmq_create(sizeof(request_datum), num_requests, NNHAL_FMQ_WRITER,
			     &r->requests) ||
	    nnhal_fmq_create(sizeof(result_datum), num_results, NNHAL_FMQ_READER, &r->results) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, r->socket)) {
		printf("Bail out! cannot make queues\n");
		exit(1);
	}
	nnhal_fmq_set_doorbell(r->requests, r->socket[0]);
	nnhal_fmq_set_doorbell(r->results, r->socket[0]);
	for (i = 0; i < 8; i++)
		if (nnhal_memory_create(4096, &r->lender.memory[i], NULL))
			exit(1);
	r->recorder.num_dimensions = 2;
	r->options = defaults;
	r->options.executor = &recorder_ops;
	r->options.executor_context = &r->recorder;
	r->options.get_memories = lend;
	r->options.get_memories_context = &r->lender;
}

static inline enum nnhal_status rig_start(struct rig *r)
{
	const struct nnhal_burst_channel channel = {
		sizeof(channel), nnhal_fmq_fd(r->requests), nnhal_fmq_fd(r->results), r->socket[1],
		0,
	};
	enum nnhal_status status =
		nnhal_burst_server_create(&channel, NULL, &r->options, &r->server);

	/* The server has copies. */
	close(r->socket[1]);
	r->socket[1] = -1;
	return status;
}

static inline void rig_fini(struct rig *r)
{
	uint32_t i;

	nnhal_burst_server_destroy(r->server);
	nnhal_fmq_destroy(r->requests);
	nnhal_fmq_destroy(r->results);
	close(r->socket[0]);
	if (r->socket[1] >= 0)
		close(r->socket[1]);
	for (i = 0; i < MAX_SEEN; i++)
		nnhal_memory_unref(r->lender.memory[i]);
}

/* A rig that works, with a server. */
static inline void rig_up(struct rig *r)
{
	rig_init(r, MAX_DATUMS, MAX_DATUMS);
	if (rig_start(r)) {
		printf("Bail out! cannot start the server\n");
		exit(1);
	}
}

static inline void send_packet(struct rig *r, const request_datum *packet, int count)
{
	if (nnhal_fmq_write_blocking(r->requests, packet, (uint32_t)count, LONG_NS)) {
		printf("Bail out! cannot send\n");
		exit(1);
	}
}

/* Sleep until there is a result packet and take it. False: it is malformed or incomplete. */
static inline bool receive(struct rig *r)
{
	uint32_t size;

	if (nnhal_fmq_read_blocking(r->results, r->result, 1, LONG_NS)) {
		printf("Bail out! no result\n");
		exit(1);
	}
	size = r->result[0].information.packet_size;
	r->num_results = (int)size;
	if (size < 2 || size > MAX_DATUMS ||
	    nnhal_fmq_read(r->results, r->result + 1, size - 1))
		return false;
	return !nnhal_burst_parse_result(r->result, size, &r->status, r->shapes, 8,
					 &r->num_shapes, &r->timing);
}

/* Does the packet get one result, an error without shapes and times? */
static inline bool is_refused(struct rig *r, const request_datum *packet, int count)
{
	send_packet(r, packet, count);
	return receive(r) && r->status != NNHAL_STATUS_NONE && !r->num_shapes &&
	       r->result[0].information.number_of_operands == 0 &&
	       r->timing.time_on_device == NNHAL_NO_TIMING &&
	       r->timing.time_in_driver == NNHAL_NO_TIMING;
}

static inline bool is_executed(struct rig *r, const request_datum *packet, int count)
{
	send_packet(r, packet, count);
	return receive(r) && r->status == NNHAL_STATUS_NONE && r->num_shapes == 1;
}

/* A request with two inputs, an output and a pool in each slot; measure YES. */
static inline int make_request(request_datum *packet, const int32_t *slots, uint32_t num_pools)
{
	static const uint32_t dims[] = { 3, 5 };
	static const struct nnhal_request_argument inputs[] = {
		{ .location = { 0, 0, 60 }, .num_dimensions = 2, .dimensions = dims },
		{ .location = { 0, 64, 60 } },
	};
	static const struct nnhal_request_argument output = {
		.location = { 0, 128, 60 }, .num_dimensions = 2, .dimensions = dims,
	};
	const struct nnhal_request request = {
		.num_inputs = 2, .num_outputs = 1, .num_pools = num_pools,
		.inputs = inputs, .outputs = &output,
	};

	return nnhal_burst_serialize_request(&request, slots, NNHAL_MEASURE_YES, packet,
					     MAX_DATUMS);
}

static inline int good_request(request_datum *packet)
{
	static const int32_t slot = 1;

	return make_request(packet, &slot, 1);
}

#endif /* NNHAL_TEST_BURST_RIG_H */
