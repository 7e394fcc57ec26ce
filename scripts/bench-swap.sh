#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: bench-swap.sh [BUILD_DIR]
#
# What the swap workload must reach, asked beside measured: a million page faults with their handler
# on the CPU of who raises them, and fewer with it on another CPU, whose rate is reported and not
# scaled up; every word of every page checked; an engine that fails on purpose loses nothing. Needs
# userfaultfd: without it nothing is measured, and that is said (exit 4). Exits 1 when a figure is not
# what was asked. FAULTS (1000000), APART_FAULTS (100000), ROUNDS (1).
set -eu -o pipefail

build=$(cd "${1:-build}" && pwd)
faults=${FAULTS:-1000000}
apart_faults=${APART_FAULTS:-100000}
rounds=${ROUNDS:-1}
swap=$build/copypath-swap
failed=0

# value KEY < LINE
value() {
	grep -o "\"$1\":[^,}]*" | head -n 1 | cut -d: -f2
}

# one NAME MAX_SECONDS(0: no aim) KEY=VALUE...
one() {
	local name=$1 most=$2 code=0 line verdict='no aim'
	shift 2
	line=$("$swap" size=64m resident=16m batch=8 "$@") || code=$?
	[ "$code" -ne 4 ] || exit 4
	[ "$code" -eq 0 ] || failed=1
	read -r seconds rate p50 p99 user sys nr <<<"$(for key in faults_per_s fault_ns_p50 fault_ns_p99 \
		fault_user_ns fault_sys_ns faults; do value "$key" <<<"$line"; done | xargs | awk '
		{ printf "%.2f %.0f %.1f %.1f %.1f %.1f %d", $6 / $1, $1, $2 / 1e3, $3 / 1e3, $4 / 1e3,
			$5 / 1e3, $6 }')"
	if [ "$most" -gt 0 ]; then
		verdict="asked < $most s: met"
		awk -v s="$seconds" -v most="$most" 'BEGIN { exit !(s < most) }' ||
			{ verdict="asked < $most s: NOT MET"; failed=1; }
	fi
	printf '%-36s %8d faults in %6.2f s (%s), %7d a second, p50 %s us, p99 %s us, user %s us, system %s us a fault, wrong pages %s (asked 0)\n' \
		"$name" "$nr" "$seconds" "$verdict" "$rate" "$p50" "$p99" "$user" "$sys" \
		"$(value mismatches <<<"$line")"
}

# spoiled NAME KEY=VALUE...: errors must have been made, and nothing be lost
spoiled() {
	local name=$1 code=0 line verdict=met
	shift
	line=$("$swap" size=16m resident=4m batch=8 queue_mode=mq path=dma dma=fault:sw,error=1%,seed=7 \
		faults=50000 rw=randwrite numjobs=2 "$@" 2>/dev/null) || code=$?
	{ [ "$code" -eq 1 ] && [ "$(value mismatches <<<"$line")" = 0 ] &&
		[ "$(value in_errors <<<"$line")" -gt 0 ] && [ "$(value out_errors <<<"$line")" -gt 0 ] &&
		[ "$(value sigbus <<<"$line")" -gt 0 ] && [[ $line != *'"failed"'* ]]; } ||
		{ verdict='NOT MET'; failed=1; }
	printf '%-36s %s page-ins and %s page-outs failed, %s accesses got SIGBUS (%s), wrong pages %s, asked 0: %s\n' \
		"$name" "$(value in_errors <<<"$line")" "$(value out_errors <<<"$line")" \
		"$(value sigbus <<<"$line")" "$(value sigbus_by <<<"$line")" \
		"$(value mismatches <<<"$line")" "$verdict"
}

printf '%s, %d CPUs, load %s; region 64m, 16m of it resident\n' "$(uname -r)" "$(nproc)" \
	"$(cut -d' ' -f1 /proc/loadavg)"
for ((i = 0; i < rounds; i++)); do
	one 'bio, in order, handler beside' 30 rw=write handler=beside "faults=$faults"
	if [ "$(nproc)" -gt 1 ]; then
		one 'bio, in order, handler apart' 0 rw=write handler=apart "faults=$apart_faults"
		one '2 threads, random, handler beside' 0 rw=randwrite numjobs=2 handler=beside \
			"faults=$apart_faults"
	fi
	one 'page, in order, handler beside' 0 queue_mode=page rw=write "faults=$apart_faults"
	one 'mq, in order, handler beside' 0 queue_mode=mq rw=write "faults=$apart_faults"
	for completion in poll irq hybrid; do
		one "mq, sw, $completion, handler beside" 0 queue_mode=mq path=dma dma=sw \
			"completion=$completion" rw=write "faults=$((apart_faults / 4))"
	done
done
spoiled 'fault, 1 % errors' sigbus=auto
spoiled 'fault, 1 % errors, mapped' sigbus=map
exit "$failed"
