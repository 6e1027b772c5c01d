// SPDX-License-Identifier: MIT
/*
 * Burst server: sleeping and waking, its end and the client's, hostile queues. Names
 * begin with the line of the conformance list, E21 to E25.
 */
#include <pthread.h>
#include <sched.h>

#include "base/monotonic.h"
#include "base/tsan.h"
#include "burst_rig.h"

#define MANY_LOOPS	100000

/* The server's thread has announced that it sleeps in poll(). */
static void wait_asleep(struct rig *r)
{
	while (atomic_load(&r->requests->header->reader_wait) != FMQ_WAIT_POLL)
		usleep(100);
}

/* The time to poll shrinks when polling is in vain and grows when it pays. */
static void test_window(void)
{
	struct nnhal_fmq *writer, *reader;
	struct spin_window w;
	unsigned int i, opened = 0;
	uint64_t value = 1;

	if (nnhal_fmq_create(8, 8, NNHAL_FMQ_WRITER, &writer) ||
	    nnhal_fmq_attach(nnhal_fmq_fd(writer), 8, NNHAL_FMQ_READER, &reader))
		exit(1);
	spin_window_init(&w, 50);
	for (i = 0; i < 6; i++)
		spin_for_data(&w, reader, NULL);
	ok(!w.us, "E21 in vain six times: the window is shut");
	for (i = 0; i < 16; i++) {
		spin_for_data(&w, reader, NULL);
		opened += w.us != 0;
	}
	ok(opened == 1 && w.us < 13, "E21 it is tried again, shorter, after 16 waits");
	nnhal_fmq_write(writer, &value, 1);
	spin_for_data(&w, reader, NULL);
	ok(w.us < 13, "E21 what is there already says nothing about it");
	nnhal_fmq_destroy(writer);
	nnhal_fmq_destroy(reader);
}

static void test_sleep(void)
{
	request_datum packet[MAX_DATUMS];
	int count = good_request(packet);
	uint32_t sleeps;
	struct rig r;

	rig_init(&r, MAX_DATUMS, MAX_DATUMS);
	r.options.spin_us = 0;
	if (rig_start(&r))
		exit(1);
	wait_asleep(&r);
	ok(!nnhal_fmq_write(r.requests, packet, (uint32_t)count) && receive(&r) && !r.status,
	   "E21 a non-blocking writer wakes the listener");
	wait_asleep(&r);
	ok(!nnhal_fmq_write_blocking(r.requests, packet, (uint32_t)count, LONG_NS) &&
	   receive(&r) && !r.status, "E21 and so does a blocking one");
	ok(!r.server->spin.max_us && !r.server->spin.us && !r.server->spin.waits,
	   "E21 with a window of 0 the listener never polls");
	wait_asleep(&r);
	sleeps = atomic_load(&r.server->sleeps);
	usleep(200000);
	ok(atomic_load(&r.server->sleeps) == sleeps, "E21 an idle listener stays asleep");
	rig_fini(&r);
	rig_up(&r);
	/* The window is the server thread's own; it is asleep when this one looks. */
	tsan_racy_reads_begin();
	ok(is_executed(&r, packet, count) && (wait_asleep(&r), true) &&
	   r.server->spin.us < r.server->spin.max_us && atomic_load(&r.server->sleeps),
	   "E21 with a window it polls for a bounded time and then sleeps");
	tsan_racy_reads_end();
	rig_fini(&r);
	test_window();
}

static void *destroy(void *data)
{
	struct rig *r = data;

	nnhal_burst_server_destroy(r->server);
	r->server = NULL;
	return NULL;
}

struct freeing {
	struct rig *rig;
	atomic_bool is_done;
};

static void *free_slot(void *data)
{
	struct freeing *f = data;

	nnhal_burst_server_free_memory(f->rig->server, 1);
	/* A second time: it is known no more. */
	nnhal_burst_server_free_memory(f->rig->server, 1);
	f->is_done = true;
	return NULL;
}

/* Memory is freed while a request runs that uses it. */
static void test_free_while_running(void)
{
	static struct freeing f;
	request_datum packet[MAX_DATUMS];
	int count = good_request(packet);
	uint64_t end = monotonic_ns() + LONG_NS;
	pthread_t thread;
	struct rig r;

	rig_up(&r);
	f.rig = &r;
	r.recorder.hold = true;
	send_packet(&r, packet, count);
	while (!r.recorder.holding)
		usleep(100);
	pthread_create(&thread, NULL, free_slot, &f);
	while (!f.is_done && monotonic_ns() < end)
		usleep(100);
	ok(f.is_done && r.recorder.holding, "E17 the server's freeMemory waits for no request");
	ok(!r.recorder.removes, "E17 the request keeps its memory");
	r.recorder.hold = false;
	pthread_join(thread, NULL);
	ok(receive(&r) && !r.status && is_executed(&r, packet, count) && r.recorder.removes == 1 &&
	   r.lender.calls == 2, "E17 afterwards the slot is gone: the next request asks again");
	rig_fini(&r);
	ok(r.recorder.adds == 2 && r.recorder.removes == 2, "and nothing is left or removed twice");
}

