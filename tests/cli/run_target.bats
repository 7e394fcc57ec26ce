# SPDX-License-Identifier: GPL-2.0-only
#
# copypath run: the memory and the files that a run uses.

# shellcheck disable=SC2154 # stderr is set by run --separate-stderr
bats_require_minimum_version 1.5.0

load run.bash

@test "a target that is a link to nothing is told as one, with its place" {
	ln -s nowhere far
	workload 'target: {media: file, filename: far, size: 16m, allow_overwrite: true}' 'workload: {rw: write, bs: 64k}'
	for how in --dry-run --quiet; do
		run "$copypath" run w.yaml -o r "$how"
		[ "$status" -eq 2 ]
		[[ $output = *"w.yaml:4:33: error: '$PWD/far' is a link to 'nowhere', which does not exist; expected"* ]]
		[ ! -e r ]
		[ ! -e nowhere ]
	done
}

@test "too little memory is exit 4 before anything runs" {
	workload 'target: {media: anon, size: 60t}' 'workload: {rw: read, bs: 64k}'
	run "$copypath" run w.yaml -o r
	[ "$status" -eq 4 ]
	[[ $output = *"not enough memory"*"are available"* ]]
	[ ! -e r ]
}

@test "no space for the file is exit 4 before anything runs" {
	workload 'target: {media: file, size: 60t, filename: far.bin}' 'workload: {rw: read, bs: 64k}'
	run "$copypath" run w.yaml -o r
	[ "$status" -eq 4 ]
	[[ $output = *"no space for '$PWD/far.bin': 60t needed"* ]]
	[ ! -e r ]
	[ ! -e far.bin ]
}

@test "a file that exists is written only with allow_overwrite" {
	head -c 16m /dev/zero >far.bin
	workload 'target: {media: file, size: 16m, filename: far.bin}' 'workload: {rw: write, bs: 64k}'
	run "$copypath" run w.yaml -o r
	[ "$status" -eq 2 ]
	[[ $output = "w.yaml:4:"*"allow_overwrite: true"* ]]
	cmp -n 16777216 far.bin /dev/zero
	sed -i 's/far.bin/far.bin, allow_overwrite: true/' w.yaml
	run "$copypath" run w.yaml -o r
	[ "$status" -eq 0 ]
	[ "$(stat -c %s far.bin)" -eq 16777216 ]
}

@test "a file that exists is read without leave and not changed" {
	head -c 16m /dev/urandom >far.bin
	cp far.bin copy.bin
	workload 'target: {media: file, size: 16m, filename: far.bin}' 'workload: {rw: read, bs: 64k}'
	run "$copypath" run w.yaml -o r
	[ "$status" -eq 0 ]
	cmp far.bin copy.bin
}

@test "a missing file is made whole and that is said" {
	workload 'target: {media: file, size: 16m, filename: far.bin}' 'workload: {rw: write, bs: 64k}'
	run "$copypath" run w.yaml -o r
	[ "$status" -eq 0 ]
	[[ $output = *"made '$PWD/far.bin' with 16777216 bytes"* ]]
	[ "$(stat -c %s far.bin)" -eq 16777216 ]
}

@test "verify=crc32c passes for both arms, one job and two" {
	workload 'target: {media: anon, size: 4m}' \
		'workload: {rw: [write, randwrite], bs: 4k, numjobs: [1, 2], iodepth: 8}' 1 'verify: crc32c'
	run "$copypath" run w.yaml -o r
	[ "$status" -eq 0 ]
	[ "$(grep -c '"verify":"crc32c"' r/records.jsonl)" -eq 8 ]
}

@test "a file that may not be read is refused before anything runs" {
	command -v setpriv >/dev/null || skip "no setpriv to be another user with"
	[ "$(id -u)" -eq 0 ] || skip "only root can become another user"
	open=$(mktemp -d) # bats' own folders are closed to others
	chmod 755 "$open"
	head -c 16m /dev/zero >"$open/far"
	chmod 0 "$open/far"
	workload "target: {media: file, filename: $open/far, size: 16m}" \
		'workload: {rw: read, bs: 64k}'
	cp "$copypath" "$build"/copypath-*.so w.yaml "$open"
	cd "$open"
	run setpriv --reuid=65534 --clear-groups ./copypath run w.yaml --dry-run
	cd - && rm -r "$open"
	[ "$status" -eq 4 ]
	[[ $output == *"cannot read '$open/far'"* ]]
}

@test "a sparse file that the file system cannot fill is refused before anything runs" {
	[ "$(id -u)" -eq 0 ] || skip "only root can mount a small file system"
	mkdir small
	mount -t tmpfs -o size=1m copypath-test small 2>/dev/null || skip "cannot mount here"
	truncate -s 16m small/far
	workload "target: {media: file, filename: $PWD/small/far, size: 16m, allow_overwrite: true}" \
		'workload: {rw: write, bs: 64k}'
	run "$copypath" run w.yaml --dry-run
	umount small
	[ "$status" -eq 4 ]
	[[ $output == *"no space to fill the holes"* ]]
}
