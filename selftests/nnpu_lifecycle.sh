#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The driver's life cycle: module load and unload, processes killed with jobs in
# flight, the device taken away and given back while jobs run. After each the
# next job works and nothing is left behind.
#
#   NNPU_CYCLES    insmod, inference, rmmod      (default 1)
#   NNPU_KILLS     kill -9 in the middle         (default 3)
#   NNPU_UNBINDS   unbind and bind under load, and while suspended  (default 2)
#   NNPU_RESETS    resets of the function under load, through sysfs  (default 1)
#   NNPU_REMOVALS  the device pulled out and put back under load, through the
#                  machine's monitor (scripts/vm --guest-monitor)  (default 1)
#   NNPU_KO        path of nnpu.ko               (default: modprobe nnpu)
#
# Runs as root on the machine with the device, a PCI function or a platform device. What only a PCI
# function has is skipped for a platform device. TAP; exit status 4 = skipped.

set -u
here=$(cd "$(dirname "$0")" && pwd)
bin=${NNPU_SELFTEST_BIN:-$here}
loop=$bin/nnpu_loop
cycles=${NNPU_CYCLES:-1}
kills=${NNPU_KILLS:-3}
unbinds=${NNPU_UNBINDS:-2}
resets=${NNPU_RESETS:-1}
removals=${NNPU_REMOVALS:-1}
# shellcheck source=selftests/nnpu_test.sh
. "$here/nnpu_test.sh"

load() {
	if [ -n "${NNPU_KO:-}" ]; then insmod "$NNPU_KO"; else modprobe nnpu; fi
}

is_device() { # DIRECTORY, in sysfs
	case $bus in
	pci) [ "$(cat "$1/vendor" "$1/device" 2> /dev/null)" = "$(printf '0x1234\n0x4e50')" ] ;;
	platform) grep -q '^nnpu,nnpu-2' "$1/of_node/compatible" 2> /dev/null ;;
	esac
}

# The name of the first device on its bus.
device_address() {
	local d
	for d in "/sys/bus/$bus/devices/"*; do
		if is_device "$d"; then
			basename "$d"
			return 0
		fi
	done
	return 1
}

# The bus that has the device.
find_bus() {
	for bus in pci platform; do
		! device_address > /dev/null || return 0
	done
	return 1
}

# Live objects as the driver counts them; fails if there is nothing to read.
objects() {
	local file text=
	for file in /sys/kernel/debug/accel/*/objects /sys/kernel/debug/dri/*/objects; do
		[ ! -r "$file" ] || text+=$(cat "$file")$'\n'
	done
	[[ $text =~ [0-9] ]] && printf '%s' "$text"
}

# Fails if the kernel does not say.
unreclaimable_kb() {
	local kb
	sync
	echo 3 > /proc/sys/vm/drop_caches || return 1
	kb=$(awk '/^SUnreclaim:/ { print $2 }' /proc/meminfo)
	[[ $kb =~ ^[1-9][0-9]*$ ]] && echo "$kb"
}

objects_are() {
	local now
	now=$(objects) && [ -n "$1" ] && [ "$now" = "$1" ]
}

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
		rmmod nnpu || { fail "rmmod failed in cycle $i"; return 1; }
		load || { fail "insmod failed in cycle $i"; return 1; }
		out=$("$loop" -n 20 2>&1) || { fail "cycle $i: $out"; return 1; }
		out=$("$loop" -q -n 20 2>&1) || { fail "cycle $i, user queue: $out"; return 1; }
	done
}

