# SPDX-License-Identifier: GPL-2.0
#
# rnotify: kernel module, library, command and tests.  `make help` lists targets.
# Everything that is made lands in build/ (and the kernels and other fetched things
# in a cache outside the tree), the sources stay as they are.

MAKEFLAGS += --no-print-directory
VM := selftests/vm
RUNNING := $(shell uname -r)
JOBS := $(shell nproc)

# KERNEL: what to build for or run on: 6.1, 6.12, debug; empty is the running one
KERNEL ?=
KDIR ?= $(if $(KERNEL),$(shell $(VM)/kernel-dir $(KERNEL)),/lib/modules/$(RUNNING)/build)
MODULE_DIR := build/$(or $(KERNEL),$(RUNNING))
KBUILD = $(MAKE) -C "$(KDIR)" M="$(CURDIR)/$(MODULE_DIR)"

PREFIX ?= /usr/local

all: modules userspace

help:
	@echo 'On your own machine:'
	@echo '  make                    rnotify.ko for the running kernel, library, command'
	@echo '  make install            library, command, headers, man pages (PREFIX=$(PREFIX))'
	@echo '  make modules_install    rnotify.ko for the running kernel'
	@echo 'In virtual machines (Debian bookworm; this machine gets packages, no module):'
	@echo '  make demo               a file from one VM to another'
	@echo '  make check              all tests, on stock kernels 6.1 and 6.12 and one with'
	@echo '                          KASAN, lockdep, kmemleak (built once, ten minutes); lint'
	@echo '  make check KERNEL=6.12  the kselftests on one kernel only: 6.1, 6.12, debug'
	@echo '  make check-long         everything, on all three kernels'
	@echo '  make bench              measure, beside verbs, TCP, libfabric and UCX;'
	@echo '                          tables and plots'
	@echo '  make vm [KERNEL=6.12]   a shell in a VM with everything loaded'
	@echo 'Parts:'
	@echo '  make setup              install missing packages, fetch the kernels'
	@echo '  make modules floor KERNEL=6.1|6.12|debug'
	@echo '  make userspace selftests unit lint clean'

# -- building ------------------------------------------------------------------

# Several runs of the tests may want the same thing at once: each output directory
# has a lock.
#
# A farm of links to the sources, so that kbuild has a directory of its own for
# each kernel.
farm:
	@$(VM)/link-farm $(MODULE_DIR)

modules: farm
	@test -d "$(KDIR)" || { echo 'No kernel headers in "$(KDIR)": install' \
		'linux-headers-$(RUNNING), or say KERNEL=6.1 or 6.12 (see make help)' >&2; exit 1; }
	+@flock $(MODULE_DIR)/.lock $(KBUILD) $(KBUILD_ARGS) modules

# A module to measure against, for the tests; never installed
FLOOR_DIR = $(MODULE_DIR)-floor

floor:
	@$(VM)/link-farm $(FLOOR_DIR) selftests/floor
	+@flock $(FLOOR_DIR)/.lock $(MAKE) -C "$(KDIR)" \
		M="$(CURDIR)/$(FLOOR_DIR)/selftests/floor" $(KBUILD_ARGS) modules

modules_install: modules
	$(KBUILD) modules_install
	depmod -a $(RUNNING)

LOCKED_USERSPACE = mkdir -p build && flock build/.lock-userspace \
	$(MAKE) -C userspace O=$(CURDIR)/build/userspace

userspace:
	+@$(LOCKED_USERSPACE)

install: userspace
	$(MAKE) -C userspace O=$(CURDIR)/build/userspace PREFIX=$(PREFIX) install

# The programs need the library only, and are there even if the command is broken
selftests:
	+@$(LOCKED_USERSPACE) lib
	+@flock build/.lock-selftests $(MAKE) -C selftests O=$(CURDIR)/build/selftests

# `rnotify perf` with other libraries beside it: needs $(VM)/setup bench
peers: userspace
	+@flock build/.lock-peers $(MAKE) -C selftests/bench/peers O=$(CURDIR)/build/peers \
		USERSPACE=$(CURDIR)/build/userspace

unit:
	+@$(MAKE) -C selftests/unit O=$(CURDIR)/build/unit check

# -- testing -------------------------------------------------------------------

setup:
	@$(VM)/setup

debug-kernel: setup
	@$(VM)/debug-kernel

demo: setup
	@$(VM)/check demo

check: setup
	@$(VM)/check $(or $(KERNEL),all)

check-long: setup
	@$(VM)/check long

# Tables and plots go to Documentation/performance. BENCH_ARGS=--quick is shorter
bench: setup
	@$(VM)/setup bench
	+@$(MAKE) modules KERNEL=6.12
	+@$(MAKE) peers
	@selftests/bench/bench $(BENCH_ARGS)

lint: setup
	@$(VM)/lint

vm: setup
	@$(VM)/check vm $(or $(KERNEL),6.12)

clean:
	rm -rf build

.PHONY: all help farm floor modules modules_install userspace install selftests peers \
	unit setup debug-kernel demo check check-long bench lint vm clean
