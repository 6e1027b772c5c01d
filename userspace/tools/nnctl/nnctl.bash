# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Completion of nnctl for bash.

_nnctl() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} each command=''

	COMPREPLY=()
	case $before in
	--output)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
		;;
	--interval | --count | --seconds) return ;;
	esac
	for each in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		case $each in
		list | info | top | monitor | reset | capture | doctor | nnapi) command=$each ;;
		esac
	done
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W '--json --interval --count --seconds --output
			--help' -- "$word")
	elif [ -z "$command" ]; then
		mapfile -t COMPREPLY < <(compgen -W 'list info top monitor reset capture doctor nnapi' \
			-- "$word")
	elif [[ $command == @(info|top|reset) ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(nnctl list 2>/dev/null |
			awk 'NR > 1 { sub(/.*\//, "", $2); print $2; print $3 }')" -- "$word")
	fi
}
complete -F _nnctl nnctl
