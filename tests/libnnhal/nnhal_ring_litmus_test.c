// SPDX-License-Identifier: MIT
/*
 * Memory ordering of the rings, under stress: two threads, millions of messages with
 * checksums, on the message queue and on a submission and completion ring.
 *
 * It is the library's own code that runs: the message queue as it is, and for the
 * rings the functions and barriers of burst/burst_ring.h. What is tested is what
 * Documentation/burst.rst argues: no message is seen in part, early,
 * late or twice, no place is written before its reader is done with it, and nobody
 * sleeps unnoticed. On x86 the processor keeps most of that by itself; the test is
 * mostly for the compiler there, and for both on arm64.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "burst/burst_ring.h"
#include "fmq/fmq_layout.h"
#include "tap.h"

#define LONG_NS		UINT64_C(60000000000)
/* Time for meetings. */
#define MEETING_NS	UINT64_C(3000000000)

/* NNHAL_LITMUS_MESSAGES: how many, for a long run. */
static uint64_t num_messages(void)
{
	const char *text = getenv("NNHAL_LITMUS_MESSAGES");
	uint64_t count = text ? strtoull(text, NULL, 0) : 0;

	return count ? count : 400000;
}

static uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= UINT64_C(0x9e3779b97f4a7c15);
	return x ^ x >> 29;
}

/* ---- message passing through the message queue ---- */

/* A datum whose words all follow from its number. */
struct message {
	uint64_t number;
	uint64_t words[6];
	uint64_t check;
};

static void message_fill(struct message *m, uint64_t number)
{
	unsigned int i;

	m->number = number;
	m->check = mix(number);
	for (i = 0; i < 6; i++) {
		m->words[i] = mix(number + i);
		m->check ^= m->words[i];
	}
}

static bool message_right(const struct message *m, uint64_t number)
{
	struct message expected;

	message_fill(&expected, number);
	return !memcmp(m, &expected, sizeof(expected));
}

struct stream {
	struct nnhal_fmq *out, *back;
	uint64_t count;
	bool blocking;
	uint64_t wrong;
};

#define FMQ_CAPACITY	13

static void *write_stream(void *data)
{
	struct message packet[FMQ_CAPACITY];
	struct stream *s = data;
	uint64_t number = 0;
	unsigned int i, size, seed = 1;

	while (number < s->count) {
		size = (unsigned int)rand_r(&seed) % FMQ_CAPACITY + 1;
		if (size > s->count - number)
			size = (unsigned int)(s->count - number);
		for (i = 0; i < size; i++)
			message_fill(&packet[i], number + i);
		if (s->blocking) {
			s->wrong += nnhal_fmq_write_blocking(s->out, packet, size, LONG_NS) != 0;
		} else {
			while (nnhal_fmq_write(s->out, packet, size))
				sched_yield();
		}
		number += size;
	}
	return NULL;
}

static void test_fmq(bool blocking)
{
	struct message packet[FMQ_CAPACITY];
	struct nnhal_fmq *reader;
	struct stream s = { .count = num_messages(), .blocking = blocking };
	uint64_t number = 0, wrong = 0;
	pthread_t thread;
	int n, i;

	if (nnhal_fmq_create(sizeof(packet[0]), FMQ_CAPACITY, NNHAL_FMQ_WRITER, &s.out) ||
	    nnhal_fmq_attach(nnhal_fmq_fd(s.out), sizeof(packet[0]), NNHAL_FMQ_READER, &reader) ||
	    pthread_create(&thread, NULL, write_stream, &s)) {
		printf("Bail out! no queue\n");
		exit(1);
	}
	while (number < s.count) {
		if (blocking) {
			n = 1;
			if (nnhal_fmq_read_blocking(reader, packet, 1, LONG_NS)) {
				wrong++;
				break;
			}
		} else {
			n = nnhal_fmq_read_packet(reader, packet, FMQ_CAPACITY);
			if (n < 0) {
				sched_yield();
				continue;
			}
		}
		for (i = 0; i < n; i++)
			wrong += !message_right(&packet[i], number++);
	}
	pthread_join(thread, NULL);
	ok(!wrong && !s.wrong && number == s.count, "message queue, %s: %llu datums, %llu wrong",
	   blocking ? "with sleeps" : "without", (unsigned long long)number,
	   (unsigned long long)wrong);
	nnhal_fmq_destroy(s.out);
	nnhal_fmq_destroy(reader);
}

/* ---- no lost wake-up: ping-pong in which both sides always sleep ---- */

static void *echo(void *data)
{
	struct stream *s = data;
	uint64_t i, value;

	for (i = 0; i < s->count; i++) {
		if (nnhal_fmq_read_blocking(s->out, &value, 1, LONG_NS) ||
		    nnhal_fmq_write_blocking(s->back, &value, 1, LONG_NS)) {
			s->wrong++;
			break;
		}
	}
	return NULL;
}

