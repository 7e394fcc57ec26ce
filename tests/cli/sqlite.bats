# SPDX-License-Identifier: GPL-2.0-only
#
# The SQLite application through driver exec: its pages go the way that was asked.

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	build=${COPYPATH_BUILD:-build}
	[[ $build = /* ]] || build=$root/$build
	copypath=$build/copypath
	cd "$BATS_TEST_TMPDIR" || return 1
}

# workload ARM...: each a line of `arms`
workload() {
	cat >w.yaml <<-EOF
		schema: 1
		kind: workload
		name: sqlite
		driver: {exec: [copypath-sqlite]}
		target: {media: anon, size: 32m}
		workload: {rw: [read, write], bs: 16k, iodepth: 4}
		run: {runtime: 30ms, ramp_time: 0, samples: 1}
		arms:
	EOF
	printf '  - {%s}\n' "$@" >>w.yaml
}

@test "bio, mq with DMA and page carry SQLite's pages as asked" {
	workload 'name: bio, queue_mode: bio, path: cpu, copy: memcpy' \
		'name: dma, queue_mode: mq, path: dma, dma: sw' \
		'name: page, queue_mode: page, path: cpu, copy: memcpy'
	"$copypath" run w.yaml -o r
	cat r/records.jsonl
	[ "$(grep -c '"app_ops_per_s":[1-9]' r/records.jsonl)" -eq 6 ]
	[ "$(grep '"name":"dma"' r/records.jsonl | grep '"bytes_cpu":0,' | grep -c '"bytes_dma":[1-9]')" -eq 2 ]
	[ "$(grep -v '"name":"dma"' r/records.jsonl | grep '"bytes_cpu":[1-9]' | grep -c '"bytes_dma":0,')" -eq 4 ]
}

@test "a transaction that fails is a failed sample, never a figure" {
	workload 'name: bad, queue_mode: mq, path: dma, dma: "fault:sw,error=20%,seed=7"'
	run "$copypath" run w.yaml -o r
	echo "$output"
	[ "$status" -eq 1 ]
	[ "$(grep -c '"failed":"' r/records.jsonl)" -eq 2 ]
}

@test "a database in a file is made and removed, and nobody's file is touched" {
	workload 'name: bio, queue_mode: bio, path: cpu, copy: memcpy'
	sed -i "s|media: anon|media: file, filename: $PWD/db|" w.yaml
	"$copypath" run w.yaml -o r
	[ "$(grep -c '"app_ops_per_s":[1-9]' r/records.jsonl)" -eq 2 ]
	[ ! -e db ]
	echo mine >db
	run "$copypath" run w.yaml -o r2
	[ "$status" -eq 1 ]
	grep -q "cannot make '$PWD/db'" r2/records.jsonl
	[ "$(cat db)" = mine ]
}

@test "what it cannot do is said in words" {
	workload 'name: bio, queue_mode: bio, path: cpu, copy: memcpy'
	local case
	for case in 's/rw: .read, write./rw: randread/|rw is' 's/iodepth: 4/numjobs: 2/|numjobs is 2' \
		's/bs: 16k/bs: 12k/|bs is 12288' 's/iodepth: 4/iodepth: 512/|iodepth is 512' \
		's/size: 32m/size: 1m/|size is 1048576'; do
		sed "${case%|*}" w.yaml >v.yaml
		rm -rf r
		run "$copypath" run v.yaml -o r
		[ "$status" -eq 1 ]
		grep -q "\"failed\":\"program: ${case##*|}" r/records.jsonl
	done
}

@test "copypath's own program is found beside the command, without PATH" {
	[ -x "${copypath%/*}/copypath-sqlite" ]
	PATH=/usr/bin:/bin run "$copypath" run "${BATS_TEST_DIRNAME}/../../configs/workloads/sqlite.yaml" --dry-run
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "a row that is scanned has the same bytes in all arms: the check behind the window is not among them" {
	workload 'name: bio, queue_mode: bio, path: cpu, copy: memcpy' \
		'name: dma, queue_mode: mq, path: dma, dma: sw' \
		'name: page, queue_mode: page, path: cpu, copy: memcpy'
	sed -i 's/\[read, write\]/[read]/' w.yaml
	"$copypath" run w.yaml -o r
	jq -s -e 'map(.metrics.bw_bytes_per_s / .metrics.app_ops_per_s) | length == 3
		and all(. > 190 and . < 245)' r/records.jsonl
}
