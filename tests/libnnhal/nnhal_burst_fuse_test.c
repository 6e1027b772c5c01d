// SPDX-License-Identifier: MIT
/*
 * A client that gives the server of its burst files that it serves itself (FUSE) and then serves no
 * more, or that holds the lock of a file for ever. The server must not receive what it did not ask
 * for, and nnhal_burst_server_destroy() must come back.
 *
 * Two processes for each client: one speaks the protocol of /dev/fuse, the other has the file open.
 * If the first dies, the kernel ends all requests.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "burst_waiter.h"
#include "fmq/burst_controller_private.h"

/* No other file of the test has this size. */
#define FILE_SIZE	12289
#define LIMIT_SECONDS	30
#define SLOT		7

/* A pipe whose other end only the test has. */
static int test_lives[2];

/* ---- the process that serves the file ---- */

static void answer(int dev, const struct fuse_in_header *in, const void *data, size_t size)
{
	char buffer[512];
	struct fuse_out_header *out = (struct fuse_out_header *)buffer;

	*out = (struct fuse_out_header){ .len = (uint32_t)(sizeof(*out) + size), .unique = in->unique };
	memcpy(out + 1, data, size);
	if (write(dev, buffer, out->len) != (ssize_t)out->len)
		_exit(1);
}

/* Answers what open() and mmap() need. Reads, flushes and the rest wait for ever. */
static void serve_file(int dev)
{
	static char buffer[65536];
	const struct fuse_in_header *in = (const struct fuse_in_header *)buffer;
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION, .minor = 31,
				      .max_readahead = 4096, .max_background = 16,
				      .congestion_threshold = 12, .max_write = 4096 };
	struct fuse_attr_out attr = { .attr_valid = 3600, .attr = {
		.ino = 1, .size = FILE_SIZE, .blocks = 32, .mode = S_IFREG | 0600,
		.nlink = 1, .blksize = 4096 } };
	struct fuse_open_out opened = { .fh = 1 };

	struct pollfd fds[] = { { .fd = dev, .events = POLLIN }, { .fd = test_lives[0] } };

	/* If the test dies, the client cannot end before this process. */
	while (poll(fds, 2, -1) > 0 && !fds[1].revents && read(dev, buffer, sizeof(buffer)) > 0) {
		if (in->opcode == FUSE_INIT)
			answer(dev, in, &init, sizeof(init));
		else if (in->opcode == FUSE_GETATTR)
			answer(dev, in, &attr, sizeof(attr));
		else if (in->opcode == FUSE_OPEN)
			answer(dev, in, &opened, sizeof(opened));
	}
	_exit(0);
}

/* ---- the client ---- */

struct client {
	struct nnhal_burst_controller *burst;
	struct run run;
	int socket;
	int file;		/* of FUSE */
};

/* What the client says to the test when all is done. */
struct report {
	pid_t server;		/* of the file; 0: there is no FUSE here */
	int status;
};

static int open_fuse(void)
{
	int dev = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (dev < 0 && !mknod("/tmp/nnhal-fuse", S_IFCHR | 0600, makedev(10, 229))) {
		dev = open("/tmp/nnhal-fuse", O_RDWR | O_CLOEXEC);
		unlink("/tmp/nnhal-fuse");
	}
	return dev;
}

/* Mount a file that a new process serves, and open it. -1: not possible here. */
static int open_served(pid_t *server)
{
	char path[] = "/tmp/nnhal-fuse-XXXXXX", options[128];
	int dev = open_fuse(), point = mkstemp(path), file = -1;
	struct stat st;

	*server = 0;
	snprintf(options, sizeof(options), "fd=%d,rootmode=100600,user_id=0,group_id=0", dev);
	if (dev >= 0 && point >= 0 && !unshare(CLONE_NEWNS) &&
	    !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	    !mount("nnhal-test", path, "fuse", 0, options)) {
		*server = fork();
		if (!*server)
			serve_file(dev);
		file = open(path, O_RDWR | O_CLOEXEC);
		/* The kernel has the size once it has asked. */
		die_if(file < 0 || fstat(file, &st) || st.st_size != FILE_SIZE ||
		       umount2(path, MNT_DETACH), "open of the served file");
	}
	unlink(path);
	close(dev);
	close(point);
	return file;
}

/* A message of any type with @num descriptors of the file. */
static void send_file(const struct client *c, uint32_t type, uint32_t num)
{
	struct link_message message = { .type = type, .version = LINK_VERSION };
	struct iovec iov = { &message, type == LINK_DOORBELL ? sizeof(uint32_t)
							      : offsetof(struct link_message, slots) };
	char control[CMSG_SPACE(sizeof(int) * LINK_MAX_SLOTS)] = { 0 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = CMSG_SPACE(sizeof(int) * num) };
	struct cmsghdr *h = CMSG_FIRSTHDR(&msg);
	uint32_t i;

	if (type == LINK_DOORBELL)
		message.type = NNHAL_FMQ_DOORBELL;
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int) * num);
	for (i = 0; i < num; i++)
		memcpy(CMSG_DATA(h) + i * sizeof(int), &c->file, sizeof(int));
	die_if(sendmsg(c->socket, &msg, MSG_NOSIGNAL) < 0, "sendmsg");
}

