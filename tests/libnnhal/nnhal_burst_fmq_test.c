// SPDX-License-Identifier: MIT
/*
 * Burst server: packets, memory and statuses. Names begin with the line of the
 * conformance list, E01 to E19.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "burst_rig.h"

/* ---- E01 ---- */

static void test_create(void)
{
	struct nnhal_burst_server *server = (void *)1;
	struct nnhal_burst_executor half = recorder_ops;
	struct nnhal_burst_channel channel;
	struct nnhal_diag diag;
	struct nnhal_fmq *q;
	struct rig r;
	int sv[2];

	rig_init(&r, 16, 16);
	r.options.diag = &diag;
	channel = (struct nnhal_burst_channel){ sizeof(channel), nnhal_fmq_fd(r.requests),
						nnhal_fmq_fd(r.results), r.socket[1], 0 };
	ok(nnhal_burst_server_create(NULL, NULL, &r.options, &server) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "E01 no channel");
	ok(nnhal_burst_server_create(&channel, NULL, NULL, &server) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && !server, "E01 neither model nor executor");
	half.execute = NULL;
	r.options.executor = &half;
	ok(nnhal_burst_server_create(&channel, NULL, &r.options, &server) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "E01 executor without execute");
	r.options.executor = &recorder_ops;
	r.options.size--;
	ok(nnhal_burst_server_create(&channel, NULL, &r.options, &server) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "E01 options of a size too small");
	r.options.size++;
	channel.request_fd = -1;
	ok(nnhal_burst_server_create(&channel, NULL, &r.options, &server) ==
	   NNHAL_STATUS_GENERAL_FAILURE && !server && diag.message[0], "E01 no request queue");
	channel.request_fd = nnhal_fmq_fd(r.requests);
	channel.result_fd = 0;
	ok(nnhal_burst_server_create(&channel, NULL, &r.options, &server) ==
	   NNHAL_STATUS_GENERAL_FAILURE && !server, "E01 a result queue that is none");
	channel.result_fd = nnhal_fmq_fd(r.results);
	channel.socket = channel.request_fd;
	ok(nnhal_burst_server_create(&channel, NULL, &r.options, &server) ==
	   NNHAL_STATUS_GENERAL_FAILURE && !server, "E01 no socket, hence no event flag");
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
		exit(1);
	channel.socket = sv[0];
	ok(nnhal_burst_server_create(&channel, NULL, &r.options, &server) ==
	   NNHAL_STATUS_GENERAL_FAILURE && !server, "E01 a socket of another type");
	close(sv[0]);
	close(sv[1]);
	channel.socket = r.socket[1];
	if (nnhal_fmq_create(sizeof(result_datum), 1, NNHAL_FMQ_READER, &q))
		exit(1);
	channel.result_fd = nnhal_fmq_fd(q);
	ok(nnhal_burst_server_create(&channel, NULL, &r.options, &server) ==
	   NNHAL_STATUS_GENERAL_FAILURE && !server, "E01 a queue too small for any result");
	nnhal_fmq_destroy(q);
	ok(rig_start(&r) == NNHAL_STATUS_NONE && r.server, "E01 a good channel");
	rig_fini(&r);
	nnhal_burst_server_destroy(NULL);
}

/* ---- E02 to E14 ---- */

