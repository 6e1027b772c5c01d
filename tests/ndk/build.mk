# SPDX-License-Identifier: MIT
#
# Tests of libneuralnetworks.

NDK_TEST_DIR := tests/ndk
NDK_TESTS := $(patsubst %,$(BUILD)/tests/ndk_%_test,buffers devices header model run states)

$(BUILD)/obj/$(NDK_TEST_DIR)/%.o: DIR_CFLAGS = -D_GNU_SOURCE -Itests -I$(NDK_DIR)/include -I$(NNHAL_DIR)/include

# With the objects of the library, so that sanitizers see into them.
$(NDK_TESTS): $(BUILD)/tests/%: $(BUILD)/obj/$(NDK_TEST_DIR)/%.o $(NDK_OBJS) \
		$(BUILD)/lib/libnnhal.a FORCE
	$(call link,$(filter-out FORCE,$^) $(NNHAL_LIBS))

NDK_ABI_TEST := $(BUILD)/tests/ndk_abi_test.sh

$(NDK_ABI_TEST): $(NDK_TEST_DIR)/ndk_abi_test.sh $(NDK_TEST_DIR)/functions.list \
		$(BUILD)/lib/libneuralnetworks.so $(BUILD)/tests/library.sh
	$(Q)install -D -m 755 $< $@

HOST_TESTS += $(NDK_TESTS) $(NDK_ABI_TEST)
