// SPDX-License-Identifier: MIT
/*
 * Waiting for a job that the driver runs.
 *
 * The result block says early that a job has ended; its fence says it when the driver has heard of it,
 * and only then may memory be unbound. So the fence counts, and the look at the block only keeps the
 * processor awake until the interrupt is near. It does not look at the fence, too: the interrupt may
 * be another processor's, which may need the time.
 */
#include <endian.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/spin.h"
#include "base/tsan.h"
#include "execution/execution_pool.h"
#include "execution/result_wait.h"
#include "transport/queue_ring.h"
#include "transport/transport.h"

/* Looks at the block between two at the counter. */
#define LOOKS	16

static bool has_result(const struct execution *e)
{
	const struct nnpu_args_header *header = e->result->map;
	uint16_t status;

	/* The device writes it meanwhile. What it says counts after the fence only. */
	tsan_racy_reads_begin();
	status = *(const volatile uint16_t *)&header->status;
	tsan_racy_reads_end();
	return le16toh(status) != NNPU_STATUS_PENDING;
}

static bool look(struct execution *e, uint64_t start, uint64_t limit)
{
	unsigned int i;

	do {
		for (i = 0; i < LOOKS; i++)
			if (has_result(e))
				return true;
		pause_cpu();
	} while (cycles() - start < limit);
	return false;
}

int result_wait(struct execution *e)
{
	struct transport *t = e->model->device->transport;
	/* Where memory has to be synchronised the block would stay as it is. */
	bool spins = e->model->preference != NNHAL_PREFER_LOW_POWER && !t->limits.needs_sync, seen;
	uint64_t start = cycles(), limit;
	uint32_t first;
	int err;

	if (!spins)
		return t->ops->wait(t, &e->fence, 1, -1, &first);
	/* An execution object belongs to one thread at a time. */
	if (unlikely(!e->spin.max))
		spin_init(&e->spin, UINT32_MAX);
	limit = spin_limit(&e->spin);
	seen = limit && look(e, start, limit);
	if (seen)
		spin_learn(&e->spin, cycles() - start, true);
	start = cycles();
	err = t->ops->wait(t, &e->fence, 1, -1, &first);
	if (!seen)
		spin_learn_sleep(&e->spin, cycles() - start);
	return err;
}