static void test_execute(void)
{
	request_datum packet[MAX_DATUMS];
	int count = good_request(packet);
	struct rig r;

	rig_up(&r);
	send_packet(&r, packet, count);
	ok(receive(&r) && r.status == NNHAL_STATUS_NONE && r.num_shapes == 1 &&
	   r.shapes[0].num_dimensions == 2 && r.shapes[0].dimensions[0] == 2 &&
	   r.shapes[0].dimensions[1] == 3 && r.shapes[0].is_sufficient,
	   "E02 E03 request and result");
	ok(r.num_results == 2 + 1 + 2, "E04 size of the result");
	ok(r.timing.time_on_device == 1 && r.timing.time_in_driver >= 2,
	   "D23 time in the driver from dequeue to enqueue");
	ok(r.recorder.used == r.lender.memory[1], "the memory of the slot is used");
	packet[count - 1].measure = NNHAL_MEASURE_NO;
	send_packet(&r, packet, count);
	ok(receive(&r) && !r.status && r.timing.time_on_device == NNHAL_NO_TIMING &&
	   r.timing.time_in_driver == NNHAL_NO_TIMING, "D22 measure NO gives no times");
	packet[count - 1].measure = 2;
	ok(is_refused(&r, packet, count) && r.status == NNHAL_STATUS_INVALID_ARGUMENT,
	   "D13 measure of 2");
	r.recorder.num_shapes = 1000;
	packet[count - 1].measure = NNHAL_MEASURE_YES;
	ok(is_executed(&r, packet, count), "E06 an executor's count is bounded as well");
	rig_fini(&r);
}

/* The datums that must do no harm anywhere. */
static void make_bad(request_datum bad[7])
{
	memset(bad, 0, 7 * sizeof(*bad));
	bad[0].kind = NNHAL_BURST_REQUEST_PACKET_INFORMATION;
	bad[0].information = (struct nnhal_burst_request_information){ 10, 10, 10, 10 };
	bad[1].kind = NNHAL_BURST_REQUEST_INPUT_OPERAND_INFORMATION;
	bad[1].operand.number_of_dimensions = 10;
	bad[2].kind = NNHAL_BURST_REQUEST_INPUT_OPERAND_DIMENSION;
	bad[3].kind = NNHAL_BURST_REQUEST_OUTPUT_OPERAND_INFORMATION;
	bad[3].operand.number_of_dimensions = 10;
	bad[4].kind = NNHAL_BURST_REQUEST_OUTPUT_OPERAND_DIMENSION;
	bad[5].kind = NNHAL_BURST_REQUEST_POOL_IDENTIFIER;
	bad[5].pool = INT32_MAX;
	bad[6].kind = NNHAL_BURST_REQUEST_MEASURE_TIMING;
	bad[6].measure = NNHAL_MEASURE_YES;
}

static bool is_swap_of_dimensions(const request_datum *a, const request_datum *b)
{
	return a->kind == b->kind && (a->kind == NNHAL_BURST_REQUEST_INPUT_OPERAND_DIMENSION ||
				      a->kind == NNHAL_BURST_REQUEST_OUTPUT_OPERAND_DIMENSION);
}

static void test_mutations(void)
{
	request_datum good[MAX_DATUMS], packet[MAX_DATUMS], bad[7];
	int count = good_request(good), i, k, wrong = 0, sent = 0;
	uint32_t executions;
	struct rig r;

	rig_up(&r);
	make_bad(bad);
	ok(is_executed(&r, good, count), "E10 a good packet first");
	executions = r.recorder.executions;
	for (i = 0; i < count; i++, sent++) {
		memcpy(packet, good, sizeof(packet));
		memmove(packet + i, packet + i + 1,
			(size_t)(count - i - 1) * sizeof(packet[0]));
		wrong += !is_refused(&r, packet, count - 1);
	}
	ok(!wrong, "E07 each datum removed in turn");
	/* A packet without a datum cannot be sent: the queue takes none. */
	ok(nnhal_fmq_write(r.requests, packet, 0) == -EINVAL, "E05 no empty packets");
	for (i = 0; i <= count; i++) {
		for (k = 0; k < 7; k++, sent++) {
			memcpy(packet, good, sizeof(packet));
			memmove(packet + i + 1, packet + i,
				(size_t)(count - i) * sizeof(packet[0]));
			packet[i] = bad[k];
			wrong += !is_refused(&r, packet, count + 1);
		}
	}
	ok(!wrong, "E08 each bad datum inserted at each position");
	for (i = 0; i < count; i++) {
		for (k = 0; k < 7; k++) {
			if (!memcmp(&good[i], &bad[k], sizeof(bad[k])) ||
			    is_swap_of_dimensions(&good[i], &bad[k]))
				continue;
			memcpy(packet, good, sizeof(packet));
			packet[i] = bad[k];
			wrong += !is_refused(&r, packet, count);
			sent++;
		}
	}
	ok(!wrong, "E09 each datum replaced by each bad one");
	ok(r.recorder.executions == executions, "none of them was executed");
	ok(nnhal_fmq_available(r.results) == 0 &&
	   nnhal_fmq_available(r.requests) == MAX_DATUMS,
	   "E10 E11 one result for each of %d bad packets, each drained whole", sent);
	ok(is_executed(&r, good, count), "E10 a good packet afterwards");
	rig_fini(&r);
}

