/* SPDX-License-Identifier: MIT */
/*
 * What the fuzzer of the NNAPI has beyond the calls: devices that lack operations, models that these have to share,
 * fences that it signals, faults of devices.
 */
#ifndef NDK_GRAPHS_H
#define NDK_GRAPHS_H

#include <android/NeuralNetworks.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUM_NDK_DEVICES	3
#define NUM_NDK_FENCES	4

/* Add the devices. False: there is no memory. */
bool ndk_graphs_init(void);

/* One of the devices, nnapi-reference among them. */
const ANeuralNetworksDevice *ndk_graphs_device(uint8_t number);

/*
 * An unfinished model of up to eight operations, IF and WHILE among them, or NULL. Each takes three of @bytes. Two
 * vectors of four floats are inputs, and those that no operation reads are outputs.
 */
ANeuralNetworksModel *ndk_graph(const uint8_t *bytes, size_t count);

/*
 * An unfinished model of ADD of two vectors, or NULL: of unknown numbers with bit 0 of @form, the second one a constant of
 * four @values with bit 1. With bit 2 its activation has no such value, which is refused at the execution only.
 */
ANeuralNetworksModel *ndk_add_model(uint8_t form, const float *values);

/* The next job of a device fails, or the device does. */
void ndk_graphs_fault(uint8_t device, bool fatal);
/* No job fails any more. */
void ndk_graphs_mend(void);

/**
 * struct ndk_fences - fences of one input
 * @signals: what signals them; -1: none
 */
struct ndk_fences {
	int signals[NUM_NDK_FENCES];
};

void ndk_fences_init(struct ndk_fences *fences);
/* A new fence; the caller closes it. -1: there is none. */
int ndk_fences_add(struct ndk_fences *fences, uint8_t number);
void ndk_fences_signal(struct ndk_fences *fences, uint8_t number, int error);
void ndk_fences_signal_all(struct ndk_fences *fences);

#endif /* NDK_GRAPHS_H */
