# SPDX-License-Identifier: MIT
#
# The documents say what the headers and the tree say. Counted apart from the tests.

DOC_CHECKS += tests/docs/check-spec
DOC_CHECKS += tests/docs/check-documents
DOC_CHECKS += tests/docs/check-conformance
DOC_CHECKS += tests/docs/check-sphinx
DOC_CHECKS += tests/docs/check-bindings
DOC_CHECKS += tests/docs/check-locks

# Prints the registers of the device model. check-spec makes it, in a build directory of its own.
$(BUILD)/obj/tests/docs/%.o: DIR_CFLAGS = -D_GNU_SOURCE -Iemulator -Ikernel -Itests

$(BUILD)/tests/reset_values: $(BUILD)/obj/tests/docs/reset_values.o \
		$(BUILD)/obj/tests/emulator/rig.o $(BUILD)/lib/libnnpu-emu.a FORCE
	$(call link,$^ -lpthread -lm)
