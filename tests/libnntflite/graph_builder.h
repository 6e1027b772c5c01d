/* SPDX-License-Identifier: MIT */
/*
 * Building files of several subgraphs operator by operator, and running them.
 */
#ifndef TESTS_NNTFLITE_GRAPH_BUILDER_H
#define TESTS_NNTFLITE_GRAPH_BUILDER_H

#include <nntflite/session.h>
#include <tap.h>

#include "model_writer.h"

/* The file that was written last. */
extern uint8_t bytes_of_file[MW_MAX_SIZE];

/* New tensors, with one dimension, or none with a size of 0; each returns its number. */
int32_t add_tensor(struct mw_model *g, int type, int32_t size);
int32_t add_input(struct mw_model *g, int type, int32_t size);
int32_t add_constant(struct mw_model *g, int type, int32_t size, const void *data);

/* Tensor @tensor is an output of the subgraph. */
void add_output(struct mw_model *g, int32_t tensor);

/* An operator, what it reads and what it writes. */
struct mw_operator *add_operator(struct mw_model *g, int32_t code, uint8_t options_type);
void reads(struct mw_operator *op, int32_t tensor);
void writes(struct mw_operator *op, int32_t tensor);
/* The result of an operator on two tensors, of the size of @a. */
int32_t binary(struct mw_model *g, int32_t code, int32_t a, int32_t b);
/* An operator that refers to subgraphs: IF and WHILE to two, CALL and CALL_ONCE to one. */
struct mw_operator *refers(struct mw_model *g, int32_t code, int32_t first, int32_t second);

/* The variable of a name, float values that are read from it, and assignments. */
int32_t add_handle(struct mw_model *g, const char *name);
int32_t add_read(struct mw_model *g, int32_t variable, int32_t size);
void add_assign(struct mw_model *g, int32_t variable, int32_t value);

/* Subgraph @other behind those that there are; @g is the main one. */
void add_subgraph(struct mw_model *g, const struct mw_model *other);

/*
 * Write the file. With NNTFLITE_SEEDS in the environment it is kept in that folder, for the
 * fuzzer to begin with.
 */
size_t write_file(const struct mw_model *model);

/* A file that runs. */
struct opened {
	struct nntflite_file *file;
	struct nntflite_model *model;
	struct nntflite_session *session;
};

/* What went wrong in one of the next three. */
extern char builder_note[NNTFLITE_DIAG_SIZE + 64];

/* Does the file become a session? close_session() in either case. */
bool session_opens(struct nnhal_device *device, const struct mw_model *model, struct opened *o);
void close_session(struct opened *o);
/* Is output 0 that for these inputs? */
bool session_gives(struct opened *o, const void *in0, const void *in1, uint32_t count,
		   const float *expected);
/* Is no model made of the file, and does the reason have these words and name a place? */
bool file_is_refused(const struct mw_model *model, const char *words);

/* The same as one check each; tap.h counts in the file that includes it. */
static inline bool open_session(struct nnhal_device *device, const struct mw_model *model,
				struct opened *o, const char *what)
{
	bool opens = ok(session_opens(device, model, o), "%s: a session", what);

	if (!opens)
		tap_note("%s", builder_note);
	return opens;
}

static inline void gives(struct opened *o, const void *in0, const void *in1, uint32_t count,
			 const float *expected, const char *what)
{
	if (o->session && !ok(session_gives(o, in0, in1, count, expected), "%s", what))
		tap_note("%s", builder_note);
}

static inline void refused(const struct mw_model *model, const char *words, const char *what)
{
	if (!ok(file_is_refused(model, words), "%s is refused: %s", what, words))
		tap_note("%s", builder_note);
}

/* while (i < limit) { i++; acc = f(acc); }, where f is subgraph 3. Inputs: limit, acc. */
struct loop {
	struct mw_model main;
	struct mw_model condition;
	struct mw_model body;
};

void build_loop(struct loop *l, const struct mw_model *f, int32_t size);

#endif /* TESTS_NNTFLITE_GRAPH_BUILDER_H */
