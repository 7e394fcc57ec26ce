# SPDX-License-Identifier: GPL-2.0-only
#
# copypath run: the fio, the plug-ins and the policies of a run.

# shellcheck disable=SC2154 # stderr is set by run --separate-stderr
bats_require_minimum_version 1.5.0

load run.bash

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
