# SPDX-License-Identifier: GPL-2.0-only
#
# Driver swap: page faults served through the engine, from a workload file and by hand.

# shellcheck disable=SC2154 # stderr is of run --separate-stderr
bats_require_minimum_version 1.5.0

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	build=${COPYPATH_BUILD:-build}
	[[ $build = /* ]] || build=$root/$build
	copypath=$build/copypath
	swap=$build/copypath-swap
	cd "$BATS_TEST_TMPDIR" || return 1
}

need_uffd() {
	local code=0
	"$swap" size=1m resident=256k faults=1 >/dev/null 2>err || code=$?
	[ "$code" -ne 4 ] || skip "$(cat err)"
}

# workload ARMS [WORKLOAD_KEYS [HANDLERS]]
workload() {
	printf '%s\n' 'schema: 1' 'kind: workload' 'name: w' 'driver: swap' \
		'target: {media: anon, size: 2m}' \
		"workload: {bs: 4k, resident: 512k, ${2:-rw: [write, randread]}, handler: ${3:-beside}}" \
		"arms: $1" 'run: {runtime: 50ms, samples: 1}' >w.yaml
}

bio='{name: bio, queue_mode: bio, path: cpu, batch: 8}'
mq='{name: mq, queue_mode: mq, path: dma, dma: sw, batch: 8}'

@test "a swap run stores faults, their latency and their CPU time beside the usual figures" {
	need_uffd
	workload "[$bio, $mq, {name: page, queue_mode: page, path: cpu}]"
	run --separate-stderr "$copypath" run w.yaml -q -o r
	[ "$status" -eq 0 ]
	[ "$(wc -l <r/records.jsonl)" -eq 6 ]
	while read -r line; do
		[[ $line == *'"driver":"swap","resident":524288}'* ]]
		[[ $line == *'"verify":"pages"'* ]]
		[[ $line =~ \"faults\":[1-9][0-9]*, ]]
		for metric in faults_per_s fault_ns_p50 fault_ns_p99 fault_ns_p999 bytes lat_ns_p50; do
			[[ $line =~ \"$metric\":[1-9] ]]
		done
		[[ $line =~ \"fault_user_ns\":[0-9] && $line =~ \"fault_sys_ns\":[0-9] ]]
		[[ $line != *'"failed"'* ]]
	done <r/records.jsonl
	grep '"name":"mq"' r/records.jsonl | grep -q '"bytes_cpu":0,"bytes_dma":[1-9]'
	[ "$(find r/jobs -type f | wc -l)" -eq 6 ] # what was run, and nothing to explain
	"$copypath" export r --format csv | head -n 1 | grep -q fault_ns_p99
	# the report of a real run has them: its checks are part of the workload
	"$copypath" report r -o rep >/dev/null
	grep -q '^## Swap' rep/report.md
	[ "$(tail -n +2 rep/tables/swap.csv | wc -l)" -eq 6 ]
	[[ $("$copypath" report r --format text) != *"had verify on"* ]]
}

@test "the handler beside and apart are two contexts, and --resume takes what is missing" {
	need_uffd
	[ "$(nproc)" -ge 2 ] || skip "one CPU"
	workload "[$bio]" 'rw: write, numjobs: [1, 3]' '[beside, apart]'
	"$copypath" run w.yaml -q -o r
	[ "$(grep -c '"handler":"apart"' r/records.jsonl)" -eq 2 ]
	sed -i '$d' r/records.jsonl
	run --separate-stderr "$copypath" run --resume r -q
	[ "$status" -eq 0 ]
	[ "$(wc -l <r/records.jsonl)" -eq 4 ]
}

@test "I/O errors fail the sample and show nobody wrong data, by either way to SIGBUS" {
	need_uffd
	workload '[{name: f, queue_mode: mq, path: dma, dma: "fault:sw,error=5%,seed=7", batch: 8}]' \
		'rw: randwrite, numjobs: 2'
	run --separate-stderr "$copypath" run w.yaml -q -o r
	[ "$status" -eq 1 ]
	grep -q '"failed":"[0-9]* i/o errors; expected 0"' r/records.jsonl
	grep -q '"notes":"[^"]*accesses got SIGBUS, [^"]*none was wrong"' r/records.jsonl
	for how in auto map; do
		run --separate-stderr "$swap" size=2m resident=512k rw=randwrite numjobs=2 batch=8 \
			queue_mode=mq path=dma dma=fault:sw,error=5%,seed=7 faults=5000 sigbus=$how
		[ "$status" -eq 1 ]
		[[ $output == *'"mismatches":0,"sigbus":'[1-9]* ]]
		[[ $stderr == *'page-outs failed; no access saw wrong data' ]]
	done
	[[ $output == *'"sigbus_by":"map"'* ]]
}

@test "a page that cannot be had at all ends the sample, in words" {
	need_uffd
	run --separate-stderr timeout 60 "$swap" size=2m resident=512k rw=write faults=100 \
		queue_mode=mq path=dma dma=fault:sw,error=100%
	[ "$status" -eq 1 ]
	[[ $stderr == 'copypath-swap: error: page 128 raised SIGBUS 100 times in a row' ]]
}

@test "without userfaultfd it says so with what to change, and runs nothing" {
	deny=$build/tests/helpers/without_userfaultfd
	[ -x "$deny" ] || skip "the helper without_userfaultfd is not built"
	workload "[$bio]"
	run --separate-stderr "$deny" "$copypath" run w.yaml -o r
	[ "$status" -ne 125 ] || skip "no seccomp here"
	[ "$status" -eq 4 ]
	[ ! -e r ]
	[[ $stderr == *"driver swap: userfaultfd cannot be used: "*"vm.unprivileged_userfaultfd=1"* ]]
	[[ $stderr == *CAP_SYS_PTRACE*/dev/userfaultfd* ]]
	"$deny" "$copypath" run w.yaml --dry-run # needs nothing of it
	run --separate-stderr "$deny" "$swap" size=1m resident=256k faults=1
	[ "$status" -eq 4 ]
}

