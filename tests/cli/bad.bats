# SPDX-License-Identifier: GPL-2.0-only

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	build=${COPYPATH_BUILD:-build}
	[[ $build = /* ]] || build=$root/$build
	copypath=$build/copypath
	cd "$root/configs/bad" || return 1
}

@test "every bad workload is refused with its exact message, before anything runs" {
	local config name failed=0 nr=0
	for config in *.yaml; do
		name=${config%.yaml}
		nr=$((nr + 1))
		{
			code=0
			"$copypath" run "$config" -o "$BATS_TEST_TMPDIR/run.$name" \
				>"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || code=$?
			printf 'exit %d\n' "$code"
			cat "$BATS_TEST_TMPDIR/err"
		} >"$BATS_TEST_TMPDIR/got"
		diff -u "$name.expected" "$BATS_TEST_TMPDIR/got" || failed=1
		[ ! -s "$BATS_TEST_TMPDIR/out" ] || failed=1
		[ ! -e "$BATS_TEST_TMPDIR/run.$name" ] || failed=1
	done
	echo "checked $nr workloads"
	[ "$nr" -gt 60 ]
	[ "$failed" -eq 0 ]
}

@test "every bad workload has an expected message and the other way round" {
	local file
	for file in *.yaml; do
		[ -s "${file%.yaml}.expected" ]
	done
	for file in *.expected; do
		[ -s "${file%.expected}.yaml" ]
	done
}

@test "tune refuses a bad workload just as run does" {
	run "$copypath" tune unknown-key.yaml -o "$BATS_TEST_TMPDIR/run"
	[ "$status" -eq 2 ]
	[ "exit 2"$'\n'"$output" = "$(cat unknown-key.expected)" ]
}
