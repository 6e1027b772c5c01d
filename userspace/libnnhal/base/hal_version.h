/* SPDX-License-Identifier: MIT */
/*
 * Versions of the HAL.
 */
#ifndef NNHAL_HAL_VERSION_H
#define NNHAL_HAL_VERSION_H

#include <stdint.h>

/* Normalised version of a model or request, 0 if the number is unknown. */
uint32_t hal_version_of(uint32_t hal_version);

#endif /* NNHAL_HAL_VERSION_H */
