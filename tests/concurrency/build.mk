# SPDX-License-Identifier: MIT
#
# Real models, many times: by processes at the same time, and in bursts.

CONCURRENCY_TESTS := $(BUILD)/tests/concurrent_test $(BUILD)/tests/burst_models_test
CONCURRENCY_NNRUN := tflite tflite_names hal_builder tflite_to_hal map_operator

$(BUILD)/obj/tests/concurrency/%.o: DIR_CFLAGS = -D_GNU_SOURCE -I. -Itests -Iuserspace/libnnhal/include

$(CONCURRENCY_TESTS): $(BUILD)/tests/%: $(BUILD)/obj/tests/concurrency/%.o \
		$(BUILD)/obj/tests/concurrency/models.o \
		$(CONCURRENCY_NNRUN:%=$(BUILD)/obj/userspace/tools/nnrun/%.o) $(TOOLS_COMMON) \
		$(BUILD)/lib/libnnhal.a FORCE
	$(call link,$^ $(NNHAL_LIBS))

HOST_TESTS += $(CONCURRENCY_TESTS)
VM_TESTS += $(CONCURRENCY_TESTS)
