// SPDX-License-Identifier: MIT
#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rig.h"

/* Long enough for any machine; only a hang gets there. */
#define HANG_NS		60000000000ll

static void die(const char *what)
{
	printf("Bail out! %s\n", what);
	exit(1);
}

void rig_config(struct nnpu_inproc_config *config)
{
	nnpu_inproc_default_config(config);
	config->props.num_queues = RIG_QUEUES;
	config->props.num_vectors = RIG_QUEUES + 1;
	config->props.inject = true;
	config->props.examples = true;
}

void rig_open(struct rig *rig, const struct nnpu_inproc_config *config)
{
	char error[128];

	memset(rig, 0, sizeof(*rig));
	if (config)
		rig->config = *config;
	else
		rig_config(&rig->config);
	rig->ip = nnpu_inproc_create(&rig->config, error, sizeof(error));
	if (!rig->ip)
		die(error);
	rig->mem = aligned_alloc(4096, RIG_MEMORY);
	if (!rig->mem)
		die("no memory");
	memset(rig->mem, 0, RIG_MEMORY);
	if (nnpu_inproc_register(rig->ip, rig->mem, RIG_MEMORY,
				 NNPU_INPROC_READ | NNPU_INPROC_WRITE))
		die("cannot register memory");
	rig->next_cid = 1;
	rig->admin_entries = RIG_ADMIN_ENTRIES;
}

void rig_close(struct rig *rig)
{
	nnpu_inproc_destroy(rig->ip);
	free(rig->mem);
}

void *rig_alloc(struct rig *rig, size_t size)
{
	void *p = rig->mem + rig->used;

	rig->used += (size + 4095) & ~(size_t)4095;
	if (rig->used > RIG_MEMORY)
		die("test memory used up");
	return p;
}

uint64_t rig_addr(const void *p)
{
	return htole64((uintptr_t)p);
}

void rig_table(struct rig *rig, void *data, uint64_t size, unsigned int levels,
	       struct nnpu_mem *mem)
{
	uint64_t pages = (size + 4095) / 4096, count = pages, i;
	uint64_t *below, *nodes;
	unsigned int level;

	*mem = (struct nnpu_mem) { .size = htole64(size), .levels = htole32(levels) };
	if (!levels) {
		mem->addr = rig_addr(data);
		return;
	}
	below = malloc(pages * sizeof(*below));
	for (i = 0; i < pages; i++)
		below[i] = rig_addr((uint8_t *)data + i * 4096);
	for (level = 1; level <= levels; level++) {
		uint64_t num = (count + 511) / 512;

		nodes = rig_alloc(rig, num * 4096);
		memcpy(nodes, below, count * sizeof(*below));
		for (i = 0; i < num; i++)
			below[i] = rig_addr((uint8_t *)nodes + i * 4096);
		count = num;
	}
	mem->addr = below[0];
	free(below);
}

uint32_t rig_read(struct rig *rig, uint32_t reg)
{
	return nnpu_inproc_read32(rig->ip, reg);
}

uint64_t rig_read64(struct rig *rig, uint32_t reg)
{
	uint64_t low = rig_read(rig, reg);

	return low | (uint64_t)rig_read(rig, reg + 4) << 32;
}

void rig_write(struct rig *rig, uint32_t reg, uint32_t value)
{
	nnpu_inproc_write32(rig->ip, reg, value);
}

static void pause_a_bit(void)
{
	nanosleep(&(struct timespec) { .tv_nsec = 100000 }, NULL);
}

static bool hung(int64_t *waited)
{
	pause_a_bit();
	*waited += 100000;
	return *waited > HANG_NS;
}

bool rig_poll(struct rig *rig, uint32_t reg, uint32_t mask, uint32_t value)
{
	int64_t waited = 0;

	while ((rig_read(rig, reg) & mask) != value)
		if (hung(&waited))
			return false;
	return true;
}

void rig_queue_rewind(struct rig_queue *q)
{
	q->sq_tail = 0;
	q->cq_head = 0;
	q->phase = NNPU_CQE_PHASE;
	memset(q->cq, 0, (size_t)q->cq_entries * sizeof(*q->cq));
}