static void test_malformed(void)
{
	request_datum packet[MAX_DATUMS];
	int count = good_request(packet);
	struct rig r;

	rig_up(&r);
	packet[0].information.number_of_pools = 0xffffffff;
	ok(is_refused(&r, packet, count) && r.status == NNHAL_STATUS_GENERAL_FAILURE,
	   "E06 four thousand million pools");
	good_request(packet);
	packet[1].operand.number_of_dimensions = 0xffffffff;
	ok(is_refused(&r, packet, count), "E06 as many dimensions");
	memset(packet, 0xff, sizeof(packet));
	ok(is_refused(&r, packet, MAX_DATUMS) && nnhal_fmq_available(r.requests) == MAX_DATUMS,
	   "E11 a queue full of ones is drained");
	count = good_request(packet);
	memcpy(packet + count, packet, (size_t)count * sizeof(*packet));
	ok(is_refused(&r, packet, 2 * count) && nnhal_fmq_available(r.results) == 0,
	   "E05 two packets at once are one that is malformed");
	ok(is_executed(&r, packet, count), "E10 and a good one");
	rig_fini(&r);
}

static void test_pools(void)
{
	static const int32_t unknown[] = { INT32_MAX, -1, INT32_MIN, 15 };
	request_datum packet[MAX_DATUMS];
	struct rig r;
	size_t i;
	int count;

	rig_up(&r);
	for (i = 0; i < 4; i++) {
		count = make_request(packet, &unknown[i], 1);
		ok(is_refused(&r, packet, count) && r.status == NNHAL_STATUS_INVALID_ARGUMENT,
		   "E12 unknown pool id %d", unknown[i]);
	}
	ok(r.lender.calls == 2, "E12 negative ids are not even asked for");
	rig_fini(&r);
}

static void test_small_results(void)
{
	request_datum packet[MAX_DATUMS];
	int count = good_request(packet);
	struct rig r;

	rig_init(&r, MAX_DATUMS, 8);
	if (rig_start(&r))
		exit(1);
	r.recorder.num_dimensions = 5;
	ok(is_executed(&r, packet, count) && r.num_results == 8, "E13 a result of 8 datums fits");
	r.recorder.num_dimensions = 6;
	ok(is_refused(&r, packet, count) && r.status == NNHAL_STATUS_GENERAL_FAILURE &&
	   r.num_results == 2, "E13 one of 9 is replaced by GENERAL_FAILURE");
	r.recorder.num_dimensions = 5;
	ok(is_executed(&r, packet, count), "E13 the burst goes on");
	rig_fini(&r);
}

