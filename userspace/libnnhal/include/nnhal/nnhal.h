/* SPDX-License-Identifier: MIT */
/*
 * libnnhal: the neural-network HAL 1.0 to 1.3 as a C library.
 */
#ifndef NNHAL_NNHAL_H
#define NNHAL_NNHAL_H

#include <nnhal/bound.h>
#include <nnhal/buffer.h>
#include <nnhal/burst.h>
#include <nnhal/burst_fmq.h>
#include <nnhal/cache.h>
#include <nnhal/completion.h>
#include <nnhal/convert.h>
#include <nnhal/debug.h>
#include <nnhal/device.h>
#include <nnhal/ext.h>
#include <nnhal/fence.h>
#include <nnhal/fenced.h>
#include <nnhal/fmq.h>
#include <nnhal/memory.h>
#include <nnhal/prepared_model.h>
#include <nnhal/resilient.h>
#include <nnhal/types.h>
#include <nnhal/util.h>
#include <nnhal/version.h>

#endif /* NNHAL_NNHAL_H */
