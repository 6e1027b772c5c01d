// SPDX-License-Identifier: MIT
/*
 * Memory of all kinds as inputs and outputs: does the device reach it without a copy, and if not,
 * why? Files that shrink, memory of the process at any address, limits of locked memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory/binding.h"
#include "memory/memory_private.h"
#include "nnhal_fixture.h"
#include "tap.h"
#include "vgem_fence.h"

#define COUNT	4u
#define SIZE	4000u			/* of a memory object; its arguments are those of run_init() */
#define PAGE	4096u
/* More than a context has slots. */
#define MANY	1200u

static struct nnhal_device *device;
static struct nnhal_prepared_model *model;
static struct nnhal_diag diag;
static bool pins;			/* the device does */
static bool keep;			/* what is in the memory: to write it makes a file longer */

/* The data of a run, in another memory object. */
static enum nnhal_status run_in(struct nnhal_memory *memory, struct nnhal_memory *out)
{
	struct run r;
	enum nnhal_status status;
	uint8_t back[SIZE];
	bool right;

	run_init(&r, COUNT);
	r.pools[0].memory = memory;
	r.pools[1].memory = out ? out : memory;
	r.request.num_pools = 2;
	r.outputs[0].location.pool_index = 1;
	if (!keep && nnhal_memory_access(memory) & NNHAL_MEMORY_WRITE &&
	    memory_write(memory, 0, r.map, RUN_OUTPUT(0))) {
		run_fini(&r);
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	if (!keep && r.pools[1].memory->access & NNHAL_MEMORY_WRITE)
		memory_write(r.pools[1].memory, RUN_OUTPUT(0), r.map + RUN_OUTPUT(0), 1024);
	status = nnhal_prepared_model_execute_synchronously(model, &r.request, NULL, r.shapes,
							    &r.num_shapes, NULL);
	if (!status && !memory_read(r.pools[1].memory, RUN_OUTPUT(0), back, 1024)) {
		memcpy(r.map + RUN_OUTPUT(0), back, 1024);
		right = run_output_is_right(&r, COUNT) && back[COUNT * sizeof(float)] == 0xee;
		if (!right)
			status = (enum nnhal_status)-1;
	}
	run_fini(&r);
	return status;
}

/* Each object as input and output, twice, and asked. The answer @expected is in place if it is 0. */
static void try(const char *what, struct nnhal_memory *memory, uint32_t expected)
{
	uint32_t reach = 99;
	enum nnhal_status status = nnhal_memory_reach(memory, device, &reach, &diag);

	ok(!status && reach == expected, "%s: reached %s (%s)", what,
	   nnhal_memory_reach_text(reach), diag.message);
	ok(!memory->bindings || memory->bindings->has_bounce == !!expected, "%s: so it is bound", what);
	ok(!run_in(memory, NULL) && !run_in(memory, NULL), "%s: executions in it", what);
}

static struct nnhal_memory *of_fd(uint32_t kind, int fd, uint64_t size, uint64_t offset,
				  uint32_t access)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = kind, .fd = fd, .size = size,
		.offset = offset, .access = access,
	};
	struct nnhal_memory *memory = NULL;

	if (nnhal_memory_import(&desc, &memory, &diag)) {
		printf("Bail out! %s\n", diag.message);
		exit(1);
	}
	return memory;
}

static int new_memfd(unsigned int flags, uint64_t size)
{
	int fd = memfd_create("reach", MFD_CLOEXEC | flags);

	if (fd < 0 || ftruncate(fd, (off_t)size))
		exit(1);
	return fd;
}

/* A file on a disk, as far as there is one. */
static int new_file(uint64_t size)
{
	char path[] = "/var/tmp/nnhal-reach-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)size))
		exit(1);
	unlink(path);
	return fd;
}

