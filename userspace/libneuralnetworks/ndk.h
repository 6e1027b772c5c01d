/* SPDX-License-Identifier: MIT */
/*
 * What the files of libneuralnetworks share.
 */
#ifndef NDK_H
#define NDK_H

#include <android/NeuralNetworks.h>
#include <nnhal/nnhal.h>

struct ANeuralNetworksMemory {
	struct nnhal_memory *memory;
};

/* Result codes of the statuses of libnnhal. */
int ndk_result(enum nnhal_status status);

/*
 * The device, open, with a reference for the caller; NULL if it cannot be opened. A device that was
 * lost is opened anew.
 */
struct nnhal_device *ndk_device_open(const ANeuralNetworksDevice *device, int *result);

/* Does a device that is there now have this extension? */
bool ndk_extension_exists(const char *name);

#endif /* NDK_H */
