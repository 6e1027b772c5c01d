// SPDX-License-Identifier: MIT
/*
 * Where two faults meet, the device reports the one that its specification checks first: all
 * pairs of the rules of a program's header, tensors and commands, and of a job's arguments.
 */
#include <endian.h>
#include <stddef.h>
#include <string.h>

#include "rig.h"
#include "tap.h"

#define CTX	1u
#define PROGRAM	7u
#define N	4u

static struct rig rig;
static struct job_rig j;
static struct image im;

/* A field gets a value that one rule forbids. Faults stand in the order of their rules. */
struct fault {
	const char *text;
	unsigned int offset, bytes;
	uint64_t value;
	unsigned int status, reason;
	uint32_t error;
};

static void inject(uint8_t *record, const struct fault *f)
{
	uint64_t le = htole64(f->value);

	memcpy(record + f->offset, &le, f->bytes);
}

static bool overlap(const struct fault *a, const struct fault *b)
{
	return a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

/* Tensors: 0, 1 inputs, 2 output, 3 scalar, 4 temporary, 5 constant. 4 = 0 + 1; 2 = 4 + 5. */
static void build(void)
{
	const float values[N] = { 1, 2, 3, 4 };

	image_init(&im);
	image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, N, -1);
	image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, N, -1);
	image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, N, -1);
	image_scalar(&im, 0);
	image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_TEMPORARY, N, -1);
	image_const(&im, NNPU_TYPE_TENSOR_FLOAT32, N, values, sizeof(values));
	image_command(&im, NNPU_OP_ADD, 3, 1, 0u, 1u, 3u, 4u);
	image_command(&im, NNPU_OP_ADD, 3, 1, 4u, 5u, 3u, 2u);
	image_finish(&im);
}

/* The image is refused for the fault @f, with @error. */
static bool refused_for(const struct fault *f, uint32_t error)
{
	struct nnpu_cqe cqe;
	int got = rig_load(&rig, CTX, 1, im.bytes, im.size, &cqe);

	if (!got)
		rig_unload(&rig, CTX, 1);
	image_free(&im);
	return got == (int)f->status && le16toh(cqe.reason) == f->reason &&
	       le32toh(cqe.error) == error;
}

/* Where faults go, and how they show. */
struct place {
	const char *name;
	void (*build)(void);		/* without a fault */
	uint8_t *(*record)(void);
	bool (*refused_for)(const struct fault *f, uint32_t error);
	uint32_t error;
};

static uint8_t *the_header(void)
{
	return im.bytes;
}

static uint8_t *the_tensor(void)
{
	return (uint8_t *)image_desc(&im, 1);
}

static uint8_t *the_command(void)
{
	return (uint8_t *)image_cmd(&im, 1);
}

/* Each pair of faults of one record. */
static void test_pairs(const struct place *p, const struct fault *faults, unsigned int count)
{
	unsigned int a, b, pairs = 0;

	for (a = 0; a < count; a++) {
		p->build();
		inject(p->record(), &faults[a]);
		ok(p->refused_for(&faults[a], p->error), "%s: %s alone", p->name, faults[a].text);
		for (b = a + 1; b < count; b++) {
			if (overlap(&faults[a], &faults[b]) || (faults[a].status == faults[b].status &&
								faults[a].reason == faults[b].reason))
				continue;
			p->build();
			inject(p->record(), &faults[a]);
			inject(p->record(), &faults[b]);
			if (!p->refused_for(&faults[a], p->error))
				ok(false, "%s: %s before %s", p->name, faults[a].text,
				   faults[b].text);
			pairs++;
		}
	}
	ok(pairs + 1 >= count, "%s: %u pairs", p->name, pairs);
}

