# SPDX-License-Identifier: MIT
#
# Tests of libnnhal. They use the in-process device; NNHAL_TEST_DEVICE=drm (or
# another spec) makes the same programs use a hardware device.

NNHAL_TEST_DIR := tests/libnnhal
NNHAL_TESTS := $(patsubst $(NNHAL_TEST_DIR)/%.c,$(BUILD)/tests/%,\
	$(wildcard $(NNHAL_TEST_DIR)/*_test.c))

$(BUILD)/obj/$(NNHAL_TEST_DIR)/%.o: \
	DIR_CFLAGS = -D_GNU_SOURCE -I$(NNHAL_DIR)/include -I$(NNHAL_DIR) -Itests -Ikernel $(DRM_CFLAGS)

# Against the objects: some look at what the library does not export.
$(filter-out %/nnhal_trace_test,$(NNHAL_TESTS)): $(BUILD)/tests/%: $(BUILD)/obj/$(NNHAL_TEST_DIR)/%.o \
		$(BUILD)/obj/$(NNHAL_TEST_DIR)/nnhal_fixture.o $(NNHAL_OBJS) FORCE
	$(call link,$^ $(NNHAL_LIBS))

# Lists of what the headers declare, for the tests that have to know all of it.
API_LISTS := $(BUILD)/gen/$(NNHAL_TEST_DIR)/api_lists.h
API_LISTED := $(sort $(wildcard $(NNHAL_DIR)/include/nnhal/*.h $(NNTFLITE_DIR)/include/nntflite/*.h))
API_LIST_TESTS := $(patsubst %,$(BUILD)/tests/nnhal_%_test,fork_release growth null)

$(API_LISTS): $(NNHAL_TEST_DIR)/list-api $(API_LISTED)
	$(Q)mkdir -p $(@D)
	$(Q)$(NNHAL_TEST_DIR)/list-api $(API_LISTED) >$@.tmp && mv $@.tmp $@

$(API_LIST_TESTS:$(BUILD)/tests/%=$(BUILD)/obj/$(NNHAL_TEST_DIR)/%.o): $(API_LISTS)
$(API_LIST_TESTS:$(BUILD)/tests/%=$(BUILD)/obj/$(NNHAL_TEST_DIR)/%.o): \
	DIR_CFLAGS = -D_GNU_SOURCE -I$(dir $(API_LISTS)) $(NNTFLITE_CFLAGS) -I$(NNHAL_DIR) -Itests \
		-Ikernel $(DRM_CFLAGS)
$(API_LIST_TESTS): $(BUILD)/lib/libnntflite.a

# In the files with probes these are calls.
NNHAL_TRACED_SRCS := $(filter $(NNHAL_SRCS),$(shell grep -lE 'TRACE_(BEGIN|END)' $(NNHAL_DIR)/*/*.c))
NNHAL_TRACED_OBJS := $(NNHAL_TRACED_SRCS:%.c=$(BUILD)/obj/traced/%.o)

$(NNHAL_TRACED_OBJS): DIR_CFLAGS = -D_GNU_SOURCE -I$(NNHAL_DIR)/include -I$(NNHAL_DIR) -Ikernel \
	$(DRM_CFLAGS) -include $(NNHAL_TEST_DIR)/trace_hooks.h
$(NNHAL_TRACED_OBJS): $(BUILD)/obj/traced/%.o: %.c FORCE
	$(call if-changed,CC,$(CC) $(ALL_CFLAGS) $(DEP_FLAGS) -c -o $@ $<)

$(BUILD)/tests/nnhal_trace_test: $(BUILD)/obj/$(NNHAL_TEST_DIR)/nnhal_trace_test.o \
		$(BUILD)/obj/$(NNHAL_TEST_DIR)/nnhal_fixture.o $(NNHAL_TRACED_OBJS) \
		$(filter-out $(NNHAL_TRACED_SRCS:%.c=$(BUILD)/obj/%.o),$(NNHAL_OBJS)) FORCE
	$(call link,$^ $(NNHAL_LIBS))

# Programs over the operator test cases.
$(BUILD)/tests/nnhal_validate_vectors_test $(BUILD)/tests/nnhal_validate_mutations_test: \
	$(BUILD)/obj/$(NNHAL_TEST_DIR)/vector_model.o \
	$(patsubst %,$(BUILD)/obj/userspace/tools/nnvec/%.o,case_model case_pools) \
	$(TOOLS_COMMON)

$(BUILD)/tests/nnhal_oom_test: $(BUILD)/obj/tests/failing_allocations.o
$(BUILD)/tests/nnhal_oom_test: DIR_LDFLAGS = $(FAILING_ALLOCATIONS)

NNHAL_WRAPPED := ioctl open fcntl memfd_create madvise eventfd poll ppoll pthread_create mmap munmap
$(BUILD)/tests/nnhal_fail_nth_test: DIR_LDFLAGS = $(addprefix -Wl$(comma)--wrap=,$(NNHAL_WRAPPED))

