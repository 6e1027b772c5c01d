// SPDX-License-Identifier: GPL-2.0-only
/* PCI: maps the parts of the device, and calls the functions that know no bus. */
#include <linux/delay.h>
#include <linux/iopoll.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/pm_runtime.h>

#include <drm/drm_drv.h>

#include "nnpu_device.h"
#include "nnpu_drv.h"
#include "nnpu_pause.h"
#include "nnpu_pci.h"
#include "nnpu_probe.h"
#include "nnpu_unplug.h"

static void nnpu_pci_start_dma(struct nnpu_device *ndev)
{
	WRITE_ONCE(ndev->dma_stopped, false);
	pci_set_master(to_pci_dev(ndev->drm.dev));
}

/* An access that is in progress ends within 10 ms; the machine may be a busy virtual one. */
#define NNPU_PCI_DMA_MS	1000
#define NNPU_PCI_BLIND_DMA_MS	100

/* No access begins any more: wait until none is in progress. */
static void nnpu_pci_await_dma(struct nnpu_device *ndev)
{
	u32 status;

	/* Without registers nothing tells. */
	if (nnpu_read(ndev, NNPU_REG_ID) != NNPU_ID_MAGIC)
		msleep(NNPU_PCI_BLIND_DMA_MS);
	/* The answer to a read comes after the writes that the device has posted. */
	else if (read_poll_timeout(nnpu_read, status, !(status & NNPU_STATUS_REG_DMA), 50,
				   NNPU_PCI_DMA_MS * USEC_PER_MSEC, false, ndev,
				   NNPU_REG_STATUS))
		drm_err(&ndev->drm, "the device accesses memory without being a bus master\n");
}

static void nnpu_pci_stop_dma(struct nnpu_device *ndev)
{
	struct pci_dev *pdev = to_pci_dev(ndev->drm.dev);
	u16 command;

	WRITE_ONCE(ndev->dma_stopped, true);
	/* Pairs with the barriers in nnpu_pci_runtime_suspend() and nnpu_pci_runtime_resume(). */
	smp_mb();
	pci_clear_master(pdev);
	pci_read_config_word(pdev, PCI_COMMAND, &command);
	/* There is no device. What was saved of it before stays. */
	if (PCI_POSSIBLE_ERROR(command))
		return;
	/*
	 * The PCI core restores at runtime resume what was saved last. A suspend that begins later
	 * sees the mark, and so does a resume, in the end.
	 */
	if (!pm_runtime_active(&pdev->dev) || pm_runtime_status_suspended(&pdev->dev))
		pci_save_state(pdev);
	nnpu_pci_await_dma(ndev);
}

/* Also keeps the port above on: without power the device would lose its state. */
static void nnpu_pci_keep_state(struct nnpu_device *ndev)
{
	pci_d3cold_disable(to_pci_dev(ndev->drm.dev));
}

/*
 * The device stays in D0: the PCI core leaves the power state alone if the driver has saved the
 * configuration itself.
 */
static void nnpu_pci_runtime_suspend(struct nnpu_device *ndev)
{
	struct pci_dev *pdev = to_pci_dev(ndev->drm.dev);

	pci_save_state(pdev);
	/* Pairs with the barrier in nnpu_pci_stop_dma(), which reads the state of runtime PM. */
	smp_mb();
	/* Bus mastering may have been stopped while it was saved. */
	if (READ_ONCE(ndev->dma_stopped)) {
		pci_clear_master(pdev);
		pci_save_state(pdev);
	}
}

static void nnpu_pci_runtime_resume(struct nnpu_device *ndev)
{
	/* The PCI core has restored the configuration before the mark is read. */
	smp_mb();
	if (READ_ONCE(ndev->dma_stopped))
		nnpu_pci_stop_dma(ndev);
}

static const struct nnpu_bus_ops nnpu_pci_ops = {
	.start_dma = nnpu_pci_start_dma,
	.stop_dma = nnpu_pci_stop_dma,
	.keep_state = nnpu_pci_keep_state,
	.suspend = nnpu_pci_runtime_suspend,
	.resume = nnpu_pci_runtime_resume,
};

