#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Documentation/tflite-operators.rst is what the tables of libnntflite say.

if ! "${0%_test}" | diff -u Documentation/tflite-operators.rst - >"$0.diff"; then
	head -n 40 "$0.diff" | sed 's/^/# /'
	echo "# run scripts/gen-operators"
	echo "not ok 1 - tflite-operators.rst follows the tables"
	echo "1..1"
	exit 1
fi
echo "ok 1 - tflite-operators.rst follows the tables"
echo "1..1"
