#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The library as others see it: exactly the documented symbols are exported, each
# public header compiles alone in C and C++, soname and pkg-config file are right, and no
# object of it, compiled without sanitizers, has writable data or makes a call it must not.

set -u
# shellcheck source=tests/library.sh
. "$(dirname "$0")/library.sh"
lib=$build/lib/libnnhal.so
include=userspace/libnnhal/include
map=userspace/libnnhal/libnnhal.map

grep -ohE '\bnnhal_[a-z0-9_]+\(' "$include"/nnhal/*.h | sed 's/(//' | sort -u > "$tmp/declared"
sed -n '/global:/,/local:/s/^\t\(nnhal_[a-z0-9_]*\);/\1/p' $map | sort -u > "$tmp/mapped"
nm -D --defined-only "$lib" | awk '$2 == "T" { sub("@.*", "", $3); print $3 }' | sort -u \
	> "$tmp/exported"
cmp -s "$tmp/declared" "$tmp/mapped"
result $? "every declared function is in the symbol map, and nothing else is"
cmp -s "$tmp/mapped" "$tmp/exported"
result $? "every function of the map is exported, and nothing else is"
[ -z "$(nm -D --defined-only "$lib" | awk '$2 ~ /[BDR]/')" ]
result $? "no data is exported"
! nm -D --defined-only "$lib" | grep ' T ' | grep -qvE '@@NNHAL_1\.[01]$'
result $? "every function has a version, NNHAL_1.0 or NNHAL_1.1"
nm --defined-only -g "${lib%.so}.a" 2>/dev/null | awk 'NF == 3 && $2 ~ /[A-Z]/ { print $3 }' |
	sort -u > "$tmp/static"
cmp -s "$tmp/mapped" "$tmp/static"
result $? "the static library has the same global symbols"
readelf -d "$lib" | grep -q 'FLAGS_1.*NODELETE'
result $? "dlclose() leaves the library mapped"
readelf -d "$lib" | grep -q 'SONAME.*\[libnnhal\.so\.1\]'
result $? "the soname is libnnhal.so.1"

for header in "$include"/nnhal/*.h; do
	header_alone -I$include "nnhal/$(basename "$header")"
done

# The library uses nothing that ends the process, prints or keeps global state.
objects=$(cat "$build/tests/nnhal_abi_test.objects")
missing=0
for object in $objects; do
	[ -s "$object" ] || missing=$((missing + 1))
done
[ "$(echo "$objects" | wc -w)" -ge 20 ] && [ "$missing" -eq 0 ]
result $? "the objects of the library are there, all but $missing"
# shellcheck disable=SC2086 # a list of paths without blanks
imports=$(nm -u $objects | awk '{ print $2 }' | sort -u)
echo "$imports" | grep -qx malloc && ! echo "$imports" | grep -q __asan
result $? "they call malloc() and no sanitizer"
bad=$(echo "$imports" | grep -E '^(abort|exit|_exit|raise|printf|puts|putchar|perror|fprintf|vprintf|stdout|stderr|getenv|signal|sigaction|__assert_fail)$')
[ -z "$bad" ]
result $? "no call that ends the process, prints or reads the environment $bad"
# shellcheck disable=SC2086
size -A $objects >"$tmp/sizes"
grep -q '^\.text' "$tmp/sizes"
result $? "their sections have sizes"
# Also of a variable in a section of its own (.data.name) and of a thread's.
# The log is the only exception, and only vlog.c may look at the environment and write lines.
# shellcheck disable=SC2086
asks=$(nm -A -u $objects | awk '$NF ~ /^(secure_getenv|write|dprintf)$/ { print $1 ":" $NF }' |
	sed 's|.*/\([a-z_]*\)\.o:.*:|\1:|' | sort -u | tr '\n' ' ')
echo "$asks" | grep -q 'vlog:secure_getenv' && ! echo "$asks" | tr ' ' '\n' | grep -qvE '^(vlog:.*|[a-z_]*:write|)$'
result $? "only the log reads the environment: $asks"
data=$(awk '$1 ~ /^\.(data|bss|tdata|tbss)(\.|$)/ && $1 !~ /^\.data\.rel\.ro/ && $2 > 0 { print $1 }' \
	"$tmp/sizes" | sort -u | tr '\n' ' ')
[ -z "$data" ]
result $? "no writable global data $data"

# The layers of userspace/README.md: a folder uses itself and those before it in the list.
layers="base transport memory device model convert buffer cache execution burst resilient fmq"
grep -Ho '^#include "[a-z]*/' userspace/libnnhal/*/*.[ch] |
	sed 's|userspace/libnnhal/\([a-z]*\)/.*"\([a-z]*\)/|\1 \2|' >"$tmp/includes"
# shellcheck disable=SC2086
upward=$(awk -v layers="$layers" '
	BEGIN { n = split(layers, name, " "); for (i = 1; i <= n; i++) rank[name[i]] = i }
	!rank[$1] || !rank[$2] || rank[$2] > rank[$1] { print $1 "->" $2 }' "$tmp/includes" |
	sort -u | tr '\n' ' ')
[ "$(wc -l <"$tmp/includes")" -ge 200 ] && [ -z "$upward" ]
result $? "includes between the folders of the library lead one way $upward"
# The same for calls: who defines a symbol, who needs it.
for object in $objects; do
	folder=$(echo "$object" | sed -n 's|.*userspace/libnnhal/\([a-z]*\)/.*|\1|p')
	[ -z "$folder" ] || nm "$object" | awk -v f="$folder" 'NF >= 2 { print f, $(NF - 1), $NF }'
done >"$tmp/symbols"
# shellcheck disable=SC2086
upward=$(awk -v layers="$layers" '
	BEGIN { n = split(layers, name, " "); for (i = 1; i <= n; i++) rank[name[i]] = i }
	NR == FNR { if ($2 ~ /[TDRB]/) home[$3] = $1; next }
	$2 == "U" && home[$3] { calls++ }
	$2 == "U" && home[$3] && rank[home[$3]] > rank[$1] { print $1 "->" home[$3] ":" $3 }
	END { if (calls < 200) print "only", calls + 0, "calls" }' \
	"$tmp/symbols" "$tmp/symbols" | sort -u | tr '\n' ' ')
[ -z "$upward" ]
result $? "so do calls $upward"

version=$(sed -n 's/^#define NNHAL_VERSION_\(MAJOR\|MINOR\|PATCH\)[[:space:]]*//p' \
	$include/nnhal/version.h | paste -sd.)
grep -qx "Version: $version" "$build/lib/nnhal.pc"
result $? "nnhal.pc has the version $version"

finish
