// SPDX-License-Identifier: MIT
/*
 * Fuzzer of program images and argument blocks: load, execute what loads, save it and load that.
 *
 * Runs loader and executor in the fuzzer's own thread on an engine made here, so that
 * no time goes into handing over between threads. Input: one byte of options, one byte
 * with the length of the argument recipe in units of 4, the recipe, the image.
 *
 * Inputs with OPT_LARGE are made larger first, so that an operand has LARGE bytes and the shapes
 * still fit together. These take a part of the time only. A line at the end says how many there
 * were.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "core/device_state.h"
#include "core/engine.h"
#include "core/executor.h"
#include "core/job.h"
#include "core/program_load.h"
#include "core/program_save.h"
#include "inproc/inproc.h"
#include "large_share.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY		(1u << 20)
#define OPT_RAW_HEADER	1u	/* do not mend magic and size */
#define OPT_CHECK	2u	/* LOAD_CHECK first */
#define OPT_PROFILE	4u
#define OPT_LARGE	8u
/* Which dimension grows then. */
#define OPT_AXIS(options)	((options) >> 4 & 3u)

/* Layout of the memory: slot table, then slot 0 (arguments, results), slot 1 (operands). */
#define BLOCK		8192u
#define BLOCK_SIZE	65536u
#define OPERANDS	131072u
/* Many loops do not end by themselves. */
#define LOOP_TIMEOUT_NS	200000
#define RESULT_OFF	32768u

/* What an operand is made to have, what the device takes, and the slot for these. */
#define LARGE		(64ull << 20)
#define LARGE_OPERAND	(160ull << 20)
#define LARGE_DEVICE	(1ull << 30)
#define LARGE_MEMORY	(512ull << 20)
#define LARGE_SLOT	2u
#define SMALL_OPERAND	(1u << 20)
#define SMALL_DEVICE	(16u << 20)
/* Larger programs are not saved. */
#define SAVE_ROOM	(1u << 20)

static struct nnpu_inproc *ip;
static struct nnpu_device *dev;
static struct nnpu_engine engine;
static struct nnpu_ctx *ctx;
static uint8_t *memory;
static uint8_t *large_memory;		/* pages that nobody touches are none */
static atomic_uint progress;
static atomic_bool aborted;

static atomic_uint inputs;

/*
 * Programs may take as long as they like, as long as an abort ends them: one that is
 * still at it after a second is aborted, and only one that does not listen is a hang.
 */
static void *impatience(void *arg)
{
	unsigned int last = 0, same = 0;

	(void)arg;
	for (;;) {
		unsigned int now = atomic_load(&inputs);

		same = now == last ? same + 1 : 0;
		last = now;
		if (same > 10)
			atomic_store(&aborted, true);
		nanosleep(&(struct timespec) { .tv_nsec = 100000000 }, NULL);
	}
	return NULL;
}

static void setup(void)
{
	struct nnpu_inproc_config config;
	struct nnpu_slot_entry *slots;
	pthread_t thread;
	char error[128];

	nnpu_inproc_default_config(&config);
	config.props.memory_size = LARGE_DEVICE;
	config.props.max_operand_size = LARGE_OPERAND;
	config.props.examples = true;
	ip = nnpu_inproc_create(&config, error, sizeof(error));
	memory = aligned_alloc(4096, MEMORY);
	large_memory = mmap(NULL, LARGE_MEMORY, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!ip || !memory || large_memory == MAP_FAILED ||
	    nnpu_inproc_register(ip, memory, MEMORY, NNPU_INPROC_READ | NNPU_INPROC_WRITE) ||
	    nnpu_inproc_register(ip, large_memory, LARGE_MEMORY,
				 NNPU_INPROC_READ | NNPU_INPROC_WRITE))
		abort();
	large_setup();
	memset(memory, 0, MEMORY);
	dev = nnpu_inproc_device(ip);
	slots = (struct nnpu_slot_entry *)memory;
	slots[0].mem.addr = htole64((uintptr_t)memory + BLOCK);
	slots[0].mem.size = htole64(BLOCK_SIZE);
	slots[1].mem.addr = htole64((uintptr_t)memory + OPERANDS);
	slots[1].mem.size = htole64(MEMORY - OPERANDS);
	slots[0].flags = htole32(NNPU_SLOT_VALID | NNPU_SLOT_READ | NNPU_SLOT_WRITE);
	slots[1].flags = slots[0].flags;
	slots[LARGE_SLOT].mem.addr = htole64((uintptr_t)large_memory);
	slots[LARGE_SLOT].mem.size = htole64(LARGE_MEMORY);
	slots[LARGE_SLOT].flags = slots[0].flags;
	ctx = ctx_create(dev, 1, (uintptr_t)memory, 4, 0);
	if (!ctx)
		abort();
	ctx->serial = 1;
	engine.dev = dev;
	engine.busy = true;
	engine.progress = (struct job_progress) {
		.dev = dev, .ctx = ctx, .counter = &progress, .contended = &dev->contended,
		.abort = &aborted, .stop = &dev->stop,
	};
	if (pthread_create(&thread, NULL, impatience, NULL))
		abort();
	pthread_detach(thread);
}

