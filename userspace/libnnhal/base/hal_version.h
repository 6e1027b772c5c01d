/* SPDX-License-Identifier: MIT */
/*
 * Versions of the HAL.
 */
#ifndef NNHAL_HAL_VERSION_H
#define NNHAL_HAL_VERSION_H

#include <stdbool.h>
#include <stdint.h>

#include <nnhal/types.h>

/* Normalised version of a model or request, 0 if the number is unknown. */
uint32_t hal_version_of(uint32_t hal_version);
/*
 * Is the layout of a model or request one that this library reads? If not, nothing else of it
 * may be used. @what is for the message: "model" or "request".
 */
bool layout_is_known(uint32_t hal_version, const char *what, struct nnhal_diag *diag);

#endif /* NNHAL_HAL_VERSION_H */
