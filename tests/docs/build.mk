# SPDX-License-Identifier: MIT
#
# The documents say what the headers and the tree say.

HOST_TESTS += tests/docs/check-spec
HOST_TESTS += tests/docs/check-conformance
