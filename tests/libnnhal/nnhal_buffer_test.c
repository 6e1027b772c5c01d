// SPDX-License-Identifier: MIT
/*
 * Buffers of a device: allocate, tokens, copies. Names carry the numbers of the conformance
 * checklist.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buffer_rig.h"

#define SQUARE	2, (const uint32_t[]){ 2, 2 }

static struct nnhal_device *device, *other;
static struct nnhal_prepared_model *model;	/* RELU of float32 [2, 2] */
static struct rig g;

/* ---- allocate ---- */

static const char *const side_names[] = { "input", "output" };

static struct nnhal_buffer_role *add_role(bool output, uint32_t model_index, uint32_t io_index)
{
	struct nnhal_buffer_role *role = output ? &g.outputs[g.num_outputs++]
						: &g.inputs[g.num_inputs++];

	*role = (struct nnhal_buffer_role){ model_index, io_index, 1.0f };
	return role;
}

/* The rig is refused; @word is in the message. */
static void expect_refused(enum nnhal_status expected, const char *word, const char *fmt,
			   const char *name)
{
	enum nnhal_status status = rig_allocate(&g, device);
	char what[128];

	snprintf(what, sizeof(what), fmt, name);
	ok(status == expected && !g.buffer && !g.token && strstr(g.diag.message, word),
	   "%s: %s, %s", what, nnhal_status_name((int)status), g.diag.message);
	nnhal_buffer_unref(g.buffer);
}

static void expect_invalid(const char *word, const char *fmt, const char *name)
{
	expect_refused(NNHAL_STATUS_INVALID_ARGUMENT, word, fmt, name);
}

static bool allocates(void)
{
	bool good = !rig_allocate(&g, device) && g.buffer && g.token >= 65536 &&
		    !g.diag.message[0];

	if (!good)
		tap_note("%s", g.diag.message);
	nnhal_buffer_unref(g.buffer);
	return good;
}

static void test_success(void)
{
	struct nnhal_buffer_desc small = { .size = 4 };
	enum nnhal_status status;

	rig_init(&g, model, true, true);
	ok(allocates(), "F10 F11 one model, input and output");
	rig_init(&g, model, true, false);
	ok(allocates(), "F11 an input only");
	rig_init(&g, model, false, true);
	g.desc.num_dimensions = 2;
	g.desc.dimensions = (const uint32_t[]){ 0, 2 };
	ok(allocates(), "F11 F20 a description that leaves a dimension open");
	status = nnhal_device_allocate(device, &small, g.models, 1, NULL, 0, g.outputs, 1,
				       &g.buffer, &g.token, NULL);
	ok(status == NNHAL_STATUS_INVALID_ARGUMENT && !g.buffer && !g.token,
	   "F10 description of another version");
	status = nnhal_device_allocate(device, &g.desc, g.models, 1, NULL, 0, NULL, 1, &g.buffer,
				       &g.token, NULL);
	ok(status == NNHAL_STATUS_INVALID_ARGUMENT && !g.buffer && !g.token, "F10 NULL for roles");
}

static void test_no_roles(void)
{
	rig_init(&g, model, false, false);
	expect_invalid("0 roles", "F12 a prepared model but no roles", "");
	g.num_models = 0;
	expect_invalid("0 models", "F12 no prepared models and no roles", "");
	g.num_inputs = 1;
	expect_invalid("0 models", "F12 a role without models", "");
}

static void test_foreign_models(void)
{
	struct nnhal_prepared_model *foreign = prepare_relu(other, FLOATS, 0, 0, SQUARE);
	unsigned int side;

	for (side = 0; side < 2; side++) {
		rig_init(&g, NULL, !side, side);
		expect_invalid("model 0: NULL", "F13 null prepared model, as %s", side_names[side]);
		rig_init(&g, foreign, !side, side);
		expect_invalid("another device", "F13 model of another device, as %s",
			       side_names[side]);
	}
	nnhal_prepared_model_unref(foreign);
}

static void test_indexes(void)
{
	unsigned int side;

	for (side = 0; side < 2; side++) {
		rig_init(&g, model, false, false);
		add_role(side, 1, 0);
		expect_invalid("modelIndex 1", "F14 modelIndex out of range, %s", side_names[side]);
		rig_init(&g, model, false, false);
		add_role(side, 0, 1);
		expect_invalid("ioIndex 1", "F14 ioIndex out of range, %s", side_names[side]);
		ok(strstr(g.diag.message, side ? "output role 0" : "input role 0"),
		   "F14 the message names the %s role", side_names[side]);
	}
}

