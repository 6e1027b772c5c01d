/* SPDX-License-Identifier: MIT */
/*
 * Models and requests for the tests of libnnhal, and the device they run on.
 */
#ifndef NNHAL_TEST_FIXTURE_H
#define NNHAL_TEST_FIXTURE_H

#include <pthread.h>

#include <nnhal/nnhal.h>

#include "tap.h"

#define MAX_OPERANDS	64
#define MAX_OPERATIONS	48
#define MAX_OPERANDS_OF_OPERATION	12

/* A subgraph whose every field a test may change after graph_finish(). */
struct graph {
	struct nnhal_operand operands[MAX_OPERANDS];
	uint32_t dims[MAX_OPERANDS][10];
	struct nnhal_operation operations[MAX_OPERATIONS];
	uint32_t op_inputs[MAX_OPERATIONS][MAX_OPERANDS_OF_OPERATION];
	uint32_t op_outputs[MAX_OPERATIONS][MAX_OPERANDS_OF_OPERATION];
	uint32_t inputs[MAX_OPERANDS];
	uint32_t outputs[MAX_OPERANDS];
	struct nnhal_subgraph sg;
};

/* A model with a main graph, values and room for referenced graphs. */
struct fixture {
	struct nnhal_model model;
	struct graph graph;
	struct graph sub[4];
	struct nnhal_subgraph referenced[4];
	uint8_t values[1 << 16];
	struct nnhal_memory *pools[4];
	struct nnhal_diag diag;
};

#define DIMS(...) \
	sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t), (uint32_t[]){ __VA_ARGS__ }
#define SCALAR	0, NULL

/* Empty model; sets the pointers. */
void fixture_init(struct fixture *f);
/* Add an operand without value; returns its index. */
uint32_t add_operand(struct graph *g, uint32_t type, uint32_t lifetime, uint32_t rank,
		     const uint32_t *dims);
/* Add a CONSTANT_COPY operand to the graph; its bytes go to the model's values. */
uint32_t add_constant(struct fixture *f, struct graph *g, uint32_t type, uint32_t rank,
		      const uint32_t *dims, const void *data, size_t size);
uint32_t add_int32(struct fixture *f, struct graph *g, int32_t value);
/* Add an operation with operand lists that end with -1. */
void add_operation(struct graph *g, uint32_t type, const int32_t *inputs,
		   const int32_t *outputs);
#define OPERANDS(...)	(const int32_t[]){ __VA_ARGS__, -1 }
/* Work out consumer counts and the input and output lists from the lifetimes. */
void graph_finish(struct graph *g);
/* Add an operand that refers to subgraph @number. */
void add_subgraph(struct graph *g, uint32_t number);
/* Finish the main graph and the first @num_referenced others. */
void fixture_finish(struct fixture *f, uint32_t num_referenced);

/*
 * ADD of two TENSOR_FLOAT32 of shape [2, 2] and RELU of the sum.
 * Operands: 0, 1 inputs, 2 activation, 3 sum (temporary), 4 output.
 */
void make_add_relu(struct fixture *f);
/* As above with unknown dimensions everywhere; rank 2 or, if @rank is 0, unknown. */
void make_dynamic_add(struct fixture *f, uint32_t rank);
/* IF with the branches ADD and MUL. Operands: 0 condition, 1, 2 graphs, 3, 4 in, 5 out. */
void make_if(struct fixture *f);
/* WHILE (a < b) a = a + b. Operands: 0, 1 graphs, 2, 3 inputs, 4 output. */
void make_while(struct fixture *f);
/* Chain of @length ADD operations, each adding input 1. */
void make_chain(struct fixture *f, unsigned int length);
/* ADD of a scalar and LARGE_COUNT zeros, a constant that does not fit into the image. */
#define LARGE_COUNT	2000
void make_add_large(struct fixture *f);

/* The result of one asynchronous call at a time. */
struct callback_result {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	unsigned int calls;
	enum nnhal_status status;
	struct nnhal_prepared_model *model;	/* of callback_prepared() */
};

#define CALLBACK_RESULT_INIT \
	{ .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER }

/* Callbacks; the context is a struct callback_result. */
void callback_prepared(void *context, enum nnhal_status status,
		       struct nnhal_prepared_model *model);
void callback_executed(void *context, enum nnhal_status status,
		       const struct nnhal_output_shape *shapes, uint32_t num_shapes,
		       const struct nnhal_timing *timing);
/* Wait for the callback of a call that returned @launch; the result. */
enum nnhal_status callback_wait(struct callback_result *result, enum nnhal_status launch);

/* Entries of a directory, . and .. among them; ends the program if it cannot be read. */
unsigned int count_entries(const char *path);
/*
 * The same once there are @expected of them, or after ten seconds: a thread that was joined is in
 * /proc a moment longer, and a thread of the library may close the last descriptor. Nothing tells when.
 */
unsigned int wait_for_entries(const char *path, unsigned int expected);

/* A request for make_add_relu() in one memory object. */
struct run {
	struct nnhal_request request;
	struct nnhal_request_argument inputs[4];
	struct nnhal_request_argument outputs[4];
	struct nnhal_request_pool pools[4];
	uint32_t dims[8][10];
	struct nnhal_memory *memory;
	uint8_t *map;
	struct nnhal_output_shape shapes[4];
	uint32_t num_shapes;
	struct nnhal_timing timing;
	struct nnhal_diag diag;
};

/* Offsets of the arguments of run_init() in its memory. */
#define RUN_INPUT(i)	((i) * 256u)
#define RUN_OUTPUT(i)	(2048 + (i) * 256u)

/*
 * Two inputs and one output of @count float32 each, without dimensions; inputs are
 * 1, 2, 3 ... and -2, -2 ..., the output is filled with 0xee.
 */
void run_init(struct run *r, uint32_t count);
void run_fini(struct run *r);
/* The output holds max(0, i + 1 - 2) for all i below @count. */
bool run_output_is_right(const struct run *r, uint32_t count);

/* The spec of the device to test: NNHAL_TEST_DEVICE, or "sim". */
const char *test_device_spec(void);
/* Open it; ends the program as skipped or failed if it cannot be opened. */
struct nnhal_device *test_device_open(void);

#endif /* NNHAL_TEST_FIXTURE_H */
