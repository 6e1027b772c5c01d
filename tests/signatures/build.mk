# SPDX-License-Identifier: MIT
#
# The table of signatures: tests of it, and the document made of it.

SIGNATURE_TEST_OBJS := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard signatures/*.c))

$(BUILD)/tests/signatures_table_test: $(BUILD)/obj/tests/signatures/signatures_table_test.o \
		$(SIGNATURE_TEST_OBJS) FORCE
	$(call link,$^)

# The extensions are the device model's.
$(BUILD)/obj/tests/signatures/signatures_document.o: DIR_CFLAGS = -Iemulator

$(BUILD)/tests/signatures_document: $(BUILD)/obj/tests/signatures/signatures_document.o \
		$(BUILD)/lib/libnnpu-emu.a FORCE
	$(call link,$^ -lpthread -lm)

$(BUILD)/tests/signatures_document_test: tests/signatures/signatures_document_test.sh \
		$(BUILD)/tests/signatures_document
	$(Q)install -m 755 $< $@

HOST_TESTS += $(BUILD)/tests/signatures_table_test $(BUILD)/tests/signatures_document_test
