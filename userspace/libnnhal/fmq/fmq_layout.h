/* SPDX-License-Identifier: MIT */
/*
 * Layout of a message queue in shared memory, and the inline check for data.
 */
#ifndef NNHAL_FMQ_LAYOUT_H
#define NNHAL_FMQ_LAYOUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <nnhal/fmq.h>

#define FMQ_MAGIC		0x514d464eu	/* "NFMQ" */
#define FMQ_VERSION		1
#define FMQ_RING_OFFSET		4096u

/* How a side sleeps: the values of its wait word. */
#define FMQ_AWAKE		0
#define FMQ_WAIT_FUTEX		1	/* on the wait word */
#define FMQ_WAIT_POLL		2	/* in poll() on the other end of the doorbell */

/*
 * First page of the file; the ring follows. The counters count datums since creation, so a
 * full queue differs from an empty one. One side only writes each counter. Counters and wait
 * words have a cache line each; wait words change only around sleeps.
 */
struct fmq_header {
	uint32_t magic;
	uint32_t version;
	uint32_t datum_size;
	uint32_t capacity;
	uint32_t reserved0[12];
	atomic_uint_least64_t write_count;	/* set by the writer */
	uint64_t reserved1[7];
	atomic_uint_least64_t read_count;	/* set by the reader */
	uint64_t reserved2[7];
	atomic_uint reader_wait;	/* set by the reader, cleared by its waker */
	uint32_t reserved3[15];
	atomic_uint writer_wait;	/* set by the writer, cleared by its waker */
	uint32_t reserved4[15];
};

_Static_assert(sizeof(struct fmq_header) == 320, "size of the header");
_Static_assert(offsetof(struct fmq_header, write_count) == 64, "cache line");
_Static_assert(offsetof(struct fmq_header, read_count) == 128, "cache line");
_Static_assert(offsetof(struct fmq_header, reader_wait) == 192, "cache line");
_Static_assert(offsetof(struct fmq_header, writer_wait) == 256, "cache line");

/*
 * One side of a queue. @count is the private counter of this side. The shared counter is a
 * copy for the other side; this side never reads it back.
 */
struct nnhal_fmq {
	struct fmq_header *header;
	uint8_t *ring;
	uint64_t count;
	uint32_t datum_size;
	uint32_t capacity;
	uint32_t index;			/* count modulo capacity */
	bool writer;
	bool broken;			/* the counters were impossible once */
	int fd;
	int doorbell;
	size_t map_size;
#ifdef __SANITIZE_THREAD__
	char *sync;
#endif
};

/* Has the writer published anything? For spinning; the reader only. */
static inline bool fmq_has_data(const struct nnhal_fmq *q)
{
	return atomic_load_explicit(&q->header->write_count, memory_order_relaxed) != q->count;
}

/* In a loop that waits for another processor. */
static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield" ::: "memory");
#endif
}

#endif /* NNHAL_FMQ_LAYOUT_H */
