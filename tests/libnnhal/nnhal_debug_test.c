// SPDX-License-Identifier: MIT
/*
 * The log, the graph of a model, checks, and properties of types.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vlog.h"
#include "nnhal_fixture.h"

static struct fixture f;

/* All lines that a callback got, each with its tag. */
struct text {
	pthread_mutex_t lock;
	char bytes[1 << 16];
	size_t length;
	uint32_t tags;
};

static void add_line(void *context, uint32_t tag, const char *message)
{
	struct text *t = context;

	pthread_mutex_lock(&t->lock);
	t->tags |= tag;
	t->length += (size_t)snprintf(t->bytes + t->length, sizeof(t->bytes) - t->length, "%s: %s\n",
				      nnhal_log_tag_name(tag), message);
	if (t->length >= sizeof(t->bytes))
		t->length = sizeof(t->bytes) - 1;
	pthread_mutex_unlock(&t->lock);
}

static void add_text(void *context, const char *bytes, size_t length)
{
	struct text *t = context;

	if (length > sizeof(t->bytes) - 1 - t->length)
		length = sizeof(t->bytes) - 1 - t->length;
	memcpy(t->bytes + t->length, bytes, length);
	t->length += length;
	t->bytes[t->length] = '\0';
}

static struct text text = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void text_clear(void)
{
	text.length = 0;
	text.bytes[0] = '\0';
	text.tags = 0;
}

static void expect_tags(const char *setting, uint32_t expected, bool good)
{
	uint32_t tags = 99;

	f.diag.message[0] = '\0';
	ok(nnhal_log_parse(setting, &tags, &f.diag) == good && tags == expected &&
	   !f.diag.message[0] == good, "I08 \"%s\" gives 0x%x: %s", setting ? setting : "NULL", tags,
	   f.diag.message);
}

static void test_tags(void)
{
	expect_tags(NULL, 0, true);
	expect_tags("", 0, true);
	expect_tags(" ,: ", 0, true);
	expect_tags("1", NNHAL_LOG_ALL, true);
	expect_tags("all", NNHAL_LOG_ALL, true);
	expect_tags("compilation", NNHAL_LOG_COMPILATION, true);
	expect_tags("model driver", NNHAL_LOG_MODEL | NNHAL_LOG_DRIVER, true);
	expect_tags("manager,memory:execution  cpuexe", NNHAL_LOG_MANAGER | NNHAL_LOG_MEMORY |
		    NNHAL_LOG_EXECUTION | NNHAL_LOG_CPUEXE, true);
	expect_tags("model,nonsense,driver", NNHAL_LOG_MODEL | NNHAL_LOG_DRIVER, false);
	expect_tags("mode", 0, false);
	expect_tags("models", 0, false);
	ok(!strcmp(nnhal_log_tag_name(NNHAL_LOG_MEMORY), "memory") &&
	   !strcmp(nnhal_log_tag_name(NNHAL_LOG_ERROR), "error") &&
	   !strcmp(nnhal_log_tag_name(3), "unknown tag") &&
	   !strcmp(nnhal_log_tag_name(NNHAL_LOG_ALL), "unknown tag"), "I08 names of tags");
}

static int count_call(unsigned int *calls)
{
	return (int)++*calls;
}

static void test_macro(void)
{
	struct vlog log = { .tags = NNHAL_LOG_MODEL, .write = add_line, .context = &text };
	unsigned int calls = 0;

	text_clear();
	VLOG(&log, NNHAL_LOG_DRIVER, "%d", count_call(&calls));
	ok(!calls && !text.length, "I09 a tag that is off evaluates no argument");
	errno = 77;
	VLOG(&log, NNHAL_LOG_MODEL, "%d", count_call(&calls));
	ok(calls == 1 && !strcmp(text.bytes, "model: 1\n") && errno == 77,
	   "I09 a tag that is on writes a line and keeps errno");
}

/* Open, prepare, execute; with a request that is refused as well. */
static bool use_device(const struct nnhal_open_options *options)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_prepared_model *model = NULL;
	struct nnhal_device *device = NULL;
	struct run r;
	bool good;

	run_init(&r, 4);
	make_add_relu(&f);
	good = !nnhal_device_open_with(test_device_spec(), options, &device, &f.diag) &&
	       !nnhal_device_prepare_model_sync(device, &f.model, NULL, &model) &&
	       !nnhal_prepared_model_execute_synchronously(model, &r.request, &o, NULL, NULL,
							   NULL);
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	run_fini(&r);
	return good;
}

