/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_EXTENSION_H_
#define _NNPU_EXTENSION_H_

#include <linux/types.h>

#include <drm/nnpu_program.h>

bool nnpu_extension_ok(const struct nnpu_extension *e, const struct nnpu_extension *others,
		       u32 num_others);

#endif /* _NNPU_EXTENSION_H_ */
