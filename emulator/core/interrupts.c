// SPDX-License-Identifier: MIT
/*
 * Interrupts: vectors to raise once dev->lock is dropped; those that software asks for too often;
 * the line of a platform device.
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

void irqs_ask(struct nnpu_device *dev, unsigned int vector, struct irqs *irqs)
{
	struct irq_asks *asks = &dev->irq_asks[vector];
	uint64_t now = dev_now(dev);

	if (asks->late)
		return;
	if (!dev->ops->set_alarm || !asks->last_ns || now - asks->last_ns >= IRQS_ASK_NS) {
		asks->last_ns = now;
		irqs_add(irqs, vector);
		return;
	}
	asks->late = true;
	if (dev->alarm_set)
		return;
	dev->alarm_set = true;
	irqs->alarm_ns = asks->last_ns + IRQS_ASK_NS;
}

void irqs_forget(struct nnpu_device *dev)
{
	unsigned int i;

	for (i = 0; i < dev->props.num_vectors; i++)
		dev->irq_asks[i].late = false;
}

void nnpu_device_alarm(struct nnpu_device *dev)
{
	uint64_t next = UINT64_MAX, now;
	struct irqs irqs = { 0 };
	unsigned int i;

	pthread_mutex_lock(&dev->lock);
	now = dev_now(dev);
	/* While it counts as set nothing else sets it. */
	for (i = 0; i < dev->props.num_vectors; i++) {
		struct irq_asks *asks = &dev->irq_asks[i];

		if (!asks->late)
			continue;
		if (now - asks->last_ns < IRQS_ASK_NS) {
			next = asks->last_ns + IRQS_ASK_NS < next ? asks->last_ns + IRQS_ASK_NS : next;
			continue;
		}
		asks->late = false;
		asks->last_ns = now;
		if (irqs_full(&irqs))
			irqs_raise_locked(dev, &irqs);
		irqs_add(&irqs, i);
	}
	dev->alarm_set = next != UINT64_MAX;
	if (dev->alarm_set)
		irqs.alarm_ns = next;
	pthread_mutex_unlock(&dev->lock);
	irqs_raise(dev, &irqs);
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

void irqs_raise(struct nnpu_device *dev, struct irqs *irqs)
{
	unsigned int i;

	if (irqs->alarm_ns)
		dev->ops->set_alarm(dev->bus, irqs->alarm_ns);
	for (i = 0; i < irqs->count; i++) {
		if (dev->props.platform_irq)
			irq_line_update(dev, 1u << irqs->vectors[i], 0, NULL);
		else
			dev->ops->raise_irq(dev->bus, irqs->vectors[i]);
	}
	*irqs = (struct irqs) { 0 };
}

void irqs_raise_locked(struct nnpu_device *dev, struct irqs *irqs)
{
	if (!irqs->count && !irqs->alarm_ns)
		return;
	pthread_mutex_unlock(&dev->lock);
	irqs_raise(dev, irqs);
	pthread_mutex_lock(&dev->lock);
}
