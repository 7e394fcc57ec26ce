# SPDX-License-Identifier: GPL-2.0-only

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	copypath=${COPYPATH_BUILD:-build}/copypath
	[ -x "$copypath" ] || skip "the program is not built"
	dir=$BATS_TEST_TMPDIR
}

# records CPU_NS DMA_NS [host [dma provenance]]: two arms over six sizes, two samples a
# cell that differ by 1 %; set-up costs as given, DMA moves bytes twice as fast.
records() {
	awk -v cpu="$1" -v dma="$2" -v host="${3:-h}" -v kind="${4:-software}" '
	function line(name, mode, path, copy, engine, prov, setup, beta, bs, n, ns) {
		ns = (setup + beta * bs) * (1 + n / 100)
		printf "{\"schema\":1,\"run\":\"r\",\"sample\":%d,\"t\":\"t\",\"host\":\"%s\",", n, host
		printf "\"context\":{\"rw\":\"read\",\"bs\":%d,\"numjobs\":1,\"iodepth\":1,", bs
		printf "\"segments\":%d,\"media\":\"anon\"},\"arm\":{\"name\":\"%s\",\"queue_mode\":\"%s\",", bs / 4096, name, mode
		printf "\"path\":\"%s\",\"copy\":\"%s\",\"dma\":\"%s\"},", path, copy, engine
		printf "\"provenance\":{\"media\":\"native\",\"attr\":\"native\",\"dma\":\"%s\"},", prov
		printf "\"metrics\":{\"bytes\":%d,\"elapsed_ns\":%d,\"cpu_ns\":%d}}\n", bs * 1000, ns * 1000, ns * 1000
	}
	BEGIN {
		for (n = 0; n < 2; n++)
			for (bs = 4096; bs <= 4194304; bs *= 4) {
				line("cpu", "mq", "cpu", "memcpy", "none", "none", cpu, 0.1, bs, n)
				line("offload", "mq", "dma", "", "sw", kind, dma, 0.05, bs, n)
			}
	}'
}

# Description: a clear gap is decided, the policy goes to stdout and reads back.
@test "learn: a policy on stdout" {
	records 500 20000 >"$dir/r.jsonl"
	"$copypath" learn "$dir/r.jsonl" >"$dir/p.yaml" 2>"$dir/err"
	grep -q '^kind: policy' "$dir/p.yaml"
	grep -q 'decided' "$dir/err"
	run "$copypath" explain "$dir/p.yaml" --at rw=read,bs=4k
	[ "$status" -eq 0 ]
	[[ $output == *"CPU copy memcpy (cpu)"*decided* ]]
	run "$copypath" explain "$dir/p.yaml" --at rw=read,bs=4m
	[[ $output == *"DMA (offload)"*decided* ]]
}

# Description: -o writes the same policy to a file and says so.
@test "learn: -o FILE" {
	records 500 20000 >"$dir/r.jsonl"
	"$copypath" learn "$dir/r.jsonl" >"$dir/a.yaml" 2>/dev/null
	run "$copypath" learn "$dir/r.jsonl" -o "$dir/b.yaml"
	[ "$status" -eq 0 ]
	[[ $output == *"written to $dir/b.yaml"* ]]
	cmp "$dir/a.yaml" "$dir/b.yaml"
}

# Description: learn's words and explain's of the file it wrote are the same, where some
# rules are decided and some are not.
@test "learn: the words of explain" {
	# clear winners at depths 1 and 64, between them two arms that are one
	records 500 20000 >"$dir/1"
	records 500 500 | grep '"name":"cpu"' | sed 's/"iodepth":1,/"iodepth":16,/; p; s/"name":"cpu"/"name":"twin"/' >"$dir/16"
	records 20000 500 | sed 's/"iodepth":1,/"iodepth":64,/' >"$dir/64"
	cat "$dir/1" "$dir/16" "$dir/64" >"$dir/all.jsonl"
	run "$copypath" learn "$dir/all.jsonl" -o "$dir/p.yaml"
	[ "$status" -eq 0 ]
	said=$(grep -E '^(undecided, )?(reads|writes)' <<<"$output")
	grep -q '^undecided' <<<"$said"
	[ "$(grep -c '^reads' <<<"$said")" -ge 2 ]
	[ "$said" = "$("$copypath" explain "$dir/p.yaml" | grep -E '^(undecided, )?(reads|writes)')" ]
}

