// SPDX-License-Identifier: MIT
/*
 * Vendor extensions: what the device has, models with its extensions and with others,
 * and misuse. Names carry the numbers of the conformance checklist.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nnhal_fixture.h"
#include "device/device_private.h"
#include "device/extensions.h"
#include "model/model_copy.h"

#define NAME		"com.example.fibonacci"
#define UNKNOWN_NAME	"com.example.unknown"
#define TFLITE		"org.nnpu.tflite"

/* Prefixes of the models here: of the device's extension and of one it does not have. */
#define OURS		7u
#define UNKNOWN		0xffffu
#define TYPE(prefix, number)	((prefix) << 16 | (number))
#define FIBONACCI	TYPE(OURS, 0)
#define INT64		TYPE(OURS, 0)
#define QUANT64		TYPE(OURS, 1)

struct quant64 {
	double scale;
	int64_t zero_point;
};

static const struct nnhal_extension_prefix both[] = { { UNKNOWN_NAME, UNKNOWN }, { NAME, OURS } };
static const struct quant64 half = { 0.5, 10 };

static struct nnhal_device *device;
static struct fixture f;
static struct run r;
static struct nnhal_ext_operation_support support[MAX_OPERATIONS];

static void set_params(struct graph *g, uint32_t operand, const void *params, size_t size)
{
	g->operands[operand].extra_params.kind = NNHAL_EXTRA_PARAMS_EXTENSION;
	g->operands[operand].extra_params.extension = params;
	g->operands[operand].extra_params.extension_size = size;
}

static void use_extensions(void)
{
	f.model.extensions = both;
	f.model.num_extensions = 2;
}

/* FIBONACCI of an input: operand 0 is n, 1 the output, of length @length or unknown. */
static void make_fibonacci(uint32_t in_type, uint32_t out_type, uint32_t length)
{
	struct graph *g = &f.graph;
	bool scalar = in_type == INT64;

	fixture_init(&f);
	use_extensions();
	add_operand(g, in_type, NNHAL_LIFETIME_SUBGRAPH_INPUT, !scalar, scalar ? NULL :
		    (uint32_t[]){ 1 });
	add_operand(g, out_type, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(length));
	if (out_type == QUANT64)
		set_params(g, 1, &half, sizeof(half));
	add_operation(g, FIBONACCI, OPERANDS(0), OPERANDS(1));
	fixture_finish(&f, 0);
}

static enum nnhal_status ask(void)
{
	memset(support, 0xff, sizeof(support));
	support[0].size = sizeof(support[0]);
	f.diag.message[0] = '\0';
	return nnhal_ext_get_operation_support(device, &f.model, support,
					       f.model.main.num_operations, &f.diag);
}

static struct nnhal_prepared_model *prepare(enum nnhal_status *status)
{
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	struct nnhal_prepared_model *model = NULL;

	f.diag.message[0] = '\0';
	options.diag = &f.diag;
	*status = nnhal_device_prepare_model_sync(device, &f.model, &options, &model);
	return model;
}

/* Support query and prepare both refuse the model, with a message that contains @text. */
static void expect_refused(const char *what, const char *text)
{
	enum nnhal_status asked = ask(), prepared;
	struct nnhal_prepared_model *model;
	bool named = strstr(f.diag.message, text);

	model = prepare(&prepared);
	ok(asked == NNHAL_STATUS_INVALID_ARGUMENT && prepared == NNHAL_STATUS_INVALID_ARGUMENT &&
	   !model && named && strstr(f.diag.message, text), "%s: %s", what, f.diag.message);
	nnhal_prepared_model_unref(model);
}