static void test_store_buffering(void)
{
	struct nnhal_fmq *out, *back;
	struct stream s = { .count = num_messages() / 20 };
	uint64_t i, value, wrong = 0;
	pthread_t thread;

	if (nnhal_fmq_create(sizeof(value), 1, NNHAL_FMQ_WRITER, &out) ||
	    nnhal_fmq_create(sizeof(value), 1, NNHAL_FMQ_READER, &back) ||
	    nnhal_fmq_attach(nnhal_fmq_fd(out), sizeof(value), NNHAL_FMQ_READER, &s.out) ||
	    nnhal_fmq_attach(nnhal_fmq_fd(back), sizeof(value), NNHAL_FMQ_WRITER, &s.back) ||
	    pthread_create(&thread, NULL, echo, &s)) {
		printf("Bail out! no queues\n");
		exit(1);
	}
	for (i = 0; i < s.count && !wrong; i++) {
		value = 0;
		wrong += nnhal_fmq_write_blocking(out, &i, 1, LONG_NS) ||
			 nnhal_fmq_read_blocking(back, &value, 1, LONG_NS) || value != i;
	}
	pthread_join(thread, NULL);
	ok(!wrong && !s.wrong, "message queues: %llu times both sides asleep, none forgotten",
	   (unsigned long long)s.count);
	nnhal_fmq_destroy(out);
	nnhal_fmq_destroy(back);
	nnhal_fmq_destroy(s.out);
	nnhal_fmq_destroy(s.back);
}

/*
 * ---- store buffering: announce and look on one side, publish and look on the other ----
 *
 * Were both to see the old value, the reader would sleep and nobody would wake it. The two
 * sides start each round together, with delays that vary against each other.
 */

struct meeting {
	struct nnhal_fmq *writer;
	atomic_ullong go;
	atomic_ullong done;
	atomic_bool over;
};

static void delay(uint64_t turns)
{
	while (turns--)
		cpu_relax();
}

/* The other side may need this processor. */
static void meet(const atomic_ullong *at, uint64_t round)
{
	unsigned int spins = 0;

	while (atomic_load_explicit(at, memory_order_acquire) != round)
		if (++spins % 128 == 0)
			sched_yield();
}

/* Two processors, if there are: on one the two sides never meet. */
static void run_on(unsigned int number)
{
	cpu_set_t all, one;
	unsigned int cpu;

	if (sched_getaffinity(0, sizeof(all), &all))
		return;
	CPU_ZERO(&one);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all) || number--)
			continue;
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

static void *publish_each(void *data)
{
	struct meeting *m = data;
	uint64_t round;

	run_on(1);
	for (round = 1; ; round++) {
		meet(&m->go, round);
		if (atomic_load_explicit(&m->over, memory_order_relaxed))
			break;
		delay(round / 7 % 7);
		nnhal_fmq_write(m->writer, &round, 1);
		atomic_store_explicit(&m->done, round, memory_order_release);
	}
	return NULL;
}

static void test_meetings(void)
{
	/* On a busy machine there are fewer. */
	uint64_t end = monotonic_ns() + MEETING_NS, most = num_messages();
	uint64_t round, value, forgotten = 0, slept = 0;
	struct meeting m = { 0 };
	cpu_set_t before;
	struct nnhal_fmq *reader;
	pthread_t thread;
	uint32_t word;
	int sv[2], asleep;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sv) ||
	    nnhal_fmq_create(sizeof(value), 4, NNHAL_FMQ_WRITER, &m.writer) ||
	    nnhal_fmq_attach(nnhal_fmq_fd(m.writer), sizeof(value), NNHAL_FMQ_READER, &reader) ||
	    pthread_create(&thread, NULL, publish_each, &m)) {
		printf("Bail out! no queue\n");
		exit(1);
	}
	nnhal_fmq_set_doorbell(m.writer, sv[0]);
	sched_getaffinity(0, sizeof(before), &before);
	run_on(0);
	for (round = 1; round <= most && (round % 64 || monotonic_ns() < end); round++) {
		atomic_store_explicit(&m.go, round, memory_order_release);
		delay(round % 7);
		asleep = !nnhal_fmq_prepare_poll(reader, 1);
		meet(&m.done, round);
		slept += (unsigned int)asleep;
		forgotten += recv(sv[1], &word, sizeof(word), MSG_DONTWAIT) < 0 && asleep;
		nnhal_fmq_cancel_poll(reader);
		forgotten += nnhal_fmq_read(reader, &value, 1) || value != round;
	}
	atomic_store_explicit(&m.over, true, memory_order_relaxed);
	atomic_store_explicit(&m.go, round, memory_order_release);
	pthread_join(thread, NULL);
	sched_setaffinity(0, sizeof(before), &before);
	ok(!forgotten, "store buffering: %llu meetings, %llu sleeps, %llu forgotten",
	   (unsigned long long)round - 1, (unsigned long long)slept,
	   (unsigned long long)forgotten);
	close(sv[0]);
	close(sv[1]);
	nnhal_fmq_destroy(m.writer);
	nnhal_fmq_destroy(reader);
}

/* ---- submission and completion ring, as burst/burst_ring.h uses them ---- */