/* Two packets, each taken by the server as one. */
static void send_two(struct rig *r, const request_datum *packet, int count)
{
	int i;

	for (i = 0; i < 2; i++) {
		send_packet(r, packet, count);
		while (nnhal_fmq_available(r->requests) != MAX_DATUMS)
			usleep(100);
	}
}

static void test_teardown(void)
{
	request_datum packet[MAX_DATUMS];
	int count = good_request(packet);
	pthread_t thread;
	struct rig r;

	rig_up(&r);
	wait_asleep(&r);
	nnhal_burst_server_destroy(r.server);
	r.server = NULL;
	ok(true, "E22 teardown wakes a sleeping listener");
	rig_fini(&r);

	rig_up(&r);
	r.recorder.hold = true;
	send_packet(&r, packet, count);
	while (!r.recorder.holding)
		usleep(100);
	pthread_create(&thread, NULL, destroy, &r);
	while (!atomic_load(&r.server->stop))
		usleep(100);
	r.recorder.hold = false;
	pthread_join(thread, NULL);
	ok(receive(&r) && !r.status && r.recorder.adds == r.recorder.removes,
	   "E22 a running request comes to its end");
	rig_fini(&r);

	/* Results of 5 datums go into a queue of 8 that nobody reads. */
	rig_init(&r, MAX_DATUMS, 8);
	if (rig_start(&r))
		exit(1);
	send_two(&r, packet, count);
	while (atomic_load(&r.results->header->writer_wait) != FMQ_WAIT_POLL)
		usleep(100);
	ok(r.recorder.executions >= 2, "E22 the server waits for room");
	ok(receive(&r) && receive(&r), "and goes on when there is some");
	send_two(&r, packet, count);
	while (atomic_load(&r.results->header->writer_wait) != FMQ_WAIT_POLL)
		usleep(100);
	nnhal_burst_server_destroy(r.server);
	r.server = NULL;
	ok(true, "E22 teardown with a full result queue");
	rig_fini(&r);
}

/*
 * The thread of the server has done its last step. nnhal_burst_server_wait() returns before: to
 * close what the client sent may take time, and nobody shall wait for that.
 */
static bool is_finished_soon(struct nnhal_burst_server *s)
{
	uint64_t end = monotonic_ns() + LONG_NS;
	bool finished = false;

	while (!finished && monotonic_ns() < end) {
		usleep(100);
		pthread_mutex_lock(&s->end_lock);
		finished = s->is_finished;
		pthread_mutex_unlock(&s->end_lock);
	}
	return finished;
}

static void test_hang_up(void)
{
	request_datum packet[MAX_DATUMS];
	int count = good_request(packet);
	char byte;
	struct rig r;

	rig_up(&r);
	ok(is_executed(&r, packet, count) &&
	   nnhal_burst_server_wait(r.server, 0) == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT,
	   "the burst goes on");
	wait_asleep(&r);
	close(r.socket[0]);
	r.socket[0] = -1;
	ok(nnhal_burst_server_wait(r.server, LONG_NS) == NNHAL_STATUS_DEAD_OBJECT,
	   "E23 the client's hang-up ends the burst");
	ok(is_finished_soon(r.server) && r.recorder.adds == 1 && r.recorder.removes == 1 &&
	   !r.server->requests && r.server->link.socket < 0, "E23 no slot, mapping or descriptor survives it");
	nnhal_burst_server_free_memory(r.server, 1);
	rig_fini(&r);

	rig_up(&r);
	r.recorder.hold = true;
	send_packet(&r, packet, count);
	while (!r.recorder.holding)
		usleep(100);
	close(r.socket[0]);
	r.socket[0] = -1;
	r.recorder.hold = false;
	ok(nnhal_burst_server_wait(r.server, LONG_NS) == NNHAL_STATUS_DEAD_OBJECT,
	   "E23 also while a request runs");
	rig_fini(&r);

	rig_up(&r);
	wait_asleep(&r);
	nnhal_burst_server_destroy(r.server);
	r.server = NULL;
	ok(recv(r.socket[0], &byte, 1, 0) == 0, "E23 the server's end hangs up the client's");
	rig_fini(&r);
}

static void test_protocol(void)
{
	static const uint32_t junk[4] = { 99, 0, 0, 0 };
	request_datum packet[MAX_DATUMS];
	struct rig r;
	unsigned int i, wrong = 0;

	good_request(packet);
	for (i = 1; i <= sizeof(junk); i++) {
		rig_up(&r);
		wrong += send(r.socket[0], junk, i, MSG_NOSIGNAL) != (ssize_t)i;
		wrong += nnhal_burst_server_wait(r.server, LONG_NS) !=
			 NNHAL_STATUS_GENERAL_FAILURE;
		rig_fini(&r);
	}
	ok(!wrong, "E24 messages that mean nothing end the burst");
}

