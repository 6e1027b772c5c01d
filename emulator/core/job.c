// SPDX-License-Identifier: MIT
/*
 * One EXECUTE or COPY entry: reads the argument block, runs the program or copies, writes
 * outputs and result.
 */
#include "device_state.h"
#include "executor.h"
#include "job.h"
#include "memory_accounting.h"
#include "queue.h"
#include "tensor_shape.h"

#define EXEC_FLAGS	(NNPU_EXEC_ARGS_DMA | NNPU_EXEC_PROFILE | NNPU_EXEC_PRIORITY)
#define COPY_FLAGS	(NNPU_EXEC_ARGS_DMA | NNPU_EXEC_PRIORITY)
#define HEADER_FLAGS	(NNPU_ARGS_DEADLINE_ABORT | NNPU_ARGS_DEADLINE_ABSOLUTE)
#define RECORD_SIZE	sizeof(struct nnpu_arg)
/* Bytes that a copy moves between two points. */
#define COPY_PIECE	(256u << 10)
/* Bytes that are cleared at once in a result block. */
#define ZERO_PIECE	4096u

_Static_assert(sizeof(struct nnpu_args_header) == RECORD_SIZE, "block of equal records");

static bool entry_fields_ok(const struct nnpu_queue *q, const struct nnpu_sqe_execute *c)
{
	bool copy = c->opcode == NNPU_IO_COPY, by_address = c->flags & NNPU_EXEC_ARGS_DMA;

	if ((c->flags & ~(copy ? COPY_FLAGS : EXEC_FLAGS)) || c->reserved)
		return false;
	if (copy && c->program)
		return false;
	if (q->ctx && (c->ctx || by_address || c->flags & NNPU_EXEC_PRIORITY))
		return false;
	if (c->flags >> NNPU_EXEC_PRIORITY_SHIFT >= NNPU_QUEUE_PRIORITY_NUM)
		return false;
	if (by_address && c->args_slot)
		return false;
	if ((le64toh(c->args) | le64toh(c->result_off) | le64toh(c->profile_off)) & 7)
		return false;
	if (le32toh(c->result_slot) == NNPU_SLOT_NONE && c->result_off)
		return false;
	return (c->flags & NNPU_EXEC_PROFILE) ||
	       (!c->profile_slot && !c->profile_len && !c->profile_off);
}

int job_check_entry(const struct nnpu_queue *q, const struct nnpu_sqe_execute *sqe,
		    struct verdict *v)
{
	return entry_fields_ok(q, sqe) ? 0 : verdict_status(v, NNPU_STATUS_INVALID_FIELD);
}

/* The job that runs. Lives for one call of job_run(). */
struct run {
	struct job *job;
	struct nnpu_device *dev;
	struct nnpu_ctx *ctx;
	const struct program *program;	/* COPY: NULL */
	const struct nnpu_sqe_execute *sqe;
	struct verdict *v;
	uint64_t start_ns;
	uint32_t args_len;
	struct nnpu_args_header *header;	/* the device's copy of the block, or NULL */
	struct nnpu_arg *args;
	uint32_t num_inputs;		/* of program or header, once counts_ok */
	uint32_t num_outputs;
	bool counts_ok;
	struct exec_run exec;
};

static int status_fault(struct run *r, unsigned int status, uint32_t arg)
{
	return verdict_set(r->v, status, NNPU_REASON_NONE, arg, NNPU_OPERAND_NONE);
}

static int arg_fault(struct run *r, unsigned int status, unsigned int reason, uint32_t arg)
{
	return verdict_set(r->v, status, reason, arg, NNPU_OPERAND_NONE);
}

static bool has_result(const struct run *r)
{
	return le32toh(r->sqe->result_slot) != NNPU_SLOT_NONE;
}

/* Steps 2 and 3 of the specification. */
static int check_slots(struct run *r)
{
	const struct nnpu_sqe_execute *c = r->sqe;
	unsigned int status;

	r->args_len = le32toh(c->args_len);
	if (r->args_len < RECORD_SIZE ||
	    r->args_len > RECORD_SIZE * (1ull + r->dev->props.max_args))
		return status_fault(r, NNPU_STATUS_ARG_COUNT, 0);
	if (has_result(r)) {
		status = slot_check(r->ctx, le32toh(c->result_slot), le64toh(c->result_off),
				    r->args_len, DMA_WRITE);
		if (status)
			return status_fault(r, status, 0);
	}
	if (c->flags & NNPU_EXEC_PROFILE) {
		status = slot_check(r->ctx, le32toh(c->profile_slot), le64toh(c->profile_off),
				    le32toh(c->profile_len), DMA_WRITE);
		if (status)
			return status_fault(r, status, 0);
	}
	return 0;
}