/* Valid but not supported: false and NONE, and not prepared, with reason and message. */
static void expect_unsupported(const char *what, const char *text)
{
	struct nnhal_prepared_model *model;
	enum nnhal_status status = ask();

	ok(nnhal_validate_model(&f.model, &f.diag) && !status && !support[0].supported &&
	   strstr(support[0].reason, text), "%s: not supported: %s", what, support[0].reason);
	model = prepare(&status);
	ok(status == NNHAL_STATUS_INVALID_ARGUMENT && !model && strstr(f.diag.message, text),
	   "%s: not prepared: %s", what, f.diag.message);
	nnhal_prepared_model_unref(model);
}

/* ---- the list ---- */

static void test_list(void)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_.";
	const struct nnhal_extension *list = NULL, *again = NULL, *ours = NULL;
	uint32_t count = 0, count_again = 0, i, k, good = 0;

	ok(!nnhal_device_get_supported_extensions(device, &list, &count) && count && list,
	   "A12 %u extensions", count);
	ok(!nnhal_device_get_supported_extensions(device, &again, &count_again) &&
	   again == list && count_again == count, "A15 the same answer each time");
	for (i = 0; i < count; i++) {
		bool sound = strchr(list[i].name, '.') &&
			     strspn(list[i].name, letters) == strlen(list[i].name);

		for (k = 0; k < list[i].num_operand_types; k++)
			sound &= list[i].operand_types[k].byte_size > 0;
		good += sound;
		if (!strcmp(list[i].name, NAME))
			ours = &list[i];
	}
	ok(good == count, "A12 names are names, sizes are sizes");
	if (!ours) {
		tap_note("the device has no " NAME);
		exit(tap_done() ? 1 : TAP_SKIP_ALL);
	}
	ok(ours->num_operand_types == 2 && ours->operand_types[0].type == 0 &&
	   !ours->operand_types[0].is_tensor && ours->operand_types[0].byte_size == 8 &&
	   ours->operand_types[1].type == 1 && ours->operand_types[1].is_tensor &&
	   ours->operand_types[1].byte_size == 8,
	   "A13 " NAME ": a scalar and a tensor type of 8 bytes");
}

/* A description that is good, in allocated memory. */
static struct nnpu_extension *describe(uint32_t count)
{
	struct nnpu_extension *e = calloc(count, sizeof(*e));
	uint32_t i, k;

	for (i = 0; e && i < count; i++) {
		e[i].magic = htole32(NNPU_EXTENSION_MAGIC);
		e[i].num_types = htole32(2);
		e[i].first_operation = htole32(NNPU_CMD_EXTENSION + 16 * i);
		e[i].num_operations = htole32(3);
		snprintf(e[i].name, sizeof(e[i].name), "com.example.e_%u", i);
		for (k = 0; k < 2; k++) {
			e[i].types[k].number = htole16((uint16_t)(5 * k));
			e[i].types[k].code = htole16((uint16_t)(NNPU_TYPE_EXTENSION + 16 * i + k));
			e[i].types[k].byte_size = htole32(2 + k);
			e[i].types[k].flags = htole32(k ? NNPU_EXTENSION_TENSOR : 0);
		}
	}
	if (!e) {
		printf("Bail out! no memory\n");
		exit(1);
	}
	return e;
}

/* Three are described. The one in the middle is hidden if it is changed in this way. */
#define EXPECT_HIDDEN(what, change) do { \
	struct nnpu_extension *all = describe(3), *e = &all[1]; \
	struct extensions x; \
	change; \
	ok(extensions_init(&x, all, 3) && x.count == 2 && \
	   !strcmp(x.list[0].name, "com.example.e_0") && \
	   !strcmp(x.list[1].name, "com.example.e_2") && \
	   x.list[1].operand_types[1].byte_size == 3, "A12 not shown: %s", what); \
	extensions_fini(&x); \
} while (0)

