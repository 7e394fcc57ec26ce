#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: bench-completion.sh [BUILD_DIR]
#
# What the completion modes cost, through fio: a device of the model engine that takes 1 ms, one
# 4k read at a time, by requests (mq) and by pages, polled, by interrupt and hybrid. Rounds in
# which each has its turn, in an order of their own; a ratio is of two samples of one round, and
# the median over the rounds is printed with its range. Prints what was asked of each figure and
# whether it was met; exits 1 when one was not.
#
# cpu_submit is the submitter's CPU time an I/O, cpu_engine that of the thread that wakes it,
# which model does not have. A machine that does other work wakes sleepers later, and takes time
# from those that poll: RT=1 runs all under SCHED_FIFO (root).
#
# ROUNDS (7), RUNTIME (500ms) and DELAY (1ms) may be set in the environment; the figures are
# asked of 1 ms.
set -eu -o pipefail

build=$(cd "${1:-build}" && pwd)
copypath=$build/copypath
rounds=${ROUNDS:-7}
runtime=${RUNTIME:-500ms}
delay=${DELAY:-1ms}
[ -x "$copypath" ] || { echo "error: no program '$copypath'; run make" >&2; exit 4; }
dir=$(mktemp -d /dev/shm/copypath-completion.XXXXXX)
trap 'rm -rf "$dir"' EXIT
failed=0
prefix=()
[ "${RT:-0}" != 1 ] || prefix=(chrt -f 1)

cat >"$dir/w.yaml" <<YAML
schema: 1
kind: workload
name: completion
target: {media: anon, size: 64m}
workload: {rw: read, bs: 4k, numjobs: 1, iodepth: 1}
arms:
  - {name: x, queue_mode: [mq, page], path: dma, dma: "model:setup=$delay", completion: [poll, irq, hybrid]}
run: {runtime: $runtime, ramp_time: 300ms, samples: $rounds, seed: 1}
YAML
"${prefix[@]}" "$copypath" run "$dir/w.yaml" -o "$dir/run" >"$dir/log" 2>&1 ||
	{ cat "$dir/log" >&2; exit 4; }

# MODE COMPLETION ROUND p50 cpu_submit cpu_engine, the last two an I/O
jq -r 'select(.failed == null) | .context.bs as $bs | .metrics as $m |
	[.arm.queue_mode, .arm.completion, .sample, $m.lat_ns_p50,
	 $m.cpu_submit_ns * $bs / $m.bytes, $m.cpu_engine_ns * $bs / $m.bytes] | @tsv' \
	"$dir/run/records.jsonl" >"$dir/samples"

# column MODE COMPLETION FIELD: a figure a line, in the order of rounds
column() {
	sort -k3,3n "$dir/samples" | awk -v m="$1" -v c="$2" -v f="$3" '$1 == m && $2 == c { print $f }'
}

# middle < NUMBERS: median [lowest..highest] number
middle() {
	sort -g | awk '{ v[NR] = $1 } END {
		if (!NR) exit 1
		printf "%.4f %.4f %.4f %d\n", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2,
			v[1], v[NR], NR }'
}

# ratio LABEL MODE COMPLETION FIELD MOST: beside poll's of the same round
ratio() {
	paste -d' ' <(column "$2" poll "$4") <(column "$2" "$3" "$4") |
		awk 'NF == 2 && $1 > 0 { print $2 / $1 }' | middle |
		awk -v label="$1" -v most="$5" -v rounds="$rounds" '{
			met = $4 == rounds && $1 < most
			printf "%-46s %.3f [%.3f..%.3f] of %d rounds, asked < %s: %s\n", label, $1, $2, $3,
				$4, most, met ? "met" : "NOT MET"
			exit !met }
			END { if (!NR) { print label ": no figure: NOT MET"; exit 1 } }' || failed=1
}

echo "model:setup=$delay, 4k reads, iodepth 1, $rounds rounds of $runtime, load $(cut -d' ' -f1-3 /proc/loadavg)"
for mode in mq page; do
	for completion in poll irq hybrid; do
		read -r p50 _ _ _ < <(column "$mode" "$completion" 4 | middle)
		read -r submit low high _ < <(column "$mode" "$completion" 5 | middle)
		read -r engine _ _ _ < <(column "$mode" "$completion" 6 | middle)
		awk -v m="$mode" -v c="$completion" -v p="$p50" -v s="$submit" -v l="$low" -v h="$high" \
			-v e="$engine" 'BEGIN {
			printf "  %-5s %-7s p50 %8.1f us, an I/O: cpu_submit %8.2f us [%.2f..%.2f], cpu_engine %.2f us\n",
				m, c, p / 1000, s / 1000, l / 1000, h / 1000, e / 1000 }'
	done
	ratio "$mode: irq cpu_submit / poll's" "$mode" irq 5 0.10
	ratio "$mode: hybrid cpu_submit / poll's" "$mode" hybrid 5 0.75
	ratio "$mode: hybrid p50 / poll's" "$mode" hybrid 4 1.10
done
exit "$failed"
