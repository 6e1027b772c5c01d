# SPDX-License-Identifier: MIT
#
# The tools.

NNRUN_DIR := userspace/tools/nnrun
NNRUN_SRCS := $(wildcard $(NNRUN_DIR)/*.c)
# Everything but the command line, for unit tests and fuzzers.
NNRUN_LIB_OBJS := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out %/nnrun_main.c,$(NNRUN_SRCS)))

$(BUILD)/obj/$(NNRUN_DIR)/%.o: DIR_CFLAGS = -D_GNU_SOURCE -Iuserspace/libnnhal/include

$(BUILD)/bin/nnrun: $(NNRUN_SRCS:%.c=$(BUILD)/obj/%.o) $(BUILD)/lib/libnnhal.a
	$(call link,$^ -lm -lpthread)

tools: $(BUILD)/bin/nnrun

MANDIR ?= $(PREFIX)/share/man

.PHONY: install-tools
install-tools: tools
	$(Q)install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man1
	$(Q)install -m 755 $(BUILD)/bin/nnrun $(DESTDIR)$(BINDIR)
	$(Q)install -m 644 $(NNRUN_DIR)/nnrun.1 $(DESTDIR)$(MANDIR)/man1

install-files: install-tools
