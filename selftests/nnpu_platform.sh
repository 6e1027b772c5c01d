#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Platform devices: nodes of the device tree as they should be and as they should not, the reset
# line and the clock, providers that come late. Runs as root in the machine of
# `make check-platform`.
#
# Without the other devices it skips what it needs them for. TAP; exit status 4 = skipped.

set -u
here=$(cd "$(dirname "$0")" && pwd)
bin=${NNPU_SELFTEST_BIN:-$here}
loop=$bin/nnpu_loop
devices=/sys/bus/platform/devices
driver=/sys/bus/platform/drivers/nnpu
provider=/sys/bus/platform/drivers/simple-reset
# shellcheck source=selftests/nnpu_test.sh
. "$here/nnpu_test.sh"

# What a function says to standard error counts, too.
with_errors() { "$@" 2>&1; }

# The nodes of devices, in the order of their addresses.
nodes() {
	local d
	# A node without reg has no address in its name.
	for d in "$devices"/*.npu "$devices"/npu@*; do
		[ ! -e "$d/of_node/compatible" ] || basename "$d"
	done
}

is_bound() { [ -e "$driver/$1" ]; }

# The link of the driver is there before its probe has ended.
is_up() {
	is_bound "$1" && { [ -n "$(compgen -G "$devices/$1/accel/accel*")" ] ||
		[ -n "$(compgen -G "$devices/$1/drm/renderD*")" ]; }
}

# Does the device compute?
works() { # NODE
	local minor dev said
	for minor in "$devices/$1"/accel/accel* "$devices/$1"/drm/renderD*; do
		[ -e "$minor" ] || continue
		dev=/dev/accel/${minor##*/}
		[ -e "$dev" ] || dev=/dev/dri/${minor##*/}
		said=$("$loop" -d "$dev" -n 50 2>&1) || fail "a job failed: $said" || return
		return 0
	done
	fail "neither an accel nor a render node"
}

# The first cell of a property.
cell() { od -An -tx1 -N4 "$1" | tr -d ' '; }

# The file below of_node of PLACE that is the provider a NODE names first in PROPERTY.
provided_by() { # NODE PROPERTY PLACE...
	local wanted place
	wanted=$(cell "$devices/$1/of_node/$2")
	shift 2
	for place in "$@"; do
		[ ! -e "$place/phandle" ] || [ "$(cell "$place/phandle")" != "$wanted" ] || {
			echo "$place"
			return
		}
	done
	return 1
}

# A line of the kernel's log that names the device.
logged() { dmesg | grep -F "$1" | grep -q -- "$2"; }

comes_up() {
	is_bound "$1" || fail "no driver is bound" || return
	works "$1"
}

# A node that the driver must refuse: with which words?
refused() { # NODE WORDS
	! is_bound "$1" || fail "the driver is bound" || return
	logged "$1" "$2" || fail "the log does not say \"$2\": $(dmesg | grep -F "$1" | tail -n 3)"
}

# Which node is without a property? NODE, or nothing.
node_without() {
	local node
	for node in $(nodes); do
		[ -e "$devices/$node/of_node/$1" ] || {
			echo "$node"
			return
		}
	done
}

