// SPDX-License-Identifier: MIT
/*
 * nntflite_file_open(): files of known size, pipes, and what is no file of a model.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
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

int main(void)
{
	int fd = open(DIGITS, O_RDONLY | O_CLOEXEC), pipe_of[2];

	size = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));
	if (!ok(size > 0 && size < (ssize_t)sizeof(bytes) && !pipe2(pipe_of, O_CLOEXEC), "a file"))
		return tap_done();
	close(fd);
	opens(DIGITS, "a file");
	ok(write(pipe_of[1], bytes, (size_t)size) == size && !close(pipe_of[1]), "a pipe");
	opens(path_of(pipe_of[0]), "what comes from a pipe");
	ok(bytes_read >= 3 * (size_t)size, "what is read is counted");
	close(pipe_of[0]);
	refuses("examples/digits/none.tflite", "No such file", "a file that is not there");
	refuses("examples/digits", "Is a directory", "a directory");
	test_large();
	return tap_done();
}
