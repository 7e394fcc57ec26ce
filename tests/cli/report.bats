# SPDX-License-Identifier: GPL-2.0-only

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	build=${COPYPATH_BUILD:-build}
	copypath=$build/copypath
	make_records=$build/tests/helpers/report_records
	[ -x "$copypath" ] || skip "the program is not built"
	[ -x "$make_records" ] || skip "the helper report_records is not built"
	dir=$BATS_TEST_TMPDIR
	out=$dir/out
}

# records KIND: a run directory without a manifest.
records() {
	mkdir -p "$dir/$1"
	"$make_records" "$1" >"$dir/$1/records.jsonl"
}

report() {
	"$copypath" report "$@" 2>"$dir/err"
}

# Whether nothing of a report in the making is left.
nothing_aside() {
	! find "$dir" -name '*.tmp.*' | grep -q .
}

need_gnuplot() {
	command -v gnuplot >/dev/null || skip "gnuplot is not there"
}

@test "a whole report: page, Markdown, figures with data and script, tables" {
	need_gnuplot
	records quick
	run report "$dir/quick" -o "$out"
	[ "$status" -eq 0 ]
	[ "$output" = "$out/index.html" ]
	for name in bandwidth-1 bandwidth-4 cpu-1 cpu-4 map-1 map-2; do
		for form in svg png csv gp; do
			[ -s "$out/figures/$name.$form" ]
		done
	done
	for name in cells rules regret harness failures environment; do
		[ -s "$out/tables/$name.csv" ]
	done
	[ -s "$out/report.md" ]
	nothing_aside
	# every file but the marker is listed in it
	[ "$(find "$out" -type f | wc -l)" -eq "$(wc -l <"$out/.copypath-report")" ]
}

@test "the page is one file: no script, nothing fetched" {
	records quick
	report "$dir/quick" -o "$out"
	run grep -ciE '<script|<link|<img|<iframe|@import|src=|url\(http' "$out/index.html"
	[ "$output" = 0 ]
	[ "$(grep -o '<svg' "$out/index.html" | wc -l)" -eq "$(find "$out/figures" -name '*.svg' | wc -l)" ]
}

@test "the page is valid HTML, whatever the records hold" {
	command -v tidy >/dev/null || skip "tidy is not there"
	for kind in quick one onearm null failed hostile attributes offload paths; do
		records "$kind"
		report "$dir/$kind" -o "$out-$kind"
		run tidy -q -e "$out-$kind/index.html"
		[ -z "$output" ]
	done
}

@test "a hostile name shows as itself and runs nothing" {
	need_gnuplot
	records hostile
	report "$dir/hostile" -o "$out" --title '<b>t</b>'
	run grep -c '<script' "$out/index.html"
	[ "$output" = 0 ]
	# shellcheck disable=SC2016 # the name as it is
	grep -qF '&lt;script&gt;alert(1)&lt;/script&gt;&#39;&quot;\`id`↵@a ^b_{c} |*#$(id)' \
		"$out/index.html"
	grep -qF '&lt;b&gt;t&lt;/b&gt;' "$out/index.html"
	grep -qF "LABEL[1] = '<script>alert(1)</script>''\"\\\`id\`↵@a ^b_" \
		"$out/figures/bandwidth-1.gp"
	grep -qF "&lt;script>alert(1)&lt;/script>'\"\\\`id\`↵@a ^b_" \
		"$out/figures/bandwidth-1.svg"
	# in Markdown only an indented block may hold it, where it is text
	run grep -c '^ \{0,3\}[^ ].*<script' "$out/report.md"
	[ "$output" = 0 ]
	[ -s "$out/figures/map-2.png" ]
}

@test "a figure is drawn again by its own script" {
	need_gnuplot
	records quick
	report "$dir/quick" -o "$out"
	cp "$out/figures/cpu-1.svg" "$dir/first.svg"
	rm "$out/figures/cpu-1.svg"
	(cd "$out/figures" && gnuplot -d cpu-1.gp)
	# but for the colour of an empty group, which the figure before leaves behind
	diff <(grep -v "color=.#FFFFFF" "$dir/first.svg") \
		<(grep -v "color=.#FFFFFF" "$out/figures/cpu-1.svg")
}

@test "what was not measured is a gap, never zero" {
	records quick
	grep -v '"bs":65536,.*"name":"offload"' "$dir/quick/records.jsonl" >"$dir/gap.jsonl"
	report "$dir/gap.jsonl" -o "$out"
	run awk -F, '$1 == 65536 { print $11 "," $12 "," $13 }' "$out/figures/bandwidth-1.csv"
	[ "$output" = "NaN,NaN,NaN" ]
}

