#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Cache attributes: emulated ones carry the bytes and their label, and what cannot be had
# is refused.

# bats file_tags=serial
bats_require_minimum_version 1.5.0

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	build=${COPYPATH_BUILD:-build}
	[[ $build = /* ]] || build=$root/$build
	copypath=$build/copypath
	cd "$BATS_TEST_TMPDIR" || return 1
}

need_emulation() {
	for flag in clflushopt clwb sse4_1; do
		grep -qw "$flag" /proc/cpuinfo || skip "this CPU lacks $flag"
	done
}

# engine MODE OPTION...: one fio job with JSON in out.json and its figures in side
engine() {
	local mode=$1
	shift
	rm -f side
	fio --output-format=json --output=out.json "--ioengine=external:$build/copypath-$mode.so" \
		--name=t --thread=1 --sidecar=side "$@"
}

# workload TARGET ARM: a small workload file
workload() {
	cat >w.yaml <<-END
		schema: 1
		kind: workload
		name: w
		target: {media: anon, size: 8m, $1}
		workload: {rw: randwrite, bs: 4k}
		arms: [{name: a, $2}]
		run: {runtime: 50ms, ramp_time: 0s, samples: 1}
	END
}

@test "crc32c verify passes with every attribute and emulated copy, in bio and mq" {
	need_emulation
	truncate -s 4m far
	for attr in uc wc wt; do
		for copy in memcpy nt ntload nt-both; do
			for where in --media=anon "--media=file --filename=far"; do
				# shellcheck disable=SC2086
				engine sync --rw=randwrite --size=4m --bs=4k --verify=crc32c \
					--verify_fatal=1 "--attr=$attr" "--copy=$copy" $where
				[ "$(jq '.jobs[0].error' out.json)" -eq 0 ]
				[ "$(jq -r '.provenance.attr' side)" = emulated ]
			done
			engine async --rw=randwrite --size=4m --bs=64k --iodepth=8 --path=cpu \
				--verify=crc32c --verify_fatal=1 "--attr=$attr" "--copy=$copy"
			[ "$(jq '.jobs[0].error' out.json)" -eq 0 ]
			[ "$(jq '.proof.bytes_dma' side)" -eq 0 ]
		done
	done
}

@test "nt-both under wb passes verify and is native" {
	grep -qw sse4_1 /proc/cpuinfo || skip "this CPU lacks sse4_1"
	engine sync --rw=randwrite --size=4m --bs=4k --verify=crc32c --verify_fatal=1 \
		--copy=nt-both
	[ "$(jq '.jobs[0].error' out.json)" -eq 0 ]
	[ "$(jq -r '.provenance.attr' side)" = native ]
}

@test "a run's records hold the attribute, its provenance and what emulated it" {
	need_emulation
	workload 'attr: [wb, uc]' 'queue_mode: bio, path: cpu, copy: memcpy'
	run -0 "$copypath" run w.yaml -o run
	[ "$(jq -r 'select(.context.attr == "uc") | .provenance.attr' run/records.jsonl)" = emulated ]
	[ "$(jq -r 'select(.context.attr == "wb") | .provenance.attr' run/records.jsonl)" = native ]
	[[ "$(jq -r 'select(.context.attr == "uc") | .proof.copy' run/records.jsonl)" == uc-memcpy-* ]]
	# the target's promise is kept over a resume
	[ "$(jq '.config.target.attr_native' run/manifest.json)" = false ]
}

@test "attr_native refuses an emulated attribute before any I/O and names what would do" {
	run engine sync --rw=write --size=4m --attr=uc --copy=memcpy --attr_native=1
	[ "$status" -ne 0 ]
	[[ $output = *"attr 'uc' is emulated"*"expected attr wb"*"memattr (all)"* ]]
	[ ! -e side ]
	run engine sync --rw=write --size=4m --attr=wb --copy=memcpy --attr_native=2
	[ "$status" -ne 0 ]
	[[ $output = *"attr_native '2'; expected 0 or 1"* ]]
	engine sync --rw=write --size=4m --attr=wb --copy=memcpy --attr_native=1
}

@test "attr_native in a workload is handed to the engine" {
	workload 'attr_native: true' 'queue_mode: bio, path: cpu, copy: memcpy'
	run -0 "$copypath" run w.yaml -o run
	grep -qx attr_native=1 run/jobs/*
	[ "$(jq '.config.target.attr_native' run/manifest.json)" = true ]
}

@test "copies without an emulation and DMA are refused with their place, before anything runs" {
	need_emulation
	workload 'attr: uc' 'queue_mode: bio, path: cpu, copy: [memcpy, auto]'
	run -2 "$copypath" run w.yaml -o run
	[[ $output = *"w.yaml:6:"*"'copy' of arm 'a/auto'"*"expected 'memcpy', 'nt', 'ntload' or 'nt-both'"* ]]
	workload 'attr: [wb, wt]' 'queue_mode: mq, path: dma, dma: sw'
	run -2 "$copypath" run w.yaml -o run
	[[ $output = *"w.yaml:6:"*"'dma' of arm 'a' is 'sw'"*"expected dma none, or only: {attr: wb}"* ]]
	[ ! -e run ]
}

@test "probe says of each attribute whether it is native or emulated, and why" {
	run -0 "$copypath" probe
	grep -qE '^attr +wb +usable, native$' <<<"$output"
	for attr in uc wc wt; do
		grep -qE "^attr +$attr +(usable, emulated: .+|no: .+ CPU flag .+)$" <<<"$output"
	done
}

@test "the cache-attributes workload has every row of the published table" {
	need_emulation
	run -0 "$copypath" run "$root/configs/workloads/cache-attributes.yaml" --dry-run
	[[ $output = *"24 cells"* ]]
}

@test "a policy of an attribute is emitted with it, runs as emitted, and says where it is no use" {
	need_emulation
	cat >p.yaml <<-'END'
		schema: 1
		kind: policy
		name: ofuc
		rules:
		  - when: {rw: write, attr: uc}
		    sizes: [{upto: max, do: {name: n, path: cpu, copy: nt}}]
		default: {queue_mode: bio, path: cpu, copy: auto}
	END
	run -0 --separate-stderr "$copypath" emit p.yaml --for fio
	[[ $'\n'$output$'\n' = *$'\nattr=uc\n'* ]]
	printf '%s\n' "$output" '[j]' rw=write bs=4k size=4m media=anon >job.fio
	run -0 --separate-stderr fio --output=out job.fio
	[ -z "$stderr" ]
	sed -i 's/^attr=uc/attr=wb/' job.fio
	run -0 --separate-stderr fio --output=out job.fio
	[[ $stderr = *"policy 'ofuc' has no rule for attr wb, misalign_near 0, misalign_far 0: its default serves every I/O"* ]]
	sed -i '/policy=/s/^/persist=auto\n/' job.fio
	run -0 --separate-stderr fio --output=out job.fio
	[[ $stderr = *"policy 'ofuc' is of writes with persist none, these have auto"* ]]
	workload 'attr: [uc, wb]' 'path: auto, policy: p.yaml'
	run -0 --separate-stderr "$copypath" run w.yaml -o r
	[[ $stderr = *"policy 'ofuc' has no rule for attr wb"* ]]
	[[ "$(jq -r 'select(.context.attr == "uc") | .proof.copy' r/records.jsonl)" == uc-nt-both-* ]]
}
