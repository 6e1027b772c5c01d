// SPDX-License-Identifier: MIT
/*
 * Prints Documentation/operation-signatures.rst from the table of signatures and from
 * those of the device model's extensions.
 */
#include <ops/extension.h>
#include <signature.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static const char *const version_texts[] = { "?", "1.0", "1.1", "1.2", "1.3" };

static const char *const type_texts[16] = {
	[NNPU_TYPE_FLOAT32] = "FLOAT32",
	[NNPU_TYPE_INT32] = "INT32",
	[NNPU_TYPE_UINT32] = "UINT32",
	[NNPU_TYPE_TENSOR_FLOAT32] = "F32",
	[NNPU_TYPE_TENSOR_INT32] = "I32",
	[NNPU_TYPE_TENSOR_QUANT8_ASYMM] = "U8",
	[NNPU_TYPE_BOOL] = "BOOL",
	[NNPU_TYPE_TENSOR_QUANT16_SYMM] = "QUANT16_SYMM",
	[NNPU_TYPE_TENSOR_FLOAT16] = "F16",
	[NNPU_TYPE_TENSOR_BOOL8] = "BOOL8",
	[NNPU_TYPE_FLOAT16] = "FLOAT16",
	[NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL] = "QUANT8_SYMM_PER_CHANNEL",
	[NNPU_TYPE_TENSOR_QUANT16_ASYMM] = "QUANT16_ASYMM",
	[NNPU_TYPE_TENSOR_QUANT8_SYMM] = "QUANT8_SYMM",
	[NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED] = "S8",
	[NNPU_TYPE_SUBGRAPH] = "SUBGRAPH",
};

static const char *const follows_texts[SIG_NUM_FOLLOWS] = {
	[SIG_T] = "T",
	[SIG_BIAS] = "BIAS",
	[SIG_FILTER] = "FILTER",
	[SIG_REAL] = "REAL",
	[SIG_VALUE] = "VALUE",
	[SIG_BOXES] = "BOXES",
	[SIG_ANCHORS] = "ANCHORS",
};

static const char *const rule_texts[] = {
	[SIG_RULE_NONE] = "",
	[SIG_RULE_SCALE] = "the scale of the output is above the product of the scales of inputs 0 and 1",
	[SIG_RULE_SAME_QUANT] = "inputs have the scale and zero point of the output",
	[SIG_RULE_ZERO_POINT] = "the zero point of input 0 is 0",
};

static const char head[] =
".. SPDX-License-Identifier: GPL-2.0-only OR MIT\n"
".. Written by scripts/gen-signatures from signatures/signature_table.c and the extensions\n"
".. in emulator/ops.\n"
"\n"
"====================\n"
"Operation signatures\n"
"====================\n"
"\n"
"This page lists the operands that each operation of the HAL takes, by HAL version. A script\n"
"generates it from the table that the library uses to validate models and the device model to\n"
"check programs. Documentation/operations/ defines what an operation computes, and its other\n"
"requirements for values and shapes.\n"
"\n"
"A signature is a list of inputs, an arrow, and a list of outputs. F32, F16, I32, U8\n"
"(TENSOR_QUANT8_ASYMM), S8 (TENSOR_QUANT8_ASYMM_SIGNED) and names without their prefix TENSOR\\_\n"
"are tensors. FLOAT32, FLOAT16, INT32, UINT32 and BOOL are scalars. *T* is the same type\n"
"everywhere in a signature. Other types follow from it:\n"
"\n"
"=======  ============================================================================\n"
"BIAS     TENSOR_INT32 if *T* is quantized, else *T*\n"
"FILTER   *T*, or TENSOR_QUANT8_SYMM_PER_CHANNEL if *T* is quantized (since 1.2)\n"
"REAL     FLOAT16 if *T* is TENSOR_FLOAT16, else FLOAT32\n"
"VALUE    INT32 if *T* is quantized, else as REAL\n"
"BOXES    TENSOR_QUANT16_ASYMM if *T* is quantized, else *T*\n"
"ANCHORS  TENSOR_QUANT16_SYMM if *T* is quantized, else *T*\n"
"=======  ============================================================================\n"
"\n"
"==========  =========================================================================\n"
"T[4]        of rank 4; T[1-4]: of ranks 1 to 4; T[1-]: of rank 1 or more; T: of any\n"
"            rank, also an unknown one\n"
"T?          may be omitted\n"
"T...        any number of them, also none\n"
"INT32 x3    three in a row\n"
"\\| 1.2:     the list may end here; the rest exists since that version\n"
"==========  =========================================================================\n"
"\n"
"A signature does not include types that its version does not have.\n"
"\n"
"The vendor extensions of the device model come last, under their names. Their tensor types\n"
"are written without TENSOR\\_.\n";

