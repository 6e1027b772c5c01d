# SPDX-License-Identifier: MIT
#
# .tflite files made from the operator vectors and from a reference in numpy.

TFLITE_CASES_DIR := tests/tflite
TFLITE_CASES_PROGRAM := $(BUILD)/tests/run_cases
TFLITE_CASES_PYTHON := $(wildcard $(TFLITE_CASES_DIR)/*.py $(TFLITE_CASES_DIR)/numpy_cases/*.py) \
	tests/random/nntc.py userspace/libnntflite/file/schema.h

$(BUILD)/obj/$(TFLITE_CASES_DIR)/%.o: DIR_CFLAGS = -D_GNU_SOURCE -I. -Itests $(NNTFLITE_CFLAGS)

# With the objects of the library, whose table says what needs a case.
$(TFLITE_CASES_PROGRAM): $(BUILD)/obj/$(TFLITE_CASES_DIR)/run_cases.o $(NNTFLITE_OBJS) \
		$(BUILD)/lib/libnnhal.a FORCE
	$(call link,$^ $(NNHAL_LIBS))

TFLITE_CASES_TEST := $(BUILD)/tests/tflite_cases.sh
TFLITE_ARCHIVE := $(BUILD)/tests/tflite_numpy.tflc
TFLITE_VECTORS := $(or $(NNPU_SHARED),../shared)/vectors

# It finds its parts in the source tree.
$(TFLITE_CASES_TEST): $(TFLITE_CASES_DIR)/test_cases $(TFLITE_CASES_PROGRAM) $(TFLITE_ARCHIVE)
	$(Q)mkdir -p $(@D)
	$(Q)printf '#!/bin/sh\nexec $< "$$@"\n' >$@
	$(Q)chmod 755 $@

# The virtual machine would take long to make them. Both archives come from one run.
$(TFLITE_ARCHIVE): $(TFLITE_CASES_DIR)/write_archives $(TFLITE_CASES_PYTHON) \
		$(wildcard $(TFLITE_VECTORS)/index.tsv)
	$(call say,CASES,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$< $(@D)

HOST_TESTS += $(TFLITE_CASES_TEST)
VM_TESTS += $(TFLITE_CASES_TEST)
