// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * NNPU on the platform bus of -M virt (aarch64).
 *
 *   -device nnpu-platform[,coherent=off][,power-domain=on][,pool=SIZE][,reusable=on]
 *           [,omit=PROPERTY][,reg-size=SIZE] and the properties of nnpu-pci
 *
 * It creates the platform device and what a board has around it, and describes all of it in the
 * device tree of the machine:
 *
 *   - a reset controller (nnpu-board.c)
 *   - with power-domain=on, a power domain that is off at power-on (nnpu-board.c)
 *   - a gate of the clock, line 0 of the machine's GPIO controller, closed at power-on. A second
 *     device has a clock that always runs
 *   - with pool, reserved memory of that size, for the CPU as well if reusable=on
 *
 * The last two properties make nodes as they should not be: without a property, or with too small
 * a register window.
 *
 * A dynamic sysbus device needs entries in tables of QEMU. This is a device of no bus, which needs
 * none. The sysbus device must not be its child, where QEMU would look for dynamic ones.
 */
#include "qemu/osdep.h"
#include "qemu/module.h"
#include "qapi/error.h"
#include "hw/arm/fdt.h"
#include "hw/arm/virt.h"
#include "hw/irq.h"
#include "hw/platform-bus.h"
#include "sysemu/device_tree.h"

#include <libfdt.h>

#include "nnpu-board.h"
#include "nnpu-sysbus.h"

#define TYPE_NNPU_PLATFORM "nnpu-platform"
OBJECT_DECLARE_SIMPLE_TYPE(NnpuPlatformState, NNPU_PLATFORM)

/* As the specification has it. */
#define REGISTERS_SIZE		(64 * KiB)

/* Line of the machine's GPIO controller. */
#define CLOCK_GPIO	0

struct NnpuPlatformState {
	DeviceState parent_obj;

	NnpuGlueProps props;
	bool coherent;
	bool power_domain;
	uint64_t pool;
	bool reusable;
	char *omit;
	uint64_t reg_size;
};

/* Device tree. */

static uint32_t add_phandle(void *fdt, const char *node)
{
	uint32_t phandle = qemu_fdt_alloc_phandle(fdt);

	qemu_fdt_setprop_cell(fdt, node, "phandle", phandle);
	return phandle;
}

static void set_strings(void *fdt, const char *node, const char *name, const char *first,
			const char *second)
{
	g_autoptr(GByteArray) value = g_byte_array_new();

	g_byte_array_append(value, (const guint8 *)first, strlen(first) + 1);
	g_byte_array_append(value, (const guint8 *)second, strlen(second) + 1);
	qemu_fdt_setprop(fdt, node, name, value->data, value->len);
}

static uint32_t add_reset_node(void *fdt, hwaddr base)
{
	g_autofree char *node = g_strdup_printf("/reset-controller@%" PRIx64, base);

	qemu_fdt_add_subnode(fdt, node);
	qemu_fdt_setprop_string(fdt, node, "compatible", "snps,dw-high-reset");
	qemu_fdt_setprop_sized_cells(fdt, node, "reg", 2, base, 2, NNPU_BOARD_MMIO_SIZE);
	qemu_fdt_setprop_cell(fdt, node, "#reset-cells", 1);
	return add_phandle(fdt, node);
}

static uint32_t add_domain_node(void *fdt, hwaddr base)
{
	g_autofree char *node = g_strdup_printf("/power-domain@%" PRIx64, base);

	qemu_fdt_add_subnode(fdt, node);
	qemu_fdt_setprop_string(fdt, node, "compatible", "samsung,exynos4210-pd");
	qemu_fdt_setprop_sized_cells(fdt, node, "reg", 2, base, 2, NNPU_BOARD_MMIO_SIZE);
	qemu_fdt_setprop_cell(fdt, node, "#power-domain-cells", 0);
	return add_phandle(fdt, node);
}

/* Phandle of the machine's GPIO controller, 0 if it has none or the gate is in use. */
static uint32_t find_gpio(VirtMachineState *vms, void *fdt, DeviceState **gpio)
{
	g_autofree char *node = g_strdup_printf("/pl061@%" PRIx64, vms->memmap[VIRT_GPIO].base);

	*gpio = DEVICE(object_resolve_path_type("", "pl061", NULL));
	if (!*gpio || fdt_path_offset(fdt, node) < 0 ||
	    fdt_path_offset(fdt, "/nnpu-clock") >= 0)
		return 0;
	return qemu_fdt_get_phandle(fdt, node);
}

