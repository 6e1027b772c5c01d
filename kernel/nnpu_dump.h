/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_DUMP_H_
#define _NNPU_DUMP_H_

#include <linux/types.h>
#include <linux/workqueue.h>

struct nnpu_device;

/**
 * struct nnpu_dump - dump of the first hang
 * @work: hands the dump over
 * @data: its memory, NULL when it was handed over
 * @size: bytes of text
 * @taken: the dump was made, or is being made
 */
struct nnpu_dump {
	struct work_struct work;
	void *data;
	size_t size;
	bool taken;
};

#if IS_ENABLED(CONFIG_DEV_COREDUMP)
int nnpu_dump_init(struct nnpu_device *ndev);
void nnpu_dump_fini(struct nnpu_device *ndev);
void nnpu_dump_hang(struct nnpu_device *ndev);
#else
static inline int nnpu_dump_init(struct nnpu_device *ndev) { return 0; }
static inline void nnpu_dump_fini(struct nnpu_device *ndev) {}
static inline void nnpu_dump_hang(struct nnpu_device *ndev) {}
#endif

#endif /* _NNPU_DUMP_H_ */
