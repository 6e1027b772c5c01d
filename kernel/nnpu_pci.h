/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_PCI_H_
#define _NNPU_PCI_H_

#if IS_ENABLED(CONFIG_PCI)
int nnpu_pci_register(void);
void nnpu_pci_unregister(void);
#else
static inline int nnpu_pci_register(void)
{
	return 0;
}

static inline void nnpu_pci_unregister(void) {}
#endif

#endif /* _NNPU_PCI_H_ */
