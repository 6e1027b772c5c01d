// SPDX-License-Identifier: MIT
/*
 * Memory objects, without a device: kinds, sizes, rights, mapping.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nnhal_fixture.h"
#include "memory/memory_private.h"
#include "system_calls.h"

static struct nnhal_diag diag;

/* Another process truncates the file right before it is sealed. */
static bool shrinks;

int __wrap_fcntl(int fd, int cmd, ...)
{
	va_list ap;
	long arg;

	va_start(ap, cmd);
	arg = va_arg(ap, long);
	va_end(ap);
	if (cmd == F_ADD_SEALS && shrinks && ftruncate(fd, sysconf(_SC_PAGESIZE)))
		return -1;
	return __real_fcntl(fd, cmd, arg);
}

static enum nnhal_status import(uint32_t kind, int fd, uint64_t size, uint64_t offset,
				uint32_t access, struct nnhal_memory **memory)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = kind, .fd = fd, .size = size,
		.offset = offset, .access = access,
	};

	return nnhal_memory_import(&desc, memory, &diag);
}

static void expect(enum nnhal_status expected, const char *what, uint32_t kind, int fd,
		   uint64_t size, uint64_t offset, uint32_t access)
{
	struct nnhal_memory *memory = (struct nnhal_memory *)&diag;
	enum nnhal_status status = import(kind, fd, size, offset, access, &memory);

	ok(status == expected && !memory == !!status && !diag.message[0] == !status,
	   "%s: %s%s%s", what, nnhal_status_name((int)expected), diag.message[0] ? ": " : "",
	   diag.message);
	if (!status)
		nnhal_memory_unref(memory);
}

static void test_create(void)
{
	struct nnhal_memory *memory;
	uint8_t *map;

	ok(!nnhal_memory_create(5000, &memory, &diag), "memory of 5000 bytes");
	ok(nnhal_memory_size(memory) == 5000 && nnhal_memory_kind(memory) == NNHAL_MEMORY_ASHMEM &&
	   nnhal_memory_access(memory) == (NNHAL_MEMORY_READ | NNHAL_MEMORY_WRITE),
	   "size, kind and access");
	ok(memory->direct, "devices reach it without a copy");
	ok(ftruncate(nnhal_memory_fd(memory), 0) && errno == EPERM, "it cannot be truncated");
	map = nnhal_memory_map(memory, &diag);
	ok(map && !map[0] && !map[4999], "mapped and zeroed");
	ok(nnhal_memory_map(memory, NULL) == map, "mapped once");
	map[4999] = 7;
	ok(nnhal_memory_begin_cpu_access(memory, NNHAL_MEMORY_READ) == NNHAL_STATUS_NONE &&
	   nnhal_memory_end_cpu_access(memory, NNHAL_MEMORY_READ) == NNHAL_STATUS_NONE,
	   "CPU access of a memfd");
	ok(nnhal_memory_begin_cpu_access(memory, 0) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_memory_begin_cpu_access(memory, 8) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_memory_begin_cpu_access(NULL, 1) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "CPU access with bad arguments");
	ok(nnhal_memory_ref(memory) == memory, "reference");
	nnhal_memory_unref(memory);
	ok(map[4999] == 7, "still there");
	nnhal_memory_unref(memory);
	nnhal_memory_unref(NULL);
	memory = (struct nnhal_memory *)&diag;
	ok(nnhal_memory_create(0, &memory, &diag) == NNHAL_STATUS_INVALID_ARGUMENT && !memory &&
	   diag.message[0], "no memory of 0 bytes: %s", diag.message);
	ok(nnhal_memory_create(16, NULL, &diag) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "no room for the result");
	ok(nnhal_memory_create(UINT64_MAX, &memory, &diag) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "not 2^64 bytes");
	ok(!nnhal_memory_map(NULL, &diag) && diag.message[0], "no map of no object");
}

