// SPDX-License-Identifier: MIT
/* LOAD_PROGRAM runs beside the other admin commands, those of several contexts in turns. */
#include <endian.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "rig.h"
#include "tap.h"

/* A big program: so many layers, all with the weights that slot 0 has. */
/* ThreadSanitizer has several bytes for each byte of the weights. */
#ifdef __SANITIZE_THREAD__
#define LAYERS		4
#else
#define LAYERS		16
#endif
#define UNITS		1024u
#define DEPTH		4096u
#define WEIGHTS		(UNITS * DEPTH * 4ull)
#define NUM_CTX		3u
#define NUM_SLOTS	16u
/* Control commands beside loads take no longer. */
#define CONTROL_NS	20000000u

static struct rig rig;
static struct nnpu_slot_entry *slots[NUM_CTX + 1];
static void *weights;
static struct nnpu_mem small, big;

/* The control thread stops where it allocates a load, until other threads have seen more. */
enum { HOOK_NONE, HOOK_SET, HOOK_REACHED };
static atomic_int hook;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
	const struct timespec wait = { .tv_nsec = 100000000 };
	int set = HOOK_SET;

	if (atomic_compare_exchange_strong(&hook, &set, HOOK_REACHED))
		nanosleep(&wait, NULL);
	return __real_calloc(n, size);
}

/* Completions by command id, and in which order they came. */
static struct nnpu_cqe done[0x8000];
static unsigned int came[0x8000], num_came;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint16_t send(void *sqe)
{
	uint16_t cid = rig_push(&rig, &rig.admin, sqe);

	came[cid] = 0;
	rig_kick(&rig, &rig.admin);
	return cid;
}

/* Wait for a completion; the status. */
static int finish(uint16_t cid)
{
	struct nnpu_cqe cqe;

	while (!came[cid]) {
		if (!rig_wait(&rig, &rig.admin, &cqe)) {
			printf("Bail out! no completion of %u\n", cid);
			exit(1);
		}
		done[le16toh(cqe.cid)] = cqe;
		came[le16toh(cqe.cid)] = ++num_came;
	}
	return (int)rig_status(&done[cid]);
}

static uint16_t start_load(uint32_t ctx, uint32_t number, const struct nnpu_mem *image)
{
	struct nnpu_sqe_load_program c = {
		.opcode = NNPU_ADMIN_LOAD_PROGRAM, .ctx = htole32(ctx),
		.program = htole32(number), .image = *image,
	};

	return send(&c);
}

static int unload(uint32_t ctx, uint32_t number)
{
	struct nnpu_sqe_unload_program c = {
		.opcode = NNPU_ADMIN_UNLOAD_PROGRAM, .ctx = htole32(ctx),
		.program = htole32(number),
	};

	return finish(send(&c));
}

static uint16_t start_abort(uint16_t target)
{
	struct nnpu_sqe_queue c = {
		.opcode = NNPU_ADMIN_ABORT, .target_cid = htole16(target),
	};

	return send(&c);
}

/* ABORT of a load: was it found? */
static bool abort_load(uint16_t target)
{
	uint16_t cid = start_abort(target);

	return !finish(cid) && le64toh(done[cid].result);
}

static uint16_t start_invalidate(uint32_t ctx)
{
	struct nnpu_sqe_invalidate c = {
		.opcode = NNPU_ADMIN_INVALIDATE_SLOTS, .ctx = htole32(ctx),
		.count = htole32(NUM_SLOTS),
	};

	return send(&c);
}

static int nop(void)
{
	struct nnpu_sqe c = { .opcode = NNPU_ADMIN_NOP };

	return finish(send(&c));
}

static int create_ctx(uint32_t ctx)
{
	struct nnpu_sqe_create_ctx c = {
		.opcode = NNPU_ADMIN_CREATE_CTX, .ctx = htole32(ctx),
		.slot_table = rig_addr(slots[ctx]), .num_slots = htole32(NUM_SLOTS),
	};

	return finish(send(&c));
}

static uint16_t start_destroy(uint32_t ctx)
{
	struct nnpu_sqe c = { .opcode = NNPU_ADMIN_DESTROY_CTX, .ctx = htole32(ctx) };

	return send(&c);
}

