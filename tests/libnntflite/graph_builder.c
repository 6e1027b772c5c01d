// SPDX-License-Identifier: MIT
/*
 * Building files of several subgraphs operator by operator, and running them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph_builder.h"
#include "userspace/libnntflite/file/schema.h"

uint8_t bytes_of_file[MW_MAX_SIZE];
char builder_note[NNTFLITE_DIAG_SIZE + 64];

/* Building blocks; tensors have one dimension, or none with a size of 0. */

int32_t add_tensor(struct mw_model *g, int type, int32_t size)
{
	static const char *const names[MW_MAX] = {
		"t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9", "t10", "t11", "t12",
		"t13", "t14", "t15",
	};
	struct mw_tensor *t = &g->tensors[g->num_tensors];

	*t = (struct mw_tensor){ .name = names[g->num_tensors], .type = type, .rank = size != 0,
				 .dims = { size } };
	return (int32_t)g->num_tensors++;
}

int32_t add_input(struct mw_model *g, int type, int32_t size)
{
	return g->inputs[g->num_inputs++] = add_tensor(g, type, size);
}

int32_t add_constant(struct mw_model *g, int type, int32_t size, const void *data)
{
	int32_t t = add_tensor(g, type, size);

	g->tensors[t].data = data;
	g->tensors[t].data_size = 4 * (size ? (uint32_t)size : 1);
	return t;
}

void add_output(struct mw_model *g, int32_t tensor)
{
	g->outputs[g->num_outputs++] = tensor;
}

struct mw_operator *add_operator(struct mw_model *g, int32_t code, uint8_t options_type)
{
	struct mw_operator *op = &g->operators[g->num_operators++];

	*op = (struct mw_operator){ .code = code, .options_type = options_type,
				    .no_options = options_type == 0 };
	return op;
}

void reads(struct mw_operator *op, int32_t tensor)
{
	op->inputs[op->num_inputs++] = tensor;
}

void writes(struct mw_operator *op, int32_t tensor)
{
	op->outputs[op->num_outputs++] = tensor;
}

/* The result of an operator on two tensors, of the size of @a. */
int32_t binary(struct mw_model *g, int32_t code, int32_t a, int32_t b)
{
	int type = code == TFLITE_LESS ? TFLITE_BOOL : g->tensors[a].type;
	int32_t out = add_tensor(g, type, g->tensors[a].rank ? g->tensors[a].dims[0] : 0);
	struct mw_operator *op = add_operator(g, code, 0);

	reads(op, a);
	reads(op, b);
	writes(op, out);
	return out;
}

/* An operator that refers to subgraphs. */
struct mw_operator *refers(struct mw_model *g, int32_t code, int32_t first, int32_t second)
{
	uint8_t type = code == TFLITE_IF ? TFLITE_IF_OPTIONS :
		       code == TFLITE_WHILE ? TFLITE_WHILE_OPTIONS :
		       code == TFLITE_CALL ? TFLITE_CALL_OPTIONS : TFLITE_CALL_ONCE_OPTIONS;
	struct mw_operator *op = add_operator(g, code, type);

	op->options[0] = (struct mw_option){ MW_I32, 0, first, 0, NULL };
	if (code == TFLITE_IF || code == TFLITE_WHILE)
		op->options[1] = (struct mw_option){ MW_I32, 1, second, 0, NULL };
	return op;
}

/* A reference to the variable of a name. */
int32_t add_handle(struct mw_model *g, const char *name)
{
	int32_t t = add_tensor(g, TFLITE_RESOURCE, 0);
	struct mw_operator *op = add_operator(g, TFLITE_VAR_HANDLE, TFLITE_VAR_HANDLE_OPTIONS);

	op->options[0] = (struct mw_option){ MW_TEXT, 1, (int32_t)strlen(name), 0, name };
	writes(op, t);
	return t;
}

int32_t add_read(struct mw_model *g, int32_t variable, int32_t size)
{
	int32_t t = add_tensor(g, TFLITE_FLOAT32, size);
	struct mw_operator *op = add_operator(g, TFLITE_READ_VARIABLE, 0);

	reads(op, variable);
	writes(op, t);
	return t;
}

void add_assign(struct mw_model *g, int32_t variable, int32_t value)
{
	struct mw_operator *op = add_operator(g, TFLITE_ASSIGN_VARIABLE, 0);

	reads(op, variable);
	reads(op, value);
}

void add_subgraph(struct mw_model *g, const struct mw_model *other)
{
	g->num_subgraphs = g->num_subgraphs ? g->num_subgraphs : 1;
	g->subgraphs[g->num_subgraphs++ - 1] = other;
}

/* Running what was built. */

/*
 * Write the file. With NNTFLITE_SEEDS in the environment it is kept in that folder, for the
 * fuzzer to begin with.
 */
