/* SPDX-License-Identifier: MIT */
/*
 * A model of the HAL as one of the NNAPI: what a delegate does with the graph of a framework.
 */
#ifndef HAL_GRAPH_H
#define HAL_GRAPH_H

#include <android/NeuralNetworks.h>
#include <nnhal/types.h>

/**
 * struct graph_pool - memory of constants
 * @bytes: where it is; the model refers to it as long as it lives
 * @memory: the same as memory of the NNAPI; NULL: constants are set by pointer
 */
struct graph_pool {
	const uint8_t *bytes;
	const ANeuralNetworksMemory *memory;
};

/**
 * struct graph - a finished model of the NNAPI
 * @model: the main subgraph
 * @num_referenced: entries of @referenced
 * @referenced: models of the other subgraphs; NULL where nothing refers to one
 * @error: after a failure: the call that failed, and for what
 */
struct graph {
	ANeuralNetworksModel *model;
	uint32_t num_referenced;
	ANeuralNetworksModel **referenced;
	char error[160];
};

/*
 * Make a model. @pools has an entry for each pool of @hal; both must outlive the graph, as values above
 * 128 bytes stay where they are. Returns the result of the call that failed, with
 * @graph->error; graph_free() is to be called in any case.
 */
int graph_build(struct graph *graph, const struct nnhal_model *hal,
		const struct graph_pool *pools);
void graph_free(struct graph *graph);

#endif /* HAL_GRAPH_H */
