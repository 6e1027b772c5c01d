// SPDX-License-Identifier: MIT
/* Slots: bounds, rights, page tables, lifetime of entries, isolation. */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rig.h"
#include "tap.h"

#define RW	(NNPU_SLOT_VALID | NNPU_SLOT_READ | NNPU_SLOT_WRITE)
#define N	1024u

static int add_in_slots(struct job_rig *j, uint32_t in, uint32_t out, uint64_t out_off)
{
	struct nnpu_arg *args;

	job_add_args(j, N);
	args = (struct nnpu_arg *)(j->block + 64);
	args[0].slot = htole32(in);
	args[1].slot = htole32(in);
	job_arg(&args[2], out, out_off, N * 4);
	return job_execute(j, 1, NULL);
}

static void test_bounds(struct job_rig *j)
{
	struct nnpu_cqe cqe;
	struct nnpu_arg *args;
	uint64_t size = j->operands_size;

	ok(add_in_slots(j, 1, 1, 8 * N) == 0 && job_add_ok(j, N), "inside the slot");
	ok(add_in_slots(j, 1, 1, size - 4 * N) == 0, "last bytes of the slot");
	ok(add_in_slots(j, 1, 1, size - 4 * N + 1) == NNPU_STATUS_SLOT_BOUNDS, "one byte beyond");
	ok(add_in_slots(j, 1, 1, size) == NNPU_STATUS_SLOT_BOUNDS, "behind the slot");
	ok(add_in_slots(j, 1, 1, UINT64_MAX - 4 * N + 1) == NNPU_STATUS_SLOT_BOUNDS, "sum wraps");
	ok(add_in_slots(j, 1, 5, 0) == NNPU_STATUS_INVALID_SLOT, "slot that is not valid");
	ok(add_in_slots(j, 16, 1, 0) == NNPU_STATUS_INVALID_SLOT, "slot above the table");
	ok(add_in_slots(j, NNPU_SLOT_NONE, 1, 0) == NNPU_STATUS_INVALID_SLOT, "slot NONE");
	job_add_args(j, N);
	args = (struct nnpu_arg *)(j->block + 64);
	args[1].slot = htole32(9);
	ok(job_execute(j, 1, &cqe) == NNPU_STATUS_INVALID_SLOT && le32toh(cqe.error) == 1,
	   "the completion names the argument");
}

static void test_rights(struct job_rig *j)
{
	rig_slot(&j->slots[2], j->operands, j->operands_size, NNPU_SLOT_VALID | NNPU_SLOT_READ);
	rig_slot(&j->slots[3], j->operands, j->operands_size, NNPU_SLOT_VALID | NNPU_SLOT_WRITE);
	ok(add_in_slots(j, 2, 3, 8 * N) == 0 && job_add_ok(j, N), "read from 2, write to 3");
	ok(add_in_slots(j, 3, 3, 8 * N) == NNPU_STATUS_SLOT_RIGHTS, "read without right");
	ok(add_in_slots(j, 2, 2, 8 * N) == NNPU_STATUS_SLOT_RIGHTS, "write without right");
}

static void test_entries(struct job_rig *j)
{
	struct nnpu_slot_entry *s = &j->slots[4];
	unsigned int i, bad = 0;

	for (i = 0; i < 4; i++) {
		rig_slot(s, j->operands, j->operands_size, RW);
		if (i == 0)
			s->flags |= htole32(8);
		else if (i == 1)
			s->kind = htole32(NNPU_SLOT_KIND_DEVICE);
		else if (i == 2)
			s->mem.reserved = htole32(1);
		else
			s->mem.levels = htole32(4);
		bad += add_in_slots(j, 1, 4, 0) == NNPU_STATUS_INVALID_SLOT;
	}
	ok(bad == 4, "unknown flag, reserved kind and field, levels: INVALID_SLOT");
	rig_slot(s, j->operands, 0, RW);
	ok(add_in_slots(j, 1, 4, 0) == NNPU_STATUS_INVALID_SLOT, "size 0: INVALID_SLOT");
	rig_slot(s, j->operands, (2u << 20) + 1, RW);
	s->mem.levels = htole32(1);
	ok(add_in_slots(j, 1, 4, 0) == NNPU_STATUS_INVALID_SLOT, "beyond 1 level: INVALID_SLOT");
	rig_slot(s, j->operands + 64, 65536, RW);
	ok(add_in_slots(j, 1, 4, 0) == NNPU_STATUS_DMA_ERROR, "base not page-aligned: DMA_ERROR");
	rig_invalidate(j->rig, j->ctx, 4, 1);
	rig_slot(s, j->operands, 65536, RW);
	s->mem.addr = htole64(1ull << 46);
	ok(add_in_slots(j, 1, 4, 0) == NNPU_STATUS_DMA_ERROR, "memory out of reach: DMA_ERROR");
	rig_invalidate(j->rig, j->ctx, 4, 1);
	s->mem.addr = htole64(UINT64_MAX & ~4095ull);
	ok(add_in_slots(j, 1, 4, 16384) == NNPU_STATUS_DMA_ERROR, "address wraps: DMA_ERROR");
	rig_invalidate(j->rig, j->ctx, 4, 1);
	s->flags = 0;
}

