// SPDX-License-Identifier: MIT
/*
 * Fast message queues in shared memory.
 *
 * Memory ordering; Documentation/burst.rst has the full argument. Two pairs:
 *
 *   (A) data:   the writer copies datums, then stores write_count with release; the
 *               reader loads write_count with acquire, then copies the datums. read_count
 *               does the same in the other direction: the writer reuses a place only
 *               after the reader has copied it.
 *   (B) sleep:  a sleeper stores its wait word, executes a fence, and loads the counter
 *               of the other side. A waker stores its counter, executes a fence, and
 *               loads the wait word. The fences are sequentially consistent, so at least
 *               one side sees the store of the other, and no wake-up is lost.
 *
 * The shared memory is not trusted. The counter of the other side is read once and checked
 * against the private counter of this side; the geometry is copied at attach.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/magic.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/monotonic.h"
#include "base/tsan.h"
#include "fmq/fmq_layout.h"

#define NO_TIMEOUT	UINT64_MAX

static uint64_t file_size(uint32_t datum_size, uint32_t capacity)
{
	return FMQ_RING_OFFSET + (uint64_t)datum_size * capacity;
}

static bool geometry_valid(uint32_t datum_size, uint32_t capacity)
{
	return datum_size && datum_size <= NNHAL_FMQ_MAX_DATUM_SIZE && capacity &&
	       capacity <= NNHAL_FMQ_MAX_CAPACITY;
}

/*
 * In tests both sides are in one process. ThreadSanitizer then sees one queue at two
 * addresses and does not know that (A) orders accesses to them. Annotate two words that both
 * sides know: one for data, one for room.
 */
#ifdef __SANITIZE_THREAD__
static void sync_init(struct nnhal_fmq *q)
{
	static char words[1024][2];
	struct stat st = { 0 };

	fstat(q->fd, &st);
	q->sync = words[st.st_ino % ARRAY_SIZE(words)];
}

static void sync_release(const struct nnhal_fmq *q)
{
	tsan_release(&q->sync[q->writer]);
}

static void sync_acquire(const struct nnhal_fmq *q)
{
	tsan_acquire(&q->sync[!q->writer]);
}
#else
static inline void sync_init(struct nnhal_fmq *q)
{
	(void)q;
}

static inline void sync_release(const struct nnhal_fmq *q)
{
	(void)q;
}

static inline void sync_acquire(const struct nnhal_fmq *q)
{
	(void)q;
}
#endif

/* Create a side of a queue; on success it owns @fd. */
static int map_queue(int fd, size_t size, uint32_t role, struct nnhal_fmq **fmq)
{
	struct nnhal_fmq *q = calloc(1, sizeof(*q));
	void *map;

	if (!q)
		return -ENOMEM;
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		int err = errno;

		free(q);
		/* EACCES: the descriptor is read-only. */
		return err == EACCES ? -EPERM : -err;
	}
	q->header = map;
	q->ring = (uint8_t *)map + FMQ_RING_OFFSET;
	q->map_size = size;
	q->writer = role == NNHAL_FMQ_WRITER;
	q->fd = fd;
	q->doorbell = -1;
	sync_init(q);
	*fmq = q;
	return 0;
}

int nnhal_fmq_create(uint32_t datum_size, uint32_t capacity, uint32_t role,
		     struct nnhal_fmq **fmq)
{
	struct nnhal_fmq *q;
	int fd, err;

	if (!fmq)
		return -EINVAL;
	*fmq = NULL;
	if (role > NNHAL_FMQ_WRITER || !geometry_valid(datum_size, capacity))
		return -EINVAL;
	fd = nnhal_memfd_create("nnhal-fmq", file_size(datum_size, capacity));
	if (fd < 0)
		return fd;
	err = map_queue(fd, (size_t)file_size(datum_size, capacity), role, &q);
	if (err) {
		close(fd);
		return err;
	}
	q->datum_size = datum_size;
	q->capacity = capacity;
	q->header->magic = FMQ_MAGIC;
	q->header->version = FMQ_VERSION;
	q->header->datum_size = datum_size;
	q->header->capacity = capacity;
	*fmq = q;
	return 0;
}

