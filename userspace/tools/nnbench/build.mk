# SPDX-License-Identifier: MIT
#
# nnbench: what the software around the device costs.

NNBENCH_DIR := userspace/tools/nnbench

$(BUILD)/obj/$(NNBENCH_DIR)/%.o: DIR_CFLAGS = -D_GNU_SOURCE -Iuserspace/libnnhal/include

$(BUILD)/bin/nnbench: $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard $(NNBENCH_DIR)/*.c)) \
		$(TOOLS_COMMON) $(BUILD)/lib/libnnhal.a FORCE
	$(call link,$^ $(NNHAL_LIBS))

tools: $(BUILD)/bin/nnbench

.PHONY: install-nnbench
install-nnbench: tools
	$(Q)install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man1
	$(Q)install -m 755 $(BUILD)/bin/nnbench $(DESTDIR)$(BINDIR)
	$(Q)install -m 644 $(NNBENCH_DIR)/nnbench.1 $(DESTDIR)$(MANDIR)/man1

install-files: install-nnbench