#define SQ_ENTRIES	TRANSPORT_SQ_ENTRIES
#define CQ_ENTRIES	TRANSPORT_CQ_ENTRIES
#define NUM_CIDS	8
#define BLOCK_WORDS	16

/* What the two threads share; the rings are in @queue. */
struct device {
	struct transport_queue queue;
	struct nnpu_sqe sq[SQ_ENTRIES];
	struct nnpu_cqe cq[CQ_ENTRIES];
	volatile uint32_t doorbell[4];
	/* Argument and result block of each command id. */
	uint64_t args[NUM_CIDS][BLOCK_WORDS];
	uint64_t results[NUM_CIDS][BLOCK_WORDS];
	uint64_t count;
	uint64_t wrong;
};

/*
 * The device's side: a doorbell, then the entries up to it, their arguments, results,
 * and the completion with its status word last.
 */
static void *be_device(void *data)
{
	struct device *d = data;
	uint32_t head = 0, tail, completed = 0, cid, i;
	uint64_t done = 0;

	while (done < d->count) {
		tail = __atomic_load_n((const uint32_t *)&d->doorbell[NNPU_DB_SQ_TAIL / 4],
				       __ATOMIC_ACQUIRE);
		if (head == tail) {
			sched_yield();
			continue;
		}
		while (head != tail) {
			const struct nnpu_sqe_execute *sqe = (const void *)&d->sq[head];
			struct nnpu_cqe *cqe = &d->cq[completed % CQ_ENTRIES];
			uint64_t seed;

			cid = le16toh(sqe->cid);
			seed = le64toh(sqe->args);
			if (cid >= NUM_CIDS || sqe->result_off != mix(seed)) {
				d->wrong++;
				cid %= NUM_CIDS;
			}
			for (i = 0; i < BLOCK_WORDS; i++) {
				d->wrong += d->args[cid][i] != mix(seed + i);
				d->results[cid][i] = mix(seed ^ i);
			}
			cqe->cid = htole16((uint16_t)cid);
			cqe->result = htole64(seed);
			__atomic_store_n(&cqe->status,
					 htole16(completed & CQ_ENTRIES ? 0 : NNPU_CQE_PHASE),
					 __ATOMIC_RELEASE);
			completed++;
			done++;
			head = (head + 1) % SQ_ENTRIES;
		}
	}
	return NULL;
}

static void submit(struct device *d, uint32_t cid, uint64_t seed, uint32_t *tail)
{
	struct nnpu_sqe_execute *sqe = (void *)&d->sq[*tail];
	uint32_t i;

	for (i = 0; i < BLOCK_WORDS; i++)
		d->args[cid][i] = mix(seed + i);
	sqe->cid = htole16((uint16_t)cid);
	sqe->args = htole64(seed);
	sqe->result_off = mix(seed);
	*tail = (*tail + 1) % SQ_ENTRIES;
	queue_ring_doorbell(&d->queue, NNPU_DB_SQ_TAIL, *tail);
}

static bool results_right(const struct device *d, uint32_t cid, uint64_t seed)
{
	uint32_t i;

	for (i = 0; i < BLOCK_WORDS; i++)
		if (d->results[cid][i] != mix(seed ^ i))
			return false;
	return true;
}

static void test_rings(uint32_t depth)
{
	static struct device d;
	uint64_t seeds[NUM_CIDS], submitted = 0, taken = 0, wrong = 0;
	uint32_t tail = 0, count = 0, status, cid;
	pthread_t thread;

	memset(&d, 0, sizeof(d));
	d.count = num_messages();
	d.queue.sq = (void *)d.sq;
	d.queue.cq = d.cq;
	d.queue.doorbell = d.doorbell;
	if (pthread_create(&thread, NULL, be_device, &d))
		exit(1);
	for (; submitted < depth; submitted++) {
		seeds[submitted] = mix(submitted);
		submit(&d, (uint32_t)submitted, seeds[submitted], &tail);
	}
	while (taken < d.count) {
		if (!queue_is_completed(&d.cq[count % CQ_ENTRIES], count, &status)) {
			sched_yield();
			continue;
		}
		barrier_after_status();
		cid = le16toh(d.cq[count % CQ_ENTRIES].cid);
		count++;
		taken++;
		if (cid >= depth || le64toh(d.cq[(count - 1) % CQ_ENTRIES].result) != seeds[cid] ||
		    !results_right(&d, cid, seeds[cid])) {
			wrong++;
			cid %= depth;
		}
		if (submitted < d.count) {
			seeds[cid] = mix(submitted++);
			submit(&d, cid, seeds[cid], &tail);
		}
	}
	pthread_join(thread, NULL);
	ok(!wrong && !d.wrong, "rings, %u in flight: %llu commands, %llu + %llu wrong", depth,
	   (unsigned long long)taken, (unsigned long long)wrong, (unsigned long long)d.wrong);
}

int main(void)
{
	test_fmq(false);
	test_fmq(true);
	test_store_buffering();
	test_meetings();
	test_rings(1);
	test_rings(NUM_CIDS);
	return tap_done();
}
