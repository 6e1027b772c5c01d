// SPDX-License-Identifier: MIT
/*
 * 64 MiB of each kind of memory as input and as output, without a copy by the CPU. Two counters say
 * so: a copy would be made in a buffer of the driver, which is shared memory of the kernel (Shmem in
 * /proc/meminfo); and the pages that the process has mapped are the same before and after (pagemap).
 * Memory that has to be copied shows that the first one counts.
 */
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "memory/memory_private.h"
#include "nnhal_fixture.h"
#include "tap.h"
#include "vgem_fence.h"

#define COUNT	(16u << 20)
#define BYTES	((uint64_t)COUNT * sizeof(float))
/* What others may allocate meanwhile. */
#define SLACK	(BYTES / 2)

#ifdef __aarch64__
#define IS_ARM64	true
#else
#define IS_ARM64	false
#endif

static struct nnhal_device *device;
static struct nnhal_prepared_model *model;
static struct nnhal_diag diag;
static struct nnhal_memory *plain;	/* the other side */
static float *plain_map;
static bool is_drm;

static void prepare(void)
{
	static const uint32_t dims[] = { COUNT };
	static struct fixture f;
	struct graph *g = &f.graph;

	fixture_init(&f);
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT, 1, dims);
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, 1, dims);
	add_operation(g, NNHAL_OPERATION_RELU, OPERANDS(0), OPERANDS(1));
	fixture_finish(&f, 0);
	if (nnhal_device_prepare_model_sync(device, &f.model, NULL, &model) ||
	    nnhal_memory_create(BYTES, &plain, &diag)) {
		printf("Bail out! a model of 64 MiB\n");
		exit(1);
	}
	plain_map = nnhal_memory_map(plain, &diag);
}

static int64_t meminfo(const char *key)
{
	FILE *f = fopen("/proc/meminfo", "r");
	char line[128], name[32];
	long long kib, found = -1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%31[^:]: %lld kB", name, &kib) == 2 && !strcmp(name, key))
			found = kib * 1024;
	if (f)
		fclose(f);
	return found;
}

/* The page of memory that is mapped at @p, touched; 0: not to be known. */
static uint64_t page_at(const volatile uint8_t *p)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entry = 0, page = (uint64_t)sysconf(_SC_PAGESIZE);
	volatile uint8_t touched = *p;
	ssize_t n;

	(void)touched;
	n = pread(fd, &entry, sizeof(entry), (off_t)((uintptr_t)p / page * sizeof(entry)));
	close(fd);
	return n == sizeof(entry) && entry >> 63 ? entry & ((1ull << 55) - 1) : 0;
}

static enum nnhal_status run(struct nnhal_memory *in, struct nnhal_memory *out)
{
	struct nnhal_request_argument args[2] = {
		{ .location = { 0, 0, BYTES } }, { .location = { 1, 0, BYTES } },
	};
	struct nnhal_request_pool pools[2] = { { .memory = in }, { .memory = out } };
	struct nnhal_request request = {
		.inputs = &args[0], .num_inputs = 1, .outputs = &args[1], .num_outputs = 1,
		.pools = pools, .num_pools = 2,
	};
	struct nnhal_execute_options options = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_output_shape shape;
	uint32_t num_shapes = 1;

	options.diag = &diag;
	return nnhal_prepared_model_execute_synchronously(model, &request, &options, &shape,
							  &num_shapes, NULL);
}

/* Every 1000th number is looked at, and the last ones. */
static float value(uint32_t i, uint32_t seed)
{
	return (float)((i * 7 + seed) % 4096) - 1000.0f;
}

/* At any address. */
static void fill(uint8_t *to, uint32_t seed)
{
	static float line[1024];
	uint32_t i, k;

	for (i = 0; i < COUNT; i += 1024) {
		for (k = 0; k < 1024; k++)
			line[k] = value(i + k, seed);
		memcpy(to + (size_t)i * sizeof(float), line, sizeof(line));
	}
}

static bool is_relu(const uint8_t *of, uint32_t seed)
{
	uint32_t i;
	float v, expected;

	for (i = 0; i < COUNT; i = i + 1000 < COUNT || i == COUNT - 1 ? i + 1000 : COUNT - 1) {
		memcpy(&v, of + (size_t)i * sizeof(v), sizeof(v));
		expected = value(i, seed) > 0 ? value(i, seed) : 0;
		if (v != expected)
			return false;
	}
	return true;
}

