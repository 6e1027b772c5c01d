/* SPDX-License-Identifier: MIT */
/*
 * Standard input, output and error are there, even if the caller of the tool has closed them.
 *
 * Otherwise a file that the tool opens gets the number of one of them, and what the tool prints goes into
 * that file.
 */
#ifndef TOOLS_STANDARD_FILES_H
#define TOOLS_STANDARD_FILES_H

#include <fcntl.h>
#include <unistd.h>

/*
 * For the beginning of main(). What was closed is opened the wrong way round, so that its use is an error
 * as before. 0, or -1 with errno set.
 */
static inline int hold_standard_files(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		int flags = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;

		/* The lowest number that is free is this one. */
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", flags) != fd)
			return -1;
	}
	return 0;
}

#endif /* TOOLS_STANDARD_FILES_H */
