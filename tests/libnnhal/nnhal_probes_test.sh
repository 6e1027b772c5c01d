#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The probes of the library are in its notes, with the names of phases, and the bpftrace script
# names no other ones.

set -u
# shellcheck source=tests/library.sh
. "$(dirname "$0")/library.sh"
lib=$build/lib/libnnhal.so
script=examples/trace/nnhal_phases.bt
if ! echo '#include <sys/sdt.h>' | ${CC:-gcc} -E - >/dev/null 2>&1; then
	skip_all "no sys/sdt.h (systemtap-sdt-dev)"
fi

readelf -n -W "$lib" >"$tmp/notes" 2>/dev/null
grep -A1 'Provider: nnhal$' "$tmp/notes" | sed -n 's/^ *Name: //p' | sort >"$tmp/names"
printf '%s\n' device_lost trace_begin trace_end >"$tmp/expected"
sort -u "$tmp/names" | cmp -s - "$tmp/expected"
result $? "I11 probes: $(sort -u "$tmp/names" | tr '\n' ' ')"
[ "$(grep -c trace_begin "$tmp/names")" -ge 7 ]
result $? "I11 a probe at the beginning of each phase"
strings -n 8 "$lib" | grep -E '^(\[S[A-Z]+\])?\[NN_' | sort -u >"$tmp/phases"
[ "$(wc -l <"$tmp/phases")" -ge 7 ] &&
	! grep -qvE '^(\[SW\]|\[SUB\])?\[NN_L[ARIDCOU]_P(O|WU|BM|I|P|C|E|T|U|IO|TR|CO|R)\][A-Za-z]+$' \
		"$tmp/phases"
result $? "I11 names of phases: $(tr '\n' ' ' <"$tmp/phases")"
grep -o 'nnhal:[a-z_]*$' $script | sed 's/.*://' | sort -u | cmp -s - "$tmp/expected"
result $? "I11 the bpftrace script uses these probes"
# Free when off: no counter that says whether somebody listens, hence no data that it is in.
! grep 'Semaphore' "$tmp/notes" | grep -qv 'Semaphore: 0x0*$'
result $? "I11 probes have no semaphore"
if command -v bpftrace >/dev/null 2>&1 && [ -e /sys/kernel/btf/vmlinux ]; then
	sed "s,LIBRARY,$PWD/$lib," $script >"$tmp/phases.bt"
	bpftrace --dry-run "$tmp/phases.bt" >/dev/null 2>&1 || bpftrace -d "$tmp/phases.bt" >/dev/null 2>&1
	result $? "bpftrace takes the script"
fi
finish
