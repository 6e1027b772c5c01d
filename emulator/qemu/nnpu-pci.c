// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * NNPU as a PCI Express device of QEMU 7.2.
 *
 *   -device nnpu-pci[,queues=N][,engines=N][,memory=SIZE][,vectors=N][,poll-us=N]
 *           [,inject=on][,null=on][,examples=on][,trace=on]
 *
 * Registers and doorbells are accessed with the big lock (BQL) held. The device model
 * handles them without waiting. Its threads do DMA and jobs and never take the BQL.
 * Interrupts need it: a bottom half raises them.
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/bitmap.h"
#include "qemu/log.h"
#include "qemu/main-loop.h"
#include "qemu/module.h"
#include "qemu/rcu.h"
#include "qemu/timer.h"
#include "qemu/units.h"
#include "qapi/error.h"
#include "exec/memory.h"
#include "hw/pci/msix.h"
#include "hw/pci/pci.h"
#include "hw/pci/pcie.h"
#include "hw/qdev-properties.h"
#include "migration/vmstate.h"
#include "qom/object.h"

#include "core/device_model.h"
#include "nnpu-dma.h"
#include "nnpu_hw.h"

#define TYPE_NNPU_PCI "nnpu-pci"
OBJECT_DECLARE_SIMPLE_TYPE(NnpuPciState, NNPU_PCI)

/* With more queues than vectors, queues share them; the driver maps them. */
#define MAX_VECTORS 64

struct NnpuPciState {
	PCIDevice parent_obj;

	MemoryRegion regs;
	MemoryRegion doorbells;
	/* NULL before realize and from exit on. BQL. */
	struct nnpu_device *device;
	QEMUBH *irq_bh;
	unsigned long irq_pending[BITS_TO_LONGS(MAX_VECTORS)];
	unsigned int num_vectors;
	bool function_reset;
	NnpuDma dma;

	/* Properties. */
	uint32_t queues;
	uint32_t engines;
	uint64_t memory;
	uint32_t vectors;
	uint32_t poll_us;
	bool inject;
	bool null_mode;
	bool examples;
	bool trace;
};

/* Bus: threads of the device. */

static int nnpu_bus_read(void *bus, uint64_t addr, void *buf, size_t len)
{
	NnpuPciState *s = bus;

	return nnpu_dma_read(&s->dma, addr, buf, len);
}

static int nnpu_bus_write(void *bus, uint64_t addr, const void *buf, size_t len)
{
	NnpuPciState *s = bus;

	return nnpu_dma_write(&s->dma, addr, buf, len);
}

static int nnpu_bus_publish(void *bus, uint64_t addr, const void *buf, size_t len)
{
	NnpuPciState *s = bus;

	return nnpu_dma_publish(&s->dma, addr, buf, len);
}

static void nnpu_bus_prefetch(void *bus, uint64_t addr, size_t len, bool is_write)
{
	NnpuPciState *s = bus;

	nnpu_dma_prefetch(&s->dma, addr, len, is_write);
}

static void nnpu_raise_irq(void *bus, unsigned int vector)
{
	NnpuPciState *s = bus;

	set_bit_atomic(vector, s->irq_pending);
	qemu_bh_schedule(s->irq_bh);
}

static void nnpu_irq_bh(void *opaque)
{
	NnpuPciState *s = opaque;
	unsigned int vector;

	for (vector = 0; vector < s->num_vectors; vector++) {
		unsigned long mask = BIT_MASK(vector);

		if (!(qatomic_read(&s->irq_pending[BIT_WORD(vector)]) & mask))
			continue;
		qatomic_and(&s->irq_pending[BIT_WORD(vector)], ~mask);
		if (msix_enabled(PCI_DEVICE(s)))
			msix_notify(PCI_DEVICE(s), vector);
	}
}

static uint64_t nnpu_now_ns(void *bus)
{
	return qemu_clock_get_ns(QEMU_CLOCK_REALTIME);
}

static bool nnpu_log_wanted(void *bus, enum nnpu_log_level level)
{
	NnpuPciState *s = bus;

	return level == NNPU_LOG_GUEST_ERROR ? qemu_loglevel_mask(LOG_GUEST_ERROR) : s->trace;
}

static void nnpu_log(void *bus, enum nnpu_log_level level, const char *text)
{
	if (level == NNPU_LOG_GUEST_ERROR)
		qemu_log_mask(LOG_GUEST_ERROR, "nnpu: %s\n", text);
	else
		qemu_log("nnpu: %s\n", text);
}

/* Guest memory is looked up under RCU, so the thread registers as a reader. */
static void nnpu_thread_begin(void *bus, const char *name)
{
	NnpuPciState *s = bus;

	rcu_register_thread();
	nnpu_dma_thread_begin(&s->dma);
	pthread_setname_np(pthread_self(), name);
}

static void nnpu_thread_end(void *bus)
{
	NnpuPciState *s = bus;

	nnpu_dma_thread_end(&s->dma);
	rcu_unregister_thread();
}