test_kills() {
	local i before after slab0 slab1 out status
	mkfifo "$tmp/ready"
	# One round first, so that caches have their size.
	for ((i = 0; i <= kills; i++)); do
		start_loop "$tmp/ready" "$([ $((i % 2)) = 0 ] || echo -q)" || { fail "kill $i: no job was done: $(cat "$tmp/loop.err")"; return 1; }
		pause
		kill -9 "$loop_pid" 2> /dev/null
		wait "$loop_pid" 2> /dev/null
		status=$?
		# 128 + SIGKILL: it had jobs in flight until then.
		[ "$status" -eq 137 ] || { fail "kill $i: exit status $status before it was killed: $(cat "$tmp/loop.err")"; return 1; }
		if [ "$i" -eq 0 ]; then
			wait_until 30 objects_idle || { fail "objects left after the first kill: $(objects)"; return 1; }
			before=$(objects) || { fail "no count of objects in debugfs"; return 1; }
			slab0=$(unreclaimable_kb) || { fail "no SUnreclaim in /proc/meminfo"; return 1; }
		fi
	done
	wait_until 30 objects_are "$before" ||
		{ after=$(objects); fail "objects left behind: ${after//$'\n'/, }"; return 1; }
	slab1=$(unreclaimable_kb) || { fail "no SUnreclaim in /proc/meminfo"; return 1; }
	say "SUnreclaim $slab0 kB before, $slab1 kB after $kills kills" >&2
	# One page per kill would be the smallest leak of a job or a buffer.
	if [ $((slab1 - slab0)) -gt $((1024 + 3 * kills)) ]; then
		fail "unreclaimable slab grew from $slab0 to $slab1 kB over $kills kills"
		return
	fi
	out=$("$loop" -n 50 2>&1) || fail "next job: $out"
}

# No context, no job, no buffer: the driver's own objects only.
objects_idle() {
	local now
	now=$(objects) && ! grep -Evq '[[:space:]:]0$' <<< "$now"
}

