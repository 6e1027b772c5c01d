// SPDX-License-Identifier: MIT
/*
 * Fuzzer of program images and argument blocks: load, then execute what loads.
 *
 * Runs loader and executor in the fuzzer's own thread on an engine made here, so that
 * no time goes into handing over between threads. Input: one byte of options, one byte
 * with the length of the argument recipe in units of 4, the recipe, the image.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/device_state.h"
#include "core/engine.h"
#include "core/executor.h"
#include "core/job.h"
#include "inproc/inproc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY		(1u << 20)
#define OPT_RAW_HEADER	1u	/* do not mend magic and size */
#define OPT_CHECK	2u	/* LOAD_CHECK first */
#define OPT_PROFILE	4u

/* Layout of the memory: slot table, then slot 0 (arguments, results), slot 1 (operands). */
#define BLOCK		8192u
#define BLOCK_SIZE	65536u
#define OPERANDS	131072u
/* Many loops do not end by themselves. */
#define LOOP_TIMEOUT_NS	200000
#define RESULT_OFF	32768u

static struct nnpu_inproc *ip;
static struct nnpu_device *dev;
static struct nnpu_engine engine;
static struct nnpu_ctx *ctx;
static uint8_t *memory;
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
	config.props.memory_size = 16u << 20;
	config.props.max_operand_size = 1u << 20;
	config.props.examples = true;
	ip = nnpu_inproc_create(&config, error, sizeof(error));
	memory = aligned_alloc(4096, MEMORY);
	if (!ip || !memory || nnpu_inproc_register(ip, memory, MEMORY, NNPU_INPROC_READ |
						   NNPU_INPROC_WRITE))
		abort();
	memset(memory, 0, MEMORY);
	dev = nnpu_inproc_device(ip);
	slots = (struct nnpu_slot_entry *)memory;
	slots[0].mem.addr = htole64((uintptr_t)memory + BLOCK);
	slots[0].mem.size = htole64(BLOCK_SIZE);
	slots[1].mem.addr = htole64((uintptr_t)memory + OPERANDS);
	slots[1].mem.size = htole64(MEMORY - OPERANDS);
	slots[0].flags = htole32(NNPU_SLOT_VALID | NNPU_SLOT_READ | NNPU_SLOT_WRITE);
	slots[1].flags = slots[0].flags;
	ctx = ctx_create(dev, 1, (uintptr_t)memory, 4, 0);
	if (!ctx)
		abort();
	ctx->serial = 1;
	engine.dev = dev;
	engine.busy = true;
	engine.progress = (struct job_progress) {
		.counter = &progress, .contended = &dev->contended,
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

/* An argument: natural for the tensor, bent here and there as the recipe says. */
static void make_arg(struct recipe *r, struct nnpu_arg *a, const struct tensor *t,
		     uint64_t *offset)
{
	uint8_t how = next(r);
	uint64_t bytes = type_size(t->type);
	unsigned int i;

	*a = (struct nnpu_arg) { .slot = htole32(1), .offset = htole64(*offset) };
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

			a->dims[i] = htole32(dim);
		}
	}
	for (i = 0; i < NNPU_MAX_RANK; i++) {
		uint32_t dim = i < a->rank ? le32toh(a->dims[i]) : i < t->rank ? t->dims[i] : 1;

		bytes = dim && bytes < MEMORY ? bytes * dim : bytes;
	}
	a->length = htole64(bytes);
	*offset = (*offset + bytes) & 0x3ffff;
	if (how & 4)
		((uint8_t *)a)[next(r) & 63] ^= next(r);
}

static void run(struct program *p, struct recipe *r, uint8_t options)
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
						  p->outputs[n - p->num_inputs]], &offset);
	if (options & OPT_PROFILE) {
		sqe.flags = NNPU_EXEC_PROFILE;
		sqe.profile_slot = htole32(1);
		sqe.profile_off = htole64(MEMORY / 2);
		sqe.profile_len = htole32(1024);
	}
	job_run(&job);
	if (le16toh(((struct nnpu_args_header *)(memory + BLOCK + RESULT_OFF))->status) !=
	    job.verdict.status)
		abort();
}

static void load_and_run(const uint8_t *image, size_t size, struct recipe *r, uint8_t options)
{
	struct load_request request = { .ctx = ctx, .image = image, .size = size };
	struct verdict v = VERDICT_SUCCESS;
	struct program *p;

	if (options & OPT_CHECK && size >= sizeof(struct nnpu_program_header)) {
		request.check = true;
		request.num_reports = le32toh(((const struct nnpu_program_header *)image)->num_commands);
		program_load(&request, &v);
		free(request.reports);
		request.check = false;
		v = VERDICT_SUCCESS;
	}
	p = program_load(&request, &v);
	if (!p == !v.status)
		abort();
	if (!p)
		return;
	run(p, r, options);
	/* Again: now the engine has buffers, or knows the program. */
	run(p, r, options);
	program_put(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct recipe r = { data + 2, 0 };
	struct nnpu_program_header *h;
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
	}
	load_and_run(image, length, &r, data[0]);
	free(image);
	pthread_mutex_lock(&dev->lock);
	exec_trim(&engine);
	if (dev->mem_used || ctx->mem_used)
		abort();
	pthread_mutex_unlock(&dev->lock);
	return 0;
}
