// SPDX-License-Identifier: MIT
/*
 * The table of signatures by itself: it has every operation, its rows make sense, and the
 * three questions that can be asked of it get answers that agree.
 */
#include <signature.h>
#include <string.h>

#include "../tap.h"

#define MAX_OPERANDS	80

/* The HAL version an operation's number came with. */
static unsigned int version_of(uint32_t operation)
{
	if (operation <= NNPU_OP_TANH)
		return SIG_1_0;
	if (operation <= NNPU_OP_TRANSPOSE)
		return SIG_1_1;
	return operation <= NNPU_OP_RESIZE_NEAREST_NEIGHBOR ? SIG_1_2 : SIG_1_3;
}

static bool list_is_sound(const uint32_t *patterns, unsigned int num, unsigned int since,
			  bool outputs)
{
	unsigned int repeats = 0, more = 0;

	for (unsigned int i = 0; i < num; i++) {
		uint32_t p = patterns[i], what = p >> SIG_FOLLOWS_SHIFT & 15;
		uint32_t min = p >> SIG_MIN_RANK_SHIFT & 15, max = p >> SIG_MAX_RANK_SHIFT & 15;

		if (p & SIG_MORE) {
			more++;
			/* Something comes before and behind, and no earlier than the form. */
			if (!i || i == num - 1 || what < since || what > SIG_LATEST)
				return false;
			continue;
		}
		repeats += !!(p & SIG_REPEAT);
		if (what >= SIG_NUM_FOLLOWS || !what == !(p & SIG_TYPES_MASK) || min > max ||
		    (max > NNPU_MAX_RANK && max != SIG_ANY_RANK) || (outputs && p & SIG_OMITTED))
			return false;
	}
	return num && repeats <= 1 && !(repeats && more);
}

static void test_rows(void)
{
	unsigned int missing = 0, unsound = 0, versions = 0, types = 0;

	for (uint32_t op = 0; op < NNPU_NUM_OPERATIONS; op++) {
		const struct signature *s = signature_find(op);
		unsigned int first = SIG_LATEST;
		uint16_t seen = 0;

		if (!s) {
			missing++;
			continue;
		}
		for (unsigned int i = 0; i < s->num_forms; i++) {
			const struct signature_form *f = &s->forms[i];

			if (!list_is_sound(f->in, f->num_in, f->since, false) ||
			    !list_is_sound(f->out, f->num_out, f->since, true))
				unsound++;
			if (f->since < first)
				first = f->since;
		}
		for (unsigned int v = 0; v < SIG_VERSIONS; v++) {
			if (s->types[v] & seen || (s->types[v] && v + 1 < first))
				types++;
			seen |= s->types[v];
		}
		versions += first != version_of(op);
	}
	ok(!missing, "every operation has a row");
	ok(!unsound, "lists of operands are sound");
	ok(!versions, "the first form of an operation is of the version of its number");
	ok(!types, "types come once, and not before the operation");
	ok(!signature_find(NNPU_NUM_OPERATIONS) && !signature_find(UINT32_MAX),
	   "other numbers have no row");
}

/* Operands that fit a form, T being @type: its smallest form or the longest one. */
struct call {
	uint32_t known[MAX_OPERANDS], in[MAX_OPERANDS], out[MAX_OPERANDS];
	struct signature_operands o;
	unsigned int num;
};

static uint32_t lowest(uint32_t bits)
{
	return bits & -bits;
}

static uint32_t fill_list(struct call *c, const uint32_t *patterns, unsigned int num,
			  uint32_t type, unsigned int version, bool shortest, uint32_t *list)
{
	uint32_t n = 0;

	for (unsigned int i = 0; i < num; i++) {
		uint32_t p = patterns[i], what = p >> SIG_FOLLOWS_SHIFT & 15, types;
		uint32_t rank = p >> SIG_MAX_RANK_SHIFT & 15;

		if (p & SIG_MORE) {
			if (shortest || version < what)
				break;
			continue;
		}
		types = what ? signature_following((enum signature_follows)what, type, version)
			     : p & SIG_TYPES_MASK;
		list[n++] = c->num;
		c->known[c->num] = lowest(types);
		if (rank)
			c->known[c->num] |= SIG_RANK_KNOWN | rank << SIG_MIN_RANK_SHIFT;
		c->num++;
	}
	return n;
}

static void fill(struct call *c, const struct signature_form *f, uint32_t type,
		 unsigned int version, bool shortest)
{
	c->num = 0;
	c->o = (struct signature_operands){ .known = c->known, .inputs = c->in, .outputs = c->out };
	c->o.num_inputs = fill_list(c, f->in, f->num_in, type, version, shortest, c->in);
	c->o.num_outputs = fill_list(c, f->out, f->num_out, type, version, shortest, c->out);
}

