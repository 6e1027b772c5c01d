// SPDX-License-Identifier: MIT
/*
 * What hostile clients make the device allocate is charged, but for a constant that follows from
 * the limits of the device: emulator/README.md states it. The program is linked with --wrap for
 * the functions that allocate.
 */
#include <endian.h>
#include <malloc.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/device_memory.h"
#include "core/device_state.h"
#include "core/fetch.h"
#include "core/loads.h"
#include "core/slots.h"
#include "sample_images.h"
#include "sanitized.h"
#include "tap.h"
#include "watched_bus.h"
#include "watched_calls.h"

#define MEMORY		(24u << 20)
#define CONTEXTS	4u
#define PROGRAMS	8u
#define SLOTS_LOG2	4u
#define ENTRIES_LOG2	4u
#define QUEUES		2u
#define ENGINES		2u
/* Of a large image. Its reports are more than what the constant leaves unseen. */
#define COMMANDS	60000u
#define REPORTS		(COMMANDS * sizeof(struct nnpu_command_report))
/* Elements of an operand of a job. */
#define N		(1u << 17)
#define ROUNDS		6
/* Of a program that has more than its tables. */
#define WEIGHTS		(1u << 18)

/* Of a program with small constants. */
#define PIECES	6000u
/* Tables of a load with so many are large. */
#define TENSORS	10000u
/* Programs of many sizes: elements of their constants, and rounds of loads. */
#define SIZES		12u
#define MIXED_ROUNDS	40u
/* Pages from here on take long to free. */
#define LARGE		(128u << 10)
/* Contexts and queues that are made and go while nothing is freed. */
#define PILE	2000u

/* The constant without stacks, which the C library maps, and what exists from the start. */
#define CONSTANT								\
	(327680 + (CONTEXTS + 1) * (8192 + 8 * PROGRAMS + 48 * (1u << SLOTS_LOG2) + \
				    240 * (QUEUES + 1)) +			\
	 (QUEUES + 3) * (4096 + 80 * (1u << ENTRIES_LOG2)) +			\
	 (ENGINES + QUEUES + 3 * CONTEXTS) * 1024)
/* What the README counts for each of them. */
_Static_assert(sizeof(struct nnpu_ctx) + 4 * TENSOR_ALIGN + NNPU_PAGE_SIZE <= 8192 &&
	       sizeof(struct slot_map) <= 48 &&
	       NNPU_QUEUE_PRIORITY_NUM * sizeof(struct lane) <= 240 &&
	       sizeof(struct fetched) <= 80 && sizeof(struct load) + 32 <= 2 * 80,
	       "the constant has room for all objects");

/* The C library's own part of an allocation. */
#define OVERHEAD	8

static atomic_llong live;

static void count(long long bytes)
{
	atomic_fetch_add(&live, bytes);
}

/* What a mapping takes. */
static long long pages(size_t len)
{
	return (long long)((len + 4095) & ~(size_t)4095);
}

static void *counted(void *p)
{
	if (p)
		count((long long)malloc_usable_size(p) + OVERHEAD);
	return p;
}

static void uncount(void *p)
{
	if (p)
		count(-OVERHEAD - (long long)malloc_usable_size(p));
}