static void queue_setup(struct rig *rig, struct rig_queue *q, uint16_t qid, uint32_t entries)
{
	q->qid = qid;
	q->sq_entries = entries;
	q->cq_entries = entries;
	if (!q->sq) {
		q->sq = rig_alloc(rig, entries * sizeof(*q->sq));
		q->cq = rig_alloc(rig, entries * sizeof(*q->cq));
	}
	rig_queue_rewind(q);
}

bool rig_reset(struct rig *rig)
{
	rig_write(rig, NNPU_REG_CTRL, NNPU_CTRL_RESET);
	return rig_poll(rig, NNPU_REG_STATUS, NNPU_STATUS_REG_RESETTING, 0);
}

bool rig_enable(struct rig *rig)
{
	struct rig_queue *q = &rig->admin;

	if (!rig_reset(rig))
		return false;
	queue_setup(rig, q, 0, rig->admin_entries);
	rig_write(rig, NNPU_REG_ADMIN_SIZE, (q->sq_entries - 1) | (q->cq_entries - 1) << 16);
	rig_write(rig, NNPU_REG_ADMIN_SQ_LO, (uint32_t)(uintptr_t)q->sq);
	rig_write(rig, NNPU_REG_ADMIN_SQ_HI, (uint32_t)((uintptr_t)q->sq >> 32));
	rig_write(rig, NNPU_REG_ADMIN_CQ_LO, (uint32_t)(uintptr_t)q->cq);
	rig_write(rig, NNPU_REG_ADMIN_CQ_HI, (uint32_t)((uintptr_t)q->cq >> 32));
	rig_write(rig, NNPU_REG_CTRL, NNPU_CTRL_ENABLE);
	return rig_poll(rig, NNPU_REG_STATUS, NNPU_STATUS_REG_READY, NNPU_STATUS_REG_READY);
}

void rig_inject(struct rig *rig, unsigned int kind, unsigned int count)
{
	rig_write(rig, NNPU_REG_INJECT, kind << NNPU_INJECT_KIND_SHIFT | count);
}

uint16_t rig_push(struct rig *rig, struct rig_queue *q, struct nnpu_sqe *sqe)
{
	uint16_t cid = rig->next_cid++ & 0x7fff;

	sqe->cid = htole16(cid);
	q->sq[q->sq_tail] = *sqe;
	q->sq_tail = (q->sq_tail + 1) % q->sq_entries;
	return cid;
}

void rig_kick(struct rig *rig, struct rig_queue *q)
{
	nnpu_inproc_doorbell(rig->ip, q->qid, NNPU_DB_SQ_TAIL, q->sq_tail);
}

bool rig_peek(struct rig_queue *q, struct nnpu_cqe *cqe)
{
	uint16_t status = __atomic_load_n(&q->cq[q->cq_head].status, __ATOMIC_ACQUIRE);

	if ((le16toh(status) & NNPU_CQE_PHASE) != q->phase)
		return false;
	*cqe = q->cq[q->cq_head];
	return true;
}

void rig_pop(struct rig *rig, struct rig_queue *q)
{
	q->cq_head = (q->cq_head + 1) % q->cq_entries;
	if (!q->cq_head)
		q->phase ^= NNPU_CQE_PHASE;
	nnpu_inproc_doorbell(rig->ip, q->qid, NNPU_DB_CQ_HEAD, q->cq_head);
}

bool rig_wait(struct rig *rig, struct rig_queue *q, struct nnpu_cqe *cqe)
{
	int64_t waited = 0;

	while (!rig_peek(q, cqe))
		if (hung(&waited))
			return false;
	rig_pop(rig, q);
	return true;
}

unsigned int rig_status(const struct nnpu_cqe *cqe)
{
	return le16toh(cqe->status) >> NNPU_CQE_STATUS_SHIFT;
}

int rig_run(struct rig *rig, struct rig_queue *q, void *sqe, struct nnpu_cqe *cqe)
{
	struct nnpu_cqe dummy;
	uint16_t cid = rig_push(rig, q, sqe);

	if (!cqe)
		cqe = &dummy;
	rig_kick(rig, q);
	if (!rig_wait(rig, q, cqe) || le16toh(cqe->cid) != cid || le16toh(cqe->qid) != q->qid)
		return -1;
	return (int)rig_status(cqe);
}

