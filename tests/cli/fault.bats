#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Under fio: a file that is cut short while jobs run on it. A job of its own does it, once
# the mappings of the others are whole, so nothing here waits for a while and hopes.
# Then the engine that fails on purpose, whose log says which I/Os fio must have seen fail.

# bats file_tags=serial
bats_require_minimum_version 1.5.0

setup_file() {
	BUILD=$(cd "${COPYPATH_BUILD:-build}" && pwd)
	export BUILD SYNC="$BUILD/copypath-sync.so" ASYNC="$BUILD/copypath-async.so"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	cat >cutter.sh <<-'SCRIPT'
		# cutter.sh PID N: wait until PID has N mappings of far with all 16m present
		until awk -v n="$2" '/ [^ ]*\/far$/ { far = 1 }
			far && /^Rss:/ { whole += $2 == 16384; far = 0 }
			END { exit whole < n }' "/proc/$1/smaps"; do :; done
		truncate -s 8m far
	SCRIPT
	fio=(fio --output-format=json --output=out.json --thread=1 --bs=64k --size=16m
		--norandommap=1 --time_based=1)
	cutter=(--name=cutter --ioengine=null --time_based=0 --rw=read)
}

# cut PLUGIN JOB_OPTION...: `victim` on the file, `other` on memory; JSON in out.json, the
# victim's own figures in side
cut() {
	local plugin=$1
	shift
	rm -f side
	truncate -s 16m far
	# fio hands $PPID to a shell, whose parent it is
	# shellcheck disable=SC2016
	"${fio[@]}" --runtime=1s \
		--name=victim "--ioengine=external:$plugin" --media=file --filename=far \
		--sidecar=side "$@" \
		--name=other "--ioengine=external:$plugin" --media=anon --rw=randread \
		"${cutter[@]}" '--exec_prerun=sh cutter.sh $PPID 1'
}

# fio puts its remarks before the JSON
jobs() {
	sed -n "/^{/,\$p" out.json | jq -e "[.jobs[] | select(.jobname != \"cutter\")] | $1"
}

# what the other job's figures must be, whatever became of the victim
other_is_whole() {
	jobs '.[1] | .error == 0 and (.total_err // 0) == 0 and .read.total_ios > 0 and
		.read.runtime >= 990'
}

@test "a job goes on over a file that was cut, and counts its errors" {
	while read -r plugin rw more; do
		# shellcheck disable=SC2086
		cut "${!plugin}" "--rw=$rw" --continue_on_error=io $more
		jobs '.[0] | .first_error == 5 and .total_err > 0'
		# half of the file is left
		jq -e '.proof.errors > 0 and .bytes > 0 and .bytes % 65536 == 0' side
		other_is_whole
	done <<-END
		SYNC randread --copy=memcpy
		SYNC randwrite --copy=nt
		ASYNC randread --path=cpu --iodepth=8
		ASYNC randwrite --path=dma --dma=sw --iodepth=8
	END
}

@test "a job ends with an I/O error over a file that was cut, and the others go on" {
	for plugin in "$SYNC" "$ASYNC"; do
		run cut "$plugin" --rw=randread
		[ "$status" -eq 1 ]
		jobs '.[0].error == 5'
		jq -e '.proof.errors > 0' side
		other_is_whole
	done
}

@test "both plug-ins in one process keep their faults apart, whichever ends first" {
	for runtimes in "1 2" "2 1"; do
		read -r first second <<<"$runtimes"
		truncate -s 16m far
		rm -f side side2
		# shellcheck disable=SC2016
		"${fio[@]}" --rw=randread --continue_on_error=io \
			--name=a "--ioengine=external:$SYNC" --media=file --filename=far \
			--sidecar=side "--runtime=$first" \
			--name=b "--ioengine=external:$ASYNC" --media=file --filename=far \
			--sidecar=side2 "--runtime=$second" \
			"${cutter[@]}" '--exec_prerun=sh cutter.sh $PPID 2'
		jq -e '.proof.errors > 0' side
		jq -e '.proof.errors > 0' side2
		jobs 'map(.first_error == 5) | all'
	done
}

