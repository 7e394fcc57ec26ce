# SPDX-License-Identifier: GPL-2.0-only

bats_require_minimum_version 1.5.0

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	build=${COPYPATH_BUILD:-build}
	[[ $build = /* ]] || build=$root/$build
	copypath=$build/copypath
	cd "$BATS_TEST_TMPDIR" || return 1
	workload 'target: {media: anon, size: 16m}' 'workload: {rw: [read, write], bs: 64k}'
}

# w.yaml with that target and workload, two short samples of two arms.
workload() {
	printf '%s\n' 'schema: 1' 'kind: workload' 'name: w' "$1" "$2" 'arms:' \
		'  - {name: cpu, queue_mode: bio, path: cpu, copy: memcpy}' \
		'  - {name: offload, queue_mode: mq, path: dma, dma: sw}' \
		"run: {runtime: 20ms, samples: ${3:-1}${4:+, $4}}" >w.yaml
}

# A fio that says it is version $1 and otherwise does $2 (shell text).
fake_fio() {
	# shellcheck disable=SC2016 # for the script, not for us
	printf '#!/bin/sh\n[ "$1" = --version ] && { echo %s; exit 0; }\n%s\n' "$1" "$2" >fio
	chmod +x fio
	export COPYPATH_FIO=$PWD/fio
}

records() {
	wc -l <"$1/records.jsonl"
}

@test "hardware queues that are fewer than asked for are said once a plan, and in records" {
	# any machine has fewer CPUs than 1024 a node
	sed -i 's/mq, path: dma, dma: sw}/mq, path: cpu, copy: nt, q_per_node: 1024}/' w.yaml
	run --separate-stderr "$copypath" run --dry-run w.yaml
	[ "$status" -eq 0 ]
	[ "$(grep -c 'q_per_node 1024 x .* capped to .* hardware queue' <<<"$stderr")" -eq 1 ]
	run --separate-stderr "$copypath" run w.yaml -o r --filter queue_mode=mq
	[ "$status" -eq 0 ]
	[ "$(grep -c 'warning: .*capped' <<<"$stderr")" -eq 1 ]
	[ "$(jq -s 'map(select(.notes | contains("q_per_node 1024 x"))) | length' r/records.jsonl)" -eq 2 ]
	# the default asks for nothing
	sed -i 's/, q_per_node: 1024//' w.yaml
	run --separate-stderr "$copypath" run --dry-run w.yaml
	[[ $stderr != *capped* ]]
}

@test "a run stores every planned sample and says where" {
	run --separate-stderr "$copypath" run w.yaml -o r
	[ "$status" -eq 0 ]
	[ "$output" = r ]
	[ "$(records r)" -eq 4 ]
	grep -q '"complete": *true' r/manifest.json
	run ! grep -q '"failed"' r/records.jsonl
}

@test "without -o the run is below results/runs and last points at it" {
	run --separate-stderr "$copypath" run w.yaml --quiet --filter rw=read --filter arm=cpu
	[ "$status" -eq 0 ]
	[ -z "$stderr" ] || [[ $stderr = *"last-level cache"* ]]
	[ "$(cd results/runs/last && pwd -P)" = "$(cd "$output" && pwd -P)" ]
	[ "$(records results/runs/last)" -eq 1 ]
}

@test "a run that -o puts into results/runs is the newest there" {
	"$copypath" run w.yaml -q --filter rw=read --filter arm=cpu
	run --separate-stderr "$copypath" run w.yaml -q --filter rw=read --filter arm=cpu -o results/runs/mine
	[ "$status" -eq 0 ]
	[ "$(readlink results/runs/last)" = mine ]
	"$copypath" run w.yaml -q --filter rw=read --filter arm=cpu -o elsewhere
	[ "$(readlink results/runs/last)" = mine ]
	rm results/runs/last
	run "$copypath" run w.yaml -o results/runs/last
	[ "$status" -eq 2 ]
	[[ $output = *"is the link to the newest run"* ]]
	[ ! -e results/runs/last ]
}

@test "a target inside the last-level cache is warned of once" {
	workload 'target: {media: anon, size: 256k}' 'workload: {rw: read, bs: 64k}'
	run --separate-stderr "$copypath" run w.yaml -o r
	[ "$status" -eq 0 ]
	[[ $stderr = *"last-level cache"* ]] || skip "no last-level cache is known here"
	[ "$(grep -c "last-level cache" <<<"$stderr")" -eq 1 ]
}

@test "where SIGCHLD is ignored a fio that fails is still seen to fail" {
	# shellcheck disable=SC2016 # for the script
	fake_fio "$("${COPYPATH_FIO:-fio}" --version)" '[ "$1" = --parse-only ] && exit 7; exit 0'
	run bash -c 'trap "" CHLD; exec "$0" run w.yaml -o r' "$copypath"
	[ "$status" -eq 4 ]
	[[ $output = *"fio refused the job"* ]]
}

@test "a sample that was not verified as asked is failed" {
	local fio=${COPYPATH_FIO:-fio}
	workload 'target: {media: anon, size: 4m}' 'workload: {rw: write, bs: 4k}' 1 'verify: crc32c'
	fake_fio "$("$fio" --version)" "sed -i '/verify/d' \"\$2\"; exec $fio \"\$@\""
	run "$copypath" run w.yaml -o r
	[ "$status" -eq 1 ]
	[ "$(grep -c "\"failed\":\"verify was 'off'; expected 'crc32c'\"" r/records.jsonl)" -eq 2 ]
}

@test "a dry run prints cells, samples and time and makes nothing" {
	run --separate-stderr "$copypath" run --dry-run w.yaml -o r
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 5 ]
	[[ ${lines[4]} = "w: 4 cells x 1 samples = 4 samples, about 0 min 02 s" ]]
	[ ! -e r ]
	[ ! -e results ]
}

@test "the lines of a dry run differ, and each of their words is a filter" {
	workload 'target: {media: anon, size: 16m}' \
		'workload: {rw: [read, write], bs: 64k, misalign_near: [0, 8], misalign_far: 4}'
	sed -i 's/copy: memcpy}/copy: memcpy, persist: [none, auto]}/' w.yaml
	run --separate-stderr "$copypath" run --dry-run w.yaml
	[ "$status" -eq 0 ]
	[ "$(printf '%s\n' "${lines[@]}" | sed 's/^[^ ]* *//' | sort | uniq -d | wc -l)" -eq 0 ]
	[[ $output = *" misalign_near=8 misalign_far=4 "*" persist=auto"* ]]
	for word in ${lines[0]#* }; do
		run "$copypath" run --dry-run w.yaml --filter "$word"
		[ "$status" -eq 0 ]
	done
}

@test "a dry run says what an arm has that it would not have by itself" {
	sed -i 's/, dma: sw}/, dma: sw, max_merge: 1g, queue_depth: 16, q_per_node: 1, completion: irq}/; /bio/d' w.yaml
	run --separate-stderr "$copypath" run --dry-run w.yaml
	[ "$status" -eq 0 ]
	for word in max_merge=1g queue_depth=16 q_per_node=1 completion=irq; do
		[[ ${lines[0]} = *" $word"* ]]
	done
	sed -i 's/max_merge: 1g, queue_depth: 16, q_per_node: 1, completion: irq/max_merge: 0, queue_depth: 128, completion: poll/' w.yaml
	run --separate-stderr "$copypath" run --dry-run w.yaml
	[ "$status" -eq 0 ]
	for word in max_merge queue_depth q_per_node completion; do
		[[ ${lines[0]} != *" $word="* ]]
	done
}

@test "a time that is less than a second is said as one" {
	sed -i 's/20ms/10ms/' w.yaml
	run --separate-stderr "$copypath" run --dry-run w.yaml --filter rw=read --filter arm=cpu
	[[ $output = *"= 1 samples, about 0 min 01 s" ]]
	run --separate-stderr "$copypath" run w.yaml --filter rw=read --filter arm=cpu -o r
	[[ $stderr = *"1 samples of 1 cells, about 0 min 01 s"* ]]
}

@test "a sample that took much longer than its runtime says so" {
	sed -i 's/dma: sw}/dma: "model:setup=1200ms"}/' w.yaml
	run --separate-stderr "$copypath" run w.yaml -o r --filter rw=read
	jq -es 'map({(.arm.name): .notes}) | add |
		(.offload | test("ran 1[.][2-9]s for a runtime of 20ms")) and
		(.cpu // "" | contains("ran ") | not)' r/records.jsonl
}

@test "filters: a key twice means either, two keys mean both" {
	run "$copypath" run --dry-run w.yaml --filter rw=read --filter rw=write --filter dma=sw
	[ "$status" -eq 0 ]
	[[ $output = *"w: 2 cells"* ]]
	[[ $output != *"cpu "* ]]
}

@test "a filter with an unknown key or without a match is bad input" {
	run "$copypath" run --dry-run w.yaml --filter iodeph=1
	[ "$status" -eq 2 ]
	[[ $output = *"unknown key 'iodeph' in --filter; expected 'iodepth'"* ]]
	run "$copypath" run --dry-run w.yaml --filter foo=1
	[ "$status" -eq 2 ]
	[[ $output = *"expected arm, rw, bs,"*" attr, media,"*" misalign_far, driver,"*" handler, queue_mode,"*" persist,"*" or policy_force"* ]]
	run "$copypath" run --dry-run w.yaml --filter bs=4k
	[ "$status" -eq 2 ]
	[[ $output = *"no cell matches filter 'bs=4k'"* ]]
}

@test "usage errors are exit 2 and name what was meant" {
	run "$copypath" run --dryrun w.yaml
	[ "$status" -eq 2 ]
	[[ $output = *"unknown option '--dryrun'; expected '--dry-run'"* ]]
	run "$copypath" run
	[ "$status" -eq 2 ]
	[[ $output = *"no CONFIG"* ]]
	run "$copypath" run --resume r w.yaml
	[ "$status" -eq 2 ]
	run "$copypath" run --json w.yaml
	[ "$status" -eq 2 ]
	[[ $output = *"option '--json' is of 'copypath tune'"* ]]
}

@test "help is under 25 lines" {
	run "$copypath" run --help
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -lt 25 ]
}

@test "a directory that holds something is refused and --resume is named" {
	mkdir r && touch r/precious
	run "$copypath" run w.yaml -o r
	[ "$status" -eq 2 ]
	[[ $output = *"--resume 'r'"* ]]
	[ "$(ls r)" = precious ]
}

# Start a run of many samples, end it with signal $1 when the first is stored.
interrupted_run() {
	workload 'target: {media: anon, size: 16m}' 'workload: {rw: [read, write], bs: 64k}' 2
	"$copypath" run w.yaml -o r 2>err 3>&- &
	local pid=$! code=0
	until [ -s r/records.jsonl ]; do
		kill -0 "$pid"
	done
	kill -s "$1" "$pid"
	wait "$pid" || code=$?
	echo "$code"
}

@test "an interrupted run exits 130, keeps its records and is resumed without duplicates" {
	[ "$(interrupted_run INT)" -eq 130 ]
	grep -q "copypath run --resume r" err
	local kept
	kept=$(records r)
	[ "$kept" -ge 1 ]
	[ "$kept" -lt 8 ]
	grep -q '"complete": *false' r/manifest.json
	head -n "$kept" r/records.jsonl >before
	run "$copypath" run --resume r
	[ "$status" -eq 0 ]
	[ "$(records r)" -eq 8 ]
	head -n "$kept" r/records.jsonl | cmp - before
	grep -q '"complete": *true' r/manifest.json
	[ "$(grep -o '"sample":[0-9]*\|"rw":"[a-z]*"\|"name":"[a-z]*"' r/records.jsonl |
		paste - - - | sort -u | wc -l)" -eq 8 ]
}

@test "SIGTERM is as good as Ctrl-C" {
	[ "$(interrupted_run TERM)" -eq 130 ]
}

@test "a run that another process writes is refused" {
	"$copypath" run w.yaml -q -o r --filter arm=cpu --filter rw=read
	exec 9<r
	flock 9
	run "$copypath" run --resume r
	[ "$status" -eq 4 ]
	[[ $output = *"being written by another copypath"* ]]
}

@test "resume of what is no run, or was made with another fio, is refused" {
	mkdir empty
	run "$copypath" run --resume empty
	[ "$status" -eq 2 ]
	[[ $output = *"no manifest.json"* ]]
	"$copypath" run w.yaml -q -o r --filter arm=cpu --filter rw=read
	sed -i 's/"fio": *"fio-[0-9.]*"/"fio":"fio-3.1"/' r/manifest.json
	run "$copypath" run --resume r
	[ "$status" -eq 4 ]
	[[ $output = *"cannot go on: fio was 'fio-3.1' and is 'fio-"* ]]
}

@test "a target that is a link to nothing is told as one, with its place" {
	ln -s nowhere far
	workload 'target: {media: file, filename: far, size: 16m, allow_overwrite: true}' 'workload: {rw: write, bs: 64k}'
	for how in --dry-run --quiet; do
		run "$copypath" run w.yaml -o r "$how"
		[ "$status" -eq 2 ]
		[[ $output = *"w.yaml:4:33: error: '$PWD/far' is a link to 'nowhere', which does not exist; expected"* ]]
		[ ! -e r ]
		[ ! -e nowhere ]
	done
}

@test "resume without the file of the run is refused before a sample is taken" {
	workload 'target: {media: file, filename: far, size: 16m}' 'workload: {rw: read, bs: 64k}'
	"$copypath" run w.yaml -q -o r
	sed -i '$d' r/records.jsonl
	sed -i 's/"complete": *true/"complete": false/' r/manifest.json
	mv far elsewhere
	run "$copypath" run --resume r
	[ "$status" -eq 4 ]
	[[ $output = *"cannot go on: the target '$PWD/far' is gone"* ]]
	[ "$(records r)" -eq 1 ]
	truncate -s 8m far
	run "$copypath" run --resume r
	[ "$status" -eq 2 ]
	[ "$(records r)" -eq 1 ]
	mv elsewhere far
	run "$copypath" run --resume r
	[ "$status" -eq 0 ]
	[ "$(records r)" -eq 2 ]
}

@test "a fio of another version is refused and both versions are named" {
	fake_fio fio-3.99 'exit 1'
	run "$copypath" run w.yaml -o r
	[ "$status" -eq 4 ]
	[[ $output = *"is fio-3.99 but the plug-in"*"with the headers of fio-"* ]]
	[ ! -e r ]
}

@test "no fio at all is exit 4 with what to do" {
	COPYPATH_FIO=/nowhere/fio run "$copypath" run w.yaml -o r
	[ "$status" -eq 4 ]
	[[ $output = *"cannot start '/nowhere/fio'"*"make deps"* ]]
}

@test "a missing plug-in is exit 4 and names its path" {
	mkdir plugins
	COPYPATH_PLUGIN_DIR=$PWD/plugins run "$copypath" run w.yaml -o r
	[ "$status" -eq 4 ]
	[[ $output = *"cannot read the plug-in '$PWD/plugins/copypath-sync.so'"* ]]
	[ ! -e r ]
}

@test "a plug-in that fio cannot load is exit 4 with fio's own words" {
	mkdir plugins
	# it names the right fio, and that is all it has
	printf 'junk\0%s\0' "$(fio --version)" | tee plugins/copypath-sync.so >plugins/copypath-async.so
	COPYPATH_PLUGIN_DIR=$PWD/plugins run "$copypath" run w.yaml -o r
	[ "$status" -eq 4 ]
	[[ $output = *"fio refused the job of arm 'cpu'"*"not loadable"* ]]
	[ ! -e r ]
}

@test "a fio option's value that fio does not take is bad input with its place" {
	echo 'fio: {random_distribution: "zipf:1.1", rate: banana}' >>w.yaml
	run "$copypath" run w.yaml -o r
	[ "$status" -eq 2 ]
	[[ $output = *"w.yaml:10:46: error: 'rate' cannot be 'banana': fio: failed parsing"* ]]
	[ ! -e r ]
}

@test "fio takes the options that the manual page lists" {
	local root_page=$root/docs/man/copypath-run.1 option
	workload 'target: {media: anon, size: 16m}' 'workload: {rw: randwrite, bs: 64k}'
	cp w.yaml base.yaml
	local fio=${COPYPATH_FIO:-fio}
	fake_fio "$("$fio" --version)" "[ \"\$1\" = --parse-only ] && exec $fio \"\$@\"; exit 3"
	for options in 'random_distribution: "zipf:1.1", rate: 2g, rate_process: poisson, rate_ignore_thinktime: 1, thinktime: 5us, thinktime_spin: 5us, thinktime_blocks: 2, thinktime_blocks_type: issue, thinktime_iotime: 10ms, buffer_compress_percentage: 50, buffer_compress_chunk: 512, iomem_align: 4k, rate_min: 1k, rate_cycle: 1000' \
		'random_generator: lfsr, percentage_random: 50, zonemode: strided, zonerange: 1m, zonesize: 512k, zoneskip: 512k, buffer_pattern: "0xdeadbeef", dedupe_percentage: 20, dedupe_mode: working_set, dedupe_working_set_percentage: 10, mem_align: 4k, rate_iops: 100k, rate_iops_min: 1' \
		'zero_buffers: 1, fsync: 4, fdatasync: 8'; do
		{ cat base.yaml; echo "fio: {$options}"; } >w.yaml
		rm -rf r
		run "$copypath" run w.yaml -o r
		[ "$status" -eq 1 ] # taken by the real fio; the samples are not
		for option in $(grep -o '[a-z_]*:' <<<" $options" | tr -d :); do
			[ "$option" = zipf ] || grep -q "\<$option\>" "$root_page"
		done
	done
}

@test "a path that a job file cannot carry is bad input and nothing is made" {
	local dir
	# shellcheck disable=SC2016 # fio would expand it
	for dir in 'a b;c#d' 'a$pagesize' ' a' '' -x; do
		run "$copypath" run w.yaml -o "$dir"
		[ "$status" -eq 2 ]
		[[ $output = *"-o '$dir' "*expected* ]]
	done
	mkdir 'x#y'
	cp -r "$build"/copypath-*.so 'x#y'
	COPYPATH_PLUGIN_DIR=$PWD/x#y run "$copypath" run w.yaml -o r
	[ "$status" -eq 2 ]
	[[ $output = *"the plug-in directory '$PWD/x#y' holds '#'"* ]]
	workload 'target: {media: file, size: 16m, filename: far.bin}' 'workload: {rw: write, bs: 64k}'
	run --separate-stderr env -C 'x#y' "$copypath" run ../w.yaml -o "$BATS_TEST_TMPDIR/r"
	[ "$status" -eq 2 ]
	[[ $stderr = "../w.yaml:4:44: error: the absolute path of 'filename' holds '#'"* ]]
	[ ! -e 'x#y/far.bin' ]
	workload 'target: {media: anon, size: 16m}' 'workload: {rw: [read, write], bs: 64k}'
	[ ! -e r ]
	[ -z "$(find . -maxdepth 1 -name 'a*' -o -maxdepth 1 -name '-x')" ]
	mkdir 'a b:c'
	run "$copypath" run w.yaml -o 'a b:c/r'
	[ "$status" -eq 0 ]
}

# A policy in p.yaml that was learned on a machine with fingerprint $1, "" = none.
policy() {
	printf '%s\n' 'schema: 1' 'kind: policy' 'name: p' \
		"learned: {host: other, samples: 1${1:+, fingerprint: \"sha256:$1\"}}" >p.yaml
	printf '%s\n' 'schema: 1' 'kind: workload' 'name: w' \
		'target: {media: anon, size: 16m}' 'workload: {rw: read, bs: 64k}' 'arms:' \
		"  - {name: a, queue_mode: mq, path: auto, dma: sw, policy: p.yaml${2:+, $2}}" \
		'run: {runtime: 20ms, samples: 1}' >w.yaml
}

@test "a policy of another machine is refused before anything runs, unless it is forced" {
	local zeros
	zeros=$(printf '%064d' 0)
	policy "$zeros"
	for how in --dry-run --quiet; do
		run "$copypath" run w.yaml -o r "$how"
		[ "$status" -eq 4 ]
		[[ $output = *"w.yaml:7:60: error: policy '$PWD/p.yaml'"*"policy_force: true"* ]]
		[ ! -e r ]
	done
	policy "$zeros" 'policy_force: true'
	run "$copypath" run w.yaml -o r
	[ "$status" -eq 0 ]
	grep -q '"policy_force":1' r/records.jsonl
	sed -i 's/"policy_force": *1/"policy_force":0/' r/manifest.json
	run "$copypath" run --resume r
	[ "$status" -eq 4 ]
}

@test "a policy that cannot be read is named with its own place" {
	policy ''
	echo 'nme: x' >>p.yaml
	run "$copypath" run w.yaml --dry-run
	[ "$status" -eq 2 ]
	[[ $output = "w.yaml:7:60: error: 'policy': $PWD/p.yaml:5:1: error: unknown key 'nme'"* ]]
}

@test "a workload that is not there is said to be one" {
	run "$copypath" run nosuch.yaml
	[ "$status" -eq 2 ]
	[[ $output = *"'nosuch.yaml'"*"; expected a workload file" ]]
}

@test "fio without output makes a failed sample, exit 1, and keeps what explains it" {
	local version
	version=$("${COPYPATH_FIO:-fio}" --version)
	# shellcheck disable=SC2016 # for the script
	fake_fio "$version" '[ "$1" = --parse-only ] && exit 0; echo boom >&2; exit 3'
	run "$copypath" run w.yaml -o r
	[ "$status" -eq 1 ]
	[[ $output = *"no JSON in its output; stderr: boom"* ]]
	[ "$(records r)" -eq 4 ]
	[ "$(grep -c '"failed":"fio: no JSON' r/records.jsonl)" -eq 4 ]
	grep -q '"lat_ns_mean":null' r/records.jsonl
	grep -q boom r/jobs/0000.err
	run "$copypath" run --resume r
	[ "$status" -eq 1 ]
}

@test "too little memory is exit 4 before anything runs" {
	workload 'target: {media: anon, size: 60t}' 'workload: {rw: read, bs: 64k}'
	run "$copypath" run w.yaml -o r
	[ "$status" -eq 4 ]
	[[ $output = *"not enough memory"*"are available"* ]]
	[ ! -e r ]
}

@test "no space for the file is exit 4 before anything runs" {
	workload 'target: {media: file, size: 60t, filename: far.bin}' 'workload: {rw: read, bs: 64k}'
	run "$copypath" run w.yaml -o r
	[ "$status" -eq 4 ]
	[[ $output = *"no space for '$PWD/far.bin': 60t needed"* ]]
	[ ! -e r ]
	[ ! -e far.bin ]
}

@test "a file that exists is written only with allow_overwrite" {
	head -c 16m /dev/zero >far.bin
	workload 'target: {media: file, size: 16m, filename: far.bin}' 'workload: {rw: write, bs: 64k}'
	run "$copypath" run w.yaml -o r
	[ "$status" -eq 2 ]
	[[ $output = "w.yaml:4:"*"allow_overwrite: true"* ]]
	cmp -n 16777216 far.bin /dev/zero
	sed -i 's/far.bin/far.bin, allow_overwrite: true/' w.yaml
	run "$copypath" run w.yaml -o r
	[ "$status" -eq 0 ]
	[ "$(stat -c %s far.bin)" -eq 16777216 ]
}

@test "a file that exists is read without leave and not changed" {
	head -c 16m /dev/urandom >far.bin
	cp far.bin copy.bin
	workload 'target: {media: file, size: 16m, filename: far.bin}' 'workload: {rw: read, bs: 64k}'
	run "$copypath" run w.yaml -o r
	[ "$status" -eq 0 ]
	cmp far.bin copy.bin
}

@test "a missing file is made whole and that is said" {
	workload 'target: {media: file, size: 16m, filename: far.bin}' 'workload: {rw: write, bs: 64k}'
	run "$copypath" run w.yaml -o r
	[ "$status" -eq 0 ]
	[[ $output = *"made '$PWD/far.bin' with 16777216 bytes"* ]]
	[ "$(stat -c %s far.bin)" -eq 16777216 ]
}

@test "verify=crc32c passes for both arms, one job and two" {
	workload 'target: {media: anon, size: 4m}' \
		'workload: {rw: [write, randwrite], bs: 4k, numjobs: [1, 2], iodepth: 8}' 1 'verify: crc32c'
	run "$copypath" run w.yaml -o r
	[ "$status" -eq 0 ]
	[ "$(grep -c '"verify":"crc32c"' r/records.jsonl)" -eq 8 ]
}

@test "the smoke workload passes" {
	run "$copypath" run "$root/configs/workloads/smoke.yaml" -o r
	[ "$status" -eq 0 ]
	[ "$(records r)" -eq 16 ]
}

@test "the quick workload asks for at most 150 samples" {
	run "$copypath" run --dry-run "$root/configs/workloads/quick.yaml"
	[ "$status" -eq 0 ]
	local nr
	nr=$(grep -o '= [0-9]* samples' <<<"$output" | tr -dc 0-9)
	[ "$nr" -le 150 ]
}

@test "a plug-in that is not whole is said to be none, by probe too" {
	mkdir moved
	cp "$copypath" "$build"/copypath-*.so moved/
	: >moved/copypath-async.so
	run moved/copypath run w.yaml -o r
	[ "$status" -eq 4 ]
	[[ $output == *"copypath-async.so' is no copypath plug-in"* ]]
	[ ! -e r ]
	run moved/copypath probe
	[ "$status" -eq 0 ]
	[[ $output != *"plug-ins match it"* ]]
}

@test "a fio that dies is said to have died" {
	fake_fio fio-3.33 'kill -9 $$'
	run "$copypath" run w.yaml -o r
	[ "$status" -eq 4 ]
	[[ $output == *"signal 9"* ]]
}

@test "a file that may not be read is refused before anything runs" {
	command -v setpriv >/dev/null || skip "no setpriv to be another user with"
	[ "$(id -u)" -eq 0 ] || skip "only root can become another user"
	open=$(mktemp -d) # bats' own folders are closed to others
	chmod 755 "$open"
	head -c 16m /dev/zero >"$open/far"
	chmod 0 "$open/far"
	workload "target: {media: file, filename: $open/far, size: 16m}" \
		'workload: {rw: read, bs: 64k}'
	cp "$copypath" "$build"/copypath-*.so w.yaml "$open"
	cd "$open"
	run setpriv --reuid=65534 --clear-groups ./copypath run w.yaml --dry-run
	cd - && rm -r "$open"
	[ "$status" -eq 4 ]
	[[ $output == *"cannot read '$open/far'"* ]]
}

@test "a sparse file that the file system cannot fill is refused before anything runs" {
	[ "$(id -u)" -eq 0 ] || skip "only root can mount a small file system"
	mkdir small
	mount -t tmpfs -o size=1m copypath-test small 2>/dev/null || skip "cannot mount here"
	truncate -s 16m small/far
	workload "target: {media: file, filename: $PWD/small/far, size: 16m, allow_overwrite: true}" \
		'workload: {rw: write, bs: 64k}'
	run "$copypath" run w.yaml --dry-run
	umount small
	[ "$status" -eq 4 ]
	[[ $output == *"no space to fill the holes"* ]]
}

@test "dma-offload plans every context of the published table, by CPU and by DMA" {
	run "$copypath" run --dry-run "$root/configs/workloads/dma-offload.yaml"
	[ "$status" -eq 0 ]
	while IFS=, read -r op bs jobs depth path _; do
		size=$([ "$bs" = 65536 ] && echo 64k || echo 2m)
		grep -q "rw=$op bs=$size numjobs=$jobs iodepth=$depth .* path=$path " <<<"$output"
	done < <(grep -v '^#\|^op' "$root/results/published/jiang-2017-dma.csv")
}
