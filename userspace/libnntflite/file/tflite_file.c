// SPDX-License-Identifier: MIT
/*
 * Opening .tflite files.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sized.h>

#include "tflite_file.h"

/* A copy of a text that can be printed, or NULL. */
static char *printable(struct text text)
{
	char *copy = malloc(text.length + 1);

	if (copy)
		text_print(text, copy, text.length + 1);
	return copy;
}

static int copy_texts(struct nntflite_file *file, struct nntflite_diag *diag)
{
	const struct tflite_model *tflite = &file->tflite;
	uint32_t i;

	file->description = printable(tflite->description);
	file->signatures = calloc((size_t)tflite->num_signatures + 1, sizeof(*file->signatures));
	if (!file->description || !file->signatures)
		return diag_fail_memory(diag);
	for (i = 0; i < tflite->num_signatures; i++) {
		file->signatures[i] = printable(tflite->signatures[i].key);
		if (!file->signatures[i])
			return diag_fail_memory(diag);
	}
	return 0;
}

void nntflite_file_close(struct nntflite_file *file)
{
	uint32_t i;

	if (!file)
		return;
	for (i = 0; file->signatures && i < file->tflite.num_signatures; i++)
		free(file->signatures[i]);
	free(file->signatures);
	free(file->description);
	tflite_free(&file->tflite);
	free(file->bytes);
	free(file);
}

static enum nnhal_status open_bytes(const void *data, size_t size, void *bytes,
				    struct nntflite_file **out, struct nntflite_diag *diag)
{
	struct nntflite_file *file = calloc(1, sizeof(*file));

	if (!file) {
		diag_fail_memory(diag);
		free(bytes);
		return diag_status(diag);
	}
	file->bytes = bytes;
	if (tflite_parse(&file->tflite, data, size, diag) || copy_texts(file, diag)) {
		nntflite_file_close(file);
		return diag_status(diag);
	}
	*out = file;
	return NNHAL_STATUS_NONE;
}

enum nnhal_status nntflite_file_open_memory(const void *data, size_t size,
					    struct nntflite_file **file,
					    struct nntflite_diag *diag)
{
	struct nntflite_diag ignored;

	diag = diag ? diag : &ignored;
	diag_init(diag);
	if (!file || (!data && size) || size > NNTFLITE_MAX_FILE) {
		diag_fail(diag, "%s", !file ? "no place for the file" :
			  size > NNTFLITE_MAX_FILE ? "more than 1 GiB" : "no data");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	return open_bytes(data, size, NULL, file, diag);
}

/* Twice the room, up to a byte more than a file may have; NULL, with a message, if that is full. */
static uint8_t *double_room(uint8_t *bytes, size_t *room, const char *path,
			    struct nntflite_diag *diag)
{
	size_t more = *room <= NNTFLITE_MAX_FILE / 2 ? 2 * *room : NNTFLITE_MAX_FILE + 1;
	uint8_t *bigger;

	if (*room > NNTFLITE_MAX_FILE) {
		diag_fail(diag, "%s: more than 1 GiB", path);
		return NULL;
	}
	bigger = realloc(bytes, more);
	if (!bigger) {
		diag_fail_memory(diag);
		return NULL;
	}
	*room = more;
	return bigger;
}

/*
 * Open a regular file. A FIFO that nobody writes to would keep the caller in open() for ever, and one
 * whose writer sends nothing, or a terminal, in read().
 */
static int open_regular(const char *path, struct nntflite_diag *diag)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	/* ENXIO: sockets cannot be opened at all. */
	if (fd < 0 && errno == ENXIO)
		return diag_fail(diag, "%s: not a regular file", path);
	if (fd < 0 || fstat(fd, &st) != 0)
		diag_fail_errno(diag, errno, "%s", path);
	else if (S_ISDIR(st.st_mode))
		diag_fail_errno(diag, EISDIR, "%s", path);
	else if (!S_ISREG(st.st_mode))
		diag_fail(diag, "%s: not a regular file", path);
	else
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/*
 * The whole file. It is read, not mapped: a file that shrinks while it is mapped would end
 * the process. One that is too large is not read to find that out, if its size is known: files of
 * /proc have none, and others may grow.
 */
static void *read_whole(int fd, const char *path, size_t *size, struct nntflite_diag *diag)
{
	size_t room = 65536, used = 0;
	uint8_t *bytes, *bigger;
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) == 0 && st.st_size > 0) {
		if ((uint64_t)st.st_size > NNTFLITE_MAX_FILE) {
			diag_fail(diag, "%s: more than 1 GiB", path);
			return NULL;
		}
		room = (size_t)st.st_size + 1;
	}
	bytes = malloc(room);
	if (!bytes) {
		diag_fail_memory(diag);
		return NULL;
	}
	for (;;) {
		if (used == room) {
			bigger = double_room(bytes, &room, path, diag);
			if (!bigger)
				break;
			bytes = bigger;
		}
		n = read(fd, bytes + used, room - used);
		if (n == 0) {
			*size = used;
			return bytes;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			diag_fail_errno(diag, errno, "%s", path);
			break;
		}
		used += (size_t)n;
	}
	free(bytes);
	return NULL;
}

enum nnhal_status nntflite_file_open(const char *path, struct nntflite_file **file,
				     struct nntflite_diag *diag)
{
	struct nntflite_diag ignored;
	size_t size = 0;
	void *bytes;
	int fd;

	diag = diag ? diag : &ignored;
	diag_init(diag);
	if (!path || !file) {
		diag_fail(diag, "no path, or no place for the file");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	fd = open_regular(path, diag);
	if (fd < 0)
		return diag_status(diag);
	bytes = read_whole(fd, path, &size, diag);
	close(fd);
	if (!bytes)
		return diag_status(diag);
	return open_bytes(bytes, size, bytes, file, diag);
}

enum nnhal_status nntflite_file_get_info(const struct nntflite_file *file,
					 struct nntflite_file_info *info)
{
	const struct tflite_model *tflite;
	struct nntflite_file_info full = NNTFLITE_FILE_INFO_INIT;

	if (!file || !info ||
	    !result_size_is_valid(info, SIZE_UP_TO(struct nntflite_file_info, num_signatures)))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	tflite = &file->tflite;
	full.description = file->description;
	full.bytes = tflite->reader.size;
	full.num_subgraphs = tflite->num_subgraphs;
	full.num_operators = tflite->subgraphs[0].num_operators;
	full.num_tensors = tflite->subgraphs[0].num_tensors;
	full.num_signatures = tflite->num_signatures;
	result_give(info, info->size, &full, sizeof(full));
	return NNHAL_STATUS_NONE;
}

const char *nntflite_file_signature(const struct nntflite_file *file, uint32_t index)
{
	if (!file || index >= file->tflite.num_signatures)
		return NULL;
	return file->signatures[index];
}