# A message comes between two calls.
$(BUILD)/tests/nnhal_burst_fmq_client_test: DIR_LDFLAGS = -Wl,--wrap=recv -Wl,--wrap=recvmsg
# A fence signals while somebody looks at it.
$(BUILD)/tests/nnhal_fenced_test: DIR_LDFLAGS = -Wl,--wrap=recv
# Another process is at the file between two calls; nodes that are not opened.
$(BUILD)/tests/nnhal_memory_test: DIR_LDFLAGS = -Wl,--wrap=fcntl
$(BUILD)/tests/nnhal_scan_test: DIR_LDFLAGS = -Wl,--wrap=open
$(BUILD)/tests/nnhal_extension_test: DIR_LDFLAGS = -Wl,--wrap=strlen
# Mounts that are not there.
$(BUILD)/tests/nnhal_origin_test: DIR_LDFLAGS = $(addprefix -Wl$(comma)--wrap=,fcntl fopen statx)
# A thread loses its CPU while it reads the clock.
$(BUILD)/tests/nnhal_spin_test: DIR_LDFLAGS = -Wl,--wrap=monotonic_ns
$(BUILD)/tests/nnhal_drm_errors_test: DIR_LDFLAGS = -Wl,--wrap=ioctl -Wl,--wrap=mmap

# The library as others see it: exported symbols, headers alone in C and C++. Sanitizers and
# the counters of gcov add calls and data to each object, so the test looks at those of an
# ordinary build. It is in a directory of its own: in build/ another ring's make may be at work.
NNHAL_COUNTING := --coverage -fprofile-%
NNHAL_PLAIN_BUILD := $(BUILD)$(if $(SAN)$(filter $(NNHAL_COUNTING),$(CFLAGS)),/plain)
NNHAL_PLAIN_OBJS := $(patsubst $(BUILD)/%,$(NNHAL_PLAIN_BUILD)/%,\
	$(filter $(BUILD)/obj/$(NNHAL_DIR)/% $(BUILD)/obj/signatures/%,$(NNHAL_OBJS)))

.PHONY: nnhal-plain
nnhal-plain:
	$(Q)$(MAKE) --no-print-directory SAN= BUILD=$(NNHAL_PLAIN_BUILD) \
		CFLAGS='$(filter-out $(NNHAL_COUNTING),$(CFLAGS))' $(NNHAL_PLAIN_OBJS)

$(BUILD)/tests/nnhal_abi_test.sh: $(NNHAL_TEST_DIR)/nnhal_abi_test.sh $(BUILD)/lib/libnnhal.so \
		$(BUILD)/lib/libnnhal.a nnhal-pc $(BUILD)/tests/library.sh $(if $(filter-out $(BUILD),$(NNHAL_PLAIN_BUILD)),nnhal-plain)
	$(Q)mkdir -p $(@D)
	$(Q)printf '%s\n' $(NNHAL_PLAIN_OBJS) >$(@:.sh=.objects)
	$(Q)install -m 755 $< $@

# Documentation/abi.rst. The record is that of gcc on x86-64, without sanitizers.
.PHONY: record-abi
record-abi: $(BUILD)/lib/libnnhal.so $(BUILD)/lib/libnntflite.so $(BUILD)/lib/libneuralnetworks.so
	$(Q)for lib in nnhal nntflite neuralnetworks; do \
		abidw --headers-dir userspace/lib$$lib/include \
			--headers-dir $(NNHAL_DIR)/include/nnhal --drop-private-types --no-show-locs \
			--no-corpus-path --no-comp-dir-path --no-elf-needed \
			--exported-interfaces-only --no-parameter-names --type-id-style hash \
			--out-file $(BUILD)/lib$$lib.abi $(BUILD)/lib/lib$$lib.so && \
		sed -e '1a <!-- SPDX-License-Identifier: MIT -->' \
			$(BUILD)/lib$$lib.abi >`find tests -name lib$$lib.abi` || exit; \
	done
	$(Q)scripts/gen-symbols libnnhal >debian/libnnhal1.symbols
	$(Q)scripts/gen-symbols libnntflite >debian/libnntflite1.symbols
	$(Q)scripts/gen-symbols libneuralnetworks >debian/libneuralnetworks1.symbols

$(BUILD)/tests/nnhal_abidiff_test.sh $(BUILD)/tests/nnhal_probes_test.sh: \
$(BUILD)/tests/%: $(NNHAL_TEST_DIR)/% $(BUILD)/lib/libnnhal.so $(BUILD)/tests/library.sh
	$(Q)mkdir -p $(@D)
	$(Q)install -m 755 $< $@

# A file that does not answer; commands of the in-process device.
$(BUILD)/tests/nnhal_unbind_test: DIR_LDFLAGS = -Wl,--wrap=pread -Wl,--wrap=nnpu_inproc_doorbell

# Calls that say NONE and give nothing.
$(BUILD)/tests/nnhal_resilient_test: DIR_LDFLAGS = $(addprefix -Wl$(comma)--wrap=nnhal_,\
	device_prepare_model_sync device_allocate burst_create)

# Those of the driver have nothing to look at without it.
HOST_TESTS += $(filter-out %_burst_calls_test %_faults_test,$(NNHAL_TESTS)) \
	$(BUILD)/tests/nnhal_abi_test.sh $(BUILD)/tests/nnhal_probes_test.sh \
	$(BUILD)/tests/nnhal_abidiff_test.sh
# Those that need no hardware device gain nothing in a virtual machine.
VM_TESTS += $(filter-out %_oom_test %_util_test %_resilient_test %_convert_test %_validate_test %_validate_signature_test \
	%_validate_vectors_test %_validate_mutations_test %_request_test \
	%_drm_errors_test %_trace_test %_null_test %_origin_test %_unbind_test %/nnhal_fmq_test %_fmq_life_test %_fmq_client_test %_burst_packet_test %_ring_litmus_test,$(NNHAL_TESTS))
