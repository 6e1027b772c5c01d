// SPDX-License-Identifier: MIT
/*
 * Objects of each class in a child of fork(): releasing them frees their memory and closes their
 * descriptors there, in any order, and leaves the parent's alone. The list of classes is that of
 * the headers. Resilient objects connect nothing anew in a child, and no lock of them hangs.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nntflite/session.h>

#include "api_lists.h"
#include "nnhal_fixture.h"

/* Of AddressSanitizer: is there such an allocation? */
int __sanitizer_get_ownership(const volatile void *address) __attribute__((weak));

#define WRAP(function)	static void call_##function(void *object) { function(object); }
API_RELEASES(WRAP)

static struct entry {
	const char *name;
	void (*release)(void *object);
	void *object;
} entries[] = {
#define ENTRY(function)	{ #function, call_##function, NULL },
	API_RELEASES(ENTRY)
};

enum { COUNT = sizeof(entries) / sizeof(entries[0]) };

static struct nnhal_device *device;
static struct nnhal_resilient_device *lasting;
static struct nnhal_resilient_model *lasting_model;
static struct nnhal_resilient_buffer *lasting_buffer;
static struct nnhal_resilient_burst *lasting_burst;
static struct fixture f;
static struct run r;
static int sockets[2];

static void set(const char *release, void *object)
{
	unsigned int i;

	for (i = 0; i < COUNT; i++)
		if (!strcmp(entries[i].name, release))
			entries[i].object = object;
}

static bool entries_are_complete(void)
{
	unsigned int i, missing = 0;

	for (i = 0; i < COUNT; i++)
		if (!entries[i].object) {
			tap_note("no object for %s()", entries[i].name);
			missing++;
		}
	return !missing;
}

/* ---- the factory of a resilient device ---- */

static atomic_int num_connections;
static bool is_slow;
static sem_t entered, may_go;

static enum nnhal_status connect_slowly(void *context, struct nnhal_device **result,
					struct nnhal_diag *diag)
{
	(void)context;
	atomic_fetch_add(&num_connections, 1);
	if (is_slow) {
		sem_post(&entered);
		sem_wait(&may_go);
	}
	return nnhal_device_open(test_device_spec(), result, diag);
}

/* ---- the objects ---- */

static bool make_plain(void)
{
	struct nnhal_fenced_callback *callback = NULL;
	struct nnhal_completion_queue *completions = NULL;
	struct nnhal_prepared_model *model = NULL;
	struct nnhal_bound_request *bound = NULL;
	struct nnhal_death_watch *watch = NULL;
	struct nnhal_burst *burst = NULL;
	struct nnhal_fmq *fmq = NULL;
	int fence = -1;

	device = test_device_open();
	set("nnhal_device_unref", device);
	if (nnhal_device_prepare_model_sync(device, &f.model, NULL, &model) ||
	    nnhal_bound_request_create(model, &r.request, NULL, &bound) ||
	    nnhal_burst_create(model, NULL, &burst) ||
	    nnhal_burst_execute(burst, &r.request, NULL, NULL, NULL, NULL) ||
	    nnhal_completion_queue_create(device, &completions, NULL) ||
	    nnhal_prepared_model_execute_fenced(model, &r.request, NULL, 0, NULL, &fence,
						&callback) ||
	    nnhal_fence_wait(fence, -1) != NNHAL_FENCE_SIGNALED ||
	    nnhal_fenced_callback_get_execution_info(callback, NULL, NULL) ||
	    nnhal_death_watch_create(device, NULL, NULL, &watch, NULL) ||
	    nnhal_fmq_create(8, 16, NNHAL_FMQ_WRITER, &fmq))
		return false;
	close(fence);
	set("nnhal_prepared_model_unref", model);
	set("nnhal_bound_request_unref", bound);
	set("nnhal_burst_unref", burst);
	set("nnhal_completion_queue_destroy", completions);
	set("nnhal_fenced_callback_unref", callback);
	set("nnhal_death_watch_destroy", watch);
	set("nnhal_fmq_destroy", fmq);
	set("nnhal_memory_unref", r.memory);
	return true;
}

static bool make_buffer(struct nnhal_prepared_model *model)
{
	static const struct nnhal_buffer_role role = { 0, 0, 1.0f };
	struct nnhal_buffer_desc desc = NNHAL_BUFFER_DESC_INIT;
	struct nnhal_buffer *buffer;
	uint32_t token;

	if (nnhal_device_allocate(device, &desc, &model, 1, &role, 1, NULL, 0, &buffer, &token,
				  NULL))
		return false;
	set("nnhal_buffer_unref", buffer);
	return true;
}

/* The pools of its request are memory objects that client and server keep. */
static bool make_fmq_burst(struct nnhal_prepared_model *model)
{
	struct nnhal_burst_controller *controller;
	struct nnhal_burst_server *server;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) ||
	    nnhal_burst_serve(sockets[0], model, NULL, &server) ||
	    nnhal_burst_connect(sockets[1], NULL, &controller) ||
	    nnhal_burst_controller_execute(controller, &r.request, NULL, NULL, NULL, NULL, NULL))
		return false;
	set("nnhal_burst_server_destroy", server);
	set("nnhal_burst_controller_destroy", controller);
	return true;
}

