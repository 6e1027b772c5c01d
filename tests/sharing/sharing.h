/* SPDX-License-Identifier: MIT */
/*
 * Clients that share a device: processes, their models, and what they tell each other.
 */
#ifndef TESTS_SHARING_H
#define TESTS_SHARING_H

#include <stdatomic.h>
#include <sys/types.h>

#include "nnhal_fixture.h"

#define MAX_TURNS	16384
#define STEPS		5
/* Clients that share the engine time. */
#define SHARERS		3
#define BURSTS		15
/* Users of the clients; they own nothing. */
#define UID_SMALL	60001
#define UID_LARGE	60002

/* In memory that all processes share. */
struct shared {
	/* Sampling points of a job of 50 ms, and of one of 10 ms. */
	int32_t long_points;
	int32_t share_points;
	/* Of the large client. */
	atomic_uint work;
	atomic_int error;
	/* Of the small client. */
	atomic_uint turns;
	atomic_int failed;
	char message[512];
	uint32_t turn_us[MAX_TURNS];
	/* What part of it took: open, prepare, execute, burst, close. */
	uint32_t step_us[STEPS][MAX_TURNS];
	/* Of the clients that share. */
	atomic_bool go;
	atomic_uint done[SHARERS];
};

extern struct shared *shared;
/* The model of this process. */
extern struct fixture f;

/* CLOCK_MONOTONIC. */
uint64_t now_ns(void);

/* The input and the output of make_roi() in one memory object. */
struct call {
	struct nnhal_request request;
	struct nnhal_request_argument input, output;
	struct nnhal_request_pool pool;
};

/* ROI_ALIGN with @points x @points sampling points: much work and hardly any data. */
void make_roi(int32_t points);
bool call_init(struct call *c);

/* End this process; the test says why. */
void give_up(const char *what, enum nnhal_status status);
struct nnhal_device *open_or_give_up(void);
struct nnhal_prepared_model *prepare_or_give_up(struct nnhal_device *device, int32_t priority);

/* Counts an execution that has ended in the atomic_uint @context. */
void count_ended(void *context, enum nnhal_status status,
		 const struct nnhal_output_shape *shapes, uint32_t num_shapes,
		 const struct nnhal_timing *timing);
/* @in_flight executions at any time, for ever. */
void flood(struct nnhal_prepared_model *model, struct call *c, unsigned int in_flight,
	   atomic_uint *counter);
/* @num bursts of a job of @points, each with @depth requests in flight, for ever. */
void run_bursts(int32_t points, unsigned int num, unsigned int depth, int32_t priority,
		atomic_uint *counter);

/* A client that takes what it can get. */
struct large_client {
	const char *name;
	void (*run)(void);	/* NULL: there is none */
};

extern const struct large_client large_clients[];
extern const unsigned int num_large_clients;

/* A process of @uid that runs @function. */
pid_t start(uid_t uid, void (*function)(void));
/* Kill it; true if it was still there. */
bool end(pid_t pid);
/* Until *@counter is at least @value; false: the client has given up, or two minutes. */
bool wait_for(atomic_uint *counter, unsigned int value);

#endif /* TESTS_SHARING_H */
