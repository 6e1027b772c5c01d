// SPDX-License-Identifier: MIT
/*
 * Packets of bursts over message queues: what is in them, and what is refused.
 *
 * Names begin with the line of the conformance list that is tested.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nnhal_fixture.h"

#define MAX_DATUMS	64

typedef struct nnhal_burst_request_datum request_datum;
typedef struct nnhal_burst_result_datum result_datum;

static const uint32_t dims2[] = { 3, 5 }, dims1[] = { 7 };
static const struct nnhal_request_argument inputs[] = {
	{ .location = { 0, 16, 60 }, .num_dimensions = 2, .dimensions = dims2 },
	{ .has_no_value = true },
	{ .location = { 1, 0, 28 }, .num_dimensions = 1, .dimensions = dims1 },
};
static const struct nnhal_request_argument outputs[] = {
	{ .location = { 1, 64, 60 }, .num_dimensions = 2, .dimensions = dims2 },
	{ .location = { 1, 128, 4 } },
};
static const struct nnhal_request request = {
	.num_inputs = 3, .num_outputs = 2, .num_pools = 2, .inputs = inputs, .outputs = outputs,
};
static const int32_t slots[] = { 11, 4 };

/* Room for what a packet of @count datums can say, and not a byte more. */
struct parse_room {
	struct nnhal_burst_parsed_request parsed;
	request_datum *packet;
};

static void room_init(struct parse_room *r, const request_datum *packet, uint32_t count)
{
	memset(r, 0, sizeof(*r));
	r->packet = malloc(count * sizeof(*packet));
	r->parsed.arguments = malloc(count * sizeof(*r->parsed.arguments));
	r->parsed.dimensions = malloc(count * sizeof(*r->parsed.dimensions));
	r->parsed.slots = malloc(count * sizeof(*r->parsed.slots));
	if (count && (!r->packet || !r->parsed.arguments || !r->parsed.dimensions ||
		      !r->parsed.slots))
		exit(1);
	if (count)
		memcpy(r->packet, packet, count * sizeof(*packet));
}

static void room_fini(struct parse_room *r)
{
	free(r->packet);
	free(r->parsed.arguments);
	free(r->parsed.dimensions);
	free(r->parsed.slots);
}

static int parse(const request_datum *packet, uint32_t count)
{
	struct parse_room r;
	int err;

	room_init(&r, packet, count);
	err = nnhal_burst_parse_request(r.packet, count, &r.parsed);
	room_fini(&r);
	return err;
}

static int make(request_datum *packet)
{
	memset(packet, 0xff, MAX_DATUMS * sizeof(*packet));
	return nnhal_burst_serialize_request(&request, slots, NNHAL_MEASURE_YES, packet,
					     MAX_DATUMS);
}

static void test_request_packet(void)
{
	static const uint8_t kinds[] = { 0, 1, 2, 2, 1, 1, 2, 3, 4, 4, 3, 5, 5, 6 };
	request_datum packet[MAX_DATUMS];
	int i, wrong = 0, count = make(packet);

	ok(count == 14, "E04 2 + 3 inputs + 2 outputs + 2 pools + 5 dimensions: %d datums", count);
	ok(packet[0].information.packet_size == 14 && packet[0].information.number_of_inputs == 3 &&
	   packet[0].information.number_of_outputs == 2 &&
	   packet[0].information.number_of_pools == 2, "E02 packetInformation");
	for (i = 0; i < count; i++)
		wrong += packet[i].kind != kinds[i];
	ok(!wrong, "E02 kinds in their order");
	ok(packet[1].operand.location.offset == 16 && packet[1].operand.location.length == 60 &&
	   packet[1].operand.number_of_dimensions == 2 && !packet[1].operand.has_no_value &&
	   packet[2].dimension == 3 && packet[3].dimension == 5, "E02 an input and its dimensions");
	ok(packet[4].operand.has_no_value == 1, "E02 hasNoValue");
	ok(packet[11].pool == 11 && packet[12].pool == 4 && packet[13].measure == 1,
	   "E02 pools and measureTiming");
	for (i = 0; i < 14; i++)
		if (nnhal_burst_serialize_request(&request, slots, 0, packet, (uint32_t)i) !=
		    -EMSGSIZE)
			wrong++;
	ok(!wrong, "E20 a packet that does not fit is not made");
}

