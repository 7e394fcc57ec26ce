#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# BARs that are memory (BAR 2 of three ivshmem devices): uncached and write-combining, as
# the kernel's list of memory types says, and those that are refused.
# shellcheck shell=dash source=tests/kernel/lib.sh
. /lab/lib.sh

pci=/sys/bus/pci/devices
free=0000:00:10.0 taken=0000:00:11.0 off=0000:00:12.0

# Where BAR 2 of DEVICE begins, as the list of memory types writes it.
bar_start() {
	awk 'NR == 3 { print $1 }' "$pci/$1/resource"
}

# bar DEVICE ATTR OPTION...: options of a job on its BAR 2; a file name's colons are escaped
bar() {
	local name attr=$2
	name=$(echo "$pci/$1/resource2" | sed 's/:/\\:/g')
	shift 2
	"$@" --media=bar "--filename=$name" "--attr=$attr"
}

fio_write() {
	fio --name=write "--ioengine=external:$SYNC" --thread=1 --rw=write --bs=4k --size=1m \
		--copy=memcpy "$@"
}

# The list has the type for the BAR while the job runs: "PAT: [mem START-END] TYPE".
typed() {
	bar "$free" "$1" during \
		"until_true grep -q 'mem $(bar_start $free)-.* $2' /sys/kernel/debug/x86/pat_memtype_list" \
		"--ioengine=external:$SYNC" --rw=randwrite --copy=memcpy
}

check 'attr uc is mapped uncached' typed uc uncached-minus
check 'attr wc is mapped write-combining' typed wc write-combining
for attr in uc wc; do
	check "crc32c, $attr, memcpy" bar $free $attr fio_verify "$SYNC" --size=1m --copy=memcpy
	check "crc32c, $attr, nt" bar $free $attr fio_verify "$SYNC" --size=1m --copy=nt
	check "crc32c, $attr, avx2, mq" bar $free $attr fio_verify "$ASYNC" --size=1m \
		--path=cpu --copy=avx2
done
# native ATTR OPTION...: the attribute is native, and the record notes nothing of it
native() {
	local attr=$1
	shift
	bar $free "$attr" side '.provenance.attr == "native" and
		([.. | strings | select(contains("not verified"))] == [])' --copy=memcpy "$@"
}
for attr in uc wc; do
	check "attr_native takes $attr, which the kernel lists" native $attr --attr_native=1
done
umount /sys/kernel/debug
check 'an attribute that the kernel does not list is noted' bar $free uc side \
	'[.. | strings | select(contains("attribute not verified"))] != []' --copy=memcpy
check 'and refused under attr_native' bar $free uc refused "'attr_native' wants" \
	fio_write --attr_native=1
mount -t debugfs debugfs /sys/kernel/debug
check 'wb is refused' bar $free wb refused 'expected attr uc or wc' fio_write

modprobe pci-stub
echo pci-stub >$pci/$taken/driver_override
echo $taken >/sys/bus/pci/drivers/pci-stub/bind
check 'a device that a driver has is refused by its name' \
	bar $taken uc refused "in use by driver 'pci-stub'" fio_write
echo $taken >/sys/bus/pci/drivers/pci-stub/unbind

# The firmware had it decode; the command register is 2 bytes at 4 of the configuration.
printf '\0\0' | dd of=$pci/$off/config bs=2 seek=2 conv=notrunc 2>/dev/null
check 'a BAR that is not decoded is refused' \
	bar $off uc refused 'does not decode memory accesses' fio_write
echo 1 >$pci/$off/enable
check 'and taken when it is' bar $off uc fio_write
check 'more than the BAR has is refused' bar $free uc refused "has 16m" fio_write --size=17m
# listed BAR WORDS: a line of the probe about it has the words
listed() {
	/build/copypath probe | tee /tmp/probe.out | grep "^bar .*$1" | grep -q "$2" ||
		{ cat /tmp/probe.out; return 1; }
}
check 'probe lists the free BAR' listed "$free/resource2" '16m, uc and wc'
COPYPATH_TEST_BAR=$pci/$free/resource2
export COPYPATH_TEST_BAR
unit engines/media/t/bar_test
finish