# Description: nothing to choose between is exit 3, and the policy is written all the same.
@test "learn: nothing decided is exit 3" {
	records 500 20000 | grep '"name":"cpu"' >"$dir/r.jsonl"
	run "$copypath" learn "$dir/r.jsonl" -o "$dir/p.yaml"
	[ "$status" -eq 3 ]
	[[ $output == *"nothing was decided"* ]]
	run "$copypath" explain "$dir/p.yaml"
	[ "$status" -eq 0 ]
	[[ $output == *undecided* ]]
}

# Description: an empty file is exit 3 with a policy that is the default.
@test "learn: no records" {
	: >"$dir/r.jsonl"
	run "$copypath" learn "$dir/r.jsonl" -o "$dir/p.yaml"
	[ "$status" -eq 3 ]
	run "$copypath" emit "$dir/p.yaml" --for modprobe
	[[ $output == *"options cp_pmem queue_mode=0"* ]]
}

# Description: --json is one document with counts, notes and the policy.
@test "learn: --json" {
	records 500 20000 >"$dir/r.jsonl"
	"$copypath" learn "$dir/r.jsonl" --json >"$dir/j" 2>/dev/null
	grep -q '"decided": 2' "$dir/j"
	grep -q '"used": 24' "$dir/j"
	grep -q '"kind": "policy"' "$dir/j"
}

# Description: the same line twice is refused, with both places.
@test "learn: duplicates are refused" {
	records 500 20000 >"$dir/r.jsonl"
	{ cat "$dir/r.jsonl"; head -1 "$dir/r.jsonl"; } >"$dir/twice.jsonl"
	run "$copypath" learn "$dir/twice.jsonl"
	[ "$status" -eq 4 ]
	[[ $output == *"record 25 repeats record 1"* ]]
}

# Description: two hosts, or software and hardware, are refused with both named.
@test "learn: what must not be mixed" {
	records 500 20000 | sed 's/"media":"anon"/"attr":"uc",&/; s/"attr":"native"/"attr":"emulated"/; s/"run":"r"/"run":"s"/' >"$dir/uc.jsonl"
	records 500 20000 >"$dir/wb.jsonl"
	run "$copypath" learn "$dir/wb.jsonl" "$dir/uc.jsonl"
	[ "$status" -eq 4 ]
	[[ $output == *"'native' and 'emulated' of attr; "*"--filter attr=uc"* ]]
	records 500 20000 | sed 's/"media":"anon"/"media":"anon:page=2m"/; s/"run":"r"/"run":"s"/' >"$dir/pages.jsonl"
	run "$copypath" learn "$dir/wb.jsonl" "$dir/pages.jsonl"
	[ "$status" -eq 4 ]
	[[ $output == *"which a policy cannot tell apart;"*"--filter media="* ]]
	records 500 20000 >"$dir/a.jsonl"
	records 500 20000 other >"$dir/b.jsonl"
	records 500 20000 h hardware | sed 's/"run":"r"/"run":"s"/' >"$dir/c.jsonl"
	run "$copypath" learn "$dir/a.jsonl" "$dir/b.jsonl"
	[ "$status" -eq 4 ]
	[[ $output == *"'h' and 'other'"* ]]
	run "$copypath" learn "$dir/a.jsonl" "$dir/c.jsonl"
	[ "$status" -eq 4 ]
	[[ $output == *"'software' and 'hardware'"* ]]
}

# Description: failed samples and those of the null engine are left out and counted.
@test "learn: failed and modelled samples" {
	records 500 20000 >"$dir/r.jsonl"
	{
		cat "$dir/r.jsonl"
		sed -n '1s/}}$/},"failed":"no"}/p' "$dir/r.jsonl" | sed 's/"sample":0/"sample":7/'
		sed -n '2s/software/modelled/;2s/"dma":"sw"/"dma":"null"/p' "$dir/r.jsonl" | sed 's/"sample":0/"sample":8/'
	} >"$dir/all.jsonl"
	run "$copypath" learn "$dir/all.jsonl" -o "$dir/p.yaml"
	[ "$status" -eq 0 ]
	[[ $output == *"24 samples, 1 failed"*"1 modelled"* ]]
}

