# SPDX-License-Identifier: MIT
#
# The table of signatures: tests of it, and the document made of it.

SIGNATURE_TEST_OBJS := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard signatures/*.c))

$(BUILD)/tests/signatures_table_test: $(BUILD)/obj/tests/signatures/table_test.o \
		$(SIGNATURE_TEST_OBJS)
	$(call link,$^)

$(BUILD)/tests/signatures_document: $(BUILD)/obj/tests/signatures/document.o \
		$(SIGNATURE_TEST_OBJS)
	$(call link,$^)

$(BUILD)/tests/signatures_document_test: tests/signatures/document_test.sh \
		$(BUILD)/tests/signatures_document
	$(Q)install -m 755 $< $@

HOST_TESTS += $(BUILD)/tests/signatures_table_test $(BUILD)/tests/signatures_document_test
