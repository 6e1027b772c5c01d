/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_IRQ_H_
#define _NNPU_IRQ_H_

#include "nnpu_userq.h"

struct nnpu_device;

/* Interrupt vectors. */
#define NNPU_IRQ_ADMIN		0
#define NNPU_IRQ_KERNEL		1
#define NNPU_IRQ_USER		2
#define NNPU_IRQ_MAX		(NNPU_IRQ_USER + NNPU_USERQ_HW_MAX)

/**
 * struct nnpu_irq - an interrupt vector
 * @ndev: device
 * @number: interrupt number; 0 if the device has a line
 * @handle: looks at the queues whose interrupt it is; not while interrupts are ignored
 */
struct nnpu_irq {
	struct nnpu_device *ndev;
	int number;
	void (*handle)(struct nnpu_device *ndev, unsigned int vector);
};

int nnpu_irq_request(struct nnpu_device *ndev);
void nnpu_irq_free(struct nnpu_device *ndev);
void nnpu_irq_ignore(struct nnpu_device *ndev);
void nnpu_irq_heed(struct nnpu_device *ndev);

#endif /* _NNPU_IRQ_H_ */
