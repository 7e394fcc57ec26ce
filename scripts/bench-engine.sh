#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: [ONLY="null decision stamps sw page completion cpu other"] bench-engine.sh [BUILD_DIR]
#
# The plug-ins beside fio's own engines: alternating pairs on the same machine, the same
# options on both sides, the median of the pair ratios with their range. And the engine's clocks
# beside fio's: a known delay, the sum of the CPU parts. Prints what was asked of each
# figure and whether it was met; exits 1 when one was not.
# CPU copies are compared in rounds: each contender once a round, forwards and backwards by
# turns, the ratio of two within a round. All have mapped and touched the file before the
# clock starts: copypath at open, libpmem in a ramp that reaches nearly every page. Where it
# says "page faults in", there is no ramp: libpmem takes its faults while the clock runs, as it
# does for whoever runs it, and copypath has taken them before.
# Sections, all of them unless ONLY names some: `cpu` (the copies beside libpmem), `null` (mq over
# the null engine beside fio's own null, and a known delay), `decision`, `stamps`, `sw` (bench-sw.sh),
# `page` (pages beside requests without fio, and where the instructions of each go), `completion`
# (bench-completion.sh) and `other`: the order of emulated cache attributes
# (bench-attributes.sh), the kernels, misaligned buffers and the fault guard without fio.
#
# PAIRS (10), RUNTIME (0.5s), SIZE (256m, of the file on tmpfs) and WHOLE (1g, the same
# where page faults are in) may be set in the environment. A figure within 3 % of 1 is noise while the machine does other work.
set -eu -o pipefail

build=$(cd "${1:-build}" && pwd)
pairs=${PAIRS:-10}
sections=(cpu null decision stamps sw page completion other)
only=${ONLY:-${sections[*]}}
for word in $only; do
	case " ${sections[*]} " in
	*" $word "*) ;;
	*) echo "error: no section '$word'; expected some of: ${sections[*]}" >&2; exit 2 ;;
	esac
done
ramp=200ms
runtime=${RUNTIME:-500ms}
size=${SIZE:-256m}
whole=${WHOLE:-1g}
sync=$build/copypath-sync.so
async=$build/copypath-async.so
dir=$(mktemp -d /dev/shm/copypath-bench.XXXXXX)
trap 'rm -rf "$dir"' EXIT
failed=0
sync_4k_ns= # of a 4k read by memcpy through fio; the section cpu measures it

section() { case " $only " in *" $1 "*) ;; *) false ;; esac; }

for so in "$sync" "$async"; do
	[ -f "$so" ] || { echo "error: no plug-in '$so'; run make" >&2; exit 4; }
done

# clocksource=cpu: left to itself, fio picks a clock by a calibration that a noisy machine
# decides differently from run to run, and the two clocks differ by 25 ns an I/O.
common=(--output-format=terse --terse-version=3 --name=b --thread=1 --rw=randread --bs=4k
	"--size=$size" --time_based=1 "--runtime=$runtime" "--ramp_time=$ramp"
	--norandommap=1 --scramble_buffers=0
	--random_generator=tausworthe64 --randrepeat=0 --clocksource=cpu --cpus_allowed=0)

# run FIO_OPTION... -> I/Os a second of CPU time. These jobs never sleep, so on an idle
# machine that is IOPS; on a busy one what others took is not in it.
run() {
	local out
	out=$(fio "$@" 2>&1) || { echo "$out" >&2; exit 4; }
	awk -F';' 'NF > 50 { cpu = ($88 + $89) / 100
		printf "%.0f\n", ($8 + $49) / cpu; found = 1 } END { exit !found }' <<<"$out" ||
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
			printf "%-50s %.3f [%.3f..%.3f] of %d pairs, asked >= %s: %s", name, m,
				r[1], r[NR], NR, asked, met ? "met" : "NOT MET"
			printf " (%.1f against %.1f kIOPS)\n", b[k] / 1000, a[k] / 1000
			exit !met
		}' || failed=1
}

declare -A contender
file=(--filename="$dir/data")
pmem="--ioengine=libpmem ${file[*]}"
files="--ioengine=external:$sync --media=file ${file[*]}"
large="--ioengine=external:$sync --media=anon:page=2m"
contender[pmem0]="$pmem --direct=0"
contender[pmem1]="$pmem --direct=1"
contender[memcpy]="$files --copy=memcpy"
contender[nt]="$files --copy=nt"
contender[auto]="$files --copy=auto"
contender[auto2m]="$large --copy=auto"

touched=(--ramp_time=500ms)
faults=(--ramp_time=0 --runtime=1s "--size=$whole")

