# SPDX-License-Identifier: GPL-2.0-only

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	copypath=${COPYPATH_BUILD:-build}/copypath
	[ -x "$copypath" ] || skip "the program is not built"
	policy=$BATS_TEST_TMPDIR/p.yaml
	write mq '{read: 64k, write: 32k}' software
}

# write MODE THRESHOLDS DMA
write() {
	cat >"$policy" <<-YAML
	schema: 1
	kind: policy
	name: "two\nlines"
	learned: {from: [r1], host: h, samples: 10}
	provenance: {media: native, attr: native, dma: $3}
	device: {queue_mode: $1, queue_depth: 128, q_per_node: 8, completion: poll, dma_thresh: $2, regret_pct: 3.1}
	YAML
}

# The lines that are no comment.
settings() {
	"$copypath" emit "$policy" --for "$1" | grep -v '^#'
}

# Description: the module's options, exactly, thresholds as whole bytes.
@test "emit: modprobe" {
	run settings modprobe
	[ "$output" = "options cp_pmem queue_mode=1 queue_depth=128 q_per_node=8 dma_thresh_read=65536 dma_thresh_write=32768" ]
	run "$copypath" emit "$policy" --for modprobe
	[[ $output == *"# provenance: media native, attr native, dma software"* ]]
	[[ $output == *"3.1 %"* ]]
}

# Description: a name with a line break cannot become a setting.
@test "emit: names stay in their comment" {
	run "$copypath" emit "$policy" --for modprobe
	[[ $output == *"# copypath policy: two?lines"* ]]
	[ "$(settings modprobe | wc -l)" -eq 1 ]
}

# Description: never is queue_mode 0; never in one direction is a threshold above any request.
@test "emit: never" {
	write bio '{read: never, write: never}' none
	run settings modprobe
	[ "$output" = "options cp_pmem queue_mode=0 queue_depth=128 q_per_node=8 dma_thresh_read=4294966784 dma_thresh_write=4294966784" ]
	write mq '{read: never, write: never}' none
	run settings modprobe
	[[ $output == "options cp_pmem queue_mode=0"* ]]
	write mq '{read: 4k, write: never}' software
	run settings modprobe
	[[ $output == *"queue_mode=1"*"dma_thresh_read=4096 dma_thresh_write=4294966784" ]]
}

