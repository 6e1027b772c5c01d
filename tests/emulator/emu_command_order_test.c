// SPDX-License-Identifier: MIT
/*
 * Where two faults meet in an entry, the device reports the one that its specification checks
 * first: all pairs of the rules of the admin commands, and of an EXECUTE entry before its
 * argument block.
 */
#include "fault_pairs.h"

#define CTX		1u
#define PROGRAM		7u
#define N		4u
#define KERNEL_QUEUE	1u
#define USER_QUEUE	2u
/* What does not exist, and an address that the bus does not know. */
#define NO_CTX		60000u
#define NO_QUEUE	7u
#define NO_QUEUE_EVER	999u
#define NOWHERE		4096u
#define FAR		(1ull << 40)
/* Slots of the context beside those of the rig. */
#define READ_ONLY	2u
#define NO_SLOT		999u

static struct rig rig;
static struct job_rig j;

/* The entry of the command that is tested. */
static struct nnpu_sqe valid, sqe;

static void build(void)
{
	sqe = valid;
}

static uint8_t *the_entry(void)
{
	return (uint8_t *)&sqe;
}

static bool refused_for(const struct fault *f, uint32_t error)
{
	struct nnpu_cqe cqe;

	return fault_is(f, rig_admin(&rig, &sqe, &cqe), &cqe, error);
}

static bool entry_refused_for(const struct fault *f, uint32_t error)
{
	struct nnpu_cqe cqe;

	return fault_is(f, rig_run(&rig, j.q, &sqe, &cqe), &cqe, error);
}

#define PAIRS(what, command, faults) \
	pairs(what, command, sizeof(*(command)), faults, FAULT_COUNT(faults))

static void pairs(const char *name, const void *command, size_t bytes, const struct fault *faults,
		  unsigned int count)
{
	const struct place p = { name, build, the_entry, refused_for, 0 };

	memcpy(&valid, command, bytes);
	fault_pairs(&p, faults, count);
	build();
	ok(!rig_admin(&rig, &sqe, NULL), "%s: no fault", name);
}

#define ENTRY(s, field, value, status)	FAULT(s, field, value, status, NONE)
#define UNKNOWN(s)			ENTRY(s, opcode, NNPU_ADMIN_NUM, INVALID_OPCODE)

static void test_nop(void)
{
	static const struct fault faults[] = {
		UNKNOWN(nnpu_sqe),
		ENTRY(nnpu_sqe, flags, 1, INVALID_FIELD),
		ENTRY(nnpu_sqe, ctx, CTX, INVALID_FIELD),
		ENTRY(nnpu_sqe, body[55], 1, INVALID_FIELD),
	};

	PAIRS("NOP", &(struct nnpu_sqe) { .opcode = NNPU_ADMIN_NOP }, faults);
}

static void test_identify(void)
{
	static const struct fault faults[] = {
		UNKNOWN(nnpu_sqe_identify),
		ENTRY(nnpu_sqe_identify, flags, 1, INVALID_FIELD),
		ENTRY(nnpu_sqe_identify, page, 99, INVALID_FIELD),
		ENTRY(nnpu_sqe_identify, addr, NOWHERE, DMA_ERROR),
	};
	struct nnpu_sqe_identify c = { .opcode = NNPU_ADMIN_IDENTIFY };

	c.addr = rig_addr(rig_alloc(&rig, 4096));
	PAIRS("IDENTIFY", &c, faults);
}

