# SPDX-License-Identifier: MIT
#
# Tests of libneuralnetworks.

NDK_TEST_DIR := tests/ndk
NDK_TESTS := $(patsubst %,$(BUILD)/tests/ndk_%_test,buffers counters cut devices explain failures header memory model \
	oom padding refusals run shapes shared states threads)

$(BUILD)/obj/$(NDK_TEST_DIR)/%.o: DIR_CFLAGS = -D_GNU_SOURCE -Itests -I$(NDK_DIR)/include -I$(NNHAL_DIR)/include

# What libneuralnetworks does not export: devices for tests, how a model was cut.
$(patsubst %,$(BUILD)/obj/$(NDK_TEST_DIR)/ndk_%_test.o,again counters cut failures oom padding shapes shared): \
	DIR_CFLAGS += -I$(NDK_DIR) -I$(NNHAL_DIR) -Ikernel $(DRM_CFLAGS)

# The parameters of all functions.
NDK_PARAMETERS := $(BUILD)/obj/$(NDK_TEST_DIR)/generated/ndk_parameters.inc

$(NDK_PARAMETERS): $(NDK_TEST_DIR)/list_parameters $(NDK_DIR)/include/android/NeuralNetworks.h
	$(Q)mkdir -p $(@D)
	$(Q)$^ >$@.new && mv $@.new $@

$(BUILD)/obj/$(NDK_TEST_DIR)/ndk_refusals_test.o: $(NDK_PARAMETERS)
$(BUILD)/obj/$(NDK_TEST_DIR)/ndk_refusals_test.o: DIR_CFLAGS += -I$(dir $(NDK_PARAMETERS))

# With the objects of the library, so that sanitizers see into them.
$(NDK_TESTS): $(BUILD)/tests/%: $(BUILD)/obj/$(NDK_TEST_DIR)/%.o $(NDK_OBJS) \
		$(BUILD)/lib/libnnhal.a FORCE
	$(call link,$(filter-out FORCE,$^) $(NNHAL_LIBS))

# Faults are injected where libnnhal does not export it.
NDK_AGAIN_TEST := $(BUILD)/tests/ndk_again_test

$(NDK_AGAIN_TEST): $(BUILD)/obj/$(NDK_TEST_DIR)/ndk_again_test.o $(NDK_OBJS) $(NNHAL_OBJS) FORCE
	$(call link,$(filter-out FORCE,$^) $(NNHAL_LIBS))

# What these tests are linked with to make functions fail. change_results links them, too.
NDK_LINK_failures := $(addprefix -Wl$(comma)--wrap=nnhal_,prepared_model_execute_synchronously prepared_model_execute \
	prepared_model_execute_fenced burst_execute burst_create device_prepare_model_sync enumerate_devices \
	device_open device_get_supported_extensions device_get_supported_operations \
	memory_copy memory_map memory_from_pointer)
NDK_LINK_oom := $(BUILD)/obj/tests/failing_allocations.o $(FAILING_ALLOCATIONS)

$(BUILD)/tests/ndk_failures_test: DIR_LDFLAGS = $(NDK_LINK_failures)
$(BUILD)/tests/ndk_oom_test: $(filter %.o,$(NDK_LINK_oom))
$(BUILD)/tests/ndk_oom_test: DIR_LDFLAGS = $(filter-out %.o,$(NDK_LINK_oom))

NDK_ABI_TEST := $(BUILD)/tests/ndk_abi_test.sh

$(NDK_ABI_TEST): $(NDK_TEST_DIR)/ndk_abi_test.sh $(NDK_TEST_DIR)/functions.list \
		$(BUILD)/lib/libneuralnetworks.so $(BUILD)/tests/library.sh
	$(Q)install -D -m 755 $< $@

NDK_ABIDIFF_TEST := $(BUILD)/tests/ndk_abidiff_test.sh

$(NDK_ABIDIFF_TEST): $(NDK_TEST_DIR)/ndk_abidiff_test.sh $(BUILD)/lib/libneuralnetworks.so \
		$(BUILD)/tests/library.sh
	$(Q)install -D -m 755 $< $@

# A program that knows nothing of the library but names, with what was installed.
NDK_BY_NAME_TEST := $(BUILD)/tests/ndk_by_name_test.sh