/* A run with @memory on one side; there were @before bytes of shared memory before it was bound. */
static void count(const char *what, const char *side, struct nnhal_memory *memory, bool is_input,
		  uint8_t *map, bool copied, int64_t before)
{
	/* The kernel does not show the pages of drivers. */
	bool is_dmabuf = nnhal_memory_kind(memory) == NNHAL_MEMORY_HARDWARE_BUFFER_BLOB;
	uint64_t first = page_at(map), last = page_at(map + BYTES - 1);
	enum nnhal_status status = is_input ? run(memory, plain) : run(plain, memory);
	int64_t more;

	more = meminfo("Shmem") - before;
	ok(!status && is_relu(is_input ? (uint8_t *)plain_map : map, is_input ? 1 : 2),
	   "64 MiB of %s as %s: %s", what, side, status ? diag.message : "right");
	ok(first == page_at(map) && last == page_at(map + BYTES - 1) &&
	   (first || geteuid() || !is_drm || is_dmabuf), "%s as %s: the same pages", what, side);
	if (is_drm)
		ok(copied ? more >= (int64_t)SLACK : more < (int64_t)SLACK,
		   "%s as %s: %s (%lld KiB of new buffers)", what, side,
		   copied ? "a copy" : "no copy", (long long)more / 1024);
}

/* How the driver has to reach memory. */
enum way { IN_PLACE, COPIED, EITHER };

/* @map: where the process reads it, and writes it unless @is_filled. */
static void try(const char *what, struct nnhal_memory *memory, uint8_t *map, bool is_filled,
		enum way way)
{
	uint32_t reach = 99;
	int64_t before;
	bool copied;

	if (!ok(memory && map && map != MAP_FAILED, "%s: %s", what, memory ? "mapped" : diag.message))
		return;
	nnhal_memory_begin_cpu_access(memory, NNHAL_MEMORY_WRITE);
	if (!is_filled)
		fill(map, 1);
	nnhal_memory_end_cpu_access(memory, NNHAL_MEMORY_WRITE);
	fill((uint8_t *)plain_map, 2);
	before = meminfo("Shmem");
	if (!ok(!nnhal_memory_reach(memory, device, &reach, &diag), "%s: bound", what))
		return;
	copied = reach != NNHAL_MEMORY_REACH_IN_PLACE;
	if (is_drm && way != EITHER)
		ok(copied == (way == COPIED), "%s: %s", what, nnhal_memory_reach_text(reach));
	else
		tap_note("%s: %s", what, nnhal_memory_reach_text(reach));
	count(what, "input", memory, true, map, copied, before);
	if (!(nnhal_memory_access(memory) & NNHAL_MEMORY_WRITE))
		return;
	fill((uint8_t *)plain_map, 2);
	count(what, "output", memory, false, map, copied, before);
}

/* The counter counts: memory that is copied, since it is said to come from a client. */
static void test_copied(void)
{
	struct nnhal_memory *memory = NULL;

	nnhal_memory_create(BYTES, &memory, &diag);
	memory->direct = false;
	memory->is_foreign = true;
	try("a memfd of a client", memory, nnhal_memory_map(memory, &diag), false, COPIED);
	nnhal_memory_unref(memory);
}

static void try_fd(const char *what, uint32_t kind, int fd, uint64_t offset, uint64_t size,
		   bool is_filled, enum way way)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = kind, .fd = fd, .size = size, .offset = offset,
	};
	struct nnhal_memory *memory = NULL;

	if (!nnhal_memory_import(&desc, &memory, &diag))
		try(what, memory, nnhal_memory_map(memory, &diag), is_filled, way);
	else
		ok(false, "%s: %s", what, diag.message);
	nnhal_memory_unref(memory);
	close(fd);
}

static int sized(int fd, uint64_t size)
{
	if (fd < 0 || ftruncate(fd, (off_t)size)) {
		printf("Bail out! no file of %llu bytes\n", (unsigned long long)size);
		exit(1);
	}
	return fd;
}

static int file_in(const char *dir, uint64_t size)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/nnhal-large-XXXXXX", dir);
	fd = sized(mkostemp(path, O_CLOEXEC), size);
	unlink(path);
	return fd;
}

