/* SPDX-License-Identifier: MIT */
/*
 * What the library tells: lines for who sets NNHAL_DEBUG, and numbers for nnctl.
 */
#ifndef NDK_LOG_H
#define NDK_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A line to standard error if NNHAL_DEBUG in the environment has one of the tags, NNHAL_LOG_* of
 * nnhal/debug.h; NNHAL_LOG_ERROR: if it has any. It looks at the environment each time: not for what happens often.
 */
void ndk_log(uint32_t tag, const char *fmt, ...) __attribute__((format(printf, 2, 3), cold));

/* Does NNHAL_DEBUG have a tag? */
bool ndk_log_is_on(void) __attribute__((cold));

/* Name of a result code. */
const char *ndk_result_name(int result);

#define NDK_COUNTERS_NAME	"nnapi-counters"
#define NDK_COUNTERS_MAGIC	UINT64_C(0x31306970616e6e)	/* "nnapi01" */

/**
 * struct ndk_counters - what ran where in this process
 * @magic: NDK_COUNTERS_MAGIC
 * @on_device: executions that began on one device that is not nnapi-reference
 * @in_steps: executions that began in steps of several devices
 * @on_reference: executions that began on nnapi-reference
 * @nowhere: executions of models that no device takes, which fail
 * @fallbacks: compilations without a list of devices that nnapi-reference got, or got a part of, while there
 *	are others
 * @reruns: executions that nnapi-reference ran again after others failed
 *
 * It is at the beginning of the only page of a memfd of the name NDK_COUNTERS_NAME, where nnctl finds it among the
 * descriptors of the process. So it needs no file, ends with the process, and may be read by who may debug
 * the process. A child of fork() has a page of its own from its first moment on. The driver could not count this: it sees nothing of what other devices do.
 */
struct ndk_counters {
	uint64_t magic;
	atomic_uint_fast64_t on_device;
	atomic_uint_fast64_t in_steps;
	atomic_uint_fast64_t on_reference;
	atomic_uint_fast64_t nowhere;
	atomic_uint_fast64_t fallbacks;
	atomic_uint_fast64_t reruns;
};

/* The counters of this process, never NULL. */
struct ndk_counters *ndk_counters(void);

static inline void ndk_count(atomic_uint_fast64_t *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

#endif /* NDK_LOG_H */
