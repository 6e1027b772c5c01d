/* SPDX-License-Identifier: MIT */
/*
 * Interrupts: collected while dev->lock is held, raised after it is dropped.
 */
#ifndef NNPU_EMU_INTERRUPTS_H
#define NNPU_EMU_INTERRUPTS_H

#include <stdint.h>

struct nnpu_device;

struct irqs {
	unsigned int count;
	uint16_t vectors[4];
};

void irqs_add(struct irqs *irqs, unsigned int vector);

/* dev->lock must not be held. */
void irqs_raise(struct nnpu_device *dev, const struct irqs *irqs);

/*
 * Platform devices only: set and clear bits of IRQ_STATUS, write IRQ_MASK unless @mask is
 * NULL, and let the interrupt line follow.
 */
void irq_line_update(struct nnpu_device *dev, uint32_t set, uint32_t clear,
		     const uint32_t *mask);

#endif /* NNPU_EMU_INTERRUPTS_H */
