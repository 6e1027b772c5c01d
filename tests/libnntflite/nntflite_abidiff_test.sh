#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The ABI of libnntflite is the recorded one (tests/libnntflite/libnntflite.abi), but for functions
# that are new, as nnhal_abidiff_test.sh has it of libnnhal. `make record-abi` records anew.

set -u
while [ ! -f userspace/libnntflite/libnntflite.map ]; do
	[ "$PWD" = / ] && { echo "Bail out! source tree not found"; exit 1; }
	cd .. || exit 1
done
lib=${BUILD:-build}/lib/libnntflite.so
record=tests/libnntflite/libnntflite.abi

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
failed=0

if abidiff --no-added-syms $record "$lib" >"$tmp/report" 2>&1; then
	echo "ok 1 - the ABI is the recorded one"
else
	echo "not ok 1 - the ABI is the recorded one"
	sed 's/^/# /' "$tmp/report" | head -n 60
	echo "# meant so, and by the rules of Documentation/abi.rst? Then: make record-abi"
	failed=1
fi

# A library whose ABI once was such is not this one.
sed "/class-decl name='nntflite_value' /,/class-decl>/ { s/'bytes'/'x'/; s/'data'/'bytes'/; s/'x'/'data'/ }" \
	$record >"$tmp/record"
abidiff --no-added-syms "$tmp/record" "$lib" >"$tmp/report" 2>&1
if [ $(($? & 7)) -eq 4 ]; then
	echo "ok 2 - noticed: two members that have changed places"
else
	echo "not ok 2 - noticed: two members that have changed places"
	failed=1
fi
if grep -q "class-decl name='nntflite_io' " $record && ! grep -qE "path='/|$PWD" $record; then
	echo "ok 3 - the record has the types of the headers and no paths of a machine"
else
	echo "not ok 3 - the record has the types of the headers and no paths of a machine"
	failed=1
fi
echo "1..3"
exit $failed