$(BUILD)/tests/ndk_by_name: $(BUILD)/obj/$(NDK_TEST_DIR)/ndk_by_name.o FORCE
	$(call link,$^ -ldl)

$(NDK_BY_NAME_TEST): $(BUILD)/tests/ndk_by_name install-for-examples
	$(Q)printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s %s\n' $(EXAMPLES_ROOT)$(LIBDIR) \
		$(abspath $<) $(abspath $(NDK_TEST_DIR)/functions.list) >$@
	$(Q)chmod 755 $@

# Some of the results that the library returns, changed one at a time.
NDK_RESULTS_TEST := $(BUILD)/tests/ndk_results_test.sh

$(NDK_RESULTS_TEST): $(NDK_TEST_DIR)/change_results $(NDK_TESTS) $(NDK_AGAIN_TEST)
	$(Q)printf '#!/bin/sh\nBUILD=%s CC="%s" CFLAGS="%s" exec %s\n' $(BUILD) '$(CC)' '$(if $(SAN),$(SAN_CFLAGS))' \
		$< >$@
	$(Q)chmod 755 $@

# No result without a reason.
NDK_REASONS_TEST := $(BUILD)/tests/ndk_reasons_test.sh

$(NDK_REASONS_TEST): $(NDK_TEST_DIR)/check_reasons
	$(Q)mkdir -p $(@D)
	$(Q)printf '#!/bin/sh\nexec %s\n' $< >$@
	$(Q)chmod 755 $@

# Tests that need no more than a program has that was written elsewhere.
NDK_INSTALLED_TEST := $(BUILD)/tests/ndk_installed_test.sh

$(NDK_INSTALLED_TEST): $(NDK_TEST_DIR)/test_installed install-for-examples
	$(Q)printf '#!/bin/sh\nCC="%s" CFLAGS="%s" exec %s %s %s %s\n' '$(CC)' '$(if $(SAN),$(SAN_CFLAGS))' \
		$< $(EXAMPLES_ROOT) $(LIBDIR) 'ndk_devices_test ndk_states_test ndk_run_test' >$@
	$(Q)chmod 755 $@

# The program of examples/delegate, as tests/examples builds it, against nnrun.
NDK_MODELS_TEST := $(BUILD)/tests/ndk_models_test.sh

$(NDK_MODELS_TEST): $(NDK_TEST_DIR)/test_ndk_models $(EXAMPLES_TEST) $(BUILD)/bin/nnrun
	$(Q)printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s %s\n' $(EXAMPLES_ROOT)$(LIBDIR) \
		$< $(EXAMPLES_DIR)/delegate/delegate >$@
	$(Q)chmod 755 $@

# The operator vectors, with the reader and the forms of nnvec.
NDK_VECTORS_TEST := $(BUILD)/tests/ndk_vectors_test
NDK_VECTORS_OBJS := $(patsubst %,$(BUILD)/obj/%.o,examples/delegate/hal_graph \
	$(addprefix $(NDK_TEST_DIR)/,ndk_vectors_test ndk_ways ndk_places ndk_case ndk_execute))

$(NDK_VECTORS_OBJS): DIR_CFLAGS = -D_GNU_SOURCE -I. -Itests -I$(NDK_DIR)/include -I$(NNHAL_DIR)/include

$(NDK_VECTORS_TEST): $(NDK_VECTORS_OBJS) $(NNVEC_LIB_OBJS) $(NDK_OBJS) $(BUILD)/lib/libnnhal.a FORCE
	$(call link,$(filter-out FORCE,$^) $(NNHAL_LIBS))

HOST_TESTS += $(NDK_TESTS) $(NDK_AGAIN_TEST) $(NDK_ABI_TEST) $(NDK_ABIDIFF_TEST) $(NDK_BY_NAME_TEST) \
	$(NDK_RESULTS_TEST) $(NDK_REASONS_TEST) $(NDK_INSTALLED_TEST) $(NDK_MODELS_TEST) $(NDK_VECTORS_TEST)
VM_TESTS += $(NDK_BY_NAME_TEST) $(NDK_MODELS_TEST) $(NDK_VECTORS_TEST)
