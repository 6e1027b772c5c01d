/* SPDX-License-Identifier: MIT */
/*
 * Bursts between two processes, over message queues: FmqRequestDatum, FmqResultDatum
 * and IBurstCallback of the HAL 1.2.
 *
 * These bursts are for a client that may not open the device. The server is a thread
 * in a process that has the device open. It takes request packets from one queue,
 * executes them, and puts result packets into another. Requests name memory by slot
 * numbers. The server asks the client once for the memory behind a slot, and keeps it
 * until the client frees the slot or the burst ends.
 *
 * A Unix socket (SOCK_SEQPACKET) between the two carries memory objects, the release of
 * slots, and doorbells for a side that sleeps. If the socket hangs up or the process at
 * its other end exits, the burst ends. A process that can open the device should use
 * nnhal/burst.h, which is faster.
 *
 * Memory objects of a client are memfds, files of this machine, or dma-bufs. A file that another
 * process or machine serves (FUSE, NFS) could keep the server waiting for ever; requests with
 * such a file end with GENERAL_FAILURE. Files on network block devices are not told apart from
 * those on other disks.
 *
 * Requests and statuses are those of the HAL 1.2: no tokens, deadlines and loop
 * timeouts; statuses of 1.3 arrive as GENERAL_FAILURE.
 */
#ifndef NNHAL_BURST_FMQ_H
#define NNHAL_BURST_FMQ_H

#include <nnhal/debug.h>
#include <nnhal/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct nnhal_execute_options;
struct nnhal_memory;
struct nnhal_prepared_model;

/*
 * ---- packets ----
 *
 * They are those of the HAL 1.2 and do not change, and neither do the structures of the functions
 * that make and parse them: requests, arguments and output shapes are of layout 0.
 */

/** enum nnhal_burst_request_kind - discriminator of FmqRequestDatum */
enum nnhal_burst_request_kind {
	NNHAL_BURST_REQUEST_PACKET_INFORMATION = 0,
	NNHAL_BURST_REQUEST_INPUT_OPERAND_INFORMATION = 1,
	NNHAL_BURST_REQUEST_INPUT_OPERAND_DIMENSION = 2,
	NNHAL_BURST_REQUEST_OUTPUT_OPERAND_INFORMATION = 3,
	NNHAL_BURST_REQUEST_OUTPUT_OPERAND_DIMENSION = 4,
	NNHAL_BURST_REQUEST_POOL_IDENTIFIER = 5,
	NNHAL_BURST_REQUEST_MEASURE_TIMING = 6,
};

/**
 * struct nnhal_burst_request_information - FmqRequestDatum.PacketInformation
 * @packet_size: datums of the packet, this one included
 * @number_of_inputs: numberOfInputOperands
 * @number_of_outputs: numberOfOutputOperands
 * @number_of_pools: numberOfPools
 */
struct nnhal_burst_request_information {
	uint32_t packet_size;
	uint32_t number_of_inputs;
	uint32_t number_of_outputs;
	uint32_t number_of_pools;
};

/**
 * struct nnhal_burst_operand_information - FmqRequestDatum.OperandInformation
 * @has_no_value: hasNoValue, 0 or 1
 * @padding: zero
 * @location: location
 * @number_of_dimensions: datums with dimensions that follow
 */
struct nnhal_burst_operand_information {
	uint8_t has_no_value;
	uint8_t padding[3];
	struct nnhal_data_location location;
	uint32_t number_of_dimensions;
};

/**
 * struct nnhal_burst_request_datum - FmqRequestDatum, 24 bytes
 * @kind: enum nnhal_burst_request_kind: the valid member
 * @padding: zero
 * @information: packetInformation
 * @operand: inputOperandInformation and outputOperandInformation
 * @dimension: inputOperandDimensionValue and outputOperandDimensionValue
 * @pool: poolIdentifier: a slot
 * @measure: measureTiming: enum nnhal_measure
 * @words: the whole union; bytes behind the valid member are zero
 */
