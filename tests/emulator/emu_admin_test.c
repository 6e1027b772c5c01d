// SPDX-License-Identifier: MIT
/* Admin commands: what they refuse, and with which status. */
#include <endian.h>
#include <stddef.h>
#include <string.h>

#include "rig.h"
#include "tap.h"

/* Every byte from @from on that is not zero must be refused. */
static void refuses_bytes(struct rig *r, const void *entry, unsigned int from, unsigned int to,
			  int status, const char *what)
{
	unsigned int i, refused = 0;

	for (i = from; i < to; i++) {
		uint8_t bytes[NNPU_SQE_SIZE] __attribute__((aligned(8)));

		memcpy(bytes, entry, sizeof(bytes));
		bytes[i] = 0x40;
		refused += rig_admin(r, bytes, NULL) == status;
	}
	ok(refused == to - from, "%s: %u of %u reserved bytes checked", what, refused, to - from);
}

static void test_common(struct rig *r)
{
	struct nnpu_sqe c = { .opcode = NNPU_ADMIN_NOP };
	struct nnpu_cqe cqe;
	unsigned int op, refused = 0;

	ok(rig_admin(r, &c, &cqe) == 0, "NOP");
	ok(le16toh(cqe.operand) == NNPU_OPERAND_NONE && !cqe.error && !cqe.reason && !cqe.reserved,
	   "completion of NOP says nothing more");
	ok(le16toh(cqe.sq_head) == r->admin.sq_tail, "sq_head follows");
	refuses_bytes(r, &c, 1, 2, NNPU_STATUS_INVALID_FIELD, "NOP flags");
	refuses_bytes(r, &c, 4, 64, NNPU_STATUS_INVALID_FIELD, "NOP body");
	for (op = NNPU_ADMIN_NUM; op < 256; op++) {
		c.opcode = (uint8_t)op;
		refused += rig_admin(r, &c, NULL) == NNPU_STATUS_INVALID_OPCODE;
	}
	ok(refused == 256 - NNPU_ADMIN_NUM, "unknown opcodes: INVALID_OPCODE");
}

static void test_identify(struct rig *r)
{
	struct nnpu_identify *id = rig_alloc(r, sizeof(*id));
	struct nnpu_sqe_identify c = { .opcode = NNPU_ADMIN_IDENTIFY, .addr = rig_addr(id) };
	unsigned int i, sorted = 0;

	ok(rig_admin(r, &c, NULL) == 0, "IDENTIFY");
	ok(le32toh(id->magic) == NNPU_IDENTIFY_MAGIC && le32toh(id->version) == NNPU_HW_VERSION,
	   "magic and version");
	ok(!strcmp(id->name, NNPU_DEVICE_NAME) && !strcmp(id->firmware, NNPU_DEVICE_FIRMWARE),
	   "name %s, firmware %s", id->name, id->firmware);
	ok(le32toh(id->device_type) == 4 && le32toh(id->max_rank) == NNPU_MAX_RANK, "type, rank");
	ok(le64toh(id->features) == rig_read64(r, NNPU_REG_FEATURES_LO), "features as register");
	ok(le32toh(id->num_performance) == NNPU_NUM_TYPES - 1, "figures for all but SUBGRAPH");
	for (i = 0; i < le32toh(id->num_performance); i++) {
		float time, power;

		memcpy(&time, &id->performance[i].exec_time, 4);
		memcpy(&power, &id->performance[i].power, 4);
		sorted += time > 0 && power > 0 && !id->performance[i].flags &&
			  (!i || le32toh(id->performance[i].type) >
				 le32toh(id->performance[i - 1].type));
	}
	ok(sorted == i, "figures above 0, types ascending");
	ok(le32toh(id->operations[0]) & 1u << NNPU_OP_ADD, "ADD is there");
	ok(le32toh(id->operations[NNPU_OP_WHILE / 32]) & 1u << NNPU_OP_WHILE % 32,
	   "WHILE is, as LOOP");
	ok(!(le32toh(id->operations[NNPU_NUM_OPERATIONS / 32]) >> NNPU_NUM_OPERATIONS % 32),
	   "nothing is beyond the last");

	refuses_bytes(r, &c, 1, 2, NNPU_STATUS_INVALID_FIELD, "IDENTIFY flags");
	refuses_bytes(r, &c, 4, 8, NNPU_STATUS_INVALID_FIELD, "IDENTIFY ctx");
	refuses_bytes(r, &c, 16, 20, NNPU_STATUS_INVALID_FIELD, "IDENTIFY page");
	refuses_bytes(r, &c, 20, 64, NNPU_STATUS_INVALID_FIELD, "IDENTIFY reserved");
	c.addr = rig_addr((uint8_t *)id + 64);
	ok(rig_admin(r, &c, NULL) == NNPU_STATUS_INVALID_FIELD, "unaligned address");
	c.addr = htole64(4096);
	ok(rig_admin(r, &c, NULL) == NNPU_STATUS_DMA_ERROR, "address out of reach");
}

