// SPDX-License-Identifier: MIT
/*
 * Bursts over message queues between two processes: results, memory, and the death
 * of either side. Names begin with the line of the conformance list.
 *
 * Server processes are forked before this one opens a device.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mount.h>

#include "base/monotonic.h"
#include "burst_waiter.h"
#include "fmq/burst_controller_private.h"

#define NUM_KILLS	20
#define ROUND_TRIPS	20000
/* Fewer in the virtual machine, where a switch between processes costs a hundred times as much. */
#define GUEST_SHARE	20

static unsigned int rounds(unsigned int count)
{
	const char *spec = getenv("NNHAL_TEST_DEVICE");

	return spec && !strncmp(spec, "drm", 3) ? count / GUEST_SHARE : count;
}

/* ---- server processes ---- */

/* Serve one client with a real model until it is gone; the exit status of the process. */
static int serve_model(int socket, unsigned int kind)
{
	static struct fixture f;
	struct nnhal_burst_server *server;
	struct nnhal_prepared_model *model;
	struct nnhal_device *device = test_device_open();
	enum nnhal_status status;

	if (kind)
		make_dynamic_add(&f, 2);
	else
		make_add_relu(&f);
	if (nnhal_device_prepare_model_sync(device, &f.model, NULL, &model))
		return 10;
	if (nnhal_burst_serve(socket, model, NULL, &server))
		return 11;
	close(socket);
	/* E25: the burst keeps model and device. */
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	status = nnhal_burst_server_wait(server, UINT64_MAX);
	nnhal_burst_server_destroy(server);
	return status == NNHAL_STATUS_DEAD_OBJECT ? 0 : 12;
}

/* Serve with an executor that never ends a request if @hold. */
static int serve_waiter(int socket, unsigned int hold)
{
	static struct waiter w;
	struct nnhal_burst_server_options options = NNHAL_BURST_SERVER_OPTIONS_INIT;
	struct nnhal_burst_server *server;

	w.hold = hold;
	options.executor = &waiter_ops;
	options.executor_context = &w;
	if (nnhal_burst_serve(socket, NULL, &options, &server))
		return 11;
	close(socket);
	nnhal_burst_server_wait(server, UINT64_MAX);
	nnhal_burst_server_destroy(server);
	return w.present ? 13 : 0;
}

static pid_t start_server(int (*serve)(int socket, unsigned int arg), unsigned int arg,
			  int *socket)
{
	int sv[2];
	pid_t pid;

	make_sockets(sv);
	fflush(stdout);
	pid = fork();
	die_if(pid < 0, "fork");
	if (!pid) {
		close(sv[0]);
		_exit(serve(sv[1], arg));
	}
	close(sv[1]);
	*socket = sv[0];
	return pid;
}

/* ---- results ---- */

/* A request changed so that it gets another status, shape or none. */
struct change {
	const char *what;
	void (*apply)(struct run *r);
};

static void as_it_is(struct run *r)
{
	(void)r;
}

static void short_output(struct run *r)
{
	r->outputs[0].location.length--;
}

static void input_removed(struct run *r)
{
	r->request.num_inputs = 1;
}

static void output_removed(struct run *r)
{
	r->request.num_outputs = 0;
}

static void bad_pool(struct run *r)
{
	r->inputs[0].location.pool_index = 1;
}

static void beyond_pool(struct run *r)
{
	r->inputs[0].location.offset = 4096;
}

static void overlapping(struct run *r)
{
	r->outputs[0].location.offset = RUN_INPUT(0) + 4;
}

static void shaped(struct run *r)
{
	r->inputs[0].num_dimensions = r->inputs[1].num_dimensions = 2;
	r->dims[0][0] = r->dims[0][1] = r->dims[1][0] = r->dims[1][1] = 2;
}

static void shaped_wrongly(struct run *r)
{
	shaped(r);
	r->dims[0][1] = 3;
}

static void shaped_and_short(struct run *r)
{
	shaped(r);
	r->outputs[0].location.length = 15;
}

static void no_value_with_location(struct run *r)
{
	r->inputs[0].has_no_value = true;
}

static const struct change changes[] = {
	{ "as it is", as_it_is },
	{ "output one byte short", short_output },
	{ "an input removed", input_removed },
	{ "an output removed", output_removed },
	{ "pool index out of range", bad_pool },
	{ "argument beyond its pool", beyond_pool },
	{ "output over an input", overlapping },
	{ "with dimensions", shaped },
	{ "with wrong dimensions", shaped_wrongly },
	{ "with dimensions, output short", shaped_and_short },
	{ "no value but a location", no_value_with_location },
};

