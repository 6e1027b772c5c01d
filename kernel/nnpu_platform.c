// SPDX-License-Identifier: GPL-2.0-only
/*
 * Platform devices, described by a device tree (dts/bindings/nnpu,nnpu-2.yaml): maps the parts of
 * the device, and calls the functions that know no bus.
 *
 * There is no bus mastering to turn off. What keeps a device from memory is its reset line, so the
 * device has to have one.
 */
#include <linux/clk.h>
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/of_reserved_mem.h>
#include <linux/platform_device.h>
#include <linux/pm_domain.h>
#include <linux/pm_runtime.h>
#include <linux/reset.h>

#include <drm/drm_drv.h>
#include <drm/drm_print.h>

#include "nnpu_device.h"
#include "nnpu_drv.h"
#include "nnpu_platform.h"
#include "nnpu_probe.h"
#include "nnpu_unplug.h"

/* How long a reset takes, with the clock running. */
#define NNPU_PLATFORM_RESET_US	10

/**
 * struct nnpu_platform - what a board has around a device
 * @clks: clocks
 * @num_clks: entries of @clks, at least 1
 * @reset: reset line
 * @powered: the clocks run
 * @held: there is no runtime suspend: the power domain cannot be kept on
 */
struct nnpu_platform {
	struct clk_bulk_data *clks;
	int num_clks;
	struct reset_control *reset;
	bool powered;
	bool held;
};

static void nnpu_platform_pulse(struct nnpu_device *ndev)
{
	struct nnpu_platform *p = ndev->bus_data;

	reset_control_assert(p->reset);
	fsleep(NNPU_PLATFORM_RESET_US);
	reset_control_deassert(p->reset);
}

static int nnpu_platform_power_on(struct nnpu_device *ndev)
{
	struct nnpu_platform *p = ndev->bus_data;
	int ret;

	ret = clk_bulk_prepare_enable(p->num_clks, p->clks);
	if (ret)
		return ret;
	p->powered = true;
	nnpu_platform_pulse(ndev);
	return 0;
}

/* A device in reset accesses no memory, with clock or without. */
static void nnpu_platform_stop_dma(struct nnpu_device *ndev)
{
	struct nnpu_platform *p = ndev->bus_data;
	int ret = reset_control_assert(p->reset);

	/* It has stopped if it did what the registers asked for. */
	if (ret)
		drm_err(&ndev->drm, "the reset line does not work: %d\n", ret);
}

static void nnpu_platform_power_off(struct nnpu_device *ndev)
{
	struct nnpu_platform *p = ndev->bus_data;

	nnpu_platform_stop_dma(ndev);
	if (p->powered)
		clk_bulk_disable_unprepare(p->num_clks, p->clks);
	p->powered = false;
}

static void nnpu_platform_keep_state(struct nnpu_device *ndev)
{
	struct nnpu_platform *p = ndev->bus_data;
	struct device *dev = ndev->drm.dev;
	int ret = dev->pm_domain ? dev_pm_genpd_rpm_always_on(dev, true) : 0;

	if (!ret)
		return;
	drm_warn(&ndev->drm, "the power domain cannot be kept on (%d): no runtime suspend\n", ret);
	pm_runtime_get_noresume(dev);
	p->held = true;
}

static const struct nnpu_bus_ops nnpu_platform_ops = {
	.power_on = nnpu_platform_power_on,
	.power_off = nnpu_platform_power_off,
	.reset = nnpu_platform_pulse,
	.stop_dma = nnpu_platform_stop_dma,
	.keep_state = nnpu_platform_keep_state,
};

static int nnpu_platform_map(struct nnpu_device *ndev, struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	struct resource *res;

	ndev->regs = devm_platform_get_and_ioremap_resource(pdev, 0, &res);
	if (IS_ERR(ndev->regs))
		return dev_err_probe(dev, PTR_ERR(ndev->regs), "no registers\n");
	if (resource_size(res) < NNPU_REGS_SIZE)
		return dev_err_probe(dev, -EINVAL, "registers have %#llx bytes, must have %#x\n",
				     (u64)resource_size(res), NNPU_REGS_SIZE);
	ndev->doorbells = devm_platform_get_and_ioremap_resource(pdev, 1, &res);
	if (IS_ERR(ndev->doorbells))
		return dev_err_probe(dev, PTR_ERR(ndev->doorbells), "no doorbells\n");
	ndev->doorbells_size = resource_size(res);
	ndev->doorbells_phys = res->start;
	return 0;
}

/* What belongs to other drivers, which may come later: -EPROBE_DEFER. */
static int nnpu_platform_supplies(struct nnpu_platform *p, struct device *dev)
{
	p->num_clks = devm_clk_bulk_get_all(dev, &p->clks);
	if (p->num_clks < 0)
		return dev_err_probe(dev, p->num_clks, "clocks\n");
	if (!p->num_clks)
		return dev_err_probe(dev, -EINVAL, "no clock in the device tree\n");
	p->reset = devm_reset_control_get_exclusive(dev, NULL);
	if (IS_ERR(p->reset))
		return dev_err_probe(dev, PTR_ERR(p->reset),
				     "no reset line, which is all that keeps a device from memory\n");
	return 0;
}

