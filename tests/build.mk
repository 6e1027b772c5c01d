# SPDX-License-Identifier: MIT
#
# Host tests. Each directory with tests has a build.mk that adds to
#
#   HOST_TESTS   programs and scripts that print TAP, run by run-host-tests
#   FUZZ_TESTS   the same for run-fuzz
#   VM_TESTS     those that run in the virtual machine, run by run-selftests there
#
# A program that ends with status 4 was skipped as a whole; any other status
# than 0 is a failure, also if all its lines said ok.

HOST_TESTS :=
FUZZ_TESTS :=
VM_TESTS :=

include $(wildcard tests/*/build.mk)

# $(call run-tests,programs): KTAP, what a program prints being subtests of it.
define run-tests
@number=0; failed=0; printf 'KTAP version 1\n'; for t in $(1); do \
	number=$$((number + 1)); start=$$(date +%s); \
	printf '# %s\n' "$$t"; \
	{ BUILD=$(BUILD) CC='$(CC)' "$$t"; echo $$? > $(BUILD)/tests/status; } | \
		sed 's/^/    /'; \
	status=$$(cat $(BUILD)/tests/status); \
	case $$status in \
	0) printf 'ok %s %s (%s s)\n' $$number "$${t##*/}" $$(($$(date +%s) - start)) ;; \
	4) printf 'ok %s %s # SKIP it said so\n' $$number "$${t##*/}" ;; \
	*) printf '# %s: exit status %s\nnot ok %s %s\n' "$${t##*/}" $$status $$number "$${t##*/}"; \
		failed=1 ;; \
	esac; \
done; printf '1..%s\n' $$number; exit $$failed
endef

host-tests: $(HOST_TESTS) $(FUZZ_TESTS)

vm-tests: $(VM_TESTS)

run-host-tests: $(HOST_TESTS)
	$(call run-tests,$(HOST_TESTS))

run-fuzz: $(FUZZ_TESTS)
	$(call run-tests,$(FUZZ_TESTS))
