# SPDX-License-Identifier: MIT
#
# NNPU: driver, library, device model. `make help` lists the targets.
#
# How the parts plug in: every directory with programs has a build.mk, included
# below. A build.mk names its paths from the top of the tree, puts all output
# under $(BUILD) and adds prerequisites to the targets listed here:
#
#   lib             $(BUILD)/lib/libnnhal.so, libnnhal.a        userspace/build.mk
#   tools           $(BUILD)/bin/...                            userspace/build.mk
#   emulator        $(BUILD)/lib/libnnpu-emu.a                  emulator/build.mk
#   selftests       $(BUILD)/selftests/...                      selftests/build.mk
#   examples        $(BUILD)/bin/...                            examples/build.mk
#   host-tests      $(BUILD)/tests/...                          tests/build.mk
#   vm-tests        the same for those in the virtual machine   tests/build.mk
#   run-host-tests  runs them and prints TAP                    tests/build.mk
#   run-fuzz        runs the fuzzers and prints TAP             tests/build.mk
#   install-files   what `make install` copies                  userspace/build.mk
#
# A program to be installed goes into INSTALLED_TOOLS; its manual page and its completion are
# found by their names (userspace/tools/build.mk).
#
#   module          the kernel module, by scripts/build-module
#
# Objects come from the pattern rule `$(BUILD)/obj/%.o: %.c` below, with
# dependency files. Flags of one directory or object are target-specific:
#
#   $(BUILD)/obj/emulator/%.o: DIR_CFLAGS = -ffp-contract=off
#
# Variants are the same rules in another directory:
#
#   make SAN=1 ...      ASan and UBSan, in build/san
#   make SAN=thread ... ThreadSanitizer, in build/tsan
#   make SAN=delays ... delays between any two steps (tests/concurrency), in build/delays
#   make CC=clang ...   the other compiler, in build/clang
#   make ARCH=arm64 ... cross-compiled, in build/arm64
#
# Recipes print TAP on standard output and nothing else there; run-* targets
# end with a failure when a test failed.

MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:

ARCH ?= x86_64
SAN ?=
ifeq ($(origin CC),default)
CC := $(if $(filter arm64,$(ARCH)),aarch64-linux-gnu-gcc,gcc)
endif
ifeq ($(origin AR),default)
AR := $(if $(filter arm64,$(ARCH)),aarch64-linux-gnu-ar,ar)
endif
PKG_CONFIG ?= $(if $(filter arm64,$(ARCH)),scripts/arm64-pkg-config,pkg-config)

# A word that is none of these would quietly be ASan in build/san.
ifneq ($(filter-out 1 thread delays,$(SAN)),)
$(error SAN=$(SAN): 1, thread or delays)
endif
SAN_NAME_thread := tsan
SAN_NAME_delays := delays
VARIANT := $(if $(filter arm64,$(ARCH)),/arm64)$(if $(findstring clang,$(CC)),/clang)$(if $(SAN),/$(or $(SAN_NAME_$(SAN)),san))
BUILD ?= build$(VARIANT)

DESTDIR ?=
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
BINDIR ?= $(PREFIX)/bin
LIBEXECDIR ?= $(PREFIX)/libexec/nnpu
DATADIR ?= $(PREFIX)/share/nnpu
MANDIR ?= $(PREFIX)/share/man
UDEVDIR ?= $(PREFIX)/lib/udev
COMPLETIONDIR ?= $(PREFIX)/share/bash-completion/completions

# CFLAGS and LDFLAGS are the user's; what the code needs is added beside them.
CFLAGS ?= -O2 -g
# ThreadSanitizer knows no fences: where one orders data, __tsan_acquire() says it again.
SAN_CFLAGS_thread := -fsanitize=thread -Wno-tsan
SAN_CFLAGS_delays := -fsanitize-coverage=trace-pc
SAN_CFLAGS_1 := -fsanitize=address,undefined -fno-sanitize-recover=all
SAN_CFLAGS := $(or $(SAN_CFLAGS_$(SAN)),$(SAN_CFLAGS_1)) -fno-omit-frame-pointer -O1
NNPU_CFLAGS := -std=gnu11 -Wall -Wextra -Werror -Wstrict-prototypes \
	       -Wmissing-prototypes -Wold-style-definition -Wvla -fno-strict-aliasing \
	       -fdebug-prefix-map=$(CURDIR)=. -Iuapi -Isignatures -Iuserspace/shared
