// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * NNPU as a platform device of QEMU 7.2: two memory regions, an interrupt, a reset line, a clock
 * and a power domain, as Documentation/hardware/registers.rst has them.
 *
 * A machine creates it; nnpu-virt.c does for -M virt.
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/main-loop.h"
#include "qemu/module.h"
#include "qapi/error.h"
#include "exec/address-spaces.h"
#include "hw/irq.h"
#include "migration/vmstate.h"

#include "nnpu-glue.h"
#include "nnpu-sysbus.h"
#include "nnpu_hw.h"

/* Vectors are bits of IRQ_STATUS. */
#define MAX_VECTORS NNPU_PLATFORM_VECTORS

OBJECT_DECLARE_SIMPLE_TYPE(NnpuSysbusState, NNPU_SYSBUS)

struct NnpuSysbusState {
	SysBusDevice parent_obj;

	NnpuGlue glue;
	qemu_irq irq;
	bool irq_level;			/* what the line follows, atomic */
	/* BQL. */
	bool in_reset;
	bool no_clock;
	bool no_power;
	bool off;			/* in reset or without power: it has no state */
};

static void nnpu_sysbus_irq_bh(void *opaque)
{
	NnpuSysbusState *s = opaque;

	if (s->glue.is_stopped)
		return;
	qemu_set_irq(s->irq, qatomic_read(&s->irq_level));
}

/*
 * A thread of the device, or a vCPU in a register access. The vCPU holds the BQL, and its
 * acknowledgement has to lower the line before it ends the interrupt.
 */
static void nnpu_sysbus_set_irq_level(void *bus, bool level)
{
	NnpuSysbusState *s = container_of(bus, NnpuSysbusState, glue);

	qatomic_set(&s->irq_level, level);
	if (qemu_mutex_iothread_locked())
		nnpu_sysbus_irq_bh(s);
	else
		qemu_bh_schedule(s->glue.irq_bh);
}

static const struct nnpu_bus_ops nnpu_sysbus_bus_ops = {
	NNPU_GLUE_BUS_OPS,
	.set_irq_level = nnpu_sysbus_set_irq_level,
};

/*
 * The level of a line has changed. When this returns, a device in reset or without power accesses
 * no memory, and has lost its state.
 */
static void nnpu_sysbus_update(NnpuSysbusState *s)
{
	bool off = s->in_reset || s->no_power;

	s->glue.deaf = off || s->no_clock;
	if (s->off == off)
		return;
	s->off = off;
	/* Ends everything in the background. */
	if (off)
		nnpu_glue_power_on_reset(&s->glue);
}

static void nnpu_sysbus_reset_line(void *opaque, int n, int level)
{
	NnpuSysbusState *s = opaque;

	s->in_reset = level;
	nnpu_sysbus_update(s);
}

static void nnpu_sysbus_clock_line(void *opaque, int n, int level)
{
	NnpuSysbusState *s = opaque;

	s->no_clock = !level;
	nnpu_sysbus_update(s);
}

static void nnpu_sysbus_power_line(void *opaque, int n, int level)
{
	NnpuSysbusState *s = opaque;

	s->no_power = !level;
	nnpu_sysbus_update(s);
}

static void nnpu_sysbus_realize(DeviceState *dev, Error **errp)
{
	NnpuSysbusState *s = NNPU_SYSBUS(dev);
	SysBusDevice *sbd = SYS_BUS_DEVICE(dev);
	struct nnpu_device_props props;

	if (!nnpu_glue_init(&s->glue, OBJECT(s), MAX_VECTORS, &props, errp))
		return;
	/* The driver takes all of them: nothing tells it their number. */
	props.num_vectors = MAX_VECTORS;
	props.platform_irq = true;
	s->glue.irq_bh = qemu_bh_new(nnpu_sysbus_irq_bh, s);
	if (!nnpu_glue_start(&s->glue, &props, &nnpu_sysbus_bus_ops, &address_space_memory, errp)) {
		qemu_bh_delete(s->glue.irq_bh);
		return;
	}
	sysbus_init_mmio(sbd, &s->glue.regs);
	sysbus_init_mmio(sbd, &s->glue.doorbells);
	sysbus_init_irq(sbd, &s->irq);
	qdev_init_gpio_in_named(dev, nnpu_sysbus_reset_line, NNPU_SYSBUS_RESET, 1);
	qdev_init_gpio_in_named(dev, nnpu_sysbus_clock_line, NNPU_SYSBUS_CLOCK, 1);
	qdev_init_gpio_in_named(dev, nnpu_sysbus_power_line, NNPU_SYSBUS_POWER, 1);
}

/* Reset of the machine. Lines belong to who drives them. */
static void nnpu_sysbus_reset(DeviceState *dev)
{
	NnpuSysbusState *s = NNPU_SYSBUS(dev);

	nnpu_glue_power_on_reset(&s->glue);
}

void nnpu_sysbus_set_props(SysBusDevice *sbd, const NnpuGlueProps *props)
{
	NNPU_SYSBUS(sbd)->glue.props = *props;
}

static Property nnpu_sysbus_properties[] = {
	DEFINE_NNPU_PROPERTIES(NnpuSysbusState, glue.props),
	DEFINE_PROP_END_OF_LIST(),
};

static const VMStateDescription vmstate_nnpu_sysbus = {
	.name = TYPE_NNPU_SYSBUS,
	.unmigratable = 1,
};

static void nnpu_sysbus_class_init(ObjectClass *class, void *data)
{
	DeviceClass *dc = DEVICE_CLASS(class);

	dc->realize = nnpu_sysbus_realize;
	dc->desc = "Neural network processing unit (NN HAL 1.3), platform device";
	dc->reset = nnpu_sysbus_reset;
	dc->vmsd = &vmstate_nnpu_sysbus;
	/* There is no way to take it out of a machine. */
	dc->hotpluggable = false;
	device_class_set_props(dc, nnpu_sysbus_properties);
	set_bit(DEVICE_CATEGORY_MISC, dc->categories);
}

static const TypeInfo nnpu_sysbus_info = {
	.name = TYPE_NNPU_SYSBUS,
	.parent = TYPE_SYS_BUS_DEVICE,
	.instance_size = sizeof(NnpuSysbusState),
	.class_init = nnpu_sysbus_class_init,
};

static void nnpu_sysbus_register_types(void)
{
	type_register_static(&nnpu_sysbus_info);
}

type_init(nnpu_sysbus_register_types)