/* The ring is filled with ones first: what is zero afterwards was written. */
static void test_padding(void)
{
	request_datum packet[MAX_DATUMS];
	int count = good_request(packet), i;
	unsigned int set = 0;
	struct rig r;

	rig_init(&r, MAX_DATUMS, MAX_DATUMS);
	memset(r.results->ring, 0xff, MAX_DATUMS * sizeof(result_datum));
	if (rig_start(&r))
		exit(1);
	send_packet(&r, packet, count);
	receive(&r);
	for (i = 0; i < r.num_results; i++) {
		const uint8_t *bytes = (const uint8_t *)&r.result[i];
		static const uint8_t used[] = { 12, 8, 4, 16 };
		size_t b;

		for (b = 1; b < 8; b++)
			set += bytes[b];
		for (b = 8 + used[bytes[0]]; b < sizeof(result_datum); b++)
			set += bytes[b];
		if (bytes[0] == NNHAL_BURST_RESULT_OPERAND_INFORMATION)
			set += bytes[9] + bytes[10] + bytes[11];
	}
	ok(!set && r.num_results == 5, "E14 padding of results is zero in the shared memory");
	rig_fini(&r);
}

/* ---- E15 to E19 ---- */

static void test_get_memories(void)
{
	static const int32_t many[] = { 3, 1, 3, 2, 1, 1 }, other[] = { 2, 4, 3 };
	request_datum packet[MAX_DATUMS], good[MAX_DATUMS];
	int count, num_good = good_request(good);
	struct rig r;

	rig_up(&r);
	count = make_request(packet, many, 6);
	ok(is_executed(&r, packet, count) && r.lender.calls == 1 && r.lender.num_slots == 3 &&
	   r.lender.slots[0] == 3 && r.lender.slots[1] == 1 && r.lender.slots[2] == 2,
	   "E15 unknown slots are fetched in one call, each once");
	ok(is_executed(&r, packet, count) && r.lender.calls == 1, "E16 and kept");
	count = make_request(packet, other, 3);
	ok(is_executed(&r, packet, count) && r.lender.calls == 2 && r.lender.num_slots == 1 &&
	   r.lender.slots[0] == 4, "E15 only the missing one is asked for");
	ok(r.recorder.used == r.lender.memory[2], "and the right memory used");

	count = make_request(packet, (int32_t[]){ 5, 6 }, 2);
	r.lender.status = NNHAL_STATUS_INVALID_ARGUMENT;
	ok(is_refused(&r, packet, count), "E15 getMemories with an error");
	ok(is_executed(&r, good, num_good), "E15 which concerns that request only");
	r.lender.status = NNHAL_STATUS_NONE;
	r.lender.extra = -1;
	ok(is_refused(&r, packet, count), "E15 one memory too few");
	r.lender.extra = 1;
	ok(is_refused(&r, packet, count), "E15 one too many");
	r.lender.extra = 0;
	r.recorder.add_status = NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	ok(is_refused(&r, packet, count) && r.status == NNHAL_STATUS_GENERAL_FAILURE,
	   "E15 an executor that cannot take the memory");
	r.recorder.add_status = NNHAL_STATUS_NONE;
	ok(is_executed(&r, packet, count) && r.lender.num_slots == 2, "E15 then all is well");
	rig_fini(&r);
	ok(r.recorder.adds == 6 && r.recorder.removes == 6,
	   "E22 the cache is empty when the burst has ended");
}

static void test_free_memory(void)
{
	request_datum packet[MAX_DATUMS];
	int count = good_request(packet), i;
	struct rig r;

	rig_up(&r);
	ok(is_executed(&r, packet, count) && r.recorder.used == r.lender.memory[1],
	   "E16 slot 1 is known");
	nnhal_burst_server_free_memory(r.server, 1);
	ok(r.recorder.removes == 1, "E17 freeMemory of a known slot");
	nnhal_burst_server_free_memory(r.server, 1);
	nnhal_burst_server_free_memory(r.server, 7);
	nnhal_burst_server_free_memory(r.server, -1);
	nnhal_burst_server_free_memory(r.server, INT32_MAX);
	ok(r.recorder.removes == 1, "E17 of a freed one, an unknown one, impossible ones");
	nnhal_memory_unref(r.lender.memory[1]);
	if (nnhal_memory_create(4096, &r.lender.memory[1], NULL))
		exit(1);
	ok(is_executed(&r, packet, count) && r.lender.calls == 2 &&
	   r.recorder.used == r.lender.memory[1], "E16 the slot used again is the new memory");
	for (i = 0; i < 100; i++) {
		nnhal_burst_server_free_memory(r.server, 1);
		if (!is_executed(&r, packet, count))
			break;
	}
	ok(i == 100 && r.lender.calls == 102, "E16 a hundred times");
	rig_fini(&r);
}

