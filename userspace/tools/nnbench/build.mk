# SPDX-License-Identifier: MIT
#
# nnbench: what the software around the device costs.

$(BUILD)/obj/userspace/tools/nnbench/%.o: DIR_CFLAGS = -D_GNU_SOURCE -Iuserspace/libnnhal/include

$(BUILD)/bin/nnbench: $(BUILD)/obj/userspace/tools/nnbench/nnbench.o \
		$(BUILD)/obj/userspace/tools/nnbench/nnbench_fmq.o $(BUILD)/lib/libnnhal.a FORCE
	$(call link,$^ $(NNHAL_LIBS))

tools: $(BUILD)/bin/nnbench
