# SPDX-License-Identifier: MIT
#
# digits: classify handwritten digits on the device. The demo itself is the
# script examples/digits/digits-demo; the program below judges what nnrun computed.

DIGITS_DEMO := $(BUILD)/bin/digits_demo

$(DIGITS_DEMO): $(BUILD)/obj/examples/digits/digits_demo.o FORCE
	$(call link,$^ -lm)

examples: $(DIGITS_DEMO)

# The demo, installed as nnpu-demo: shows that driver, library and device work together.
DIGITS_DATA := $(addprefix examples/digits/,digits_float.tflite digits_int8.tflite \
	expected_float.bin expected_int8.bin test_images_float.bin test_images_int8.bin \
	test_labels.bin labels.txt)

.PHONY: install-demo
install-demo: $(DIGITS_DEMO)
	$(Q)install -D -m 755 -t $(DESTDIR)$(LIBEXECDIR) $(DIGITS_DEMO)
	$(Q)install -D -m 644 -t $(DESTDIR)$(DATADIR)/digits $(DIGITS_DATA)
	$(Q)install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(COMPLETIONDIR)
	$(Q)sed -e 's|^data=.*|data=$(DATADIR)/digits|' -e 's|^bin=.*|bin=$(BINDIR)|' \
		-e 's|^libexec=.*|libexec=$(LIBEXECDIR)|' \
		examples/digits/digits-demo >$(DESTDIR)$(BINDIR)/nnpu-demo
	$(Q)chmod 755 $(DESTDIR)$(BINDIR)/nnpu-demo
	$(Q)install -D -m 644 -t $(DESTDIR)$(MANDIR)/man1 examples/digits/nnpu-demo.1
	$(Q)install -m 644 $(COMMON_COMPLETION) $(DESTDIR)$(COMPLETIONDIR)/nnpu-demo

install-files: install-demo

# The models, the test set and the reference that made the expected outputs
# agree with each other. Skips by itself where numpy is missing.
EXAMPLE_TESTS := examples/digits/test_reference.py