ALL_CFLAGS = $(NNPU_CFLAGS) $(CFLAGS) $(if $(SAN),$(SAN_CFLAGS)) $(DIR_CFLAGS)
# The build id names the build in version strings and caches.
ALL_LDFLAGS = -Wl,--build-id $(LDFLAGS) $(if $(SAN),$(SAN_CFLAGS)) $(DIR_LDFLAGS)

V ?=
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(2)' >&2)

.PHONY: all lib tools emulator selftests examples host-tests vm-tests \
	module run-host-tests run-fuzz install install-files clean distclean help \
	demo check check-host check-kunit check-vm check-arm64 check-arm64-long check-platform check-sleep \
	check-debug check-bounced check-style check-fuzz check-docs soak bench coverage deps qemu debug-kernel uninstall \
	modules modules_install clean-cache deb check-packages check-series

all: lib tools emulator examples selftests module

# A file is made again when the command that makes it changes, not only when one of its
# prerequisites does: other flags, another compiler, one object more or less in a library.
# As in kbuild the command is kept beside the file, in FILE.cmd. A rule that uses one of
# the recipes below has FORCE as a prerequisite, so that make asks each time.
.PHONY: FORCE
FORCE:

comma := ,
squote := '
quoted = '$(subst $(squote),'\'',$(strip $(1)))'
# Not empty if the texts differ.
differ = $(subst x$(strip $(1)),,x$(strip $(2)))$(subst x$(strip $(2)),,x$(strip $(1)))

# $(call if-changed,WHAT,COMMAND): the recipe of a file that COMMAND makes.
define if-changed
$(if $(filter-out FORCE,$?)$(call differ,$(file <$@.cmd),$(2)),$(call remake,$(1),$(2)),@:)
endef

define remake
$(call say,$(1),$@)
$(Q)mkdir -p $(@D)
$(Q)rm -f $@.cmd
$(Q)$(2)
$(Q)printf '%s\n' $(call quoted,$(2)) >$@.cmd
endef

# Both names that an object has: BUILD may be absolute, and a compiler cache writes
# relative names.
DEP_FLAGS = -MMD -MP -MT $(patsubst $(CURDIR)/%,%,$@) -MT $(abspath $@)

$(BUILD)/obj/%.o: %.c FORCE
	$(call if-changed,CC,$(CC) $(ALL_CFLAGS) $(DEP_FLAGS) -c -o $@ $<)

# Objects of a shared library: the same sources, position-independent.
$(BUILD)/pic/%.o: %.c FORCE
	$(call if-changed,CC,$(CC) $(ALL_CFLAGS) -fPIC -fvisibility=hidden $(DEP_FLAGS) -c -o $@ $<)

# $(call link,objects and libraries): the recipe of a program.
link = $(call if-changed,LD,$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $(filter-out FORCE,$(1)))

# $(call archive,objects): the recipe of a static library.
archive = $(call if-changed,AR,rm -f $@ && $(AR) rcs $@ $(filter-out FORCE,$(1)))

include userspace/build.mk
include emulator/build.mk
include selftests/build.mk
include examples/build.mk
include tests/build.mk
include Documentation/build.mk

ifneq ($(wildcard $(BUILD)),)
-include $(shell find $(BUILD)/obj $(BUILD)/pic $(BUILD)/counted -name '*.d' 2>/dev/null)
endif

module:
	$(Q)scripts/build-module --arch $(ARCH)

deps:
	$(Q)scripts/deps

qemu:
	$(Q)scripts/build-qemu >/dev/null

debug-kernel:
	$(Q)scripts/build-debug-kernel >/dev/null

# The rings build what they test themselves.
check:
	$(Q)scripts/check host kunit vm sleep arm64 platform debug bounced style fuzz docs

check-arm64-long:
	$(Q)scripts/check arm64-all arm64-16K arm64-64K

check-host check-kunit check-vm check-sleep check-arm64 check-platform check-debug \
	check-bounced check-style check-fuzz check-docs:
	$(Q)scripts/check $(@:check-%=%)

demo:
	$(Q)scripts/demo

soak bench coverage check-packages check-series:
	$(Q)scripts/$@ $(ARGS)

deb:
	$(Q)scripts/package

install: lib tools install-files

# Removes what install copies. It is installed into the build directory first, so that
# there is no second list; directories that are empty then go as well, if they are ours: those
# below PREFIX with the project's name in their path, and the folder of the NNAPI's headers.
UNINSTALL_STAGE = $(abspath $(BUILD))/uninstall
UNINSTALL_ROOT = $(if $(DESTDIR),$(abspath $(DESTDIR)))