# Description: the fio section loads the plug-in of the queue mode with this policy.
@test "emit: fio" {
	run settings fio
	[ "${lines[0]}" = "[global]" ]
	[[ ${lines[1]} == ioengine=external:/*copypath-async.so ]]
	[[ $output == *thread=1* ]]
	[[ $output == *dma=sw* ]]
	[[ $output == *"policy=$(realpath "$policy")"* ]]
	write bio '{read: never, write: never}' none
	run settings fio
	[[ $output == *copypath-sync.so*dma=none* ]]
}

# Description: a path that fio would cut is refused, and nothing is written.
@test "emit: fio cannot carry every path" {
	mkdir "$BATS_TEST_TMPDIR/a#b"
	cp "$policy" "$BATS_TEST_TMPDIR/a#b/p.yaml"
	run "$copypath" emit "$BATS_TEST_TMPDIR/a#b/p.yaml" --for fio -o "$BATS_TEST_TMPDIR/out"
	[ "$status" -eq 2 ]
	[[ $output == *"the policy path '$BATS_TEST_TMPDIR/a#b/p.yaml' holds '#'"* ]]
	[ ! -e "$BATS_TEST_TMPDIR/out" ]
	COPYPATH_PLUGIN_DIR='/x;y' run "$copypath" emit "$policy" --for fio
	[ "$status" -eq 2 ]
	[[ $output == *"the plug-in path '/x;y' holds ';'"* ]]
	run "$copypath" emit "$BATS_TEST_TMPDIR/a#b/p.yaml" --for modprobe
	[ "$status" -eq 0 ]
	run "$copypath" emit nosuch --for fio
	[[ $output == *"; expected a policy file" ]]
}

# Description: the shipped default stays in bio, with thresholds for whoever turns mq on.
@test "emit: default.yaml" {
	policy=policies/default.yaml
	run settings modprobe
	[ "$output" = "options cp_pmem queue_mode=0 queue_depth=128 q_per_node=8 dma_thresh_read=65536 dma_thresh_write=32768" ]
}

# Description: -o writes the file whole.
@test "emit: -o" {
	"$copypath" emit "$policy" --for modprobe -o "$BATS_TEST_TMPDIR/conf"
	grep -q '^options cp_pmem' "$BATS_TEST_TMPDIR/conf"
}

# Description: usage errors.
@test "emit: usage" {
	run "$copypath" emit "$policy"
	[ "$status" -eq 2 ]
	run "$copypath" emit "$policy" --for modprob
	[ "$status" -eq 2 ]
	[[ $output == *"'modprobe'"* ]]
	run "$copypath" emit --for fio
	[ "$status" -eq 2 ]
	run "$copypath" emit --help
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -lt 25 ]
}

# Description: the thresholds of a modelled engine are for no engine that dma=auto finds: a
# fio section of them is refused, but by force; one without DMA is not.
@test "emit: fio and a modelled engine" {
	write mq '{read: 64k, write: 32k}' modelled
	run "$copypath" emit "$policy" --for fio -o "$BATS_TEST_TMPDIR/out"
	[ "$status" -eq 2 ]
	[[ $output == *"learned of a modelled DMA engine"*"--force"* ]]
	[ ! -e "$BATS_TEST_TMPDIR/out" ]
	run "$copypath" emit "$policy" --for fio --force
	[ "$status" -eq 0 ]
	[[ $output == *"a what-if"*dma=auto* ]]
	run "$copypath" emit "$policy" --for modprobe
	[ "$status" -eq 0 ]
	write bio '{read: never, write: never}' modelled
	run "$copypath" emit "$policy" --for fio
	[ "$status" -eq 0 ]
}

# Description: intervals are counted as learn counts them; a cost that is not known is not
# given; q_per_node is not taken for the number of queues.
@test "emit: counts, costs and queues" {
	cat >>"$policy" <<-YAML
	rules:
	  - {when: {rw: read}, sizes: [{upto: 4k, do: {name: c, path: cpu, copy: memcpy}}, {upto: max, do: {name: d, path: dma}}]}
	YAML
	for form in modprobe fio; do
		run "$copypath" emit "$policy" --for "$form"
		[[ $output == *"q_per_node: no more than the CPUs of a node"* ]]
	done
	run "$copypath" emit "$policy" --for modprobe
	[[ $output == *"2 size intervals decided and 0 undecided"* ]]
	sed -i 's/, regret_pct: 3.1//' "$policy"
	run "$copypath" emit "$policy" --for modprobe
	[[ $output == *"against the full policy: not measured"* ]]
	run "$copypath" explain "$policy"
	[[ $output == *"what it costs against the full rules was not measured"* ]]
}

# Description: the fio section of a page policy is the synchronous plug-in in page; with DMA
# it has the channel and how completions are found, hybrid included.
@test "emit: queue_mode page" {
	write page '{read: never, write: never}' none
	run settings fio
	[[ $output == *copypath-sync.so*"queue_mode=page"*"dma=none"* ]]
	[[ $output != *completion=* ]]
	write page '{read: 64k, write: never}' software
	sed -i 's/completion: poll/completion: hybrid/' "$policy"
	run settings fio
	[[ $output == *copypath-sync.so*"queue_mode=page"*"dma=sw"*"completion=hybrid"*"q_per_node=8"* ]]
	run "$copypath" emit "$policy" --for modprobe
	[ "$status" -eq 0 ]
	[[ $output == *"# warning: not expressed: queue_mode page"*"options cp_pmem queue_mode=0 "* ]]
	write page '{read: 64k, write: never}' modelled
	run "$copypath" emit "$policy" --for fio
	[ "$status" -eq 2 ]
}
