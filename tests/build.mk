# SPDX-License-Identifier: MIT
#
# Host tests. Each directory with tests has a build.mk that adds to
#
#   HOST_TESTS   programs and scripts that print TAP, run by run-host-tests
#   FUZZ_TESTS   the same for run-fuzz
#   VM_TESTS     those that also run in the virtual machine
#
# A program that ends with status 4 was skipped as a whole; any other status
# than 0 is a failure, also if all its lines said ok.

HOST_TESTS :=
FUZZ_TESTS :=
VM_TESTS :=

include $(wildcard tests/*/build.mk)

# $(call run-tests,programs)
define run-tests
@failed=0; for t in $(1); do \
	printf '# %s\n' "$$t"; \
	BUILD=$(BUILD) CC='$(CC)' "$$t"; status=$$?; \
	if [ $$status -ne 0 ] && [ $$status -ne 4 ]; then \
		printf 'not ok - %s ended with status %s\n' "$$t" $$status; failed=1; \
	fi; \
done; exit $$failed
endef

host-tests: $(HOST_TESTS) $(FUZZ_TESTS)

run-host-tests: $(HOST_TESTS)
	$(call run-tests,$(HOST_TESTS))

run-fuzz: $(FUZZ_TESTS)
	$(call run-tests,$(FUZZ_TESTS))