static void test_frequencies(void)
{
	static const float bad[] = { 10.0f, 0.0f, -0.5f, NAN, 1.0001f };
	static const float good[] = { 1.0f, 0.25f, 1e-30f };
	unsigned int side, i, count = 0;
	char name[64];

	for (side = 0; side < 2; side++) {
		for (i = 0; i < 5; i++) {
			rig_init(&g, model, false, false);
			add_role(side, 0, 0)->frequency = bad[i];
			snprintf(name, sizeof(name), "%g, %s", (double)bad[i], side_names[side]);
			expect_invalid("frequency", "F15 frequency %s", name);
		}
		for (i = 0; i < 3; i++) {
			rig_init(&g, model, false, false);
			add_role(side, 0, 0)->frequency = good[i];
			count += allocates();
		}
	}
	ok(count == 6, "F15 frequencies above 0 and up to 1");
}

static void test_same_role(void)
{
	unsigned int side;

	for (side = 0; side < 2; side++) {
		rig_init(&g, model, false, false);
		add_role(side, 0, 0);
		add_role(side, 0, 0);
		expect_invalid("occurs twice", "F16 the same role twice, %s", side_names[side]);
		rig_init(&g, model, false, false);
		g.models[g.num_models++] = model;
		add_role(side, 0, 0);
		add_role(side, 1, 0);
		expect_invalid("occurs twice", "F16 one model by two indexes, %s",
			       side_names[side]);
	}
	rig_init(&g, model, true, true);
	ok(allocates(), "F16 input 0 and output 0 are two roles");
}

static const char *const pairings[] = { "input and input", "input and output",
					"output and output" };

/* Two models, one role of each, in each pairing: all refused, or none. */
static void pairs(struct nnhal_prepared_model *second, const char *word, const char *fmt)
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		rig_init(&g, model, false, false);
		g.models[g.num_models++] = second;
		add_role(i == 2, 0, 0);
		add_role(i > 0, 1, 0);
		if (word)
			expect_invalid(word, fmt, pairings[i]);
		else
			ok(allocates(), fmt, pairings[i]);
	}
	nnhal_prepared_model_unref(second);
}

/* DEQUANTIZE of TENSOR_QUANT8_SYMM_PER_CHANNEL [2, 2]. */
static struct nnhal_prepared_model *prepare_per_channel(const float *scales, uint32_t channel_dim)
{
	static struct fixture f;

	fixture_init(&f);
	add_operand(&f.graph, NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL,
		    NNHAL_LIFETIME_SUBGRAPH_INPUT, SQUARE);
	add_operand(&f.graph, FLOATS, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, SQUARE);
	f.graph.operands[0].extra_params = (struct nnhal_extra_params){
		.kind = NNHAL_EXTRA_PARAMS_CHANNEL_QUANT,
		.channel_quant = { scales, 2, channel_dim },
	};
	add_operation(&f.graph, NNHAL_OPERATION_DEQUANTIZE, OPERANDS(0), OPERANDS(1));
	fixture_finish(&f, 0);
	return prepare_on(device, &f);
}

static void test_extra_params(void)
{
	static const float halves[] = { 0.5f, 0.25f }, thirds[] = { 0.5f, 0.3f };
	struct nnhal_prepared_model *first = prepare_per_channel(halves, 0);
	struct nnhal_prepared_model *others[] = {
		prepare_per_channel(halves, 0), prepare_per_channel(thirds, 0),
		prepare_per_channel(halves, 1),
	};
	unsigned int i;

	for (i = 0; i < 3; i++) {
		rig_init(&g, first, true, false);
		g.models[g.num_models++] = others[i];
		add_role(false, 1, 0);
		if (i)
			expect_invalid("extraParams", "F17 roles that differ in %s",
				       i == 1 ? "a scale of a channel" : "the channel dimension");
		else
			ok(allocates(), "F17 equal extraParams");
		nnhal_prepared_model_unref(others[i]);
	}
	nnhal_prepared_model_unref(first);
}

