# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Results as TAP (Test Anything Protocol), for the scripts that check something themselves. Each
# prints "TAP version 13" and a plan, first or by tap_end.

tap_count=0 tap_failed=0

# tap_result NAME STATUS [FILE]: a line for a check. Before that of one that failed are the last lines of
# FILE, which has what was said.
tap_result() {
	tap_count=$((tap_count + 1))
	if [ "$2" = 0 ]; then
		echo "ok $tap_count - $1"
		return
	fi
	tap_failed=1
	if [ -n "${3:-}" ] && [ -f "$3" ]; then
		tail -n 60 "$3" | sed 's/^/# /'
	fi
	echo "not ok $tap_count - $1"
}

# tap_skip NAME REASON: a check that cannot be made here.
tap_skip() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

# tap_take: the results of another script, on standard input, with the numbers that they have here. Its
# plan is left out: who calls asks for its exit status.
tap_take() {
	local line
	while IFS= read -r line; do
		case $line in
		ok\ * | 'not ok '*)
			tap_count=$((tap_count + 1))
			[ "${line%% *}" = ok ] || tap_failed=1
			sed -E "s/^((not )?ok) [0-9]+/\1 $tap_count/" <<<"$line"
			;;
		'#'*) echo "$line" ;;
		esac
	done
}

# tap_end: the plan. Fails if a check did, or if there was none.
tap_end() {
	echo "1..$tap_count"
	[ "$tap_failed" = 0 ] && [ "$tap_count" -gt 0 ]
}
