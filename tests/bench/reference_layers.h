/* SPDX-License-Identifier: MIT */
/*
 * The operations of a HAL model as XNNPACK's operators, one for one, on one thread.
 */
#ifndef NNPU_BENCH_REFERENCE_LAYERS_H
#define NNPU_BENCH_REFERENCE_LAYERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <nntflite/nntflite.h>

#include "userspace/tools/common/error.h"

struct layers;

/*
 * Build the operators of a model, whose shapes are all known; its constants must stay.
 * NULL with the error filled in: the operation XNNPACK has nothing for.
 */
struct layers *layers_create(const struct nntflite_model *model, struct error *err);
void layers_destroy(struct layers *layers);

/*
 * Build the operators of those operations that XNNPACK has. @values has the memory of each operand,
 * with its value, to which XNN_EXTRA_BYTES are added; it stays the caller's and must stay.
 */
struct layers *layers_create_some(const struct nnhal_model *hal, void **values, struct error *err);

/* Has it an operator for an operation, and is the result known before anything runs? */
bool layers_has(const struct layers *layers, uint32_t operation);
bool layers_is_fixed(const struct layers *layers, uint32_t operation);

/* Run one of them. 0 or -1. */
int layers_run_one(struct layers *layers, uint32_t operation);

/* Memory of the input and the output of a model with one of each, and its size. */
void *layers_input(struct layers *layers, size_t *bytes);
const void *layers_output(struct layers *layers, size_t *bytes);

/* Run all of them. 0 or -1. */
int layers_run(struct layers *layers);

/* The same with the time of each operation in @ns, which has room for all. */
int layers_time(struct layers *layers, uint64_t *ns);

#endif /* NNPU_BENCH_REFERENCE_LAYERS_H */
