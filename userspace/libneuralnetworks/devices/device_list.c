// SPDX-License-Identifier: MIT
/*
 * The list of devices: the only thing that is global.
 *
 * Programs keep pointers to devices for ever, so an entry is never freed. A device that went away
 * keeps its entry and gets it back when one of its name returns; meanwhile it is not counted. A
 * machine has few devices, and few names come and go, so the list stays short.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/ndk_why.h"
#include "ndk.h"

#define MAX_DEVICES	64

struct ANeuralNetworksDevice {
	char name[NNHAL_NAME_SIZE];
	char spec[NNHAL_NAME_SIZE];
	char *version;
	int32_t type;
	bool added;
	struct nnhal_device *open;
	struct ANeuralNetworksDevice *next;
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ANeuralNetworksDevice *all_devices;
static struct ANeuralNetworksDevice *visible[MAX_DEVICES];
static uint32_t num_visible;
static bool list_made;

static bool is_lost(struct nnhal_device *device)
{
	return nnhal_device_get_status(device) == NNHAL_DEVICE_OFFLINE;
}

/* Open the device, or open it anew if it was lost. Called with the lock. */
static int open_locked(struct ANeuralNetworksDevice *device)
{
	struct nnhal_device *open;
	enum nnhal_device_type type;
	const char *version;
	enum nnhal_status status;
	struct nnhal_diag diag;

	if (device->open && !is_lost(device->open))
		return ANEURALNETWORKS_NO_ERROR;
	status = nnhal_device_open(device->spec, &open, &diag);
	if (status)
		return ndk_why_status(status, &diag, device->name);
	/* The program may still use the first version's text, so it is not replaced. */
	if (!device->version) {
		status = nnhal_device_get_version_string(open, &version);
		if (!status)
			status = nnhal_device_get_type(open, &type);
		if (status || !(device->version = strdup(version))) {
			nnhal_device_unref(open);
			return status ? ndk_why_status(status, NULL, device->name) :
					ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
		}
		if (!device->type)
			device->type = (int32_t)type;
	}
	nnhal_device_unref(device->open);
	device->open = open;
	return ANEURALNETWORKS_NO_ERROR;
}

static struct ANeuralNetworksDevice *find_or_add(const struct nnhal_device_info *info)
{
	/* Only the device in the process has no node. Programs look for this name. */
	bool in_process = !info->path[0];
	const char *name = in_process ? "nnapi-reference" : info->name;
	struct ANeuralNetworksDevice *device;

	for (device = all_devices; device; device = device->next)
		if (!strcmp(device->name, name))
			break;
	if (!device) {
		device = calloc(1, sizeof(*device));
		if (!device)
			return NULL;
		strcpy(device->name, name);
		device->type = in_process ? ANEURALNETWORKS_DEVICE_CPU : 0;
		device->next = all_devices;
		all_devices = device;
	}
	/* The number in the order of nodes may have changed. */
	strcpy(device->spec, info->spec);
	return device;
}

/* Look for devices. Those that cannot be opened are not listed. Called with the lock. */
static int look_locked(void)
{
	struct nnhal_device_info infos[MAX_DEVICES] = { NNHAL_DEVICE_INFO_INIT };
	struct ANeuralNetworksDevice *device;
	uint32_t found = 0, count = 0, i;
	enum nnhal_status status;
	struct nnhal_diag diag;

	status = nnhal_enumerate_devices(infos, MAX_DEVICES, &found, &diag);
	if (status && status != NNHAL_STATUS_NO_DEVICE && status != NNHAL_STATUS_NO_DRIVER)
		return ndk_why_status(status, &diag, "the list of devices");
	for (i = 0; i < found && i < MAX_DEVICES; i++) {
		if (infos[i].status)
			continue;
		device = find_or_add(&infos[i]);
		if (!device)
			return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
		if (!open_locked(device))
			visible[count++] = device;
	}
	for (device = all_devices; device && count < MAX_DEVICES; device = device->next)
		if (device->added && !open_locked(device))
			visible[count++] = device;
	num_visible = count;
	list_made = true;
	return ANEURALNETWORKS_NO_ERROR;
}