#define FAULT(s, field, value, status, reason) \
	{ #field " = " #value, offsetof(struct s, field), sizeof(((struct s *)0)->field), value, \
	  NNPU_STATUS_##status, NNPU_REASON_##reason, 0 }
#define HEADER(field, value, reason)	\
	FAULT(nnpu_program_header, field, value, PROGRAM_HEADER, reason)
#define TENSOR(field, value, reason)	\
	FAULT(nnpu_tensor_desc, field, value, PROGRAM_TENSOR, reason)
#define COMMAND(field, value, reason)	\
	FAULT(nnpu_command, field, value, PROGRAM_COMMAND, reason)

static const struct fault header_faults[] = {
	HEADER(magic, 0, MAGIC),
	HEADER(version, 0xffff, VERSION),
	HEADER(header_size, 72, SIZE),
	HEADER(tensor_stride, 88, SIZE),
	HEADER(command_stride, 36, SIZE),
	HEADER(size, 64, SIZE),
	HEADER(flags, 0x80000000, FLAGS),
	HEADER(reserved, 1, RESERVED),
	HEADER(native_size, 8, RESERVED),
	HEADER(tensors_off, 65, ALIGNMENT),
	HEADER(commands_off, 32, RANGE),
	HEADER(num_indexes, 0x40000001, SIZE),
};

static const struct fault region_faults[] = {
	HEADER(data_off, 96, RANGE),	/* overlaps the tensors */
	HEADER(num_outputs, 0, SIZE),
	HEADER(inputs_first, 0xffffffff, RANGE),
	FAULT(nnpu_program_header, native_isa, 1, PROGRAM_UNSUPPORTED, ISA),
};

static const struct fault tensor_faults[] = {
	TENSOR(type, 15, TYPE),
	TENSOR(kind, 6, LIFETIME),
	TENSOR(flags, 2, FLAGS),
	TENSOR(slot, 1, RESERVED),
	TENSOR(encoding, 1, RESERVED),
	TENSOR(rank, 9, RANK),
	TENSOR(dims[7], 1, DIMENSION),
	TENSOR(dims[0], (256u << 20) / 4 + 1, OVERFLOW),
	TENSOR(scale, 0x3f800000, SCALE),
	TENSOR(zero_point, 1, ZERO_POINT),
	TENSOR(channel_dim, 1, CHANNEL_QUANT),
	TENSOR(params_len, 8, PARAMS),
};

static const struct fault command_faults[] = {
	COMMAND(flags, 1, FLAGS),
	COMMAND(reserved, 1, RESERVED),
	COMMAND(opcode, 102, OPERATION),
	COMMAND(operands_first, 0xffffffff, SIZE),
};

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

/* Header before tensors, tensors in turn, tensors before the interface, that before commands. */
static void test_stages(void)
{
	build();
	inject((uint8_t *)image_cmd(&im, 0), &command_faults[0]);
	inject(the_tensor(), &tensor_faults[0]);
	inject(the_header(), &header_faults[5]);
	ok(refused_for(&header_faults[5], 0), "the header before a tensor and a command");
	build();
	inject((uint8_t *)image_cmd(&im, 0), &command_faults[0]);
	inject(the_tensor(), &tensor_faults[11]);
	ok(refused_for(&tensor_faults[11], 1), "a tensor before a command");
	build();
	inject((uint8_t *)image_desc(&im, 0), &tensor_faults[11]);
	inject(the_tensor(), &tensor_faults[0]);
	ok(refused_for(&tensor_faults[11], 0), "the last rule for tensor 0 before the first for tensor 1");
	build();
	inject((uint8_t *)image_cmd(&im, 0), &command_faults[3]);
	inject(the_command(), &command_faults[0]);
	ok(refused_for(&command_faults[3], 0), "a later rule for command 0 before the first for command 1");
	build();
	*image_index(&im, le32toh(image_header(&im)->inputs_first)) = htole32(1000);
	inject((uint8_t *)image_cmd(&im, 0), &command_faults[0]);
	ok(refused_for(&(struct fault){ .status = NNPU_STATUS_PROGRAM_TENSOR,
					.reason = NNPU_REASON_RANGE }, 1000),
	   "the list of inputs before a command");
}

#define ARG(field, value, status, reason)	FAULT(nnpu_arg, field, value, status, reason)

/* Of a record with shape, for an input of N elements. */
static const struct fault arg_faults[] = {
	ARG(flags, 0x8002, INVALID_FIELD, FLAGS),
	ARG(pad, 1, INVALID_FIELD, RESERVED),
	ARG(rank, 2, ARG_SHAPE, RANK),
	ARG(dims[0], 5, ARG_SHAPE, DIMENSION),
	ARG(length, 15, ARG_SIZE, DATA_LENGTH),
	ARG(slot, 999, INVALID_SLOT, NONE),
};

#define ARGS(field, value, status, reason)	FAULT(nnpu_args_header, field, value, status, reason)

static const struct fault args_faults[] = {
	ARGS(flags, 1, INVALID_FIELD, FLAGS),
	ARGS(reserved[0], 1, INVALID_FIELD, RESERVED),
	ARGS(loop_timeout_ns, UINT64_MAX, INVALID_FIELD, VALUE),
	ARGS(num_inputs, 3, ARG_COUNT, NONE),
};

static struct nnpu_arg *record(unsigned int n)
{
	return (struct nnpu_arg *)(j.block + sizeof(struct nnpu_args_header)) + n;
}

static void arguments(void)
{
	unsigned int n;

	job_add_args(&j, N);
	for (n = 0; n < 2; n++) {
		record(n)->flags = htole16(NNPU_ARG_SHAPE);
		record(n)->rank = 1;
		record(n)->dims[0] = htole32(N);
	}
}

static bool job_refused_for(const struct fault *f, uint32_t error)
{
	struct nnpu_cqe cqe;
	int got = job_execute(&j, PROGRAM, &cqe);

	return got == (int)f->status && le16toh(cqe.reason) == f->reason &&
	       le32toh(cqe.error) == error;
}

static uint8_t *the_args(void)
{
	return j.block;
}

static uint8_t *the_arg(void)
{
	return (uint8_t *)record(1);
}

static void test_jobs(void)
{
	struct nnpu_cqe cqe;

	image_add(&im, N);
	if (!ok(rig_load(&rig, CTX, PROGRAM, im.bytes, im.size, &cqe) == 0, "a program"))
		return;
	image_free(&im);
	arguments();
	ok(job_execute(&j, PROGRAM, &cqe) == 0, "it runs without a fault");
	test_pairs(&(struct place){ "arguments", arguments, the_args, job_refused_for, 0 },
		   args_faults, COUNT(args_faults));
	test_pairs(&(struct place){ "record", arguments, the_arg, job_refused_for, 1 },
		   arg_faults, COUNT(arg_faults));
	arguments();
	inject(j.block, &args_faults[3]);
	inject((uint8_t *)record(0), &arg_faults[0]);
	ok(job_refused_for(&args_faults[3], 0), "the header before a record");
	arguments();
	inject((uint8_t *)record(0), &arg_faults[5]);
	inject((uint8_t *)record(1), &arg_faults[0]);
	ok(job_refused_for(&arg_faults[5], 0), "the last rule for record 0 before the first for record 1");
}

static void copy_arguments(void)
{
	job_args(&j, 1, 1);
	job_arg(record(0), 1, 0, 100);
	job_arg(record(1), 1, 4096, 100);
}

static bool copy_refused_for(const struct fault *f, uint32_t error)
{
	struct nnpu_sqe_execute sqe;
	struct nnpu_cqe cqe;
	int got;

	job_sqe(&j, 0, &sqe);
	sqe.opcode = NNPU_IO_COPY;
	got = rig_run(&rig, j.q, &sqe, &cqe);
	return got == (int)f->status && le16toh(cqe.reason) == f->reason &&
	       le32toh(cqe.error) == error;
}

/* Of the output of a copy. */
static const struct fault copy_faults[] = {
	ARG(flags, NNPU_ARG_SHAPE, INVALID_FIELD, FLAGS),
	ARG(pad, 1, INVALID_FIELD, RESERVED),
	ARG(length, 99, ARG_SIZE, DATA_LENGTH),
	ARG(slot, 999, INVALID_SLOT, NONE),
};

static const struct fault copy_args_faults[] = {
	ARGS(flags, 1, INVALID_FIELD, FLAGS),
	ARGS(deadline_ns, 1, INVALID_FIELD, RESERVED),
	ARGS(loop_timeout_ns, 1, INVALID_FIELD, RESERVED),
	ARGS(num_inputs, 2, ARG_COUNT, NONE),
};

static void test_copies(void)
{
	test_pairs(&(struct place){ "copy", copy_arguments, the_args, copy_refused_for, 0 },
		   copy_args_faults, COUNT(copy_args_faults));
	test_pairs(&(struct place){ "record of a copy", copy_arguments, the_arg, copy_refused_for, 1 },
		   copy_faults, COUNT(copy_faults));
}

int main(void)
{
	rig_open(&rig, NULL);
	if (!rig_enable(&rig) || !job_rig_init(&j, &rig, CTX, 1)) {
		ok(false, "the device comes up");
		return tap_done();
	}
	test_pairs(&(struct place){ "header", build, the_header, refused_for, 0 },
		   header_faults, COUNT(header_faults));
	test_pairs(&(struct place){ "regions", build, the_header, refused_for, 0 },
		   region_faults, COUNT(region_faults));
	test_pairs(&(struct place){ "tensor", build, the_tensor, refused_for, 1 },
		   tensor_faults, COUNT(tensor_faults));
	test_pairs(&(struct place){ "command", build, the_command, refused_for, 1 },
		   command_faults, COUNT(command_faults));
	test_stages();
	test_jobs();
	test_copies();
	rig_close(&rig);
	return tap_done();
}
