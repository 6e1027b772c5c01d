# SPDX-License-Identifier: MIT
#
# libnnhal and the tools.
#
#   NNHAL_SIM=0   leaves the in-process device ("sim") out of the library

NNHAL_DIR := userspace/libnnhal
NNHAL_SIM ?= 1

# The version stands in one place: the public header.
nnhal_version_part = $(shell sed -n 's/^.define NNHAL_VERSION_$(1)[[:space:]]*//p' \
	$(NNHAL_DIR)/include/nnhal/version.h)
NNHAL_MAJOR := $(call nnhal_version_part,MAJOR)
NNHAL_VERSION := $(NNHAL_MAJOR).$(call nnhal_version_part,MINOR).$(call nnhal_version_part,PATCH)
NNHAL_SONAME := libnnhal.so.$(NNHAL_MAJOR)

NNHAL_SIM_SRCS := $(NNHAL_DIR)/transport/transport_sim.c \
	$(wildcard $(NNHAL_DIR)/transport/sim_*.c)
NNHAL_NOSIM_SRCS := $(NNHAL_DIR)/transport/transport_nosim.c
NNHAL_SRCS := $(filter-out $(NNHAL_SIM_SRCS) $(NNHAL_NOSIM_SRCS), \
	$(wildcard $(NNHAL_DIR)/*/*.c)) $(wildcard signatures/*.c)
ifeq ($(NNHAL_SIM),0)
NNHAL_SRCS += $(NNHAL_NOSIM_SRCS)
else
NNHAL_SRCS += $(NNHAL_SIM_SRCS) \
	$(wildcard emulator/core/*.c emulator/ops/*.c emulator/ops/*/*.c emulator/inproc/*.c)
endif
NNHAL_LIBS := -lm -lpthread

# drm.h, which the uapi header includes, comes with libdrm's headers here.
DRM_CFLAGS := $(shell pkg-config --cflags libdrm 2>/dev/null || echo -I/usr/include/libdrm)

$(BUILD)/obj/$(NNHAL_DIR)/%.o $(BUILD)/pic/$(NNHAL_DIR)/%.o: \
	DIR_CFLAGS = -D_GNU_SOURCE -I$(NNHAL_DIR)/include -I$(NNHAL_DIR) -Ikernel -Iemulator $(DRM_CFLAGS)

# One object in which only the interface is global: names inside the library do
# not meet those of the program.
NNHAL_OBJS := $(NNHAL_SRCS:%.c=$(BUILD)/obj/%.o)
NNHAL_OBJCOPY := $(AR:%ar=%objcopy)

$(BUILD)/lib/nnhal.o: $(NNHAL_OBJS) FORCE
	$(call if-changed,LD,$(CC) -r -nostdlib -o $@ $(filter-out FORCE,$^) && \
		$(NNHAL_OBJCOPY) --wildcard --keep-global-symbol='nnhal_*' $@)

$(BUILD)/lib/libnnhal.a: $(BUILD)/lib/nnhal.o FORCE
	$(call archive,$^)

# Undefined symbols are errors, except with sanitizers, whose runtime comes later. dlclose() must
# not unmap the code of a thread that a burst server has left behind.
$(BUILD)/lib/libnnhal.so.$(NNHAL_VERSION): $(NNHAL_SRCS:%.c=$(BUILD)/pic/%.o) \
		$(NNHAL_DIR)/libnnhal.map FORCE
	$(call link,-shared -Wl$(comma)-soname$(comma)$(NNHAL_SONAME) \
		-Wl$(comma)--version-script=$(NNHAL_DIR)/libnnhal.map -Wl$(comma)-z$(comma)nodelete \
		$(if $(SAN),,-Wl$(comma)-z$(comma)defs) $(filter %.o,$^) $(NNHAL_LIBS))

$(BUILD)/lib/$(NNHAL_SONAME): $(BUILD)/lib/libnnhal.so.$(NNHAL_VERSION)
	$(Q)ln -sf $(<F) $@

$(BUILD)/lib/libnnhal.so: $(BUILD)/lib/$(NNHAL_SONAME)
	$(Q)ln -sf $(<F) $@

# Depends on the make variables it contains, so it is written each time.
.PHONY: nnhal-pc
nnhal-pc:
	$(Q)mkdir -p $(BUILD)/lib
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
		-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(NNHAL_VERSION)|' \
		-e 's|@LIBS_PRIVATE@|$(NNHAL_LIBS)|' \
		$(NNHAL_DIR)/nnhal.pc.in > $(BUILD)/lib/nnhal.pc

lib: $(BUILD)/lib/libnnhal.a $(BUILD)/lib/libnnhal.so nnhal-pc

.PHONY: install-libnnhal
install-libnnhal: lib
	$(Q)install -d $(DESTDIR)$(INCLUDEDIR)/nnhal $(DESTDIR)$(LIBDIR)/pkgconfig
	$(Q)install -m 644 $(wildcard $(NNHAL_DIR)/include/nnhal/*.h) \
		$(DESTDIR)$(INCLUDEDIR)/nnhal
	$(Q)install -m 644 $(BUILD)/lib/libnnhal.a $(DESTDIR)$(LIBDIR)
	$(Q)install -m 755 $(BUILD)/lib/libnnhal.so.$(NNHAL_VERSION) $(DESTDIR)$(LIBDIR)
	$(Q)ln -sf libnnhal.so.$(NNHAL_VERSION) $(DESTDIR)$(LIBDIR)/$(NNHAL_SONAME)
	$(Q)ln -sf $(NNHAL_SONAME) $(DESTDIR)$(LIBDIR)/libnnhal.so
	$(Q)install -m 644 $(BUILD)/lib/nnhal.pc $(DESTDIR)$(LIBDIR)/pkgconfig

# For programs without libnnhal: ioctls, rings, programs.
.PHONY: install-uapi
install-uapi:
	$(Q)install -d $(DESTDIR)$(INCLUDEDIR)/drm $(DESTDIR)$(INCLUDEDIR)/linux
	$(Q)install -m 644 $(wildcard uapi/drm/nnpu_*.h) $(DESTDIR)$(INCLUDEDIR)/drm
	$(Q)install -m 644 $(wildcard uapi/linux/nnpu_*.h) $(DESTDIR)$(INCLUDEDIR)/linux

install-files: install-libnnhal install-uapi

include userspace/libneuralnetworks/build.mk userspace/libnntflite/build.mk
include userspace/tools/build.mk userspace/tools/nnbench/build.mk userspace/tools/nnctl/build.mk \
	userspace/tools/nnvec/build.mk