int rig_admin(struct rig *rig, void *sqe, struct nnpu_cqe *cqe)
{
	return rig_run(rig, &rig->admin, sqe, cqe);
}

int rig_create_ctx(struct rig *rig, uint32_t ctx, struct nnpu_slot_entry *table,
		   uint32_t num_slots)
{
	struct nnpu_sqe_create_ctx c = rig->ctx_attrs;

	c.opcode = NNPU_ADMIN_CREATE_CTX;
	c.ctx = htole32(ctx);
	c.slot_table = rig_addr(table);
	c.num_slots = htole32(num_slots);
	return rig_admin(rig, &c, NULL);
}

int rig_destroy_ctx(struct rig *rig, uint32_t ctx)
{
	struct nnpu_sqe c = { .opcode = NNPU_ADMIN_DESTROY_CTX, .ctx = htole32(ctx) };

	return rig_admin(rig, &c, NULL);
}

int rig_create_queue(struct rig *rig, uint16_t qid, uint32_t ctx, unsigned int flags,
		     uint32_t entries)
{
	struct rig_queue *q = &rig->queues[qid];
	struct nnpu_sqe_create_queue c = {
		.opcode = NNPU_ADMIN_CREATE_QUEUE,
		.flags = (uint8_t)flags,
		.ctx = htole32(ctx),
		.qid = htole16(qid),
		.vector = htole16(qid),
		.sq_entries = htole32(entries),
		.cq_entries = htole32(entries),
	};

	q->sq = NULL;
	queue_setup(rig, q, qid, entries);
	c.sq_addr = rig_addr(q->sq);
	c.cq_addr = rig_addr(q->cq);
	return rig_admin(rig, &c, NULL);
}

int rig_queue_cmd(struct rig *rig, unsigned int opcode, uint16_t qid, uint16_t cid)
{
	struct nnpu_sqe_queue c = {
		.opcode = (uint8_t)opcode,
		.qid = htole16(qid),
		.target_cid = htole16(cid),
	};
	struct nnpu_cqe cqe;
	int status = rig_admin(rig, &c, &cqe);

	/* ABORT: found or not. */
	if (opcode == NNPU_ADMIN_ABORT && !status)
		return le64toh(cqe.result) ? 0 : 1000;
	return status;
}

int rig_invalidate(struct rig *rig, uint32_t ctx, uint32_t first, uint32_t count)
{
	struct nnpu_sqe_invalidate c = {
		.opcode = NNPU_ADMIN_INVALIDATE_SLOTS,
		.ctx = htole32(ctx),
		.first = htole32(first),
		.count = htole32(count),
	};

	return rig_admin(rig, &c, NULL);
}

/* Images are put into memory the device reaches, at the end of it. */
static void *image_room(struct rig *rig, const void *image, size_t size)
{
	uint8_t *room = rig->mem + RIG_MEMORY - ((size + 4095) & ~(size_t)4095);

	memcpy(room, image, size);
	return room;
}

int rig_load(struct rig *rig, uint32_t ctx, uint32_t program, const void *image, size_t size,
	     struct nnpu_cqe *cqe)
{
	struct nnpu_sqe_load_program c = {
		.opcode = NNPU_ADMIN_LOAD_PROGRAM,
		.ctx = htole32(ctx),
		.program = htole32(program),
		.image = { .addr = rig_addr(image_room(rig, image, size)), .size = htole64(size) },
	};

	return rig_admin(rig, &c, cqe);
}

int rig_check(struct rig *rig, uint32_t ctx, const void *image, size_t size, uint32_t reports,
	      struct nnpu_command_report *out, struct nnpu_cqe *cqe)
{
	struct nnpu_command_report *room = rig_alloc(rig, reports * sizeof(*room));
	struct nnpu_sqe_load_program c = {
		.opcode = NNPU_ADMIN_LOAD_PROGRAM,
		.flags = NNPU_LOAD_CHECK,
		.ctx = htole32(ctx),
		.image = { .addr = rig_addr(image_room(rig, image, size)), .size = htole64(size) },
		.reports = { .addr = rig_addr(room), .size = htole64(reports * sizeof(*room)) },
	};
	int status;

