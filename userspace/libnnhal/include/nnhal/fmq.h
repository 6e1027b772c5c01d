/* SPDX-License-Identifier: MIT */
/*
 * Fast message queues: one direction, fixed-size datums, shared memory.
 *
 * A queue is a memfd. One process creates it and passes the file descriptor to
 * another, which attaches to it. One side writes and the other reads. Only one thread
 * at a time may use a side. All datums of one write are published together, so a reader
 * never sees part of a write.
 *
 * Each side can sleep until the other has moved datums. The blocking calls sleep on a
 * futex in the shared memory. A side can also sleep in poll() on a socket between the
 * two (see nnhal_fmq_set_doorbell()), and wait there for other events, such as the end
 * of the other process. Calls that do not block wake a sleeper too. A call makes a
 * system call only if the other side sleeps.
 *
 * The other process may write anything into the shared memory at any time. Each side
 * checks the counters that it reads; after impossible counters every call returns
 * -EBADMSG. The file cannot shrink, so there is no SIGBUS. The caller has to check
 * the datums after they were copied out.
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

/** enum nnhal_fmq_role - which side of a queue this is */
enum nnhal_fmq_role {
	NNHAL_FMQ_READER = 0,
	NNHAL_FMQ_WRITER = 1,
};

/* Limits of a queue. */
#define NNHAL_FMQ_MAX_DATUM_SIZE	4096u
#define NNHAL_FMQ_MAX_CAPACITY		(1u << 20)

/* A doorbell is one message of these four bytes, in host byte order. */
#define NNHAL_FMQ_DOORBELL		0x4c4c4542u

/**
 * nnhal_fmq_create() - create a queue
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
 * nnhal_fmq_attach() - use a queue that another process created
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
 * nnhal_fmq_available() - how much can be read or written without waiting
 * @fmq: queue
 *
 * Return: as the reader: datums to read; as the writer: free places; or -EBADMSG.
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
 * nnhal_fmq_write_blocking() - wait for room and write datums, all or none
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
 * Return: 0; -EAGAIN (fewer are there now); -EMSGSIZE (more than the queue holds);
 * -EBADMSG; -EINVAL.
 */
int nnhal_fmq_read(struct nnhal_fmq *fmq, void *datums, uint32_t count);

/**
 * nnhal_fmq_read_blocking() - wait for datums and read them, all or none
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
 * nnhal_fmq_read_packet() - read all datums that have been published
 * @fmq: queue, as its reader
 * @datums: out: room for @max datums
 * @max: at least the capacity of the queue
 *
 * If the two sides send one packet at a time, the result is exactly one packet. The
 * function does not wait.
 *
 * Return: number of datums, > 0; -EAGAIN (none there); -EBADMSG; -EINVAL.
 */
int nnhal_fmq_read_packet(struct nnhal_fmq *fmq, void *datums, uint32_t max);

/**
 * nnhal_fmq_set_doorbell() - set the socket that wakes the other side from poll()
 * @fmq: queue
 * @fd: connected socket that the other side polls; -1: none. The queue does not
 *	duplicate it: the caller keeps it open as long as the queue is used
 *
 * If the socket is full, no message is sent: the other side has messages to read and
 * wakes up anyway.
 */
void nnhal_fmq_set_doorbell(struct nnhal_fmq *fmq, int fd);

/**
 * nnhal_fmq_prepare_poll() - announce that this side is going to sleep in poll()
 * @fmq: queue
 * @count: datums to wait for; as the writer: free places to wait for
 *
 * Return: 0: the other side will ring the doorbell; call poll() now and
 * nnhal_fmq_cancel_poll() afterwards. 1: there is no need to sleep. -EBADMSG;
 * -EINVAL.
 */
int nnhal_fmq_prepare_poll(struct nnhal_fmq *fmq, uint32_t count);

/** nnhal_fmq_cancel_poll() - withdraw the announcement of nnhal_fmq_prepare_poll() */
void nnhal_fmq_cancel_poll(struct nnhal_fmq *fmq);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* NNHAL_FMQ_H */