static void test_descriptions(void)
{
	struct extensions x;

	ok(extensions_init(&x, describe(3), 3) && x.count == 3 && x.list[2].num_operand_types == 2 &&
	   x.list[2].operand_types[1].type == 5 && x.list[2].operand_types[1].is_tensor &&
	   !x.list[2].operand_types[0].is_tensor, "A13 three good descriptions");
	extensions_fini(&x);
	ok(extensions_init(&x, NULL, 0) && !x.count && !x.list, "A12 none");
	extensions_fini(&x);
	EXPECT_HIDDEN("empty name", e->name[0] = '\0');
	EXPECT_HIDDEN("name without a dot", strcpy(e->name, "example"));
	EXPECT_HIDDEN("capital letter", e->name[0] = 'C');
	EXPECT_HIDDEN("space", e->name[0] = ' ');
	EXPECT_HIDDEN("hyphen", e->name[0] = '-');
	EXPECT_HIDDEN("name without end", memset(e->name, '.', sizeof(e->name)));
	EXPECT_HIDDEN("name of another one", strcpy(e->name, all[0].name));
	EXPECT_HIDDEN("magic", e->magic = 0);
	EXPECT_HIDDEN("operations among the HAL's", e->first_operation = htole32(1));
	EXPECT_HIDDEN("codes of operations wrap", e->num_operations = htole32(UINT32_MAX));
	EXPECT_HIDDEN("too many types", e->num_types = htole32(NNPU_EXTENSION_MAX_TYPES + 1));
	EXPECT_HIDDEN("type of 0 bytes", e->types[1].byte_size = 0);
	EXPECT_HIDDEN("type among the HAL's", e->types[1].code = htole16(3));
	EXPECT_HIDDEN("type twice", e->types[1].number = e->types[0].number);
}

/* ---- executions ---- */

/* One input of @in_size bytes, one output with room for @out_size. */
static void run_set(const void *in, uint32_t in_size, uint32_t out_size)
{
	run_init(&r, 4);
	r.request.num_inputs = 1;
	memcpy(r.map + RUN_INPUT(0), in, in_size);
	r.inputs[0].location.length = in_size;
	r.outputs[0].location.length = out_size;
}

static enum nnhal_status run(struct nnhal_prepared_model *model)
{
	r.num_shapes = 4;
	return nnhal_prepared_model_execute_synchronously(model, &r.request, NULL, r.shapes,
							  &r.num_shapes, &r.timing);
}

/* Output in a file, which the device reaches through a copy. */
static void test_file(struct nnhal_prepared_model *model)
{
	static const uint64_t expected[3] = { 12, 12, 14 };
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = NNHAL_MEMORY_MMAP_FD, .size = 4096,
	};
	FILE *file = tmpfile();
	uint64_t got[4] = { 0 };
	const int64_t three = 3;
	struct nnhal_memory *memory;

	if (!file || ftruncate(fileno(file), 4096)) {
		printf("Bail out! no file\n");
		exit(1);
	}
	desc.fd = fileno(file);
	if (nnhal_memory_import(&desc, &memory, &f.diag)) {
		printf("Bail out! %s\n", f.diag.message);
		exit(1);
	}
	run_set(&three, sizeof(three), 0);
	r.pools[1].memory = memory;
	r.request.num_pools = 2;
	r.outputs[0].location = (struct nnhal_data_location){ 1, 64, sizeof(got) };
	ok(!run(model) && pread(desc.fd, got, sizeof(got), 64) == sizeof(got) &&
	   !memcmp(got, expected, sizeof(expected)) && !got[3], "3 numbers go into a file");
	run_fini(&r);
	nnhal_memory_unref(memory);
	fclose(file);
}

