// SPDX-License-Identifier: MIT
/*
 * Request and result packets of bursts over message queues.
 *
 * Every datum is zeroed before it is filled in, so that padding and unused bytes of the union
 * leak nothing. Packets are parsed in private copies. Counts in them are not trusted: each
 * step reads only datums that were received.
 */
#include <errno.h>
#include <string.h>

#include <nnhal/burst_fmq.h>

#include "base/hal_version.h"

_Static_assert(sizeof(struct nnhal_burst_request_datum) == 24, "FmqRequestDatum");
_Static_assert(offsetof(struct nnhal_burst_request_datum, words) == 4, "FmqRequestDatum");
_Static_assert(sizeof(struct nnhal_burst_operand_information) == 20, "OperandInformation");
_Static_assert(sizeof(struct nnhal_burst_result_datum) == 24, "FmqResultDatum");
_Static_assert(offsetof(struct nnhal_burst_result_datum, words) == 8, "FmqResultDatum");

/* ---- serializing requests ---- */

struct request_writer {
	struct nnhal_burst_request_datum *packet;
	uint32_t room;
	uint32_t count;
};

/* The next datum, zeroed; NULL if there is no room. */
static struct nnhal_burst_request_datum *next_request(struct request_writer *w, uint8_t kind)
{
	struct nnhal_burst_request_datum *datum;

	if (w->count == w->room)
		return NULL;
	datum = &w->packet[w->count++];
	memset(datum, 0, sizeof(*datum));
	datum->kind = kind;
	return datum;
}

static int put_argument(struct request_writer *w, const struct nnhal_request_argument *arg,
			uint8_t kind)
{
	struct nnhal_burst_request_datum *datum = next_request(w, kind);
	uint32_t i;

	if (!datum)
		return -EMSGSIZE;
	if (arg->num_dimensions && !arg->dimensions)
		return -EINVAL;
	datum->operand.has_no_value = arg->has_no_value;
	datum->operand.location = arg->location;
	datum->operand.number_of_dimensions = arg->num_dimensions;
	for (i = 0; i < arg->num_dimensions; i++) {
		/* The kind of a dimension follows that of its operand. */
		datum = next_request(w, (uint8_t)(kind + 1));
		if (!datum)
			return -EMSGSIZE;
		datum->dimension = arg->dimensions[i];
	}
	return 0;
}

static int put_arguments(struct request_writer *w, const struct nnhal_request_argument *args,
			 uint32_t count, uint8_t kind)
{
	uint32_t i;
	int err = count && !args ? -EINVAL : 0;

	for (i = 0; i < count && !err; i++)
		err = put_argument(w, &args[i], kind);
	return err;
}

static int put_request_end(struct request_writer *w, const int32_t *slots, uint32_t count,
			   int32_t measure)
{
	struct nnhal_burst_request_datum *datum;
	uint32_t i;

	if (count && !slots)
		return -EINVAL;
	for (i = 0; i < count; i++) {
		datum = next_request(w, NNHAL_BURST_REQUEST_POOL_IDENTIFIER);
		if (!datum)
			return -EMSGSIZE;
		datum->pool = slots[i];
	}
	datum = next_request(w, NNHAL_BURST_REQUEST_MEASURE_TIMING);
	if (!datum)
		return -EMSGSIZE;
	datum->measure = measure;
	return 0;
}

int nnhal_burst_serialize_request(const struct nnhal_request *request, const int32_t *slots,
				  int32_t measure, struct nnhal_burst_request_datum *packet,
				  uint32_t room)
{
	struct request_writer w = { .packet = packet, .room = room };
	struct nnhal_burst_request_datum *head;
	int err;

	if (!request || !packet || !layout_is_known(request->hal_version, "request", NULL))
		return -EINVAL;
	head = next_request(&w, NNHAL_BURST_REQUEST_PACKET_INFORMATION);
	if (!head)
		return -EMSGSIZE;
	head->information.number_of_inputs = request->num_inputs;
	head->information.number_of_outputs = request->num_outputs;
	head->information.number_of_pools = request->num_pools;
	err = put_arguments(&w, request->inputs, request->num_inputs,
			    NNHAL_BURST_REQUEST_INPUT_OPERAND_INFORMATION);
	if (!err)
		err = put_arguments(&w, request->outputs, request->num_outputs,
				    NNHAL_BURST_REQUEST_OUTPUT_OPERAND_INFORMATION);
	if (!err)
		err = put_request_end(&w, slots, request->num_pools, measure);
	if (err)
		return err;
	head->information.packet_size = w.count;
	return (int)w.count;
}

/* ---- parsing requests ---- */

