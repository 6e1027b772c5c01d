# SPDX-License-Identifier: MIT
#
# digits: classify handwritten digits on the device. The demo itself is the
# script examples/digits/digits-demo; the program below judges what nnrun computed.

DIGITS_DEMO := $(BUILD)/bin/digits_demo

$(DIGITS_DEMO): $(BUILD)/obj/examples/digits/digits_demo.o FORCE
	$(call link,$^ -lm)

examples: $(DIGITS_DEMO)

# The models, the test set and the reference that made the expected outputs
# agree with each other. Skips by itself where numpy is missing.
EXAMPLE_TESTS := examples/digits/test_reference.py