static void test_different_roles(void)
{
	struct nnhal_prepared_model *floats = model;

	pairs(prepare_relu(device, QUANT, 0.5f, 3, SQUARE), "operand type",
	      "F17 roles that differ in type, %s");
	model = prepare_relu(device, QUANT, 0.5f, 3, SQUARE);
	pairs(prepare_relu(device, QUANT, 0.25f, 3, SQUARE), "scale",
	      "F17 roles that differ in scale, %s");
	pairs(prepare_relu(device, QUANT, 0.5f, 4, SQUARE), "zeroPoint",
	      "F17 roles that differ in zeroPoint, %s");
	pairs(prepare_relu(device, QUANT, 0.5f, 3, SQUARE), NULL, "F17 equal roles, %s");
	nnhal_prepared_model_unref(model);
	model = floats;
	test_extra_params();
	pairs(prepare_relu(device, FLOATS, 0, 0, DIMS(4)), "dimensions",
	      "F18 roles that differ in rank, %s");
	pairs(prepare_relu(device, FLOATS, 0, 0, DIMS(2, 3)), "dimensions",
	      "F18 roles that differ in a dimension, %s");
	pairs(prepare_relu(device, FLOATS, 0, 0, DIMS(2, 0)), NULL,
	      "F20 a dimension that one role leaves open, %s");
	pairs(prepare_relu(device, FLOATS, 0, 0, SCALAR), NULL,
	      "F20 a rank that one role leaves open, %s");
}

static void test_description(void)
{
	static const uint32_t dims[] = { 2, 3, 1 };
	struct nnhal_prepared_model *scalar;
	unsigned int side;

	for (side = 0; side < 2; side++) {
		rig_init(&g, model, !side, side);
		g.desc.dimensions = dims;
		g.desc.num_dimensions = 3;
		expect_invalid("dimensions", "F19 description of another rank, %s",
			       side_names[side]);
		g.desc.num_dimensions = 2;
		expect_invalid("dimensions", "F19 description with another dimension, %s",
			       side_names[side]);
		g.desc.dimensions = NULL;
		expect_invalid("NULL", "F19 description without its dimensions, %s",
			       side_names[side]);
	}
	scalar = prepare_scalar(device);
	rig_init(&g, scalar, false, false);
	add_role(false, 0, 2);
	ok(allocates(), "F19 a scalar");
	g.desc.dimensions = (const uint32_t[]){ 1 };
	g.desc.num_dimensions = 1;
	expect_invalid("scalar", "F19 description {1} for a scalar", "");
	nnhal_prepared_model_unref(scalar);
}

static void test_unknown_size(void)
{
	static const uint32_t nine[9] = { 0, 1, 1, 1, 1, 1, 1, 1, 1 };
	struct nnhal_prepared_model *open = prepare_relu(device, FLOATS, 0, 0, SCALAR);
	static const uint32_t huge[] = { 65536, 65536 };
	struct nnhal_buffer_state state;
	int fd;

	rig_init(&g, open, true, true);
	MUST(!rig_allocate(&g, device));
	state = state_of(g.buffer);
	ok(!state.is_initialized && !state.num_dimensions && !state.content_size,
	   "F21 unknown rank: a flexible buffer");
	ok(nnhal_buffer_export(g.buffer, &fd, NULL) == NNHAL_STATUS_GENERAL_FAILURE && fd == -1,
	   "F21 it has no memory before its first use");
	nnhal_buffer_unref(g.buffer);
	g.desc.dimensions = huge;
	g.desc.num_dimensions = 2;
	expect_refused(NNHAL_STATUS_GENERAL_FAILURE, "32 bits", "F21 too large%s", "");
	g.desc.dimensions = nine;
	g.desc.num_dimensions = 9;
	expect_refused(NNHAL_STATUS_GENERAL_FAILURE, "rank 9", "F21 rank above that of the device%s",
		       "");
	nnhal_prepared_model_unref(open);
}

/* ---- tokens ---- */

#define MANY	1000

static enum nnhal_status execute(struct nnhal_prepared_model *m, uint32_t input, uint32_t output)
{
	struct nnhal_request_pool pools[] = { { .token = input }, { .token = output } };
	struct nnhal_request_argument in = { .location = { .pool_index = 0 } };
	struct nnhal_request_argument out = { .location = { .pool_index = 1 } };
	struct nnhal_request request = {
		.num_inputs = 1, .num_outputs = 1, .num_pools = 2, .inputs = &in, .outputs = &out,
		.pools = pools,
	};