struct nnhal_burst_request_datum {
	uint8_t kind;
	uint8_t padding[3];
	union {
		struct nnhal_burst_request_information information;
		struct nnhal_burst_operand_information operand;
		uint32_t dimension;
		int32_t pool;
		int32_t measure;
		uint32_t words[5];
	};
};

/** enum nnhal_burst_result_kind - discriminator of FmqResultDatum */
enum nnhal_burst_result_kind {
	NNHAL_BURST_RESULT_PACKET_INFORMATION = 0,
	NNHAL_BURST_RESULT_OPERAND_INFORMATION = 1,
	NNHAL_BURST_RESULT_OPERAND_DIMENSION = 2,
	NNHAL_BURST_RESULT_EXECUTION_TIMING = 3,
};

/**
 * struct nnhal_burst_result_information - FmqResultDatum.PacketInformation
 * @packet_size: datums of the packet, this one included
 * @error_status: errorStatus: enum nnhal_status, 0 to 4
 * @number_of_operands: numberOfOperands
 */
struct nnhal_burst_result_information {
	uint32_t packet_size;
	int32_t error_status;
	uint32_t number_of_operands;
};

/**
 * struct nnhal_burst_shape_information - FmqResultDatum.OperandInformation
 * @is_sufficient: isSufficient, 0 or 1
 * @padding: zero
 * @number_of_dimensions: datums with dimensions that follow
 */
struct nnhal_burst_shape_information {
	uint8_t is_sufficient;
	uint8_t padding[3];
	uint32_t number_of_dimensions;
};

/**
 * struct nnhal_burst_result_datum - FmqResultDatum, 24 bytes
 * @kind: enum nnhal_burst_result_kind: the valid member
 * @padding: zero
 * @information: packetInformation
 * @shape: operandInformation
 * @dimension: operandDimensionValue
 * @timing: executionTiming
 * @words: the whole union; bytes behind the valid member are zero
 */
struct nnhal_burst_result_datum {
	uint8_t kind;
	uint8_t padding[7];
	union {
		struct nnhal_burst_result_information information;
		struct nnhal_burst_shape_information shape;
		uint32_t dimension;
		struct nnhal_timing timing;
		uint64_t words[2];
	};
};

/**
 * nnhal_burst_serialize_request() - make a request packet
 * @request: request; its pools are not read
 * @slots: slot of each pool
 * @measure: enum nnhal_measure
 * @packet: out: room for @room datums
 * @room: entries of @packet
 *
 * Return: number of datums, > 0; -EMSGSIZE (more than @room); -EINVAL (a NULL pointer
 * for an array that has elements, a request of a layout that is not known).
 */
int nnhal_burst_serialize_request(const struct nnhal_request *request, const int32_t *slots,
				  int32_t measure, struct nnhal_burst_request_datum *packet,
				  uint32_t room);

/**
 * struct nnhal_burst_parsed_request - the request in a request packet
 * @arguments: in: room for as many entries as the packet has datums; out: inputs,
 *	then outputs
 * @dimensions: in: room for as many entries; out: dimensions of the arguments
 * @slots: in: room for as many entries; out: slot of each pool
 * @num_inputs: out: inputs
 * @num_outputs: out: outputs
 * @num_pools: out: entries of @slots
 * @measure: out: value in the packet, not checked
 */
struct nnhal_burst_parsed_request {
	struct nnhal_request_argument *arguments;
	uint32_t *dimensions;
	int32_t *slots;
	uint32_t num_inputs;
	uint32_t num_outputs;
	uint32_t num_pools;
	int32_t measure;
};

/**
 * nnhal_burst_parse_request() - parse a request packet
 * @packet: datums, in private memory
 * @count: how many
 * @parsed: in: room; out: the request
 *
 * Return: 0; -EBADMSG if the packet is malformed: it is empty, its size differs from
 * packet_size, a datum has the wrong kind, a count exceeds the packet, or datums are
 * left over. Then the three numbers are 0, and the rest of @parsed means nothing.
 */
int nnhal_burst_parse_request(const struct nnhal_burst_request_datum *packet, uint32_t count,
			      struct nnhal_burst_parsed_request *parsed);

