// SPDX-License-Identifier: MIT
/*
 * A layout of models and requests that the library does not know is refused before a pointer is
 * followed.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nnhal_fixture.h"

static struct fixture f;
static struct nnhal_device *device;
static struct nnhal_prepared_model *model;
static struct nnhal_burst *burst, *plain;
static struct nnhal_burst_controller *controller;
static struct run r;

static void test_layout(void)
{
	const uint32_t newer = 1u << 16 | NNHAL_HAL_1_3;
	struct nnhal_model m = f.model;
	struct nnhal_request q = r.request;
	struct nnhal_request *requests[] = { &q };
	struct nnhal_burst_result result = NNHAL_BURST_RESULT_INIT;
	struct nnhal_prepared_model *prepared;
	struct nnhal_diag diag = { "" };
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_burst_request_datum packet[8];
	uint32_t versions[2], count;
	uint64_t tag = 0;
	bool supported[2];

	/* Nothing but the version is where this library would look for it. */
	memset(&m, 0xa5, sizeof(m));
	m.hal_version = newer;
	memset(&q, 0xa5, sizeof(q));
	q.hal_version = newer;
	ok(nnhal_device_prepare_model_sync(device, &m, NULL, &prepared) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "model of a newer layout: prepare");
	ok(nnhal_device_get_supported_operations(device, &m, supported, 2, &diag) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && strstr(diag.message, "layout 1"),
	   "supported operations: %s", diag.message);
	ok(!nnhal_validate_model(&m, NULL) &&
	   nnhal_check_model(&m, NULL) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   !nnhal_model_get_min_version(&m, NULL) &&
	   nnhal_model_get_operation_versions(&m, versions, 2, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "validate, versions");
	ok(!nnhal_validate_request(&r.request, &m, true, NULL) &&
	   !nnhal_validate_request(&q, &f.model, true, NULL), "validate a request");
	o.diag = &diag;
	diag.message[0] = '\0';
	ok(nnhal_prepared_model_execute_synchronously(model, &q, &o, NULL, NULL, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && strstr(diag.message, "layout 1"),
	   "request of a newer layout: %s", diag.message);
	ok(nnhal_burst_execute(burst, &q, NULL, NULL, NULL, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_burst_submit(burst, &q, NULL, 0, 0) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_burst_submit_many(burst, (const struct nnhal_request *const *)requests, &tag, 1,
				   NULL, 0, &count) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_burst_wait(burst, &result, 0) == NNHAL_STATUS_INVALID_ARGUMENT, "burst");
	ok(nnhal_burst_serialize_request(&q, NULL, 0, packet, 8) == -EINVAL,
	   "a packet of it");
	ok(nnhal_burst_execute(plain, &q, NULL, NULL, NULL, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_burst_submit(plain, &q, NULL, 0, 0) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "burst without a queue");
	ok(nnhal_burst_controller_execute(controller, &q, NULL, NULL, NULL, NULL, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "burst over message queues");
	/* A place of a burst that saw a good request compares the layout as well. */
	q = r.request;
	ok(!nnhal_burst_execute(burst, &q, NULL, NULL, NULL, NULL), "a good request");
	q.hal_version = newer;
	ok(nnhal_burst_execute(burst, &q, NULL, NULL, NULL, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "the same with another layout");
}

int main(void)
{
	struct nnhal_burst_server *server = NULL;
	struct nnhal_device *noqueues = NULL;
	struct nnhal_prepared_model *other = NULL;
	int sockets[2];

	device = test_device_open();
	make_add_relu(&f);
	run_init(&r, 4);
	if (!ok(!nnhal_device_prepare_model_sync(device, &f.model, NULL, &model) &&
		!nnhal_burst_create(model, NULL, &burst) &&
		!nnhal_device_open("sim:noqueues", &noqueues, NULL) &&
		!nnhal_device_prepare_model_sync(noqueues, &f.model, NULL, &other) &&
		!nnhal_burst_create(other, NULL, &plain) &&
		!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) &&
		!nnhal_burst_serve(sockets[0], model, NULL, &server) &&
		!nnhal_burst_connect(sockets[1], NULL, &controller), "objects"))
		return tap_done();
	test_layout();
	nnhal_burst_controller_destroy(controller);
	nnhal_burst_server_destroy(server);
	close(sockets[0]);
	close(sockets[1]);
	nnhal_burst_unref(plain);
	nnhal_prepared_model_unref(other);
	nnhal_device_unref(noqueues);
	nnhal_burst_unref(burst);
	nnhal_prepared_model_unref(model);
	run_fini(&r);
	nnhal_device_unref(device);
	return tap_done();
}