ANeuralNetworksDevice *ndk_device_add(const char *name, const char *spec)
{
	struct ANeuralNetworksDevice *device = calloc(1, sizeof(*device));

	if (!device || strlen(name) >= NNHAL_NAME_SIZE || strlen(spec) >= NNHAL_NAME_SIZE) {
		free(device);
		return NULL;
	}
	strcpy(device->name, name);
	strcpy(device->spec, spec);
	device->type = ANEURALNETWORKS_DEVICE_ACCELERATOR;
	device->added = true;
	pthread_mutex_lock(&list_lock);
	device->next = all_devices;
	all_devices = device;
	list_made = false;
	pthread_mutex_unlock(&list_lock);
	return device;
}

bool ndk_device_is_reference(const ANeuralNetworksDevice *device)
{
	return device->type == ANEURALNETWORKS_DEVICE_CPU;
}

int ANeuralNetworks_getDeviceCount(uint32_t *numDevices)
{
	int result;

	if (!numDevices)
		return REFUSE_NULL(numDevices);
	pthread_mutex_lock(&list_lock);
	result = look_locked();
	if (!result)
		*numDevices = num_visible;
	pthread_mutex_unlock(&list_lock);
	return TELL(result);
}

/* BAD_DATA: there is none of this number. */
static int device_at(uint32_t index, ANeuralNetworksDevice **device)
{
	int result = ANEURALNETWORKS_NO_ERROR;

	pthread_mutex_lock(&list_lock);
	if (!list_made)
		result = look_locked();
	if (!result && index >= num_visible)
		result = ndk_why(ANEURALNETWORKS_BAD_DATA, "device %u, there are %u", index, num_visible);
	if (!result)
		*device = visible[index];
	pthread_mutex_unlock(&list_lock);
	return result;
}

int ANeuralNetworks_getDevice(uint32_t devIndex, ANeuralNetworksDevice **device)
{
	if (!device)
		return REFUSE_NULL(device);
	*device = NULL;
	return TELL(device_at(devIndex, device));
}

struct nnhal_device *ndk_device_open(const ANeuralNetworksDevice *device, int *result)
{
	struct nnhal_device *open = NULL;

	pthread_mutex_lock(&list_lock);
	/* Programs get constant pointers to what the list owns. */
	*result = open_locked((struct ANeuralNetworksDevice *)device);
	if (!*result)
		open = nnhal_device_ref(device->open);
	pthread_mutex_unlock(&list_lock);
	return open;
}

int ndk_check_devices(const ANeuralNetworksDevice *const *devices, uint32_t count)
{
	uint32_t i, j;

	for (i = 0; i < count; i++)
		if (!devices[i])
			return ndk_why(ANEURALNETWORKS_UNEXPECTED_NULL, "devices[%u] is NULL", i);
	/* A list that repeats no device has no more entries than there are devices: few. */
	for (i = 0; i < count; i++)
		for (j = 0; j < i; j++)
			if (devices[i] == devices[j])
				return ndk_why(ANEURALNETWORKS_BAD_DATA,
					       "devices %u and %u of the list are the same", j, i);
	if (!count)
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "the list of devices is empty");
	return ANEURALNETWORKS_NO_ERROR;
}

int ndk_devices_by_preference(const ANeuralNetworksDevice ***devices, uint32_t *count)
{
	const ANeuralNetworksDevice **list = calloc(MAX_DEVICES, sizeof(const void *));
	uint32_t i, found = 0;
	bool reference;
	int result;

	if (!list)
		return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	pthread_mutex_lock(&list_lock);
	result = look_locked();
	for (reference = false; !result && found < num_visible; reference = true)
		for (i = 0; i < num_visible; i++)
			if ((visible[i]->type == ANEURALNETWORKS_DEVICE_CPU) == reference)
				list[found++] = visible[i];
	pthread_mutex_unlock(&list_lock);
	if (!result && !found)
		result = ndk_why(ANEURALNETWORKS_UNAVAILABLE_DEVICE, "there is no device");
	if (result) {
		free(list);
		return result;
	}
	*devices = list;
	*count = found;
	return ANEURALNETWORKS_NO_ERROR;
}

