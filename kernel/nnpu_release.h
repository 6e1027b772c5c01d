/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_RELEASE_H_
#define _NNPU_RELEASE_H_

struct work_struct;

int nnpu_release_init(void);
void nnpu_release_exit(void);
void nnpu_release_queue(struct work_struct *work);
void nnpu_release_flush(void);

#endif /* _NNPU_RELEASE_H_ */
