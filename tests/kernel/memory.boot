# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2054
#
# Memory, and what goes wrong with it: pages that are poisoned.
qemu=(
	-m 512M -smp 2
)
append=()
scenarios=(guard.sh)
programs=(
	engines/copy/t/guard_test engines/copy/t/guard_signal_test
)