static uint32_t progress(void)
{
	return rig_read(&rig, NNPU_QREG_BASE + NNPU_QREG_PROGRESS);
}

/* Wait until the load @cid has the turn. */
static bool has_turn(uint16_t cid)
{
	uint32_t value = NNPU_QREG_CURRENT_RUNNING | cid;

	return rig_poll(&rig, NNPU_QREG_BASE + NNPU_QREG_CURRENT, UINT32_MAX, value);
}

static bool all_free(void)
{
	return !rig_read64(&rig, NNPU_REG_MEM_USED_LO) && !rig_read(&rig, NNPU_REG_PROGRAMS);
}

static void keep_image(struct image *im, struct nnpu_mem *mem)
{
	void *room = rig_alloc(&rig, im->size);

	memcpy(room, im->bytes, im->size);
	*mem = (struct nnpu_mem) { .addr = rig_addr(room), .size = htole64(im->size) };
	image_free(im);
}

/* out = LAYERS times FULLY_CONNECTED of the input; only the last one is an output. */
static void make_big(void)
{
	uint32_t in, bias, act, i;
	struct image im;

	image_init(&im);
	in = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 1, (int)DEPTH, -1);
	bias = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_SLOT, (int)UNITS, -1);
	im.tensors[bias].data_len = htole64(UNITS * 4);
	act = image_scalar(&im, 0);
	for (i = 0; i < LAYERS; i++) {
		uint32_t w = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_SLOT,
					  (int)UNITS, (int)DEPTH, -1);
		uint32_t out = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32,
					    i + 1 < LAYERS ? NNPU_TENSOR_TEMPORARY :
							     NNPU_TENSOR_OUTPUT,
					    1, (int)UNITS, -1);

		im.tensors[w].data_len = htole64(WEIGHTS);
		image_command(&im, NNPU_OP_FULLY_CONNECTED, 4, 1, in, w, bias, act, out);
	}
	image_finish(&im);
	keep_image(&im, &big);
}

static void set_slots(void)
{
	uint32_t ctx;

	for (ctx = 1; ctx <= NUM_CTX; ctx++)
		rig_slot(&slots[ctx][0], weights, WEIGHTS, NNPU_SLOT_VALID | NNPU_SLOT_READ);
}

