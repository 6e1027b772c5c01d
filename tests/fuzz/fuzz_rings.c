// SPDX-License-Identifier: MIT
/*
 * Fuzzer of registers, doorbells and ring entries of a whole device with its threads.
 * The input is a list of steps; whatever they did, the device must stop at a reset and
 * let go of memory. A line at the end says how many executions had operands of 64 MiB: these
 * take a part of the time only.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "../emulator/rig.h"
#include "core/device_state.h"
#include "large_share.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ENTRIES		8u
#define QUEUES		3u
#define MEMORY		(1u << 20)

/* Places in memory. */
#define RINGS		0u	/* a page for each ring */
#define SLOT_TABLES	65536u
#define IMAGE		131072u
#define BLOCK		196608u
#define OPERANDS	262144u
#define TABLES		524288u
#define STATES		786432u	/* of suspended queues */

/* An operand of LARGE_EXECUTE, the memory of three, their slot. */
#define LARGE		(64u << 20)
#define LARGE_MEMORY	(3ull * LARGE)
#define LARGE_SLOT	5u
#define LARGE_WAIT_NS	2000000000u

enum step {
	RAW_ADMIN, RAW_IO, CREATE_CTX, CREATE_QUEUE, LOAD, EXECUTE, QUEUE_COMMAND, CTX_COMMAND,
	DOORBELL, REGISTER, POKE, SLOT, SETTLE, SUSPEND, RESUME, SET_PERF, RING, LARGE_EXECUTE,
	NUM_STEPS
};

struct input {
	const uint8_t *p;
	size_t left;
};

static struct nnpu_inproc *ip;
static uint8_t *memory;
static uint8_t *large_memory;		/* pages that nobody touches are none */
static struct image image;
static uint32_t tails[QUEUES + 1];

static uint8_t next(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->p++;
}

static uint32_t next32(struct input *in)
{
	uint32_t v = next(in);

	v |= (uint32_t)next(in) << 8;
	v |= (uint32_t)next(in) << 16;
	return v | (uint32_t)next(in) << 24;
}

static uint64_t at(uint32_t offset)
{
	return htole64((uintptr_t)memory + offset);
}

static void setup(void)
{
	struct nnpu_inproc_config config;
	char error[128];

	nnpu_inproc_default_config(&config);
	config.props.num_queues = QUEUES;
	config.props.num_engines = 2;
	config.props.num_vectors = 2;
	config.props.max_contexts = 3;
	config.props.max_programs = 4;
	config.props.memory_size = 1u << 30;
	config.props.max_operand_size = LARGE;
	config.props.poll_ns = 50000;
	config.props.inject = true;
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
	image_add(&image, 0);
}

static void wait_status(uint32_t mask, uint32_t value)
{
	unsigned int i;

	for (i = 0; (nnpu_inproc_read32(ip, NNPU_REG_STATUS) & mask) != value; i++) {
		/* A minute: the device hangs. */
		if (i > 600000)
			abort();
		nanosleep(&(struct timespec) { .tv_nsec = 100000 }, NULL);
	}
}

static void reset(void)
{
	nnpu_inproc_write32(ip, NNPU_REG_CTRL, NNPU_CTRL_RESET);
	wait_status(NNPU_STATUS_REG_RESETTING, 0);
	if (nnpu_inproc_read32(ip, NNPU_REG_CONTEXTS) ||
	    nnpu_inproc_read32(ip, NNPU_REG_PROGRAMS) ||
	    nnpu_inproc_read32(ip, NNPU_REG_MEM_USED_LO))
		abort();
}

/*
 * Contexts are in pages of the device, where LeakSanitizer does not look for pointers: it would
 * call a load lost that leaves behind a context.
 */
static void wait_all_left(void)
{
	struct nnpu_device *dev = nnpu_inproc_device(ip);

	pthread_mutex_lock(&dev->lock);
	while (dev->objects_leaving.first || dev->object_bytes_leaving || dev->mem_leaving)
		pthread_cond_wait(&dev->left, &dev->lock);
	pthread_mutex_unlock(&dev->lock);
}