/**
 * nnhal_burst_serialize_result() - make a result packet
 * @status: status; statuses that the HAL 1.2 does not have become GENERAL_FAILURE
 * @output_shapes: @num_output_shapes entries; left out unless @status is NONE or
 *	OUTPUT_INSUFFICIENT_SIZE
 * @num_output_shapes: number of outputs, or 0
 * @timing: times, or NULL; left out unless @status is NONE
 * @packet: out: room for @room datums
 * @room: entries of @packet
 *
 * Return: number of datums, > 0; -EMSGSIZE (more than @room).
 */
int nnhal_burst_serialize_result(enum nnhal_status status,
				 const struct nnhal_output_shape *output_shapes,
				 uint32_t num_output_shapes, const struct nnhal_timing *timing,
				 struct nnhal_burst_result_datum *packet, uint32_t room);

/**
 * nnhal_burst_parse_result() - parse a result packet
 * @packet: datums, in private memory
 * @count: how many
 * @status: out: status, 0 to 4
 * @output_shapes: out: room for @room entries
 * @room: entries of @output_shapes
 * @num_output_shapes: out: entries filled in; 0 unless @status is NONE or
 *	OUTPUT_INSUFFICIENT_SIZE
 * @timing: out: times; both NNHAL_NO_TIMING unless @status is NONE
 *
 * Return: 0; -EBADMSG if the packet is malformed, if its status is out of range, or if
 * it has more outputs or dimensions than fit. Then @status is GENERAL_FAILURE, there are no times
 * and no shapes, and the entries of @output_shapes mean nothing.
 */
int nnhal_burst_parse_result(const struct nnhal_burst_result_datum *packet, uint32_t count,
			     enum nnhal_status *status,
			     struct nnhal_output_shape *output_shapes, uint32_t room,
			     uint32_t *num_output_shapes, struct nnhal_timing *timing);

/* ---- server ---- */

struct nnhal_burst_server;

/* Smallest and largest queue of a burst, in datums; slots that the server caches. */
#define NNHAL_BURST_MIN_DATUMS		2u
#define NNHAL_BURST_MAX_DATUMS		16384u
#define NNHAL_BURST_MAX_SLOTS		512u

/*
 * Default time that a side spins before it sleeps, microseconds. It is an upper bound:
 * the time shrinks where spinning does not pay.
 */
#define NNHAL_BURST_SPIN_US		50u

/**
 * struct nnhal_burst_channel - queues and socket between server and client
 * @size: sizeof(struct nnhal_burst_channel)
 * @request_fd: queue of struct nnhal_burst_request_datum, see nnhal/fmq.h
 * @result_fd: queue of struct nnhal_burst_result_datum
 * @socket: connected AF_UNIX socket of type SOCK_SEQPACKET; the client has the other
 *	end. For doorbells and hang-up
 * @reserved: zero
 *
 * Functions that take a channel duplicate all three descriptors.
 */
struct nnhal_burst_channel {
	size_t size;
	int request_fd;
	int result_fd;
	int socket;
	uint32_t reserved;
};

/**
 * struct nnhal_burst_executor - functions that a server executes requests with
 * @size: sizeof(struct nnhal_burst_executor)
 * @add_cache_entry: remember the memory behind a slot and take a reference. Return:
 *	NONE, or a status that the request ends with
 * @remove_cache_entry: forget a slot
 * @is_cache_entry_present: is the memory of a slot known?
 * @execute: execute a request. @slots stands for its pools, @request->pools is NULL.
 *	Everything else is as for nnhal_prepared_model_execute_synchronously(), with
 *	room for one shape per output
 *
 * The server calls one function at a time. Before it ends it calls remove_cache_entry
 * for every slot that it added. The functions must not call functions of the server.
 */
