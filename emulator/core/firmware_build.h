/* SPDX-License-Identifier: MIT */
/*
 * Which build of the device model this is: its own GNU build id, which the linker makes of the
 * content of the binary.
 */
#ifndef NNPU_EMU_FIRMWARE_BUILD_H
#define NNPU_EMU_FIRMWARE_BUILD_H

#include <stdint.h>

#define FIRMWARE_BUILD_SIZE	32

/* The first bytes of the id, zeros behind it; all zero if the binary has none. */
void firmware_build(uint8_t build[FIRMWARE_BUILD_SIZE]);

#endif /* NNPU_EMU_FIRMWARE_BUILD_H */