static int get_block(struct run *r)
{
	struct nnpu_engine *e = r->job->engine;
	struct exec_state *x = &e->exec;

	if (!exec_charged_room(e, r->ctx, &x->tables.args, (void **)&x->args, &x->max_args_len,
			       r->args_len, 1))
		return status_fault(r, job_is_to_end(&e->progress) ?
				    job_end_status(&e->progress) : NNPU_STATUS_NO_MEMORY, 0);
	/* Every access checks its slot again, in case they were released. */
	slots_hold(&e->slots, r->ctx);
	r->header = (struct nnpu_args_header *)x->args;
	r->args = (struct nnpu_arg *)(r->header + 1);
	return 0;
}

/* Step 4. Whatever happens, the block is fit to become the result block. */
static int read_block(struct run *r)
{
	const struct nnpu_sqe_execute *c = r->sqe;
	unsigned int status = NNPU_STATUS_SUCCESS;

	if (!(c->flags & NNPU_EXEC_ARGS_DMA))
		status = slot_copy(r->ctx, le32toh(c->args_slot), le64toh(c->args), r->header,
				   r->args_len, DMA_READ);
	else if (dev_dma_read(r->dev, le64toh(c->args), r->header, r->args_len))
		status = NNPU_STATUS_DMA_ERROR;
	if (status) {
		/* The result block must not show what was read before the fault. */
		memset(r->header, 0, r->args_len);
		return status_fault(r, status, 0);
	}
	return 0;
}

/* Step 5. */
static int check_header(struct run *r)
{
	const struct nnpu_args_header *h = r->header;
	bool copy = !r->program;
	uint64_t count;

	/* They say something about a deadline. */
	if (le32toh(h->flags) & ~HEADER_FLAGS || (h->flags && !h->deadline_ns))
		return arg_fault(r, NNPU_STATUS_INVALID_FIELD, NNPU_REASON_FLAGS, 0);
	if (!is_zero(h->reserved, sizeof(h->reserved)))
		return arg_fault(r, NNPU_STATUS_INVALID_FIELD, NNPU_REASON_RESERVED, 0);
	if (copy && h->loop_timeout_ns)
		return arg_fault(r, NNPU_STATUS_INVALID_FIELD, NNPU_REASON_RESERVED, 0);
	if (le64toh(h->loop_timeout_ns) > NNPU_LOOP_TIMEOUT_MAX_NS)
		return arg_fault(r, NNPU_STATUS_INVALID_FIELD, NNPU_REASON_VALUE, 0);
	r->num_inputs = copy ? le16toh(h->num_inputs) : r->program->num_inputs;
	r->num_outputs = copy ? r->num_inputs : r->program->num_outputs;
	count = (uint64_t)r->num_inputs + r->num_outputs;
	if (!r->num_outputs || le16toh(h->num_inputs) != r->num_inputs ||
	    le16toh(h->num_outputs) != r->num_outputs ||
	    r->args_len != RECORD_SIZE * (1 + count))
		return status_fault(r, NNPU_STATUS_ARG_COUNT, 0);
	r->counts_ok = true;
	return 0;
}

static bool gives_shape(const struct nnpu_arg *a)
{
	return le16toh(a->flags) & NNPU_ARG_SHAPE;
}

/* Are the dimensions zero that the record does not use? */
static bool unused_dims_ok(const struct nnpu_arg *a)
{
	unsigned int i;

	if (!gives_shape(a))
		return !a->rank && is_zero(a->dims, sizeof(a->dims));
	for (i = a->rank; i < NNPU_MAX_RANK; i++)
		if (a->dims[i])
			return false;
	return true;
}

