// SPDX-License-Identifier: MIT
/*
 * What it costs to bind memory of each kind to a device, and to unbind it: microseconds per MiB, the
 * median of several turns, of 64 MiB whose pages are there.
 *
 *   bench_pools [--device SPEC] [--json FILE]
 */
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <nnhal/nnhal.h>

#define MIB	64u
#define BYTES	((size_t)MIB << 20)
#define TURNS	9u

/* Memory to make objects of, again and again. */
struct kind {
	const char *name;
	uint32_t kind;
	uint32_t access;
	int fd;				/* -1: @address */
	uint8_t *address;
};

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *values)
{
	qsort(values, TURNS, sizeof(*values), compare);
	return values[TURNS / 2];
}

static enum nnhal_status make(const struct kind *k, struct nnhal_memory **memory,
			      struct nnhal_diag *diag)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = k->kind, .fd = k->fd, .size = BYTES,
		.access = k->access,
	};

	if (k->fd < 0)
		return nnhal_memory_from_pointer(k->address, BYTES, k->access, memory, diag);
	return nnhal_memory_import(&desc, memory, diag);
}

/* False: it cannot be measured. */
static bool measure(const struct kind *k, struct nnhal_device *device, FILE *json, bool *first)
{
	double bind[TURNS], unbind[TURNS], start, bound;
	struct nnhal_memory *memory;
	struct nnhal_diag diag;
	uint32_t reach = 0;
	unsigned int i;

	for (i = 0; i < TURNS; i++) {
		if (make(k, &memory, &diag)) {
			fprintf(stderr, "bench_pools: %s: %s\n", k->name, diag.message);
			return false;
		}
		start = now_us();
		if (nnhal_memory_reach(memory, device, &reach, &diag)) {
			fprintf(stderr, "bench_pools: %s: %s\n", k->name, diag.message);
			nnhal_memory_unref(memory);
			return false;
		}
		bound = now_us();
		nnhal_memory_unref(memory);
		bind[i] = (bound - start) / MIB;
		unbind[i] = (now_us() - bound) / MIB;
	}
	printf("%-32s %9.3f us/MiB %9.3f us/MiB  %s\n", k->name, median(bind), median(unbind),
	       nnhal_memory_reach_text(reach));
	if (json)
		fprintf(json,
			"%s\n  {\"kind\": \"%s\", \"bind_us_per_mib\": %.4f, \"unbind_us_per_mib\": %.4f, \"reach\": \"%s\"}",
			*first ? "" : ",", k->name, median(bind), median(unbind),
			nnhal_memory_reach_text(reach));
	*first = false;
	return true;
}

static int touched(int fd, size_t size)
{
	uint8_t *map;

	if (fd < 0 || ftruncate(fd, (off_t)size)) {
		perror("bench_pools: memory");
		exit(1);
	}
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map != MAP_FAILED) {
		memset(map, 1, size);
		munmap(map, size);
	}
	return fd;
}

static int file_to_read(void)
{
	char path[] = "/var/tmp/nnpu-bench-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);

	unlink(path);
	return touched(fd, BYTES);
}

/* -1: there is none. */
static int udmabuf(int memfd)
{
	struct udmabuf_create create = {
		.memfd = (uint32_t)memfd, .flags = UDMABUF_FLAGS_CLOEXEC, .size = BYTES,
	};
	int node = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	int fd = node < 0 ? -1 : ioctl(node, UDMABUF_CREATE, &create);

	if (node >= 0)
		close(node);
	return fd;
}

static bool measure_all(struct nnhal_device *device, FILE *json)
{
	int sealed = touched(nnhal_memfd_create("bench", BYTES), BYTES);
	int dmabuf = udmabuf(sealed);
	uint8_t *map = mmap(NULL, BYTES + 4096, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	const struct kind kinds[] = {
		{ "sealed memfd", NNHAL_MEMORY_ASHMEM, 0, sealed, NULL },
		{ "memfd that can shrink", NNHAL_MEMORY_ASHMEM, 0,
		  touched(memfd_create("open", MFD_CLOEXEC), BYTES), NULL },
		{ "file to be read", NNHAL_MEMORY_MMAP_FD, NNHAL_MEMORY_READ, file_to_read(), NULL },
		{ "host pointer", 0, 0, -1, map },
		{ "host pointer, not aligned", 0, 0, -1, map + 100 },
		{ "dma-buf", NNHAL_MEMORY_HARDWARE_BUFFER_BLOB, 0, dmabuf, NULL },
	};
	bool first = true, good = true;
	size_t i;

	if (map == MAP_FAILED) {
		perror("bench_pools: memory");
		return false;
	}
	printf("%-32s %16s %16s\n", "64 MiB", "bind", "unbind");
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].kind != NNHAL_MEMORY_HARDWARE_BUFFER_BLOB || dmabuf >= 0)
			good &= measure(&kinds[i], device, json, &first);
	return good;
}

int main(int argc, char **argv)
{
	const char *spec = NULL, *path = NULL;
	struct nnhal_device *device;
	struct nnhal_diag diag;
	FILE *json = NULL;
	bool good;
	int i;

	for (i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--device"))
			spec = argv[i + 1];
		else if (!strcmp(argv[i], "--json"))
			path = argv[i + 1];
		else
			break;
	}
	if (i < argc) {
		fprintf(stderr, "usage: bench_pools [--device SPEC] [--json FILE]\n");
		return 2;
	}
	if (nnhal_device_open(spec, &device, &diag)) {
		fprintf(stderr, "bench_pools: %s\n", diag.message);
		return 1;
	}
	if (path) {
		json = fopen(path, "w");
		if (!json) {
			perror(path);
			return 1;
		}
		fputc('[', json);
	}
	good = measure_all(device, json);
	if (json && (fputs("\n]\n", json) < 0 || fclose(json)))
		good = false;
	nnhal_device_unref(device);
	return good ? 0 : 1;
}