struct nnhal_burst_executor {
	size_t size;
	enum nnhal_status (*add_cache_entry)(void *context, int32_t slot,
					     struct nnhal_memory *memory);
	void (*remove_cache_entry)(void *context, int32_t slot);
	bool (*is_cache_entry_present)(void *context, int32_t slot);
	enum nnhal_status (*execute)(void *context, const struct nnhal_request *request,
				     const int32_t *slots, int32_t measure,
				     struct nnhal_output_shape *output_shapes,
				     uint32_t *num_output_shapes, struct nnhal_timing *timing);
};

/**
 * typedef nnhal_burst_get_memories - IBurstCallback.getMemories
 * @context: as passed with the function
 * @slots: @num_slots slots, all different
 * @num_slots: how many
 * @memories: out: room for @num_slots objects, each with a reference for the caller
 * @num_memories: out: how many were filled in
 *
 * Return: NONE; otherwise the request ends with this status.
 */
typedef enum nnhal_status (*nnhal_burst_get_memories)(void *context, const int32_t *slots,
						      uint32_t num_slots,
						      struct nnhal_memory **memories,
						      uint32_t *num_memories);

/**
 * struct nnhal_burst_server_options - parameters of a server
 * @size: sizeof(struct nnhal_burst_server_options)
 * @spin_us: longest time to spin before sleeping, microseconds; 0: sleep at once;
 *	UINT32_MAX: NNHAL_BURST_SPIN_US, or 0 for a model prepared for LOW_POWER; above 100000:
 *	as 100000
 * @executor: executes requests in place of a prepared model; NULL if there is a model. The
 *	structure is copied
 * @executor_context: passed to @executor
 * @get_memories: returns the memory of slots; NULL: ask the client over the socket, for
 *	a client that used nnhal_burst_connect()
 * @get_memories_context: passed to @get_memories
 * @diag: filled in after an error of the function that creates the server; may be NULL
 */
struct nnhal_burst_server_options {
	size_t size;
	uint32_t spin_us;
	const struct nnhal_burst_executor *executor;
	void *executor_context;
	nnhal_burst_get_memories get_memories;
	void *get_memories_context;
	struct nnhal_diag *diag;
};

/* The meaning of a NULL options pointer. */
#define NNHAL_BURST_SERVER_OPTIONS_INIT \
	{ sizeof(struct nnhal_burst_server_options), UINT32_MAX, NULL, NULL, NULL, NULL, NULL }

/**
 * nnhal_burst_server_create() - serve a channel: configureExecutionBurst
 * @channel: queues and socket
 * @model: executes through a struct nnhal_burst of its own, which keeps the model
 *	alive; NULL if @options has an executor
 * @options: parameters, or NULL for NNHAL_BURST_SERVER_OPTIONS_INIT
 * @server: out: server whose thread runs, NULL after an error
 *
 * The burst ends when the client has died, when the counters of the queues are
 * impossible, or with nnhal_burst_server_destroy(). The end of the burst ends the thread,
 * releases mappings and memory objects, and shuts the socket down.
 *
 * Return: NONE; INVALID_ARGUMENT (NULL pointer, reserved not 0, neither or both of model and
 * executor); GENERAL_FAILURE (a descriptor is not a valid queue or socket);
 * RESOURCE_EXHAUSTED_*; statuses of nnhal_burst_create().
 */
enum nnhal_status nnhal_burst_server_create(const struct nnhal_burst_channel *channel,
					    struct nnhal_prepared_model *model,
					    const struct nnhal_burst_server_options *options,
					    struct nnhal_burst_server **server);

/**
 * nnhal_burst_serve() - serve a client that calls nnhal_burst_connect()
 * @socket: connected AF_UNIX socket of type SOCK_SEQPACKET; duplicated
 * @model: as for nnhal_burst_server_create()
 * @options: likewise
 * @server: likewise
 *
 * The function does not wait for the client; the thread of the server does. Memory of the
 * client that the device reaches through a copy only (NNHAL_MEMORY_MMAP_FD, a memfd without
 * F_SEAL_SHRINK) is for inputs only: outputs there end with INVALID_ARGUMENT. Where udmabuf is
 * missing, other memfds are copied as well, and outputs written to them.
 *
 * Return: as nnhal_burst_server_create().
 */
