/* SPDX-License-Identifier: MIT */
/*
 * The verdict on a command: what goes into its completion and its result block.
 */
#ifndef NNPU_EMU_VERDICT_H
#define NNPU_EMU_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "nnpu_hw.h"

/* Are all bytes 0? For reserved fields: a few words, of a length the compiler knows. */
static inline bool is_zero(const void *p, size_t len)
{
	const uint8_t *bytes = p;
	uint64_t word, all = 0;

	for (; len >= sizeof(word); bytes += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		all |= word;
	}
	for (; len; bytes++, len--)
		all |= *bytes;
	return !all;
}

struct verdict {
	uint16_t status;		/* NNPU_STATUS_* */
	uint16_t reason;		/* NNPU_REASON_* */
	uint16_t operand;		/* position, or NNPU_OPERAND_NONE */
	uint32_t error;			/* number of the command, tensor or argument */
};

#define VERDICT_SUCCESS		((struct verdict){ .operand = NNPU_OPERAND_NONE })

/* Both return -1, so that a check can return the call. */
static inline int verdict_set(struct verdict *v, unsigned int status, unsigned int reason,
			      uint32_t error, unsigned int operand)
{
	v->status = (uint16_t)status;
	v->reason = (uint16_t)reason;
	v->error = error;
	v->operand = (uint16_t)operand;
	return -1;
}

static inline int verdict_status(struct verdict *v, unsigned int status)
{
	return verdict_set(v, status, NNPU_REASON_NONE, 0, NNPU_OPERAND_NONE);
}

/* An access for operand @number ended with @status. An end or a lack of memory is not its fault. */
static inline int verdict_access(struct verdict *v, unsigned int status, uint32_t number)
{
	bool of_operand = status == NNPU_STATUS_INVALID_SLOT ||
			  status == NNPU_STATUS_SLOT_BOUNDS ||
			  status == NNPU_STATUS_SLOT_RIGHTS || status == NNPU_STATUS_DMA_ERROR;

	return verdict_set(v, status, NNPU_REASON_NONE, of_operand ? number : 0,
			   NNPU_OPERAND_NONE);
}

#endif /* NNPU_EMU_VERDICT_H */
