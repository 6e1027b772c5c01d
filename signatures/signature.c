// SPDX-License-Identifier: MIT
/*
 * Comparison of operands with the table of signatures.
 */
#include "signature.h"

#include <string.h>

#define QUANT8	(SIG_TYPE(TENSOR_QUANT8_ASYMM) | SIG_TYPE(TENSOR_QUANT8_ASYMM_SIGNED))

/* Types of a version: later ones are in no pattern of it. */
static uint32_t types_of_version(unsigned int version)
{
	if (version < SIG_1_2)
		return 0x003f;
	return version < SIG_1_3 ? 0x3fff : 0xffff;
}

uint32_t signature_following(enum signature_follows what, uint32_t types, unsigned int version)
{
	uint32_t quant = types & QUANT8, others = types & ~QUANT8, result = others;

	switch (what) {
	case SIG_T:
		return types;
	case SIG_BIAS:
		return result | (quant ? SIG_TYPE(TENSOR_INT32) : 0);
	case SIG_FILTER:
		return types | (quant ? SIG_TYPE(TENSOR_QUANT8_SYMM_PER_CHANNEL) &
					types_of_version(version) : 0);
	case SIG_REAL:
	case SIG_VALUE:
		result = 0;
		if (others & SIG_TYPE(TENSOR_FLOAT16))
			result |= SIG_TYPE(FLOAT16);
		if (what == SIG_VALUE) {
			if (others & ~SIG_TYPE(TENSOR_FLOAT16))
				result |= SIG_TYPE(FLOAT32);
			return result | (quant ? SIG_TYPE(INT32) : 0);
		}
		if (types & ~SIG_TYPE(TENSOR_FLOAT16))
			result |= SIG_TYPE(FLOAT32);
		return result;
	case SIG_BOXES:
		return result | (quant ? SIG_TYPE(TENSOR_QUANT16_ASYMM) : 0);
	case SIG_ANCHORS:
		return result | (quant ? SIG_TYPE(TENSOR_QUANT16_SYMM) : 0);
	default:
		return 0;
	}
}

/* State of a comparison. */
struct match {
	const struct signature_operands *o;
	unsigned int version;
	uint32_t types;			/* the types that T may still have */
	uint32_t at;			/* position of the current operand */
	struct signature_error *error;	/* NULL: no explanation wanted */
};

static bool fail(struct match *m, enum signature_misfit misfit)
{
	if (m->error) {
		m->error->misfit = misfit;
		m->error->operand = m->at;
	}
	return false;
}

static inline bool match_operand(struct match *m, uint32_t pattern, uint32_t known)
{
	enum signature_follows what = pattern >> SIG_FOLLOWS_SHIFT & 15;
	uint32_t type = known & SIG_TYPES_MASK, allowed = pattern, rank, min, max;

	if (what == SIG_T)
		allowed = m->types;
	else if (what != SIG_ITSELF)
		allowed = signature_following(what, m->types, m->version);
	allowed &= types_of_version(m->version);
	if (!(type & allowed) && (type || (pattern & SIG_TYPES_MASK) != SIG_ANY_TYPE)) {
		if (m->error)
			m->error->types = allowed;
		return fail(m, SIG_WRONG_TYPE);
	}
	if (what == SIG_T)
		m->types = type;
	if (known & ~pattern & SIG_OMITTED)
		return fail(m, SIG_NOT_OMITTABLE);
	if (!(known & SIG_RANK_KNOWN) || known & SIG_OMITTED)
		return true;
	rank = known >> SIG_MIN_RANK_SHIFT & 15;
	min = pattern >> SIG_MIN_RANK_SHIFT & 15;
	max = pattern >> SIG_MAX_RANK_SHIFT & 15;
	if (max && (rank < min || rank > max)) {
		if (m->error) {
			m->error->min_rank = (uint8_t)min;
			m->error->max_rank = (uint8_t)max;
		}
		return fail(m, SIG_WRONG_RANK);
	}
	return true;
}

/* True if a list of patterns can have this number of operands in a version. */
static bool count_ok(const uint32_t *patterns, unsigned int num, unsigned int version,
		     uint32_t count)
{
	uint32_t n = 0;

	for (unsigned int i = 0; i < num; i++) {
		if (patterns[i] & SIG_REPEAT)
			return count >= num - 1;
		if (!(patterns[i] & SIG_MORE))
			n++;
		else if (n == count)
			return true;
		else if (version < (patterns[i] >> SIG_FOLLOWS_SHIFT & 15))
			return false;
	}
	return n == count;
}

