// SPDX-License-Identifier: MIT
/*
 * Client of a burst server: what it sends and what it does not, how connections are made, peers
 * that violate the protocol, fork(). Names begin with the line of the conformance list.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/resource.h>

#include <nnpu_hw.h>

#include "base/monotonic.h"
#include "burst_waiter.h"
#include "device/device_private.h"
#include "fmq/burst_controller_private.h"
#include "transport/transport.h"

/* ---- what is not sent ---- */

struct second {
	struct nnhal_burst_controller *controller;
	struct run *run;
	enum nnhal_status status;
};

static void *run_thread(void *data)
{
	struct second *s = data;

	s->status = run(s->controller, s->run);
	return NULL;
}

/* Was the memory freed while a request has it, and does its slot still stand for it? */
static bool keeps(struct nnhal_burst_controller *c, const struct nnhal_memory *memory)
{
	bool found = false;
	uint32_t i;

	pthread_mutex_lock(&c->lock);
	for (i = 0; i < NUM_SLOTS; i++)
		found |= c->slots[i].state == SLOT_USED && c->slots[i].doomed &&
			 c->slots[i].memory == memory;
	pthread_mutex_unlock(&c->lock);
	return found;
}

static void test_unsent(void)
{
	struct nnhal_burst_controller_options small = NNHAL_BURST_CONTROLLER_OPTIONS_INIT;
	struct nnhal_execute_options options = NNHAL_EXECUTE_OPTIONS_INIT;
	static struct waiter w;
	struct nnhal_burst_controller *c;
	struct nnhal_burst_server *server;
	enum nnhal_status status;
	struct second second;
	pthread_t thread;
	bool sent = true;
	struct run r, other;
	int socket;

	run_init(&r, 4);
	run_init(&other, 4);
	server = start_waiter(&w, &socket);
	/* Room for the request as it is: 2 + 2 + 1 + 1. */
	small.request_datums = 6;
	c = connect_to(socket, &small);
	ok(!nnhal_burst_controller_execute(c, &r.request, NULL, NULL, NULL, NULL, &sent) && sent,
	   "E20 a packet as large as the queue");
	r.inputs[0].num_dimensions = 1;
	r.dims[0][0] = 4;
	status = nnhal_burst_controller_execute(c, &r.request, NULL, NULL, NULL, NULL, &sent);
	ok(status == NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT && !sent,
	   "E20 one larger is not sent and may take another path");
	r.inputs[0].num_dimensions = 0;
	options.has_deadline = true;
	options.deadline_ns = UINT64_MAX;
	status = nnhal_burst_controller_execute(c, &r.request, &options, NULL, NULL, NULL, &sent);
	ok(status == NNHAL_STATUS_INVALID_ARGUMENT && !sent, "E19 a deadline takes another path");
	options.has_deadline = false;
	options.has_loop_timeout = true;
	status = nnhal_burst_controller_execute(c, &r.request, &options, NULL, NULL, NULL, &sent);
	ok(status == NNHAL_STATUS_INVALID_ARGUMENT && !sent, "E19 so does a loop timeout");
	r.pools[0].memory = NULL;
	r.pools[0].token = 1;
	status = nnhal_burst_controller_execute(c, &r.request, NULL, NULL, NULL, NULL, &sent);
	ok(status == NNHAL_STATUS_INVALID_ARGUMENT && !sent, "E19 and a token");
	r.pools[0].memory = r.memory;
	r.pools[0].token = 0;

	second = (struct second){ c, &r, 0 };
	w.hold = true;
	pthread_create(&thread, NULL, run_thread, &second);
	while (!w.holding)
		usleep(100);
	status = nnhal_burst_controller_execute(c, &other.request, NULL, NULL, NULL, NULL, &sent);
	ok(status == NNHAL_STATUS_GENERAL_FAILURE && !sent,
	   "E20 a second request at the same time is not sent");
	/* Memory that is freed while it is in use: the request keeps it. */
	ok(!nnhal_burst_controller_free_memory(c, r.memory) && keeps(c, r.memory) && w.present == 1,
	   "E17 memory of a running request is freed after it");
	w.hold = false;
	pthread_join(thread, NULL);
	ok(!second.status && w.executions == 2, "E20 the first is not disturbed");
	ok(!run(c, &other) && !run(c, &r), "and others follow");
	nnhal_burst_controller_destroy(c);
	ok(nnhal_burst_server_wait(server, LONG_NS) == NNHAL_STATUS_DEAD_OBJECT && !w.present,
	   "E23 the controller's end ends the burst");
	nnhal_burst_server_destroy(server);
	run_fini(&r);
	run_fini(&other);
}