static void print_types(FILE *f, uint32_t types)
{
	const uint32_t tensors = SIG_TYPE(TENSOR_FLOAT32) | SIG_TYPE(TENSOR_INT32) |
		SIG_TYPE(TENSOR_QUANT8_ASYMM) | SIG_TYPE(TENSOR_QUANT16_SYMM) |
		SIG_TYPE(TENSOR_FLOAT16) | SIG_TYPE(TENSOR_BOOL8) |
		SIG_TYPE(TENSOR_QUANT8_SYMM_PER_CHANNEL) | SIG_TYPE(TENSOR_QUANT16_ASYMM) |
		SIG_TYPE(TENSOR_QUANT8_SYMM) | SIG_TYPE(TENSOR_QUANT8_ASYMM_SIGNED);
	const char *between = "";

	if (types == tensors || (types & tensors) == tensors) {
		fputs(types == tensors ? "any tensor" : "anything", f);
		return;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(type_texts); i++) {
		if (!(types >> i & 1))
			continue;
		fprintf(f, "%s%s", between, type_texts[i]);
		between = "/";
	}
}

static void print_list(FILE *f, const uint32_t *patterns, unsigned int num)
{
	const char *between = "";
	unsigned int same;

	for (unsigned int i = 0; i < num; i += same) {
		uint32_t p = patterns[i], what = p >> SIG_FOLLOWS_SHIFT & 15;
		unsigned int min = p >> SIG_MIN_RANK_SHIFT & 15, max = p >> SIG_MAX_RANK_SHIFT & 15;

		for (same = 1; i + same < num && patterns[i + same] == p; same++)
			;
		if (p & SIG_MORE) {
			fprintf(f, " | %s:", version_texts[what]);
			between = " ";
			continue;
		}
		fputs(between, f);
		between = ", ";
		if (what)
			fputs(follows_texts[what], f);
		else
			print_types(f, p & SIG_TYPES_MASK);
		if (max == SIG_ANY_RANK)
			fprintf(f, "[%u-]", min);
		else if (min != max)
			fprintf(f, "[%u-%u]", min, max);
		else if (max)
			fprintf(f, "[%u]", max);
		if (p & SIG_OMITTED)
			fputc('?', f);
		if (p & SIG_REPEAT)
			fputs("...", f);
		if (same > 1)
			fprintf(f, " x%u", same);
	}
}

static void print_operation(FILE *f, const char *name, const struct signature *s)
{
	size_t length = strlen(name);
	const char *between = "*T* is ";

	fprintf(f, "\n%s\n", name);
	for (size_t i = 0; i < length; i++)
		fputc('-', f);
	fputs("\n\n", f);
	for (unsigned int v = 0; v < SIG_VERSIONS; v++) {
		if (!s->types[v])
			continue;
		fputs(between, f);
		print_types(f, s->types[v]);
		fprintf(f, " since %s", version_texts[v + 1]);
		between = ", ";
	}
	if (between[0] == ',')
		fputs(".\n", f);
	if (s->rule)
		fprintf(f, "Before 1.2, if *T* is U8, %s.\n", rule_texts[s->rule]);
	if (between[0] == ',')
		fputc('\n', f);
	for (unsigned int i = 0; i < s->num_forms; i++) {
		fprintf(f, "- since %s: ``", version_texts[s->forms[i].since]);
		print_list(f, s->forms[i].in, s->forms[i].num_in);
		fputs(" -> ", f);
		print_list(f, s->forms[i].out, s->forms[i].num_out);
		fputs("``\n", f);
	}
}

