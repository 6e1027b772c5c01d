// SPDX-License-Identifier: MIT
/*
 * Fences as descriptors: sync files, and sockets for the device in the process.
 *
 * A socket fence is one end of a pair. To signal it is to send one message to it, which nobody takes
 * out: all who have the descriptor can look at it, as often as they like. Without its signaller it
 * ends, so it cannot be waited for in vain.
 */
#include <errno.h>
#include <limits.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nnhal/nnhal.h>

#include "base/fence_fd.h"
#include "base/monotonic.h"
#include "base/status.h"

/* Fences of a sync file that are looked at without allocating. */
#define FEW_FENCES	8

/* What a signaller sends. */
struct signal_message {
	int64_t error;
	uint64_t time_ns;
};

static int file_info(int fd, struct sync_file_info *info)
{
	int ret;

	do
		ret = ioctl(fd, SYNC_IOC_FILE_INFO, info);
	while (ret && (errno == EINTR || errno == EAGAIN));
	return ret ? -errno : 0;
}

/* A merged file has several fences; the time of the last one counts, and any error. */
static void combine(const struct sync_fence_info *fences, uint32_t count, struct fence_info *info)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (fences[i].status < 0 && info->status >= 0)
			info->status = fences[i].status;
		else if (!fences[i].status && info->status > 0)
			info->status = 0;
		if (fences[i].timestamp_ns > info->time_ns)
			info->time_ns = fences[i].timestamp_ns;
	}
}

static int sync_file_info_read(int fd, struct fence_info *info)
{
	struct sync_fence_info few[FEW_FENCES], *fences = few;
	struct sync_file_info file = { .flags = 0 };
	uint32_t count;
	int err = file_info(fd, &file);

	if (err)
		return err;
	*info = (struct fence_info){ .status = file.status };
	/* Only a signalled file has a time, and one with fences keeps their number. */
	if (!file.status || !file.num_fences)
		return 0;
	count = file.num_fences;
	if (count > FEW_FENCES) {
		fences = calloc(count, sizeof(*fences));
		if (!fences)
			return -ENOMEM;
	}
	file = (struct sync_file_info){
		.num_fences = count, .sync_fence_info = (uintptr_t)fences,
	};
	err = file_info(fd, &file);
	if (!err)
		combine(fences, file.num_fences < count ? file.num_fences : count, info);
	if (fences != few)
		free(fences);
	return err;
}

static bool is_socket(int fd)
{
	int domain = 0, type = 0;
	socklen_t size = sizeof(domain);

	return !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) && domain == AF_UNIX &&
	       !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) && type == SOCK_SEQPACKET;
}

static void socket_info_read(int fd, struct fence_info *info)
{
	struct signal_message message;
	unsigned int ends = 0;
	ssize_t n;

	/*
	 * The kernel looks for a message first and for the end of the other side then. Between the
	 * two the other side may have sent its message and closed. Nothing comes after the end, so
	 * a second look finds what is there.
	 */
	do
		n = recv(fd, &message, sizeof(message), MSG_PEEK | MSG_DONTWAIT | MSG_TRUNC);
	while ((n < 0 && errno == EINTR) || (!n && !ends++));
	*info = (struct fence_info){ .status = 0 };
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return;
	/* Nobody can signal it any more, or what was sent is no signal. */
	info->status = -ECANCELED;
	if (n != sizeof(message))
		return;
	info->status = !message.error ? 1 :
		       message.error < 0 && message.error >= -4095 ? (int)message.error : -EINVAL;
	info->time_ns = message.time_ns;
}

int fence_info_read(int fd, unsigned int kinds, struct fence_info *info)
{
	int err;

	if (kinds & FENCE_SOCKET && is_socket(fd)) {
		socket_info_read(fd, info);
		return 0;
	}
	if (!(kinds & FENCE_SYNC_FILE))
		return -EINVAL;
	err = sync_file_info_read(fd, info);
	switch (err) {
	/* What files say that are no sync files. */
	case -ENOTTY:
	case -EBADF:
	case -EOPNOTSUPP:
	case -ENOSYS:
	case -EFAULT:
		return -EINVAL;
	default:
		return err;
	}
}

int fence_socket_create(int *fence, int *signal)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds))
		return -errno;
	/* What comes from the fence's side would be no signal; nothing can be sent from there. */
	shutdown(fds[0], SHUT_WR);
	*fence = fds[0];
	*signal = fds[1];
	return 0;
}

int fence_socket_signal(int signal, int error)
{
	const struct signal_message message = { .error = error, .time_ns = monotonic_ns() };
	ssize_t n;

	do
		n = send(signal, &message, sizeof(message), MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

enum nnhal_status nnhal_fence_create(int *fence, int *signal)
{
	int err;

	if (!fence || !signal)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	err = fence_socket_create(fence, signal);
	return err ? status_from_errno(-err) : NNHAL_STATUS_NONE;
}

enum nnhal_status nnhal_fence_signal(int signal, int error)
{
	int err;

	if (error > 0 || error < -4095 || !is_socket(signal))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	err = fence_socket_signal(signal, error);
	/* The fence is gone, or has so many signals that it has one. */
	return !err || err == -EPIPE || err == -EAGAIN || err == -ECONNRESET || err == -ENOBUFS ?
	       NNHAL_STATUS_NONE : NNHAL_STATUS_INVALID_ARGUMENT;
}

/* 1: it may have signalled; 0: the time is over; -errno. */
static int poll_fence(int fd, int timeout_ms)
{
	uint64_t end = monotonic_ns() + (uint64_t)(timeout_ms < 0 ? 0 : timeout_ms) * 1000000u;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t now;
	int ret;

	do {
		ret = poll(&p, 1, timeout_ms);
		if (ret >= 0 || (errno != EINTR && errno != EAGAIN))
			break;
		now = monotonic_ns();
		if (timeout_ms >= 0)
			timeout_ms = end > now ? (int)((end - now + 999999) / 1000000) : 0;
	} while (true);
	return ret < 0 ? -errno : ret;
}

enum nnhal_fence_state nnhal_fence_wait(int fence, int timeout_ms)
{
	struct fence_info info;

	/* What is no fence is not waited for. */
	if (fence < 0 || fence_info_read(fence, FENCE_SYNC_FILE | FENCE_SOCKET, &info))
		return NNHAL_FENCE_UNKNOWN;
	if (!info.status && timeout_ms &&
	    (poll_fence(fence, timeout_ms) < 0 ||
	     fence_info_read(fence, FENCE_SYNC_FILE | FENCE_SOCKET, &info)))
		return NNHAL_FENCE_UNKNOWN;
	return info.status > 0 ? NNHAL_FENCE_SIGNALED :
	       info.status < 0 ? NNHAL_FENCE_ERROR : NNHAL_FENCE_ACTIVE;
}

uint64_t nnhal_deadline_after(uint64_t duration_ns)
{
	uint64_t now = monotonic_ns();

	return duration_ns < INT64_MAX - now ? now + duration_ns : INT64_MAX;
}

bool nnhal_deadline_has_passed(bool has_deadline, uint64_t deadline_ns)
{
	return deadline_passed(has_deadline, deadline_ns);
}