# taken_away COUNT TAKE GIVE [OPTION...]: processes are at work, one with each option (default:
# two with SUBMIT, two with user queues). The function TAKE takes the device from under them,
# each of them learns it; GIVE gives it back.
taken_away() {
	local i p pids status out count=$1 take=$2 give=$3
	shift 3
	[ $# -gt 0 ] || set -- '' '' -q -q
	rm -f "$tmp/ready2"
	mkfifo "$tmp/ready2"
	for ((i = 1; i <= count; i++)); do
		pids=
		for p in "$@"; do
			start_loop "$tmp/ready2" "$p" ||
				{ fail "round $i: no job was done: $(cat "$tmp/loop.err")"; return 1; }
			pids="$pids $loop_pid"
		done
		pause
		"$take" || { fail "round $i: $take failed"; return 1; }
		for p in $pids; do
			wait_until 60 gone "$p" || { fail "round $i: process $p still waits"; kill -9 "$p"; return 1; }
			wait "$p"
			status=$?
			if [ "$status" -ne 3 ]; then
				fail "round $i: exit status $status instead of 3 (device gone): $(cat "$tmp/loop.err")"
				return
			fi
		done
		"$give" || { fail "round $i: $give failed"; return 1; }
		out=$("$loop" -n 20 2>&1) || { fail "round $i: afterwards: $out"; return 1; }
		out=$("$loop" -q -n 20 2>&1) || { fail "round $i: afterwards, user queue: $out"; return 1; }
	done
	wait_until 30 objects_idle || fail "objects left behind: $(objects)"
}

unbind() { echo "$address" > "/sys/bus/$bus/drivers/nnpu/unbind"; }
bind() { echo "$address" > "/sys/bus/$bus/drivers/nnpu/bind"; }

test_unbinds() {
	address=$(device_address) || { fail "the device is not there"; return 1; }
	taken_away "$unbinds" unbind bind
}

# A function-level reset, with transfers under way. The device stays bound; who used it has
# lost its context.
reset_function() { echo 1 > "/sys/bus/pci/devices/$address/reset"; }

test_function_resets() {
	address=$(device_address) || { fail "the device is not there"; return 1; }
	[[ $(cat "/sys/bus/pci/devices/$address/reset_method" 2> /dev/null) = *flr* ]] ||
		{ fail "no function-level reset"; return 1; }
	echo flr > "/sys/bus/pci/devices/$address/reset_method"
	taken_away "$resets" reset_function true
}

# Bus mastering goes off with transfers under way. The driver finds the device dead, after it
# has waited for the answers to commands. (A user queue is STOPPED: it cannot complete.)
masters_no_more() {
	pci_command_write 002
	no_bus_master
}

bind_again() { unbind && bind; }

test_bus_master_off() {
	address=$(device_address) || { fail "the device is not there"; return 1; }
	taken_away 1 masters_no_more bind_again '' '' ''
}

no_device() { ! device_address > /dev/null; }
probed() { "$loop" -n 1 > /dev/null 2>&1; }
pull_out() {
	[ -n "$monitor" ] && echo "device_del nnpu0" > "$monitor" && wait_until 60 no_device
}

put_back() {
	echo "device_add nnpu-pci,id=nnpu0,bus=nnpu-port0,inject=on,examples=on" > "$monitor" &&
		wait_until 60 probed
}

attribute_is() { # NAME VALUE, of the device
	[ "$(cat "/sys/bus/$bus/devices/$address/$1" 2> /dev/null)" = "$2" ]
}

runtime_pm() {
	address=$(device_address) && ! attribute_is power/runtime_status unsupported &&
		attribute_is power/control auto
}

# Each binding of the driver begins with the usual delay.
falls_asleep() {
	echo 20 > "/sys/bus/$bus/devices/$address/power/autosuspend_delay_ms"
	wait_until 60 attribute_is power/runtime_status suspended
}

# A device that nothing uses is suspended: unbound like that, with and without an
# open file, and the module unloaded.
test_suspended() {
	local i out node
	runtime_pm || { fail "runtime power management is off"; return 1; }
	for ((i = 1; i <= unbinds; i++)); do
		if [ $((i % 2)) = 0 ]; then
			for node in /dev/accel/accel* /dev/dri/renderD*; do
				[ ! -c "$node" ] || { exec 9<> "$node"; break; }
			done
		fi
		falls_asleep || { fail "round $i: not suspended"; return 1; }
		attribute_is perf_level low || { fail "round $i: not at the low level"; return 1; }
		unbind || { fail "round $i: unbind failed"; return 1; }
		exec 9<&-
		bind || { fail "round $i: bind failed"; return 1; }
		out=$("$loop" -q -n 20 2>&1) || { fail "round $i: afterwards: $out"; return 1; }
		falls_asleep || { fail "round $i: not suspended after bind"; return 1; }
		rmmod nnpu || { fail "round $i: rmmod failed"; return 1; }
		load || { fail "round $i: insmod failed"; return 1; }
		out=$("$loop" -n 20 2>&1) || { fail "round $i: after insmod: $out"; return 1; }
	done
	falls_asleep || fail "not suspended in the end"
}

# Low byte of the register COMMAND: 2 is access to the registers, 4 is bus mastering.
pci_command() { od -An -tu1 -j4 -N1 "/sys/bus/pci/devices/$address/config"; }
pci_command_write() { # OCTAL
	# shellcheck disable=SC2059 # an escape sequence
	printf "\\$1" | dd of="/sys/bus/pci/devices/$address/config" bs=1 seek=4 conv=notrunc 2> /dev/null
}
masters_the_bus() { [ $(($(pci_command) & 4)) != 0 ]; }
no_bus_master() { ! masters_the_bus; }

# The registers of a suspended device are switched off. The driver finds it dead and takes
# bus mastering away. The kernel restores the configuration when it resumes the device.
test_dead() {
	local out status looker
	runtime_pm || { fail "runtime power management is off"; return 1; }
	falls_asleep || { fail "not suspended"; return 1; }
	masters_the_bus || { fail "no bus master before"; return 1; }
	# A file that was opened while the device worked, and has no context.
	rm -f "$tmp/look"
	mkfifo "$tmp/look"
	"$loop" -w < "$tmp/look" > "$tmp/looker" 2>&1 &
	looker=$!
	exec 8> "$tmp/look"
	wait_until 60 grep -q ready "$tmp/looker" || { fail "no file: $(cat "$tmp/looker")"; return 1; }
	pci_command_write 004
	! "$loop" -n 1 > /dev/null 2>&1 || { fail "a job without registers"; return 1; }
	wait_until 60 no_bus_master || { fail "a dead device is a bus master"; return 1; }
	exec 8>&-
	wait "$looker"
	status=$?
	[ "$status" = 3 ] || { fail "a file without context: status $status, $(cat "$tmp/looker")"; return 1; }
	attribute_is power/runtime_status suspended || { fail "resumed too early"; return 1; }
	echo on > "/sys/bus/pci/devices/$address/power/control"
	wait_until 60 attribute_is power/runtime_status active || { fail "not resumed"; return 1; }
	no_bus_master || { fail "a dead device is a bus master after resume"; return 1; }
	unbind || { fail "unbind failed"; return 1; }
	no_bus_master || { fail "a device without driver is a bus master"; return 1; }
	bind || { fail "bind failed"; return 1; }
	out=$("$loop" -q -n 20 2>&1) || fail "afterwards: $out"
}

# The function of the second device, when the driver has it.
second_address() {
	local d
	for d in "/sys/bus/$bus/drivers/nnpu/"*; do
		if [ "${d##*/}" != "$address" ] && is_device "$d"; then
			echo "${d##*/}"
			return 0
		fi
	done
	return 1
}
no_second() { ! second_address > /dev/null; }
registers() { cat "/sys/kernel/debug/"{accel,dri}"/$address/registers" 2> /dev/null; }
load_runs() { registers | grep -q '^Q0_CURRENT 0x[0-9a-f]*[1-9a-f]'; }
parameter() { echo "$2" > "/sys/module/nnpu/parameters/$1"; }

# A load that hangs in one device keeps nobody waiting who takes the driver off another one.
second_leaves() {
	local inject loader unbinder status
	for inject in /sys/kernel/debug/{accel,dri}/"$address"/fault_inject; do
		[ ! -e "$inject" ] || echo "11 1" > "$inject" || { fail "no injection"; return 1; }
	done
	"$loop" -n 1 > /dev/null 2>&1 &
	loader=$!
	wait_until 60 load_runs || { fail "no load runs"; return 1; }
	echo "$second" > "/sys/bus/$bus/drivers/nnpu/unbind" &
	unbinder=$!
	wait_until 60 gone "$unbinder" || fail "unbind of the second device waits for the first"
	status=$?
	load_runs || { fail "the load has ended before"; status=1; }
	kill -9 "$loader"
	wait "$loader" 2> /dev/null
	wait "$unbinder" || { fail "unbind of the second device failed"; status=1; }
	[ ! -e "/sys/bus/$bus/drivers/nnpu/$second" ] || { fail "the driver still has the second device"; status=1; }
	return "$status"
}

test_second() {
	local status second
	address=$(device_address) || { fail "the device is not there"; return 1; }
	[ "$bus" != pci ] || echo "device_add nnpu-pci,id=nnpu-second,bus=nnpu-spare" > "$monitor"
	wait_until 60 second_address > /dev/null || { fail "no second device"; return 1; }
	second=$(second_address)
	parameter hang_timeout_ms 600000
	second_leaves
	status=$?
	parameter hang_timeout_ms 5000
	if [ "$bus" = pci ]; then
		echo "device_del nnpu-second" > "$monitor"
		wait_until 60 no_second || { fail "the second device stays"; return 1; }
	else
		echo "$second" > "/sys/bus/$bus/drivers/nnpu/bind" || { fail "bind of the second device"; return 1; }
	fi
	"$loop" -n 20 > /dev/null 2>&1 || { fail "no job of the first device afterwards"; return 1; }
	return "$status"
}

# On a device that holds one load at a time, and has neither slices nor loads in turns: each load
# takes a second longer, and those of other processes come meanwhile.
loads_wait() {
	local inject i status=0 pids=()
	echo "device_add nnpu-pci,id=nnpu0,bus=nnpu-port0,inject=on,max-loads=1,slices=off,load-turns=off" > "$monitor"
	wait_until 60 probed || { fail "no job runs on a small device"; status=1; }
	address=$(device_address) || { fail "no small device"; return 1; }
	for inject in /sys/kernel/debug/{accel,dri}/"$address"/fault_inject; do
		[ ! -e "$inject" ] || echo "12 4" > "$inject" || { fail "no injection"; status=1; }
	done
	for ((i = 0; i < 4; i++)); do
		"$loop" -n 20 > "$tmp/small$i" 2>&1 &
		pids+=($!)
		[ "$i" -gt 0 ] || wait_until 60 load_runs || { fail "no load runs"; status=1; }
	done
	for ((i = 0; i < 4; i++)); do
		wait "${pids[i]}" || { fail "process $i: $(cat "$tmp/small$i")"; status=1; }
	done
	return "$status"
}

test_small() {
	local status
	pull_out || { fail "the device stays"; return 1; }
	loads_wait
	status=$?
	if ! pull_out || ! put_back; then
		fail "the device does not come back"
		return 1
	fi
	return "$status"
}

test_rmmod_in_use() {
	local status
	mkfifo "$tmp/ready3"
	start_loop "$tmp/ready3" || { fail "no job was done"; return 1; }
	rmmod nnpu 2> /dev/null
	status=$?
	kill -9 "$loop_pid"
	wait "$loop_pid" 2> /dev/null
	[ "$status" -ne 0 ] || fail "rmmod succeeded with an open file"
}

# check, for what a platform device does not have.
of_pci() { # NAME FUNCTION ARGUMENT...
	if [ "$bus" = pci ]; then
		check "$@"
	else
		skip "$1" "of PCI functions only"
	fi
}

if ! find_bus; then
	if [ -n "${NNPU_REQUIRE_DEVICE:-}" ]; then echo "Bail out! no NNPU device"; exit 1; fi
	echo "1..0 # SKIP no NNPU device"
	exit 4
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# None may be zero: a test of nothing would pass.
for count in "$cycles" "$kills" "$unbinds" "$resets" "$removals"; do
	[[ $count =~ ^[1-9][0-9]*$ ]] || { echo "Bail out! a count is '$count'"; exit 1; }
done
echo "TAP version 13"
echo "1..11"
check "module unload is refused while a file is open" test_rmmod_in_use
check "$cycles cycles of insmod, inference, rmmod" test_cycles
check "$kills processes killed in the middle of inference" test_kills
check "$unbinds times unbind and bind while jobs run" test_unbinds
of_pci "$resets function-level resets while jobs run" test_function_resets
of_pci "bus mastering off while jobs run" test_bus_master_off
name="$unbinds times unbind and rmmod while suspended"
if runtime_pm || [ -n "${NNPU_REQUIRE_DEVICE:-}" ]; then
	check "$name" test_suspended
else
	skip "$name" "runtime power management is off"
fi
name="a device that dies while suspended gets no bus mastering back"
if runtime_pm || [ -n "${NNPU_REQUIRE_DEVICE:-}" ]; then
	of_pci "$name" test_dead
else
	skip "$name" "runtime power management is off"
fi
name="$removals times pulled out and put back while jobs run"
if monitor=$(monitor_port) || [ -n "${NNPU_REQUIRE_DEVICE:-}" ]; then
	of_pci "$name" taken_away "$removals" pull_out put_back
else
	skip "$name" "no monitor of the machine, or no hotplug"
fi
name="loads wait for each other in a device that holds one"
if [ -n "$monitor" ] || [ -n "${NNPU_REQUIRE_DEVICE:-}" ]; then
	of_pci "$name" test_small
else
	skip "$name" "no monitor of the machine, or no hotplug"
fi
name="a load in one device does not keep another one bound"
address=$(device_address)
if [ "$bus" = platform ] && no_second; then
	skip "$name" "the machine has one platform device"
elif [ -n "$monitor" ] || [ "$bus" = platform ] || [ -n "${NNPU_REQUIRE_DEVICE:-}" ]; then
	check "$name" test_second
else
	skip "$name" "no monitor of the machine"
fi
exit "$failed"
