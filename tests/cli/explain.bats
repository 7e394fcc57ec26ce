# SPDX-License-Identifier: GPL-2.0-only

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	copypath=${COPYPATH_BUILD:-build}/copypath
	[ -x "$copypath" ] || skip "the program is not built"
	policy=$BATS_TEST_TMPDIR/p.yaml
	cat >"$policy" <<-'YAML'
	schema: 1
	kind: policy
	name: quick
	learned: {from: [results/runs/r1], host: h, samples: 240}
	objective: {name: balanced, elapsed: 1.0, cpu: 0.5, tail: 0.0, slo_p99: null, min_bw_frac: null}
	provenance: {media: native, attr: native, dma: software}
	device: {queue_mode: mq, queue_depth: 128, q_per_node: 8, completion: poll, dma_thresh: {read: 64k, write: never}, regret_pct: 2.5}
	rules:
	  - when: {rw: read, layer: none, attr: wb, numa: local, jobs: {min: 1, max: 4}, load: {min: 1, max: 32}, segments: {min: 1}}
	    sizes:
	      - {upto: 16k, do: {name: cpu/nt, path: cpu, copy: nt}, gain_pct: 35.2, confidence: 0.99, samples: 40, crossover: {at: 16k, low: 14k, high: 19k}}
	      - {upto: max, do: {name: offload, path: dma}, gain_pct: 12.0, confidence: 0.97, samples: 40}
	undecided:
	  - {when: {rw: write, layer: none, attr: wb, numa: local}, reason: not_enough_evidence, samples_needed: 12,
	     sizes: [{upto: 64k, use: {name: cpu/memcpy, path: cpu, copy: memcpy}, best: {name: offload, path: dma}, confidence: 0.71}]}
	default: {queue_mode: bio, path: cpu, copy: auto}
	YAML
}

# Description: words hold the gain, the confidence, the crossover, the objective, the device
# and what is undecided.
@test "explain: in words" {
	run "$copypath" explain "$policy"
	[ "$status" -eq 0 ]
	[[ $output == *"one CPU-microsecond is worth 0.5 microseconds"* ]]
	[[ $output == *"up to 16k: CPU copy nt (cpu/nt); costs 35.2 % less"*"confidence 99.0 %"* ]]
	[[ $output == *"crossover lies at 16k, between 14k and 19k"* ]]
	[[ $output == *"above 16k: DMA (offload)"* ]]
	[[ $output == *"leans to DMA (offload)"*"12 more samples"* ]]
	[[ $output == *"reads of 64k and more to DMA, writes never"*"2.5 % more"* ]]
	[[ $output == *"DMA engine software"* ]]
}

# Description: one context is answered, with the reason.
@test "explain: --at" {
	run "$copypath" explain "$policy" --at rw=read,bs=64k,numjobs=2,iodepth=16
	[ "$status" -eq 0 ]
	[[ $output == *"DMA (offload); decided"*"confidence 97.0 %"* ]]
	run "$copypath" explain "$policy" --at rw=read,bs=64k,numjobs=16,iodepth=16
	[[ $output == *"no rule covers it, so the default holds"* ]]
	run "$copypath" explain "$policy" --at rw=randwrite,bs=4k
	[[ $output == *"CPU copy memcpy (cpu/memcpy); undecided, not enough evidence"* ]]
}

# Description: contexts as JSON lines are answered line by line in the documented form.
@test "explain: --at - --json" {
	run "$copypath" explain "$policy" --at - --json <<-'JSON'
	{"rw":"read","bs":4096,"numjobs":1,"iodepth":1,"segments":1,"numa":"local","layer":"none","attr":"wb","media":"anon","corunner":"none"}
	{"rw":"write","bs":4096,"numjobs":1,"iodepth":1}
	{"rw":"write","bs":1048576,"numjobs":1,"iodepth":1,"layer":"btt"}
	JSON
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 3 ]
	[[ ${lines[0]} == '{"name":"cpu/nt","arm":{'*'"copy":"nt"'*'"decided":true,"confidence":0.99,"gain_pct":35.2'*'"best":{"name":"cpu/nt"'*'"reason":null}' ]]
	[[ ${lines[1]} == '{"name":"cpu/memcpy"'*'"decided":false'*'"best":{"name":"offload","path":"dma"},"reason":"not_enough_evidence"}' ]]
	[[ ${lines[2]} == '{"name":"default"'*'"decided":false,"confidence":null'*'"reason":"no_rule"}' ]]
}