static bool match_list(struct match *m, const uint32_t *patterns, unsigned int num,
		       const uint32_t *indexes, uint32_t count)
{
	uint32_t k = 0, repeat;

	for (unsigned int i = 0; i < num && k < count; i++) {
		if (patterns[i] & SIG_MORE)
			continue;
		/* The others of the list take one operand each. */
		repeat = patterns[i] & SIG_REPEAT ? count - (num - 1) : 1;
		for (; repeat; repeat--, k++, m->at++)
			if (!match_operand(m, patterns[i], m->o->known[indexes[k]]))
				return false;
	}
	return true;
}

static bool match_form(const struct signature *s, const struct signature_form *form,
		       unsigned int version, const struct signature_operands *o,
		       struct signature_error *error)
{
	struct match m = { .o = o, .version = version, .error = error };

	if (version < form->since ||
	    !count_ok(form->in, form->num_in, version, o->num_inputs) ||
	    !count_ok(form->out, form->num_out, version, o->num_outputs))
		return fail(&m, SIG_COUNT);
	for (unsigned int v = 0; v < version; v++)
		m.types |= s->types[v];
	return match_list(&m, form->in, form->num_in, o->inputs, o->num_inputs) &&
	       match_list(&m, form->out, form->num_out, o->outputs, o->num_outputs);
}

bool signature_fits(uint32_t operation, unsigned int version,
		    const struct signature_operands *o)
{
	const struct signature *s = signature_find(operation);

	for (unsigned int i = 0; s && i < s->num_forms; i++)
		if (match_form(s, &s->forms[i], version, o, NULL))
			return true;
	return false;
}

unsigned int signature_since(uint32_t operation, const struct signature_operands *o)
{
	for (unsigned int version = SIG_1_0; version <= SIG_LATEST; version++)
		if (signature_fits(operation, version, o))
			return version;
	return 0;
}

void signature_explain(uint32_t operation, unsigned int version,
		       const struct signature_operands *o, struct signature_error *error)
{
	const struct signature *s = signature_find(operation);
	struct signature_error e;

	*error = (struct signature_error){ .misfit = SIG_UNKNOWN_OPERATION };
	if (!s)
		return;
	error->since = (uint8_t)signature_since(operation, o);
	if (error->since) {
		error->misfit = error->since > version ? SIG_LATER : SIG_FITS;
		return;
	}
	error->misfit = SIG_COUNT;
	for (unsigned int i = 0; i < s->num_forms; i++) {
		e = (struct signature_error){ .misfit = SIG_FITS };
		match_form(s, &s->forms[i], version, o, &e);
		if (e.misfit == SIG_COUNT)
			continue;
		if (error->misfit == SIG_COUNT || e.operand > error->operand)
			*error = e;
		else if (e.operand < error->operand || error->misfit != SIG_WRONG_TYPE)
			continue;
		else if (e.misfit == SIG_WRONG_TYPE)
			error->types |= e.types;
		else
			*error = e;
	}
}

bool signature_counts_ok(uint32_t operation, uint32_t num_inputs, uint32_t num_outputs)
{
	const struct signature *s = signature_find(operation);

	for (unsigned int i = 0; s && i < s->num_forms; i++) {
		const struct signature_form *f = &s->forms[i];

		if (count_ok(f->in, f->num_in, SIG_LATEST, num_inputs) &&
		    count_ok(f->out, f->num_out, SIG_LATEST, num_outputs))
			return true;
	}
	return false;
}

bool signature_may_omit(uint32_t operation, uint32_t position)
{
	const struct signature *s = signature_find(operation);

	for (unsigned int i = 0; s && i < s->num_forms; i++) {
		const struct signature_form *f = &s->forms[i];
		uint32_t n = 0;

		for (unsigned int k = 0; k < f->num_in; k++) {
			if (f->in[k] & SIG_MORE)
				continue;
			if (n++ == position && f->in[k] & SIG_OMITTED)
				return true;
		}
	}
	return false;
}
