/* SPDX-License-Identifier: MIT */
/*
 * What ThreadSanitizer cannot see for itself. Each use gives the reason; in other builds
 * nothing is left of them.
 */
#ifndef NNHAL_BASE_TSAN_H
#define NNHAL_BASE_TSAN_H

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>

void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);

/* What was before the release of @word comes before what is after the acquire of it. */
#define tsan_acquire(word)		__tsan_acquire((void *)(uintptr_t)(word))
#define tsan_release(word)		__tsan_release((void *)(uintptr_t)(word))
/* This thread may read, or write, what another one writes, or reads, at the same time. */
#define tsan_racy_reads_begin()		AnnotateIgnoreReadsBegin(__FILE__, __LINE__)
#define tsan_racy_reads_end()		AnnotateIgnoreReadsEnd(__FILE__, __LINE__)
#define tsan_racy_writes_begin()	AnnotateIgnoreWritesBegin(__FILE__, __LINE__)
#define tsan_racy_writes_end()		AnnotateIgnoreWritesEnd(__FILE__, __LINE__)
#else
#define tsan_acquire(word)		((void)(word))
#define tsan_release(word)		((void)(word))
#define tsan_racy_reads_begin()		((void)0)
#define tsan_racy_reads_end()		((void)0)
#define tsan_racy_writes_begin()	((void)0)
#define tsan_racy_writes_end()		((void)0)
#endif

#endif /* NNHAL_BASE_TSAN_H */
