# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2054
#
# Memory of other kinds, and what goes wrong with it: reserved pages, three BARs of which
# one is free, one gets a driver and one does not decode, and pages that are poisoned.
qemu=(
	-m 2560M -smp 2
	-object memory-backend-ram,id=bar0,size=16M,share=on
	-object memory-backend-ram,id=bar1,size=16M,share=on
	-object memory-backend-ram,id=bar2,size=16M,share=on
	-device ivshmem-plain,memdev=bar0,addr=0x10
	-device ivshmem-plain,memdev=bar1,addr=0x11
	-device ivshmem-plain,memdev=bar2,addr=0x12
)
append=(hugepagesz=2M hugepages=32 hugepagesz=1G hugepages=1)
scenarios=(pages.sh bar.sh guard.sh)
programs=(
	engines/copy/t/guard_test engines/copy/t/guard_signal_test engines/media/t/bar_test
)
