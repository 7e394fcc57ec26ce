# SPDX-License-Identifier: GPL-2.0-only
#
# Driver exec: what a program of the user's may answer, and what becomes of it.
bats_require_minimum_version 1.5.0

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	build=${COPYPATH_BUILD:-build}
	[[ $build = /* ]] || build=$root/$build
	copypath=$build/copypath
	cd "$BATS_TEST_TMPDIR" || return 1
}

# app: the shell on stdin answers each $ask; workload: what asks it, $1 samples
app() {
	{
		printf '#!/bin/sh\nwhile IFS= read -r ask; do\n'
		cat
		printf 'done\n'
	} >app.sh
	chmod +x app.sh
}

workload() {
	cat >w.yaml <<-EOF
		schema: 1
		kind: workload
		name: app
		driver: {exec: [./app.sh], timeout: 200ms}
		target: {media: anon, size: 16m}
		workload: {rw: read, bs: 4k}
		arms: [{name: cpu, queue_mode: bio, path: cpu, copy: memcpy}]
		run: {runtime: 10ms, ramp_time: 0, samples: $1${2:-}}
	EOF
}

# fails CODE TEXT: the run ends so, and a record says why
fails() {
	run "$copypath" run w.yaml -o r
	echo "$output"
	[ "$status" -eq "$1" ]
	cat r/records.jsonl
	grep -q "\"failed\":\"[^\"]*$2" r/records.jsonl
}

@test "a bare object of metrics is an answer, names of its own are kept" {
	app <<<"echo '{\"bytes\":1000,\"elapsed_ns\":1000,\"rows\":7}'"
	workload 2
	"$copypath" run w.yaml -o r
	[ "$(grep -c '"rows":7' r/records.jsonl)" -eq 2 ]
	grep -q '"media":"external"' r/records.jsonl
	"$copypath" export r --format csv >flat
	cat flat
	grep -q app_ops_per_s flat
}

@test "an error that the program tells fails its sample alone" {
	app <<<"case \$ask in *'\"sample\":0,'*) echo '{\"error\":\"no luck\"}' ;; *) echo '{\"bytes\":1,\"elapsed_ns\":1}' ;; esac"
	workload 2
	fails 1 'no luck'
	[ "$(grep -c '"failed"' r/records.jsonl)" -eq 1 ]
}

@test "garbage, two lines, silence and an end are no answers" {
	local case
	for case in 'echo hello|answer' "printf '{}\\n{}\\n'|said more" 'sleep 9|no answer in' 'exit 3|exit code 3' \
		"head -c 1100000 /dev/zero | tr '\\0' x|longer than"; do
		rm -rf r
		app <<<"${case%|*}"
		workload 2
		fails 1 "${case##*|}"
	done
}

@test "a crash quotes stderr, and the next sample goes on" {
	app <<<"case \$ask in *'\"sample\":0,'*) echo it hurts >&2; kill -SEGV \$\$ ;; *) echo '{\"bytes\":1,\"elapsed_ns\":1}' ;; esac"
	workload 2
	fails 1 'signal 11.*it hurts'
	[ "$(grep -c '"failed"' r/records.jsonl)" -eq 1 ]
}

@test "three deaths without a word end the run" {
	app <<<'exit 3'
	workload 5
	run "$copypath" run w.yaml -o r
	echo "$output"
	[ "$status" -eq 4 ]
	[[ $output == *"has given no good answer in its first 3 samples"* ]]
}

@test "a run is resumed from elsewhere with the program it began with" {
	app <<<"pwd >&2; echo '{\"bytes\":1,\"elapsed_ns\":1}'"
	workload 2
	"$copypath" run w.yaml -o r
	sed -i 2d r/records.jsonl
	sed -i 's/"complete": *true/"complete": false/' r/manifest.json
	here=$PWD
	cd /
	"$copypath" run --resume "$here/r"
	cd "$here"
	[ "$(wc -l <r/records.jsonl)" -eq 2 ]
	[ "$(sort -u r/jobs/exec.err)" = "$here" ]
	rm app.sh
	sed -i 2d r/records.jsonl
	run "$copypath" run --resume r
	echo "$output"
	[ "$status" -eq 4 ]
	[[ $output == *"app.sh' cannot be run"* ]]
}

@test "fio need not be there" {
	app <<<"echo '{\"bytes\":1,\"elapsed_ns\":1}'"
	workload 1
	COPYPATH_FIO=/no/such/fio "$copypath" run w.yaml -o r
	grep -q '"fio": *"none"' r/manifest.json
}

@test "nothing is left behind by Ctrl-C or kill -9" {
	local signal pid app
	for signal in INT KILL; do
		rm -rf r app.pid
		app <<<'echo $$ >app.pid; sleep 60'
		workload 1
		sed -i 's/timeout: 200ms/timeout: 60s/' w.yaml
		# a background job of a shell without job control ignores SIGINT
		env --default-signal=INT "$copypath" run w.yaml -o r 3>&- &
		pid=$!
		until [ -s app.pid ]; do kill -0 "$pid"; done
		app=$(cat app.pid)
		kill "-$signal" "$pid"
		wait "$pid" || true
		timeout 5 sh -c "while kill -0 -$app 2>/dev/null; do sleep 0.01; done"
	done
}

@test "a program that kills its guard kills not copypath" {
	# the guard: the child of ours that leads a group and is not the program
	app <<'END'
for pid in $(cat "/proc/$PPID/task/$PPID/children"); do
	[ "$pid" = $$ ] || kill -9 "$pid"
done
echo '{"bytes":1,"elapsed_ns":1}'
END
	workload 2
	"$copypath" run w.yaml -o r
	run ! grep -q '"failed"' r/records.jsonl
}

@test "beside a co-runner the program is where that is, elsewhere where it likes" {
	[ "$(nproc)" -gt 1 ] || skip "one CPU: there is no elsewhere"
	app <<'END'
n=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
echo "{\"metrics\":{\"bytes\":1,\"elapsed_ns\":1},\"notes\":\"on <$n>\"}"
END
	workload 2 ', corunner: ["none", "compute"]'
	"$copypath" run w.yaml -o r
	cat r/records.jsonl
	run ! grep -q '"failed"' r/records.jsonl
	here=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
	jq -s -e --arg here "on <$here>" 'map(select(.context.corunner == "none").notes)
		| length == 2 and all(startswith($here + "; "))' r/records.jsonl
	jq -s -e 'map(select(.context.corunner == "compute").notes)
		| length == 2 and all(test("^on <[0-9]+>; "))' r/records.jsonl
}

@test "a program that tells no window has the co-runner's figures of the whole sample, and a note" {
	app <<<"echo '{\"bytes\":1,\"elapsed_ns\":1}'"
	workload 1 ', corunner: ["none", "compute"]'
	"$copypath" run w.yaml -o r
	jq -s -e 'map(has("notes") and (.notes | contains("of the whole sample: the program told no window")))
		== map(.context.corunner == "compute")' r/records.jsonl
}

@test "the example of docs/apps.md works word for word" {
	# shellcheck disable=SC2016 # a fence of Markdown
	sed -n '/^```sh$/,/^```$/p' "$root/docs/apps.md" | sed '1d;$d' >app.sh
	chmod +x app.sh
	workload 1
	sed -i 's/200ms/5s/' w.yaml
	"$copypath" run w.yaml -o r
	grep -q '"blocks":4' r/records.jsonl
	run ! grep -q '"failed"' r/records.jsonl
}

# best SETUP: the arm that tune finds at each size, where offload costs SETUP ns and 0.2 ns
# a byte, the CPU 100 ns and 1 ns a byte, with 1 % of seeded noise, other for each arm
best() {
	app <<-EOF
		echo "\$ask" | awk '{
			match(\$0, /"bs":[0-9]+/); bs = substr(\$0, RSTART + 5, RLENGTH - 5) + 0
			match(\$0, /"seed":[0-9]+/)
			dma = \$0 ~ /"path":"dma"/
			srand(substr(\$0, RSTART + 7, RLENGTH - 7) % 1000000 + 2 * bs + dma)
			ns = (dma ? $1 + 0.2 * bs : 100 + bs) * (0.99 + 0.02 * rand())
			printf "{\"bytes\":%d,\"elapsed_ns\":%d,\"cpu_ns\":%d}\n", bs, ns, ns
		}'
	EOF
	workload 5
	sed -i -e 's/bs: 4k/bs: [4k, 8k, 64k, 256k]/' -e '/^arms/d' w.yaml
	printf '%s\n' 'arms:' '  - {name: cpu, queue_mode: mq, path: cpu, copy: memcpy}' \
		'  - {name: offload, queue_mode: mq, path: dma, dma: sw}' >>w.yaml
	rm -rf r
	"$copypath" tune w.yaml -q -o r --objective throughput >&2 || return
	for bs in 4k 8k 64k 256k; do
		"$copypath" explain r/policy.yaml --at "rw=read,bs=$bs,numjobs=1,iodepth=1" --json |
			grep -o '^{"name":"[a-z]*"' | cut -d '"' -f 4
	done
}

@test "tune finds the best arm of a known truth at each size" {
	[ "$(best 20000 | paste -sd ' ')" = 'cpu cpu offload offload' ]
	[ "$(best 4000 | paste -sd ' ')" = 'cpu offload offload offload' ]
}

@test "figures that the harness saw otherwise are a failure, with both numbers" {
	app <<<"echo '{\"bytes\":1000,\"elapsed_ns\":50000000000}'"
	workload 2
	fails 1 "'elapsed_ns' is 50000000000, but the sample took "
}

@test "a path without proof is said to be unproven, and notes stand once" {
	app <<<"echo '{\"metrics\":{\"bytes\":1000,\"elapsed_ns\":1000},\"notes\":\"mine\"}'"
	workload 1
	"$copypath" run w.yaml -o r
	grep -q '"notes":"mine; path not proven: the program gave no proof"' r/records.jsonl
}

@test "samples that are kept but failed are said to be" {
	app <<<'exit 3'
	workload 5
	run "$copypath" run w.yaml -o r
	[ "$status" -eq 4 ]
	[[ $output == *"2 of 5 samples are kept, both failed;"* ]]
}

@test "a dry run refuses what the run would: events, and CPUs of a co-runner" {
	app <<<'exit 3'
	workload 1
	sed 's/^run: {/&corunner: "compute:cpu=999", /' w.yaml >c.yaml
	run "$copypath" run c.yaml --dry-run
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output == *"corunner 'compute:cpu=999'"* ]]
	# one that knows no event, and none at all: that is the machine's lack
	mkdir bin
	printf '#!/bin/sh\nexit 129\n' >bin/perf
	chmod +x bin/perf
	sed -i 's/^run: {/&perf: [bogus-event], /' w.yaml
	PATH=$PWD/bin:$PATH run "$copypath" run w.yaml --dry-run
	echo "$output"
	[ "$status" -eq 2 ]
	[[ $output == *"'bogus-event', which perf does not know"* ]]
	mkdir none
	ln -s "$(type -P env)" none/env
	PATH=$PWD/none run "$copypath" run w.yaml --dry-run
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"there is no perf"* ]]
}