# A node whose first window of registers is too small.
small_node() {
	local node size
	for node in $(nodes); do
		[ -e "$devices/$node/of_node/reg" ] || continue
		size=$(od -An -tx1 -j12 -N4 "$devices/$node/of_node/reg" | tr -d ' ')
		[ $((16#$size)) -ge 65536 ] || {
			echo "$node"
			return
		}
	done
}

# Memory that is reserved is used; where it could not be reserved, other memory.
pools() {
	local node used=0 missed=0
	for node in "${npus[@]}"; do
		[ -e "$devices/$node/of_node/memory-region" ] || continue
		is_bound "$node" || fail "$node is not bound" || return
		if logged "$node" "memory-region cannot be used"; then
			missed=$((missed + 1))
		else
			used=$((used + 1))
		fi
	done
	[ "$used,$missed" = 2,1 ] || fail "$used pools are used, $missed cannot be"
}

unbind_and_bind() { # NODE
	local i
	for i in 1 2 3; do
		echo "$1" >"$driver/unbind" || fail "unbind $i" || return
		! is_bound "$1" || fail "still bound" || return
		echo "$1" >"$driver/bind" || fail "bind $i" || return
		is_bound "$1" || fail "not bound" || return
	done
	works "$1"
}

# The clock stops with the driver, and runs with it.
clock_follows() { # NODE
	local clock file
	clock=$(provided_by "$1" clocks /sys/firmware/devicetree/base/nnpu-clock*) || fail "whose clock?" || return
	file=/sys/kernel/debug/clk/${clock##*/}/clk_enable_count
	[ -r "$file" ] || mount -t debugfs none /sys/kernel/debug 2>/dev/null || :
	[ -r "$file" ] || fail "no clock in debugfs" || return
	[ "$(cat "$file")" = 1 ] || fail "bound: enabled $(cat "$file") times" || return
	echo "$1" >"$driver/unbind"
	[ "$(cat "$file")" = 0 ] || fail "unbound: enabled $(cat "$file") times" || return
	echo "$1" >"$driver/bind"
	[ "$(cat "$file")" = 1 ] || fail "bound again: enabled $(cat "$file") times"
}

domain_is() { # FILE STATE WHEN
	[ "$(cat "$1")" = "$2" ] || fail "$3: the domain is $(cat "$1")"
}

# The domain is on while the driver is bound, also while the device is suspended: its contexts are
# in it. Without the driver it is off, and the device loses its state.
domain_follows() { # NODE
	local domain file power=$devices/$1/power
	domain=$(provided_by "$1" power-domains /sys/firmware/devicetree/base/power-domain@*) ||
		fail "whose domain?" || return
	file=/sys/kernel/debug/pm_genpd/${domain##*/}/current_state
	[ -r "$file" ] || mount -t debugfs none /sys/kernel/debug 2>/dev/null || :
	[ -r "$file" ] || fail "no domain in debugfs" || return
	domain_is "$file" on bound || return
	works "$1" || return
	echo auto >"$power/control"
	wait_until 60 grep -q suspended "$power/runtime_status" || fail "no runtime suspend" || return
	domain_is "$file" on suspended || return
	works "$1" || return
	echo "$1" >"$driver/unbind"
	# By a work item of the kernel.
	wait_until 60 grep -qx off-0 "$file" || domain_is "$file" off-0 unbound || return
	echo "$1" >"$driver/bind"
	domain_is "$file" on "bound again" || return
	works "$1"
}

# The provider of the reset line goes, and with it the driver; then the provider comes late.
provider_comes_late() { # NODE
	local reset
	reset=$(provided_by "$1" resets "$devices"/*/of_node) || fail "whose reset line?" || return
	reset=$(basename "$(dirname "$reset")")
	[ -e "$provider/$reset" ] || fail "no provider $reset" || return
	[ ! -e "$driver/$1" ] || echo "$1" >"$driver/unbind"
	echo "$reset" >"$provider/unbind" || fail "the provider stays" || return
	# Not an error, and not a success either: the driver waits for the provider.
	(echo "$1" >"$driver/bind") 2>/dev/null && fail "bound without a reset line" && return 1
	! is_bound "$1" || fail "bound without a reset line" || return
	echo "$reset" >"$provider/bind" || fail "the provider does not come back" || return
	wait_until 60 is_up "$1" || fail "the driver did not follow the provider" || return
	works "$1"
}

mapfile -t npus < <(nodes)
if [ "${#npus[@]}" = 0 ]; then
	echo "1..0 # SKIP no platform device in this machine"
	exit 4
fi
echo "TAP version 13"
# The one that lacks nothing, and has no memory of its own.
good=
for node in "${npus[@]}"; do
	is_bound "$node" && [ ! -e "$devices/$node/of_node/memory-region" ] && good=$node && break
done

check "platform.comes_up" with_errors comes_up "${good:-${npus[0]}}"
check "platform.unbind_and_bind" with_errors unbind_and_bind "${good:-${npus[0]}}"
if [ -d /sys/firmware/devicetree/base/nnpu-clock ]; then
	check "platform.clock_follows_the_driver" with_errors clock_follows "${good:-${npus[0]}}"
fi
node=$(compgen -G "$devices/*/of_node/power-domains" | head -n 1)
if [ -n "$node" ]; then
	check "platform.domain_follows_the_driver" with_errors domain_follows "$(basename "${node%/of_node/*}")"
else
	skip "platform.domain_follows_the_driver" "needs a device with power-domain=on"
fi
check "platform.provider_comes_late" with_errors provider_comes_late "${good:-${npus[0]}}"

# PROPERTY WORDS: what the driver says where it is missing
bad_nodes='clocks|no clock in the device tree
resets|no reset line
interrupts|IRQ index 0 not found
reg|no registers'
while IFS='|' read -r property words; do
	node=$(node_without "$property")
	if [ -n "$node" ]; then
		check "platform.no_$property" with_errors refused "$node" "$words"
	else
		skip "platform.no_$property" "needs a device with omit=$property"
	fi
done <<<"$bad_nodes"
node=$(small_node)
if [ -n "$node" ]; then
	check "platform.small_registers" with_errors refused "$node" "registers have 0x1000 bytes"
else
	skip "platform.small_registers" "needs a device with reg-size=4K"
fi
if [ -n "$(compgen -G '/sys/firmware/devicetree/base/reserved-memory/nnpu-*')" ]; then
	check "platform.pools" with_errors pools
else
	skip "platform.pools" "needs devices with pool=16M, pool=16M,reusable=on and pool=64G"
fi
echo "1..$test_no"
exit "$failed"
