#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Several devices: three more are put in through the machine's monitor, each has a node of its
# own, and all work at once. One after the other is pulled out under load and put back: who used
# it learns it, and the others work on with right results.
#
#   NNPU_REMOVALS  devices pulled out and put back  (default 1)
#
# Runs as root on the machine with the device, with scripts/vm --guest-monitor. TAP; exit status
# 4 = skipped.

set -u
here=$(cd "$(dirname "$0")" && pwd)
loop=${NNPU_SELFTEST_BIN:-$here}/nnpu_loop
removals=${NNPU_REMOVALS:-1}
ports=(nnpu-spare nnpu-spare1 nnpu-spare2)
# shellcheck source=selftests/nnpu_test.sh
. "$here/nnpu_test.sh"

# Of each device: its PCI address, its node, the process at work on it. The first is the machine's.
addresses=() nodes=() pids=()

# check NAME FUNCTION: passes if the function ends with status 0; $reason says why not. Unlike those
# of nnpu_test.sh this one and fail() stay in this shell: what the functions find out is needed later.
check() {
	local name=$1
	shift
	reason='no reason given'
	test_no=$((test_no + 1))
	if "$@"; then
		printf 'ok %d %s\n' "$test_no" "$name"
	else
		failed=1
		printf '# %s\nnot ok %d %s\n' "$reason" "$test_no" "$name"
	fi
}

fail() {
	reason=$*
	return 1
}

# The node of the device at a PCI address, in $node.
find_node() {
	local d
	for d in "/sys/bus/pci/devices/$1"/{accel/accel,drm/renderD}*; do
		[ -e "$d" ] || continue
		node=${d##*/}
		case $node in
		accel*) node=/dev/accel/$node ;;
		*) node=/dev/dri/$node ;;
		esac
		[ -c "$node" ] && return 0
	done
	return 1
}

# A device that the driver has and that is not in addresses: its place in $address and $node.
find_new() {
	local d known
	for d in /sys/bus/pci/drivers/nnpu/*:*; do
		[ -e "$d" ] || continue
		address=${d##*/}
		for known in "${addresses[@]}"; do
			[ "$known" != "$address" ] || continue 2
		done
		find_node "$address" && return 0
	done
	return 1
}

absent() { [ ! -e "/sys/bus/pci/devices/$1" ]; }

# add INDEX: put device INDEX in. It is there when a job is done.
add() {
	echo "device_add nnpu-pci,id=nnpu-more$1,bus=${ports[$1 - 1]}" > "$monitor"
	addresses[$1]='' nodes[$1]=''
	wait_until 60 find_new || { fail "device $1: the driver does not have it"; return 1; }
	addresses[$1]=$address nodes[$1]=$node
	out=$("$loop" -d "$node" -n 5 2>&1) || fail "device $1: $out"
}

# Jobs on device INDEX until further notice; the first is done. Every second device has a user queue.
start() {
	local options=(-d "${nodes[$1]}" -s -r 3)
	[ $(($1 % 2)) = 0 ] || options+=(-q)
	"$loop" "${options[@]}" 3<> "$tmp/ready" > /dev/null 2> "$tmp/err$1" &
	pids[$1]=$!
	if ! timeout 60 head -c 1 "$tmp/ready" > /dev/null || gone "${pids[$1]}"; then
		fail "device $1: no job was done: $(cat "$tmp/err$1")"
	fi
}

test_add() {
	local i
	find_new || { fail "the machine's device has no node"; return 1; }
	addresses[0]=$address nodes[0]=$node
	for ((i = 1; i <= ${#ports[@]}; i++)); do add "$i" || return 1; done
}

test_start() {
	local i
	for ((i = 0; i <= ${#ports[@]}; i++)); do start "$i" || return 1; done
}

# The others: their processes live, and new ones get their jobs done.
others_work() { # INDEX
	local i out
	for ((i = 0; i <= ${#ports[@]}; i++)); do
		[ "$i" != "$1" ] || continue
		! gone "${pids[$i]}" || { fail "device $i: its process has ended: $(cat "$tmp/err$i")"; return 1; }
		out=$("$loop" -d "${nodes[$i]}" -n 20 2>&1) || { fail "device $i: $out"; return 1; }
	done
}

test_removals() {
	local round i status
	for ((round = 0; round < removals; round++)); do
		i=$((round % ${#ports[@]} + 1))
		echo "device_del nnpu-more$i" > "$monitor"
		wait_until 60 absent "${addresses[$i]}" || { fail "round $round: device $i stays"; return 1; }
		wait_until 60 gone "${pids[$i]}" || { fail "round $round: the process of device $i waits"; return 1; }
		wait "${pids[$i]}"
		status=$?
		[ "$status" = 3 ] ||
			{ fail "round $round: device $i: status $status instead of 3 (device gone): $(cat "$tmp/err$i")"; return 1; }
		others_work "$i" || { reason="round $round, without device $i: $reason"; return 1; }
		if ! add "$i" || ! start "$i"; then
			reason="round $round: $reason"
			return 1
		fi
	done
}

# Until now each result was right, or the process would have ended.
test_end() {
	local i status
	for ((i = 0; i <= ${#ports[@]}; i++)); do
		kill -TERM "${pids[$i]}" 2> /dev/null
		wait "${pids[$i]}" 2> /dev/null
		status=$?
		[ "$status" = 143 ] || { fail "device $i: status $status: $(cat "$tmp/err$i")"; return 1; }
	done
}

test_take_out() {
	local i out
	for ((i = 1; i <= ${#ports[@]}; i++)); do
		echo "device_del nnpu-more$i" > "$monitor"
		wait_until 60 absent "${addresses[$i]}" || { fail "device $i stays"; return 1; }
	done
	out=$("$loop" -d "${nodes[0]}" -n 20 2>&1) || fail "the machine's device: $out"
}

[[ $removals =~ ^[1-9][0-9]*$ ]] || { echo "Bail out! NNPU_REMOVALS is '$removals'"; exit 1; }
if ! find_new; then
	# A device of a device tree is there or not.
	if [ -z "$(ls -d /sys/bus/platform/drivers/nnpu/*.* 2> /dev/null)" ] && [ -n "${NNPU_REQUIRE_DEVICE:-}" ]; then
		echo "Bail out! no device"
		exit 1
	fi
	echo "1..0 # SKIP of PCI functions only"
	exit 4
fi
if ! monitor=$(monitor_port); then
	if [ -n "${NNPU_REQUIRE_DEVICE:-}" ]; then echo "Bail out! no monitor of the machine"; exit 1; fi
	echo "1..0 # SKIP no monitor of the machine"
	exit 4
fi
tmp=$(mktemp -d)
trap 'kill -9 "${pids[@]}" 2> /dev/null; rm -rf "$tmp"' EXIT
mkfifo "$tmp/ready"
echo "TAP version 13"
echo "1..5"
check "four devices have a node each and do jobs" test_add
check "four devices work at once" test_start
check "$removals times one of four is pulled out and put back while all work" test_removals
check "no process of the others has ended, no result was wrong" test_end
check "without the three the first one works" test_take_out
exit "$failed"
