# SPDX-License-Identifier: MIT
#
# Tests of nnrun. They use the in-process device; NNRUN and NNRUN_FLAGS in the
# environment make the scripts run another binary or use another device.

NNRUN_TEST_DIR := tests/nnrun
NNRUN_TESTS := $(BUILD)/tests/nnrun_formats_test
NNRUN_SCRIPTS := $(BUILD)/tests/nnrun_cli_test.sh
NNRUN_MODEL_SCRIPTS := $(BUILD)/tests/nnrun_test_models.sh
NNRUN_COMPARE_SCRIPT := $(BUILD)/tests/nnrun_compare_test.sh
NNRUN_DEMO_SCRIPT := $(BUILD)/tests/nnrun_digits_demo_test.sh

$(BUILD)/obj/$(NNRUN_TEST_DIR)/%.o: \
	DIR_CFLAGS = -D_GNU_SOURCE -I. -Itests -Itests/libnntflite $(NNTFLITE_CFLAGS) $(NNRUN_CFLAGS)

$(NNRUN_TESTS): $(BUILD)/tests/%: $(BUILD)/obj/$(NNRUN_TEST_DIR)/%.o \
		$(NNRUN_LIB_OBJS) \
		$(BUILD)/lib/libnnhal.a FORCE
	$(call link,$^ $(NNRUN_LIBS) $(NNHAL_LIBS))

# What the device has for a model, by the objects of the library: it asks the device in the process.
NNRUN_MEMORY_TEST := $(BUILD)/tests/nnrun_memory_test

$(BUILD)/obj/$(NNRUN_TEST_DIR)/nnrun_memory_test.o: \
	DIR_CFLAGS = -D_GNU_SOURCE -I. -Itests -Iemulator -Ikernel $(NNTFLITE_CFLAGS) $(NNRUN_CFLAGS) \
		     -I$(NNHAL_DIR) $(DRM_CFLAGS)

$(NNRUN_MEMORY_TEST): $(BUILD)/obj/$(NNRUN_TEST_DIR)/nnrun_memory_test.o \
		$(patsubst %,$(BUILD)/obj/tests/bench/%.o,model_memory needed_memory) \
		$(NNRUN_LIB_OBJS) $(NNHAL_OBJS) FORCE
	$(call link,$^ $(NNRUN_LIBS) $(NNHAL_LIBS))

# With sanitizers there are gaps between small pieces.
PACE_TESTS += $(NNRUN_MEMORY_TEST)

# Decodes by nnrun's readers and writes JPEG, for the tests of formats. Those are in Python, and run
# on the host only: decoding has no device in it.
NNRUN_MEDIA_SCRIPTS := $(patsubst %,$(BUILD)/tests/nnrun_%_test.sh,arrays images outputs profile signatures sounds)

$(BUILD)/tests/media_tool: $(BUILD)/obj/$(NNRUN_TEST_DIR)/media_tool.o \
		$(BUILD)/obj/tests/libnntflite/model_writer.o $(NNRUN_LIB_OBJS) \
		$(BUILD)/lib/libnnhal.a FORCE
	$(call link,$^ $(NNRUN_LIBS) $(NNHAL_LIBS))

$(NNRUN_MEDIA_SCRIPTS): $(BUILD)/tests/%.sh: $(NNRUN_TEST_DIR)/% $(BUILD)/bin/nnrun \
		$(BUILD)/tests/media_tool
	$(Q)mkdir -p $(@D)
	$(Q)install -m 755 $< $@

$(BUILD)/tests/nnrun_compare: $(BUILD)/obj/$(NNRUN_TEST_DIR)/nnrun_compare.o FORCE
	$(call link,$^ -lm)

$(NNRUN_SCRIPTS): $(BUILD)/tests/%.sh: $(NNRUN_TEST_DIR)/% $(BUILD)/bin/nnrun
	$(Q)mkdir -p $(@D)
	$(Q)install -m 755 $< $@

$(NNRUN_MODEL_SCRIPTS): $(BUILD)/tests/%.sh: $(NNRUN_TEST_DIR)/% $(BUILD)/bin/nnrun \
		$(BUILD)/tests/nnrun_compare
	$(Q)mkdir -p $(@D)
	$(Q)install -m 755 $< $@

$(NNRUN_COMPARE_SCRIPT): $(BUILD)/tests/%.sh: $(NNRUN_TEST_DIR)/% $(BUILD)/tests/nnrun_compare
	$(Q)mkdir -p $(@D)
	$(Q)install -m 755 $< $@

$(NNRUN_DEMO_SCRIPT): $(BUILD)/tests/%.sh: $(NNRUN_TEST_DIR)/% $(BUILD)/bin/nnrun $(BUILD)/bin/digits_demo
	$(Q)mkdir -p $(@D)
	$(Q)install -m 755 $< $@

HOST_TESTS += $(NNRUN_TESTS) $(NNRUN_COMPARE_SCRIPT) $(NNRUN_DEMO_SCRIPT) $(NNRUN_SCRIPTS) $(NNRUN_MODEL_SCRIPTS) \
	$(NNRUN_MEDIA_SCRIPTS)
VM_TESTS += $(NNRUN_DEMO_SCRIPT) $(NNRUN_MODEL_SCRIPTS)
VM_LONG_TESTS += $(NNRUN_SCRIPTS)