@test "text: the mailing-list layout in 72 columns, on stdout only" {
	records quick
	run report "$dir/quick" --format text
	[ "$status" -eq 0 ]
	[[ $output == *"64k: 1 task queuedepth=1"* ]]
	[[ $output =~ CPU\ Read:\ +[0-9]+\ MB/s\ +[0-9.]+%\ CPU\ +DMA\ Read:\ +[0-9]+\ MB/s\ +[0-9.]+%\ CPU ]]
	[[ $output =~ CPU\ Write:\ +[0-9]+\ MB/s\ +[0-9.]+%\ CPU\ +DMA\ Write:\ +[0-9]+\ MB/s ]]
	[[ $output == *"DMA is offload: software DMA, mq"* ]]
	[[ $output != *null* ]]
	[ "$(awk 'length > 72' <<<"$output" | wc -l)" -eq 0 ]
	[ ! -e "$dir/quick/report" ]
}

@test "the default place is the run directory, and an older report is replaced whole" {
	records quick
	records failed
	report "$dir/quick"
	[ -s "$dir/quick/report/index.html" ]
	cp "$dir/failed/records.jsonl" "$dir/quick/records.jsonl"
	report "$dir/quick"
	grep -q 'Failed samples' "$dir/quick/report/index.html"
	nothing_aside
}

@test "a directory that is no report, or holds more than one, is refused" {
	records quick
	mkdir "$out"
	touch "$out/thesis.tex"
	run report "$dir/quick" -o "$out"
	[ "$status" -eq 2 ]
	grep -qF "holds 'thesis.tex', which is not part of a copypath report" "$dir/err"
	rm "$out/thesis.tex"
	report "$dir/quick" -o "$out"
	touch "$out/figures/mine.png"
	run report "$dir/quick" -o "$out"
	[ "$status" -eq 2 ]
	grep -qF "'figures/mine.png'" "$dir/err"
	[ -e "$out/figures/mine.png" ]
	nothing_aside
}

@test "bad records leave an older report as it was" {
	records quick
	report "$dir/quick"
	before=$(md5sum "$dir/quick/report/index.html")
	sed -i '3s/"bw_bytes_per_s":/"bw_bytes_per_s":-/' "$dir/quick/records.jsonl"
	run report "$dir/quick"
	[ "$status" -eq 4 ]
	grep -q ':3:' "$dir/err"
	[ "$(md5sum "$dir/quick/report/index.html")" = "$before" ]
	nothing_aside
}

@test "no records, and the same records twice, are errors" {
	records quick
	: >"$dir/empty.jsonl"
	run report "$dir/empty.jsonl" -o "$out"
	[ "$status" -eq 4 ]
	grep -qF "'$dir/empty.jsonl' holds no records" "$dir/err"
	run report "$dir/quick" "$dir/quick" -o "$out"
	[ "$status" -eq 4 ]
	grep -q 'there twice' "$dir/err"
	[ ! -e "$out" ]
}

@test "without gnuplot the page has its tables and says what is missing" {
	records quick
	PATH=/nonexistent run "$copypath" report "$dir/quick" -o "$out"
	[ "$status" -eq 0 ]
	[[ $output == *"gnuplot was not found; install gnuplot-nox"* ]]
	grep -q 'figures are missing' "$out/index.html"
	grep -q 'All cells' "$out/index.html"
	[ ! -e "$out/figures/bandwidth-1.svg" ]
	[ -s "$out/figures/bandwidth-1.csv" ]
}

@test "a place that cannot be written is exit 4" {
	records quick
	run report "$dir/quick" -o /proc/report
	[ "$status" -eq 4 ]
	grep -qF "cannot make '/proc/report" "$dir/err"
}

@test "a full disk is exit 4 and leaves nothing" {
	[ "$(id -u)" -eq 0 ] || skip "needs root to mount a small file system"
	records quick
	mkdir "$dir/small"
	mount -t tmpfs -o size=64k none "$dir/small" || skip "cannot mount"
	run report "$dir/quick" -o "$dir/small/out"
	left=$(find "$dir/small" -mindepth 1)
	umount "$dir/small"
	[ "$status" -eq 4 ]
	grep -q 'No space left' "$dir/err"
	[ -z "$left" ]
}