struct freeing {
	struct rig *rig;
	atomic_bool stop;
};

static void *free_always(void *data)
{
	struct freeing *f = data;

	while (!f->stop) {
		nnhal_burst_server_free_memory(f->rig->server, 1);
		sched_yield();
	}
	return NULL;
}

static void test_free_concurrent(void)
{
	request_datum packet[MAX_DATUMS];
	int count = good_request(packet), i, odd = 0;
	struct freeing f = { 0 };
	pthread_t thread;
	uint32_t removes;
	struct rig r;
	bool waited;

	rig_up(&r);
	f.rig = &r;
	pthread_create(&thread, NULL, free_always, &f);
	for (i = 0; i < 5000; i++) {
		send_packet(&r, packet, count);
		odd += !receive(&r) || (r.status != NNHAL_STATUS_NONE &&
					r.status != NNHAL_STATUS_INVALID_ARGUMENT);
	}
	f.stop = true;
	pthread_join(thread, NULL);
	ok(!odd, "E17 freeMemory while requests run");
	/* Serialised: it returns after the request that runs. */
	if (!is_executed(&r, packet, count))
		odd++;
	r.recorder.hold = true;
	send_packet(&r, packet, count);
	while (!r.recorder.holding)
		usleep(100);
	f.stop = false;
	removes = r.recorder.removes;
	pthread_create(&thread, NULL, free_always, &f);
	usleep(10000);
	f.stop = true;
	waited = r.recorder.removes == removes && r.recorder.used == r.lender.memory[1];
	r.recorder.hold = false;
	pthread_join(thread, NULL);
	ok(receive(&r) && !r.status && waited, "E17 freeMemory waits for a request that runs");
	rig_fini(&r);
}

static void test_statuses(void)
{
	static const struct { enum nnhal_status from, to; } cases[] = {
		{ NNHAL_STATUS_DEVICE_UNAVAILABLE, NNHAL_STATUS_DEVICE_UNAVAILABLE },
		{ NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE, NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE },
		{ NNHAL_STATUS_INVALID_ARGUMENT, NNHAL_STATUS_INVALID_ARGUMENT },
		{ NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT, NNHAL_STATUS_GENERAL_FAILURE },
		{ NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT, NNHAL_STATUS_GENERAL_FAILURE },
		{ NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT, NNHAL_STATUS_GENERAL_FAILURE },
		{ NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT, NNHAL_STATUS_GENERAL_FAILURE },
		{ NNHAL_STATUS_DEAD_OBJECT, NNHAL_STATUS_GENERAL_FAILURE },
	};
	request_datum packet[MAX_DATUMS];
	int count = good_request(packet);
	unsigned int i, wrong = 0;
	struct rig r;

	rig_up(&r);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		r.recorder.status = cases[i].from;
		send_packet(&r, packet, count);
		wrong += !receive(&r) || r.status != cases[i].to ||
			 r.timing.time_in_driver != NNHAL_NO_TIMING ||
			 (r.num_shapes == 1) !=
			 (cases[i].to == NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE);
	}
	ok(!wrong, "E19 statuses of 1.3 arrive as GENERAL_FAILURE, others as they are");
	rig_fini(&r);
}

int main(void)
{
	test_create();
	test_execute();
	test_mutations();
	test_malformed();
	test_pools();
	test_small_results();
	test_padding();
	test_get_memories();
	test_free_memory();
	test_free_concurrent();
	test_statuses();
	return tap_done();
}