static uint32_t add_clock_node(VirtMachineState *vms, void *fdt, DeviceState *npu)
{
	const char *node = "/nnpu-clock";
	DeviceState *gpio;
	uint32_t phandle = find_gpio(vms, fdt, &gpio);
	qemu_irq gate;

	if (!phandle)
		return vms->clock_phandle;
	qemu_fdt_add_subnode(fdt, node);
	qemu_fdt_setprop_string(fdt, node, "compatible", "gpio-gate-clock");
	qemu_fdt_setprop_cell(fdt, node, "#clock-cells", 0);
	qemu_fdt_setprop_cell(fdt, node, "clocks", vms->clock_phandle);
	qemu_fdt_setprop_cells(fdt, node, "enable-gpios", phandle, CLOCK_GPIO, 0);
	gate = qdev_get_gpio_in_named(npu, NNPU_SYSBUS_CLOCK, 0);
	qdev_connect_gpio_out(gpio, CLOCK_GPIO, gate);
	/* The controller reports changes only. */
	qemu_irq_lower(gate);
	return add_phandle(fdt, node);
}

static uint32_t add_pool_node(NnpuPlatformState *s, void *fdt, hwaddr base)
{
	g_autofree char *node = g_strdup_printf("/reserved-memory/nnpu-%" PRIx64, base);

	if (fdt_path_offset(fdt, "/reserved-memory") < 0) {
		qemu_fdt_add_subnode(fdt, "/reserved-memory");
		qemu_fdt_setprop_cell(fdt, "/reserved-memory", "#address-cells", 2);
		qemu_fdt_setprop_cell(fdt, "/reserved-memory", "#size-cells", 2);
		qemu_fdt_setprop(fdt, "/reserved-memory", "ranges", NULL, 0);
	}
	qemu_fdt_add_subnode(fdt, node);
	qemu_fdt_setprop_string(fdt, node, "compatible", "shared-dma-pool");
	qemu_fdt_setprop_u64(fdt, node, "size", s->pool);
	qemu_fdt_setprop_u64(fdt, node, "alignment", 4 * MiB);
	qemu_fdt_setprop(fdt, node, s->reusable ? "reusable" : "no-map", NULL, 0);
	return add_phandle(fdt, node);
}

/* @domain may be NULL. */
static void add_npu_node(NnpuPlatformState *s, VirtMachineState *vms, SysBusDevice *npu,
			 SysBusDevice *reset, SysBusDevice *domain)
{
	PlatformBusDevice *pbus = PLATFORM_BUS_DEVICE(vms->platform_bus_dev);
	hwaddr bus = vms->memmap[VIRT_PLATFORM_BUS].base;
	hwaddr regs = bus + platform_bus_get_mmio_addr(pbus, npu, NNPU_SYSBUS_MMIO_REGS);
	hwaddr doorbells = bus + platform_bus_get_mmio_addr(pbus, npu, NNPU_SYSBUS_MMIO_DOORBELLS);
	uint64_t doorbells_size =
		memory_region_size(sysbus_mmio_get_region(npu, NNPU_SYSBUS_MMIO_DOORBELLS));
	uint32_t irq = vms->irqmap[VIRT_PLATFORM_BUS] + platform_bus_get_irqn(pbus, npu, 0);
	g_autofree char *node = g_strdup_printf("/npu@%" PRIx64, regs);
	void *fdt = MACHINE(vms)->fdt;
	uint32_t clock = add_clock_node(vms, fdt, DEVICE(npu));
	uint32_t line = add_reset_node(fdt, bus + platform_bus_get_mmio_addr(pbus, reset, 0));

	qemu_fdt_add_subnode(fdt, node);
	qemu_fdt_setprop_string(fdt, node, "compatible", "nnpu,nnpu-2");
	qemu_fdt_setprop_sized_cells(fdt, node, "reg", 2, regs, 2, s->reg_size,
				     2, doorbells, 2, doorbells_size);
	set_strings(fdt, node, "reg-names", "registers", "doorbells");
	qemu_fdt_setprop_cells(fdt, node, "interrupts", GIC_FDT_IRQ_TYPE_SPI, irq,
			       GIC_FDT_IRQ_FLAGS_LEVEL_HI);
	qemu_fdt_setprop_cell(fdt, node, "clocks", clock);
	qemu_fdt_setprop_string(fdt, node, "clock-names", "core");
	qemu_fdt_setprop_cells(fdt, node, "resets", line, 0);
	if (domain) {
		hwaddr base = bus + platform_bus_get_mmio_addr(pbus, domain, 0);

		qemu_fdt_setprop_cell(fdt, node, "power-domains", add_domain_node(fdt, base));
	}
	if (s->coherent)
		qemu_fdt_setprop(fdt, node, "dma-coherent", NULL, 0);
	if (s->pool)
		qemu_fdt_setprop_cell(fdt, node, "memory-region", add_pool_node(s, fdt, regs));
	if (s->omit)
		fdt_delprop(fdt, fdt_path_offset(fdt, node), s->omit);
}