/*
 * Is it sealed against changes of its size? Only files in memory have seals. This is asked before
 * all else: if a process serves the file, fstat() may wait for ever, and so may close() of a
 * duplicate.
 */
static int check_seals(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0)
		return errno == EBADF ? -EBADF : -EINVAL;
	return seals & F_SEAL_SHRINK ? 0 : -EINVAL;
}

/*
 * Is it safe to map the sealed file? Huge pages are refused: access to a punched hole may raise
 * SIGBUS.
 */
static int check_file(int fd, uint64_t *size)
{
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st) || fstatfs(fd, &fs))
		return -errno;
	if (!S_ISREG(st.st_mode) || (unsigned long)fs.f_type != TMPFS_MAGIC)
		return -EINVAL;
	if (st.st_size < (off_t)FMQ_RING_OFFSET ||
	    (uint64_t)st.st_size > file_size(NNHAL_FMQ_MAX_DATUM_SIZE, NNHAL_FMQ_MAX_CAPACITY) +
				   (UINT64_C(1) << 21))
		return -EINVAL;
	*size = (uint64_t)st.st_size;
	return 0;
}

/* Copy the geometry once and check the copy. */
static int adopt_header(struct nnhal_fmq *q, uint32_t datum_size, uint64_t size)
{
	const volatile struct fmq_header *h = q->header;
	uint32_t capacity = h->capacity;
	uint64_t written, read;

	if (h->magic != FMQ_MAGIC || h->version != FMQ_VERSION || h->datum_size != datum_size ||
	    !geometry_valid(datum_size, capacity) || file_size(datum_size, capacity) > size)
		return -EINVAL;
	written = atomic_load_explicit(&q->header->write_count, memory_order_acquire);
	read = atomic_load_explicit(&q->header->read_count, memory_order_acquire);
	if (written - read > capacity)
		return -EBADMSG;
	q->datum_size = datum_size;
	q->capacity = capacity;
	q->count = q->writer ? written : read;
	q->index = (uint32_t)(q->count % capacity);
	return 0;
}

int nnhal_fmq_attach(int fd, uint32_t datum_size, uint32_t role, struct nnhal_fmq **fmq)
{
	struct nnhal_fmq *q;
	uint64_t size;
	int own, err;

	if (!fmq)
		return -EINVAL;
	*fmq = NULL;
	if (role > NNHAL_FMQ_WRITER)
		return -EINVAL;
	err = check_seals(fd);
	if (err)
		return err;
	own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0)
		return -errno;
	err = check_file(own, &size);
	if (!err)
		err = map_queue(own, (size_t)size, role, &q);
	if (err) {
		close(own);
		return err;
	}
	err = adopt_header(q, datum_size, size);
	if (err) {
		nnhal_fmq_destroy(q);
		return err;
	}
	*fmq = q;
	return 0;
}

void nnhal_fmq_destroy(struct nnhal_fmq *q)
{
	if (!q)
		return;
	munmap(q->header, q->map_size);
	close(q->fd);
	free(q);
}

int nnhal_fmq_fd(const struct nnhal_fmq *q)
{
	return q ? q->fd : -1;
}

uint32_t nnhal_fmq_capacity(const struct nnhal_fmq *q)
{
	return q ? q->capacity : 0;
}

void nnhal_fmq_set_doorbell(struct nnhal_fmq *q, int fd)
{
	q->doorbell = fd;
}

int nnhal_fmq_available(struct nnhal_fmq *q)
{
	uint64_t filled;

	if (q->broken)
		return -EBADMSG;
	/* (A): acquire, against the release in publish() on the other side. */
	if (q->writer)
		filled = q->count - atomic_load_explicit(&q->header->read_count,
							 memory_order_acquire);
	else
		filled = atomic_load_explicit(&q->header->write_count, memory_order_acquire) -
			 q->count;
	sync_acquire(q);
	if (filled > q->capacity) {
		q->broken = true;
		return -EBADMSG;
	}
	return (int)(q->writer ? q->capacity - filled : filled);
}

