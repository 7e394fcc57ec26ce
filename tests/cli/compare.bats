#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The verb `compare`: rows, order, filters and exit codes.

load gate_fixture

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	make_run a 10 1
	make_run b 10 2 0.9
}

@test "the worst row comes first, with ratio, interval and provenance" {
	run copypath compare a b
	[ "$status" -eq 0 ]
	row="$(grep -A1 '^cell ' <<<"$output" | tail -n 1)"
	[[ "$row" == "read bs=64k numjobs=1 iodepth=16 cpu/nt"*" bw "*"0.9"*"pairs"*"native/native/none" ]]
}

@test "--sort cell, --metric and --filter choose rows" {
	run copypath compare --sort cell --metric p50,iops --filter bs=64k a b
	[ "$status" -eq 0 ]
	[ "$(grep -c '^read ' <<<"$output")" -eq 2 ]
	run copypath compare --filter rw=write a b
	[ "$status" -eq 0 ]
	[[ "$output" == *"no cell is in both runs and passes the filters"* ]]
}

@test "unequal counts say that their intervals are from medians" {
	make_run b 12 2
	run copypath compare a b
	[ "$status" -eq 0 ]
	[[ "$output" == *"are from medians"* ]]
}

@test "another machine is warned of on stderr and said in the output" {
	make_run b 10 2 1 g
	copypath compare a b >out 2>err
	grep -q 'measured on different machines' err
	grep -q 'fingerprint differs' out
	copypath compare --json a b 2>/dev/null | grep -q '"fingerprint": "differs"'
}

@test "--json is one document of rows" {
	copypath compare --json a b >out.json
	for key in cell metric a b ratio low high interval provenance_a provenance_b; do
		grep -q "\"$key\":" out.json
	done
}

@test "a torn last line is a warning, a bad one is exit 4" {
	truncate -s -40 b/records.jsonl
	run copypath compare a b
	[ "$status" -eq 0 ]
	[[ "$output" == *"torn last line dropped"* ]]
	sed -i '2s/.*/junk/' b/records.jsonl
	run copypath compare a b
	[ "$status" -eq 4 ]
}

@test "what cannot be meant is a usage error, exit 2" {
	for args in "" "a" "a missing" "--sort size a b" "--metric lat a b" \
		"--filter bz=4k a b" "--filter bs=x a b" "--filter" "--jso a b x"; do
		# shellcheck disable=SC2086 # the words of a command line
		run copypath compare $args
		[ "$status" -eq 2 ] || {
			echo "compare $args: exit $status"
			return 1
		}
	done
}