static void test_contexts(struct rig *r)
{
	struct nnpu_slot_entry *table = rig_alloc(r, 4096);
	struct nnpu_sqe_create_ctx c = {
		.opcode = NNPU_ADMIN_CREATE_CTX,
		.ctx = htole32(5),
		.slot_table = rig_addr(table),
		.num_slots = htole32(16),
	}, bad;
	struct nnpu_sqe d = { .opcode = NNPU_ADMIN_DESTROY_CTX, .ctx = htole32(5) };

	refuses_bytes(r, &c, 1, 2, NNPU_STATUS_INVALID_FIELD, "CREATE_CTX flags");
	refuses_bytes(r, &c, 44, 64, NNPU_STATUS_INVALID_FIELD, "CREATE_CTX reserved");
	bad = c;
	bad.weight = htole16(NNPU_CTX_WEIGHT_MAX + 1);
	ok(rig_admin(r, &bad, NULL) == NNPU_STATUS_INVALID_FIELD, "weight out of range");
	bad = c;
	bad.sched_class = htole16(NNPU_CTX_CLASS_NUM);
	ok(rig_admin(r, &bad, NULL) == NNPU_STATUS_INVALID_FIELD, "unknown class");
	bad = c;
	bad.ctx = 0;
	ok(rig_admin(r, &bad, NULL) == NNPU_STATUS_INVALID_CTX, "context 0");
	bad.ctx = htole32(65);
	ok(rig_admin(r, &bad, NULL) == NNPU_STATUS_INVALID_CTX, "context above MAX_CONTEXTS");
	bad = c;
	bad.num_slots = 0;
	ok(rig_admin(r, &bad, NULL) == NNPU_STATUS_INVALID_FIELD, "no slots");
	bad.num_slots = htole32(1025);
	ok(rig_admin(r, &bad, NULL) == NNPU_STATUS_INVALID_FIELD, "too many slots");
	bad = c;
	bad.slot_table = rig_addr((uint8_t *)table + 32);
	ok(rig_admin(r, &bad, NULL) == NNPU_STATUS_INVALID_FIELD, "unaligned slot table");
	ok(rig_read(r, NNPU_REG_CONTEXTS) == 0, "no context so far");
	ok(rig_admin(r, &c, NULL) == 0, "CREATE_CTX");
	ok(rig_read(r, NNPU_REG_CONTEXTS) == 1, "one context");
	ok(rig_admin(r, &c, NULL) == NNPU_STATUS_BUSY, "same id again: BUSY");
	refuses_bytes(r, &d, 8, 64, NNPU_STATUS_INVALID_FIELD, "DESTROY_CTX body");
	ok(rig_invalidate(r, 5, 0, 16) == 0, "INVALIDATE_SLOTS of all");
	ok(rig_invalidate(r, 5, 0, 17) == NNPU_STATUS_INVALID_FIELD, "one too many");
	ok(rig_invalidate(r, 5, 0, 0) == NNPU_STATUS_INVALID_FIELD, "none");
	ok(rig_invalidate(r, 5, 0xffffffff, 2) == NNPU_STATUS_INVALID_FIELD, "wraps");
	ok(rig_invalidate(r, 6, 0, 1) == NNPU_STATUS_INVALID_CTX, "of an absent context");
	ok(rig_admin(r, &d, NULL) == 0, "DESTROY_CTX");
	ok(rig_admin(r, &d, NULL) == NNPU_STATUS_INVALID_CTX, "twice: INVALID_CTX");
	ok(rig_read(r, NNPU_REG_CONTEXTS) == 0, "none left");
}

