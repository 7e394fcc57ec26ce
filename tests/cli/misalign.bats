#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Buffers and devices away from a page border: under fio, and as an axis of a workload.

bats_require_minimum_version 1.5.0

load engine

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	copypath=$BUILD/copypath
	side=$BATS_TEST_TMPDIR/side
	json=$BATS_TEST_TMPDIR/out.json
}

# refused TEXT OPTION...: bio, a refusal with that text
refused() {
	local text=$1
	shift
	run ! engine "$SYNC" --size=1m --bs=4k "$@"
	[[ "$output" == *"$text"* ]] || {
		echo "$output"
		return 1
	}
}

workload() {
	cat >w.yaml <<-YAML
		schema: 1
		kind: workload
		name: mis
		target: {$1}
		workload: {$2}
		arms: [{name: cpu, copy: [memcpy, nt]}]
		run: {runtime: 10ms, samples: 1}
	YAML
}

# verify_jobs PLUGIN JOB...: a job is its options, all in one fio process after each other
verify_jobs() {
	local plugin=$1 job offsets
	shift
	rm -f "$side"
	printf '%s
' '[global]' "ioengine=external:$plugin" thread=1 rw=randwrite size=1m 		verify=crc32c verify_fatal=1 "sidecar=$side" stonewall >jobs.fio
	for job in "$@"; do
		for offsets in "8 0" "0 16" "32 8"; do
			printf '%s
' "[near $offsets far $job]" "misalign_near=${offsets% *}" 				"misalign_far=${offsets#* }" >>jobs.fio
			tr ' ' '
' <<<"$job" >>jobs.fio
		done
	done
	fio --output-format=json "--output=$json" jobs.fio
	[ "$(jq '.jobs | length' "$json")" -eq $(($# * 3)) ]
	[ "$(jq '[.jobs[].error] | add' "$json")" -eq 0 ]
	[ "$(jq -s 'length' "$side")" -eq $(($# * 3)) ]
	[ "$(jq -s -c 'map([.proof.errors, .proof.verify]) | unique' "$side")" = '[[0,"crc32c"]]' ]
}

@test "crc32c verify passes with buffers, device or both misaligned, in both plug-ins" {
	head -c 1048608 /dev/zero >far
	verify_jobs "$SYNC" "copy=memcpy bs=4k media=file filename=far" "copy=nt bs=64k"
	verify_jobs "$ASYNC" "path=cpu copy=nt bs=16k iodepth=16" 		"path=dma dma=sw bs=64k iodepth=4" "path=dma dma=sw bs=512 iodepth=4"
}

@test "jobs that differ in their misalignment do not share a device" {
	engine "$SYNC" --rw=write --bs=4k --size=64k --misalign_far=8 --numjobs=2
	[ "$(jq -s 'map(.media_bytes) | unique' -c "$side")" = "[65536]" ]
	rm "$side"
	fio --output-format=json "--output=$json" "--ioengine=external:$SYNC" --thread=1 \
		--rw=write --bs=4k --size=64k --name=a --misalign_far=8 --size=128k \
		"--ioengine=external:$SYNC" "--sidecar=$side" --name=b "--ioengine=external:$SYNC" \
		"--sidecar=$side"
	[ "$(jq -s 'map(.media_bytes) | sort' -c "$side")" = "[65536,131072]" ]
}

@test "what cannot be had is refused by fio's job too, with what would work" {
	refused "misalign_near '4096' is out of range; expected a whole number of 0 to 4095" \
		--rw=read --misalign_near=4096
	refused "misalign_far 'x' is unreadable" --rw=read --misalign_far=x
	refused "expected a multiple of 64, or misalign_near=8" --rw=read --iomem_align=8
	refused "expected one of them" --rw=read --iomem_align=64 --misalign_near=8
	run ! engine "$ASYNC" --size=1m --bs=1000 --iodepth=2 --rw=read --misalign_near=8
	[[ "$output" == *"expected a bs that is a multiple of 64, or iodepth=1"* ]]
	engine "$ASYNC" --size=1m --bs=1000 --iodepth=1 --rw=read --misalign_near=8
	engine "$SYNC" --size=1m --bs=4k --rw=read --iomem_align=4096 --misalign_near=8
}

@test "a file holds the device behind misalign_far, to the byte, and nothing else changes" {
	head -c 8200 /dev/urandom >far
	cp far before
	engine "$SYNC" --rw=write --bs=4k --size=8k --media=file --filename=far --misalign_far=8
	[ "$(stat -c %s far)" -eq 8200 ]
	cmp -n 8 before far
	run ! cmp -n 8192 -i 8 before far
	# without size= it is all that is behind misalign_far
	engine "$SYNC" --rw=read --bs=4k --media=file --filename=far --misalign_far=8
	[ "$(jq '.jobs[0].read.io_bytes' "$json")" -eq 8192 ]
	truncate -s 8199 far
	refused "with misalign_far 8: 'far' has 8199 but '8200' is asked" \
		--rw=write --size=8k --media=file --filename=far --misalign_far=8
	truncate -s 8 far
	refused "expected a file that is longer by it" --rw=write --media=file --filename=far \
		--misalign_far=8
}

@test "a workload sweeps both, and records, filter and export have them" {
	workload "media: anon, size: 1m" \
		"rw: randread, bs: 4k, misalign_near: [0, 8], misalign_far: [0, 16]"
	sed -i 's/\[memcpy, nt\]/memcpy/' w.yaml
	"$copypath" run w.yaml -o run 2>log
	[ "$(wc -l <run/records.jsonl)" -eq 4 ]
	[ "$(jq -s -c 'map(.context | [.misalign_near, .misalign_far]) | sort' run/records.jsonl)" = \
		"[[0,0],[0,16],[8,0],[8,16]]" ]
	[ "$(grep -l '^misalign_near=8$' run/jobs/* | wc -l)" -eq 2 ]
	[ "$(grep -L '^misalign_' run/jobs/* | wc -l)" -eq 1 ]
	"$copypath" run w.yaml --filter misalign_far=16 --filter misalign_near=8 -o one 2>log
	[ "$(jq -c '.context | [.misalign_near, .misalign_far]' one/records.jsonl)" = "[8,16]" ]
	"$copypath" export run | head -1 | grep -q ',corunner,misalign_near,misalign_far,'
}

@test "runs and records of before, without these fields, are resumed and compared as aligned" {
	workload "media: anon, size: 1m" "rw: randwrite, bs: 4k"
	"$copypath" run w.yaml -o run 2>log
	cp -r run old
	sed -i 's/,"misalign_near":0,"misalign_far":0//; s/,"fence":"auto","persist":"none"//' old/records.jsonl
	run ! grep -Eq 'misalign|"arm".*"(fence|persist)".*"provenance"' old/records.jsonl
	jq '.complete = false' run/manifest.json >old/manifest.json
	run ! grep -Eq 'misalign|fence|persist' old/manifest.json
	head -1 old/records.jsonl >first && mv first old/records.jsonl
	"$copypath" run --resume old 2>log
	[ "$(wc -l <old/records.jsonl)" -eq 2 ]
	"$copypath" compare old run >out
	[ "$(grep -c '4k' out)" -ge 2 ]
}

@test "a target's file is made as long as the widest misalign_far asks, or must be" {
	workload "media: file, size: 64k, filename: t" \
		"rw: write, bs: 4k, misalign_far: [0, 16, 32]"
	"$copypath" run w.yaml -o run 2>log
	[ "$(stat -c %s t)" -eq $((65536 + 32)) ]
	truncate -s $((65536 + 31)) t
	sed -i 's/filename: t/filename: t, allow_overwrite: true/' w.yaml
	run -2 "$copypath" run w.yaml -o run2
	[[ "$output" == *"'$PWD/t' has 65567 bytes, fewer than the target's size, 64k and the misalign_far before it, 32; expected"* ]]
	[ ! -e run2 ]
	# what is filtered out asks for nothing
	"$copypath" run w.yaml --filter misalign_far=16 -o run3 2>log
}

@test "the misalign workload is planned, and its report has the table and lines of their own" {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	run -0 "$copypath" run "$root/configs/workloads/misalign.yaml" --dry-run
	[[ "$output" == *"128 cells x 3 samples"* ]]
	workload "media: anon, size: 1m" \
		"rw: randread, bs: 4k, misalign_near: [0, 8], misalign_far: [0, 16]"
	sed -i 's/, nt\]/]/; s/randread/randwrite/' w.yaml
	"$copypath" run w.yaml -o run 2>log
	"$copypath" report run -o report >out 2>log
	head -1 report/tables/misalign.csv | grep -qx \
		'rw,bs,jobs,iodepth,arm,media,attr,N,aligned MB/s,far,near 0,near 8'
	[ "$(wc -l <report/tables/misalign.csv)" -eq 3 ]
	[ "$(wc -l <report/tables/misalign-cpu.csv)" -eq 3 ]
	grep -q '<h2>Misaligned buffers</h2>' report/index.html
	grep -q '^## Misaligned buffers' report/report.md
	[ ! -e report/figures/cpu-2.gp ]
	! command -v gnuplot || [ -s report/figures/cpu-1.svg ]
	# nothing of it where nothing is misaligned
	grep '"misalign_near":0,"misalign_far":0' run/records.jsonl >aligned.jsonl
	"$copypath" report aligned.jsonl -o plain >out 2>log
	run ! grep -q Misaligned plain/index.html
	# learned apart: a rule for each
	run "$copypath" learn run -o policy.yaml
	[[ "$status" -eq 0 || "$status" -eq 3 ]]
	[ "$(grep -c 'misalign_near: 8, misalign_far: 16' policy.yaml)" -ge 1 ]
}
