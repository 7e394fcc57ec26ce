# SPDX-License-Identifier: GPL-2.0-only

bats_require_minimum_version 1.5.0

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	build=${COPYPATH_BUILD:-build}
	[[ $build = /* ]] || build=$root/$build
	copypath=$build/copypath
	cd "$BATS_TEST_TMPDIR" || return 1
	printf '%s\n' 'schema: 1' 'kind: workload' 'name: w' \
		'target: {media: anon, size: 16m}' 'workload: {rw: read, bs: [4k, 64k]}' 'arms:' \
		'  - {name: cpu, queue_mode: mq, path: cpu, copy: memcpy}' \
		'  - {name: offload, queue_mode: mq, path: dma, dma: sw}' \
		'run: {runtime: 20ms, samples: 2}' >w.yaml
}

# 3 means that so few samples decided nothing: an answer too.
answered() {
	[ "$1" -eq 0 ] || [ "$1" -eq 3 ]
}

@test "tune measures the grid and leaves a policy in the run directory" {
	run --separate-stderr "$copypath" tune w.yaml -o r
	answered "$status"
	[ "$(wc -l <r/records.jsonl)" -eq 8 ]
	grep -q '^kind: policy' r/policy.yaml
	grep -q '^name: w' r/policy.yaml
	[[ $output = *"policy: r/policy.yaml"* ]]
	[[ $output = *"samples: 8 learned from, 0 failed, 0 modelled"* ]]
}

@test "a budget ends the measuring, and what is missing is listed" {
	echo 'budget: {samples: 5}' >>w.yaml
	run --separate-stderr "$copypath" tune w.yaml -o r
	answered "$status"
	[ "$(wc -l <r/records.jsonl)" -eq 5 ]
	[[ $output = *"not measured: 3 of 8 samples"* ]]
	grep -q '"complete": *false' r/manifest.json
	# Beside the config, whose hash was taken before.
	grep -q '^ "unmeasured"' r/manifest.json
	[ -s r/policy.yaml ]
}

@test "null is no rival, with errors or without" {
	sed -i 's/rw: read, bs: .*}/rw: write, bs: 4k}/
		s/path: dma, dma: sw}/path: dma, dma: "null", persist: auto}/' w.yaml
	for dma in null fault:null fault:null,reorder=2; do
		sed "s/\"null\"/\"$dma\"/" w.yaml >v.yaml
		run "$copypath" tune --dry-run v.yaml
		[ "$status" -eq 0 ]
	done
	sed 's/"null"/"fault:sw"/' w.yaml >v.yaml
	run "$copypath" tune --dry-run v.yaml
	[ "$status" -eq 2 ]
}

@test "tune --json prints one document" {
	run --separate-stderr "$copypath" tune w.yaml -q --json -o r --objective throughput
	answered "$status"
	[ "${#lines[@]}" -eq 1 ]
	[[ $output = '{"run":"r","policy":"r/policy.yaml","samples":8,'*"\"exit\":$status}" ]]
	grep -q 'name: throughput' r/policy.yaml
}

@test "an objective nobody knows is refused before anything is measured" {
	run "$copypath" tune w.yaml -o r --objective fastest
	[ "$status" -eq 2 ]
	[[ $output = *"'fastest'"* ]]
	[ ! -e r ]
}

@test "a tuned run can be resumed, which measures the rest and learns" {
	echo 'budget: {samples: 5}' >>w.yaml
	"$copypath" tune w.yaml -q -o r || answered $?
	run "$copypath" tune --resume r
	answered "$status"
	[ "$(wc -l <r/records.jsonl)" -eq 8 ]
	grep -q '"complete": *true' r/manifest.json
	run grep -c '"unmeasured"' r/manifest.json
	[ "$output" -eq 0 ]
}

@test "help is under 25 lines" {
	run "$copypath" tune --help
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -lt 25 ]
}