/* More memory objects than a burst has slots for: to wait does not help. */
static void test_too_many(void)
{
	static struct nnhal_request_pool pools[257];
	const uint32_t num = sizeof(pools) / sizeof(pools[0]);
	static struct waiter w;
	struct nnhal_burst_controller *c;
	struct nnhal_burst_server *server;
	enum nnhal_status status;
	uint32_t i;
	int socket;
	struct run r;

	run_init(&r, 4);
	server = start_waiter(&w, &socket);
	c = connect_to(socket, NULL);
	pools[0] = r.pools[0];
	for (i = 1; i < num; i++)
		die_if(nnhal_memory_create(4096, &pools[i].memory, NULL), "memory");
	r.request.pools = pools;
	r.request.num_pools = num;
	status = run(c, &r);
	ok(status == NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT, "E20 257 memory objects: %s",
	   nnhal_status_name(status));
	r.request.num_pools = num - 1;
	status = run(c, &r);
	ok(!status, "E20 256 of them: %s", nnhal_status_name(status));
	nnhal_burst_controller_destroy(c);
	nnhal_burst_server_destroy(server);
	for (i = 1; i < num; i++)
		nnhal_memory_unref(pools[i].memory);
	run_fini(&r);
}

/* ---- a server that breaks the result queue ---- */

static void test_corrupt_results(void)
{
	static const uint64_t jumps[] = { 2000, UINT64_C(1) << 40, UINT64_MAX };
	struct nnhal_burst_controller *c;
	struct nnhal_burst_server *server;
	struct second second;
	static struct waiter w;
	unsigned int i, wrong = 0;
	pthread_t thread;
	int socket;
	struct run r;

	run_init(&r, 4);
	for (i = 0; i < 3; i++) {
		server = start_waiter(&w, &socket);
		c = connect_to(socket, NULL);
		wrong += run(c, &r) != NNHAL_STATUS_NONE;
		second = (struct second){ c, &r, 0 };
		w.hold = true;
		pthread_create(&thread, NULL, run_thread, &second);
		while (!w.holding)
			usleep(100);
		atomic_fetch_add(&server->results->header->write_count, jumps[i]);
		send(server->link.socket, &(uint32_t){ NNHAL_FMQ_DOORBELL }, 4, MSG_NOSIGNAL);
		pthread_join(thread, NULL);
		wrong += second.status != NNHAL_STATUS_GENERAL_FAILURE;
		wrong += run(c, &r) != NNHAL_STATUS_DEAD_OBJECT;
		w.hold = false;
		wrong += nnhal_burst_server_wait(server, LONG_NS) != NNHAL_STATUS_DEAD_OBJECT;
		nnhal_burst_controller_destroy(c);
		nnhal_burst_server_destroy(server);
	}
	ok(!wrong, "E24 impossible result counters end the burst at the client as well");
	run_fini(&r);
}

/* ---- making a connection ---- */

static enum nnhal_status hello(int socket, const int *fds, uint32_t num_fds, uint32_t version)
{
	struct link_message message;
	struct burst_link link;
	struct link_extra extra;
	int err;

	memset(&message, 0, sizeof(message));
	message.type = LINK_HELLO;
	message.version = version;
	die_if(link_init(&link, socket, false), "link");
	die_if(link_send(&link, &message, fds, num_fds, UINT64_MAX), "HELLO");
	while ((err = link_receive(&link, LINK_WELCOME, &message, &extra)) == -EAGAIN)
		usleep(100);
	link_close_fds(&extra);
	link_fini(&link);
	return err ? NNHAL_STATUS_DEAD_OBJECT : (enum nnhal_status)message.status;
}