# Description: a modelled engine is learned beside the CPU, and learn, explain and emit say that
# the policy is a what-if; with a software engine beside it, it is refused.
@test "learn: a modelled engine" {
	records 500 20000 h modelled | sed 's/"dma":"sw"/"dma":"model:bw=20g"/' >"$dir/m.jsonl"
	run "$copypath" learn "$dir/m.jsonl" -o "$dir/p.yaml"
	[ "$status" -eq 0 ]
	[[ $output == *"warning: the DMA engine is modelled: no byte was moved"*"24 samples;"* ]]
	grep -q 'dma: modelled' "$dir/p.yaml"
	run "$copypath" explain "$dir/p.yaml"
	[[ $output == *"DMA engine modelled"*"a what-if: no byte was moved"* ]]
	run "$copypath" emit "$dir/p.yaml" --for modprobe
	[[ $output == *"# warning: the DMA figures are of a modelled engine"* ]]
	records 500 20000 | sed 's/"run":"r"/"run":"s"/' >"$dir/sw.jsonl"
	run "$copypath" learn "$dir/m.jsonl" "$dir/sw.jsonl"
	[ "$status" -eq 4 ]
	[[ $output == *"'modelled' and 'software' of dma"* ]]
}

# Description: objectives are named or given as terms; what is neither is a usage error.
@test "learn: objectives" {
	records 500 20000 >"$dir/r.jsonl"
	run "$copypath" learn "$dir/r.jsonl" -o "$dir/p.yaml" --objective elapsed=1,cpu=0.25
	[ "$status" -eq 0 ]
	[[ $output == *"one CPU-microsecond is worth 0.25 microseconds"* ]]
	run "$copypath" learn "$dir/r.jsonl" --objective balancd
	[ "$status" -eq 2 ]
	[[ $output == *"'balanced'"* ]]
	run "$copypath" learn "$dir/r.jsonl" --objective elapsed=fast
	[ "$status" -eq 2 ]
	run "$copypath" learn "$dir/r.jsonl" --objective tail=1
	[ "$status" -eq 2 ]
	[[ $output == *slo_p99* ]]
}

# Description: usage errors.
@test "learn: usage" {
	run "$copypath" learn
	[ "$status" -eq 2 ]
	run "$copypath" learn --ojective x
	[ "$status" -eq 2 ]
	[[ $output == *"--objective"* ]]
	run "$copypath" learn "$dir/absent.jsonl"
	[ "$status" -ne 0 ]
	[[ $output == *absent.jsonl* ]]
	run "$copypath" learn --help
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -lt 25 ]
}

# Description: a policy that cannot be written leaves the old file as it was.
@test "learn: an unwritable place" {
	records 500 20000 >"$dir/r.jsonl"
	run "$copypath" learn "$dir/r.jsonl" -o "$dir/absent/p.yaml"
	[ "$status" -eq 4 ]
	[[ $output == *absent* ]]
}

# Description: samples that checked their data are left out and counted.
@test "learn: samples with verify on" {
	records 500 20000 >"$dir/r.jsonl"
	{
		cat "$dir/r.jsonl"
		sed -n '1{s/"sample":0/"sample":7/; s/}}$/},"proof":{"bytes_cpu":4096000,"bytes_dma":0,"bytes_simulated":0,"bytes_fallback":0,"fallback":{"no_channel":0,"ring_full":0,"error":0,"too_many_segments":0},"errors":0,"verify":"crc32c","effective_iodepth":1,"copy":"memcpy","dma":"","node":0}}/;p}' "$dir/r.jsonl"
	} >"$dir/all.jsonl"
	run "$copypath" learn "$dir/all.jsonl" -o "$dir/p.yaml"
	[ "$status" -eq 0 ]
	[[ $output == *"24 samples, 1 with verify on left out"* ]]
}

# Description: a full disk is exit 4 with the reason, in JSON as well.
@test "learn: no space on stdout" {
	# more than a buffer of it
	for depth in 1 2 4 8 16 32 64 128; do
		records 500 20000 | sed "s/\"iodepth\":1,/\"iodepth\":$depth,/"
	done >"$dir/r.jsonl"
	[ -w /dev/full ] || skip "no /dev/full"
	for option in "" --json; do
		status=0
		"$copypath" learn ${option:+"$option"} "$dir/r.jsonl" \
			>/dev/full 2>"$dir/err" || status=$?
		[ "$status" -eq 4 ]
		grep -q "cannot write 'stdout': No space left" "$dir/err"
		# one error, and it says something
		[ "$(grep -c "error:" "$dir/err")" -eq 1 ]
	done
}

