# SPDX-License-Identifier: GPL-2.0-only

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	build=${COPYPATH_BUILD:-build}
	[[ $build = /* ]] || build=$root/$build
	copypath=$build/copypath
	cd "$BATS_TEST_TMPDIR" || return 1
}

# workload RUN: the CPU's copies with `run: {RUN}`
workload() {
	cat >w.yaml <<-EOF
		schema: 1
		kind: workload
		name: beside
		target: {media: anon, size: 16m}
		workload: {rw: randread, bs: 64k}
		arms: [{name: cpu, queue_mode: bio, path: cpu}]
		run: {$1}
	EOF
}

# Begin the run as $pid, and wait until its co-runner is there as $beside.
begin() {
	"$copypath" run w.yaml -o run 3>&- &
	pid=$!
	until beside=$(pgrep -P "$pid" -x cp-corunner); do
		kill -0 "$pid" || return 1
	done
}

# finished CODE: the run ended with that
finished() {
	local code=0
	wait "$pid" || code=$?
	[ "$code" -eq "$1" ]
}

is_gone() {
	[ ! -e "/proc/$1/stat" ] || grep -q '^[0-9]* ([^)]*) Z' "/proc/$1/stat"
}

@test "samples have the work of a co-runner, beside and alone, and not its CPU time" {
	workload 'runtime: 200ms, samples: 1,
		corunner: [none, compute, "stream:size=1m,sched=other", "pointer-chase:size=1m,sched=other"]'
	"$copypath" run w.yaml -o run
	jq -s -e 'map(select(.failed)) | length == 0' run/records.jsonl
	jq -s -e '.[] | select(.context.corunner == "none") | .metrics
		| .corunner_ops_per_s == null and (has("corunner_alone_ops_per_s") | not)' run/records.jsonl
	jq -s -e 'map(select(.context.corunner != "none") | .metrics
		| select(.corunner_ops_per_s >= 0 and .corunner_alone_ops_per_s > 0
			and .corunner_alone_ops_per_cpu_s > 0)) | length == 3' run/records.jsonl
	jq -s -e 'map(select(.context.corunner | test("other")) | .metrics
		| select(.corunner_ops_per_s > 0 and .corunner_ops_per_cpu_s > 0)) | length == 2' run/records.jsonl
	# One CPU for both: what each had of it adds up to no more than all of it.
	jq -s -e 'map(select(.context.corunner | test("other")) | .metrics
		| .cpu_pct / 100 + .corunner_ops_per_s / .corunner_ops_per_cpu_s) | max < 1.15' run/records.jsonl
}

@test "a co-runner runs where it was told to, as the least of all" {
	local cpu
	cpu=$(taskset -pc $$ | sed 's/.*[ ,-]//')
	workload "runtime: 2s, samples: 1, corunner: 'compute:cpu=$cpu'"
	begin
	until chrt -p "$beside" | grep -q SCHED_IDLE; do
		kill -0 "$pid"
	done
	taskset -pc "$beside" | grep -q ": $cpu\$"
	kill -INT "$pid"
	finished 130
}

@test "an interrupt ends the co-runner, and keeps nothing of its sample" {
	workload 'runtime: 10s, samples: 1, corunner: compute'
	begin
	kill -INT "$pid"
	finished 130
	is_gone "$beside"
	[ ! -s run/records.jsonl ]
}

@test "nothing is left behind when copypath is killed" {
	local end=$((SECONDS + 20))
	workload 'runtime: 10s, samples: 1, corunner: compute'
	begin
	kill -KILL "$pid"
	finished 137
	until is_gone "$beside"; do
		((SECONDS < end))
	done
}

@test "a sample whose co-runner was lost is a failed one" {
	workload 'runtime: 300ms, samples: 1, corunner: compute'
	begin
	until pgrep -P "$pid" -x fio; do
		kill -0 "$pid"
	done
	kill -KILL "$beside"
	finished 1
	jq -r .failed run/records.jsonl | grep -x 'corunner: its process on CPU [0-9]* was ended by signal 9 (Killed)'
}

@test "a co-runner without a CPU or memory is refused before anything runs, with its place" {
	workload 'corunner: [none, "compute:cpu=1023"]'
	run "$copypath" run w.yaml -o run
	[ "$status" -eq 2 ]
	[[ $output = *"w.yaml:7:24: error: corunner 'compute:cpu=1023': no CPU to run on: 1023 is not "*"; expected 'cpu' one of "* ]]
	workload 'corunner: "stream:size=1t"'
	run "$copypath" run w.yaml -o run
	[ "$status" -eq 2 ]
	[[ $output = *"w.yaml:7:17: error: corunner 'stream:size=1t': too much memory: "*"; expected a smaller 'size' in it (stream:size=...), or one 'cpu'" ]]
	[ ! -e run ]
}

@test "the plan's time has the time alone of its co-runners in it" {
	workload 'runtime: 10s, samples: 3'
	"$copypath" run --dry-run w.yaml | tail -1 | grep -q 'about 0 min 3[0-9] s'
	workload 'runtime: 10s, samples: 3, corunner: compute'
	"$copypath" run --dry-run w.yaml | tail -1 | grep -q 'about 1 min 0[0-9] s'
}