static void test_connect(void)
{
	struct nnhal_burst_controller_options options = NNHAL_BURST_CONTROLLER_OPTIONS_INIT;
	struct nnhal_burst_controller *c = (void *)1;
	struct nnhal_burst_server *server;
	static struct waiter w;
	struct nnhal_diag diag;
	struct nnhal_fmq *q;
	int sv[2], fds[3];

	options.diag = &diag;
	options.timeout_ms = 20;
	ok(nnhal_burst_connect(-1, &options, &c) == NNHAL_STATUS_INVALID_ARGUMENT && !c &&
	   diag.message[0], "connect: no socket");
	ok(nnhal_burst_connect(0, &options, &c) == NNHAL_STATUS_INVALID_ARGUMENT, "not a socket");
	ok(nnhal_burst_connect(0, NULL, NULL) == NNHAL_STATUS_INVALID_ARGUMENT, "NULL pointer");
	make_sockets(sv);
	options.request_datums = 1;
	ok(nnhal_burst_connect(sv[0], &options, &c) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "a queue of one datum");
	options.request_datums = 0;
	ok(nnhal_burst_connect(sv[0], &options, &c) == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT &&
	   !c && diag.message[0], "H03 a server that does not answer");
	while (send(sv[0], "full", 4, MSG_DONTWAIT) == 4)
		;
	ok(nnhal_burst_connect(sv[0], &options, &c) == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT &&
	   !c && diag.message[0], "H03 or whose socket is full");
	close(sv[1]);
	ok(nnhal_burst_connect(sv[0], &options, &c) == NNHAL_STATUS_DEAD_OBJECT && !c,
	   "H03 nobody at the other end");
	close(sv[0]);

	die_if(nnhal_fmq_create(24, 16, NNHAL_FMQ_WRITER, &q), "queue");
	fds[0] = fds[1] = fds[2] = nnhal_fmq_fd(q);
	server = start_waiter(&w, &sv[0]);
	ok(hello(sv[0], fds, 1, LINK_VERSION) == NNHAL_STATUS_GENERAL_FAILURE,
	   "E01 one queue only");
	ok(nnhal_burst_server_wait(server, LONG_NS) == NNHAL_STATUS_GENERAL_FAILURE,
	   "and the burst has ended");
	nnhal_burst_server_destroy(server);
	close(sv[0]);
	server = start_waiter(&w, &sv[0]);
	ok(hello(sv[0], fds, 3, LINK_VERSION) == NNHAL_STATUS_GENERAL_FAILURE, "E01 three queues");
	nnhal_burst_server_destroy(server);
	close(sv[0]);
	server = start_waiter(&w, &sv[0]);
	ok(hello(sv[0], fds, 2, LINK_VERSION + 1) == NNHAL_STATUS_GENERAL_FAILURE,
	   "E01 a protocol of another version");
	nnhal_burst_server_destroy(server);
	close(sv[0]);
	server = start_waiter(&w, &sv[0]);
	fds[1] = 1;
	ok(hello(sv[0], fds, 2, LINK_VERSION) == NNHAL_STATUS_GENERAL_FAILURE,
	   "E01 a queue that is none");
	nnhal_burst_server_destroy(server);
	close(sv[0]);
	server = start_waiter(&w, &sv[0]);
	nnhal_burst_server_destroy(server);
	ok(true, "E22 a server whose client never came");
	close(sv[0]);
	nnhal_fmq_destroy(q);
}

/* ---- hostile answers to GET ---- */

/* Play the client of @server: create queues, send one request and one answer of any kind. */
static enum nnhal_status answer_with(const struct link_message *answer, const int *fds,
				     uint32_t num_fds, enum nnhal_status *wait)
{
	static const int32_t slot = 3;
	struct nnhal_burst_request_datum packet[16];
	struct nnhal_burst_result_datum result[16];
	struct nnhal_output_shape shapes[2];
	struct nnhal_fmq *requests, *results;
	struct nnhal_burst_server *server;
	enum nnhal_status status = NNHAL_STATUS_DEAD_OBJECT;
	struct link_message message;
	struct nnhal_timing timing;
	struct link_extra extra;
	struct burst_link link;
	static struct waiter w;
	int socket, count, err;
	uint32_t num;
	struct run r;

	run_init(&r, 4);
	server = start_waiter(&w, &socket);
	die_if(nnhal_fmq_create(24, 16, NNHAL_FMQ_WRITER, &requests) ||
	       nnhal_fmq_create(24, 16, NNHAL_FMQ_READER, &results) ||
	       link_init(&link, socket, false), "client");
	nnhal_fmq_set_doorbell(requests, socket);
	die_if(hello(socket, (int[]){ nnhal_fmq_fd(requests), nnhal_fmq_fd(results) }, 2,
		     LINK_VERSION), "hello");
	count = nnhal_burst_serialize_request(&r.request, &slot, 0, packet, 16);
	nnhal_fmq_write(requests, packet, (uint32_t)count);
	do {
		err = link_receive(&link, 0, &message, &extra);
	} while (err == -EAGAIN || (!err && message.type != LINK_GET));
	die_if(err || message.count != 1 || message.slots[0] != 3, "GET");
	link_send(&link, answer, fds, num_fds, UINT64_MAX);
	*wait = nnhal_burst_server_wait(server, 0);
	while ((count = nnhal_fmq_read_packet(results, result, 16)) == -EAGAIN &&
	       *wait == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT)
		*wait = nnhal_burst_server_wait(server, 1000000);
	if (count > 0)
		nnhal_burst_parse_result(result, (uint32_t)count, &status, shapes, 2, &num,
					 &timing);
	*wait = nnhal_burst_server_wait(server, 0);
	nnhal_burst_server_destroy(server);
	link_fini(&link);
	close(socket);
	nnhal_fmq_destroy(requests);
	nnhal_fmq_destroy(results);
	run_fini(&r);
	return status;
}