# Description: a path that is not there is told first, before anything else is warned of.
@test "learn: an absent path" {
	: >"$dir/r.jsonl"
	for paths in "$dir/absent.jsonl" "$dir/r.jsonl $dir/absent.jsonl"; do
		# shellcheck disable=SC2086 # two paths
		run "$copypath" learn $paths
		[ "$status" -eq 2 ]
		[ "${#lines[@]}" -eq 1 ]
		[[ $output == *"cannot read '$dir/absent.jsonl'"*"expected a run directory"* ]]
	done
}

# asked OBJECTIVE: a run directory whose workload asks for it; "": without a manifest.
asked() {
	mkdir -p "$dir/run-$1"
	records 500 20000 | sed "s/\"run\":\"r\"/\"run\":\"r$1\"/" >"$dir/run-$1/records.jsonl"
	[ -z "$1" ] || cat >"$dir/run-$1/manifest.json" <<-END
	{"schema": 1, "kind": "run", "run": "r$1", "t": "2026-11-30T12:00:00Z", "host": "h",
	 "tool": {"copypath": "0.1.0", "fio": "fio-3.33"}, "config": {"name": "w", "objective": "$1"},
	 "config_hash": "sha256:00", "planned": 24, "complete": true, "argv": [],
	 "fingerprint": {"hash": "sha256:11", "soft": {}, "hard": {"cpu": "x"}}}
	END
}

# Description: without --objective the workload's is taken, where all runs have the same, and
# that is said; an option overrides it, and runs that differ give the default and a word.
@test "learn: the objective of the workload" {
	asked throughput
	asked efficiency
	asked balanced
	run "$copypath" learn "$dir/run-throughput" -o "$dir/p.yaml"
	[ "$status" -eq 0 ]
	[[ $output == *"objective throughput: the workload of the run asks for it"* ]]
	grep -q 'name: throughput' "$dir/p.yaml"
	run "$copypath" learn "$dir/run-throughput" -o "$dir/p.yaml" --objective efficiency
	[[ $output != *"asks for it"* ]]
	grep -q 'name: efficiency' "$dir/p.yaml"
	run "$copypath" learn "$dir/run-throughput/records.jsonl" -o "$dir/p.yaml"
	grep -q 'name: throughput' "$dir/p.yaml"
	run "$copypath" learn "$dir/run-throughput" "$dir/run-efficiency" -o "$dir/p.yaml"
	[ "$status" -eq 0 ]
	[[ $output == *"objective balanced: the workloads of "*" ask for 'throughput' and 'efficiency'"* ]]
	grep -q 'name: balanced' "$dir/p.yaml"
	run "$copypath" learn "$dir/run-balanced" -o "$dir/p.yaml"
	[[ $output != *"asks for it"* && $output != *"ask for"* ]]
	# one that cannot be used is none
	sed -i 's/"objective": "throughput"/"objective": "later"/' "$dir/run-throughput/manifest.json"
	run "$copypath" learn "$dir/run-throughput" -o "$dir/p.yaml"
	[ "$status" -eq 0 ]
	grep -q 'name: balanced' "$dir/p.yaml"
}

# beside SHARE_CPU SHARE_DMA: the records above with a co-runner, which gets that share of
# its work alone done beside each arm; DMA has 0.95 of the CPU's bandwidth.
beside() {
	records 500 500 | awk -v cpu="$1" -v dma="$2" '{
		share = /"name":"cpu"/ ? cpu : dma
		match($0, /"bytes":[0-9]+/); bytes = substr($0, RSTART + 8, RLENGTH - 8)
		sub(/"elapsed_ns":[0-9]+/, sprintf("\"elapsed_ns\":%d", bytes / (/"name":"cpu"/ ? 10 : 9.5)))
		sub(/"media":"anon"/, "&,\"corunner\":\"compute\"")
		sub(/"cpu_ns":[0-9]+/, sprintf("&,\"corunner_ops_per_s\":%d,\"corunner_alone_ops_per_s\":%d", share * (1000000 + NR), 1000000 + NR))
		print }'
}

# Description: delivered takes the arm that leaves the co-runner most within 0.9 of the best
# bandwidth; the policy, its words and its JSON say what was weighed.
@test "learn: work delivered beside the I/O" {
	beside 0.3 0.7 >"$dir/r.jsonl"
	run "$copypath" learn "$dir/r.jsonl" --objective delivered -o "$dir/p.yaml"
	[ "$status" -eq 0 ]
	[[ $output == *"only the work counts that a co-runner gets done"*"at least 90 % of the best bandwidth is kept"* ]]
	grep -q 'objective: {name: delivered, elapsed: 0, cpu: 0, tail: 0, corunner: 1, slo_p99: null, min_bw_frac: 0.9}' "$dir/p.yaml"
	run "$copypath" explain "$dir/p.yaml" --at rw=read,bs=64k
	[[ $output == *"DMA (offload); decided"* ]]
	"$copypath" explain "$dir/p.yaml" --json | grep -q '"corunner": *1'
	run "$copypath" learn "$dir/r.jsonl" --objective corunner=1,min_bw_frac=0.97 -o "$dir/p.yaml"
	run "$copypath" explain "$dir/p.yaml" --at rw=read,bs=64k
	[[ $output == *"CPU copy memcpy (cpu); decided"* ]]
}

