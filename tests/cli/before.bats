#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# What an earlier version wrote is still read, and means the same. before/run is what it made
# of before/workload.yaml and before/policy.yaml what it learned (a line for the license
# aside). It knew no misalign_near, misalign_far, fence and persist.

bats_require_minimum_version 1.5.0

setup() {
	before=$BATS_TEST_DIRNAME/before
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	build=${COPYPATH_BUILD:-build}
	[[ $build = /* ]] || build=$root/$build
	copypath=$build/copypath
	cd "$BATS_TEST_TMPDIR" || return 1
}

hash_of() {
	echo "sha256:$(jq -cjS .config "$1/manifest.json" | sha256sum | cut -d ' ' -f 1)"
}

# Its run as this machine would have planned it: the pinning names the machine's CPUs.
moved_here() {
	[ "$(hash_of "$before/run")" = "$(jq -r .config_hash "$before/run/manifest.json")" ]
	cp -r "$before/run" here
	jq --slurpfile new "$1/manifest.json" \
		'.config.pinning.cpus = $new[0].config.pinning.cpus' \
		"$before/run/manifest.json" >here/manifest.json
	jq --arg hash "$(hash_of here)" '.config_hash = $hash' here/manifest.json >moved
	mv moved here/manifest.json
}

@test "the same workload has the same config now, and its run of then gates" {
	"$copypath" run "$before/workload.yaml" -o new -q
	moved_here new
	[ "$(jq -r .config_hash here/manifest.json)" = "$(jq -r .config_hash new/manifest.json)" ]
	# so few pairs decide nothing, but they are compared, cell by cell
	run -3 "$copypath" gate here new --ignore-fingerprint --json
	[ "$(jq -r .verdict <<<"$output")" = INCONCLUSIVE ]
	[ "$(jq '[.metrics[] | select(.verdict == "INVALID")] | length' <<<"$output")" -eq 0 ]
	[ "$(jq '[.metrics[].cell] | unique | length' <<<"$output")" -eq 4 ]
}

@test "another workload is another config" {
	sed 's/copy: memcpy/copy: memcpy, persist: auto/' "$before/workload.yaml" >w.yaml
	"$copypath" run w.yaml -o new -q
	moved_here new
	run -4 "$copypath" gate here new --ignore-fingerprint
	[[ $output = *"the runs are of different configurations"* ]]
}

@test "its run is learned from, exported and reported" {
	"$copypath" learn "$before/run" -o p.yaml
	run ! grep -Eq 'misalign|fence|persist' p.yaml
	"$copypath" export "$before/run" --format csv >out.csv
	[ "$(wc -l <out.csv)" -eq 9 ]
	"$copypath" compare "$before/run" "$before/run" >out
	"$copypath" report "$before/run" -o page
	[ -s page/index.html ]
}

@test "its policy is explained and used" {
	run -0 "$copypath" explain "$before/policy.yaml" --at rw=write,bs=4k --json
	[ "$(jq -c '[.decided, .arm.copy, .arm.persist]' <<<"$output")" = '[true,"memcpy","none"]' ]
	fio --output-format=json --output=out.json --name=t --thread=1 --size=1m --rw=write \
		--bs=4k "--ioengine=external:$build/copypath-sync.so" --path=auto --copy=nt \
		"--policy=$before/policy.yaml" --policy_force=1 --sidecar=side
	[ "$(jq -r .proof.copy side)" = memcpy ]
}