static bool same_outcome(const struct run *a, const struct run *b, enum nnhal_status status_a,
			 enum nnhal_status status_b)
{
	uint32_t i;

	if (status_a != status_b || a->num_shapes != b->num_shapes ||
	    memcmp(a->map, b->map, 4096))
		return false;
	for (i = 0; i < a->num_shapes; i++)
		if (a->shapes[i].is_sufficient != b->shapes[i].is_sufficient ||
		    a->shapes[i].num_dimensions != b->shapes[i].num_dimensions ||
		    memcmp(a->shapes[i].dimensions, b->shapes[i].dimensions,
			   a->shapes[i].num_dimensions * sizeof(uint32_t)))
			return false;
	return true;
}

/* The same through the burst and synchronously, here. */
static void compare(struct nnhal_burst_controller *c, struct nnhal_prepared_model *model,
		    const char *model_name, const struct change *change)
{
	enum nnhal_status through_burst, direct;
	struct run a, b;

	run_init(&a, 4);
	run_init(&b, 4);
	a.request.hal_version = b.request.hal_version = NNHAL_HAL_1_2;
	change->apply(&a);
	change->apply(&b);
	through_burst = run(c, &a);
	direct = nnhal_prepared_model_execute_synchronously(model, &b.request, NULL, b.shapes,
							    &b.num_shapes, &b.timing);
	ok(same_outcome(&a, &b, through_burst, direct), "E18 %s, %s: %s, %s", model_name,
	   change->what, nnhal_status_name(through_burst), nnhal_status_name(direct));
	nnhal_burst_controller_free_memory(c, a.memory);
	run_fini(&a);
	run_fini(&b);
}

static void test_results(struct nnhal_device *device, struct nnhal_burst_controller *c,
			 bool dynamic)
{
	static struct fixture f;
	struct nnhal_execute_options options = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_prepared_model *model;
	struct run r;
	size_t i;

	if (dynamic)
		make_dynamic_add(&f, 2);
	else
		make_add_relu(&f);
	die_if(nnhal_device_prepare_model_sync(device, &f.model, NULL, &model), "prepare");
	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		compare(c, model, dynamic ? "unknown shapes" : "fixed shapes", &changes[i]);
	run_init(&r, 4);
	shaped(&r);
	options.measure = NNHAL_MEASURE_YES;
	ok(!nnhal_burst_controller_execute(c, &r.request, &options, r.shapes, &r.num_shapes,
					   &r.timing, NULL) && run_output_is_right(&r, 4) &&
	   (r.timing.time_on_device == NNHAL_NO_TIMING ||
	    r.timing.time_on_device <= r.timing.time_in_driver) &&
	   r.timing.time_in_driver != NNHAL_NO_TIMING, "D21 times of a burst");
	ok(!nnhal_burst_controller_execute(c, &r.request, NULL, NULL, NULL, NULL, NULL),
	   "no shapes or times wanted");
	run_fini(&r);
	nnhal_prepared_model_unref(model);
}

/* ---- memory ---- */

static void test_memory(struct nnhal_burst_controller *c)
{
	struct run many[6], r;
	unsigned int i, round, wrong = 0;

	for (i = 0; i < 6; i++)
		run_init(&many[i], 4);
	for (round = 0; round < 50; round++) {
		i = round % 6;
		memset(many[i].map + RUN_OUTPUT(0), 0, 64);
		wrong += run(c, &many[i]) || !run_output_is_right(&many[i], 4);
	}
	ok(!wrong, "E16 six memory objects in turn");
	for (round = 0; round < 200; round++) {
		/*
		 * A slot number that is used again must not reach the memory that it stood for
		 * before.
		 */
		run_init(&r, 4);
		wrong += run(c, &r) || !run_output_is_right(&r, 4);
		if (round % 2)
			wrong += nnhal_burst_controller_free_memory(c, r.memory) != 0;
		wrong += round % 4 == 3 &&
			 nnhal_burst_controller_free_memory(c, r.memory) != 0;
		run_fini(&r);
	}
	ok(!wrong, "E16 E17 200 objects come, some are freed, some twice");
	for (i = 0; i < 6; i++) {
		memset(many[i].map + RUN_OUTPUT(0), 0, 64);
		wrong += run(c, &many[i]) || !run_output_is_right(&many[i], 4);
	}
	ok(!wrong, "E16 the first six are what they were");
	for (round = 0; round < 600; round++) {
		run_init(&r, 4);
		wrong += run(c, &r) || !run_output_is_right(&r, 4);
		run_fini(&r);
	}
	ok(!wrong, "600 objects and none freed: the oldest make room");
	run_init(&r, 4);
	nnhal_burst_controller_free_memory(c, many[0].memory);
	r.request.pools = many[0].pools;
	many[0].pools[0].memory = many[0].memory;
	ok(!run(c, &many[0]) && nnhal_burst_controller_free_memory(c, r.memory) == 0 &&
	   nnhal_burst_controller_free_memory(c, NULL) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "E17 freed and used again, never used, no object");
	run_fini(&r);
	for (i = 0; i < 6; i++)
		run_fini(&many[i]);
}