@test "a run's record of a file that was cut says which I/O failed, where, and counts it" {
	# a fio beside which the file is cut as soon as it is mapped whole
	cat >fio.sh <<-'SCRIPT'
		#!/bin/sh
		[ "$1" = --output-format=json ] && { sh cutter.sh $$ 1 & }
		exec fio "$@"
	SCRIPT
	chmod +x fio.sh
	export COPYPATH_FIO=$PWD/fio.sh
	while read -r rw arm; do
		rm -rf far r
		truncate -s 16m far
		cat >w.yaml <<-END
			schema: 1
			kind: workload
			name: w
			target: {media: file, filename: far, size: 16m, allow_overwrite: true}
			workload: {rw: $rw, bs: 64k}
			arms: [{name: a, $arm}]
			run: {runtime: 1s, ramp_time: 0s, samples: 1}
		END
		run "$BUILD/copypath" run w.yaml -o r
		[ "$status" -eq 1 ]
		[[ $output = *"${rw#rand} of 65536 at byte "*" not copied: the file was cut, to 8388608 bytes"* ]]
		jq -e '.proof.errors > 0 and .provenance.media == "native" and
			.provenance.attr == "native" and .metrics.bytes == null and
			(.failed | test("error 5.*at byte [0-9]+.*file '"'$PWD/far'"'"))' r/records.jsonl
	done <<-END
		randread copy: memcpy
		randwrite copy: nt
		randread queue_mode: mq, path: cpu
		randwrite queue_mode: mq, path: dma, dma: sw
	END
}

# verify_over SPEC OPTION...: write with checksums and read back over fault:SPEC; fio's figures
# in out.json, the engine's own log in log
verify_over() {
	local spec=$1
	shift
	rm -f side log
	truncate -s 4m far
	fio --output-format=json --output=out.json --thread=1 --size=4m --name=victim \
		"--ioengine=external:$ASYNC" --media=file --filename=far --sidecar=side \
		--path=dma "--dma=fault:$spec,error=1%,short=1%,seed=7,log=log" \
		--verify=crc32c --verify_state_save=0 --continue_on_error=all "$@"
}

# failed BS [PIECES]: how many I/Os of BS bytes each, of PIECES transactions each, failed by
# the log. Of a transaction that was cut short those have failed that it had not reached.
failed() {
	awk -v bs="$1" -v pieces="${2:-1}" '/^# end/ { whole++ } /^#/ || $1 == 0 { next }
		pieces == 1 { bad += int(($8 + bs - 1) / bs); next }
		{ spoiled = spoiled || $8; if (++n % pieces == 0) { bad += spoiled; spoiled = 0 } }
		END { if (!whole) exit 1; print bad + 0 }' log
}

