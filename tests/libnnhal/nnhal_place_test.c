// SPDX-License-Identifier: MIT
/*
 * nnhal_ext_get_place(): which part of a model a message is about.
 */
#include <stdlib.h>

#include "nnhal_fixture.h"

#define NONE	NNHAL_EXT_PLACE_NONE

static void about(const struct nnhal_diag *diag, uint32_t subgraph, uint32_t operation,
		  uint32_t operand, const char *what)
{
	struct nnhal_ext_place place = NNHAL_EXT_PLACE_INIT;

	place.operation = 4711;
	if (!ok(!nnhal_ext_get_place(diag, &place) && place.subgraph == subgraph &&
		place.operation == operation && place.operand == operand, "%s", what))
		tap_note("'%s': subgraph %d, operation %d, operand %d", diag->message,
			 (int)place.subgraph, (int)place.operation, (int)place.operand);
}

static void test_validation(struct fixture *f)
{
	make_add_relu(f);
	f->graph.operands[3].type = NNHAL_OPERAND_TENSOR_INT32;
	ok(!nnhal_validate_model(&f->model, &f->diag), "a sum of another type");
	about(&f->diag, NONE, 0, 3, "operation and operand");
	make_add_relu(f);
	f->graph.operations[1].num_inputs = 0;
	f->graph.operands[3].number_of_consumers = 0;
	ok(!nnhal_validate_model(&f->model, &f->diag), "a RELU of nothing");
	about(&f->diag, NONE, 1, NONE, "an operation");
	make_add_relu(f);
	f->graph.operands[4].scale = 1;
	ok(!nnhal_validate_model(&f->model, &f->diag), "a scale of a float");
	about(&f->diag, NONE, NONE, 4, "an operand");
	make_if(f);
	f->sub[1].operands[0].scale = 1;
	ok(!nnhal_validate_model(&f->model, &f->diag), "the same in a subgraph");
	about(&f->diag, 1, NONE, 0, "an operand of a subgraph");
	make_add_relu(f);
	f->model.main.num_inputs = 0;
	ok(!nnhal_validate_model(&f->model, &f->diag), "no inputs");
	about(&f->diag, NONE, NONE, NONE, "the model as a whole");
}

/* What only the device sees. */
static void test_prepare(struct fixture *f, struct nnhal_device *device)
{
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	struct nnhal_prepared_model *prepared = NULL;

	make_add_relu(f);
	f->graph.dims[4][0] = 3;
	options.diag = &f->diag;
	ok(nnhal_device_prepare_model_sync(device, &f->model, &options, &prepared) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "a result of another shape");
	about(&f->diag, NONE, 1, 4, "operation and operand that the device names");
}

int main(void)
{
	struct nnhal_ext_place place = { .size = 1 };
	struct fixture *f = calloc(1, sizeof(*f));
	struct nnhal_diag diag = { "subgraph 1" };
	struct nnhal_device *device = NULL;

	test_validation(f);
	if (ok(!nnhal_device_open("sim", &device, &f->diag), "the device"))
		test_prepare(f, device);
	nnhal_device_unref(device);
	about(&diag, 1, NONE, NONE, "a subgraph as a whole");
	ok(nnhal_ext_get_place(&diag, &place) == NNHAL_STATUS_INVALID_ARGUMENT, "a wrong size");
	ok(nnhal_ext_get_place(&diag, NULL) == NNHAL_STATUS_INVALID_ARGUMENT, "no place");
	ok(nnhal_ext_get_place(NULL, &place) == NNHAL_STATUS_INVALID_ARGUMENT, "no message");
	free(f);
	return tap_done();
}
