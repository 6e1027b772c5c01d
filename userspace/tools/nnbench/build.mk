# SPDX-License-Identifier: MIT
#
# nnbench: what the software around the device costs.

NNBENCH_DIR := userspace/tools/nnbench

$(BUILD)/obj/$(NNBENCH_DIR)/%.o: DIR_CFLAGS = -D_GNU_SOURCE -Iuserspace/libnnhal/include

$(BUILD)/bin/nnbench: $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard $(NNBENCH_DIR)/*.c)) \
		$(TOOLS_COMMON) $(TOOLS_NNHAL) FORCE
	$(call link,$^ $(NNHAL_LIBS))

tools: $(BUILD)/bin/nnbench

INSTALLED_TOOLS += $(BUILD)/bin/nnbench
