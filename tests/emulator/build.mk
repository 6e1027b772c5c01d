# SPDX-License-Identifier: MIT
#
# Tests of the device model: the in-process device, driven like hardware.

EMU_TEST_DIR := tests/emulator
EMU_TESTS := $(patsubst $(EMU_TEST_DIR)/%.c,$(BUILD)/tests/%,\
	$(wildcard $(EMU_TEST_DIR)/*_test.c))

$(BUILD)/obj/$(EMU_TEST_DIR)/%.o: DIR_CFLAGS = -D_GNU_SOURCE -Iemulator -Ikernel -Itests

$(filter-out $(BUILD)/tests/emu_empty_test,$(EMU_TESTS)): $(BUILD)/tests/%: $(BUILD)/obj/$(EMU_TEST_DIR)/%.o \
		$(BUILD)/obj/$(EMU_TEST_DIR)/rig.o $(BUILD)/obj/$(EMU_TEST_DIR)/sample_images.o \
		$(BUILD)/lib/libnnpu-emu.a FORCE
	$(call link,$^ -lpthread -lm)

# A kernel with larger pages: runs there, and a whole device that saves and loads programs.
HOST_PAGES := $(BUILD)/obj/$(EMU_TEST_DIR)/host_pages.o
EMU_LARGE_PAGES_TEST := $(BUILD)/tests/emu_large_pages_test
$(BUILD)/tests/emu_host_pages_test: $(HOST_PAGES)
$(EMU_LARGE_PAGES_TEST): $(addprefix $(BUILD)/obj/$(EMU_TEST_DIR)/,emu_save_test.o rig.o sample_images.o) \
		$(HOST_PAGES) $(BUILD)/lib/libnnpu-emu.a FORCE
	$(call link,$^ -lpthread -lm)
$(BUILD)/tests/emu_host_pages_test $(EMU_LARGE_PAGES_TEST): \
	DIR_LDFLAGS = $(patsubst %,-Wl$(comma)--wrap=%,madvise mmap munmap getpagesize)
HOST_TESTS += $(EMU_LARGE_PAGES_TEST)

# With sanitizers it takes minutes, and constants of 256 MiB have no pace: in PACE_TESTS only.
HOST_TESTS += $(filter-out $(BUILD)/tests/emu_pace_test,$(EMU_TESTS))

# Calls of these functions come to pace_watch.c first.
EMU_PACE_TESTS := $(addprefix $(BUILD)/tests/,emu_pace_test emu_points_test)
$(EMU_PACE_TESTS): $(BUILD)/obj/$(EMU_TEST_DIR)/pace_watch.o
$(EMU_PACE_TESTS): DIR_LDFLAGS = $(patsubst %,-Wl$(comma)--wrap=%,op_progress op_execute shapes_infer)
$(BUILD)/tests/emu_pace_test: $(BUILD)/obj/tests/ops/large_calls.o

PACE_TESTS += $(EMU_PACE_TESTS)

# What the host gives: sanitizers have more, and a heap of their own.
PACE_TESTS += $(addprefix $(BUILD)/tests/,emu_bound_test emu_fragments_test emu_page_runs_test)

# Counted: see tests/build.mk. These operations are in place of those of the library.
$(BUILD)/obj/$(EMU_TEST_DIR)/emu_empty_test.o: \
	DIR_CFLAGS = -D_GNU_SOURCE -Iemulator -Iemulator/ops -Ikernel -Itests
$(BUILD)/tests/emu_empty_test: $(addprefix $(BUILD)/obj/$(EMU_TEST_DIR)/,emu_empty_test.o rig.o sample_images.o) \
		$(addprefix $(BUILD)/obj/tests/ops/,empty_calls.o large_calls.o) $(OPS_COUNTED) \
		$(BUILD)/lib/libnnpu-emu.a FORCE
	$(call link,$^ -lpthread -lm)
$(BUILD)/tests/emu_empty_test: DIR_LDFLAGS = $(patsubst %,-Wl$(comma)--wrap=%,op_progress op_execute)

# It reads and compares as nnvec does.
EMU_VECTORS_OBJS := $(TOOLS_COMMON) $(BUILD)/lib/libnnhal.a
$(BUILD)/obj/$(EMU_TEST_DIR)/emu_control_vectors_test.o: \
	DIR_CFLAGS = -D_GNU_SOURCE -Iemulator -Ikernel -Itests -Iuserspace/libnnhal/include
$(BUILD)/tests/emu_control_vectors_test: $(EMU_VECTORS_OBJS)

# It counts what the device allocates.
EMU_BOUND_WRAPPED := malloc calloc realloc aligned_alloc free mmap munmap mremap madvise nnpu_device_create
$(BUILD)/tests/emu_bound_test: DIR_LDFLAGS = $(addprefix -Wl$(comma)--wrap=,$(EMU_BOUND_WRAPPED))

# It watches what the device does under its lock.
EMU_LOCKS_WRAPPED := $(EMU_BOUND_WRAPPED) pthread_create pthread_mutex_lock pthread_mutex_unlock
$(BUILD)/tests/emu_locks_test: DIR_LDFLAGS = $(addprefix -Wl$(comma)--wrap=,$(EMU_LOCKS_WRAPPED))

# It lets the device make no more threads.
$(BUILD)/tests/emu_preempt_test: DIR_LDFLAGS = -Wl,--wrap=pthread_create

# It stops the device where that takes a load.
$(BUILD)/tests/emu_load_test: DIR_LDFLAGS = -Wl,--wrap=calloc

# It lets the device find no libcrypto.
$(BUILD)/tests/emu_save_test $(EMU_LARGE_PAGES_TEST): DIR_LDFLAGS += -Wl,--wrap=dlopen

# They look between the device and the bus.
EMU_BUS_TESTS := $(addprefix $(BUILD)/tests/,emu_pause_test emu_queue_end_test emu_queue_test emu_registers_test)
$(EMU_BUS_TESTS): DIR_LDFLAGS = -Wl,--wrap=nnpu_device_create
$(EMU_BUS_TESTS) $(BUILD)/tests/emu_bound_test: $(BUILD)/obj/$(EMU_TEST_DIR)/watched_bus.o
