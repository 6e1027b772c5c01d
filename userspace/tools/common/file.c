// SPDX-License-Identifier: MIT
/*
 * Reading whole files, and writing files that appear only when they are complete.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "stop_poll.h"

#define BUFFER_SIZE	65536

/* Wait until a read gives something, or *@stop is set: 0, or -1 with errno. */
static int wait_readable(int fd, const volatile sig_atomic_t *stop)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int ret;

	do {
		ret = poll_unless_stopped(&p, 1, NULL, stop);
	} while (ret < 0 && errno == EINTR && !*stop);
	return ret < 0 ? -1 : 0;
}

int64_t read_full(int fd, void *data, size_t size, const volatile sig_atomic_t *stop)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n;

		if (stop && wait_readable(fd, stop))
			return -1;
		n = read(fd, (uint8_t *)data + done, size - done);
		if (n == 0)
			break;
		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -1;
		}
		done += (size_t)n;
	}
	return (int64_t)done;
}

int write_full(int fd, const void *data, size_t size)
{
	const uint8_t *p = data;

	while (size) {
		ssize_t n = write(fd, p, size);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -1;
		}
		p += n;
		size -= (size_t)n;
	}
	return 0;
}

/* The directory of @path without symbolic links, and the name in it; NULL if there is no such directory. */
static char *place_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *text, *directory, *place = NULL;

	/* With the dot, "a", "./a" and "/a" all have a directory. */
	if (asprintf(&text, "%.*s.", slash ? (int)(slash - path) + 1 : 0, path) < 0)
		return NULL;
	directory = realpath(text, NULL);
	free(text);
	if (!directory || asprintf(&place, "%s/%s", directory, slash ? slash + 1 : path) < 0)
		place = NULL;
	free(directory);
	return place;
}

bool same_path(const char *a, const char *b)
{
	char *first = realpath(a, NULL);
	char *second = realpath(b, NULL);
	bool same = strcmp(a, b) == 0;

	if (!first && !second) {
		first = place_of(a);
		second = place_of(b);
	}
	if (first && second)
		same = strcmp(first, second) == 0;
	free(first);
	free(second);
	return same;
}

int open_input(const char *path, struct error *err)
{
	struct stat st;
	int fd;

	if (strcmp(path, "-") == 0) {
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
		if (fd < 0)
			return fail_errno(err, errno, "standard input");
		return fd;
	}
	if (path[0] == '\0')
		return fail(err, "the name of a file is empty");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail_errno(err, errno, "%s", path);
	if (fstat(fd, &st) < 0) {
		fail_errno(err, errno, "%s", path);
		close(fd);
		return -1;
	}
	if (S_ISDIR(st.st_mode)) {
		fail_errno(err, EISDIR, "%s", path);
		close(fd);
		return -1;
	}
	return fd;
}

int read_rest(int fd, const char *path, const void *before, size_t head, size_t limit,
	      uint8_t **data, size_t *size, const volatile sig_atomic_t *stop, struct error *err)
{
	size_t room = BUFFER_SIZE;
	struct stat st;
	uint8_t *buffer;
	int64_t n;

	*data = NULL;
	*size = 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
		if ((uint64_t)st.st_size > limit)
			return fail(err, "%s: larger than %zu MiB", path, limit >> 20);
		room = (size_t)st.st_size + 1;
	}
	if (room < head + 1)
		room = head + BUFFER_SIZE;
	buffer = malloc(room);
	if (!buffer)
		return fail(err, "%s: out of memory", path);
	if (head)
		memcpy(buffer, before, head);
	*size = head;
	for (;;) {
		uint8_t *bigger;

		n = read_full(fd, buffer + *size, room - *size, stop);
		if (n < 0) {
			fail_errno(err, errno, "%s", path);
			break;
		}
		*size += (size_t)n;
		if (*size > limit) {
			fail(err, "%s: larger than %zu MiB", path, limit >> 20);
			break;
		}
		if (*size < room) {
			*data = buffer;
			return 0;
		}
		bigger = realloc(buffer, room * 2);
		if (!bigger) {
			fail(err, "%s: out of memory", path);
			break;
		}
		buffer = bigger;
		room *= 2;
	}
	free(buffer);
	return -1;
}

/*
 * Open a temporary file beside the target. Returns 0, 1 if the directory does not allow it and the target is
 * to be written in place, or -1: on a full disk, say, where writing in place would cost the old content.
 */
