# SPDX-License-Identifier: MIT
#
# Real models, many times: by processes at the same time, and in bursts. And what is run
# under ThreadSanitizer and with delays.

CONCURRENCY_TESTS := $(BUILD)/tests/concurrent_test $(BUILD)/tests/burst_models_test

$(BUILD)/obj/tests/concurrency/%.o: DIR_CFLAGS = -D_GNU_SOURCE -I. -Itests $(NNTFLITE_CFLAGS)

$(CONCURRENCY_TESTS): $(BUILD)/tests/%: $(BUILD)/obj/tests/concurrency/%.o \
		$(BUILD)/obj/tests/concurrency/models.o \
		$(TOOLS_COMMON) $(BUILD)/lib/libnntflite.a \
		$(BUILD)/lib/libnnhal.a FORCE
	$(call link,$^ $(NNHAL_LIBS))

$(BUILD)/tests/starved_burst_test.sh: tests/concurrency/starved_burst_test.sh \
		tests/concurrency/starved $(BUILD)/tests/nnhal_burst_test
	$(Q)mkdir -p $(@D)
	$(Q)install -m 755 $< $@

HOST_TESTS += $(CONCURRENCY_TESTS) $(BUILD)/tests/starved_burst_test.sh
VM_TESTS += $(CONCURRENCY_TESTS)

#
# ThreadSanitizer: make SAN=thread run-tsan-tests
#
#   TSAN_TESTS       programs in which threads meet: callers, the library's threads, the
#                    engines and the control thread of the in-process device
#   TSAN_LONG_TESTS  those that take minutes there, run by soak
#
# A program that something was reported of ends with status 66. The first one sees to it
# that this is so.
TSAN_TESTS := $(patsubst %,$(BUILD)/tests/%,tsan_test \
	nnhal_burst_test nnhal_async_test nnhal_execute_test nnhal_memory_test nnhal_device_test \
	nnhal_prepare_test nnhal_slots_test nnhal_contexts_test nnhal_bound_test \
	nnhal_completion_test nnhal_fenced_test nnhal_buffer_execute_test nnhal_copy_test \
	nnhal_resilient_test \
	nnhal_fmq_test nnhal_burst_fmq_test nnhal_burst_fmq_client_test nnhal_burst_fmq_life_test \
	nnhal_burst_fmq_process_test emu_concurrency_test emu_queue_test emu_sched_test \
	emu_preempt_test emu_helpers_test emu_suspend_test emu_recovery_test emu_slot_test emu_load_test \
	ndk_threads_test ndk_cut_test ndk_again_test ndk_shared_test ndk_run_test)
TSAN_LONG_TESTS := $(CONCURRENCY_TESTS) \
	$(patsubst %,$(BUILD)/tests/%,nnhal_control_test nnhal_extension_test emu_control_test)

$(BUILD)/tests/tsan_test: $(BUILD)/obj/tests/concurrency/tsan_test.o
	$(call link,$^ -lpthread)

# In a build without it they would find nothing.
needs-tsan:
	@[ '$(SAN)' = thread ] || { echo 'run-tsan-tests needs SAN=thread' >&2; exit 1; }

tsan-tests: $(TSAN_TESTS)

# Threads that do nothing but disturb cost most of the time there.
run-tsan-tests: export NNPU_EMU_JOBS ?= 30
run-tsan-tests: needs-tsan $(TSAN_TESTS)
	$(call run-tests,$(TSAN_TESTS))

run-tsan-long-tests: needs-tsan $(TSAN_TESTS) $(TSAN_LONG_TESTS)
	$(call run-tests,$(TSAN_TESTS) $(TSAN_LONG_TESTS))

.PHONY: needs-tsan tsan-tests run-tsan-tests run-tsan-long-tests

# Delays between any two steps: make SAN=delays run-delayed-tests, NNPU_DELAYED times.
DELAYED_TESTS := $(patsubst %,$(BUILD)/tests/%,nnhal_burst_test nnhal_async_test \
	nnhal_burst_fmq_test emu_concurrency_test emu_queue_test emu_suspend_test)

ifeq ($(SAN),delays)
$(DELAYED_TESTS): $(BUILD)/obj/tests/concurrency/delays.o
endif

run-delayed-tests: $(DELAYED_TESTS)
	@tests/concurrency/delayed $(or $(NNPU_DELAYED),4) $(DELAYED_TESTS)

.PHONY: run-delayed-tests
