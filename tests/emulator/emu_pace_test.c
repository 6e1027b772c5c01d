// SPDX-License-Identifier: MIT
/*
 * Every operation, BRANCH and LOOP as a program on the device, at the largest operands: PROGRESS
 * advances often enough while memory is cleared, arguments are transferred, shapes are found and
 * the operation runs, and an ABORT ends the job soon. Loads with constants of that size do the
 * same while they prepare them, and compute nothing on them.
 *
 *   NNPU_PACE_CALLS   calls of each operation, which differ in shapes and types (default 1;
 *                     ops_pace_test makes all of them, without the device around)
 *
 * With the name of an operation it makes all calls of that one.
 */
#include <endian.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "ops/op.h"
#include "pace_watch.h"
#include "rig.h"
#include "tap.h"
#include "../ops/large_calls.h"

/* The bounds of the specification. */
#define MAX_GAP_NS	(SLOWER * 10000000ull)
/* 1 ms, and a processor that is busy or slow. */
#define MAX_OP_GAP_NS	(SLOWER * 4000000ull)
#define MAX_END_NS	(SLOWER * 20000000ull)
/* And for all of an ABORT, with what runs until the command is fetched. */
#define MAX_ABORT_NS	(SLOWER * 100000000ull)

/* How long an operation computes before its job is aborted. */
#define RUN_NS		40000000ull

#define OPERAND_BYTES	(256ull << 20)
/* Some calls of the list need more; each operation has one that does not. */
#define DEVICE_BYTES	(2560ull << 20)

/* Slots behind those of job_rig_init(). */
enum { ZEROS = 2, VALUES, OUTPUTS };

enum { PROGRAM = 1, QID = 1 };

static struct rig rig;
static struct job_rig j;
static void *memory[OUTPUTS + 1];
static enum nnpu_type values_type;
static float values;

static void *map_operand(unsigned int slot, unsigned int access)
{
	void *p = mmap(NULL, OPERAND_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED || nnpu_inproc_register(rig.ip, p, OPERAND_BYTES,
						    NNPU_INPROC_READ | NNPU_INPROC_WRITE)) {
		printf("Bail out! no memory\n");
		exit(1);
	}
	rig_slot(&j.slots[slot], p, OPERAND_BYTES, NNPU_SLOT_VALID | access);
	return p;
}

static bool start_device(void)
{
	struct nnpu_inproc_config config;

	rig_config(&config);
	config.props.num_engines = 1;
	config.props.memory_size = DEVICE_BYTES;
	config.props.max_operand_size = OPERAND_BYTES;
	rig_open(&rig, &config);
	if (!rig_enable(&rig) || !job_rig_init(&j, &rig, 1, QID))
		return false;
	memory[ZEROS] = map_operand(ZEROS, NNPU_SLOT_READ);
	memory[VALUES] = map_operand(VALUES, NNPU_SLOT_READ);
	memory[OUTPUTS] = map_operand(OUTPUTS, NNPU_SLOT_READ | NNPU_SLOT_WRITE);
	return true;
}

static uint64_t bytes_of(const struct large_operand *o)
{
	uint64_t bytes = type_size(o->type);

	for (unsigned int i = 0; i < o->rank; i++)
		bytes *= o->dims[i];
	return bytes;
}

/* The slot with the values of an operand. */
static unsigned int slot_of(const struct large_operand *o)
{
	size_t n = bytes_of(o) / type_size(o->type);

	if (o->value == 0)
		return ZEROS;
	if (values == o->value && values_type == o->type)
		return VALUES;
	n = OPERAND_BYTES / 4;
	for (size_t i = 0; i < n; i++) {
		if (o->type == NNPU_TYPE_TENSOR_FLOAT32)
			((float *)memory[VALUES])[i] = o->value;
		else
			((int32_t *)memory[VALUES])[i] = (int32_t)o->value;
	}
	values = o->value;
	values_type = o->type;
	return VALUES;
}