static void nnpu_platform_release_memory(void *data)
{
	of_reserved_mem_device_release(data);
}

/* Optional. Memory that is reserved, but of no use in this kernel, is no reason to fail. */
static int nnpu_platform_memory(struct device *dev)
{
	int ret = of_reserved_mem_device_init(dev);

	if (!ret)
		return devm_add_action_or_reset(dev, nnpu_platform_release_memory, dev);
	if (ret != -ENODEV)
		dev_warn(dev, "memory-region cannot be used (%d)%s, taking other memory\n", ret,
			 IS_ENABLED(CONFIG_DMA_CMA) ? "" : ", this kernel has no CMA");
	return 0;
}

static void nnpu_platform_pm_end(void *data)
{
	struct nnpu_device *ndev = data;
	struct nnpu_platform *p = ndev->bus_data;
	struct device *dev = ndev->drm.dev;

	if (p->held)
		pm_runtime_put_noidle(dev);
	pm_runtime_disable(dev);
	pm_runtime_set_suspended(dev);
	pm_runtime_put_noidle(dev);
}

/* The device is on, and stays so until nnpu_power_enable() drops the reference. */
static int nnpu_platform_pm_begin(struct nnpu_device *ndev)
{
	struct device *dev = ndev->drm.dev;

	pm_runtime_get_noresume(dev);
	pm_runtime_set_active(dev);
	pm_runtime_enable(dev);
	return devm_add_action_or_reset(dev, nnpu_platform_pm_end, ndev);
}

static void nnpu_platform_off(void *data)
{
	nnpu_platform_power_off(data);
}

static int nnpu_platform_prepare(struct nnpu_device *ndev, struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	int ret;

	ret = nnpu_platform_map(ndev, pdev);
	if (ret)
		return ret;
	/* It says itself what is wrong. */
	ret = platform_get_irq(pdev, 0);
	if (ret < 0)
		return ret;
	ndev->irq_line = ret;
	ndev->num_irqs = min(NNPU_PLATFORM_VECTORS, ARRAY_SIZE(ndev->irqs));
	ret = nnpu_platform_supplies(ndev->bus_data, dev);
	if (ret)
		return ret;
	ret = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64));
	if (ret)
		return dev_err_probe(dev, ret, "no DMA\n");
	dma_set_max_seg_size(dev, UINT_MAX);
	ret = nnpu_platform_memory(dev);
	if (ret)
		return ret;
	ret = nnpu_platform_pm_begin(ndev);
	if (ret)
		return ret;
	ret = nnpu_platform_power_on(ndev);
	if (ret)
		return dev_err_probe(dev, ret, "the clocks do not start\n");
	return devm_add_action_or_reset(dev, nnpu_platform_off, ndev);
}

static int nnpu_platform_probe(struct platform_device *pdev)
{
	struct nnpu_device *ndev;
	int ret;

	ndev = devm_drm_dev_alloc(&pdev->dev, &nnpu_drm_driver, struct nnpu_device, drm);
	if (IS_ERR(ndev))
		return PTR_ERR(ndev);
	platform_set_drvdata(pdev, ndev);
	ndev->bus = &nnpu_platform_ops;
	ndev->bus_data = devm_kzalloc(&pdev->dev, sizeof(struct nnpu_platform), GFP_KERNEL);
	if (!ndev->bus_data)
		return -ENOMEM;
	ret = nnpu_platform_prepare(ndev, pdev);
	if (ret)
		return ret;
	return nnpu_probe(ndev);
}

static void nnpu_platform_remove(struct platform_device *pdev)
{
	nnpu_remove(platform_get_drvdata(pdev));
}

/* kexec and power-off: the device must not write to memory of the next kernel. */
static void nnpu_platform_shutdown(struct platform_device *pdev)
{
	nnpu_unplug(platform_get_drvdata(pdev));
}

static const struct of_device_id nnpu_platform_ids[] = {
	{ .compatible = "nnpu,nnpu-2" },
	{ }
};
MODULE_DEVICE_TABLE(of, nnpu_platform_ids);

static struct platform_driver nnpu_platform_driver = {
	.probe = nnpu_platform_probe,
	.remove = nnpu_platform_remove,
	.shutdown = nnpu_platform_shutdown,
	.driver = {
		.name = NNPU_DRIVER_NAME,
		.of_match_table = nnpu_platform_ids,
		.dev_groups = nnpu_power_groups,
		.pm = pm_ptr(&nnpu_power_pm_ops),
	},
};

/**
 * nnpu_platform_register - register the platform driver
 *
 * Return: 0 or a negative errno.
 */
int nnpu_platform_register(void)
{
	return platform_driver_register(&nnpu_platform_driver);
}

/**
 * nnpu_platform_unregister - unregister the platform driver
 */
void nnpu_platform_unregister(void)
{
	platform_driver_unregister(&nnpu_platform_driver);
}
