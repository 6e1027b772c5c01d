#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The driver's life cycle: module load and unload, processes killed with jobs in
# flight, the device taken away and given back while jobs run. After each the
# next job works and nothing is left behind.
#
#   NNPU_CYCLES    insmod, inference, rmmod      (default 5)
#   NNPU_KILLS     kill -9 in the middle         (default 20)
#   NNPU_UNBINDS   unbind and bind under load, and while suspended  (default 5)
#   NNPU_REMOVALS  the device pulled out and put back under load, through the
#                  machine's monitor (scripts/vm --guest-monitor)  (default 2)
#   NNPU_KO        path of nnpu.ko               (default: modprobe nnpu)
#
# Runs as root on the machine with the device. TAP; exit status 4 = skipped.

set -u
here=$(cd "$(dirname "$0")" && pwd)
bin=${NNPU_SELFTEST_BIN:-$here}
loop=$bin/nnpu_loop
cycles=${NNPU_CYCLES:-5}
kills=${NNPU_KILLS:-20}
unbinds=${NNPU_UNBINDS:-5}
removals=${NNPU_REMOVALS:-2}
test_no=0
failed=0

say() { printf '# %s\n' "$*"; }

result() { # NAME ERROR-TEXT
	test_no=$((test_no + 1))
	if [ -z "$2" ]; then
		printf 'ok %d %s\n' "$test_no" "$1"
	else
		failed=1
		say "$2"
		printf 'not ok %d %s\n' "$test_no" "$1"
	fi
}

skip() { # NAME REASON
	test_no=$((test_no + 1))
	printf 'ok %d %s # SKIP %s\n' "$test_no" "$1" "$2"
}

load() {
	if [ -n "${NNPU_KO:-}" ]; then insmod "$NNPU_KO"; else modprobe nnpu; fi
}