static void test_contexts(void)
{
	static const struct fault create[] = {
		UNKNOWN(nnpu_sqe_create_ctx),
		ENTRY(nnpu_sqe_create_ctx, flags, 1, INVALID_FIELD),
		ENTRY(nnpu_sqe_create_ctx, reserved, 1, INVALID_FIELD),
		ENTRY(nnpu_sqe_create_ctx, ctx, NO_CTX, INVALID_CTX),
		ENTRY(nnpu_sqe_create_ctx, ctx, CTX, BUSY),
		ENTRY(nnpu_sqe_create_ctx, slot_table, 1, INVALID_FIELD),
		ENTRY(nnpu_sqe_create_ctx, num_slots, 0, INVALID_FIELD),
		ENTRY(nnpu_sqe_create_ctx, weight, 0xffff, INVALID_FIELD),
		ENTRY(nnpu_sqe_create_ctx, sched_class, 9, INVALID_FIELD),
	};
	static const struct fault destroy[] = {
		UNKNOWN(nnpu_sqe),
		ENTRY(nnpu_sqe, flags, 1, INVALID_FIELD),
		ENTRY(nnpu_sqe, body[8], 1, INVALID_FIELD),
		ENTRY(nnpu_sqe, ctx, NO_CTX, INVALID_CTX),
	};
	static const struct fault invalidate[] = {
		UNKNOWN(nnpu_sqe_invalidate),
		ENTRY(nnpu_sqe_invalidate, flags, 1, INVALID_FIELD),
		ENTRY(nnpu_sqe_invalidate, ctx, NO_CTX, INVALID_CTX),
		ENTRY(nnpu_sqe_invalidate, count, 0, INVALID_FIELD),
	};
	struct nnpu_sqe_create_ctx c = {
		.opcode = NNPU_ADMIN_CREATE_CTX, .ctx = htole32(3), .num_slots = htole32(16),
		.slot_table = rig_addr(j.slots),
	};
	struct nnpu_sqe d = { .opcode = NNPU_ADMIN_DESTROY_CTX, .ctx = htole32(3) };
	struct nnpu_sqe_invalidate i = {
		.opcode = NNPU_ADMIN_INVALIDATE_SLOTS, .ctx = htole32(CTX), .count = htole32(1),
	};

	PAIRS("CREATE_CTX", &c, create);
	PAIRS("DESTROY_CTX", &d, destroy);
	PAIRS("INVALIDATE_SLOTS", &i, invalidate);
}