static void print_operand(FILE *f, const struct extension *e, const struct extension_operand *o)
{
	const char *between = "";

	if (o->types & SIG_TYPES_MASK) {
		print_types(f, (uint32_t)o->types & SIG_TYPES_MASK);
		between = "/";
	}
	for (uint32_t i = 0; i < e->num_types; i++) {
		if (!(o->types & EXTENSION_TYPE(i)))
			continue;
		fprintf(f, "%s%s", between, strncmp(e->types[i].name, "TENSOR_", 7) ?
			e->types[i].name : e->types[i].name + 7);
		between = "/";
	}
	if (o->max_rank && o->min_rank == o->max_rank)
		fprintf(f, "[%u]", o->min_rank);
	else if (o->max_rank)
		fprintf(f, "[%u-%u]", o->min_rank, o->max_rank);
	if (o->flags & EXTENSION_OPTIONAL)
		fputc('?', f);
	if (o->flags & EXTENSION_REPEATED)
		fputs("...", f);
}

static bool same_operand(const struct extension_operand *a, const struct extension_operand *b)
{
	return a->types == b->types && a->min_rank == b->min_rank &&
	       a->max_rank == b->max_rank && a->flags == b->flags;
}

static void print_operands(FILE *f, const struct extension *e, const struct extension_operand *list,
			   unsigned int num)
{
	unsigned int same;

	for (unsigned int i = 0; i < num; i += same) {
		for (same = 1; i + same < num && same_operand(&list[i], &list[i + same]); same++)
			;
		fputs(i ? ", " : "", f);
		print_operand(f, e, &list[i]);
		if (same > 1)
			fprintf(f, " x%u", same);
	}
}

static void print_extension(FILE *f, const struct extension *e)
{
	fprintf(f, "\n%s\n", e->name);
	for (size_t i = 0; i < strlen(e->name); i++)
		fputc('-', f);
	fputs("\n\n", f);
	for (uint32_t i = 0; i < e->num_types; i++) {
		if (!e->types[i].name)
			continue;
		fprintf(f, "- type %u: %s, %s%u bytes", i, e->types[i].name,
			e->types[i].is_tensor ? "tensor with elements of " : "scalar of ",
			e->types[i].byte_size);
		if (e->types[i].params_size)
			fprintf(f, ", %u bytes of parameters", e->types[i].params_size);
		fputc('\n', f);
	}
	for (uint32_t i = 0; i < e->num_operations; i++) {
		const struct extension_signature *s = &e->operations[i].signature;

		if (!e->operations[i].desc.name)
			continue;
		fprintf(f, "- operation %u: %s, since 1.2: ``", i, e->operations[i].desc.name);
		print_operands(f, e, s->in, s->num_in);
		fputs(" -> ", f);
		print_operands(f, e, s->out, s->num_out);
		fputs("``\n", f);
	}
}

struct name {
	uint32_t number;
	const char *text;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

int main(void)
{
#define X(name_, number_)	{ number_, #name_ },
	struct name names[] = { NNPU_OPERATION_LIST(X) };

	qsort(names, ARRAY_SIZE(names), sizeof(names[0]), by_name);
	fputs(head, stdout);
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		if (!signature_find(names[i].number)) {
			fprintf(stderr, "%s has no signature\n", names[i].text);
			return 1;
		}
		print_operation(stdout, names[i].text, signature_find(names[i].number));
	}
	for (uint32_t i = 0; i < EXTENSION_COUNT; i++)
		print_extension(stdout, extension_get(i));
	return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