/* Bytes of the recipe, zeros when it is used up. */
struct recipe {
	const uint8_t *p;
	size_t left;
};

static uint8_t next(struct recipe *r)
{
	if (!r->left)
		return 0;
	r->left--;
	return *r->p++;
}

/* How a program was made larger. */
struct scale {
	unsigned int axis;
	uint32_t factor;		/* 0: it was not */
};

/* Space of the operands of a program. */
static uint64_t room(const struct scale *s)
{
	return s->factor ? LARGE_MEMORY : MEMORY;
}

/* Bytes of a tensor whose unknown dimensions are 1. */
static uint64_t least_bytes(const struct nnpu_tensor_desc *t)
{
	uint64_t bytes = type_size(le16toh(t->type));
	unsigned int i;

	for (i = 0; i < t->rank && i < NNPU_MAX_RANK && bytes < LARGE; i++)
		bytes *= t->dims[i] ? le32toh(t->dims[i]) : 1;
	return bytes;
}

/*
 * Let one dimension of all tensors that are no constants grow, so that the largest operand has
 * LARGE bytes. Most operations have batches, rows or elements there.
 */
static void make_large(struct scale *s, uint8_t *image, size_t size)
{
	const struct nnpu_program_header *h = (const struct nnpu_program_header *)image;
	uint64_t offset = le32toh(h->tensors_off), stride = le16toh(h->tensor_stride);
	uint64_t most = 0, num = le32toh(h->num_tensors);
	struct nnpu_tensor_desc t;
	unsigned int pass;
	uint64_t n;

	if (offset > size || num * stride > size - offset)
		return;
	for (pass = 0; pass < 2; pass++) {
		for (n = 0; n < num; n++) {
			memcpy(&t, image + offset + n * stride, sizeof(t));
			if (t.kind > NNPU_TENSOR_OUTPUT || t.rank <= s->axis ||
			    t.rank > NNPU_MAX_RANK)
				continue;
			if (!pass && least_bytes(&t) > most)
				most = least_bytes(&t);
			if (!pass || !t.dims[s->axis])
				continue;
			t.dims[s->axis] = htole32(le32toh(t.dims[s->axis]) * s->factor);
			memcpy(image + offset + n * stride, &t, sizeof(t));
		}
		if (!most)
			return;
		s->factor = (uint32_t)((LARGE + most - 1) / most);
	}
}

