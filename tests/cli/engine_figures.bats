#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The plug-ins' figures under fio itself: agreement of clocks, windows, counters.

bats_require_minimum_version 1.5.0

load engine

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	side=$BATS_TEST_TMPDIR/side
	json=$BATS_TEST_TMPDIR/out.json
}

# agree [IDENTITY]: fio's median lat within max(5 %, 0.5 us) of the engine's own stamps and, where
# fio has a slat (not in a synchronous engine), slat + clat = lat. Medians: on a busy machine a
# thread that loses its CPU between fio's stamp and ours moves a mean by more than that.
agree() {
	jq -es --argjson identity "${1:-true}" '
		def low: if . < 64 then . else (. / 64 | floor) as $s |
			(64 + . % 64) * pow(2; $s - 1) end;
		.[0].jobs[0].read as $f | .[1].lat as $own | $f.lat_ns.percentile["50.000000"] as $lat |
		(reduce $own.buckets[] as $b ({n: 0, at: null};
			if .at == null and .n + $b[1] >= $own.count / 2 then .at = ($b[0] | low) else . end |
			.n += $b[1]) | .at) as $mid |
		($f.slat_ns.mean + $f.clat_ns.mean) as $sum |
		(($identity | not) or (($sum - $f.lat_ns.mean) | fabs) < 0.01 * $f.lat_ns.mean + 2) and
		(($lat - $mid) | fabs) < ([0.05 * $lat, 500] | max)' "$json" "$side"
}

# agreed IDENTITY PLUGIN OPTION...: in one of three runs. Figures that are really different differ in
# all three; a busy machine that takes the CPU away in the wrong place does not.
agreed() {
	local identity=$1 _
	shift
	for _ in 1 2 3; do
		rm -f "$side"
		engine "$@"
		! agree "$identity" || return 0
	done
	return 1
}

@test "fio's slat + clat is its lat, and agrees with the engine's own stamps" {
	# no ramp_time: an I/O that straddles its end is in fio's lat and not in its slat
	timed=(--rw=randread --bs=4k --size=64m --time_based=1 --runtime=400ms
		--norandommap=1 --clocksource=cpu --lat_percentiles=1)
	for depth in 1 16; do
		for more in "--path=cpu" "--path=dma --dma=sw" "--path=dma --dma=null" \
			"--path=dma --dma=null:delay=50us"; do
			# shellcheck disable=SC2086
			agreed true "$ASYNC" "${timed[@]}" "--iodepth=$depth" $more
		done
	done
	agreed false "$SYNC" "${timed[@]}"
}

@test "a completion never comes before the delay it was asked for" {
	engine "$ASYNC" --rw=randread --bs=4k --size=64m --time_based=1 --runtime=300ms \
		--iodepth=1 --path=dma --dma=null:delay=20us
	[ "$(jq '.lat.min_ns >= 20000' "$side")" = true ]
	[ "$(jq '.jobs[0].read.clat_ns.min >= 20000' "$json")" = true ]
}

@test "warm-up is in none of the engine's figures" {
	engine "$SYNC" --rw=randread --bs=4k --size=64m --time_based=1 --runtime=300ms \
		--ramp_time=900ms --norandommap=1
	# a window that held the ramp would be four times the runtime
	[ "$(jq '(.end_ns - .start_ns) < 600000000' "$side")" = true ]
	[ "$(jq '.lat.count == .ios' "$side")" = true ]
	# what fio counted after its ramp, within what one status interval can move
	jq -es '.[0].jobs[0].read.total_ios as $f | .[1].ios as $s |
		(($f - $s) | fabs) < 0.05 * $f + 100' "$json" "$side"
}

@test "the CPU parts add up to the process total" {
	for more in "--path=cpu" "--path=dma --dma=sw" "--path=dma --dma=sw --completion=irq" \
		"--path=cpu --numjobs=2" "--path=dma --dma=sw --numjobs=2"; do
		rm -f "$side"
		# shellcheck disable=SC2086
		engine "$ASYNC" --rw=read --bs=64k --size=64m --time_based=1 --runtime=700ms \
			--ramp_time=100ms --iodepth=16 $more
		jq -es '.[0].dev_cpu_process_ns as $all |
			((map(.cpu_submit_ns) | add) + .[0].dev_cpu_engine_ns) as $sum |
			(($all - $sum) | fabs) < 0.03 * $all' "$side"
		# one window for all jobs
		jq -es 'map(.dev_start_ns) | unique | length == 1' "$side"
	done
}

@test "more I/Os than tags: held back by fio, and the figures are whole" {
	for more in "--path=cpu" "--path=dma --dma=sw"; do
		for _ in 1 2 3 4; do
			rm -f "$side"
			# shellcheck disable=SC2086
			engine "$ASYNC" --rw=read --bs=4k --size=64m --time_based=1 --runtime=100ms \
				--iodepth=16 --queue_depth=8 $more
			jq -e '.cpu_submit_ns > 0 and .cpu_submit_ns <= .dev_cpu_process_ns and
				.proof.effective_iodepth == 8' "$side"
		done
	done
}

@test "jobs that share a device start together, however long each needs to touch its memory" {
	# 16 x 16 x 2m of buffers take longer than the jobs run
	engine "$ASYNC" --rw=read --bs=2m --size=32m --numjobs=16 --iodepth=16 --time_based=1 \
		--runtime=300ms --path=cpu --copy=memcpy
	[ "$(wc -l <"$side")" -eq 16 ]
}
