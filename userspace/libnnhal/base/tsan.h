/* SPDX-License-Identifier: MIT */
/*
 * Annotations for orders that ThreadSanitizer cannot see. Each use states the reason. In
 * other builds they compile to nothing.
 */
#ifndef NNHAL_BASE_TSAN_H
#define NNHAL_BASE_TSAN_H

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>

void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);

/* Accesses before the release of @word happen before accesses after its acquire. */
#define tsan_acquire(word)		__tsan_acquire((void *)(uintptr_t)(word))
#define tsan_release(word)		__tsan_release((void *)(uintptr_t)(word))
/* Another thread may write, or read, the same memory at the same time. */
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
