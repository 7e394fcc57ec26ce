#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Durable writes under fio and in a workload: bytes, the proof, what is refused.

bats_require_minimum_version 1.5.0

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	build=${COPYPATH_BUILD:-build}
	[[ $build = /* ]] || build=$root/$build
	copypath=$build/copypath
	cd "$BATS_TEST_TMPDIR" || return 1
	best=$(for flag in clwb clflushopt clflush; do
		grep -qw "$flag" /proc/cpuinfo && echo "$flag"; done | head -n 1)
	[ -n "$best" ] || skip "no flush instruction of this CPU is known"
}

# engine sync|async OPTION...: one job of 4m in out.json, its figures in side
engine() {
	local plugin=$build/copypath-$1.so
	shift
	rm -f side
	fio --output-format=json --output=out.json --name=t --thread=1 --size=4m \
		"--ioengine=external:$plugin" --sidecar=side "$@"
}

# w.yaml with a target and arms
workload() {
	printf '%s\n' 'schema: 1' 'kind: workload' 'name: w' "target: {$1, size: 4m}" \
		'workload: {rw: [read, write], bs: 16k}' "arms: [$2]" \
		'run: {runtime: 20ms, samples: 1}' >w.yaml
}

@test "crc32c verify passes with every flush, fence and path, and nothing fails" {
	for flush in none clwb clflushopt clflush; do
		[ "$flush" = none ] || grep -qw "$flush" /proc/cpuinfo || continue
		for way in "sync --copy=memcpy" "sync --copy=nt --bs=1000" \
			"async --path=cpu --copy=nt --iodepth=8 --fence=mfence" \
			"async --path=dma --dma=sw --iodepth=8"; do
			named=${flush/none/$best}
			# whole lines past the caches: nothing is left to flush
			[[ $way != *"copy=nt --iodepth"* ]] || named=
			# shellcheck disable=SC2086 # options
			engine $way --rw=randwrite --verify=crc32c --verify_fatal=1 \
				--persist=auto "--flush=$flush"
			[ "$(jq '.jobs[0].error' out.json)" -eq 0 ]
			[ "$(jq '.proof.errors' side)" -eq 0 ]
			[ "$(jq -r '.proof.flush' side)" = "$named" ]
			[ "$(jq '.proof.persistent' side)" = false ]
		done
	done
}

@test "without them the proof names nothing, and of reads neither" {
	engine sync --rw=write --copy=memcpy
	[ "$(jq -c '.proof | [.flush, .fence, .persistent]' side)" = '["","",null]' ]
	engine sync --rw=read --copy=memcpy --persist=require
	[ "$(jq -c '.proof | [.flush, .fence, .persistent]' side)" = '["","",null]' ]
	engine async --rw=write --path=dma --dma=null --persist=auto
	[ "$(jq -c '.proof | [.flush, .fence, .persistent]' side)" = '["","",false]' ]
}

@test "require refuses memory and a file that are not persistent, and touches neither" {
	truncate -s 4m far
	run engine sync --rw=write --persist=require
	[ "$status" -ne 0 ]
	[[ $output = *"'persist' is require and media 'anon' is not persistent memory; expected"* ]]
	run engine sync --rw=write --persist=require --media=file --filename=far
	[ "$status" -ne 0 ]
	[[ $output = *"/far' is not persistent memory; expected a file on a DAX file system"* ||
		$output = *"'far' is not persistent memory; expected a file on a DAX file system"* ]]
	[ ! -e side ]
	[ "$(stat -c %b far)" -eq 0 ]
}

@test "a workload sweeps persist, and hands flush, fence and persist to the engine" {
	workload 'media: anon' '{name: a, copy: memcpy, flush: clflush, persist: [none, auto]}'
	run -0 "$copypath" run w.yaml -o run -q
	grep -qx persist=auto run/jobs/*
	grep -qx flush=clflush run/jobs/*
	grep -qx fence=auto run/jobs/*
	jq -es 'map(select(.arm.name == "a/auto" and .context.rw == "write").proof) |
		length == 1 and .[0].flush == "clflush" and .[0].persistent == false' \
		run/records.jsonl
	jq -es 'map(select(.context.rw == "read").proof.flush) == ["", ""]' run/records.jsonl
	run -0 --separate-stderr "$copypath" export run --format csv
	[[ ${lines[0]} = *,flush,fence,persist,*,proof_flush,proof_fence,proof_persistent,*,failed,notes ]]
	run -0 "$copypath" run w.yaml --filter persist=auto --dry-run
	[[ $output = *"2 cells"* ]]
}

@test "a file target that is not persistent is refused before anything runs, and none is left" {
	workload 'media: file, filename: far, allow_overwrite: true' \
		'{name: a, copy: memcpy, persist: require}'
	truncate -s 4m far
	run -2 "$copypath" run w.yaml -o run
	[[ $output = *"'persist' is require and "*"far' is not persistent memory; expected"* ]]
	[ "$(stat -c %b far)" -eq 0 ]
	rm far
	# not there yet: what would be made is asked about, and nothing is made
	for how in --dry-run "-o run"; do
		# shellcheck disable=SC2086 # two words
		run -2 "$copypath" run w.yaml $how
		[[ $output = *"w.yaml:4:"*"far', made in '$PWD', would not be persistent memory; expected"* ]]
		[[ $output != *"last-level cache"* ]]
		[ ! -e far ]
		[ ! -e run ]
	done
}

# records PERSIST...: memcpy writes at two sizes, an arm for each word, three samples each
records() {
	local persist bs n
	for persist; do
		for bs in 4096 65536; do
			for n in 0 1 2; do
				printf '{"schema":1,"run":"r","sample":%d,"t":"t","host":"h",' "$n"
				printf '"context":{"rw":"write","bs":%d,"numjobs":1,"iodepth":1,"media":"anon"},' "$bs"
				printf '"arm":{"name":"a/%s","queue_mode":"bio","path":"cpu","copy":"memcpy","persist":"%s"},' "$persist" "$persist"
				printf '"provenance":{"media":"native","attr":"native","dma":"none"},'
				printf '"metrics":{"bytes":%d,"elapsed_ns":%d,"cpu_ns":%d}}\n' "$((bs * 1000))" "$((bs * (100 + n)))" "$((bs * 100))"
			done
		done
	done
}

@test "learn refuses a mixture of promises unless it is filtered, and the policy keeps it" {
	records none auto >r.jsonl
	run -4 "$copypath" learn r.jsonl -o p.yaml
	[[ $output = *"writes with persist 'none' (arm 'a/none') and 'auto' (arm 'a/auto') are no rivals"*"--filter persist=auto"* ]]
	run "$copypath" learn r.jsonl -o p.yaml --filter persist=auto
	[[ $output = *"6 left out by --filter"* ]]
	grep -q '^device: .*, persist: auto' p.yaml
	run -0 "$copypath" explain p.yaml
	[[ $output = *"behind each write: persist auto"* ]]
	run -0 "$copypath" explain p.yaml --at rw=write,bs=4k --json
	[ "$(jq -r '.arm.persist' <<<"$output")" = auto ]
	run -0 "$copypath" emit p.yaml --for fio
	grep -qx persist=auto <<<"$output"
	run -0 "$copypath" emit p.yaml --for modprobe
	grep -q '^# not expressed.*persist=auto' <<<"$output"
	records none >r.jsonl
	run "$copypath" learn r.jsonl -o p.yaml
	run ! grep -q persist p.yaml
	run -2 "$copypath" learn r.jsonl --filter persist=always
	[[ $output = *"unknown persist 'always'; expected none, auto or require"* ]]
}

@test "tune refuses a mixture of promises before anything runs" {
	workload 'media: anon' '{name: a, copy: memcpy, persist: [none, auto]}'
	run -2 "$copypath" tune w.yaml -o run
	[[ $output = *"writes with persist 'none' (arm 'a/none') and 'auto' (arm 'a/auto') are no rivals"* ]]
	[ ! -e run ]
	run -0 "$copypath" tune w.yaml --filter persist=auto --dry-run
	[[ $output = *"2 cells"* ]]
}

@test "the persist workload is small and has each copy with and without" {
	run -0 "$copypath" run "$root/configs/workloads/persist.yaml" --dry-run
	[[ $output = *"12 cells x 3 samples"*"about 0 min"* ]]
	grep -q '^nt/auto ' <<<"$output"
}

@test "persist under an emulated attribute is refused with its place" {
	for flag in clflushopt clwb sse4_1; do
		grep -qw "$flag" /proc/cpuinfo || skip "emulation needs $flag"
	done
	workload 'media: anon, attr: uc' '{name: a, copy: memcpy, persist: auto}'
	run -2 "$copypath" run w.yaml -o run
	[[ $output = *"w.yaml:6:"*"'persist' is auto and attr is uc"*"expected flush none"* ]]
	[ ! -e run ]
}