/* All bytes of a datum that carry nothing are zero. */
static bool request_padding_zero(const request_datum *d)
{
	static const uint8_t used[] = { 16, 20, 4, 20, 4, 4, 4 };
	const uint8_t *bytes = (const uint8_t *)d->words;
	size_t i;

	if (d->padding[0] | d->padding[1] | d->padding[2])
		return false;
	if ((d->kind == 1 || d->kind == 3) &&
	    (d->operand.padding[0] | d->operand.padding[1] | d->operand.padding[2]))
		return false;
	for (i = used[d->kind]; i < sizeof(d->words); i++)
		if (bytes[i])
			return false;
	return true;
}

static void test_request_padding(void)
{
	request_datum packet[MAX_DATUMS];
	int i, wrong = 0, count = make(packet);

	for (i = 0; i < count; i++)
		wrong += !request_padding_zero(&packet[i]);
	ok(!wrong, "E14 padding and unused bytes of request datums are zero");
}

static void test_parse(void)
{
	request_datum packet[MAX_DATUMS];
	struct parse_room r;
	int count = make(packet);

	room_init(&r, packet, (uint32_t)count);
	ok(!nnhal_burst_parse_request(r.packet, (uint32_t)count, &r.parsed), "a good packet");
	ok(r.parsed.num_inputs == 3 && r.parsed.num_outputs == 2 && r.parsed.num_pools == 2 &&
	   r.parsed.measure == 1 && r.parsed.slots[0] == 11 && r.parsed.slots[1] == 4,
	   "counts, slots, measure");
	ok(!memcmp(&r.parsed.arguments[0].location, &inputs[0].location, 12) &&
	   r.parsed.arguments[0].num_dimensions == 2 &&
	   r.parsed.arguments[0].dimensions[0] == 3 && r.parsed.arguments[0].dimensions[1] == 5 &&
	   r.parsed.arguments[1].has_no_value && !r.parsed.arguments[1].num_dimensions &&
	   r.parsed.arguments[2].dimensions[0] == 7, "inputs");
	ok(r.parsed.arguments[3].dimensions[1] == 5 &&
	   r.parsed.arguments[4].location.offset == 128, "outputs");
	room_fini(&r);
}

static void test_malformed(void)
{
	request_datum packet[MAX_DATUMS], bad[MAX_DATUMS];
	int count = make(packet), i, kind, wrong = 0;

	ok(parse(packet, 0) == -EBADMSG, "E05 an empty packet");
	ok(parse(packet + 1, (uint32_t)count - 1) == -EBADMSG,
	   "E05 the first datum is not packetInformation");
	for (i = 1; i < count; i++)
		wrong += parse(packet, (uint32_t)i) != -EBADMSG;
	wrong += parse(packet, (uint32_t)count + 1) != -EBADMSG;
	ok(!wrong, "E05 packetSize is not the number of datums received");
	for (i = 0; i < count; i++) {
		for (kind = 0; kind < 256; kind++) {
			memcpy(bad, packet, sizeof(bad));
			bad[i].kind = (uint8_t)kind;
			wrong += kind != packet[i].kind && parse(bad, (uint32_t)count) != -EBADMSG;
		}
	}
	ok(!wrong, "E05 every wrong kind at every position");
	memcpy(bad, packet, sizeof(bad));
	bad[0].information.packet_size = (uint32_t)count + 1;
	bad[count] = packet[count - 1];
	ok(parse(bad, (uint32_t)count + 1) == -EBADMSG, "E05 a datum left over");
	memcpy(bad, packet, sizeof(bad));
	bad[1].operand.has_no_value = 2;
	ok(parse(bad, (uint32_t)count) == -EBADMSG, "E05 hasNoValue of 2");
}

/*
 * Counts with any value. The memory has the exact size, so that the sanitizer sees reads beyond
 * it.
 */