/* An argument: natural for the tensor, bent here and there as the recipe says. */
static void make_arg(struct recipe *r, struct nnpu_arg *a, const struct tensor *t,
		     uint64_t *offset, const struct scale *s)
{
	uint8_t how = next(r);
	uint64_t bytes = type_size(t->type);
	unsigned int i;

	*a = (struct nnpu_arg) {
		.slot = htole32(s->factor ? LARGE_SLOT : 1), .offset = htole64(*offset),
	};
	if (how & 1) {
		a->flags = htole16(NNPU_ARG_NO_VALUE);
		a->slot = 0;
		a->offset = 0;
		return;
	}
	if (!t->shape_known || how & 2) {
		a->flags = htole16(NNPU_ARG_SHAPE);
		a->rank = t->rank_known ? t->rank : (next(r) & 7);
		for (i = 0; i < a->rank; i++) {
			uint32_t dim = t->dims[i] ? t->dims[i] : next(r) & 31;

			if (!t->dims[i] && i == s->axis && s->factor)
				dim = (dim ? dim : 1) * s->factor;
			a->dims[i] = htole32(dim);
		}
	}
	for (i = 0; i < NNPU_MAX_RANK; i++) {
		uint32_t dim = i < a->rank ? le32toh(a->dims[i]) : i < t->rank ? t->dims[i] : 1;

		bytes = dim && bytes < room(s) ? bytes * dim : bytes;
	}
	a->length = htole64(bytes);
	*offset = (*offset + bytes) & (room(s) / 4 - 1);
	if (how & 4)
		((uint8_t *)a)[next(r) & 63] ^= next(r);
}

/* The longest argument that has a value. */
static uint64_t longest(const struct nnpu_arg *args, uint32_t count)
{
	uint64_t most = 0;
	uint32_t i;

	for (i = 0; i < count; i++)
		if (!(le16toh(args[i].flags) & NNPU_ARG_NO_VALUE) && le64toh(args[i].length) > most)
			most = le64toh(args[i].length);
	return most;
}

static void run(struct program *p, struct recipe *r, uint8_t options, const struct scale *s)
{
	struct nnpu_args_header *h = (struct nnpu_args_header *)(memory + BLOCK);
	struct nnpu_arg *args = (struct nnpu_arg *)(h + 1);
	uint32_t n, count = (uint32_t)p->num_inputs + p->num_outputs;
	struct nnpu_sqe_execute sqe = {
		.opcode = NNPU_IO_EXECUTE,
		.args_len = htole32(64 * (1 + count)),
		.result_off = htole64(RESULT_OFF),
	};
	struct job job = { .engine = &engine, .ctx = ctx, .program = p, .sqe = &sqe,
			   .verdict = VERDICT_SUCCESS };
	uint64_t offset = 0;

	if (count > 100)
		return;
	*h = (struct nnpu_args_header) {
		.num_inputs = htole16(p->num_inputs), .num_outputs = htole16(p->num_outputs),
		.loop_timeout_ns = htole64(LOOP_TIMEOUT_NS),
	};
	for (n = 0; n < count; n++)
		make_arg(r, &args[n], &p->tensors[n < p->num_inputs ? p->inputs[n] :
						  p->outputs[n - p->num_inputs]], &offset, s);
	if (options & OPT_PROFILE) {
		sqe.flags = NNPU_EXEC_PROFILE;
		sqe.profile_slot = htole32(1);
		sqe.profile_off = htole64(MEMORY / 2);
		sqe.profile_len = htole32(1024);
	}
	job_run(&job);
	if (s->factor)
		large_tried++;
	if (!job.verdict.status && longest(args, count) >= LARGE)
		large_done++;
	if (le16toh(((struct nnpu_args_header *)(memory + BLOCK + RESULT_OFF))->status) !=
	    job.verdict.status)
		abort();
}

/* What is saved of any program loads again, and is then saved as the same bytes. */
static void save_and_load(const struct program *p)
{
	struct nnpu_mem mem = {
		.addr = htole64((uintptr_t)large_memory), .size = htole64(SAVE_ROOM),
	};
	struct save_request save = { .ctx = ctx, .progress = &engine.progress, .program = p };
	struct load_request load = {
		.ctx = ctx, .progress = &engine.progress, .slots = &engine.slots,
	};
	struct verdict v = VERDICT_SUCCESS;
	uint64_t size = 0, again = 0;
	struct program *q;
	unsigned int status;

	mem_map_init(&save.map, &mem);
	if (program_save(&save, &size) || size > SAVE_ROOM)
		return;
	load.image = memcpy(malloc(size), large_memory, size);
	load.size = size;
	q = program_load(&load, &v);
	slots_release(&engine.slots);
	if (!q && !load_cut_short(&v))
		abort();
	if (q) {
		save.program = q;
		status = program_save(&save, &again);
		if (!status && (again != size || memcmp(load.image, large_memory, size)))
			abort();
		pthread_mutex_lock(&dev->lock);
		program_put(q);
		pthread_mutex_unlock(&dev->lock);
	}
	free((void *)load.image);
	memset(large_memory, 0, size);
}