static void test_callback(void)
{
	struct nnhal_open_options o = NNHAL_OPEN_OPTIONS_INIT;
	struct nnhal_device *device = NULL;

	setenv("NNHAL_DEBUG", "all", 1);
	o.log = add_line;
	o.log_context = &text;
	text_clear();
	ok(use_device(&o) && !text.length, "I08 no tag, no line, whatever the environment says");
	o.log_tags = NNHAL_LOG_COMPILATION | NNHAL_LOG_EXECUTION;
	ok(use_device(&o) && text.tags == o.log_tags &&
	   strstr(text.bytes, "compilation: prepareModel: 2 operations, preference 1, priority 1: NONE\n") &&
	   strstr(text.bytes, ": NONE\n"), "I08 only the tags that the caller wants");
	text_clear();
	o.log_tags = NNHAL_LOG_ALL;
	ok(use_device(&o) && strstr(text.bytes, "manager: open ") &&
	   strstr(text.bytes, ": close\n") && strstr(text.bytes, "driver: program ") &&
	   strstr(text.bytes, "memory: "), "I08 all tags: manager, driver, memory");
	ok(strstr(text.bytes, "model: digraph {\nmodel:     d0 ") && strstr(text.bytes, "model: }\n"),
	   "I12 the graph goes to the log, line by line");
	text_clear();
	ok(nnhal_device_open_with("nonsense", &o, &device, &f.diag) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   !device && strstr(text.bytes, "manager: open \"nonsense\": INVALID_ARGUMENT: device ") &&
	   strstr(f.diag.message, "nonsense"), "I08 an open that fails");
	o.log_tags = 1u << 20;
	ok(nnhal_device_open_with("sim", &o, &device, &f.diag) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "I08 unknown tags are refused");
	o.log_tags = 0;
	o.reserved = 1;
	ok(nnhal_device_open_with("sim", &o, &device, &f.diag) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "I08 so are reserved fields");
	unsetenv("NNHAL_DEBUG");
}

/* What standard error gets while a device is used with NNHAL_DEBUG set so. */
static bool stderr_of(const char *setting)
{
	int saved = dup(STDERR_FILENO), file = nnhal_memfd_create("stderr", 1 << 16);
	bool good;
	ssize_t n;

	if (setting)
		setenv("NNHAL_DEBUG", setting, 1);
	else
		unsetenv("NNHAL_DEBUG");
	dup2(file, STDERR_FILENO);
	good = use_device(NULL);
	dup2(saved, STDERR_FILENO);
	close(saved);
	unsetenv("NNHAL_DEBUG");
	text_clear();
	n = pread(file, text.bytes, sizeof(text.bytes) - 1, 0);
	text.bytes[n > 0 ? n : 0] = '\0';
	close(file);
	return good;
}

static void test_environment(void)
{
	ok(stderr_of(NULL) && !text.bytes[0], "I09 without NNHAL_DEBUG nothing is printed");
	ok(stderr_of("") && !text.bytes[0], "I09 an empty NNHAL_DEBUG prints nothing");
	ok(stderr_of("execution") && strstr(text.bytes, "nnhal: execution: execute: program ") &&
	   !strstr(text.bytes, "nnhal: model: "), "I09 NNHAL_DEBUG=execution prints executions");
	ok(stderr_of("nonsense,manager") &&
	   strstr(text.bytes, "nnhal: error: NNHAL_DEBUG: \"nonsense\" is no tag") &&
	   strstr(text.bytes, "nnhal: manager: open "), "I08 an unknown tag is an error, the rest counts");
}

/* The graph of the fixture's model is in text. */
static void draw(const char *name)
{
	text_clear();
	nnhal_graph_dump(name, &f.model, add_text, &text);
}

static bool has(const char *line)
{
	if (strstr(text.bytes, line))
		return true;
	tap_note("no \"%s\" in\n%s", line, text.bytes);
	return false;
}

