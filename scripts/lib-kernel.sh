# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Kernels for the virtual machine: Debian's stock kernel and the debug kernel,
# their images, modules and build trees, all in the cache. Each kernel is a
# directory with
#
#   release      what `uname -r` says
#   vmlinuz      the image
#   root/        lib/modules/RELEASE with modules.dep
#   build        where modules are built against it (make -C)
#
# Source it after lib.sh and lib-apt.sh.

unpack_stock() {
	local arch=$1 dir=$2 release=$3 version=$4 deb image headers common kbuild
	deb=$(deb_arch "$arch")
	image=$(get_deb "$deb" "linux-image-$release-$deb" "$version")
	headers=$(get_deb "$deb" "linux-headers-$release-$deb" "$version")
	common=$(get_deb amd64 "linux-headers-$release-common" "$version")
	# The build tools run here, whatever the kernel is for.
	kbuild=$(get_deb amd64 "linux-kbuild-$release" "$version")
	rm -rf "$dir.new"
	unpack_debs "$dir.new/root" "$image"
	unpack_debs "$dir.new/headers" "$headers" "$common" "$kbuild"
	mv "$dir.new/root/boot/vmlinuz-$release-$deb" "$dir.new/vmlinuz"
	rm -rf "$dir.new/root/boot"
	depmod -b "$dir.new/root" "$release-$deb"
	sed -i "s, /usr/src/, $dir/headers/usr/src/,g" \
		"$dir.new/headers/usr/src/linux-headers-$release-$deb/Makefile"
	ln -s "headers/usr/src/linux-headers-$release-$deb" "$dir.new/build"
	echo "$release-$deb" >"$dir.new/release"
	rm -rf "$dir"
	mv "$dir.new" "$dir"
}

unpack_stock_once() {
	[ -f "$2/release" ] ||
		step "unpack Debian's kernel $3 ($1)" "kernel-$1" unpack_stock "$@"
}

# Prints the directory of the stock kernel for x86_64 or arm64.
stock_kernel() {
	local release version dir
	release=$(kernel_release)
	version=$(kernel_package)
	dir=$NNPU_CACHE/kernel/$1-$release-$(hash_text "$version" "$(declare -f unpack_stock unpack_debs)")
	if [ ! -f "$dir/release" ]; then
		"$NNPU_ROOT/scripts/deps" kernel
		with_lock "$dir.lock" unpack_stock_once "$1" "$dir" "$release" "$version"
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

# Prints the directory of the debug kernel, building it when it is missing.
debug_kernel() {
	"$NNPU_ROOT/scripts/build-debug-kernel"
}

# kernel_for ARCH DEBUG: the directory of the kernel a VM or module is for.
kernel_for() {
	if [ -n "$2" ]; then
		debug_kernel
	else
		stock_kernel "$1"
	fi
}
