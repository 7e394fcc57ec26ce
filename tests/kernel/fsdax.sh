#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A file on ext4 with DAX on an NVDIMM: really persistent, through MAP_SYNC, and whether the
# platform flushes CPU caches by itself is what this guest's NVDIMM says. Media `file` maps
# it as well.
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
make_file /tmp/plain 16 2>/dev/null
# what stores that the cache holds need
case $lab_domain in cpu_cache) flush= ;; *) flush=clwb ;; esac

# cut_is_eio: the job ends by EIO once its file is half as long; nothing is killed
cut_is_eio() {
	make_file $far 16 2>/dev/null
	beside 0 "$whole && truncate -s 8M $far" "--ioengine=external:$SYNC" --media=dax \
		--filename=$far --rw=randread && return 1 # a job failed, so fio does
	[ -e "$during_at/during.ok" ] &&
		during_says "[.jobs[] | select(.jobname == \"job\")] | .[0].error == 5" &&
		make_file $far 16 2>/dev/null
}

# durable MEDIA FLUSH: writes that must be persistent are, and the record says by what
durable() {
	side ".proof.persistent and .proof.flush == \"$2\" and .proof.fence == \"sfence\"" \
		"--media=$1" --filename=$far --copy=memcpy --persist=require
}

if [ "$lab_domain" = memory_controller ]; then # once is enough
	check 'file: crc32c' fio_verify "$SYNC" --media=file --filename=$far
	check 'file: the mapping is MAP_SYNC' during "$whole && mapped_with sf \$pid $far" \
		"--ioengine=external:$SYNC" --media=file --filename=$far --rw=randwrite
	for plugin in sync async; do
		check "dax: crc32c through copypath-$plugin.so" fio_verify \
			/build/copypath-$plugin.so --media=dax --filename=$far --persist=require
	done
	check 'dax: the mapping is MAP_SYNC' during "$whole && mapped_with sf \$pid $far" \
		"--ioengine=external:$SYNC" --media=dax --filename=$far --rw=randwrite
	check 'dax: cut under a job is an I/O error, not the end of fio' cut_is_eio
fi
check "file: durable writes have flush '$flush'" durable file "$flush"
check "dax: durable writes have flush '$flush'" durable dax "$flush"
for media in file dax; do
	check "$media: the node of its region is recorded" side '.proof.node == 0' \
		--media=$media --filename=$far
done
check 'file: one in tmpfs does not meet persist=require' refused 'is not persistent memory' \
	side true --media=file --filename=/tmp/plain --persist=require
check 'dax: a file in tmpfs is refused' refused 'is not on a DAX file system' \
	side true --media=dax --filename=/tmp/plain
check 'dax: a file that is too short is refused' refused 'expected a file at least that long' \
	side true --media=dax --filename=$far --size=17m

umount /mnt/dax
mount -t ext4 -o dax=never /dev/pmem0 /mnt/dax
check 'dax: a file of the same file system without DAX is refused' \
	refused 'is not on a DAX file system' side true --media=dax --filename=$far
umount /mnt/dax
finish
