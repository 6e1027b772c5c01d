/* SPDX-License-Identifier: MIT */
/*
 * Pairs of faults in one record: the device reports the one that its specification checks first.
 */
#ifndef TESTS_EMULATOR_FAULT_PAIRS_H
#define TESTS_EMULATOR_FAULT_PAIRS_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "rig.h"
#include "tap.h"

/* A field gets a value that one rule forbids. Lists of faults are in the order of their rules. */
struct fault {
	const char *text;
	unsigned int offset, bytes;
	uint64_t value;
	unsigned int status, reason;
	unsigned int operand;		/* NNPU_OPERAND_NONE: of none, or it does not matter */
};

#define FAULT(s, field, value, status, reason) \
	{ #field " = " #value, offsetof(struct s, field), sizeof(((struct s *)0)->field), value, \
	  NNPU_STATUS_##status, NNPU_REASON_##reason, NNPU_OPERAND_NONE }

#define FAULT_COUNT(a)	(sizeof(a) / sizeof((a)[0]))

/* Where faults go, and how they show. */
struct place {
	const char *name;
	void (*build)(void);		/* without a fault */
	uint8_t *(*record)(void);
	bool (*refused_for)(const struct fault *f, uint32_t error);
	uint32_t error;
};

static inline void fault_inject(uint8_t *record, const struct fault *f)
{
	uint64_t le = htole64(f->value);

	/* Of an array the first bytes. */
	memcpy(record + f->offset, &le, f->bytes < sizeof(le) ? f->bytes : sizeof(le));
}

/* Is it the one that a completion names? */
static inline bool fault_is(const struct fault *f, int status, const struct nnpu_cqe *cqe,
			    uint32_t error)
{
	return status == (int)f->status && le16toh(cqe->reason) == f->reason &&
	       le32toh(cqe->error) == error &&
	       (f->operand == NNPU_OPERAND_NONE || le16toh(cqe->operand) == f->operand);
}

/* Two faults are no pair in one field, or if one cannot tell which of them is reported. */
static inline bool fault_pair(const struct fault *a, const struct fault *b)
{
	if (a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes)
		return false;
	return a->status != b->status || a->reason != b->reason || a->operand != b->operand;
}

/* Each fault alone, and each pair. */
static inline void fault_pairs(const struct place *p, const struct fault *faults,
			       unsigned int count)
{
	unsigned int a, b, pairs = 0;

	for (a = 0; a < count; a++) {
		p->build();
		fault_inject(p->record(), &faults[a]);
		ok(p->refused_for(&faults[a], p->error), "%s: %s alone", p->name, faults[a].text);
		for (b = a + 1; b < count; b++) {
			if (!fault_pair(&faults[a], &faults[b]))
				continue;
			p->build();
			fault_inject(p->record(), &faults[a]);
			fault_inject(p->record(), &faults[b]);
			if (!p->refused_for(&faults[a], p->error))
				ok(false, "%s: %s before %s", p->name, faults[a].text,
				   faults[b].text);
			pairs++;
		}
	}
	ok(pairs + 1 >= count, "%s: %u pairs", p->name, pairs);
}

#endif /* TESTS_EMULATOR_FAULT_PAIRS_H */