static bool device_has_extension(const ANeuralNetworksDevice *device, const char *name,
				 int *result)
{
	const struct nnhal_extension *extensions;
	struct nnhal_device *open = ndk_device_open(device, result);
	uint32_t count = 0, i;
	bool found = false;

	if (!open)
		return false;
	*result = ndk_why_status(nnhal_device_get_supported_extensions(open, &extensions, &count), NULL,
				 "the extensions of the device");
	for (i = 0; !*result && i < count; i++)
		found = found || !strcmp(extensions[i].name, name);
	nnhal_device_unref(open);
	return found;
}

bool ndk_extension_exists(const char *name)
{
	ANeuralNetworksDevice *device;
	uint32_t i;
	int result;

	for (i = 0; !device_at(i, &device); i++)
		if (device_has_extension(device, name, &result))
			return true;
	return false;
}

int ANeuralNetworksDevice_getName(const ANeuralNetworksDevice *device, const char **name)
{
	if (!name)
		return REFUSE_NULL(name);
	*name = NULL;
	if (!device)
		return REFUSE_NULL(device);
	*name = device->name;
	return ANEURALNETWORKS_NO_ERROR;
}

/* Type and version were read before the program got the device, and do not change. */
int ANeuralNetworksDevice_getType(const ANeuralNetworksDevice *device, int32_t *type)
{
	if (!device || !type)
		return REFUSE_NULL(device, type);
	*type = device->type;
	return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksDevice_getVersion(const ANeuralNetworksDevice *device, const char **version)
{
	if (!version)
		return REFUSE_NULL(version);
	*version = NULL;
	if (!device)
		return REFUSE_NULL(device);
	*version = device->version;
	return ANEURALNETWORKS_NO_ERROR;
}

/* Level 30 is HAL 1.3, which every device of libnnhal has. */
int ANeuralNetworksDevice_getFeatureLevel(const ANeuralNetworksDevice *device,
					  int64_t *featureLevel)
{
	if (!device || !featureLevel)
		return REFUSE_NULL(device, featureLevel);
	*featureLevel = ANEURALNETWORKS_FEATURE_LEVEL_4;
	return ANEURALNETWORKS_NO_ERROR;
}

/* Opening a device brings its service up, as Android's wait() does. */
int ANeuralNetworksDevice_wait(const ANeuralNetworksDevice *device)
{
	int result;

	if (!device)
		return REFUSE_NULL(device);
	nnhal_device_unref(ndk_device_open(device, &result));
	return TELL(result);
}

int ANeuralNetworksDevice_getExtensionSupport(const ANeuralNetworksDevice *device,
					      const char *extensionName,
					      bool *isExtensionSupported)
{
	bool found;
	int result;

	if (!device || !extensionName || !isExtensionSupported)
		return REFUSE_NULL(device, extensionName, isExtensionSupported);
	found = device_has_extension(device, extensionName, &result);
	if (!result)
		*isExtensionSupported = found;
	return TELL(result);
}

uint64_t ANeuralNetworks_getDefaultLoopTimeout(void)
{
	return NNHAL_DEFAULT_LOOP_TIMEOUT_NS;
}

uint64_t ANeuralNetworks_getMaximumLoopTimeout(void)
{
	return NNHAL_MAX_LOOP_TIMEOUT_NS;
}

/* The functions that there are, not what devices can do. */
int64_t ANeuralNetworks_getRuntimeFeatureLevel(void)
{
	return ANEURALNETWORKS_FEATURE_LEVEL_5;
}
