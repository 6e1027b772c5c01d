/* SPDX-License-Identifier: MIT */
/*
 * Mapping a .tflite file to a HAL model.
 */
#ifndef NNTFLITE_MAP_MAP_MODEL_H
#define NNTFLITE_MAP_MAP_MODEL_H

#include "../file/tflite.h"
#include "hal_builder.h"

struct mapper;

/* A subgraph of the file: whether it is mapped already. */
enum subgraph_state { SUBGRAPH_NEW, SUBGRAPH_BEGUN, SUBGRAPH_DONE };

/* A subgraph of the file: whether it has initialized variables. */
enum initializer_state { INITIALIZER_NEW, INITIALIZER_FAILED, INITIALIZER_DONE };

/* IF and WHILE one inside the other; no file in use comes near. */
#define MAX_DEPTH	16

/*
 * A variable: its tensor, or NNTFLITE_NONE and its resource; the operands before and after
 * (-1: never written).
 */
struct map_variable {
	uint32_t tensor;
	int resource;
	int input;
	int output;
};

/* A verdict on an operator that cannot be mapped. */
struct refusal {
	uint32_t subgraph;
	uint32_t op;
	char reason[NNTFLITE_DIAG_SIZE];
};

/**
 * struct map_model - a HAL model and how it came about
 * @tflite: the file
 * @builder: the HAL model and what it is made of
 * @main: the subgraph that it is made of
 * @signature: the signature that names inputs and outputs, or NULL
 * @shapes: wishes of the caller
 * @judge: go on after an operator that cannot be mapped: it becomes an entry of @refusals,
 *	and its outputs become inputs of the model
 * @is_initializer: the model computes the values of variables before the first run
 * @initializer: the model that does that for this one, or NULL
 * @infer_left: operators, tensors and references of subgraphs that may still be followed for
 *	their shapes: a chain of calls can ask for too many
 * @depth: subgraphs that are being mapped one inside the other
 * @diag: where failures go, while the model is being mapped
 */
struct map_model {
	const struct tflite_model *tflite;
	struct hal_builder builder;
	uint32_t main;
	const struct tflite_signature *signature;
	const struct nntflite_shape *shapes;
	uint32_t num_shapes;
	struct nntflite_io *inputs;
	struct nntflite_io *outputs;
	uint32_t num_inputs;
	uint32_t num_outputs;
	struct map_variable *states_kept;	/* num_variables */
	struct nntflite_variable *variables;
	uint32_t num_variables;
	enum subgraph_state *states;	/* of the subgraphs of the file */
	enum initializer_state *initializers;	/* likewise */
	uint32_t num_initializers;	/* those that are not new */
	struct instance **instances;	/* of each subgraph that is mapped: interface.h */
	bool uses_resources;		/* the file has some */
	struct resource *resources;	/* resources.h */
	uint32_t num_resources;
	struct effects **effects;	/* of each subgraph */
	bool is_initializer;
	struct map_model *initializer;
	uint64_t infer_left;
	bool judge;
	struct refusal *refusals;
	uint32_t num_refusals;
	uint32_t depth;
	struct nntflite_diag *diag;
};

/* Take over the options of the caller, which may be NULL. 0 or -1. */
int map_model_choose(struct map_model *map, const struct nntflite_model_options *options,
		     struct nntflite_diag *diag);

/**
 * map_model() - map a file
 * @model: zeroed but for @tflite, @main, @signature, @shapes, @num_shapes and @judge; to be
 *	released with map_model_free(), also after an error
 * @diag: names the operator and tensor that cannot be mapped
 *
 * Return: 0 or -1.
 */
int map_model(struct map_model *model, struct nntflite_diag *diag);
void map_model_free(struct map_model *model);

/* nntflite_model_explain(): @diag becomes @why with its place in the file. */
void explain_place(const struct map_model *model, const struct nnhal_diag *why,
		   struct nntflite_diag *diag);

struct shape;
/**
 * resolve_shapes() - the shapes of all tensors of a subgraph
 * @model: model
 * @subgraph: number of the subgraph
 * @given: shapes of its inputs; NULL in the main subgraph, where those of the file hold and
 *	those that the caller wishes
 * @shapes: out: one per tensor
 *
 * Return: 0 or -1.
 */
int resolve_shapes(struct map_model *model, uint32_t subgraph, const struct shape *given,
		   struct shape *shapes);

/*
 * A variable like *@operand of tensor @tensor or resource @resource. Its index, or -1. Those of
 * an initializer have no operand before.
 */
int variable_keep(struct mapper *m, const struct nnhal_operand *operand, uint32_t tensor,
		  int resource);
/* Is the tensor a variable that operators have met? */
bool variable_is_kept(const struct mapper *m, uint32_t tensor);
/* Forget what operands from @num_operands on were for. */
void variables_go_back(struct mapper *m, uint32_t num_operands);
/* Fill in @variables of the model after its main subgraph. 0 or -1. */
int variables_finish(struct mapper *m);

#endif /* NNTFLITE_MAP_MAP_MODEL_H */