static void test_counts(void)
{
	static const uint32_t claims[] = { 0, 1, 4, 13, 14, 15, 64, 0x7fffffff, 0xffffffff };
	request_datum packet[MAX_DATUMS], bad[MAX_DATUMS];
	int count = make(packet), wrong = 0;
	size_t i, field;

	for (i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
		for (field = 1; field < 4; field++) {
			memcpy(bad, packet, sizeof(bad));
			bad[0].words[field] = claims[i];
			wrong += claims[i] != packet[0].words[field] &&
				 parse(bad, (uint32_t)count) != -EBADMSG;
		}
		for (field = 1; field < 11; field++) {
			if (packet[field].kind != 1 && packet[field].kind != 3)
				continue;
			memcpy(bad, packet, sizeof(bad));
			bad[field].operand.number_of_dimensions = claims[i];
			wrong += claims[i] != packet[field].operand.number_of_dimensions &&
				 parse(bad, (uint32_t)count) != -EBADMSG;
		}
	}
	ok(!wrong, "E06 claimed counts are refused and cause no read beyond the packet");
}

/* Random packets: all that the parser returns lies inside the packet. */
static void test_random(void)
{
	request_datum packet[24];
	struct parse_room r;
	unsigned int seed = 11, round, good = 0, wrong = 0;
	uint32_t i, count;

	for (round = 0; round < 200000; round++) {
		count = (uint32_t)rand_r(&seed) % 24;
		for (i = 0; i < count; i++) {
			unsigned int k;

			for (k = 0; k < 5; k++)
				packet[i].words[k] = (uint32_t)rand_r(&seed) % 3;
			packet[i].kind = (uint8_t)(rand_r(&seed) % 7);
			packet[i].operand.has_no_value &= 1;
		}
		packet[0].kind = 0;
		packet[0].information.packet_size = count;
		if (count)
			packet[count - 1].kind = 6;
		room_init(&r, packet, count);
		if (!nnhal_burst_parse_request(r.packet, count, &r.parsed)) {
			good++;
			wrong += r.parsed.num_inputs + r.parsed.num_outputs + r.parsed.num_pools +
				 2 > count;
		}
		room_fini(&r);
	}
	ok(!wrong && good, "E06 200000 random packets, %u of them well-formed", good);
}

/* ---- results ---- */

static const struct nnhal_output_shape shapes[] = {
	{ .num_dimensions = 2, .dimensions = { 3, 5 }, .is_sufficient = true },
	{ .num_dimensions = 0, .is_sufficient = false },
	{ .num_dimensions = NNHAL_MAX_RANK, .dimensions = { 1, 2, 3, 4, 5, 6, 7, 8 },
	  .is_sufficient = true },
};
static const struct nnhal_timing some_time = { 3, 5 };

static int make_result(enum nnhal_status status, result_datum *packet)
{
	memset(packet, 0xff, MAX_DATUMS * sizeof(*packet));
	return nnhal_burst_serialize_result(status, shapes, 3, &some_time, packet, MAX_DATUMS);
}

static bool result_padding_zero(const result_datum *d)
{
	static const uint8_t used[] = { 12, 8, 4, 16 };
	const uint8_t *bytes = (const uint8_t *)d->words;
	size_t i;

	for (i = 0; i < sizeof(d->padding); i++)
		if (d->padding[i])
			return false;
	if (d->kind == 1 && (d->shape.padding[0] | d->shape.padding[1] | d->shape.padding[2]))
		return false;
	for (i = used[d->kind]; i < sizeof(d->words); i++)
		if (bytes[i])
			return false;
	return true;
}

