// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts: one vector for the admin queue, one for the kernel queue, one for each
 * hardware queue of processes. Where there are fewer, queues share one.
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
	if (!nnpu_queue_process(&ndev->queue))
		nnpu_queue_kick_watchdog(&ndev->queue, true);
}

/* The kernel queue and all user queues. */
static void nnpu_irq_queues(struct nnpu_device *ndev, unsigned int vector)
{
	if (!nnpu_queue_process(&ndev->queue) &&
	    nnpu_read_queue(ndev, NNPU_QID_KERNEL, NNPU_QREG_STATE) == NNPU_QSTATE_STOPPED)
		nnpu_queue_kick_watchdog(&ndev->queue, true);
	nnpu_userq_hw_irq(ndev, vector);
}

static void nnpu_irq_shared(struct nnpu_device *ndev, unsigned int vector)
{
	nnpu_queue_process(&ndev->queue);
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

/**
 * nnpu_irq_ignore - keep the interrupt handlers from registers
 * @ndev: device
 *
 * When this returns no handler uses registers, until nnpu_irq_heed(). The vectors stay enabled: to
 * mask one is an access to the device.
 */
void nnpu_irq_ignore(struct nnpu_device *ndev)
{
	unsigned int i;

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
 * @ndev: device; the bus glue has filled in its vectors
 *
 * Return: 0 or a negative errno; then no handler is installed.
 */
int nnpu_irq_request(struct nnpu_device *ndev)
{
	unsigned int i;
	int ret;

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
