#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The ABI of the library is the recorded one (tests/libnnhal/libnnhal.abi), but for functions that
# are new. Documentation/abi.rst says what may change and how; `make record-abi` records anew.

set -u
# BUILD is relative to the top of the tree, which is where tests are started.
while [ ! -f userspace/libnnhal/libnnhal.map ]; do
	[ "$PWD" = / ] && { echo "Bail out! source tree not found"; exit 1; }
	cd .. || exit 1
done
lib=${BUILD:-build}/lib/libnnhal.so
record=tests/libnnhal/libnnhal.abi

skip_all() {
	echo "1..0 # SKIP $1"
	exit 4
}
command -v abidiff >/dev/null || skip_all "no abidiff (abigail-tools)"
readelf -h "$lib" | grep -q 'X86-64' || skip_all "the record is that of x86-64"
readelf -S -W "$lib" | grep -q '\.debug_info' || skip_all "built without debug information"
readelf --debug-dump=info -W --dwarf-depth=1 "$lib" | grep -q 'DW_AT_producer.*clang' &&
	skip_all "the record is that of gcc"

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
count=0
failed=0

result() {
	count=$((count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		failed=1
	fi
}

# compare RECORD: its status has 1 or 2 if abidiff has failed, 4 if there is a difference
compare() {
	abidiff --no-added-syms "$1" "$lib" >"$tmp/report" 2>&1
}

compare $record
status=$?
result $status "the ABI is the recorded one"
if [ $status -ne 0 ]; then
	sed 's/^/# /' "$tmp/report" | head -n 60
	echo "# meant so, and by the rules of Documentation/abi.rst? Then: make record-abi"
fi

# wrong WORDS SED-SCRIPT: a library whose ABI once was such is not this one
wrong() {
	sed "$2" $record >"$tmp/record"
	compare "$tmp/record"
	status=$?
	[ $((status & 7)) -eq 4 ]
	result $? "noticed: $1"
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

echo "1..$count"
exit $failed
