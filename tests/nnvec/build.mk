# SPDX-License-Identifier: MIT
#
# Tests of nnvec, and the operator vectors through nnvec. Those that need a device use
# the in-process one, or in the virtual machine the real one.

NNVEC_TEST_DIR := tests/nnvec
NNVEC_TESTS := $(patsubst $(NNVEC_TEST_DIR)/%.c,$(BUILD)/tests/%,\
	$(wildcard $(NNVEC_TEST_DIR)/*_test.c))
NNVEC_SCRIPTS := $(BUILD)/tests/nnvec_cli_test.sh $(BUILD)/tests/nnvec_shared_test.sh

$(BUILD)/obj/$(NNVEC_TEST_DIR)/%.o: DIR_CFLAGS = -D_GNU_SOURCE -I. -I$(NNHAL_DIR)/include

$(NNVEC_TESTS): $(BUILD)/tests/%: $(BUILD)/obj/$(NNVEC_TEST_DIR)/%.o \
		$(NNVEC_LIB_OBJS) $(BUILD)/lib/libnnhal.a FORCE
	$(call link,$^ $(NNHAL_LIBS))

# Functions of the library that nnvec_faults_test spoils.
$(BUILD)/tests/nnvec_faults_test: DIR_LDFLAGS = $(addprefix -Wl$(comma)--wrap=nnhal_,\
	prepared_model_execute prepared_model_execute_synchronously \
	device_prepare_model_sync ext_get_operation_support)

$(NNVEC_SCRIPTS): $(BUILD)/tests/%.sh: $(NNVEC_TEST_DIR)/% $(BUILD)/bin/nnvec
	$(Q)mkdir -p $(@D)
	$(Q)install -m 755 $< $@

HOST_TESTS += $(NNVEC_TESTS) $(NNVEC_SCRIPTS)
VM_TESTS += $(BUILD)/tests/nnvec_shared_test.sh
