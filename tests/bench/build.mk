# SPDX-License-Identifier: MIT
#
# Programs of `make bench` that are no tests: the device model against XNNPACK, which
# Debian has as libxnnpack-dev. Nothing else is built with it.

BENCH_DIR := tests/bench
BENCH_MODELS := $(BUILD)/tests/bench_models

.PHONY: bench-models
bench-models: $(BENCH_MODELS)

$(BUILD)/obj/$(BENCH_DIR)/%.o: \
	DIR_CFLAGS = -D_GNU_SOURCE -I. -Iemulator -Ikernel $(NNTFLITE_CFLAGS) \
		     -I$(NNHAL_DIR) $(DRM_CFLAGS)

# The library's objects by themselves, for the emulator's names are its own in libnnhal.a.
$(BENCH_MODELS): $(patsubst %,$(BUILD)/obj/$(BENCH_DIR)/%.o,bench_models bench_parts one_cpu peak \
		reference_dense reference_elementwise reference_isa reference_layers) \
		$(NNRUN_LIB_OBJS) $(NNHAL_OBJS) FORCE
	$(call link,$^ -lXNNPACK -lpthreadpool -lcpuinfo $(NNRUN_LIBS) $(NNHAL_LIBS))

# The memory of the device that models take, which needs no XNNPACK.
BENCH_MEMORY := $(BUILD)/tests/bench_memory
MODEL_MEMORY_OBJS := $(patsubst %,$(BUILD)/obj/$(BENCH_DIR)/%.o,model_memory needed_memory)

.PHONY: bench-memory
bench-memory: $(BENCH_MEMORY)

$(BENCH_MEMORY): $(BUILD)/obj/$(BENCH_DIR)/bench_memory.o $(MODEL_MEMORY_OBJS) \
		$(NNRUN_LIB_OBJS) $(NNHAL_OBJS) FORCE
	$(call link,$^ $(NNRUN_LIBS) $(NNHAL_LIBS))

# How long preparing takes; with the library as others have it.
BENCH_PREPARE := $(BUILD)/tests/bench_prepare

.PHONY: bench-prepare
bench-prepare: $(BENCH_PREPARE)

$(BENCH_PREPARE): $(BUILD)/obj/$(BENCH_DIR)/bench_prepare.o $(NNRUN_LIB_OBJS) \
		$(BUILD)/lib/libnnhal.a FORCE
	$(call link,$^ $(NNRUN_LIBS) $(NNHAL_LIBS))

# The loops along rows of the device model, by variant.
BENCH_ROWS := $(BUILD)/tests/bench_rows

.PHONY: bench-rows
bench-rows: $(BENCH_ROWS)

$(BUILD)/obj/$(BENCH_DIR)/bench_rows.o: DIR_CFLAGS = -D_GNU_SOURCE -Iemulator -Iemulator/ops

$(BENCH_ROWS): $(BUILD)/obj/$(BENCH_DIR)/bench_rows.o $(BUILD)/lib/libnnpu-emu.a FORCE
	$(call link,$^ -lpthread -lm)

# What it costs to bind memory.
BENCH_POOLS := $(BUILD)/tests/bench_pools

.PHONY: bench-pools
bench-pools: $(BENCH_POOLS)

$(BENCH_POOLS): $(BUILD)/obj/$(BENCH_DIR)/bench_pools.o $(BUILD)/lib/libnnhal.a FORCE
	$(call link,$^ $(NNHAL_LIBS))

# The C API of the NNAPI beside libnnhal, in one program.
BENCH_NDK := $(BUILD)/tests/bench_ndk

.PHONY: bench-ndk
bench-ndk: $(BENCH_NDK)

$(BUILD)/obj/$(BENCH_DIR)/bench_ndk.o: \
	DIR_CFLAGS = -D_GNU_SOURCE -I. -I$(NDK_DIR)/include -I$(NNHAL_DIR)/include

$(BENCH_NDK): $(BUILD)/obj/$(BENCH_DIR)/bench_ndk.o $(NDK_OBJS) \
		$(patsubst %,$(BUILD)/obj/userspace/tools/nnbench/nnbench_%.o,model bound steps symbols report) \
		$(TOOLS_COMMON) $(BUILD)/lib/libnnhal.a FORCE
	$(call link,$^ $(NNHAL_LIBS))
