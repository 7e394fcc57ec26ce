#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The plug-ins under fio itself: bytes, regions, refusals. Figures: engine_figures.bats.

bats_require_minimum_version 1.5.0

load engine

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	file=$BATS_TEST_TMPDIR/far
	side=$BATS_TEST_TMPDIR/side
	json=$BATS_TEST_TMPDIR/out.json
}

verify_all() {
	local plugin=$1
	shift
	rm -f "$side"
	engine "$plugin" --rw=randwrite --size=8m --verify=crc32c --verify_fatal=1 "$@"
	[ "$(jq '.jobs[0].error' "$json")" -eq 0 ]
	[ "$(jq '.proof.errors' "$side")" -eq 0 ]
	[ "$(jq '.proof.verify' "$side")" = '"crc32c"' ]
}

# verify_jobs PLUGIN COMMON MORE...: verify_all() of a job for each MORE, all in one fio, which takes
# most of its time to start and to end. Each has a region of its own: jobs may share a device.
verify_jobs() {
	local plugin=$1 common=$2 more nr=0 args=()
	shift 2
	rm -f "$side"
	for more in "$@"; do
		# shellcheck disable=SC2206
		args+=("--name=t$nr" "--ioengine=external:$plugin" --thread=1 "--sidecar=$side" --size=8m
			"--offset=$((nr * 8))m" --rw=randwrite --verify=crc32c --verify_fatal=1 $common $more)
		nr=$((nr + 1))
	done
	fio --output-format=json "--output=$json" "${args[@]}"
	jq -e --argjson nr "$nr" '.jobs | length == $nr and all(.error == 0)' "$json"
	jq -es --argjson nr "$nr" 'length == $nr and
		all(.proof.errors == 0 and .proof.verify == "crc32c" and .bytes > 0)' "$side"
}

@test "crc32c verify passes with every copy in bio" {
	truncate -s 48m "$file"
	verify_jobs "$SYNC" "" --copy={memcpy,nt,auto}\ --bs={4k,1m}
	verify_jobs "$SYNC" "--media=file --filename=$file" --copy={memcpy,nt,auto}\ --bs={4k,1m}
}

@test "crc32c verify passes with every copy in mq" {
	verify_jobs "$ASYNC" "--path=cpu --bs=16k --iodepth=16" --copy={memcpy,nt,auto}
}