static void test_queues(void)
{
	static const struct fault create[] = {
		UNKNOWN(nnpu_sqe_create_queue),
		ENTRY(nnpu_sqe_create_queue, flags, 0x80, INVALID_FIELD),
		ENTRY(nnpu_sqe_create_queue, flags, NNPU_QUEUE_KERNEL, INVALID_FIELD),
		ENTRY(nnpu_sqe_create_queue, reserved, 1, INVALID_FIELD),
		ENTRY(nnpu_sqe_create_queue, state.sq_head, 1, INVALID_FIELD),
		ENTRY(nnpu_sqe_create_queue, ctx, NO_CTX, INVALID_CTX),
		ENTRY(nnpu_sqe_create_queue, qid, 0, INVALID_QUEUE),
		ENTRY(nnpu_sqe_create_queue, qid, KERNEL_QUEUE, BUSY),
		ENTRY(nnpu_sqe_create_queue, vector, 999, INVALID_FIELD),
		ENTRY(nnpu_sqe_create_queue, sq_entries, 3, INVALID_FIELD),
		ENTRY(nnpu_sqe_create_queue, cq_entries, 0, INVALID_FIELD),
		ENTRY(nnpu_sqe_create_queue, priority, 9, INVALID_FIELD),
		ENTRY(nnpu_sqe_create_queue, sq_addr, 8, INVALID_FIELD),
		ENTRY(nnpu_sqe_create_queue, cq_addr, 8, INVALID_FIELD),
	};
	/* What software kept, and may have changed. */
	static const struct fault resume[] = {
		UNKNOWN(nnpu_sqe_create_queue),
		ENTRY(nnpu_sqe_create_queue, flags, NNPU_QUEUE_RESUME | NNPU_QUEUE_KERNEL, INVALID_FIELD),
		ENTRY(nnpu_sqe_create_queue, state.flags, 0x80, INVALID_FIELD),
		ENTRY(nnpu_sqe_create_queue, state.flags, NNPU_QUEUE_STATE_ARMED, INVALID_FIELD),
		ENTRY(nnpu_sqe_create_queue, state.reserved, 1, INVALID_FIELD),
		ENTRY(nnpu_sqe_create_queue, state.arm_head, 1, INVALID_FIELD),
		ENTRY(nnpu_sqe_create_queue, ctx, NO_CTX, INVALID_CTX),
		ENTRY(nnpu_sqe_create_queue, qid, NO_QUEUE_EVER, INVALID_QUEUE),
		ENTRY(nnpu_sqe_create_queue, qid, KERNEL_QUEUE, BUSY),
		ENTRY(nnpu_sqe_create_queue, sq_entries, 3, INVALID_FIELD),
		ENTRY(nnpu_sqe_create_queue, cq_addr, 8, INVALID_FIELD),
		ENTRY(nnpu_sqe_create_queue, state.sq_head, 4, INVALID_FIELD),
		ENTRY(nnpu_sqe_create_queue, state.sq_tail, 4, INVALID_FIELD),
		ENTRY(nnpu_sqe_create_queue, state.cq_head, 4, INVALID_FIELD),
		ENTRY(nnpu_sqe_create_queue, state.cq_tail, 4, INVALID_FIELD),
	};
	static const struct fault suspend[] = {
		UNKNOWN(nnpu_sqe_suspend_queue),
		ENTRY(nnpu_sqe_suspend_queue, flags, 2, INVALID_FIELD),
		ENTRY(nnpu_sqe_suspend_queue, ctx, CTX, INVALID_FIELD),
		ENTRY(nnpu_sqe_suspend_queue, qid, NO_QUEUE, INVALID_QUEUE),
		ENTRY(nnpu_sqe_suspend_queue, qid, KERNEL_QUEUE, INVALID_QUEUE),
		ENTRY(nnpu_sqe_suspend_queue, state_addr, 4, INVALID_FIELD),
		ENTRY(nnpu_sqe_suspend_queue, state_addr, NOWHERE, DMA_ERROR),
	};
	static const struct fault destroy[] = {
		UNKNOWN(nnpu_sqe_queue),
		ENTRY(nnpu_sqe_queue, flags, NNPU_QUEUE_CMD_CONTEXT, INVALID_FIELD),
		ENTRY(nnpu_sqe_queue, ctx, CTX, INVALID_FIELD),
		ENTRY(nnpu_sqe_queue, target_cid, 1, INVALID_FIELD),
		ENTRY(nnpu_sqe_queue, qid, NO_QUEUE, INVALID_QUEUE),
	};
	/* RESET_QUEUE and ABORT of a context's entries. */
	static const struct fault of_context[] = {
		UNKNOWN(nnpu_sqe_queue),
		ENTRY(nnpu_sqe_queue, flags, NNPU_QUEUE_CMD_CONTEXT | NNPU_QUEUE_CMD_PROBE,
		      INVALID_FIELD),
		ENTRY(nnpu_sqe_queue, target_cid, 1, INVALID_FIELD),
		ENTRY(nnpu_sqe_queue, reserved0, 1, INVALID_FIELD),
		ENTRY(nnpu_sqe_queue, ctx, NO_CTX, INVALID_CTX),
		ENTRY(nnpu_sqe_queue, qid, 0, INVALID_QUEUE),
		ENTRY(nnpu_sqe_queue, qid, NO_QUEUE, INVALID_QUEUE),
		ENTRY(nnpu_sqe_queue, qid, USER_QUEUE, INVALID_QUEUE),
	};
	static const struct fault abort_one[] = {
		UNKNOWN(nnpu_sqe_queue),
		ENTRY(nnpu_sqe_queue, flags, 4, INVALID_FIELD),
		ENTRY(nnpu_sqe_queue, ctx, CTX, INVALID_FIELD),
		ENTRY(nnpu_sqe_queue, qid, NO_QUEUE, INVALID_QUEUE),
	};
	void *rings = rig_alloc(&rig, 8192);
	struct nnpu_sqe_create_queue c = {
		.opcode = NNPU_ADMIN_CREATE_QUEUE, .ctx = htole32(CTX), .qid = htole16(4),
		.sq_entries = htole32(4), .cq_entries = htole32(4),
		.sq_addr = rig_addr(rings), .cq_addr = rig_addr((uint8_t *)rings + 4096),
	};
	struct nnpu_sqe_suspend_queue s = {
		.opcode = NNPU_ADMIN_SUSPEND_QUEUE, .qid = htole16(4),
		.state_addr = rig_addr(rig_alloc(&rig, 16)),
	};
	struct nnpu_sqe_queue d = { .opcode = NNPU_ADMIN_DESTROY_QUEUE, .qid = htole16(USER_QUEUE) };

	PAIRS("CREATE_QUEUE", &c, create);
	PAIRS("SUSPEND_QUEUE", &s, suspend);
	c.qid = htole16(5);
	c.flags = NNPU_QUEUE_RESUME;
	PAIRS("CREATE_QUEUE of a queue that was suspended", &c, resume);

	d.opcode = NNPU_ADMIN_ABORT;
	PAIRS("ABORT", &d, abort_one);
	d.qid = htole16(KERNEL_QUEUE);
	d.flags = NNPU_QUEUE_CMD_CONTEXT;
	d.ctx = htole32(CTX);
	PAIRS("ABORT of a context", &d, of_context);
	d.opcode = NNPU_ADMIN_RESET_QUEUE;
	PAIRS("RESET_QUEUE of a context", &d, of_context);
	d.opcode = NNPU_ADMIN_DESTROY_QUEUE;
	d.qid = htole16(USER_QUEUE);
	d.flags = 0;
	d.ctx = 0;
	PAIRS("DESTROY_QUEUE", &d, destroy);
}