/* Queues that are no queues. */
static int hello(struct client *c)
{
	send_file(c, LINK_HELLO, 2);
	return 0;
}

static void connect_client(struct client *c)
{
	struct nnhal_burst_controller_options options = NNHAL_BURST_CONTROLLER_OPTIONS_INIT;

	die_if(nnhal_burst_connect(c->socket, &options, &c->burst), "connect");
	run_init(&c->run, 4);
}

/* Descriptors that nobody asked for; the burst goes on. */
static int doorbell(struct client *c)
{
	connect_client(c);
	send_file(c, LINK_DOORBELL, LINK_MAX_SLOTS);
	return (int)run(c->burst, &c->run) || !run_output_is_right(&c->run, 4);
}

static int free_message(struct client *c)
{
	connect_client(c);
	send_file(c, LINK_FREE, LINK_MAX_SLOTS);
	return (int)run(c->burst, &c->run) || !run_output_is_right(&c->run, 4);
}

/* The last message: the server ends the burst. */
static int junk(struct client *c)
{
	connect_client(c);
	send_file(c, 99, LINK_MAX_SLOTS);
	return 0;
}

/* Send a request whose memory is behind SLOT; lend @fd for it. */
static void request_with(struct client *c, uint32_t kind, int fd)
{
	static const int32_t slot = SLOT;
	struct link_message message;
	struct link_extra extra;
	int count, err;

	count = nnhal_burst_serialize_request(&c->run.request, &slot, NNHAL_MEASURE_NO,
					      c->burst->request, 64);
	die_if(count < 0 || nnhal_fmq_write(c->burst->requests, c->burst->request, (uint32_t)count),
	       "request");
	do {
		err = link_receive(&c->burst->link, 0, &message, &extra);
		if (err == -EAGAIN)
			err = link_sleep(&c->burst->link, POLLIN, UINT64_MAX);
		else if (!err && message.type == LINK_GET)
			break;
	} while (!err);
	die_if(err, "GET");
	memset(&message, 0, sizeof(message));
	message.type = LINK_MEMORIES;
	message.count = 1;
	message.memories[0].kind = kind;
	message.memories[0].size = 4096;
	die_if(link_send(&c->burst->link, &message, &fd, 1, UINT64_MAX), "MEMORIES");
}

static int memory(struct client *c)
{
	connect_client(c);
	request_with(c, NNHAL_MEMORY_MMAP_FD, c->file);
	return 0;
}

struct writer {
	int fd;
	const void *from;
	atomic_int tid;
};

/* A page that never comes: the thread sleeps with the lock of the file. */
static void *write_for_ever(void *data)
{
	struct writer *w = data;

	w->tid = gettid();
	if (pwrite(w->fd, w->from, 4096, 0) < 0)
		perror("# pwrite");
	return NULL;
}