static void test_quantized(void)
{
	static const uint64_t expected[10] = { 12, 12, 14, 16, 20, 26, 36, 52, 78, 120 };
	const int64_t ten = 10, zero = 0;
	struct nnhal_prepared_model *model;
	struct nnhal_burst *burst = NULL;
	enum nnhal_status status;

	make_fibonacci(INT64, QUANT64, 0);
	ok(nnhal_validate_model(&f.model, &f.diag), "B04 B09 valid: %s", f.diag.message);
	ok(nnhal_model_get_min_version(&f.model, NULL) == NNHAL_HAL_1_2, "since HAL 1.2");
	ok(!ask() && support[0].supported, "A20 supported: %s", support[0].reason);
	model = prepare(&status);
	if (!ok(!status, "prepared: %s", f.diag.message))
		return;
	run_set(&ten, sizeof(ten), sizeof(expected));
	status = run(model);
	ok(!status && r.num_shapes == 1 && r.shapes[0].num_dimensions == 1 &&
	   r.shapes[0].dimensions[0] == 10 &&
	   !memcmp(r.map + RUN_OUTPUT(0), expected, sizeof(expected)),
	   "10 numbers with scale 0.5 and zeroPoint 10: %s", nnhal_status_name(status));
	memset(r.map + RUN_OUTPUT(0), 0xee, 256);
	ok(!nnhal_burst_create(model, NULL, &burst) &&
	   !nnhal_burst_execute(burst, &r.request, NULL, r.shapes, &r.num_shapes, &r.timing) &&
	   !memcmp(r.map + RUN_OUTPUT(0), expected, sizeof(expected)), "and through a burst");
	nnhal_burst_unref(burst);
	r.outputs[0].location.length = sizeof(expected) - 8;
	status = run(model);
	ok(status == NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE && r.shapes[0].dimensions[0] == 10 &&
	   !r.shapes[0].is_sufficient, "room for 9 of them: %s", nnhal_status_name(status));
	r.outputs[0].location.length = sizeof(expected);
	r.inputs[0].location.length = 4;
	status = run(model);
	ok(status == NNHAL_STATUS_INVALID_ARGUMENT, "an input of 4 bytes: %s",
	   nnhal_status_name(status));
	r.inputs[0].location.length = 8;
	r.inputs[0].num_dimensions = 1;
	r.dims[0][0] = 1;
	status = run(model);
	ok(status == NNHAL_STATUS_INVALID_ARGUMENT, "a scalar with dimensions: %s",
	   nnhal_status_name(status));
	r.inputs[0].num_dimensions = 0;
	memcpy(r.map + RUN_INPUT(0), &zero, sizeof(zero));
	status = run(model);
	ok(status && status != NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE, "n = 0: %s",
	   nnhal_status_name(status));
	memcpy(r.map + RUN_INPUT(0), &ten, sizeof(ten));
	ok(!run(model), "and n = 10 again");
	run_fini(&r);
	test_file(model);
	nnhal_prepared_model_unref(model);
}

static void test_float(void)
{
	static const float expected[5] = { 1, 1, 2, 3, 5 };
	struct nnhal_prepared_model *model;
	enum nnhal_status status;
	const float five = 5;

	make_fibonacci(NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_OPERAND_TENSOR_FLOAT32, 5);
	ok(!ask() && support[0].supported, "TENSOR_FLOAT32 in and out: %s", support[0].reason);
	model = prepare(&status);
	if (!ok(!status, "prepared: %s", f.diag.message))
		return;
	run_set(&five, sizeof(five), sizeof(expected));
	status = run(model);
	ok(!status && !memcmp(r.map + RUN_OUTPUT(0), expected, sizeof(expected)), "1 1 2 3 5: %s",
	   nnhal_status_name(status));
	run_fini(&r);
	nnhal_prepared_model_unref(model);
}

/*
 * n a constant in the model or in memory, beside operations of the HAL: the output is
 * RELU(FIBONACCI(n) + input).
 */
