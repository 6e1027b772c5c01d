# SPDX-License-Identifier: MIT
#
# Tests of the operations of the device model, without the device around them.

OPS_TEST_DIR := tests/ops
OPS_TESTS := $(patsubst $(OPS_TEST_DIR)/%.c,$(BUILD)/tests/%,\
	$(wildcard $(OPS_TEST_DIR)/*_test.c))
OPS_TEST_OBJS := $(patsubst %.c,$(BUILD)/obj/%.o,\
	$(wildcard emulator/ops/*.c emulator/ops/*/*.c signatures/*.c) \
	$(filter-out %_test.c,$(wildcard $(OPS_TEST_DIR)/*.c))) $(TOOLS_COMMON)

$(BUILD)/obj/$(OPS_TEST_DIR)/%.o: \
	DIR_CFLAGS = -D_GNU_SOURCE -Iemulator -Iemulator/ops -ffp-contract=off

# It compares as nnvec does.
$(BUILD)/obj/$(OPS_TEST_DIR)/ops_vectors_test.o: \
	DIR_CFLAGS = -D_GNU_SOURCE -Iemulator -Iemulator/ops -Iuserspace/libnnhal/include -ffp-contract=off

$(filter-out $(BUILD)/tests/ops_empty_test,$(OPS_TESTS)): $(BUILD)/tests/%: $(BUILD)/obj/$(OPS_TEST_DIR)/%.o \
		$(OPS_TEST_OBJS) FORCE
	$(call link,$^ -lpthread -lm)

$(BUILD)/tests/ops_vectors_test: $(BUILD)/lib/libnnhal.a

# Counted: see tests/build.mk.
$(BUILD)/tests/ops_empty_test: $(BUILD)/obj/$(OPS_TEST_DIR)/ops_empty_test.o $(OPS_COUNTED) \
		$(filter-out $(patsubst %.c,$(BUILD)/obj/%.o,$(EMU_OPS_SRCS)),$(OPS_TEST_OBJS)) FORCE
	$(call link,$^ -lpthread -lm)

HOST_TESTS += $(OPS_TESTS)
PACE_TESTS += $(BUILD)/tests/ops_pace_test