static void test_queues(struct rig *r)
{
	void *ring = rig_alloc(r, 65536);
	struct nnpu_sqe_create_queue c = {
		.opcode = NNPU_ADMIN_CREATE_QUEUE,
		.flags = NNPU_QUEUE_KERNEL,
		.qid = htole16(3),
		.vector = htole16(3),
		.sq_entries = htole32(16),
		.cq_entries = htole32(32),
		.sq_addr = rig_addr(ring),
		.cq_addr = rig_addr((uint8_t *)ring + 4096),
	}, bad;
	struct nnpu_sqe_queue d = { .opcode = NNPU_ADMIN_DESTROY_QUEUE, .qid = htole16(3) };
	static const uint32_t sizes[] = { 0, 1, 3, 24, 8192, 0x80000000 };
	unsigned int i, refused = 0;

	refuses_bytes(r, &c, 20, 24, NNPU_STATUS_INVALID_FIELD, "CREATE_QUEUE priority");
	refuses_bytes(r, &c, 40, 64, NNPU_STATUS_INVALID_FIELD, "CREATE_QUEUE state, reserved");
	bad = c;
	bad.flags |= 8;
	ok(rig_admin(r, &bad, NULL) == NNPU_STATUS_INVALID_FIELD, "unknown flag");
	bad = c;
	bad.flags |= NNPU_QUEUE_RESUME;
	ok(rig_admin(r, &bad, NULL) == NNPU_STATUS_INVALID_FIELD, "a kernel queue cannot resume");
	bad = c;
	bad.priority = htole32(NNPU_QUEUE_PRIORITY_NUM);
	ok(rig_admin(r, &bad, NULL) == NNPU_STATUS_INVALID_FIELD, "priority above HIGH");
	bad = c;
	bad.ctx = htole32(1);
	ok(rig_admin(r, &bad, NULL) == NNPU_STATUS_INVALID_FIELD, "kernel queue with context");
	bad.flags = 0;
	ok(rig_admin(r, &bad, NULL) == NNPU_STATUS_INVALID_CTX, "queue of an absent context");
	bad = c;
	bad.qid = 0;
	ok(rig_admin(r, &bad, NULL) == NNPU_STATUS_INVALID_QUEUE, "queue 0");
	bad.qid = htole16(RIG_QUEUES + 1);
	ok(rig_admin(r, &bad, NULL) == NNPU_STATUS_INVALID_QUEUE, "queue above MAX_QUEUES");
	bad = c;
	bad.vector = htole16(RIG_QUEUES + 1);
	ok(rig_admin(r, &bad, NULL) == NNPU_STATUS_INVALID_FIELD, "vector that does not exist");
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		bad = c;
		bad.sq_entries = htole32(sizes[i]);
		refused += rig_admin(r, &bad, NULL) == NNPU_STATUS_INVALID_FIELD;
		bad = c;
		bad.cq_entries = htole32(sizes[i]);
		refused += rig_admin(r, &bad, NULL) == NNPU_STATUS_INVALID_FIELD;
	}
	ok(refused == 2 * i, "bad ring sizes");
	bad = c;
	bad.sq_addr = rig_addr((uint8_t *)ring + 64);
	ok(rig_admin(r, &bad, NULL) == NNPU_STATUS_INVALID_FIELD, "unaligned submission ring");
	bad = c;
	bad.cq_addr = rig_addr((uint8_t *)ring + 64);
	ok(rig_admin(r, &bad, NULL) == NNPU_STATUS_INVALID_FIELD, "unaligned completion ring");

	ok(rig_read(r, NNPU_QREG_BASE + 3 * NNPU_QREG_STRIDE) == NNPU_QSTATE_ABSENT, "ABSENT");
	ok(rig_admin(r, &c, NULL) == 0, "CREATE_QUEUE");
	ok(rig_read(r, NNPU_QREG_BASE + 3 * NNPU_QREG_STRIDE) == NNPU_QSTATE_IDLE, "IDLE");
	ok(rig_admin(r, &c, NULL) == NNPU_STATUS_BUSY, "same id again: BUSY");
	for (i = NNPU_ADMIN_DESTROY_QUEUE; i <= NNPU_ADMIN_RESET_QUEUE; i++) {
		d.opcode = (uint8_t)i;
		refuses_bytes(r, &d, 1, 2, NNPU_STATUS_INVALID_FIELD, "queue command: flags");
		refuses_bytes(r, &d, 4, 8, NNPU_STATUS_INVALID_FIELD, "queue command: ctx");
		refuses_bytes(r, &d, 10, 64, NNPU_STATUS_INVALID_FIELD, "queue command: rest");
	}
	d.opcode = NNPU_ADMIN_ABORT;
	refuses_bytes(r, &d, 12, 64, NNPU_STATUS_INVALID_FIELD, "ABORT: reserved");
	ok(rig_queue_cmd(r, NNPU_ADMIN_ABORT, 3, 9) == 1000, "ABORT of nothing finds nothing");
	ok(rig_queue_cmd(r, NNPU_ADMIN_ABORT, 0, 9) == 1000, "nor of a load");
	ok(rig_queue_cmd(r, NNPU_ADMIN_RESET_QUEUE, 0, 0) == NNPU_STATUS_INVALID_QUEUE,
	   "RESET_QUEUE of the admin queue");
	ok(rig_queue_cmd(r, NNPU_ADMIN_RESET_QUEUE, 3, 0) == 0, "RESET_QUEUE");
	ok(rig_queue_cmd(r, NNPU_ADMIN_DESTROY_QUEUE, 3, 0) == 0, "DESTROY_QUEUE");
	ok(rig_queue_cmd(r, NNPU_ADMIN_DESTROY_QUEUE, 3, 0) == NNPU_STATUS_INVALID_QUEUE, "twice");
}

