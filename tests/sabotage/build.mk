# SPDX-License-Identifier: MIT
#
# Do the tests find what is broken? The rest of tests/sabotage runs in `make soak`.

HOST_TESTS += tests/sabotage/sabotage_test tests/sabotage/apply_test