static void test_memfds(void)
{
	const uint32_t can_shrink = pins ? NNHAL_MEMORY_REACH_IN_PLACE :
					   NNHAL_MEMORY_REACH_CAN_SHRINK;
	struct nnhal_memory *memory;
	int fd;

	fd = new_memfd(MFD_ALLOW_SEALING, PAGE);
	memory = of_fd(NNHAL_MEMORY_ASHMEM, fd, SIZE, 0, 0);
	try("memfd", memory, 0);
	nnhal_memory_unref(memory);
	close(fd);

	fd = new_memfd(MFD_ALLOW_SEALING, SIZE);
	memory = of_fd(NNHAL_MEMORY_ASHMEM, fd, SIZE, 0, 0);
	try("memfd of an odd size", memory, 0);
	nnhal_memory_unref(memory);
	close(fd);

	fd = new_memfd(0, SIZE);
	memory = of_fd(NNHAL_MEMORY_ASHMEM, fd, SIZE, 0, 0);
	try("memfd that cannot be sealed", memory, can_shrink);
	nnhal_memory_unref(memory);
	memory = of_fd(NNHAL_MEMORY_MMAP_FD, fd, SIZE, 0, 0);
	try("mmap_fd of it", memory, can_shrink);
	nnhal_memory_unref(memory);
	close(fd);

	fd = new_memfd(MFD_ALLOW_SEALING, 3 * PAGE);
	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
	memory = of_fd(NNHAL_MEMORY_MMAP_FD, fd, SIZE, PAGE + 4001, 0);
	try("mmap_fd of a sealed memfd, at an odd offset", memory, 0);
	nnhal_memory_unref(memory);
	close(fd);
}

/* The bytes around an object stay what they are. */
static void test_neighbours(void)
{
	static uint8_t block[4 * PAGE], before[sizeof(block)];
	struct nnhal_memory *memory = NULL;

	memset(block, 0x77, sizeof(block));
	memcpy(before, block, sizeof(block));
	ok(!nnhal_memory_from_pointer(block + PAGE + 13, SIZE, 0, &memory, &diag), "an odd address");
	try("host pointer at an odd address", memory, 0);
	nnhal_memory_unref(memory);
	ok(!memcmp(block, before, PAGE + 13) &&
	   !memcmp(block + PAGE + 13 + SIZE, before, sizeof(block) - PAGE - 13 - SIZE),
	   "what is around it is untouched");
}

static void test_files(void)
{
	int fd = new_file(3 * PAGE), reader;
	struct nnhal_memory *memory, *out = NULL;
	char path[64];
	uint32_t reach;
	struct run r;

	memory = of_fd(NNHAL_MEMORY_MMAP_FD, fd, SIZE, 100, 0);
	nnhal_memory_reach(memory, device, &reach, &diag);
	/* Only a tmpfs is pinned for writing. */
	ok(pins ? reach == NNHAL_MEMORY_REACH_FILE_WRITTEN || reach == 0
		: reach == NNHAL_MEMORY_REACH_CAN_SHRINK,
	   "file to be written: %s", nnhal_memory_reach_text(reach));
	ok(!run_in(memory, NULL), "executions in it");
	nnhal_memory_unref(memory);

	/* A descriptor for reading: the pages of the page cache. */
	run_init(&r, COUNT);
	ok(pwrite(fd, r.map, SIZE, 100) == SIZE, "inputs in the file");
	run_fini(&r);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	reader = open(path, O_RDONLY | O_CLOEXEC);
	memory = of_fd(NNHAL_MEMORY_MMAP_FD, reader, SIZE, 100, 0);
	ok(!nnhal_memory_reach(memory, device, &reach, &diag) &&
	   reach == (pins ? 0u : NNHAL_MEMORY_REACH_CAN_SHRINK), "file to be read: %s",
	   nnhal_memory_reach_text(reach));
	nnhal_memory_create(SIZE, &out, &diag);
	ok(!run_in(memory, out), "inputs in a file to be read");
	ok(run_in(memory, NULL) == NNHAL_STATUS_INVALID_ARGUMENT, "F07 but no outputs");
	ok(!ftruncate(fd, 100), "it shrinks");
	ok(run_in(memory, out) == NNHAL_STATUS_GENERAL_FAILURE, "F06 an error, and no fault");
	nnhal_memory_unref(memory);
	nnhal_memory_unref(out);
	close(reader);
	close(fd);
}