/* ---- a message that comes when the link has just found none ---- */

static const struct burst_link *late_sender;
/* Doorbells that are sent here, one before each look. */
static int flood_socket;
static unsigned int num_doorbells;
static __thread bool is_client;
/* More than are read within any limit of these tests. */
#define FLOOD	1000000

/* Ring before each look of the thread that runs the tests. */
static void ring_once(void)
{
	static const uint32_t doorbell = NNHAL_FMQ_DOORBELL;

	if (!is_client || !num_doorbells)
		return;
	num_doorbells--;
	send(flood_socket, &doorbell, sizeof(doorbell), MSG_DONTWAIT | MSG_NOSIGNAL);
}

ssize_t __real_recvmsg(int fd, struct msghdr *msg, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *msg, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *msg, int flags)
{
	ring_once();
	return __real_recvmsg(fd, msg, flags);
}

ssize_t __real_recv(int fd, void *data, size_t size, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t size, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t size, int flags)
{
	struct link_message message = { .type = LINK_MEMORIES };
	ssize_t n;
	int err;

	ring_once();
	n = __real_recv(fd, data, size, flags);
	err = errno;
	if (n < 0 && late_sender) {
		die_if(link_send(late_sender, &message, &fd, 1, 0), "MEMORIES");
		late_sender = NULL;
		errno = err;
	}
	return n;
}

static void test_late_message(void)
{
	struct burst_link here, there;
	struct link_message message;
	struct link_extra extra;
	int sv[2], err;

	make_sockets(sv);
	die_if(link_init(&here, sv[0], false) || link_init(&there, sv[1], false), "links");
	link_watch(&here, 0);
	late_sender = &there;
	err = link_receive(&here, LINK_MEMORIES, &message, &extra);
	ok(err == -EAGAIN && !late_sender, "E15 a message that comes too late: there was none");
	err = link_receive(&here, LINK_MEMORIES, &message, &extra);
	ok(!err && message.type == LINK_MEMORIES && extra.num_fds == 1,
	   "E15 then it is there with its descriptor");
	link_close_fds(&extra);
	link_fini(&here);
	link_fini(&there);
	close(sv[0]);
	close(sv[1]);
}

static void test_hostile_memories(void)
{
	enum nnhal_status status, wait;
	struct link_message m;
	int fds[2], i;

	die_if(pipe(fds), "pipe");
	memset(&m, 0, sizeof(m));
	m.type = LINK_MEMORIES;
	m.count = 1;
	m.memories[0].size = 4096;
	status = answer_with(&m, fds, 1, &wait);
	ok(status == NNHAL_STATUS_INVALID_ARGUMENT &&
	   wait == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT, "E15 a pipe as memory: %s",
	   nnhal_status_name(status));
	status = answer_with(&m, fds, 0, &wait);
	ok(status == NNHAL_STATUS_GENERAL_FAILURE &&
	   wait == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT, "E15 no descriptor");
	status = answer_with(&m, fds, 2, &wait);
	ok(status == NNHAL_STATUS_GENERAL_FAILURE &&
	   wait == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT, "E15 one descriptor too many");
	for (i = 0; i < 2; i++) {
		m.count = i ? LINK_MAX_SLOTS : 0;
		status = answer_with(&m, fds, 0, &wait);
		ok(status == NNHAL_STATUS_GENERAL_FAILURE &&
		   wait == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT, "E15 %u memories for one slot",
		   m.count);
	}
	m.count = 0;
	m.status = -5;
	status = answer_with(&m, fds, 0, &wait);
	ok(status == NNHAL_STATUS_GENERAL_FAILURE &&
	   wait == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT, "G11 a status that does not exist");
	m.type = LINK_HELLO;
	m.status = 0;
	answer_with(&m, fds, 2, &wait);
	ok(wait == NNHAL_STATUS_GENERAL_FAILURE, "E24 a second HELLO ends the burst");
	close(fds[0]);
	close(fds[1]);
}

/* ---- fork ---- */