static int open_temporary(struct out_file *out, const struct stat *replaced, struct error *err)
{
	const char *slash = strrchr(out->target, '/');
	int directory = slash ? (int)(slash - out->target) + 1 : 0;
	int errnum = EEXIST, tries;
	uint64_t number;

	/* mkostemp() would give the mode 0600, and the umask can only be read by setting it. */
	for (tries = 0; tries < 100 && errnum == EEXIST; tries++) {
		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			return fail_errno(err, errno, "%s", out->path);
		if (asprintf(&out->temporary, "%.*s.nnrun-%016" PRIx64, directory, out->target,
			     number) < 0) {
			out->temporary = NULL;
			return fail(err, "out of memory");
		}
		out->fd = open(out->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
			       replaced ? 0600 : 0666);
		if (out->fd >= 0) {
			/* This fails on file systems without permissions, which does no harm. */
			if (replaced)
				(void)!fchmod(out->fd, replaced->st_mode & 0777);
			return 0;
		}
		errnum = errno;
		free(out->temporary);
		out->temporary = NULL;
	}
	if (errnum == EACCES || errnum == EPERM || errnum == EROFS)
		return 1;
	return fail_errno(err, errnum, "%s", out->path);
}

static int open_path(struct out_file *out, struct error *err)
{
	struct stat st, *replaced = NULL;
	int ret;

	if (out->path[0] == '\0')
		return fail(err, "the name of an output file is empty");
	if (stat(out->path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return fail_errno(err, EISDIR, "%s", out->path);
		if (!S_ISREG(st.st_mode)) {
			out->fd = open(out->path, O_WRONLY | O_CLOEXEC);
			return out->fd < 0 ? fail_errno(err, errno, "%s", out->path) : 0;
		}
		/* Keep the rules of the file that is replaced. */
		if (access(out->path, W_OK) < 0)
			return fail_errno(err, errno, "%s", out->path);
		replaced = &st;
		out->target = realpath(out->path, NULL);
	} else {
		out->target = strdup(out->path);
	}
	if (!out->target)
		return fail_errno(err, errno, "%s", out->path);
	out->seekable = true;
	ret = open_temporary(out, replaced, err);
	if (ret <= 0)
		return ret;
	out->fd = open(out->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return out->fd < 0 ? fail_errno(err, errno, "%s", out->path) : 0;
}

int out_open(struct out_file *out, const char *path, struct error *err)
{
	*out = (struct out_file){ .path = path, .fd = -1 };
	out->buffer = malloc(BUFFER_SIZE);
	if (!out->buffer)
		return fail(err, "out of memory");
	if (strcmp(path, "-") == 0) {
		out->is_stdout = true;
		out->path = "standard output";
		out->fd = STDOUT_FILENO;
		return 0;
	}
	return open_path(out, err);
}

int out_flush(struct out_file *out, struct error *err)
{
	size_t used = out->used;

	out->used = 0;
	if (write_full(out->fd, out->buffer, used) < 0)
		return fail_errno(err, errno, "%s", out->path);
	return 0;
}

int out_write(struct out_file *out, const void *data, size_t size, struct error *err)
{
	if (size > BUFFER_SIZE - out->used && out_flush(out, err))
		return -1;
	if (size > BUFFER_SIZE) {
		if (write_full(out->fd, data, size) < 0)
			return fail_errno(err, errno, "%s", out->path);
		return 0;
	}
	memcpy(out->buffer + out->used, data, size);
	out->used += size;
	return 0;
}

int out_rewrite_start(struct out_file *out, const void *data, size_t size,
		      struct error *err)
{
	ssize_t n;

	if (out_flush(out, err))
		return -1;
	n = pwrite(out->fd, data, size, 0);
	if (n != (ssize_t)size)
		return fail_errno(err, n < 0 ? errno : ENOSPC, "%s", out->path);
	return 0;
}

static void out_free(struct out_file *out)
{
	free(out->target);
	free(out->temporary);
	free(out->buffer);
	out->target = NULL;
	out->temporary = NULL;
	out->buffer = NULL;
	out->fd = -1;
}

int out_commit(struct out_file *out, struct error *err)
{
	int ret;

	if (out_flush(out, err))
		return -1;
	if (out->is_stdout) {
		out_free(out);
		return 0;
	}
	/* On file systems that allocate late, close() is what reports a full disk. */
	ret = close(out->fd);
	out->fd = -1;
	if (ret < 0)
		return fail_errno(err, errno, "%s", out->path);
	if (out->temporary && rename(out->temporary, out->target) < 0)
		return fail_errno(err, errno, "%s", out->path);
	out_free(out);
	return 0;
}

void out_abort(struct out_file *out)
{
	if (!out->buffer)
		return;
	if (out->fd >= 0 && !out->is_stdout) {
		/*
		 * A file that is written in place becomes empty: that is better than half of
		 * the data.
		 */
		if (out->seekable && !out->temporary)
			(void)!ftruncate(out->fd, 0);
		close(out->fd);
	}
	if (out->temporary)
		unlink(out->temporary);
	out_free(out);
}
