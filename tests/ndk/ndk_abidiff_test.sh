#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The ABI of libneuralnetworks is the recorded one (tests/ndk/libneuralnetworks.abi), but for functions
# that are new. `make record-abi` records anew; here that can only be right for functions beyond
# the NNAPI of level 31.

set -u
# shellcheck source=tests/library.sh
. "$(dirname "$0")/library.sh"
lib=$build/lib/libneuralnetworks.so
record=tests/ndk/libneuralnetworks.abi
needs_abidiff "$lib"

abi_is $record "$lib"
abi_was_not $record "$lib" "two members that have changed places" \
	"/class-decl name='ANeuralNetworksOperandType' /,/class-decl>/ { s/'scale'/'x'/; s/'zeroPoint'/'scale'/; s/'x'/'zeroPoint'/ }"
abi_was_not $record "$lib" "a function that is gone" \
	"s/\(<elf-symbol name='\)ANeuralNetworksModel_create' /\1ANeuralNetworksModel_created' /"
abi_was_not $record "$lib" "a function of another version" \
	"s/\(<elf-symbol name='ANeuralNetworksModel_create' version='LIBNEURALNETWORKS\)'/\1_PLATFORM'/"
grep -q "class-decl name='ANeuralNetworksSymmPerChannelQuantParams' " $record && ! grep -qE "path='/|$PWD" $record
result $? "the record has the types of the headers and no paths of a machine"

finish
