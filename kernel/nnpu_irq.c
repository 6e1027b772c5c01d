// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts: one vector for the admin queue, one for the kernel queue, one for each
 * hardware queue of processes. Where there are fewer, queues share one.
 *
 * A platform device has one line for all vectors. It stays high until the driver has acknowledged
 * each vector in IRQ_STATUS.
 */
#include <linux/interrupt.h>

#include "nnpu_admin.h"
#include "nnpu_device.h"
#include "nnpu_irq.h"

/*
 * Vector 0: admin completions. A device that becomes FATAL raises it once; the watchdog
 * then reads STATUS.
 */
static void nnpu_irq_admin(struct nnpu_device *ndev, unsigned int vector)
{
	nnpu_admin_process(ndev);
	if (nnpu_read(ndev, NNPU_REG_STATUS) & NNPU_STATUS_REG_FATAL)
		nnpu_queue_kick_watchdog(&ndev->queue, true);
}

/* An interrupt without completion: the device may have stopped the queue. */
static void nnpu_irq_kernel(struct nnpu_device *ndev, unsigned int vector)
{
	/* Or the work item that gives jobs has taken it. */
	if (!nnpu_queue_interrupt(&ndev->queue) &&
	    nnpu_read_queue(ndev, NNPU_QID_KERNEL, NNPU_QREG_STATE) == NNPU_QSTATE_STOPPED)
		nnpu_queue_kick_watchdog(&ndev->queue, true);
}

/* The kernel queue and all user queues. */
static void nnpu_irq_queues(struct nnpu_device *ndev, unsigned int vector)
{
	nnpu_irq_kernel(ndev, vector);
	nnpu_userq_hw_irq(ndev, vector);
}

static void nnpu_irq_shared(struct nnpu_device *ndev, unsigned int vector)
{
	nnpu_queue_interrupt(&ndev->queue);
	nnpu_userq_hw_irq(ndev, vector);
	nnpu_admin_process(ndev);
	/* One vector for everything: the cause is unknown, so check all. */
	if (nnpu_read(ndev, NNPU_REG_STATUS) & NNPU_STATUS_REG_FATAL ||
	    nnpu_read_queue(ndev, NNPU_QID_KERNEL, NNPU_QREG_STATE) == NNPU_QSTATE_STOPPED)
		nnpu_queue_kick_watchdog(&ndev->queue, true);
}

static irqreturn_t nnpu_irq(int irq, void *data)
{
	struct nnpu_irq *vector = data;
	struct nnpu_device *ndev = vector->ndev;

	/* Pairs with WRITE_ONCE() in nnpu_irq_ignore(). */
	if (!READ_ONCE(ndev->irqs_ignored))
		vector->handle(ndev, vector - ndev->irqs);
	return IRQ_HANDLED;
}

/*
 * The line of a platform device. Acknowledge first: what comes later raises the line again. The
 * acknowledgment has to be there before the handlers look: a write that is still on its way would
 * take what is raised after they have looked, and leave the line high for a while.
 */
static irqreturn_t nnpu_irq_line(int irq, void *data)
{
	struct nnpu_device *ndev = data;
	unsigned long raised;
	unsigned int i;
	u32 status;

	status = nnpu_read(ndev, NNPU_REG_IRQ_STATUS);
	/* All ones: in reset, or gone. */
	if (!status || status == U32_MAX)
		return IRQ_NONE;
	nnpu_write(ndev, NNPU_REG_IRQ_STATUS, status);
	nnpu_read(ndev, NNPU_REG_IRQ_STATUS);
	raised = status;
	for_each_set_bit(i, &raised, ndev->num_irqs)
		ndev->irqs[i].handle(ndev, i);
	return IRQ_HANDLED;
}

/**
 * nnpu_irq_ignore - keep the interrupt handlers from registers
 * @ndev: device
 *
 * When this returns no handler uses registers, until nnpu_irq_heed(). Vectors stay enabled: to
 * mask one is an access to the device. A line is masked in the interrupt controller.
 */
void nnpu_irq_ignore(struct nnpu_device *ndev)
{
	unsigned int i;

	if (ndev->irq_line) {
		disable_irq(ndev->irq_line);
		return;
	}
	WRITE_ONCE(ndev->irqs_ignored, true);
	/* A handler that begins after this takes the lock of the interrupt, and sees the mark. */
	for (i = 0; i < ndev->irqs_requested; i++)
		synchronize_irq(ndev->irqs[i].number);
}

/**
 * nnpu_irq_heed - undo nnpu_irq_ignore()
 * @ndev: device, which has nothing that was there before
 */
void nnpu_irq_heed(struct nnpu_device *ndev)
{
	if (ndev->irq_line) {
		enable_irq(ndev->irq_line);
		return;
	}
	WRITE_ONCE(ndev->irqs_ignored, false);
}

/**
 * nnpu_irq_free - remove the interrupt handlers
 * @ndev: device
 *
 * When this returns no handler runs.
 */
void nnpu_irq_free(struct nnpu_device *ndev)
{
	if (ndev->irq_line) {
		free_irq(ndev->irq_line, ndev);
		return;
	}
	while (ndev->irqs_requested) {
		struct nnpu_irq *vector = &ndev->irqs[--ndev->irqs_requested];

		free_irq(vector->number, vector);
	}
}

/* What a vector is for depends on the number of vectors. Return: its name. */
static const char *nnpu_irq_assign(struct nnpu_device *ndev, unsigned int i)
{
	struct nnpu_irq *vector = &ndev->irqs[i];

	vector->ndev = ndev;
	if (ndev->num_irqs == 1) {
		vector->handle = nnpu_irq_shared;
		return "nnpu";
	}
	if (i == NNPU_IRQ_ADMIN) {
		vector->handle = nnpu_irq_admin;
		return "nnpu-admin";
	}
	if (ndev->num_irqs == 2) {
		vector->handle = nnpu_irq_queues;
		return "nnpu-queues";
	}
	if (i == NNPU_IRQ_KERNEL) {
		vector->handle = nnpu_irq_kernel;
		return "nnpu-kernel";
	}
	vector->handle = nnpu_userq_hw_irq;
	return "nnpu-user";
}

/**
 * nnpu_irq_request - install the interrupt handlers
 * @ndev: device; the bus glue has filled in its vectors or its line
 *
 * Return: 0 or a negative errno; then no handler is installed.
 */
int nnpu_irq_request(struct nnpu_device *ndev)
{
	unsigned int i;
	int ret;

	if (ndev->irq_line) {
		for (i = 0; i < ndev->num_irqs; i++)
			nnpu_irq_assign(ndev, i);
		return request_irq(ndev->irq_line, nnpu_irq_line, 0, NNPU_DRIVER_NAME, ndev);
	}
	for (i = 0; i < ndev->num_irqs; i++) {
		const char *name = nnpu_irq_assign(ndev, i);

		ret = request_irq(ndev->irqs[i].number, nnpu_irq, 0, name, &ndev->irqs[i]);
		if (ret) {
			nnpu_irq_free(ndev);
			return ret;
		}
		ndev->irqs_requested++;
	}
	return 0;
}
