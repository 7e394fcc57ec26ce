# SPDX-License-Identifier: GPL-2.0-only

bats_require_minimum_version 1.5.0

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	build=${COPYPATH_BUILD:-build}
	[[ $build = /* ]] || build=$root/$build
	copypath=$build/copypath
	cd "$BATS_TEST_TMPDIR" || return 1
}

workload() {
	printf '%s\n' 'schema: 1' 'kind: workload' 'name: w' "target: {media: $1, size: 5m}" \
		'workload: {rw: read, bs: 64k}' \
		'arms: [{name: cpu, queue_mode: bio, path: cpu, copy: memcpy}]' \
		'run: {runtime: 20ms, samples: 1}' >w.yaml
}

# Large pages are this machine's to give: a refusal says what it lacks.
give_pages() {
	grep -qE '\[(always|madvise)\]' /sys/kernel/mm/transparent_hugepage/enabled ||
		skip "no transparent huge pages here"
}

@test "a record says which pages the target had, and under which name" {
	give_pages
	workload '[anon, "anon:page=2m"]'
	run --separate-stderr "$copypath" run w.yaml -q -o r
	[ "$status" -eq 0 ]
	grep '"media":"anon"' r/records.jsonl | grep -q '"page_bytes":4096'
	grep '"media":"anon:page=2m"' r/records.jsonl | grep -q '"page_bytes":2097152'
	grep -q '"media": *"anon,anon:page=2m"' r/manifest.json
	"$copypath" export r --format csv | grep -q ',2097152,'
	"$copypath" compare r r >/dev/null
}

@test "learn keeps runs of different pages apart" {
	give_pages
	workload '[anon, "anon:page=2m"]'
	"$copypath" run w.yaml -q -o r 2>/dev/null
	run "$copypath" learn r -o p.yaml
	[ "$status" -eq 4 ]
	[[ $output = *"media 'anon' and 'anon:page=2m'"* ]]
}

@test "the engine refuses pages that nobody reserved, before any I/O" {
	[ "$(cat /sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages 2>/dev/null)" = 0 ] ||
		skip "1g pages are reserved here, or unknown to this kernel"
	workload '"anon:page=1g"'
	run "$copypath" run w.yaml -o r
	[ "$status" -eq 4 ]
	[[ $output = *"needs 1 reserved ones and 0 are free; expected as many in "*"nr_hugepages"* ]]
	[ ! -e r ]
	run fio --name=a --ioengine="external:$build/copypath-sync.so" --media=anon:page=1g \
		--size=1m --rw=read
	[ "$status" -ne 0 ]
	[[ $output = *"needs 1 reserved ones and 0 are free"* ]]
}
