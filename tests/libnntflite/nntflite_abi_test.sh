#!/bin/sh
# SPDX-License-Identifier: MIT
#
# libnntflite as others see it: exactly the declared functions are exported, by both libraries, the
# header compiles alone in C and C++, and a program gets all it needs from pkg-config.

set -u
# shellcheck source=tests/library.sh
. "$(dirname "$0")/library.sh"
lib=$build/lib/libnntflite.so
headers="userspace/libnntflite/include/nntflite/nntflite.h userspace/libnntflite/include/nntflite/session.h"
map=userspace/libnntflite/libnntflite.map
includes="-Iuserspace/libnntflite/include -Iuserspace/libnnhal/include"

# Declarations, not what comments call.
# shellcheck disable=SC2086 # several files
sed 's/^ \*.*//' $headers | grep -ohE '\bnntflite_[a-z0-9_]+\(' | sed 's/(//' | sort -u >"$tmp/declared"
sed -n 's/^\t\(nntflite_[a-z0-9_]*\);/\1/p' $map | sort -u >"$tmp/mapped"
nm -D --defined-only "$lib" | awk '$2 == "T" { sub("@.*", "", $3); print $3 }' | sort -u >"$tmp/exported"
nm --defined-only -g "${lib%.so}.a" 2>/dev/null | awk 'NF == 3 && $2 ~ /[A-Z]/ { print $3 }' |
	sort -u >"$tmp/static"
[ -s "$tmp/declared" ] && cmp -s "$tmp/declared" "$tmp/mapped"
result $? "every declared function is in the symbol map, and nothing else is"
cmp -s "$tmp/mapped" "$tmp/exported"
result $? "every function of the map is exported, and nothing else is"
cmp -s "$tmp/mapped" "$tmp/static"
result $? "the static library has the same global symbols"
[ -z "$(nm -D --defined-only "$lib" | awk '$2 ~ /[BDR]/')" ]
result $? "no data is exported"
readelf -d "$lib" | grep -q 'SONAME.*\[libnntflite\.so\.1\]'
result $? "the soname is libnntflite.so.1"
readelf -d "$lib" | grep -q 'NEEDED.*\[libnnhal\.so\.1\]'
result $? "it uses libnnhal.so.1"

for header in nntflite session; do
	header_alone "$includes" nntflite/$header.h
done
PKG_CONFIG_PATH=$build/lib pkg-config --libs nntflite >"$tmp/libs" 2>&1 &&
	grep -q -e '-lnntflite' "$tmp/libs" && grep -q -e '-lnnhal' "$tmp/libs"
result $? "pkg-config names both libraries"

finish
