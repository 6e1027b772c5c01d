# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Completion for the tools of NNPU: the options that --help names, devices, files. It is installed
# under the name of each tool and needs nothing of the package bash-completion.

_nnpu_tools()
{
	local tool=$1 word=$2 before=$3 options

	COMPREPLY=()
	case $before in
	-d | --device)
		mapfile -t COMPREPLY < <(compgen -W "drm sim" -- "$word")
		return
		;;
	esac
	if [[ $word == -* ]]; then
		options=$("$tool" --help 2>/dev/null | grep -oE -- '(^|[ ,])--?[a-z][a-z0-9-]*' | tr -d ' ,')
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
		return
	fi
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "$word")
}

complete -F _nnpu_tools nnrun nnvec nnbench nnpu-demo