static void enable(void)
{
	uint64_t sq = (uintptr_t)memory, cq = sq + 4096;

	memset(tails, 0, sizeof(tails));
	nnpu_inproc_write32(ip, NNPU_REG_ADMIN_SIZE, (ENTRIES - 1) * 0x10001);
	nnpu_inproc_write32(ip, NNPU_REG_ADMIN_SQ_LO, (uint32_t)sq);
	nnpu_inproc_write32(ip, NNPU_REG_ADMIN_SQ_HI, (uint32_t)(sq >> 32));
	nnpu_inproc_write32(ip, NNPU_REG_ADMIN_CQ_LO, (uint32_t)cq);
	nnpu_inproc_write32(ip, NNPU_REG_ADMIN_CQ_HI, (uint32_t)(cq >> 32));
	nnpu_inproc_write32(ip, NNPU_REG_CTRL, NNPU_CTRL_ENABLE);
}

/* Wait, but not for ever: until the queue is idle for a moment. */
static void settle(unsigned int qid)
{
	unsigned int i, idle = 0;

	for (i = 0; i < 2000 && idle < 3; i++) {
		uint32_t state = nnpu_inproc_read32(ip, NNPU_QREG_BASE + qid * NNPU_QREG_STRIDE);

		idle = state == NNPU_QSTATE_RUNNING ? 0 : idle + 1;
		nanosleep(&(struct timespec) { .tv_nsec = 1000 }, NULL);
	}
}

static void put(struct input *in, unsigned int qid, void *entry)
{
	uint8_t *ring = memory + RINGS + qid * 8192;
	uint8_t bend = next(in);

	if (bend & 0x80)
		((uint8_t *)entry)[bend & 63] ^= next(in);
	memcpy(ring + tails[qid] * NNPU_SQE_SIZE, entry, NNPU_SQE_SIZE);
	tails[qid] = (tails[qid] + 1) % ENTRIES;
	nnpu_inproc_doorbell(ip, qid, NNPU_DB_SQ_TAIL, tails[qid]);
}

static void push(struct input *in, unsigned int qid, void *entry)
{
	put(in, qid, entry);
	/* Completions are taken at once. */
	settle(qid);
	nnpu_inproc_doorbell(ip, qid, NNPU_DB_CQ_HEAD, tails[qid]);
}

static void raw(struct input *in, unsigned int qid)
{
	struct nnpu_sqe e;
	unsigned int i;

	for (i = 0; i < sizeof(e); i++)
		((uint8_t *)&e)[i] = next(in);
	push(in, qid, &e);
}

static void create_ctx(struct input *in)
{
	uint8_t how = next(in);
	uint32_t id = how & 3;
	struct nnpu_sqe_create_ctx c = {
		.opcode = NNPU_ADMIN_CREATE_CTX,
		.ctx = htole32(id),
		.slot_table = at(SLOT_TABLES + id * 4096),
		.num_slots = htole32(8),
		.weight = htole16(how & 4 ? NNPU_CTX_WEIGHT_MAX : 0),
		.sched_class = htole16(how >> 3 & 1),
		.mem_limit = htole64(how & 16 ? 65536 : 0),
		.group = htole32(how >> 6),
		.time_limit_ns = htole64(how & 32 ? 1 + (how >> 6) * 100000u : 0),
	};

	push(in, 0, &c);
}

static void create_queue(struct input *in)
{
	uint8_t how = next(in);
	uint32_t qid = how & 3;
	struct nnpu_sqe_create_queue c = {
		.opcode = NNPU_ADMIN_CREATE_QUEUE,
		.flags = how >> 2 & 3,
		.priority = htole32(how >> 6),
		.ctx = htole32(how >> 4 & 3),
		.qid = htole16(qid),
		.vector = htole16(1),
		.sq_entries = htole32(ENTRIES),
		.cq_entries = htole32(ENTRIES),
		.sq_addr = at(RINGS + qid * 8192),
		.cq_addr = at(RINGS + qid * 8192 + 4096),
	};

	tails[qid] = qid ? 0 : tails[qid];
	push(in, 0, &c);
}

