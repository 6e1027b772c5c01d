# SPDX-License-Identifier: MIT
#
# Tests of what runs and counts the tests.

HOST_TESTS += tests/harness/tap_summary_test tests/harness/run_tests_test \
	tests/harness/run_selftests_test tests/harness/lib_tap_test tests/harness/check_limits_test \
	tests/harness/check_kunit_test