# Description: without a co-runner in the records there is nothing to judge: exit 3, and what
# to measure; a run is refused before it measures anything.
@test "learn: delivered without a co-runner" {
	records 500 500 >"$dir/r.jsonl"
	run "$copypath" learn "$dir/r.jsonl" --objective delivered -o "$dir/p.yaml"
	[ "$status" -eq 3 ]
	[[ $output == *"no sample has what it did alone and beside the I/O; expected records of a workload with run: {corunner: compute}"* ]]
	[ ! -e "$dir/p.yaml" ]
	run "$copypath" tune configs/workloads/quick.yaml --objective delivered -o "$dir/run"
	[ "$status" -eq 2 ]
	[[ $output == *"expected run: {corunner: compute}, or another objective"* ]]
	[ ! -e "$dir/run" ]
}

# Description: pages are weighed against bio as a mode of the device, and the file reads back.
@test "learn: queue_mode page" {
	records 20000 500 | sed 's/"name":"cpu","queue_mode":"mq"/"name":"cpu","queue_mode":"bio"/
		s/"name":"offload","queue_mode":"mq","path":"dma","copy":"","dma":"sw"/"name":"pages","queue_mode":"page","path":"cpu","copy":"memcpy","dma":"none"/' >"$dir/r.jsonl"
	run "$copypath" learn "$dir/r.jsonl" -o "$dir/p.yaml"
	[[ $output == *"less than bio over the same I/Os; the device and its rules are page's"* ]]
	grep -q '^device: {queue_mode: page, .*completion: sync' "$dir/p.yaml"
	run "$copypath" explain "$dir/p.yaml"
	[ "$status" -eq 0 ]
	[[ $output == *"queue_mode page, 4k pages without a request, so nothing is merged, every copy by the CPU"* ]]
	[[ $("$copypath" explain "$dir/p.yaml" --at - --json <<<'{"rw":"read","bs":65536}') == *'"queue_mode":"page","path":"cpu"'*'"completion":"sync"'* ]]
	sed 's/"media":"anon"/&,"rw_page":0/' "$dir/r.jsonl" >"$dir/off.jsonl"
	run "$copypath" learn "$dir/off.jsonl" -o "$dir/p.yaml"
	[[ $output == *", 12 of queue_mode page left out, whose pages went by bio"* ]]
	grep -q '^device: {queue_mode: bio' "$dir/p.yaml"
}

# Description: records of two drivers are refused with the filter that parts them; a policy
# of another driver than fio says so wherever it is shown.
@test "learn: drivers apart" {
	records 500 20000 >"$dir/fio.jsonl"
	sed 's/"media":"anon"/&,"driver":"exec"/' "$dir/fio.jsonl" >"$dir/exec.jsonl"
	cat "$dir/fio.jsonl" "$dir/exec.jsonl" >"$dir/both.jsonl"
	run "$copypath" learn "$dir/both.jsonl"
	[ "$status" -eq 4 ]
	[[ $output == *"mix driver 'fio' and 'exec'"*"learn --filter driver=exec"* ]]
	"$copypath" learn "$dir/both.jsonl" --filter driver=fio 2>/dev/null >"$dir/a.yaml"
	[ "$(grep -c driver "$dir/a.yaml")" -eq 0 ]
	"$copypath" learn "$dir/both.jsonl" --filter driver=exec 2>/dev/null >"$dir/b.yaml"
	grep -q 'samples: 24, driver: exec}' "$dir/b.yaml"
	run "$copypath" explain "$dir/b.yaml"
	[[ $output == *"of I/Os that driver exec made"* ]]
	"$copypath" explain "$dir/b.yaml" --json | grep -q '"driver": *"exec"'
	run "$copypath" emit "$dir/b.yaml" --for modprobe
	[[ $output == *"# warning: learned of the I/Os of driver exec"* ]]
}
