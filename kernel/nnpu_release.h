/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_RELEASE_H_
#define _NNPU_RELEASE_H_

struct work_struct;
struct workqueue_struct;

/**
 * struct nnpu_release - deferred releases of a device
 * @wq: workqueue
 */
struct nnpu_release {
	struct workqueue_struct *wq;
};

int nnpu_release_setup(void);
void nnpu_release_teardown(void);
int nnpu_release_init(struct nnpu_release *release);
void nnpu_release_fini(struct nnpu_release *release);
void nnpu_release_queue(struct nnpu_release *release, struct work_struct *work);
void nnpu_release_expect(void);
void nnpu_release_queue_last(struct work_struct *work);
void nnpu_release_flush(struct nnpu_release *release);

#endif /* _NNPU_RELEASE_H_ */