static void test_memfd_helper(void)
{
	int fd = nnhal_memfd_create("test", 100);
	struct stat st = { 0 };

	ok(fd >= 0 && !fstat(fd, &st) && st.st_size % 4096 == 0 && st.st_size > 0,
	   "memfd has whole pages");
	ok(fcntl(fd, F_GET_SEALS) == (F_SEAL_SHRINK | F_SEAL_GROW), "memfd is sealed");
	ok(fcntl(fd, F_GETFD) & FD_CLOEXEC, "memfd is close-on-exec");
	close(fd);
	ok(nnhal_memfd_create("test", 0) == -EINVAL && nnhal_memfd_create(NULL, 1) == -EINVAL &&
	   nnhal_memfd_create("test", UINT64_MAX) == -EINVAL, "bad arguments give -EINVAL");
}

static void test_kinds(void)
{
	/* A memfd of the library has whole pages, whatever size it was asked for. */
	uint64_t size = 2 * (uint64_t)sysconf(_SC_PAGESIZE);
	int memfd = nnhal_memfd_create("test", size);
	char name[] = "/tmp/nnhal-test-XXXXXX";
	int program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int file = mkstemp(name);
	int pipes[2] = { -1, -1 };

	ok(!ftruncate(file, 8192) && !pipe(pipes), "files to import");
	unlink(name);
	expect(NNHAL_STATUS_NONE, "F01 memfd", NNHAL_MEMORY_ASHMEM, memfd, size, 0, 0);
	expect(NNHAL_STATUS_NONE, "F01 part of a memfd", NNHAL_MEMORY_ASHMEM, memfd, 10, 0, 0);
	expect(NNHAL_STATUS_INVALID_ARGUMENT, "F06 memfd too small", NNHAL_MEMORY_ASHMEM, memfd,
	       size + 1, 0, 0);
	expect(NNHAL_STATUS_INVALID_ARGUMENT, "F06 size 0", NNHAL_MEMORY_ASHMEM, memfd, 0, 0, 0);
	expect(NNHAL_STATUS_INVALID_ARGUMENT, "F06 size 2^64 - 1", NNHAL_MEMORY_ASHMEM, memfd,
	       UINT64_MAX, 0, 0);
	/* A file on tmpfs would pass: a memfd is one. */
	expect(NNHAL_STATUS_INVALID_ARGUMENT, "F05 file as memfd", NNHAL_MEMORY_ASHMEM, program,
	       4096, 0, 0);
	expect(NNHAL_STATUS_INVALID_ARGUMENT, "F05 memfd with an offset", NNHAL_MEMORY_ASHMEM,
	       memfd, 4096, 4096, 0);
	expect(NNHAL_STATUS_NONE, "F02 file", NNHAL_MEMORY_MMAP_FD, file, 8192, 0, 0);
	expect(NNHAL_STATUS_NONE, "F02 memfd as a file", NNHAL_MEMORY_MMAP_FD, memfd, 4096, 0, 0);
	expect(NNHAL_STATUS_NONE, "F02 file at an offset", NNHAL_MEMORY_MMAP_FD, file, 100, 8092,
	       0);
	expect(NNHAL_STATUS_INVALID_ARGUMENT, "F06 file too small", NNHAL_MEMORY_MMAP_FD, file,
	       101, 8092, 0);
	expect(NNHAL_STATUS_INVALID_ARGUMENT, "F06 offset beyond the file", NNHAL_MEMORY_MMAP_FD,
	       file, 1, UINT64_MAX, 0);
	expect(NNHAL_STATUS_INVALID_ARGUMENT, "F05 pipe as a file", NNHAL_MEMORY_MMAP_FD,
	       pipes[0], 1, 0, 0);
	expect(NNHAL_STATUS_INVALID_ARGUMENT, "F05 memfd as a dma-buf",
	       NNHAL_MEMORY_HARDWARE_BUFFER_BLOB, memfd, 4096, 0, 0);
	expect(NNHAL_STATUS_GENERAL_FAILURE, "F09 hardware_buffer", NNHAL_MEMORY_HARDWARE_BUFFER,
	       memfd, 4096, 0, 0);
	expect(NNHAL_STATUS_INVALID_ARGUMENT, "F05 unknown kind", 4, memfd, 4096, 0, 0);
	expect(NNHAL_STATUS_INVALID_ARGUMENT, "F05 closed fd", NNHAL_MEMORY_ASHMEM, 9999, 4096, 0,
	       0);
	expect(NNHAL_STATUS_INVALID_ARGUMENT, "F05 fd -1", NNHAL_MEMORY_ASHMEM, -1, 4096, 0, 0);
	expect(NNHAL_STATUS_INVALID_ARGUMENT, "unknown access", NNHAL_MEMORY_ASHMEM, memfd, 4096,
	       0, 4);
	ok(nnhal_memory_import(NULL, NULL, &diag) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "no description");
	close(memfd);
	close(program);
	close(file);
	close(pipes[0]);
	close(pipes[1]);
}

