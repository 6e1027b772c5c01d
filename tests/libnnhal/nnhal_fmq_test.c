// SPDX-License-Identifier: MIT
/*
 * Message queues: atomic packets, sleeping and waking, hostile shared memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nnhal/nnhal.h>

#include "base/tsan.h"
#include "fmq/fmq_layout.h"
#include "tap.h"

/* For waits that must end. Reaching this limit is a failure. */
#define LONG_NS		UINT64_C(60000000000)

/* Both sides of a queue in one process. */
struct pair {
	struct nnhal_fmq *writer;
	struct nnhal_fmq *reader;
};

static bool pair_init(struct pair *p, uint32_t datum_size, uint32_t capacity)
{
	p->writer = p->reader = NULL;
	return !nnhal_fmq_create(datum_size, capacity, NNHAL_FMQ_WRITER, &p->writer) &&
	       !nnhal_fmq_attach(nnhal_fmq_fd(p->writer), datum_size, NNHAL_FMQ_READER,
				 &p->reader);
}

static void pair_fini(struct pair *p)
{
	nnhal_fmq_destroy(p->writer);
	nnhal_fmq_destroy(p->reader);
}

static void test_create(void)
{
	struct nnhal_fmq *q = (void *)1;

	ok(nnhal_fmq_create(0, 8, NNHAL_FMQ_WRITER, &q) == -EINVAL && !q, "datums of 0 bytes");
	ok(nnhal_fmq_create(NNHAL_FMQ_MAX_DATUM_SIZE + 1, 8, NNHAL_FMQ_WRITER, &q) == -EINVAL,
	   "datums too large");
	ok(nnhal_fmq_create(8, 0, NNHAL_FMQ_WRITER, &q) == -EINVAL, "capacity 0");
	ok(nnhal_fmq_create(8, NNHAL_FMQ_MAX_CAPACITY + 1, NNHAL_FMQ_WRITER, &q) == -EINVAL,
	   "capacity too large");
	ok(nnhal_fmq_create(8, 8, 2, &q) == -EINVAL, "unknown role");
	ok(nnhal_fmq_create(8, 8, NNHAL_FMQ_READER, NULL) == -EINVAL, "NULL pointer");
	ok(!nnhal_fmq_create(24, 1024, NNHAL_FMQ_READER, &q) &&
	   nnhal_fmq_capacity(q) == 1024 && !nnhal_fmq_available(q), "a new queue is empty");
	ok(fcntl(nnhal_fmq_fd(q), F_GETFD) & FD_CLOEXEC, "close-on-exec");
	ok(fcntl(nnhal_fmq_fd(q), F_GET_SEALS) & F_SEAL_SHRINK, "E24 sealed against shrinking");
	nnhal_fmq_destroy(q);
	nnhal_fmq_destroy(NULL);
}