/* Operands behind a table of each depth; pages in reverse, so nothing is contiguous. */
static void test_tables(struct job_rig *j)
{
	const uint64_t size = 5u << 20;
	uint8_t *data = rig_alloc(j->rig, size), *table;
	unsigned int levels, i;
	bool same = true;

	for (levels = 1; levels <= 3; levels++) {
		struct nnpu_slot_entry *s = &j->slots[6];
		uint64_t span = levels == 1 ? 2u << 20 : size;
		uint64_t out = span - N * 4 - 12;

		memset(s, 0, sizeof(*s));
		rig_table(j->rig, data, span, levels, &s->mem);
		s->flags = htole32(RW);
		memset(data, 0x5a, size);
		ok(add_in_slots(j, 1, 6, out) == 0, "%u levels", levels);
		for (i = 0; i < N && same; i++) {
			float f;

			memcpy(&f, data + out + i * 4, 4);
			same = f == 1.5f * (float)i;
		}
		for (i = 0; i < out && same; i++)
			same = data[i] == 0x5a;
		ok(same && data[out + N * 4] == 0x5a, "%u levels: right bytes and no others", levels);
		rig_invalidate(j->rig, j->ctx, 6, 1);
	}
	/* Entries below the size only: two pages swapped, the third unusable. */
	table = rig_alloc(j->rig, 4096);
	((uint64_t *)table)[0] = rig_addr(data + 4096);
	((uint64_t *)table)[1] = rig_addr(data);
	((uint64_t *)table)[2] = htole64(77);
	memset(&j->slots[6], 0, sizeof(j->slots[6]));
	j->slots[6].mem = (struct nnpu_mem) {
		.addr = rig_addr(table), .size = htole64(3 * 4096), .levels = htole32(1),
	};
	j->slots[6].flags = htole32(RW);
	ok(add_in_slots(j, 1, 6, 2048) == 0, "swapped pages");
	ok(*(float *)(data + 4096 + 2048) == 0 && *(float *)(data) == 1.5f * 512 &&
	   *(float *)(data + 2044) == 1.5f * 1023, "data went where the table says");
	ok(add_in_slots(j, 1, 6, 8192) == NNPU_STATUS_DMA_ERROR, "misaligned page: DMA_ERROR");
	rig_invalidate(j->rig, j->ctx, 6, 1);
}

static void test_lifetime(struct job_rig *j)
{
	uint8_t *other = rig_alloc(j->rig, 65536);
	struct nnpu_slot_entry *s = &j->slots[7];

	rig_slot(s, j->operands, j->operands_size, RW);
	ok(add_in_slots(j, 7, 7, 8 * N) == 0, "slot made valid without a command");
	/*
	 * The device may use the entry it has kept or read it again, until the slot is
	 * invalidated.
	 */
	s->flags = 0;
	ok(rig_invalidate(j->rig, j->ctx, 7, 1) == 0, "INVALIDATE_SLOTS");
	ok(add_in_slots(j, 7, 1, 8 * N) == NNPU_STATUS_INVALID_SLOT, "gone after that");
	rig_slot(s, other, 65536, RW);
	ok(add_in_slots(j, 1, 7, 0) == 0 && ((float *)other)[3] == 4.5f, "same number, new memory");
	ok(rig_invalidate(j->rig, j->ctx, 0, 16) == 0 && add_in_slots(j, 1, 7, 0) == 0,
	   "invalidating valid slots only has them read again");
}

