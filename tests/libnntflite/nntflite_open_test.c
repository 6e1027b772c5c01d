// SPDX-License-Identifier: MIT
/*
 * nntflite_file_open(): regular files, and what is none.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <nntflite/nntflite.h>
#include <tap.h>

#define DIGITS	"examples/digits/digits_int8.tflite"

/* The program is linked with --wrap=read. */
ssize_t __real_read(int fd, void *data, size_t count);
ssize_t __wrap_read(int fd, void *data, size_t count);

static size_t bytes_read;

ssize_t __wrap_read(int fd, void *data, size_t count)
{
	ssize_t n = __real_read(fd, data, count);

	bytes_read += n > 0 ? (size_t)n : 0;
	return n;
}

static uint8_t bytes[32768];
static ssize_t size;

/* The path of an open file. */
static const char *path_of(int fd)
{
	static char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

static void opens(const char *path, const char *what)
{
	struct nntflite_file_info info = NNTFLITE_FILE_INFO_INIT;
	struct nntflite_file *file = NULL;
	struct nntflite_diag diag;

	if (!ok(!nntflite_file_open(path, &file, &diag) && !nntflite_file_get_info(file, &info) &&
		info.bytes == (uint64_t)size, "%s", what))
		tap_note("%" PRIu64 " bytes, %s", info.bytes, diag.message);
	nntflite_file_close(file);
}

static void refuses(const char *path, const char *words, const char *what)
{
	struct nntflite_file *none = (struct nntflite_file *)(void *)bytes, *file = none;
	struct nntflite_diag diag;
	enum nnhal_status status = nntflite_file_open(path, &file, &diag);

	if (!ok(status == NNHAL_STATUS_INVALID_ARGUMENT && file == none &&
		!strncmp(diag.message, path, strlen(path)) && strstr(diag.message, words), "%s", what))
		tap_note("status %d: %s", (int)status, diag.message);
}

/* A file that is too large is refused before it is read. */
static void test_large(void)
{
	static const off_t sizes[] = { (1 << 30) + 1, (off_t)1 << 40 };
	unsigned int i;
	int fd;

	bytes_read = 0;
	for (i = 0; i < 2; i++) {
		fd = memfd_create("large", MFD_CLOEXEC);
		if (!ok(fd >= 0 && !ftruncate(fd, sizes[i]), "a file of %lld bytes",
			(long long)sizes[i]))
			return;
		refuses(path_of(fd), "more than 1 GiB", "it is refused");
		close(fd);
	}
	ok(!bytes_read, "it is not read: %zu bytes were", bytes_read);
}

/* A regular file that says it is empty, and has more than is read at first: a line for every other page. */
static void test_unknown_size(void)
{
	enum { PAGES = 4000 };
	struct nntflite_file *file = NULL;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
	char *pages = mmap(NULL, PAGES * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct nntflite_diag diag;
	enum nnhal_status status;

	if (!ok(pages != MAP_FAILED, "mappings"))
		return;
	for (i = 0; i < PAGES; i += 2)
		mprotect(pages + i * page, page, PROT_READ);
	bytes_read = 0;
	status = nntflite_file_open("/proc/self/maps", &file, &diag);
	ok(status == NNHAL_STATUS_INVALID_ARGUMENT && bytes_read > 100000 &&
	   strstr(diag.message, "not a TensorFlow Lite file"),
	   "a file of unknown size is read: %zu bytes", bytes_read);
	munmap(pages, PAGES * page);
}

#define NOT_REGULAR	"not a regular file"

/* A pipe, whose writer may say nothing for ever. One of these writes a model, and is refused as well. */
static void test_pipes(void)
{
	int of[2];

	if (!ok(!pipe2(of, O_CLOEXEC), "a pipe"))
		return;
	refuses(path_of(of[0]), NOT_REGULAR, "a pipe whose writer says nothing is refused");
	ok(write(of[1], bytes, (size_t)size) == size && !close(of[1]), "a model in a pipe");
	refuses(path_of(of[0]), NOT_REGULAR, "it is refused");
	close(of[0]);
}

static void test_named(void)
{
	char folder[] = "/tmp/nntflite_open_XXXXXX";
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char fifo[sizeof(folder) + 8];

	if (!ok(mkdtemp(folder) && s >= 0, "a folder"))
		return;
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", folder);
	ok(!mkfifo(fifo, 0600) && !bind(s, (struct sockaddr *)&address, sizeof(address)),
	   "a FIFO and a socket");
	refuses(fifo, NOT_REGULAR, "a FIFO that nobody writes to is refused");
	refuses(address.sun_path, NOT_REGULAR, "a socket");
	refuses(folder, "Is a directory", "a directory");
	refuses("/dev/zero", NOT_REGULAR, "a device");
	close(s);
	unlink(fifo);
	unlink(address.sun_path);
	rmdir(folder);
}

int main(void)
{
	int fd = open(DIGITS, O_RDONLY | O_CLOEXEC);

	size = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));
	if (!ok(size > 0 && size < (ssize_t)sizeof(bytes), "a file"))
		return tap_done();
	close(fd);
	opens(DIGITS, "a file");
	ok(bytes_read >= 2 * (size_t)size, "what is read is counted");
	refuses("examples/digits/none.tflite", "No such file", "a file that is not there");
	test_large();
	test_unknown_size();
	/* A signal ends the test if it waits for a writer. */
	alarm(20);
	test_pipes();
	test_named();
	return tap_done();
}
