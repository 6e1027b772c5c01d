#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The ABI of the library is the recorded one (tests/libnnhal/libnnhal.abi), but for functions that
# are new. Documentation/abi.rst says what may change and how; `make record-abi` records anew.

set -u
# shellcheck source=tests/library.sh
. "$(dirname "$0")/library.sh"
lib=$build/lib/libnnhal.so
record=tests/libnnhal/libnnhal.abi
needs_abidiff "$lib"

abi_is $record "$lib"

wrong() {
	abi_was_not $record "$lib" "$1" "$2"
}

wrong "a structure that has another size" \
	"s/\(class-decl name='nnhal_output_shape' size-in-bits='\)[0-9]*'/\164'/"
wrong "two members that have changed places" \
	"/class-decl name='nnhal_burst_options' /,/class-decl>/ { s/'depth'/'x'/; s/'spin_us'/'depth'/; s/'x'/'spin_us'/ }"
wrong "an enumerator with another number" \
	"s/\(enumerator name='NNHAL_STATUS_GENERAL_FAILURE' value='\)2'/\19'/"
wrong "a function that is gone" \
	"s/\(<elf-symbol name='\)nnhal_device_open' /\1nnhal_device_opened' /"
wrong "a symbol of another version" \
	"s/\(<elf-symbol name='nnhal_device_open' version='NNHAL_1.\)0'/\17'/"

# What callers share with the library, and nothing inside it.
grep -q "class-decl name='nnhal_model' " $record && ! grep -q "class-decl name='bind_table' size" $record &&
	! grep -qE "path='/|$PWD" $record
result $? "the record has the types of the headers, no other ones, and no paths of a machine"

finish
