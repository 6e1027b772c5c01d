// SPDX-License-Identifier: MIT
/*
 * Fuzzing sequences of calls of the NNAPI: bytes say which function is called with which objects, indexes,
 * types, lengths and values, in any order, and in which order objects are freed. Between them whole
 * models and executions are made, so that later calls meet objects in every state.
 *
 * Whatever the calls are: no fault, no leak, no hang; results are those that the NNAPI has; an object that
 * a call was to make is there if, and only if, the call succeeded.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <android/NeuralNetworks.h>
#include <android/sharedmem.h>

#include "ndk_graphs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define MAX_CALLS	96
#define NUM_OBJECTS	4
#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

/* Values and buffers stay where they are: what refers to them may live as long as it likes. */
static uint8_t values[8192];
static uint8_t results[8192];
static char folder[] = "/tmp/fuzz_ndk.XXXXXX";
static bool cached;
static unsigned long executed, finished_models;

struct objects {
	struct ANeuralNetworksModel *models[NUM_OBJECTS];
	struct ANeuralNetworksCompilation *compilations[NUM_OBJECTS];
	struct ANeuralNetworksExecution *executions[NUM_OBJECTS];
	struct ANeuralNetworksBurst *bursts[NUM_OBJECTS];
	struct ANeuralNetworksEvent *events[NUM_OBJECTS];
	struct ANeuralNetworksMemory *memories[NUM_OBJECTS];
	struct ANeuralNetworksMemoryDesc *descs[NUM_OBJECTS];
	struct AHardwareBuffer *buffers[NUM_OBJECTS];
};

struct stream {
	const uint8_t *data;
	size_t size, at;
	struct objects o;
	struct ndk_fences fences;
	unsigned int faults;
};

static uint8_t byte(struct stream *s)
{
	return s->at < s->size ? s->data[s->at++] : 0;
}

static uint32_t word(struct stream *s)
{
	uint32_t low = byte(s);

	return low | (uint32_t)byte(s) << 8;
}

/* One of the objects of a kind, which may be NULL. */
#define ANY(s, kind)	((s)->o.kind[byte(s) % NUM_OBJECTS])

static __attribute__((noreturn)) void broken(const char *what, int result)
{
	fprintf(stderr, "%s: result %d\n", what, result);
	abort();
}

static int checked(int result)
{
	if (result < ANEURALNETWORKS_NO_ERROR || result > ANEURALNETWORKS_DEAD_OBJECT)
		broken("not a result", result);
	return result;
}

/* After a call that makes an object. */
static void made(int result, const void *object, const char *what)
{
	if (!checked(result) != (object != NULL))
		broken(what, result);
}

