#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Documentation/operation-signatures.rst is what the table of signatures says.

if ! "${0%_test}" | diff -u Documentation/operation-signatures.rst - >"$0.diff"; then
	head -n 40 "$0.diff" | sed 's/^/# /'
	echo "# run scripts/gen-signatures"
	echo "not ok 1 - operation-signatures.rst follows the table"
	echo "1..1"
	exit 1
fi
echo "ok 1 - operation-signatures.rst follows the table"
echo "1..1"