static void test_rights(void)
{
	struct nnhal_memory *memory = NULL;
	int fd = nnhal_memfd_create("test", 4096);
	char path[64];
	int readonly;
	uint8_t *map;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	readonly = open(path, O_RDONLY | O_CLOEXEC);
	ok(!import(NNHAL_MEMORY_ASHMEM, readonly, 4096, 0, 0, &memory) &&
	   nnhal_memory_access(memory) == NNHAL_MEMORY_READ, "F07 read-only fd");
	map = nnhal_memory_map(memory, &diag);
	ok(map && !map[0], "it maps for reading");
	nnhal_memory_unref(memory);
	expect(NNHAL_STATUS_INVALID_ARGUMENT, "write access of a read-only fd",
	       NNHAL_MEMORY_ASHMEM, readonly, 4096, 0, NNHAL_MEMORY_WRITE);
	close(readonly);
	close(fd);

	fd = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	ok(!ftruncate(fd, 4096) && !fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), "memfd sealed against writing");
	ok(!import(NNHAL_MEMORY_ASHMEM, fd, 4096, 0, 0, &memory) &&
	   nnhal_memory_access(memory) == NNHAL_MEMORY_READ, "F07 it is read-only memory");
	nnhal_memory_unref(memory);
	close(fd);
}