struct request_reader {
	const struct nnhal_burst_request_datum *packet;
	uint32_t count;
	uint32_t next;
	struct nnhal_burst_parsed_request *parsed;
	uint32_t num_arguments;
	uint32_t num_dimensions;
};

/* The next datum if it was received and is of this kind, else NULL. */
static const struct nnhal_burst_request_datum *take_request(struct request_reader *r,
							    uint8_t kind)
{
	if (r->next >= r->count || r->packet[r->next].kind != kind)
		return NULL;
	return &r->packet[r->next++];
}

/*
 * Each stored element takes one received datum, and there is room for as many: with a count
 * that is too large, parsing fails at the end of the packet.
 */
static int take_argument(struct request_reader *r, uint8_t kind)
{
	const struct nnhal_burst_request_datum *datum = take_request(r, kind);
	struct nnhal_request_argument *arg;
	uint32_t i, num_dimensions;

	if (!datum || datum->operand.has_no_value > 1)
		return -EBADMSG;
	num_dimensions = datum->operand.number_of_dimensions;
	arg = &r->parsed->arguments[r->num_arguments++];
	arg->has_no_value = datum->operand.has_no_value;
	arg->location = datum->operand.location;
	arg->num_dimensions = num_dimensions;
	arg->dimensions = &r->parsed->dimensions[r->num_dimensions];
	for (i = 0; i < num_dimensions; i++) {
		datum = take_request(r, (uint8_t)(kind + 1));
		if (!datum)
			return -EBADMSG;
		r->parsed->dimensions[r->num_dimensions++] = datum->dimension;
	}
	return 0;
}

static int take_arguments(struct request_reader *r, uint32_t count, uint8_t kind)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < count && !err; i++)
		err = take_argument(r, kind);
	return err;
}

static int take_request_end(struct request_reader *r, uint32_t num_pools)
{
	const struct nnhal_burst_request_datum *datum;
	uint32_t i;

	for (i = 0; i < num_pools; i++) {
		datum = take_request(r, NNHAL_BURST_REQUEST_POOL_IDENTIFIER);
		if (!datum)
			return -EBADMSG;
		r->parsed->slots[i] = datum->pool;
	}
	datum = take_request(r, NNHAL_BURST_REQUEST_MEASURE_TIMING);
	if (!datum || r->next != r->count)
		return -EBADMSG;
	r->parsed->measure = datum->measure;
	return 0;
}

int nnhal_burst_parse_request(const struct nnhal_burst_request_datum *packet, uint32_t count,
			      struct nnhal_burst_parsed_request *parsed)
{
	struct request_reader r = { .packet = packet, .count = count, .parsed = parsed };
	const struct nnhal_burst_request_datum *head;
	const struct nnhal_burst_request_information *info;
	int err;

	parsed->num_inputs = 0;
	parsed->num_outputs = 0;
	parsed->num_pools = 0;
	head = take_request(&r, NNHAL_BURST_REQUEST_PACKET_INFORMATION);
	if (!head || head->information.packet_size != count)
		return -EBADMSG;
	info = &head->information;
	err = take_arguments(&r, info->number_of_inputs,
			     NNHAL_BURST_REQUEST_INPUT_OPERAND_INFORMATION);
	if (!err)
		err = take_arguments(&r, info->number_of_outputs,
				     NNHAL_BURST_REQUEST_OUTPUT_OPERAND_INFORMATION);
	if (!err)
		err = take_request_end(&r, info->number_of_pools);
	if (err)
		return err;
	parsed->num_inputs = info->number_of_inputs;
	parsed->num_outputs = info->number_of_outputs;
	parsed->num_pools = info->number_of_pools;
	return 0;
}

/* ---- serializing results ---- */

struct result_writer {
	struct nnhal_burst_result_datum *packet;
	uint32_t room;
	uint32_t count;
};

static struct nnhal_burst_result_datum *next_result(struct result_writer *w, uint8_t kind)
{
	struct nnhal_burst_result_datum *datum;

	if (w->count == w->room)
		return NULL;
	datum = &w->packet[w->count++];
	memset(datum, 0, sizeof(*datum));
	datum->kind = kind;
	return datum;
}

static int put_shape(struct result_writer *w, const struct nnhal_output_shape *shape)
{
	struct nnhal_burst_result_datum *datum =
		next_result(w, NNHAL_BURST_RESULT_OPERAND_INFORMATION);
	uint32_t i;

	if (!datum)
		return -EMSGSIZE;
	datum->shape.is_sufficient = shape->is_sufficient;
	datum->shape.number_of_dimensions = shape->num_dimensions;
	for (i = 0; i < shape->num_dimensions; i++) {
		datum = next_result(w, NNHAL_BURST_RESULT_OPERAND_DIMENSION);
		if (!datum)
			return -EMSGSIZE;
		datum->dimension = shape->dimensions[i];
	}
	return 0;
}