static void test_fork(void)
{
	struct nnhal_burst_controller *c;
	struct nnhal_burst_server *server;
	static struct waiter w;
	int socket, status;
	struct run r;
	pid_t pid;

	run_init(&r, 4);
	server = start_waiter(&w, &socket);
	c = connect_to(socket, NULL);
	ok(!run(c, &r), "a burst before fork()");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (run(c, &r) != NNHAL_STATUS_DEVICE_UNAVAILABLE)
			_exit(1);
		if (nnhal_burst_controller_free_memory(c, r.memory) !=
		    NNHAL_STATUS_DEVICE_UNAVAILABLE)
			_exit(2);
		if (nnhal_burst_server_wait(server, 0) != NNHAL_STATUS_DEVICE_UNAVAILABLE)
			_exit(3);
		nnhal_burst_controller_destroy(c);
		nnhal_burst_server_free_memory(server, 0);
		nnhal_burst_server_destroy(server);
		_exit(0);
	}
	status = end_of(pid);
	ok(!status, "fork: in the child calls give DEVICE_UNAVAILABLE (status 0x%x)", status);
	ok(!run(c, &r) && w.present == 1, "fork: the parent's burst goes on");
	nnhal_burst_controller_destroy(c);
	nnhal_burst_server_destroy(server);
	run_fini(&r);
}

/* ---- no descriptor free ---- */

static int fillers[1024];
static unsigned int num_fillers;

/* Take all numbers of descriptors below the limit. */
static void fill_table(void)
{
	int fd;

	while (num_fillers < sizeof(fillers) / sizeof(fillers[0]) && (fd = dup(0)) >= 0)
		fillers[num_fillers++] = fd;
}

static void empty_table(void)
{
	while (num_fillers)
		close(fillers[--num_fillers]);
}

/* Other clients may have filled the table of the server. */
static void test_full_table(void)
{
	struct rlimit limit, low;
	struct nnhal_burst_controller *c;
	struct nnhal_burst_server *server;
	struct link_message message;
	struct link_extra extra;
	enum nnhal_status status;
	struct burst_link link;
	static struct waiter w;
	struct nnhal_fmq *q;
	int socket, err;
	struct run r;

	run_init(&r, 4);
	getrlimit(RLIMIT_NOFILE, &limit);
	low = limit;
	low.rlim_cur = 256;
	setrlimit(RLIMIT_NOFILE, &low);
	server = start_waiter(&w, &socket);
	c = connect_to(socket, NULL);
	fill_table();
	status = run(c, &r);
	ok(status == NNHAL_STATUS_GENERAL_FAILURE, "E15 no descriptor free for memory: %s",
	   nnhal_status_name(status));
	empty_table();
	status = run(c, &r);
	ok(!status && nnhal_burst_server_wait(server, 0) ==
	   NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT, "E15 the burst goes on: %s",
	   nnhal_status_name(status));
	nnhal_burst_controller_destroy(c);
	nnhal_burst_server_destroy(server);

	die_if(nnhal_fmq_create(24, 16, NNHAL_FMQ_WRITER, &q), "queue");
	server = start_waiter(&w, &socket);
	die_if(link_init(&link, socket, false), "link");
	memset(&message, 0, sizeof(message));
	message.type = LINK_HELLO;
	message.version = LINK_VERSION;
	fill_table();
	die_if(link_send(&link, &message, (int[]){ nnhal_fmq_fd(q), nnhal_fmq_fd(q) }, 2,
			 UINT64_MAX), "HELLO");
	while ((err = link_receive(&link, LINK_WELCOME, &message, &extra)) == -EAGAIN)
		usleep(100);
	empty_table();
	ok(!err && message.type == LINK_WELCOME &&
	   message.status == NNHAL_STATUS_GENERAL_FAILURE,
	   "E01 no descriptor free for the queues is a status of 1.2: %s",
	   err ? strerror(-err) : nnhal_status_name(message.status));
	status = nnhal_burst_server_wait(server, LONG_NS);
	ok(status == NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT,
	   "E01 and the server says what it was: %s", nnhal_status_name(status));
	link_fini(&link);
	close(socket);
	nnhal_burst_server_destroy(server);
	nnhal_fmq_destroy(q);
	setrlimit(RLIMIT_NOFILE, &limit);
	run_fini(&r);
}

/* The device is gone: both sides learn why there is no burst. */
static void test_lost_device(void)
{
	static struct fixture f;
	struct nnhal_burst_controller *c = NULL;
	struct nnhal_prepared_model *model = NULL;
	struct nnhal_burst_server *server;
	struct nnhal_device *device;
	enum nnhal_status status;
	struct run r;
	int sv[2];

	run_init(&r, 4);
	make_add_relu(&f);
	die_if(nnhal_device_open("sim:faults", &device, NULL) ||
	       nnhal_device_prepare_model_sync(device, &f.model, NULL, &model), "model");
	transport_sim_inject(device->transport, NNPU_INJECT_FATAL, 1);
	die_if(!nnhal_prepared_model_execute_synchronously(model, &r.request, NULL, NULL, NULL,
							   NULL), "the device still works");
	make_sockets(sv);
	die_if(nnhal_burst_serve(sv[1], model, NULL, &server), "serve");
	close(sv[1]);
	status = nnhal_burst_connect(sv[0], NULL, &c);
	ok(status == NNHAL_STATUS_DEVICE_UNAVAILABLE && !c, "H09 a server without a device: %s",
	   nnhal_status_name(status));
	status = nnhal_burst_server_wait(server, LONG_NS);
	ok(status == NNHAL_STATUS_DEVICE_UNAVAILABLE, "H09 and the server says it as well: %s",
	   nnhal_status_name(status));
	close(sv[0]);
	nnhal_burst_server_destroy(server);
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	run_fini(&r);
}

