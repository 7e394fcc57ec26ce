#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: bench-attributes.sh [BUILD_DIR]
#
# The published table of cache attributes beside the emulated ones: ratios to WB memcpy,
# and whether rows that are far apart there stand in the same order here, RUNS (5) times.
# Exits 1 when a run has a pair out of order.
#
# SIZE (256m, of the file on tmpfs) should be well above the last-level cache.
set -eu -o pipefail

cd "$(dirname "$0")/.."
build=${1:-build}
size=${SIZE:-256m}
bench=$build/engines/queue/t/attr_bench
[ -x "$bench" ] || { echo "error: no program '$bench'; run make benches" >&2; exit 4; }
dir=$(mktemp -d /dev/shm/copypath-attr.XXXXXX)
trap 'rm -rf "$dir"' EXIT
dd if=/dev/urandom of="$dir/data" bs=1M count="$(numfmt --from=iec "${size^^}" |
	awk '{ print $1 / 1048576 }')" status=none
# One CPU: a move to another in the middle of a cell would be in its figure.
taskset -c 0 "$bench" results/published/elliott-2015-cache-attributes.csv "$dir/data" \
	"${RUNS:-5}"