static void futex_wake(atomic_uint *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Sleep on a wait word. 0, also for a spurious wake-up; -ETIME. @deadline: CLOCK_MONOTONIC. */
static int futex_wait(atomic_uint *word, uint32_t value, uint64_t deadline)
{
	struct timespec ts = {
		.tv_sec = (time_t)(deadline / 1000000000u),
		.tv_nsec = (long)(deadline % 1000000000u),
	};

	if (syscall(SYS_futex, word, FUTEX_WAIT_BITSET, value,
		    deadline == NO_TIMEOUT ? NULL : &ts, NULL, FUTEX_BITSET_MATCH_ANY) &&
	    errno == ETIMEDOUT)
		return -ETIME;
	return 0;
}

static void ring_doorbell(const struct nnhal_fmq *q)
{
	static const uint32_t message = NNHAL_FMQ_DOORBELL;

	if (q->doorbell < 0)
		return;
	/* EAGAIN: the socket has messages already. Other errors: the sleeper sees them too. */
	while (send(q->doorbell, &message, sizeof(message), MSG_DONTWAIT | MSG_NOSIGNAL) < 0 &&
	       errno == EINTR)
		;
}

/*
 * Publish the new counter and wake the other side if it sleeps.
 *
 * (A): release: the writer's copies are visible before the counter; the reader's copies are
 * complete before the place is free.
 * (B): the fence between the counter and the wait word pairs with the one in announce().
 */
static void publish(struct nnhal_fmq *q)
{
	atomic_uint_least64_t *count = q->writer ? &q->header->write_count : &q->header->read_count;
	atomic_uint *wait = q->writer ? &q->header->reader_wait : &q->header->writer_wait;
	uint32_t how;

	sync_release(q);
	atomic_store_explicit(count, q->count, memory_order_release);
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(wait, memory_order_relaxed) == FMQ_AWAKE)
		return;
	how = atomic_exchange_explicit(wait, FMQ_AWAKE, memory_order_relaxed);
	if (how != FMQ_WAIT_POLL)
		futex_wake(wait);
	if (how != FMQ_WAIT_FUTEX)
		ring_doorbell(q);
}

static atomic_uint *own_wait(struct nnhal_fmq *q)
{
	return q->writer ? &q->header->writer_wait : &q->header->reader_wait;
}