static void test_perf(void)
{
	static const struct fault faults[] = {
		UNKNOWN(nnpu_sqe_set_perf),
		ENTRY(nnpu_sqe_set_perf, flags, 1, INVALID_FIELD),
		ENTRY(nnpu_sqe_set_perf, ctx, CTX, INVALID_FIELD),
		ENTRY(nnpu_sqe_set_perf, level, NNPU_PERF_NUM, INVALID_FIELD),
	};
	struct nnpu_sqe_set_perf c = {
		.opcode = NNPU_ADMIN_SET_PERF, .level = htole32(NNPU_PERF_MEDIUM),
	};

	PAIRS("SET_PERF", &c, faults);
}

static void test_programs(void)
{
	static const struct fault load[] = {
		UNKNOWN(nnpu_sqe_load_program),
		ENTRY(nnpu_sqe_load_program, flags, 0x80, INVALID_FIELD),
		ENTRY(nnpu_sqe_load_program, reserved0, 1, INVALID_FIELD),
		ENTRY(nnpu_sqe_load_program, reports.addr, 8, INVALID_FIELD),
		ENTRY(nnpu_sqe_load_program, reports.size, 8, INVALID_FIELD),
		ENTRY(nnpu_sqe_load_program, reports.reserved, 1, INVALID_FIELD),
		ENTRY(nnpu_sqe_load_program, ctx, NO_CTX, INVALID_CTX),
		ENTRY(nnpu_sqe_load_program, program, 0, INVALID_PROGRAM),
		ENTRY(nnpu_sqe_load_program, program, PROGRAM, BUSY),
		ENTRY(nnpu_sqe_load_program, image.levels, 99, INVALID_FIELD),
		ENTRY(nnpu_sqe_load_program, image.reserved, 1, INVALID_FIELD),
		ENTRY(nnpu_sqe_load_program, image.size, 0, INVALID_FIELD),
		FAULT(nnpu_sqe_load_program, image.size, 64, PROGRAM_HEADER, SIZE),
		ENTRY(nnpu_sqe_load_program, image.addr, NOWHERE, DMA_ERROR),
	};
	static const struct fault check[] = {
		UNKNOWN(nnpu_sqe_load_program),
		ENTRY(nnpu_sqe_load_program, program, 1, INVALID_FIELD),
		ENTRY(nnpu_sqe_load_program, reserved0, 1, INVALID_FIELD),
		ENTRY(nnpu_sqe_load_program, ctx, NO_CTX, INVALID_CTX),
		ENTRY(nnpu_sqe_load_program, image.levels, 99, INVALID_FIELD),
		ENTRY(nnpu_sqe_load_program, reports.size, 0, INVALID_FIELD),
		ENTRY(nnpu_sqe_load_program, reports.levels, 99, INVALID_FIELD),
		ENTRY(nnpu_sqe_load_program, reports.reserved, 1, INVALID_FIELD),
		FAULT(nnpu_sqe_load_program, image.size, 64, PROGRAM_HEADER, SIZE),
		ENTRY(nnpu_sqe_load_program, image.addr, NOWHERE, DMA_ERROR),
		ENTRY(nnpu_sqe_load_program, reports.size, 16, INVALID_FIELD),
		ENTRY(nnpu_sqe_load_program, reports.addr, NOWHERE, DMA_ERROR),
	};
	static const struct fault save[] = {
		UNKNOWN(nnpu_sqe_save_program),
		ENTRY(nnpu_sqe_save_program, flags, 1, INVALID_FIELD),
		ENTRY(nnpu_sqe_save_program, reserved0, 1, INVALID_FIELD),
		ENTRY(nnpu_sqe_save_program, reserved, 1, INVALID_FIELD),
		ENTRY(nnpu_sqe_save_program, ctx, NO_CTX, INVALID_CTX),
		ENTRY(nnpu_sqe_save_program, program, 0, INVALID_PROGRAM),
		ENTRY(nnpu_sqe_save_program, program, 8, INVALID_PROGRAM),
		ENTRY(nnpu_sqe_save_program, image.levels, 99, INVALID_FIELD),
		ENTRY(nnpu_sqe_save_program, image.reserved, 1, INVALID_FIELD),
		/* The rest of it is not 0: no room, but an address. */
		ENTRY(nnpu_sqe_save_program, image.size, 0, INVALID_FIELD),
		ENTRY(nnpu_sqe_save_program, image.addr, NOWHERE, DMA_ERROR),
	};
	static const struct fault unload[] = {
		UNKNOWN(nnpu_sqe_unload_program),
		ENTRY(nnpu_sqe_unload_program, flags, 1, INVALID_FIELD),
		ENTRY(nnpu_sqe_unload_program, reserved0, 1, INVALID_FIELD),
		ENTRY(nnpu_sqe_unload_program, ctx, NO_CTX, INVALID_CTX),
		ENTRY(nnpu_sqe_unload_program, program, 8, INVALID_PROGRAM),
	};
	struct nnpu_sqe_load_program c = {
		.opcode = NNPU_ADMIN_LOAD_PROGRAM, .ctx = htole32(CTX), .program = htole32(3),
	};
	struct nnpu_sqe_save_program s = {
		.opcode = NNPU_ADMIN_SAVE_PROGRAM, .ctx = htole32(CTX), .program = htole32(PROGRAM),
	};
	struct nnpu_sqe_unload_program u = {
		.opcode = NNPU_ADMIN_UNLOAD_PROGRAM, .ctx = htole32(CTX), .program = htole32(PROGRAM),
	};
	struct image im;
	void *image;

	image_add(&im, N);
	image = rig_alloc(&rig, im.size);
	memcpy(image, im.bytes, im.size);
	c.image = (struct nnpu_mem){ .addr = rig_addr(image), .size = htole64(im.size) };
	image_free(&im);
	PAIRS("LOAD_PROGRAM", &c, load);
	c.flags = NNPU_LOAD_CHECK;
	c.program = 0;
	c.reports.addr = rig_addr(rig_alloc(&rig, 8));
	c.reports.size = htole64(8);
	PAIRS("LOAD_CHECK", &c, check);
	s.image = (struct nnpu_mem){ .addr = rig_addr(rig_alloc(&rig, 65536)), .size = htole64(65536) };
	PAIRS("SAVE_PROGRAM", &s, save);
	PAIRS("UNLOAD_PROGRAM", &u, unload);
}

