/* SPDX-License-Identifier: MIT */
/*
 * Processes of several threads that make all calls of the library at the same time.
 */
#ifndef TESTS_MIXED_H
#define TESTS_MIXED_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "nnhal_fixture.h"

#define MAX_PROCESSES	16
#define THREADS		8
#define FLOATS		1024u
#define BYTES		(FLOATS * 4u)
/* Offsets in the memory of a thread. */
#define AT_A		0u
#define AT_B		BYTES
#define AT_OUT		(2 * BYTES)
#define AT_MIDDLE	(3 * BYTES)
#define MEMORY_SIZE	(4 * BYTES)
#define MAX_OPS		32
#define UID_FIRST	60001

/* What one process has that no other may use. */
enum loot {
	LOOT_TOKEN,
	LOOT_HANDLE,
	LOOT_OFFSET,
	LOOT_CONTEXT,
	LOOT_PROGRAM,
	LOOT_SLOT,
	LOOT_ARGUMENT,
	LOOT_QUEUE,
	LOOT_QUEUE_PAGE,
	NUM_LOOT,
};

/* In memory that all processes share; a process writes its own part only. */
struct published {
	_Atomic uint32_t ready;
	uint32_t token, handle, context, program, slot, queue;
	uint64_t offset;
	/* The constant of its model. */
	float factor;
	atomic_uint calls[MAX_OPS];
	atomic_uint refused[NUM_LOOT];
	atomic_uint descriptors[2], threads[2];
};

struct shared {
	atomic_bool failed;
	char message[512];
	/* Processes that have come so far, for each point where they meet. */
	atomic_uint arrived[4];
	unsigned int num_processes;
	bool is_sim;
	uint64_t end_ns;
	struct published parts[MAX_PROCESSES];
	/* By the number of the process that serves or sends. */
	int serve[MAX_PROCESSES], connect[MAX_PROCESSES];
	int send[MAX_PROCESSES], receive[MAX_PROCESSES];
};

extern struct shared *shared;

struct intruder;

/* A process. */
struct party {
	unsigned int number;
	struct published *own;
	struct nnhal_device *device;
	/* Without any buffer: no token is good for it. */
	struct nnhal_device *bare_device;
	struct nnhal_prepared_model *model, *bare_model, *loop;
	struct fixture model_fixture, loop_fixture;
	struct nnhal_burst *burst;
	/* A buffer with content that all threads read, and others try to. */
	struct nnhal_buffer *buffer;
	uint32_t token;
	struct nnhal_memory *content;
	struct nnhal_burst_server *server;
	struct nnhal_burst_controller *controller;
	pthread_mutex_t controller_lock;
	float controller_factor;
	/* Handles that may be open beside. */
	sem_t handles;
	struct intruder *intruder;
};

/* A thread. */
struct worker {
	struct party *party;
	unsigned int number;
	uint64_t random;
	struct nnhal_memory *memory;
	float *map;
	struct nnhal_request request;
	struct nnhal_request_argument in[2], out;
	struct nnhal_request_pool pools[3];
	struct nnhal_diag diag;
	const char *what;
	enum nnhal_status status;
	pthread_t thread;
};

/* One kind of call; false: worker->what says what is wrong. */
struct mixed_op {
	const char *name;
	bool (*run)(struct worker *w);
};

extern const struct mixed_op mixed_ops[];
extern const unsigned int num_mixed_ops;

uint64_t mixed_now_ns(void);
/* A number below @limit. */
uint32_t mixed_random(struct worker *w, uint32_t limit);
/* The request of a thread as it is at first, with new inputs; RELU(a + b) * factor is the result. */
void mixed_fill(struct worker *w);
bool mixed_is_right(const struct worker *w, const float *a, const float *out, float factor);
/* Note what failed; false. */
bool mixed_wrong(struct worker *w, const char *what, enum nnhal_status status);
/* mixed_ends.c */
bool mixed_run_completions(struct worker *w);
bool mixed_run_pointers(struct worker *w);
/* The model of a process. */
void mixed_model(struct fixture *f, float factor);

/*
 * The part of the driver: objects that the process makes by ioctls and publishes, attempts on those of
 * others. NULL: it failed.
 */
struct intruder *intruder_create(struct published *own, unsigned int number);
/* Are one's own objects as they were? */
bool intruder_check(struct intruder *i);
/* Try what @other has published; false: something was not refused. */
bool intruder_try(struct intruder *i, struct published *own, const struct published *other,
		  const char **what);
/* A copy of the descriptor of one's own queue, for another process. */
int intruder_queue_fd(struct intruder *i);
/* Is the doorbell page of somebody else's queue refused? */
bool intruder_try_page(struct published *own, int fd);
void intruder_destroy(struct intruder *i);

#endif /* TESTS_MIXED_H */
