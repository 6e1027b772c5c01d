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
	uint64_t alarm_ns;		/* nnpu_device_alarm() is due then; 0: no change */
};

/* Of interrupts that CQ_ARM finds due: at least this long between two of a vector. */
#define IRQS_ASK_NS	50000u

/* What is known of a vector. dev->lock. */
struct irq_asks {
	uint64_t last_ns;		/* the last one was raised */
	bool late;			/* one waits for the alarm */
};

/* There must be room: who adds those of several queues raises them in between. */
void irqs_add(struct irqs *irqs, unsigned int vector);

static inline bool irqs_full(const struct irqs *irqs)
{
	return irqs && irqs->count == IRQS_MAX;
}

/*
 * Software asks for an interrupt that is due already. Any process can ask in a loop, so what comes
 * too early waits for the alarm. dev->lock held.
 */
void irqs_ask(struct nnpu_device *dev, unsigned int vector, struct irqs *irqs);

/* None waits any more. dev->lock held. */
void irqs_forget(struct nnpu_device *dev);

/* Nothing is left to raise afterwards. dev->lock must not be held. */
void irqs_raise(struct nnpu_device *dev, struct irqs *irqs);

/* The same with dev->lock held. It is dropped if there is something to raise. */
void irqs_raise_locked(struct nnpu_device *dev, struct irqs *irqs);

/*
 * Platform devices only: set and clear bits of IRQ_STATUS, write IRQ_MASK unless @mask is
 * NULL, and let the interrupt line follow.
 */
void irq_line_update(struct nnpu_device *dev, uint32_t set, uint32_t clear,
		     const uint32_t *mask);

#endif /* NNPU_EMU_INTERRUPTS_H */