static struct {
	unsigned int tried, refused, counts, since, unexplained;
} counts;

/* A legal call: accepted from its version on, and changed ones refused with a reason. */
static void test_call(uint32_t op, struct call *c, unsigned int version)
{
	unsigned int since = signature_since(op, &c->o);
	struct signature_error e;

	counts.tried++;
	if (!signature_fits(op, version, &c->o))
		counts.refused++;
	if (!signature_counts_ok(op, c->o.num_inputs, c->o.num_outputs))
		counts.counts++;
	for (unsigned int v = SIG_1_0; v <= SIG_LATEST; v++)
		if (signature_fits(op, v, &c->o) != (since && v >= since))
			counts.since++;
	for (unsigned int i = 0; i < c->num; i++) {
		uint32_t saved = c->known[i];

		/* No signature has a scalar UINT32 but where anything will do. */
		c->known[i] = SIG_TYPE(UINT32);
		signature_explain(op, version, &c->o, &e);
		if (!signature_fits(op, version, &c->o) &&
		    (e.misfit != SIG_WRONG_TYPE || e.operand != i))
			counts.unexplained++;
		c->known[i] = saved | SIG_OMITTED;
		signature_explain(op, version, &c->o, &e);
		if (!signature_fits(op, version, &c->o) &&
		    (e.misfit != SIG_NOT_OMITTABLE || e.operand != i))
			counts.unexplained++;
		if (i < c->o.num_inputs &&
		    signature_fits(op, version, &c->o) != signature_may_omit(op, i))
			counts.unexplained++;
		c->known[i] = saved;
	}
}

static void test_calls(void)
{
	struct call c;

	for (uint32_t op = 0; op < NNPU_NUM_OPERATIONS; op++) {
		const struct signature *s = signature_find(op);

		for (unsigned int i = 0; s && i < s->num_forms; i++) {
			for (unsigned int v = s->forms[i].since; v <= SIG_LATEST; v++) {
				uint32_t all = 0;

				for (unsigned int k = 0; k < v; k++)
					all |= s->types[k];
				for (unsigned int t = 0; t < 16; t++) {
					if (!(all >> t & 1) && (all || t))
						continue;
					fill(&c, &s->forms[i], 1u << t, v, true);
					test_call(op, &c, v);
					fill(&c, &s->forms[i], 1u << t, v, false);
					test_call(op, &c, v);
				}
			}
		}
	}
	ok(counts.tried > 1000 && !counts.refused, "of %u calls made from the forms %u are refused",
	   counts.tried, counts.refused);
	ok(!counts.counts, "%u have a number of operands that is refused", counts.counts);
	ok(!counts.since, "%u are legal in a version, but not in a later one", counts.since);
	ok(!counts.unexplained, "%u wrong operands are not named", counts.unexplained);
}

static void test_explanations(void)
{
	/* ADD of two TENSOR_INT32 and an INT32. */
	uint32_t known[] = { signature_operand(NNPU_TYPE_TENSOR_INT32, true, 2, false),
			     signature_operand(NNPU_TYPE_INT32, false, 0, false),
			     signature_operand(NNPU_TYPE_TENSOR_INT32, true, 5, false),
			     signature_operand(40, false, 0, false) };
	uint32_t in[] = { 0, 0, 1 }, out[] = { 0 };
	struct signature_operands o = {
		.known = known, .inputs = in, .num_inputs = 3, .outputs = out, .num_outputs = 1,
	};
	struct signature_error e;

	signature_explain(NNPU_OP_ADD, SIG_1_2, &o, &e);
	ok(e.misfit == SIG_LATER && e.since == SIG_1_3, "ADD of TENSOR_INT32 is of 1.3");
	o.num_inputs = 2;
	signature_explain(NNPU_OP_ADD, SIG_1_3, &o, &e);
	ok(e.misfit == SIG_COUNT, "ADD of two operands");
	o.num_inputs = 3;
	in[1] = 2;
	signature_explain(NNPU_OP_ADD, SIG_1_3, &o, &e);
	ok(e.misfit == SIG_WRONG_RANK && e.operand == 1 && e.min_rank == 1 && e.max_rank == 4,
	   "ADD of a tensor of rank 5");
	in[1] = 3;
	signature_explain(NNPU_OP_ADD, SIG_1_3, &o, &e);
	ok(e.misfit == SIG_WRONG_TYPE && e.operand == 1 && e.types == SIG_TYPE(TENSOR_INT32),
	   "ADD of an unknown type");
	signature_explain(NNPU_NUM_OPERATIONS, SIG_1_3, &o, &e);
	ok(e.misfit == SIG_UNKNOWN_OPERATION, "an operation that does not exist");
}

int main(void)
{
	test_rows();
	test_calls();
	test_explanations();
	return tap_done();
}
