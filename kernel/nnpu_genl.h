/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_GENL_H_
#define _NNPU_GENL_H_

struct nnpu_device;

/**
 * enum nnpu_netlink_kind - what dumps list
 * @NNPU_NETLINK_DEVICES: devices
 * @NNPU_NETLINK_CLIENTS: open files
 * @NNPU_NETLINK_CONTEXTS: contexts
 * @NNPU_NETLINK_QUEUES: user queues
 * @NNPU_NETLINK_KINDS: number of kinds
 */
enum nnpu_netlink_kind {
	NNPU_NETLINK_DEVICES,
	NNPU_NETLINK_CLIENTS,
	NNPU_NETLINK_CONTEXTS,
	NNPU_NETLINK_QUEUES,
	NNPU_NETLINK_KINDS,
};

int nnpu_netlink_setup(void);
void nnpu_netlink_teardown(void);
void nnpu_netlink_init_device(struct nnpu_device *ndev);
void nnpu_netlink_add(struct nnpu_device *ndev);
void nnpu_netlink_remove(struct nnpu_device *ndev);
void nnpu_netlink_changed(enum nnpu_netlink_kind kind);

#endif /* _NNPU_GENL_H_ */
