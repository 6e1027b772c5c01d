# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2034 # variables for the scripts that source this
#
# Functions every script here shares: messages, progress, cache directory,
# locks and content hashes. Source it after `set -euo pipefail`.

NNPU_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
NNPU_CACHE=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/nnpu
NNPU_BUILD=${BUILD:-build}
case $NNPU_BUILD in
/*) ;;
*) NNPU_BUILD=$NNPU_ROOT/$NNPU_BUILD ;;
esac
NNPU_LOGS=$NNPU_BUILD/log
NNPU_JOBS=${NNPU_JOBS:-$(nproc)}

# Debian's tools are looked for before anything a user put in front of them:
# QEMU and the kernel must be built by the interpreter and tools we installed.
PATH=/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin:$PATH
export LC_ALL=C.UTF-8

info() {
	printf '%s\n' "$*" >&2
}

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# A command line is wrong: exit status 2, as for any Unix tool.
die_usage() {
	printf '%s: %s\nTry "%s --help".\n' "${0##*/}" "$*" "${0##*/}" >&2
	exit 2
}

# need_arg OPTION COUNT: OPTION takes an argument; COUNT words are left.
need_arg() {
	[ "$2" -ge 2 ] || die_usage "option $1 needs an argument"
}

# Prints the comment block at the top of the calling script, which is its
# usage text: from the third line up to the first line that is no comment.
usage() {
	awk 'NR < 3 { next } !/^#/ { exit } { sub(/^# ?/, ""); print }' "$0"
}

# The two functions below run COMMAND, often a shell function, in a subshell
# where an error ends it. Bash ignores errexit in anything called from a
# condition (`if`, `||`), so they must not stand in one themselves.
shopt -s inherit_errexit

# with_lock FILE COMMAND...: one process at a time runs COMMAND.
with_lock() {
	local lock=$1 fd rc
	shift
	mkdir -p "$(dirname "$lock")"
	exec {fd}>"$lock"
	if ! flock -n "$fd"; then
		info "waiting for another build (lock ${lock##*/})"
		flock "$fd"
	fi
	set +e
	(set -e; "$@")
	rc=$?
	set -e
	exec {fd}>&-
	return "$rc"
}

# step "TEXT" LOGNAME COMMAND...: runs COMMAND with its output in a log file;
# prints when it starts and how long it took; shows the log's tail on failure.
step() {
	local text=$1 log=$NNPU_LOGS/$2.log start=$SECONDS rc
	shift 2
	mkdir -p "$NNPU_LOGS"
	info "  ...  $text"
	set +e
	(set -e; "$@") >"$log" 2>&1 </dev/null
	rc=$?
	set -e
	if [ "$rc" = 0 ]; then
		info "  ok   $text ($((SECONDS - start)) s)"
		return 0
	fi
	info "  FAIL $text ($((SECONDS - start)) s, exit status $rc); the log ends:"
	tail -n 40 "$log" | sed 's/^/       | /' >&2
	info "       the whole log: $log"
	return "$rc"
}

# count_tests TAP-SUMMARY-ARGUMENT...: "PASSED FAILED SKIPPED" and what there is to say,
# indented. A counter that crashes, is cut off or contradicts itself is a failure.
count_tests() {
	local said rc=0
	said=$("$NNPU_ROOT/scripts/tap-summary" "$@" 2>&1) || rc=$?
	if [[ $said =~ ^[0-9]+\ ([0-9]+)\ [0-9]+$'\n' ]] && [ "${said##*$'\n'}" = "end of summary" ] &&
		[ "$rc" = $((BASH_REMATCH[1] > 0)) ]; then
		sed '$d' <<<"$said"
	else
		printf '0 1 0\n  FAILED: the counter, scripts/tap-summary, ended with status %s and said:\n' "$rc"
		tail -n 20 <<<"$said" | sed 's/^/    | /'
	fi
}

# From here on a file that was compiled before, in whatever tree, is not compiled
# again, if ccache is there. Not for the user's own make, and not for QEMU and the
# kernels, which are kept as a whole.
use_compiler_cache() {
	[ -d /usr/lib/ccache ] || return 0
	export CCACHE_DIR=$NNPU_CACHE/ccache CCACHE_BASEDIR=$NNPU_ROOT CCACHE_NOHASHDIR=1
	export CCACHE_MAXSIZE=2G
	PATH=/usr/lib/ccache:$PATH
}

# hash_files BASE FILE...: one short hash over names and contents.
hash_files() {
	local base=$1
	shift
	(cd "$base" && printf '%s\0' "$@" | LC_ALL=C sort -z |
		xargs -0 sha256sum --) | sha256sum | cut -c1-16
}

hash_text() {
	printf '%s\n' "$@" | sha256sum | cut -c1-16
}

# Which compiler this is, for the key of what it makes.
compiler_id() {
	"$1" --version | head -n 1
}

# copy_changed SRC DST: copies a file only when the contents differ, so that
# make and ninja see a new time stamp only where something changed.
copy_changed() {
	cmp -s "$1" "$2" && return 0
	mkdir -p "$(dirname "$2")"
	cp -f "$1" "$2.tmp.$$"
	mv -f "$2.tmp.$$" "$2"
}

# write_changed FILE: the same for a text on standard input.
write_changed() {
	local tmp
	mkdir -p "$(dirname "$1")"
	tmp=$(mktemp "$1.XXXXXX")
	cat >"$tmp"
	if cmp -s "$tmp" "$1"; then
		rm -f "$tmp"
	else
		chmod 644 "$tmp"
		mv -f "$tmp" "$1"
	fi
}

# sync_files SRC DST FILE...: makes DST hold exactly these files of SRC.
sync_files() {
	local src=$1 dst=$2 file list
	shift 2
	mkdir -p "$dst"
	list=$(printf '%s\n' "$@" | LC_ALL=C sort)
	for file in "$@"; do
		copy_changed "$src/$file" "$dst/$file"
	done
	(cd "$dst" && find . -type f -printf '%P\n') | LC_ALL=C sort |
		comm -23 - <(printf '%s\n' "$list") |
		while IFS= read -r file; do
			rm -f "$dst/$file"
		done
}

# keep_newest DIR COUNT: removes all but the COUNT last used entries of DIR.
keep_newest() {
	local entry
	[ -d "$1" ] || return 0
	find "$1" -mindepth 1 -maxdepth 1 -printf '%T@ %p\n' | sort -rn |
		tail -n "+$(($2 + 1))" | cut -d' ' -f2- |
		while IFS= read -r entry; do
			rm -rf "$entry"
		done
}

# Debian's name of an architecture the kernel calls $1.
deb_arch() {
	case $1 in
	x86_64) echo amd64 ;;
	arm64) echo arm64 ;;
	*) die "unknown architecture '$1' (x86_64 or arm64)" ;;
	esac
}