static struct nnpu_queue_state *state_of(uint32_t qid)
{
	return (struct nnpu_queue_state *)(memory + STATES) + qid;
}

static void suspend(struct input *in)
{
	uint8_t how = next(in);
	uint32_t qid = how & 3;
	struct nnpu_sqe_suspend_queue c = {
		.opcode = NNPU_ADMIN_SUSPEND_QUEUE,
		.flags = how >> 2 & 1,
		.qid = htole16(qid),
		.state_addr = at(STATES + qid * sizeof(struct nnpu_queue_state)),
	};

	push(in, 0, &c);
}

/* From the state the device gave, from one that was bent, or from nothing. */
static void resume(struct input *in)
{
	uint8_t how = next(in);
	uint32_t qid = how & 3, from = how >> 2 & 3;
	struct nnpu_sqe_create_queue c = {
		.opcode = NNPU_ADMIN_CREATE_QUEUE,
		.flags = NNPU_QUEUE_RESUME | NNPU_QUEUE_ARMED_IRQ,
		.ctx = htole32(how >> 4 & 3),
		.qid = htole16(qid),
		.vector = htole16(1),
		.sq_entries = htole32(ENTRIES),
		.cq_entries = htole32(ENTRIES),
		.sq_addr = at(RINGS + from * 8192),
		.cq_addr = at(RINGS + from * 8192 + 4096),
		.state = *state_of(from),
	};

	if (how & 0x80)
		((uint8_t *)&c.state)[next(in) % sizeof(c.state)] ^= next(in);
	push(in, 0, &c);
}

static void set_perf(struct input *in)
{
	struct nnpu_sqe_set_perf c = {
		.opcode = NNPU_ADMIN_SET_PERF,
		.level = htole32(next(in) & 3),
	};

	push(in, 0, &c);
}

/* A process and its own queue: anything into the rings and the doorbells, at any time. */
static void ring(struct input *in)
{
	uint8_t how = next(in);
	uint32_t qid = 1 + (how & 3) % QUEUES;
	uint8_t *rings = memory + RINGS + qid * 8192;
	uint32_t pos = how & 4 ? 4096 + next(in) % (ENTRIES * NNPU_CQE_SIZE) :
				 next(in) * 2u % (ENTRIES * NNPU_SQE_SIZE);
	unsigned int i;

	for (i = 0; i < (how >> 5); i++)
		rings[pos + i] = next(in);
	nnpu_inproc_doorbell(ip, qid, (how >> 3 & 3) * 4, next(in) & 15);
}

static void load(struct input *in)
{
	uint8_t how = next(in);
	struct nnpu_sqe_load_program c = {
		.opcode = NNPU_ADMIN_LOAD_PROGRAM,
		.ctx = htole32(how & 3),
		.program = htole32(how >> 2 & 3),
		.image = { .addr = at(IMAGE), .size = htole64(image.size) },
	};

	memcpy(memory + IMAGE, image.bytes, image.size);
	if (how & 0x80)
		memory[IMAGE + next32(in) % image.size] ^= next(in);
	if (how & 0x40) {
		c.flags = NNPU_LOAD_CHECK;
		c.program = 0;
		c.reports.addr = at(IMAGE + 8192);
		c.reports.size = htole64(sizeof(struct nnpu_command_report));
	}
	push(in, 0, &c);
}

static void job_range(struct nnpu_arg *a, uint64_t offset, uint64_t length)
{
	*a = (struct nnpu_arg) {
		.slot = htole32(1), .offset = htole64(offset), .length = htole64(length),
	};
}

