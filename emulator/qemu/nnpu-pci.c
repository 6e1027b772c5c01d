// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * NNPU as a PCI Express device of QEMU 7.2.
 *
 *   -device nnpu-pci[,queues=N][,engines=N][,threads=N][,memory=SIZE][,vectors=N]
 *           [,poll-us=N][,db-stride=LOG2][,max-loads=N][,slices=off][,load-turns=off]
 *           [,inject=on][,null=on][,examples=on][,trace=on]
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/bitmap.h"
#include "qemu/main-loop.h"
#include "qemu/module.h"
#include "qapi/error.h"
#include "hw/pci/msix.h"
#include "hw/pci/pci.h"
#include "hw/pci/pcie.h"
#include "hw/qdev-properties.h"
#include "migration/vmstate.h"
#include "qom/object.h"

#include "nnpu-glue.h"
#include "nnpu_hw.h"

#define TYPE_NNPU_PCI "nnpu-pci"
OBJECT_DECLARE_SIMPLE_TYPE(NnpuPciState, NNPU_PCI)

/* With more queues than vectors, queues share them; the driver maps them. */
#define MAX_VECTORS 64

struct NnpuPciState {
	PCIDevice parent_obj;

	NnpuGlue glue;
	unsigned long irq_pending[BITS_TO_LONGS(MAX_VECTORS)];
	unsigned int num_vectors;
	bool function_reset;
};

/* Threads of the device. */
static void nnpu_raise_irq(void *bus, unsigned int vector)
{
	NnpuPciState *s = container_of(bus, NnpuPciState, glue);

	set_bit_atomic(vector, s->irq_pending);
	qemu_bh_schedule(s->glue.irq_bh);
}

static void nnpu_irq_bh(void *opaque)
{
	NnpuPciState *s = opaque;
	unsigned int vector;

	if (s->glue.is_stopped)
		return;
	for (vector = 0; vector < s->num_vectors; vector++) {
		unsigned long mask = BIT_MASK(vector);

		if (!(qatomic_read(&s->irq_pending[BIT_WORD(vector)]) & mask))
			continue;
		qatomic_and(&s->irq_pending[BIT_WORD(vector)], ~mask);
		if (msix_enabled(PCI_DEVICE(s)))
			msix_notify(PCI_DEVICE(s), vector);
	}
}

static const struct nnpu_bus_ops nnpu_pci_bus_ops = {
	NNPU_GLUE_BUS_OPS,
	.raise_irq = nnpu_raise_irq,
};

/* Life. */

static void nnpu_pci_realize(PCIDevice *pdev, Error **errp)
{
	NnpuPciState *s = NNPU_PCI(pdev);
	struct nnpu_device_props props;
	unsigned int i;
	int ret;

	if (!nnpu_glue_init(&s->glue, OBJECT(s), MAX_VECTORS, &props, errp))
		return;
	s->num_vectors = props.num_vectors;
	pci_register_bar(pdev, NNPU_PCI_BAR_REGS, PCI_BASE_ADDRESS_SPACE_MEMORY, &s->glue.regs);
	pci_register_bar(pdev, NNPU_PCI_BAR_DOORBELL, PCI_BASE_ADDRESS_SPACE_MEMORY,
			 &s->glue.doorbells);
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
	s->glue.irq_bh = qemu_bh_new(nnpu_irq_bh, s);
	if (!nnpu_glue_start(&s->glue, &props, &nnpu_pci_bus_ops, pci_get_address_space(pdev),
			     errp))
		goto err_bh;
	return;

err_bh:
	qemu_bh_delete(s->glue.irq_bh);
	if (pci_is_express(pdev))
		pcie_cap_exit(pdev);
err_msix:
	msix_uninit_exclusive_bar(pdev);
}

static void nnpu_pci_exit(PCIDevice *pdev)
{
	NnpuPciState *s = NNPU_PCI(pdev);

	/* The BARs are unmapped already. */
	nnpu_glue_stop(&s->glue);
	qemu_bh_delete(s->glue.irq_bh);
	if (pci_is_express(pdev))
		pcie_cap_exit(pdev);
	msix_uninit_exclusive_bar(pdev);
}

/* Reset of the machine, of the bus, or of the function (FLR). */
static void nnpu_pci_reset(DeviceState *dev)
{
	NnpuPciState *s = NNPU_PCI(dev);

	if (!s->glue.device)
		return;
	/* The rest of it goes on in the background: STATUS.RESETTING reads 1 until it is done. */
	if (s->function_reset)
		nnpu_device_reg_write(s->glue.device, NNPU_REG_CTRL, NNPU_CTRL_RESET, 4);
	else
		nnpu_glue_power_on_reset(&s->glue);
}

static void nnpu_pci_config_write(PCIDevice *pdev, uint32_t addr, uint32_t value, int len)
{
	NnpuPciState *s = NNPU_PCI(pdev);
	/* Not PCI_COMMAND: a reset clears that register, but leaves this region enabled. */
	bool had_memory = pdev->bus_master_enable_region.enabled;

	pci_default_write_config(pdev, addr, value, len);
	if (had_memory && !pdev->bus_master_enable_region.enabled)
		nnpu_dma_withdraw(&s->glue.dma);
	if (!pci_is_express(pdev))
		return;
	s->function_reset = true;
	pcie_cap_flr_write_config(pdev, addr, value, len);
	s->function_reset = false;
}

static Property nnpu_pci_properties[] = {
	DEFINE_NNPU_PROPERTIES(NnpuPciState, glue.props),
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
