# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Debian packages that are unpacked into the cache, not installed: kernels,
# their headers and sources, QEMU's source, the arm64 userland. They come
# through an apt configuration of our own under the cache directory, derived
# from the system's mirror; the system's sources and lists are never changed.
# Source it after lib.sh.

NNPU_APT=$NNPU_CACHE/apt
NNPU_DEBS=$NNPU_CACHE/debs
NNPU_SUITE=bookworm

# Prints the URI of the system's Debian mirror; apt itself reads the system's
# sources, so every format it knows is understood.
apt_mirror() {
	local uri=${NNPU_MIRROR:-}
	if [ -z "$uri" ]; then
		# shellcheck disable=SC2016 # apt's own $(...) fields
		uri=$(apt-get indextargets --no-release-info \
			--format '$(RELEASE) $(REPO_URI)' \
			'Created-By: Packages' 2>/dev/null |
			sed -n "s/^$NNPU_SUITE //p" | head -n 1)
	fi
	[ -n "$uri" ] || die "no Debian mirror with $NNPU_SUITE in the system's apt sources; set NNPU_MIRROR to its URI"
	echo "${uri%/}"
}

apt_write_config() {
	local uri keys=/usr/share/keyrings/debian-archive-keyring.gpg source option=''
	uri=$(apt_mirror)
	[ -f "$keys" ] && option="signed-by=$keys"
	source=${option:+ [$option]}
	mkdir -p "$NNPU_APT"/{etc/parts,state/lists/partial,cache/archives/partial,log}
	: >"$NNPU_APT/status"
	write_changed "$NNPU_APT/etc/sources.list" <<-END
		deb [arch=amd64,arm64${option:+ $option}] $uri $NNPU_SUITE main
		deb [arch=amd64,arm64${option:+ $option}] $uri $NNPU_SUITE-updates main
		deb [arch=amd64,arm64${option:+ $option}] $uri-security $NNPU_SUITE-security main
		deb-src$source $uri $NNPU_SUITE main
		deb-src$source $uri-security $NNPU_SUITE-security main
	END
	write_changed "$NNPU_APT/apt.conf" <<-END
		APT::Architecture "amd64";
		APT::Architectures { "amd64"; "arm64"; };
		APT::Install-Recommends "false";
		APT::Sandbox::User "root";
		Acquire::Languages "none";
		Acquire::Retries "3";
		Dir::Etc::SourceList "$NNPU_APT/etc/sources.list";
		Dir::Etc::SourceParts "$NNPU_APT/etc/parts";
		Dir::Etc::Preferences "$NNPU_APT/etc/preferences";
		Dir::Etc::PreferencesParts "$NNPU_APT/etc/parts";
		Dir::State "$NNPU_APT/state";
		Dir::State::status "$NNPU_APT/status";
		Dir::Cache "$NNPU_APT/cache";
		Dir::Log "$NNPU_APT/log";
		DPkg::Pre-Install-Pkgs { };
	END
}

# private_apt TOOL ARGS...: apt-get or apt-cache with the private lists.
private_apt() {
	local tool=$1
	shift
	APT_CONFIG=$NNPU_APT/apt.conf "$tool" -q "$@"
}

apt_update() {
	apt_write_config
	step "package lists" apt-update private_apt apt-get update
	touch "$NNPU_APT/updated"
}

apt_ready() {
	if [ ! -f "$NNPU_APT/updated" ]; then
		with_lock "$NNPU_APT.lock" apt_update
	fi
}

# pinned NAME COMMAND...: what COMMAND prints, decided once and kept until
# `scripts/deps --refresh`, so that every build uses the same version.
pinned() {
	local file=$NNPU_CACHE/pin/$1 value
	shift
	if [ ! -s "$file" ]; then
		apt_ready
		value=$("$@")
		[ -n "$value" ] || die "no version found for ${file##*/} in the package lists"
		write_changed "$file" <<<"$value"
	fi
	cat "$file"
}

newest_kernel() {
	private_apt apt-cache search --names-only \
		'^linux-image-6\.12\.[0-9]+\+deb12-amd64$' |
		sed -n 's/^linux-image-\(6[^ ]*\)-amd64 .*/\1/p' | sort -V | tail -n 1
}

newest_kernel_package() {
	private_apt apt-cache show "linux-image-$(kernel_release)-amd64" |
		sed -n 's/^Version: //p' | sort -V | tail -n 1
}

newest_qemu() {
	private_apt apt-cache showsrc --only-source qemu |
		sed -n 's/^Version: //p' | grep '^1:7\.2' | sort -V | tail -n 1
}

# "6.12.N+deb12": linux-image-<this>-amd64 is the stock kernel used here.
kernel_release() {
	pinned kernel-release newest_kernel
}

# "6.12.N-1~deb12u1": the version of the same kernel's source package.
kernel_package() {
	pinned kernel-package newest_kernel_package
}

qemu_package() {
	pinned qemu-package newest_qemu
}

fetch_deb() {
	local arch=$1 name=$2 version=$3 dir
	dir=$(mktemp -d "$NNPU_APT/fetch.XXXXXX")
	if ! (cd "$dir" && private_apt apt-get download "$name:$arch${version:+=$version}"); then
		# The lists may be older than the archive: once more with new ones.
		private_apt apt-get update
		(cd "$dir" && private_apt apt-get download "$name:$arch${version:+=$version}")
	fi
	mkdir -p "$NNPU_DEBS"
	mv "$dir"/*.deb "$NNPU_DEBS/${name}_$arch${version:+=${version//[:\/]/_}}.deb"
	rmdir "$dir"
}

# get_deb ARCH NAME [VERSION]: downloads once, prints the file's path.
# "all" packages are asked for under the architecture that needs them.
get_deb() {
	local file=$NNPU_DEBS/$2_$1${3:+=${3//[:\/]/_}}.deb
	if [ ! -f "$file" ]; then
		apt_ready
		step "download $2 ($1)" "download-$2-$1" \
			with_lock "$NNPU_APT.lock" fetch_deb "$1" "$2" "${3:-}"
	fi
	echo "$file"
}

# unpack_debs DIR DEB...: unpacks packages into DIR through a temporary
# directory, so that DIR exists complete or not at all. Works for a merged
# /usr: existing directory symlinks are kept.
unpack_debs() {
	local dir=$1 tmp deb
	shift
	mkdir -p "$(dirname "$dir")"
	tmp=$(mktemp -d "$dir.XXXXXX")
	chmod 755 "$tmp"
	mkdir -p "$tmp"/usr/{bin,sbin,lib}
	ln -s usr/bin usr/sbin usr/lib "$tmp/"
	for deb in "$@"; do
		dpkg-deb --fsys-tarfile "$deb" |
			tar -x --keep-directory-symlink --no-same-owner -C "$tmp"
	done
	rm -rf "$dir"
	mv "$tmp" "$dir"
}
