#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: bench-engine.sh [BUILD_DIR]
#
# The plug-ins beside fio's own engines: alternating pairs on the same machine, the same
# options on both sides, the median of the pair ratios with their range. And the engine's clocks
# beside fio's: a known delay, the sum of the CPU parts. Prints what was asked of each
# figure and whether it was met; exits 1 when one was not.
# The order of emulated cache attributes comes last (bench-attributes.sh).
#
# PAIRS (10), RUNTIME (1s) and SIZE (1g, of the file on tmpfs) may be set in the environment.
set -eu -o pipefail

build=$(cd "${1:-build}" && pwd)
pairs=${PAIRS:-10}
runtime=${RUNTIME:-1s}
size=${SIZE:-1g}
sync=$build/copypath-sync.so
async=$build/copypath-async.so
dir=$(mktemp -d /dev/shm/copypath-bench.XXXXXX)
trap 'rm -rf "$dir"' EXIT
failed=0

for so in "$sync" "$async"; do
	[ -f "$so" ] || { echo "error: no plug-in '$so'; run make" >&2; exit 4; }
done

# clocksource=cpu: left to itself, fio picks a clock by a calibration that a noisy machine
# decides differently from run to run, and the two clocks differ by 25 ns an I/O.
common=(--output-format=terse --terse-version=3 --name=b --thread=1 --rw=randread --bs=4k
	"--size=$size" --time_based=1 "--runtime=$runtime" --ramp_time=200ms --norandommap=1
	--random_generator=tausworthe64 --randrepeat=0 --clocksource=cpu --cpus_allowed=0)

# run FIO_OPTION... -> read IOPS
run() {
	local out
	out=$(fio "$@" 2>&1) || { echo "$out" >&2; exit 4; }
	awk -F';' 'NF > 50 { print $8; found = 1 } END { exit !found }' <<<"$out" ||
		{ echo "error: no result in: $out" >&2; exit 4; }
}

# pair NAME ASKED THEIRS... -- OURS...: ratio ours / theirs
pair() {
	local name=$1 asked=$2 a b i
	local -a theirs=() ours=()
	shift 2
	while [ "$1" != -- ]; do theirs+=("$1"); shift; done
	shift
	ours=("$@")
	: >"$dir/pairs"
	for ((i = 0; i < pairs; i++)); do
		# ABBA, so that a drift of the machine hits both sides alike
		if ((i % 2)); then
			b=$(run "${common[@]}" "${ours[@]}")
			a=$(run "${common[@]}" "${theirs[@]}")
		else
			a=$(run "${common[@]}" "${theirs[@]}")
			b=$(run "${common[@]}" "${ours[@]}")
		fi
		echo "$a $b" >>"$dir/pairs"
	done
	verdict "$name" "$asked" <"$dir/pairs"
}

verdict() {
	local name=$1 asked=$2
	awk '{ printf "%.6f %d %d\n", $2 / $1, $1, $2 }' | sort -n | awk -v name="$name" \
		-v asked="$asked" '
		{ r[NR] = $1; a[NR] = $2; b[NR] = $3 }
		END {
			m = NR % 2 ? r[(NR + 1) / 2] : (r[NR / 2] + r[NR / 2 + 1]) / 2
			k = int((NR + 1) / 2)
			met = m >= asked
			printf "%-46s %.3f [%.3f..%.3f] of %d pairs, asked >= %s: %s", name, m,
				r[1], r[NR], NR, asked, met ? "met" : "NOT MET"
			printf " (%.0f against %.0f kIOPS)\n", b[k] / 1000, a[k] / 1000
			exit !met
		}' || failed=1
}

file=(--filename="$dir/data")
dd if=/dev/urandom of="$dir/data" bs=1M count="$(numfmt --from=iec "${size^^}" |
	awk '{ print $1 / 1048576 }')" status=none
export PMEM_IS_PMEM_FORCE=1
pair "sync, memcpy, 4k randread / fio libpmem" 0.96 \
	--ioengine=libpmem "${file[@]}" -- \
	"--ioengine=external:$sync" --media=file --copy=memcpy "${file[@]}"
unset PMEM_IS_PMEM_FORCE
rm -f "$dir/data"

null=(--ioengine=null --iodepth=16)
ours=("--ioengine=external:$async" --media=anon --path=dma --dma=null --iodepth=16)
small=(--size=64m)
# fio's null ignores iodepth_batch_complete_max, whose default is 1, and hands back all it
# has; copypath honours it, as engines have to. Both settings are shown.
full=(--iodepth_batch_complete_max=16)
pair "mq + null, default batch, complete_max 16 / null" 1.3 \
	"${null[@]}" "${small[@]}" "${full[@]}" -- "${ours[@]}" "${small[@]}" "${full[@]}"
pair "mq + null, batch 16, complete_max 16 / null" 0.95 \
	"${null[@]}" "${small[@]}" "${full[@]}" --iodepth_batch=16 -- \
	"${ours[@]}" "${small[@]}" "${full[@]}" --iodepth_batch=16
pair "mq + null, all of fio's defaults / null (no aim)" 0 \
	"${null[@]}" "${small[@]}" -- "${ours[@]}" "${small[@]}"

# fio's view of a known delay: lat, median of the pairs, in microseconds
: >"$dir/delay"
for ((i = 0; i < pairs; i++)); do
	fio --output-format=json "${common[@]:2}" --size=64m "--ioengine=external:$async" --media=anon \
		--path=dma --dma=null:delay=20us --iodepth=1 --lat_percentiles=1 \
		"--output=$dir/delay.json" >/dev/null
	awk '/"lat_ns"/ { lat = 1 } lat && /"50.000000"/ { gsub(/[^0-9.]/, "", $3); print $3
		exit }' "$dir/delay.json" >>"$dir/delay"
done
sort -n "$dir/delay" | awk '{ v[NR] = $1 / 1000 } END {
	m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
	met = NR > 0 && m >= 20 && m <= 22
	printf "%-46s %.2f us [%.2f..%.2f] of %d runs, asked 20 to 22: %s\n",
		"null:delay=20us, fio lat p50", m, v[1], v[NR], NR, met ? "met" : "NOT MET"
	exit !met }' || failed=1

SIZE=256m bash scripts/bench-attributes.sh "$build" || failed=1

# The copy kernels beside memcpy, without fio: nothing is asked of these.
"$build/engines/copy/t/copy_bench"

# A flush and a fence behind a write, beside the write alone: nothing is asked of these.
"$build/engines/copy/t/flush_bench"

# the fault guard: its cost an I/O, and a fault
"$build/engines/queue/t/guard_bench" || failed=1

exit "$failed"