/* Step 6: fields of a record that do not depend on the program. */
static int check_record(struct run *r, uint32_t number, const struct nnpu_arg *a)
{
	uint16_t allowed = r->program ? NNPU_ARG_NO_VALUE | NNPU_ARG_SHAPE : 0;
	uint16_t flags = le16toh(a->flags);

	if (flags & ~allowed)
		return arg_fault(r, NNPU_STATUS_INVALID_FIELD, NNPU_REASON_FLAGS, number);
	if (a->pad || a->reserved || !unused_dims_ok(a))
		return arg_fault(r, NNPU_STATUS_INVALID_FIELD, NNPU_REASON_RESERVED, number);
	if (flags & NNPU_ARG_NO_VALUE &&
	    (flags & NNPU_ARG_SHAPE || a->slot || a->offset || a->length))
		return arg_fault(r, NNPU_STATUS_INVALID_FIELD, NNPU_REASON_RESERVED, number);
	return 0;
}

/* Check the shape of a record against that of the program. *@t gets both combined. */
static int merge_shape(struct run *r, uint32_t number, const struct nnpu_arg *a,
		       const struct tensor *declared, struct tensor *t)
{
	unsigned int i;

	*t = *declared;
	if (!gives_shape(a))
		return 0;
	if (a->rank > NNPU_MAX_RANK || (declared->rank_known && a->rank != declared->rank))
		return arg_fault(r, NNPU_STATUS_ARG_SHAPE, NNPU_REASON_RANK, number);
	/* Rank 0 leaves the rank open. */
	if (!a->rank && !declared->rank_known)
		return 0;
	t->rank = a->rank;
	t->rank_known = true;
	for (i = 0; i < a->rank; i++) {
		uint32_t dim = le32toh(a->dims[i]);

		if (dim && declared->dims[i] && dim != declared->dims[i])
			return arg_fault(r, NNPU_STATUS_ARG_SHAPE, NNPU_REASON_DIMENSION, number);
		if (dim)
			t->dims[i] = dim;
	}
	return 0;
}

/* Bytes of an input whose shape the program and the record give together. */
static int input_bytes(struct run *r, uint32_t number, const struct nnpu_arg *a,
		       const struct tensor *declared, uint64_t *bytes)
{
	struct tensor t;
	unsigned int i;

	if (merge_shape(r, number, a, declared, &t))
		return -1;
	for (i = 0; t.rank_known && i < t.rank; i++)
		t.rank_known = t.dims[i];
	if (!t.rank_known)
		return arg_fault(r, NNPU_STATUS_ARG_SHAPE, NNPU_REASON_UNKNOWN_SHAPE, number);
	if (!tensor_settle(&t, r->dev->props.max_operand_size))
		return arg_fault(r, NNPU_STATUS_ARG_SHAPE, NNPU_REASON_OVERFLOW, number);
	*bytes = t.bytes;
	return 0;
}

static int check_input(struct run *r, uint32_t number, const struct nnpu_arg *a,
		       const struct tensor *declared)
{
	uint64_t bytes = declared->bytes;

	/* Most inputs have the shape that the program declares. */
	if ((gives_shape(a) || !declared->shape_known) &&
	    input_bytes(r, number, a, declared, &bytes))
		return -1;
	if (le64toh(a->length) != bytes)
		return arg_fault(r, NNPU_STATUS_ARG_SIZE, NNPU_REASON_DATA_LENGTH, number);
	return 0;
}

/* Check the shape that the record demands of an output. */
static int check_output(struct run *r, uint32_t number, const struct nnpu_arg *a,
			const struct tensor *declared)
{
	struct tensor t;

	return gives_shape(a) ? merge_shape(r, number, a, declared, &t) : 0;
}

/* Check a record against its tensor; for a copy against the record it belongs to. */
static int check_operand(struct run *r, uint32_t n, const struct nnpu_arg *a)
{
	const struct program *p = r->program;
	bool input = n < r->num_inputs;

	if (p && input)
		return check_input(r, n, a, &p->tensors[p->inputs[n]]);
	if (p)
		return check_output(r, n, a, &p->tensors[p->outputs[n - r->num_inputs]]);
	if (!input && a->length != r->args[n - r->num_inputs].length)
		return arg_fault(r, NNPU_STATUS_ARG_SIZE, NNPU_REASON_DATA_LENGTH, n);
	return 0;
}