	memset(room, 0xff, reports * sizeof(*room));
	status = rig_admin(rig, &c, cqe);
	memcpy(out, room, reports * sizeof(*room));
	return status;
}

int rig_unload(struct rig *rig, uint32_t ctx, uint32_t program)
{
	struct nnpu_sqe_unload_program c = {
		.opcode = NNPU_ADMIN_UNLOAD_PROGRAM,
		.ctx = htole32(ctx),
		.program = htole32(program),
	};

	return rig_admin(rig, &c, NULL);
}

void rig_slot(struct nnpu_slot_entry *slot, const void *data, uint64_t size, uint32_t flags)
{
	*slot = (struct nnpu_slot_entry) {
		.mem = { .addr = rig_addr(data), .size = htole64(size) },
		.flags = htole32(flags),
	};
}

/* Images. */

void image_init(struct image *im)
{
	memset(im, 0, sizeof(*im));
}

static uint32_t add_tensor(struct image *im, const struct nnpu_tensor_desc *d)
{
	uint32_t index = im->num_tensors++;

	im->tensors[index] = *d;
	if (d->kind == NNPU_TENSOR_INPUT)
		im->inputs[im->num_inputs++] = index;
	if (d->kind == NNPU_TENSOR_OUTPUT)
		im->outputs[im->num_outputs++] = index;
	return index;
}

uint32_t image_tensor(struct image *im, unsigned int type, unsigned int kind, ...)
{
	struct nnpu_tensor_desc d = { .type = htole16(type), .kind = (uint8_t)kind };
	va_list ap;
	int dim;

	va_start(ap, kind);
	while ((dim = va_arg(ap, int)) >= 0)
		d.dims[d.rank++] = htole32((uint32_t)dim);
	va_end(ap);
	return add_tensor(im, &d);
}

uint32_t image_quant(struct image *im, unsigned int type, unsigned int kind, float scale,
		     int zero_point, uint32_t n)
{
	uint32_t index = image_tensor(im, type, kind, (int)n, -1);

	memcpy(&im->tensors[index].scale, &scale, sizeof(scale));
	im->tensors[index].zero_point = htole32((uint32_t)zero_point);
	return index;
}

static uint32_t add_data(struct image *im, const void *data, size_t bytes)
{
	uint32_t offset = (im->data_size + 7) & ~7u;

	if (bytes > sizeof(im->data) - offset) {
		printf("Bail out! no room for %zu bytes of constants\n", bytes);
		exit(1);
	}
	memcpy(im->data + offset, data, bytes);
	im->data_size = offset + (uint32_t)bytes;
	return offset;
}

uint32_t image_scalar(struct image *im, int32_t value)
{
	__le32 le = htole32((uint32_t)value);
	struct nnpu_tensor_desc d = {
		.type = htole16(NNPU_TYPE_INT32),
		.kind = NNPU_TENSOR_INLINE,
		.data_len = htole64(4),
	};

	d.data_off = htole64(add_data(im, &le, sizeof(le)));
	return add_tensor(im, &d);
}

uint32_t image_const(struct image *im, unsigned int type, uint32_t n, const void *data,
		     size_t bytes)
{
	struct nnpu_tensor_desc d = {
		.type = htole16(type),
		.kind = NNPU_TENSOR_INLINE,
		.rank = 1,
		.dims = { htole32(n) },
		.data_len = htole64(bytes),
	};

	d.data_off = htole64(add_data(im, data, bytes));
	return add_tensor(im, &d);
}

uint32_t image_omitted(struct image *im, unsigned int type)
{
	struct nnpu_tensor_desc d = { .type = htole16(type), .kind = NNPU_TENSOR_NO_VALUE };

	return add_tensor(im, &d);
}

static void add_command(struct image *im, uint32_t opcode, unsigned int num_inputs,
			unsigned int num_outputs)
{
	struct nnpu_command *c = &im->commands[im->num_commands++];

	*c = (struct nnpu_command) {
		.opcode = htole32(opcode),
		.num_inputs = htole16(num_inputs),
		.num_outputs = htole16(num_outputs),
		.operands_first = htole32(im->num_indexes),
	};
}