static void test_programs(struct rig *r)
{
	struct nnpu_slot_entry *table = rig_alloc(r, 4096);
	uint8_t *room = rig_alloc(r, 4096);
	struct nnpu_sqe_load_program c = {
		.opcode = NNPU_ADMIN_LOAD_PROGRAM,
		.ctx = htole32(1),
		.program = htole32(7),
		.image = { .addr = rig_addr(room) },
	}, bad;
	struct nnpu_sqe_unload_program u = {
		.opcode = NNPU_ADMIN_UNLOAD_PROGRAM,
		.ctx = htole32(1),
		.program = htole32(7),
	};
	struct nnpu_cqe cqe;
	uint64_t memory;
	struct image im;

	image_add(&im, 4);
	memcpy(room, im.bytes, im.size);
	c.image.size = htole64(im.size);
	ok(rig_admin(r, &c, NULL) == NNPU_STATUS_INVALID_CTX, "LOAD_PROGRAM without context");
	rig_create_ctx(r, 1, table, 16);
	refuses_bytes(r, &c, 12, 16, NNPU_STATUS_INVALID_FIELD, "LOAD_PROGRAM reserved");
	refuses_bytes(r, &c, 36, 64, NNPU_STATUS_INVALID_FIELD, "LOAD_PROGRAM reports");
	bad = c;
	bad.flags = 2;
	ok(rig_admin(r, &bad, NULL) == NNPU_STATUS_INVALID_FIELD, "unknown flag");
	bad = c;
	bad.program = 0;
	ok(rig_admin(r, &bad, NULL) == NNPU_STATUS_INVALID_PROGRAM, "program 0");
	bad.program = htole32(257);
	ok(rig_admin(r, &bad, NULL) == NNPU_STATUS_INVALID_PROGRAM, "program above MAX_PROGRAMS");
	bad = c;
	bad.image.levels = htole32(4);
	ok(rig_admin(r, &bad, NULL) == NNPU_STATUS_INVALID_FIELD, "4 levels");
	bad = c;
	bad.image.size = 0;
	ok(rig_admin(r, &bad, NULL) == NNPU_STATUS_INVALID_FIELD, "empty image");
	bad.image.size = htole64(32);
	ok(rig_admin(r, &bad, &cqe) == NNPU_STATUS_PROGRAM_HEADER &&
	   le16toh(cqe.reason) == NNPU_REASON_SIZE, "image shorter than a header");
	bad.image.size = htole64((64u << 20) + 8);
	ok(rig_admin(r, &bad, &cqe) == NNPU_STATUS_PROGRAM_HEADER &&
	   le16toh(cqe.reason) == NNPU_REASON_SIZE, "image above 64 MiB");
	bad = c;
	bad.image.addr = htole64(4096);
	ok(rig_admin(r, &bad, NULL) == NNPU_STATUS_DMA_ERROR, "image out of reach");
	ok(rig_admin(r, &c, &cqe) == 0 && le64toh(cqe.result) > 0, "LOAD_PROGRAM, %llu bytes",
	   (unsigned long long)le64toh(cqe.result));
	memory = le64toh(cqe.result);
	ok(rig_read64(r, NNPU_REG_MEM_USED_LO) == memory, "MEM_USED counts it");
	ok(rig_read(r, NNPU_REG_PROGRAMS) == 1, "one program");
	ok(rig_admin(r, &c, NULL) == NNPU_STATUS_BUSY, "same number again: BUSY");
	refuses_bytes(r, &u, 12, 64, NNPU_STATUS_INVALID_FIELD, "UNLOAD_PROGRAM reserved");
	ok(rig_admin(r, &u, NULL) == 0, "UNLOAD_PROGRAM");
	ok(rig_admin(r, &u, NULL) == NNPU_STATUS_INVALID_PROGRAM, "twice");
	ok(rig_read(r, NNPU_REG_PROGRAMS) == 0 && rig_read64(r, NNPU_REG_MEM_USED_LO) == 0,
	   "program and memory are gone");
	rig_admin(r, &c, NULL);
	ok(rig_destroy_ctx(r, 1) == 0 && rig_read(r, NNPU_REG_PROGRAMS) == 0 &&
	   rig_read64(r, NNPU_REG_MEM_USED_LO) == 0, "DESTROY_CTX unloads");
	ok(rig_read64(r, NNPU_REG_MEM_PEAK_LO) >= memory, "MEM_PEAK remembers");
	image_free(&im);
}