/* An empty packet does not hide the files behind it, which other holders of the socket keep. */
static void test_discard(void)
{
	struct link_message message = { .type = LINK_MEMORIES };
	struct burst_link here, there;
	int sv[2], files[2], num;
	char byte;

	make_sockets(sv);
	die_if(pipe2(files, O_CLOEXEC | O_NONBLOCK), "pipe");
	die_if(link_init(&here, sv[0], false) || link_init(&there, sv[1], false), "links");
	link_watch(&here, 0);
	die_if(send(sv[1], "some", 4, 0) != 4 || send(sv[1], "", 0, 0) ||
	       link_send(&there, &message, &files[1], 1, 0) || send(sv[1], "", 0, 0), "messages");
	close(files[1]);
	link_shutdown(&here);
	link_discard(&here);
	num = (int)read(files[0], &byte, 1);
	ok(!num, "E24 what was not received is dropped: %s", num < 0 ? strerror(errno) : "closed");
	link_fini(&here);
	link_fini(&there);
	close(sv[0]);
	close(sv[1]);
	close(files[0]);
}

/* ---- hostile servers ---- */

/* WELCOME with more descriptors than the client has room for. */
static void test_welcome_with_files(void)
{
	struct nnhal_burst_controller_options options = NNHAL_BURST_CONTROLLER_OPTIONS_INIT;
	enum { NUM_FILES = 100 };
	union {
		struct cmsghdr align;
		char data[CMSG_SPACE(sizeof(int) * NUM_FILES)];
	} control;
	struct link_message message = { .type = LINK_WELCOME };
	struct iovec iov = { &message, offsetof(struct link_message, slots) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.data,
			      .msg_controllen = sizeof(control.data) };
	struct nnhal_burst_controller *c = NULL;
	enum nnhal_status status;
	int sv[2], i, fd = 0;

	memset(&control, 0, sizeof(control));
	control.align.cmsg_level = SOL_SOCKET;
	control.align.cmsg_type = SCM_RIGHTS;
	control.align.cmsg_len = CMSG_LEN(sizeof(int) * NUM_FILES);
	for (i = 0; i < NUM_FILES; i++)
		memcpy(CMSG_DATA(&control.align) + i * sizeof(fd), &fd, sizeof(fd));
	make_sockets(sv);
	die_if(sendmsg(sv[1], &msg, 0) < 0, "WELCOME");
	options.timeout_ms = 10000;
	status = nnhal_burst_connect(sv[0], &options, &c);
	ok(!status && c, "E01 files that come with WELCOME are not received: %s",
	   nnhal_status_name(status));
	nnhal_burst_controller_destroy(c);
	close(sv[0]);
	close(sv[1]);
}

struct log {
	unsigned int lines, tags;
	char last[200];
};

static void take_line(void *context, uint32_t tag, const char *message)
{
	struct log *log = context;

	log->lines++;
	log->tags |= tag;
	snprintf(log->last, sizeof(log->last), "%s", message);
}

/* The next result says @status, one shape and times. Status of the request; lines: in the log. */
static enum nnhal_status result_with(struct log *log, enum nnhal_status status, uint32_t shapes,
				     bool timing)
{
	struct nnhal_burst_controller_options options = NNHAL_BURST_CONTROLLER_OPTIONS_INIT;
	struct nnhal_burst_result_datum packet[3] = {
		{ .kind = NNHAL_BURST_RESULT_PACKET_INFORMATION },
		{ .kind = NNHAL_BURST_RESULT_OPERAND_INFORMATION, .shape.is_sufficient = 1 },
	};
	struct nnhal_burst_controller *c;
	struct nnhal_burst_server *server;
	struct second second;
	static struct waiter w;
	pthread_t thread;
	int socket;
	struct run r;

	packet[0].information.packet_size = 2 + shapes;
	packet[0].information.error_status = (int32_t)status;
	packet[0].information.number_of_operands = shapes;
	packet[1 + shapes].kind = NNHAL_BURST_RESULT_EXECUTION_TIMING;
	packet[1 + shapes].timing = (struct nnhal_timing){ timing ? 1 : NNHAL_NO_TIMING,
							   NNHAL_NO_TIMING };
	memset(log, 0, sizeof(*log));
	options.log = take_line;
	options.log_context = log;
	options.log_tags = NNHAL_LOG_EXECUTION;
	run_init(&r, 4);
	server = start_waiter(&w, &socket);
	c = connect_to(socket, &options);
	second = (struct second){ c, &r, 0 };
	w.hold = true;
	pthread_create(&thread, NULL, run_thread, &second);
	while (!w.holding)
		usleep(100);
	die_if(nnhal_fmq_write(server->results, packet, 2 + shapes), "result");
	pthread_join(thread, NULL);
	w.hold = false;
	nnhal_burst_controller_destroy(c);
	nnhal_burst_server_destroy(server);
	run_fini(&r);
	return second.status;
}

