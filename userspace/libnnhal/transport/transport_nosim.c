// SPDX-License-Identifier: MIT
/*
 * A library built without the in-process device.
 */
#include <nnhal/nnhal.h>

#include "base/diag.h"
#include "transport/transport.h"

bool transport_sim_available(void)
{
	return false;
}

enum nnhal_status transport_sim_open(const char *options, struct transport **transport,
				     struct nnhal_diag *diag)
{
	(void)options;
	(void)transport;
	diag_set(diag, "this library was built without the in-process device");
	return NNHAL_STATUS_NO_DRIVER;
}

bool transport_sim_inject(struct transport *t, uint32_t kind, uint32_t count)
{
	(void)t;
	(void)kind;
	(void)count;
	return false;
}

uint64_t transport_sim_counter(struct transport *t, uint32_t offset)
{
	(void)t;
	(void)offset;
	return 0;
}

bool transport_sim_is_running(struct transport *t, struct transport_queue *queue)
{
	(void)t;
	(void)queue;
	return false;
}

bool transport_sim_abort(struct transport *t, struct transport_queue *queue)
{
	(void)t;
	(void)queue;
	return false;
}