static void execute(struct input *in)
{
	uint8_t how = next(in), what = next(in), n = what & 63;
	struct nnpu_args_header *h = (struct nnpu_args_header *)(memory + BLOCK);
	struct nnpu_arg *a = (struct nnpu_arg *)(h + 1);
	struct nnpu_sqe_execute c = {
		.opcode = NNPU_IO_EXECUTE,
		.flags = how & 1 ? NNPU_EXEC_ARGS_DMA : 0,
		.ctx = htole32(how >> 1 & 3),
		.program = htole32(how >> 3 & 3),
		.args = how & 1 ? at(BLOCK) : 0,
		.args_len = htole32(256),
		.result_slot = how & 0x80 ? htole32(NNPU_SLOT_NONE) : 0,
		.result_off = how & 0x80 ? 0 : htole64(4096),
	};
	unsigned int i;

	*h = (struct nnpu_args_header) { .num_inputs = htole16(2), .num_outputs = htole16(1) };
	for (i = 0; i < 3; i++)
		a[i] = (struct nnpu_arg) {
			.slot = htole32(1),
			.flags = htole16(NNPU_ARG_SHAPE),
			.rank = 1,
			.offset = htole64(i * 256),
			.length = htole64(n * 4u),
			.dims = { htole32(n) },
		};
	if (what & 0x80) {
		/* A copy, good or not. */
		c.opcode = NNPU_IO_COPY;
		c.args_len = htole32(192);
		h->num_inputs = htole16(1);
		if (!(what & 0x40)) {
			c.program = 0;
			job_range(&a[0], 0, n * 64u);
			job_range(&a[1], n * 128u, n * 64u);
		}
	}
	push(in, 1 + (how >> 5 & 3) % QUEUES, &c);
}

/* An execution whose operands are as large as the device takes. What comes next meets it. */
static void execute_large(struct input *in)
{
	uint8_t how = next(in);
	unsigned int i, qid = 1 + (how >> 4 & 3) % QUEUES;
	struct nnpu_args_header *h = (struct nnpu_args_header *)(memory + BLOCK);
	struct nnpu_args_header *result = (struct nnpu_args_header *)(memory + BLOCK + 4096);
	struct nnpu_arg *a = (struct nnpu_arg *)(h + 1);
	struct nnpu_slot_entry *s = (struct nnpu_slot_entry *)
		(memory + SLOT_TABLES + (how & 3) * 4096) + LARGE_SLOT;
	struct nnpu_sqe_execute c = {
		.opcode = NNPU_IO_EXECUTE,
		.ctx = htole32(how & 3),
		.program = htole32(how >> 2 & 3),
		.args_len = htole32(256),
		.result_off = htole64(4096),
	};
	uint64_t begin = now_ns();

	if (!large_may_run())
		return;
	*s = (struct nnpu_slot_entry) {
		.mem = { .addr = htole64((uintptr_t)large_memory),
			 .size = htole64(LARGE_MEMORY) },
		.flags = htole32(NNPU_SLOT_VALID | NNPU_SLOT_READ | NNPU_SLOT_WRITE),
	};
	*h = (struct nnpu_args_header) { .num_inputs = htole16(2), .num_outputs = htole16(1) };
	for (i = 0; i < 3; i++)
		a[i] = (struct nnpu_arg) {
			.slot = htole32(LARGE_SLOT),
			.flags = htole16(NNPU_ARG_SHAPE),
			.rank = 1,
			.offset = htole64((uint64_t)i * LARGE),
			.length = htole64(LARGE),
			.dims = { htole32(LARGE / 4) },
		};
	result->status = htole16(UINT16_MAX);
	large_tried++;
	put(in, qid, &c);
	/* Half of them are left to what comes next. The device may write no result at all. */
	while (!(how & 0x80) && __atomic_load_n(&result->status, __ATOMIC_ACQUIRE) == UINT16_MAX &&
	       now_ns() - begin < LARGE_WAIT_NS)
		nanosleep(&(struct timespec) { .tv_nsec = 100000 }, NULL);
	if (!(how & 0x80) && !__atomic_load_n(&result->status, __ATOMIC_ACQUIRE)) {
		large_done++;
		nnpu_inproc_doorbell(ip, qid, NNPU_DB_CQ_HEAD, tails[qid]);
		madvise(large_memory, LARGE_MEMORY, MADV_DONTNEED);
	}
	large_ns += now_ns() - begin;
}

