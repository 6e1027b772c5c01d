// SPDX-License-Identifier: MIT
/*
 * Usage: ndk_by_name FUNCTIONS
 *
 * A program as the NNAPI's clients are: it was built without the library, with declarations of its own,
 * and opens libneuralnetworks.so by that name. FUNCTIONS lists what must be there. It adds
 * vectors in the four ways of an execution.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As in the NNAPI's documentation. */
enum { TENSOR_FLOAT32 = 3, INT32 = 0x1, ADD = 0 };

struct operand_type {
	int32_t type;
	uint32_t dimension_count;
	const uint32_t *dimensions;
	float scale;
	int32_t zero_point;
};

#define LENGTH	4

static void *library;
static unsigned int wrong;

static void *look(const char *name)
{
	void *function = dlsym(library, name);

	if (!function) {
		printf("# no %s: %s\n", name, dlerror());
		wrong++;
	}
	return function;
}

/* Each function of the list that is not marked as missing. Returns their number. */
static unsigned int look_for_all(const char *path)
{
	char line[256], name[128], mark[16];
	FILE *list = fopen(path, "r");
	unsigned int count = 0;

	while (list && fgets(line, sizeof(line), list)) {
		int fields = line[0] == '#' ? 0 : sscanf(line, "%*d %*s %127s %15s", name, mark);

		if (fields == 1 && look(name))
			count++;
	}
	if (list)
		fclose(list);
	return count;
}

/* The function of this name, with what it takes. */
#define F(name, ...)	((int (*)(__VA_ARGS__))look("ANeuralNetworks" #name))

static void expect(int result, const char *what)
{
	if (result) {
		printf("# %s: result %d\n", what, result);
		wrong++;
	}
}

static void *add_model(void)
{
	static const uint32_t length[1] = { LENGTH }, inputs[3] = { 0, 1, 2 }, output[1] = { 3 };
	const struct operand_type floats = { TENSOR_FLOAT32, 1, length, 0.0f, 0 };
	const struct operand_type number = { INT32, 0, NULL, 0.0f, 0 };
	const int32_t no_activation = 0;
	void *model = NULL;

	expect(F(Model_create, void **)(&model), "create");
	for (int i = 0; i < 4; i++)
		expect(F(Model_addOperand, void *, const struct operand_type *)(
			       model, i == 2 ? &number : &floats), "addOperand");
	expect(F(Model_setOperandValue, void *, int32_t, const void *, size_t)(
		       model, 2, &no_activation, sizeof(no_activation)), "setOperandValue");
	expect(F(Model_addOperation, void *, int32_t, uint32_t, const uint32_t *, uint32_t,
		 const uint32_t *)(model, ADD, 3, inputs, 1, output), "addOperation");
	expect(F(Model_identifyInputsAndOutputs, void *, uint32_t, const uint32_t *, uint32_t,
		 const uint32_t *)(model, 2, inputs, 1, output), "identifyInputsAndOutputs");
	expect(F(Model_finish, void *)(model), "Model_finish");
	return model;
}

static void wait_for(void *event)
{
	expect(F(Event_wait, void *)(event), "wait");
	((void (*)(void *))look("ANeuralNetworksEvent_free"))(event);
}

static void run(void *execution, int way, void *burst)
{
	void *event = NULL;

	switch (way) {
	case 0:
		expect(F(Execution_compute, void *)(execution), "compute");
		break;
	case 1:
		expect(F(Execution_startCompute, void *, void **)(execution, &event),
		       "startCompute");
		wait_for(event);
		break;
	case 2:
		expect(F(Execution_burstCompute, void *, void *)(execution, burst),
		       "burstCompute");
		break;
	case 3:
		expect(F(Execution_startComputeWithDependencies, void *, const void *const *,
			 uint32_t, uint64_t, void **)(execution, NULL, 0, 0, &event),
		       "startComputeWithDependencies");
		wait_for(event);
		break;
	}
}

static void add(void *compilation, int way, void *burst)
{
	float a[LENGTH] = { 1, 2, 3, 4 }, b[LENGTH] = { 10, 20, 30, 40.5f }, sum[LENGTH] = { 0 };
	static const float expected[LENGTH] = { 11, 22, 33, 44.5f };
	void *execution = NULL;

	expect(F(Execution_create, void *, void **)(compilation, &execution), "Execution_create");
	expect(F(Execution_setInput, void *, int32_t, const void *, const void *, size_t)(
		       execution, 0, NULL, a, sizeof(a)), "setInput");
	expect(F(Execution_setInput, void *, int32_t, const void *, const void *, size_t)(
		       execution, 1, NULL, b, sizeof(b)), "setInput");
	expect(F(Execution_setOutput, void *, int32_t, const void *, void *, size_t)(
		       execution, 0, NULL, sum, sizeof(sum)), "setOutput");
	run(execution, way, burst);
	((void (*)(void *))look("ANeuralNetworksExecution_free"))(execution);
	if (memcmp(sum, expected, sizeof(sum))) {
		printf("# way %d: %g %g %g %g\n", way, sum[0], sum[1], sum[2], sum[3]);
		wrong++;
	}
}

int main(int argc, char **argv)
{
	void *model, *compilation = NULL, *burst = NULL;
	unsigned int count;

	library = argc == 2 ? dlopen("libneuralnetworks.so", RTLD_LAZY | RTLD_LOCAL) : NULL;
	if (!library) {
		printf("Bail out! %s\n", argc == 2 ? dlerror() : "no list of functions");
		return 1;
	}
	count = look_for_all(argv[1]);
	printf("%sok 1 - %u functions are found by name\n", count < 66 || wrong ? "not " : "",
	       count);
	/* A call of what is not there would end the process. */
	if (count < 66 || wrong)
		return 1;
	model = add_model();
	expect(F(Compilation_create, void *, void **)(model, &compilation), "Compilation_create");
	expect(F(Compilation_finish, void *)(compilation), "Compilation_finish");
	expect(F(Burst_create, void *, void **)(compilation, &burst), "Burst_create");
	for (int way = 0; way < 4 && !wrong; way++)
		add(compilation, way, burst);
	printf("%sok 2 - it adds, in four ways\n", wrong ? "not " : "");
	((void (*)(void *))look("ANeuralNetworksBurst_free"))(burst);
	((void (*)(void *))look("ANeuralNetworksCompilation_free"))(compilation);
	((void (*)(void *))look("ANeuralNetworksModel_free"))(model);
	printf("1..2\n");
	return dlclose(library) || wrong || count < 66;
}