static void test_labels(void)
{
	static const float real = 1.5f;
	static const uint32_t word = 4000000000u;
	static const uint8_t yes = 1;
	struct graph *g = &f.graph;

	fixture_init(&f);
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(2, 3));
	add_constant(&f, g, NNHAL_OPERAND_FLOAT32, SCALAR, &real, 4);
	add_constant(&f, g, NNHAL_OPERAND_UINT32, SCALAR, &word, 4);
	add_int32(&f, g, -7);
	add_constant(&f, g, NNHAL_OPERAND_BOOL, SCALAR, &yes, 1);
	add_constant(&f, g, NNHAL_OPERAND_TENSOR_INT32, DIMS(1), &word, 4);
	add_operand(g, NNHAL_OPERAND_TENSOR_QUANT8_ASYMM, NNHAL_LIFETIME_NO_VALUE, DIMS(0, 4));
	add_operand(g, NNHAL_OPERAND_TENSOR_OEM_BYTE, NNHAL_LIFETIME_CONSTANT_REFERENCE, DIMS(5));
	add_operand(g, NNHAL_OPERAND_OEM, NNHAL_LIFETIME_TEMPORARY_VARIABLE, SCALAR);
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT16, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(8));
	add_operation(g, NNHAL_OPERATION_ADD, OPERANDS(0, 1), OPERANDS(9));
	add_operation(g, NNHAL_OPERATION_RELU, OPERANDS(2), OPERANDS(8));
	fixture_finish(&f, 0);
	draw("a model");
	ok(has("// a model\ndigraph {\n") && has("\n}\n"), "I12 a comment with the name, digraph");
	ok(has("n0 [shape=box label=\"0: ADD\"]\n"), "I12 operations are boxes");
	ok(has("    d0 -> n0 [label=0]\n    d1 -> n0 [label=1]\n    n0 -> d9\n    n1 [") &&
	   has("    d2 -> n1\n"), "I12 edges have numbers if there are several");
	ok(has("d0 [style=filled fillcolor=black fontcolor=white label=\"0 = input[0]\\nTF32 2x3\"]"),
	   "I13 an input");
	ok(has("d9 [style=filled fillcolor=black fontcolor=white label=\"9 = output[0]\\nTENSOR_FLOAT16 8\"]"),
	   "I13 an output, a type in full");
	ok(has("d1 [label=\"1: COPY\\nF32 = 1.5\"]") && has("d2 [label=\"2: COPY\\nU32 = 4000000000\"]") &&
	   has("d3 [label=\"3: COPY\\nI32 = -7\"]") && has("d4 [label=\"4: COPY\\nBOOL = true\"]"),
	   "I13 values of scalars");
	ok(has("d5 [label=\"5: COPY\\nTI32 1\"]"), "I13 no value of a tensor");
	ok(has("d6 [label=\"6: NO\\nTQ8A 0x4\"]") && has("d7 [label=\"7: REF\\nTOEMB 5\"]") &&
	   has("d8 [label=\"8\\nOEM\"]"), "I13 lifetimes and types");
	make_if(&f);
	draw(NULL);
	ok(has("d1 [label=\"1: SUBGRAPH\\nSUBGRAPH\"]") &&
	   has("    subgraph cluster_1 {\n    label=\"subgraph 1\"\n") && has("s1_n0 [shape=box label=\"0: MUL\"]"),
	   "I14 referenced subgraphs");
}

/* An invalid model is drawn, not followed off the end of its tables. */
static void test_invalid_graph(void)
{
	const uint32_t list[2] = { 0, 99 };
	struct nnhal_operand operands[2] = {
		{ .type = NNHAL_OPERAND_INT32, .lifetime = NNHAL_LIFETIME_CONSTANT_COPY,
		  .location = { 0, 4000000000u, 4 } },
		{ .type = 4711, .num_dimensions = 3, .lifetime = 99 },
	};
	struct nnhal_operation operation = {
		.type = 4711, .num_inputs = 2, .num_outputs = 1, .inputs = list, .outputs = list,
	};
	struct nnhal_subgraph inner = {
		.num_operands = 2, .num_operations = 1, .num_inputs = 2, .num_outputs = 1,
		.operands = operands, .operations = &operation, .input_indexes = list,
		.output_indexes = list,
	};

	f.model = (struct nnhal_model){
		.main = inner, .num_referenced = 1, .referenced = &inner,
	};
	draw("odd\nname");
	ok(strstr(text.bytes, "// odd?name\ndigraph {") == text.bytes, "I14 the graph starts with its name");
	ok(has("    d0 [style=filled fillcolor=black fontcolor=white "
	       "label=\"0 = input[0] = output[0]: COPY\\nI32\"]\n"),
	   "I14 a value out of bounds is left out");
	ok(has("    d99 -> n0 [label=1]\n"), "I14 an edge to an operand that does not exist");
	ok(has("    s0_n0 -> s0_d0\n"), "I14 the referenced subgraph is drawn");
	f.model = (struct nnhal_model){ .main = { .num_operands = 9, .num_operations = 9 },
					.num_referenced = 9 };
	draw("x");
	ok(!strcmp(text.bytes, "// x\ndigraph {\n}\n"), "I14 NULL pointers");
	f.model.hal_version = 1u << 16;
	ok(nnhal_graph_dump("", &f.model, add_text, &text) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_graph_dump("", NULL, add_text, &text) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_graph_dump("", &f.model, NULL, NULL) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "I14 no model, no callback, a layout that is not known");
}

