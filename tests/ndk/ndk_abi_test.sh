#!/bin/sh
# SPDX-License-Identifier: MIT
#
# libneuralnetworks as others see it: exactly the declared functions are exported, each with its
# symbol version, and the header compiles alone in C and C++.

set -u
while [ ! -f userspace/libneuralnetworks/libneuralnetworks.map ]; do
	[ "$PWD" = / ] && { echo "Bail out! source tree not found"; exit 1; }
	cd .. || exit 1
done
build=${BUILD:-build}
lib=$build/lib/libneuralnetworks.so
include=userspace/libneuralnetworks/include
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

grep -ohE '\bANeuralNetworks[A-Za-z]*_[A-Za-z0-9]+\(' $include/android/NeuralNetworks.h |
	sed 's/(//' | sort -u >"$tmp/declared"
nm -D --defined-only "$lib" | awk '$2 == "T" { print $3 }' | sort -u >"$tmp/versioned"
sed 's/@.*//' "$tmp/versioned" >"$tmp/exported"
[ -s "$tmp/declared" ] && cmp -s "$tmp/declared" "$tmp/exported"
result $? "every declared function is exported, and nothing else is"
# The functions for vendor extensions are those that Android keeps for the platform.
grep -q LIBNEURALNETWORKS_PLATFORM "$tmp/versioned" &&
	[ "$(grep LIBNEURALNETWORKS_PLATFORM "$tmp/versioned")" = "$(grep Extension "$tmp/versioned")" ]
result $? "the functions for extensions have the version LIBNEURALNETWORKS_PLATFORM"
! grep -v -e '@@LIBNEURALNETWORKS$' -e '@@LIBNEURALNETWORKS_PLATFORM$' "$tmp/versioned"
result $? "all others have the version LIBNEURALNETWORKS"
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

printf '#include <android/NeuralNetworks.h>\n#include <android/NeuralNetworks.h>\n' >"$tmp/t.c"
cp "$tmp/t.c" "$tmp/t.cpp"
${CC:-gcc} -std=c11 -Wall -Wextra -Wpedantic -Werror -I$include -fsyntax-only "$tmp/t.c"
result $? "the header alone, twice, as C11"
g++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -I$include -fsyntax-only "$tmp/t.cpp"
result $? "the header alone, twice, as C++11"

echo "1..$count"
exit $failed
