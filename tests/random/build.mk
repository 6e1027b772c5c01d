# SPDX-License-Identifier: MIT
#
# Random graphs against a reference in numpy, and models that are mutated.

RANDOM_DIR := tests/random
RANDOM_PROGRAMS := $(BUILD)/tests/run_graphs $(BUILD)/tests/run_mutants

$(BUILD)/obj/$(RANDOM_DIR)/%.o: \
	DIR_CFLAGS = -D_GNU_SOURCE -Itests -I$(NNHAL_DIR)/include

$(RANDOM_PROGRAMS): $(BUILD)/tests/%: $(BUILD)/obj/$(RANDOM_DIR)/%.o \
		$(BUILD)/obj/$(RANDOM_DIR)/hal_case.o $(TOOLS_COMMON) \
		$(BUILD)/lib/libnnhal.a FORCE
	$(call link,$(filter %.o,$^) $(filter %.a,$^) $(NNHAL_LIBS))

$(BUILD)/tests/run_mutants: $(addprefix $(BUILD)/obj/$(RANDOM_DIR)/mutate_,\
	model.o control.o request.o)

RANDOM_SCRIPTS := $(BUILD)/tests/random_precision.sh $(BUILD)/tests/random_reference.sh \
	$(BUILD)/tests/random_graphs.sh \
	$(BUILD)/tests/random_mutants.sh

RANDOM_DEVICE_TEST := $(BUILD)/tests/random_device.sh

# They find their parts in the source tree.
$(RANDOM_SCRIPTS) $(RANDOM_DEVICE_TEST): $(BUILD)/tests/random_%.sh: $(RANDOM_DIR)/test_% \
		$(RANDOM_PROGRAMS)
	$(Q)printf '#!/bin/sh\nexec $< "$$@"\n' >$@
	$(Q)chmod 755 $@

HOST_TESTS += $(RANDOM_SCRIPTS)
VM_TESTS += $(RANDOM_DEVICE_TEST)

# Graphs for the virtual machine, which would take long to make and evaluate them itself.
# So many have each operation alone once.
RANDOM_DEVICE_GRAPHS := 170

$(RANDOM_DEVICE_TEST): $(BUILD)/tests/random_device.nntc

$(BUILD)/tests/random_device.nntc: $(RANDOM_DIR)/write_graphs \
		$(wildcard $(RANDOM_DIR)/*.py $(RANDOM_DIR)/generator/*.py $(RANDOM_DIR)/reference/*.py)
	$(call say,GRAPHS,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$< $@ $(RANDOM_DEVICE_GRAPHS) 2

# The long forms, by themselves: NNPU_GRAPHS, NNPU_MUTANTS.
.PHONY: run-random-graphs run-random-mutants
run-random-graphs: $(BUILD)/tests/random_reference.sh $(BUILD)/tests/random_graphs.sh
	$(call run-tests,$^)

run-random-mutants: $(BUILD)/tests/random_mutants.sh
	$(call run-tests,$^)