static void test_limits(struct rig *r)
{
	struct nnpu_slot_entry *table = rig_alloc(r, 4096);
	struct nnpu_sqe_create_ctx c = {
		.opcode = NNPU_ADMIN_CREATE_CTX,
		.ctx = htole32(2),
		.slot_table = rig_addr(table),
		.num_slots = htole32(4),
		.mem_limit = htole64(64),
	};
	struct image im;

	image_add(&im, 4);
	ok(rig_admin(r, &c, NULL) == 0, "context with 64 bytes of device memory");
	ok(rig_load(r, 2, 1, im.bytes, im.size, NULL) == NNPU_STATUS_NO_MEMORY,
	   "program above the context's limit: NO_MEMORY");
	ok(rig_read64(r, NNPU_REG_MEM_USED_LO) == 0, "nothing is left of it");
	rig_destroy_ctx(r, 2);
	image_free(&im);
}

/* A program with a constant of 2048 bytes. */
static void large_program(struct image *im)
{
	static const float data[512];
	uint32_t in, constant, act, out;

	image_init(im);
	in = image_tensor(im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 512, -1);
	constant = image_const(im, NNPU_TYPE_TENSOR_FLOAT32, 512, data, sizeof(data));
	act = image_scalar(im, 0);
	out = image_tensor(im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 512, -1);
	image_command(im, NNPU_OP_ADD, 3, 1, in, constant, act, out, -1);
	image_finish(im);
}

/* Load it into two contexts in turns until both are refused. The bytes taken. */
static uint64_t fill(struct rig *r, const struct image *im, uint32_t first_ctx)
{
	uint64_t before = rig_read64(r, NNPU_REG_MEM_USED_LO);
	unsigned int i, refused = 0;
	int status;

	for (i = 0; refused < 2; i++) {
		status = rig_load(r, first_ctx + i % 2, 1 + i / 2, im->bytes, im->size, NULL);
		if (status && status != NNPU_STATUS_NO_MEMORY)
			return 0;
		refused = status ? refused + 1 : 0;
	}
	return rig_read64(r, NNPU_REG_MEM_USED_LO) - before;
}

#define SMALL_MEMORY	(1u << 20)
/* What each leaves behind would be more than the memory. */
#define LOADS		1000
#define NEAR_KIB(bytes, kib) ((bytes) <= (kib) * 1024ull && (bytes) + 24576 > (kib) * 1024ull)