void *__wrap_malloc(size_t size)
{
	return counted(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t size)
{
	uncount(p);
	return counted(__real_realloc(p, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return counted(__real_aligned_alloc(alignment, size));
}

/* Who frees something large waits until the test goes on. */
static atomic_bool blocked, blocking;
static atomic_size_t large = LARGE;

static void block(size_t bytes)
{
	while (bytes >= atomic_load(&large) && atomic_load(&blocking)) {
		atomic_store(&blocked, true);
		usleep(200);
	}
}

void __wrap_free(void *p)
{
	if (p)
		block(malloc_usable_size(p));
	uncount(p);
	__real_free(p);
}

/* Larger mappings fail. Device memory is one of them, made before all else. */
static atomic_uint mappings;
static atomic_size_t most_addresses = SIZE_MAX;

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	void *p = MAP_FAILED;

	if (len < atomic_load(&most_addresses))
		p = __real_mmap(addr, len, prot, flags, fd, off);

	if (p != MAP_FAILED)
		count(pages(len));
	atomic_fetch_add(&mappings, 1);
	return p;
}

int __wrap_munmap(void *p, size_t len)
{
	block(len);
	count(-pages(len));
	return __real_munmap(p, len);
}

void *__wrap_mremap(void *p, size_t old, size_t new, int flags)
{
	void *q = __real_mremap(p, old, new, flags);

	if (q != MAP_FAILED)
		count(pages(new) - pages(old));
	return q;
}

int __wrap_madvise(void *p, size_t len, int advice)
{
	block(len);
	return __real_madvise(p, len, advice);
}

/* The bus takes its time with reports, so that many loads have theirs at once. */
static uintptr_t reports_first, reports_end;

static int slow_dma_write(void *bus, uint64_t addr, const void *buf, size_t len)
{
	if (addr >= reports_first && addr < reports_end)
		usleep(6000);
	return bus_ops->dma_write(bus, addr, buf, len);
}

void watch_bus(struct nnpu_bus_ops *ops)
{
	ops->dma_write = slow_dma_write;
}

static struct rig rig;
static struct job_rig jobs[CONTEXTS + 1];
static struct nnpu_device *dev;
static long long base;
static unsigned int samples, beyond;
static long long furthest, largest;
static uint8_t *presence;

/* Bytes of device memory that the host has given. */
static long long resident(void)
{
	uint64_t pages = dev->runs.bytes >> 12, i;
	long long n = 0;

	if (mincore(dev->runs.base, dev->runs.bytes, presence)) {
		printf("Bail out! mincore\n");
		exit(1);
	}
	for (i = 0; i < pages; i++)
		n += presence[i] & 1;
	return n << 12;
}

static long long used(void)
{
	long long bytes;

	pthread_mutex_lock(&dev->lock);
	bytes = (long long)(dev->mem_used + dev->mem_leaving);
	pthread_mutex_unlock(&dev->lock);
	return bytes;
}

/* While nothing moves, what is there beside what is charged. */
static void sample(void)
{
	long long before = used(), bytes = atomic_load(&live), pages_in = resident();

	if (used() != before || atomic_load(&live) != bytes)
		return;
	samples++;
	bytes += pages_in - base;
	if (bytes > largest)
		largest = bytes;
	bytes -= before;
	if (bytes > furthest)
		furthest = bytes;
	if (bytes > (long long)CONSTANT)
		beyond++;
}

/* image_add() with many commands, of which all but the first are wrong. */
static uint8_t *image_large(const struct image *im, size_t *size)
{
	size_t off = (im->size + 7) & ~(size_t)7, i;
	struct nnpu_program_header *h;
	uint8_t *bytes;

	*size = off + COMMANDS * sizeof(struct nnpu_command);
	bytes = rig_alloc(&rig, *size);
	memcpy(bytes, im->bytes, im->size);
	h = (struct nnpu_program_header *)bytes;
	for (i = 0; i < COMMANDS; i++)
		memcpy(bytes + off + i * sizeof(struct nnpu_command),
		       im->bytes + le32toh(h->commands_off), sizeof(struct nnpu_command));
	h->commands_off = htole32((uint32_t)off);
	h->num_commands = htole32(COMMANDS);
	h->size = htole32((uint32_t)*size);
	return bytes;
}

/* LOAD_CHECK of all contexts at once. Returns how many gave reports. */
static unsigned int check_all(const uint8_t *image, size_t size, const uint8_t *reports)
{
	unsigned int i, checked = 0;
	struct nnpu_cqe cqe;

	for (i = 1; i <= CONTEXTS; i++) {
		struct nnpu_sqe_load_program c = {
			.opcode = NNPU_ADMIN_LOAD_PROGRAM,
			.flags = NNPU_LOAD_CHECK,
			.ctx = htole32(i),
			.image = { .addr = rig_addr(image), .size = htole64(size) },
			.reports = { .addr = rig_addr(reports + (i - 1) * REPORTS), .size = htole64(REPORTS) },
		};

		rig_push(&rig, &rig.admin, (struct nnpu_sqe *)&c);
	}
	rig_kick(&rig, &rig.admin);
	for (i = 0; i < CONTEXTS; i++) {
		while (!rig_peek(&rig.admin, &cqe)) {
			sample();
			usleep(200);
		}
		checked += rig_status(&cqe) != NNPU_STATUS_NO_MEMORY;
		rig_pop(&rig, &rig.admin);
	}
	return checked;
}

/* A job of context @i, in memory that it finds while it runs. */
static bool run(unsigned int i)
{
	struct nnpu_arg *args = job_args(&jobs[i], 2, 1);
	unsigned int n;

	for (n = 0; n < 3; n++) {
		job_arg(&args[n], 1, 0, N * 4);
		if (n == 2)
			break;
		args[n].flags = htole16(NNPU_ARG_SHAPE);
		args[n].rank = 1;
		args[n].dims[0] = htole32(N);
	}
	return !job_execute(&jobs[i], 1, NULL);
}

/* A job of each context. Returns how many succeed. */
static unsigned int run_all(void)
{
	unsigned int i, good = 0;

	for (i = 1; i <= CONTEXTS; i++) {
		good += run(i);
		sample();
	}
	return good;
}

/* An image with many small constants, of which each is a piece. */
static uint8_t *image_pieces(size_t *size)
{
	static const float values[64];
	uint32_t in, out, one, act;
	struct image im;
	uint8_t *bytes;

	image_init(&im);
	in = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 64, -1);
	act = image_scalar(&im, 0);
	one = image_const(&im, NNPU_TYPE_TENSOR_FLOAT32, 64, values, sizeof(values));
	out = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 64, -1);
	image_command(&im, NNPU_OP_ADD, 3, 1, in, one, act, out);
	image_finish(&im);
	bytes = image_more(&rig, &im, &im.tensors[one], PIECES, size);
	image_free(&im);
	return bytes;
}