/* Life. */

static SysBusDevice *add_device(PlatformBusDevice *pbus, const char *type,
				const NnpuGlueProps *props, Error **errp)
{
	SysBusDevice *sbd = SYS_BUS_DEVICE(qdev_new(type));

	object_property_add_child(qdev_get_machine(), "nnpu[*]", OBJECT(sbd));
	if (props)
		nnpu_sysbus_set_props(sbd, props);
	/* The machine has the reference. */
	if (!sysbus_realize_and_unref(sbd, errp)) {
		object_unparent(OBJECT(sbd));
		return NULL;
	}
	platform_bus_link_device(pbus, sbd);
	return sbd;
}

static void nnpu_platform_realize(DeviceState *dev, Error **errp)
{
	NnpuPlatformState *s = NNPU_PLATFORM(dev);
	Object *machine = object_dynamic_cast(qdev_get_machine(), TYPE_VIRT_MACHINE);
	VirtMachineState *vms = machine ? VIRT_MACHINE(machine) : NULL;
	SysBusDevice *npu, *reset, *domain = NULL;
	PlatformBusDevice *pbus;

	if (!vms || !vms->platform_bus_dev || !MACHINE(vms)->fdt) {
		error_setg(errp, "this machine has no platform bus with a device tree");
		return;
	}
	pbus = PLATFORM_BUS_DEVICE(vms->platform_bus_dev);
	npu = add_device(pbus, TYPE_NNPU_SYSBUS, &s->props, errp);
	if (!npu)
		return;
	reset = add_device(pbus, TYPE_NNPU_RESET_CONTROL, NULL, errp);
	if (!reset)
		goto no_reset;
	if (s->power_domain) {
		domain = add_device(pbus, TYPE_NNPU_POWER_DOMAIN, NULL, errp);
		if (!domain)
			goto no_domain;
		qdev_connect_gpio_out(DEVICE(domain), 0,
				      qdev_get_gpio_in_named(DEVICE(npu), NNPU_SYSBUS_POWER, 0));
	}
	qdev_connect_gpio_out(DEVICE(reset), 0,
			      qdev_get_gpio_in_named(DEVICE(npu), NNPU_SYSBUS_RESET, 0));
	add_npu_node(s, vms, npu, reset, domain);
	return;

no_domain:
	object_unparent(OBJECT(reset));
no_reset:
	object_unparent(OBJECT(npu));
}

static Property nnpu_platform_properties[] = {
	DEFINE_NNPU_PROPERTIES(NnpuPlatformState, props),
	DEFINE_PROP_BOOL("coherent", NnpuPlatformState, coherent, true),
	DEFINE_PROP_BOOL("power-domain", NnpuPlatformState, power_domain, false),
	DEFINE_PROP_SIZE("pool", NnpuPlatformState, pool, 0),
	DEFINE_PROP_BOOL("reusable", NnpuPlatformState, reusable, false),
	DEFINE_PROP_STRING("omit", NnpuPlatformState, omit),
	DEFINE_PROP_SIZE("reg-size", NnpuPlatformState, reg_size, REGISTERS_SIZE),
	DEFINE_PROP_END_OF_LIST(),
};

static void nnpu_platform_class_init(ObjectClass *class, void *data)
{
	DeviceClass *dc = DEVICE_CLASS(class);

	dc->realize = nnpu_platform_realize;
	dc->desc = "Neural network processing unit (NN HAL 1.3) in the device tree of -M virt";
	dc->hotpluggable = false;
	device_class_set_props(dc, nnpu_platform_properties);
	set_bit(DEVICE_CATEGORY_MISC, dc->categories);
}

static const TypeInfo nnpu_virt_types[] = {
	{
		.name = TYPE_NNPU_PLATFORM,
		.parent = TYPE_DEVICE,
		.instance_size = sizeof(NnpuPlatformState),
		.class_init = nnpu_platform_class_init,
	},
};

DEFINE_TYPES(nnpu_virt_types)