# Description: a rule for misaligned buffers is said to be one, and answers only those.
@test "explain: misaligned buffers" {
	sed '/^rules:/a\  - {when: {rw: read, misalign_near: 8}, sizes: [{upto: max, do: {name: mis, path: cpu, copy: memcpy}}]}' \
		"$policy" >"$BATS_TEST_TMPDIR/m.yaml"
	run "$copypath" explain "$BATS_TEST_TMPDIR/m.yaml"
	[ "$status" -eq 0 ]
	[[ $output == *"reads, misalign_near 8, misalign_far 0:"* ]]
	run "$copypath" explain "$BATS_TEST_TMPDIR/m.yaml" --at rw=read,bs=64k,misalign_near=8
	[[ $output == "read bs=64k numjobs=1 iodepth=1, misalign_near 8, misalign_far 0: CPU copy memcpy (mis)"* ]]
	run "$copypath" explain "$BATS_TEST_TMPDIR/m.yaml" --at rw=read,bs=64k,misalign_far=8
	[[ $output == *"no rule covers it"* ]]
	run "$copypath" explain "$BATS_TEST_TMPDIR/m.yaml" --at rw=read,bs=4k
	[[ $output != *misalign* && $output != *"(mis)"* ]]
}

# Description: what a context has that is not usual is in the answer's line, so that two
# answers can be told apart.
@test "explain: --at says which attribute" {
	printf '%s\n' 'schema: 1' 'kind: policy' 'rules:' \
		'  - when: {rw: read, attr: uc}' '    sizes:' \
		'      - {above: 4095, upto: 4k, do: {name: m, path: cpu, copy: memcpy}}' >"$BATS_TEST_TMPDIR/uc.yaml"
	run "$copypath" explain "$BATS_TEST_TMPDIR/uc.yaml" --at rw=read,bs=4k,attr=uc
	[ "$status" -eq 0 ]
	[[ "$output" == "read bs=4k numjobs=1 iodepth=1, attr uc: CPU copy memcpy (m); decided"* ]]
	run "$copypath" explain "$BATS_TEST_TMPDIR/uc.yaml" --at rw=read,bs=4k
	[ "$status" -eq 0 ]
	[[ "$output" == "read bs=4k numjobs=1 iodepth=1: "*"the default holds"* ]]
}

# Description: a bad line stops with its number; the answers before it stand.
@test "explain: a bad line" {
	run "$copypath" explain "$policy" --at - --json <<-'JSON'
	{"rw":"read","bs":4096}
	{"rw":"sideways","bs":4096}
	JSON
	[ "$status" -eq 2 ]
	[[ ${lines[0]} == '{"name":"cpu/nt"'* ]]
	[[ $output == *"<stdin>:2:1: error: "*sideways* ]]
	run "$copypath" explain "$policy" --at - --json <<<'{"rw":'
	[ "$status" -eq 2 ]
	run "$copypath" explain "$policy" --at - --json <<<'{"rw":"read","bs":-1}'
	[ "$status" -eq 2 ]
}

# Description: the whole policy as one JSON document.
@test "explain: --json" {
	run "$copypath" explain "$policy" --json
	[ "$status" -eq 0 ]
	[[ $output == *'"kind": "policy"'*'"regret_pct": 2.5'* ]]
}

# Description: usage errors name what is wrong and what would do.
@test "explain: usage" {
	run "$copypath" explain
	[ "$status" -eq 2 ]
	run "$copypath" explain "$policy" --at bs=4k
	[ "$status" -eq 2 ]
	[[ $output == *"'rw'"* ]]
	run "$copypath" explain "$policy" --at rw=read,bs=4k,numjob=1
	[ "$status" -eq 2 ]
	[[ $output == *"expected numjobs"* ]]
	run "$copypath" explain "$policy" --at rw=read,bs=4k,persist=auto
	[ "$status" -eq 2 ]
	[[ $output == *"unknown --at key 'persist'; expected rw, bs,"*" attr, media,"*" or handler"* ]]
	run "$copypath" explain "$policy" --at rw=read,bs=4k,misalign_near=8,misalign_near=0
	[ "$status" -eq 2 ]
	[[ $output == *"--at has 'misalign_near' twice; expected it once"* ]]
	run "$copypath" explain "$policy" --at rw=read,bs=4q
	[ "$status" -eq 2 ]
	run "$copypath" explain "$BATS_TEST_TMPDIR/absent.yaml"
	[ "$status" -ne 0 ]
	[[ $output == *absent.yaml* ]]
	run "$copypath" explain --help
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -lt 25 ]
}

