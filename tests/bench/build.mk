# SPDX-License-Identifier: MIT
#
# Programs of `make bench` that are no tests: the device model against XNNPACK, which
# Debian has as libxnnpack-dev. Nothing else is built with it.

BENCH_DIR := tests/bench
BENCH_MODELS := $(BUILD)/tests/bench_models

.PHONY: bench-models
bench-models: $(BENCH_MODELS)

$(BUILD)/obj/$(BENCH_DIR)/%.o: \
	DIR_CFLAGS = -D_GNU_SOURCE -I. -Iemulator -Ikernel -I$(NNHAL_DIR)/include \
		     -I$(NNHAL_DIR) $(DRM_CFLAGS)

# The library's objects by themselves, for the emulator's names are its own in libnnhal.a.
$(BENCH_MODELS): $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard $(BENCH_DIR)/*.c)) \
		$(NNRUN_LIB_OBJS) $(NNHAL_OBJS) FORCE
	$(call link,$^ -lXNNPACK -lpthreadpool $(NNHAL_LIBS))
