# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2054
#
# A guest without a first process: the lab's own test that a panic does not pass.
qemu=(-m 512M)
append=(rdinit=/nowhere init=/nowhere)
panics=1