static unsigned int evaluated;

static bool check_five(struct nnhal_diag *diag, int value)
{
	NNHAL_RET_CHECK(diag, ++evaluated && value == 5, "value %d", value);
	return true;
}

static bool check_outer(struct nnhal_diag *diag, int value)
{
	NNHAL_RET(diag, check_five(diag, value));
	return true;
}

static void test_checks(void)
{
	struct nnhal_diag diag = { "" };

	errno = 55;
	ok(!check_outer(&diag, 4) && errno == 55 && evaluated == 1 &&
	   !strcmp(diag.message, "++evaluated && value == 5 does not hold: value 4"),
	   "I10 a check returns false, says why once and keeps errno: %s", diag.message);
	ok(check_outer(&diag, 5) && evaluated == 2, "I10 a check that holds goes on");
	ok(!check_five(NULL, 4), "I10 nobody wants to know");
}

static void test_types(void)
{
	static const struct nnhal_extension_prefix prefixes[] = {
		{ "com.example.fibonacci", 9 }, { "com.example.unknown", 8 },
	};
	struct nnhal_operand_type_info info = NNHAL_OPERAND_TYPE_INFO_INIT;
	struct nnhal_device *device;
	struct nnhal_model model = { .extensions = prefixes, .num_extensions = 2 };
	unsigned int tensors = 0, quantized = 0;
	uint32_t type;

	for (type = 0; type < 0x10002; type++) {
		tensors += nnhal_operand_type_is_tensor(type);
		quantized += nnhal_operand_type_is_quantized(type);
	}
	ok(tensors == 11 && quantized == 6, "I01 11 types of tensors, 6 of them quantized: %u, %u",
	   tensors, quantized);
	ok(nnhal_operand_type_is_tensor(NNHAL_OPERAND_TENSOR_OEM_BYTE) &&
	   !nnhal_operand_type_is_tensor(NNHAL_OPERAND_SUBGRAPH) &&
	   !nnhal_operand_type_is_tensor(0x10001) &&
	   !nnhal_operand_type_is_quantized(NNHAL_OPERAND_TENSOR_INT32), "I01 tensors, quantized types");
	if (!ok(!nnhal_device_open("sim:examples", &device, &f.diag), "a device with an extension"))
		return;
	ok(!nnhal_device_get_operand_type_info(device, NULL, NNHAL_OPERAND_TENSOR_QUANT16_SYMM,
					       &info) &&
	   info.element_size == 2 && info.is_tensor && info.is_quantized && !info.is_extension,
	   "I01 properties of TENSOR_QUANT16_SYMM");
	ok(!nnhal_device_get_operand_type_info(device, &model, 9 << 16 | 1, &info) &&
	   info.element_size == 8 && info.is_tensor && !info.is_quantized && info.is_extension,
	   "I01 properties of an extension's tensor");
	ok(!nnhal_device_get_operand_type_info(device, &model, 9 << 16, &info) && !info.is_tensor &&
	   info.element_size == 8 && info.is_extension, "I01 properties of an extension's scalar");
	ok(nnhal_device_get_operand_type_info(device, &model, 9 << 16 | 77, &info) ==
	   NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_device_get_operand_type_info(device, &model, 8 << 16, &info) ==
	   NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_device_get_operand_type_info(device, NULL, 9 << 16, &info) ==
	   NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_device_get_operand_type_info(device, NULL, 16, &info) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && info.element_size == 8,
	   "I01 unknown types, extensions and prefixes");
	nnhal_device_unref(device);
}

int main(void)
{
	test_tags();
	test_macro();
	test_callback();
	test_environment();
	test_labels();
	test_invalid_graph();
	test_checks();
	test_types();
	return tap_done();
}