	return nnhal_prepared_model_execute_synchronously(m, &request, NULL, NULL, NULL, NULL);
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void test_tokens(void)
{
	static struct nnhal_buffer *buffers[MANY];
	static uint32_t tokens[MANY];
	uint32_t token, out_token, i, equal = 0, refused = 0;
	struct nnhal_buffer *buffer, *out;

	out = buffer_for(device, model, false, true, 0, NULL, &out_token);
	for (i = 0; i < MANY; i++)
		buffers[i] = buffer_for(device, model, true, false, 0, NULL, &tokens[i]);
	ok(!fill(buffers[500], 1.0f, 16, 0, NULL) && !execute(model, tokens[500], out_token) &&
	   holds(out, 1.0f, 16, true), "F22 the token names its buffer");
	for (i = 0; i < MANY; i += 2) {
		nnhal_buffer_unref(buffers[i]);
		refused += execute(model, tokens[i], out_token) == NNHAL_STATUS_INVALID_ARGUMENT;
	}
	ok(refused == MANY / 2, "F22 a token of a freed buffer is invalid at once");
	for (i = 1; i < MANY; i += 2)
		nnhal_buffer_unref(buffers[i]);
	qsort(tokens, MANY, sizeof(*tokens), compare);
	for (i = 1; i < MANY; i++)
		equal += tokens[i] == tokens[i - 1];
	ok(!equal, "F22 %u tokens are different", MANY);
	buffer = nnhal_buffer_ref(buffer_for(device, model, true, false, 0, NULL, &token));
	nnhal_buffer_unref(buffer);
	ok(!fill(buffer, 1.0f, 16, 0, NULL) && !execute(model, token, out_token),
	   "F22 the token is good as long as there is a reference");
	nnhal_buffer_unref(buffer);
	nnhal_buffer_unref(out);
}

/* As many as a client has that would have the same tokens if they were numbers in order. */
#define OWN	8

/* Try tokens of somebody else on another device, which has buffers of its own: none may be taken. */
static bool refuses_tokens(struct nnhal_device *d, const uint32_t tokens[2])
{
	struct nnhal_prepared_model *m = prepare_relu(d, FLOATS, 0, 0, SQUARE);
	struct nnhal_buffer *own[OWN];
	uint32_t own_tokens[OWN], i;
	bool good;

	for (i = 0; i < OWN; i++) {
		own[i] = buffer_for(d, m, true, true, 0, NULL, &own_tokens[i]);
		MUST(!fill(own[i], 1.0f, 16, 0, NULL));
	}
	good = !execute(m, own_tokens[OWN - 2], own_tokens[OWN - 1]) &&
	       execute(m, tokens[0], own_tokens[OWN - 1]) == NNHAL_STATUS_INVALID_ARGUMENT &&
	       execute(m, own_tokens[OWN - 1], tokens[1]) == NNHAL_STATUS_INVALID_ARGUMENT;
	for (i = 0; i < OWN; i++)
		nnhal_buffer_unref(own[i]);
	nnhal_prepared_model_unref(m);
	return good;
}

/* Another process gets tokens, and tells whether they are refused. */
static void stranger(int socket)
{
	struct nnhal_device *own = test_device_open();
	uint32_t tokens[2];
	bool good;

	if (read(socket, tokens, sizeof(tokens)) == (ssize_t)sizeof(tokens)) {
		good = refuses_tokens(own, tokens);
		if (write(socket, &good, sizeof(good)) < 0)
			exit(1);
	}
	nnhal_device_unref(own);
	exit(0);
}

/* Before there are threads. */
static int start_stranger(pid_t *pid)
{
	int sv[2];

	MUST(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv));
	*pid = fork();
	MUST(*pid >= 0);
	if (!*pid) {
		close(sv[0]);
		stranger(sv[1]);
	}
	close(sv[1]);
	return sv[0];
}

