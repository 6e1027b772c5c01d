/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_IDENTIFY_H_
#define _NNPU_IDENTIFY_H_

struct nnpu_device;

int nnpu_identify_registers(struct nnpu_device *ndev);
int nnpu_identify_command(struct nnpu_device *ndev);

#endif /* _NNPU_IDENTIFY_H_ */
