/* SPDX-License-Identifier: MIT */
/*
 * What operations refuse, as a table: each row starts from a legal call and makes one
 * thing wrong; the refusal must name the reason and the operand.
 */
#ifndef NNPU_TESTS_OPS_REFUSALS_H
#define NNPU_TESTS_OPS_REFUSALS_H

#include <string.h>

#include "../tap.h"
#include "ops_fixture.h"

#define F32	NNPU_TYPE_TENSOR_FLOAT32
#define F16	NNPU_TYPE_TENSOR_FLOAT16
#define I32	NNPU_TYPE_TENSOR_INT32
#define U8	NNPU_TYPE_TENSOR_QUANT8_ASYMM
#define S8	NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED
#define B8	NNPU_TYPE_TENSOR_BOOL8
#define PCH	NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL

/* What to change: struct change.what. */
enum {
	TYPE, RANK, DIM, SCALE, ZERO_POINT, VALUE, FLOAT_VALUE, OMIT, DROP_INPUT,
	CHANNEL_DIM, NO_OUTPUT, LIST_VALUE,
};

struct change {
	void (*legal)(struct fixture *f);
	int what;
	unsigned int operand;		/* to change */
	int32_t to;			/* new type, rank, dims[index], ... */
	unsigned int index;
	enum nnpu_reason reason;
	unsigned int blamed;		/* operand that the refusal names */
	float real;
};

#define NONE	NNPU_OPERAND_NONE
#define R(name)	NNPU_REASON_##name

#define I(legal, what, operand, to, index, reason, blamed) \
	{ legal, what, operand, to, index, reason, blamed, 0 }
#define F(legal, what, operand, real, reason, blamed) \
	{ legal, what, operand, 0, 0, reason, blamed, real }

static inline void apply(struct fixture *f, const struct change *c)
{
	struct tensor *t = &f->tensors[c->operand];
	uint32_t dims[NNPU_MAX_RANK];

	memcpy(dims, t->dims, sizeof(dims));
	switch (c->what) {
	case TYPE:
		t->type = (enum nnpu_type)c->to;
		break;
	case RANK:
		for (int i = t->rank; i < c->to; i++)
			dims[i] = 1;
		graph_set_shape(t, (unsigned int)c->to, dims);
		break;
	case DIM:
		dims[c->index] = (uint32_t)c->to;
		graph_set_shape(t, t->rank, dims);
		break;
	case SCALE:
		t->scale = c->real;
		break;
	case ZERO_POINT:
		t->zero_point = c->to;
		break;
	case VALUE:
		/* A BOOL has a byte. */
		memcpy(f->data[c->operand], &c->to, type_size(t->type) < sizeof(c->to) ?
		       type_size(t->type) : sizeof(c->to));
		break;
	case FLOAT_VALUE:
		memcpy(f->data[c->operand], &c->real, sizeof(c->real));
		break;
	case OMIT:
		t->kind = NNPU_TENSOR_NO_VALUE;
		break;
	case LIST_VALUE:
		memcpy((char *)f->data[c->operand] + c->index * sizeof(c->to), &c->to,
		       sizeof(c->to));
		break;
	case CHANNEL_DIM:
		t->channel_dim = (uint8_t)c->to;
		break;
	case NO_OUTPUT:
		f->num_outputs = 0;
		break;
	case DROP_INPUT:
		/* The outputs move up. */
		memmove(&f->tensors[f->num_inputs - 1], &f->tensors[f->num_inputs],
			f->num_outputs * sizeof(*f->tensors));
		f->num_inputs--;
		break;
	}
}

static inline bool refused_as(struct fixture *f, enum nnpu_reason reason, const struct change *c)
{
	unsigned int blamed = fixture_bad_operand(f);

	if (reason == c->reason && (!reason || blamed == c->blamed))
		return true;
	tap_note("reason: %s, operand %u", reason_text(reason), blamed);
	return false;
}

static inline void test_early_refusals(const struct change *changes, unsigned int n)
{
	struct fixture f;

	for (unsigned int i = 0; i < n; i++) {
		const struct change *c = &changes[i];

		c->legal(&f);
		apply(&f, c);
		ok(refused_as(&f, fixture_load(&f), c), "%s %u: %s, operand %u", op_name(f.op), i,
		   reason_text(c->reason), c->blamed);
		fixture_end(&f);
	}
}

/* The same values, but known only when the job runs. */
static inline void test_late_refusals(const struct change *changes, unsigned int n)
{
	struct fixture f;

	for (unsigned int i = 0; i < n; i++) {
		const struct change *c = &changes[i];

		if (c->reason == NNPU_REASON_NONE ||
		    (c->what != VALUE && c->what != FLOAT_VALUE && c->what != LIST_VALUE))
			continue;
		c->legal(&f);
		apply(&f, c);
		fixture_unfix(&f);
		if (ok(fixture_load(&f) == NNPU_REASON_NONE, "%s %u: passes while loading",
		       op_name(f.op), i))
			ok(fixture_run(&f) == -1 && refused_as(&f, fixture_reason(&f), c),
			   "%s %u: %s while running", op_name(f.op), i, reason_text(c->reason));
		fixture_end(&f);
	}
}

/*
 * Each change is refused while loading; one of a value also while running, if that is
 * known only then.
 */
static inline void test_refusals(const struct change *changes, unsigned int n)
{
	test_early_refusals(changes, n);
	test_late_refusals(changes, n);
}

/* Each of these calls is accepted and runs, with its constants and without. */
static inline void test_legal(void (*const *legal)(struct fixture *f), unsigned int n)
{
	struct fixture f;

	for (unsigned int i = 0; i < n; i++) {
		bool good;

		legal[i](&f);
		good = fixture_run(&f) == 0;
		if (!good)
			tap_note("%s, operand %u", reason_text(fixture_reason(&f)),
				 fixture_bad_operand(&f));
		fixture_end(&f);
		legal[i](&f);
		fixture_unfix(&f);
		ok(good && fixture_run(&f) == 0, "%s: legal with and without constants",
		   op_name(f.op));
		fixture_end(&f);
	}
}

#endif /* NNPU_TESTS_OPS_REFUSALS_H */
