# SPDX-License-Identifier: MIT
#
# Tests of libnntflite.

NNTFLITE_TEST_DIR := tests/libnntflite
NNTFLITE_TESTS := $(BUILD)/tests/nntflite_loader_test

$(BUILD)/obj/$(NNTFLITE_TEST_DIR)/%.o: \
	DIR_CFLAGS = -D_GNU_SOURCE -I. -Itests $(NNTFLITE_CFLAGS)

$(NNTFLITE_TESTS): $(BUILD)/tests/%: $(BUILD)/obj/$(NNTFLITE_TEST_DIR)/%.o \
		$(BUILD)/obj/$(NNTFLITE_TEST_DIR)/model_writer.o $(TOOLS_COMMON) \
		$(BUILD)/lib/libnntflite.a $(BUILD)/lib/libnnhal.a FORCE
	$(call link,$^ $(NNHAL_LIBS))

HOST_TESTS += $(NNTFLITE_TESTS)