static void test_corrupt(void)
{
	static const uint64_t jumps[] = { MAX_DATUMS + 1, 1u << 30, UINT64_MAX };
	request_datum packet[MAX_DATUMS];
	int count = good_request(packet);
	unsigned int i, wrong = 0;
	struct rig r;

	for (i = 0; i < 3; i++) {
		rig_up(&r);
		wrong += !is_executed(&r, packet, count);
		atomic_fetch_add(&r.requests->header->write_count, jumps[i]);
		send(r.socket[0], &(uint32_t){ NNHAL_FMQ_DOORBELL }, 4, MSG_NOSIGNAL);
		wrong += nnhal_burst_server_wait(r.server, LONG_NS) !=
			 NNHAL_STATUS_GENERAL_FAILURE;
		wrong += r.recorder.removes != 1;
		rig_fini(&r);
	}
	ok(!wrong, "E24 an impossible request counter ends the burst");
	rig_up(&r);
	wrong += !is_executed(&r, packet, count);
	atomic_store(&r.results->header->read_count, UINT64_MAX / 2);
	send_packet(&r, packet, count);
	wrong += nnhal_burst_server_wait(r.server, LONG_NS) != NNHAL_STATUS_GENERAL_FAILURE;
	ok(!wrong, "E24 an impossible result counter as well");
	rig_fini(&r);
}

struct scribbler {
	struct rig *rig;
	atomic_bool stop;
};

static void *scribble(void *data)
{
	struct scribbler *s = data;
	struct fmq_header *requests = s->rig->requests->header;
	struct fmq_header *results = s->rig->results->header;
	unsigned int seed = 5, bits;

	/* The other process, which keeps to nothing. */
	tsan_racy_writes_begin();
	while (!s->stop) {
		bits = (unsigned int)rand_r(&seed);
		switch (bits % 8) {
		case 0:
			atomic_store(&requests->reader_wait, bits % 3);
			break;
		case 1:
			atomic_store(&results->writer_wait, bits % 3);
			break;
		case 2:
			atomic_fetch_add(&requests->write_count, bits / 8 % 3);
			break;
		case 3:
			if (bits % 256 < 8)
				atomic_store(&results->read_count, bits);
			break;
		default:
			s->rig->requests->ring[bits % (MAX_DATUMS * 24)] = (uint8_t)(bits >> 8);
		}
		if (bits % 7 == 0)
			sched_yield();
	}
	tsan_racy_writes_end();
	return NULL;
}

/* The other burst is not affected. */
static void test_scribble(void)
{
	request_datum packet[MAX_DATUMS];
	int count = good_request(packet), i, wrong = 0;
	result_datum result[MAX_DATUMS];
	struct rig hostile, other;
	struct scribbler s = { 0 };
	unsigned int rounds, ends = 0;
	pthread_t thread;

	rig_up(&other);
	for (rounds = 0; rounds < 20; rounds++) {
		rig_up(&hostile);
		s.rig = &hostile;
		s.stop = false;
		pthread_create(&thread, NULL, scribble, &s);
		for (i = 0; i < 200; i++) {
			nnhal_fmq_write(hostile.requests, packet, (uint32_t)count);
			nnhal_fmq_read_packet(hostile.results, result, MAX_DATUMS);
			wrong += !is_executed(&other, packet, count);
		}
		s.stop = true;
		pthread_join(thread, NULL);
		ends += nnhal_burst_server_wait(hostile.server, 0) ==
			NNHAL_STATUS_GENERAL_FAILURE;
		rig_fini(&hostile);
		wrong += hostile.recorder.adds != hostile.recorder.removes;
	}
	ok(!wrong, "E24 queues scribbled over: %u of 20 bursts ended, another is unharmed", ends);
	rig_fini(&other);
}

static void test_isolation(void)
{
	request_datum packet[MAX_DATUMS];
	int count = good_request(packet);
	struct rig a, b;

	rig_up(&a);
	rig_up(&b);
	ok(is_executed(&a, packet, count) && is_executed(&b, packet, count) &&
	   a.recorder.used == a.lender.memory[1] && b.recorder.used == b.lender.memory[1] &&
	   a.recorder.used != b.recorder.used,
	   "E25 the same slot of two bursts is two memories");
	rig_fini(&a);
	rig_fini(&b);
}

static void test_many(void)
{
	request_datum packet[MAX_DATUMS];
	int count = good_request(packet), i, wrong = 0;
	struct rig r;

	rig_up(&r);
	for (i = 0; i < MANY_LOOPS; i++)
		wrong += !is_executed(&r, packet, count);
	ok(!wrong && r.recorder.executions == MANY_LOOPS && r.lender.calls == 1,
	   "%d round trips", MANY_LOOPS);
	rig_fini(&r);
}

int main(void)
{
	test_sleep();
	test_teardown();
	test_free_while_running();
	test_hang_up();
	test_protocol();
	test_corrupt();
	test_scribble();
	test_isolation();
	test_many();
	return tap_done();
}