static void test_isolation(struct rig *r)
{
	struct job_rig a, b;
	struct image im;
	struct nnpu_sqe_execute sqe;

	ok(job_rig_init(&a, r, 11, 5) && job_rig_init(&b, r, 12, 6), "two contexts");
	image_add(&im, 8);
	ok(rig_load(r, 11, 1, im.bytes, im.size, NULL) == 0, "program in one of them");
	job_add_args(&b, 8);
	ok(job_execute(&b, 1, NULL) == NNPU_STATUS_INVALID_PROGRAM, "the other has no such program");
	ok(rig_load(r, 12, 1, im.bytes, im.size, NULL) == 0, "same number in the other");
	b.slots[1].flags = 0;
	rig_invalidate(r, 12, 1, 1);
	job_add_args(&a, 8);
	ok(job_execute(&a, 1, NULL) == 0, "slot 1 of the first is not touched by that");
	job_add_args(&b, 8);
	ok(job_execute(&b, 1, NULL) == NNPU_STATUS_INVALID_SLOT, "slot 1 of the second is gone");
	rig_create_queue(r, 7, 11, 0, 16);
	job_add_args(&a, 8);
	job_sqe(&a, 1, &sqe);
	ok(rig_run(r, &r->queues[7], &sqe, NULL) == NNPU_STATUS_INVALID_FIELD,
	   "a queue of a context cannot name one");
	sqe.ctx = 0;
	ok(rig_run(r, &r->queues[7], &sqe, NULL) == 0 && job_add_ok(&a, 8), "it acts for its own");
	sqe.flags = NNPU_EXEC_ARGS_DMA;
	sqe.args = rig_addr(a.block);
	ok(rig_run(r, &r->queues[7], &sqe, NULL) == NNPU_STATUS_INVALID_FIELD,
	   "and cannot give an address");
	sqe.ctx = htole32(11);
	job_add_args(&a, 8);
	ok(rig_run(r, a.q, &sqe, NULL) == 0 && job_add_ok(&a, 8), "a kernel queue can");
	ok(rig_destroy_ctx(r, 11) == 0, "DESTROY_CTX");
	ok(rig_read(r, NNPU_QREG_BASE + 7 * NNPU_QREG_STRIDE) == NNPU_QSTATE_ABSENT,
	   "takes the queue with it");
	ok(job_execute(&a, 1, NULL) == NNPU_STATUS_INVALID_CTX, "entries are refused from then on");
	image_free(&im);
}

static void test_regions(struct rig *r)
{
	uint8_t *p = aligned_alloc(4096, 65536);

	ok(nnpu_inproc_register(r->ip, p, 0, NNPU_INPROC_READ) == -22, "empty region");
	ok(nnpu_inproc_register(r->ip, p, 8, 0) == -22, "region without access");
	ok(nnpu_inproc_register(r->ip, p, 8, 8) == -22, "unknown access");
	ok(nnpu_inproc_register(r->ip, p, 4096, NNPU_INPROC_READ) == 0 &&
	   nnpu_inproc_register(r->ip, p + 4096, 4096, NNPU_INPROC_READ) == 0, "two that touch");
	ok(nnpu_inproc_unregister(r->ip, p, 4096, NNPU_INPROC_READ) == 0 &&
	   nnpu_inproc_unregister(r->ip, p, 4096, NNPU_INPROC_READ) == -2, "unregister once");
	ok(nnpu_inproc_unregister(r->ip, p + 4096, 4096, NNPU_INPROC_WRITE) == -2,
	   "not what it was registered for");
	ok(nnpu_inproc_unregister(r->ip, p + 4096, 4096, NNPU_INPROC_READ) == 0, "the other one");
	free(p);
}