static bool make_lasting(void)
{
	static const struct nnhal_buffer_role role = { 0, 0, 1.0f };
	struct nnhal_buffer_desc desc = NNHAL_BUFFER_DESC_INIT;
	uint32_t token;

	if (nnhal_resilient_device_create("lasting", connect_slowly, NULL, &lasting, NULL) ||
	    nnhal_resilient_device_prepare_model(lasting, &f.model, NULL, &lasting_model) ||
	    nnhal_resilient_device_allocate(lasting, &desc, &lasting_model, 1, &role, 1, NULL, 0,
					    &lasting_buffer, &token, NULL) ||
	    nnhal_resilient_burst_create(lasting_model, NULL, &lasting_burst))
		return false;
	set("nnhal_resilient_device_unref", lasting);
	set("nnhal_resilient_model_unref", lasting_model);
	set("nnhal_resilient_buffer_unref", lasting_buffer);
	set("nnhal_resilient_burst_unref", lasting_burst);
	return true;
}

static bool make_tflite(void)
{
	struct nntflite_session *session;
	struct nntflite_model *model;
	struct nntflite_file *file;

	if (nntflite_file_open("examples/digits/digits_int8.tflite", &file, NULL) ||
	    nntflite_model_create(file, NULL, &model, NULL) ||
	    nntflite_session_create(model, device, NULL, &session, NULL))
		return false;
	set("nntflite_file_close", file);
	set("nntflite_model_destroy", model);
	set("nntflite_session_destroy", session);
	return true;
}

static struct nnhal_prepared_model *plain_model(void)
{
	unsigned int i;

	for (i = 0; strcmp(entries[i].name, "nnhal_prepared_model_unref"); i++)
		;
	return entries[i].object;
}

/* ---- the child ---- */

static unsigned int base_fds, base_maps;
static bool is_sim;