static const struct nnpu_bus_ops nnpu_bus_ops = {
	.dma_read = nnpu_bus_read,
	.dma_write = nnpu_bus_write,
	.dma_publish = nnpu_bus_publish,
	.dma_prefetch = nnpu_bus_prefetch,
	.raise_irq = nnpu_raise_irq,
	.now_ns = nnpu_now_ns,
	.log = nnpu_log,
	.log_wanted = nnpu_log_wanted,
	.thread_begin = nnpu_thread_begin,
	.thread_end = nnpu_thread_end,
};

/*
 * Registers and doorbells. While the device is removed an access may still arrive. It reads
 * all ones, as from a device that has dropped off the bus.
 */

static uint64_t nnpu_regs_read(void *opaque, hwaddr addr, unsigned int size)
{
	NnpuPciState *s = opaque;

	return s->device ? nnpu_device_reg_read(s->device, addr, size) : UINT64_MAX;
}

static void nnpu_regs_write(void *opaque, hwaddr addr, uint64_t value, unsigned int size)
{
	NnpuPciState *s = opaque;

	if (s->device)
		nnpu_device_reg_write(s->device, addr, value, size);
}

static uint64_t nnpu_doorbells_read(void *opaque, hwaddr addr, unsigned int size)
{
	NnpuPciState *s = opaque;

	return s->device ? 0 : UINT64_MAX;
}

static void nnpu_doorbells_write(void *opaque, hwaddr addr, uint64_t value, unsigned int size)
{
	NnpuPciState *s = opaque;

	if (s->device)
		nnpu_device_doorbell_write(s->device, addr, value, size);
}

/* All sizes and alignments are allowed here: the device model judges them. */
static const MemoryRegionOps nnpu_regs_ops = {
	.read = nnpu_regs_read,
	.write = nnpu_regs_write,
	.endianness = DEVICE_LITTLE_ENDIAN,
	.valid = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
	.impl = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
};

static const MemoryRegionOps nnpu_doorbells_ops = {
	.read = nnpu_doorbells_read,
	.write = nnpu_doorbells_write,
	.endianness = DEVICE_LITTLE_ENDIAN,
	.valid = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
	.impl = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
};

/* Life. */

static bool nnpu_fill_props(NnpuPciState *s, struct nnpu_device_props *props, Error **errp)
{
	char error[128];

	nnpu_device_default_props(props);
	props->num_queues = s->queues;
	props->num_engines = s->engines;
	props->memory_size = s->memory;
	if (props->max_operand_size > s->memory)
		props->max_operand_size = s->memory;
	props->poll_ns = s->poll_us * 1000ull;
	props->inject = s->inject;
	props->null_mode = s->null_mode;
	props->examples = s->examples;
	/* "vectors" 0: one per queue and one for the admin queue. */
	s->num_vectors = s->vectors ? s->vectors : MIN(s->queues + 1ull, MAX_VECTORS);
	if (s->num_vectors > MAX_VECTORS) {
		error_setg(errp, "vectors is %u, must be at most %u", s->num_vectors, MAX_VECTORS);
		return false;
	}
	props->num_vectors = s->num_vectors;
	if (nnpu_device_check_props(props, error, sizeof(error))) {
		error_setg(errp, "%s", error);
		return false;
	}
	return true;
}

static void nnpu_pci_realize(PCIDevice *pdev, Error **errp)
{
	NnpuPciState *s = NNPU_PCI(pdev);
	struct nnpu_device_props props;
	char error[128];
	unsigned int i;
	int ret;

	if (!nnpu_fill_props(s, &props, errp))
		return;
	memory_region_init_io(&s->regs, OBJECT(s), &nnpu_regs_ops, s, "nnpu-registers",
			      NNPU_REGS_SIZE);
	memory_region_init_io(&s->doorbells, OBJECT(s), &nnpu_doorbells_ops, s,
			      "nnpu-doorbells", nnpu_device_doorbell_size(&props));
	pci_register_bar(pdev, NNPU_PCI_BAR_REGS, PCI_BASE_ADDRESS_SPACE_MEMORY, &s->regs);
	pci_register_bar(pdev, NNPU_PCI_BAR_DOORBELL, PCI_BASE_ADDRESS_SPACE_MEMORY,
			 &s->doorbells);
	ret = msix_init_exclusive_bar(pdev, s->num_vectors, NNPU_PCI_BAR_MSIX, errp);
	if (ret)
		return;
	for (i = 0; i < s->num_vectors; i++)
		msix_vector_use(pdev, i);
	if (pci_bus_is_express(pci_get_bus(pdev))) {
		ret = pcie_endpoint_cap_init(pdev, 0);
		if (ret < 0) {
			error_setg_errno(errp, -ret, "cannot add the PCI Express capability");
			goto err_msix;
		}
		pcie_cap_flr_init(pdev);
	}
	nnpu_dma_init(&s->dma, pci_get_address_space(pdev));
	s->irq_bh = qemu_bh_new(nnpu_irq_bh, s);
	s->device = nnpu_device_create(&props, &nnpu_bus_ops, s, error, sizeof(error));
	if (!s->device) {
		error_setg(errp, "%s", error);
		goto err_bh;
	}
	return;

err_bh:
	nnpu_dma_fini(&s->dma);
	qemu_bh_delete(s->irq_bh);
	if (pci_is_express(pdev))
		pcie_cap_exit(pdev);
err_msix:
	msix_uninit_exclusive_bar(pdev);
}

