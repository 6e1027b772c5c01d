// SPDX-License-Identifier: MIT
/* The interrupt line of a platform device: status, acknowledgement, mask, reset. */
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "core/device_model.h"
#include "nnpu_hw.h"
#include "tap.h"

static atomic_bool line;

static int no_memory(void *bus, uint64_t addr, void *buf, size_t len)
{
	(void)bus;
	(void)addr;
	(void)buf;
	(void)len;
	return -1;
}

static int no_memory_write(void *bus, uint64_t addr, const void *buf, size_t len)
{
	(void)bus;
	(void)addr;
	(void)buf;
	(void)len;
	return -1;
}

static void set_irq_level(void *bus, bool level)
{
	(void)bus;
	atomic_store(&line, level);
}

static uint64_t now_ns(void *bus)
{
	struct timespec ts;

	(void)bus;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static const struct nnpu_bus_ops bus_ops = {
	.dma_read = no_memory,
	.dma_write = no_memory_write,
	.dma_publish = no_memory_write,
	.set_irq_level = set_irq_level,
	.now_ns = now_ns,
};

static uint32_t get(struct nnpu_device *dev, uint32_t reg)
{
	return nnpu_device_reg_read(dev, reg, 4);
}

static void set(struct nnpu_device *dev, uint32_t reg, uint32_t value)
{
	nnpu_device_reg_write(dev, reg, value, 4);
}

/* Rings that are not aligned make the device FATAL, which raises vector 0. */
static void make_fatal(struct nnpu_device *dev)
{
	set(dev, NNPU_REG_ADMIN_SQ_LO, 4);
	set(dev, NNPU_REG_CTRL, NNPU_CTRL_ENABLE);
}

static void await_reset(struct nnpu_device *dev)
{
	/* The control thread comes to it; a test that waits for ever is seen. */
	while (get(dev, NNPU_REG_STATUS) & NNPU_STATUS_REG_RESETTING)
		;
}

static void test_line(struct nnpu_device *dev)
{
	ok(!atomic_load(&line) && !get(dev, NNPU_REG_IRQ_STATUS), "the line is low at first");
	make_fatal(dev);
	ok(get(dev, NNPU_REG_STATUS) & NNPU_STATUS_REG_FATAL, "FATAL");
	ok(get(dev, NNPU_REG_IRQ_STATUS) == 1, "vector 0 is raised");
	ok(atomic_load(&line), "the line is high");
	set(dev, NNPU_REG_IRQ_STATUS, 2);
	ok(atomic_load(&line) && get(dev, NNPU_REG_IRQ_STATUS) == 1,
	   "acknowledging another vector does nothing");
	set(dev, NNPU_REG_IRQ_MASK, 1);
	ok(!atomic_load(&line) && get(dev, NNPU_REG_IRQ_STATUS) == 1,
	   "a masked vector stays raised, the line goes low");
	ok(get(dev, NNPU_REG_IRQ_MASK) == 1, "the mask reads back");
	set(dev, NNPU_REG_IRQ_MASK, 2);
	ok(atomic_load(&line), "the line is high again without the mask");
	set(dev, NNPU_REG_IRQ_STATUS, 1);
	ok(!atomic_load(&line) && !get(dev, NNPU_REG_IRQ_STATUS), "acknowledged: the line is low");
}

static void test_reset(struct nnpu_device *dev)
{
	set(dev, NNPU_REG_CTRL, NNPU_CTRL_RESET);
	await_reset(dev);
	set(dev, NNPU_REG_IRQ_MASK, 0);
	make_fatal(dev);
	ok(atomic_load(&line), "raised once more");
	nnpu_device_power_on_reset(dev);
	await_reset(dev);
	ok(!atomic_load(&line) && !get(dev, NNPU_REG_IRQ_STATUS) && !get(dev, NNPU_REG_IRQ_MASK),
	   "a reset clears status and mask, and the line is low");
}

int main(void)
{
	struct nnpu_device_props props;
	struct nnpu_device *dev;
	char error[128] = "";

	nnpu_device_default_props(&props);
	props.platform_irq = true;
	props.num_vectors = NNPU_PLATFORM_VECTORS;
	dev = nnpu_device_create(&props, &bus_ops, NULL, error, sizeof(error));
	ok(dev, "a platform device: %s", error);
	if (dev) {
		test_line(dev);
		test_reset(dev);
	}
	nnpu_device_destroy(dev);
	return tap_done();
}
