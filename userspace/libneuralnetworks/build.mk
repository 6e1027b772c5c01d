# SPDX-License-Identifier: MIT
#
# libneuralnetworks: the C API of the NNAPI over libnnhal, as any program uses that.

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

.PHONY: ndk ndk-pc
ndk: $(BUILD)/lib/libneuralnetworks.so ndk-pc

ndk-pc:
	$(Q)mkdir -p $(BUILD)/lib
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
		-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(NDK_VERSION)|' \
		$(NDK_DIR)/neuralnetworks.pc.in > $(BUILD)/lib/neuralnetworks.pc

lib: ndk

# Programs open the library by the name without a version, and include the header by either name.
.PHONY: install-libneuralnetworks
install-libneuralnetworks: lib
	$(Q)install -d $(DESTDIR)$(INCLUDEDIR)/android $(DESTDIR)$(LIBDIR)/pkgconfig
	$(Q)install -m 644 $(wildcard $(NDK_DIR)/include/android/*.h) $(DESTDIR)$(INCLUDEDIR)/android
	$(Q)ln -sf android/NeuralNetworks.h $(DESTDIR)$(INCLUDEDIR)/NeuralNetworks.h
	$(Q)install -m 755 $(BUILD)/lib/libneuralnetworks.so.$(NDK_VERSION) $(DESTDIR)$(LIBDIR)
	$(Q)ln -sf libneuralnetworks.so.$(NDK_VERSION) $(DESTDIR)$(LIBDIR)/$(NDK_SONAME)
	$(Q)ln -sf $(NDK_SONAME) $(DESTDIR)$(LIBDIR)/libneuralnetworks.so
	$(Q)install -m 644 $(BUILD)/lib/neuralnetworks.pc $(DESTDIR)$(LIBDIR)/pkgconfig

install-files: install-libneuralnetworks
