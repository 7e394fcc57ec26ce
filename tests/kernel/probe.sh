#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What `copypath probe` says of this guest is what the guest has: two namespaces, one of them
# a dax device that an earlier scenario made, and a file system with DAX once it is mounted.
# shellcheck shell=dash source=tests/kernel/lib.sh
. /lab/lib.sh

probe() {
	/build/copypath probe --json >/tmp/probe.json
}

# says FILTER: what it wrote last passes
says() {
	jq -e "$1" /tmp/probe.json
}

mount -t ext4 -o dax /dev/pmem0 /mnt/dax
probe
check 'both namespaces are listed' says '.media.pmem_namespaces | length == 2'
check 'both regions are, with what a power loss takes' says '[.. | objects |
	.persistence_domain // empty] == ["memory_controller", "memory_controller"]'
check 'the dax device is, as persistent' says '.pmem.dax[0] | .persistent and .align == 2097152'
check 'dax and devdax are usable' says '[.media.kinds[] | select(.name == "dax" or
	.name == "devdax") | .usable] == [true, true]'
umount /mnt/dax
probe
check 'dax is not, once nothing is mounted with it' says '.media.kinds[] |
	select(.name == "dax") | (.usable | not) and (.why | contains("mount -o dax"))'

# a record of a run says so too
cat >/tmp/w.yaml <<END
schema: 1
kind: workload
name: lab
target: {media: devdax, filename: $(echo /dev/dax*.*), size: 4m, allow_overwrite: true}
workload: {rw: [read, write], bs: 64k}
arms: [{name: cpu, copy: memcpy, persist: require}]
run: {runtime: 50ms, samples: 1}
END
check 'a run on the dax device succeeds' /build/copypath run -o /tmp/run /tmp/w.yaml
check 'its writes were persistent' jq -es 'length == 2 and
	([.[] | select(.context.rw == "write") | .proof.persistent] == [true]) and
	all(.[]; .context.media == "devdax" and .failed == null)' /tmp/run/records.jsonl
finish
