/* SPDX-License-Identifier: MIT */
/*
 * Version of libnnhal.
 */
#ifndef NNHAL_VERSION_H
#define NNHAL_VERSION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define NNHAL_VERSION_MAJOR	1
#define NNHAL_VERSION_MINOR	1
#define NNHAL_VERSION_PATCH	0

#define NNHAL_VERSION_NUMBER(major, minor, patch) \
	(((uint32_t)(major) << 16) | ((uint32_t)(minor) << 8) | (uint32_t)(patch))

/* Version of the headers the program was built with. */
#define NNHAL_VERSION \
	NNHAL_VERSION_NUMBER(NNHAL_VERSION_MAJOR, NNHAL_VERSION_MINOR, NNHAL_VERSION_PATCH)

/**
 * nnhal_version() - version of the library the program runs with
 *
 * Return: a number that can be compared with NNHAL_VERSION. A library runs programs that
 * were built with older headers of the same major version.
 */
uint32_t nnhal_version(void);

/**
 * nnhal_version_string() - the same as text, for example "1.1.0"
 *
 * Return: a constant string.
 */
const char *nnhal_version_string(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* NNHAL_VERSION_H */
