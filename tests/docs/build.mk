# SPDX-License-Identifier: MIT
#
# The documents say what the headers and the tree say. Counted apart from the tests.

DOC_CHECKS += tests/docs/check-spec
DOC_CHECKS += tests/docs/check-documents
DOC_CHECKS += tests/docs/check-conformance
DOC_CHECKS += tests/docs/check-sphinx