/* The device reads a file, and what it has lost is an error; it never writes to it. */
static void test_file(struct job_rig *j)
{
	void *room = mmap(NULL, 16384, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct nnpu_inproc *ip = j->rig->ip;
	float values[2 * N];
	FILE *f = tmpfile();
	unsigned int i;
	int fd = f ? fileno(f) : -1;

	/* Those of job_add_args(). */
	for (i = 0; i < N; i++) {
		values[i] = (float)i;
		values[N + i] = 0.5f * (float)i;
	}
	ok(room != MAP_FAILED && pwrite(fd, values, sizeof(values), 100) == sizeof(values), "a file");
	ok(nnpu_inproc_register_file(ip, room, 0, fd, 100) == -22, "no bytes");
	ok(!nnpu_inproc_register_file(ip, room, 8192, fd, 100), "registered from byte 100 on");
	rig_slot(&j->slots[6], room, 8192, RW);
	rig_invalidate(j->rig, 1, 6, 1);
	ok(add_in_slots(j, 6, 1, 8 * N) == 0 && job_add_ok(j, N), "its bytes are read");
	ok(add_in_slots(j, 1, 6, 0) == NNPU_STATUS_DMA_ERROR, "and never written");
	ok(!ftruncate(fd, 100 + 8 * N - 1), "it loses a byte");
	ok(add_in_slots(j, 6, 1, 8 * N) == NNPU_STATUS_DMA_ERROR, "which is an error");
	nnpu_inproc_unregister_file(ip, room);
	ok(!ftruncate(fd, 100 + 8 * N) && add_in_slots(j, 6, 1, 8 * N) == NNPU_STATUS_DMA_ERROR,
	   "not registered any more");
	rig_invalidate(j->rig, 1, 6, 1);
	munmap(room, 16384);
	if (f)
		fclose(f);
}

#define PARTS	64u

/* Parts of a registration are taken back, which nobody registered: refused, or cut out of it. */
static void test_parts(void)
{
	uint8_t *p = aligned_alloc(4096, PARTS * 4096);
	unsigned int i, good = 0, wrong = 0;
	struct rig r;
	int ret;

	rig_open(&r, NULL);
	ok(nnpu_inproc_register(r.ip, p, PARTS * 4096, NNPU_INPROC_READ) == 0, "a long region");
	for (i = 1; i < PARTS; i += 2) {
		ret = nnpu_inproc_unregister(r.ip, p + i * 4096, 4096, NNPU_INPROC_READ);
		good += !ret;
		wrong += ret && ret != -2;
	}
	ok(!wrong && good < 8, "%u of its parts are taken back", good);
	for (i = 0; i < PARTS; i++)
		wrong += nnpu_inproc_register(r.ip, p + i * 4096, 1, NNPU_INPROC_WRITE) ||
			 nnpu_inproc_register(r.ip, p, PARTS * 4096, NNPU_INPROC_READ);
	ok(!wrong, "others can register there");
	rig_close(&r);
	free(p);
}

#define PAGES	12u

/* May the device read this page? One that is not registered is a DMA error. */
static bool device_reads(struct job_rig *j, const uint8_t *page)
{
	struct nnpu_arg *args = (struct nnpu_arg *)(j->block + 64);
	int status;

	rig_invalidate(j->rig, j->ctx, 7, 1);
	rig_slot(&j->slots[7], (void *)(uintptr_t)page, 4096, NNPU_SLOT_VALID | NNPU_SLOT_READ);
	job_add_args(j, N);
	job_arg(&args[0], 7, 0, N * 4);
	status = job_execute(j, 1, NULL);
	j->slots[7].flags = 0;
	if (status && status != NNPU_STATUS_DMA_ERROR)
		ok(false, "status %d of a page", status);
	return !status;
}

/* Registrations that overlap begin and end in any order: each page has those that cover it. */
static void test_overlap(struct job_rig *j)
{
	struct { unsigned int first, count, access; } live[24] = { 0 };
	uint8_t *p = aligned_alloc(4096, PAGES * 4096);
	unsigned int covers[PAGES] = { 0 }, step, i, k, bad = 0, seed = 1;

	for (step = 0; step < 600; step++) {
		seed = seed * 1103515245u + 12345u;
		i = (seed >> 16) % 24;
		if (live[i].count) {
			bad += nnpu_inproc_unregister(j->rig->ip, p + live[i].first * 4096,
						      live[i].count * 4096, live[i].access) != 0;
			for (k = 0; k < live[i].count; k++)
				covers[live[i].first + k] -= live[i].access & NNPU_INPROC_READ ? 1 : 0;
			live[i].count = 0;
		} else {
			live[i].first = (seed >> 8) % PAGES;
			live[i].count = 1 + (seed >> 20) % (PAGES - live[i].first);
			live[i].access = 1 + (seed >> 12) % 3;
			bad += nnpu_inproc_register(j->rig->ip, p + live[i].first * 4096,
						    live[i].count * 4096, live[i].access) != 0;
			for (k = 0; k < live[i].count; k++)
				covers[live[i].first + k] += live[i].access & NNPU_INPROC_READ ? 1 : 0;
		}
		for (k = 0; k < PAGES && step % 8 == 0; k++)
			bad += device_reads(j, p + k * 4096) != !!covers[k];
	}
	ok(!bad, "registrations overlap: each page has those that cover it (%u wrong)", bad);
	for (i = 0; i < 24; i++)
		if (live[i].count)
			nnpu_inproc_unregister(j->rig->ip, p + live[i].first * 4096,
					       live[i].count * 4096, live[i].access);
	for (k = bad = 0; k < PAGES; k++)
		bad += device_reads(j, p + k * 4096);
	ok(!bad, "and none is left when all have ended");
	free(p);
}

int main(void)
{
	struct job_rig j;
	struct image im;
	struct rig r;

	rig_open(&r, NULL);
	rig_enable(&r);
	ok(job_rig_init(&j, &r, 1, 1), "context and queue");
	image_add(&im, N);
	ok(rig_load(&r, 1, 1, im.bytes, im.size, NULL) == 0, "program");
	image_free(&im);
	test_bounds(&j);
	test_rights(&j);
	test_entries(&j);
	test_tables(&j);
	test_lifetime(&j);
	test_isolation(&r);
	test_regions(&r);
	test_file(&j);
	test_overlap(&j);
	test_parts();
	rig_close(&r);
	return tap_done();
}
