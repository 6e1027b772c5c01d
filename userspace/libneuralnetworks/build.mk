# SPDX-License-Identifier: MIT
#
# libneuralnetworks: the C API of the NNAPI over libnnhal. `make ndk` builds it. It is neither part of
# `make lib` nor installed until it can run models: programs that find a library of this name expect
# all of it.

NDK_DIR := userspace/libneuralnetworks
NDK_VERSION := 1.0.0
NDK_SONAME := libneuralnetworks.so.1
NDK_SRCS := $(wildcard $(NDK_DIR)/*/*.c)
NDK_OBJS := $(NDK_SRCS:%.c=$(BUILD)/obj/%.o)

$(BUILD)/obj/$(NDK_DIR)/%.o $(BUILD)/pic/$(NDK_DIR)/%.o: \
	DIR_CFLAGS = -D_GNU_SOURCE -I$(NDK_DIR)/include -I$(NDK_DIR) -I$(NNHAL_DIR)/include

# The list of devices outlives a dlclose(), as programs may keep what is in it.
$(BUILD)/lib/libneuralnetworks.so.$(NDK_VERSION): $(NDK_SRCS:%.c=$(BUILD)/pic/%.o) \
		$(NDK_DIR)/libneuralnetworks.map $(BUILD)/lib/libnnhal.so FORCE
	$(call link,-shared -Wl$(comma)-soname$(comma)$(NDK_SONAME) \
		-Wl$(comma)--version-script=$(NDK_DIR)/libneuralnetworks.map \
		-Wl$(comma)-z$(comma)nodelete $(if $(SAN),,-Wl$(comma)-z$(comma)defs) \
		$(filter %.o %libnnhal.so,$^) -lpthread)

$(BUILD)/lib/$(NDK_SONAME): $(BUILD)/lib/libneuralnetworks.so.$(NDK_VERSION)
	$(Q)ln -sf $(<F) $@

$(BUILD)/lib/libneuralnetworks.so: $(BUILD)/lib/$(NDK_SONAME)
	$(Q)ln -sf $(<F) $@

.PHONY: ndk
ndk: $(BUILD)/lib/libneuralnetworks.so