# Description: problems of a policy come with file, line and column, all at once.
@test "explain: a bad policy" {
	sed -i 's/path: dma}, gain/path: dam}, gain/; s/completion: poll/completion: pol/' "$policy"
	run "$copypath" explain "$policy"
	[ "$status" -eq 2 ]
	[[ $output == *"$policy:7:"*"error:"*"$policy:12:"*"error:"* ]]
}

# Description: the shipped default reads sensibly.
@test "explain: default.yaml" {
	run "$copypath" explain policies/default.yaml
	[ "$status" -eq 0 ]
	[[ $output == *"fits any host"* ]]
	[[ $output == *"CPU copy auto (default) in bio"* ]]
	[[ $output == *"reads of 64k and more to DMA, writes of 32k and more to DMA"* ]]
}

# Description: what is wrong on stdin is told with line and column, and what is expected.
@test "explain: places on stdin" {
	while IFS='|' read -r line place what; do
		run "$copypath" explain "$policy" --at - --json <<<"$line"
		[ "$status" -eq 2 ]
		[[ $output == "$place: error: $what"*"; expected "* ]]
	done <<-'CASES'
	{"rw":"sideways","bs":4096}|<stdin>:1:1|unknown rw 'sideways'
	{"bs":4096}|<stdin>:1:1|context has no 'rw'
	{"rw":"read"}|<stdin>:1:1|context has no 'bs'
	{"rw":"read","bs":-1}|<stdin>:1:1|'bs' is no whole number
	{"rw":7,"bs":4096}|<stdin>:1:1|'rw' is no text
	[1]|<stdin>:1:1|line is no object
	{"rw" "read"}|<stdin>:1:12|no JSON
	CASES
}

# Description: in a bio device a rule for DMA says that it needs mq, in words and in JSON; a
# rule for the CPU is bio's.
@test "explain: DMA rules of a bio device" {
	sed -i 's/^device: .*/device: {queue_mode: bio, completion: sync}/' "$policy"
	run "$copypath" explain "$policy"
	[[ $output == *"rules for DMA take effect only with queue_mode=mq"* ]]
	run "$copypath" explain "$policy" --at rw=read,bs=64k
	[[ $output == *"takes effect only with queue_mode=mq, and the device is set to bio"* ]]
	run "$copypath" explain "$policy" --at - --json <<-'JSON'
	{"rw":"read","bs":4096}
	{"rw":"read","bs":65536}
	JSON
	[[ ${lines[0]} == *'"queue_mode":"bio","path":"cpu"'*'"reason":null}' ]]
	[[ ${lines[1]} == *'"queue_mode":"mq","path":"dma"'*'"decided":true'*'"reason":"dma_needs_queue_mode_mq"}' ]]
	sed -i 's/use: {name: cpu.memcpy, path: cpu, copy: memcpy}/use: {name: offload, path: dma}/' "$policy"
	run "$copypath" explain "$policy" --at - --json <<<'{"rw":"write","bs":4096}'
	[[ $output == *'"reason":"not_enough_evidence, dma_needs_queue_mode_mq"}' ]]
}

# Description: with the device in mq nothing is said of it.
@test "explain: DMA rules of an mq device" {
	run "$copypath" explain "$policy"
	[[ $output != *"take effect only"* ]]
	run "$copypath" explain "$policy" --at - --json <<<'{"rw":"read","bs":65536}'
	[[ $output == *'"reason":null}' ]]
}

# Description: a copy that does not exist is refused at its place, with the nearest.
@test "explain: a copy that is none" {
	sed -i 's/copy: nt}, gain/copy: nonsense}, gain/; s/best: {name: offload, path: dma}/best: {path: cpu, copy: memcyp}/' "$policy"
	run "$copypath" explain "$policy" --at rw=read,bs=4k
	[ "$status" -eq 2 ]
	[[ $output == *"$policy:11:"*"error:"*"nonsense"*"expected"* ]]
	[[ $output == *"$policy:15:"*"error:"*"memcpy"* ]]
}

# Description: a file that is not there: what was expected of it.
@test "explain: an absent policy" {
	run "$copypath" explain "$BATS_TEST_TMPDIR/absent.yaml"
	[ "$status" -ne 0 ]
	[[ $output == *absent.yaml*"expected a policy file" ]]
}