/* Objects of the other kinds travel too. */
static void test_file_memory(struct nnhal_burst_controller *c, const char *dir)
{
	char path[128];
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = NNHAL_MEMORY_MMAP_FD, .size = 4096,
		.offset = 512,
	};
	struct nnhal_memory *memory;
	struct run r;
	int fd;

	snprintf(path, sizeof(path), "%s/nnhal-burst-XXXXXX", dir);
	fd = mkstemp(path);
	run_init(&r, 4);
	unlink(path);
	die_if(fd < 0 || ftruncate(fd, 8192) || pwrite(fd, r.map, 4096, 512) != 4096, "file");
	desc.fd = fd;
	die_if(nnhal_memory_import(&desc, &memory, NULL), "import");
	r.pools[1].memory = memory;
	r.request.num_pools = 2;
	r.inputs[0].location.pool_index = r.inputs[1].location.pool_index = 1;
	ok(!run(c, &r) && run_output_is_right(&r, 4), "F02 an mmap_fd file with an offset, in %s",
	   dir);
	r.outputs[0].location.pool_index = 1;
	ok(run(c, &r) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "F02 the server does not write to it: whoever has the lock of the file may keep it");
	nnhal_memory_unref(memory);
	close(fd);
	run_fini(&r);
}

/* A file system of this machine that is neither on a disk nor of memfds. */
static void test_mounted_file(struct nnhal_burst_controller *c)
{
	char dir[] = "/tmp/nnhal-mount-XXXXXX";

	if (!mkdtemp(dir) || mount("none", dir, "ramfs", 0, NULL)) {
		tap_skip("a file of ramfs: needs the right to mount");
	} else {
		test_file_memory(c, dir);
		umount(dir);
	}
	rmdir(dir);
}

/*
 * A file whose reads depend on somebody else. That of sysfs stands for one of FUSE: it is in
 * neither memory nor on a disk, and it could be read.
 */
static void test_foreign_file(struct nnhal_burst_controller *c)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = NNHAL_MEMORY_MMAP_FD, .size = 16,
	};
	struct nnhal_memory *memory = NULL;
	struct run r;

	run_init(&r, 4);
	desc.fd = open("/sys/kernel/uevent_seqnum", O_RDONLY | O_CLOEXEC);
	if (desc.fd < 0 || nnhal_memory_import(&desc, &memory, NULL)) {
		tap_skip("a file that is neither in memory nor on a disk: no sysfs");
	} else {
		r.pools[1].memory = memory;
		r.request.num_pools = 2;
		ok(run(c, &r) == NNHAL_STATUS_GENERAL_FAILURE,
		   "a file that may keep the server waiting is refused");
		nnhal_burst_controller_free_memory(c, memory);
		r.request.num_pools = 1;
		ok(!run(c, &r) && run_output_is_right(&r, 4), "the burst goes on");
	}
	nnhal_memory_unref(memory);
	if (desc.fd >= 0)
		close(desc.fd);
	run_fini(&r);
}

/* ---- death ---- */

struct killing {
	pid_t pid;
	struct nnhal_burst_controller *controller;
};

/* Kill the server when the client has sent a request, or after long. */
static void *kill_later(void *data)
{
	const struct killing *k = data;
	struct fmq_header *requests = k->controller->requests->header;
	uint64_t end = monotonic_ns() + LONG_NS;

	while (!atomic_load(&requests->write_count) && monotonic_ns() < end)
		usleep(1000);
	usleep(20000);
	kill(k->pid, SIGKILL);
	return NULL;
}