void image_command_list(struct image *im, uint32_t opcode, unsigned int num_inputs,
			unsigned int num_outputs, const uint32_t *operands)
{
	unsigned int i;

	add_command(im, opcode, num_inputs, num_outputs);
	for (i = 0; i < num_inputs + num_outputs; i++)
		im->indexes[im->num_indexes++] = operands[i];
}

void image_command(struct image *im, uint32_t opcode, unsigned int num_inputs,
		   unsigned int num_outputs, ...)
{
	unsigned int i;
	va_list ap;

	add_command(im, opcode, num_inputs, num_outputs);
	va_start(ap, num_outputs);
	for (i = 0; i < num_inputs + num_outputs; i++)
		im->indexes[im->num_indexes++] = va_arg(ap, uint32_t);
	va_end(ap);
}

void image_targets(struct image *im, uint32_t first, uint32_t second)
{
	struct nnpu_command *c = &im->commands[im->num_commands - 1];

	c->target[0] = htole32(first);
	c->target[1] = htole32(second);
}

struct nnpu_program_header *image_header(struct image *im)
{
	return (struct nnpu_program_header *)im->bytes;
}

struct nnpu_tensor_desc *image_desc(struct image *im, uint32_t index)
{
	return (struct nnpu_tensor_desc *)(im->bytes + le32toh(image_header(im)->tensors_off)) +
	       index;
}

struct nnpu_command *image_cmd(struct image *im, uint32_t index)
{
	return (struct nnpu_command *)(im->bytes + le32toh(image_header(im)->commands_off)) + index;
}

__le32 *image_index(struct image *im, uint32_t position)
{
	return (__le32 *)(im->bytes + le32toh(image_header(im)->indexes_off)) + position;
}

void image_finish(struct image *im)
{
	uint32_t i, first = im->num_indexes, off = sizeof(struct nnpu_program_header);
	struct nnpu_program_header h = {
		.magic = htole32(NNPU_PROGRAM_MAGIC),
		.version = htole16(NNPU_PROGRAM_VERSION),
		.header_size = htole16(sizeof(h)),
		.tensor_stride = htole16(sizeof(struct nnpu_tensor_desc)),
		.command_stride = htole16(sizeof(struct nnpu_command)),
	};

	for (i = 0; i < im->num_inputs; i++)
		im->indexes[im->num_indexes++] = im->inputs[i];
	for (i = 0; i < im->num_outputs; i++)
		im->indexes[im->num_indexes++] = im->outputs[i];
	h.inputs_first = htole32(first);
	h.outputs_first = htole32(first + im->num_inputs);
	h.num_inputs = htole16(im->num_inputs);
	h.num_outputs = htole16(im->num_outputs);
	h.tensors_off = htole32(off);
	h.num_tensors = htole32(im->num_tensors);
	off += im->num_tensors * sizeof(struct nnpu_tensor_desc);
	h.commands_off = htole32(off);
	h.num_commands = htole32(im->num_commands);
	off += im->num_commands * sizeof(struct nnpu_command);
	h.indexes_off = htole32(off);
	h.num_indexes = htole32(im->num_indexes);
	off += (im->num_indexes * 4 + 7) & ~7u;
	h.data_off = htole32(off);
	h.data_size = htole32(im->data_size);
	off += (im->data_size + 7) & ~7u;
	h.size = htole32(off);
	im->size = off;
	im->bytes = calloc(1, off);
	memcpy(im->bytes, &h, sizeof(h));
	memcpy(image_desc(im, 0), im->tensors, im->num_tensors * sizeof(im->tensors[0]));
	memcpy(image_cmd(im, 0), im->commands, im->num_commands * sizeof(im->commands[0]));
	for (i = 0; i < im->num_indexes; i++)
		*image_index(im, i) = htole32(im->indexes[i]);
	memcpy(im->bytes + le32toh(h.data_off), im->data, im->data_size);
}

void image_free(struct image *im)
{
	free(im->bytes);
	im->bytes = NULL;
}