static void test_strangers(int socket, pid_t pid)
{
	struct nnhal_buffer *in, *out;
	uint32_t tokens[2];
	bool good = false;
	int how = 0;

	in = buffer_for(device, model, true, false, 0, NULL, &tokens[0]);
	out = buffer_for(device, model, false, true, 0, NULL, &tokens[1]);
	MUST(!fill(in, 3.0f, 16, 0, NULL) && !fill(out, 5.0f, 16, 0, NULL));
	ok(refuses_tokens(other, tokens), "F23 token of another device file");
	MUST(write(socket, tokens, sizeof(tokens)) == (ssize_t)sizeof(tokens));
	MUST(read(socket, &good, sizeof(good)) == (ssize_t)sizeof(good));
	ok(good, "F23 token of another process");
	ok(holds(in, 3.0f, 16, false) && holds(out, 5.0f, 16, false),
	   "F23 the owner's buffers keep content and state");
	ok(waitpid(pid, &how, 0) == pid && !how, "F23 the other process ended well");
	close(socket);
	nnhal_buffer_unref(in);
	nnhal_buffer_unref(out);
}

static void test_new_buffer(void)
{
	struct nnhal_memory *memory = memory_of(16, 0.0f);
	struct nnhal_buffer_state state;
	struct nnhal_buffer *buffer;
	uint32_t token, i, dirty = 0;
	const uint8_t *map;
	int fd;

	for (i = 0; i < 32; i++) {
		buffer = buffer_for(device, model, true, true, 0, NULL, &token);
		state = state_of(buffer);
		MUST(!nnhal_buffer_export(buffer, &fd, NULL));
		map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
		MUST(map != MAP_FAILED);
		for (unsigned int k = 0; k < 4096; k++)
			dirty += map[k];
		dirty += state.is_initialized;
		dirty += nnhal_buffer_copy_to(buffer, memory, NULL) != NNHAL_STATUS_GENERAL_FAILURE;
		MUST(!fill(buffer, 1e9f, 16, 0, NULL));
		munmap((void *)(uintptr_t)map, 4096);
		close(fd);
		nnhal_buffer_unref(buffer);
	}
	ok(!dirty, "F24 a new buffer is uninitialised and shows nothing of another one");
	nnhal_memory_unref(memory);
}

/* A program whose structure is older, and one whose is newer. */
static void test_state_sizes(void)
{
	struct {
		struct nnhal_buffer_state state;
		uint64_t more[2];
	} newer;
	struct nnhal_buffer_state state = { .size = 16, .content_size = 99 };
	struct nnhal_buffer *buffer;
	uint32_t token;

	buffer = buffer_for(device, model, true, true, 0, NULL, &token);
	MUST(!fill(buffer, 1.0f, 16, 0, NULL));
	ok(nnhal_buffer_get_state(buffer, &state) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   state.content_size == 99, "state of another size is not written");
	memset(&newer, 0xee, sizeof(newer));
	newer.state.size = sizeof(newer);
	ok(!nnhal_buffer_get_state(buffer, &newer.state) && newer.state.content_size == 16 &&
	   newer.state.size == sizeof(newer) && !newer.more[0] && !newer.more[1],
	   "a larger state has zeros behind what is known");
	nnhal_buffer_unref(buffer);
}

static void test_reset(void)
{
	struct nnhal_buffer_state state = NNHAL_BUFFER_STATE_INIT;
	struct nnhal_memory *memory = NULL;
	struct nnhal_buffer *buffer;
	uint32_t token;

	buffer = buffer_for(device, model, true, true, 0, NULL, &token);
	MUST(!fill(buffer, 1.0f, 16, 0, NULL) && !nnhal_memory_create(16, &memory, NULL));
	ok(!nnhal_buffer_reset(buffer) && !nnhal_buffer_get_state(buffer, &state) &&
	   !state.is_initialized && !state.content_size &&
	   nnhal_buffer_copy_to(buffer, memory, NULL) == NNHAL_STATUS_GENERAL_FAILURE,
	   "a buffer that is reset has no content");
	ok(!nnhal_buffer_reset(buffer) && !fill(buffer, 2.0f, 16, 0, NULL) &&
	   !nnhal_buffer_copy_to(buffer, memory, NULL), "and takes a new one");
	ok(nnhal_buffer_reset(NULL) == NNHAL_STATUS_INVALID_ARGUMENT, "no buffer to reset");
	nnhal_memory_unref(memory);
	nnhal_buffer_unref(buffer);
}

/* ---- copies ---- */

