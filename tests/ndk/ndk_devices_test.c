// SPDX-License-Identifier: MIT
/*
 * Devices of libneuralnetworks: the list, what is known of a device, extensions, loop timeouts.
 */
#include <pthread.h>

#include "ndk_parts.h"

static void test_list(void)
{
	ANeuralNetworksDevice *first, *device;
	uint32_t count = 0, again = 0, i, k, same = 0, references = 0;
	const char *names[64];

	is(ANeuralNetworks_getDeviceCount(NULL), ANEURALNETWORKS_UNEXPECTED_NULL, "count to NULL");
	is(ANeuralNetworks_getDevice(0, NULL), ANEURALNETWORKS_UNEXPECTED_NULL, "device to NULL");
	is(ANeuralNetworks_getDevice(0, &first), ANEURALNETWORKS_NO_ERROR,
	   "a device before anybody has asked for the count");
	is(ANeuralNetworks_getDeviceCount(&count), ANEURALNETWORKS_NO_ERROR, "count");
	is(ANeuralNetworks_getDeviceCount(&again), ANEURALNETWORKS_NO_ERROR, "count again");
	ok(count && count == again, "%u devices, then %u", count, again);
	device = first;
	is(ANeuralNetworks_getDevice(count, &device), ANEURALNETWORKS_BAD_DATA,
	   "device beyond the last one");
	ok(!device, "it is NULL");
	for (i = 0; i < count && i < 64; i++) {
		if (ANeuralNetworks_getDevice(i, &device) ||
		    ANeuralNetworksDevice_getName(device, &names[i]))
			break;
		for (k = 0; k < i; k++)
			same += !strcmp(names[i], names[k]);
		references += !strcmp(names[i], "nnapi-reference");
	}
	ok(i == count && !same && references == 1, "names differ, one is nnapi-reference");
	ANeuralNetworks_getDevice(0, &device);
	ok(device == first, "a device keeps its address");
}

static void test_facts(void)
{
	ANeuralNetworksDevice *device = reference_device();
	const char *text = NULL;
	int32_t type = -1;
	int64_t level = 0;
	bool has = true;

	is(ANeuralNetworksDevice_getName(NULL, &text), ANEURALNETWORKS_UNEXPECTED_NULL,
	   "name of NULL");
	is(ANeuralNetworksDevice_getName(device, NULL), ANEURALNETWORKS_UNEXPECTED_NULL,
	   "name to NULL");
	is(ANeuralNetworksDevice_getType(NULL, &type), ANEURALNETWORKS_UNEXPECTED_NULL,
	   "type of NULL");
	is(ANeuralNetworksDevice_getType(device, NULL), ANEURALNETWORKS_UNEXPECTED_NULL,
	   "type to NULL");
	ok(!ANeuralNetworksDevice_getType(device, &type) && type == ANEURALNETWORKS_DEVICE_CPU,
	   "type %d, expected CPU", type);
	is(ANeuralNetworksDevice_getVersion(NULL, &text), ANEURALNETWORKS_UNEXPECTED_NULL,
	   "version of NULL");
	is(ANeuralNetworksDevice_getVersion(device, NULL), ANEURALNETWORKS_UNEXPECTED_NULL,
	   "version to NULL");
	ok(!ANeuralNetworksDevice_getVersion(device, &text) && text && text[0], "version %s",
	   text ? text : "(none)");
	is(ANeuralNetworksDevice_getFeatureLevel(NULL, &level), ANEURALNETWORKS_UNEXPECTED_NULL,
	   "feature level of NULL");
	is(ANeuralNetworksDevice_getFeatureLevel(device, NULL), ANEURALNETWORKS_UNEXPECTED_NULL,
	   "feature level to NULL");
	ok(!ANeuralNetworksDevice_getFeatureLevel(device, &level) && level == 30,
	   "feature level %lld, expected 30", (long long)level);
	is(ANeuralNetworksDevice_wait(NULL), ANEURALNETWORKS_UNEXPECTED_NULL, "wait for NULL");
	is(ANeuralNetworksDevice_wait(device), ANEURALNETWORKS_NO_ERROR, "wait");

	is(ANeuralNetworksDevice_getExtensionSupport(NULL, "a", &has),
	   ANEURALNETWORKS_UNEXPECTED_NULL, "extension of NULL");
	is(ANeuralNetworksDevice_getExtensionSupport(device, NULL, &has),
	   ANEURALNETWORKS_UNEXPECTED_NULL, "extension NULL");
	is(ANeuralNetworksDevice_getExtensionSupport(device, "a", NULL),
	   ANEURALNETWORKS_UNEXPECTED_NULL, "extension to NULL");
	ok(!ANeuralNetworksDevice_getExtensionSupport(device, "com.nobody.nothing", &has) && !has,
	   "an extension that the device does not have");
	ok(!ANeuralNetworksDevice_getExtensionSupport(device, "org.nnpu.tflite", &has) && has,
	   "an extension that the device has");
	ok(ANeuralNetworks_getDefaultLoopTimeout() == UINT64_C(2000000000) &&
	   ANeuralNetworks_getMaximumLoopTimeout() == UINT64_C(15000000000),
	   "loop timeouts of 2 and 15 s");
}

static void *ask(void *failed)
{
	ANeuralNetworksDevice *device;
	uint32_t count, i, k;

	for (i = 0; i < 50; i++) {
		if (ANeuralNetworks_getDeviceCount(&count))
			*(bool *)failed = true;
		for (k = 0; k < count; k++)
			if (ANeuralNetworks_getDevice(k, &device) ||
			    ANeuralNetworksDevice_wait(device))
				*(bool *)failed = true;
	}
	return NULL;
}

static void test_threads(void)
{
	bool failed[4] = { false };
	pthread_t threads[4];
	uint32_t i, started = 0;

	for (i = 0; i < 4; i++)
		started += !pthread_create(&threads[i], NULL, ask, &failed[i]);
	for (i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	ok(started == 4 && !failed[0] && !failed[1] && !failed[2] && !failed[3],
	   "four threads ask for devices");
}

int main(void)
{
	test_list();
	test_facts();
	test_threads();
	return tap_done();
}
