# SPDX-License-Identifier: GPL-2.0-only

# shellcheck disable=SC2154 # stderr is set by run --separate-stderr
bats_require_minimum_version 1.5.0

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	build=${COPYPATH_BUILD:-build}
	[[ $build = /* ]] || build=$root/$build
	copypath=$build/copypath
	cd "$BATS_TEST_TMPDIR" || return 1
	workload 'perf: [task-clock, cycles]'
}

# w.yaml: two short samples, and $1 in `run`.
workload() {
	printf '%s\n' 'schema: 1' 'kind: workload' 'name: w' \
		'target: {media: anon, size: 16m}' 'workload: {rw: read, bs: 64k}' 'arms:' \
		'  - {name: cpu, queue_mode: bio, path: cpu, copy: memcpy}' \
		'  - {name: mq, queue_mode: mq, path: cpu, copy: memcpy}' \
		'run:' '  runtime: 100ms' '  samples: 1' "  $1" >w.yaml
}

# A perf that runs what is behind `--` with its counters as in $1, an answer for each
# event, or does $2 (shell text) first. It knows no window.
fake_perf() {
	mkdir -p bin
	cat >bin/perf <<-END
		#!/bin/bash
		${2-}
		out=/dev/stderr events=
		while [ "\$1" != -- ]; do
		case \$1 in
		-o) out=\$2 ;;
		-e) events=\$2 ;;
		esac
		shift
		done
		shift
		"\$@"
		rc=\$?
		for event in \${events//,/ }; do printf "$1\n" "\$event"; done >"\$out"
		exit \$rc
	END
	chmod +x bin/perf
	PATH=$PWD/bin:$PATH
}

real_perf() {
	command -v perf >/dev/null || skip "no perf here"
	perf stat -e task-clock true 2>/dev/null || skip "perf may not count here"
}

# The same of $1 of jq in every record.
all_records() {
	jq -e -s "length > 0 and all($1)" r/records.jsonl
}

@test "counts are stored under the names that were asked for" {
	fake_perf '12.5;msec;%s;5;100.00;;'
	workload 'perf: [task-clock, "cycles:u"]'
	run --separate-stderr "$copypath" run w.yaml -o r
	[ "$status" -eq 0 ]
	all_records '.perf == {"task-clock": 12500000, "cycles:u": 12500000}'
	[ ! -e r/jobs/0000.perf ]
}

@test "events that are not supported or not counted are null, and never 0" {
	fake_perf '<not supported>;;%s;0;100.00;;'
	run --separate-stderr "$copypath" run w.yaml -o r
	[ "$status" -eq 0 ]
	all_records '.perf == {"task-clock": null, "cycles": null}'
}

@test "a perf that says nothing leaves null and a note, not a failed sample" {
	# the first two calls are the check of the two events
	# shellcheck disable=SC2016 # for the script
	fake_perf '1;;%s;5;100.00;;' \
		'echo >>calls; [ "$(wc -l <calls)" -le 2 ] || { while [ "$1" != -- ]; do shift; done; shift; exec "$@"; }'
	run --separate-stderr "$copypath" run w.yaml -o r
	[ "$status" -eq 0 ]
	all_records '.perf == {"task-clock": null, "cycles": null} and .failed == null and
		(.notes | contains("0 counts for 2 events"))'
}

@test "the counts are of the measuring window" {
	real_perf
	workload 'perf: [task-clock]'
	export TMPDIR=$PWD
	run --separate-stderr "$copypath" run w.yaml -o r
	[ "$status" -eq 0 ]
	# fio's start alone takes more CPU than that
	all_records '(.perf["task-clock"] / .metrics.cpu_ns - 1) | fabs < 0.25'
	all_records '(.notes // "") | contains("no window") | not'
	run ! compgen -G "$PWD/copypath-perf.*"
}

@test "an event that perf does not know is bad input, with its place" {
	real_perf
	workload 'perf: [task-clock, nosuch]'
	run --separate-stderr "$copypath" run w.yaml -o r
	[ "$status" -eq 2 ]
	[[ $stderr == *"w.yaml:12:22: error: 'perf' has 'nosuch', which perf does not know; expected an event of 'perf list'"* ]]
	[ ! -e r ]
}

@test "without perf the run does not begin and the package is named" {
	mkdir bin
	for tool in env fio sh bash true ldd; do ln -s "$(command -v "$tool")" "bin/$tool"; done
	run --separate-stderr env PATH="$PWD/bin" "$copypath" run w.yaml -o r
	[ "$status" -eq 4 ]
	[[ $stderr == *"there is no perf to count 'task-clock'; expected the package 'linux-perf'"* ]]
	[ ! -e r ]
}

@test "a perf that may not count is told with the setting, before anything runs" {
	fake_perf '' 'echo Error: >&2; echo "Access to performance monitoring and observability operations is limited." >&2; exit 255'
	run --separate-stderr "$copypath" run w.yaml -o r
	[ "$status" -eq 4 ]
	# what is advised is below what is set
	local now lower
	now=$(cat /proc/sys/kernel/perf_event_paranoid)
	lower=$((now > 2 ? 2 : now - 1))
	if ((now > 0)); then
		[[ $stderr == *"kernel.perf_event_paranoid is $now; expected $lower or less ('sysctl -w kernel.perf_event_paranoid=$lower'"* ]]
	else
		[[ $stderr == *"kernel.perf_event_paranoid is $now, which permits it; expected CAP_PERFMON or root"* ]]
	fi
	workload 'profile: true'
	run --separate-stderr "$copypath" run w.yaml -o r
	[ "$status" -eq 4 ]
	[[ $stderr == *"'run.profile': perf may not "*kernel.perf_event_paranoid* ]]
	[ ! -e r ]
}

@test "a perf of another kernel is told from one that is not permitted" {
	fake_perf '' 'echo "WARNING: perf not found for kernel 9.9" >&2; exit 2'
	run --separate-stderr "$copypath" run w.yaml -o r
	[ "$status" -eq 4 ]
	[[ $stderr == *"expected the perf of this kernel"* ]]
}

@test "without the right to the kernel's part, what happens there is null and a note says why" {
	real_perf
	[ "$(id -u)" -eq 0 ] || skip "not root, who could become somebody else"
	command -v setpriv >/dev/null || skip "no setpriv here"
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -eq 2 ] || skip "kernel.perf_event_paranoid is not 2"
	workload 'perf: [task-clock, context-switches]'
	chmod 755 . && mkdir -m 777 out
	nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	"${nobody[@]}" test -r "$copypath" -a -r "$PWD/w.yaml" || skip "nobody cannot read the build"
	run --separate-stderr "${nobody[@]}" "$copypath" run w.yaml -o out/r
	[ "$status" -eq 0 ]
	jq -e -s 'all(.perf["context-switches"] == null and .perf["task-clock"] > 0 and
		(.notes | contains("user mode only")))' out/r/records.jsonl
}

# bats test_tags=long
@test "each cell gets a profile beside its samples, which are no more for it" {
	real_perf
	workload 'profile: true'
	run --separate-stderr "$copypath" run --dry-run w.yaml
	[[ $output == *"2 cells x 1 samples = 2 samples, and 2 profiles, about "* ]]
	run --separate-stderr "$copypath" run w.yaml -o r
	[ "$status" -eq 0 ]
	[ "$(wc -l <r/records.jsonl)" -eq 2 ]
	[ "$(cd r/profiles && echo *)" = '0000-cpu.json 0001-mq.json' ]
	jq -e '.kind == "profile" and .samples > 0 and .windowed and .record.metrics.iops > 0 and
		.record.arm.name == "mq" and ([.symbols[].samples] | add) + .rest.samples == .samples' \
		r/profiles/0001-mq.json
	run ! compgen -G 'r/jobs/*.perf.data'
	# one that is there is not taken again
	rm r/profiles/0001-mq.json
	cp r/profiles/0000-cpu.json before.json
	run --separate-stderr "$copypath" run --resume r
	[ "$status" -eq 0 ]
	[ -s r/profiles/0001-mq.json ]
	cmp r/profiles/0000-cpu.json before.json
	# and the report has them side by side
	run --separate-stderr "$copypath" report r --format text
	[ "$status" -eq 0 ]
	[[ $output == *"A is cpu: "*" I/Os/s, "*"B is mq: "*"change ns/I/O"* ]]
	run --separate-stderr "$copypath" report r -o page --profile mq,cpu
	[ "$status" -eq 0 ]
	grep -q '^## Profiles: mq beside cpu' page/report.md
	grep -q '^read,64k,1,1,' page/tables/profiles.csv
	run --separate-stderr "$copypath" report r --profile mq,nosuch --format text
	[ "$status" -eq 2 ]
	[[ $stderr == *"expected A,B of 'cpu', 'mq'"* ]]
}

@test "a profile that failed is told and the run exits 1, with all samples kept" {
	# shellcheck disable=SC2016 # for the script
	fake_perf '5;;%s;5;100.00;;' '[ "$1" != report ] || { echo broken >&2; exit 3; }
		[ "$1" != evlist ] || { echo cycles; exit 0; }'
	workload 'profile: true'
	run --separate-stderr "$copypath" run w.yaml -o r
	[ "$status" -eq 1 ]
	[[ $stderr == *"failed: profile of cpu "*"perf cannot read its own profile (exit code 3): broken"* ]]
	[[ $stderr == *"2 of 2 samples stored, 0 failed"* ]]
	[ "$(wc -l <r/records.jsonl)" -eq 2 ]
	run ! compgen -G 'r/profiles/*'
}

@test "kill -9 of copypath ends the program below perf as well" {
	local pid program=
	fake_perf '12.5;msec;%s;5;100.00;;'
	workload 'perf: [task-clock]'
	sed -i 's/runtime: 100ms/runtime: 60s/' w.yaml
	"$copypath" run w.yaml -o r 3>&- &
	pid=$!
	until program=$(pgrep -x fio -P "$(pgrep -d, -P "$pid")") && [ -n "$program" ]; do
		kill -0 "$pid"
	done 2>/dev/null
	kill -9 "$pid"
	wait "$pid" || true
	run timeout 5 sh -c "while [ -e /proc/$program/stat ] && ! grep -q ') Z' /proc/$program/stat; do sleep 0.01; done"
	[ "$status" -eq 0 ] || kill -9 "$program"
	[ "$status" -eq 0 ]
}
