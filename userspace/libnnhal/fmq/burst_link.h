/* SPDX-License-Identifier: MIT */
/*
 * The socket of a burst over message queues: memory, doorbells, and the end of the peer.
 *
 * Every message is one packet of a SOCK_SEQPACKET socket. Each wait also ends with the end of
 * the peer.
 *
 *   client                                server
 *   HELLO    two queues (fds)         ->
 *                                     <-  WELCOME   status of the configuration
 *   FREE     slots to forget          ->
 *                                     <-  FREED     forgotten: may be used again
 *                                     <-  GET       slots whose memory is wanted
 *   MEMORIES status, memory (fds)     ->
 *   NNHAL_FMQ_DOORBELL in both directions, from the queues
 */
#ifndef NNHAL_BURST_LINK_H
#define NNHAL_BURST_LINK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <nnhal/types.h>

/* Slots in one message; SCM_RIGHTS carries up to 253 descriptors. */
#define LINK_MAX_SLOTS		64
#define LINK_VERSION		1

enum link_type {
	LINK_HELLO = 1,
	LINK_WELCOME = 2,
	LINK_FREE = 3,
	LINK_FREED = 4,
	LINK_GET = 5,
	LINK_MEMORIES = 6,
	LINK_DOORBELL = 7,	/* NNHAL_FMQ_DOORBELL, as link_receive() gives it */
};

/* A memory object of a MEMORIES message: struct nnhal_memory_desc without the fd. */
struct link_memory {
	uint32_t kind;
	uint32_t access;
	uint64_t size;
	uint64_t offset;
};

struct link_message {
	uint32_t type;		/* enum link_type */
	int32_t status;		/* WELCOME, MEMORIES: enum nnhal_status */
	uint32_t version;	/* HELLO: LINK_VERSION */
	uint32_t count;		/* valid entries below */
	union {
		int32_t slots[LINK_MAX_SLOTS];
		struct link_memory memories[LINK_MAX_SLOTS];
	};
};

/* File descriptors that came with a message, and its sender. */
struct link_extra {
	int fds[LINK_MAX_SLOTS];
	uint32_t num_fds;
	bool is_short;		/* descriptors are missing: more than fit, or no number is free */
	pid_t pid;		/* 0: not known */
};

struct burst_link {
	int socket;
	int peer;		/* pidfd of the peer, or -1 */
	int stop;		/* eventfd of this side's own, or -1 */
};

/* Duplicate and check a socket. 0; -EINVAL: not of the right kind; -errno. */
int link_init(struct burst_link *link, int socket, bool with_stop);
void link_fini(struct burst_link *link);
/* Shut the connection down, even if other processes have copies of the descriptor. */
void link_shutdown(const struct burst_link *link);
/* The same, and close this end. */
void link_hang_up(struct burst_link *link);
/* Notice the end of a process even if a child of it keeps the socket open. */
void link_watch(struct burst_link *link, pid_t pid);
/* Make link_sleep() return -ECANCELED from now on. */
void link_stop(const struct burst_link *link);
/*
 * Sleep until the socket is ready for @events (POLLIN, POLLOUT). 0; -EPIPE: the peer
 * is gone; -ECANCELED; -ETIME after @deadline_ns (CLOCK_MONOTONIC, UINT64_MAX: none).
 */
int link_sleep(const struct burst_link *link, short events, uint64_t deadline_ns);
/*
 * Send a message with descriptors. Waits for room until @deadline_ns, as link_sleep() does; 0:
 * does not wait. 0; -EPIPE; -ECANCELED; -ETIME; -EAGAIN: there is no room at once.
 */
int link_send(const struct burst_link *link, const struct link_message *message,
	      const int *fds, uint32_t num_fds, uint64_t deadline_ns);
/*
 * Receive a message. Only one of type @wanted brings descriptors and the pid of its sender; 0: none
 * does. WELCOME brings no descriptors. The caller closes the descriptors with link_close_fds(). 0; -EAGAIN: there is none;
 * -EPIPE; -EPROTO: it is malformed, its descriptors are closed.
 *
 * The last reference to a file ends in link_receive(), link_close_fds(), link_discard() or
 * link_hang_up(). If a process serves the file (FUSE), that may take as long as it likes.
 */
int link_receive(const struct burst_link *link, uint32_t wanted, struct link_message *message,
		 struct link_extra *extra);
void link_close_fds(struct link_extra *extra);
/* After link_shutdown(): drop what was not received. */
void link_discard(const struct burst_link *link);

/*
 * How long to spin on a queue before sleeping. If the peer does not answer within the window
 * several times in a row, the window shrinks, down to nothing. It grows again when spinning
 * pays. Two sides that share a processor therefore do not waste each other's windows.
 */
struct spin_window {
	uint32_t max_us;
	uint32_t us;
	uint32_t waits;			/* since the window is 0 */
};

/* A thread that spins does not see the end of the peer, so no window is larger. */
#define SPIN_WINDOW_MOST_US	100000

void spin_window_init(struct spin_window *window, uint32_t max_us);
/* Spin until the queue has data, the window has passed, or @stop (may be NULL) is set. */
struct nnhal_fmq;
void spin_for_data(struct spin_window *window, const struct nnhal_fmq *q,
		   const atomic_bool *stop);

/* Status of a system call that failed while a burst was set up; @error: -errno. */
enum nnhal_status burst_setup_status(int error, const char *what, struct nnhal_diag *diag);

#endif /* NNHAL_BURST_LINK_H */
