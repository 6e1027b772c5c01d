/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_STATUS_H_
#define _NNPU_STATUS_H_

#include <linux/types.h>

bool nnpu_status_known(u16 status);
const char *nnpu_status_name(u16 status);
const char *nnpu_status_text(u16 status);
int nnpu_status_job_errno(u16 status);
int nnpu_status_load_errno(u16 status);
const char *nnpu_status_opcode_name(u8 opcode);

#endif /* _NNPU_STATUS_H_ */
