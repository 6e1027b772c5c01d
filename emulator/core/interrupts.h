/* SPDX-License-Identifier: MIT */
/*
 * Interrupts: collected while dev->lock is held, raised after it is dropped.
 */
#ifndef NNPU_EMU_INTERRUPTS_H
#define NNPU_EMU_INTERRUPTS_H

#include <stdbool.h>
#include <stdint.h>

struct nnpu_device;

#define IRQS_MAX	4u

struct irqs {
	unsigned int count;
	uint16_t vectors[IRQS_MAX];
};

/* There must be room: who adds those of several queues raises them in between. */
void irqs_add(struct irqs *irqs, unsigned int vector);

static inline bool irqs_full(const struct irqs *irqs)
{
	return irqs && irqs->count == IRQS_MAX;
}

/* dev->lock must not be held. */
void irqs_raise(struct nnpu_device *dev, const struct irqs *irqs);

/* The same with dev->lock held. It is dropped if there is something to raise. */
void irqs_raise_locked(struct nnpu_device *dev, struct irqs *irqs);

/*
 * Platform devices only: set and clear bits of IRQ_STATUS, write IRQ_MASK unless @mask is
 * NULL, and let the interrupt line follow.
 */
void irq_line_update(struct nnpu_device *dev, uint32_t set, uint32_t clear,
		     const uint32_t *mask);

#endif /* NNPU_EMU_INTERRUPTS_H */
