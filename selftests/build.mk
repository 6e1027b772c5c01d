# SPDX-License-Identifier: GPL-2.0-only
#
# kselftests: run in the guest by scripts/run-selftests, in this order.

SELFTEST_DIR := $(BUILD)/selftests
SELFTEST_PROGRAMS := nnpu_uapi nnpu_userptr nnpu_context nnpu_submit nnpu_sync nnpu_deadline \
	nnpu_sched nnpu_fence nnpu_kill nnpu_admin nnpu_userq nnpu_userq_end nnpu_userq_load nnpu_power \
	nnpu_recovery nnpu_pause nnpu_sleep nnpu_netlink nnpu_netlink_fuzz nnpu_fdinfo nnpu_unbind
# Need what only the debug kernel has.
SELFTEST_DEBUG_PROGRAMS := nnpu_fail_nth nnpu_pairs
SELFTEST_SCRIPTS := nnpu_lifecycle.sh nnpu_devices.sh
# Need a kernel that bounces all DMA.
SELFTEST_BOUNCED_PROGRAMS := nnpu_bounced
PLATFORM_SCRIPTS := nnpu_platform.sh
PLATFORM_TESTS := $(addprefix $(SELFTEST_DIR)/,$(PLATFORM_SCRIPTS))
SELFTESTS := $(addprefix $(SELFTEST_DIR)/,$(SELFTEST_PROGRAMS) $(SELFTEST_SCRIPTS))
DEBUG_TESTS := $(addprefix $(SELFTEST_DIR)/,$(SELFTEST_PROGRAMS) $(SELFTEST_DEBUG_PROGRAMS) \
	$(SELFTEST_SCRIPTS))
BOUNCED_TESTS := $(addprefix $(SELFTEST_DIR)/,$(SELFTEST_BOUNCED_PROGRAMS) nnpu_submit nnpu_sync)

# Asked once, and only when something is built here: the first time it unpacks them.
KSELFTEST_HEADERS = $(eval KSELFTEST_HEADERS := $(shell scripts/kselftest-headers))$(KSELFTEST_HEADERS)

# The harness declares more functions than a program calls, and passes every
# test arguments that not every test uses.
$(BUILD)/obj/selftests/%: DIR_CFLAGS = -D_GNU_SOURCE -isystem $(KSELFTEST_HEADERS) \
	-isystem /usr/include/libdrm -Wno-unused-parameter -Wno-missing-prototypes

# The driver's ioctls, as { name, number }: a new one without a row in nnpu_pairs_test.c fails.
$(BUILD)/obj/selftests/nnpu_ioctls.h: uapi/drm/nnpu_accel.h
	$(Q)mkdir -p $(@D)
	$(Q)sed -nE 's/^#define DRM_NNPU_([A-Z_]+)[[:blank:]]+(0x[0-9a-f]{2})$$/{ "\1", \2 },/p' $< >$@

$(BUILD)/obj/selftests/nnpu_pairs_test.o: $(BUILD)/obj/selftests/nnpu_ioctls.h
$(BUILD)/obj/selftests/nnpu_pairs_test.o: DIR_CFLAGS += -I$(BUILD)/obj/selftests

SELFTEST_OBJS := $(addprefix $(BUILD)/obj/selftests/,nnpu_test.o nnpu_test_nl.o \
	nnpu_test_queue.o)

$(SELFTEST_DIR)/%: $(BUILD)/obj/selftests/%_test.o $(SELFTEST_OBJS) FORCE
	$(call link,$^ -lpthread)

$(SELFTEST_DIR)/nnpu_loop: $(BUILD)/obj/selftests/nnpu_loop.o $(SELFTEST_OBJS) FORCE
	$(call link,$^ -lpthread)

$(SELFTEST_DIR)/%.sh: selftests/%.sh
	$(Q)mkdir -p $(@D)
	$(Q)install -m 755 $< $@

# They source it.
$(addprefix $(SELFTEST_DIR)/,$(SELFTEST_SCRIPTS)) $(PLATFORM_TESTS): $(SELFTEST_DIR)/nnpu_test.sh
$(PLATFORM_TESTS): $(SELFTEST_DIR)/nnpu_loop

selftests: $(SELFTESTS) $(PLATFORM_TESTS) $(DEBUG_TESTS) $(BOUNCED_TESTS) $(SELFTEST_DIR)/nnpu_loop

.SECONDARY: $(addprefix $(BUILD)/obj/selftests/,$(addsuffix _test.o,$(SELFTEST_PROGRAMS) \
	$(SELFTEST_DEBUG_PROGRAMS) $(SELFTEST_BOUNCED_PROGRAMS)) nnpu_loop.o nnpu_test.o nnpu_test_nl.o nnpu_test_queue.o)