@test "only null: the harness's cost is shown and nothing is recommended" {
	records null
	report "$dir/null" -o "$out"
	grep -q 'What the harness itself costs' "$out/index.html"
	grep -q 'Nothing yet: no policy' "$out/index.html"
}

@test "failed samples are listed with their reasons" {
	records failed
	report "$dir/failed" -o "$out"
	[ "$(wc -l <"$out/tables/failures.csv")" -gt 10 ]
	grep -q 'i/o errors' "$out/tables/failures.csv"
}

@test "a policy given is the policy shown" {
	records quick
	report "$dir/quick" -o "$out" --policy policies/default.yaml
	grep -q 'From policies/default.yaml' "$out/index.html"
	run report "$dir/quick" -o "$out" --policy "$dir/none.yaml"
	[ "$status" -ne 0 ]
}

# manifest KIND ARGV_JSON: beside the records of KIND.
manifest() {
	cat >"$dir/$1/manifest.json" <<-END
	{"schema": 1, "kind": "run", "run": "made-up", "t": "2026-11-30T12:00:00Z",
	 "host": "made-up", "tool": {"copypath": "0.1.0", "fio": "fio-3.33"},
	 "config": {"name": "quick", "run": {"samples": 2}, "pinning": {"cpus": [0]},
	            "cells": [{"context": {"bs": 4096}}, {"context": {"bs": 8192}}]},
	 "config_hash": "sha256:00", "planned": 240, "complete": true, "argv": $2,
	 "fingerprint": {"hash": "sha256:11", "soft": {}, "hard":
	  {"mitigations": "gather_data_sampling=Not;spectre_v1=Mitigation;vmscape=Not"}}}
	END
}

@test "the objective: the workload's, or the option's; not with a policy" {
	records quick
	"$copypath" learn "$dir/quick" -o "$dir/p.yaml" 2>/dev/null
	manifest quick '[]'
	sed -i 's/"config": {/"config": {"objective": "throughput", /' "$dir/quick/manifest.json"
	report "$dir/quick" -o "$out"
	grep -qF 'for this report (objective throughput: the workload of the run asks for it' "$out/report.md"
	grep -q '^Objective throughput: ' "$out/report.md"
	report "$dir/quick" -o "$out" --objective efficiency
	grep -qF 'for this report (objective efficiency)' "$out/report.md"
	# also where a policy lies beside the records
	cp "$dir/p.yaml" "$dir/quick/policy.yaml"
	report "$dir/quick" -o "$out"
	run grep -c 'for this report' "$out/report.md"
	[ "$output" = 0 ]
	report "$dir/quick" -o "$out" --objective efficiency
	grep -qF 'for this report (objective efficiency)' "$out/report.md"
	run report "$dir/quick" -o "$out" --objective quick
	[ "$status" -eq 2 ]
	run report "$dir/quick" -o "$out" --objective efficiency --policy "$dir/quick/policy.yaml"
	[ "$status" -eq 2 ]
	grep -q "'--policy' with '--objective'" "$dir/err"
}

@test "how to reproduce: the printed command is one that run takes" {
	records quick
	manifest quick '["run", "configs/workloads/quick.yaml"]'
	report "$dir/quick" -o "$out"
	command=$(sed -n 's|^<pre>\(copypath run .*\)$|\1|p' "$out/index.html")
	[ "$command" = "copypath run configs/workloads/quick.yaml" ]
	grep -qxF "    $command" "$out/report.md"
	# shellcheck disable=SC2086 # words, as a shell would read the line
	run "$build"/$command --dry-run
	[ "$status" -eq 0 ]
	# the settings are for reading: folded in HTML, and without the cells
	grep -q '<details>' "$out/index.html"
	run grep -c '&quot;cells&quot;' "$out/index.html"
	[ "$output" = 0 ]
	grep -q 'less its 2 cells (for reading; this is no workload file)' "$out/index.html"
	[ "$(wc -l <"$out/report.md")" -lt 500 ]
}

@test "how to reproduce: a run that does not say how it was made" {
	records quick
	manifest quick '[]'
	report "$dir/quick" -o "$out"
	grep -q 'is not in its manifest: its workload file (config_hash sha256:00) is needed' \
		"$out/index.html"
}

@test "mitigations are shown in words, and lines can end between them" {
	records quick
	manifest quick '[]'
	report "$dir/quick" -o "$out"
	grep -qF 'gather_data_sampling=not affected; spectre_v1=Mitigation; vmscape=not affected' \
		"$out/index.html"
}

