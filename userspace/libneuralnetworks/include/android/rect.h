/* SPDX-License-Identifier: MIT */
/*
 * A rectangle of elements: from @left and @top up to @right and @bottom, which are outside.
 */
#ifndef ANDROID_RECT_H
#define ANDROID_RECT_H

#include <stdint.h>

typedef struct ARect {
	int32_t left;
	int32_t top;
	int32_t right;
	int32_t bottom;
} ARect;

#endif /* ANDROID_RECT_H */
