# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# What the shell tests of the libraries share: results as TAP, headers alone, the recorded ABI. The makefiles
# copy it beside the tests, which source it. It changes to the top of the tree, as BUILD is relative to
# that, and makes the directory $tmp.

while [ ! -f userspace/libnnhal/libnnhal.map ]; do
	[ "$PWD" = / ] && { echo "Bail out! source tree not found"; exit 1; }
	cd .. || exit 1
done
# shellcheck disable=SC2034 # tests use it
build=${BUILD:-build}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
count=0
failed=0

# result STATUS TEXT: a check, passed if STATUS is 0.
result() {
	count=$((count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		failed=1
	fi
}

# skip TEXT: a check that cannot be made here.
skip() {
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

skip_all() {
	echo "1..0 # SKIP $1"
	exit 4
}

# The end of each test.
finish() {
	echo "1..$count"
	exit $failed
}

# header_alone "-I..." HEADER: it compiles by itself, twice, in both languages.
header_alone() {
	printf '#include <%s>\n#include <%s>\n' "$2" "$2" >"$tmp/t.c"
	cp "$tmp/t.c" "$tmp/t.cpp"
	# shellcheck disable=SC2086 # several options
	${CC:-gcc} -std=c11 -Wall -Wextra -Wpedantic -Werror $1 -fsyntax-only "$tmp/t.c"
	result $? "<$2> alone, twice, as C11"
	case ${CC:-gcc} in
	*clang*) cxx=clang++ ;;
	*) cxx=$(echo "${CC:-gcc}" | sed 's/^ccache //; s/gcc/g++/') ;;
	esac
	if command -v "$cxx" >/dev/null 2>&1; then
		# shellcheck disable=SC2086
		"$cxx" -std=c++11 -Wall -Wextra -Wpedantic -Werror $1 -fsyntax-only "$tmp/t.cpp"
		result $? "<$2> alone, twice, as C++11"
	else
		skip "<$2> as C++11" "no $cxx"
	fi
}

# needs_abidiff LIBRARY: skips the test where there is nothing to compare.
needs_abidiff() {
	command -v abidiff >/dev/null || skip_all "no abidiff (abigail-tools)"
	readelf -h "$1" | grep -q 'X86-64' || skip_all "the record is that of x86-64"
	readelf -S -W "$1" | grep -q '\.debug_info' || skip_all "built without debug information"
	readelf --debug-dump=info -W --dwarf-depth=1 "$1" | grep -q 'DW_AT_producer.*clang' &&
		skip_all "the record is that of gcc"
	return 0
}

# abi_is RECORD LIBRARY: but for functions that are new.
abi_is() {
	abidiff --no-added-syms "$1" "$2" >"$tmp/report" 2>&1
	status=$?
	result $status "the ABI is the recorded one"
	if [ $status -ne 0 ]; then
		sed 's/^/# /' "$tmp/report" | head -n 60
		echo "# meant so, and by the rules of Documentation/abi.rst? Then: make record-abi"
	fi
}

# abi_was_not RECORD LIBRARY TEXT SED-SCRIPT: a library whose ABI once was such is not this one.
abi_was_not() {
	sed "$4" "$1" >"$tmp/record"
	abidiff --no-added-syms "$tmp/record" "$2" >"$tmp/report" 2>&1
	# 1 or 2 if abidiff has failed, 4 if there is a difference.
	[ $(($? & 7)) -eq 4 ]
	result $? "noticed: $3"
}
