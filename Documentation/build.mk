# SPDX-License-Identifier: MIT
#
# `make docs`: Documentation/ as HTML in build/docs, with Sphinx. The API reference is made
# from the comments of the public headers. A warning is an error.

SPHINX ?= sphinx-build

.PHONY: docs docs-html
docs:
	$(Q)scripts/deps docs
	$(Q)$(MAKE) --no-print-directory docs-html

# Where the packages that it takes are there for certain.
docs-html:
	$(call say,SPHINX,$(BUILD)/docs)
	$(Q)$(SPHINX) -q -W --keep-going -b html -d $(BUILD)/docs.doctrees Documentation $(BUILD)/docs
