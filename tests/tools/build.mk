# SPDX-License-Identifier: MIT
#
# Tests of what the tools have in common, and of nnbench.

TOOLS_SCRIPTS := $(BUILD)/tests/tools_man_pages.sh $(BUILD)/tests/tools_nnbench.sh

$(TOOLS_SCRIPTS): $(BUILD)/tests/tools_%.sh: tests/tools/test_% $(BUILD)/bin/nnrun \
		$(BUILD)/bin/nnvec $(BUILD)/bin/nnbench
	$(Q)mkdir -p $(@D)
	$(Q)install -m 755 $< $@

HOST_TESTS += $(TOOLS_SCRIPTS)
VM_LONG_TESTS += $(BUILD)/tests/tools_nnbench.sh
