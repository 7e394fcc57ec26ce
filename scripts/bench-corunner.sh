#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: bench-corunner.sh [BUILD_DIR]
#
# The co-runner: how well its figures repeat alone, what it costs the I/O beside it, and what each
# arm leaves to it. Prints what was asked of a figure and what was measured, and exits 1 when one
# was not met. All through `copypath run`, so the figures are those of records.
#
# RUNS (10) of each kind, alone for RUNTIME (1s); PAIRS (15) of the I/O with and without it, each
# pair the two orders in turn. ONLY="repeat cost left" chooses. What else runs is measured too:
# steal, and the CPU that others took, stand beside the figures.
set -eu -o pipefail

cd "$(dirname "$0")/.."
build=$(cd "${1:-build}" && pwd)
copypath=$build/copypath
runs=${RUNS:-10}
pairs=${PAIRS:-15}
runtime=${RUNTIME:-1s}
only=${ONLY:-repeat cost left}
dir=$(mktemp -d /dev/shm/copypath-corunner.XXXXXX)
trap 'rm -rf "$dir"' EXIT
failed=0

echo "corunner: $(nproc) CPUs, load $(cut -d' ' -f1 /proc/loadavg), runtime $runtime"

# config NAME CORUNNER ARM...: a workload of 64k random reads
config() {
	local name=$1 corunner=$2
	shift 2
	{
		echo "schema: 1"
		echo "kind: workload"
		echo "name: $name"
		echo "target: {media: anon, size: 256m}"
		echo "workload: {rw: randread, bs: 64k, iodepth: ${DEPTH:-16}}"
		echo "arms:"
		printf '  - {%s}\n' "$@"
		echo "run: {runtime: $runtime, ramp_time: 100ms, samples: 1, corunner: $corunner}"
	} >"$dir/$name.yaml"
}

# measure NAME: one sample, as its metrics, into $dir/$NAME.jsonl
measure() {
	rm -rf "$dir/run"
	"$copypath" run -q "$dir/$1.yaml" -o "$dir/run" >"$dir/out" 2>&1 ||
		{ cat "$dir/out" >&2; exit 4; }
	jq -c '.metrics + {arm: .arm.name, corunner: .context.corunner}' \
		"$dir/run/records.jsonl" >>"$dir/$1.jsonl"
}

# column NAME JQ: a figure of all its samples, sorted
column() {
	jq -r "$2 // empty" "$dir/$1.jsonl" | sort -g
}

# spread: median, lowest, highest and (highest - lowest) / median of the sorted lines
spread() {
	awk '{ v[NR] = $1 } END { if (!NR) exit 1
		m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
		printf "%g %g %g %.2f\n", m, v[1], v[NR], m ? 100 * (v[NR] - v[1]) / m : 0 }'
}

# repeats KIND ASKED_PCT (0: no aim): its figures alone over all runs
repeats() {
	local name=repeat-${1%%:*} i m low high pct steal
	config "$name" "\"$1\"" 'name: cpu, queue_mode: bio, path: cpu, copy: memcpy'
	for ((i = 0; i < runs; i++)); do measure "$name"; done
	steal=$(column "$name" .steal_pct | tail -1)
	read -r m low high pct < <(column "$name" .corunner_alone_ops_per_cpu_s | spread)
	printf '%s alone, work per CPU-second: %.4g [%.4g..%.4g], %d runs within %.2f %%' \
		"$1" "$m" "$low" "$high" "$runs" "$pct"
	if [ "$2" != 0 ]; then
		if awk "BEGIN { exit !($pct <= $2) }"; then
			printf ', asked <= %s %%: met' "$2"
		else
			printf ', asked <= %s %%: NOT MET' "$2"
			failed=1
		fi
	fi
	read -r m low high pct < <(column "$name" .corunner_alone_ops_per_s | spread)
	printf '\n  per second: %.4g [%.4g..%.4g], within %.2f %%; of its CPU it had' "$m" "$low" "$high" "$pct"
	column "$name" '(100 * .corunner_alone_ops_per_s / .corunner_alone_ops_per_cpu_s)' | spread |
		awk '{ printf " %.1f %% [%.1f..%.1f]", $1, $2, $3 }'
	printf '; steal at most %.1f %% beside the I/O\n' "${steal:-0}"
}