@test "the estimate of a swap run has the passes around its window" {
	workload "[$bio]" 'rw: write'
	sed -i 's/size: 2m/size: 1g/' w.yaml
	"$copypath" run w.yaml --dry-run | grep -q 'about 0 min 1[01] s'
}

@test "a thread that cannot run where it is to fails the sample" {
	need_uffd
	run --separate-stderr "$swap" size=2m resident=512k faults=100 rw=randwrite numjobs=2 cpus=0,901
	[ "$status" -eq 1 ]
	[[ $stderr == "copypath-swap: error: thread 1 cannot run on CPU 901: "* ]]
}

@test "copypath-swap by hand: so many faults, and bad words are refused" {
	"$swap" --help | grep -q '^usage: copypath-swap'
	while IFS='|' read -r words said; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr "$swap" $words
		[ "$status" -eq 2 ]
		[ "$stderr" = "copypath-swap: error: $said" ]
	done <<-'EOT'
		size|unknown argument 'size'; expected KEY=VALUE, or --help
		sise=1m|unknown key 'sise'; expected those of --help, or of a workload's target, workload or arm
		size=1x|'size' is '1x'; expected a size
		size=1m resident=64k faults=1|'resident' is '64k'; expected a multiple of 4k from 128k up, below 'size'
		size=1m resident=1m faults=1|'resident' is '1m'; expected a multiple of 4k from 128k up, below 'size'
		size=1m resident=256k|neither 'runtime' nor 'faults' is given; expected when to end
		size=1m resident=256k faults=1 numjobs=65|'numjobs' is 65; expected at most 64 threads
		size=1m resident=256k faults=1 bs=8k|'bs' and 'iodepth' of a page fault are 4k and 1; expected these
		size=1m resident=256k faults=1 batch=17|'batch' is 17; expected at most 16 pages at a time
		size=1m resident=256k faults=1 cpus=a|'cpus' is 'a'; expected numbers of CPUs with ',' between
	EOT
	need_uffd
	run --separate-stderr "$swap" size=1m resident=256k faults=2000 rw=randwrite numjobs=2
	[ "$status" -eq 0 ]
	[[ $output == '{"metrics":{"faults":2000,'* ]]
}