/* Descriptors, without those of standard input and output. */
static unsigned int count_fds(void)
{
	unsigned int n = 0;
	int fd;

	for (fd = 3; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void note_fds(void)
{
	char path[32], target[128];
	ssize_t length;
	int fd;

	tap_note("descriptors, expected %u:", base_fds);
	for (fd = 3; fd < 1024; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		length = readlink(path, target, sizeof(target) - 1);
		if (length > 0)
			tap_note("%d: %.*s", fd, (int)length, target);
	}
}

/*
 * Mappings of files of the library: memory of queues and of the device. What the device in the process has
 * of memory objects ends with the child.
 */
static unsigned int count_maps(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned int n = 0;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		n += strstr(line, "memfd:nnhal-fmq") || strstr(line, "/dev/") ||
		     strstr(line, "[nnpu") || (!is_sim && strstr(line, "memfd:"));
	if (maps)
		fclose(maps);
	return n;
}

static bool is_allocated(const void *object)
{
	return __sanitizer_get_ownership && __sanitizer_get_ownership(object);
}

/* What an object of .tflite files needs lives longer than the object. */
static bool is_early(unsigned int i, unsigned int pass)
{
	static const char *const late[] = { "nntflite_model_destroy", "nntflite_file_close" };
	unsigned int when = 0, k;

	for (k = 0; k < 2; k++)
		if (!strcmp(entries[i].name, late[k]))
			when = k + 1;
	return when == pass;
}

static int release_all(bool backwards)
{
	unsigned int i, k, pass, left = 0;

	for (pass = 0; pass < 3; pass++)
		for (k = 0; k < COUNT; k++) {
			i = backwards ? COUNT - 1 - k : k;
			if (is_early(i, pass))
				entries[i].release(entries[i].object);
		}
	close(sockets[0]);
	close(sockets[1]);
	for (i = 0; i < COUNT; i++)
		if (is_allocated(entries[i].object)) {
			tap_note("%s() left it", entries[i].name);
			left++;
		}
	if (left)
		return 40;
	if (count_fds() != base_fds) {
		note_fds();
		return 41;
	}
	if (count_maps() != base_maps) {
		tap_note("%u mappings, expected %u", count_maps(), base_maps);
		return 42;
	}
	return 0;
}

static int use_lasting(void)
{
	struct nnhal_buffer_desc desc = NNHAL_BUFFER_DESC_INIT;
	static const struct nnhal_buffer_role role = { 0, 0, 1.0f };
	struct nnhal_resilient_buffer *buffer;
	struct nnhal_resilient_model *model;
	struct nnhal_resilient_burst *burst;
	struct nnhal_device *current, *next;
	int connections = atomic_load(&num_connections);
	uint32_t token;

	if (nnhal_resilient_model_execute(lasting_model, &r.request, NULL, NULL, NULL, NULL) !=
	    NNHAL_STATUS_DEVICE_UNAVAILABLE)
		return 1;
	if (nnhal_resilient_burst_execute(lasting_burst, &r.request, NULL, NULL, NULL, NULL) !=
	    NNHAL_STATUS_DEVICE_UNAVAILABLE)
		return 2;
	if (nnhal_resilient_buffer_copy_to(lasting_buffer, r.memory, NULL) !=
	    NNHAL_STATUS_DEVICE_UNAVAILABLE ||
	    nnhal_resilient_buffer_copy_from(lasting_buffer, r.memory, NULL, 0, NULL) !=
	    NNHAL_STATUS_DEVICE_UNAVAILABLE)
		return 3;
	current = nnhal_resilient_device_get(lasting);
	if (!current || nnhal_device_get_status(current) != NNHAL_DEVICE_OFFLINE)
		return 4;
	if (nnhal_resilient_device_recover(lasting, current, &next, NULL) !=
	    NNHAL_STATUS_DEVICE_UNAVAILABLE || next)
		return 5;
	nnhal_device_unref(current);
	if (nnhal_resilient_device_prepare_model(lasting, &f.model, NULL, &model) !=
	    NNHAL_STATUS_DEVICE_UNAVAILABLE || model)
		return 6;
	if (nnhal_resilient_device_allocate(lasting, &desc, &lasting_model, 1, &role, 1, NULL, 0,
					    &buffer, &token, NULL) !=
	    NNHAL_STATUS_DEVICE_UNAVAILABLE || buffer || token)
		return 7;
	if (nnhal_resilient_burst_create(lasting_model, NULL, &burst) !=
	    NNHAL_STATUS_DEVICE_UNAVAILABLE || burst)
		return 8;
	nnhal_prepared_model_unref(nnhal_resilient_model_get(lasting_model));
	return atomic_load(&num_connections) != connections ? 9 : 0;
}

static int run_child(bool backwards, bool release)
{
	int step, status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(120);
		step = use_lasting();
		if (!step && release)
			step = release_all(backwards);
		fflush(stdout);
		_exit(step);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* ---- the parent ---- */

static void *recover(void *unused)
{
	struct nnhal_device *current = nnhal_resilient_device_get(lasting), *next;
	enum nnhal_status status;

	(void)unused;
	status = nnhal_resilient_device_recover(lasting, current, &next, NULL);
	nnhal_device_unref(current);
	nnhal_device_unref(next);
	return status ? "failed" : NULL;
}

/* A thread of the parent connects anew, and has the lock as long as that takes. */
static void test_locked(void)
{
	pthread_t thread;
	void *failed;
	int step;

	is_slow = true;
	if (!ok(!pthread_create(&thread, NULL, recover, NULL), "a thread that connects anew"))
		return;
	sem_wait(&entered);
	step = run_child(false, false);
	ok(!step, "a child of that moment: resilient objects do not work, and no call waits (%d)",
	   step);
	sem_post(&may_go);
	pthread_join(thread, &failed);
	is_slow = false;
	ok(!failed, "the parent has connected anew");
}

static bool parent_works(void)
{
	memset(r.map + RUN_OUTPUT(0), 0xee, 64);
	if (nnhal_prepared_model_execute_synchronously(plain_model(), &r.request, NULL, NULL, NULL,
						       NULL) || !run_output_is_right(&r, 4))
		return false;
	memset(r.map + RUN_OUTPUT(0), 0xee, 64);
	return !nnhal_resilient_burst_execute(lasting_burst, &r.request, NULL, NULL, NULL, NULL) &&
	       run_output_is_right(&r, 4);
}

int main(void)
{
	unsigned int i, pass;
	int step;

	sem_init(&entered, 0, 0);
	sem_init(&may_go, 0, 0);
	/* What the first device of a process leaves open is no object's. */
	nnhal_device_unref(test_device_open());
	is_sim = !strncmp(test_device_spec(), "sim", 3);
	base_fds = count_fds();
	base_maps = count_maps();
	make_add_relu(&f);
	run_init(&r, 4);
	if (!ok(make_plain() && make_buffer(plain_model()) && make_fmq_burst(plain_model()) &&
		make_lasting() && make_tflite() && entries_are_complete(),
		"objects of all %u classes", COUNT))
		return tap_done();
	ok(parent_works(), "they work");
	for (i = 0; i < 2; i++) {
		step = run_child(i, true);
		ok(!step, "a child: all is released, %s (%d)", i ? "backwards" : "forwards", step);
		ok(parent_works(), "then the parent's all works");
	}
	test_locked();
	ok(parent_works(), "and works");
	for (pass = 0; pass < 3; pass++)
		for (i = 0; i < COUNT; i++)
			if (is_early(i, pass))
				entries[i].release(entries[i].object);
	close(sockets[0]);
	close(sockets[1]);
	ok(wait_for_entries("/proc/self/fd", base_fds + 6) == base_fds + 6 &&
	   count_maps() == base_maps, "nothing is left in the parent");
	return tap_done();
}