static int check_args(struct run *r)
{
	uint32_t n, count = r->num_inputs + r->num_outputs;
	struct nnpu_engine *e = r->job->engine;
	struct op_pace pace = { .progress = &e->progress };

	for (n = 0; n < count; n++) {
		bool input = n < r->num_inputs;
		const struct nnpu_arg *a = &r->args[n];
		unsigned int status;

		if (op_pace(&pace, 64))
			return status_fault(r, job_end_status(&e->progress), 0);
		/* At a point they may have been released. */
		slots_hold(&e->slots, r->ctx);
		if (check_record(r, n, a))
			return -1;
		if (le16toh(a->flags) & NNPU_ARG_NO_VALUE)
			continue;
		if (check_operand(r, n, a))
			return -1;
		status = slot_check(r->ctx, le32toh(a->slot), le64toh(a->offset),
				    le64toh(a->length), input ? DMA_READ : DMA_WRITE);
		if (status)
			return status_fault(r, status, n);
	}
	return 0;
}

/* Outputs. */

/* The tensor of output @o. Its shape may not be known completely. */
static const struct tensor *output_tensor(const struct run *r, unsigned int o)
{
	uint32_t index = r->program->outputs[o];

	if (r->exec.shapes_valid)
		return exec_tensor(&r->exec, index);
	return &r->program->tensors[index];
}

/* Does an output agree with the shape that its record demands? */
static bool shape_is_demanded(const struct nnpu_arg *a, const struct tensor *t)
{
	struct tensor demanded;
	unsigned int i;

	if (!gives_shape(a) || !a->rank)
		return true;
	demanded = (struct tensor) { .rank_known = true, .rank = a->rank };
	for (i = 0; i < a->rank; i++)
		demanded.dims[i] = le32toh(a->dims[i]);
	return shapes_compatible(&demanded, t);
}

/* Check shapes that records demand, and room. */
static int check_outputs(struct run *r, uint32_t *short_output)
{
	const struct program *p = r->program;
	unsigned int o;

	*short_output = UINT32_MAX;
	for (o = 0; o < p->num_outputs; o++) {
		const struct tensor *t = output_tensor(r, o);
		struct nnpu_arg *a = &r->args[p->num_inputs + o];

		if (le16toh(a->flags) & NNPU_ARG_NO_VALUE || !t->shape_known)
			continue;
		if (!shape_is_demanded(a, t))
			return arg_fault(r, NNPU_STATUS_ARG_SHAPE, NNPU_REASON_SHAPE_MISMATCH,
					 p->num_inputs + o);
		if (t->bytes <= le64toh(a->length))
			continue;
		a->flags |= htole16(NNPU_ARG_INSUFFICIENT);
		if (*short_output == UINT32_MAX)
			*short_output = p->num_inputs + o;
	}
	return 0;
}

/* The slots may be held afterwards. */
static int write_outputs(struct run *r)
{
	const struct program *p = r->program;
	uint32_t short_output;
	unsigned int o;

	if (check_outputs(r, &short_output))
		return -1;
	for (o = 0; o < p->num_outputs && !r->dev->props.null_mode; o++) {
		const struct tensor *t = output_tensor(r, o);
		const struct nnpu_arg *a = &r->args[p->num_inputs + o];
		unsigned int status;

		if (le16toh(a->flags) & (NNPU_ARG_NO_VALUE | NNPU_ARG_INSUFFICIENT))
			continue;
		status = slot_access(r->ctx, &r->job->engine->slots, le32toh(a->slot),
				     le64toh(a->offset), t->data, t->bytes, DMA_WRITE,
				     &r->job->engine->progress);
		if (status)
			return verdict_access(r->v, status, p->num_inputs + o);
		if (exec_many_args(r->job->engine, o))
			return status_fault(r, job_end_status(&r->job->engine->progress), 0);
	}
	if (short_output != UINT32_MAX)
		return status_fault(r, NNPU_STATUS_OUTPUT_INSUFFICIENT, short_output);
	return 0;
}

/* Results. */

static void write_profile(struct run *r)
{
	const struct nnpu_sqe_execute *c = r->sqe;
	unsigned int status;

	if (!r->exec.num_profile)
		return;
	status = slot_access(r->ctx, &r->job->engine->slots, le32toh(c->profile_slot),
			     le64toh(c->profile_off), r->job->engine->exec.profile,
			     (uint64_t)r->exec.num_profile * sizeof(struct nnpu_profile),
			     DMA_WRITE, &r->job->engine->progress);
	if (status) {
		r->exec.num_profile = 0;
		if (!r->v->status)
			status_fault(r, status, 0);
	}
}

