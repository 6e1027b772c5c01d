# SPDX-License-Identifier: MIT
#
# Clients of several users on one device. It has to be the driver's: the in-process device
# belongs to one process.

$(BUILD)/obj/tests/sharing/%.o: DIR_CFLAGS = -D_GNU_SOURCE -Itests -Itests/libnnhal \
	-I$(NNHAL_DIR)/include

$(BUILD)/tests/sharing_test: $(BUILD)/obj/tests/sharing/sharing_test.o $(BUILD)/obj/tests/sharing/sharing_clients.o \
		$(BUILD)/obj/tests/libnnhal/nnhal_fixture.o $(BUILD)/lib/libnnhal.a FORCE
	$(call link,$^ $(NNHAL_LIBS))

VM_TESTS += $(BUILD)/tests/sharing_test
DEBUG_TESTS += $(BUILD)/tests/sharing_test
