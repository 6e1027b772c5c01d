# SPDX-License-Identifier: MIT
#
# Processes at the same time on one device.

CONCURRENT_TEST := $(BUILD)/tests/concurrent_test
CONCURRENT_NNRUN := error file flatbuf tflite tflite_names hal_builder tflite_to_hal map_operator

$(BUILD)/obj/tests/concurrency/%.o: DIR_CFLAGS = -D_GNU_SOURCE -I. -Itests -Iuserspace/libnnhal/include

$(CONCURRENT_TEST): $(BUILD)/obj/tests/concurrency/concurrent_test.o \
		$(CONCURRENT_NNRUN:%=$(BUILD)/obj/userspace/tools/nnrun/%.o) $(BUILD)/lib/libnnhal.a
	$(call link,$^ $(NNHAL_LIBS))

HOST_TESTS += $(CONCURRENT_TEST)
VM_TESTS += $(CONCURRENT_TEST)