static void test_files(void)
{
	char path[64];
	uint8_t *map;
	int fd, reader;

	try_fd("a sealed memfd", NNHAL_MEMORY_ASHMEM, nnhal_memfd_create("large", BYTES), 0, BYTES,
	       false, IN_PLACE);
	try_fd("a memfd of an odd size", NNHAL_MEMORY_ASHMEM,
	       sized(memfd_create("odd", MFD_CLOEXEC | MFD_ALLOW_SEALING), BYTES + 100), 0,
	       BYTES + 100, false, IN_PLACE);
	try_fd("a memfd that cannot be sealed", NNHAL_MEMORY_ASHMEM,
	       sized(memfd_create("open", MFD_CLOEXEC), BYTES), 0, BYTES, false, IN_PLACE);
	try_fd("mmap_fd of shared memory, at an offset", NNHAL_MEMORY_MMAP_FD,
	       sized(memfd_create("part", MFD_CLOEXEC), BYTES + 8192), 4100, BYTES, false,
	       IN_PLACE);

	fd = file_in("/var/tmp", BYTES);
	map = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map != MAP_FAILED) {
		fill(map, 1);
		munmap(map, BYTES);
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	reader = open(path, O_RDONLY | O_CLOEXEC);
	try_fd("mmap_fd of a read-only file", NNHAL_MEMORY_MMAP_FD, reader, 0, BYTES, true,
	       IN_PLACE);
	/* Only a tmpfs is pinned for writing. */
	try_fd("mmap_fd of a file to be written", NNHAL_MEMORY_MMAP_FD, fd, 0, BYTES, false, EITHER);
}

static int udmabuf(void)
{
	struct udmabuf_create create = { .flags = UDMABUF_FLAGS_CLOEXEC, .size = BYTES };
	int memfd = nnhal_memfd_create("udmabuf", BYTES), fd, node;

	node = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	create.memfd = (uint32_t)memfd;
	fd = ioctl(node, UDMABUF_CREATE, &create);
	close(node);
	close(memfd);
	return fd;
}

static int dma_heap(void)
{
	struct dma_heap_allocation_data data = { .len = BYTES, .fd_flags = O_RDWR | O_CLOEXEC };
	int node = open("/dev/dma_heap/system", O_RDWR | O_CLOEXEC);
	int ret = ioctl(node, DMA_HEAP_IOCTL_ALLOC, &data);

	close(node);
	return ret ? -1 : (int)data.fd;
}

static int vgem(void)
{
	return vgem_memory(BYTES);
}

/* A buffer of the device, which others see as a dma-buf. */
static int own_buffer(void)
{
	const struct nnhal_buffer_desc desc = NNHAL_BUFFER_DESC_INIT;
	const struct nnhal_buffer_role role = { .frequency = 1.0f };
	struct nnhal_buffer *buffer = NULL;
	uint32_t token;
	int fd = -1;

	if (nnhal_device_allocate(device, &desc, &model, 1, &role, 1, NULL, 0, &buffer, &token,
				  &diag))
		return -1;
	nnhal_buffer_export(buffer, &fd, &diag);
	nnhal_buffer_unref(buffer);
	return fd;
}

static void test_dmabufs(void)
{
	static const struct {
		const char *name;
		int (*make)(void);
	} exporters[] = {
		{ "a dma-buf of udmabuf", udmabuf }, { "a dma-buf of dma_heap", dma_heap },
		{ "a dma-buf of vgem", vgem }, { "a buffer of the device", own_buffer },
	};
	size_t i;
	int fd;

	for (i = 0; i < sizeof(exporters) / sizeof(exporters[0]); i++) {
		fd = exporters[i].make();
		if (fd < 0 && exporters[i].make == dma_heap && IS_ARM64)
			tap_skip("Debian's arm64 kernel has no DMA heaps");
		else if (fd < 0)
			tap_skip("%s: this kernel has none", exporters[i].name);
		else
			try_fd(exporters[i].name, NNHAL_MEMORY_HARDWARE_BUFFER_BLOB, fd, 0, BYTES,
			       false, IN_PLACE);
	}
}

static void test_pointers(void)
{
	uint8_t *map = mmap(NULL, BYTES + 4096, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct nnhal_memory *memory = NULL;

	nnhal_memory_from_pointer(map, BYTES, 0, &memory, &diag);
	try("a host pointer", memory, map, false, IN_PLACE);
	nnhal_memory_unref(memory);
	memory = NULL;
	nnhal_memory_from_pointer(map + 1003, BYTES, 0, &memory, &diag);
	try("a host pointer at an odd address", memory, map + 1003, false, IN_PLACE);
	nnhal_memory_unref(memory);
	munmap(map, BYTES + 4096);
}

int main(void)
{
	is_drm = strncmp(test_device_spec(), "sim", 3);
	device = test_device_open();
	prepare();
	test_copied();
	test_files();
	if (is_drm)
		test_dmabufs();
	test_pointers();
	nnhal_memory_unref(plain);
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	return tap_done();
}
