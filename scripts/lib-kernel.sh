# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Kernels for the virtual machine: Debian's stock kernels, the debug kernel, and an
# arm64 kernel with pages of 64 KiB, their images, modules and build trees, all in the
# cache. Each kernel is a directory with
#
#   release      what `uname -r` says
#   vmlinuz      the image
#   root/        lib/modules/RELEASE with modules.dep
#   build        where modules are built against it (make -C)
#
# Source it after lib.sh and lib-apt.sh.

unpack_stock() {
	local arch=$1 dir=$2 release=$3 version=$4 flavour=$5 deb image headers common kbuild
	deb=$(deb_arch "$arch")
	image=$(get_deb "$deb" "linux-image-$release-$flavour" "$version")
	headers=$(get_deb "$deb" "linux-headers-$release-$flavour" "$version")
	common=$(get_deb amd64 "linux-headers-$release-common" "$version")
	# The build tools run here, whatever the kernel is for.
	kbuild=$(get_deb amd64 "linux-kbuild-$release" "$version")
	rm -rf "$dir.new"
	unpack_debs "$dir.new/root" "$image"
	unpack_debs "$dir.new/headers" "$headers" "$common" "$kbuild"
	mv "$dir.new/root/boot/vmlinuz-$release-$flavour" "$dir.new/vmlinuz"
	rm -rf "$dir.new/root/boot"
	depmod -b "$dir.new/root" "$release-$flavour"
	sed -i "s, /usr/src/, $dir/headers/usr/src/,g" \
		"$dir.new/headers/usr/src/linux-headers-$release-$flavour/Makefile"
	ln -s "headers/usr/src/linux-headers-$release-$flavour" "$dir.new/build"
	echo "$release-$flavour" >"$dir.new/release"
	rm -rf "$dir"
	mv "$dir.new" "$dir"
}

unpack_stock_once() {
	[ -f "$2/release" ] ||
		step "unpack Debian's kernel $3 ($5)" "kernel-$5" unpack_stock "$@"
}

# stock_kernel ARCH [FLAVOUR]: prints the directory of the stock kernel for x86_64 or arm64.
stock_kernel() {
	local release version dir flavour=${2:-$(deb_arch "$1")}
	release=$(kernel_release)
	version=$(kernel_package)
	dir=$NNPU_CACHE/kernel/$flavour-$release-$(hash_text "$version" "$(declare -f unpack_stock unpack_debs)")
	if [ ! -f "$dir/release" ]; then
		"$NNPU_ROOT/scripts/deps" kernel
		with_lock "$dir.lock" unpack_stock_once "$1" "$dir" "$release" "$version" "$flavour"
	fi
	echo "$dir"
}