@test "tables: no line ends within a word, and each scrolls in its own box" {
	records quick
	report "$dir/quick" -o "$out"
	run grep -c 'overflow-wrap:anywhere' "$out/index.html"
	[ "$output" = 0 ]
	grep -q '^\.scroll{overflow-x:auto;' "$out/index.html"
	[ "$(grep -c '<table' "$out/index.html")" -eq "$(grep -c '<div class="scroll">' "$out/index.html")" ]
	# what is the same in all rows is said once, but the data keep it
	grep -q 'All rows: jobs 1, host made-up, media anon native, attr wb native, layer none, numa local, corunner none, persist none, N 2' "$out/index.html"
	head -1 "$out/tables/cells.csv" | grep -q ',media,.*,N,'
}

@test "figures: log axes say so, and a map of one row has room for its axis' name" {
	records one
	report "$dir/one" -o "$out"
	# 110 pixels for the row, between what is above and what is below
	awk '/^(HEIGHT|TOP|BOTTOM) = / { v[$1] = $3 } END { exit v["HEIGHT"] - v["TOP"] - v["BOTTOM"] < 110 }' \
		"$out/figures/map-1.gp"
	for figure in cpu-1 map-1; do
		grep -q 'log scale' "$out/figures/$figure.gp"
	done
}

@test "no name is cut in the map: whole, or its number in the legend" {
	records quick
	cat >"$dir/policy.yaml" <<-'END'
	schema: 1
	kind: policy
	name: narrow
	rules:
	  - when: {rw: write, layer: none, attr: wb, numa: local, jobs: {min: 1}, load: {min: 1}, segments: {min: 1}}
	    sizes:
	      - {upto: 6k, do: {name: cpu-memcpy, path: cpu, copy: memcpy}}
	      - {upto: 8k, do: {name: offload, path: dma}}
	      - {upto: 11k, do: {name: elsewhere-16-lon, path: cpu, copy: nt-sse2}}
	      - {upto: max, do: {name: cpu-nt, path: cpu, copy: nt}}
	END
	report "$dir/quick" -o "$out" --policy "$dir/policy.yaml"
	run awk -F, 'NR > 1 && $1 == 1 { print $6 }' "$out/figures/map-2.csv"
	[ "$output" = $'1\n2\na\ncpu-nt' ]
	grep -qxF "LABEL[1] = '1  cpu-memcpy'" "$out/figures/map-2.gp"
	grep -qxF "LABEL[2] = '2  offload'" "$out/figures/map-2.gp"
	grep -qF 'a is elsewhere-16-lon, not measured here.' "$out/index.html"
}

@test "a box that leans to what it uses says nothing of it" {
	records quick
	cat >"$dir/policy.yaml" <<-'END'
	schema: 1
	kind: policy
	name: leaning
	undecided:
	  - when: {rw: read, layer: none, attr: wb, numa: local, jobs: {min: 1}, load: {min: 1}, segments: {min: 1}}
	    reason: tie
	    samples_needed: 22836
	    sizes:
	      - {upto: 128k, use: {name: cpu-nt, path: cpu, copy: nt}, best: {name: cpu-nt, path: cpu, copy: nt}}
	      - {upto: max, use: {name: cpu-nt, path: cpu, copy: nt}, best: {name: offload, path: dma}}
	END
	report "$dir/quick" -o "$out" --policy "$dir/policy.yaml"
	run awk -F, 'NR > 1 && $1 == 1 { print $6 "," $7 }' "$out/figures/map-1.csv"
	[ "$output" = $'cpu-nt," "\ncpu-nt,? leans offload' ]
	grep -q 'the noise here is too large' "$out/index.html"
	grep -q ',22836,' "$out/tables/rules.csv"
}