/* A memfd that shrinks when the device has its pages. */
static void test_shrinks(void)
{
	int fd = new_memfd(0, 2 * PAGE);
	struct nnhal_memory *memory = of_fd(NNHAL_MEMORY_ASHMEM, fd, SIZE, 0, 0);

	ok(!run_in(memory, NULL), "before");
	ok(!ftruncate(fd, 0), "it shrinks");
	keep = true;
	ok(run_in(memory, NULL) == NNHAL_STATUS_GENERAL_FAILURE, "F06 an error, and no fault");
	ok(!ftruncate(fd, 100), "a little");
	ok(run_in(memory, NULL) == NNHAL_STATUS_GENERAL_FAILURE, "F06 an error, and no fault");
	nnhal_memory_unref(memory);
	keep = false;
	/* Another object has what is there now. */
	ok(!ftruncate(fd, 2 * PAGE), "it grows again");
	memory = of_fd(NNHAL_MEMORY_ASHMEM, fd, SIZE, 0, 0);
	ok(!run_in(memory, NULL), "a new object");
	nnhal_memory_unref(memory);
	close(fd);
}

static void test_pointers(void)
{
	uint8_t *map = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	struct nnhal_memory *first = NULL, *second = NULL, *same = NULL, *to_read = NULL;
	struct nnhal_hal_memory hal = { 0 };
	uint32_t reach;

	ok(nnhal_memory_from_pointer(NULL, 1, 0, &first, &diag) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_memory_from_pointer(map, 0, 0, &first, &diag) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_memory_from_pointer(map, UINT64_MAX, 0, &first, &diag) ==
	   NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_memory_from_pointer(map, 1, 4, &first, &diag) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_memory_from_pointer(map, 1, 0, NULL, &diag) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   !first, "no such memory");
	ok(!nnhal_memory_from_pointer(map, SIZE, 0, &first, &diag) &&
	   nnhal_memory_map(first, NULL) == map && nnhal_memory_fd(first) == -1 &&
	   nnhal_memory_size(first) == SIZE &&
	   nnhal_memory_kind(first) == NNHAL_MEMORY_HOST_POINTER &&
	   nnhal_memory_access(first) == (NNHAL_MEMORY_READ | NNHAL_MEMORY_WRITE), "a page");
	try("host pointer", first, 0);
	/* The end of one is in the page in which the next one begins. */
	ok(!nnhal_memory_from_pointer(map + SIZE, SIZE, 0, &second, &diag), "its neighbour");
	try("host pointer that shares a page", second, 0);
	ok(!nnhal_memory_from_pointer(map, SIZE, 0, &same, &diag), "the same page");
	try("host pointer to the same", same, 0);
	nnhal_memory_unref(first);
	ok(!run_in(second, NULL) && !run_in(same, NULL), "without the first one");
	ok(nnhal_memory_to_hal(second, &hal, &diag) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "the HAL has no such kind: %s", diag.message);
	nnhal_memory_unref(same);

	/* Memory that is not for writing, used for what it is good for. */
	mprotect(map + 2 * PAGE, PAGE, PROT_READ);
	mprotect(map, PAGE, PROT_READ);
	ok(!nnhal_memory_from_pointer(map, SIZE, NNHAL_MEMORY_READ, &to_read, &diag) &&
	   !nnhal_memory_reach(to_read, device, &reach, &diag) && !reach, "memory to be read");
	ok(!run_in(to_read, second), "inputs in it");
	ok(run_in(to_read, NULL) == NNHAL_STATUS_INVALID_ARGUMENT, "F07 but no outputs");
	nnhal_memory_unref(to_read);
	nnhal_memory_unref(second);
	munmap(map, 4 * PAGE);
}

