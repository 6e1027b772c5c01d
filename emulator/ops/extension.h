/* SPDX-License-Identifier: MIT */
/*
 * What a vendor extension of the device model is.
 *
 * An extension has one row in the list below and one file. The file holds its name, its
 * operand types, and its operations with their signatures. The place in the list gives the
 * codes. IDENTIFY reports them to software.
 *
 * When check() of an operation is called, its operands fit the signature: their number,
 * their types, and their ranks as far as these are known; no operand is omitted. Otherwise
 * the functions of struct op_desc are called like those of the HAL's operations.
 */
#ifndef NNPU_EMU_EXTENSION_H
#define NNPU_EMU_EXTENSION_H

#include "op.h"

/* Codes of one extension: its operations and its types count from the same number. */
#define EXTENSION_SHIFT		8
#define EXTENSION_MAX		(1u << EXTENSION_SHIFT)

/* An operand type. Its number is its index in the table of the extension. */
struct extension_type {
	const char *name;
	uint32_t byte_size;		/* of a scalar or an element */
	bool is_tensor;
	/*
	 * Parameters: the number of bytes that every operand of the type has, and whether
	 * they are valid. They may be unaligned: copy them.
	 */
	uint32_t params_size;
	bool (*params_ok)(const void *params);
};

/* A type of the extension, as a bit of extension_operand.own. */
#define EXTENSION_TYPE(number)	(1u << (number))

/* What an operand may be. */
struct extension_operand {
	uint32_t base;			/* types of the HAL: SIG_TYPE() */
	uint32_t own;			/* types of the extension: EXTENSION_TYPE() */
	uint8_t min_rank, max_rank;	/* 0, 0: any; for tensors */
};

struct extension_signature {
	const struct extension_operand *in;
	const struct extension_operand *out;
	uint8_t num_in;
	uint8_t num_out;
};

struct extension_operation {
	struct extension_signature signature;
	struct op_desc desc;		/* op is not used */
};

struct extension {
	const char *name;
	bool is_example;		/* a device has it only if asked to */
	const struct extension_type *types;	/* by number; at most 32 */
	const struct extension_operation *operations;	/* by number */
	uint32_t num_types;
	uint32_t num_operations;
};

/* The order gives the codes: add new extensions at the end. */
#define EXTENSION_LIST(X) \
	X(fibonacci_extension)

#define EXTENSION_DECLARE(name)	extern const struct extension name;
EXTENSION_LIST(EXTENSION_DECLARE)
#undef EXTENSION_DECLARE

/* Number of extensions in the list. */
uint32_t extension_count(void);
/* Extension @i, less than extension_count(). */
const struct extension *extension_get(uint32_t i);
/* Number of extensions that a device offers, and which of the list, to @list if not NULL. */
uint32_t extension_offered(bool examples, uint32_t *list);
/* Does a device have what this code stands for? Codes of the HAL: yes. */
bool extension_offers(uint32_t code, bool examples);

static inline uint32_t extension_first_code(uint32_t i)
{
	return NNPU_CMD_EXTENSION + (i << EXTENSION_SHIFT);
}

/* The type with this code, or NULL. */
const struct extension_type *extension_find_type(uint32_t code);
/* The operation with this code, or NULL. */
const struct extension_operation *extension_find_operation(uint32_t code);

static inline bool type_is_extension(uint32_t type)
{
	return type >= NNPU_TYPE_EXTENSION;
}

/* Check the operands against the signature of @o, whose code is @opcode. 0, or -1 with error. */
int extension_check(uint32_t opcode, const struct extension_operation *o,
		    const struct op_call *c);

#endif /* NNPU_EMU_EXTENSION_H */