uninstall:
	$(Q)rm -rf $(UNINSTALL_STAGE)
	$(Q)$(MAKE) -s install DESTDIR=$(UNINSTALL_STAGE)
	$(Q)cd $(UNINSTALL_STAGE) && find . ! -type d -printf '%P\n' | \
		while IFS= read -r file; do rm -f "$(UNINSTALL_ROOT)/$$file" || exit 1; done
	$(Q)cd $(UNINSTALL_STAGE) && find . -depth -type d \( -path '.$(PREFIX)/*nn*' -o \
			-path '.$(INCLUDEDIR)/android' \) -printf '%P\n' | \
		while IFS= read -r dir; do \
			[ ! -d "$(UNINSTALL_ROOT)/$$dir" ] || \
				rmdir --ignore-fail-on-non-empty "$(UNINSTALL_ROOT)/$$dir"; \
		done
	$(Q)rm -rf $(UNINSTALL_STAGE)

# For the machine this runs on, or the kernel build tree KDIR. MODLIB, INSTALL_MOD_PATH and
# the like are kbuild's own. Without pahole the module has no type information for BPF.
KDIR ?= /lib/modules/$(shell uname -r)/build

modules modules_install:
	$(Q)[ -e '$(KDIR)/Makefile' ] || { echo 'no kernel build tree $(KDIR):' \
		'install linux-headers-$(shell uname -r), or name one with KDIR=' >&2; exit 1; }
	$(Q)$(MAKE) -C $(KDIR) M=$(CURDIR) \
		$(if $(shell command -v pahole),,CONFIG_DEBUG_INFO_BTF_MODULES=) $@

clean:
	$(Q)rm -rf build

# The tree as it was unpacked. What is expensive to build stays, outside of the tree, for
# other checkouts: clean-cache removes that.
distclean: clean
	$(Q)find . -name .git -prune -o -type d -name __pycache__ -exec rm -rf {} +
	$(Q)find . -name .git -prune -o -type f \( -name '*.ko' -o -name '*.o' -o -name '*.a' -o \
		-name '*.mod' -o -name '*.mod.c' -o -name '.*.cmd' -o -name .module-common.c -o \
		-name '*.symvers' -o -name modules.order \) -exec rm -f {} +
	$(Q)rm -f tags TAGS cscope.* compile_commands.json

clean-cache:
	$(Q)scripts/clean-cache

help:
	@printf '%s\n' \
	'make              the library, the tools, the device model and nnpu.ko' \
	'make demo         boot a virtual machine with the device, classify digits in it' \
	'make check        every test ring; the last line counts all tests' \
	'make check-host   unit tests in this process, with ASan and UBSan' \
	'make check-kunit  KUnit on a user-mode kernel' \
	'make check-vm     kselftests and HAL tests in the virtual machine, stock kernel' \
	'make check-sleep  system sleep of a whole machine with work in flight' \
	'make check-arm64  some of them on Debian'\''s arm64 kernel' \
	'make check-platform  devices of a device tree there, as they should be and as not' \
	'make check-arm64-long  all of them there, and with pages of 16 and 64 KiB' \
	'make check-debug  kselftests on a kernel with KASAN, lockdep, kmemleak, fault injection' \
	'make check-bounced  some kselftests and HAL tests there, with all DMA through bounce buffers' \
	'make check-style  checkpatch, sparse, W=1, kernel-doc, SPDX, shellcheck, clang' \
	'make check-fuzz   a short run of the fuzzers' \
	'make check-docs   documents against headers and tree' \
	'make soak         the long forms of the tests (ARGS="--help" lists the counts)' \
	'make coverage     which lines the tests run, in each folder' \
	'make deb          Debian packages, in build/packages' \
	'make check-packages  builds, installs, tries and purges them in clean systems' \
	'make check-series the patches of scripts/export-series, in a kernel tree' \
	'make bench        latency and throughput in the virtual machine' \
	'make docs         the documents and the API reference as HTML, in build/docs' \
	'make record-abi   records the ABI of the libraries (Documentation/abi.rst)' \
	'make install      library, headers, pkg-config file and tools (DESTDIR, PREFIX)' \
	'make uninstall    removes what make install copies' \
	'make modules      nnpu.ko in kernel/, for the running kernel (KDIR=build tree of another)' \
	'make modules_install  copies that to /lib/modules' \
	'make clean        removes build/' \
	'make distclean    removes all that was built in the tree' \
	'make clean-cache  removes what is kept outside the tree: QEMU, kernels' \
	'' \
	'Variables: CC=clang, SAN=1 (thread, delays), ARCH=arm64, V=1, BUILD=dir, NNPU_SHARED=dir' \
	'Packages that are missing are installed as needed (scripts/deps, as root).'

# What a build.mk says, for the scripts.
print-%:
	@echo $($*)
