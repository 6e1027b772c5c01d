// SPDX-License-Identifier: MIT
/*
 * Which operators of a file cannot run, and why.
 */
#include <inttypes.h>

#include "../common/plural.h"
#include "verdicts.h"

struct printer {
	FILE *stream;
	uint32_t operators;
	uint32_t supported;
};

static void print_verdict(void *context, const struct nntflite_verdict *v)
{
	struct printer *p = context;
	char place[32];

	p->operators++;
	p->supported += v->supported;
	if (v->subgraph)
		snprintf(place, sizeof(place), "%" PRIu32 ".%" PRIu32, v->subgraph, v->op);
	else
		snprintf(place, sizeof(place), "%" PRIu32, v->op);
	fprintf(p->stream, "%8s %-28s %s%s\n", place, v->name, v->supported ? "yes" : "no: ",
		v->supported ? "" : v->reason);
}

int print_verdicts(FILE *stream, struct nnhal_device *device, const struct nntflite_file *file,
		   const struct nntflite_model_options *options, struct error *err)
{
	struct printer p = { .stream = stream };
	struct nntflite_diag diag;

	fprintf(stream, "%8s %-28s %s\n", "", "operator", "supported");
	if (nntflite_file_judge(file, options, device, print_verdict, &p, &diag))
		return fail(err, "%s", diag.message);
	fprintf(stream, "%" PRIu32 " of %" PRIu32 " operator%s supported\n", p.supported,
		p.operators, plural(p.operators));
	return 0;
}