static enum nnhal_status from(struct nnhal_buffer *buffer, uint32_t size, uint32_t rank,
			      const uint32_t *dims)
{
	return fill(buffer, 1.0f, size, rank, dims);
}

static bool refuses(struct nnhal_buffer *buffer, uint32_t size, uint32_t rank,
		    const uint32_t *dims)
{
	/* It must be uninitialised afterwards, whatever it was. */
	return from(buffer, size, rank, dims) == NNHAL_STATUS_INVALID_ARGUMENT &&
	       !state_of(buffer).is_initialized;
}

static void test_copy_fixed(void)
{
	struct nnhal_buffer *buffer;
	uint32_t token;

	buffer = buffer_for(device, model, true, true, 0, NULL, &token);
	ok(refuses(buffer, 8, 0, NULL) && refuses(buffer, 32, 0, NULL),
	   "F25 copyFrom with half and double the size");
	ok(refuses(buffer, 32, SQUARE), "F25 copyFrom of more than the dimensions take");
	ok(refuses(buffer, 16, DIMS(4)), "F27 wrong rank");
	ok(refuses(buffer, 16, DIMS(4, 1)), "F27 changed dimensions");
	ok(refuses(buffer, 16, DIMS(2, 0)), "F27 a dimension of zero");
	ok(!from(buffer, 16, 0, NULL) && holds(buffer, 1.0f, 16, false), "F27 no dimensions");
	ok(!from(buffer, 16, SQUARE) && holds(buffer, 1.0f, 16, false),
	   "F27 the exact dimensions");
	nnhal_buffer_unref(buffer);
}

static void test_copy_flexible(void)
{
	struct nnhal_prepared_model *open = prepare_relu(device, FLOATS, 0, 0, DIMS(0, 2));
	struct nnhal_memory *half, *twice, *right;
	struct nnhal_buffer_state state;
	struct nnhal_buffer *buffer;
	uint32_t token;

	buffer = buffer_for(device, open, true, true, 0, NULL, &token);
	ok(refuses(buffer, 8, SQUARE) && refuses(buffer, 32, SQUARE),
	   "F26 full dimensions with half and double size");
	ok(!from(buffer, 16, SQUARE) && holds(buffer, 1.0f, 16, false),
	   "F26 F28 full dimensions with their size");
	ok(refuses(buffer, 16, DIMS(3, 2)), "F26 right memory with enlarged dimensions");
	ok(refuses(buffer, 16, DIMS(4)), "F28 wrong rank");
	ok(refuses(buffer, 16, DIMS(1, 4)), "F28 changed fixed dimension");
	ok(refuses(buffer, 16, DIMS(0, 2)) && refuses(buffer, 16, DIMS(2, 0)),
	   "F28 a dimension of zero");
	ok(refuses(buffer, 16, 0, NULL), "F28 no dimensions");
	MUST(!from(buffer, 16, SQUARE));
	half = memory_of(8, 0.0f);
	right = memory_of(16, 0.0f);
	twice = memory_of(32, 0.0f);
	ok(nnhal_buffer_copy_to(buffer, half, NULL) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_buffer_copy_to(buffer, twice, NULL) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   !nnhal_buffer_copy_to(buffer, right, NULL),
	   "F31 flexible buffer: copyTo with half, double and exact size");
	MUST(!from(buffer, 65536, DIMS(8192, 2)));
	state = state_of(buffer);
	ok(holds(buffer, 1.0f, 65536, false) && state.dimensions[0] == 8192 && state.content_size == 65536,
	   "F31 its present shape counts, and it has grown");
	ok(nnhal_buffer_copy_to(buffer, right, NULL) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "F31 the former size does not");
	nnhal_memory_unref(half);
	nnhal_memory_unref(right);
	nnhal_memory_unref(twice);
	nnhal_buffer_unref(buffer);
	nnhal_prepared_model_unref(open);
}