/* Programs. */

/* How many of the first input tensors are arguments; the others are constants. */
enum arguments { NO_ARGUMENT, ONE_ARGUMENT, ALL_ARGUMENTS = LARGE_MAX_OPERANDS };

static bool is_argument(const struct large_operand *o, unsigned int i, enum arguments arguments)
{
	return o->kind == LARGE_TENSOR && !o->output && i < (unsigned int)arguments;
}

static void add_operand(struct image *im, const struct large_operand *o, unsigned int i,
			enum arguments arguments)
{
	struct nnpu_tensor_desc *d = &im->tensors[im->num_tensors];
	uint64_t bytes = bytes_of(o);

	switch (o->kind) {
	case LARGE_TENSOR:
		image_tensor(im, o->type, o->output ? NNPU_TENSOR_OUTPUT :
			     is_argument(o, i, arguments) ? NNPU_TENSOR_INPUT : NNPU_TENSOR_SLOT, -1);
		if (d->kind == NNPU_TENSOR_SLOT) {
			d->slot = htole32(slot_of(o));
			d->data_len = htole64(bytes);
		}
		break;
	case LARGE_OMITTED:
		image_omitted(im, o->type);
		d->rank = 1;
		d->dims[0] = htole32(1);
		break;
	case LARGE_SCALAR:
	case LARGE_LIST:
		image_const(im, o->type, 0, o->list, bytes);
		break;
	}
	memcpy(&d->scale, &o->scale, sizeof(d->scale));
	d->zero_point = htole32((uint32_t)o->zero_point);
	if (o->kind == LARGE_OMITTED)
		return;
	d->rank = (uint8_t)o->rank;
	for (i = 0; i < o->rank; i++)
		d->dims[i] = htole32(o->dims[i]);
	if (o->output)
		d->flags = htole32(type_is_scalar(o->type) ? 0 : NNPU_TENSOR_UNKNOWN_RANK);
}

static void make_image(const struct large_call *call, const struct large_operand *operands,
		       unsigned int n, enum arguments arguments, struct image *im)
{
	unsigned int outputs = 0;

	image_init(im);
	for (unsigned int i = 0; i < n; i++) {
		add_operand(im, &operands[i], i, arguments);
		im->indexes[im->num_indexes++] = i;
		outputs += operands[i].output;
	}
	im->commands[im->num_commands++] = (struct nnpu_command) {
		.opcode = htole32(call->op), .num_inputs = htole16((uint16_t)(n - outputs)),
		.num_outputs = htole16((uint16_t)outputs),
	};
	image_finish(im);
}

static void make_args(const struct large_operand *operands, unsigned int n,
		      enum arguments arguments)
{
	unsigned int inputs = 0, outputs = 0, at = 0;
	struct nnpu_arg *args;

	for (unsigned int i = 0; i < n; i++) {
		inputs += is_argument(&operands[i], i, arguments);
		outputs += operands[i].output;
	}
	args = job_args(&j, inputs, outputs);
	for (unsigned int i = 0; i < n; i++)
		if (is_argument(&operands[i], i, arguments))
			job_arg(&args[at++], slot_of(&operands[i]), 0, bytes_of(&operands[i]));
	while (outputs--)
		job_arg(&args[at++], OUTPUTS, 0, OPERAND_BYTES);
}

/* Commands that are aborted. */

static bool wait_ended(struct rig_queue *q, struct nnpu_cqe *cqe)
{
	nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);
	return rig_peek(q, cqe);
}

static void abort_command(unsigned int qid, uint16_t cid)
{
	pace_watch_abort();
	rig_queue_cmd(&rig, NNPU_ADMIN_ABORT, (uint16_t)qid, cid);
}

static void note_figures(const char *what, const struct pace *p)
{
	tap_note("%s: ms without a point %.2f, in the operation %.2f; to the end %.2f, after ABORT %.2f",
		 what, (double)p->gap_ns / 1e6, (double)p->op_gap_ns / 1e6,
		 (double)p->end_ns / 1e6, (double)p->abort_ns / 1e6);
}

