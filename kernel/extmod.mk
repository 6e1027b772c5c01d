# SPDX-License-Identifier: GPL-2.0-only
#
# Out-of-tree build only: the options and the uapi headers that the kernel tree
# would provide, and what is different in other kernels (nnpu_compat.h).

ifneq ($(filter 1 2 3 4 5,$(VERSION))$(filter 6-0 6-1 6-2 6-3 6-4 6-5 6-6 6-7 6-8 6-9 6-10 6-11, \
	$(VERSION)-$(PATCHLEVEL)),)
$(error nnpu needs Linux 6.12 or newer, and this is $(VERSION).$(PATCHLEVEL))
endif

CONFIG_DRM_ACCEL_NNPU := m

ccflags-y += -I$(src)/../uapi -I$(src)/.. -I$(srctree)/include/uapi/drm
ccflags-y += -include $(src)/nnpu_compat.h
