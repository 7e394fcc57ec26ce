#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: bench-sw.sh [BUILD_DIR]
#
# The thread of the `sw` engine beside a bare copy loop on its CPU: random reads through fio at depth
# 16, the submitter on CPU 0, and the same kernel over media and buffers of the same sizes without
# anything around it, in alternating pairs by the wall clock. What every side's CPU did is printed
# beside it. Exits 1 when a figure is not what was asked. PAIRS (10), SW_SECONDS (1):
# both sides run for as long, since this machine's memory is faster in the first half second.
set -eu -o pipefail

build=$(cd "${1:-build}" && pwd)
pairs=${PAIRS:-10}
runtime=${SW_SECONDS:-1}
async=$build/copypath-async.so
dir=$(mktemp -d /dev/shm/copypath-bench.XXXXXX)
trap 'rm -rf "$dir"' EXIT
failed=0
common=(--output-format=terse --terse-version=3 --name=b --thread=1 --rw=randread --time_based=1
	"--runtime=${runtime}s" --norandommap=1 --scramble_buffers=0
	--random_generator=tausworthe64 --randrepeat=0 --clocksource=cpu --cpus_allowed=0)

# sw_job BS COMPLETION -> bytes a second, of the engine's CPU time too, then the submitter's, the
# engine's and the process's CPU in percent
sw_job() {
	rm -f "$dir/sidecar"
	"${rt[@]}" fio "${common[@]}" --size=512m --ramp_time=100ms "--bs=$1" --iodepth=16 \
		--iodepth_batch_complete_max=16 "--ioengine=external:$async" --media=anon \
		--path=dma --dma=sw --copy=memcpy "--completion=$2" "--sidecar=$dir/sidecar" \
		>"$dir/out" 2>&1 || { cat "$dir/out" >&2; exit 4; }
	sed 's/[,{}]/\n/g' "$dir/sidecar" | awk -F: '{ gsub(/"/, "", $1); if (!($1 in v)) v[$1] = $2 }
		END { ns = v["end_ns"] - v["start_ns"]; engine = v["dev_cpu_engine_ns"]
			if (!(ns > 0) || !(engine > 0)) exit 1
			printf "%.0f %.0f %.2f %.1f %.1f\n", v["bytes"] / ns * 1e9,
				v["bytes"] / engine * 1e9, 100 * v["cpu_submit_ns"] / ns,
				100 * engine / ns, 100 * v["dev_cpu_process_ns"] / ns }'
}

# sw_pairs BS COMPLETION ASKED MAX_SUBMITTER_PCT (0: no aim)
sw_pairs() {
	local bare job i cpu=$(($(nproc) - 1)) # where the thread of the engine is
	: >"$dir/pairs"
	for ((i = 0; i < pairs; i++)); do
		((i % 2)) || bare=$("${rt[@]}" "$build/engines/queue/t/bare_bench" "$cpu" memcpy "$1" 512m "$runtime")
		job=$(sw_job "$1" "$2")
		((i % 2)) && bare=$("${rt[@]}" "$build/engines/queue/t/bare_bench" "$cpu" memcpy "$1" 512m "$runtime")
		echo "$job $bare" >>"$dir/pairs"
	done
	awk '{ print $1 / $6, $2 / $7, $0 }' "$dir/pairs" | sort -n | awk -v bs="$1" -v mode="$2" \
		-v asked="$3" -v most="$4" '
		{ r[NR] = $1; e += $2; job[NR] = $3; sub_pct += $5; eng += $6; all += $7; bare[NR] = $8 }
		END {
			m = NR % 2 ? r[(NR + 1) / 2] : (r[NR / 2] + r[NR / 2 + 1]) / 2
			k = int((NR + 1) / 2)
			met = m >= asked
			printf "sw, %s reads, depth 16, %s / bare memcpy loop      %.3f [%.3f..%.3f] of %d pairs, asked >= %s: %s",
				bs, mode, m, r[1], r[NR], NR, asked, met ? "met" : "NOT MET"
			printf " (%.1f against %.1f GB/s; by CPU time of the two threads %.3f)\n",
				job[k] / 1e9, bare[k] / 1e9, e / NR
			less = most == 0 || sub_pct / NR < most
			printf "  CPU: submitter %.1f %% of one", sub_pct / NR
			if (most > 0)
				printf ", asked < %s: %s", most, less ? "met" : "NOT MET"
			printf "; engine %.1f %%, process %.1f %%\n", eng / NR, all / NR
			exit !(met && less)
		}' || failed=1
}

rt=()
# both need their CPU to themselves: what else runs would be measured
if chrt -f 1 true 2>/dev/null; then
	rt=(chrt -f 1)
	echo "sw: at real-time priority"
fi
if [ "$(nproc)" -lt 2 ]; then
	echo "not asserted: sw: it needs 2 CPUs"
	exit 1
fi
sw_pairs 2m irq 0.92 5
sw_pairs 64k poll 0.88 0
exit "$failed"

