# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # $failed is for who sources this
#
# What the shell tests have in common. Source it: it counts tests in $test_no, and $failed becomes
# the exit status.

test_no=0
failed=0

say() { printf '# %s\n' "$*"; }

# check NAME FUNCTION ARGUMENT...: passes if the function ends with status 0 and says
# nothing. It stops with `fail TEXT` in front of its `return 1`.
check() {
	local name=$1 text status
	shift
	text=$("$@")
	status=$?
	test_no=$((test_no + 1))
	if [ "$status" = 0 ] && [ -z "$text" ]; then
		printf 'ok %d %s\n' "$test_no" "$name"
	else
		failed=1
		say "${text:-no reason given} (status $status)"
		printf 'not ok %d %s\n' "$test_no" "$name"
	fi
}

fail() {
	printf '%s\n' "$*"
	return 1
}

skip() { # NAME REASON
	test_no=$((test_no + 1))
	printf 'ok %d %s # SKIP %s\n' "$test_no" "$1" "$2"
}

wait_until() { # SECONDS COMMAND...
	local tries=$(($1 * 10))
	shift
	while ! "$@"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.1
	done
}

gone() { ! kill -0 "$1" 2>/dev/null; }

# The port that leads to the monitor of the machine this runs in.
monitor_port() {
	local port
	for port in /sys/class/virtio-ports/*; do
		if [ "$(cat "$port/name" 2> /dev/null)" = nnpu.monitor ]; then
			echo "/dev/${port##*/}"
			return 0
		fi
	done
	return 1
}