static bool status_has_shapes(enum nnhal_status status)
{
	return status == NNHAL_STATUS_NONE || status == NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE;
}

/* A status as packets carry it: one of the HAL 1.2. */
static enum nnhal_status packet_status(enum nnhal_status status)
{
	status = nnhal_status_for_version(status, NNHAL_HAL_1_2);
	/* Statuses of the library. */
	return status > NNHAL_STATUS_INVALID_ARGUMENT ? NNHAL_STATUS_GENERAL_FAILURE : status;
}

int nnhal_burst_serialize_result(enum nnhal_status status,
				 const struct nnhal_output_shape *output_shapes,
				 uint32_t num_output_shapes, const struct nnhal_timing *timing,
				 struct nnhal_burst_result_datum *packet, uint32_t room)
{
	struct result_writer w = { .packet = packet, .room = room };
	uint32_t i, num_shapes;
	struct nnhal_burst_result_datum *head, *tail;

	status = packet_status(status);
	num_shapes = status_has_shapes(status) && output_shapes ? num_output_shapes : 0;
	head = next_result(&w, NNHAL_BURST_RESULT_PACKET_INFORMATION);
	if (!head)
		return -EMSGSIZE;
	for (i = 0; i < num_shapes; i++)
		if (put_shape(&w, &output_shapes[i]))
			return -EMSGSIZE;
	tail = next_result(&w, NNHAL_BURST_RESULT_EXECUTION_TIMING);
	if (!tail)
		return -EMSGSIZE;
	tail->timing.time_on_device = NNHAL_NO_TIMING;
	tail->timing.time_in_driver = NNHAL_NO_TIMING;
	if (status == NNHAL_STATUS_NONE && timing)
		tail->timing = *timing;
	head->information.packet_size = w.count;
	head->information.error_status = status;
	head->information.number_of_operands = num_shapes;
	return (int)w.count;
}

/* ---- parsing results ---- */

struct result_reader {
	const struct nnhal_burst_result_datum *packet;
	uint32_t count;
	uint32_t next;
};

static const struct nnhal_burst_result_datum *take_result(struct result_reader *r, uint8_t kind)
{
	if (r->next >= r->count || r->packet[r->next].kind != kind)
		return NULL;
	return &r->packet[r->next++];
}

static int take_shape(struct result_reader *r, struct nnhal_output_shape *shape)
{
	const struct nnhal_burst_result_datum *datum =
		take_result(r, NNHAL_BURST_RESULT_OPERAND_INFORMATION);
	uint32_t i;

	if (!datum || datum->shape.number_of_dimensions > NNHAL_MAX_RANK)
		return -EBADMSG;
	memset(shape, 0, sizeof(*shape));
	shape->is_sufficient = datum->shape.is_sufficient;
	shape->num_dimensions = datum->shape.number_of_dimensions;
	for (i = 0; i < shape->num_dimensions; i++) {
		datum = take_result(r, NNHAL_BURST_RESULT_OPERAND_DIMENSION);
		if (!datum)
			return -EBADMSG;
		shape->dimensions[i] = datum->dimension;
	}
	return 0;
}

int nnhal_burst_parse_result(const struct nnhal_burst_result_datum *packet, uint32_t count,
			     enum nnhal_status *status,
			     struct nnhal_output_shape *output_shapes, uint32_t room,
			     uint32_t *num_output_shapes, struct nnhal_timing *timing)
{
	struct result_reader r = { .packet = packet, .count = count };
	const struct nnhal_burst_result_datum *head, *tail;
	uint32_t i;

	*status = NNHAL_STATUS_GENERAL_FAILURE;
	*num_output_shapes = 0;
	timing->time_on_device = NNHAL_NO_TIMING;
	timing->time_in_driver = NNHAL_NO_TIMING;
	head = take_result(&r, NNHAL_BURST_RESULT_PACKET_INFORMATION);
	if (!head || head->information.packet_size != count ||
	    head->information.error_status < NNHAL_STATUS_NONE ||
	    head->information.error_status > NNHAL_STATUS_INVALID_ARGUMENT ||
	    head->information.number_of_operands > room)
		return -EBADMSG;
	for (i = 0; i < head->information.number_of_operands; i++)
		if (take_shape(&r, &output_shapes[i]))
			return -EBADMSG;
	tail = take_result(&r, NNHAL_BURST_RESULT_EXECUTION_TIMING);
	if (!tail || r.next != count)
		return -EBADMSG;
	*status = (enum nnhal_status)head->information.error_status;
	if (status_has_shapes(*status))
		*num_output_shapes = head->information.number_of_operands;
	if (*status == NNHAL_STATUS_NONE)
		*timing = tail->timing;
	return 0;
}
