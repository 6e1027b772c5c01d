// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts: one vector for the admin queue, one for the kernel queue, one for each
 * hardware queue of processes. Where there are fewer, queues share one.
 */
#include <linux/interrupt.h>

#include "nnpu_admin.h"
#include "nnpu_device.h"
#include "nnpu_irq.h"

/* Pairs with WRITE_ONCE() in nnpu_irq_ignore(). */
static bool nnpu_irq_ignored(struct nnpu_device *ndev)
{
	return READ_ONCE(ndev->irqs_ignored);
}

/*
 * Vector 0: admin completions. A device that becomes FATAL raises it once; the watchdog
 * then reads STATUS.
 */
static irqreturn_t nnpu_irq_admin(int irq, void *data)
{
	struct nnpu_irq *vector = data;
	struct nnpu_device *ndev = vector->ndev;

	if (nnpu_irq_ignored(ndev))
		return IRQ_HANDLED;
	nnpu_admin_process(ndev);
	if (nnpu_read(ndev, NNPU_REG_STATUS) & NNPU_STATUS_REG_FATAL)
		nnpu_queue_kick_watchdog(&ndev->queue, true);
	return IRQ_HANDLED;
}

/* An interrupt without completion: the device may have stopped the queue. */
static irqreturn_t nnpu_irq_kernel(int irq, void *data)
{
	struct nnpu_irq *vector = data;
	struct nnpu_device *ndev = vector->ndev;

	if (nnpu_irq_ignored(ndev))
		return IRQ_HANDLED;
	if (!nnpu_queue_process(&ndev->queue))
		nnpu_queue_kick_watchdog(&ndev->queue, true);
	return IRQ_HANDLED;
}

static irqreturn_t nnpu_irq_user(int irq, void *data)
{
	struct nnpu_irq *vector = data;
	struct nnpu_device *ndev = vector->ndev;

	if (nnpu_irq_ignored(ndev))
		return IRQ_HANDLED;
	nnpu_userq_hw_irq(ndev, vector - ndev->irqs);
	return IRQ_HANDLED;
}

/* The kernel queue and all user queues. */
static irqreturn_t nnpu_irq_queues(int irq, void *data)
{
	struct nnpu_irq *vector = data;
	struct nnpu_device *ndev = vector->ndev;

	if (nnpu_irq_ignored(ndev))
		return IRQ_HANDLED;
	if (!nnpu_queue_process(&ndev->queue) &&
	    nnpu_read_queue(ndev, NNPU_QID_KERNEL, NNPU_QREG_STATE) == NNPU_QSTATE_STOPPED)
		nnpu_queue_kick_watchdog(&ndev->queue, true);
	nnpu_userq_hw_irq(ndev, vector - ndev->irqs);
	return IRQ_HANDLED;
}

static irqreturn_t nnpu_irq_shared(int irq, void *data)
{
	struct nnpu_irq *vector = data;
	struct nnpu_device *ndev = vector->ndev;

	if (nnpu_irq_ignored(ndev))
		return IRQ_HANDLED;
	nnpu_queue_process(&ndev->queue);
	nnpu_userq_hw_irq(ndev, vector - ndev->irqs);
	nnpu_admin_process(ndev);
	/* One vector for everything: the cause is unknown, so check all. */
	if (nnpu_read(ndev, NNPU_REG_STATUS) & NNPU_STATUS_REG_FATAL ||
	    nnpu_read_queue(ndev, NNPU_QID_KERNEL, NNPU_QREG_STATE) == NNPU_QSTATE_STOPPED)
		nnpu_queue_kick_watchdog(&ndev->queue, true);
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

/* The handler of a vector depends on the number of vectors. */
static irq_handler_t nnpu_irq_handler(struct nnpu_device *ndev, unsigned int vector,
				      const char **name)
{
	*name = "nnpu";
	if (ndev->num_irqs == 1)
		return nnpu_irq_shared;
	if (vector == NNPU_IRQ_ADMIN) {
		*name = "nnpu-admin";
		return nnpu_irq_admin;
	}
	if (ndev->num_irqs == 2) {
		*name = "nnpu-queues";
		return nnpu_irq_queues;
	}
	*name = vector == NNPU_IRQ_KERNEL ? "nnpu-kernel" : "nnpu-user";
	return vector == NNPU_IRQ_KERNEL ? nnpu_irq_kernel : nnpu_irq_user;
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
		const char *name;
		irq_handler_t handler = nnpu_irq_handler(ndev, i, &name);

		ndev->irqs[i].ndev = ndev;
		ret = request_irq(ndev->irqs[i].number, handler, 0, name, &ndev->irqs[i]);
		if (ret) {
			nnpu_irq_free(ndev);
			return ret;
		}
		ndev->irqs_requested++;
	}
	return 0;
}
