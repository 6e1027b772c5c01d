/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_PROBE_H_
#define _NNPU_PROBE_H_

struct nnpu_device;

int nnpu_probe(struct nnpu_device *ndev);
void nnpu_remove(struct nnpu_device *ndev);

#endif /* _NNPU_PROBE_H_ */