/* Programs until there is no more memory. Returns how many. */
static unsigned int fill(const uint8_t *image, size_t size)
{
	unsigned int i, number, loaded = 0;

	for (i = 1; i <= CONTEXTS; i++)
		for (number = 2; number <= PROGRAMS; number++) {
			struct nnpu_sqe_load_program c = {
				.opcode = NNPU_ADMIN_LOAD_PROGRAM,
				.ctx = htole32(i),
				.program = htole32(number),
				.image = { .addr = rig_addr(image), .size = htole64(size) },
			};

			loaded += !rig_admin(&rig, &c, NULL);
			sample();
		}
	return loaded;
}

static void empty(void)
{
	unsigned int i, number;

	for (i = 1; i <= CONTEXTS; i++)
		for (number = 2; number <= PROGRAMS; number++)
			rig_unload(&rig, i, number);
}

static void load_bad(const struct image *im)
{
	uint8_t *image = rig_alloc(&rig, im->size);
	struct nnpu_sqe_load_program c = {
		.opcode = NNPU_ADMIN_LOAD_PROGRAM, .ctx = htole32(1), .program = htole32(2),
		.image = { .addr = rig_addr(image), .size = htole64(im->size) },
	};
	unsigned int i, refused = 0;

	memcpy(image, im->bytes, im->size);
	((struct nnpu_program_header *)image)->magic = 0;
	for (i = 0; i < PILE; i++) {
		refused += rig_admin(&rig, &c, NULL) == NNPU_STATUS_PROGRAM_HEADER;
		sample();
	}
	ok(refused == PILE, "%u programs without a header", refused);
}

static void churn_contexts(void)
{
	unsigned int i, made = 0;

	for (i = 0; i < PILE; i++) {
		made += !rig_destroy_ctx(&rig, 1 + i % CONTEXTS) &&
			!rig_create_ctx(&rig, 1 + i % CONTEXTS, jobs[1].slots, 1u << SLOTS_LOG2);
		sample();
	}
	ok(made == PILE, "%u contexts", made);
}

static void churn_queues(void)
{
	struct nnpu_sqe_create_queue c = {
		.opcode = NNPU_ADMIN_CREATE_QUEUE, .flags = NNPU_QUEUE_KERNEL,
		.qid = htole16(2), .vector = htole16(2),
		.sq_entries = htole32(1u << ENTRIES_LOG2), .cq_entries = htole32(1u << ENTRIES_LOG2),
		.sq_addr = rig_addr(rig_alloc(&rig, 4096)), .cq_addr = rig_addr(rig_alloc(&rig, 4096)),
	};
	unsigned int i, made = 0;

	for (i = 0; i < PILE; i++) {
		made += !rig_admin(&rig, &c, NULL) &&
			!rig_queue_cmd(&rig, NNPU_ADMIN_DESTROY_QUEUE, 2, 0);
		sample();
	}
	ok(made == PILE, "%u queues", made);
}

/* What has left is free: nobody waits for it while the cleaner is blocked. */
static void wait_all_left(void)
{
	pthread_mutex_lock(&dev->lock);
	while (dev->mem_leaving)
		pthread_cond_wait(&dev->left, &dev->lock);
	pthread_mutex_unlock(&dev->lock);
}