static void map_weights(void)
{
	weights = mmap(NULL, WEIGHTS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (weights == MAP_FAILED ||
	    nnpu_inproc_register(rig.ip, weights, WEIGHTS, NNPU_INPROC_READ)) {
		printf("Bail out! no memory\n");
		exit(1);
	}
	set_slots();
}

static void set_up(void)
{
	struct nnpu_inproc_config config;
	struct image im;
	uint32_t ctx;

	rig_config(&config);
	config.props.memory_size = 2ull << 30;
	rig_open(&rig, &config);
	rig_enable(&rig);
	image_add(&im, 4);
	keep_image(&im, &small);
	make_big();
	for (ctx = 1; ctx <= NUM_CTX; ctx++)
		slots[ctx] = rig_alloc(&rig, NUM_SLOTS * sizeof(**slots));
	map_weights();
	for (ctx = 1; ctx <= NUM_CTX; ctx++)
		create_ctx(ctx);
}

static void test_order(void)
{
	uint16_t a, b, c;

	rig_inject(&rig, NNPU_INJECT_LOAD_STALL, 1);
	a = start_load(1, 5, &small);
	ok(!nop() && !came[a], "NOP overtakes a load");
	ok(has_turn(a), "CURRENT names the load");
	ok(rig_read(&rig, NNPU_QREG_BASE) == NNPU_QSTATE_RUNNING, "the queue is RUNNING");
	b = start_load(1, 5, &small);
	ok(finish(b) == NNPU_STATUS_BUSY, "its number is reserved");
	ok(unload(1, 5) == NNPU_STATUS_INVALID_PROGRAM, "there is no such program yet");
	b = start_load(1, 6, &small);
	c = start_load(2, 5, &small);
	ok(!nop() && !came[b] && !came[c], "other loads wait");
	ok(abort_load(b) && finish(b) == NNPU_STATUS_ABORTED &&
	   came[b] == num_came - 1, "a load that waits is aborted before ABORT completes");
	ok(!abort_load(b), "ABORT does not find it again");
	ok(abort_load(a) && finish(a) == NNPU_STATUS_ABORTED, "a load that hangs is aborted");
	ok(!finish(c), "then the next one has its turn");
	ok(!finish(start_load(1, 5, &small)) && !unload(1, 5), "the number is free again");
	ok(!unload(2, 5) && all_free(), "nothing is left");

	rig_inject(&rig, NNPU_INJECT_LOAD_SLOW, 1);
	a = start_load(1, 1, &small);
	b = start_load(1, 2, &big);
	c = start_load(1, 3, &small);
	ok(!finish(c) && came[a] && came[b] && came[a] < came[b] && came[b] < came[c],
	   "loads of one context complete in the order of the ring");
	ok(!unload(1, 1) && !unload(1, 2) && !unload(1, 3) && all_free(), "all are unloaded");
}

static void test_too_many(void)
{
	uint16_t cids[RIG_ADMIN_ENTRIES + 1];
	unsigned int i, aborted = 0;

	rig_inject(&rig, NNPU_INJECT_LOAD_STALL, 1);
	for (i = 0; i <= RIG_ADMIN_ENTRIES; i++) {
		cids[i] = start_load(1, i + 1, &small);
		nop();
	}
	ok(finish(cids[RIG_ADMIN_ENTRIES]) == NNPU_STATUS_NO_RESOURCES,
	   "more loads than the ring has entries: NO_RESOURCES");
	for (i = RIG_ADMIN_ENTRIES; i--;)
		aborted += abort_load(cids[i]) && finish(cids[i]) == NNPU_STATUS_ABORTED;
	ok(aborted == RIG_ADMIN_ENTRIES, "the others can be aborted");
	ok(!finish(start_load(1, 1, &small)) && !unload(1, 1) && all_free(), "places are free");
}

/* A client loads without end, another one wants little. */
static void test_turns(void)
{
	uint64_t worst = 0, worst_load = 0, late = 0;
	unsigned int i = 0, rounds = 0, before = progress();
	bool good = true;
	uint16_t loads[2] = { start_load(1, 1, &big), start_load(3, 1, &big) };

	/* While this thread has no processor, the loads go on: then there are more of them. */
	while (i < 4 || ((rounds <= 4 * i || late * 2 > rounds) && i < 40)) {
		uint64_t start = now_ns(), took;
		unsigned int k;

		finish(start_invalidate(rounds % 3 + 1));
		took = now_ns() - start;
		worst = took > worst ? took : worst;
		late += took > CONTROL_NS;
		start = now_ns();
		good = !finish(start_load(2, 1, &small)) && !unload(2, 1);
		if (!good)
			break;
		took = now_ns() - start;
		worst_load = took > worst_load ? took : worst_load;
		rounds++;
		for (k = 0; k < 2; k++)
			if (came[loads[k]]) {
				if (finish(loads[k]) || unload(k ? 3 : 1, 1))
					break;
				loads[k] = start_load(k ? 3 : 1, 1, &big);
				i++;
			}
	}
	tap_note("%u rounds beside %u loads: control %.1f ms, small loads %.1f ms at most", rounds,
		 i, worst / 1e6, worst_load / 1e6);
	ok(good && i >= 4 && rounds > 4 * i, "small loads have turns between points of big ones");
	/* Half of them: other programs may have the processor. */
	ok(late * 2 <= rounds, "control commands do not wait for loads (%llu of %u were late)",
	   (unsigned long long)late, rounds);
	ok(progress() - before > 2 * LAYERS, "PROGRESS counts");
	for (i = 0; i < 2; i++) {
		abort_load(loads[i]);
		if (!finish(loads[i]))
			unload(i ? 3 : 1, 1);
	}
	ok(all_free(), "nothing is left");
}

static void test_abort_anywhere(void)
{
	uint64_t start = now_ns(), full, worst = 0;
	unsigned int i, ended = 0, aborted = 0, late = 0;

	finish(start_load(1, 1, &big));
	full = now_ns() - start;
	unload(1, 1);
	/*
	 * A load that ends before its abort is tried again at another place: how many do depends on
	 * who else has the processor. So does how many are late.
	 */
	for (i = 0; i < 40 || ((aborted < 20 || late * 2 > ended) && i < 400); i++) {
		struct timespec wait = { .tv_nsec = (long)(full / 40 * (i % 40) % 1000000000) };
		uint16_t cid = start_load(1, 1, &big);
		uint64_t took;
		int status;

		nanosleep(&wait, NULL);
		start = now_ns();
		abort_load(cid);
		status = finish(cid);
		took = now_ns() - start;
		worst = took > worst ? took : worst;
		late += took > CONTROL_NS;
		aborted += status == NNPU_STATUS_ABORTED;
		ended += status == NNPU_STATUS_ABORTED || (!status && !unload(1, 1));
		if (!all_free())
			break;
	}
	tap_note("a load takes %.0f ms, its abort %.1f ms at most", full / 1e6, worst / 1e6);
	ok(ended == i && aborted >= 20, "loads are aborted wherever they are (%u of %u)", aborted, i);
	/* Half of them: other programs may have the processor. */
	ok(late * 2 <= ended, "within 20 ms (%u were late)", late);
}

/* The device may read the entry at the same time; the specification allows that. */
__attribute__((no_sanitize_thread)) static void unset_slot(struct nnpu_slot_entry *slot)
{
	__atomic_store_n(&slot->flags, 0, __ATOMIC_RELAXED);
}

/* INVALIDATE_SLOTS: the memory can go at once. */
static void test_invalidate(void)
{
	unsigned int i, ctx, good = 0, cut = 0;

	for (i = 0; i < 20; i++) {
		struct timespec wait = { .tv_nsec = (long)i * 3000000 };
		uint16_t load = start_load(2, 1, &big);
		int status;

		nanosleep(&wait, NULL);
		unset_slot(&slots[2][0]);
		finish(start_invalidate(2));
		nnpu_inproc_unregister(rig.ip, weights, WEIGHTS, NNPU_INPROC_READ);
		munmap(weights, WEIGHTS);
		status = finish(load);
		cut += status == NNPU_STATUS_INVALID_SLOT;
		good += status == NNPU_STATUS_INVALID_SLOT || (!status && !unload(2, 1));
		map_weights();
		for (ctx = 1; ctx <= NUM_CTX; ctx++)
			finish(start_invalidate(ctx));
	}
	ok(good == 20 && cut, "no access through the old entry after INVALIDATE_SLOTS (%u ended)",
	   cut);
	ok(all_free(), "nothing is left");
}

enum { DESTROY_ROUNDS = 10, DESTROY_TRIES = 50 };

static void test_destroy(void)
{
	uint16_t loads[3], other, destroy;
	unsigned int i, tries, good = 0;

	/* If the machine is busy, the first loads may end well before the context does: once more. */
	for (i = 0, tries = 0; i < DESTROY_ROUNDS && tries < DESTROY_TRIES; tries++) {
		struct timespec wait = { .tv_nsec = (long)i * 2000000 };
		unsigned int k, well = 0, aborted = 0;
		bool early;
		int status;

		other = start_load(1, 1, &big);
		for (k = 0; k < 3; k++)
			loads[k] = start_load(3, k + 1, &big);
		nanosleep(&wait, NULL);
		destroy = start_destroy(3);
		if (finish(destroy))
			break;
		for (k = 0; k < 3 && came[loads[k]] && came[loads[k]] < came[destroy]; k++) {
			status = finish(loads[k]);
			well += !status;
			aborted += status == NNPU_STATUS_ABORTED;
		}
		/* If the machine is busy, it may have ended, but not by an abort. */
		early = came[other];
		abort_load(other);
		status = finish(other);
		if (!well) {
			good += aborted == 3 && (!early || !status);
			i++;
		}
		if (!status)
			unload(1, 1);
		create_ctx(3);
	}
	ok(good == DESTROY_ROUNDS, "DESTROY_CTX aborts the loads of the context, and no others");
	ok(all_free(), "nothing is left");
}

/* Each way that the device stops ends loads. */
static void test_stop(void)
{
	unsigned int i, good = 0;
	struct nnpu_cqe cqe;

	for (i = 0; i < 12; i++) {
		struct timespec wait = { .tv_nsec = (long)i * 1000000 };
		uint32_t ctx;

		rig_inject(&rig, NNPU_INJECT_LOAD_STALL, i % 4 == 0);
		for (ctx = 1; ctx <= NUM_CTX; ctx++) {
			start_load(ctx, 1, &big);
			start_load(ctx, 2, &small);
		}
		nanosleep(&wait, NULL);
		if (i % 3 == 0) {
			rig_write(&rig, NNPU_REG_CTRL, 0);
			rig_poll(&rig, NNPU_REG_STATUS, NNPU_STATUS_REG_READY, 0);
		} else if (i % 3 == 1) {
			nnpu_device_power_on_reset(nnpu_inproc_device(rig.ip));
			rig_poll(&rig, NNPU_REG_STATUS, NNPU_STATUS_REG_RESETTING, 0);
		} else {
			nnpu_inproc_doorbell(rig.ip, 0, NNPU_DB_SQ_TAIL, 0xffff);
			rig_poll(&rig, NNPU_REG_STATUS, NNPU_STATUS_REG_FATAL,
				 NNPU_STATUS_REG_FATAL);
		}
		/* The small ones may have ended before. */
		while (rig_peek(&rig.admin, &cqe) && rig_status(&cqe) == NNPU_STATUS_SUCCESS)
			rig_pop(&rig, &rig.admin);
		good += !rig_peek(&rig.admin, &cqe) && rig_enable(&rig) && all_free();
		for (ctx = 1; ctx <= NUM_CTX; ctx++)
			good -= create_ctx(ctx) != 0;
		rig_inject(&rig, NNPU_INJECT_LOAD_STALL, 0);
	}
	ok(good == 12, "disabling, reset and FATAL end loads without completions");
}

static uint32_t random_below(uint32_t n)
{
	static uint32_t state = 1;

	state = state * 1664525 + 1013904223;
	return (state >> 8) % n;
}

/* All at once, in any order. */
static void test_mixture(void)
{
	uint16_t last[NUM_CTX + 1] = { 0 };
	unsigned int i, ctx, bad = 0;

	for (i = 0; i < 300; i++) {
		ctx = 1 + random_below(NUM_CTX);
		switch (random_below(6)) {
		case 0:
		case 1:
			last[ctx] = start_load(ctx, 1 + random_below(4),
					       random_below(4) ? &small : &big);
			break;
		case 2:
			unload(ctx, 1 + random_below(4));
			break;
		case 3:
			finish(start_invalidate(ctx));
			break;
		case 4:
			abort_load(last[ctx]);
			break;
		case 5:
			bad += random_below(4) == 0 &&
			       (finish(start_destroy(ctx)) || create_ctx(ctx));
			break;
		}
		bad += nop() != 0;
	}
	for (ctx = 1; ctx <= NUM_CTX; ctx++)
		bad += finish(start_destroy(ctx)) || create_ctx(ctx);
	ok(!bad, "loads, aborts and control commands of three contexts in any order");
	ok(all_free(), "nothing is left");
}

/* The control thread takes a load while another thread destroys the device. */
static void test_end(void)
{
	const struct timespec wait = { .tv_nsec = 20000000 };
	uint16_t cid;

	ok(!finish(start_load(1, 1, &small)), "a loader is idle");
	atomic_store(&hook, HOOK_SET);
	cid = start_load(1, 2, &small);
	while (atomic_load(&hook) != HOOK_REACHED)
		nanosleep(&wait, NULL);
	rig_close(&rig);
	ok(!came[cid], "a device is destroyed while it takes a load");
}

int main(void)
{
	set_up();
	test_order();
	test_too_many();
	test_turns();
	test_abort_anywhere();
	test_invalidate();
	test_destroy();
	test_stop();
	test_mixture();
	test_end();
	munmap(weights, WEIGHTS);
	return tap_done();
}