/* (B): announce how this side is going to sleep, before it checks for the last time. */
static void announce(struct nnhal_fmq *q, uint32_t how)
{
	atomic_store_explicit(own_wait(q), how, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
}

int nnhal_fmq_prepare_poll(struct nnhal_fmq *q, uint32_t count)
{
	int available;

	if (!count || count > q->capacity)
		return -EINVAL;
	announce(q, FMQ_WAIT_POLL);
	available = nnhal_fmq_available(q);
	if (available >= 0 && (uint32_t)available < count)
		return 0;
	nnhal_fmq_cancel_poll(q);
	return available < 0 ? available : 1;
}

void nnhal_fmq_cancel_poll(struct nnhal_fmq *q)
{
	atomic_store_explicit(own_wait(q), FMQ_AWAKE, memory_order_relaxed);
}

/* 0 when @count datums can be moved; -ETIME, -EBADMSG. */
static int wait_for(struct nnhal_fmq *q, uint32_t count, uint64_t timeout_ns)
{
	uint64_t now = timeout_ns == NO_TIMEOUT ? 0 : monotonic_ns();
	uint64_t deadline = timeout_ns < INT64_MAX - now ? now + timeout_ns : NO_TIMEOUT;
	int available, err = 0;

	for (;;) {
		available = nnhal_fmq_available(q);
		if (available < 0)
			return available;
		if ((uint32_t)available >= count)
			return 0;
		if (err)
			return err;
		announce(q, FMQ_WAIT_FUTEX);
		available = nnhal_fmq_available(q);
		if (available >= 0 && (uint32_t)available < count)
			err = futex_wait(own_wait(q), FMQ_WAIT_FUTEX, deadline);
		/*
		 * A peer that keeps changing the word prevents sleeping, but the deadline
		 * still ends the loop.
		 */
		if (!err && deadline != NO_TIMEOUT && monotonic_ns() >= deadline)
			err = -ETIME;
		nnhal_fmq_cancel_poll(q);
	}
}

static int check_call(const struct nnhal_fmq *q, bool writer, const void *datums, uint32_t count)
{
	if (q->writer != writer || !datums || !count)
		return -EINVAL;
	return count > q->capacity ? -EMSGSIZE : 0;
}

/* Bytes from the index to the end of the ring. */
static size_t first_part(const struct nnhal_fmq *q, uint32_t count)
{
	uint32_t to_end = q->capacity - q->index;

	return (size_t)(count < to_end ? count : to_end) * q->datum_size;
}

static void advance(struct nnhal_fmq *q, uint32_t count)
{
	q->count += count;
	q->index += count;
	if (q->index >= q->capacity)
		q->index -= q->capacity;
	publish(q);
}

static void copy_in(struct nnhal_fmq *q, const void *datums, uint32_t count)
{
	size_t size = (size_t)count * q->datum_size, first = first_part(q, count);

	memcpy(q->ring + (size_t)q->index * q->datum_size, datums, first);
	memcpy(q->ring, (const uint8_t *)datums + first, size - first);
	advance(q, count);
}

static void copy_out(struct nnhal_fmq *q, void *datums, uint32_t count)
{
	size_t size = (size_t)count * q->datum_size, first = first_part(q, count);

	memcpy(datums, q->ring + (size_t)q->index * q->datum_size, first);
	memcpy((uint8_t *)datums + first, q->ring, size - first);
	advance(q, count);
}

/* Can @count datums be moved now? 0, -EAGAIN, or another error. */
static int check_now(struct nnhal_fmq *q, bool writer, const void *datums, uint32_t count)
{
	int available = check_call(q, writer, datums, count);

	if (!available)
		available = nnhal_fmq_available(q);
	if (available < 0)
		return available;
	return (uint32_t)available < count ? -EAGAIN : 0;
}

int nnhal_fmq_write(struct nnhal_fmq *q, const void *datums, uint32_t count)
{
	int err = check_now(q, true, datums, count);

	if (!err)
		copy_in(q, datums, count);
	return err;
}

int nnhal_fmq_write_blocking(struct nnhal_fmq *q, const void *datums, uint32_t count,
			     uint64_t timeout_ns)
{
	int err = check_call(q, true, datums, count);

	if (!err)
		err = wait_for(q, count, timeout_ns);
	if (!err)
		copy_in(q, datums, count);
	return err;
}

int nnhal_fmq_read(struct nnhal_fmq *q, void *datums, uint32_t count)
{
	int err = check_now(q, false, datums, count);

	if (!err)
		copy_out(q, datums, count);
	return err;
}

int nnhal_fmq_read_blocking(struct nnhal_fmq *q, void *datums, uint32_t count,
			    uint64_t timeout_ns)
{
	int err = check_call(q, false, datums, count);

	if (!err)
		err = wait_for(q, count, timeout_ns);
	if (!err)
		copy_out(q, datums, count);
	return err;
}

int nnhal_fmq_read_packet(struct nnhal_fmq *q, void *datums, uint32_t max)
{
	int available;

	if (q->writer || !datums || max < q->capacity)
		return -EINVAL;
	available = nnhal_fmq_available(q);
	if (available <= 0)
		return available ? available : -EAGAIN;
	copy_out(q, datums, (uint32_t)available);
	return available;
}
