// SPDX-License-Identifier: MIT
/* More calls: results on a queue, memory of the process. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "mixed.h"

#define MANY		4
#define POLL_MS		120000

static bool is_right(struct worker *w, const char *what, enum nnhal_status status)
{
	if (!status && !mixed_is_right(w, &w->map[AT_A / 4], &w->map[AT_OUT / 4],
				       w->party->own->factor)) {
		snprintf(w->diag.message, sizeof(w->diag.message), "wrong result");
		return mixed_wrong(w, what, status);
	}
	return status ? mixed_wrong(w, what, status) : true;
}

/* ---- completion queues ---- */

struct results {
	unsigned int calls;
	enum nnhal_status status;
};

static void on_result(void *context, enum nnhal_status status,
		      const struct nnhal_output_shape *shapes, uint32_t num_shapes,
		      const struct nnhal_timing *timing)
{
	struct results *r = context;

	(void)shapes;
	(void)timing;
	r->calls++;
	if (!r->status)
		r->status = status ? status : num_shapes == 1 ? NNHAL_STATUS_NONE :
							       NNHAL_STATUS_GENERAL_FAILURE;
}

bool mixed_run_completions(struct worker *w)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	struct results r = { .calls = 0 };
	struct pollfd p = { .events = POLLIN };
	enum nnhal_status status;
	unsigned int i, launched = 0;

	mixed_fill(w);
	status = nnhal_completion_queue_create(w->party->device, &o.completions, &w->diag);
	if (status)
		return mixed_wrong(w, "completion_queue_create", status);
	for (i = 0; i < MANY && !status; i++) {
		status = nnhal_prepared_model_execute(w->party->model, &w->request, &o, on_result,
						      &r);
		launched += !status;
	}
	p.fd = nnhal_completion_queue_fd(o.completions);
	while (!status && r.calls < launched && poll(&p, 1, POLL_MS) == 1)
		status = nnhal_completion_queue_dispatch(o.completions, 1 + mixed_random(w, MANY),
							 NULL);
	nnhal_completion_queue_destroy(o.completions);
	if (!status && r.calls != MANY)
		status = NNHAL_STATUS_GENERAL_FAILURE;
	return is_right(w, "completion queue", status ? status : r.status);
}

/* ---- host pointers ---- */

/* Not at the beginning of a page. */
bool mixed_run_pointers(struct worker *w)
{
	uint8_t *bytes = malloc(2 * (size_t)BYTES + 64);
	struct nnhal_memory *memory = NULL;
	enum nnhal_status status;

	mixed_fill(w);
	if (!bytes)
		return mixed_wrong(w, "malloc", NNHAL_STATUS_GENERAL_FAILURE);
	memcpy(bytes + 64, &w->map[AT_A / 4], BYTES);
	status = nnhal_memory_from_pointer(bytes + 64, 2 * (size_t)BYTES,
					   NNHAL_MEMORY_READ | NNHAL_MEMORY_WRITE, &memory,
					   &w->diag);
	if (!status) {
		w->pools[1].memory = memory;
		w->request.num_pools = 2;
		w->in[0].location = (struct nnhal_data_location){ 1, 0, BYTES };
		w->out.location = (struct nnhal_data_location){ 1, BYTES, BYTES };
		status = nnhal_prepared_model_execute_synchronously(w->party->model, &w->request,
								    NULL, NULL, NULL, NULL);
	}
	memcpy(&w->map[AT_OUT / 4], bytes + 64 + BYTES, BYTES);
	nnhal_memory_unref(memory);
	free(bytes);
	return is_right(w, "memory of the process", status);
}
