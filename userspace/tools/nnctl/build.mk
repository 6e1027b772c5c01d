# SPDX-License-Identifier: MIT
#
# nnctl: what devices do, and who uses them. Left out where libnl is not installed.

NNCTL_DIR := userspace/tools/nnctl
NNCTL_NL_LIBS := $(shell $(PKG_CONFIG) --libs libnl-genl-3.0 2>/dev/null)
NNCTL_NL_CFLAGS := $(shell $(PKG_CONFIG) --cflags libnl-genl-3.0 2>/dev/null)

ifneq ($(NNCTL_NL_LIBS),)
$(BUILD)/obj/$(NNCTL_DIR)/%.o: DIR_CFLAGS = -D_GNU_SOURCE $(NNCTL_NL_CFLAGS) $(DRM_CFLAGS)

$(BUILD)/bin/nnctl: $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard $(NNCTL_DIR)/*.c)) \
		$(TOOLS_COMMON) FORCE
	$(call link,$^ $(NNCTL_NL_LIBS) -lm)

tools: $(BUILD)/bin/nnctl
INSTALLED_TOOLS += $(BUILD)/bin/nnctl
endif
