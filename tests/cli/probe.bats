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

@test "probe --json prints one document with every section" {
	run --separate-stderr "$copypath" probe --json
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 1 ]
	local key
	for key in schema kind copypath fio host copy flush media attrs dma perf fingerprint; do
		[[ $output = *"\"$key\":"* ]]
	done
}

@test "probe says what each copy name stands for, and auto is the fastest it measured" {
	run --separate-stderr "$copypath" probe --json
	[ "$status" -eq 0 ]
	local dir
	for dir in read write; do
		jq -e --arg dir "$dir" '
			(.copy | map(select(.name == "auto"))[0].stands_for[$dir]) as $auto |
			(.copy | map(.[$dir + "_bytes_per_s"] // 0) | max) as $best |
			.copy | map(select(.name == $auto))[0] |
			.usable and .[$dir + "_bytes_per_s"] == $best' <<<"$output"
	done
	for dir in read write; do
		jq -e --arg dir "$dir" '
			(.copy | map(select(.name == "auto"))[0].stands_for_by_size) as $auto |
			[.copy[] | select(.usable and .by_size)] as $kernels |
			[range($auto | length)] | length > 3 and all(. as $i |
				[$kernels[] | .by_size[$i][$dir + "_bytes_per_s"] // 0] as $rates |
				($kernels | map(.name) | index($auto[$i][$dir])) as $pick |
				$rates[$pick] == ($rates | max))' <<<"$output"
	done
	jq -e '.copy | map(select(.name == "nt"))[0].stands_for.read == "memcpy"' <<<"$output"
	jq -e '.copy | map(select(.name == "ntload"))[0].stands_for.write == "memcpy"' \
		<<<"$output"
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
