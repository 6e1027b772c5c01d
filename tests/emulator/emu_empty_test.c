// SPDX-License-Identifier: MIT
/*
 * Tensors without elements on the device, which only operations make: FILL commands compute all operands of
 * an operation, one dimension of which is 0 and the others as large as they can be. Each job ends, the
 * device reaches points often enough on the way, and it serves the next job.
 *
 * As in ops_empty_test, which has many more shapes, basic blocks of operations are counted, and no clock
 * decides. A job that has much to do ends by the limit of its context.
 *
 *   NNPU_EMPTY_ALL	the shapes of ops_empty_test
 *
 * With the number of a call of the list it makes that one.
 */
#include <endian.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../ops/empty_calls.h"
#include "ops/op.h"
#include "rig.h"
#include "tap.h"
#include "tflite/tflite_ops.h"

/* Sanitizers add blocks. */
#if defined(__SANITIZE_ADDRESS__)
#define MORE		4
#else
#define MORE		1
#endif

/* As in ops_empty_test. */
#define MAX_GAP		(MORE * 2000000u)

enum { PROGRAM = 1, QID = 1, ZEROS = 2 };

#define TFLITE_FILL	EXTENSION_CODE(tflite_extension_index, 94)

static struct rig rig;
static struct job_rig j;

/* Basic blocks of this thread since its last point. */
static _Thread_local unsigned long blocks;
/* What runs, for who finds that it has no points. */
static const char *_Atomic running;

void __sanitizer_cov_trace_pc(void);
bool __real_op_progress(struct job_progress *p);
bool __wrap_op_progress(struct job_progress *p);
int __real_op_execute(const struct op_call *c);
int __wrap_op_execute(const struct op_call *c);

void __sanitizer_cov_trace_pc(void)
{
	const char *text;

	if (++blocks != MAX_GAP)
		return;
	/* It may never come back. */
	text = atomic_load(&running);
	printf("Bail out! no point: %s\n", text ? text : "nothing runs");
	_exit(1);
}

bool __wrap_op_progress(struct job_progress *p)
{
	blocks = 0;
	return __real_op_progress(p);
}

/* Between two operations the executor counts. */
int __wrap_op_execute(const struct op_call *c)
{
	blocks = 0;
	return __real_op_execute(c);
}

static bool start_device(void)
{
	struct nnpu_inproc_config config;

	rig_config(&config);
	config.props.num_engines = 1;
	config.props.memory_size = 1u << 30;
	config.props.max_operand_size = EMPTY_CALL_BYTES;
	config.props.examples = true;
	rig_open(&rig, &config);
	rig.ctx_attrs.time_limit_ns = htole64(20000000);
	if (!rig_enable(&rig) || !job_rig_init(&j, &rig, 1, QID))
		return false;
	rig_slot(&j.slots[ZEROS], rig_alloc(&rig, EMPTY_CALL_BYTES), EMPTY_CALL_BYTES,
		 NNPU_SLOT_VALID | NNPU_SLOT_READ);
	return true;
}

/* Programs. */

static uint64_t bytes_of(const struct large_operand *o)
{
	uint64_t bytes = type_size(o->type);

	for (unsigned int d = 0; d < o->rank; d++) {
		if (o->dims[d] == 0)
			return 0;
	}
	for (unsigned int d = 0; d < o->rank; d++)
		bytes = bytes > UINT64_MAX / o->dims[d] ? UINT64_MAX : bytes * o->dims[d];
	return bytes;
}

static void set_quant(struct image *im, uint32_t tensor, const struct large_operand *o)
{
	memcpy(&im->tensors[tensor].scale, &o->scale, sizeof(o->scale));
	im->tensors[tensor].zero_point = htole32((uint32_t)o->zero_point);
}

static enum nnpu_type scalar_of(enum nnpu_type type)
{
	return type == NNPU_TYPE_TENSOR_FLOAT32 ? NNPU_TYPE_FLOAT32 :
	       type == NNPU_TYPE_TENSOR_FLOAT16 ? NNPU_TYPE_FLOAT16 : NNPU_TYPE_INT32;
}

/* The tensor is what a FILL computes: the HAL's if it has the type. */
static void add_fill(struct image *im, uint32_t tensor, const struct large_operand *o)
{
	bool hal = o->type == NNPU_TYPE_TENSOR_FLOAT32 || o->type == NNPU_TYPE_TENSOR_FLOAT16 ||
		   o->type == NNPU_TYPE_TENSOR_INT32;
	int64_t integer = o->value >= 0x1p31F ? INT32_MAX : (int64_t)o->value;
	uint8_t bytes[8] = { 0 };
	uint32_t shape, value;

	if (o->type == NNPU_TYPE_TENSOR_FLOAT32)
		memcpy(bytes, &o->value, sizeof(o->value));
	else
		memcpy(bytes, &integer, sizeof(integer));
	shape = image_const(im, NNPU_TYPE_TENSOR_INT32, o->rank, o->dims, o->rank * sizeof(*o->dims));
	if (hal) {
		value = image_const(im, scalar_of(o->type), 0, bytes, type_size(o->type));
		im->tensors[value].rank = 0;
	} else {
		value = image_const(im, o->type, 1, bytes, type_size(o->type));
		set_quant(im, value, o);
	}
	image_command(im, hal ? NNPU_OP_FILL : TFLITE_FILL, 2, 1, shape, value, tensor);
}

/* No FILL makes these types: they are constants. */
static bool is_fillable(enum nnpu_type type)
{
	return type != NNPU_TYPE_TENSOR_QUANT8_SYMM && type != NNPU_TYPE_TENSOR_QUANT16_ASYMM;
}

