// SPDX-License-Identifier: MIT
/*
 * Every operation with operands that have no elements, and dimensions beside the 0 that are as large as they
 * can be: it reaches points often enough, and ends soon when one tells it to.
 *
 * No clock decides. The operations are compiled so that each of their basic blocks counts (build.mk).
 *
 * With the number of a call of the list it makes that one, and says more.
 */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../tap.h"
#include "empty_calls.h"
#include "ops_fixture.h"

/* Sanitizers add blocks. */
#if defined(__SANITIZE_ADDRESS__)
#define MORE		4
#else
#define MORE		1
#endif

/* A block takes about a nanosecond: 1 ms of computing, and the 20 ms of an ABORT. */
#define MAX_GAP		(MORE * 2000000u)
#define MAX_END		(MORE * 20000000u)

/* What takes more than this comes from mmap(), so that it takes no memory before it is touched. */
#define SMALL		65536u

static struct {
	bool counts;
	bool told;
	unsigned long blocks, gap, all, points;
	unsigned long most_points, most;	/* after so many points and blocks it is told to end */
	jmp_buf out;
} watch;

void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void)
{
	if (!watch.counts || ++watch.blocks <= (watch.told ? MAX_END : MAX_GAP))
		return;
	watch.counts = false;
	longjmp(watch.out, 1);
}

static bool look(void)
{
	if (!watch.told && watch.blocks > watch.gap)
		watch.gap = watch.blocks;
	watch.all += watch.blocks;
	if (++watch.points >= watch.most_points || watch.all >= watch.most)
		watch.told = true;
	watch.blocks = 0;
	return watch.told;
}

/* Memory. */

struct place {
	void *data;
	size_t bytes;
};

static struct place take(size_t bytes)
{
	struct place p = { .bytes = bytes };

	if (bytes <= SMALL) {
		p.data = graph_alloc(bytes);
		if (!p.data)
			abort();
		memset(p.data, 0, bytes);
		return p;
	}
	p.data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		      -1, 0);
	if (p.data == MAP_FAILED)
		abort();
	return p;
}

static void give(const struct place *p)
{
	if (p->bytes <= SMALL)
		free(p->data);
	else
		munmap(p->data, p->bytes);
}

static void fill(const struct place *p, enum nnpu_type type, float v)
{
	size_t size = type_size(type), n = p->bytes / size;
	int64_t integer = v >= 0x1p31F ? INT32_MAX : (int64_t)v;

	for (size_t i = 0; v != 0 && i < n; i++) {
		if (type == NNPU_TYPE_TENSOR_FLOAT32)
			((float *)p->data)[i] = v;
		else
			memcpy((char *)p->data + i * size, &integer, size);
	}
}

/* Calls. */

/* All that are made from one line of the list. */
struct group {
	const struct empty_call *call;
	bool verbose;
	unsigned int made, ran, ran_empty, bad;
};

/* An operation and its operands. */
struct made {
	struct fixture f;
	struct place places[FIXTURE_MAX_OPERANDS], scratch;
	unsigned int num_places;
	bool is_empty;			/* one of its operands is */
};

/* False: more than the device takes. */
static bool settle(struct tensor *t, size_t max)
{
	size_t bytes = type_size(t->type);
	bool fits = true;

	for (unsigned int d = 0; d < t->rank; d++)
		fits &= !__builtin_mul_overflow(bytes, (size_t)t->dims[d], &bytes);
	for (unsigned int d = 0; d < t->rank; d++) {
		if (t->dims[d] == 0) {
			bytes = 0;
			fits = true;
		}
	}
	t->bytes = bytes;
	t->shape_known = true;
	t->rank_known = true;
	return fits && bytes <= max;
}

static void add_operand(struct made *m, const struct large_operand *o)
{
	struct fixture *f = &m->f;

	switch (o->kind) {
	case LARGE_LIST:
	case LARGE_SCALAR:
		fixture_const(f, o->type, 0, 0, o->rank, o->dims, o->list);
		return;
	case LARGE_OMITTED:
		fixture_const(f, o->type, o->scale, 0, DIMS(1), o->list)->kind = NNPU_TENSOR_NO_VALUE;
		return;
	case LARGE_TENSOR:
		break;
	}
	if (o->output)
		fixture_output(f, o->type, o->scale, o->zero_point);
	else
		fixture_input(f, o->type, o->scale, o->zero_point, o->rank, o->dims, NULL);
}

