# SPDX-License-Identifier: MIT
#
# Tests of what the tools have in common, of nnbench and nnctl.

NNCTL_SCRIPT := $(BUILD)/tests/tools_nnctl.sh
TOOLS_SCRIPTS := $(BUILD)/tests/tools_man_pages.sh $(BUILD)/tests/tools_nnbench.sh $(NNCTL_SCRIPT)

$(TOOLS_SCRIPTS): $(BUILD)/tests/tools_%.sh: tests/tools/test_% $(BUILD)/bin/nnrun \
		$(BUILD)/bin/nnvec $(BUILD)/bin/nnbench $(if $(NNCTL_NL_LIBS),$(BUILD)/bin/nnctl)
	$(Q)mkdir -p $(@D)
	$(Q)install -m 755 $< $@

HOST_TESTS += $(TOOLS_SCRIPTS)
# Its loads are those of the kselftests.
$(NNCTL_SCRIPT): | $(if $(filter vm-tests,$(MAKECMDGOALS)),$(BUILD)/selftests/nnpu_loop)
VM_TESTS += $(NNCTL_SCRIPT)
VM_LONG_TESTS += $(BUILD)/tests/tools_nnbench.sh

$(BUILD)/obj/tests/tools/%.o: DIR_CFLAGS = -D_GNU_SOURCE -I. -Itests
$(BUILD)/tests/tools_file_test: DIR_LDFLAGS = -Wl,--wrap=ppoll
$(BUILD)/tests/tools_file_test: $(BUILD)/obj/tests/tools/tools_file_test.o $(TOOLS_COMMON) FORCE
	$(call link,$^ -lm)
HOST_TESTS += $(BUILD)/tests/tools_file_test

# They have the parts of nnctl that need neither libnl nor a driver.
ifneq ($(NNCTL_NL_LIBS),)
$(BUILD)/tests/nnctl_wait_test: DIR_LDFLAGS = -Wl,--wrap=ppoll
$(BUILD)/tests/nnctl_wait_test: $(BUILD)/obj/tests/tools/nnctl_wait_test.o \
		$(BUILD)/obj/$(NNCTL_DIR)/nnctl_wait.o $(TOOLS_COMMON) FORCE
	$(call link,$^ -lm)
$(BUILD)/tests/nnctl_doctor_test: $(BUILD)/obj/tests/tools/nnctl_doctor_test.o \
		$(patsubst %,$(BUILD)/obj/$(NNCTL_DIR)/nnctl_%.o,doctor record fields) $(TOOLS_COMMON) FORCE
	$(call link,$^ -lm)
# With the counters that libneuralnetworks makes.
$(BUILD)/tests/nnctl_nnapi_test: $(BUILD)/obj/tests/tools/nnctl_nnapi_test.o \
		$(BUILD)/obj/$(NNCTL_DIR)/nnctl_nnapi.o $(BUILD)/obj/$(NDK_DIR)/base/ndk_counters.o \
		$(TOOLS_COMMON) FORCE
	$(call link,$^ -lm -lpthread)
HOST_TESTS += $(BUILD)/tests/nnctl_wait_test $(BUILD)/tests/nnctl_doctor_test \
	$(BUILD)/tests/nnctl_nnapi_test
endif