/* Pages of this process that are pinned, kB; 0 if none can be. */
static long pinned_kib(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kib = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmPin: %ld kB", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

/* What a host pointer has of the device goes with it. */
static void test_many_pointers(void)
{
	static uint8_t block[SIZE];
	struct nnhal_memory *memory = NULL;
	long before = pinned_kib(), most = before, pinned;
	unsigned int i, good = 0;

	for (i = 0; i < MANY; i++) {
		nnhal_memory_from_pointer(block, SIZE, 0, &memory, &diag);
		good += !run_in(memory, NULL);
		pinned = pinned_kib();
		most = pinned > most ? pinned : most;
		nnhal_memory_unref(memory);
	}
	ok(good == MANY, "%u of %u host pointers, one after the other", good, MANY);
	pinned = pinned_kib();
	ok(pinned == before && (most > before) == pins, "%ld kB pinned before, %ld, and %ld after",
	   before, most, pinned);
}

/* A file is replaced by another one of its name: the object has the old one. */
static void test_replaced(void)
{
	char path[] = "/var/tmp/nnhal-reach-XXXXXX", other[] = "/var/tmp/nnhal-reach-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC), new_fd = mkostemp(other, O_CLOEXEC);
	struct nnhal_memory *memory;
	uint8_t byte = 0;

	if (fd < 0 || new_fd < 0 || ftruncate(fd, PAGE) || ftruncate(new_fd, PAGE))
		exit(1);
	memory = of_fd(NNHAL_MEMORY_MMAP_FD, fd, SIZE, 0, 0);
	close(fd);
	ok(!run_in(memory, NULL), "before");
	ok(!rename(other, path), "a file replaces it");
	ok(!run_in(memory, NULL) && pread(new_fd, &byte, 1, RUN_OUTPUT(0)) == 1 && !byte,
	   "executions are in the old one, the new one has nothing of them");
	nnhal_memory_unref(memory);
	close(new_fd);
	unlink(path);
}

/* Who exports memory cannot be unloaded while somebody has it. */
static void test_exporter(void)
{
	int fd;
	struct nnhal_memory *memory, *out = NULL;
	unsigned int tries;
	struct run r;
	uint8_t *map;

	if (!pins)
		return;
	fd = vgem_memory(4096);
	if (fd < 0) {
		tap_skip("memory of vgem: this kernel has none");
		return;
	}
	memory = of_fd(NNHAL_MEMORY_HARDWARE_BUFFER_BLOB, fd, SIZE, 0, 0);
	close(fd);
	nnhal_memory_create(SIZE, &out, &diag);
	run_init(&r, COUNT);
	map = nnhal_memory_map(memory, &diag);
	if (ok(map, "memory of vgem"))
		memcpy(map, r.map, RUN_OUTPUT(0));
	r.pools[0].memory = memory;
	r.pools[1].memory = out;
	r.request.num_pools = 2;
	r.outputs[0].location.pool_index = 1;
	ok(system("rmmod vgem 2>/dev/null"), "vgem cannot be unloaded");
	r.num_shapes = 4;
	ok(!nnhal_prepared_model_execute_synchronously(model, &r.request, NULL, r.shapes,
						       &r.num_shapes, NULL) &&
	   !memory_read(out, RUN_OUTPUT(0), r.map + RUN_OUTPUT(0), 1024) &&
	   run_output_is_right(&r, COUNT), "and its memory is good");
	run_fini(&r);
	nnhal_memory_unref(memory);
	nnhal_memory_unref(out);
	/* The kernel lets go of a file a little later. */
	for (tries = 0; tries < 500 && system("rmmod vgem 2>/dev/null"); tries++)
		usleep(20000);
	ok(tries < 500, "nobody has it any more: unloaded");
}

/* Constants are read once. What is at their address after that is no constant of the model. */
static void test_constants(void)
{
	static uint8_t block[SIZE] __attribute__((aligned(64)));
	struct nnhal_prepared_model *other = model;
	struct nnhal_memory *memory = NULL;
	static struct fixture f;

	nnhal_memory_from_pointer(block + RUN_OUTPUT(0), 4, 0, &memory, &diag);
	make_add_relu(&f);
	f.graph.operands[2].lifetime = NNHAL_LIFETIME_CONSTANT_REFERENCE;
	f.graph.operands[2].location = (struct nnhal_data_location){ 0, 0, 4 };
	f.pools[0] = memory;
	f.model.num_pools = 1;
	f.model.main = f.graph.sg;
	if (!ok(!nnhal_device_prepare_model_sync(device, &f.model, NULL, &model),
		"a constant in memory of the process"))
		exit(1);
	nnhal_memory_unref(memory);
	nnhal_memory_from_pointer(block, SIZE, 0, &memory, &diag);
	ok(!run_in(memory, NULL) && !run_in(memory, NULL),
	   "outputs where constants were that the process has given up");
	nnhal_memory_unref(memory);
	nnhal_prepared_model_unref(model);
	model = other;
}

/* As make_add_relu(), with the first bytes of @memory as the second addend: -2, -2 ... */
static bool constants_work(struct nnhal_memory *memory)
{
	struct nnhal_prepared_model *m = NULL;
	static struct fixture f;
	bool right = false;
	struct run r;

	make_add_relu(&f);
	f.graph.operands[1].lifetime = NNHAL_LIFETIME_CONSTANT_REFERENCE;
	f.graph.operands[1].location = (struct nnhal_data_location){ 0, 0, COUNT * sizeof(float) };
	graph_finish(&f.graph);
	f.pools[0] = memory;
	f.model.num_pools = 1;
	f.model.main = f.graph.sg;
	if (nnhal_device_prepare_model_sync(device, &f.model, NULL, &m))
		return false;
	run_init(&r, COUNT);
	r.request.num_inputs = 1;
	right = !nnhal_prepared_model_execute_synchronously(m, &r.request, NULL, NULL, NULL, NULL) &&
		run_output_is_right(&r, COUNT);
	run_fini(&r);
	nnhal_prepared_model_unref(m);
	return right;
}

/* What is bound is pages, and the constants begin within one. */
static void test_constants_within_pages(void)
{
	static uint8_t block[2 * PAGE];
	float values[COUNT] = { -2, -2, -2, -2 };
	int fd = new_memfd(MFD_ALLOW_SEALING, 3 * PAGE), file = new_file(PAGE);
	struct nnhal_memory *memory = NULL;

	memset(block, 0x77, sizeof(block));
	memcpy(block + PAGE + 13, values, sizeof(values));
	nnhal_memory_from_pointer(block + PAGE + 13, 100, NNHAL_MEMORY_READ, &memory, &diag);
	ok(constants_work(memory), "constants at an odd address");
	nnhal_memory_unref(memory);

	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
	memory = of_fd(NNHAL_MEMORY_MMAP_FD, fd, 100, PAGE + 4001, 0);
	ok(pwrite(fd, values, sizeof(values), PAGE + 4001) == sizeof(values) &&
	   constants_work(memory), "constants in a sealed memfd, at an odd offset");
	nnhal_memory_unref(memory);
	close(fd);

	memory = of_fd(NNHAL_MEMORY_MMAP_FD, file, 100, 1001, NNHAL_MEMORY_READ);
	ok(pwrite(file, values, sizeof(values), 1001) == sizeof(values) &&
	   constants_work(memory), "constants in a file, at an odd offset");
	nnhal_memory_unref(memory);
	close(file);
}

/* Memory that is not there, or not for writing: an error, if there is somebody to say so. */
static void test_missing(void)
{
	uint8_t *map = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct nnhal_memory *memory = NULL, *out = NULL;
	uint32_t reach = 0;

	if (!pins)
		return;
	nnhal_memory_create(SIZE, &out, &diag);
	nnhal_memory_from_pointer(map, SIZE, 0, &memory, &diag);
	ok(!nnhal_memory_reach(memory, device, &reach, &diag) &&
	   reach == NNHAL_MEMORY_REACH_NOT_PINNABLE, "memory to be read, asked to be written");
	ok(run_in(memory, NULL) == NNHAL_STATUS_GENERAL_FAILURE, "outputs do not come there");
	nnhal_memory_unref(memory);
	/* As good as not mapped, but nobody else gets the address. */
	mprotect(map, PAGE, PROT_NONE);
	nnhal_memory_from_pointer(map, SIZE, NNHAL_MEMORY_READ, &memory, &diag);
	ok(run_in(memory, out) == NNHAL_STATUS_GENERAL_FAILURE, "memory that is not there");
	nnhal_memory_unref(memory);
	munmap(map, PAGE);
	nnhal_memory_unref(out);
}

/* Released by a child of fork(), and used by the parent meanwhile and after that. */
static void test_fork(void)
{
	static uint8_t block[2 * PAGE];
	struct nnhal_memory *memory = NULL;
	int status = -1;
	pid_t pid;

	nnhal_memory_from_pointer(block + 1, SIZE, 0, &memory, &diag);
	ok(!run_in(memory, NULL), "before fork()");
	pid = fork();
	if (!pid) {
		nnhal_memory_unref(memory);
		_exit(0);
	}
	ok(!run_in(memory, NULL), "while there is a child");
	ok(waitpid(pid, &status, 0) == pid && !status, "the child has released its copy");
	ok(!run_in(memory, NULL), "after the child");
	nnhal_memory_unref(memory);
}

/* As a user without rights who may lock a page: 0 if memory is copied, and works. */
static int limited(void)
{
	const struct rlimit limit = { PAGE, PAGE };
	static uint8_t block[3 * PAGE];
	struct nnhal_memory *memory = NULL;
	uint32_t reach = 99;

	if (setrlimit(RLIMIT_MEMLOCK, &limit) || setresuid(65534, 65534, 65534))
		return 1;
	if (nnhal_memory_from_pointer(block + 200, SIZE, 0, &memory, &diag) ||
	    nnhal_memory_reach(memory, device, &reach, &diag) ||
	    reach != NNHAL_MEMORY_REACH_LOCK_LIMIT || !strstr(diag.message, "RLIMIT_MEMLOCK"))
		return 2;
	if (run_in(memory, NULL))
		return 3;
	nnhal_memory_unref(memory);
	return 0;
}

static void prepare(void)
{
	static struct fixture f;
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;

	options.diag = &diag;
	make_add_relu(&f);
	if (nnhal_device_prepare_model_sync(device, &f.model, &options, &model)) {
		printf("Bail out! %s\n", diag.message);
		exit(1);
	}
}

static void test_limit(void)
{
	int status = -1;
	pid_t pid;

	if (!pins)
		return;
	if (geteuid()) {
		tap_skip("the limit of locked memory: needs root");
		return;
	}
	pid = fork();
	if (!pid) {
		/* A device of its own: that of the parent is not for children. */
		device = test_device_open();
		prepare();
		_exit(limited());
	}
	pid = waitpid(pid, &status, 0);
	ok(pid > 0 && !status,
	   "beyond RLIMIT_MEMLOCK: copied, and it says why (%d)", WEXITSTATUS(status));
}

static void test_arguments(void)
{
	struct nnhal_memory *memory = NULL;
	uint32_t reach = 99, i;

	nnhal_memory_create(SIZE, &memory, &diag);
	ok(nnhal_memory_reach(NULL, device, &reach, &diag) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_memory_reach(memory, NULL, &reach, NULL) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_memory_reach(memory, device, NULL, &diag) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   reach == 99, "nothing to ask");
	nnhal_memory_unref(memory);
	for (i = 0; i <= NNHAL_MEMORY_REACH_UNTRUSTED; i++)
		if (!nnhal_memory_reach_text(i))
			break;
	ok(i == NNHAL_MEMORY_REACH_UNTRUSTED + 1 && !nnhal_memory_reach_text(i) &&
	   !nnhal_memory_reach_text(UINT32_MAX), "each reason has a text");
}

int main(void)
{
	pins = strncmp(test_device_spec(), "sim", 3);
	device = test_device_open();
	prepare();
	test_arguments();
	test_memfds();
	test_neighbours();
	test_pointers();
	test_many_pointers();
	test_files();
	test_shrinks();
	test_replaced();
	test_exporter();
	test_constants();
	test_constants_within_pages();
	test_missing();
	test_fork();
	test_limit();
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	return tap_done();
}
