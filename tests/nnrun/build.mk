# SPDX-License-Identifier: MIT
#
# Tests of nnrun. They use the in-process device; NNRUN and NNRUN_FLAGS in the
# environment make the scripts run another binary or use another device.

NNRUN_TEST_DIR := tests/nnrun
NNRUN_TESTS := $(BUILD)/tests/nnrun_loader_test $(BUILD)/tests/nnrun_formats_test
NNRUN_SCRIPTS := $(BUILD)/tests/nnrun_cli_test.sh
NNRUN_MODEL_SCRIPTS := $(BUILD)/tests/nnrun_test_models.sh

$(BUILD)/obj/$(NNRUN_TEST_DIR)/%.o: \
	DIR_CFLAGS = -D_GNU_SOURCE -I. -Itests -I$(NNHAL_DIR)/include

$(NNRUN_TESTS): $(BUILD)/tests/nnrun_%_test: $(BUILD)/obj/$(NNRUN_TEST_DIR)/%_test.o \
		$(BUILD)/obj/$(NNRUN_TEST_DIR)/model_writer.o $(NNRUN_LIB_OBJS) \
		$(BUILD)/lib/libnnhal.a
	$(call link,$^ $(NNHAL_LIBS))

$(BUILD)/tests/nnrun_compare: $(BUILD)/obj/$(NNRUN_TEST_DIR)/compare.o
	$(call link,$^ -lm)

$(NNRUN_SCRIPTS): $(BUILD)/tests/nnrun_%.sh: $(NNRUN_TEST_DIR)/% $(BUILD)/bin/nnrun
	$(Q)mkdir -p $(@D)
	$(Q)install -m 755 $< $@

$(NNRUN_MODEL_SCRIPTS): $(BUILD)/tests/nnrun_%.sh: $(NNRUN_TEST_DIR)/% $(BUILD)/bin/nnrun \
		$(BUILD)/tests/nnrun_compare
	$(Q)mkdir -p $(@D)
	$(Q)install -m 755 $< $@

HOST_TESTS += $(NNRUN_TESTS) $(NNRUN_SCRIPTS) $(NNRUN_MODEL_SCRIPTS)
VM_TESTS += $(NNRUN_MODEL_SCRIPTS)