/* Say what was not as it has to be. */
static bool judge(const char *what, const struct pace *p, unsigned int status)
{
	bool good = p->gap_ns <= MAX_GAP_NS && p->op_gap_ns <= MAX_OP_GAP_NS &&
		    p->end_ns <= MAX_END_NS && p->abort_ns <= MAX_ABORT_NS;

	if (status && status != NNPU_STATUS_ABORTED)
		tap_note("%s: status 0x%x", what, status);
	if (!good)
		note_figures(what, p);
	return good && (!status || status == NNPU_STATUS_ABORTED);
}

static struct pace worst;

static void note_worst(const struct pace *p)
{
	worst.gap_ns = p->gap_ns > worst.gap_ns ? p->gap_ns : worst.gap_ns;
	worst.op_gap_ns = p->op_gap_ns > worst.op_gap_ns ? p->op_gap_ns : worst.op_gap_ns;
	worst.end_ns = p->end_ns > worst.end_ns ? p->end_ns : worst.end_ns;
	worst.abort_ns = p->abort_ns > worst.abort_ns ? p->abort_ns : worst.abort_ns;
}

static uint32_t progress(void)
{
	return rig_read(&rig, NNPU_EREG_BASE + NNPU_EREG_PROGRESS);
}

/* A job of the program, aborted when it has computed or run for so long. */
static bool try_job(uint64_t compute_ns, uint64_t run_ns)
{
	uint32_t before = progress(), counted;
	struct nnpu_sqe_execute sqe;
	bool told = false, good;
	struct nnpu_cqe cqe;
	struct pace pace;
	uint16_t cid;

	job_sqe(&j, PROGRAM, &sqe);
	pace_watch_begin();
	cid = rig_push(&rig, j.q, (struct nnpu_sqe *)&sqe);
	rig_kick(&rig, j.q);
	while (!wait_ended(j.q, &cqe)) {
		if (told || (pace_watch_computed() <= compute_ns && pace_watch_ran() <= run_ns))
			continue;
		abort_command(QID, cid);
		told = true;
	}
	rig_pop(&rig, j.q);
	pace = pace_watch_end();
	counted = progress() - before;
	good = judge("job", &pace, rig_status(&cqe));
	/* To begin is progress, too. */
	if (counted != pace.points + 1) {
		tap_note("%u points, PROGRESS %u", pace.points, counted);
		good = false;
	}
	note_worst(&pace);
	return good;
}

/* It may be one of those that took too long although there are enough points. */
static bool job_is_paced(uint64_t compute_ns, uint64_t run_ns)
{
	for (unsigned int i = 0; i < PACE_TRIES; i++)
		if (try_job(compute_ns, run_ns))
			return true;
	return false;
}

/*
 * Two jobs of the program, whose queue is reset when the first one has run for so long. After the
 * command nothing of the queue runs, and the first completion is that of a new entry.
 */
static bool try_reset(uint64_t run_ns)
{
	struct nnpu_sqe nop = { .opcode = NNPU_IO_NOP };
	struct nnpu_sqe_execute sqe;
	unsigned int ended = 0;
	struct nnpu_cqe cqe;
	struct pace pace;
	bool good;

	job_sqe(&j, PROGRAM, &sqe);
	pace_watch_begin();
	rig_push(&rig, j.q, (struct nnpu_sqe *)&sqe);
	rig_push(&rig, j.q, (struct nnpu_sqe *)&sqe);
	rig_kick(&rig, j.q);
	while (ended < 2 && pace_watch_ran() <= run_ns) {
		if (!wait_ended(j.q, &cqe))
			continue;
		rig_pop(&rig, j.q);
		ended++;
	}
	/* Small calls have ended. */
	pace_watch_abort();
	good = !rig_queue_cmd(&rig, NNPU_ADMIN_RESET_QUEUE, QID, 0) &&
	       !rig_read(&rig, NNPU_EREG_BASE + NNPU_EREG_CURRENT);
	pace = pace_watch_end();
	rig_queue_rewind(j.q);
	good &= !rig_run(&rig, j.q, &nop, NULL);
	if (!good)
		tap_note("something of the queue ran after its reset");
	note_worst(&pace);
	return judge("reset", &pace, NNPU_STATUS_SUCCESS) && good;
}

