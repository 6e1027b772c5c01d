/* SPDX-License-Identifier: MIT */
/*
 * Fast message queues: one direction, fixed-size datums, shared memory.
 *
 * A queue is a memfd: one process creates it, passes the file descriptor on, and
 * another attaches to it. One side writes and the other reads; each is used by one
 * thread at a time. What is written in one call is published at once, so a reader
 * never sees part of it.
 *
 * Either side may sleep until the other has done something: on a futex in the shared
 * memory (the blocking calls), or in poll() on a socket between the two (a doorbell,
 * nnhal_fmq_set_doorbell()), where it can wait for other things at the same time, for
 * example for the end of the other process. Calls that do not block wake a sleeper
 * in the same way as calls that do, and cost a system call only if there is one.
 *
 * The other process may write anything into the shared memory at any time. What a
 * side reads back it checks; impossible counters give -EBADMSG from then on. The
 * file cannot shrink, so there is no SIGBUS. Datums are to be judged by the caller
 * after they were copied out.
 *
 * Errors are negative errno values.
 */
#ifndef NNHAL_FMQ_H
#define NNHAL_FMQ_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct nnhal_fmq;

/** enum nnhal_fmq_role - what this side does with a queue */
enum nnhal_fmq_role {
	NNHAL_FMQ_READER = 0,
	NNHAL_FMQ_WRITER = 1,
};

/* Limits of a queue. */
#define NNHAL_FMQ_MAX_DATUM_SIZE	4096u
#define NNHAL_FMQ_MAX_CAPACITY		(1u << 20)

/* What a doorbell sends: one message of these four bytes, in host byte order. */
#define NNHAL_FMQ_DOORBELL		0x4c4c4542u

/**
 * nnhal_fmq_create() - make a queue
 * @datum_size: bytes of a datum, 1 to NNHAL_FMQ_MAX_DATUM_SIZE
 * @capacity: datums it holds, 1 to NNHAL_FMQ_MAX_CAPACITY
 * @role: enum nnhal_fmq_role of this side
 * @fmq: out: the queue, NULL after an error
 *
 * Return: 0; -EINVAL; -ENOMEM, -EMFILE, -ENFILE.
 */
int nnhal_fmq_create(uint32_t datum_size, uint32_t capacity, uint32_t role,
		     struct nnhal_fmq **fmq);

/**
 * nnhal_fmq_attach() - use a queue that somebody else made
 * @fd: its file descriptor; duplicated, the caller keeps its own
 * @datum_size: expected bytes of a datum
 * @role: enum nnhal_fmq_role of this side
 * @fmq: out: the queue, NULL after an error
 *
 * Return: 0; -EINVAL (not a queue, datums of another size, a file that could
 * shrink or is too short); -EBADMSG (impossible counters); -EPERM (not writable);
 * -ENOMEM, -EMFILE; -EBADF.
 */
int nnhal_fmq_attach(int fd, uint32_t datum_size, uint32_t role, struct nnhal_fmq **fmq);

/** nnhal_fmq_destroy() - release a side of a queue; NULL is allowed */
void nnhal_fmq_destroy(struct nnhal_fmq *fmq);

/** nnhal_fmq_fd() - file descriptor to pass on; not to be closed */
int nnhal_fmq_fd(const struct nnhal_fmq *fmq);

/** nnhal_fmq_capacity() - datums the queue holds */
uint32_t nnhal_fmq_capacity(const struct nnhal_fmq *fmq);

/**
 * nnhal_fmq_available() - what could be done without waiting
 * @fmq: queue
 *
 * Return: the reader: datums to read; the writer: datums there is room for; or
 * -EBADMSG.
 */
int nnhal_fmq_available(struct nnhal_fmq *fmq);

/**
 * nnhal_fmq_write() - write datums, all or none, without waiting
 * @fmq: queue, as its writer
 * @datums: @count datums
 * @count: how many, not 0
 *
 * Return: 0; -EAGAIN (no room now); -EMSGSIZE (more than the queue holds);
 * -EBADMSG; -EINVAL.
 */
int nnhal_fmq_write(struct nnhal_fmq *fmq, const void *datums, uint32_t count);

/**
 * nnhal_fmq_write_blocking() - write datums, all or none, when there is room
 * @fmq: queue, as its writer
 * @datums: @count datums
 * @count: how many, not 0
 * @timeout_ns: how long to wait at most; UINT64_MAX: no limit
 *
 * Return: as nnhal_fmq_write(), with -ETIME in place of -EAGAIN.
 */
int nnhal_fmq_write_blocking(struct nnhal_fmq *fmq, const void *datums, uint32_t count,
			     uint64_t timeout_ns);

/**
 * nnhal_fmq_read() - read datums, all or none, without waiting
 * @fmq: queue, as its reader
 * @datums: out: @count datums
 * @count: how many, not 0
 *
 * Return: 0; -EAGAIN (not so many there now); -EMSGSIZE (more than the queue
 * holds); -EBADMSG; -EINVAL.
 */
int nnhal_fmq_read(struct nnhal_fmq *fmq, void *datums, uint32_t count);

/**
 * nnhal_fmq_read_blocking() - read datums, all or none, when they are there
 * @fmq: queue, as its reader
 * @datums: out: @count datums
 * @count: how many, not 0
 * @timeout_ns: how long to wait at most; UINT64_MAX: no limit
 *
 * Return: as nnhal_fmq_read(), with -ETIME in place of -EAGAIN.
 */
int nnhal_fmq_read_blocking(struct nnhal_fmq *fmq, void *datums, uint32_t count,
			    uint64_t timeout_ns);

/**
 * nnhal_fmq_read_packet() - read everything that has been published
 * @fmq: queue, as its reader
 * @datums: out: room for @max datums
 * @max: at least the capacity of the queue
 *
 * With one packet under way at a time this is exactly one packet. Does not wait.
 *
 * Return: number of datums, > 0; -EAGAIN (none there); -EBADMSG; -EINVAL.
 */
int nnhal_fmq_read_packet(struct nnhal_fmq *fmq, void *datums, uint32_t max);

/**
 * nnhal_fmq_set_doorbell() - how to wake the other side when it sleeps in poll()
 * @fmq: queue
 * @fd: connected socket that the other side polls; -1: none. Borrowed: it has to
 *	stay open as long as the queue is used
 *
 * A message that finds the socket full is not sent: then the other side has
 * something to read anyway.
 */
void nnhal_fmq_set_doorbell(struct nnhal_fmq *fmq, int fd);

/**
 * nnhal_fmq_prepare_poll() - announce that this side is going to sleep in poll()
 * @fmq: queue
 * @count: datums to wait for: to read, or to have room for
 *
 * Return: 0: the other side will ring its doorbell, sleep now and call
 * nnhal_fmq_cancel_poll() afterwards; 1: there is no need to sleep; -EBADMSG;
 * -EINVAL.
 */
int nnhal_fmq_prepare_poll(struct nnhal_fmq *fmq, uint32_t count);

/** nnhal_fmq_cancel_poll() - take nnhal_fmq_prepare_poll() back */
void nnhal_fmq_cancel_poll(struct nnhal_fmq *fmq);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* NNHAL_FMQ_H */