/* A memfd of @size bytes that begins with a header; -1 as @size: that of the queue. */
static int make_file(long size, int seals, const struct fmq_header *header)
{
	int fd = memfd_create("fmq-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (size < 0)
		size = FMQ_RING_OFFSET + 8 * 16;
	if (fd < 0 || ftruncate(fd, size) ||
	    (size >= (long)sizeof(*header) &&
	     pwrite(fd, header, sizeof(*header), 0) != (ssize_t)sizeof(*header)) ||
	    fcntl(fd, F_ADD_SEALS, seals)) {
		printf("Bail out! cannot make a memfd\n");
		exit(1);
	}
	return fd;
}

static int attach_file(long size, int seals, const struct fmq_header *header)
{
	int fd = make_file(size, seals, header);
	struct nnhal_fmq *q;
	int err = nnhal_fmq_attach(fd, 16, NNHAL_FMQ_READER, &q);

	close(fd);
	nnhal_fmq_destroy(q);
	return err;
}

static void test_attach(void)
{
	const struct fmq_header good = {
		.magic = FMQ_MAGIC, .version = FMQ_VERSION, .datum_size = 16, .capacity = 8,
	};
	struct fmq_header bad;
	char path[64];
	struct nnhal_fmq *q;
	int fds[2], fd;

	ok(!attach_file(-1, F_SEAL_SHRINK, &good), "E24 a sealed file of the right form");
	ok(attach_file(-1, 0, &good) == -EINVAL, "E24 a file that may shrink");
	ok(attach_file(-1, F_SEAL_GROW, &good) == -EINVAL, "E24 sealed against growing only");
	ok(attach_file(0, F_SEAL_SHRINK, &good) == -EINVAL, "E24 an empty file");
	ok(attach_file(FMQ_RING_OFFSET + 8 * 16 - 1, F_SEAL_SHRINK, &good) == -EINVAL,
	   "E24 one byte short");
	ok(attach_file(-1, F_SEAL_SHRINK | F_SEAL_WRITE, &good) == -EPERM,
	   "a file sealed against writing");
	bad = good;
	bad.magic++;
	ok(attach_file(-1, F_SEAL_SHRINK, &bad) == -EINVAL, "wrong magic");
	bad = good;
	bad.version++;
	ok(attach_file(-1, F_SEAL_SHRINK, &bad) == -EINVAL, "wrong version");
	bad = good;
	bad.datum_size = 24;
	ok(attach_file(-1, F_SEAL_SHRINK, &bad) == -EINVAL, "datums of another size");
	bad = good;
	bad.capacity = 9;
	ok(attach_file(-1, F_SEAL_SHRINK, &bad) == -EINVAL, "E24 capacity beyond the file");
	bad = good;
	bad.capacity = 0;
	ok(attach_file(-1, F_SEAL_SHRINK, &bad) == -EINVAL, "E24 capacity 0");
	bad = good;
	bad.capacity = 0x10000001;
	ok(attach_file(-1, F_SEAL_SHRINK, &bad) == -EINVAL,
	   "E24 capacity whose size in 32 bits is small");
	bad = good;
	bad.write_count = 9;
	ok(attach_file(-1, F_SEAL_SHRINK, &bad) == -EBADMSG, "E24 more written than fits");
	bad = good;
	bad.read_count = 1;
	ok(attach_file(-1, F_SEAL_SHRINK, &bad) == -EBADMSG, "E24 more read than written");
	bad = good;
	bad.write_count = bad.read_count = UINT64_MAX - 2;
	ok(!attach_file(-1, F_SEAL_SHRINK, &bad), "counters near their end");
	ok(nnhal_fmq_attach(-1, 16, NNHAL_FMQ_READER, &q) == -EBADF && !q, "no descriptor");
	if (pipe(fds))
		exit(1);
	ok(nnhal_fmq_attach(fds[0], 16, NNHAL_FMQ_READER, &q) == -EINVAL, "a pipe");
	close(fds[0]);
	close(fds[1]);
	strcpy(path, "/tmp/fmq-test-XXXXXX");
	fd = mkstemp(path);
	unlink(path);
	ok(!ftruncate(fd, 8192) && nnhal_fmq_attach(fd, 16, NNHAL_FMQ_READER, &q) == -EINVAL,
	   "E24 an ordinary file");
	close(fd);
	fd = make_file(-1, F_SEAL_SHRINK, &good);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fds[0] = open(path, O_RDONLY | O_CLOEXEC);
	ok(nnhal_fmq_attach(fds[0], 16, NNHAL_FMQ_READER, &q) == -EPERM, "a read-only descriptor");
	close(fds[0]);
	close(fd);
}

static void test_calls(void)
{
	uint64_t data[9] = { 0 };
	struct pair p;

	if (!ok(pair_init(&p, sizeof(data[0]), 8), "two sides"))
		return;
	ok(nnhal_fmq_read(p.writer, data, 1) == -EINVAL, "the writer does not read");
	ok(nnhal_fmq_write(p.reader, data, 1) == -EINVAL, "the reader does not write");
	ok(nnhal_fmq_read_packet(p.writer, data, 8) == -EINVAL, "nor takes packets");
	ok(nnhal_fmq_write(p.writer, data, 0) == -EINVAL, "0 datums");
	ok(nnhal_fmq_write(p.writer, NULL, 1) == -EINVAL, "NULL pointer");
	ok(nnhal_fmq_write(p.writer, data, 9) == -EMSGSIZE, "E20 more than the queue holds");
	ok(nnhal_fmq_read(p.reader, data, 9) == -EMSGSIZE, "more than it can ever hold");
	ok(nnhal_fmq_read(p.reader, data, 1) == -EAGAIN, "empty");
	ok(nnhal_fmq_read_packet(p.reader, data, 8) == -EAGAIN, "no packet");
	ok(nnhal_fmq_read_packet(p.reader, data, 7) == -EINVAL, "too little room for a packet");
	ok(nnhal_fmq_available(p.writer) == 8, "room for all");
	ok(!nnhal_fmq_write(p.writer, data, 5) && nnhal_fmq_available(p.reader) == 5 &&
	   nnhal_fmq_available(p.writer) == 3, "five written");
	ok(nnhal_fmq_write(p.writer, data, 4) == -EAGAIN && nnhal_fmq_available(p.reader) == 5,
	   "E11 four do not fit and none is written");
	ok(nnhal_fmq_read(p.reader, data, 6) == -EAGAIN && nnhal_fmq_available(p.reader) == 5,
	   "six are not there and none is read");
	ok(nnhal_fmq_write_blocking(p.writer, data, 4, 1000000) == -ETIME, "time runs out, writing");
	ok(nnhal_fmq_read_blocking(p.reader, data, 6, 1000000) == -ETIME, "time runs out, reading");
	ok(nnhal_fmq_read_blocking(p.reader, data, 6, 0) == -ETIME, "no time at all");
	ok(nnhal_fmq_read_packet(p.reader, data, 8) == 5, "E11 a packet as a whole");
	ok(nnhal_fmq_prepare_poll(p.reader, 9) == -EINVAL, "waiting for more than fits");
	pair_fini(&p);
}

/* Every size of packet at every place of the ring, for odd geometries. */
static void test_wrap(uint32_t datum_size, uint32_t capacity)
{
	uint8_t *in = malloc((size_t)datum_size * capacity);
	uint8_t *out = malloc((size_t)datum_size * capacity);
	uint32_t round, count, i, bad = 0;
	unsigned int seed = 1;
	struct pair p;

	if (!in || !out || !pair_init(&p, datum_size, capacity))
		exit(1);
	for (round = 0; round < 4 * capacity; round++) {
		count = round % capacity + 1;
		for (i = 0; i < count * datum_size; i++)
			in[i] = (uint8_t)rand_r(&seed);
		memset(out, 0, (size_t)datum_size * capacity);
		bad += nnhal_fmq_write(p.writer, in, count) != 0;
		if (round % 2)
			bad += nnhal_fmq_read_packet(p.reader, out, capacity) != (int)count;
		else
			bad += nnhal_fmq_read(p.reader, out, count) != 0;
		bad += memcmp(in, out, (size_t)count * datum_size) != 0;
	}
	ok(!bad, "%u datums of %u bytes, all packets at all places", capacity, datum_size);
	pair_fini(&p);
	free(in);
	free(out);
}

/* Counters that pass through zero. */
static void test_counter_wrap(void)
{
	struct fmq_header header = {
		.magic = FMQ_MAGIC, .version = FMQ_VERSION, .datum_size = 16, .capacity = 8,
		.write_count = UINT64_MAX - 7, .read_count = UINT64_MAX - 7,
	};
	int fd = make_file(-1, F_SEAL_SHRINK, &header);
	struct nnhal_fmq *writer, *reader;
	uint64_t in[16], out[16];
	unsigned int i, bad = 0;

	if (nnhal_fmq_attach(fd, 16, NNHAL_FMQ_WRITER, &writer) ||
	    nnhal_fmq_attach(fd, 16, NNHAL_FMQ_READER, &reader))
		exit(1);
	for (i = 0; i < 8; i++) {
		memset(in, (int)i + 1, sizeof(in));
		bad += nnhal_fmq_write(writer, in, 4) || nnhal_fmq_write(writer, in + 8, 4);
		bad += nnhal_fmq_write(writer, in, 1) != -EAGAIN;
		bad += nnhal_fmq_read_packet(reader, out, 8) != 8;
		bad += memcmp(in, out, sizeof(in)) != 0;
	}
	ok(!bad, "counters pass through zero");
	nnhal_fmq_destroy(writer);
	nnhal_fmq_destroy(reader);
	close(fd);
}

/* ---- sleeping and waking ---- */

struct sleeper {
	struct nnhal_fmq *q;
	uint64_t data[8];
	uint32_t count;
	int err;
};

static void *sleep_reading(void *data)
{
	struct sleeper *s = data;

	s->err = nnhal_fmq_read_blocking(s->q, s->data, s->count, LONG_NS);
	return NULL;
}

static void *sleep_writing(void *data)
{
	struct sleeper *s = data;

	s->err = nnhal_fmq_write_blocking(s->q, s->data, s->count, LONG_NS);
	return NULL;
}

/* Until a side has announced its sleep. */
static void wait_asleep(const atomic_uint *word, uint32_t how)
{
	while (atomic_load(word) != how)
		usleep(100);
}

static void test_wake(bool blocking)
{
	const char *how = blocking ? "blocking" : "non-blocking";
	struct sleeper s = { .count = 3 };
	uint64_t data[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	pthread_t thread;
	struct pair p;
	int err;

	if (!pair_init(&p, sizeof(data[0]), 8))
		exit(1);
	s.q = p.reader;
	pthread_create(&thread, NULL, sleep_reading, &s);
	wait_asleep(&p.reader->header->reader_wait, FMQ_WAIT_FUTEX);
	/* Too few: the reader has to go on sleeping. */
	err = nnhal_fmq_write(p.writer, data, 2);
	wait_asleep(&p.reader->header->reader_wait, FMQ_WAIT_FUTEX);
	err |= blocking ? nnhal_fmq_write_blocking(p.writer, data + 2, 1, LONG_NS)
			: nnhal_fmq_write(p.writer, data + 2, 1);
	pthread_join(thread, NULL);
	ok(!err && !s.err && !memcmp(s.data, data, 24), "E21 a %s writer wakes the reader", how);

	s = (struct sleeper) { .q = p.writer, .count = 6 };
	if (nnhal_fmq_write(p.writer, data, 7))
		exit(1);
	pthread_create(&thread, NULL, sleep_writing, &s);
	wait_asleep(&p.reader->header->writer_wait, FMQ_WAIT_FUTEX);
	err = blocking ? nnhal_fmq_read_blocking(p.reader, data, 7, LONG_NS)
		       : nnhal_fmq_read(p.reader, data, 7);
	pthread_join(thread, NULL);
	ok(!err && !s.err && nnhal_fmq_available(p.reader) == 6,
	   "E21 a %s reader wakes the writer", how);
	pair_fini(&p);
}

static bool has_message(int fd)
{
	uint32_t word = 0;

	return recv(fd, &word, sizeof(word), MSG_DONTWAIT) == sizeof(word) &&
	       word == NNHAL_FMQ_DOORBELL;
}

static void test_doorbell(void)
{
	uint64_t data[8] = { 0 };
	struct pair p;
	int sv[2], i, sent = 0;

	if (!pair_init(&p, sizeof(data[0]), 8) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
		exit(1);
	nnhal_fmq_set_doorbell(p.writer, sv[0]);
	nnhal_fmq_set_doorbell(p.reader, sv[1]);
	ok(!nnhal_fmq_write(p.writer, data, 1) && !has_message(sv[1]),
	   "a writer rings no doorbell while the reader is awake");
	ok(nnhal_fmq_prepare_poll(p.reader, 1) == 1, "no sleep when there is something to read");
	ok(!nnhal_fmq_write(p.writer, data, 1) && !has_message(sv[1]), "and no doorbell then");
	ok(!nnhal_fmq_prepare_poll(p.reader, 3), "sleep for three datums");
	ok(!nnhal_fmq_write(p.writer, data, 1) && has_message(sv[1]) && !has_message(sv[1]),
	   "E21 one doorbell for a reader in poll()");
	nnhal_fmq_cancel_poll(p.reader);
	ok(!nnhal_fmq_write(p.writer, data, 5) && !nnhal_fmq_prepare_poll(p.writer, 2),
	   "the writer sleeps for room");
	ok(!nnhal_fmq_read(p.reader, data, 8) && has_message(sv[0]),
	   "E21 one doorbell for a writer in poll()");
	nnhal_fmq_cancel_poll(p.writer);
	/* Nobody reads the socket: a doorbell must not block. */
	for (i = 0; i < 5000; i++) {
		sent += !nnhal_fmq_prepare_poll(p.reader, 1);
		sent += !nnhal_fmq_write(p.writer, data, 1);
		sent += !nnhal_fmq_read(p.reader, data, 1);
	}
	ok(sent == 15000, "E22 a full socket does not block the doorbell");
	close(sv[1]);
	ok(!nnhal_fmq_prepare_poll(p.reader, 1) && !nnhal_fmq_write(p.writer, data, 1),
	   "E23 nor does a peer that is gone, nor is there SIGPIPE");
	close(sv[0]);
	pair_fini(&p);
}

/* ---- hostile memory ---- */

static void test_corrupt(void)
{
	static const uint64_t jumps[] = { 9, 1u << 20, UINT64_MAX / 2, UINT64_MAX };
	uint64_t data[8] = { 0 };
	unsigned int i, bad = 0;
	struct pair p;

	for (i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
		if (!pair_init(&p, sizeof(data[0]), 8))
			exit(1);
		atomic_store(&p.reader->header->write_count, jumps[i]);
		bad += nnhal_fmq_available(p.reader) != -EBADMSG;
		atomic_store(&p.reader->header->write_count, 1);
		bad += nnhal_fmq_read(p.reader, data, 1) != -EBADMSG;
		bad += nnhal_fmq_read_blocking(p.reader, data, 1, LONG_NS) != -EBADMSG;
		bad += nnhal_fmq_read_packet(p.reader, data, 8) != -EBADMSG;
		bad += nnhal_fmq_prepare_poll(p.reader, 1) != -EBADMSG;
		pair_fini(&p);
	}
	ok(!bad, "E24 impossible write counters: an error from then on");
	for (i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
		if (!pair_init(&p, sizeof(data[0]), 8))
			exit(1);
		bad += nnhal_fmq_write(p.writer, data, 4);
		atomic_store(&p.writer->header->read_count, 4 + jumps[i]);
		/* One position back: more read than written. */
		bad += nnhal_fmq_write(p.writer, data, 1) != -EBADMSG &&
		       jumps[i] != UINT64_MAX;
		pair_fini(&p);
	}
	ok(!bad, "E24 impossible read counters");
	if (!pair_init(&p, sizeof(data[0]), 8))
		exit(1);
	p.reader->header->capacity = 1u << 30;
	p.reader->header->datum_size = 1u << 20;
	p.reader->header->magic = 0;
	ok(!nnhal_fmq_write(p.writer, data, 8) && nnhal_fmq_write(p.writer, data, 1) == -EAGAIN &&
	   !nnhal_fmq_read(p.reader, data, 8), "E24 geometry changed later has no effect");
	ok(ftruncate(nnhal_fmq_fd(p.reader), 0) && errno == EPERM, "E24 the file keeps its size");
	pair_fini(&p);
}

struct scribbler {
	struct fmq_header *header;
	uint8_t *ring;
	size_t ring_size;
	atomic_ullong base;		/* about what the counters are */
	atomic_bool stop;
};

static void *scribble(void *data)
{
	struct scribbler *s = data;
	unsigned int seed = 7;
	uint64_t value, now;

	/* The other process, which keeps to nothing. */
	tsan_racy_writes_begin();
	while (!atomic_load(&s->stop)) {
		value = (uint64_t)rand_r(&seed) >> (rand_r(&seed) % 31);
		now = atomic_load(&s->base);
		if (value % 16 < 12)
			sched_yield();
		switch (rand_r(&seed) % 6) {
		case 0:
			/* Mostly what could be true. */
			atomic_store(&s->header->write_count, now + value % 19);
			break;
		case 1:
			atomic_store(&s->header->read_count, value % 8 ? now - value % 3 : value);
			break;
		case 2:
			atomic_store(&s->header->reader_wait, (uint32_t)value % 5);
			break;
		case 3:
			atomic_store(&s->header->writer_wait, (uint32_t)value % 5);
			break;
		case 4:
			s->header->capacity = (uint32_t)value;
			break;
		default:
			s->ring[value % s->ring_size] = (uint8_t)value;
		}
	}
	tsan_racy_writes_end();
	return NULL;
}

/* Both sides are used while another thread writes anything anywhere. */
static void test_scribble(void)
{
	unsigned int i, moved = 0, broken = 0, odd = 0;
	uint64_t data[16] = { 0 };
	struct scribbler s = { 0 };
	pthread_t thread;
	struct pair p;
	int n;

	if (!pair_init(&p, sizeof(data[0]), 16))
		exit(1);
	s.header = p.writer->header;
	s.ring = p.writer->ring;
	s.ring_size = 16 * sizeof(data[0]);
	pthread_create(&thread, NULL, scribble, &s);
	for (i = 0; i < 100000; i++) {
		n = nnhal_fmq_write(p.writer, data, i % 16 + 1);
		odd += n && n != -EAGAIN && n != -EBADMSG;
		n = nnhal_fmq_read_packet(p.reader, data, 16);
		odd += n > 16 || (n < 0 && n != -EAGAIN && n != -EBADMSG);
		moved += n > 0;
		if (n == -EBADMSG) {
			/* Begin again: the objects themselves are sound. */
			p.reader->broken = p.writer->broken = false;
			p.reader->count = p.writer->count;
			p.reader->index = p.writer->index;
			atomic_store(&s.header->write_count, p.writer->count);
			atomic_store(&s.header->read_count, p.writer->count);
			broken++;
		}
		atomic_store(&s.base, p.writer->count);
		if (i % 32)
			continue;
		n = nnhal_fmq_read_blocking(p.reader, data, 16, 1000);
		odd += n && n != -ETIME && n != -EBADMSG;
	}
	atomic_store(&s.stop, true);
	pthread_join(thread, NULL);
	ok(!odd && broken, "E24 counters, wait words and ring scribbled over: %u errors, %u packets",
	   broken, moved);
	pair_fini(&p);
}

/* ---- threads and processes ---- */

#define NUM_PACKETS	200000
#define CAPACITY	61

static void *write_packets(void *data)
{
	uint64_t packet[CAPACITY];
	struct nnhal_fmq *q = data;
	unsigned int seed = 3;
	uint64_t number;
	uint32_t i, size;

	for (number = 0; number < NUM_PACKETS; number++) {
		size = (uint32_t)rand_r(&seed) % CAPACITY + 1;
		for (i = 0; i < size; i++)
			packet[i] = number << 32 | size << 16 | i;
		if (nnhal_fmq_write_blocking(q, packet, size, LONG_NS))
			break;
	}
	return NULL;
}

/* What a reader takes at once begins with the first datum of a packet and ends with the last. */
static void test_packets(void)
{
	uint64_t packet[CAPACITY], number = 0;
	pthread_t thread;
	unsigned int torn = 0, several = 0;
	struct pair p;
	int n, i;

	if (!pair_init(&p, sizeof(packet[0]), CAPACITY))
		exit(1);
	pthread_create(&thread, NULL, write_packets, p.writer);
	while (number < NUM_PACKETS) {
		n = nnhal_fmq_read_blocking(p.reader, packet, 1, LONG_NS);
		if (n)
			break;
		/* The rest of the packet is there: all was published at once. */
		n = (int)(packet[0] >> 16 & 0xffff) - 1;
		several += n > 0;
		if (n && nnhal_fmq_read(p.reader, packet + 1, (uint32_t)n))
			torn++;
		for (i = 0; i <= n; i++)
			torn += packet[i] != (number << 32 | (uint64_t)(n + 1) << 16 |
					      (uint64_t)i);
		number++;
	}
	pthread_join(thread, NULL);
	ok(!torn && number == NUM_PACKETS && several,
	   "E11 %u packets of 1 to %u datums arrive whole and in order", NUM_PACKETS, CAPACITY);
	pair_fini(&p);
}

static void test_processes(void)
{
	uint64_t number, value = 0, sum = 0;
	struct nnhal_fmq *q;
	struct pair p;
	pid_t pid;
	int status = -1;

	if (!pair_init(&p, sizeof(value), 16))
		exit(1);
	pid = fork();
	if (!pid) {
		if (nnhal_fmq_attach(nnhal_fmq_fd(p.reader), sizeof(value), NNHAL_FMQ_WRITER, &q))
			_exit(1);
		for (number = 1; number <= 20000; number++)
			if (nnhal_fmq_write_blocking(q, &number, 1, LONG_NS))
				_exit(2);
		_exit(0);
	}
	for (number = 1; number <= 20000; number++) {
		if (nnhal_fmq_read_blocking(p.reader, &value, 1, LONG_NS))
			break;
		sum += value == number;
	}
	ok(pid > 0 && waitpid(pid, &status, 0) == pid && !status && sum == 20000,
	   "20000 datums from another process");
	pair_fini(&p);
}

int main(void)
{
	test_create();
	test_attach();
	test_calls();
	test_wrap(1, 1);
	test_wrap(1, 7);
	test_wrap(3, 5);
	test_wrap(24, 64);
	test_wrap(4096, 3);
	test_counter_wrap();
	test_wake(false);
	test_wake(true);
	test_doorbell();
	test_corrupt();
	test_scribble();
	test_packets();
	test_processes();
	return tap_done();
}