/* A memfd whose lock is taken for ever. */
static int locked_memfd(struct client *c, unsigned int seals)
{
	static struct writer w;
	char path[64], state;
	pthread_t thread;
	FILE *stat;

	w.fd = memfd_create("locked", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	die_if(w.fd < 0 || ftruncate(w.fd, 4096) || fcntl(w.fd, F_ADD_SEALS, seals), "memfd");
	w.from = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, c->file, 0);
	die_if(w.from == MAP_FAILED, "mmap");
	pthread_create(&thread, NULL, write_for_ever, &w);
	do {
		usleep(1000);
		snprintf(path, sizeof(path), "/proc/self/task/%d/stat", w.tid);
		stat = w.tid ? fopen(path, "re") : NULL;
		state = 0;
		if (stat && fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
			state = 0;
		if (stat)
			fclose(stat);
	} while (state != 'D' && state != 'S');
	/* It may still be on its way into the call. */
	usleep(20000);
	return w.fd;
}

/* To be sealed under its lock. */
static int unsealed(struct client *c)
{
	connect_client(c);
	request_with(c, NNHAL_MEMORY_ASHMEM, locked_memfd(c, 0));
	return 0;
}

/* A device that binds it may want the lock. */
static int sealed(struct client *c)
{
	connect_client(c);
	request_with(c, NNHAL_MEMORY_ASHMEM, locked_memfd(c, F_SEAL_SHRINK | F_SEAL_GROW));
	return 0;
}

/* Its outputs would be written under its lock. */
static int copied_output(struct client *c)
{
	struct nnhal_output_shape shape;
	enum nnhal_status status;
	struct nnhal_timing timing;
	uint32_t num;
	int count;

	connect_client(c);
	request_with(c, NNHAL_MEMORY_MMAP_FD, locked_memfd(c, F_SEAL_SHRINK | F_SEAL_GROW));
	while ((count = nnhal_fmq_read_packet(c->burst->results, c->burst->result,
					      nnhal_fmq_capacity(c->burst->results))) == -EAGAIN)
		usleep(1000);
	return count < 0 || nnhal_burst_parse_result(c->burst->result, (uint32_t)count, &status,
						     &shape, 1, &num, &timing) ||
	       status != NNHAL_STATUS_INVALID_ARGUMENT;
}

static const struct attack {
	const char *what;
	int (*make)(struct client *c);
	bool is_received;	/* the server gets a file of FUSE: it asked for one */
} attacks[] = {
	{ "HELLO with files that somebody serves", hello, true },
	{ "a doorbell with 64 of them", doorbell, false },
	{ "FREE with 64 of them", free_message, false },
	{ "a message that is not known with 64 of them", junk, false },
	{ "memory that somebody serves", memory, true },
	{ "a memfd without seals whose lock is taken", unsealed, false },
	{ "a memfd with seals whose lock is taken", sealed, false },
	{ "outputs in a file whose lock is taken", copied_output, false },
};

static _Noreturn void be_client(const struct attack *attack, int socket, int pipe)
{
	struct client c = { .socket = socket };
	struct report report = { 0 };

	c.file = open_served(&report.server);
	if (c.file >= 0)
		report.status = attack->make(&c);
	if (write(pipe, &report, sizeof(report)) != sizeof(report))
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

/* ---- the test ---- */

struct ending {
	struct nnhal_burst_server *server;
	atomic_bool done;
};

static void *end_server(void *data)
{
	struct ending *e = data;

	nnhal_burst_server_destroy(e->server);
	e->done = true;
	return NULL;
}

/* Known by its size, without asking who serves it. */
static bool has_fuse_file(void)
{
	struct statx st;
	int fd;

	for (fd = 3; fd < 256; fd++)
		if (!statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_SIZE, &st) &&
		    st.stx_size == FILE_SIZE)
			return true;
	return false;
}

static void test_attack(struct nnhal_prepared_model *model, const struct attack *attack)
{
	unsigned int i, threads = count_entries("/proc/self/task");
	unsigned int fds = count_entries("/proc/self/fd");
	struct ending ending = { 0 };
	struct report report;
	int sv[2], pipes[2];
	pthread_t thread;
	pid_t pid;

	make_sockets(sv);
	die_if(pipe2(pipes, O_CLOEXEC) || pipe2(test_lives, O_CLOEXEC) || nnhal_burst_serve(sv[1], model, NULL, &ending.server),
	       "serve");
	close(sv[1]);
	fflush(stdout);
	pid = fork();
	die_if(pid < 0, "fork");
	if (!pid) {
		close(test_lives[1]);
		be_client(attack, sv[0], pipes[1]);
	}
	close(sv[0]);
	close(test_lives[0]);
	close(pipes[1]);
	die_if(read(pipes[0], &report, sizeof(report)) != sizeof(report), attack->what);
	close(pipes[0]);
	if (!report.server) {
		tap_skip("%s: needs /dev/fuse and the right to mount", attack->what);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		close(test_lives[1]);
		nnhal_burst_server_destroy(ending.server);
		return;
	}
	ok(!report.status, "%s: the client gets what it should", attack->what);
	/* The server's thread may be on its way into a call. */
	usleep(100000);
	ok(attack->is_received || !has_fuse_file(), "%s: the server did not take it",
	   attack->what);
	pthread_create(&thread, NULL, end_server, &ending);
	for (i = 0; i < LIMIT_SECONDS * 100 && !ending.done; i++)
		usleep(10000);
	ok(ending.done, "%s: the server can be destroyed", attack->what);
	/* First who serves: without it the other one cannot end, either. */
	kill(report.server, SIGKILL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(test_lives[1]);
	pthread_join(thread, NULL);
	ok(wait_for_entries("/proc/self/task", threads) == threads &&
	   wait_for_entries("/proc/self/fd", fds) == fds,
	   "%s: neither a thread nor a descriptor stays", attack->what);
}

int main(void)
{
	struct nnhal_prepared_model *model;
	struct nnhal_device *device = test_device_open();
	static struct fixture f;
	unsigned int i;

	make_add_relu(&f);
	die_if(nnhal_device_prepare_model_sync(device, &f.model, NULL, &model), "prepare");
	for (i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++)
		test_attack(model, &attacks[i]);
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	return tap_done();
}