enum nnhal_status nnhal_burst_serve(int socket, struct nnhal_prepared_model *model,
				    const struct nnhal_burst_server_options *options,
				    struct nnhal_burst_server **server);

/**
 * nnhal_burst_server_free_memory() - IBurstContext.freeMemory: forget a slot
 * @server: server
 * @slot: slot, known or not
 *
 * A request that runs keeps the memory until it has ended; the function does not wait for that. It
 * waits for a function of the executor that runs, except execute, and for the device to end the
 * binding, as nnhal_burst_free_memory() does.
 */
void nnhal_burst_server_free_memory(struct nnhal_burst_server *server, int32_t slot);

/**
 * nnhal_burst_server_wait() - wait until the burst has ended by itself
 * @server: server
 * @timeout_ns: how long to wait at most, ns; UINT64_MAX: no limit
 *
 * When the function returns that the burst has ended, its slots and mappings are gone. The thread
 * of the server may still be closing the socket and descriptors of the client.
 *
 * Return: DEAD_OBJECT: the client is gone; GENERAL_FAILURE: the client broke the
 * protocol; MISSED_DEADLINE_TRANSIENT: the burst goes on. The burst could not be made, and the client
 * has been told: RESOURCE_EXHAUSTED_* (no memory or descriptor in this process, or nothing left on
 * the device); DEVICE_UNAVAILABLE (the device is gone, or its context was lost). INVALID_ARGUMENT
 * (a NULL pointer); DEVICE_UNAVAILABLE also in a child of fork().
 */
enum nnhal_status nnhal_burst_server_wait(struct nnhal_burst_server *server,
					  uint64_t timeout_ns);

/**
 * nnhal_burst_server_destroy() - end the burst; NULL is allowed
 * @server: server
 *
 * The function waits for the end of a request that runs. For what a client can delay, it waits a
 * second at most; for the functions of a caller's executor, for get_memories, and for the device to
 * end its bindings, as long as they take. If the request, or a file of the client, takes longer,
 * the thread of the server frees the server afterwards. The functions of an executor must not
 * call it. In a child of fork() it releases what the child has inherited and
 * does not affect the parent.
 */
void nnhal_burst_server_destroy(struct nnhal_burst_server *server);

/* ---- client ---- */

struct nnhal_burst_controller;

/**
 * struct nnhal_burst_controller_options - parameters of a client
 * @size: sizeof(struct nnhal_burst_controller_options)
 * @spin_us: longest time to spin before sleeping, microseconds; 0: sleep at once;
 *	UINT32_MAX: NNHAL_BURST_SPIN_US; above 100000: as 100000
 * @request_datums: size of the request queue; 0: 1024
 * @result_datums: size of the result queue; 0: 1024
 * @timeout_ms: how long to wait for the server to be connected, its socket being full among it;
 *	0: 10 s
 * @execute_timeout_ns: how long nnhal_burst_controller_execute() waits for a result, ns, and
 *	@spin_us more at most; 0: as long as the server lives
 * @diag: filled in after an error of nnhal_burst_connect(); may be NULL
 * @log: gets a line for each part of a result that is dropped (NNHAL_LOG_EXECUTION); NULL: the
 *	environment variable NNHAL_DEBUG decides, see nnhal/debug.h. The thread that executes calls
 *	it
 * @log_context: passed to @log
 * @log_tags: NNHAL_LOG_*; not used unless @log is set
 * @reserved: zero
 */
struct nnhal_burst_controller_options {
	size_t size;
	uint32_t spin_us;
	uint32_t request_datums;
	uint32_t result_datums;
	uint32_t timeout_ms;
	uint64_t execute_timeout_ns;
	struct nnhal_diag *diag;
	nnhal_log_callback log;
	void *log_context;
	uint32_t log_tags;
	uint32_t reserved;
};

/* The meaning of a NULL options pointer. */
#define NNHAL_BURST_CONTROLLER_OPTIONS_INIT \
	{ sizeof(struct nnhal_burst_controller_options), UINT32_MAX, 0, 0, 0, 0, NULL, NULL, NULL, 0, 0 }

