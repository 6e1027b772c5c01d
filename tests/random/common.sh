# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2034 # for the scripts that source this
#
# What the tests of this folder share. They run from the top of the repository.

build=${BUILD:-build}
shared=${NNPU_SHARED:-../shared}
# Debian's numpy is for Debian's interpreter, whatever else comes first in PATH.
python=
for candidate in /usr/bin/python3 python3; do
	if "$candidate" -c 'import numpy' 2>/dev/null; then
		python="$candidate -B"
		break
	fi
done

# need_numpy: ends the test as skipped without it
need_numpy() {
	[[ -n $python ]] && return
	echo "1..0 # SKIP the Python module numpy is missing (Debian: python3-numpy)"
	exit 4
}
