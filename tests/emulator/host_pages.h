/* SPDX-License-Identifier: MIT */
/*
 * Stands in for a kernel whose pages are larger than those of this one: a program that is linked with
 * HOST_PAGES of build.mk comes here first with madvise(), mmap(), munmap() and getpagesize().
 */
#ifndef TESTS_EMULATOR_HOST_PAGES_H
#define TESTS_EMULATOR_HOST_PAGES_H

#include <stdint.h>

/* Size of a page, a multiple of the real one; 64 KiB unless a test changes it. */
extern uint32_t host_page;

#endif /* TESTS_EMULATOR_HOST_PAGES_H */