static void queue_command(struct input *in)
{
	static const uint8_t opcodes[] = {
		NNPU_ADMIN_DESTROY_QUEUE, NNPU_ADMIN_RESET_QUEUE, NNPU_ADMIN_ABORT,
	};
	uint8_t how = next(in);
	struct nnpu_sqe_queue c = { .opcode = opcodes[(how >> 2) % 3], .qid = htole16(how & 3) };

	if (c.opcode == NNPU_ADMIN_RESET_QUEUE && how & 3)
		tails[how & 3] = 0;
	push(in, 0, &c);
}

static void ctx_command(struct input *in)
{
	uint8_t how = next(in);
	struct nnpu_sqe e = { .ctx = htole32(how & 3) };

	e.opcode = how & 4 ? NNPU_ADMIN_DESTROY_CTX : how & 8 ? NNPU_ADMIN_UNLOAD_PROGRAM :
		   NNPU_ADMIN_INVALIDATE_SLOTS;
	if (e.opcode == NNPU_ADMIN_UNLOAD_PROGRAM)
		e.body[0] = how >> 4 & 3;
	if (e.opcode == NNPU_ADMIN_INVALIDATE_SLOTS)
		e.body[4] = 8;
	push(in, 0, &e);
}

static void slot(struct input *in)
{
	uint8_t how = next(in);
	struct nnpu_slot_entry *s = (struct nnpu_slot_entry *)
		(memory + SLOT_TABLES + (how & 3) * 4096) + (how >> 2 & 1);
	uint64_t *table = (uint64_t *)(memory + TABLES);
	unsigned int i;

	*s = (struct nnpu_slot_entry) {
		.mem = { .addr = at(how & 4 ? OPERANDS : BLOCK), .size = htole64(16384) },
		.flags = htole32(how >> 3 & 7),
	};
	if (how & 0x40) {
		for (i = 0; i < 512; i++)
			table[i] = at(TABLES + 4096);
		for (i = 0; i < 512; i++)
			table[512 + i] = at(OPERANDS + (i & 15) * 4096);
		s->mem.addr = at(TABLES);
		s->mem.levels = htole32(2);
	}
	if (how & 0x80)
		((uint8_t *)s)[next(in) % sizeof(*s)] ^= next(in);
}

static void write_register(struct input *in)
{
	uint32_t offset = next(in) * 4u, value = next32(in);

	/* A second per job leads nowhere. */
	if (offset == NNPU_REG_INJECT && value >> NNPU_INJECT_KIND_SHIFT == NNPU_INJECT_JOB_SLOW)
		return;
	nnpu_inproc_write32(ip, offset, value);
}

static void step(struct input *in)
{
	switch (next(in) % NUM_STEPS) {
	case RAW_ADMIN:
		raw(in, 0);
		break;
	case RAW_IO:
		raw(in, 1 + next(in) % QUEUES);
		break;
	case CREATE_CTX:
		create_ctx(in);
		break;
	case CREATE_QUEUE:
		create_queue(in);
		break;
	case LOAD:
		load(in);
		break;
	case EXECUTE:
		execute(in);
		break;
	case QUEUE_COMMAND:
		queue_command(in);
		break;
	case CTX_COMMAND:
		ctx_command(in);
		break;
	case DOORBELL:
		nnpu_inproc_doorbell(ip, next(in) & 7, next(in) & 15, next32(in));
		break;
	case REGISTER:
		write_register(in);
		break;
	case POKE:
		memory[next32(in) % MEMORY] = next(in);
		break;
	case SLOT:
		slot(in);
		break;
	case SUSPEND:
		suspend(in);
		break;
	case RESUME:
		resume(in);
		break;
	case SET_PERF:
		set_perf(in);
		break;
	case RING:
		ring(in);
		break;
	case LARGE_EXECUTE:
		execute_large(in);
		break;
	default:
		settle(1);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	if (!ip)
		setup();
	memset(memory, 0, MEMORY);
	enable();
	while (in.left)
		step(&in);
	reset();
	wait_all_left();
	return 0;
}