static void test_result_packet(void)
{
	static const uint8_t kinds[] = { 0, 1, 2, 2, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3 };
	result_datum packet[MAX_DATUMS];
	int i, wrong = 0, count = make_result(NNHAL_STATUS_NONE, packet);

	ok(count == 15, "E04 2 + 3 outputs + 10 dimensions: %d datums", count);
	ok(packet[0].information.packet_size == 15 && !packet[0].information.error_status &&
	   packet[0].information.number_of_operands == 3, "E03 packetInformation");
	for (i = 0; i < count; i++)
		wrong += packet[i].kind != kinds[i];
	ok(!wrong, "E03 kinds in their order");
	ok(packet[1].shape.is_sufficient == 1 && packet[1].shape.number_of_dimensions == 2 &&
	   packet[2].dimension == 3 && packet[4].shape.is_sufficient == 0 &&
	   packet[14].timing.time_on_device == 3 && packet[14].timing.time_in_driver == 5,
	   "E03 shapes and timing");
	for (i = 0; i < count; i++)
		wrong += !result_padding_zero(&packet[i]);
	ok(!wrong, "E14 padding and unused bytes of result datums are zero");
	for (i = 0; i < 15; i++)
		wrong += nnhal_burst_serialize_result(NNHAL_STATUS_NONE, shapes, 3, NULL, packet,
						      (uint32_t)i) != -EMSGSIZE;
	ok(!wrong, "E13 a result that does not fit is not made");
}

static void test_result_status(void)
{
	static const struct {
		enum nnhal_status from, to;
		int count;
	} cases[] = {
		{ NNHAL_STATUS_NONE, NNHAL_STATUS_NONE, 15 },
		{ NNHAL_STATUS_DEVICE_UNAVAILABLE, NNHAL_STATUS_DEVICE_UNAVAILABLE, 2 },
		{ NNHAL_STATUS_GENERAL_FAILURE, NNHAL_STATUS_GENERAL_FAILURE, 2 },
		{ NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE,
		  NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE, 15 },
		{ NNHAL_STATUS_INVALID_ARGUMENT, NNHAL_STATUS_INVALID_ARGUMENT, 2 },
		{ NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT, NNHAL_STATUS_GENERAL_FAILURE, 2 },
		{ NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT, NNHAL_STATUS_GENERAL_FAILURE, 2 },
		{ NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT, NNHAL_STATUS_GENERAL_FAILURE, 2 },
		{ NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT, NNHAL_STATUS_GENERAL_FAILURE, 2 },
		{ NNHAL_STATUS_DEAD_OBJECT, NNHAL_STATUS_GENERAL_FAILURE, 2 },
	};
	struct nnhal_output_shape out[3];
	result_datum packet[MAX_DATUMS];
	struct nnhal_timing timing;
	enum nnhal_status status;
	uint32_t num;
	size_t i;
	int n;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool none = cases[i].to == NNHAL_STATUS_NONE;
		uint64_t in_driver = none ? 5 : NNHAL_NO_TIMING;
		uint64_t on_device = none ? 3 : NNHAL_NO_TIMING;

		n = make_result(cases[i].from, packet);
		ok(n == cases[i].count &&
		   packet[n - 1].timing.time_in_driver == in_driver &&
		   !nnhal_burst_parse_result(packet, (uint32_t)n, &status, out, 3, &num,
					     &timing) &&
		   status == cases[i].to && num == (n == 15) * 3 &&
		   timing.time_on_device == on_device &&
		   (!num || !memcmp(out[2].dimensions, shapes[2].dimensions, 32)),
		   "E19 %s travels as %s", nnhal_status_name(cases[i].from),
		   nnhal_status_name(cases[i].to));
	}
}

static int parse_result(const result_datum *packet, uint32_t count)
{
	result_datum *exact = malloc(count * sizeof(*packet));
	struct nnhal_output_shape out[3];
	struct nnhal_timing timing = { 1, 1 };
	enum nnhal_status status = NNHAL_STATUS_NONE;
	uint32_t num = 99;
	int err;

	if (count && !exact)
		exit(1);
	if (count)
		memcpy(exact, packet, count * sizeof(*packet));
	err = nnhal_burst_parse_result(exact, count, &status, out, 3, &num, &timing);
	free(exact);
	/* After an error only a failure may follow. */
	if (err && (status != NNHAL_STATUS_GENERAL_FAILURE || num ||
		    timing.time_in_driver != NNHAL_NO_TIMING))
		return 1;
	return err;
}

