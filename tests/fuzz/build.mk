# SPDX-License-Identifier: MIT
#
# Fuzzers of the device model and of what the tools read. libFuzzer instruments all that is
# compiled with it, so the sources are compiled again; it is part of clang, whatever CC is.

FUZZ_CC ?= clang
# Loops that ask for vectors have none beside the counters of coverage.
FUZZ_DEVICE_FLAGS = $(NNPU_CFLAGS) -g -O1 -fsanitize=fuzzer,address,undefined \
	-fno-sanitize-recover=all -fno-omit-frame-pointer -ffp-contract=off \
	-Wno-pass-failed -Iemulator -Ikernel

FUZZ_DEVICE_SRCS := $(wildcard emulator/core/*.c emulator/ops/*.c emulator/ops/*/*.c \
	emulator/inproc/*.c signatures/*.c)
FUZZ_DEVICE_DEPS := $(FUZZ_DEVICE_SRCS) $(wildcard emulator/*/*.h emulator/*/*/*.h signatures/*.h) \
	kernel/nnpu_hw.h uapi/drm/nnpu_program.h tests/emulator/rig.h tests/fuzz/large_share.h
# The same sources for both fuzzers, compiled once.
FUZZ_DEVICE_OBJS := $(FUZZ_DEVICE_SRCS:%.c=$(BUILD)/fuzz/%.o)

$(BUILD)/fuzz/%.o: %.c $(FUZZ_DEVICE_DEPS) FORCE
	$(call if-changed,CC,$(FUZZ_CC) $(FUZZ_DEVICE_FLAGS) -c -o $@ $<)

link-fuzzer = $(call if-changed,FUZZ,$(FUZZ_CC) $(FUZZ_DEVICE_FLAGS) -o $@ $(filter-out FORCE,$(1)) \
	-lpthread -lm)

$(BUILD)/tests/fuzz_program: $(BUILD)/fuzz/tests/fuzz/fuzz_program.o $(FUZZ_DEVICE_OBJS) FORCE
	$(call link-fuzzer,$^)

$(BUILD)/tests/fuzz_rings: $(BUILD)/fuzz/tests/fuzz/fuzz_rings.o \
		$(BUILD)/fuzz/tests/emulator/rig.o $(FUZZ_DEVICE_OBJS) FORCE
	$(call link-fuzzer,$^)

$(BUILD)/obj/tests/fuzz/fuzz_seeds.o: DIR_CFLAGS = -D_GNU_SOURCE -Iemulator -Ikernel

$(BUILD)/tests/fuzz_seeds: $(BUILD)/obj/tests/fuzz/fuzz_seeds.o \
		$(BUILD)/obj/tests/emulator/rig.o $(BUILD)/lib/libnnpu-emu.a FORCE
	$(call link,$^ -lpthread -lm)

# Program images of random graphs; with the library's objects, for what it does not export.
$(BUILD)/obj/tests/fuzz/graph_images.o: DIR_CFLAGS = -D_GNU_SOURCE -Itests/random -Itests/ops \
	-I$(NNHAL_DIR)/include -I$(NNHAL_DIR) -Ikernel $(DRM_CFLAGS)

$(BUILD)/tests/graph_images: $(BUILD)/obj/tests/fuzz/graph_images.o \
		$(BUILD)/obj/tests/random/hal_case.o $(TOOLS_COMMON) $(NNHAL_OBJS) FORCE
	$(call link,$^ $(NNHAL_LIBS))

$(BUILD)/tests/run_fuzz_program.sh: $(BUILD)/tests/graph_images

FUZZ_DEVICE_TESTS := $(BUILD)/tests/run_fuzz_program.sh $(BUILD)/tests/run_fuzz_rings.sh

$(FUZZ_DEVICE_TESTS): $(BUILD)/tests/run_fuzz_%.sh: tests/fuzz/run_device_fuzzer \
		$(BUILD)/tests/fuzz_% $(BUILD)/tests/fuzz_seeds
	$(Q)printf '#!/bin/sh\nexec tests/fuzz/run_device_fuzzer %s\n' $* >$@
	$(Q)chmod 755 $@

FUZZ_TESTS += $(FUZZ_DEVICE_TESTS)

# The tools, with the library without its in-process device: objects, which a compiler cache
# knows, and the same for both.
FUZZ_TOOLS_FLAGS = $(NNPU_CFLAGS) -g -O1 -fsanitize=fuzzer,address,undefined \
	-fno-sanitize-recover=all -D_GNU_SOURCE -I. $(NNTFLITE_CFLAGS) -I$(NNHAL_DIR) -Ikernel \
	-Iemulator $(DRM_CFLAGS)
FUZZ_TOOLS_DEPS := $(wildcard userspace/*/*.h userspace/*/*/*.h userspace/*/*/*/*.h signatures/*.h \
	uapi/drm/*.h kernel/nnpu_hw.h)
FUZZ_NNHAL_SRCS := $(sort $(filter-out emulator/% $(NNHAL_SIM_SRCS),$(NNHAL_SRCS)) \
	$(NNHAL_NOSIM_SRCS))

$(BUILD)/fuzz-tools/%.o: %.c $(FUZZ_TOOLS_DEPS) FORCE
	$(call if-changed,CC,$(FUZZ_CC) $(FUZZ_TOOLS_FLAGS) -c -o $@ $<)

fuzz-tools-objs = $(patsubst %.c,$(BUILD)/fuzz-tools/%.o,$(1) $(FUZZ_NNHAL_SRCS))

# With the in-process device: models run.
FUZZ_TFLITE_SRCS := tests/fuzz/fuzz_tflite.c tests/fuzz/tflite_run.c $(NNTFLITE_SRCS) \
	$(filter-out emulator/% signatures/% $(NNHAL_NOSIM_SRCS),$(NNHAL_SRCS)) $(NNHAL_SIM_SRCS)

$(BUILD)/tests/fuzz_tflite: $(patsubst %.c,$(BUILD)/fuzz-tools/%.o,$(sort $(FUZZ_TFLITE_SRCS))) \
		$(FUZZ_DEVICE_OBJS) FORCE
	$(call link-fuzzer,$^)

# What its corpus began with; with the table of operators, which the library does not export.
$(BUILD)/obj/tests/fuzz/tflite_seeds.o: DIR_CFLAGS = -D_GNU_SOURCE -I. $(NNTFLITE_CFLAGS)

$(BUILD)/tests/tflite_seeds: $(BUILD)/obj/tests/fuzz/tflite_seeds.o \
		$(BUILD)/obj/tests/libnntflite/model_writer.o $(NNTFLITE_OBJS) \
		$(BUILD)/lib/libnnhal.a FORCE
	$(call link,$^ $(NNHAL_LIBS))

$(BUILD)/tests/fuzz_nntc: $(call fuzz-tools-objs,tests/fuzz/fuzz_nntc.c \
		userspace/tools/common/nntc.c \
		$(addprefix $(NNVEC_DIR)/,case_model.c case_pools.c variation.c)) FORCE
	$(call link-fuzzer,$^)

$(BUILD)/tests/run_fuzz_tflite.sh: tests/libnntflite/run_fuzz_tflite $(BUILD)/tests/fuzz_tflite \
		$(BUILD)/tests/tflite_seeds \
		$(patsubst %,$(BUILD)/tests/nntflite_%_test,control resources stablehlo lstm)
	$(Q)install -m 755 $< $@

$(BUILD)/tests/run_fuzz_nntc.sh: tests/nnvec/run_fuzz_nntc $(BUILD)/tests/fuzz_nntc
	$(Q)install -m 755 $< $@

FUZZ_TESTS += $(BUILD)/tests/run_fuzz_tflite.sh $(BUILD)/tests/run_fuzz_nntc.sh

# The readers of nnrun; of libpng, libjpeg and zlib what is installed.
$(BUILD)/fuzz-tools/userspace/tools/nnrun/media/%.o: FUZZ_TOOLS_FLAGS += $(NNRUN_CFLAGS)

$(BUILD)/tests/fuzz_media: $(patsubst %.c,$(BUILD)/fuzz-tools/%.o,tests/fuzz/fuzz_media.c \
		userspace/tools/common/error.c $(NNRUN_DIR)/mfcc.c $(wildcard $(NNRUN_DIR)/media/*.c)) FORCE
	$(call if-changed,FUZZ,$(FUZZ_CC) $(FUZZ_DEVICE_FLAGS) -o $@ $(filter-out FORCE,$^) $(NNRUN_LIBS) -lm)

$(BUILD)/tests/run_fuzz_media.sh: tests/nnrun/run_fuzz_media $(BUILD)/tests/fuzz_media \
		$(BUILD)/tests/media_tool
	$(Q)install -m 755 $< $@

FUZZ_TESTS += $(BUILD)/tests/run_fuzz_media.sh

# Calls of the NNAPI, with the in-process device behind it.
$(patsubst %,$(BUILD)/fuzz-tools/tests/fuzz/%.o,fuzz_ndk ndk_graphs) $(NDK_SRCS:%.c=$(BUILD)/fuzz-tools/%.o): \
	FUZZ_TOOLS_FLAGS += -I$(NDK_DIR)/include -I$(NDK_DIR)

$(BUILD)/tests/fuzz_ndk: $(patsubst %.c,$(BUILD)/fuzz-tools/%.o,$(sort tests/fuzz/fuzz_ndk.c tests/fuzz/ndk_graphs.c $(NDK_SRCS) \
		$(filter-out emulator/% signatures/% $(NNHAL_NOSIM_SRCS),$(NNHAL_SRCS)) $(NNHAL_SIM_SRCS))) \
		$(FUZZ_DEVICE_OBJS) FORCE
	$(call link-fuzzer,$^)

$(BUILD)/tests/run_fuzz_ndk.sh: tests/ndk/run_fuzz_ndk $(BUILD)/tests/fuzz_ndk
	$(Q)install -m 755 $< $@

FUZZ_TESTS += $(BUILD)/tests/run_fuzz_ndk.sh