static void test_server_death(pid_t held, int held_socket, pid_t idle, int idle_socket)
{
	struct nnhal_burst_controller *c;
	enum nnhal_status status;
	struct killing killing;
	pthread_t thread;
	bool sent = false;
	struct run r;

	run_init(&r, 4);
	c = connect_to(held_socket, NULL);
	killing = (struct killing){ held, c };
	pthread_create(&thread, NULL, kill_later, &killing);
	status = nnhal_burst_controller_execute(c, &r.request, NULL, r.shapes, &r.num_shapes,
						&r.timing, &sent);
	pthread_join(thread, NULL);
	ok(status == NNHAL_STATUS_DEAD_OBJECT && sent && !r.num_shapes &&
	   r.timing.time_in_driver == NNHAL_NO_TIMING,
	   "E23 H03 the server is killed: who waits gets %s", nnhal_status_name(status));
	status = nnhal_burst_controller_execute(c, &r.request, NULL, NULL, NULL, NULL, &sent);
	ok(status == NNHAL_STATUS_DEAD_OBJECT && !sent, "E23 later requests are refused");
	ok(!nnhal_burst_controller_free_memory(c, r.memory), "and memory can be freed");
	nnhal_burst_controller_destroy(c);
	end_of(held);

	c = connect_to(idle_socket, NULL);
	ok(!run(c, &r), "a server that works");
	kill(idle, SIGKILL);
	end_of(idle);
	ok(run(c, &r) == NNHAL_STATUS_DEAD_OBJECT, "H02 dead before the call: DEAD_OBJECT");
	nnhal_burst_controller_destroy(c);
	run_fini(&r);
}

/* A client that uses its burst until it is killed; with a child that keeps its socket. */
static void be_client(int socket, bool with_child)
{
	struct nnhal_burst_controller *c;
	struct run r;

	run_init(&r, 4);
	if (nnhal_burst_connect(socket, NULL, &c))
		_exit(1);
	if (with_child && !fork())
		for (;;)
			pause();
	for (;;)
		if (run(c, &r))
			_exit(2);
}

static bool client_dies(bool with_child, unsigned int executions)
{
	struct nnhal_burst_server *server;
	static struct waiter w;
	enum nnhal_status status;
	int socket;
	pid_t pid;

	server = start_waiter(&w, &socket);
	fflush(stdout);
	pid = fork();
	die_if(pid < 0, "fork");
	if (!pid) {
		/* Its own group, so that its child can be found. */
		setpgid(0, 0);
		be_client(socket, with_child);
	}
	setpgid(pid, pid);
	close(socket);
	while (w.executions < executions)
		usleep(10);
	kill(pid, SIGKILL);
	status = nnhal_burst_server_wait(server, LONG_NS);
	end_of(pid);
	nnhal_burst_server_destroy(server);
	kill(-pid, SIGKILL);
	return status == NNHAL_STATUS_DEAD_OBJECT && !w.present;
}

static void test_client_death(void)
{
	unsigned int i, before = count_entries("/proc/self/fd"), good = 0;

	for (i = 0; i < rounds(NUM_KILLS); i++)
		good += client_dies(false, 1 + i * 7);
	ok(good == rounds(NUM_KILLS), "E23 %u clients killed at work: each burst ends",
	   rounds(NUM_KILLS));
	ok(client_dies(true, 50), "E23 also if a child of the client keeps the socket");
	ok(count_entries("/proc/self/fd") == before, "E23 no descriptor is left");
}

/* A server that SIGSTOP holds, and then does not. */
static void test_stopped_server(pid_t pid, int socket)
{
	struct nnhal_burst_controller_options options = NNHAL_BURST_CONTROLLER_OPTIONS_INIT;
	struct nnhal_burst_controller *c;
	enum nnhal_status status;
	bool sent = false;
	struct run r;
	int how = 0;

	run_init(&r, 4);
	options.execute_timeout_ns = 200000000;
	c = connect_to(socket, &options);
	ok(!run_to_the_end(c, &r) && run_output_is_right(&r, 4), "a server that is to be stopped");
	kill(pid, SIGSTOP);
	ok(waitpid(pid, &how, WUNTRACED) == pid && WIFSTOPPED(how), "it is stopped");
	memset(r.map + RUN_OUTPUT(0), 0xee, 64);
	status = run_sent(c, &r, NULL, &sent);
	ok(status == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT && sent,
	   "H03 it holds the client up to its limit: %s", nnhal_status_name(status));
	status = nnhal_burst_controller_execute(c, &r.request, NULL, NULL, NULL, NULL, &sent);
	ok(status == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT && !sent,
	   "H03 and so it does the next time: %s", nnhal_status_name(status));
	kill(pid, SIGCONT);
	ok(!run_to_the_end(c, &r) && run_output_is_right(&r, 4), "H03 it goes on, and so does the burst");
	nnhal_burst_controller_destroy(c);
	ok(!end_of(pid), "and ends well");
	run_fini(&r);
}