/* Make an object where there is none: CREATE(s, bursts, Burst, "...", call with &object) */
#define CREATE(s, kind, type, call) \
	do { \
		type **slot_ = &(s)->o.kind[byte(s) % NUM_OBJECTS]; \
		type *object = NULL; \
		\
		if (!*slot_) { \
			made(call, object, #call); \
			*slot_ = object; \
		} \
	} while (0)

#define FREE(s, kind, call) \
	do { \
		uint8_t i_ = byte(s) % NUM_OBJECTS; \
		\
		call((s)->o.kind[i_]); \
		(s)->o.kind[i_] = NULL; \
	} while (0)

static const int32_t indexes[] = { 0, 1, 2, 3, 4, 5, -1, 999 };
static const size_t lengths[] = { 0, 1, 4, 16, 64, 128, 200, 4096, SIZE_MAX };
static const uint64_t times[] = { 0, 1, 1000000, UINT64_MAX };
static const int32_t types[] = { 0, 1, 2, 3, 3, 4, 5, 6, 8, 9, 11, 14, 15, 10000, 10001, -1 };

#define OF(s, table)	((table)[byte(s) % COUNT(table)])

static const void *some_value(struct stream *s)
{
	uint8_t b = byte(s);

	return b & 1 ? NULL : values + 4 * (b & 0x3f);
}

struct shape {
	uint32_t dims[4];
	ANeuralNetworksOperandType type;
};

static const ANeuralNetworksOperandType *some_type(struct stream *s, struct shape *shape)
{
	static const uint32_t sizes[] = { 0, 1, 2, 4, 16, 65536, UINT32_MAX };
	uint8_t b = byte(s);

	if (b == 0xff)
		return NULL;
	for (unsigned int i = 0; i < COUNT(shape->dims); i++)
		shape->dims[i] = OF(s, sizes);
	shape->type = (ANeuralNetworksOperandType){
		.type = OF(s, types), .dimensionCount = b & 3,
		.dimensions = b & 7 ? shape->dims : NULL,
		.scale = b & 0x20 ? 0.5f : b & 0x40 ? -1.0f : 0.0f,
		.zeroPoint = b & 0x80 ? (int32_t)word(s) - 128 : 0,
	};
	return &shape->type;
}

/* A list of operands; few are long, all are there. */
static uint32_t some_list(struct stream *s, uint32_t list[16], const uint32_t **pointer)
{
	uint32_t count = byte(s);

	for (unsigned int i = 0; i < 16; i++)
		list[i] = i < count ? (uint32_t)OF(s, indexes) : 0;
	*pointer = count == 0xff ? NULL : list;
	return count % 17;
}

static uint32_t some_devices(struct stream *s, const struct ANeuralNetworksDevice *devices[3])
{
	for (unsigned int i = 0; i < 3; i++)
		devices[i] = ndk_graphs_device(byte(s));
	return byte(s) % 4;
}

/* ---- whole objects ---- */

/* One operation, or a model that devices may have to share. With bit 3 of @form it is not finished. */
static ANeuralNetworksModel *some_model(struct stream *s, uint8_t form)
{
	ANeuralNetworksModel *model;
	uint8_t bytes[24];
	size_t count = 0;

	if (form & 16)
		count = 3 * (1 + byte(s) % 8u);
	for (size_t i = 0; i < count; i++)
		bytes[i] = byte(s);
	model = count ? ndk_graph(bytes, count) : ndk_add_model(form, (float *)values);
	if (!model)
		broken("a model that is right", 0);
	if (!(form & 8))
		finished_models += !checked(ANeuralNetworksModel_finish(model));
	return model;
}

/* Give an execution of such a model all it needs. */
static void set_all(struct stream *s, ANeuralNetworksExecution *e)
{
	static const uint32_t four[1] = { 4 };
	static const ANeuralNetworksOperandType type = {
		ANEURALNETWORKS_TENSOR_FLOAT32, 1, four, 0.0f, 0
	};
	const ANeuralNetworksMemory *memory = ANY(s, memories);
	uint8_t form = byte(s);

	for (int32_t i = 0; i < 2; i++) {
		if (form & 1 << i)
			checked(ANeuralNetworksExecution_setInputFromMemory(e, i, NULL, memory, 0,
									    form & 8 ? 16 : 0));
		else
			checked(ANeuralNetworksExecution_setInput(e, i, &type, values + 16 * i,
								  16));
	}
	/* As many outputs as there are: most have one. */
	for (int32_t i = 0; i < 8; i++) {
		if (form & 4)
			checked(ANeuralNetworksExecution_setOutputFromMemory(
					e, i, NULL, memory, form & 8 ? 32 + 16 * (size_t)i : 0,
					form & 8 ? 16 : 0));
		else
			checked(ANeuralNetworksExecution_setOutput(e, i, &type, results + 16 * i,
								   form & 16 ? 8 : 16));
	}
}

/* ---- groups of functions ---- */

static void call_model(struct stream *s)
{
	ANeuralNetworksModel *m = ANY(s, models);
	ANeuralNetworksSymmPerChannelQuantParams channels;
	const struct ANeuralNetworksDevice *devices[3];
	const uint32_t *inputs, *outputs;
	uint32_t list[2][16], counts[2];
	float scales[4] = { 0.5f, 0.25f, -1.0f, 1.0f };
	bool supported[1024];
	struct shape shape;
	int32_t type;

	switch (byte(s) % 16) {
	case 0:
		CREATE(s, models, ANeuralNetworksModel, ANeuralNetworksModel_create(&object));
		break;
	case 1:
		checked(ANeuralNetworksModel_addOperand(m, some_type(s, &shape)));
		break;
	case 2:
		checked(ANeuralNetworksModel_setOperandValue(m, OF(s, indexes), some_value(s),
							     lengths[byte(s) % 8]));
		break;
	case 3:
		checked(ANeuralNetworksModel_setOperandValueFromMemory(m, OF(s, indexes),
								       ANY(s, memories),
								       OF(s, lengths),
								       OF(s, lengths)));
		break;
	case 4:
		checked(ANeuralNetworksModel_setOperandValueFromModel(m, OF(s, indexes),
								      ANY(s, models)));
		break;
	case 5:
		channels = (ANeuralNetworksSymmPerChannelQuantParams){
			byte(s) % 5, byte(s) % 5, byte(s) & 1 ? scales : NULL
		};
		checked(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(
				m, OF(s, indexes), &channels));
		break;
	case 6:
		counts[0] = some_list(s, list[0], &inputs);
		counts[1] = some_list(s, list[1], &outputs);
		checked(ANeuralNetworksModel_addOperation(m, byte(s) % 104, counts[0] % 16, inputs,
							  counts[1] % 16, outputs));
		break;
	case 7:
		counts[0] = some_list(s, list[0], &inputs);
		counts[1] = some_list(s, list[1], &outputs);
		checked(ANeuralNetworksModel_identifyInputsAndOutputs(m, counts[0] % 16, inputs,
								      counts[1] % 16, outputs));
		break;
	case 8:
		checked(ANeuralNetworksModel_relaxComputationFloat32toFloat16(m, byte(s) & 1));
		break;
	case 9:
		finished_models += !checked(ANeuralNetworksModel_finish(m));
		break;
	case 10:
		counts[0] = some_devices(s, devices);
		checked(ANeuralNetworksModel_getSupportedOperationsForDevices(m, devices, counts[0],
									      supported));
		break;
	case 11:
		checked(ANeuralNetworksModel_getExtensionOperandType(
				m, byte(s) & 1 ? "org.nnpu.tflite" : "nobody", word(s), &type));
		break;
	case 12:
		checked(ANeuralNetworksModel_getExtensionOperationType(
				m, byte(s) & 1 ? "org.nnpu.tflite" : "nobody", word(s), &type));
		break;
	case 13:
		checked(ANeuralNetworksModel_setOperandExtensionData(m, OF(s, indexes),
								     some_value(s),
								     lengths[byte(s) % 7]));
		break;
	case 14:
		FREE(s, models, ANeuralNetworksModel_free);
		break;
	case 15:
		counts[0] = byte(s) % NUM_OBJECTS;
		counts[1] = byte(s);
		if (!s->o.models[counts[0]])
			s->o.models[counts[0]] = some_model(s, (uint8_t)counts[1]);
		break;
	}
}

static void call_compilation(struct stream *s)
{
	ANeuralNetworksCompilation *c = ANY(s, compilations);
	ANeuralNetworksModel *m = ANY(s, models);
	const struct ANeuralNetworksDevice *devices[3];
	uint32_t count, number = 0;
	uint8_t token[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN] = { 0 };

	switch (byte(s) % 12) {
	case 0:
		CREATE(s, compilations, ANeuralNetworksCompilation,
		       ANeuralNetworksCompilation_create(m, &object));
		break;
	case 1:
	case 2:
		count = some_devices(s, devices);
		CREATE(s, compilations, ANeuralNetworksCompilation,
		       ANeuralNetworksCompilation_createForDevices(m, devices, count, &object));
		break;
	case 3:
		checked(ANeuralNetworksCompilation_setPreference(c, byte(s) % 5 - 1));
		break;
	case 4:
		token[0] = byte(s) & 3;
		cached = true;
		checked(ANeuralNetworksCompilation_setCaching(c, byte(s) & 1 ? folder : "/nowhere",
							      token));
		break;
	case 5:
		checked(ANeuralNetworksCompilation_setPriority(c, 80 + byte(s) % 5 * 10));
		break;
	case 6:
		checked(ANeuralNetworksCompilation_setTimeout(c, OF(s, times)));
		break;
	case 7:
	case 8:
		checked(ANeuralNetworksCompilation_finish(c));
		break;
	case 9:
		checked(ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(
				c, (uint32_t)OF(s, indexes), &number));
		checked(ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput(
				c, (uint32_t)OF(s, indexes), &number));
		break;
	case 10:
		checked(ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput(
				c, (uint32_t)OF(s, indexes), &number));
		checked(ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(
				c, (uint32_t)OF(s, indexes), &number));
		break;
	case 11:
		FREE(s, compilations, ANeuralNetworksCompilation_free);
		break;
	}
}

/* The lengths that a buffer of this fuzzer has. */
static size_t some_length(struct stream *s)
{
	return lengths[byte(s) % 8];
}

static void call_execution(struct stream *s)
{
	ANeuralNetworksExecution *e = ANY(s, executions);
	ANeuralNetworksCompilation *c = ANY(s, compilations);
	const ANeuralNetworksOperandType *type;
	uint32_t dims[16], rank;
	struct shape shape;
	uint64_t duration;
	const void *from;

	switch (byte(s) % 16) {
	case 0:
	case 1:
		CREATE(s, executions, ANeuralNetworksExecution,
		       ANeuralNetworksExecution_create(c, &object));
		break;
	case 2:
		type = some_type(s, &shape);
		from = some_value(s);
		checked(ANeuralNetworksExecution_setInput(e, OF(s, indexes), type, from,
							  some_length(s)));
		break;
	case 3:
		type = some_type(s, &shape);
		checked(ANeuralNetworksExecution_setOutput(e, OF(s, indexes), type,
							   byte(s) & 1 ? results : NULL,
							   some_length(s)));
		break;
	case 4:
		type = some_type(s, &shape);
		checked(ANeuralNetworksExecution_setInputFromMemory(e, OF(s, indexes), type,
								    ANY(s, memories),
								    OF(s, lengths),
								    OF(s, lengths)));
		break;
	case 5:
		type = some_type(s, &shape);
		checked(ANeuralNetworksExecution_setOutputFromMemory(e, OF(s, indexes), type,
								     ANY(s, memories),
								     OF(s, lengths),
								     OF(s, lengths)));
		break;
	case 6:
		checked(ANeuralNetworksExecution_setMeasureTiming(e, byte(s) & 1));
		checked(ANeuralNetworksExecution_setTimeout(e, OF(s, times)));
		break;
	case 7:
		checked(ANeuralNetworksExecution_setLoopTimeout(e, OF(s, times)));
		break;
	case 8:
		checked(ANeuralNetworksExecution_setReusable(e, byte(s) & 1));
		break;
	case 9:
		checked(ANeuralNetworksExecution_enableInputAndOutputPadding(e, byte(s) & 1));
		break;
	case 10:
		checked(ANeuralNetworksExecution_getOutputOperandRank(e, OF(s, indexes), &rank));
		checked(ANeuralNetworksExecution_getOutputOperandDimensions(e, OF(s, indexes),
									    dims));
		break;
	case 11:
		checked(ANeuralNetworksExecution_getDuration(e, byte(s) % 6 - 1, &duration));
		break;
	case 12:
	case 13:
		if (e)
			set_all(s, e);
		break;
	case 14:
	case 15:
		FREE(s, executions, ANeuralNetworksExecution_free);
		break;
	}
}

static void call_start(struct stream *s)
{
	ANeuralNetworksExecution *e = ANY(s, executions);
	const struct ANeuralNetworksEvent *before[2];
	uint32_t count;
	uint8_t number;
	int fd = -1;

	switch (byte(s) % 14) {
	case 0:
	case 1:
		executed += !checked(ANeuralNetworksExecution_compute(e));
		break;
	case 2:
		CREATE(s, events, ANeuralNetworksEvent,
		       ANeuralNetworksExecution_startCompute(e, &object));
		break;
	case 3:
		executed += !checked(ANeuralNetworksExecution_burstCompute(e, ANY(s, bursts)));
		break;
	case 4:
		before[0] = ANY(s, events);
		before[1] = ANY(s, events);
		count = byte(s) % 3;
		/* An execution that cannot be launched runs again in the call, after its fences. */
		if (s->faults)
			ndk_fences_signal_all(&s->fences);
		CREATE(s, events, ANeuralNetworksEvent,
		       ANeuralNetworksExecution_startComputeWithDependencies(
			       e, byte(s) & 1 ? before : NULL, count, OF(s, times), &object));
		break;
	case 5:
		CREATE(s, bursts, ANeuralNetworksBurst,
		       ANeuralNetworksBurst_create(ANY(s, compilations), &object));
		break;
	case 6:
		FREE(s, bursts, ANeuralNetworksBurst_free);
		break;
	case 7:
		/* Nobody else would signal what it may wait for. */
		ndk_fences_signal_all(&s->fences);
		executed += !checked(ANeuralNetworksEvent_wait(ANY(s, events)));
		break;
	case 8:
		/* The fence of an event as another event. */
		checked(ANeuralNetworksEvent_getSyncFenceFd(ANY(s, events), &fd));
		CREATE(s, events, ANeuralNetworksEvent,
		       ANeuralNetworksEvent_createFromSyncFenceFd(fd, &object));
		if (fd >= 0)
			close(fd);
		break;
	case 9:
		FREE(s, events, ANeuralNetworksEvent_free);
		break;
	case 10:
		fd = ndk_fences_add(&s->fences, byte(s));
		CREATE(s, events, ANeuralNetworksEvent,
		       ANeuralNetworksEvent_createFromSyncFenceFd(fd, &object));
		if (fd >= 0)
			close(fd);
		break;
	case 11:
		ndk_fences_signal(&s->fences, byte(s), 0);
		break;
	case 12:
		number = byte(s);
		ndk_fences_signal(&s->fences, number, byte(s) & 1 ? -EIO : 1);
		break;
	case 13:
		/* A device that is lost takes a while to come back. */
		number = byte(s);
		if (s->faults++ < 3)
			ndk_graphs_fault(number, byte(s) == 0xff && s->faults == 1);
		break;
	}
}

static void make_memory(struct stream *s)
{
	size_t size = lengths[byte(s) % 8], offset = OF(s, lengths);
	int fd = ASharedMemory_create(NULL, 8192);
	int protect = byte(s) & 1 ? PROT_READ | PROT_WRITE : PROT_READ;

	CREATE(s, memories, ANeuralNetworksMemory,
	       ANeuralNetworksMemory_createFromFd(size, protect, fd, byte(s) & 1 ? 0 : offset,
						  &object));
	close(fd);
}

static void make_buffer(struct stream *s)
{
	AHardwareBuffer_Desc desc = {
		.width = byte(s), .height = 1 + byte(s) % 2, .layers = 1,
		.format = byte(s) & 3 ? AHARDWAREBUFFER_FORMAT_BLOB :
					AHARDWAREBUFFER_FORMAT_R8G8B8A8_UNORM,
		.usage = AHARDWAREBUFFER_USAGE_CPU_WRITE_OFTEN,
	};
	AHardwareBuffer **slot = &s->o.buffers[byte(s) % NUM_OBJECTS];
	AHardwareBuffer *buffer = NULL;

	if (*slot)
		return;
	if (!AHardwareBuffer_allocate(&desc, &buffer) != (buffer != NULL))
		broken("AHardwareBuffer_allocate", 0);
	*slot = buffer;
}

static void call_memory(struct stream *s)
{
	ANeuralNetworksMemoryDesc *d = ANY(s, descs);
	const ANeuralNetworksCompilation *c = ANY(s, compilations);
	static const float frequencies[] = { 1.0f, 0.5f, 0.0f, 2.0f };
	AHardwareBuffer *buffer = ANY(s, buffers);
	const ANeuralNetworksMemory *from, *to;
	uint32_t list[16], count;
	const uint32_t *dims;
	void *bytes;

	switch (byte(s) % 14) {
	case 0:
		make_memory(s);
		break;
	case 1:
		make_buffer(s);
		break;
	case 2:
		CREATE(s, memories, ANeuralNetworksMemory,
		       ANeuralNetworksMemory_createFromAHardwareBuffer(buffer, &object));
		break;
	case 3:
		if (buffer && !AHardwareBuffer_lock(buffer, AHARDWAREBUFFER_USAGE_CPU_WRITE_OFTEN,
						    -1, NULL, &bytes)) {
			*(uint8_t *)bytes = byte(s);
			AHardwareBuffer_unlock(buffer, NULL);
		}
		break;
	case 4:
		count = byte(s) % NUM_OBJECTS;
		if (s->o.buffers[count])
			AHardwareBuffer_release(s->o.buffers[count]);
		s->o.buffers[count] = NULL;
		break;
	case 5:
		CREATE(s, descs, ANeuralNetworksMemoryDesc,
		       ANeuralNetworksMemoryDesc_create(&object));
		break;
	case 6:
		checked(ANeuralNetworksMemoryDesc_addInputRole(d, c, (uint32_t)OF(s, indexes),
							       OF(s, frequencies)));
		break;
	case 7:
		checked(ANeuralNetworksMemoryDesc_addOutputRole(d, c, (uint32_t)OF(s, indexes),
								OF(s, frequencies)));
		break;
	case 8:
		count = some_list(s, list, &dims);
		checked(ANeuralNetworksMemoryDesc_setDimensions(d, count % 16, dims));
		break;
	case 9:
		checked(ANeuralNetworksMemoryDesc_finish(d));
		break;
	case 10:
		CREATE(s, memories, ANeuralNetworksMemory,
		       ANeuralNetworksMemory_createFromDesc(d, &object));
		break;
	case 11:
		from = ANY(s, memories);
		to = ANY(s, memories);
		checked(ANeuralNetworksMemory_copy(from, to));
		break;
	case 12:
		FREE(s, memories, ANeuralNetworksMemory_free);
		break;
	case 13:
		FREE(s, descs, ANeuralNetworksMemoryDesc_free);
		break;
	}
}

/* What is left, in an order that the bytes say. */
static void free_all(struct stream *s)
{
	uint8_t order = byte(s);

	for (unsigned int k = 0; k < 8; k++) {
		for (unsigned int i = 0; i < NUM_OBJECTS; i++) {
			switch ((k + order) % 8) {
			case 0:
				ANeuralNetworksEvent_free(s->o.events[i]);
				break;
			case 1:
				ANeuralNetworksExecution_free(s->o.executions[i]);
				break;
			case 2:
				ANeuralNetworksBurst_free(s->o.bursts[i]);
				break;
			case 3:
				ANeuralNetworksMemory_free(s->o.memories[i]);
				break;
			case 4:
				ANeuralNetworksMemoryDesc_free(s->o.descs[i]);
				break;
			case 5:
				ANeuralNetworksCompilation_free(s->o.compilations[i]);
				break;
			case 6:
				ANeuralNetworksModel_free(s->o.models[i]);
				break;
			case 7:
				if (s->o.buffers[i])
					AHardwareBuffer_release(s->o.buffers[i]);
				break;
			}
		}
	}
}

static void empty_folder(void)
{
	DIR *dir = opendir(folder);
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.')
			unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	cached = false;
}

static void at_end(void)
{
	fprintf(stderr, "ndk: %lu models finished, %lu executed\n", finished_models, executed);
	empty_folder();
	rmdir(folder);
	/* What threads of the library still free is no leak: they have long ended their work by then. */
	sleep(1);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (!mkdtemp(folder) || !ndk_graphs_init())
		abort();
	for (unsigned int i = 0; i < sizeof(values) / 4; i++)
		((float *)values)[i] = (float)i;
	atexit(at_end);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stream s = { .data = data, .size = size };

	ndk_fences_init(&s.fences);
	for (unsigned int i = 0; i < MAX_CALLS && s.at < s.size; i++) {
		switch (byte(&s) % 5) {
		case 0:
			call_model(&s);
			break;
		case 1:
			call_compilation(&s);
			break;
		case 2:
			call_execution(&s);
			break;
		case 3:
			call_start(&s);
			break;
		case 4:
			call_memory(&s);
			break;
		}
	}
	/* Some executions have not begun when all objects are gone. */
	if (size & 1)
		ndk_fences_signal_all(&s.fences);
	free_all(&s);
	ndk_fences_signal_all(&s.fences);
	ndk_graphs_mend();
	if (cached)
		empty_folder();
	return 0;
}