/* Contexts of one group together leave as much as they have. */
static void test_groups(void)
{
	struct nnpu_inproc_config config;
	uint64_t first, second, rest;
	struct nnpu_slot_entry *table;
	struct image im;
	struct rig r;
	uint32_t i;

	rig_config(&config);
	config.props.memory_size = SMALL_MEMORY;
	config.props.max_operand_size = SMALL_MEMORY;
	rig_open(&r, &config);
	rig_enable(&r);
	large_program(&im);
	for (i = 1; i <= 6; i++) {
		table = rig_alloc(&r, 4096);
		r.ctx_attrs.group = htole32(i <= 2 ? 7 : i <= 4 ? UINT32_MAX : 0);
		rig_create_ctx(&r, i, table, 4);
	}
	first = fill(&r, &im, 1);
	ok(NEAR_KIB(first, 512), "a group gets half of the memory: %llu",
	   (unsigned long long)first);
	second = fill(&r, &im, 3);
	ok(NEAR_KIB(second, 256), "the next one half of the rest: %llu",
	   (unsigned long long)second);
	rest = fill(&r, &im, 5);
	ok(NEAR_KIB(first + second + rest, 1024), "contexts of no group what is left: %llu",
	   (unsigned long long)rest);
	rig_destroy_ctx(&r, 5);
	rig_destroy_ctx(&r, 6);
	rig_destroy_ctx(&r, 1);
	ok(rig_load(&r, 2, 200, im.bytes, im.size, NULL) == 0, "what a context had comes back");
	rig_destroy_ctx(&r, 2);
	rig_destroy_ctx(&r, 3);
	rig_destroy_ctx(&r, 4);
	r.ctx_attrs.group = htole32(9);
	rig_create_ctx(&r, 1, rig_alloc(&r, 4096), 4);
	rig_create_ctx(&r, 2, rig_alloc(&r, 4096), 4);
	first = fill(&r, &im, 1);
	ok(NEAR_KIB(first, 512), "all of it, and a group may have any number: %llu",
	   (unsigned long long)first);
	for (i = 0; i < LOADS && !rig_unload(&r, 1, 1) &&
	     !rig_load(&r, 1, 1, im.bytes, im.size, NULL); i++)
		;
	ok(i == LOADS, "nor does loading leave anything charged: %u loads", i);
	image_free(&im);
	rig_close(&r);
}

/* So do their jobs. */
static void test_group_jobs(void)
{
	static const uint32_t groups[] = { 0, 3 };
	struct nnpu_inproc_config config;
	struct job_rig j;
	struct image im;
	struct rig r;
	unsigned int i;

	rig_config(&config);
	config.props.memory_size = SMALL_MEMORY;
	config.props.max_operand_size = SMALL_MEMORY;
	for (i = 0; i < 2; i++) {
		rig_open(&r, &config);
		rig_enable(&r);
		r.ctx_attrs.group = htole32(groups[i]);
		ok(job_rig_init(&j, &r, 1, 1), "group %u", groups[i]);
		/* Three tensors of 192 KiB. */
		image_add(&im, 49152);
		ok(!rig_load(&r, 1, 1, im.bytes, im.size, NULL), "a large program");
		job_add_args(&j, 49152);
		ok(job_execute(&j, 1, NULL) == (i ? NNPU_STATUS_NO_MEMORY : 0),
		   "a job of more than half the memory");
		image_free(&im);
		image_add(&im, 24576);
		ok(!rig_load(&r, 1, 2, im.bytes, im.size, NULL), "a smaller one");
		job_add_args(&j, 24576);
		ok(job_execute(&j, 2, NULL) == 0 && job_execute(&j, 2, NULL) == 0 &&
		   job_add_ok(&j, 24576), "a job of less");
		image_free(&im);
		rig_close(&r);
	}
}

static void test_stall(struct rig *r)
{
	struct nnpu_sqe nop = { .opcode = NNPU_ADMIN_NOP };
	struct nnpu_cqe cqe;
	uint64_t before;

	rig_inject(r, NNPU_INJECT_ADMIN_STALL, 1);
	rig_push(r, &r->admin, &nop);
	rig_kick(r, &r->admin);
	ok(rig_poll(r, NNPU_QREG_BASE + NNPU_QREG_CURRENT, NNPU_QREG_CURRENT_RUNNING,
		    NNPU_QREG_CURRENT_RUNNING), "injected: the command runs");
	ok(!rig_peek(&r->admin, &cqe), "and does not complete");
	ok(rig_enable(r), "reset ends it");
	ok(rig_admin(r, &nop, NULL) == 0, "admin queue works again");
	rig_inject(r, NNPU_INJECT_ADMIN_SLOW, 1);
	before = rig_read64(r, NNPU_REG_CLOCK_LO);
	ok(!rig_admin(r, &nop, NULL) &&
	   rig_read64(r, NNPU_REG_CLOCK_LO) - before >= 20000000, "ADMIN_SLOW: 20 ms longer at least");
}

int main(void)
{
	struct rig r;

	rig_open(&r, NULL);
	ok(rig_enable(&r), "READY");
	test_common(&r);
	test_identify(&r);
	test_contexts(&r);
	test_queues(&r);
	test_programs(&r);
	test_limits(&r);
	test_stall(&r);
	rig_close(&r);
	test_groups();
	test_group_jobs();
	return tap_done();
}
