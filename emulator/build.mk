# SPDX-License-Identifier: MIT
#
# The device model as a library: core, operations, their signatures and the in-process
# glue. QEMU compiles all but the glue itself (scripts/build-qemu).

EMU_CORE_SRCS := $(wildcard emulator/core/*.c)
EMU_OPS_SRCS := $(wildcard emulator/ops/*.c emulator/ops/*/*.c)
EMU_INPROC_SRCS := $(wildcard emulator/inproc/*.c)
SIGNATURE_SRCS := $(wildcard signatures/*.c)
EMU_SRCS := $(EMU_CORE_SRCS) $(EMU_OPS_SRCS) $(EMU_INPROC_SRCS) $(SIGNATURE_SRCS)
EMU_OBJS := $(EMU_SRCS:%.c=$(BUILD)/obj/%.o)

# Floating-point results are part of the hardware specification: nothing may be
# contracted or reordered. Nobody looks at floating-point exceptions, which would keep loops
# with conditions from being vectorized, nor at errno, which would keep roots from it.
$(BUILD)/obj/emulator/% $(BUILD)/pic/emulator/%: \
	DIR_CFLAGS = -Iemulator -Ikernel -ffp-contract=off -fno-fast-math
$(BUILD)/obj/emulator/ops/% $(BUILD)/pic/emulator/ops/%: \
	DIR_CFLAGS = -Iemulator -Ikernel -ffp-contract=off -fno-fast-math -fno-trapping-math \
		     -fno-math-errno $(if $(SAN),,-O3)

$(BUILD)/lib/libnnpu-emu.a: $(EMU_OBJS) FORCE
	$(call archive,$^)

emulator: $(BUILD)/lib/libnnpu-emu.a
