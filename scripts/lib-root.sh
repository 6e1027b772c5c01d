# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Clean Debian systems in directories, made with mmdebstrap from the mirror that lib-apt.sh found
# and kept in the cache. Commands run in them with chroot, which takes root. Source it after lib.sh
# and lib-apt.sh.

# Fails, with the reason, where there is no root to be made.
may_make_roots() {
	[ "$(id -u)" = 0 ] || {
		echo "a clean Debian system takes root"
		return 1
	}
	unshare --mount --pid --fork true 2>/dev/null || {
		echo "no namespaces can be made here"
		return 1
	}
}

# root_sources SUITE: the lines of sources.list for it.
root_sources() {
	local uri suite=$1 keys=/usr/share/keyrings/debian-archive-keyring.gpg option=''
	uri=$(apt_mirror)
	[ ! -f "$keys" ] || option="[signed-by=$keys] "
	echo "deb $option$uri $suite main"
	case $suite in
	*-backports) echo "deb $option$uri ${suite%-backports} main" ;;
	*)
		echo "deb $option$uri $suite-updates main"
		echo "deb $option$uri-security $suite-security main"
		;;
	esac
}

make_root() { # DIR SUITE VARIANT PACKAGE...
	local dir=$1 suite=$2 variant=$3 sources packages
	shift 3
	sources=$(root_sources "$suite")
	packages=$(IFS=,; echo "$*")
	rm -rf "$dir" "$dir.new"
	mkdir -p "$(dirname "$dir")"
	# Documents and translations stay: a package must not find them missing.
	mmdebstrap --mode=root --variant="$variant" --aptopt='APT::Install-Recommends "false"' \
		--include="$packages" "${suite%-backports}" "$dir.new" <<<"$sources" || {
		rm -rf --one-file-system "$dir.new"
		# A caller's condition turns errexit off: what failed must not stay as a system.
		return 1
	}
	mv "$dir.new" "$dir"
}

# clean_root NAME SUITE VARIANT PACKAGE...: prints the directory of a system with these packages.
# Nobody writes there: copy it. VARIANT is mmdebstrap's; "extract" only unpacks.
clean_root() {
	local name=$1 dir
	shift
	"$NNPU_ROOT/scripts/deps" packages
	dir=$NNPU_CACHE/root/$name/$(hash_text "$(apt_mirror)" "$(declare -f make_root root_sources)" "$@")
	[ -d "$dir" ] || with_lock "$NNPU_CACHE/root/$name.lock" make_root_once "$dir" "$name" "$@"
	[ -d "$dir" ] || return 1
	echo "$dir"
}

make_root_once() {
	local dir=$1 name=$2
	shift 2
	[ -d "$dir" ] || {
		# The one before may be another work tree's.
		keep_newest "$NNPU_CACHE/root/$name" 1
		step "clean Debian system ($name)" "root-$name" make_root "$dir" "$@"
	}
}

# copy_root ROOT DIR: a system to write in.
copy_root() {
	rm -rf "$2"
	mkdir -p "$(dirname "$2")"
	cp -a --reflink=auto "$1" "$2"
}

# in_root ROOT COMMAND...: with /proc, without a network, and nothing of the caller's environment.
# What it starts ends with it.
in_root() {
	local root=$1
	shift
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount --pid --net --fork --kill-child sh -c \
		'mount -t proc proc "$1/proc" && shift && exec "$@"' sh "$root" \
		env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/nonexistent LC_ALL=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive ${SOURCE_DATE_EPOCH:+"SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH"} \
		/usr/sbin/chroot "$root" "$@" </dev/null
}
