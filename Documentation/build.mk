# SPDX-License-Identifier: MIT
#
# `make docs`: Documentation/ as HTML in build/docs, with Sphinx. The API reference is made
# from the comments of the public headers. A warning is an error.

SPHINX ?= sphinx-build

.PHONY: docs
docs:
	$(Q)scripts/deps docs
	$(call say,SPHINX,$(BUILD)/docs)
	$(Q)$(SPHINX) -q -W --keep-going -b html -d $(BUILD)/docs.doctrees Documentation $(BUILD)/docs