static bool reset_is_paced(uint64_t run_ns)
{
	for (unsigned int i = 0; i < PACE_TRIES; i++)
		if (try_reset(run_ns))
			return true;
	return false;
}

/* LOAD_PROGRAM, aborted when it has run for so long. *@took: how long it ran. */
static bool try_load(const struct image *im, uint64_t run_ns, uint64_t *took)
{
	static void *room;
	struct nnpu_sqe_load_program c = {
		.opcode = NNPU_ADMIN_LOAD_PROGRAM, .ctx = htole32(1), .program = htole32(PROGRAM),
	};
	struct nnpu_cqe cqe;
	struct pace pace;
	bool told = false, ended = false;
	uint16_t cid;

	if (!room)
		room = rig_alloc(&rig, 1 << 20);
	memcpy(room, im->bytes, im->size);
	c.image = (struct nnpu_mem) { .addr = rig_addr(room), .size = htole64(im->size) };
	pace_watch_begin();
	cid = rig_push(&rig, &rig.admin, (struct nnpu_sqe *)&c);
	rig_kick(&rig, &rig.admin);
	while (!ended) {
		struct nnpu_sqe_queue a = {
			.opcode = NNPU_ADMIN_ABORT, .target_cid = htole16(cid),
		};

		ended = wait_ended(&rig.admin, &cqe);
		if (ended || told || pace_watch_ran() <= run_ns)
			continue;
		told = true;
		pace_watch_abort();
		rig_push(&rig, &rig.admin, (struct nnpu_sqe *)&a);
		rig_kick(&rig, &rig.admin);
		/* Two completions, in any order. */
		for (unsigned int i = 0; i < 2; i++) {
			struct nnpu_cqe next;

			if (!rig_wait(&rig, &rig.admin, &next)) {
				printf("Bail out! no completion\n");
				exit(1);
			}
			if (le16toh(next.cid) == cid)
				cqe = next;
		}
		ended = true;
	}
	if (!told)
		rig_pop(&rig, &rig.admin);
	*took = pace_watch_ran();
	pace = pace_watch_end();
	if (!rig_status(&cqe))
		rig_unload(&rig, 1, PROGRAM);
	else if (rig_status(&cqe) != NNPU_STATUS_ABORTED)
		tap_note("load: reason %u error %u operand %u", le16toh(cqe.reason),
			 le32toh(cqe.error), le16toh(cqe.operand));
	note_worst(&pace);
	return judge("load", &pace, rig_status(&cqe));
}

static bool load_is_paced(const struct image *im, uint64_t run_ns, uint64_t *took)
{
	for (unsigned int i = 0; i < PACE_TRIES; i++)
		if (try_load(im, run_ns, took))
			return true;
	return false;
}

/* The tests. */

static void watch_engine(uint32_t program)
{
	struct image im;

	image_add(&im, 4);
	rig_load(&rig, 1, program, im.bytes, im.size, NULL);
	image_free(&im);
	job_add_args(&j, 4);
	pace_watch_next();
	job_execute(&j, program, NULL);
	rig_unload(&rig, 1, program);
}

static void watch_loader(void)
{
	struct image im;

	image_add(&im, 4);
	pace_watch_next();
	rig_load(&rig, 1, PROGRAM, im.bytes, im.size, NULL);
	rig_unload(&rig, 1, PROGRAM);
	image_free(&im);
}