static bool make(struct made *m, const struct large_call *call)
{
	struct large_operand operands[LARGE_MAX_OPERANDS];
	unsigned int n = large_call_read(call, operands);

	memset(m, 0, sizeof(*m));
	fixture_init(&m->f, call->op);
	for (unsigned int i = 0; i < n; i++)
		add_operand(m, &operands[i]);
	if (fixture_load(&m->f) != NNPU_REASON_NONE)
		return false;
	for (unsigned int i = 0; i < m->f.num_inputs; i++) {
		struct tensor *t = &m->f.graph.tensors[i];

		if (t->kind != NNPU_TENSOR_INPUT)
			continue;
		if (!settle(t, EMPTY_CALL_BYTES))
			return false;
		m->is_empty |= !t->bytes;
		m->places[m->num_places] = take(t->bytes);
		fill(&m->places[m->num_places], t->type, operands[i].value);
		t->data = m->places[m->num_places++].data;
	}
	return true;
}

static void end(struct made *m)
{
	for (unsigned int i = 0; i < m->num_places; i++)
		give(&m->places[i]);
	if (m->scratch.data)
		give(&m->scratch);
	for (unsigned int i = 0; i < m->f.num_outputs; i++)
		m->f.graph.tensors[m->f.num_inputs + i].data = NULL;
	fixture_end(&m->f);
}

/* 0, -1: refused; OP_ABORTED. */
static int execute(struct made *m)
{
	struct op_call *c = &m->f.graph.calls[0].call;
	int ret = c->desc->infer(c);
	size_t scratch;

	/* It may compute values of shapes, and not know that it has not finished. */
	if (ret || watch.told)
		return ret ? ret : OP_ABORTED;
	for (unsigned int i = 0; i < c->num_outputs; i++) {
		if (!settle(c->out[i], EMPTY_CALL_BYTES))
			return -1;
		m->is_empty |= !c->out[i]->bytes;
		m->places[m->num_places] = take(c->out[i]->bytes);
		c->out[i]->data = m->places[m->num_places++].data;
	}
	c->widened = op_wants_widening(c);
	scratch = op_scratch(c);
	if (scratch > 8 * EMPTY_CALL_BYTES)
		return -1;
	m->scratch = take(scratch);
	c->scratch = m->scratch.data;
	return op_execute(c);
}

#define LOST	(-2)

/* As execute(); LOST: it was too long without a point, or does not end. */
static int count(struct made *m)
{
	int ret;

	if (setjmp(watch.out))
		return LOST;
	watch.counts = true;
	ret = execute(m);
	watch.counts = false;
	/* From the last point to the end. */
	look();
	return ret;
}

static bool run(const struct large_call *call, struct group *group, unsigned long most_points)
{
	static struct made m;
	int ret = -1;
	bool good;

	watch.most_points = most_points;
	watch.most = 500000;
	watch.all = 0;
	watch.blocks = 0;
	watch.gap = 0;
	watch.points = 0;
	watch.told = false;
	if (make(&m, call)) {
		graph_look = look;
		ret = count(&m);
		graph_look = NULL;
	}
	good = ret != LOST;
	if (!good)
		tap_note("%s, %s: %s", op_name(call->op), call->operands,
			 watch.told ? "does not end" : "no point");
	if (group->verbose)
		tap_note("%s: %s %u, returns %d, %lu points, at most %lu blocks", call->operands,
			 reason_text(fixture_reason(&m.f)), fixture_bad_operand(&m.f), ret, watch.points,
			 watch.gap);
	group->ran += ret >= 0;
	group->ran_empty += ret >= 0 && m.is_empty;
	if (group->call->refuses && ret >= 0 && m.is_empty)
		good = false;
	end(&m);
	return good;
}

static void visit(const struct large_call *call, void *data)
{
	struct group *group = data;

	group->made++;
	group->bad += !run(call, group, 1000);
	/* Where the end was the first point, nothing differs. */
	if (watch.points > 1)
		group->bad += !run(call, group, 1);
}

static void test_call(unsigned int i, bool verbose)
{
	struct group group = { .call = &empty_calls[i], .verbose = verbose };

	empty_call_each(group.call, false, visit, &group);
	ok(!group.bad && group.ran && (group.ran_empty || group.call->refuses),
	   "%u %s, %s: %u calls, %u ran, %u of them without elements", i, op_name(group.call->op),
	   group.call->operands, group.made, group.ran, group.ran_empty);
}

int main(int argc, char **argv)
{
	const char *missing = empty_call_missing();
	unsigned int only = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : num_empty_calls;

	ok(!missing, "every operation has a call%s%s", missing ? ", but not " : "", missing ? missing : "");
	for (unsigned int i = 0; i < num_empty_calls; i++) {
		if (only == num_empty_calls || only == i)
			test_call(i, argc > 1);
	}
	return tap_done();
}