static void test_copy_unranked(void)
{
	struct nnhal_prepared_model *open = prepare_relu(device, FLOATS, 0, 0, SCALAR);
	struct nnhal_buffer *buffer;
	uint32_t token;

	buffer = buffer_for(device, open, true, true, 0, NULL, &token);
	ok(refuses(buffer, 4, 0, NULL) && !from(buffer, 24, DIMS(6)) &&
	   !from(buffer, 24, DIMS(2, 3)) && state_of(buffer).num_dimensions == 2,
	   "F28 unknown rank: any full dimensions");
	ok(refuses(buffer, 4, DIMS(1, 1, 1, 1, 1, 1, 1, 1, 1)),
	   "F28 more dimensions than the device has");
	ok(refuses(buffer, 16, DIMS(65536, 65537)), "F28 dimensions that overflow");
	nnhal_buffer_unref(buffer);
	nnhal_prepared_model_unref(open);
}

static void test_copy_scalar(void)
{
	struct nnhal_prepared_model *scalar = prepare_scalar(device);

	rig_init(&g, scalar, false, false);
	add_role(false, 0, 2);
	MUST(!rig_allocate(&g, device));
	ok(refuses(g.buffer, 4, DIMS(1)), "F29 copyFrom into a scalar with dimensions");
	ok(!from(g.buffer, 4, 0, NULL) && holds(g.buffer, 1.0f, 4, false),
	   "F29 and without");
	nnhal_buffer_unref(g.buffer);
	nnhal_prepared_model_unref(scalar);
}

static void test_copy_states(void)
{
	struct nnhal_memory *half = memory_of(8, 0.0f), *right = memory_of(16, 0.0f),
			    *twice = memory_of(32, 0.0f);
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = NNHAL_MEMORY_ASHMEM, .size = 16,
		.fd = nnhal_memory_fd(right), .access = NNHAL_MEMORY_READ,
	};
	struct nnhal_memory *readable, *writable;
	struct nnhal_buffer *buffer;
	struct nnhal_diag diag;
	uint32_t token;

	MUST(!nnhal_memory_import(&desc, &readable, NULL));
	desc.access = NNHAL_MEMORY_WRITE;
	MUST(!nnhal_memory_import(&desc, &writable, NULL));
	buffer = buffer_for(device, model, true, true, 0, NULL, &token);
	ok(nnhal_buffer_copy_to(buffer, right, &diag) == NNHAL_STATUS_GENERAL_FAILURE &&
	   strstr(diag.message, "uninitialised"), "F30 copyTo of an uninitialised buffer: %s",
	   diag.message);
	MUST(!from(buffer, 16, 0, NULL));
	ok(nnhal_buffer_copy_to(buffer, half, NULL) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_buffer_copy_to(buffer, twice, NULL) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "F31 copyTo with half and double size");
	ok(!nnhal_buffer_copy_to(buffer, right, NULL) && memory_has(right, 1.0f, false),
	   "F31 copyTo with the exact size");
	ok(nnhal_buffer_copy_to(buffer, readable, NULL) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_buffer_copy_to(buffer, NULL, NULL) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   holds(buffer, 1.0f, 16, false), "F33 copyTo memory that is read-only, or none");
	ok(state_of(buffer).is_initialized && from(buffer, 8, 0, NULL) &&
	   nnhal_buffer_copy_to(buffer, right, NULL) == NNHAL_STATUS_GENERAL_FAILURE,
	   "F32 a copyFrom that is refused leaves the buffer uninitialised");
	ok(!nnhal_buffer_copy_from(buffer, readable, NULL, 0, NULL) &&
	   state_of(buffer).is_initialized && state_of(buffer).content_size == 16,
	   "F32 copyFrom initialises");
	ok(nnhal_buffer_copy_from(buffer, writable, NULL, 0, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && !state_of(buffer).is_initialized &&
	   nnhal_buffer_copy_from(buffer, NULL, NULL, 0, NULL) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "F33 copyFrom memory that is write-only, or none");
	nnhal_memory_unref(readable);
	nnhal_memory_unref(writable);
	nnhal_memory_unref(half);
	nnhal_memory_unref(right);
	nnhal_memory_unref(twice);
	nnhal_buffer_unref(buffer);
}

