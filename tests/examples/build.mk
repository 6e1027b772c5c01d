# SPDX-License-Identifier: MIT
#
# The examples, built as a newcomer does: copied out of the tree, against an installed
# library, with pkg-config and nothing else.

EXAMPLE_NAMES := hello label classify camera callbacks average rapid nnapi delegate
EXAMPLES_DIR := $(abspath $(BUILD))/tests/examples
EXAMPLES_ROOT := $(EXAMPLES_DIR)/root
EXAMPLES_TEST := $(BUILD)/tests/examples_test.sh

# Where pkg-config looks besides, for libpng. A system for arm64 is not that of this machine: what is
# in its /usr lies in the root of the examples, too.
ifeq ($(ARCH),arm64)
EXAMPLES_SYSTEM := $(shell scripts/build-userland --print arm64 2>/dev/null)
EXAMPLES_LIBRARIES := $(EXAMPLES_ROOT)$(LIBDIR):$(EXAMPLES_SYSTEM)/usr/lib/aarch64-linux-gnu
PKG_CONFIG_SYSTEM := $(EXAMPLES_ROOT)/usr/lib/aarch64-linux-gnu/pkgconfig
else
EXAMPLES_SYSTEM :=
EXAMPLES_LIBRARIES := $(EXAMPLES_ROOT)$(LIBDIR)
PKG_CONFIG_SYSTEM := $(shell pkg-config --variable=pc_path pkg-config)
endif

# The variables of this make reach the inner one, the kind of build among them.
.PHONY: install-for-examples
install-for-examples: lib tools
	$(call say,INSTALL,$(EXAMPLES_ROOT))
	$(Q)rm -rf $(EXAMPLES_ROOT)
	$(Q)$(MAKE) --no-print-directory -s install DESTDIR=$(EXAMPLES_ROOT) >&2
	$(if $(EXAMPLES_SYSTEM),$(Q)ln -s $(EXAMPLES_SYSTEM)/usr/include $(EXAMPLES_SYSTEM)/usr/lib $(EXAMPLES_ROOT)/usr/)

# The library's sanitizers have to be in the program, too. The linker looks for the libraries that a
# library needs in the folders of the system; these ones are elsewhere. Nothing else is added.
$(EXAMPLES_TEST): tests/examples/test_examples install-for-examples
	$(Q)for name in $(EXAMPLE_NAMES); do \
		rm -rf $(EXAMPLES_DIR)/$$name && cp -r examples/$$name $(EXAMPLES_DIR)/ && \
		rm -f $(EXAMPLES_DIR)/$$name/$$name && \
		env -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES \
			PKG_CONFIG_SYSROOT_DIR=$(EXAMPLES_ROOT) \
			PKG_CONFIG_LIBDIR=$(EXAMPLES_ROOT)$(LIBDIR)/pkgconfig:$(PKG_CONFIG_SYSTEM) \
			$(MAKE) --no-print-directory -s -C $(EXAMPLES_DIR)/$$name CC='$(CC)' \
				CFLAGS='-Wall -Wextra -Werror -O2 $(if $(SAN),$(SAN_CFLAGS))' \
				LDFLAGS='-Wl,-rpath-link,$(EXAMPLES_LIBRARIES)' >&2 || \
			exit 1; \
	done
	$(Q)printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s %s\n' $(EXAMPLES_ROOT)$(LIBDIR) \
		$< $(EXAMPLES_DIR) >$@
	$(Q)chmod 755 $@

HOST_TESTS += $(EXAMPLES_TEST)
VM_TESTS += $(EXAMPLES_TEST)