@test "crc32c verify passes with the ISA kernels this CPU has, and the others are refused" {
	for copy in sse2 avx2 avx512 nt-sse2 nt-avx2 nt-avx512 movdir64b; do
		flag=${copy#nt-}
		[ "$flag" != avx512 ] || flag=avx512f
		if grep -qw "$flag" /proc/cpuinfo; then
			verify_all "$SYNC" "--copy=$copy" --bs=4k
		else
			run ! engine "$SYNC" --rw=write --size=1m "--copy=$copy"
			[[ "$output" == *"$flag"* ]]
		fi
	done
}

@test "crc32c verify passes with virtual names, unroll and prefetch" {
	verify_jobs "$SYNC" --bs=16k --copy=nt-both --copy=ntload --copy=portable --copy=libpmem \
		"--copy=portable --unroll=8" "--copy=nt-both --prefetch=nta --unroll=1" \
		"--copy=portable --prefetch=t0:distance=256"
	# a job that writes verifies by memcpy, so loads need one that only reads
	engine "$SYNC" --rw=read --size=1m --bs=4k --copy=nt-both --unroll=8 --prefetch=t0
}

@test "crc32c verify passes through DMA, split, shared, waiting and interrupt-driven" {
	for dma in sw sw:threads=2 sw:ring=4; do
		verify_jobs "$ASYNC" "--path=dma --dma=$dma --iodepth=16" \
			--bs=4k --bs=64k --bs=2m "--bs=64k --completion=irq" \
			"--bs=1m --ring_full=cpu" "--bs=64k --q_per_node=1 --queue_depth=4"
	done
}

@test "crc32c verify passes through merged requests, and ones the CPU has a share of" {
	for dma in sw:threads=2 sw:ring=4; do
		verify_jobs "$ASYNC" "--dma=$dma --iodepth=32" \
			"--bs=4k --rw=write --path=auto --dma_thresh=64k" \
			"--bs=512 --rw=write --path=dma --max_merge=64k --completion=irq" \
			"--bs=4k --path=dma --max_merge=1m --fsync=5" \
			"--bs=16k --rw=write --path=auto --dma_thresh=32k --ring_full=cpu" \
			"--bs=256k --path=dma --split_pct=30" \
			"--bs=20k --path=dma --split_pct=70 --completion=irq"
	done
}

# merged DMA: one job of 4k at iodepth 32; what became of its requests in $side
merge() {
	rm -f "$side"
	engine "$ASYNC" --bs=4k --iodepth=32 --size=8m --path=auto --dma_thresh=64k "$@"
	[ "$(jq '.proof.errors' "$side")" -eq 0 ]
	[ "$(jq '.proof.bytes_fallback' "$side")" -eq 0 ]
}

@test "a sequential 4k stream at iodepth 32 reaches DMA as merged requests, a random one does not" {
	for dma in sw null; do
		merge "--dma=$dma" --rw=read
		[ "$(jq '.proof.bytes_dma + .proof.bytes_simulated' "$side")" -eq 8388608 ]
		[ "$(jq '.proof.bytes_cpu' "$side")" -eq 0 ]
		jq -e '.proof.queue | .requests + .merged == 2048 and
			.merged > 1900 and .transactions == .requests' "$side"
		merge "--dma=$dma" --rw=randread
		[ "$(jq '.proof.bytes_dma + .proof.bytes_simulated' "$side")" -eq 0 ]
		[ "$(jq '.proof.bytes_cpu' "$side")" -eq 8388608 ]
		jq -e '.proof.queue | .requests > 1900 and .transactions == 0' "$side"
	done
	merge --dma=sw --rw=write
	[ "$(jq '.proof.bytes_dma' "$side")" -eq 8388608 ]
	merge --dma=sw --rw=read --max_merge=0
	jq -e '.proof.queue | .requests == 2048 and .merged == 0' "$side"
	[ "$(jq '.proof.bytes_dma' "$side")" -eq 0 ]
}

@test "the phases of offloaded I/Os are in the sidecar" {
	engine "$ASYNC" --rw=read --bs=64k --size=64m --iodepth=4 --path=dma --dma=sw
	jq -e '.phase_ios > 100 and .phase_wait_ns > 0 and .phase_prepare_ns > 0' "$side"
}

@test "crc32c verify passes with several jobs on one device" {
	engine "$ASYNC" --rw=write --bs=64k --size=8m --numjobs=3 --offset_increment=8m \
		--path=auto --dma=sw --dma_thresh=32k --iodepth=8 --verify=crc32c \
		--verify_fatal=1 --group_reporting
	[ "$(jq '.jobs[0].error' "$json")" -eq 0 ]
	[ "$(wc -l <"$side")" -eq 3 ]
	[ "$(jq -s 'map(.proof.bytes_dma) | add' "$side")" -ge $((3 * 8 * 1024 * 1024)) ]
}

@test "offset and size are honoured, and the file keeps its length and other bytes" {
	head -c 8m /dev/urandom >"$file"
	cp "$file" before
	for plugin in "$SYNC" "$ASYNC"; do
		engine "$plugin" --rw=write --bs=64k --offset=1m --size=2m --media=file \
			"--filename=$file"
		[ "$(stat -c %s "$file")" -eq $((8 * 1024 * 1024)) ]
		cmp -n $((1024 * 1024)) before "$file"
		cmp -i $((3 * 1024 * 1024)) before "$file"
		run ! cmp before "$file"
		cp before "$file"
	done
}

@test "jobs keep to their own regions" {
	truncate -s 8m "$file"
	engine "$ASYNC" --rw=write --bs=64k --size=1m --offset=1m --numjobs=2 \
		--offset_increment=4m --media=file "--filename=$file" --path=dma --dma=sw \
		--iodepth=4
	# written: [1m, 2m) and [5m, 6m); everything else still zero
	for at in 0 2 3 4 6 7; do
		cmp -n $((1024 * 1024)) -i $((at * 1024 * 1024)):0 "$file" /dev/zero
	done
	for at in 1 5; do
		run ! cmp -n $((1024 * 1024)) -i $((at * 1024 * 1024)):0 "$file" /dev/zero
	done
}

@test "a read-only file can be read" {
	head -c 1m /dev/urandom >"$file"
	chmod 444 "$file"
	engine "$SYNC" --rw=randread --bs=4k --size=1m --media=file "--filename=$file"
	[ "$(jq '.bytes' "$side")" -eq $((1024 * 1024)) ]
}

@test "requests above 128 segments are split and still counted once" {
	engine "$ASYNC" --rw=read --bs=2m --size=32m --path=dma --dma=sw --iodepth=4
	[ "$(jq '.ios' "$side")" -eq 16 ]
	[ "$(jq '.proof.bytes_dma' "$side")" -eq $((32 * 1024 * 1024)) ]
}

@test "fsync reaches the media and is no I/O of the figures" {
	truncate -s 4m "$file"
	for plugin in "$SYNC" "$ASYNC"; do
		rm -f "$side"
		engine "$plugin" --rw=write --bs=64k --size=4m --fsync=4 --media=file \
			"--filename=$file"
		[ "$(jq '.ios' "$side")" -eq 64 ]
		[ "$(jq '.jobs[0].sync.total_ios' "$json")" -ge 15 ]
	done
}

@test "each fault of a job is refused in words, before any I/O" {
	truncate -s 1m "$file"
	: >empty
	while IFS='|' read -r options words; do
		# shellcheck disable=SC2086
		run ! engine "$ASYNC" --rw=write --bs=4k --size=1m $options
		[[ "$output" == *"$words"* ]] || { echo "$options: $output"; false; }
	done <<-END
		--copy=mempcy|did you mean 'memcpy'
		--copy=sse2 --unroll=3|'unroll' is 3; expected 1, 2, 4 or 8
		--copy=portable --prefetch=nta:distance=8|64 to 1m
		--copy=auto --unroll=8|measured with the defaults
		--copy=ntload-sse41|no meaning for writes
		--media=file --filename=$file --size=2m|2m
		--media=file --filename=/nonexistent/x|/nonexistent/x
		--path=dma|dma
		--queue_mode=bio|copypath-sync.so
		--dma=nul --path=dma|null
		--path=dma --dma=sw:ring=3|ring
		--path=dma --dma=null --verify=crc32c|moves no data
		--queue_depth=0x|queue_depth
		--queue_depth=0|queue_depth '0' is out of range; expected a whole number of 1 to 65536
		--q_per_node=0|q_per_node '0' is out of range; expected a whole number of 1 to 1024
		--dma=sw:ring=64 --path=dma --queue_depth=128|'queue_depth' 128 is above the ring of 64
		--dma_node=memroy|did you mean
		--media=anon --size=100%|size
		--path=auto --dma=sw --policy=/nonexistent.yaml|/nonexistent.yaml
		--media=anon --size=900t|memory
		--path=dma --dma=null --completion=irq|'null' has no interrupt; expected poll
		--path=dma --dma=sw:thread=1|did you mean 'threads'
		--path=dma --dma=sw --split_pct=100|split_pct '100' is out of range; expected a whole number of 0 to 99
		--path=dma --dma=sw --max_merge=3g|max_merge '3g' is out of range
		--path=dma --dma=swx|did you mean 'sw'
	END
	[ ! -s "$side" ]
}

@test "a policy decides per I/O, by direction and size" {
	cat >p.yaml <<-'END'
		schema: 1
		kind: policy
		name: t
		rules:
		  - when: {rw: read}
		    sizes:
		      - {upto: 16k, do: {name: small, path: cpu, copy: memcpy}}
		      - {upto: max, do: {name: big, path: dma}}
		default: {queue_mode: mq, path: cpu, copy: memcpy}
	END
	for case in read:16k:cpu read:32k:dma write:64k:cpu; do
		IFS=: read -r rw bs way <<<"$case"
		rm -f "$side"
		engine "$ASYNC" "--rw=$rw" "--bs=$bs" --size=4m --path=auto --dma=sw \
			--policy="$PWD/p.yaml"
		[ "$(jq ".proof.bytes_$way" "$side")" -eq $((4 * 1024 * 1024)) ]
	done
}

@test "a policy of another machine is refused by name, and used when forced" {
	cat >p.yaml <<-END
		schema: 1
		kind: policy
		name: elsewhere
		learned: {host: faraway, fingerprint: "sha256:$(printf '0%.0s' {1..64})", samples: 1}
		default: {queue_mode: bio, path: cpu, copy: memcpy}
	END
	run ! engine "$SYNC" --rw=read --bs=4k --size=1m --path=auto --policy="$PWD/p.yaml"
	[[ "$output" == *"faraway"*"policy_force=1"* ]]
	engine "$SYNC" --rw=read --bs=4k --size=1m --path=auto --policy="$PWD/p.yaml" \
		--policy_force=1
	[[ "$(jq -r .notes "$side")" == *"by force"* ]]
}

@test "the plug-in exports one symbol" {
	for so in "$SYNC" "$ASYNC"; do
		[ "$(nm -D --defined-only "$so" | awk '{ print $3 }')" = ioengine ]
	done
}

