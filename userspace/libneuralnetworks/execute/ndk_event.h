/* SPDX-License-Identifier: MIT */
/*
 * Events.
 */
#ifndef NDK_EVENT_H
#define NDK_EVENT_H

#include "execute/ndk_execution.h"

/**
 * struct ANeuralNetworksEvent - an event
 * @run: what it is about; NULL: a fence of the program's
 * @fence: of the program's
 */
struct ANeuralNetworksEvent {
	struct ndk_run *run;
	int fence;
};

/* An event about nothing; NULL: no memory. */
ANeuralNetworksEvent *ndk_event_new(void);

/* The fence of an event, the event's own; -1: it has none. */
int ndk_event_fence(const ANeuralNetworksEvent *event);

#endif /* NDK_EVENT_H */
