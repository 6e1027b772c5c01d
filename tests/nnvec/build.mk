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

# A fuzzer of the reader and of what makes models of cases: clang has libFuzzer,
# whatever CC is.
FUZZ_NNTC := $(BUILD)/tests/fuzz_nntc
FUZZ_NNTC_SRCS := tests/fuzz/fuzz_nntc.c \
	userspace/tools/common/nntc.c \
	$(addprefix $(NNVEC_DIR)/,case_model.c case_pools.c variation.c) \
	$(sort $(filter-out emulator/% $(NNHAL_SIM_SRCS),$(NNHAL_SRCS)) \
		$(NNHAL_NOSIM_SRCS))

$(FUZZ_NNTC): $(FUZZ_NNTC_SRCS) $(wildcard $(NNVEC_DIR)/*.h userspace/tools/common/*.h) FORCE
	$(call if-changed,FUZZ,$(FUZZ_CC) $(NNPU_CFLAGS) -g -O1 \
		-fsanitize=fuzzer$(comma)address$(comma)undefined \
		-fno-sanitize-recover=all -D_GNU_SOURCE -I. -I$(NNHAL_DIR)/include -I$(NNHAL_DIR) -Ikernel \
		-Iemulator $(DRM_CFLAGS) -o $@ $(FUZZ_NNTC_SRCS) $(NNHAL_LIBS))

$(BUILD)/tests/run_fuzz_nntc.sh: $(NNVEC_TEST_DIR)/run_fuzz_nntc $(FUZZ_NNTC)
	$(Q)install -m 755 $< $@

FUZZ_TESTS += $(BUILD)/tests/run_fuzz_nntc.sh