static void fill_output_shapes(struct run *r)
{
	unsigned int o, i;

	for (o = 0; o < r->program->num_outputs; o++) {
		struct nnpu_arg *a = &r->args[r->program->num_inputs + o];
		const struct tensor *t = output_tensor(r, o);

		a->rank = t->rank_known ? t->rank : 0;
		memset(a->dims, 0, sizeof(a->dims));
		for (i = 0; i < a->rank; i++)
			a->dims[i] = htole32(t->dims[i]);
	}
}

static __le16 saturated(uint32_t count)
{
	return htole16((uint16_t)(count < UINT16_MAX ? count : UINT16_MAX));
}

static void fill_header(const struct run *r, struct nnpu_args_header *h)
{
	const struct exec_work *work = &r->job->engine->exec.work;

	h->status = htole16(r->v->status);
	h->reason = htole16(r->v->reason);
	h->command = htole32(r->v->error);
	h->queue_ns = htole64(r->start_ns - r->job->fetched_ns);
	h->exec_ns = htole64(r->job->exec_ns);
	h->num_profile = htole32(r->exec.num_profile);
	h->inferences = saturated(work->inferences);
	h->allocations = saturated(work->allocations);
	h->copies = saturated(work->copies);
}

/* False: it could not be written. */
static bool write_block(struct run *r, uint32_t at, void *bytes, uint32_t len)
{
	const struct nnpu_sqe_execute *c = r->sqe;

	if (!slot_access(r->ctx, &r->job->engine->slots, le32toh(c->result_slot),
			 le64toh(c->result_off) + at, bytes, len, DMA_WRITE, NULL))
		return true;
	verdict_status(r->v, NNPU_STATUS_DMA_ERROR);
	return false;
}

/* There was no memory for the block: it is zero but for the header's results. */
static void write_zero_result(struct run *r)
{
	struct nnpu_args_header h = { 0 };
	uint8_t zeros[ZERO_PIECE] = { 0 };
	uint32_t at, n;

	fill_header(r, &h);
	if (!write_block(r, 0, &h, sizeof(h)))
		return;
	for (at = sizeof(h); at < r->args_len; at += n) {
		n = r->args_len - at < ZERO_PIECE ? r->args_len - at : ZERO_PIECE;
		if (!write_block(r, at, zeros, n))
			return;
		slots_release(&r->job->engine->slots);
	}
}

static void write_result(struct run *r)
{
	if (!has_result(r))
		return;
	if (!r->header) {
		write_zero_result(r);
		return;
	}
	if (r->counts_ok && r->program)
		fill_output_shapes(r);
	fill_header(r, r->header);
	write_block(r, 0, r->header, r->args_len);
}

/* The bytes of input @n, through a buffer in device memory. */
static int copy_bytes(struct run *r, uint32_t n, uint8_t *buffer)
{
	const struct nnpu_arg *from = &r->args[n], *to = &r->args[r->num_inputs + n];
	uint64_t left = le64toh(from->length), at = 0;
	struct nnpu_engine *e = r->job->engine;

	while (left) {
		uint64_t piece = left < COPY_PIECE ? left : COPY_PIECE;
		unsigned int status;

		status = slot_access(r->ctx, &e->slots, le32toh(from->slot),
				     le64toh(from->offset) + at, buffer, piece, DMA_READ,
				     &e->progress);
		if (status)
			return verdict_access(r->v, status, n);
		status = slot_access(r->ctx, &e->slots, le32toh(to->slot),
				     le64toh(to->offset) + at, buffer, piece, DMA_WRITE,
				     &e->progress);
		if (status)
			return verdict_access(r->v, status, r->num_inputs + n);
		slots_release(&e->slots);
		if (op_progress(&e->progress))
			return status_fault(r, job_end_status(&e->progress), 0);
		at += piece;
		left -= piece;
	}
	return 0;
}