@test "cache attributes: a section, a figure, two tables; published figures by name" {
	need_gnuplot
	records attributes
	report "$dir/attributes" -o "$out"
	grep -q '<h2>Cache attributes</h2>' "$out/index.html"
	for form in svg png csv gp; do
		[ -s "$out/figures/attributes-1.$form" ]
	done
	grep -q "^KIND\[1\] = 'native'$" "$out/figures/attributes-1.gp"
	grep -q "published: .*Robert Elliott" "$out/figures/attributes-1.svg"
	# one size is no curve
	[ ! -e "$out/figures/bandwidth-1.csv" ]
	[ -s "$out/figures/cpu-1.svg" ]
	# native and emulated rows of one arm are told apart
	grep -q ',memcpy,memcpy,made-up,anon native,uc emulated,' "$out/tables/cells.csv"
	grep -q ',memcpy,memcpy,made-up,anon native,wb native,' "$out/tables/cells.csv"
	# WC memcpy is above the others by the wall clock only, and that is said
	awk -F, '/,read,wall clock,/' "$out/tables/attribute-order.csv" | grep -q 'WC nt-both is 0.83 of WC memcpy'
	awk -F, '/,read,CPU time,/' "$out/tables/attribute-order.csv" | grep -q ',none,'
	# a row that nobody published, and one that nobody measured
	grep -q ',wc,avx512,emulated,3,1100,1100 to 1100,2200,1.10,-,-,-,' "$out/tables/attributes.csv"
	grep -q ',wt,memcpy,not measured,-,-,-,-,-,2100,' "$out/tables/attributes.csv"
}

@test "cache attributes: no section with one attribute, no published figures without the table" {
	records quick
	report "$dir/quick" -o "$out"
	run grep -c 'Cache attributes' "$out/index.html"
	[ "$output" = 0 ]
	records attributes
	cp -r policies report "$dir/"
	COPYPATH_DATA=$dir run "$copypath" report "$dir/attributes" -o "$out"
	[ "$status" -eq 0 ]
	[[ $output == *"the published figures are not shown: "*"elliott-2015-cache-attributes.csv"* ]]
	grep -q 'Cache attributes' "$out/index.html"
	run grep -c 'linux-nvdimm' "$out/index.html"
	[ "$output" = 0 ]
}

@test "CPU beside DMA: the published figures stand beside ours, in the text and in a table" {
	records offload
	run report "$dir/offload" --format text
	[[ $output == *"published:  7631 MB/s   99.7% CPU  published:  2415 MB/s   54.0% CPU"* ]]
	[[ $output == *"published: ioatdma, Skylake, 2017, another machine:"*"Dave Jiang, linux-nvdimm, 2017-07-31. Hardware DMA."* ]]
	[ "$(awk 'length > 72' <<<"$output" | wc -l)" -eq 0 ]
	report "$dir/offload" -o "$out"
	head -1 "$out/tables/cpu-dma.csv" | grep -q ',CPU MB/s,CPU %,.*,published CPU MB/s,published CPU %,'
	grep -q '^read,64k,1,1,made-up,bio-nt,.*,dma-sw (software),software,.*,7631,99.7,2415,54.0,0.32,0.54,MB/s$' \
		"$out/tables/cpu-dma.csv"
	grep -q 'dma-sw (software): DMA over CPU lies on the published side of 1 in ' "$out/index.html"
	grep -qF 'Published figures (ioatdma, Skylake, 2017): ' "$out/index.html"
	# beside a model, which may be made from them, there are none
	run grep -c 'what-if (modelled): DMA over CPU' "$out/index.html"
	[ "$output" = 0 ]
	grep -q '^read,64k,1,1,.*,what-if (modelled),modelled,.*,-,-,-,-,-,-,-$' "$out/tables/cpu-dma.csv"
	grep -v '"dma":"sw' "$dir/offload/records.jsonl" >"$dir/model.jsonl"
	run report "$dir/model.jsonl" --format text
	[[ $output == *"modelled DMA"* && $output != *published* ]]
	# of a load that nobody published, and with no table at all, nothing is said
	sed 's/"iodepth":16/"iodepth":8/' "$dir/offload/records.jsonl" >"$dir/other.jsonl"
	report "$dir/other.jsonl" -o "$out"
	grep -q '^read,64k,16,8,.*,-,-,-,-,-,-,-$' "$out/tables/cpu-dma.csv"
	cp -r policies report "$dir/"
	COPYPATH_DATA=$dir run "$copypath" report "$dir/offload" --format text
	[ "$status" -eq 0 ]
	[[ $output == *"the published figures are not shown: "*"jiang-2017-dma.csv"* ]]
	[[ $output != *"published: "*" MB/s"* ]]
}