/* Results that say more than their status allows. */
static void test_log(void)
{
	struct nnhal_burst_controller_options options = NNHAL_BURST_CONTROLLER_OPTIONS_INIT;
	struct nnhal_burst_controller *c = NULL;
	enum nnhal_status status;
	struct log log;
	int sv[2];

	status = result_with(&log, NNHAL_STATUS_GENERAL_FAILURE, 1, false);
	ok(status == NNHAL_STATUS_GENERAL_FAILURE && log.lines == 1 &&
	   log.tags == NNHAL_LOG_EXECUTION && strstr(log.last, "1 shapes dropped"),
	   "I18 shapes that are dropped are logged: %s", log.last);
	status = result_with(&log, NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE, 1, true);
	ok(status == NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE && log.lines == 1 &&
	   strstr(log.last, "timing dropped"), "I18 and so are times: %s", log.last);
	status = result_with(&log, NNHAL_STATUS_NONE, 1, true);
	ok(!status && !log.lines, "I18 what is kept is not logged");
	status = result_with(&log, NNHAL_STATUS_DEVICE_UNAVAILABLE, 0, false);
	ok(status == NNHAL_STATUS_DEVICE_UNAVAILABLE && !log.lines,
	   "I18 and what was not said is not logged");
	make_sockets(sv);
	options.log_tags = NNHAL_LOG_ALL + 1;
	status = nnhal_burst_connect(sv[0], &options, &c);
	ok(status == NNHAL_STATUS_INVALID_ARGUMENT && !c, "connect: an unknown tag of the log");
	options.log_tags = 0;
	options.reserved = 1;
	status = nnhal_burst_connect(sv[0], &options, &c);
	ok(status == NNHAL_STATUS_INVALID_ARGUMENT && !c, "connect: reserved is 1");
	close(sv[0]);
	close(sv[1]);
}

/* A server that rings whenever the client looks. */
static void test_flood(void)
{
	struct nnhal_burst_controller_options options = NNHAL_BURST_CONTROLLER_OPTIONS_INIT;
	struct nnhal_burst_controller *c = NULL;
	enum nnhal_status status;
	int sv[2];

	make_sockets(sv);
	flood_socket = sv[1];
	num_doorbells = FLOOD;
	options.timeout_ms = 1;
	status = nnhal_burst_connect(sv[0], &options, &c);
	ok(status == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT && num_doorbells,
	   "H03 doorbells without end do not hold the client: %s, %u left",
	   nnhal_status_name(status), num_doorbells);
	num_doorbells = 0;
	close(sv[0]);
	close(sv[1]);
}

#define LIMIT_NS	50000000u

/* A server that is busy for longer than its client waits. */
static void test_limit(void)
{
	struct nnhal_burst_controller_options options = NNHAL_BURST_CONTROLLER_OPTIONS_INIT;
	struct nnhal_execute_options execute = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_burst_controller *c;
	struct nnhal_burst_server *server;
	struct nnhal_diag diag;
	enum nnhal_status status;
	static struct waiter w;
	uint64_t end = monotonic_ns() + LONG_NS;
	unsigned int executions;
	bool sent = false;
	struct run r, other;
	int socket;

	run_init(&r, 4);
	run_init(&other, 4);
	execute.diag = &diag;
	server = start_waiter(&w, &socket);
	options.execute_timeout_ns = LIMIT_NS;
	c = connect_to(socket, &options);
	ok(!run_to_the_end(c, &r) && w.present == 1, "a limit that is long enough");
	executions = w.executions;
	w.hold = true;
	status = run_sent(c, &r, &execute, &sent);
	ok(status == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT && sent && !r.num_shapes &&
	   r.timing.time_in_driver == NNHAL_NO_TIMING && diag.message[0],
	   "H03 a server that is busy holds the client up to its limit: %s, %s",
	   nnhal_status_name(status), diag.message);
	status = nnhal_burst_controller_execute(c, &other.request, &execute, NULL, NULL, NULL,
						&sent);
	ok(status == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT && !sent && diag.message[0],
	   "H03 the next request is not sent: %s", diag.message);
	while (!w.holding)
		usleep(100);
	ok(!nnhal_burst_controller_free_memory(c, r.memory) && keeps(c, r.memory) &&
	   w.present == 1 && w.executions == executions + 1, "E17 the late request keeps its memory");
	w.hold = false;
	status = run_to_the_end(c, &other);
	ok(!status && w.executions >= executions + 2, "H03 a late result is nobody else's: %s",
	   nnhal_status_name(status));
	/* FREE is read when the server has nothing else to do. */
	while (w.present != 1 && monotonic_ns() < end)
		usleep(100);
	ok(w.present == 1 && !run_to_the_end(c, &other), "E17 and then it is freed");
	nnhal_burst_controller_destroy(c);
	nnhal_burst_server_destroy(server);
	run_fini(&r);
	run_fini(&other);
}

