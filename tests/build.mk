# SPDX-License-Identifier: MIT
#
# Host tests. Each directory with tests has a build.mk that adds to
#
#   HOST_TESTS   programs and scripts that print TAP, run by run-host-tests
#   PACE_TESTS   the same for run-pace-tests: they judge how long something takes, or what
#                memory the host gives, so check runs them without sanitizers
#   FUZZ_TESTS   the same for run-fuzz
#   DOC_CHECKS   the same for run-doc-checks: they compare documents with the tree, and
#                are counted apart
#   VM_TESTS     those that run in the virtual machine, run by run-selftests there
#   VM_LONG_TESTS  the same in soak only: long there, and the driver sees nothing new
#
# A program that ends with status 4 was skipped as a whole; any other status
# than 0 is a failure, also if all its lines said ok. What is no failure but should be,
# such as a program without a plan, is in scripts/ktap.py.

HOST_TESTS := $(EXAMPLE_TESTS)
PACE_TESTS :=
FUZZ_TESTS :=
DOC_CHECKS :=
VM_TESTS :=
VM_LONG_TESTS :=

# Linker flags of programs whose allocations fail, with failing_allocations.o.
FAILING_ALLOCATIONS := $(addprefix -Wl$(comma)--wrap=,malloc calloc realloc reallocarray strdup)

# The operations once more, each basic block of which calls __sanitizer_cov_trace_pc().
OPS_COUNTED := $(patsubst %.c,$(BUILD)/counted/%.o,$(EMU_OPS_SRCS))
$(BUILD)/counted/%.o: DIR_CFLAGS = -Iemulator -Ikernel -ffp-contract=off -fno-trapping-math -fno-math-errno \
	-fsanitize-coverage=trace-pc
$(BUILD)/counted/%.o: %.c FORCE
	$(call if-changed,CC,$(CC) $(ALL_CFLAGS) $(DEP_FLAGS) -c -o $@ $<)

include $(wildcard tests/*/build.mk)

# Shell tests of the libraries source it from where they are.
$(BUILD)/tests/library.sh: tests/library.sh
	$(Q)install -D -m 644 $< $@

# Of VM_TESTS, those that drive the driver in ways the kselftests do not, on the debug
# kernel, too. They take several times as long there; of those in DEBUG_LONG_TESTS, which
# soak runs, most is the library's.
DEBUG_TESTS += $(addprefix $(BUILD)/tests/nnhal_,device_test memory_test execute_test \
	async_test burst_test faults_test fork_test models_test contexts_test)
DEBUG_LONG_TESTS := $(addprefix $(BUILD)/tests/nnhal_,control_test growth_test)

# Of VM_TESTS, those whose memory a device could only see copies of.
BOUNCED_TESTS += $(addprefix $(BUILD)/tests/,nnhal_sync_test nnhal_memory_test \
	nnhal_models_test nntflite_models2_test.sh)

# Of both lists, those that see most of what differs on another processor and with other pages.
ARM64_TESTS := $(addprefix $(SELFTEST_DIR)/,nnpu_uapi nnpu_submit nnpu_userptr nnpu_userq) \
	$(addprefix $(BUILD)/tests/nnhal_,ring_litmus_test device_test memory_test execute_test burst_test spin_test) \
	$(BUILD)/tests/nnvec_shared_test.sh $(BUILD)/tests/nntflite_models2_test.sh

# $(call run-tests,programs): KTAP, what a program prints being subtests of it. Each has
# NNPU_HOST_TIMEOUT seconds.
define run-tests
@BUILD=$(BUILD) CC='$(CC)' $(RUN_UNDER) scripts/run-tests $(1)
endef

# Where the kernel places mappings at random in 32 bits (vm.mmap_rnd_bits), programs with
# the sanitizers of these compilers do not start, or only now and then.
RUN_UNDER = $(if $(SAN),$(shell setarch -R true 2>/dev/null && echo setarch -R))

host-tests: $(HOST_TESTS)

# All that is compiled for tests, but for what is for one compiler or library only.
TEST_OBJS := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out tests/fuzz/% tests/bench/% \
	tests/concurrency/delays.c,$(wildcard tests/*/*.c)))

test-objects: $(TEST_OBJS)

vm-tests: $(VM_TESTS) $(VM_LONG_TESTS)

run-host-tests: $(HOST_TESTS)
	$(call run-tests,$(HOST_TESTS))

pace-tests: $(PACE_TESTS)

run-pace-tests: $(PACE_TESTS)
	$(call run-tests,$(PACE_TESTS))

fuzz-tests: $(FUZZ_TESTS)

run-fuzz: $(FUZZ_TESTS)
	$(call run-tests,$(FUZZ_TESTS))

run-doc-checks: $(DOC_CHECKS)
	$(call run-tests,$(DOC_CHECKS))

.PHONY: test-objects pace-tests run-pace-tests fuzz-tests run-doc-checks
