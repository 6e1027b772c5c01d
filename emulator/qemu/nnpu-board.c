// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a board has around an NNPU, as devices that Linux has drivers for:
 *
 *   nnpu-reset-control   register 0, bit 0: the line is asserted ("snps,dw-high-reset")
 *   nnpu-power-domain    register 0, bits 0 to 2: all set to turn the domain on, clear to turn it
 *                        off; register 4: what it is, at once ("samsung,exynos4210-pd")
 */
#include "qemu/osdep.h"
#include "hw/irq.h"
#include "hw/sysbus.h"
#include "qemu/module.h"

#include "nnpu-board.h"

#define RESET_CONTROL_LINE	(1u << 0)

#define POWER_DOMAIN_CONFIG	0x0
#define POWER_DOMAIN_STATUS	0x4
#define POWER_DOMAIN_ON		0x7u

/* One register and the line that follows it. */
typedef struct NnpuBoardState {
	SysBusDevice parent_obj;

	MemoryRegion regs;
	qemu_irq line;
	uint32_t value;
} NnpuBoardState;

DECLARE_INSTANCE_CHECKER(NnpuBoardState, NNPU_RESET_CONTROL, TYPE_NNPU_RESET_CONTROL)
DECLARE_INSTANCE_CHECKER(NnpuBoardState, NNPU_POWER_DOMAIN, TYPE_NNPU_POWER_DOMAIN)

static void board_realize(NnpuBoardState *s, const MemoryRegionOps *ops, const char *name)
{
	memory_region_init_io(&s->regs, OBJECT(s), ops, s, name, NNPU_BOARD_MMIO_SIZE);
	sysbus_init_mmio(SYS_BUS_DEVICE(s), &s->regs);
	qdev_init_gpio_out(DEVICE(s), &s->line, 1);
}

/* Reset controller. */

static uint64_t reset_control_read(void *opaque, hwaddr addr, unsigned int size)
{
	NnpuBoardState *s = opaque;

	return addr ? 0 : s->value;
}

static void reset_control_set(NnpuBoardState *s, uint32_t value)
{
	s->value = value & RESET_CONTROL_LINE;
	qemu_set_irq(s->line, s->value);
}

static void reset_control_write(void *opaque, hwaddr addr, uint64_t value, unsigned int size)
{
	if (!addr)
		reset_control_set(opaque, value);
}

static const MemoryRegionOps reset_control_ops = {
	.read = reset_control_read,
	.write = reset_control_write,
	.endianness = DEVICE_LITTLE_ENDIAN,
	.valid = { .min_access_size = 4, .max_access_size = 4 },
};

static void reset_control_reset(DeviceState *dev)
{
	reset_control_set(NNPU_RESET_CONTROL(dev), RESET_CONTROL_LINE);
}

static void reset_control_realize(DeviceState *dev, Error **errp)
{
	board_realize(NNPU_RESET_CONTROL(dev), &reset_control_ops, TYPE_NNPU_RESET_CONTROL);
}

static void reset_control_class_init(ObjectClass *class, void *data)
{
	DeviceClass *dc = DEVICE_CLASS(class);

	dc->realize = reset_control_realize;
	dc->reset = reset_control_reset;
	dc->hotpluggable = false;
}

/* Power domain. */

static uint64_t power_domain_read(void *opaque, hwaddr addr, unsigned int size)
{
	NnpuBoardState *s = opaque;

	return addr == POWER_DOMAIN_CONFIG || addr == POWER_DOMAIN_STATUS ? s->value : 0;
}

static void power_domain_set(NnpuBoardState *s, uint32_t value)
{
	s->value = value & POWER_DOMAIN_ON;
	qemu_set_irq(s->line, s->value == POWER_DOMAIN_ON);
}

static void power_domain_write(void *opaque, hwaddr addr, uint64_t value, unsigned int size)
{
	if (addr == POWER_DOMAIN_CONFIG)
		power_domain_set(opaque, value);
}

static const MemoryRegionOps power_domain_ops = {
	.read = power_domain_read,
	.write = power_domain_write,
	.endianness = DEVICE_LITTLE_ENDIAN,
	.valid = { .min_access_size = 4, .max_access_size = 4 },
};

static void power_domain_reset(DeviceState *dev)
{
	power_domain_set(NNPU_POWER_DOMAIN(dev), 0);
}

static void power_domain_realize(DeviceState *dev, Error **errp)
{
	board_realize(NNPU_POWER_DOMAIN(dev), &power_domain_ops, TYPE_NNPU_POWER_DOMAIN);
}

static void power_domain_class_init(ObjectClass *class, void *data)
{
	DeviceClass *dc = DEVICE_CLASS(class);

	dc->realize = power_domain_realize;
	dc->reset = power_domain_reset;
	dc->hotpluggable = false;
}

static const TypeInfo nnpu_board_types[] = {
	{
		.name = TYPE_NNPU_RESET_CONTROL,
		.parent = TYPE_SYS_BUS_DEVICE,
		.instance_size = sizeof(NnpuBoardState),
		.class_init = reset_control_class_init,
	}, {
		.name = TYPE_NNPU_POWER_DOMAIN,
		.parent = TYPE_SYS_BUS_DEVICE,
		.instance_size = sizeof(NnpuBoardState),
		.class_init = power_domain_class_init,
	},
};

DEFINE_TYPES(nnpu_board_types)