/* A server that asks for memory and does not take it. */
static void test_limit_of_lending(void)
{
	struct nnhal_burst_controller_options options = NNHAL_BURST_CONTROLLER_OPTIONS_INIT;
	struct link_message message = { .type = LINK_WELCOME };
	struct nnhal_burst_controller *c = NULL;
	enum nnhal_status status;
	struct burst_link link;
	bool sent = false;
	struct run r;
	int sv[2];

	run_init(&r, 4);
	make_sockets(sv);
	die_if(link_init(&link, sv[1], false) || link_send(&link, &message, NULL, 0, 0), "link");
	options.execute_timeout_ns = LIMIT_NS;
	die_if(nnhal_burst_connect(sv[0], &options, &c), "connect");
	while (send(sv[0], "full", 4, MSG_DONTWAIT) == 4)
		;
	message.type = LINK_GET;
	message.count = 1;
	die_if(link_send(&link, &message, NULL, 0, 0), "GET");
	status = run_sent(c, &r, NULL, &sent);
	ok(status == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT && sent,
	   "H03 a server that asks for memory and does not take it: %s",
	   nnhal_status_name(status));
	status = run(c, &r);
	ok(status == NNHAL_STATUS_DEAD_OBJECT, "H03 that ends the burst: %s",
	   nnhal_status_name(status));
	nnhal_burst_controller_destroy(c);
	link_fini(&link);
	close(sv[0]);
	close(sv[1]);
	run_fini(&r);
}

/* A server that rings whenever the client looks: its results are seen, and so is the limit. */
static void test_limit_in_flood(void)
{
	struct nnhal_burst_controller_options options = NNHAL_BURST_CONTROLLER_OPTIONS_INIT;
	struct nnhal_burst_controller *c;
	struct nnhal_burst_server *server;
	enum nnhal_status status;
	static struct waiter w;
	int socket, copy;
	struct run r;

	run_init(&r, 4);
	server = start_waiter(&w, &socket);
	options.spin_us = 0;
	options.execute_timeout_ns = LIMIT_NS;
	c = connect_to(socket, &options);
	ok(!run_to_the_end(c, &r), "a server that is to ring");
	copy = dup(server->link.socket);
	die_if(copy < 0, "socket");
	flood_socket = copy;
	w.hold = true;
	num_doorbells = FLOOD;
	ring_once();
	status = run(c, &r);
	ok(status == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT && num_doorbells,
	   "H03 the limit while it rings: %s, %u left", nnhal_status_name(status), num_doorbells);
	w.hold = false;
	num_doorbells = FLOOD;
	ring_once();
	status = run_to_the_end(c, &r);
	ok(!status && num_doorbells, "H03 a result while it rings: %s, %u left",
	   nnhal_status_name(status), num_doorbells);
	num_doorbells = 0;
	nnhal_burst_controller_destroy(c);
	close(copy);
	nnhal_burst_server_destroy(server);
	run_fini(&r);
}

/* Who spins sees no end of his peer. */
static void test_spin(void)
{
	struct spin_window window;

	spin_window_init(&window, UINT32_MAX - 1);
	ok(window.max_us == 100000 && window.us == 100000, "E21 no window is above 100 ms: %u us",
	   window.max_us);
}

int main(void)
{
	is_client = true;
	test_unsent();
	test_too_many();
	test_corrupt_results();
	test_connect();
	test_late_message();
	test_hostile_memories();
	test_full_table();
	test_lost_device();
	test_discard();
	test_welcome_with_files();
	test_log();
	test_flood();
	test_limit();
	test_limit_of_lending();
	test_limit_in_flood();
	test_spin();
	test_fork();
	return tap_done();
}
