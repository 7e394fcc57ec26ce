#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A file on ext4 with DAX on an NVDIMM: really persistent, through MAP_SYNC, and whether the
# platform flushes CPU caches by itself is what this guest's NVDIMM says.
# shellcheck shell=dash source=tests/kernel/lib.sh disable=SC2154
. /lab/lib.sh

far=/mnt/dax/far
whole="until_true mapped_whole \$pid $far"
check 'an NVDIMM holds an ext4 with DAX' fsdax_mount 0 /mnt/dax
check 'the mount is DAX' grep -q '^/dev/pmem[0-9]* /mnt/dax ext4 .*dax=always' /proc/mounts
# $lab_domain: what the kernel does not know of its arguments is in the environment.
check "the domain of persistence is $lab_domain" test "$lab_domain" = \
	"$(cat "$nd/devices/$(region_of_node 0)/persistence_domain")"
make_file $far 16 2>/dev/null

# cut_is_eio MEDIA: the job ends by EIO once its file is half as long; nothing is killed
cut_is_eio() {
	make_file $far 16 2>/dev/null
	during "$whole && truncate -s 8M $far" "--ioengine=external:$SYNC" "--media=$1" \
		--filename=$far --rw=randread --runtime=60 && return 1 # a job failed, so fio does
	[ -e /tmp/during.ok ] &&
		during_says "[.jobs[] | select(.jobname == \"job\")] | .[0].error == 5" &&
		make_file $far 16 2>/dev/null
}

for plugin in sync async; do
	check "file: crc32c through copypath-$plugin.so" \
		fio_verify /build/copypath-$plugin.so --media=file --filename=$far
done
# sf: MAP_SYNC
check 'file: the mapping is MAP_SYNC' during "$whole && mapped_with sf \$pid $far" \
	"--ioengine=external:$SYNC" --media=file --filename=$far --rw=randwrite --runtime=1
check 'file: cut under a job is an I/O error, not the end of fio' cut_is_eio file
umount /mnt/dax
finish
