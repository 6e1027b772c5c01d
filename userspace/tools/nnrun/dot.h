/* SPDX-License-Identifier: MIT */
/*
 * A HAL model as a Graphviz graph.
 */
#ifndef NNRUN_DOT_H
#define NNRUN_DOT_H

#include <stdio.h>

#include <nnhal/nnhal.h>

/*
 * Write the graph of @model, subgraphs it refers to included. Any model will do,
 * also an invalid one. @name goes into a comment.
 */
void dot_write(FILE *stream, const char *name, const struct nnhal_model *model);

#endif /* NNRUN_DOT_H */