void image_add(struct image *im, uint32_t n)
{
	uint32_t a, b, out, act;

	image_init(im);
	a = image_tensor(im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, (int)n, -1);
	b = image_tensor(im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, (int)n, -1);
	out = image_tensor(im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, (int)n, -1);
	act = image_scalar(im, 0);
	image_command(im, NNPU_OP_ADD, 3, 1, a, b, act, out);
	image_finish(im);
}

/* Jobs. */

bool job_rig_init(struct job_rig *j, struct rig *rig, uint32_t ctx, uint16_t qid)
{
	const uint32_t rw = NNPU_SLOT_VALID | NNPU_SLOT_READ | NNPU_SLOT_WRITE;

	j->rig = rig;
	j->ctx = ctx;
	j->slots = rig_alloc(rig, 16 * sizeof(*j->slots));
	j->block = rig_alloc(rig, 16384);
	j->operands_size = 1u << 20;
	j->operands = rig_alloc(rig, j->operands_size);
	rig_slot(&j->slots[0], j->block, 16384, rw);
	rig_slot(&j->slots[1], j->operands, j->operands_size, rw);
	j->q = &rig->queues[qid];
	return !rig_create_ctx(rig, ctx, j->slots, 16) &&
	       !rig_create_queue(rig, qid, 0, NNPU_QUEUE_KERNEL, 16);
}

struct nnpu_arg *job_args(struct job_rig *j, unsigned int inputs, unsigned int outputs)
{
	struct nnpu_args_header *h = (struct nnpu_args_header *)j->block;

	memset(j->block, 0, 16384);
	h->num_inputs = htole16(inputs);
	h->num_outputs = htole16(outputs);
	job_result(j)->status = htole16(NNPU_STATUS_PENDING);
	return (struct nnpu_arg *)(h + 1);
}

void job_arg(struct nnpu_arg *arg, uint32_t slot, uint64_t offset, uint64_t length)
{
	*arg = (struct nnpu_arg) {
		.slot = htole32(slot),
		.offset = htole64(offset),
		.length = htole64(length),
	};
}

void job_sqe(struct job_rig *j, uint32_t program, struct nnpu_sqe_execute *sqe)
{
	const struct nnpu_args_header *h = (const struct nnpu_args_header *)j->block;

	*sqe = (struct nnpu_sqe_execute) {
		.opcode = NNPU_IO_EXECUTE,
		.ctx = htole32(j->ctx),
		.program = htole32(program),
		.args_len = htole32(64 * (1u + le16toh(h->num_inputs) + le16toh(h->num_outputs))),
		.result_off = htole64(JOB_RESULT_OFFSET),
	};
}

struct nnpu_args_header *job_result(struct job_rig *j)
{
	return (struct nnpu_args_header *)(j->block + JOB_RESULT_OFFSET);
}

struct nnpu_arg *job_result_arg(struct job_rig *j, unsigned int n)
{
	return (struct nnpu_arg *)(job_result(j) + 1) + n;
}

int job_execute(struct job_rig *j, uint32_t program, struct nnpu_cqe *cqe)
{
	struct nnpu_sqe_execute sqe;

	job_sqe(j, program, &sqe);
	return rig_run(j->rig, j->q, &sqe, cqe);
}

static float *operand(struct job_rig *j, uint32_t first)
{
	return (float *)j->operands + first;
}

void job_add_args(struct job_rig *j, uint32_t n)
{
	struct nnpu_arg *args = job_args(j, 2, 1);
	uint32_t i;

	for (i = 0; i < 3; i++)
		job_arg(&args[i], 1, (uint64_t)i * n * 4, (uint64_t)n * 4);
	memset(j->operands, 0xa5, j->operands_size);
	for (i = 0; i < n; i++) {
		operand(j, 0)[i] = (float)i;
		operand(j, n)[i] = 0.5f * (float)i;
	}
}

bool job_add_ok(struct job_rig *j, uint32_t n)
{
	uint32_t i;
	size_t k;

	for (i = 0; i < n; i++)
		if (operand(j, 0)[i] != (float)i || operand(j, n)[i] != 0.5f * (float)i ||
		    operand(j, 2 * n)[i] != 1.5f * (float)i)
			return false;
	for (k = (size_t)n * 12; k < j->operands_size; k++)
		if (j->operands[k] != 0xa5)
			return false;
	return true;
}
