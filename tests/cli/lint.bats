# SPDX-License-Identifier: GPL-2.0-only

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	table=tests/includes.tbl
	root=$BATS_TEST_TMPDIR/tree
	mkdir -p "$root/engines/base" "$root/engines/fio" "$root/bench/cmd" "$root/results"
	echo '#include "engines/base/err.h"' >"$root/engines/base/err.c"
	: >"$root/engines/base/err.h"
}

check() {
	run bash scripts/check-includes.sh "$table" "$root"
}

@test "the tree keeps the include rule" {
	run bash scripts/check-includes.sh "$table" .
	[ "$output" = "" ]
	[ "$status" -eq 0 ]
}

@test "every file has its licence line, a sane length and no path of one machine" {
	export B=$BATS_TEST_TMPDIR/lint
	run bash scripts/lint.sh files
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "a small tree that keeps the rule passes" {
	check
	[ "$status" -eq 0 ]
}

@test "an include of a higher level is found, with its place and both rooms" {
	printf '\n#include "bench/cmd/cmd.h"\n' >"$root/engines/base/bad.c"
	check
	[ "$status" -eq 1 ]
	[[ "$output" == *"engines/base/bad.c:2: error: 'engines/base' (level 0) may not include 'bench/cmd/cmd.h' of 'bench' (level 4)"* ]]
}

@test "an include of the same level is found" {
	echo '#include "engines/media/media.h"' >"$root/results/bad.c"
	check
	[ "$status" -eq 1 ]
	[[ "$output" == *"results/bad.c:1: error: 'results' (level 1) may not include"* ]]
}

@test "bench may not include fio's headers, whichever way they are written" {
	local form
	for form in '<fio.h>' '"fio.h"' '"build/fio-src/fio.h"' '<optgroup.h>'; do
		echo "#include $form" >"$root/bench/cmd/bad.c"
		check
		[ "$status" -eq 1 ]
		[[ "$output" == *"'bench' (level 4) may not include"*"of 'fio'"* ]]
	done
}

@test "engines/fio may include fio's headers" {
	echo '#include <fio.h>' >"$root/engines/fio/plugin.c"
	check
	[ "$status" -eq 0 ]
}

@test "a test goes by the row of its room" {
	mkdir -p "$root/engines/t"
	echo '#include "engines/queue/queue.h"' >"$root/engines/t/policy_test.c"
	check
	[ "$status" -eq 1 ]
	[[ "$output" == *"'engines/policy' (level 1) may not include"* ]]
}

@test "an include that is not from the root of the tree is found" {
	echo '#include "err.h"' >"$root/engines/base/bad.c"
	check
	[ "$status" -eq 1 ]
	[[ "$output" == *"expected a path from the root of the tree"* ]]
}

@test "a file in no room is found" {
	mkdir -p "$root/attic"
	echo '#include <stdio.h>' >"$root/attic/old.c"
	check
	[ "$status" -eq 1 ]
	[[ "$output" == *"attic/old.c:1: error: is in no room"* ]]
}

@test "a table that allows a higher level is refused" {
	printf 'low 0\nhigh 1\nmid 0 high\n' >"$BATS_TEST_TMPDIR/table"
	table=$BATS_TEST_TMPDIR/table
	check
	[ "$status" -eq 1 ]
	[[ "$output" == *"'high' is not of a lower level than 'mid'"* ]]
}

@test "an empty tree and a missing table are errors, not passes" {
	rm -rf "${root:?}"/*
	check
	[ "$status" -eq 1 ]
	run bash scripts/check-includes.sh "$BATS_TEST_TMPDIR/none" .
	[ "$status" -ne 0 ]
}

@test "a file without its licence line fails the files check" {
	cd "$root"
	export B=$BATS_TEST_TMPDIR/lint
	run bash "$BATS_TEST_DIRNAME/../../scripts/lint.sh" files
	[ "$status" -eq 1 ]
	[[ "$output" == *"engines/base/err.c:1: error: no SPDX line"* ]]
}

@test "a file of more than 600 lines fails, one of more than 300 warns" {
	cd "$root"
	export B=$BATS_TEST_TMPDIR/lint
	rm engines/base/err.[ch]
	printf '// SPDX-License-Identifier: GPL-2.0-only\n' | tee engines/base/a.c >engines/base/b.c
	yes '' | head -n 600 >>engines/base/a.c
	yes '' | head -n 300 >>engines/base/b.c
	run bash "$BATS_TEST_DIRNAME/../../scripts/lint.sh" files
	[ "$status" -eq 1 ]
	[[ "$output" == *"engines/base/a.c: error: 601 lines"* ]]
	[[ "$output" == *"engines/base/b.c: warning: 301 lines"* ]]
}

@test "a path of one machine fails the files check" {
	local path="/""home/someone"
	cd "$root"
	export B=$BATS_TEST_TMPDIR/lint
	rm engines/base/err.[ch]
	printf '/* SPDX-License-Identifier: GPL-2.0-only */\n/* see %s/x */\n' "$path" >engines/base/a.c
	run bash "$BATS_TEST_DIRNAME/../../scripts/lint.sh" files
	[ "$status" -eq 1 ]
	[[ "$output" == *"engines/base/a.c:2:"* ]]
}

@test "a header of ours with the name of one of fio's is told from it" {
	mkdir -p "$root/bench/drive"
	echo '#include "bench/drive/fio.h"' >"$root/bench/drive/fio.c"
	check
	[ "$status" -eq 1 ]
	: >"$root/bench/drive/fio.h"
	check
	[ "$status" -eq 0 ]
}
