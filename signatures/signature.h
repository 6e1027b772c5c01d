/* SPDX-License-Identifier: MIT */
/*
 * Which operands the operations of the HAL take. The library, the device model and the
 * documentation use the same table.
 *
 * A row of the table (signature_table.c) has one or more forms of an operation. A form
 * has a pattern for each operand. A pattern is a set of types, a range of ranks, and
 * whether the operand may be omitted. Some types depend on each other: they are written
 * as the type T of the operation and types that follow from T (SIG_BIAS and so on).
 *
 * The functions do not allocate memory. The table is read-only.
 */
#ifndef NNPU_SIGNATURE_H
#define NNPU_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <drm/nnpu_program.h>

/* Versions of the HAL: 1.0 is 1, as in enum nnhal_hal_version. */
enum signature_version {
	SIG_1_0 = 1,
	SIG_1_1,
	SIG_1_2,
	SIG_1_3,
	SIG_LATEST = SIG_1_3,
};

#define SIG_VERSIONS	4

/*
 * A pattern, and the description of an operand. Both have the types as bits 0 to 15.
 *
 * Pattern: bits 16-19 a type that follows from T, 20-23 and 24-27 least and greatest
 * rank (0 and 0: any), or, for SIG_MORE, bits 16-19 a version.
 * Operand: bits 20-23 rank if SIG_RANK_KNOWN.
 */
#define SIG_FOLLOWS_SHIFT	16
#define SIG_MIN_RANK_SHIFT	20
#define SIG_MAX_RANK_SHIFT	24
#define SIG_TYPES_MASK		0xffffu
/* Greatest rank of a pattern without one; operands of higher rank count as such. */
#define SIG_ANY_RANK		15u

#define SIG_TYPE(name)		(1u << NNPU_TYPE_##name)
#define SIG_RANKS(min, max)	((min) << SIG_MIN_RANK_SHIFT | (max) << SIG_MAX_RANK_SHIFT)
#define SIG_FOLLOWS(what)	((uint32_t)(what) << SIG_FOLLOWS_SHIFT)
/* Every type but SUBGRAPH. It also matches types of extensions and OEMs, which have no bit. */
#define SIG_ANY_TYPE		(SIG_TYPES_MASK & ~SIG_TYPE(SUBGRAPH))

/* Of a pattern: the operand may be omitted. Of an operand: it is omitted. */
#define SIG_OMITTED		(1u << 28)
#define SIG_RANK_KNOWN		(1u << 29)
/* Any number of operands like this. */
#define SIG_REPEAT		(1u << 30)
/* Not an operand: the list may end here, and the rest of it exists since a version. */
#define SIG_MORE		(1u << 31)

/* Types that follow from T, the type of an operation. */
enum signature_follows {
	SIG_ITSELF,			/* the pattern's own types */
	SIG_T,
	SIG_BIAS,			/* TENSOR_INT32 if T is quantized, else T */
	SIG_FILTER,			/* T, or one scale per channel if T is quantized */
	SIG_REAL,			/* FLOAT16 if T is TENSOR_FLOAT16, else FLOAT32 */
	SIG_VALUE,			/* INT32 if T is quantized, else as SIG_REAL */
	SIG_BOXES,			/* TENSOR_QUANT16_ASYMM if T is quantized, else T */
	SIG_ANCHORS,			/* TENSOR_QUANT16_SYMM if T is quantized, else T */
	SIG_NUM_FOLLOWS,
};

/* A rule for the TENSOR_QUANT8_ASYMM operands of an operation before HAL 1.2. */
enum signature_rule {
	SIG_RULE_NONE,
	SIG_RULE_SCALE,			/* output's scale > product of those of inputs 0 and 1 */
	SIG_RULE_SAME_QUANT,		/* inputs have scale and zero point of the output */
	SIG_RULE_ZERO_POINT,		/* zero point of input 0 is 0 */
};

struct signature_form {
	const uint32_t *in;
	const uint32_t *out;
	uint8_t num_in;			/* entries, SIG_MORE ones included */
	uint8_t num_out;
	uint8_t since;			/* enum signature_version */
};

struct signature {
	uint16_t types[SIG_VERSIONS];	/* T: the types that came with each version */
	uint8_t rule;			/* enum signature_rule */
	uint8_t num_forms;
	const struct signature_form *forms;
};

/* Operands of one operation. */
struct signature_operands {
	const uint32_t *known;		/* see signature_operand(), by operand index */
	const uint32_t *inputs;		/* operand indexes */
	const uint32_t *outputs;
	uint32_t num_inputs;
	uint32_t num_outputs;
};

enum signature_misfit {
	SIG_FITS,
	SIG_UNKNOWN_OPERATION,
	SIG_COUNT,			/* number of inputs or outputs */
	SIG_LATER,			/* legal in a later version: see since */
	SIG_WRONG_TYPE,
	SIG_WRONG_RANK,
	SIG_NOT_OMITTABLE,
};

/* Why operands do not fit. */
struct signature_error {
	enum signature_misfit misfit;
	uint32_t operand;		/* position, inputs first */
	uint32_t types;			/* SIG_WRONG_TYPE: the types that it may have */
	uint8_t min_rank, max_rank;	/* SIG_WRONG_RANK */
	uint8_t since;			/* SIG_LATER */
};

/* Row of an operation, NULL if it has none. */
const struct signature *signature_find(uint32_t operation);

/* Describes an operand. Types of extensions and OEMs match SIG_ANY_TYPE only. */
static inline uint32_t signature_operand(uint32_t type, bool rank_known, uint32_t rank,
					 bool omitted)
{
	uint32_t known = type < 16 ? 1u << type : 0;

	if (rank_known)
		known |= SIG_RANK_KNOWN | (rank < SIG_ANY_RANK ? rank : SIG_ANY_RANK) << SIG_MIN_RANK_SHIFT;
	return omitted ? known | SIG_OMITTED : known;
}

/* True if the operands fit a form of the operation in this version of the HAL. */
bool signature_fits(uint32_t operation, unsigned int version,
		    const struct signature_operands *o);

/* Explains why they do not fit, compared with the nearest form. For messages to people. */
void signature_explain(uint32_t operation, unsigned int version,
		       const struct signature_operands *o, struct signature_error *error);

/* The version since which these operands are legal; 0 if there is none. */
unsigned int signature_since(uint32_t operation, const struct signature_operands *o);

/* True if a form of the latest version has this number of operands. */
bool signature_counts_ok(uint32_t operation, uint32_t num_inputs, uint32_t num_outputs);

/* True if input @i may be omitted. */
bool signature_may_omit(uint32_t operation, uint32_t i);

/* The types that follow if T is one of @types, in a version. */
uint32_t signature_following(enum signature_follows what, uint32_t types, unsigned int version);

#endif /* NNPU_SIGNATURE_H */
