/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the device model share: a small driver for the in-process
 * device and a writer of program images.
 */
#ifndef TESTS_EMULATOR_RIG_H
#define TESTS_EMULATOR_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inproc/inproc.h"
#include "nnpu_hw.h"

#define RIG_MEMORY	(64u << 20)
#define RIG_QUEUES	8
#define RIG_ADMIN_ENTRIES 8

struct rig_queue {
	uint16_t qid;
	uint32_t sq_entries;
	uint32_t cq_entries;
	struct nnpu_sqe *sq;
	struct nnpu_cqe *cq;
	uint32_t sq_tail;
	uint32_t cq_head;
	uint16_t phase;
};

struct rig {
	struct nnpu_inproc *ip;
	struct nnpu_inproc_config config;
	uint32_t admin_entries;
	uint8_t *mem;			/* registered, page-aligned, zeroed */
	size_t used;
	struct rig_queue admin;
	struct rig_queue queues[RIG_QUEUES + 1];
	uint16_t next_cid;
	struct nnpu_sqe_create_ctx ctx_attrs;	/* limits, weight and class of new contexts */
};

/* Device with @config (NULL: defaults with injection), powered on, not enabled. */
void rig_open(struct rig *rig, const struct nnpu_inproc_config *config);
void rig_close(struct rig *rig);
/* Defaults for tests: RIG_QUEUES queues, injection on. */
void rig_config(struct nnpu_inproc_config *config);

/* Zeroed, page-aligned memory the device can reach; lives until rig_close(). */
void *rig_alloc(struct rig *rig, size_t size);
uint64_t rig_addr(const void *p);
/* A page table of @levels for @size bytes at @data; *@mem describes it. */
void rig_table(struct rig *rig, void *data, uint64_t size, unsigned int levels,
	       struct nnpu_mem *mem);

uint32_t rig_read(struct rig *rig, uint32_t reg);
uint64_t rig_read64(struct rig *rig, uint32_t reg);
void rig_write(struct rig *rig, uint32_t reg, uint32_t value);
/* Wait until (reg & mask) == value; false after a minute. */
bool rig_poll(struct rig *rig, uint32_t reg, uint32_t mask, uint32_t value);
/* CTRL.RESET and wait; then admin rings and ENABLE. */
bool rig_reset(struct rig *rig);
bool rig_enable(struct rig *rig);
void rig_inject(struct rig *rig, unsigned int kind, unsigned int count);

/* Put an entry into the ring; the cid is chosen. Returns it. */
uint16_t rig_push(struct rig *rig, struct rig_queue *q, struct nnpu_sqe *sqe);
void rig_kick(struct rig *rig, struct rig_queue *q);
/* Is the next completion there? */
bool rig_peek(struct rig_queue *q, struct nnpu_cqe *cqe);
void rig_pop(struct rig *rig, struct rig_queue *q);
/* Wait for the next completion and take it; false after a minute. */
bool rig_wait(struct rig *rig, struct rig_queue *q, struct nnpu_cqe *cqe);
unsigned int rig_status(const struct nnpu_cqe *cqe);

/* Push, kick, wait. The status, or -1 if no completion came or it was another's. */
int rig_run(struct rig *rig, struct rig_queue *q, void *sqe, struct nnpu_cqe *cqe);
int rig_admin(struct rig *rig, void *sqe, struct nnpu_cqe *cqe);

/* Admin commands; the status. */
int rig_create_ctx(struct rig *rig, uint32_t ctx, struct nnpu_slot_entry *table,
		   uint32_t num_slots);
int rig_destroy_ctx(struct rig *rig, uint32_t ctx);
int rig_create_queue(struct rig *rig, uint16_t qid, uint32_t ctx, unsigned int flags,
		     uint32_t entries);
int rig_queue_cmd(struct rig *rig, unsigned int opcode, uint16_t qid, uint16_t cid);
int rig_invalidate(struct rig *rig, uint32_t ctx, uint32_t first, uint32_t count);
int rig_load(struct rig *rig, uint32_t ctx, uint32_t program, const void *image, size_t size,
	     struct nnpu_cqe *cqe);
