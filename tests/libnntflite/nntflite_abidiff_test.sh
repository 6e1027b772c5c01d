#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The ABI of libnntflite is the recorded one (tests/libnntflite/libnntflite.abi), but for functions
# that are new, as nnhal_abidiff_test.sh has it of libnnhal. `make record-abi` records anew.

set -u
# shellcheck source=tests/library.sh
. "$(dirname "$0")/library.sh"
lib=$build/lib/libnntflite.so
record=tests/libnntflite/libnntflite.abi
needs_abidiff "$lib"

abi_is $record "$lib"
abi_was_not $record "$lib" "two members that have changed places" \
	"/class-decl name='nntflite_value' /,/class-decl>/ { s/'bytes'/'x'/; s/'data'/'bytes'/; s/'x'/'data'/ }"
grep -q "class-decl name='nntflite_io' " $record && ! grep -qE "path='/|$PWD" $record
result $? "the record has the types of the headers and no paths of a machine"

finish