@test "verify over an engine that fails 1 %: fio reports exactly the I/Os that its log says" {
	engines=$("$BUILD/copypath" probe --json | jq -r '.dma[] |
		select(.usable and .moves_data and .name != "fault") | .name')
	[[ $engines = *sw* ]]
	# it moves when told to
	"$BUILD/copypath" probe --json | jq -e 'any(.dma[]; .name == "model")' && engines+=" model,data=yes"
	for engine in $engines; do
		while read -r more bs pieces options; do
			# shellcheck disable=SC2086
			verify_over "$engine$more" "--bs=$bs" $options
			lost=$(failed "$(numfmt --from=iec "${bs^^}")" "$pieces")
			[ "$lost" -gt 0 ]
			jobs ".[0] | .total_err == $lost and .first_error == 5"
			# each block is written once, and read where that was well
			jobs ".[0] | .write.total_ios == 4 * 1048576 / $(numfmt --from=iec "${bs^^}")"
			jq -e ".proof.errors == $lost and (.proof.dma | test(\"^fault/${engine%%,*}\"))" side
		done <<-CASES
			,full=1% 4k 1 --rw=randwrite --iodepth=16
			,reorder=4 4k 1 --rw=randwrite --iodepth=32 --completion=irq
			,full=2% 4k 1 --rw=randwrite --iodepth=16 --ring_full=cpu
			,reorder=8 16k 1 --rw=write --iodepth=8 --segment=128
			,full=1% 16k 2 --rw=randwrite --iodepth=8 --segment=64
			,full=1% 4k 1 --rw=write --iodepth=32 --iodepth_batch=16 --max_merge=2m
		CASES
	done
}

@test "verify passes where an engine only refuses, delays and shuffles" {
	for spec in sw,full=5%,reorder=7 sw,threads=2,full=5%,reorder=3; do
		truncate -s 4m far
		"${fio[@]}" --bs=4k --size=4m --rw=randwrite --verify=crc32c --verify_state_save=0 --iodepth=16 \
			--name=v "--ioengine=external:$ASYNC" --media=file --filename=far \
			--path=dma "--dma=fault:$spec" --time_based=0 --norandommap=0
		jobs '.[0] | .error == 0 and .read.total_ios == 1024 and .write.total_ios == 1024'
	done
}

@test "a withheld completion comes as an error in its time, and the job ends" {
	printf '3 never 1ms\n' >script
	for completion in poll irq; do
		truncate -s 16m far
		"${fio[@]}" --rw=write --continue_on_error=io --iodepth=4 --time_based=0 \
			--name=v "--ioengine=external:$ASYNC" --media=file --filename=far \
			--path=dma --dma=fault:sw,script=script "--completion=$completion"
		jobs '.[0] | .total_err == 1 and .first_error == 5 and .write.total_ios == 256'
	done
}

@test "a log that cannot be written is said; one that cannot be made ends the job" {
	truncate -s 16m far
	run --separate-stderr "${fio[@]}" --rw=read --time_based=0 --name=v \
		"--ioengine=external:$ASYNC" --media=file --filename=far --path=dma \
		--dma=fault:sw,log=/dev/full
	# shellcheck disable=SC2154 # run sets stderr
	[[ $stderr = *"error: fault: log '/dev/full' was not written whole: No space left"* ]]
	run --separate-stderr "${fio[@]}" --rw=read --time_based=0 --name=v \
		"--ioengine=external:$ASYNC" --media=file --filename=far --path=dma \
		--dma=fault:sw,log=gone/log
	[ "$status" -eq 1 ]
	[[ $stderr = *"fault: log 'gone/log' cannot be written"* ]]
}

@test "a log that cannot be written fails the sample, one that cannot be opened the workload" {
	cat >w.yaml <<-'YAML'
		schema: 1
		kind: workload
		name: w
		target: {media: anon, size: 16m}
		workload: {rw: write, bs: 64k}
		arms: [{name: a, queue_mode: mq, path: dma, dma: "fault:sw,log=/dev/full"}]
		run: {runtime: 20ms, ramp_time: 0s, samples: 1}
	YAML
	rm -rf r
	run "$BUILD/copypath" run w.yaml -o r
	[ "$status" -eq 1 ]
	jq -e ".failed == \"engine: fault: log '/dev/full' was not written whole: No space left on device\"" \
		r/records.jsonl
	for log in /nonexistent/x /; do
		sed "s#/dev/full#$log#" w.yaml >v.yaml
		run "$BUILD/copypath" run --dry-run v.yaml
		[ "$status" -eq 2 ]
		[[ $output = *"v.yaml:6:"*"error: 'dma' is "*": fault: log '$log' cannot be written: "* ]]
	done
}

@test "a failed sample names why the engine did not do it" {
	cat >w.yaml <<-'YAML'
		schema: 1
		kind: workload
		name: w
		target: {media: anon, size: 16m}
		workload: {rw: write, bs: 64k}
		arms: [{name: a, queue_mode: mq, path: dma, dma: "fault:sw,prep_error=50%"}]
		run: {runtime: 20ms, ramp_time: 0s, samples: 1}
	YAML
	rm -rf r
	run "$BUILD/copypath" run w.yaml -o r
	[ "$status" -eq 1 ]
	jq -e '. as $r | .failed | endswith("(the engine refused: \($r.proof.fallback.error) I/Os)")' r/records.jsonl
	sed -i 's/prep_error/error/' w.yaml
	rm -rf r
	run "$BUILD/copypath" run w.yaml -o r
	[ "$status" -eq 1 ]
	# no file, no name of one
	jq -e '.failed | endswith("; media anon")' r/records.jsonl
}

@test "a record says that its engine was made to fail, and one with errors is a failed one" {
	cat >w.yaml <<-'YAML'
		schema: 1
		kind: workload
		name: w
		target: {media: anon, size: 16m}
		workload: {rw: read, bs: 64k}
		arms:
		  - {name: none, queue_mode: mq, path: dma, dma: "fault:null,full=1%"}
		  - {name: bad, queue_mode: mq, path: dma, dma: "fault:sw,error=1%"}
		run: {runtime: 1s, ramp_time: 0s, samples: 1}
	YAML
	rm -rf r
	run "$BUILD/copypath" run w.yaml -o r
	[ "$status" -eq 1 ]
	jq -es 'map({(.arm.name): .}) | add |
		(.none | .failed == null and .provenance.dma == "modelled" and
			.proof.dma == "fault/null" and .proof.bytes_simulated > 0) and
		(.bad | .failed != null and .proof.errors > 0 and
			.provenance.dma == "software" and (.proof.dma | test("^fault/sw/")))' r/records.jsonl
}
