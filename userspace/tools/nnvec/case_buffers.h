/* SPDX-License-Identifier: MIT */
/*
 * Arguments of an execution in buffers of the device.
 */
#ifndef NNVEC_CASE_BUFFERS_H
#define NNVEC_CASE_BUFFERS_H

#include "case_model.h"
#include "variation.h"

/**
 * struct case_buffer - an argument in a buffer
 * @buffer: buffer, or NULL: the argument stays in its pool
 * @token: its token
 * @memory: memory of the size of the operand; NULL if that has no bytes
 * @bytes: its mapping
 */
struct case_buffer {
	struct nnhal_buffer *buffer;
	uint32_t token;
	struct nnhal_memory *memory;
	uint8_t *bytes;
};

/*
 * Allocate buffers for the arguments of a prepared model, inputs before outputs; @list has a zeroed
 * entry for each. Returns false with a text of REASON_TEXT bytes; case_buffers_free() has to be
 * called in any case.
 */
bool case_buffers_init(struct case_buffer *list, struct nnhal_device *device,
		       struct nnhal_prepared_model *model, const struct vec_model *m,
		       enum tokens tokens, char *text);
void case_buffers_free(struct case_buffer *list, uint32_t count);
/* Before an execution: copy the inputs, which are in their pools, to their buffers. */
bool case_buffers_fill(const struct case_buffer *list, const struct vec_model *m, char *text);
/*
 * After an execution that succeeded: copy the outputs from their buffers to their pools. Inputs must
 * be unchanged.
 */
bool case_buffers_read(const struct case_buffer *list, const struct vec_model *m, char *text);

#endif /* NNVEC_CASE_BUFFERS_H */