@test "offloaded I/Os: their phases as figure and table, what the queue made of them, provenance" {
	need_gnuplot
	records offload
	report "$dir/offload" -o "$out"
	grep -qF "<h2>Where an offloaded I/O&#39;s time goes</h2>" "$out/index.html"
	for form in svg png csv gp; do
		[ -s "$out/figures/phases-4.$form" ]
	done
	grep -q '^6,64k,software,.*,10,12,97,100,33,[0-9.]*,dma-sw (software)$' "$out/figures/phases-1.csv"
	grep -qF 'mean latency of those I/Os that were timed' "$out/report.md"
	grep -qF 'Timed were 33 to 33 I/Os a bar.' "$out/report.md"
	grep -q "ROW\[5\] = '64k  what-if'; TOTAL\[5\] = '.* us modelled'" "$out/figures/phases-1.gp"
	grep -q '<h2>Requests</h2>' "$out/index.html"
	grep -q '^read,2m,16,16,made-up,what-if (modelled),modelled,3,' "$out/tables/requests.csv"
	# a plain copy of the CPU has neither
	run grep -hc 'bio-' "$out/tables/requests.csv" "$out/tables/phases.csv"
	[ "$output" = $'0\n0' ]
	grep -q "LABEL\[4\] = 'what-if (modelled)'" "$out/figures/bandwidth-1.gp"
	grep -q 'DMA: modelled. A device of given speed' "$out/index.html"
	# too few, or unlike the others: said, and not drawn where too few
	sed 's/"timed":11/"timed":9/; s/"lat_ns_mean":/&1/' "$dir/offload/records.jsonl" >"$dir/few.jsonl"
	report "$dir/few.jsonl" -o "$out"
	grep -q 'rows are of fewer than 30 timed I/Os' "$out/report.md"
	grep -q 'rows the timed I/Os took on average over 25 % more or less' "$out/report.md"
	[ ! -e "$out/figures/phases-1.csv" ]
	# a depth that did not take effect
	run grep -c 'in effect' "$out/report.md"
	[ "$output" = 0 ]
	sed 's/"effective_iodepth":16/"effective_iodepth":3/' "$dir/offload/records.jsonl" >"$dir/depth.jsonl"
	report "$dir/depth.jsonl" -o "$out"
	grep -q '16 (3 in effect)' "$out/tables/cells.csv"
	grep -q 'the figures are of depth M' "$out/report.md"
	# records from before have no phases and no counters, and no section of them
	records quick
	report "$dir/quick" -o "$out"
	run grep -cE 'time goes</h2>|<h2>Requests' "$out/index.html"
	[ "$output" = 0 ]
}

@test "usage errors" {
	run report
	[ "$status" -eq 2 ]
	run report x --format pdf
	[ "$status" -eq 2 ]
	grep -qF "unknown format 'pdf'; expected html or text" "$dir/err"
	run report x --tittle y
	[ "$status" -eq 2 ]
	run report x -o
	[ "$status" -eq 2 ]
	run report x -o y --format text
	[ "$status" -eq 2 ]
}

@test "--help is short" {
	run "$copypath" report --help
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -lt 25 ]
}

@test "page path, completion modes, delivered work, swap and counters have their sections" {
	need_gnuplot
	records paths
	report "$dir/paths" -o "$out"
	for title in 'Completion modes' 'What the page path bypassed' 'Delivered to an application' \
		'Swap' 'Counters per I/O'; do
		grep -qF "<h2>$title</h2>" "$out/index.html"
	done
	grep -q 'Warning: write 16k, .*; only merged into requests they would have reached DMA. Measure mq with max.*merge beside' "$out/report.md"
	grep -q 'Warning: write 32k, .*; each I/O as one request they would have reached DMA. Measure mq beside' "$out/report.md"
	grep -q 'I/Os went by bio, as the target' "$out/report.md"
	grep -q 'about 15% reduction in system time' "$out/report.md"
	grep -q ',null,.*modelled, not compared' "$out/tables/delivered.csv"
	for form in svg png csv gp; do
		[ "$(find "$out/figures" -name "delivered-*.$form" | wc -l)" -eq 1 ]
	done
	# faults are in no figure of bandwidth
	run grep -cE "(Bandwidth by block size|CPU against bandwidth).*driver swap" "$out/report.md"
	[ "$output" = 0 ]
	run report "$dir/paths" --format text
	[ "$(awk 'length > 72' <<<"$output" | wc -l)" -eq 0 ]
	[[ $output == *"WARNING: "*" MB would have gone by DMA, merged"* ]]
	[[ $output == *"WARNING: "*" MB would have gone by DMA, an I/O a request"* ]]
	# none of it where nothing of it was measured
	records quick
	report "$dir/quick" -o "$out"
	run grep -cE '<h2>(Completion modes|What the page|Delivered|Swap|Counters)' "$out/index.html"
	[ "$output" = 0 ]
}
