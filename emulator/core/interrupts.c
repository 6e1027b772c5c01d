// SPDX-License-Identifier: MIT
/*
 * Interrupts: vectors to raise once dev->lock is dropped; the line of a platform device.
 */
#include "device_state.h"
#include "interrupts.h"

void irqs_add(struct irqs *irqs, unsigned int vector)
{
	unsigned int i;

	for (i = 0; i < irqs->count; i++)
		if (irqs->vectors[i] == vector)
			return;
	if (irqs->count < IRQS_MAX)
		irqs->vectors[irqs->count++] = (uint16_t)vector;
}

/* Platform devices: the line follows status and mask. irq_lock orders the levels. */
void irq_line_update(struct nnpu_device *dev, uint32_t set, uint32_t clear,
			    const uint32_t *mask)
{
	pthread_mutex_lock(&dev->irq_lock);
	dev->irq_status = (dev->irq_status | set) & ~clear;
	if (mask)
		dev->irq_mask = *mask;
	dev->ops->set_irq_level(dev->bus, dev->irq_status & ~dev->irq_mask);
	pthread_mutex_unlock(&dev->irq_lock);
}

void irqs_raise(struct nnpu_device *dev, const struct irqs *irqs)
{
	unsigned int i;

	for (i = 0; i < irqs->count; i++) {
		if (dev->props.platform_irq)
			irq_line_update(dev, 1u << irqs->vectors[i], 0, NULL);
		else
			dev->ops->raise_irq(dev->bus, irqs->vectors[i]);
	}
}

void irqs_raise_locked(struct nnpu_device *dev, struct irqs *irqs)
{
	if (!irqs->count)
		return;
	pthread_mutex_unlock(&dev->lock);
	irqs_raise(dev, irqs);
	irqs->count = 0;
	pthread_mutex_lock(&dev->lock);
}