# rounds RW BS CONTENDER...: their IOPS, a line a round, in $dir/r.CONTENDER; with the
# options in span
rounds() {
	local rw=$1 bs=$2 i k name
	shift 2
	rm -f "$dir"/r.*
	for ((i = 0; i < pairs; i++)); do
		for ((k = 1; k <= $#; k++)); do
			((i % 2)) && name=${*:$# + 1 - k:1} || name=${*:k:1}
			# shellcheck disable=SC2086 # options without blanks in them
			run "${common[@]}" "${span[@]}" "--rw=$rw" "--bs=$bs" \
				${contender[$name]} >>"$dir/r.$name"
		done
	done
}

# compare LABEL ASKED OURS THEIRS
compare() {
	paste -d' ' "$dir/r.$4" "$dir/r.$3" | verdict "$1" "$2"
}

median() {
	sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# The contender of two whose median is higher: the better of two in every round would be
# the better of two noises.
better() {
	(("$(median "$dir/r.$1")" >= "$(median "$dir/r.$2")")) && echo "$1" || echo "$2"
}

cpu_copies() {
	dd if=/dev/urandom of="$dir/data" bs=1M count="$(numfmt --from=iec "${whole^^}" |
		awk '{ print $1 / 1048576 }')" status=none
	export PMEM_IS_PMEM_FORCE=1
	echo "CPU copies, one job, random, sync; tmpfs file of $size on 4k pages unless it says 2m pages"
	on_2m=(auto2m)
	# shellcheck disable=SC2086 # options without blanks in them
	if ! fio "${common[@]}" --size=16m --runtime=50ms ${contender[auto2m]} >"$dir/2m" 2>&1; then
		echo "not asserted: 2m pages: $(grep -m 1 'error: ' "$dir/2m" || echo "fio failed")"
		on_2m=()
		failed=1
	fi
	span=("${touched[@]}")
	rounds randread 4k pmem0 pmem1 memcpy auto "${on_2m[@]}"
	sync_4k_ns=$((1000000000 / $(median "$dir/r.memcpy")))
	best=$(better pmem0 pmem1)
	compare "memcpy, 4k randread / fio libpmem" 0.96 memcpy pmem0
	compare "auto, 4k randread / better libpmem ($best)" 0.96 auto "$best"
	[ -z "${on_2m[*]}" ] ||
		compare "auto, 4k randread, 2m pages / libpmem on 4k (a page-size effect)" 1.08 auto2m "$best"
	for bs in 4k 64k 2m; do
		more=()
		[ "$bs" != 4k ] || more=(auto "${on_2m[@]}")
		rounds randwrite "$bs" pmem0 pmem1 nt "${more[@]}"
		compare "nt, $bs randwrite / libpmem direct=1 (NT too)" 0.95 nt pmem1
		compare "nt, $bs randwrite / libpmem direct=0 (no aim)" 0 nt pmem0
		[ "$bs" = 4k ] || continue
		best=$(better pmem0 pmem1)
		compare "auto, 4k randwrite / better libpmem ($best)" 0.96 auto "$best"
		[ -z "${on_2m[*]}" ] ||
			compare "auto, 4k randwrite, 2m pages / libpmem on 4k (a page-size effect)" 1.08 auto2m "$best"
	done
	span=("${faults[@]}")
	for bs in 4k 64k 2m; do
		rounds randwrite "$bs" pmem0 nt
		compare "nt, $bs randwrite / libpmem direct=0, page faults in" 3.0 nt pmem0
	done
	unset PMEM_IS_PMEM_FORCE
	rm -f "$dir/data"
}

null_engine() {
	null=(--ioengine=null --iodepth=16)
	ours=("--ioengine=external:$async" --media=anon --path=dma --dma=null --iodepth=16)
	small=(--size=64m)
	# fio's null ignores iodepth_batch_complete_max, whose default is 1, and hands back all it
	# has; copypath honours it, as engines have to. Both settings are shown.
	full=(--iodepth_batch_complete_max=16)
	pair "mq + null, default batch, complete_max 16 / null" 1.3 \
		"${null[@]}" "${small[@]}" "${full[@]}" -- "${ours[@]}" "${small[@]}" "${full[@]}"
	pair "mq + null, batch 16, complete_max 16 / null" 0.97 \
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
}

stamps() {
	if [ -z "$sync_4k_ns" ]; then
		fallocate -l "$size" "$dir/data"
		span=("${touched[@]}")
		rounds randread 4k memcpy
		sync_4k_ns=$((1000000000 / $(median "$dir/r.memcpy")))
		rm -f "$dir/data"
	fi
	taskset -c 0 "$build/engines/queue/t/stamp_bench" "$sync_4k_ns" || failed=1
}

other() {
	SIZE=256m bash scripts/bench-attributes.sh "$build" || failed=1

	# Every kernel in bio beside itself in a bare loop, without fio, at 2m.
	"$build/engines/queue/t/kernel_bench" || failed=1

	# Misaligned buffers beside aligned ones, without fio: nothing is asked of these.
	taskset -c 0 "$build/engines/queue/t/misalign_bench"

	# The copy kernels beside memcpy, without fio: nothing is asked of these.
	"$build/engines/copy/t/copy_bench"

	# A flush and a fence behind a write, beside the write alone: nothing is asked of these.
	"$build/engines/copy/t/flush_bench"

	# the fault guard: its cost an I/O, and a fault
	"$build/engines/queue/t/guard_bench" || failed=1
}

section cpu && cpu_copies
section null && null_engine
section decision && { taskset -c 0 "$build/engines/queue/t/decide_bench" || failed=1; }
section stamps && stamps
section sw && { bash scripts/bench-sw.sh "$build" || failed=1; }
section page && { taskset -c 0 "$build/engines/queue/t/page_bench" || failed=1; }
section completion && { bash scripts/bench-completion.sh "$build" || failed=1; }
section other && other

# Copies through the idxd engine and the emulated DSA device of the tests.
"$build/engines/dma/t/idxd_bench" || failed=1

exit "$failed"
