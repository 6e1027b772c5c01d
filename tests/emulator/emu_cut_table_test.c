// SPDX-License-Identifier: MIT
/*
 * A table of a worker whose end was given back, and which then grows: what was the table is free
 * for others only after its end is, which the cleaner may come to late.
 */
#include <string.h>

#include "core/cleaner.h"
#include "core/device_memory.h"
#include "core/device_state.h"
#include "core/engine.h"
#include "core/engine_memory.h"
#include "tap.h"

#define PAGE	4096u
#define TABLE	(60 * PAGE)
#define NEED	(2 * PAGE)
/* What is left of the table, and room for struct leaving. */
#define LATER	(4 * PAGE)

static struct nnpu_device dev;
static struct nnpu_engine worker;
static atomic_uint count, contended;
static atomic_bool to_end;

static void set_up(void)
{
	char error[128];

	dev.props.memory_size = 64ull << 20;
	dev.props.max_slots_log2 = 4;
	dev.props.max_entries_log2 = 4;
	/* The cleaner ends when it has freed everything. */
	dev.all_left = true;
	pthread_mutex_init(&dev.lock, NULL);
	pthread_cond_init(&dev.left, NULL);
	pthread_cond_init(&dev.leaves, NULL);
	worker.dev = &dev;
	worker.progress = (struct job_progress) {
		.dev = &dev, .counter = &count, .contended = &contended,
		.abort = &to_end, .stop = &to_end,
	};
	ok(mem_init(&dev, error, sizeof(error)), "memory");
}

static bool grow(uint32_t bytes)
{
	struct exec_state *x = &worker.exec;

	return exec_grow(&worker, (void **)&x->args, &x->max_args_len, bytes, 1);
}

int main(void)
{
	struct exec_state *x = &worker.exec;
	uint8_t *other;
	unsigned int i;

	set_up();
	ok(grow(TABLE), "a table");
	memset(x->args, 0x5a, NEED);
	x->tables.args = NEED;
	pthread_mutex_lock(&dev.lock);
	exec_give(&worker);
	pthread_mutex_unlock(&dev.lock);
	ok(x->max_args_len < TABLE && dev.mem_leaving, "its end leaves");
	ok(grow(2 * TABLE), "it grows");
	for (i = 0; i < NEED && x->args[i] == 0x5a; i++)
		;
	ok(i == NEED, "with what was in it");

	other = mem_alloc(&dev, TABLE);
	ok(other, "memory for somebody else");
	if (other)
		memset(other + LATER, 0xa5, TABLE - LATER);
	cleaner_run(&dev);
	for (i = LATER; other && i < TABLE && other[i] == 0xa5; i++)
		;
	ok(i == TABLE, "the cleaner leaves it alone");
	ok(dev.mem_used == mem_size(2 * TABLE) && !dev.mem_leaving, "in use: %llu bytes",
	   (unsigned long long)dev.mem_used);
	mem_fini(&dev);
	return tap_done();
}