static void load_and_run(const uint8_t *image, size_t size, struct recipe *r, uint8_t options,
			 const struct scale *s)
{
	struct load_request request = {
		.ctx = ctx, .progress = &engine.progress, .slots = &engine.slots,
		.image = image, .size = size,
	};
	struct verdict v = VERDICT_SUCCESS;
	struct program *p;

	if (options & OPT_CHECK && size >= sizeof(struct nnpu_program_header)) {
		request.check = true;
		request.reports_size = le32toh(((const struct nnpu_program_header *)image)->num_commands) *
				       (uint64_t)sizeof(*request.reports);
		program_load(&request, &v);
		slots_release(&engine.slots);
		op_give(&engine.progress, request.reports, request.reports_size);
		request.check = false;
		v = VERDICT_SUCCESS;
	}
	p = program_load(&request, &v);
	slots_release(&engine.slots);
	if (!p == !v.status)
		abort();
	if (!p)
		return;
	run(p, r, options, s);
	/* Again: now the engine has buffers, or knows the program. */
	if (!s->factor) {
		run(p, r, options, s);
		save_and_load(p);
	}
	/* The cleaner works beside this thread. */
	pthread_mutex_lock(&dev->lock);
	program_put(p);
	pthread_mutex_unlock(&dev->lock);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct recipe r = { data + 2, 0 };
	struct scale scale = { .factor = 0 };
	struct nnpu_program_header *h;
	uint64_t begin = 0;
	uint8_t *image;
	size_t length;

	if (!ip)
		setup();
	if (size < 2)
		return 0;
	atomic_fetch_add(&inputs, 1);
	atomic_store(&aborted, false);
	r.left = data[1] * 4u;
	if (r.left > size - 2)
		r.left = size - 2;
	length = size - 2 - r.left;
	image = malloc(length ? length : 1);
	memcpy(image, r.p + r.left, length);
	if (!(data[0] & OPT_RAW_HEADER) && length >= sizeof(*h)) {
		h = (struct nnpu_program_header *)image;
		length &= ~(size_t)7;
		h->magic = htole32(NNPU_PROGRAM_MAGIC);
		h->version = htole16(NNPU_PROGRAM_VERSION);
		h->header_size = htole16(sizeof(*h));
		/* Larger records stay, what no device takes does not. */
		if (le16toh(h->tensor_stride) & 7 ||
		    le16toh(h->tensor_stride) < sizeof(struct nnpu_tensor_desc))
			h->tensor_stride = htole16(sizeof(struct nnpu_tensor_desc));
		if (le16toh(h->command_stride) & 7 ||
		    le16toh(h->command_stride) < sizeof(struct nnpu_command))
			h->command_stride = htole16(sizeof(struct nnpu_command));
		h->size = htole32(length);
		if (data[0] & OPT_LARGE && large_may_run()) {
			scale.axis = OPT_AXIS(data[0]);
			make_large(&scale, image, length);
		}
	}
	dev->props.max_operand_size = scale.factor ? LARGE_OPERAND : SMALL_OPERAND;
	dev->props.memory_size = scale.factor ? LARGE_DEVICE : SMALL_DEVICE;
	if (scale.factor)
		begin = now_ns();
	load_and_run(image, length, &r, data[0], &scale);
	free(image);
	if (scale.factor) {
		madvise(large_memory, LARGE_MEMORY, MADV_DONTNEED);
		large_ns += now_ns() - begin;
	}
	pthread_mutex_lock(&dev->lock);
	exec_trim(&engine);
	if (dev->mem_used || ctx->mem_used)
		abort();
	pthread_mutex_unlock(&dev->lock);
	return 0;
}