/* The device is at something large that it frees, while objects come and go. */
static void pile_up(const uint8_t *weights, size_t size, const struct image *add)
{
	const uint8_t *tensors;

	wait_all_left();
	ok(!rig_load(&rig, 1, 2, weights, size, NULL), "a large program");
	atomic_store(&blocked, false);
	atomic_store(&blocking, true);
	rig_unload(&rig, 1, 2);
	while (!atomic_load(&blocked))
		usleep(200);
	churn_contexts();
	churn_queues();
	tensors = image_tensors(&rig, TENSORS, &size);
	ok(!rig_load(&rig, 1, 2, tensors, size, NULL), "a program with many tensors is loaded");
	rig_unload(&rig, 1, 2);
	load_bad(add);
	ok(rig_read64(&rig, NNPU_REG_MEM_USED_LO) < WEIGHTS, "hardly any memory is used");
	atomic_store(&blocking, false);
}

/* INVALIDATE_SLOTS does not wait until page tables that were cached are free. */
static void invalidate(void)
{
	unsigned int i;

	rig_table(&rig, jobs[1].operands, N * 4, 1, &jobs[1].slots[1].mem);
	rig_invalidate(&rig, 1, 1, 1);
	ok(run(1), "a job with page tables");
	wait_all_left();
	atomic_store(&blocked, false);
	atomic_store(&large, NNPU_PAGE_SIZE);
	atomic_store(&blocking, true);
	ok(!rig_invalidate(&rig, 1, 1, 1), "they are invalidated");
	/* Only a thread that never does gets to the end of this. */
	for (i = 0; i < 300000 && !atomic_load(&blocked); i++)
		usleep(200);
	ok(atomic_load(&blocked), "another thread frees them");
	atomic_store(&blocking, false);
	atomic_store(&large, LARGE);
	rig_slot(&jobs[1].slots[1], jobs[1].operands, N * 4,
		 NNPU_SLOT_VALID | NNPU_SLOT_READ | NNPU_SLOT_WRITE);
	rig_invalidate(&rig, 1, 1, 1);
}

/* A device needs addresses, and says so. */
static void addresses(void)
{
	struct nnpu_inproc_config config;
	struct nnpu_inproc *ip;
	char error[256] = "";

	rig_config(&config);
	config.props.memory_size = NNPU_DEVICE_MIN_MEMORY;
	config.props.max_operand_size = NNPU_DEVICE_MIN_MEMORY;
	atomic_store(&most_addresses, NNPU_DEVICE_MIN_MEMORY);
	ip = nnpu_inproc_create(&config, error, sizeof(error));
	atomic_store(&most_addresses, SIZE_MAX);
	ok(!ip && strstr(error, "addresses"), "no device without addresses: %s", error);
	nnpu_inproc_destroy(ip);
	error[0] = 0;
	/* Sanitizers leave no room for the largest. */
	config.props.memory_size = SANITIZED ? 1ull << 30 : NNPU_DEVICE_MAX_MEMORY;
	ip = nnpu_inproc_create(&config, error, sizeof(error));
	ok(ip != NULL, "a device with %llu bytes: %s", (unsigned long long)config.props.memory_size,
	   error);
	nnpu_inproc_destroy(ip);
}

/* Programs of all sizes, every other of which goes; then larger ones, and so on. */
static void mix(void)
{
	unsigned int i, round, refused = 0, loads = 0;
	struct { uint8_t *bytes; size_t size; } images[SIZES];
	uint64_t heap, grown;

	for (i = 0; i < SIZES; i++)
		images[i].bytes = image_weights(&rig, 700u + (1u << (i + 5)) + 300 * i, &images[i].size);
	heap = mallinfo2().arena + mallinfo2().hblkhd;
	for (round = 0; round < MIXED_ROUNDS; round++)
		for (i = 0; i < CONTEXTS * (PROGRAMS - 1); i++) {
			unsigned int n = (i * 7 + round * 5 + i * round) % SIZES;
			uint32_t ctx = 1 + i / (PROGRAMS - 1), number = 2 + i % (PROGRAMS - 1);
			struct nnpu_sqe_load_program c = {
				.opcode = NNPU_ADMIN_LOAD_PROGRAM,
				.ctx = htole32(ctx), .program = htole32(number),
				.image = { .addr = rig_addr(images[n].bytes),
					   .size = htole64(images[n].size) },
			};

			if (round && (i + round) % 2)
				continue;
			if (round)
				rig_unload(&rig, ctx, number);
			loads++;
			refused += rig_admin(&rig, &c, NULL) != 0;
			sample();
		}
	ok(!refused, "%u programs of many sizes were loaded, %u were not", loads, refused);
	grown = mallinfo2().arena + mallinfo2().hblkhd;
	ok(grown <= heap + CONSTANT, "the heap has grown by %lld", (long long)(grown - heap));
	empty();
}

