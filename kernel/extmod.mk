# SPDX-License-Identifier: GPL-2.0-only
#
# Out-of-tree build only: the options and the uapi headers that the kernel tree
# would provide.

CONFIG_DRM_ACCEL_NNPU := m

ccflags-y += -I$(src)/../uapi -I$(srctree)/include/uapi/drm
