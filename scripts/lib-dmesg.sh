# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2034 # variables for the scripts that source this
#
# What the kernel may not say in a test. Shared by run-selftests in the guest, which
# judges the messages from boot to the unload of the driver, and judge-console outside,
# which judges the rest.

# Fault injection prints stack traces of its own, and stall detectors fire when the
# host is busy: neither is in here.
splats='WARNING:|BUG:|\bBUG \w|Oops|KASAN|UBSAN|kernel BUG|general protection fault|Kernel panic'
splats+='|possible circular locking|possible recursive locking|inconsistent lock state|irq lock inversion'
splats+='|possible irq lock|suspicious RCU usage|bad unlock balance|held lock freed|lock held when returning'
splats+='|scheduling while atomic|sleeping function called|Invalid wait context'
splats+='|INFO: task .* blocked for more than|refcount_t:|list_(add|del) corruption|DMA-API:|ODEBUG:|pagealloc: '
splats+='|Runtime PM usage count underflow'
splats+='|unreferenced object|still has? .* (BO|GEM)|Objects remaining in'
splats+='|Disabling lock debugging|turning off the locking correctness validator|kmemleak: .*(disabled|stopped|Cannot allocate a kmemleak_object)'

# Lines of the boot that match, but say what is on.
harmless='KernelAddressSanitizer initialized|DMA-API: preallocated [0-9]+ debug entries|DMA-API: debugging enabled|Command line:|Kernel command line:'

# Of the kernel, not of the driver: when an interrupt's directory in /proc could not be
# made for want of memory, as nnpu_fail_nth has it, it is removed all the same.
harmless+='|WARNING: .* at fs/proc/generic\.c:[0-9]+ remove_proc_entry'

# One memory may be imported as often as clients like, and each import is a mapping of its
# own: 40 bursts over one memfd are 40. DMA debugging counts up to seven for each cache line
# and then says so, once. A device that snoops has no stale lines, and a leak is found when
# the driver leaves the device ("pending DMA allocations").
harmless+='|DMA-API: exceeded 7 overlapping mappings of cacheline|WARNING: .* at kernel/dma/debug\.c:[0-9]+ add_dma_entry'
# nnpu_fail_nth: the allocation that failed was one of dma-debug itself.
harmless+='|DMA-API: cacheline tracking ENOMEM, dma-debug disabled'

# Marks in the kernel log: MARK_PREFIX TEXT.
mark_prefix='nnpu-selftest:'
mark_end='end of all programs'

# bad_messages FILE: the lines that may not be; succeeds if there are some.
bad_messages() {
	local bad
	# Mostly there is none, and no second process.
	bad=$(grep -aE "$splats" "$1") || return 1
	grep -avE "$harmless" <<<"$bad"
}

# messages_after TEXT FILE [TEXT]: the lines after that mark, up to the second one if there is one.
# Fails without the first.
messages_after() {
	awk -v mark="$mark_prefix $1" -v end="${3:+$mark_prefix $3}" '
		index($0, mark) { seen = 1; n = ended = 0; next }
		end != "" && index($0, end) { ended = 1 }
		seen && !ended { line[n++] = $0 }
		END { for (i = 0; i < n; i++) print line[i]; exit !seen }' "$2"
}