static void test_constant(bool reference)
{
	static const float expected[4] = { 0, 0, 0, 1 };
	struct graph *g = &f.graph;
	struct nnhal_prepared_model *model;
	struct nnhal_memory *memory = NULL;
	enum nnhal_status status;
	const int64_t four = 4;
	const float minus_two[4] = { -2, -2, -2, -2 };
	uint32_t n;
	uint8_t *map;

	fixture_init(&f);
	use_extensions();
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(4));
	n = add_constant(&f, g, INT64, SCALAR, &four, sizeof(four));
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_TEMPORARY_VARIABLE, DIMS(4));
	add_int32(&f, g, NNHAL_FUSED_RELU);
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(4));
	add_operation(g, FIBONACCI, OPERANDS(1), OPERANDS(2));
	add_operation(g, NNHAL_OPERATION_ADD, OPERANDS(0, 2, 3), OPERANDS(4));
	if (reference) {
		if (nnhal_memory_create(4096, &memory, &f.diag) ||
		    !(map = nnhal_memory_map(memory, &f.diag))) {
			printf("Bail out! %s\n", f.diag.message);
			exit(1);
		}
		memcpy(map + 64, &four, sizeof(four));
		f.pools[0] = memory;
		f.model.num_pools = 1;
		g->operands[n].lifetime = NNHAL_LIFETIME_CONSTANT_REFERENCE;
		g->operands[n].location = (struct nnhal_data_location){ 0, 64, sizeof(four) };
	}
	fixture_finish(&f, 0);
	ok(!ask() && support[0].supported && support[1].supported, "constant n in %s: %s%s",
	   reference ? "memory" : "the model", support[0].reason, support[1].reason);
	model = prepare(&status);
	if (ok(!status, "prepared: %s", f.diag.message)) {
		run_set(minus_two, sizeof(minus_two), sizeof(expected));
		status = run(model);
		ok(!status && !memcmp(r.map + RUN_OUTPUT(0), expected, sizeof(expected)),
		   "1 1 2 3, minus 2, not below 0: %s", nnhal_status_name(status));
		run_fini(&r);
	}
	nnhal_prepared_model_unref(model);
	nnhal_memory_unref(memory);
}

/* ---- several extensions ---- */

static void test_several(void)
{
	struct graph *g = &f.graph;
	struct nnhal_extension_prefix *many;
	char (*names)[32];
	uint32_t versions[3], i;

	/* 0 unknown type -> unknown operation -> 1 -> RELU -> 2; 3 n -> FIBONACCI -> 4. */
	fixture_init(&f);
	use_extensions();
	add_operand(g, TYPE(UNKNOWN, 3), NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(4));
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_TEMPORARY_VARIABLE, DIMS(4));
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(4));
	add_operand(g, INT64, NNHAL_LIFETIME_SUBGRAPH_INPUT, SCALAR);
	add_operand(g, QUANT64, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(0));
	set_params(g, 0, "blob", 4);
	set_params(g, 4, &half, sizeof(half));
	add_operation(g, TYPE(UNKNOWN, 0), OPERANDS(0), OPERANDS(1));
	add_operation(g, NNHAL_OPERATION_RELU, OPERANDS(1), OPERANDS(2));
	add_operation(g, FIBONACCI, OPERANDS(3), OPERANDS(4));
	fixture_finish(&f, 0);
	ok(!ask() && !support[0].supported && support[1].supported && support[2].supported,
	   "A20 two extensions: the unknown one is not supported (%s), the rest is (%s%s)",
	   support[0].reason, support[1].reason, support[2].reason);
	ok(!nnhal_model_get_operation_versions(&f.model, versions, 3, &f.diag) &&
	   versions[0] == NNHAL_HAL_1_2 && versions[1] == NNHAL_HAL_1_0 &&
	   versions[2] == NNHAL_HAL_1_2, "operations of extensions are of HAL 1.2");

	/* Support is all or nothing, and only the input stands against it. */
	make_fibonacci(INT64, NNHAL_OPERAND_TENSOR_FLOAT32, 0);
	add_operand(g, TYPE(UNKNOWN, 3), NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(4));
	fixture_finish(&f, 0);
	expect_unsupported("A20 input of an unknown extension's type that nobody reads",
			   "does not have the extension");

	/* Every possible prefix; the one in use comes last. */
	many = calloc(UINT16_MAX, sizeof(*many));
	names = calloc(UINT16_MAX, sizeof(*names));
	make_fibonacci(INT64, NNHAL_OPERAND_TENSOR_FLOAT32, 0);
	for (i = 0; many && names && i < 1000; i++) {
		snprintf(names[i], sizeof(names[i]), "com.example.e%u", i);
		many[i] = (struct nnhal_extension_prefix){ names[i], (uint16_t)(1000 + i) };
	}
	if (many && names) {
		many[1000] = both[1];
		f.model.extensions = many;
		f.model.num_extensions = 1001;
		ok(!ask() && support[0].supported, "B04 the last of 1001 extensions: %s",
		   support[0].reason);
	}
	free(names);
	free(many);
}

