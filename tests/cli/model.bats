# SPDX-License-Identifier: GPL-2.0-only
#
# The model engine through the product: fio, records, learning and the report.

bats_require_minimum_version 1.5.0
load engine

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	copypath=$BUILD/copypath
	# shellcheck disable=SC2034 # of engine()
	json=$BATS_TEST_TMPDIR/fio.json
	side=$BATS_TEST_TMPDIR/side
	cd "$BATS_TEST_TMPDIR" || return 1
}

# Description: what was given to the model is counted as simulated, polled or by interrupt, and
# no I/O is back before its time.
@test "model: bytes are simulated, no I/O is early" {
	for more in "--completion=poll --dma=model:setup=100us" \
		"--completion=irq --dma=model:setup=90us,irq=10us,channels=4"; do
		rm -f "$side"
		# shellcheck disable=SC2086 # options
		run -0 engine "$ASYNC" --media=anon --size=4m --rw=randread --bs=4k --iodepth=4 \
			--io_size=1m --path=dma $more
		run -0 jq -r '[.proof.bytes_simulated, .proof.bytes_dma, .proof.bytes_cpu,
			.provenance.dma, .proof.dma, .lat.min_ns >= 99000] | @text' "$side"
		[ "$output" = '[1048576,0,0,"modelled","model",true]' ]
	done
}

# Description: with data=yes what is written is read back, through descriptors of many segments,
# channels that pass each other, and a ring smaller than the queue; it stays modelled.
@test "model: data=yes verifies" {
	run -0 engine "$ASYNC" --media=anon --size=8m --rw=randwrite --bs=4k-256k --iodepth=16 \
		--path=dma --verify=crc32c \
		--dma=model:setup=2us,bw=8g,total=16g,jitter=50%,channels=4,ring=8,data=yes
	run -0 jq -r '[.proof.bytes_dma > 0, .proof.bytes_simulated, .proof.errors,
		.provenance.dma, .proof.dma] | @text' "$side"
	[ "$output" = '[true,0,0,"modelled","model/data"]' ]
}

# Description: without data there is nothing to verify, and fio is told so.
@test "model: verify without data is refused" {
	run engine "$ASYNC" --media=anon --size=1m --rw=write --bs=4k --path=dma \
		--dma=model:bw=2g --verify=crc32c
	[ "$status" -ne 0 ]
	[[ $output == *"moves no data"* ]]
}

# Description: the what-if workloads plan, run, are learned as modelled and drawn as such.
@test "model: the what-if workloads" {
	for name in ioat dsa; do
		config=$root/configs/workloads/what-if-$name.yaml
		run -0 "$copypath" run "$config" --dry-run
		sed 's/runtime: 300ms, ramp_time: 100ms, samples: 3/runtime: 20ms, samples: 1/; s/256m/16m/' \
			"$config" >short.yaml
		run -0 "$copypath" run short.yaml -o "$name" --filter rw=read --filter iodepth=1 \
			--filter bs=4k --filter bs=64k
		grep -q '"dma":"modelled"' "$name/records.jsonl"
		run "$copypath" learn "$name" --objective throughput -o policy.yaml
		[ "$status" -eq 0 ] || [ "$status" -eq 3 ]
		[[ $output == *"the policy is a what-if"* ]]
		grep -q 'dma: modelled' policy.yaml
		run -0 "$copypath" report "$name" -o "report-$name"
		grep -q 'DMA: modelled' "report-$name/report.md"
		grep -q ',modelled' "report-$name"/tables/cells.csv
	done
}

# Description: whoever uses a policy of a modelled engine with another one reads of it.
@test "model: a what-if policy on a real copy" {
	cat >p.yaml <<-'END'
		schema: 1
		kind: policy
		name: dream
		provenance: {media: native, attr: native, dma: modelled}
		rules:
		  - when: {rw: read}
		    sizes:
		      - {upto: max, do: {name: model, path: dma}}
		default: {queue_mode: mq, path: cpu, copy: memcpy}
	END
	run -0 engine "$ASYNC" --media=anon --size=1m --rw=read --bs=64k --path=auto --dma=sw \
		--policy=p.yaml
	grep -q "is a what-if, learned from a modelled DMA engine; this one is software" "$side"
	rm -f "$side"
	run -0 engine "$ASYNC" --media=anon --size=1m --rw=read --bs=64k --path=auto \
		--dma=model --policy=p.yaml
	run ! grep -q "is a what-if" "$side"
}