pci_address() {
	local d
	for d in /sys/bus/pci/devices/*; do
		if [ "$(cat "$d/vendor" "$d/device" 2> /dev/null)" = "$(printf '0x1234\n0x4e50')" ]; then
			basename "$d"
			return 0
		fi
	done
	return 1
}

# Live objects as the driver counts them.
objects() { cat /sys/kernel/debug/accel/*/objects /sys/kernel/debug/dri/*/objects 2>/dev/null; }

unreclaimable_kb() {
	sync
	echo 3 > /proc/sys/vm/drop_caches
	awk '/^SUnreclaim:/ { print $2 }' /proc/meminfo
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

objects_are() { [ "$(objects)" = "$1" ]; }

gone() { ! kill -0 "$1" 2>/dev/null; }

# A process with jobs in flight: started, and its first job is done.
start_loop() { # FIFO [OPTION]
	# shellcheck disable=SC2086 # an option or none
	"$loop" -s ${2:-} -r 3 3<> "$1" > /dev/null 2> "$tmp/loop.err" &
	loop_pid=$!
	timeout 60 head -c 1 "$1" > /dev/null
}

# Jobs go on for a random part of a second before it happens.
pause() { sleep "0.$(printf '%03d' $((RANDOM % 120)))"; }

test_cycles() {
	local i out
	for ((i = 1; i <= cycles; i++)); do
		rmmod nnpu || { echo "rmmod failed in cycle $i"; return; }
		load || { echo "insmod failed in cycle $i"; return; }
		out=$("$loop" -n 20 2>&1) || { echo "cycle $i: $out"; return; }
		out=$("$loop" -q -n 20 2>&1) || { echo "cycle $i, user queue: $out"; return; }
	done
}

test_kills() {
	local i before after slab0 slab1 out
	mkfifo "$tmp/ready"
	# One round first, so that caches have their size.
	for ((i = 0; i <= kills; i++)); do
		start_loop "$tmp/ready" "$([ $((i % 2)) = 0 ] || echo -q)" || { echo "kill $i: no job was done: $(cat "$tmp/loop.err")"; return; }
		pause
		kill -9 "$loop_pid"
		wait "$loop_pid" 2> /dev/null
		if [ "$i" -eq 0 ]; then
			wait_until 30 objects_idle || { echo "objects left after the first kill: $(objects)"; return; }
			before=$(objects)
			slab0=$(unreclaimable_kb)
		fi
	done
	wait_until 30 objects_are "$before" ||
		{ after=$(objects); echo "objects left behind: ${after//$'\n'/, }"; return; }
	slab1=$(unreclaimable_kb)
	say "SUnreclaim $slab0 kB before, $slab1 kB after $kills kills" >&2
	# One page per kill would be the smallest leak of a job or a buffer.
	if [ $((slab1 - slab0)) -gt $((1024 + 3 * kills)) ]; then
		echo "unreclaimable slab grew from $slab0 to $slab1 kB over $kills kills"
		return
	fi
	out=$("$loop" -n 50 2>&1) || echo "next job: $out"
}

# No context, no job, no buffer: the driver's own objects only.
objects_idle() { ! objects | grep -Evq '[[:space:]:]0$'; }

# taken_away COUNT TAKE GIVE: processes are at work, the function TAKE takes the
# device from under them, each of them learns it; GIVE gives it back.
taken_away() {
	local i p pids status out count=$1
	rm -f "$tmp/ready2"
	mkfifo "$tmp/ready2"
	for ((i = 1; i <= count; i++)); do
		pids=
		for p in '' '' -q -q; do
			start_loop "$tmp/ready2" "$p" ||
				{ echo "round $i: no job was done: $(cat "$tmp/loop.err")"; return; }
			pids="$pids $loop_pid"
		done
		pause
		"$2" || { echo "round $i: $2 failed"; return; }
		for p in $pids; do
			wait_until 60 gone "$p" || { echo "round $i: process $p still waits"; kill -9 "$p"; return; }
			wait "$p"
			status=$?
			if [ "$status" -ne 3 ]; then
				echo "round $i: exit status $status instead of 3 (device gone): $(cat "$tmp/loop.err")"
				return
			fi
		done
		"$3" || { echo "round $i: $3 failed"; return; }
		out=$("$loop" -n 20 2>&1) || { echo "round $i: afterwards: $out"; return; }
		out=$("$loop" -q -n 20 2>&1) || { echo "round $i: afterwards, user queue: $out"; return; }
	done
	wait_until 30 objects_idle || echo "objects left behind: $(objects)"
}

unbind() { echo "$address" > /sys/bus/pci/drivers/nnpu/unbind; }
bind() { echo "$address" > /sys/bus/pci/drivers/nnpu/bind; }

test_unbinds() {
	address=$(pci_address) || { echo "no PCI function of the device"; return; }
	taken_away "$unbinds" unbind bind
}

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

no_pci_address() { ! pci_address > /dev/null; }
probed() { "$loop" -n 1 > /dev/null 2>&1; }
pull_out() { echo "device_del nnpu0" > "$monitor" && wait_until 60 no_pci_address; }

put_back() {
	echo "device_add nnpu-pci,id=nnpu0,bus=nnpu-port0,inject=on" > "$monitor" &&
		wait_until 60 probed
}

attribute_is() { # NAME VALUE, of the device
	[ "$(cat "/sys/bus/pci/devices/$address/$1" 2> /dev/null)" = "$2" ]
}

runtime_pm() {
	address=$(pci_address) && ! attribute_is power/runtime_status unsupported &&
		attribute_is power/control auto
}

# Each binding of the driver begins with the usual delay.
falls_asleep() {
	echo 20 > "/sys/bus/pci/devices/$address/power/autosuspend_delay_ms"
	wait_until 60 attribute_is power/runtime_status suspended
}

# A device that nothing uses is suspended: unbound like that, with and without an
# open file, and the module unloaded.
test_suspended() {
	local i out node
	runtime_pm || { echo "runtime power management is off"; return; }
	for ((i = 1; i <= unbinds; i++)); do
		if [ $((i % 2)) = 0 ]; then
			for node in /dev/accel/accel* /dev/dri/renderD*; do
				[ ! -c "$node" ] || { exec 9<> "$node"; break; }
			done
		fi
		falls_asleep || { echo "round $i: not suspended"; return; }
		attribute_is perf_level low || { echo "round $i: not at the low level"; return; }
		unbind || { echo "round $i: unbind failed"; return; }
		exec 9<&-
		bind || { echo "round $i: bind failed"; return; }
		out=$("$loop" -q -n 20 2>&1) || { echo "round $i: afterwards: $out"; return; }
		falls_asleep || { echo "round $i: not suspended after bind"; return; }
		rmmod nnpu || { echo "round $i: rmmod failed"; return; }
		load || { echo "round $i: insmod failed"; return; }
		out=$("$loop" -n 20 2>&1) || { echo "round $i: after insmod: $out"; return; }
	done
	falls_asleep || echo "not suspended in the end"
}

test_rmmod_in_use() {
	local status
	mkfifo "$tmp/ready3"
	start_loop "$tmp/ready3" || { echo "no job was done"; return; }
	rmmod nnpu 2> /dev/null
	status=$?
	kill -9 "$loop_pid"
	wait "$loop_pid" 2> /dev/null
	[ "$status" -ne 0 ] || echo "rmmod succeeded with an open file"
}

if ! pci_address > /dev/null; then
	if [ -n "${NNPU_REQUIRE_DEVICE:-}" ]; then echo "Bail out! no NNPU device"; exit 1; fi
	echo "1..0 # SKIP no NNPU device"
	exit 4
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
echo "TAP version 13"
echo "1..6"
result "module unload is refused while a file is open" "$(test_rmmod_in_use)"
result "$cycles cycles of insmod, inference, rmmod" "$(test_cycles)"
result "$kills processes killed in the middle of inference" "$(test_kills)"
result "$unbinds times unbind and bind while jobs run" "$(test_unbinds)"
name="$unbinds times unbind and rmmod while suspended"
if runtime_pm || [ -n "${NNPU_REQUIRE_DEVICE:-}" ]; then
	result "$name" "$(test_suspended)"
else
	skip "$name" "runtime power management is off"
fi
if [ "$removals" -gt 0 ] && monitor=$(monitor_port); then
	result "$removals times pulled out and put back while jobs run" \
		"$(taken_away "$removals" pull_out put_back)"
else
	skip "pulled out while jobs run" "no monitor of the machine, or no hotplug"
fi
exit "$failed"
