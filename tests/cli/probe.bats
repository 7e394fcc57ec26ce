# SPDX-License-Identifier: GPL-2.0-only

bats_require_minimum_version 1.5.0

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	build=${COPYPATH_BUILD:-build}
	[[ $build = /* ]] || build=$root/$build
	copypath=$build/copypath
	cd "$BATS_TEST_TMPDIR" || return 1
}

@test "probe names every kind of thing there is" {
	run "$copypath" probe
	[ "$status" -eq 0 ]
	local kind
	for kind in fio cpu isa llc node kernel governor thp copy flush media pmem attr dma perf \
		fingerprint; do
		grep -q "^$kind  *[^ ]" <<<"$output"
	done
	[[ $output = *"fingerprint   sha256:"* ]]
}

@test "what is not usable says why" {
	run "$copypath" probe
	[ "$status" -eq 0 ]
	local line
	while read -r line; do
		[[ $line = *"no: "?* ]]
	done < <(grep -E '^dma +(idxd|ioat) ' <<<"$output")
}

@test "nodes: each with its CPUs, and a work queue with its node or null" {
	run --separate-stderr "$copypath" probe --json
	[ "$status" -eq 0 ]
	jq -e '.work_queues | all(.node == null or .node >= 0)' <<<"$output"
	jq -e '.host.nodes | length > 0 and all(.[]; .node >= 0 and (.cpus | type) == "array")' \
		<<<"$output"
}

# shellcheck disable=SC2154 # stderr is set by run --separate-stderr
@test "run refuses a DMA engine that probe calls unusable, with the same words" {
	local why
	why=$("$copypath" probe --json | jq -r '.dma[] | select(.name == "idxd").why // empty')
	[ -n "$why" ] || skip "idxd is usable here"
	sed 's,"idxd:/dev/null",idxd,' "$root/configs/bad/dma-idxd-queue.yaml" >idxd.yaml
	run --separate-stderr "$copypath" run --dry-run idxd.yaml
	[ "$status" -eq 2 ]
	[[ $stderr = *"'dma' is 'idxd': $why"* ]]
}

@test "probe --json prints one document with every section" {
	run --separate-stderr "$copypath" probe --json
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 1 ]
	local key
	for key in schema kind copypath fio host copy flush media attrs dma work_queues perf fingerprint; do
		[[ $output = *"\"$key\":"* ]]
	done
}

@test "probe says what each copy name stands for; no kernel it measured was faster than auto" {
	run --separate-stderr "$copypath" probe --json
	[ "$status" -eq 0 ]
	local dir
	for dir in read write; do
		jq -e --arg dir "$dir" '
			(.copy | map(select(.name == "auto"))[0].stands_for[$dir]) as $auto |
			.copy | map(select(.name == $auto))[0] |
			.usable and .[$dir + "_fastest"] and .[$dir + "_bytes_per_s"] > 0 and
			(.by_size[3] | .bytes == 65536) and
			.by_size[3][$dir + "_bytes_per_s"] == .[$dir + "_bytes_per_s"]' <<<"$output"
		# auto: memcpy where it is one of the fastest, else the last of them
		jq -e --arg dir "$dir" '
			(.copy | map(select(.name == "auto"))[0].stands_for_by_size) as $auto |
			[.copy[] | select(.usable and .by_size)] as $kernels |
			[range($auto | length)] | length > 3 and all(. as $i |
				[$kernels[] | select(.by_size[$i][$dir + "_fastest"]).name] |
				$auto[$i][$dir] == if .[0] == "memcpy" then "memcpy" else .[-1] end)' \
			<<<"$output"
		# rates are each kernel's own; two may be alike by chance
		jq -e --arg dir "$dir" '
			[.copy[] | .[$dir + "_bytes_per_s"] // empty] | length > 1 and
			length <= 1 + (unique | length)' <<<"$output"
	done
	jq -e '.copy | map(select(.name == "nt"))[0].stands_for.read == "memcpy"' <<<"$output"
	jq -e '.copy | map(select(.name == "ntload"))[0].stands_for.write == "memcpy"' \
		<<<"$output"
	run "$copypath" probe
	[[ $output = *"rates of 512 4k 16k 64k 256k 2m; * no kernel was faster"* ]]
	grep -Eq '^copy .* read( [0-9.]+\*?){6} GB/s; write( [0-9.]+\*?){6} GB/s' <<<"$output"
	grep -q '^copy .*[0-9]\* ' <<<"$output"
}

@test "probe says which flush instructions there are, and what persist=auto takes" {
	run --separate-stderr "$copypath" probe --json
	[ "$status" -eq 0 ]
	local flag
	for flag in clwb clflushopt clflush; do
		grep -qw "$flag" /proc/cpuinfo && usable=true || usable=false
		jq -e --arg name "$flag" --argjson usable "$usable" '.flush.instructions |
			map(select(.name == $name))[0] | .usable == $usable and
			(.why == null) == $usable' <<<"$output"
	done
	jq -e '.flush | (.instructions | map(select(.usable))[0].name) == .persist_auto.flush' \
		<<<"$output"
	run "$copypath" probe
	[ "$(grep -c "^flush .*persist=auto takes it" <<<"$output")" -eq 1 ]
}

@test "probe is exit 0 also without fio, and says so" {
	COPYPATH_FIO=/nowhere/fio run "$copypath" probe
	[ "$status" -eq 0 ]
	[[ $output = *"cannot start '/nowhere/fio'"* ]]
	[[ $output = *"fingerprint   unknown"* ]]
}

@test "probe says when fio and the plug-ins do not belong together" {
	printf '#!/bin/sh\necho fio-3.99\n' >fio
	chmod +x fio
	COPYPATH_FIO=$PWD/fio run "$copypath" probe
	[ "$status" -eq 0 ]
	[[ $output = *"fio-3.99"*"built with the headers of"* ]]
}

@test "an operand or an unknown option is exit 2" {
	run "$copypath" probe all
	[ "$status" -eq 2 ]
	run "$copypath" probe --jason
	[ "$status" -eq 2 ]
	[[ $output = *"unknown option '--jason'; expected '--json'"* ]]
}

@test "docs/method.md gives each media the attributes that probe does, and the man page names it" {
	for flag in clflushopt clwb sse4_1; do
		grep -qw "$flag" /proc/cpuinfo || skip "emulation needs $flag"
	done
	"$copypath" probe --json >probe.json
	jq -r '.attrs[] | .name as $attr | .media[] | "\(.media) \($attr) \(.state)"' probe.json |
		sort >probed
	# | `anon`, `file` | native | emulated | cannot be had | ...: a line a media and attribute
	awk -F ' *[|] *' '
	/^[|] media [|]/ { for (i = 3; i < NF; i++) attr[i] = $i; next }
	attr[3] && !/^[|]/ { exit }
	attr[3] && !/---/ {
		n = split($2, media, / *, */)
		for (i = 3; i < NF; i++)
			for (k = 1; k <= n; k++) {
				state = $i ~ /^cannot/ ? "absent" : $i
				sub(/ .*/, "", state)
				print media[k], attr[i], state
			}
	}' "$root/docs/method.md" | tr -d '`' | sort >told
	[ -s probed ]
	diff probed told
	while read -r media _; do
		sed -n '/^\.It Cm target/,/^\.It Cm workload/p' "$root/docs/man/copypath-run.1" |
			grep -qw "$media"
	done <probed
}

@test "each DMA engine is listed once, with what its figures are and whether it can signal" {
	run --separate-stderr "$copypath" probe --json
	jq -e '.dma | (map(.name) | length == (unique | length)) and
		all(.usable or (.why | length > 0)) and all(.provenance | length > 0)' <<<"$output"
	jq -e '.work_queues | type == "array" and all(.usable or (.why | length > 0))' <<<"$output"
	run "$copypath" probe
	grep -q '^dma  *null  *usable, modelled, moves no data, completion poll only$' <<<"$output"
	grep -q '^dma  *sw  *usable, software$' <<<"$output"
}
