# SPDX-License-Identifier: MIT
#
# The Makefile itself: what is made again when, what install and uninstall leave.

HOST_TESTS += tests/makefile/remake_test tests/makefile/install_test