static int nnpu_pci_map(struct nnpu_device *ndev, struct pci_dev *pdev)
{
	int ret;

	ret = pcim_enable_device(pdev);
	if (ret)
		return ret;
	if (pci_resource_len(pdev, NNPU_PCI_BAR_REGS) < NNPU_REGS_SIZE)
		return -ENODEV;
	ret = pcim_request_all_regions(pdev, NNPU_DRIVER_NAME);
	if (ret)
		return ret;
	ndev->regs = pcim_iomap(pdev, NNPU_PCI_BAR_REGS, 0);
	ndev->doorbells = pcim_iomap(pdev, NNPU_PCI_BAR_DOORBELL, 0);
	if (!ndev->regs || !ndev->doorbells)
		return -ENOMEM;
	ndev->doorbells_size = pci_resource_len(pdev, NNPU_PCI_BAR_DOORBELL);
	ndev->doorbells_phys = pci_resource_start(pdev, NNPU_PCI_BAR_DOORBELL);
	return 0;
}

static int nnpu_pci_irqs(struct nnpu_device *ndev, struct pci_dev *pdev)
{
	int count = pci_alloc_irq_vectors(pdev, 1, ARRAY_SIZE(ndev->irqs),
					  PCI_IRQ_MSIX | PCI_IRQ_MSI);
	int i;

	if (count < 0)
		return count;
	ndev->num_irqs = count;
	for (i = 0; i < count; i++)
		ndev->irqs[i].number = pci_irq_vector(pdev, i);
	return 0;
}

static int nnpu_pci_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct nnpu_device *ndev;
	int ret;

	ndev = devm_drm_dev_alloc(&pdev->dev, &nnpu_drm_driver, struct nnpu_device, drm);
	if (IS_ERR(ndev))
		return PTR_ERR(ndev);
	pci_set_drvdata(pdev, ndev);
	ndev->bus = &nnpu_pci_ops;

	ret = nnpu_pci_map(ndev, pdev);
	if (ret)
		return ret;
	ret = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (ret)
		return ret;
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	ret = nnpu_pci_irqs(ndev, pdev);
	if (ret)
		return ret;
	return nnpu_probe(ndev);
}

static void nnpu_pci_remove(struct pci_dev *pdev)
{
	nnpu_remove(pci_get_drvdata(pdev));
}

/* A reset of the function through sysfs or by a virtual machine monitor. */
static void nnpu_pci_reset_prepare(struct pci_dev *pdev)
{
	/* Runtime PM would save the configuration of a function that was just reset. */
	nnpu_power_get(pci_get_drvdata(pdev));
	nnpu_pause_begin(pci_get_drvdata(pdev));
}

static void nnpu_pci_reset_done(struct pci_dev *pdev)
{
	nnpu_pause_end(pci_get_drvdata(pdev));
	nnpu_power_put(pci_get_drvdata(pdev));
}

static const struct pci_error_handlers nnpu_pci_error_handlers = {
	.reset_prepare = nnpu_pci_reset_prepare,
	.reset_done = nnpu_pci_reset_done,
};

/* kexec and power-off: the device must not write to memory of the next kernel. */
static void nnpu_pci_shutdown(struct pci_dev *pdev)
{
	nnpu_unplug(pci_get_drvdata(pdev));
}

static const struct pci_device_id nnpu_pci_ids[] = {
	{ PCI_DEVICE(NNPU_PCI_VENDOR_ID, NNPU_PCI_DEVICE_ID) },
	{ }
};
MODULE_DEVICE_TABLE(pci, nnpu_pci_ids);

static struct pci_driver nnpu_pci_driver = {
	.name = NNPU_DRIVER_NAME,
	.id_table = nnpu_pci_ids,
	.probe = nnpu_pci_probe,
	.remove = nnpu_pci_remove,
	.shutdown = nnpu_pci_shutdown,
	.err_handler = &nnpu_pci_error_handlers,
	.dev_groups = nnpu_power_groups,
	.driver.pm = pm_ptr(&nnpu_power_pm_ops),
};

/**
 * nnpu_pci_register - register the PCI driver
 *
 * Return: 0 or a negative errno.
 */
int nnpu_pci_register(void)
{
	return pci_register_driver(&nnpu_pci_driver);
}

/**
 * nnpu_pci_unregister - unregister the PCI driver
 */
void nnpu_pci_unregister(void)
{
	pci_unregister_driver(&nnpu_pci_driver);
}
