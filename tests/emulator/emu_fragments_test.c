// SPDX-License-Identifier: MIT
/*
 * A client that fragments device memory on purpose: programs of one size fill it, every other
 * goes, and larger ones come, which fit into no gap. What the process has of the host stays within
 * the memory of the device and the constant that emulator/README.md states.
 */
#include <string.h>

#include "sample_images.h"
#include "sanitized.h"
#include "tap.h"

/* With sanitizers what counts is that programs are loaded. */
#define MEMORY		((SANITIZED ? 2u : 16u) << 20)
#define CONTEXTS	4u
#define PROGRAMS	600u
#define SLOTS_LOG2	4u
#define ENTRIES_LOG2	4u
#define QUEUES		1u

/* See emulator/README.md. */
#define CONSTANT								\
	(327680 + (QUEUES + 3) * (4096 + 80 * (1ll << ENTRIES_LOG2)) +		\
	 (CONTEXTS + 1) * (8192 + 8 * PROGRAMS + 48 * (1 << SLOTS_LOG2) +	\
			   240 * (QUEUES + 1)) + MEMORY / 8192)
#define STACKS		((3 + QUEUES + 4 * CONTEXTS) * (100ll << 10))
/* For runs of 1, 2, 4, ... pages, of more than all memory at most. */
#define TABLES		(15ll * MEMORY / 256)

/* Programs have constants of so many bytes, then of twice as many. */
static const uint32_t sizes[] = {
	6u << 10, 10u << 10, 20u << 10, 31u << 10, 40u << 10, 60u << 10, 100u << 10, 300u << 10
};
#define NUM_SIZES	(sizeof(sizes) / sizeof(sizes[0]))

static struct rig rig;
static bool loaded[CONTEXTS][PROGRAMS];
static long long most, most_tables;

/* From a file with lines of names and KiB, bytes. */
static long long host_bytes(const char *file, const char *name)
{
	FILE *f = fopen(file, "r");
	long long kib = -1;
	char line[256];

	while (f && kib < 0 && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			kib = atoll(line + strlen(name));
	if (kib < 0) {
		printf("Bail out! no %s in %s\n", name, file);
		exit(1);
	}
	fclose(f);
	return kib << 10;
}

static long long resident(void)
{
	return host_bytes("/proc/self/smaps_rollup", "Anonymous:");
}

static long long page_tables(void)
{
	return host_bytes("/proc/self/status", "VmPTE:");
}

static void sample(void)
{
	long long bytes = resident(), tables = page_tables();

	if (bytes > most)
		most = bytes;
	if (tables > most_tables)
		most_tables = tables;
}

/* Programs of all contexts in turn, until memory is full. Returns how many. */
static unsigned int fill(const uint8_t *image, size_t size)
{
	unsigned int number, c, n = 0;

	for (number = 0; number < PROGRAMS; number++)
		for (c = 0; c < CONTEXTS; c++) {
			if (loaded[c][number])
				continue;
			if (rig_load(&rig, c + 1, number + 1, image, size, NULL))
				return n;
			loaded[c][number] = true;
			n++;
		}
	return n;
}

/* Unload every @step-th program. */
static void thin(unsigned int step)
{
	unsigned int number, c, n = 0;

	for (number = 0; number < PROGRAMS; number++)
		for (c = 0; c < CONTEXTS; c++) {
			if (!loaded[c][number] || n++ % step)
				continue;
			rig_unload(&rig, c + 1, number + 1);
			loaded[c][number] = false;
		}
}

static void comb(uint32_t bytes)
{
	unsigned int i, n, first = 0, more = 0;
	uint64_t used;
	size_t size;

	for (i = 0; i < 2; i++) {
		const uint8_t *image = image_weights(&rig, (bytes << i) / 4, &size);

		n = fill(image, size);
		*(i ? &more : &first) = n;
		sample();
		thin(2);
	}
	used = rig_read64(&rig, NNPU_REG_MEM_USED_LO);
	thin(1);
	ok(first && more >= first / 8,
	   "%u programs of %u KiB, then %u of twice the size; half of them have %llu bytes", first,
	   bytes >> 10, more, (unsigned long long)used);
}

int main(void)
{
	static struct nnpu_slot_entry *slots;
	struct nnpu_inproc_config config;
	long long before, tables_before;
	unsigned int i;

	rig_config(&config);
	config.props.num_engines = 1;
	config.props.num_queues = QUEUES;
	config.props.max_contexts = CONTEXTS;
	config.props.max_programs = PROGRAMS;
	config.props.max_slots_log2 = SLOTS_LOG2;
	config.props.max_entries_log2 = ENTRIES_LOG2;
	config.props.memory_size = MEMORY;
	config.props.max_operand_size = MEMORY / 4;
	rig_open(&rig, &config);
	rig_enable(&rig);
	before = resident();
	tables_before = page_tables();
	slots = rig_alloc(&rig, sizeof(*slots) << SLOTS_LOG2);
	for (i = 1; i <= CONTEXTS; i++)
		if (rig_create_ctx(&rig, i, slots, 1u << SLOTS_LOG2)) {
			printf("Bail out! no context %u\n", i);
			return 1;
		}
	for (i = 0; i < NUM_SIZES; i++)
		comb(sizes[i]);
	most -= before;
	most_tables -= tables_before;
	/* What sanitizers have is beside it. */
	if (!SANITIZED) {
		ok(most > MEMORY / 2 && most <= MEMORY + CONSTANT + STACKS,
		   "the host gave %lld bytes at most; the device has %u, constant and stacks are %lld",
		   most, MEMORY, CONSTANT + STACKS);
		ok(most_tables <= TABLES, "its page tables for that are %lld bytes at most of %lld",
		   most_tables, TABLES);
	}
	ok(!rig_read64(&rig, NNPU_REG_MEM_USED_LO), "nothing is left");
	rig_close(&rig);
	return tap_done();
}