static void test_result_malformed(void)
{
	result_datum packet[MAX_DATUMS], bad[MAX_DATUMS];
	int i, kind, wrong = 0, count = make_result(NNHAL_STATUS_NONE, packet);
	static const int32_t statuses[] = { -1, 5, 8, 100, INT32_MAX, INT32_MIN };

	for (i = 0; i < count; i++)
		wrong += parse_result(packet, (uint32_t)i) != -EBADMSG;
	for (i = 0; i < count; i++) {
		for (kind = 0; kind < 256; kind++) {
			memcpy(bad, packet, sizeof(bad));
			bad[i].kind = (uint8_t)kind;
			wrong += kind != packet[i].kind &&
				 parse_result(bad, (uint32_t)count) != -EBADMSG;
		}
	}
	ok(!wrong, "E05 result packets cut short or with wrong kinds");
	for (i = 0; i < 6; i++) {
		memcpy(bad, packet, sizeof(bad));
		bad[0].information.error_status = statuses[i];
		wrong += parse_result(bad, (uint32_t)count) != -EBADMSG;
	}
	ok(!wrong, "G11 a status out of range is a failure");
	memcpy(bad, packet, sizeof(bad));
	bad[0].information.number_of_operands = 4;
	wrong += parse_result(bad, (uint32_t)count) != -EBADMSG;
	bad[0].information.number_of_operands = 0xffffffff;
	wrong += parse_result(bad, (uint32_t)count) != -EBADMSG;
	memcpy(bad, packet, sizeof(bad));
	bad[5].shape.number_of_dimensions = 9;
	wrong += parse_result(bad, (uint32_t)count) != -EBADMSG;
	bad[5].shape.number_of_dimensions = 0xffffffff;
	wrong += parse_result(bad, (uint32_t)count) != -EBADMSG;
	ok(!wrong, "E06 counts in results beyond the caller's room or the packet");
}

/* A server that says more than its status allows. */
static void test_result_of_failure(void)
{
	static const enum nnhal_status statuses[] = {
		NNHAL_STATUS_NONE, NNHAL_STATUS_DEVICE_UNAVAILABLE, NNHAL_STATUS_GENERAL_FAILURE,
		NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE, NNHAL_STATUS_INVALID_ARGUMENT,
	};
	struct nnhal_burst_result_datum packet[3];
	struct nnhal_output_shape shapes[1];
	struct nnhal_timing timing;
	enum nnhal_status status;
	uint32_t i, num;

	for (i = 0; i < 5; i++) {
		bool has_shapes = i == 0 || i == 3, has_timing = i == 0;
		int ret;

		memset(packet, 0, sizeof(packet));
		packet[0].kind = NNHAL_BURST_RESULT_PACKET_INFORMATION;
		packet[0].information.packet_size = 3;
		packet[0].information.error_status = (int32_t)statuses[i];
		packet[0].information.number_of_operands = 1;
		packet[1].kind = NNHAL_BURST_RESULT_OPERAND_INFORMATION;
		packet[1].shape.is_sufficient = 1;
		packet[2].kind = NNHAL_BURST_RESULT_EXECUTION_TIMING;
		packet[2].timing = (struct nnhal_timing){ 1, 2 };
		timing = (struct nnhal_timing){ 7, 7 };
		num = 9;
		ret = nnhal_burst_parse_result(packet, 3, &status, shapes, 1, &num, &timing);
		ok(!ret && status == statuses[i] && num == (has_shapes ? 1 : 0) &&
		   timing.time_on_device == (has_timing ? 1 : NNHAL_NO_TIMING) &&
		   timing.time_in_driver == (has_timing ? 2 : NNHAL_NO_TIMING),
		   "I18 shapes and times with %s: %s, %s", nnhal_status_name((int)statuses[i]),
		   num ? "kept" : "dropped",
		   timing.time_in_driver == NNHAL_NO_TIMING ? "dropped" : "kept");
	}
}

int main(void)
{
	test_request_packet();
	test_request_padding();
	test_parse();
	test_malformed();
	test_counts();
	test_random();
	test_result_packet();
	test_result_status();
	test_result_malformed();
	test_result_of_failure();
	return tap_done();
}
