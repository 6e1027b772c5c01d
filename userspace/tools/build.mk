# SPDX-License-Identifier: MIT
#
# The tools.

# What they have in common, as an archive: each program takes what it uses.
TOOLS_COMMON_SRCS := $(wildcard userspace/tools/common/*.c)
TOOLS_COMMON := $(BUILD)/lib/libtools-common.a

$(BUILD)/obj/userspace/tools/common/%.o: \
	DIR_CFLAGS = -D_GNU_SOURCE -Iuserspace/libnnhal/include

$(TOOLS_COMMON): $(TOOLS_COMMON_SRCS:%.c=$(BUILD)/obj/%.o) FORCE
	$(call archive,$^)

NNRUN_DIR := userspace/tools/nnrun
NNRUN_SRCS := $(wildcard $(NNRUN_DIR)/*.c)
# Everything but the command line, for unit tests and fuzzers.
NNRUN_LIB_OBJS := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out %/nnrun_main.c,$(NNRUN_SRCS))) \
	$(TOOLS_COMMON)

$(BUILD)/obj/$(NNRUN_DIR)/%.o: DIR_CFLAGS = -D_GNU_SOURCE -Iuserspace/libnnhal/include

$(BUILD)/bin/nnrun: $(NNRUN_SRCS:%.c=$(BUILD)/obj/%.o) $(TOOLS_COMMON) \
		$(BUILD)/lib/libnnhal.a FORCE
	$(call link,$^ -lm -lpthread)

tools: $(BUILD)/bin/nnrun

MANDIR ?= $(PREFIX)/share/man

.PHONY: install-tools
install-tools: tools
	$(Q)install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man1
	$(Q)install -m 755 $(BUILD)/bin/nnrun $(DESTDIR)$(BINDIR)
	$(Q)install -m 644 $(NNRUN_DIR)/nnrun.1 $(DESTDIR)$(MANDIR)/man1
	$(Q)install -d $(DESTDIR)$(MANDIR)/man4 $(DESTDIR)$(MANDIR)/man7
	$(Q)install -m 644 userspace/man/nnpu.4 $(DESTDIR)$(MANDIR)/man4
	$(Q)install -m 644 userspace/man/nnhal.7 $(DESTDIR)$(MANDIR)/man7

install-files: install-tools