/* Operations of extensions in the branches of an IF. */
static void test_branches(void)
{
	static const struct quant64 other = { 0.5, 11 };
	struct graph *g = &f.graph;
	struct nnhal_prepared_model *model;
	enum nnhal_status status;
	unsigned int i;

	fixture_init(&f);
	use_extensions();
	for (i = 0; i < 2; i++) {
		add_operand(&f.sub[i], INT64, NNHAL_LIFETIME_SUBGRAPH_INPUT, SCALAR);
		add_operand(&f.sub[i], QUANT64, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(0));
		set_params(&f.sub[i], 1, &half, sizeof(half));
		add_operation(&f.sub[i], FIBONACCI, OPERANDS(0), OPERANDS(1));
	}
	add_operand(g, NNHAL_OPERAND_TENSOR_BOOL8, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(1));
	add_subgraph(g, 0);
	add_subgraph(g, 1);
	add_operand(g, INT64, NNHAL_LIFETIME_SUBGRAPH_INPUT, SCALAR);
	add_operand(g, QUANT64, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(0));
	set_params(g, 4, &half, sizeof(half));
	add_operation(g, NNHAL_OPERATION_IF, OPERANDS(0, 1, 2, 3), OPERANDS(4));
	fixture_finish(&f, 2);
	ok(!ask() && support[0].supported, "A19 IF with FIBONACCI in its branches: %s%s",
	   support[0].reason, f.diag.message);
	model = prepare(&status);
	ok(!status, "prepared: %s", f.diag.message);
	nnhal_prepared_model_unref(model);
	f.sub[1].operations[0].type = TYPE(OURS, 1);
	expect_unsupported("A20 an operation it does not have in a branch",
			   "the extension does not have this operation");
	f.sub[1].operations[0].type = FIBONACCI;
	set_params(&f.sub[1], 1, &other, sizeof(other));
	expect_refused("B09 branches that differ in their parameters", "operation 0 (IF)");
}

/* ---- misuse ---- */