kernel_patches() {
	printf '%s\n' "$NNPU_ROOT"/scripts/kernel-patches/*.patch
}

unpack_source() {
	local dir=$1 version=$2 deb patch
	[ ! -f "$dir/Makefile" ] || return 0
	deb=$(get_deb amd64 linux-source-6.12 "$version")
	rm -rf "$dir.deb" "$dir.new"
	unpack_debs "$dir.deb" "$deb"
	mkdir -p "$dir.new"
	tar -xf "$dir.deb/usr/src/linux-source-6.12.tar.xz" -C "$dir.new" --strip-components=1
	# Faults of the kernel that the tests come across.
	for patch in $(kernel_patches); do
		patch -d "$dir.new" -p1 <"$patch"
	done
	# The kernel's own drivers select these; a module outside the tree cannot.
	cat >>"$dir.new/drivers/accel/Kconfig" <<-'END'

		config NNPU_HELPERS
			tristate "What an out-of-tree NNPU driver needs"
			depends on DRM
			select DRM_EXEC
			select DRM_GEM_SHMEM_HELPER
			select DRM_SCHED
			select SYNC_FILE
			select WANT_DEV_COREDUMP
	END
	rm -rf "$dir.deb" "$dir"
	mv "$dir.new" "$dir"
}

# strip_helpers KCONFIG: without what unpack_source() added.
strip_helpers() {
	# shellcheck disable=SC2016 # no variable of the shell
	sed -i -e '/^config NNPU_HELPERS$/,$d' "$1"
	# And the blank line in front.
	sed -i -e '${/^$/d}' "$1"
}

unpack_source_once() {
	[ -f "$1/Makefile" ] ||
		step "unpack the kernel source $2" kernel-source unpack_source "$@"
}

# Prints the directory of the unpacked and patched kernel source. Nobody writes there.
kernel_source() {
	local version dir
	version=$(kernel_package)
	dir=$NNPU_CACHE/linux-source-$version-$(hash_text "$(declare -f unpack_source unpack_debs)" \
		"$(kernel_patches | xargs cat)")
	if [ ! -f "$dir/Makefile" ]; then
		with_lock "$dir.lock" unpack_source_once "$dir" "$version"
	fi
	echo "$dir"
}

# For the scripts that build a kernel: makes the configuration in $dir/obj, tinyconfig of the source
# in $source with $fragment on top. Theirs are these variables and kmake.
# shellcheck disable=SC2154
configure_kernel() {
	local line missing=0
	mkdir -p "$dir/obj"
	kmake tinyconfig
	(cd "$source" && scripts/kconfig/merge_config.sh -m -O "$dir/obj" "$dir/obj/.config" "$fragment")
	kmake olddefconfig
	# An option that a new kernel renamed must not get lost in silence.
	while IFS= read -r line; do
		case $line in
		CONFIG_*=n)
			! grep -q "^${line%=n}=" "$dir/obj/.config" || { echo "not off: $line"; missing=1; }
			;;
		CONFIG_*)
			grep -qxF "$line" "$dir/obj/.config" || { echo "not set: $line"; missing=1; }
			;;
		esac
	done <"$fragment"
	[ "$missing" = 0 ]
}

# Prints the directory of the debug kernel, building it when it is missing.
debug_kernel() {
	"$NNPU_ROOT/scripts/build-debug-kernel"
}

# kernel_for ARCH DEBUG [PAGES]: the directory of the kernel a VM or module is for. PAGES is 16K,
# 64K, or nothing. Debian has no kernel with pages of 64 KiB.
kernel_for() {
	if [ -n "$2" ]; then
		debug_kernel
	elif [ "${3:-}" = 64K ]; then
		"$NNPU_ROOT/scripts/build-64k-kernel"
	elif [ "${3:-}" = 16K ]; then
		stock_kernel "$1" "$1-16k"
	else
		stock_kernel "$1"
	fi
}

# For the scripts that boot a machine: what their initramfs have in common.

# add_busybox ARCH ROOT: busybox, which is also the shell of `init`.
add_busybox() {
	mkdir -p "$2/bin"
	dpkg-deb --fsys-tarfile "$(get_deb "$(deb_arch "$1")" busybox-static)" | tar -x -C "$2" ./bin/busybox
}

# add_modules KERNEL ROOT MODULE...: modules of the kernel in the directory KERNEL and what they
# need to ROOT/modules, which has the order to load them in `list`.
add_modules() {
	local kernel=$1 dir=$2/modules file module modules
	shift 2
	mkdir -p "$dir"
	modules=$(for module; do
		modprobe -C /dev/null -d "$kernel/root" -S "$(cat "$kernel/release")" --show-depends "$module"
	done)
	touch "$dir/list"
	while IFS= read -r file; do
		module=${file##*/}
		case $file in
		*.xz) xz -dc "$file" >"$dir/${module%.xz}" ;;
		*) cp "$file" "$dir/" ;;
		esac
		echo "${module%.xz}" >>"$dir/list"
	done < <(awk '$1 == "insmod" && !seen[$2]++ { print $2 }' <<<"$modules")
}

# pack_initramfs ROOT FILE
pack_initramfs() {
	(cd "$1" && find . | cpio -o -H newc --quiet -R 0:0) | gzip -1 >"$2"
}
