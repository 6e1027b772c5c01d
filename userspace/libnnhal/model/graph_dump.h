/* SPDX-License-Identifier: MIT */
/*
 * A model as a graph in the log.
 */
#ifndef NNHAL_GRAPH_DUMP_H
#define NNHAL_GRAPH_DUMP_H

#include <nnhal/types.h>

#include "base/vlog.h"

/* Line by line, if the tag "model" is on. Any model will do. */
void graph_log(const struct vlog *log, const char *name, const struct nnhal_model *model);

#endif /* NNHAL_GRAPH_DUMP_H */