static void test_misuse(void)
{
	static const struct quant64 no_scale = { 0, 0 };
	const int64_t ten = 10;
	uint8_t large[64] = { 0 };

	make_fibonacci(INT64, QUANT64, 0);
	f.model.num_extensions = 1;
	expect_refused("B04 a prefix that is not in the table", "no extension has the prefix 0x7");
	make_fibonacci(INT64, QUANT64, 0);
	f.graph.operations[0].type = TYPE(8u, 0);
	expect_refused("B04 an operation's prefix that is not", "no extension has the prefix 0x8");
	make_fibonacci(INT64, QUANT64, 0);
	f.graph.operations[0].type = TYPE(OURS, 1);
	expect_unsupported("A20 operation 1", "the extension does not have this operation");
	make_fibonacci(TYPE(OURS, 2), QUANT64, 0);
	expect_unsupported("A20 type 2", "the extension does not have this operand type");
	make_fibonacci(TYPE(UNKNOWN, 0), QUANT64, 0);
	expect_unsupported("A20 type of an unknown extension", "does not have the extension");
	make_fibonacci(INT64, QUANT64, 0);
	f.graph.operations[0].type = TYPE(UNKNOWN, 0);
	expect_unsupported("A20 operation of an unknown extension",
			   "the device does not have this extension");

	make_fibonacci(INT64, QUANT64, 0);
	f.graph.operands[1].extra_params.kind = NNHAL_EXTRA_PARAMS_NONE;
	expect_refused("B09 no parameters", "operand 1: ");
	make_fibonacci(INT64, QUANT64, 0);
	set_params(&f.graph, 1, &half, 12);
	expect_refused("B09 parameters of 12 bytes", "operand 1: ");
	set_params(&f.graph, 1, large, sizeof(large));
	expect_refused("B09 parameters of 64 bytes", "operand 1: ");
	set_params(&f.graph, 1, &no_scale, sizeof(no_scale));
	expect_refused("B09 parameters with scale 0", "operand 1: ");
	set_params(&f.graph, 1, NULL, 16);
	expect_refused("B09 parameters at NULL", "extension data: NULL pointer");
	make_fibonacci(INT64, QUANT64, 0);
	set_params(&f.graph, 0, &half, sizeof(half));
	expect_refused("B09 parameters of a type without", "operand 0: ");
	make_fibonacci(INT64, QUANT64, 0);
	f.graph.operands[1].scale = 0.5f;
	expect_refused("B07 scale of an extension type", "operand 1: scale 0.5");
	make_fibonacci(INT64, QUANT64, 0);
	f.graph.operands[1].zero_point = 10;
	expect_refused("B08 zeroPoint of an extension type", "operand 1: zeroPoint 10");

	/* The device, not the library, finds errors in the operands. */
	make_fibonacci(NNHAL_OPERAND_TENSOR_INT32, NNHAL_OPERAND_TENSOR_FLOAT32, 0);
	expect_refused("a TENSOR_INT32 as input", "(" NAME " operation 0) input 0 (operand 0)");
	make_fibonacci(INT64, NNHAL_OPERAND_TENSOR_INT32, 0);
	expect_refused("a TENSOR_INT32 as output", "(" NAME " operation 0) output 0 (operand 1)");
	make_fibonacci(INT64, INT64, 0);
	expect_refused("a scalar as output", "operand 1: ");
	make_fibonacci(INT64, QUANT64, 0);
	f.graph.operands[0].num_dimensions = 1;
	f.graph.dims[0][0] = 1;
	expect_refused("a scalar with a dimension", "operand 0: ");
	make_fibonacci(INT64, QUANT64, 0);
	f.graph.op_inputs[0][1] = 0;
	f.graph.operations[0].num_inputs = 2;
	fixture_finish(&f, 0);
	expect_refused("two inputs", "(" NAME " operation 0)");
	make_fibonacci(NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_OPERAND_TENSOR_FLOAT32, 0);
	f.graph.dims[0][0] = 2;
	expect_refused("two values of n", "input 0 (operand 0)");
	make_fibonacci(NNHAL_OPERAND_TENSOR_FLOAT32, QUANT64, 4);
	f.graph.operations[0].type = NNHAL_OPERATION_RELU;
	expect_refused("RELU with an output of an extension", "operation 0 (RELU) output 0");

	/* Lengths of constants: the library does not know them, the device does. */
	make_fibonacci(NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_OPERAND_TENSOR_FLOAT32, 0);
	add_constant(&f, &f.graph, INT64, SCALAR, &ten, sizeof(ten));
	f.graph.op_inputs[0][0] = 2;
	fixture_finish(&f, 0);
	ok(!ask() && support[0].supported, "a constant of 8 bytes: %s", f.diag.message);
	f.graph.operands[2].location.length = 4;
	ok(nnhal_validate_model(&f.model, NULL), "B15 a constant of 4 bytes is valid");
	expect_refused("B15 and the device refuses it", "operand 2: ");
}

/* ---- numbers with gaps ---- */

