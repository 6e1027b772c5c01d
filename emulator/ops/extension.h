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
	const char *name;		/* NULL: a hole */
	uint32_t byte_size;		/* of a scalar or an element */
	bool is_tensor;
	/*
	 * Parameters: the number of bytes that every operand of the type has, and whether
	 * they are valid. They may be unaligned: copy them.
	 */
	uint32_t params_size;
	bool (*params_ok)(const void *params);
};

/* Sets of types: SIG_TYPE() for those of the HAL, and this for those of the extension. */
#define EXTENSION_TYPE(number)	(1ull << (32 + (number)))
#define EXTENSION_MAX_TYPES	32u

/* An operand may be omitted. */
#define EXTENSION_OPTIONAL	(1u << 0)
/* The operand stands for one or more of its kind; only one of the inputs or outputs may. */
#define EXTENSION_REPEATED	(1u << 1)

/* What an operand may be. */
struct extension_operand {
	uint64_t types;
	uint8_t min_rank, max_rank;	/* 0, 0: any; for tensors */
	uint8_t flags;			/* EXTENSION_* */
};

struct extension_signature {
	const struct extension_operand *in;
	const struct extension_operand *out;
	uint8_t num_in;
	uint8_t num_out;
};

struct extension_operation {
	struct extension_signature signature;
	struct op_desc desc;		/* op is its own number, if at all; no name: a hole */
};

struct extension {
	const char *name;
	bool is_example;		/* a device has it only if asked to */
	const struct extension_type *types;	/* by number */
	const struct extension_operation *operations;	/* by number */
	uint32_t num_types;		/* entries of the tables, holes included */
	uint32_t num_operations;
};

/* The order gives the codes: add new extensions at the end. */
#define EXTENSION_LIST(X) \
	X(fibonacci_extension) \
	X(tflite_extension)

#define EXTENSION_DECLARE(name)	extern const struct extension name;
EXTENSION_LIST(EXTENSION_DECLARE)
#undef EXTENSION_DECLARE

/* The place of an extension in the list: fibonacci_extension_index, ... */
#define EXTENSION_INDEX(name)	name##_index,
enum extension_index { EXTENSION_LIST(EXTENSION_INDEX) EXTENSION_COUNT };
#undef EXTENSION_INDEX

/* Code of an operation or a type of extension @i of the list. */
#define EXTENSION_CODE(i, number)	(NNPU_CMD_EXTENSION + ((i) << EXTENSION_SHIFT) + (number))

/* Extension @i, less than EXTENSION_COUNT. */
const struct extension *extension_get(uint32_t i);
/* Number of extensions that a device offers, and which of the list, to @list if not NULL. */
uint32_t extension_offered(bool examples, uint32_t *list);
/* Does a device have what this code stands for? Codes of the HAL: yes. */
bool extension_offers(uint32_t code, bool examples);

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
