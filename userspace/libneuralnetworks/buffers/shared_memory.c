// SPDX-License-Identifier: MIT
/*
 * ASharedMemory over memfds.
 */
#include <android/sharedmem.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of a longer name Linux makes no memfd. */
#define LONGEST_NAME	249

int ASharedMemory_create(const char *name, size_t size)
{
	char shown[LONGEST_NAME + 1];
	int fd, error;

	if (!size)
		return -EINVAL;
	if (size > INT64_MAX) {
		errno = ENOMEM;
		return -1;
	}
	snprintf(shown, sizeof(shown), "%s", name ? name : "ASharedMemory");
	fd = memfd_create(shown, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -1;
	/* Devices take memory without a copy if it cannot go away under them. */
	if (ftruncate(fd, (off_t)size) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW)) {
		error = errno;
		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

/* Only memory of this kind has seals that can be asked for. */
static int seals_of(int fd)
{
	return fcntl(fd, F_GET_SEALS);
}

size_t ASharedMemory_getSize(int fd)
{
	struct stat st;

	if (seals_of(fd) < 0 || fstat(fd, &st))
		return 0;
	return (size_t)st.st_size;
}

int ASharedMemory_setProt(int fd, int prot)
{
	int seals = seals_of(fd);

	if (seals < 0)
		return -1;
	/* A memfd can lose the right to be written, and no other one; a lost right stays lost. */
	if (!(prot & PROT_READ) || prot & ~(PROT_READ | PROT_WRITE | PROT_EXEC) ||
	    (prot & PROT_WRITE && seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))) {
		errno = EINVAL;
		return -1;
	}
	if (prot & PROT_WRITE || seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))
		return 0;
	return fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) ? -1 : 0;
}
