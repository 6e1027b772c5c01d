# SPDX-License-Identifier: MIT
#
# Tests of libnntflite.

NNTFLITE_TEST_DIR := tests/libnntflite
NNTFLITE_TESTS := $(patsubst %,$(BUILD)/tests/nntflite_%_test,loader judge model places session control dense resources operands stablehlo lstm oom open)

$(BUILD)/obj/$(NNTFLITE_TEST_DIR)/%.o: \
	DIR_CFLAGS = -D_GNU_SOURCE -I. -Itests $(NNTFLITE_CFLAGS)

$(patsubst %,$(BUILD)/tests/nntflite_%_test,control resources stablehlo lstm oom): \
	$(BUILD)/obj/$(NNTFLITE_TEST_DIR)/graph_builder.o

# Objects in front of the libraries, which they take symbols of.
$(NNTFLITE_TESTS): $(BUILD)/tests/%: $(BUILD)/obj/$(NNTFLITE_TEST_DIR)/%.o \
		$(BUILD)/obj/$(NNTFLITE_TEST_DIR)/model_writer.o $(TOOLS_COMMON) \
		$(BUILD)/lib/libnntflite.a $(BUILD)/lib/libnnhal.a FORCE
	$(call link,$(filter %.o,$^) $(filter-out %.o,$^) $(NNHAL_LIBS))

$(BUILD)/tests/nntflite_oom_test: $(BUILD)/obj/tests/failing_allocations.o
$(BUILD)/tests/nntflite_oom_test: DIR_LDFLAGS = $(FAILING_ALLOCATIONS)
$(BUILD)/tests/nntflite_open_test: DIR_LDFLAGS = -Wl,--wrap=read

# Those that look inside, with the objects of the library.
NNTFLITE_INNER_TESTS := $(patsubst %,$(BUILD)/tests/nntflite_%_test,shapes flexbuf omitted)

$(NNTFLITE_INNER_TESTS): $(BUILD)/tests/%: $(BUILD)/obj/$(NNTFLITE_TEST_DIR)/%.o \
		$(BUILD)/obj/$(NNTFLITE_TEST_DIR)/model_writer.o $(NNTFLITE_OBJS) \
		$(BUILD)/lib/libnnhal.a FORCE
	$(call link,$^ $(NNHAL_LIBS))

HOST_TESTS += $(NNTFLITE_TESTS) $(NNTFLITE_INNER_TESTS)

# With the tables of the device.
NNTFLITE_ROWS_TEST := $(BUILD)/tests/nntflite_rows_test

$(BUILD)/obj/$(NNTFLITE_TEST_DIR)/nntflite_rows_test.o: \
	DIR_CFLAGS = -D_GNU_SOURCE -I. -Itests -Iemulator -Ikernel $(NNTFLITE_CFLAGS)

$(NNTFLITE_ROWS_TEST): $(BUILD)/obj/$(NNTFLITE_TEST_DIR)/nntflite_rows_test.o $(NNTFLITE_OBJS) \
		$(BUILD)/lib/libnnhal.a $(BUILD)/lib/libnnpu-emu.a FORCE
	$(call link,$^ $(NNHAL_LIBS))

HOST_TESTS += $(NNTFLITE_ROWS_TEST)

NNTFLITE_ABI_TEST := $(BUILD)/tests/nntflite_abi_test.sh

$(NNTFLITE_ABI_TEST): $(NNTFLITE_TEST_DIR)/nntflite_abi_test.sh $(BUILD)/lib/libnntflite.so \
		$(BUILD)/lib/libnntflite.a nntflite-pc nnhal-pc $(BUILD)/tests/library.sh
	$(Q)mkdir -p $(@D)
	$(Q)install -m 755 $< $@

NNTFLITE_ABIDIFF_TEST := $(BUILD)/tests/nntflite_abidiff_test.sh

$(NNTFLITE_ABIDIFF_TEST): $(NNTFLITE_TEST_DIR)/nntflite_abidiff_test.sh $(BUILD)/lib/libnntflite.so \
		$(BUILD)/tests/library.sh
	$(Q)mkdir -p $(@D)
	$(Q)install -m 755 $< $@

HOST_TESTS += $(NNTFLITE_ABI_TEST) $(NNTFLITE_ABIDIFF_TEST)

NNTFLITE_MODELS2_TEST := $(BUILD)/tests/nntflite_models2_test.sh

$(NNTFLITE_MODELS2_TEST): $(NNTFLITE_TEST_DIR)/nntflite_models2_test $(BUILD)/bin/nnrun
	$(Q)mkdir -p $(@D)
	$(Q)install -m 755 $< $@

HOST_TESTS += $(NNTFLITE_MODELS2_TEST)
VM_TESTS += $(NNTFLITE_MODELS2_TEST)

# The document made of its tables.
$(BUILD)/tests/operators_document: $(BUILD)/obj/$(NNTFLITE_TEST_DIR)/operators_document.o \
		$(NNTFLITE_OBJS) $(BUILD)/lib/libnnhal.a FORCE
	$(call link,$^ $(NNHAL_LIBS))

$(BUILD)/tests/operators_document_test: $(NNTFLITE_TEST_DIR)/operators_document_test.sh \
		$(BUILD)/tests/operators_document
	$(Q)install -m 755 $< $@

HOST_TESTS += $(BUILD)/tests/operators_document_test
