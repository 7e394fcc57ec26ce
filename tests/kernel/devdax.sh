#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# An NVDIMM as a character device: no file system, mapped in steps of 2m.
# shellcheck shell=dash source=tests/kernel/lib.sh
. /lab/lib.sh

far=$(make_namespace 1 dax dax_pmem)
check 'an NVDIMM is a dax device' test -c "$far"
for plugin in sync async; do
	check "crc32c through copypath-$plugin.so" fio_verify /build/copypath-$plugin.so \
		--media=devdax "--filename=$far" --persist=require
done
check 'the mapping is MAP_SYNC' during \
	"until_true mapped_whole \$pid $far && mapped_with sf \$pid $far" \
	"--ioengine=external:$SYNC" --media=devdax "--filename=$far" --rw=randwrite
check 'durable writes are flushed' \
	side '.proof.persistent and .proof.flush == "clwb" and .proof.page_bytes == 2097152' \
	--media=devdax "--filename=$far" --copy=memcpy --persist=require
check 'the node of its region is recorded' side '.proof.node == 1' --media=devdax \
	"--filename=$far"
check 'an fsync behind stores that nothing flushed writes them back' side \
	'.proof.errors == 0 and .proof.persistent == null' --media=devdax "--filename=$far" \
	--copy=memcpy --persist=none --fsync=16
check 'a size that is no whole step of the device works' side true --media=devdax \
	"--filename=$far" --size=100k
check 'more than the device has is refused' refused 'expected' side true --media=devdax \
	"--filename=$far" --size=1g
check 'a block device is refused' refused 'expected a dax device' side true --media=devdax \
	--filename=/dev/pmem0
check 'a character device of another kind is refused' refused 'but no dax device' \
	side true --media=devdax --filename=/dev/zero
finish