int rig_check(struct rig *rig, uint32_t ctx, const void *image, size_t size, uint32_t reports,
	      struct nnpu_command_report *out, struct nnpu_cqe *cqe);
int rig_unload(struct rig *rig, uint32_t ctx, uint32_t program);
/* After RESET_QUEUE: rings as after CREATE_QUEUE. */
void rig_queue_rewind(struct rig_queue *q);

/* Contiguous slot over @data. */
void rig_slot(struct nnpu_slot_entry *slot, const void *data, uint64_t size, uint32_t flags);

/* Program images. */
struct image {
	uint8_t *bytes;			/* header first; malloc()ed */
	size_t size;
	struct nnpu_tensor_desc tensors[512];
	uint32_t num_tensors;
	struct nnpu_command commands[128];
	uint32_t num_commands;
	uint32_t indexes[1024];
	uint32_t num_indexes;
	uint8_t data[32768];
	uint32_t data_size;
	uint32_t inputs[96];
	uint32_t outputs[16];
	uint16_t num_inputs;
	uint16_t num_outputs;
};

void image_init(struct image *im);
/* Tensors; the index. Dimensions end with -1 (0 = unknown). */
uint32_t image_tensor(struct image *im, unsigned int type, unsigned int kind, ...);
uint32_t image_quant(struct image *im, unsigned int type, unsigned int kind, float scale,
		     int zero_point, uint32_t n);
uint32_t image_scalar(struct image *im, int32_t value);
/* A constant of @bytes bytes and the dimension @n. */
uint32_t image_const(struct image *im, unsigned int type, uint32_t n, const void *data,
		     size_t bytes);
uint32_t image_omitted(struct image *im, unsigned int type);
/* A command; operands end with -1, inputs before outputs. */
void image_command(struct image *im, uint32_t opcode, unsigned int num_inputs,
		   unsigned int num_outputs, ...);
/* The same with an array. */
void image_command_list(struct image *im, uint32_t opcode, unsigned int num_inputs,
			unsigned int num_outputs, const uint32_t *operands);
/* Targets of the command that was added last. */
void image_targets(struct image *im, uint32_t first, uint32_t second);
/* Put it together into bytes and size. */
void image_finish(struct image *im);
void image_free(struct image *im);
struct nnpu_program_header *image_header(struct image *im);
struct nnpu_tensor_desc *image_desc(struct image *im, uint32_t index);
struct nnpu_command *image_cmd(struct image *im, uint32_t index);
__le32 *image_index(struct image *im, uint32_t position);

/* out[n] = in0[n] + in1[n], float32; n 0: unknown dimension. Tensors 0, 1, 2 = out. */
void image_add(struct image *im, uint32_t n);

/* Jobs. Slots 0: arguments and results, 1: operands. */
struct job_rig {
	struct rig *rig;
	uint32_t ctx;
	struct nnpu_slot_entry *slots;
	uint8_t *block;			/* slot 0: arguments, results */
	uint8_t *operands;		/* slot 1, read and write */
	size_t operands_size;
	struct rig_queue *q;
};

#define JOB_RESULT_OFFSET	8192u

/* A context with slots and kernel queue @qid. false: something failed. */
bool job_rig_init(struct job_rig *j, struct rig *rig, uint32_t ctx, uint16_t qid);
/* Start an argument block; records are to be filled in by the caller. */
struct nnpu_arg *job_args(struct job_rig *j, unsigned int inputs, unsigned int outputs);
void job_arg(struct nnpu_arg *arg, uint32_t slot, uint64_t offset, uint64_t length);
void job_sqe(struct job_rig *j, uint32_t program, struct nnpu_sqe_execute *sqe);
struct nnpu_args_header *job_result(struct job_rig *j);
struct nnpu_arg *job_result_arg(struct job_rig *j, unsigned int n);
/* Run program with the current block; the status. */
int job_execute(struct job_rig *j, uint32_t program, struct nnpu_cqe *cqe);
/* Arguments of image_add() with n elements at 0, 4n, 8n of the operands; values set. */
void job_add_args(struct job_rig *j, uint32_t n);
/* Is the sum there, and nothing else touched? */
bool job_add_ok(struct job_rig *j, uint32_t n);

#endif /* TESTS_EMULATOR_RIG_H */