/* The program is loaded, or was refused with @status. */
static void expect_paced_job(int status, const char *what)
{
	memset(&worst, 0, sizeof(worst));
	ok(!status && job_is_paced(RUN_NS, UINT64_MAX) && job_is_paced(UINT64_MAX, RUN_NS / 8) &&
	   reset_is_paced(RUN_NS / 8), "%s", what);
	note_figures("at most", &worst);
	rig_unload(&rig, 1, PROGRAM);
}

/* A record with a dimension of 0 does not know it. emu_empty_test lets the device compute such shapes. */
static bool is_empty(const struct large_call *call)
{
	return strstr(call->operands, "x0 ");
}

/* False: an operand or all of them are larger than the device takes. */
static bool test_job(const struct large_call *call)
{
	struct large_operand operands[LARGE_MAX_OPERANDS];
	unsigned int n = large_call_read(call, operands);
	struct nnpu_cqe cqe;
	struct image im;
	char text[256];
	int status;

	make_image(call, operands, n, ALL_ARGUMENTS, &im);
	status = rig_load(&rig, 1, PROGRAM, im.bytes, im.size, &cqe);
	image_free(&im);
	if (status == NNPU_STATUS_NO_MEMORY || (status && le16toh(cqe.reason) == NNPU_REASON_OVERFLOW))
		return false;
	make_args(operands, n, ALL_ARGUMENTS);
	if (status)
		tap_note("load: status 0x%x reason %u error %u operand %u", (unsigned int)status,
			 le16toh(cqe.reason), le32toh(cqe.error), le16toh(cqe.operand));
	snprintf(text, sizeof(text), "%s, %s", op_name(call->op), call->operands);
	expect_paced_job(status, text);
	return true;
}

static void set_perf(unsigned int level)
{
	struct nnpu_sqe_set_perf c = { .opcode = NNPU_ADMIN_SET_PERF, .level = htole32(level) };

	rig_admin(&rig, &c, NULL);
}

/* An engine that keeps no memory for its next job clears some for each. */
static void test_clearing(void)
{
	static const struct large_call call = { NNPU_OP_MAXIMUM, "u:256M u:256M > u" };

	set_perf(NNPU_PERF_LOW);
	ok(test_job(&call), "with memory that is cleared each time");
	set_perf(NNPU_PERF_MEDIUM);
}

/* Control flow. */

/* Tensors of n elements, FLOAT32. */
static uint32_t floats(struct image *im, unsigned int kind, uint32_t n)
{
	return image_tensor(im, NNPU_TYPE_TENSOR_FLOAT32, kind, (int)n, -1);
}

/* Load the image and run it with arguments of so many bytes. @known: the program says their shapes. */
static void expect_paced_program(struct image *im, const uint64_t *bytes, unsigned int inputs,
				 bool known, const char *what)
{
	struct nnpu_arg *args = job_args(&j, inputs, 1);
	int status;

	image_finish(im);
	status = rig_load(&rig, 1, PROGRAM, im->bytes, im->size, NULL);
	image_free(im);
	for (unsigned int i = 0; i < inputs; i++) {
		job_arg(&args[i], ZEROS, 0, bytes[i]);
		if (known || bytes[i] < OPERAND_BYTES)
			continue;
		args[i].flags = htole16(NNPU_ARG_SHAPE);
		args[i].rank = 1;
		args[i].dims[0] = htole32((uint32_t)(bytes[i] / 4));
	}
	job_arg(&args[inputs], OUTPUTS, 0, OPERAND_BYTES);
	expect_paced_job(status, what);
}

