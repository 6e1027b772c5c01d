# SPDX-License-Identifier: MIT
#
# The tools.

# What they have in common, as an archive: each program takes what it uses.
TOOLS_COMMON_SRCS := $(wildcard userspace/tools/common/*.c)
TOOLS_COMMON := $(BUILD)/lib/libtools-common.a

$(BUILD)/obj/userspace/tools/common/%.o: \
	DIR_CFLAGS = -D_GNU_SOURCE -Iuserspace/libnnhal/include

# The library of the tools: the archive, so that each program works where it was built, or, with
# SHARED=1, the shared library, as a distribution has it.
SHARED ?=
TOOLS_NNHAL := $(BUILD)/lib/libnnhal.$(if $(SHARED),so,a)
TOOLS_NNTFLITE := $(BUILD)/lib/libnntflite.$(if $(SHARED),so,a)

$(TOOLS_COMMON): $(TOOLS_COMMON_SRCS:%.c=$(BUILD)/obj/%.o) FORCE
	$(call archive,$^)

NNRUN_DIR := userspace/tools/nnrun
NNRUN_SRCS := $(wildcard $(NNRUN_DIR)/*.c $(NNRUN_DIR)/media/*.c)
# Everything but the command line, for unit tests and fuzzers.
NNRUN_LIB_OBJS := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out %/nnrun_main.c,$(NNRUN_SRCS))) \
	$(TOOLS_COMMON) $(BUILD)/lib/libnntflite.a

# Formats that take a library. Without it, here or with NNRUN_PNG= and so on, nnrun says that it was
# built without when it meets such a file.
nnrun-has = $(shell $(PKG_CONFIG) --exists $(1) 2>/dev/null && echo 1)
NNRUN_PNG ?= $(call nnrun-has,libpng)
NNRUN_JPEG ?= $(call nnrun-has,libjpeg)
NNRUN_ZLIB ?= $(call nnrun-has,zlib)
NNRUN_MODULES := $(if $(NNRUN_PNG),libpng) $(if $(NNRUN_JPEG),libjpeg) $(if $(NNRUN_ZLIB),zlib)
NNRUN_CFLAGS := $(foreach it,PNG JPEG ZLIB,$(if $(NNRUN_$(it)),-DNNRUN_$(it))) \
	$(if $(strip $(NNRUN_MODULES)),$(shell $(PKG_CONFIG) --cflags $(NNRUN_MODULES)))
NNRUN_LIBS := $(if $(strip $(NNRUN_MODULES)),$(shell $(PKG_CONFIG) --libs $(NNRUN_MODULES)))

$(BUILD)/obj/$(NNRUN_DIR)/%.o: \
	DIR_CFLAGS = -D_GNU_SOURCE $(NNTFLITE_CFLAGS) $(NNRUN_CFLAGS)

$(BUILD)/bin/nnrun: $(NNRUN_SRCS:%.c=$(BUILD)/obj/%.o) $(TOOLS_COMMON) \
		$(TOOLS_NNTFLITE) $(TOOLS_NNHAL) FORCE
	$(call link,$^ $(NNRUN_LIBS) -lm -lpthread)

tools: $(BUILD)/bin/nnrun

# What is installed: every program that a build.mk adds here, and what belongs to it by its name.
# A manual page lies beside the sources or in userspace/man/. Each program has a completion:
# NAME.bash beside its sources, or the one that asks --help.
INSTALLED_TOOLS += $(BUILD)/bin/nnrun
TOOL_PAGES = $(sort $(wildcard userspace/man/*.[1-8] userspace/*/*.[1-8] userspace/tools/*/*.[1-8]))
TOOL_COMPLETIONS = $(sort $(wildcard userspace/*/*.bash userspace/tools/*/*.bash))
COMMON_COMPLETION := userspace/tools/common/nnpu-tools.bash

.PHONY: install-tools
install-tools: tools
	$(Q)install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(COMPLETIONDIR)
	$(Q)install -m 755 $(sort $(INSTALLED_TOOLS)) $(DESTDIR)$(BINDIR)
	$(Q)for page in $(TOOL_PAGES); do \
		install -D -m 644 -t $(DESTDIR)$(MANDIR)/man$${page##*.} $$page || exit 1; \
	done
	$(Q)for tool in $(notdir $(INSTALLED_TOOLS)); do \
		install -m 644 $(COMMON_COMPLETION) $(DESTDIR)$(COMPLETIONDIR)/$$tool || exit 1; \
	done
	$(Q)for file in $(filter-out $(COMMON_COMPLETION),$(TOOL_COMPLETIONS)); do \
		name=$${file##*/}; \
		install -m 644 $$file $(DESTDIR)$(COMPLETIONDIR)/$${name%.bash} || exit 1; \
	done

# Who may open the device.
.PHONY: install-udev
install-udev:
	$(Q)install -D -m 644 -t $(DESTDIR)$(UDEVDIR)/rules.d $(wildcard userspace/udev/*.rules)

install-files: install-tools install-udev