# cost KIND ARM: bandwidth with the co-runner over without, pairs in both orders
cost() {
	local name arm=${2%%,*} i order side
	arm=${arm#name: }
	config with "\"$1\"" "$2"
	config without none "$2"
	rm -f "$dir/with.jsonl" "$dir/without.jsonl"
	for ((i = 0; i < pairs; i++)); do
		order='with without'
		((i % 2)) && order='without with'
		for side in $order; do measure "$side"; done
	done
	paste <(jq .bw_bytes_per_s "$dir/with.jsonl") <(jq .bw_bytes_per_s "$dir/without.jsonl") |
		awk '{ print $1 / $2, $1, $2 }' | sort -g >"$dir/pairs"
	awk -v kind="$1" -v arm="$arm" '
		{ r[NR] = $1; with[NR] = $2; without[NR] = $3 }
		END {
			m = NR % 2 ? r[(NR + 1) / 2] : (r[NR / 2] + r[NR / 2 + 1]) / 2
			q = int((NR + 3) / 4)
			met = m > 0.97
			printf "%s beside %-8s bandwidth with it / without: %.3f [%.3f..%.3f], half of them %.3f..%.3f, %d pairs, asked > 0.97: %s\n",
				kind, arm ",", m, r[1], r[NR], r[q], r[NR + 1 - q], NR, met ? "met" : "NOT MET"
			exit !met
		}' "$dir/pairs" || failed=1
	for name in with without; do
		column "$name" .bw_bytes_per_s | spread |
			awk -v side="$name" '{ printf "  %s it: %.2f GB/s [%.2f..%.2f]\n", side, $1 / 1e9, $2 / 1e9, $3 / 1e9 }'
	done
}

# left: the share of its work alone that each arm leaves to each kind
left() {
	local i
	config left '[compute, stream, pointer-chase]' "$@"
	for ((i = 0; i < (runs + 1) / 2; i++)); do measure left; done
	jq -r '[.arm, .corunner, .corunner_ops_per_s / .corunner_alone_ops_per_s,
		((.corunner_ops_per_cpu_s / .corunner_alone_ops_per_cpu_s)? // "-"),
		.steal_pct // "-", .bw_bytes_per_s] | @tsv' "$dir/left.jsonl" | sort >"$dir/left"
	echo 'what is left to a co-runner (SCHED_IDLE): of its work alone, and of its work per CPU-second'
	cut -f1,2 "$dir/left" | uniq | while read -r arm kind; do
		awk -v arm="$arm" -v kind="$kind" '$1 == arm && $2 == kind { print $3, $4, $5, $6 }' "$dir/left" |
			sort -g | awk -v arm="$arm" -v kind="$kind" '
			{ v[NR] = $1; cpu[NR] = $2; if ($3 > steal) steal = $3; bw += $4 }
			END { k = int((NR + 1) / 2)
				printf "  %-9s %-14s %6.1f %% [%.1f..%.1f], per CPU-second %s %%, steal at most %.1f %%, %.2f GB/s\n",
					arm, kind, 100 * v[k], 100 * v[1], 100 * v[NR],
					cpu[k] == "-" ? "-" : sprintf("%.0f", 100 * cpu[k]), steal, bw / NR / 1e9 }'
	done
}

cpu='name: cpu, queue_mode: bio, path: cpu, copy: memcpy'
poll='name: dma-poll, queue_mode: mq, path: dma, dma: sw, completion: poll'
irq='name: dma-irq, queue_mode: mq, path: dma, dma: sw, completion: irq'
arms=("$cpu")
if [ "$(nproc)" -lt 2 ]; then
	echo "not asserted: sw: it needs 2 CPUs"
	failed=1
else
	arms+=("$poll" "$irq")
fi
for section in $only; do
	case $section in
	repeat)
		repeats compute 3
		repeats stream 0
		repeats pointer-chase 0
		;;
	cost)
		for arm in "${arms[@]}"; do cost compute "$arm"; done
		;;
	left)
		left "${arms[@]}"
		;;
	*)
		echo "error: unknown section '$section'; expected repeat, cost or left" >&2
		exit 2
		;;
	esac
done
exit "$failed"