/**
 * nnhal_burst_connect() - create a burst with a server that calls nnhal_burst_serve()
 * @socket: connected AF_UNIX socket of type SOCK_SEQPACKET; duplicated. The caller must
 *	not read from it or write to it afterwards
 * @options: parameters, or NULL for NNHAL_BURST_CONTROLLER_OPTIONS_INIT
 * @controller: out: the client's end, NULL after an error
 *
 * Return: NONE; INVALID_ARGUMENT; RESOURCE_EXHAUSTED_*; DEAD_OBJECT (nobody at the
 * other end); MISSED_DEADLINE_TRANSIENT (no answer in time); the status with which the
 * server refused the burst.
 */
enum nnhal_status nnhal_burst_connect(int socket,
				      const struct nnhal_burst_controller_options *options,
				      struct nnhal_burst_controller **controller);

/**
 * nnhal_burst_controller_execute() - send a request and wait for the result
 * @controller: controller
 * @request: as for nnhal_prepared_model_execute_synchronously()
 * @options: likewise; without deadline and loop timeout, which packets cannot carry
 * @output_shapes: likewise
 * @num_output_shapes: likewise
 * @timing: likewise
 * @sent: out: false: the server never saw the request, so the caller may execute it in
 *	another way; may be NULL
 *
 * The function waits for the result as long as the server lives, but no longer than
 * execute_timeout_ns of struct nnhal_burst_controller_options. A server that is stopped, or that
 * does not mean to answer, holds it for that long; without a limit, until the server or the caller
 * is killed. Packets carry no deadline, so the server does not know of the limit: it may go on with
 * the request, and write to its outputs. The next call waits for that result first and drops it.
 *
 * One request runs at a time. If another thread calls the function meanwhile, its request
 * is not sent and the status is GENERAL_FAILURE. May be called from any thread.
 *
 * Return: as nnhal_prepared_model_execute_synchronously(), with GENERAL_FAILURE for
 * MISSED_DEADLINE_* and RESOURCE_EXHAUSTED_* of the server. Not sent:
 * INVALID_ARGUMENT (a deadline, loop timeout or token; NULL pointer),
 * RESOURCE_EXHAUSTED_PERSISTENT (larger than the queue, more than 256 memory objects),
 * RESOURCE_EXHAUSTED_TRANSIENT (no slot free), DEVICE_UNAVAILABLE (in a child of
 * fork()). DEAD_OBJECT: the server is gone, before or during the call.
 * MISSED_DEADLINE_TRANSIENT: no result within execute_timeout_ns; with @sent false the server
 * still has an earlier request. If the server asked for memory and did not take the answer, the
 * burst has ended: later calls return DEAD_OBJECT.
 */
enum nnhal_status
nnhal_burst_controller_execute(struct nnhal_burst_controller *controller,
			       const struct nnhal_request *request,
			       const struct nnhal_execute_options *options,
			       struct nnhal_output_shape *output_shapes,
			       uint32_t *num_output_shapes, struct nnhal_timing *timing,
			       bool *sent);

/**
 * nnhal_burst_controller_free_memory() - forget a memory object
 * @controller: controller
 * @memory: memory object; the burst need not know it
 *
 * The server forgets the slot before the slot is used for another object. A request that
 * runs keeps its memory. May be called from any thread.
 *
 * Return: NONE; INVALID_ARGUMENT (NULL); DEVICE_UNAVAILABLE (in a child of fork()).
 */
enum nnhal_status
nnhal_burst_controller_free_memory(struct nnhal_burst_controller *controller,
				   struct nnhal_memory *memory);

/**
 * nnhal_burst_controller_destroy() - end the burst; NULL is allowed
 * @controller: controller that no thread uses any more
 *
 * In a child of fork() it releases what the child has inherited and does not affect the
 * parent.
 */
void nnhal_burst_controller_destroy(struct nnhal_burst_controller *controller);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* NNHAL_BURST_FMQ_H */
