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
		$(TOOLS_NNHAL) FORCE
	$(call link,$^ $(NNHAL_LIBS))

tools: $(BUILD)/bin/nnvec

INSTALLED_TOOLS += $(BUILD)/bin/nnvec
