#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: bench.sh BUILD          (WORKLOAD=configs/workloads/quick.yaml, STARTED=seconds)
#
# What `make bench` does once everything is built: measure, learn, report.
set -euo pipefail

copypath=${1:?usage: bench.sh BUILD}/copypath
workload=${WORKLOAD:-configs/workloads/quick.yaml}
last=results/runs/last
started=${STARTED:-$(date +%s)} # of make, set-up included

before=$(readlink "$last" 2>/dev/null || true)
ran=0
"$copypath" run "$workload" || ran=$?
# 1: some samples failed; they are marked, the others count.
[ "$ran" -le 1 ] || exit "$ran"
run=$(readlink "$last" 2>/dev/null || true)
if [ -z "$run" ] || [ "$run" = "$before" ]; then
	echo "error: the run left no '$last'" >&2
	exit 5
fi
run=$(dirname "$last")/$(basename "$run")

learned=0
"$copypath" learn "$run" -o "$run/policy.yaml" || learned=$?
case $learned in
0 | 3) ;;
*) exit "$learned" ;;
esac
"$copypath" report "$run" -o "$run/report"

echo
# The headline of the policy; learn has said the rest.
"$copypath" explain "$run/policy.yaml" | grep "^one setting for a driver" || true
[ "$learned" -eq 0 ] ||
	echo 'not enough evidence to decide anything yet (exit 3 of learn): that is an answer'
[ "$ran" -eq 0 ] || echo 'some samples failed: the report says which and why'
printf '\npolicy   %s\nreport   %s\nelapsed  %d s\n' "$run/policy.yaml" \
	"$run/report/index.html" "$(($(date +%s) - started))"
exit "$ran"