/* @n: elements, or 0 if the program does not know. */
static void test_branch(uint32_t n)
{
	uint32_t condition, in, out, a, a_out, b, b1, b2, b_out;
	struct image im;

	image_init(&im);
	condition = image_tensor(&im, NNPU_TYPE_TENSOR_BOOL8, NNPU_TENSOR_INPUT, 1, -1);
	in = floats(&im, NNPU_TENSOR_INPUT, n);
	out = floats(&im, NNPU_TENSOR_OUTPUT, n);
	a = floats(&im, NNPU_TENSOR_TEMPORARY, n);
	a_out = floats(&im, NNPU_TENSOR_TEMPORARY, n);
	b = floats(&im, NNPU_TENSOR_TEMPORARY, n);
	b1 = floats(&im, NNPU_TENSOR_TEMPORARY, n);
	b2 = floats(&im, NNPU_TENSOR_TEMPORARY, n);
	b_out = floats(&im, NNPU_TENSOR_TEMPORARY, n);
	image_command(&im, NNPU_CMD_BRANCH, 2, 1, condition, in, out);
	image_targets(&im, 1, 3);
	image_command(&im, NNPU_CMD_BLOCK, 1, 1, a, a_out);
	image_command(&im, NNPU_OP_ABS, 1, 1, a, a_out);
	/* The condition is false. */
	image_command(&im, NNPU_CMD_BLOCK, 1, 1, b, b_out);
	image_command(&im, NNPU_OP_ABS, 1, 1, b, b1);
	image_command(&im, NNPU_OP_NEG, 1, 1, b1, b2);
	image_command(&im, NNPU_OP_SIN, 1, 1, b2, b_out);
	expect_paced_program(&im, (uint64_t[]){ 1, OPERAND_BYTES }, 2, n,
			     n ? "BRANCH" : "BRANCH, unknown shapes");
}

static void test_loop(uint32_t n)
{
	uint32_t in, one, out, c_in, c_one, c_out, b_in, b_one, b_out, b_one_out;
	struct image im;

	image_init(&im);
	in = floats(&im, NNPU_TENSOR_INPUT, n);
	one = floats(&im, NNPU_TENSOR_INPUT, 1);
	out = floats(&im, NNPU_TENSOR_OUTPUT, n);
	c_in = floats(&im, NNPU_TENSOR_TEMPORARY, n);
	c_one = floats(&im, NNPU_TENSOR_TEMPORARY, 1);
	c_out = image_tensor(&im, NNPU_TYPE_TENSOR_BOOL8, NNPU_TENSOR_TEMPORARY, 1, -1);
	b_in = floats(&im, NNPU_TENSOR_TEMPORARY, n);
	b_one = floats(&im, NNPU_TENSOR_TEMPORARY, 1);
	b_out = floats(&im, NNPU_TENSOR_TEMPORARY, n);
	b_one_out = floats(&im, NNPU_TENSOR_TEMPORARY, 1);
	image_command(&im, NNPU_CMD_LOOP, 2, 1, in, one, out);
	image_targets(&im, 1, 3);
	image_command(&im, NNPU_CMD_BLOCK, 2, 1, c_in, c_one, c_out);
	image_command(&im, NNPU_OP_EQUAL, 2, 1, c_one, c_one, c_out);
	image_command(&im, NNPU_CMD_BLOCK, 2, 2, b_in, b_one, b_out, b_one_out);
	image_command(&im, NNPU_OP_ABS, 1, 1, b_in, b_out);
	image_command(&im, NNPU_OP_ABS, 1, 1, b_one, b_one_out);
	expect_paced_program(&im, (uint64_t[]){ OPERAND_BYTES, 4 }, 2, n,
			     n ? "LOOP" : "LOOP, unknown shapes");
}

/* False: the device has not so much memory. */
static bool test_load(const struct large_call *call)
{
	struct large_operand operands[LARGE_MAX_OPERANDS];
	unsigned int n = large_call_read(call, operands);
	uint64_t full, took;
	struct image im;
	int status;

	make_image(call, operands, n, ONE_ARGUMENT, &im);
	status = rig_load(&rig, 1, PROGRAM, im.bytes, im.size, NULL);
	if (!status) {
		rig_unload(&rig, 1, PROGRAM);
	} else if (status == NNPU_STATUS_NO_MEMORY) {
		image_free(&im);
		return false;
	}
	memset(&worst, 0, sizeof(worst));
	ok(load_is_paced(&im, UINT64_MAX, &full) && load_is_paced(&im, full / 2, &took) &&
	   load_is_paced(&im, full - full / 8, &took), "load of %s with constants, %s",
	   op_name(call->op), call->operands);
	note_figures("at most", &worst);
	image_free(&im);
	return true;
}

