# SPDX-License-Identifier: MIT
#
# libnntflite: .tflite files as HAL models. It uses libnnhal as any program does.

NNTFLITE_DIR := userspace/libnntflite

nntflite_version_part = $(shell sed -n 's/^.define NNTFLITE_VERSION_$(1)[[:space:]]*//p' \
	$(NNTFLITE_DIR)/include/nntflite/nntflite.h)
NNTFLITE_MAJOR := $(call nntflite_version_part,MAJOR)
NNTFLITE_VERSION := $(NNTFLITE_MAJOR).$(call nntflite_version_part,MINOR).$(call nntflite_version_part,PATCH)
NNTFLITE_SONAME := libnntflite.so.$(NNTFLITE_MAJOR)

NNTFLITE_SRCS := $(wildcard $(NNTFLITE_DIR)/*/*.c)
# For unit tests, fuzzers and benches, which look inside.
NNTFLITE_OBJS := $(NNTFLITE_SRCS:%.c=$(BUILD)/obj/%.o)
NNTFLITE_CFLAGS := -I$(NNTFLITE_DIR)/include -I$(NNHAL_DIR)/include

$(BUILD)/obj/$(NNTFLITE_DIR)/%.o $(BUILD)/pic/$(NNTFLITE_DIR)/%.o: \
	DIR_CFLAGS = -D_GNU_SOURCE $(NNTFLITE_CFLAGS)

# One object in which only the interface is global, as for libnnhal.
$(BUILD)/lib/nntflite.o: $(NNTFLITE_OBJS) FORCE
	$(call if-changed,LD,$(CC) -r -nostdlib -o $@ $(filter-out FORCE,$^) && \
		$(NNHAL_OBJCOPY) --wildcard --keep-global-symbol='nntflite_*' $@)

$(BUILD)/lib/libnntflite.a: $(BUILD)/lib/nntflite.o FORCE
	$(call archive,$^)

$(BUILD)/lib/libnntflite.so.$(NNTFLITE_VERSION): $(NNTFLITE_SRCS:%.c=$(BUILD)/pic/%.o) \
		$(NNTFLITE_DIR)/libnntflite.map $(BUILD)/lib/libnnhal.so FORCE
	$(call link,-shared -Wl$(comma)-soname$(comma)$(NNTFLITE_SONAME) \
		-Wl$(comma)--version-script=$(NNTFLITE_DIR)/libnntflite.map \
		$(if $(SAN),,-Wl$(comma)-z$(comma)defs) $(filter %.o %libnnhal.so,$^) -lm)

$(BUILD)/lib/$(NNTFLITE_SONAME): $(BUILD)/lib/libnntflite.so.$(NNTFLITE_VERSION)
	$(Q)ln -sf $(<F) $@

$(BUILD)/lib/libnntflite.so: $(BUILD)/lib/$(NNTFLITE_SONAME)
	$(Q)ln -sf $(<F) $@

.PHONY: nntflite-pc
nntflite-pc:
	$(Q)mkdir -p $(BUILD)/lib
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
		-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(NNTFLITE_VERSION)|' \
		$(NNTFLITE_DIR)/nntflite.pc.in > $(BUILD)/lib/nntflite.pc

lib: $(BUILD)/lib/libnntflite.a $(BUILD)/lib/libnntflite.so nntflite-pc

.PHONY: install-libnntflite
install-libnntflite: lib
	$(Q)install -d $(DESTDIR)$(INCLUDEDIR)/nntflite $(DESTDIR)$(LIBDIR)/pkgconfig
	$(Q)install -m 644 $(wildcard $(NNTFLITE_DIR)/include/nntflite/*.h) \
		$(DESTDIR)$(INCLUDEDIR)/nntflite
	$(Q)install -m 644 $(BUILD)/lib/libnntflite.a $(DESTDIR)$(LIBDIR)
	$(Q)install -m 755 $(BUILD)/lib/libnntflite.so.$(NNTFLITE_VERSION) $(DESTDIR)$(LIBDIR)
	$(Q)ln -sf libnntflite.so.$(NNTFLITE_VERSION) $(DESTDIR)$(LIBDIR)/$(NNTFLITE_SONAME)
	$(Q)ln -sf $(NNTFLITE_SONAME) $(DESTDIR)$(LIBDIR)/libnntflite.so
	$(Q)install -m 644 $(BUILD)/lib/nntflite.pc $(DESTDIR)$(LIBDIR)/pkgconfig

install-files: install-libnntflite