/* Memory of a kind with 16 bytes, at an offset in a file; NULL: not to be had here. */
static struct nnhal_memory *memory_of_kind(uint32_t kind, off_t *at, int *fd)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = kind, .size = 16,
	};
	struct udmabuf_create create = {
		.flags = UDMABUF_FLAGS_CLOEXEC, .size = (uint64_t)sysconf(_SC_PAGESIZE),
	};
	char name[] = "/tmp/nnhal-test-XXXXXX";
	struct nnhal_memory *memory;
	int udmabuf;

	*at = 0;
	*fd = nnhal_memfd_create("test", 4096);
	MUST(*fd >= 0);
	desc.fd = *fd;
	if (kind == NNHAL_MEMORY_MMAP_FD) {
		close(*fd);
		*fd = mkstemp(name);
		unlink(name);
		MUST(*fd >= 0 && !ftruncate(*fd, 8192));
		desc.fd = *fd;
		desc.offset = 5003;
		*at = 5003;
	} else if (kind == NNHAL_MEMORY_HARDWARE_BUFFER_BLOB) {
		udmabuf = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
		create.memfd = (uint32_t)*fd;
		desc.fd = udmabuf < 0 ? -1 : ioctl(udmabuf, UDMABUF_CREATE, &create);
		if (udmabuf >= 0)
			close(udmabuf);
		if (desc.fd < 0)
			return NULL;
	}
	MUST(!nnhal_memory_import(&desc, &memory, NULL));
	if (desc.fd != *fd)
		close(desc.fd);
	return memory;
}

static void test_copy_kinds(void)
{
	static const char *const names[] = { "memfd", "file at an odd offset", "dma-buf" };
	static const float values[] = { 1.5f, -2.5f, 3.25f, 1e30f };
	struct nnhal_buffer *buffer, *exported;
	struct nnhal_memory_desc desc = { .struct_size = sizeof(desc), .size = 16 };
	struct nnhal_memory *memory;
	uint32_t kind, token;
	uint8_t bytes[16];
	off_t at;
	int fd;

	buffer = buffer_for(device, model, true, true, 0, NULL, &token);
	for (kind = 0; kind < 3; kind++) {
		memory = memory_of_kind(kind, &at, &fd);
		if (!memory) {
			tap_skip("F33 round trip through a %s: no /dev/udmabuf", names[kind]);
			close(fd);
			continue;
		}
		MUST(pwrite(fd, values, 16, at) == 16);
		MUST(!nnhal_buffer_copy_from(buffer, memory, NULL, 0, NULL));
		memset(bytes, 0xee, sizeof(bytes));
		MUST(pwrite(fd, bytes, 16, at) == 16);
		ok(!nnhal_buffer_copy_to(buffer, memory, NULL) && pread(fd, bytes, 16, at) == 16 &&
		   !memcmp(bytes, values, 16), "F33 round trip through a %s", names[kind]);
		nnhal_memory_unref(memory);
		close(fd);
	}
	/* The memory of a buffer is memory like any other. */
	exported = buffer_for(device, model, true, true, 0, NULL, &token);
	MUST(!nnhal_buffer_export(exported, &desc.fd, NULL));
	desc.kind = strncmp(test_device_spec(), "sim", 3) ? NNHAL_MEMORY_HARDWARE_BUFFER_BLOB
							  : NNHAL_MEMORY_ASHMEM;
	MUST(!nnhal_memory_import(&desc, &memory, NULL));
	close(desc.fd);
	MUST(!from(exported, 16, 0, NULL));
	ok(!nnhal_buffer_copy_from(buffer, memory, NULL, 0, NULL) && holds(buffer, 1.0f, 16, false),
	   "F33 from the exported memory of another buffer");
	ok(nnhal_buffer_copy_from(exported, memory, NULL, 0, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "F33 not from its own");
	nnhal_memory_unref(memory);
	nnhal_buffer_unref(exported);
	nnhal_buffer_unref(buffer);
}

int main(void)
{
	pid_t pid;
	int socket = start_stranger(&pid);

	device = test_device_open();
	MUST(!nnhal_device_open(test_device_spec(), &other, NULL));
	model = prepare_relu(device, FLOATS, 0, 0, SQUARE);
	test_success();
	test_no_roles();
	test_foreign_models();
	test_indexes();
	test_frequencies();
	test_same_role();
	test_different_roles();
	test_description();
	test_unknown_size();
	test_tokens();
	test_strangers(socket, pid);
	test_new_buffer();
	test_state_sizes();
	test_reset();
	test_copy_fixed();
	test_copy_flexible();
	test_copy_unranked();
	test_copy_scalar();
	test_copy_states();
	test_copy_kinds();
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(other);
	nnhal_device_unref(device);
	return tap_done();
}
