#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The verb `gate`: options, outputs and exit codes.
# `copypath` is the function of the fixture, which `run` calls.

load gate_fixture

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	make_run a 30 1
}

@test "the same again is OK, exit 0, and says what it cannot exclude" {
	make_run b 30 2
	run copypath gate a b
	[ "$status" -eq 0 ]
	[[ "$output" == *"gate: OK (exit 0)"* ]]
	[[ "$output" == *"not calibrated"* ]]
	[[ "$output" == *"drift of the machine"* ]]
	[[ "$output" == *"mde       margin + (z(1 - 0.01/k)"* ]]
}

@test "ten percent less bandwidth is REGRESSED, exit 1" {
	make_run b 30 2 0.9
	run copypath gate a b
	[ "$status" -eq 1 ]
	[[ "${lines[0]}" == "gate: REGRESSED (exit 1)" ]]
	[[ "$output" == *"REGRESSED     read bs=64k numjobs=1 iodepth=16 cpu/nt  bw "* ]]
}

@test "ten percent more bandwidth is IMPROVED, exit 0" {
	make_run b 30 2 1.1
	run copypath gate a b
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" == "gate: IMPROVED (exit 0)" ]]
}

@test "five pairs are INCONCLUSIVE, exit 3, and 30 are asked for" {
	make_run a 5 1
	make_run b 5 2 0.5
	run copypath gate a b
	[ "$status" -eq 3 ]
	[[ "$output" == *"5 pairs can never reach significance; a verdict needs 30"* ]]
	run copypath gate --inconclusive=pass a b
	[ "$status" -eq 0 ]
	run copypath gate --inconclusive=fail a b
	[ "$status" -eq 1 ]
	run copypath gate --inconclusive=maybe a b
	[ "$status" -eq 2 ]
}

@test "an incomplete run is INVALID, exit 4" {
	make_run b 30 2 1 f false
	run copypath gate a b
	[ "$status" -eq 4 ]
	[[ "$output" == *"the run is not complete"* ]]
}

@test "another machine is INVALID, names what differs, and can be overridden by name" {
	make_run b 30 2 1 g
	run copypath gate a b
	[ "$status" -eq 4 ]
	[[ "$output" == *"the machines differ: kernel 'f' -> 'g'"* ]]
	run copypath gate --ignore-fingerprint a b
	[ "$status" -eq 0 ]
	[[ "$output" == *"overridden by --ignore-fingerprint"* ]]
}

@test "bare files on both sides do, with a note; a manifest on one side is INVALID" {
	mkdir x y
	make_records x 30 3 >x/x.jsonl
	make_records y 30 4 >y/y.jsonl
	run copypath gate x/x.jsonl y/y.jsonl
	[ "$status" -eq 0 ]
	[[ "$output" == *"neither side has a manifest"* ]]
	run copypath gate a y/y.jsonl
	[ "$status" -eq 4 ]
}

@test "a torn last line is INVALID, exit 4" {
	make_run b 30 2
	truncate -s -40 b/records.jsonl
	run copypath gate a b
	[ "$status" -eq 4 ]
	[[ "$output" == *"torn last line"* ]]
}

@test "--json is one document with verdict, exit and metrics" {
	make_run b 30 2 0.9
	copypath gate --json a b >out.json || true
	grep -q '"verdict": "REGRESSED"' out.json
	grep -q '"exit": 1' out.json
	for key in cell metric hl margin p pairs mde; do
		grep -q "\"$key\":" out.json
	done
	[ "$(head -c 1 out.json)" = "{" ]
	[ "$(tail -n 1 out.json)" = "}" ]
}

@test "with --json the annotations go to stderr" {
	make_run b 30 2 0.9
	copypath gate --json --github a b >out.json 2>err || true
	[ "$(grep -c '^::' out.json)" -eq 0 ]
	grep -q '^::error title=copypath gate REGRESSED::' err
}

@test "JUnit and Markdown are written beside the text" {
	make_run b 30 2 0.9
	run copypath gate --junit j.xml --markdown m.md a b
	[ "$status" -eq 1 ]
	grep -q '<failure message="bw -' j.xml
	grep -q 'failures="1" errors="0" skipped="0"' j.xml
	grep -q '^## copypath gate: REGRESSED' m.md
}

@test "a JUnit file that cannot be written loses nothing on stdout, exit 4" {
	make_run b 30 2 0.9
	copypath gate --junit missing/j.xml a b >out 2>err && status=0 || status=$?
	[ "$status" -eq 4 ]
	grep -q 'gate: REGRESSED' out
	grep -q 'missing/j.xml' err
}

@test "a full stdout is exit 4" {
	[ -e /dev/full ] || skip "no /dev/full"
	make_run b 30 2
	copypath gate a b >/dev/full 2>err && status=0 || status=$?
	[ "$status" -eq 4 ]
}

@test "rules change margins; bad rules are refused with their place, exit 2" {
	make_run b 30 2 0.9
	printf 'schema: 1\nkind: gate\nname: lax\nmargins: {bw: 20%%}\n' >lax.yaml
	run copypath gate --rules lax.yaml a b
	[ "$status" -eq 0 ]
	[[ "$output" == *"lax: bw 20%"* ]]
	printf 'schema: 1\nkind: gate\nmargins: {bv: 2%%}\n' >bad.yaml
	run copypath gate --rules bad.yaml a b
	[ "$status" -eq 2 ]
	[[ "$output" == *"bad.yaml:3:11: error: "*"'bw'"* ]]
}

@test "the committed default rules are the built-in ones" {
	make_run b 30 2
	copypath gate a b >built-in
	copypath gate --rules "$BATS_TEST_DIRNAME/../../configs/gates/default.yaml" a b >file
	cmp built-in file
}

@test "what cannot be meant is a usage error, exit 2" {
	for args in "" "a" "a a a" "--junk a a" "--rules" "a missing" "--live a a"; do
		# shellcheck disable=SC2086 # the words of a command line
		run copypath gate $args
		[ "$status" -eq 2 ] || {
			echo "gate $args: exit $status"
			return 1
		}
	done
	run copypath gate --live a a
	[[ "$output" == *"not available in this version"* ]]
	run copypath gate --jnit x a a
	[[ "$output" == *"'--junit'"* || "$output" == *"expected --junit"* ]]
}

@test "--help is short and on stdout" {
	run copypath gate --help
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -lt 25 ]
}