/* A server that is stopped and never goes on: without a limit only its death ends the wait. */
static void test_stopped_server_dies(pid_t pid, int socket)
{
	struct nnhal_burst_controller *c;
	enum nnhal_status status;
	struct killing killing;
	pthread_t thread;
	struct run r;
	int how = 0;

	run_init(&r, 4);
	c = connect_to(socket, NULL);
	kill(pid, SIGSTOP);
	die_if(waitpid(pid, &how, WUNTRACED) != pid, "stop");
	killing = (struct killing){ pid, c };
	pthread_create(&thread, NULL, kill_later, &killing);
	status = run(c, &r);
	pthread_join(thread, NULL);
	ok(status == NNHAL_STATUS_DEAD_OBJECT, "H03 a stopped server is killed: who waits gets %s",
	   nnhal_status_name(status));
	nnhal_burst_controller_destroy(c);
	end_of(pid);
	run_fini(&r);
}

static void test_round_trips(struct nnhal_burst_controller *c)
{
	unsigned int i, wrong = 0;
	struct run r;

	run_init(&r, 4);
	for (i = 0; i < rounds(ROUND_TRIPS); i++)
		wrong += run(c, &r) != NNHAL_STATUS_NONE;
	ok(!wrong, "%u round trips to another process", rounds(ROUND_TRIPS));
	run_fini(&r);
}

/* Server in this process: what it does with the model. */
static void test_model(struct nnhal_device *device)
{
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	static struct fixture f;
	struct nnhal_burst_controller *c;
	struct nnhal_prepared_model *model;
	struct nnhal_burst_server *server;
	struct run r;
	int sv[2];

	make_add_relu(&f);
	options.preference = NNHAL_PREFER_LOW_POWER;
	die_if(nnhal_device_prepare_model_sync(device, &f.model, &options, &model), "prepare");
	make_sockets(sv);
	die_if(nnhal_burst_serve(sv[1], model, NULL, &server), "serve");
	close(sv[1]);
	ok(!server->spin.max_us, "E21 a model for LOW_POWER: no polling");
	nnhal_prepared_model_unref(model);
	run_init(&r, 4);
	c = connect_to(sv[0], NULL);
	ok(!run(c, &r) && run_output_is_right(&r, 4), "E25 the burst keeps its model alive");
	nnhal_burst_server_destroy(server);
	ok(run(c, &r) == NNHAL_STATUS_DEAD_OBJECT, "E23 a burst the server has ended");
	nnhal_burst_controller_destroy(c);
	run_fini(&r);
}

int main(void)
{
	struct nnhal_burst_controller *c;
	struct nnhal_device *device;
	int sockets[7];
	pid_t pids[7];
	unsigned int i;

	for (i = 0; i < 2; i++)
		pids[i] = start_server(serve_model, i, &sockets[i]);
	for (; i < 5; i++)
		pids[i] = start_server(serve_waiter, i == 3, &sockets[i]);
	pids[5] = start_server(serve_model, 0, &sockets[5]);
	pids[6] = start_server(serve_waiter, 0, &sockets[6]);
	test_client_death();
	test_server_death(pids[3], sockets[3], pids[4], sockets[4]);
	test_stopped_server(pids[5], sockets[5]);
	test_stopped_server_dies(pids[6], sockets[6]);
	c = connect_to(sockets[2], NULL);
	test_round_trips(c);
	nnhal_burst_controller_destroy(c);
	ok(!end_of(pids[2]), "E23 the server noticed the end and has nothing left");

	device = test_device_open();
	for (i = 0; i < 2; i++) {
		c = connect_to(sockets[i], NULL);
		test_results(device, c, i);
		if (!i) {
			test_memory(c);
			test_file_memory(c, "/tmp");
			test_mounted_file(c);
			test_foreign_file(c);
		}
		nnhal_burst_controller_destroy(c);
		ok(!end_of(pids[i]), "E25 E22 the server's process ends well");
	}
	test_model(device);
	nnhal_device_unref(device);
	return tap_done();
}