/*
 * A program without arguments whose shapes depend on the values of its constants: the load does not
 * compute on them, however many they are. The job does.
 */
static void test_values(const struct large_call *call)
{
	struct large_operand operands[LARGE_MAX_OPERANDS];
	unsigned int n = large_call_read(call, operands);
	unsigned int points, inferences;
	struct image im;
	int status;

	make_image(call, operands, n, NO_ARGUMENT, &im);
	watch_loader();
	pace_watch_begin();
	status = rig_load(&rig, 1, PROGRAM, im.bytes, im.size, NULL);
	points = pace_watch_end().points;
	image_free(&im);
	watch_engine(PROGRAM + 1);
	make_args(operands, n, NO_ARGUMENT);
	memset(job_result(&j), 0, sizeof(*job_result(&j)));
	ok(!status && points < 64 && job_is_paced(RUN_NS, UINT64_MAX),
	   "load of %s with constants only: %u points", op_name(call->op), points);
	inferences = le16toh(job_result(&j)->inferences);
	ok(inferences == 1, "its job finds the shapes: %u inferences", inferences);
	rig_unload(&rig, 1, PROGRAM);
}

/* The calls of the operation, or all of them, in one way. */
static void test_all(const char *name, bool (*test)(const struct large_call *call), bool prepared,
		     const char *what)
{
	const char *text = getenv("NNPU_PACE_CALLS");
	unsigned int most = name ? num_large_calls : text ? (unsigned int)strtoul(text, NULL, 10) : 1;
	unsigned int done[NNPU_NUM_OPERATIONS] = { 0 };
	unsigned int missing = 0;

	for (unsigned int i = 0; i < num_large_calls; i++) {
		const struct large_call *c = &large_calls[i];

		if ((prepared && !op_find(c->op)->prepare) || (name && strcmp(name, op_name(c->op))))
			done[c->op] = most;
		else if (!is_empty(c) && done[c->op] < most)
			done[c->op] += test(c);
	}
	for (unsigned int i = 0; i < NNPU_NUM_OPERATIONS; i++) {
		if (op_find(i) && !done[i]) {
			tap_note("%s has no call that fits into memory", op_name(i));
			missing++;
		}
	}
	ok(!missing, "%s", what);
}

/* Boxes that do not overlap; a list with more axes than a load looks at. */
static const struct large_call of_values[] = {
	{ NNPU_OP_BOX_WITH_NMS_LIMIT,
	  "f:60Kx2=1 f:60Kx8 t:60K r0 i-1 i0 r0.5 r0 r0 > f f t t" },
	{ NNPU_OP_GENERATE_PROPOSALS,
	  "f:1x1x60Kx1 f:1x1x60Kx4 f:1x4 f:1x2=1 r1 r1 i-1 i-1 r0.5 r-1 b0 > f f t" },
	{ NNPU_OP_MEAN, "f:4x4 t:65 i0 > f" },
};

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	if (!start_device()) {
		printf("Bail out! the device does not start\n");
		return 1;
	}
	watch_engine(PROGRAM);
	test_all(name, test_job, false, "every operation has run");
	if (!name) {
		test_clearing();
		test_branch(OPERAND_BYTES / 4);
		test_branch(0);
		test_loop(OPERAND_BYTES / 4);
		test_loop(0);
	}
	watch_loader();
	if (!name) {
		for (unsigned int i = 0; i < sizeof(of_values) / sizeof(of_values[0]); i++)
			test_values(&of_values[i]);
		watch_loader();
	}
	test_all(name, test_load, true, "every operation that prepares constants has done so");
	rig_close(&rig);
	return tap_done();
}
