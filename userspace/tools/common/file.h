/* SPDX-License-Identifier: MIT */
/*
 * Reading whole files, and writing files that appear only when they are complete.
 */
#ifndef TOOLS_FILE_H
#define TOOLS_FILE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

/*
 * Read from a descriptor until @size bytes are there or the end is reached. Ends with EINTR when a
 * handler has set *@stop, however shortly before; goes on after other signals.
 * Returns the number of bytes, or -1 with errno set.
 */
int64_t read_full(int fd, void *data, size_t size, const volatile sig_atomic_t *stop);

/* Write all @size bytes. 0, or -1 with errno set. */
int write_full(int fd, const void *data, size_t size);

/* Do both names lead to the same file, also if there is none yet? Hard links are two files. */
bool same_path(const char *a, const char *b);

/* Open for reading; "-" is standard input. A directory is an error. -1 with error. */
int open_input(const char *path, struct error *err);

/*
 * Read the rest of a file of at most @limit bytes into memory to be freed; @head
 * bytes at @before come first. @stop ends waiting for a pipe; it may be NULL. 0, or -1 with the
 * error filled in.
 */
int read_rest(int fd, const char *path, const void *before, size_t head, size_t limit,
	      uint8_t **data, size_t *size, const volatile sig_atomic_t *stop, struct error *err);

/**
 * struct out_file - a file being written
 * @path: as the user named it; "-" is standard output
 * @is_stdout: @path is "-"
 *
 * A regular file is written under a temporary name beside it and takes its name
 * when it is complete and on its way to the disk without error. Anything else (a
 * pipe, a terminal, a device) is written as it is.
 */
struct out_file {
	const char *path;
	char *target;			/* @path with symbolic links resolved */
	char *temporary;		/* name while it is written, or NULL */
	int fd;
	bool is_stdout;
	bool seekable;
	uint8_t *buffer;
	size_t used;
};

int out_open(struct out_file *out, const char *path, struct error *err);
int out_write(struct out_file *out, const void *data, size_t size, struct error *err);
/* Write out what is buffered; a complete sample reaches a pipe at once. */
int out_flush(struct out_file *out, struct error *err);
/* Replace @size bytes at the start; for seekable files. */
int out_rewrite_start(struct out_file *out, const void *data, size_t size,
		      struct error *err);
/* Complete the file: flush, close, rename. */
int out_commit(struct out_file *out, struct error *err);
/* Give up: a file that is not complete disappears. No effect after out_commit(). */
void out_abort(struct out_file *out);

#endif /* TOOLS_FILE_H */
