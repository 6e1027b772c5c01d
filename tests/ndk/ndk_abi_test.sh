#!/bin/sh
# SPDX-License-Identifier: MIT
#
# libneuralnetworks as others see it: exactly the functions of the NNAPI are declared and exported, each
# with its symbol version, and the headers compile alone in C and C++.

set -u
# shellcheck source=tests/library.sh
. "$(dirname "$0")/library.sh"
lib=$build/lib/libneuralnetworks.so
include=userspace/libneuralnetworks/include
list=tests/ndk/functions.list

# The list is not made from the header: it has the 66 functions of API level 30 and the seven of 31.
grep -v '^#' $list >"$tmp/list"
[ "$(awk '$1 <= 30 && $3 ~ /^ANeural/' "$tmp/list" | wc -l)" -eq 66 ] &&
	[ "$(awk '$1 == 31' "$tmp/list" | wc -l)" -eq 7 ]
result $? "the list has 66 functions and seven"
sed 's|^ \*.*||' $include/android/*.h | grep -ohE '\bA[A-Z][A-Za-z]*_[A-Za-z0-9]+\(' |
	sed 's/(//' | sort -u >"$tmp/declared"
awk '{ print $3 }' "$tmp/list" | sort -u >"$tmp/functions"
cmp "$tmp/functions" "$tmp/declared"
result $? "the headers declare every function of the list, and no other"
nm -D --defined-only "$lib" | awk '$2 == "T" { print $3 }' | sort -u >"$tmp/exported"
awk 'NF == 3 { print $3 "@@" $2 }' "$tmp/list" | sort -u >"$tmp/expected"
diff "$tmp/expected" "$tmp/exported" | sed -n 's/^[<>]/# &/p'
[ -s "$tmp/expected" ] && cmp -s "$tmp/expected" "$tmp/exported"
result $? "the library has all of them but $(awk '$4 == "missing"' "$tmp/list" | wc -l), with their versions, and no other"
awk 'NF > 3 && ($4 != "missing" || NF != 4)' "$tmp/list" | grep . | sed 's/^/# /' >"$tmp/odd"
[ ! -s "$tmp/odd" ]
result $? "a function is there or missing"
[ -z "$(nm -D --defined-only "$lib" | awk '$2 ~ /[BDR]/')" ]
result $? "no data is exported"
readelf -d "$lib" | grep -q 'SONAME.*\[libneuralnetworks\.so\.1\]'
result $? "the soname is libneuralnetworks.so.1"
readelf -d "$lib" | grep -q 'NEEDED.*\[libnnhal\.so\.1\]'
result $? "it uses libnnhal.so.1"
nm -D --undefined-only "$lib" | awk '$2 ~ /^nnhal_/ { print $2 }' | sed 's/@.*//' | sort -u >"$tmp/used"
sed -n 's/^\t\(nnhal_[a-z0-9_]*\);/\1/p' userspace/libnnhal/libnnhal.map | sort -u >"$tmp/public"
[ -s "$tmp/used" ] && [ -z "$(comm -23 "$tmp/used" "$tmp/public")" ]
result $? "it uses the public functions of libnnhal only"

for header in "$include"/android/*.h; do
	header_alone -I$include "android/$(basename "$header")"
done
header_alone "-I$include -I$include/android" NeuralNetworks.h

finish