static void nnpu_pci_exit(PCIDevice *pdev)
{
	NnpuPciState *s = NNPU_PCI(pdev);
	struct nnpu_device *device = s->device;

	/*
	 * The BARs are unmapped already. Wait for the threads with the BQL held: they do not
	 * need it, and nobody may see a half-removed function.
	 */
	s->device = NULL;
	nnpu_device_destroy(device);
	nnpu_dma_fini(&s->dma);
	qemu_bh_delete(s->irq_bh);
	if (pci_is_express(pdev))
		pcie_cap_exit(pdev);
	msix_uninit_exclusive_bar(pdev);
}

/* Reset of the machine, of the bus, or of the function (FLR). */
static void nnpu_pci_reset(DeviceState *dev)
{
	NnpuPciState *s = NNPU_PCI(dev);

	if (!s->device)
		return;
	/* Does not wait: STATUS.RESETTING reads 1 until it is done. */
	if (s->function_reset)
		nnpu_device_reg_write(s->device, NNPU_REG_CTRL, NNPU_CTRL_RESET, 4);
	else
		nnpu_device_power_on_reset(s->device);
}

static void nnpu_pci_config_write(PCIDevice *pdev, uint32_t addr, uint32_t value, int len)
{
	NnpuPciState *s = NNPU_PCI(pdev);
	/* Not PCI_COMMAND: a reset clears that register, but leaves this region enabled. */
	bool had_memory = pdev->bus_master_enable_region.enabled;

	pci_default_write_config(pdev, addr, value, len);
	if (had_memory && !pdev->bus_master_enable_region.enabled)
		nnpu_dma_wait_idle(&s->dma);
	if (!pci_is_express(pdev))
		return;
	s->function_reset = true;
	pcie_cap_flr_write_config(pdev, addr, value, len);
	s->function_reset = false;
}

static Property nnpu_pci_properties[] = {
	DEFINE_PROP_UINT32("queues", NnpuPciState, queues, 64),
	DEFINE_PROP_UINT32("engines", NnpuPciState, engines, 1),
	DEFINE_PROP_SIZE("memory", NnpuPciState, memory, 1 * GiB),
	DEFINE_PROP_UINT32("vectors", NnpuPciState, vectors, 0),
	DEFINE_PROP_UINT32("poll-us", NnpuPciState, poll_us, 0),
	DEFINE_PROP_BOOL("inject", NnpuPciState, inject, false),
	DEFINE_PROP_BOOL("null", NnpuPciState, null_mode, false),
	DEFINE_PROP_BOOL("examples", NnpuPciState, examples, false),
	DEFINE_PROP_BOOL("trace", NnpuPciState, trace, false),
	DEFINE_PROP_END_OF_LIST(),
};

static const VMStateDescription vmstate_nnpu_pci = {
	.name = TYPE_NNPU_PCI,
	.unmigratable = 1,
};

static void nnpu_pci_class_init(ObjectClass *class, void *data)
{
	DeviceClass *dc = DEVICE_CLASS(class);
	PCIDeviceClass *k = PCI_DEVICE_CLASS(class);

	k->realize = nnpu_pci_realize;
	k->exit = nnpu_pci_exit;
	k->config_write = nnpu_pci_config_write;
	k->vendor_id = NNPU_PCI_VENDOR_ID;
	k->device_id = NNPU_PCI_DEVICE_ID;
	k->class_id = NNPU_PCI_CLASS;
	k->revision = 1;
	dc->desc = "Neural network processing unit (NN HAL 1.3)";
	dc->reset = nnpu_pci_reset;
	dc->vmsd = &vmstate_nnpu_pci;
	device_class_set_props(dc, nnpu_pci_properties);
	set_bit(DEVICE_CATEGORY_MISC, dc->categories);
}

static const TypeInfo nnpu_pci_info = {
	.name = TYPE_NNPU_PCI,
	.parent = TYPE_PCI_DEVICE,
	.instance_size = sizeof(NnpuPciState),
	.class_init = nnpu_pci_class_init,
	.interfaces = (InterfaceInfo[]) {
		{ INTERFACE_PCIE_DEVICE },
		{ }
	},
};

static void nnpu_pci_register_types(void)
{
	type_register_static(&nnpu_pci_info);
}

type_init(nnpu_pci_register_types)