static int copy(struct run *r)
{
	struct nnpu_engine *e = r->job->engine;
	uint64_t piece = 0;
	uint8_t *buffer;
	uint32_t n;

	if (r->job->fail_dma)
		return status_fault(r, NNPU_STATUS_DMA_ERROR, 0);
	if (r->dev->props.null_mode)
		return 0;
	slots_release(&e->slots);
	/* There are few arguments: IDENTIFY says how many at most. */
	for (n = 0; n < r->num_inputs && piece < COPY_PIECE; n++)
		if (le64toh(r->args[n].length) > piece)
			piece = le64toh(r->args[n].length);
	buffer = exec_chunk(e, r->ctx, 0, piece < COPY_PIECE ? piece : COPY_PIECE, true);
	if (!buffer)
		return status_fault(r, job_is_to_end(&e->progress) ?
				    job_end_status(&e->progress) : NNPU_STATUS_NO_MEMORY, 0);
	for (n = 0; n < r->num_inputs; n++)
		if (copy_bytes(r, n, buffer))
			return -1;
	return 0;
}

/* Step 7. The job begins, or its deadline has passed. */
static int check_deadline(struct run *r)
{
	uint32_t flags = le32toh(r->header->flags);
	uint64_t from = flags & NNPU_ARGS_DEADLINE_ABSOLUTE ? r->dev->power_on_ns :
							      r->job->fetched_ns;
	uint64_t at = le64toh(r->header->deadline_ns);

	if (!at)
		return 0;
	/* The clock never comes to a time that does not fit. */
	at = at < UINT64_MAX - from ? from + at : UINT64_MAX;
	if (dev_now(r->dev) >= at)
		return status_fault(r, NNPU_STATUS_DEADLINE, 0);
	if (flags & NNPU_ARGS_DEADLINE_ABORT)
		r->job->engine->progress.deadline_ns = at;
	return 0;
}

static int execute(struct run *r)
{
	struct nnpu_engine *e = r->job->engine;

	if (check_deadline(r))
		return -1;
	if (op_progress(&e->progress))
		return status_fault(r, job_end_status(&e->progress), 0);
	if (!r->program)
		return copy(r);
	if (r->dev->props.null_mode) {
		if (r->job->fail_dma)
			return status_fault(r, NNPU_STATUS_DMA_ERROR, 0);
		return write_outputs(r);
	}
	r->exec = (struct exec_run) {
		.engine = e,
		.ctx = r->ctx,
		.program = r->program,
		.args = r->args,
		.start_ns = r->start_ns,
		.fail_dma = r->job->fail_dma,
		.loop_timeout_ns = le64toh(r->header->loop_timeout_ns),
		.pace = { .progress = &e->progress },
		.verdict = r->v,
	};
	if (!r->exec.loop_timeout_ns)
		r->exec.loop_timeout_ns = NNPU_LOOP_TIMEOUT_DEFAULT_NS;
	if (r->sqe->flags & NNPU_EXEC_PROFILE)
		r->exec.max_profile = le32toh(r->sqe->profile_len) / sizeof(struct nnpu_profile);
	if (exec_program(&r->exec))
		return -1;
	/* A program without inputs still has an access that can fail. */
	if (r->job->fail_dma)
		return status_fault(r, NNPU_STATUS_DMA_ERROR, r->program->num_inputs);
	return write_outputs(r);
}

/*
 * Steps 2 to 6. They hold the slots and leave them held. -1: there is no place for a result
 * block.
 */
static int check_and_read(struct run *r)
{
	slots_hold(&r->job->engine->slots, r->ctx);
	if (check_slots(r))
		return -1;
	if (!get_block(r) && !read_block(r) && !check_header(r))
		check_args(r);
	return 0;
}

void job_run(struct job *job)
{
	struct nnpu_device *dev = job->engine->dev;
	bool has_place;
	struct run r;

	/* Set field by field: execute() initializes the largest one. */
	r.job = job;
	r.dev = dev;
	r.ctx = job->ctx;
	r.program = job->program;
	r.sqe = job->sqe;
	r.v = &job->verdict;
	r.start_ns = job->start_ns ? job->start_ns : dev_now(dev);
	r.header = NULL;
	r.counts_ok = false;
	r.exec.shapes_valid = false;
	r.exec.num_profile = 0;

	job->engine->exec.work = (struct exec_work) { 0 };
	job->engine->exec.credit = ctx_mem_credit(job->ctx);
	has_place = !check_and_read(&r);
	if (!r.v->status)
		execute(&r);
	job->end_ns = dev_now(dev);
	job->exec_ns = job->end_ns - job->engine->away_ns - r.start_ns;
	if (has_place) {
		write_profile(&r);
		write_result(&r);
	}
	slots_release(&job->engine->slots);
	exec_end(job->engine, job->ctx);
}
