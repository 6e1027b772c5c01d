# SPDX-License-Identifier: MIT
#
# What debian/ and the tree have to say alike, and the completion of the tools. The packages
# themselves are built and tried by scripts/check-packages.

PACKAGING_TEST := $(BUILD)/tests/packaging_test.sh

$(PACKAGING_TEST): tests/packaging/packaging_test tools
	$(Q)mkdir -p $(@D)
	$(Q)printf '#!/bin/sh\nexec %s %s %s\n' $< $(abspath $(BUILD))/bin '$(notdir $(INSTALLED_TOOLS))' >$@
	$(Q)chmod 755 $@

HOST_TESTS += $(PACKAGING_TEST)