size_t write_file(const struct mw_model *model)
{
	const char *folder = getenv("NNTFLITE_SEEDS");
	size_t size = mw_write(model, bytes_of_file);
	static uint32_t number;
	char path[256];
	FILE *f;

	if (!folder)
		return size;
	snprintf(path, sizeof(path), "%s/%s%u.tflite", folder, program_invocation_short_name,
		 number++);
	f = fopen(path, "wb");
	if (!f || fwrite(bytes_of_file, 1, size, f) != size || fclose(f)) {
		perror(path);
		exit(1);
	}
	return size;
}

bool session_opens(struct nnhal_device *device, const struct mw_model *model, struct opened *o)
{
	struct nntflite_diag diag;
	size_t size = write_file(model);

	*o = (struct opened){ NULL, NULL, NULL };
	if (nntflite_file_open_memory(bytes_of_file, size, &o->file, &diag) == NNHAL_STATUS_NONE &&
	    nntflite_model_create(o->file, NULL, &o->model, &diag) == NNHAL_STATUS_NONE &&
	    nntflite_session_create(o->model, device, NULL, &o->session, &diag) ==
	    NNHAL_STATUS_NONE)
		return true;
	snprintf(builder_note, sizeof(builder_note), "%s", diag.message);
	return false;
}

void close_session(struct opened *o)
{
	nntflite_session_destroy(o->session);
	nntflite_model_destroy(o->model);
	nntflite_file_close(o->file);
}

bool session_gives(struct opened *o, const void *in0, const void *in1, uint32_t count,
		   const float *expected)
{
	struct nntflite_value value = NNTFLITE_VALUE_INIT;
	const void *in[] = { in0, in1 };
	struct nntflite_diag diag = { .message = "" };
	uint32_t i;

	for (i = 0; i < nntflite_model_num_inputs(o->model) && i < 2; i++)
		memcpy(nntflite_session_input(o->session, i), in[i],
		       nntflite_model_input(o->model, i)->bytes);
	if (nntflite_session_run(o->session, NULL, NULL, &diag) == NNHAL_STATUS_NONE &&
	    nntflite_session_output(o->session, 0, &value) == NNHAL_STATUS_NONE &&
	    value.bytes == 4 * (size_t)count && !memcmp(value.data, expected, value.bytes))
		return true;
	snprintf(builder_note, sizeof(builder_note), "%s; %zu bytes, first %g", diag.message,
		 value.bytes, value.bytes ? (double)*(const float *)value.data : 0);
	return false;
}

bool file_is_refused(const struct mw_model *model, const char *words)
{
	struct nntflite_file *file = NULL;
	struct nntflite_model *made = NULL;
	struct nntflite_diag diag;
	size_t size = write_file(model);
	bool right;

	right = nntflite_file_open_memory(bytes_of_file, size, &file, &diag) == NNHAL_STATUS_NONE &&
		nntflite_model_create(file, NULL, &made, &diag) == NNHAL_STATUS_INVALID_ARGUMENT &&
		!made && strstr(diag.message, words) &&
		(strstr(diag.message, "operator ") || strstr(diag.message, "tensor "));
	snprintf(builder_note, sizeof(builder_note), "got '%s'", diag.message);
	nntflite_model_destroy(made);
	nntflite_file_close(file);
	return right;
}

void build_loop(struct loop *l, const struct mw_model *f, int32_t size)
{
	static const int32_t zero, one = 1;
	int32_t limit, acc, i, out[3], called;
	struct mw_operator *op;
	uint32_t k;

	*l = (struct loop){ .main.num_inputs = 0 };
	i = add_input(&l->condition, TFLITE_INT32, 0);
	limit = add_input(&l->condition, TFLITE_INT32, 0);
	add_input(&l->condition, TFLITE_FLOAT32, size);
	add_output(&l->condition, binary(&l->condition, TFLITE_LESS, i, limit));

	i = add_input(&l->body, TFLITE_INT32, 0);
	limit = add_input(&l->body, TFLITE_INT32, 0);
	acc = add_input(&l->body, TFLITE_FLOAT32, size);
	add_output(&l->body, binary(&l->body, TFLITE_ADD, i,
				    add_constant(&l->body, TFLITE_INT32, 0, &one)));
	add_output(&l->body, limit);
	called = add_tensor(&l->body, TFLITE_FLOAT32, size);
	op = refers(&l->body, TFLITE_CALL, 3, 0);
	reads(op, acc);
	writes(op, called);
	add_output(&l->body, called);

	limit = add_input(&l->main, TFLITE_INT32, 0);
	acc = add_input(&l->main, TFLITE_FLOAT32, size);
	i = add_constant(&l->main, TFLITE_INT32, 0, &zero);
	out[0] = add_tensor(&l->main, TFLITE_INT32, 0);
	out[1] = add_tensor(&l->main, TFLITE_INT32, 0);
	out[2] = add_tensor(&l->main, TFLITE_FLOAT32, size);
	op = refers(&l->main, TFLITE_WHILE, 1, 2);
	reads(op, i);
	reads(op, limit);
	reads(op, acc);
	for (k = 0; k < 3; k++)
		writes(op, out[k]);
	add_output(&l->main, out[2]);
	add_subgraph(&l->main, &l->condition);
	add_subgraph(&l->main, &l->body);
	add_subgraph(&l->main, f);
}