/* Steps 1 to 4. */
static void test_execute(void)
{
	static const struct fault faults[] = {
		ENTRY(nnpu_sqe_execute, opcode, NNPU_IO_NUM, INVALID_OPCODE),
		ENTRY(nnpu_sqe_execute, flags, NNPU_EXEC_PROFILE | 0x20, INVALID_FIELD),
		ENTRY(nnpu_sqe_execute, reserved, 1, INVALID_FIELD),
		ENTRY(nnpu_sqe_execute, args, 4, INVALID_FIELD),
		ENTRY(nnpu_sqe_execute, result_off, 4, INVALID_FIELD),
		ENTRY(nnpu_sqe_execute, profile_off, 4, INVALID_FIELD),
		ENTRY(nnpu_sqe_execute, ctx, NO_CTX, INVALID_CTX),
		ENTRY(nnpu_sqe_execute, program, 99, INVALID_PROGRAM),
		ENTRY(nnpu_sqe_execute, args_len, 63, ARG_COUNT),
		ENTRY(nnpu_sqe_execute, args_len, UINT32_MAX, ARG_COUNT),
		ENTRY(nnpu_sqe_execute, result_slot, NO_SLOT, INVALID_SLOT),
		ENTRY(nnpu_sqe_execute, result_off, FAR, SLOT_BOUNDS),
		ENTRY(nnpu_sqe_execute, result_slot, READ_ONLY, SLOT_RIGHTS),
		ENTRY(nnpu_sqe_execute, profile_slot, NO_SLOT, INVALID_SLOT),
		ENTRY(nnpu_sqe_execute, profile_off, FAR, SLOT_BOUNDS),
		ENTRY(nnpu_sqe_execute, profile_slot, READ_ONLY, SLOT_RIGHTS),
		ENTRY(nnpu_sqe_execute, args_slot, NO_SLOT, INVALID_SLOT),
		ENTRY(nnpu_sqe_execute, args, FAR, SLOT_BOUNDS),
		ENTRY(nnpu_sqe_execute, args_len, 128, ARG_COUNT),
	};
	static const struct fault of_copy[] = {
		ENTRY(nnpu_sqe_execute, flags, NNPU_EXEC_PROFILE, INVALID_FIELD),
		ENTRY(nnpu_sqe_execute, program, PROGRAM, INVALID_FIELD),
		ENTRY(nnpu_sqe_execute, profile_len, 32, INVALID_FIELD),
		ENTRY(nnpu_sqe_execute, ctx, NO_CTX, INVALID_CTX),
		ENTRY(nnpu_sqe_execute, args_len, 63, ARG_COUNT),
		ENTRY(nnpu_sqe_execute, result_slot, NO_SLOT, INVALID_SLOT),
		ENTRY(nnpu_sqe_execute, args, FAR, SLOT_BOUNDS),
	};
	const struct place place = { "EXECUTE", build, the_entry, entry_refused_for, 0 };
	struct nnpu_sqe_execute c;
	struct nnpu_arg *args;

	job_add_args(&j, N);
	job_sqe(&j, PROGRAM, &c);
	c.flags = NNPU_EXEC_PROFILE;
	c.profile_slot = htole32(1);
	c.profile_len = htole32(32);
	c.profile_off = htole64(65536);
	memcpy(&valid, &c, sizeof(c));
	build();
	ok(!rig_run(&rig, j.q, &sqe, NULL), "EXECUTE: no fault");
	fault_pairs(&place, faults, FAULT_COUNT(faults));

	args = job_args(&j, 1, 1);
	job_arg(&args[0], 1, 0, 100);
	job_arg(&args[1], 1, 4096, 100);
	job_sqe(&j, 0, &c);
	c.opcode = NNPU_IO_COPY;
	memcpy(&valid, &c, sizeof(c));
	build();
	ok(!rig_run(&rig, j.q, &sqe, NULL), "COPY: no fault");
	fault_pairs(&(struct place){ "COPY", build, the_entry, entry_refused_for, 0 }, of_copy,
		    FAULT_COUNT(of_copy));
}

int main(void)
{
	struct image im;

	rig_open(&rig, NULL);
	if (!rig_enable(&rig) || !job_rig_init(&j, &rig, CTX, KERNEL_QUEUE) ||
	    rig_create_queue(&rig, USER_QUEUE, CTX, 0, 16)) {
		ok(false, "the device comes up");
		return tap_done();
	}
	rig_slot(&j.slots[READ_ONLY], j.operands, j.operands_size, NNPU_SLOT_VALID | NNPU_SLOT_READ);
	image_add(&im, N);
	ok(!rig_load(&rig, CTX, PROGRAM, im.bytes, im.size, NULL), "a program");
	image_free(&im);
	test_execute();
	test_nop();
	test_identify();
	test_contexts();
	test_queues();
	test_perf();
	test_programs();
	rig_close(&rig);
	return tap_done();
}
