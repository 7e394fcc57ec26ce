# SPDX-License-Identifier: GPL-2.0-only
#
# copypath run: runs that were interrupted, and going on with them.

# shellcheck disable=SC2154 # stderr is set by run --separate-stderr
bats_require_minimum_version 1.5.0

load run.bash

@test "a directory that holds something is refused and --resume is named" {
	mkdir r && touch r/precious
	run "$copypath" run w.yaml -o r
	[ "$status" -eq 2 ]
	[[ $output = *"--resume 'r'"* ]]
	[ "$(ls r)" = precious ]
}

# Start a run of many samples, end it with signal $1 when the first is stored.
interrupted_run() {
	workload 'target: {media: anon, size: 16m}' 'workload: {rw: [read, write], bs: 64k}' 2
	"$copypath" run w.yaml -o r 2>err 3>&- &
	local pid=$! code=0
	until [ -s r/records.jsonl ]; do
		kill -0 "$pid"
	done
	kill -s "$1" "$pid"
	wait "$pid" || code=$?
	echo "$code"
}

@test "an interrupted run exits 130, keeps its records and is resumed without duplicates" {
	[ "$(interrupted_run INT)" -eq 130 ]
	grep -q "copypath run --resume r" err
	local kept
	kept=$(records r)
	[ "$kept" -ge 1 ]
	[ "$kept" -lt 8 ]
	grep -q '"complete": *false' r/manifest.json
	head -n "$kept" r/records.jsonl >before
	run "$copypath" run --resume r
	[ "$status" -eq 0 ]
	[ "$(records r)" -eq 8 ]
	head -n "$kept" r/records.jsonl | cmp - before
	grep -q '"complete": *true' r/manifest.json
	[ "$(grep -o '"sample":[0-9]*\|"rw":"[a-z]*"\|"name":"[a-z]*"' r/records.jsonl |
		paste - - - | sort -u | wc -l)" -eq 8 ]
}

@test "SIGTERM is as good as Ctrl-C" {
	[ "$(interrupted_run TERM)" -eq 130 ]
}

@test "a run that another process writes is refused" {
	"$copypath" run w.yaml -q -o r --filter arm=cpu --filter rw=read
	exec 9<r
	flock 9
	run "$copypath" run --resume r
	[ "$status" -eq 4 ]
	[[ $output = *"being written by another copypath"* ]]
}

@test "resume of what is no run, or was made with another fio, is refused" {
	mkdir empty
	run "$copypath" run --resume empty
	[ "$status" -eq 2 ]
	[[ $output = *"no manifest.json"* ]]
	"$copypath" run w.yaml -q -o r --filter arm=cpu --filter rw=read
	sed -i 's/"fio": *"fio-[0-9.]*"/"fio":"fio-3.1"/' r/manifest.json
	run "$copypath" run --resume r
	[ "$status" -eq 4 ]
	[[ $output = *"cannot go on: fio was 'fio-3.1' and is 'fio-"* ]]
}

@test "resume without the file of the run is refused before a sample is taken" {
	workload 'target: {media: file, filename: far, size: 16m}' 'workload: {rw: read, bs: 64k}'
	"$copypath" run w.yaml -q -o r
	sed -i '$d' r/records.jsonl
	sed -i 's/"complete": *true/"complete": false/' r/manifest.json
	mv far elsewhere
	run "$copypath" run --resume r
	[ "$status" -eq 4 ]
	[[ $output = *"cannot go on: the target '$PWD/far' is gone"* ]]
	[ "$(records r)" -eq 1 ]
	truncate -s 8m far
	run "$copypath" run --resume r
	[ "$status" -eq 2 ]
	[ "$(records r)" -eq 1 ]
	mv elsewhere far
	run "$copypath" run --resume r
	[ "$status" -eq 0 ]
	[ "$(records r)" -eq 2 ]
}
