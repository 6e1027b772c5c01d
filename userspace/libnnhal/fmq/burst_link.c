// SPDX-License-Identifier: MIT
/*
 * The socket of a burst over message queues.
 *
 * The peer may send anything, or nothing. Each call on the socket has MSG_DONTWAIT; the
 * peer could clear O_NONBLOCK of the descriptor. All waits are in poll(), which also waits
 * for the end of the peer and for the stop of this side.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/monotonic.h"
#include "fmq/burst_link.h"
#include "fmq/fmq_layout.h"

/* Reads of the queue between two reads of the clock. */
#define SPINS_PER_CLOCK		64
/* A window of 0 is tried again after so many waits. */
#define SPIN_RETRY_WAITS	16

static int check_socket(int socket)
{
	int domain, type;
	socklen_t len = sizeof(domain);

	if (getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &len))
		return errno == EBADF ? -EBADF : -EINVAL;
	len = sizeof(type);
	if (getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &len))
		return -EINVAL;
	return domain == AF_UNIX && type == SOCK_SEQPACKET ? 0 : -EINVAL;
}

int link_init(struct burst_link *link, int socket, bool with_stop)
{
	static const int on = 1;
	int err = check_socket(socket);

	link->socket = link->peer = link->stop = -1;
	if (err)
		return err;
	link->socket = fcntl(socket, F_DUPFD_CLOEXEC, 0);
	if (link->socket < 0)
		return -errno;
	/* For HELLO and WELCOME. If it fails, the pid stays unknown. */
	setsockopt(link->socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
	if (!with_stop)
		return 0;
	link->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (link->stop < 0) {
		err = -errno;
		link_fini(link);
	}
	return err;
}

/* Close a descriptor and forget its number: a child of fork() must not use it. */
static void close_fd(int *fd)
{
	int old = *fd;

	*(volatile int *)fd = -1;
	if (old >= 0)
		close(old);
}

void link_fini(struct burst_link *link)
{
	close_fd(&link->socket);
	close_fd(&link->peer);
	close_fd(&link->stop);
}

void link_shutdown(const struct burst_link *link)
{
	shutdown(link->socket, SHUT_RDWR);
}

void link_hang_up(struct burst_link *link)
{
	link_shutdown(link);
	close_fd(&link->socket);
	close_fd(&link->peer);
}

void link_watch(struct burst_link *link, pid_t pid)
{
	static const int off;

	setsockopt(link->socket, SOL_SOCKET, SO_PASSCRED, &off, sizeof(off));
	/* If it fails, only the hang-up of the socket tells of the end. */
	if (pid > 0 && pid != getpid() && link->peer < 0)
		link->peer = (int)syscall(SYS_pidfd_open, pid, 0);
}

void link_stop(const struct burst_link *link)
{
	static const uint64_t one = 1;

	/* EAGAIN: the eventfd is set already. */
	while (write(link->stop, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

static int poll_until(struct pollfd *fds, nfds_t count, uint64_t deadline_ns)
{
	uint64_t now, left;
	struct timespec ts;
	int n;

	for (;;) {
		now = deadline_ns == UINT64_MAX ? 0 : monotonic_ns();
		left = deadline_ns > now ? deadline_ns - now : 0;
		ts.tv_sec = (time_t)(left / 1000000000u);
		ts.tv_nsec = (long)(left % 1000000000u);
		n = ppoll(fds, count, deadline_ns == UINT64_MAX ? NULL : &ts, NULL);
		if (n > 0)
			return 0;
		if (!n)
			return -ETIME;
		if (errno != EINTR && errno != EAGAIN)
			return -errno;
	}
}

int link_sleep(const struct burst_link *link, short events, uint64_t deadline_ns)
{
	/* A negative descriptor is left out. */
	struct pollfd fds[3] = {
		{ .fd = link->socket, .events = events },
		{ .fd = link->peer, .events = POLLIN },
		{ .fd = link->stop, .events = POLLIN },
	};
	int err = poll_until(fds, ARRAY_SIZE(fds), deadline_ns);

	if (err)
		return err;
	if (fds[2].revents)
		return -ECANCELED;
	if (fds[1].revents)
		return -EPIPE;
	/* Messages sent before a hang-up can still be read; the end is reported after them. */
	if (fds[0].revents & POLLIN & events)
		return 0;
	return fds[0].revents & (POLLHUP | POLLERR | POLLNVAL) ? -EPIPE : 0;
}

/* Bytes of a message that are used; SIZE_MAX: the type or count is invalid. */
static size_t message_size(const struct link_message *m)
{
	size_t head = offsetof(struct link_message, slots);

	if (m->count > LINK_MAX_SLOTS)
		return SIZE_MAX;
	switch (m->type) {
	case LINK_HELLO:
	case LINK_WELCOME:
		return m->count ? SIZE_MAX : head;
	case LINK_FREE:
	case LINK_FREED:
	case LINK_GET:
		return head + m->count * sizeof(m->slots[0]);
	case LINK_MEMORIES:
		return head + m->count * sizeof(m->memories[0]);
	default:
		return SIZE_MAX;
	}
}

/* Room for the descriptors and the credentials of a message. */
union control {
	struct cmsghdr align;
	char data[CMSG_SPACE(sizeof(int) * LINK_MAX_SLOTS) + CMSG_SPACE(sizeof(struct ucred))];
};

/*
 * Attach descriptors, and credentials to HELLO and WELCOME: if another process created the
 * socket pair, SO_PEERCRED does not name the peer.
 */
static size_t fill_control(union control *control, const struct link_message *message,
			   const int *fds, uint32_t num_fds)
{
	struct ucred self = { .pid = getpid(), .uid = getuid(), .gid = getgid() };
	struct cmsghdr *c = &control->align;
	size_t used = 0;

	memset(control, 0, sizeof(*control));
	if (num_fds) {
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * num_fds);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * num_fds);
		used = CMSG_SPACE(sizeof(int) * num_fds);
	}
	if (message->type == LINK_HELLO || message->type == LINK_WELCOME) {
		c = (struct cmsghdr *)(control->data + used);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_CREDENTIALS;
		c->cmsg_len = CMSG_LEN(sizeof(self));
		memcpy(CMSG_DATA(c), &self, sizeof(self));
		used += CMSG_SPACE(sizeof(self));
	}
	return used;
}

int link_send(const struct burst_link *link, const struct link_message *message,
	      const int *fds, uint32_t num_fds, uint64_t deadline_ns)
{
	struct iovec iov = {
		.iov_base = (void *)message,
		.iov_len = message_size(message),
	};
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	union control control;
	int err;

	if (iov.iov_len == SIZE_MAX || num_fds > LINK_MAX_SLOTS)
		return -EINVAL;
	msg.msg_controllen = fill_control(&control, message, fds, num_fds);
	msg.msg_control = msg.msg_controllen ? control.data : NULL;
	for (;;) {
		if (sendmsg(link->socket, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
			return 0;
		if (errno == EINTR)
			continue;
		if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN)
			return -EPIPE;
		if (errno != EAGAIN || !deadline_ns)
			return -errno;
		err = link_sleep(link, POLLOUT, deadline_ns);
		if (err)
			return err;
	}
}

static void take_fds(const struct cmsghdr *c, struct link_extra *extra)
{
	size_t i, count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	int fd;

	for (i = 0; i < count; i++) {
		memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
		/* Padding of the buffer may have room for more descriptors than expected. */
		if (extra->num_fds < LINK_MAX_SLOTS)
			extra->fds[extra->num_fds++] = fd;
		else
			close(fd);
	}
}

/*
 * WELCOME has room for credentials only. Descriptors come in their place if the peer has a copy of
 * this end and clears SO_PASSCRED. To lose a descriptor then is better than a close() that waits.
 */
static void take_control(struct msghdr *msg, uint32_t type, struct link_extra *extra)
{
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_RIGHTS && type != LINK_WELCOME) {
			take_fds(c, extra);
		} else if (c->cmsg_type == SCM_CREDENTIALS) {
			struct ucred from;

			memcpy(&from, CMSG_DATA(c), sizeof(from));
			extra->pid = from.pid;
		}
	}
}

void link_close_fds(struct link_extra *extra)
{
	while (extra->num_fds)
		close(extra->fds[--extra->num_fds]);
}

/* What recv() and recvmsg() return; @size < 0 with errno. */
static int receive_error(ssize_t size)
{
	if (size < 0)
		return errno == EAGAIN ? -EAGAIN : -EPIPE;
	return size ? 0 : -EPIPE;
}

/*
 * Is the next message of this type? 1, 0, or an error, -EAGAIN among them: a message that comes
 * afterwards is for the next call. Descriptors of others stay out of the table: close() of a file
 * that a process serves waits for it and cannot be killed; to drop the message does not.
 */
static int is_next(const struct burst_link *link, uint32_t type)
{
	uint32_t next = 0;
	ssize_t size;
	int err;

	do {
		size = recv(link->socket, &next, sizeof(next), MSG_DONTWAIT | MSG_PEEK);
	} while (size < 0 && errno == EINTR);
	err = receive_error(size);
	return err ? err : size == sizeof(next) && next == type;
}

void link_discard(const struct burst_link *link)
{
	static const int on = 1;
	struct msghdr msg;
	ssize_t size;

	/* Credentials for which there is no room tell an empty packet from the end. */
	setsockopt(link->socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
	do {
		memset(&msg, 0, sizeof(msg));
		size = recvmsg(link->socket, &msg, MSG_DONTWAIT);
	} while (size < 0 ? errno == EINTR : msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC));
}

int link_receive(const struct burst_link *link, uint32_t wanted, struct link_message *message,
		 struct link_extra *extra)
{
	int with_control = wanted ? is_next(link, wanted) : 0;
	struct iovec iov = { .iov_base = message, .iov_len = sizeof(*message) };
	union control control;
	size_t room = wanted == LINK_WELCOME ? CMSG_SPACE(sizeof(struct ucred))
					     : sizeof(control.data);
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = with_control ? control.data : NULL,
		.msg_controllen = with_control ? room : 0,
	};
	ssize_t size;
	int err;

	extra->num_fds = 0;
	extra->is_short = false;
	extra->pid = 0;
	if (with_control < 0)
		return with_control;
	do {
		size = recvmsg(link->socket, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (size < 0 && errno == EINTR);
	err = receive_error(size);
	if (err)
		return err;
	if (with_control) {
		take_control(&msg, wanted, extra);
		/* A full table of descriptors is no fault of the peer. */
		extra->is_short = msg.msg_flags & MSG_CTRUNC;
	}
	if ((size_t)size == sizeof(uint32_t) && message->type == NNHAL_FMQ_DOORBELL) {
		message->type = LINK_DOORBELL;
		message->count = 0;
		return 0;
	}
	if ((msg.msg_flags & MSG_TRUNC) ||
	    (size_t)size < offsetof(struct link_message, slots) ||
	    message_size(message) != (size_t)size) {
		link_close_fds(extra);
		return -EPROTO;
	}
	return 0;
}

void spin_window_init(struct spin_window *w, uint32_t max_us)
{
	if (max_us > SPIN_WINDOW_MOST_US)
		max_us = SPIN_WINDOW_MOST_US;
	w->max_us = max_us;
	w->us = max_us;
	w->waits = 0;
}

static bool look_for_data(const struct nnhal_fmq *q, uint32_t us, const atomic_bool *stop)
{
	uint64_t end = monotonic_ns() + (uint64_t)us * 1000;
	unsigned int i;

	do {
		for (i = 0; i < SPINS_PER_CLOCK; i++) {
			if (fmq_has_data(q))
				return true;
			cpu_relax();
		}
		if (stop && atomic_load_explicit(stop, memory_order_relaxed))
			return true;
	} while (monotonic_ns() < end);
	return false;
}

void spin_for_data(struct spin_window *w, const struct nnhal_fmq *q, const atomic_bool *stop)
{
	if (!w->max_us || fmq_has_data(q))
		return;
	if (!w->us) {
		if (++w->waits < SPIN_RETRY_WAITS)
			return;
		w->waits = 0;
		w->us = w->max_us / 4 + 1;
	}
	if (look_for_data(q, w->us, stop))
		w->us = w->us < w->max_us / 2 ? 2 * w->us : w->max_us;
	else
		w->us /= 2;
}

enum nnhal_status burst_setup_status(int error, const char *what, struct nnhal_diag *diag)
{
	diag_set(diag, "%s: %s", what, errno_text(-error));
	switch (error) {
	case -ENOMEM:
	case -EAGAIN:
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	case -EMFILE:
	case -ENFILE:
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;
	default:
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
}