/* Returns its tensor. */
static uint32_t add_operand(struct image *im, const struct large_operand *o)
{
	struct nnpu_tensor_desc *d = &im->tensors[im->num_tensors];
	uint32_t tensor = im->num_tensors;

	switch (o->kind) {
	case LARGE_TENSOR:
		break;
	case LARGE_OMITTED:
		tensor = image_omitted(im, o->type);
		im->tensors[tensor].rank = 1;
		im->tensors[tensor].dims[0] = htole32(1);
		set_quant(im, tensor, o);
		return tensor;
	case LARGE_SCALAR:
	case LARGE_LIST:
		tensor = image_const(im, o->type, 0, o->list, bytes_of(o));
		im->tensors[tensor].rank = (uint8_t)o->rank;
		for (unsigned int i = 0; i < o->rank; i++)
			im->tensors[tensor].dims[i] = htole32(o->dims[i]);
		return tensor;
	}
	image_tensor(im, o->type, o->output ? NNPU_TENSOR_OUTPUT : is_fillable(o->type) ?
		     NNPU_TENSOR_TEMPORARY : NNPU_TENSOR_SLOT, -1);
	set_quant(im, tensor, o);
	if (d->kind == NNPU_TENSOR_SLOT) {
		d->slot = htole32(ZEROS);
		d->data_len = htole64(bytes_of(o));
		d->rank = (uint8_t)o->rank;
		for (unsigned int i = 0; i < o->rank; i++)
			d->dims[i] = htole32(o->dims[i]);
	} else if (!type_is_scalar(o->type)) {
		d->flags = htole32(NNPU_TENSOR_UNKNOWN_RANK);
	}
	if (!o->output && d->kind == NNPU_TENSOR_TEMPORARY)
		add_fill(im, tensor, o);
	return tensor;
}

/* Returns the number of outputs. */
static unsigned int make_image(const struct large_call *call, const struct large_operand *operands,
			       unsigned int n, struct image *im)
{
	uint32_t tensors[LARGE_MAX_OPERANDS];
	unsigned int outputs = 0;

	image_init(im);
	for (unsigned int i = 0; i < n; i++) {
		tensors[i] = add_operand(im, &operands[i]);
		outputs += operands[i].output;
	}
	image_command_list(im, call->op, n - outputs, outputs, tensors);
	image_finish(im);
	return outputs;
}

/* Jobs. */

/* All that are made from one line of the list. */
struct group {
	const struct empty_call *call;
	unsigned int jobs, succeeded, refused, limited, bad;
};

static bool may_be_made(const struct large_operand *operands, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (operands[i].kind == LARGE_TENSOR && !operands[i].output &&
		    !is_fillable(operands[i].type) &&
		    (!bytes_of(&operands[i]) || bytes_of(&operands[i]) > EMPTY_CALL_BYTES))
			return false;
	}
	return true;
}

static void visit(const struct large_call *call, void *data)
{
	static struct large_operand operands[LARGE_MAX_OPERANDS];
	unsigned int n = large_call_read(call, operands), outputs;
	struct group *group = data;
	static struct image im;
	struct nnpu_arg *args;
	struct nnpu_cqe cqe;
	int status;

	if (!may_be_made(operands, n))
		return;
	outputs = make_image(call, operands, n, &im);
	status = rig_load(&rig, 1, PROGRAM, im.bytes, im.size, &cqe);
	image_free(&im);
	group->jobs++;
	/* Scalars and lists that do not suit. */
	if (status == NNPU_STATUS_PROGRAM_COMMAND) {
		group->refused++;
		return;
	}
	args = job_args(&j, 0, outputs);
	for (unsigned int i = 0; i < outputs; i++)
		job_arg(&args[i], 1, 0, j.operands_size);
	atomic_store(&running, call->operands);
	if (!status)
		status = job_execute(&j, PROGRAM, &cqe);
	atomic_store(&running, NULL);
	switch (status) {
	case NNPU_STATUS_SUCCESS:
	case NNPU_STATUS_OUTPUT_INSUFFICIENT:
		group->succeeded++;
		break;
	case NNPU_STATUS_OP_FAILED:
	/* One dimension of an operation's own tables is as large as the others. */
	case NNPU_STATUS_NO_MEMORY:
		group->refused++;
		break;
	case NNPU_STATUS_TIME_LIMIT:
		group->limited++;
		break;
	default:
		group->bad++;
		tap_note("%s: status 0x%x reason %u error %u operand %u", call->operands,
			 (unsigned int)status, le16toh(cqe.reason), le32toh(cqe.error),
			 le16toh(cqe.operand));
		/* There is nothing to go on with. */
		if (status < 0) {
			printf("Bail out! a job does not end\n");
			_exit(1);
		}
	}
	rig_unload(&rig, 1, PROGRAM);
}

int main(int argc, char **argv)
{
	unsigned int only = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : num_empty_calls;
	const char *missing = empty_call_missing();

	if (!start_device()) {
		printf("Bail out! the device does not start\n");
		return 1;
	}
	ok(!missing, "every operation has a call%s%s", missing ? ", but not " : "", missing ? missing : "");
	for (unsigned int i = 0; i < num_empty_calls; i++) {
		struct group group = { .call = &empty_calls[i] };

		if (only != num_empty_calls && only != i)
			continue;
		empty_call_each(group.call, !getenv("NNPU_EMPTY_ALL"), visit, &group);
		ok(!group.bad && (group.succeeded + group.limited || group.call->refuses || !group.jobs),
		   "%u %s, %s: of %u jobs %u succeeded, %u were refused, %u ended by the limit", i,
		   op_name(group.call->op), group.call->operands, group.jobs, group.succeeded,
		   group.refused, group.limited);
	}
	rig_close(&rig);
	return tap_done();
}
