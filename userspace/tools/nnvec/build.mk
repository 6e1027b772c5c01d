# SPDX-License-Identifier: MIT
#
# nnvec: runs operator test cases.

NNVEC_DIR := userspace/tools/nnvec
NNVEC_SRCS := $(wildcard $(NNVEC_DIR)/*.c)
# Everything but the command line, for unit tests.
NNVEC_LIB_OBJS := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out %/nnvec_main.c,$(NNVEC_SRCS))) \
	$(TOOLS_COMMON)

$(BUILD)/obj/$(NNVEC_DIR)/%.o: DIR_CFLAGS = -D_GNU_SOURCE -Iuserspace/libnnhal/include

$(BUILD)/bin/nnvec: $(NNVEC_SRCS:%.c=$(BUILD)/obj/%.o) $(TOOLS_COMMON) \
		$(BUILD)/lib/libnnhal.a FORCE
	$(call link,$^ $(NNHAL_LIBS))

tools: $(BUILD)/bin/nnvec

.PHONY: install-nnvec
install-nnvec: tools
	$(Q)install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man1
	$(Q)install -m 755 $(BUILD)/bin/nnvec $(DESTDIR)$(BINDIR)
	$(Q)install -m 644 $(NNVEC_DIR)/nnvec.1 $(DESTDIR)$(MANDIR)/man1

install-files: install-nnvec