static void setup(struct image *add)
{
	struct nnpu_inproc_config config;
	unsigned int i;

	rig_config(&config);
	config.props.num_engines = ENGINES;
	config.props.num_threads = ENGINES + 1;
	config.props.num_queues = QUEUES;
	config.props.max_contexts = CONTEXTS;
	config.props.max_programs = PROGRAMS;
	config.props.max_slots_log2 = SLOTS_LOG2;
	config.props.max_entries_log2 = ENTRIES_LOG2;
	config.props.memory_size = MEMORY;
	config.props.max_operand_size = MEMORY / 4;
	rig_open(&rig, &config);
	dev = nnpu_inproc_device(rig.ip);
	presence = __real_malloc(dev->runs.bytes >> 12);
	rig_enable(&rig);
	image_add(add, 0);
	base = atomic_load(&live);
	atomic_store(&mappings, 0);
	for (i = 1; i <= CONTEXTS; i++) {
		jobs[i].rig = &rig;
		jobs[i].ctx = i;
		jobs[i].slots = rig_alloc(&rig, 16 * sizeof(*jobs[i].slots));
		jobs[i].block = rig_alloc(&rig, 16384);
		jobs[i].operands = rig_alloc(&rig, N * 4);
		rig_slot(&jobs[i].slots[0], jobs[i].block, 16384,
			 NNPU_SLOT_VALID | NNPU_SLOT_READ | NNPU_SLOT_WRITE);
		rig_slot(&jobs[i].slots[1], jobs[i].operands, N * 4,
			 NNPU_SLOT_VALID | NNPU_SLOT_READ | NNPU_SLOT_WRITE);
		jobs[i].q = &rig.queues[1];
		if (rig_create_ctx(&rig, i, jobs[i].slots, 16) ||
		    (i == 1 && rig_create_queue(&rig, 1, 0, NNPU_QUEUE_KERNEL, 16)) ||
		    rig_load(&rig, i, 1, add->bytes, add->size, NULL)) {
			printf("Bail out! no context %u\n", i);
			exit(1);
		}
	}
}

int main(void)
{
	unsigned int i, checked = 0, good = 0, loaded;
	uint8_t *large, *pieces, *weights, *reports;
	struct image add;
	size_t size;

	setup(&add);
	large = image_large(&add, &size);
	reports = rig_alloc(&rig, CONTEXTS * REPORTS);
	reports_first = (uintptr_t)reports;
	reports_end = reports_first + CONTEXTS * REPORTS;
	for (i = 0; i < ROUNDS; i++) {
		checked += check_all(large, size, reports);
		good += run_all();
	}
	ok(checked >= ROUNDS, "%u programs were checked", checked);
	ok(good == ROUNDS * CONTEXTS, "%u jobs ran", good);
	pieces = image_pieces(&size);
	loaded = fill(pieces, size);
	ok(loaded > CONTEXTS && loaded < CONTEXTS * (PROGRAMS - 1),
	   "%u programs of small pieces fill the device", loaded);
	empty();
	weights = image_weights(&rig, WEIGHTS, &size);
	for (i = 0; i < 2; i++) {
		loaded = fill(weights, size);
		ok(loaded > CONTEXTS && loaded < CONTEXTS * (PROGRAMS - 1),
		   "%u programs fill the device", loaded);
		empty();
	}
	invalidate();
	pile_up(weights, size, &add);
	mix();
	for (i = 1; i <= CONTEXTS; i++)
		rig_destroy_ctx(&rig, i);
	ok(samples >= ROUNDS * CONTEXTS, "%u times nothing moved", samples);
	ok(!beyond, "never is more there than what is charged and %u bytes: %lld", CONSTANT, furthest);
	ok(largest <= (long long)MEMORY + (long long)CONSTANT,
	   "never is there more than the device has: %lld", largest);
	ok(!atomic_load(&mappings), "no piece was without addresses: %u", atomic_load(&mappings));
	ok(!rig_read64(&rig, NNPU_REG_MEM_USED_LO), "nothing is left");
	image_free(&add);
	rig_close(&rig);
	__real_free(presence);
	addresses();
	return tap_done();
}