/* SHAPE of a TENSOR_INT64. */
static void test_gaps(void)
{
	static const struct nnhal_extension_prefix tflite[] = { { TFLITE, OURS } };
	static const int32_t two = 2;
	struct graph *g = &f.graph;

	fixture_init(&f);
	f.model.extensions = tflite;
	f.model.num_extensions = 1;
	add_operand(g, TYPE(OURS, 4), NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(3, 5));
	add_constant(&f, g, NNHAL_OPERAND_INT32, SCALAR, &two, sizeof(two));
	add_operand(g, NNHAL_OPERAND_TENSOR_INT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(2));
	add_operation(g, TYPE(OURS, 77), OPERANDS(0, 1), OPERANDS(2));
	fixture_finish(&f, 0);
	ok(!ask() && support[0].supported, "A20 operation 77 of " TFLITE ": %s", f.diag.message);
	f.graph.operations[0].type = TYPE(OURS, 119);
	expect_unsupported("A20 operation 119, a gap", "");
	f.graph.operations[0].type = TYPE(OURS, 255);
	expect_unsupported("A20 operation 255, above all", "the extension does not have this operation");
	f.graph.operations[0].type = TYPE(OURS, 77);
	f.graph.operands[0].type = TYPE(OURS, 5);
	expect_unsupported("A20 type 5, a gap", "the extension does not have this operand type");
}

/* The in-process device has the example extension only if asked to. */
static struct nnhal_device *open_device(void)
{
	struct nnhal_device *own;

	if (strcmp(test_device_spec(), "sim"))
		return test_device_open();
	if (nnhal_device_open("sim:examples", &own, NULL)) {
		printf("Bail out! no device \"sim:examples\"\n");
		exit(1);
	}
	return own;
}

/* Without being asked to, it does not have it. */
static void test_plain_device(void)
{
	const struct nnhal_extension *list = NULL;
	struct nnhal_device *examples = device, *plain;
	uint32_t count = 1;

	if (strcmp(test_device_spec(), "sim"))
		return;
	if (!ok(!nnhal_device_open("sim", &plain, NULL), "a device without examples"))
		return;
	ok(!nnhal_device_get_supported_extensions(plain, &list, &count) && count == 1 &&
	   !strcmp(list[0].name, TFLITE), "it has " TFLITE " only");
	ok(list[0].num_operand_types == 6 && list[0].operand_types[0].type == 4 &&
	   list[0].operand_types[0].byte_size == 8 && list[0].operand_types[0].is_tensor &&
	   list[0].operand_types[5].type == 16, "A13 types with gaps between their numbers");
	device = plain;
	make_fibonacci(INT64, QUANT64, 0);
	expect_unsupported("its operation", "the device does not have");
	device = examples;
	nnhal_device_unref(plain);
}

/* A name that somebody writes to while it is copied: it has no end any more. */
static char torn_name[] = "com.example\0and more";

size_t __real_strlen(const char *s);
size_t __wrap_strlen(const char *s);
size_t __wrap_strlen(const char *s)
{
	size_t length = __real_strlen(s);

	if (s == torn_name && length < sizeof(torn_name) - 1)
		torn_name[length] = '.';
	return length;
}

static void test_torn_name(void)
{
	const struct nnhal_extension_prefix torn = { torn_name, OURS };
	struct model_copy copy;

	make_add_relu(&f);
	f.model.extensions = &torn;
	f.model.num_extensions = 1;
	if (!ok(!model_copy_init(&copy, &f.model, NULL) && torn_name[11] == '.',
		"a name changes while it is copied"))
		return;
	ok(!copy.model.extensions[0].name[11], "the copy ends where it ended");
	model_copy_fini(&copy);
}

int main(void)
{
	test_torn_name();
	device = open_device();
	test_descriptions();
	test_list();
	test_quantized();
	test_float();
	test_constant(false);
	test_constant(true);
	test_several();
	test_branches();
	test_misuse();
	test_gaps();
	test_plain_device();
	nnhal_device_unref(device);
	return tap_done();
}
