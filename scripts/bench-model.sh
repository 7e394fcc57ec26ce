#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: bench-model.sh [BUILD_DIR]
#
# The model engine through fio, beside its closed form (engines/dma/model.h): for each size,
# depth and number of channels the median over SAMPLES runs of the p50 by our stamps and of
# the bandwidth, as ratios, and the worst. Then the size at which two devices cost the same,
# as a sweep finds it, beside the one that follows from their settings. Prints what was asked
# of each figure and whether it was met; exits 1 when one was not.
#
# SAMPLES (3), RUNTIME (300ms) and MODEL (setup=20us,bw=2g) may be set in the environment;
# FULL=1 takes more sizes and depths. The jobs poll, so a machine that does other work gives
# them half their time and their bandwidth shows it: RT=1 runs them under SCHED_FIFO (root),
# which keeps others from that CPU meanwhile.
set -eu -o pipefail

build=$(cd "${1:-build}" && pwd)
copypath=$build/copypath
form=$build/tests/helpers/model_form
samples=${SAMPLES:-3}
runtime=${RUNTIME:-300ms}
model=${MODEL:-setup=20us,bw=2g}
sizes="4k, 64k, 2m" depths="1, 8, 64" lanes="1 2 8"
if [ "${FULL:-0}" = 1 ]; then
	sizes="4k, 16k, 64k, 256k, 2m" depths="1, 4, 16, 64" lanes="1 2 4 8"
fi
for program in "$copypath" "$form"; do
	[ -x "$program" ] || { echo "error: no program '$program'; run make tests" >&2; exit 4; }
done
dir=$(mktemp -d /dev/shm/copypath-model.XXXXXX)
trap 'rm -rf "$dir"' EXIT
failed=0
prefix=()
how="as any program"
if [ "${RT:-0}" = 1 ]; then
	prefix=(chrt -f 1)
	how="under SCHED_FIFO"
fi

# columns NAME... <CSV: these columns, with blanks between them
columns() {
	awk -v want="$*" '
	function fields(s, f,   n, i) {
		for (n = 0; length(s); s = substr(s, i + 1)) {
			if (substr(s, 1, 1) == "\"") {
				i = index(substr(s, 2), "\"") + 1
				f[++n] = substr(s, 2, i - 2)
				i++
			} else {
				i = index(s ",", ",")
				f[++n] = substr(s, 1, i - 1)
			}
		}
		return n
	}
	NR == 1 { n = fields($0, f); for (i = 1; i <= n; i++) at[f[i]] = i; nr = split(want, w, " ") }
	NR > 1 { fields($0, f); for (i = 1; i <= nr; i++) printf "%s%s", f[at[w[i]]], i < nr ? " " : "\n" }'
}

# run NAME: the workload $dir/NAME.yaml into the run $dir/NAME
run() {
	"${prefix[@]}" "$copypath" run "$dir/$1.yaml" -o "$dir/$1" >"$dir/$1.log" 2>&1 ||
		{ cat "$dir/$1.log" >&2; exit 4; }
}

head_of() {
	printf 'schema: 1\nkind: workload\nname: %s\n' "$1"
	printf 'target: {media: anon, size: 256m}\n'
	printf 'run: {runtime: %s, ramp_time: 50ms, samples: %s, seed: 1}\n' "$runtime" "$samples"
}

{
	head_of grid
	printf 'workload: {rw: read, bs: [%s], numjobs: 1, iodepth: [%s], segment: 16k}\n' \
		"$sizes" "$depths"
	printf 'arms:\n'
	for n in $lanes; do
		printf '  - {name: "%s", queue_mode: mq, path: dma, queue_depth: 128, dma: "model:%s"}\n' \
			"own$n" "$model,channels=$n"
	done
	printf '  - {name: shared8, queue_mode: mq, path: dma, queue_depth: 128, dma: "model:%s"}\n' \
		"$model,total=6g,channels=8"
} >"$dir/grid.yaml"
echo "model engine, reads, one job that polls, $samples samples of $runtime, $how"
run grid
"$copypath" export "$dir/grid" --format csv |
	columns dma bs segments iodepth lat_ns_p50 bw_bytes_per_s |
	sort -k1,1 -k2,2n -k4,4n >"$dir/samples"
cut -d' ' -f1-4 "$dir/samples" | uniq | while read -r dma bs segments iodepth; do
	echo "$dma $bs $segments $iodepth $("$form" "$dma" "$bs" "$segments" "$iodepth")"
done >"$dir/forms"
awk '
function median(values,   v, n, i, j, t) {
	n = split(values, v, " ")
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && v[j] + 0 < v[j - 1] + 0; j--) {
			t = v[j]; v[j] = v[j - 1]; v[j - 1] = t
		}
	return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
function off(x) { return x > 1 ? x - 1 : 1 - x }
FNR == NR { key = $1 " " $2 " " $3 " " $4; lat[key] = lat[key] " " $5; bw[key] = bw[key] " " $6; next }
{
	key = $1 " " $2 " " $3 " " $4
	l = median(lat[key]) / $5
	b = median(bw[key]) / $6
	printf "%-48s bs %7d iodepth %2d  latency %9.2f us x %.3f  bandwidth %8.1f MB/s x %.3f\n",
		$1, $2, $4, $5 / 1000, l, $6 / 1e6, b
	if (off(l) > worst_l) worst_l = off(l)
	if (off(b) > worst_b) worst_b = off(b)
}
END {
	met = FNR && worst_l <= 0.03 && worst_b <= 0.03
	printf "worst of %d cells: latency %.1f %%, bandwidth %.1f %% off the closed form, asked <= 3 %%: %s\n",
		FNR, 100 * worst_l, 100 * worst_b, met ? "met" : "NOT MET"
	exit !met
}' "$dir/samples" "$dir/forms" || failed=1

# 20 us + b / 2g = 60 us + b / 8g: b = 40 us / (1 / 2g - 1 / 8g)
{
	head_of crossover
	printf 'workload: {rw: read, bs: [4k, 16k, 64k, 256k, 1m], numjobs: 1, iodepth: 1, segment: 16k}\n'
	printf 'arms:\n'
	printf '  - {name: quick, queue_mode: mq, path: dma, dma: "model:setup=20us,bw=2g"}\n'
	printf '  - {name: wide, queue_mode: mq, path: dma, dma: "model:setup=60us,bw=8g"}\n'
} >"$dir/crossover.yaml"
run crossover
# 3: nothing was decided, as with one sample; the crossover is found all the same
"$copypath" learn "$dir/crossover" --objective throughput -o "$dir/policy.yaml" 2>"$dir/learn.log" ||
	[ $? -eq 3 ] || { cat "$dir/learn.log" >&2; exit 4; }
sed -n 's/.*crossover: {at: \([0-9a-z]*\),.*/\1/p' "$dir/policy.yaml" | head -1 |
	sed 's/k$/ * 1024/; s/m$/ * 1048576/' | awk '
	{
		found = $1 * ($3 ? $3 : 1)
		g = 1073741824
		expected = 40e-6 / (1 / (2 * g) - 1 / (8 * g))
		r = found / expected
		met = r >= 0.9 && r <= 1.1
		printf "crossover of two devices: %d bytes found, %d expected, x %.3f, asked 0.9 to 1.1: %s\n",
			found, expected, r, met ? "met" : "NOT MET"
	}
	END { if (!NR) print "crossover of two devices: none found: NOT MET"; exit !met }' || failed=1

exit "$failed"
