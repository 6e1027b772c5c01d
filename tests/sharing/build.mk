# SPDX-License-Identifier: MIT
#
# Clients of several users on one device. For sharing_test it has to be the driver's: the
# in-process device belongs to one process.

$(BUILD)/obj/tests/sharing/%.o: DIR_CFLAGS = -D_GNU_SOURCE -Itests -Itests/libnnhal \
	-I$(NNHAL_DIR)/include $(DRM_CFLAGS)

$(BUILD)/tests/sharing_test: $(BUILD)/obj/tests/sharing/sharing_test.o $(BUILD)/obj/tests/sharing/sharing_clients.o \
		$(BUILD)/obj/tests/sharing/device_nodes.o \
		$(BUILD)/obj/tests/libnnhal/nnhal_fixture.o $(BUILD)/lib/libnnhal.a FORCE
	$(call link,$^ $(NNHAL_LIBS))

# All calls at the same time. On the driver each process also tries the numbers of the others; the
# program for the in-process device does without the kselftests' files.
SHARING_MIXED := $(patsubst %,$(BUILD)/obj/tests/%.o,sharing/mixed_test sharing/mixed_calls \
	sharing/mixed_ends sharing/device_nodes libnnhal/nnhal_fixture)

$(BUILD)/tests/mixed_test: $(SHARING_MIXED) $(BUILD)/obj/tests/sharing/mixed_intruder.o \
		$(SELFTEST_OBJS) $(BUILD)/lib/libnnhal.a FORCE
	$(call link,$^ $(NNHAL_LIBS))

$(BUILD)/tests/mixed_sim_test: $(SHARING_MIXED) $(BUILD)/obj/tests/sharing/mixed_sim.o \
		$(BUILD)/lib/libnnhal.a FORCE
	$(call link,$^ $(NNHAL_LIBS))

HOST_TESTS += $(BUILD)/tests/mixed_sim_test
VM_TESTS += $(BUILD)/tests/sharing_test $(BUILD)/tests/mixed_test
DEBUG_TESTS += $(BUILD)/tests/sharing_test $(BUILD)/tests/mixed_test