static void test_direct(void)
{
	struct nnhal_memory *memory = NULL;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("plain", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	ok(!ftruncate(fd, (off_t)page) && !import(NNHAL_MEMORY_ASHMEM, fd, page - 96, 0, 0, &memory) &&
	   memory->direct, "memfd of whole pages is lent to devices");
	ok(ftruncate(fd, 0) && errno == EPERM, "and sealed against shrinking");
	nnhal_memory_unref(memory);
	close(fd);

	fd = memfd_create("odd", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	ok(!ftruncate(fd, (off_t)page + 904) &&
	   !import(NNHAL_MEMORY_ASHMEM, fd, page + 904, 0, 0, &memory) && !memory->direct,
	   "memfd of a page and a bit is not");
	nnhal_memory_unref(memory);
	close(fd);

	fd = memfd_create("unsealable", MFD_CLOEXEC);
	ok(!ftruncate(fd, (off_t)page) && !import(NNHAL_MEMORY_ASHMEM, fd, page, 0, 0, &memory) &&
	   !memory->direct, "memfd that cannot be sealed is not");
	nnhal_memory_unref(memory);
	close(fd);
}

/* A seal cannot be taken back. */
static void test_refused(void)
{
	int fd = memfd_create("refused", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	ok(!ftruncate(fd, 4096) && !fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), "memfd to read");
	expect(NNHAL_STATUS_INVALID_ARGUMENT, "import for writing", NNHAL_MEMORY_ASHMEM, fd, 4096,
	       0, NNHAL_MEMORY_WRITE);
	ok(fcntl(fd, F_GET_SEALS) == F_SEAL_FUTURE_WRITE, "an import that fails adds no seal");
	close(fd);
}

static void test_shrunk(void)
{
	struct nnhal_memory *memory = NULL;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("shrunk", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	ok(!ftruncate(fd, 2 * (off_t)page), "memfd of two pages");
	shrinks = true;
	expect(NNHAL_STATUS_INVALID_ARGUMENT, "memfd that shrinks while it is imported",
	       NNHAL_MEMORY_ASHMEM, fd, 2 * page, 0, 0);
	shrinks = false;
	ok(!import(NNHAL_MEMORY_ASHMEM, fd, page, 0, 0, &memory) && memory->direct,
	   "what is left of it is lent to devices");
	nnhal_memory_unref(memory);
	close(fd);
}

static void test_read_write(void)
{
	struct nnhal_memory *memory = NULL;
	char name[] = "/tmp/nnhal-test-XXXXXX";
	int file = mkstemp(name);
	uint8_t data[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, back[8] = { 0 };
	uint8_t *map;

	unlink(name);
	ok(!ftruncate(file, 8192) &&
	   !import(NNHAL_MEMORY_MMAP_FD, file, 1000, 5001, 0, &memory), "file at offset 5001");
	ok(!memory_write(memory, 100, data, 8) && !memory_read(memory, 100, back, 8) &&
	   !memcmp(data, back, 8), "written and read back");
	ok(pread(file, back, 1, 5101) == 1 && back[0] == 1, "at the right place of the file");
	map = nnhal_memory_map(memory, &diag);
	ok(map && !memcmp(map + 100, data, 8), "F02 mapped at an offset that is not page-aligned");
	ok(!ftruncate(file, 5103), "file truncated");
	ok(memory_read(memory, 100, back, 8) == -EIO, "F06 reading is an error, not a fault");
	nnhal_memory_unref(memory);
	close(file);
}

/*
 * Foreign memory is written without pwrite(), which takes the lock of the file. A limit of the size
 * of files stops pwrite() only.
 */
static void test_foreign(void)
{
	/* Whole pages, as the memfd has. */
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = NNHAL_MEMORY_ASHMEM,
		.size = 3 * (uint64_t)sysconf(_SC_PAGESIZE),
	};
	static uint8_t data[5000], back[sizeof(data)];
	struct nnhal_memory *memory = NULL;
	struct rlimit limit, none;
	int err, own;
	size_t i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + 1);
	desc.fd = nnhal_memfd_create("foreign", desc.size);
	if (!ok(!memory_import_foreign(&desc, &memory) &&
		(nnhal_memory_access(memory) & NNHAL_MEMORY_WRITE), "foreign memory"))
		return;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	none = limit;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_FSIZE, &none);
	own = pwrite(desc.fd, data, 1, 0) == 1;
	err = memory_write(memory, 4000, data, sizeof(data));
	setrlimit(RLIMIT_FSIZE, &limit);
	ok(!own && !err && !memory_read(memory, 4000, back, sizeof(back)) &&
	   !memcmp(data, back, sizeof(data)), "written without pwrite(): %s", strerror(-err));
	ok(memory_write(memory, desc.size - 8, data, 4097) < 0, "beyond the file: an error");
	nnhal_memory_unref(memory);
	close(desc.fd);
}

static void test_no_descriptor(void)
{
	struct nnhal_memory *memory = NULL;
	int fd = nnhal_memfd_create("full", 4096);
	enum nnhal_status status, imported;
	struct rlimit limit, none;

	getrlimit(RLIMIT_NOFILE, &limit);
	/* The number 0 is in use. */
	none = (struct rlimit){ 1, limit.rlim_max };
	setrlimit(RLIMIT_NOFILE, &none);
	status = nnhal_memory_create(4096, &memory, &diag);
	imported = import(NNHAL_MEMORY_ASHMEM, fd, 4096, 0, 0, &memory);
	setrlimit(RLIMIT_NOFILE, &limit);
	ok(status == NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT && imported == status,
	   "no descriptor is free: %s, %s", nnhal_status_name((int)status),
	   nnhal_status_name((int)imported));
	close(fd);
}

int main(void)
{
	test_create();
	test_memfd_helper();
	test_kinds();
	test_rights();
	test_direct();
	test_refused();
	test_shrunk();
	test_read_write();
	test_foreign();
	test_no_descriptor();
	return tap_done();
}
